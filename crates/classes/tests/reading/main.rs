//! Reading whole programs: the JDK's image, archives good and bad, and classes with damaged bytes.
//!
//! These tests need a JDK with `javac` on the PATH.

mod archives;
mod class_files;
mod inputs;
mod jdk;
mod mutations;
mod tiny_class;
