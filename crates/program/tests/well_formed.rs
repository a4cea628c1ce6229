//! Every body of the JDK's largest module is well formed, and its locking is understood.

mod java_program;
mod verifier;

use std::path::PathBuf;
use std::sync::OnceLock;

use java_program::read_program;
use program::{Library, MethodId, Program, ir};
use rayon::prelude::*;

fn java_base() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| read_program(&[PathBuf::from("jrt:java.base")], Library::Model))
}

fn bodies(program: &Program) -> Vec<MethodId> {
    let bodies: Vec<MethodId> = program.methods_with_bodies().collect();
    assert!(bodies.len() > 40_000, "java.base has more than {} methods", bodies.len());
    bodies
}

#[test]
fn every_body_of_java_base_is_well_formed() {
    let program = java_base();
    let flaws: Vec<String> = bodies(program)
        .into_par_iter()
        .filter_map(|method| {
            let flaw = verifier::flaw(program.body(method)?)?;
            Some(format!("{}: {flaw}", program.method_label(method)))
        })
        .collect();
    assert!(
        flaws.is_empty(),
        "{} flaws:\n{}",
        flaws.len(),
        flaws[..flaws.len().min(20)].join("\n")
    );
}

#[test]
fn every_monitor_of_java_base_is_matched() {
    let program = java_base();
    let unstructured: Vec<String> = bodies(program)
        .into_par_iter()
        .filter_map(|method| {
            let offset = ir::monitor_regions(program.body(method)?).unstructured_at?;
            Some(format!("{} at {offset}", program.method_label(method)))
        })
        .collect();
    assert!(unstructured.is_empty(), "{}", unstructured.join("\n"));
}
