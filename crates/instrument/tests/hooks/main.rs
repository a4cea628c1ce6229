//! Instrumented programs on a real JVM, with a runtime that says which hooks are called.

mod library;
mod programs;
mod real;
mod running;
