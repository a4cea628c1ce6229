//! Summary trees of code written for them, of random methods against an interpreter, and of the JDK.

mod conditions;
mod encoded;
mod generator;
mod interpreter;
mod java;
mod jdk;
mod old_classes;
mod oracle;
mod shapes;
mod text;
mod walker;
