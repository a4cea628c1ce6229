//! Every body of the JDK's largest module is well formed, and its locking is understood.

mod java_program;
mod verifier;

use std::path::PathBuf;
use std::sync::OnceLock;

use java_program::read_program;
use program::ir::{self, Body, Definition, Instruction, Operation};
use program::{Library, MethodId, Program, ValueId};
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

/// A verifier that accepts everything would pass the tests above, so it is shown flawed bodies too.
#[test]
fn flaws_are_noticed() {
    let program = java_base();
    let with_phis = bodies(program)
        .into_iter()
        .filter_map(|method| program.body(method))
        .find(|body| {
            body.blocks.iter().any(|block| block.caught.is_some() && !block.phis.is_empty())
        })
        .expect("some handler joins values");
    assert_eq!(verifier::flaw(with_phis), None);
    let flawed = |what: &str, change: &dyn Fn(&mut Body)| {
        let mut body = with_phis.clone();
        change(&mut body);
        let flaw = verifier::flaw(&body).unwrap_or_else(|| panic!("not noticed: {what}"));
        assert!(flaw.contains(what), "{flaw}");
    };
    let (handler, block) = with_phis
        .blocks
        .iter_with_ids()
        .find(|(_, block)| block.caught.is_some() && !block.phis.is_empty())
        .unwrap();
    let from = block.predecessors[0];
    flawed("inputs for", &|body| {
        body.blocks[handler].phis[0].inputs.pop();
    });
    flawed("is a trivial phi", &|body| {
        let phi = &mut body.blocks[handler].phis[0];
        let first = phi.inputs.iter().flatten().next().copied();
        phi.inputs.iter_mut().for_each(|input| *input = first);
    });
    flawed("lists predecessors", &|body| {
        body.blocks[handler].predecessors.pop();
    });
    flawed("is defined by", &|body| {
        let result = body.blocks[handler].phis[0].result;
        body.definitions[result] = Definition::Removed;
    });
    flawed("is defined by", &|body| {
        let phi = body.blocks[handler].phis[0].clone();
        body.blocks[handler].phis.push(phi);
    });
    flawed("does not reach", &|body| {
        // What a block defines is not there yet when an exception leaves it.
        let defined_late = body.blocks[from].instructions.iter().find_map(|made| made.result);
        let caught = body.blocks[handler].caught;
        body.blocks[handler].phis[0].inputs[0] = defined_late.or(caught);
    });
    flawed("does not reach", &|body| {
        let caught = body.blocks[handler].caught.unwrap();
        let first = body.blocks.iter_mut().next().unwrap();
        first.instructions.insert(
            0,
            Instruction {
                offset: first.offset,
                result: None,
                operation: Operation::MonitorEnter(caught),
            },
        );
        let shifted: Vec<ValueId> =
            first.instructions.iter().filter_map(|made| made.result).collect();
        for value in shifted {
            if let Definition::Instruction(_, position) = &mut body.definitions[value] {
                *position += 1;
            }
        }
    });
}
