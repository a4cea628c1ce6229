//! Instrumented programs on a real JVM, with a runtime that says which hooks are called.

mod programs;
mod real;
mod running;
