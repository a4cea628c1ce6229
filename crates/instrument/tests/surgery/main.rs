//! The engine against real class files and real virtual machines.
//!
//! These tests need a JDK with `javac`. Those of newer releases under `/usr/lib/jvm` are used too, and
//! where there is none a test says so.

mod compiling;
mod identity;
mod java;
mod jdks;
mod linking;
mod old_classes;
mod properties;
mod running;
mod stress;
