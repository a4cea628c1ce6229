//! What is executed more than once.

use program::Program;
use program::callgraph::CallGraph;
use program::ids::{MethodId, TypedVec};
use program::ir::Operation;

/// How often methods may be executed, as far as calls tell.
pub(crate) struct Repetition {
    /// Whether a method may run more than once, given that no thread begins with it more than once.
    is_repeated: TypedVec<MethodId, bool>,
}

impl Repetition {
    /// Methods that are called in a loop, from several places, recursively, by a method that runs more than once, or
    /// that are themselves the beginning of several threads.
    pub(crate) fn of(
        program: &Program,
        graph: &CallGraph,
        is_reached: &TypedVec<MethodId, bool>,
        begun_often: impl Fn(MethodId) -> bool,
    ) -> Repetition {
        let count = program.methods.len();
        let mut calls: TypedVec<MethodId, u8> = TypedVec::filled(0, count);
        let mut todo: Vec<MethodId> = Vec::new();
        for method in program.methods_with_bodies().filter(|method| is_reached[*method]) {
            let Some(body) = program.body(method) else { continue };
            let in_loop = body.blocks_in_loops();
            for (id, block) in body.blocks.iter_with_ids() {
                for instruction in &block.instructions {
                    let Operation::Call(_) = instruction.operation else { continue };
                    for target in graph.targets(method, instruction.offset) {
                        // A loop may be in the library: `forEach` runs its argument again and again.
                        let is_again = in_loop[id] || target.call_kind.may_be_repeated();
                        let times = if is_again { 2 } else { 1 };
                        calls[target.method] = calls[target.method].saturating_add(times);
                    }
                }
            }
            if begun_often(method) {
                todo.push(method);
            }
        }
        todo.extend(
            calls.iter_with_ids().filter(|(_, times)| **times > 1).map(|(method, _)| method),
        );
        let mut is_repeated = TypedVec::filled(false, count);
        while let Some(method) = todo.pop() {
            if !std::mem::replace(&mut is_repeated[method], true) {
                todo.extend(graph.callees(method));
            }
        }
        Repetition { is_repeated }
    }

    pub(crate) fn is_repeated(&self, method: MethodId) -> bool {
        self.is_repeated[method]
    }
}
