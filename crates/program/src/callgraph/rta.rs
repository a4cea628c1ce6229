//! Rapid type analysis (Bacon and Sweeney): a receiver is of a class that the program creates.
//!
//! Without entry points the world is open: a public class of the application may be created by code
//! that is not here.

use std::sync::Arc;

use classes::access;
use rustc_hash::FxHashSet;

use super::cha::receiver_type;
use super::{CallKind, HierarchyTargets, Target, is_entry, is_statically_bound};
use crate::ids::{ClassId, MethodId, TypedVec};
use crate::ir::{Body, Call, DeclaredType, Operation};
use crate::symbols::{Origin, Program};
use models::Pattern;

/// The classes and lambdas that can have objects.
pub(super) struct Instantiated {
    classes: TypedVec<ClassId, bool>,
}

impl Instantiated {
    /// Of the targets by hierarchy, those that some created class dispatches to.
    pub(super) fn keep(
        &self,
        program: &Program,
        body: &Body,
        call: &Call,
        targets: &Arc<[Target]>,
    ) -> Arc<[Target]> {
        if targets.len() < 2 || is_statically_bound(program, call) {
            return targets.clone();
        }
        let DeclaredType::Class(class) = receiver_type(program, body, call) else {
            return targets.clone();
        };
        let selector = program.methods[call.method].selector;
        let mut kept: Vec<Target> = program
            .hierarchy
            .concrete_subtypes(class)
            .filter(|class| self.classes[*class])
            .filter_map(|class| program.hierarchy.dispatch(class, selector))
            .map(|method| Target { method, call_kind: CallKind::Direct })
            .chain(targets.iter().copied().filter(|target| target.call_kind != CallKind::Direct))
            .collect();
        kept.sort_unstable();
        kept.dedup();
        Arc::from(kept)
    }
}

/// Finds the classes that are created by methods that can run, and the methods that can run because
/// of them, until neither grows.
pub(super) fn instantiated(
    program: &Program,
    hierarchical: &HierarchyTargets,
    entry_points: &[Pattern],
) -> Instantiated {
    let mut instantiated = Instantiated { classes: TypedVec::filled(false, program.classes.len()) };
    if entry_points.is_empty() {
        for (id, class) in program.classes.iter_with_ids() {
            let open = class.origin == Origin::Application && class.access & access::PUBLIC != 0;
            instantiated.classes[id] = open && class.is_concrete();
        }
    }
    let mut reached = TypedVec::filled(false, program.methods.len());
    let mut todo: Vec<MethodId> = program
        .methods_with_bodies()
        .filter(|method| is_entry(program, *method, entry_points))
        .collect();
    let mut seen = FxHashSet::default();
    // Virtual calls seen so far, to be looked at again when a class turns out to be created.
    let mut pending: Vec<(MethodId, Call)> = Vec::new();
    loop {
        let mut grew = false;
        while let Some(method) = todo.pop() {
            if std::mem::replace(&mut reached[method], true) {
                continue;
            }
            let Some(body) = program.body(method) else { continue };
            for instruction in body.instructions() {
                let operation = &instruction.operation;
                super::runs_besides(program, hierarchical, operation, &mut seen, &mut todo);
                match operation {
                    Operation::New(class) => {
                        grew |= !std::mem::replace(&mut instantiated.classes[*class], true);
                    }
                    Operation::Call(call) => {
                        let targets = hierarchical.receivers(program, body, call);
                        let kept = instantiated.keep(program, body, call, &targets);
                        todo.extend(kept.iter().map(|target| target.method));
                        if kept.len() < targets.len() {
                            pending.push((method, (**call).clone()));
                        }
                    }
                    _ => {}
                }
            }
        }
        if !grew {
            return instantiated;
        }
        for (method, call) in &pending {
            let Some(body) = program.body(*method) else { continue };
            let targets = hierarchical.receivers(program, body, call);
            let kept = instantiated.keep(program, body, call, &targets);
            todo.extend(kept.iter().map(|target| target.method).filter(|target| !reached[*target]));
        }
    }
}
