//! Locks that are given back too early: rules `reacquired-lock` and `reacquired-lock-pair`.
//!
//! Implements "A Static Analysis for Automatic Detection of Atomicity Violations in Java Programs",
//! section 4: the flow-sensitive analysis of one method (4.2, in [`flow`]), the locks that a call
//! acquires and releases (LOCKSHELD and TRANSLATELOCK, 4.3), the search for a context up the call
//! graph (FINAL_T and FINAL_P, 4.4), one finding for each place where the witness is locked again
//! (4.5), and the variant with two witnesses (4.6).
//!
//! Property: a finding names a context lock, and two places in one run of code that holds it where
//! the same other lock is acquired and released.
//!
//! Misses locks that are the same object under two names, locks beyond the bound on expressions,
//! and calls that the call graph does not see. May report paths that cannot happen, because
//! conditions are not compared, and calls that cannot happen, because receivers are approximated.
//!
//! Deviations from the paper, with the reason:
//! 1. The paper has blocks; bytecode has enter and exit instructions. The data-flow state is a stack
//!    of ⟨context, R⟩ frames, pushed at every acquisition and popped at every release, which also
//!    covers `java.util.concurrent` locks that are not nested. A release is compared with R of every
//!    lock that is held at that moment, not only when a block ends: a lock that is replaced before
//!    the block ends is not lost. T and P only grow, so they are recorded on the way instead of
//!    being carried along.
//! 2. A re-entrant acquisition is ignored when it happens, not filtered afterwards; the sets at the
//!    end of the outer block are the same.
//! 3. An entry of R knows the class that the receiver must have for the lock to be taken. Two
//!    entries make a pair only if one object can be of both classes: without this every interface
//!    with two implementations gives reports that no object can show.
//! 4. `wait()` on the context lock ends the run of code that counts as atomic, and starts another.
//! 5. Chains of calls and guesses at receivers are bounded (see `config.rs`). Through a call with more
//!    than one target only locks of the receiver or of arguments are seen, not global ones: that one
//!    of a hundred `toString` methods takes some global lock says nothing about this call.
//! 6. A lock that is known to be the context under another name is not a witness (see `locks/aliases.rs`);
//!    one that a callee takes only on paths that end in an exception is not acquired by the call.
//! 7. A lock that only the current thread can know, a new object that is not handed on, is no
//!    witness. `Vector`, `StringBuffer` and the like in a private field, and streams, are none by
//!    default (the paper filters them by hand).
//! 8. One place is one source line, where lines are known: compilers copy `finally` blocks.

mod config;
mod context;
pub mod flow;
mod report;
mod summary;

use findings::{Gap, GapKind};
use program::Program;
use program::ids::{FieldId, Id, MethodId, TypedVec};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::locks::aliases::Aliases;
use crate::locks::expression::{
    ExpressionRoot, Expressions, LockExpression, PathElement, returned_expressions,
};
use crate::{Analysis, Context, Outcome};
use flow::{Flow, FlowFacts, PatternInstance, Reacquisition};
use summary::{CalleeSummaries, LocalFacts, Summary};

/// Its entry in the list of analyses.
pub const ANALYSIS: Analysis = Analysis {
    name: "lock-pattern",
    time_counter: "lock_pattern_ms",
    rules: &[REACQUIRED_LOCK, REACQUIRED_LOCK_PAIR],
    makes_watch_list: false,
    run,
};

const REACQUIRED_LOCK: &str = "reacquired-lock";
const REACQUIRED_LOCK_PAIR: &str = "reacquired-lock-pair";

fn run(context: &Context<'_>) -> Outcome {
    let lock_patterns = solve(context);
    report::outcome(context, &lock_patterns)
}

/// The solved analysis: what each method does to locks, and the patterns it exhibits.
pub struct LockPatterns {
    acquired: TypedVec<MethodId, Summary>,
    potential: TypedVec<MethodId, Vec<Reacquisition>>,
    patterns: TypedVec<MethodId, Vec<PatternInstance>>,
    /// Fields whose value a method that is not private returns.
    published: FxHashSet<FieldId>,
}

impl LockPatterns {
    /// The patterns whose context lock is held by this method (the paper's FINAL_P).
    #[must_use]
    pub fn patterns(&self, method: MethodId) -> &[PatternInstance] {
        &self.patterns[method]
    }
}

/// Runs the analysis without turning patterns into findings.
#[must_use]
pub fn solve(context: &Context<'_>) -> LockPatterns {
    let program = context.program;
    let count = program.methods.len();
    let returned = returned_expressions(program, context.graph);
    let returned_of = |method: MethodId| returned[method];
    let may_lock = summary::may_lock(context);
    let locals: TypedVec<MethodId, LocalFacts> = (0..count)
        .into_par_iter()
        .map(|method| summary::local_facts(context, MethodId::new(method), &may_lock, &returned_of))
        .collect::<Vec<_>>()
        .into();
    let acquired = summary::acquired(context, &locals);
    let aliases = Aliases::of(program);
    let known = CalleeSummaries::new(context, &locals, &acquired, None);
    let flows: TypedVec<MethodId, FlowFacts> = (0..count)
        .into_par_iter()
        .map(|method| {
            let method = MethodId::new(method);
            let Some(body) = program.body(method) else { return FlowFacts::default() };
            if (context.cancelled)() || !may_lock[method] || !context.graph.is_reachable(method) {
                return FlowFacts::default();
            }
            let expressions = Expressions::new(program, context.graph, body, &returned_of);
            Flow::new(context, &expressions, &locals[method], &known, &aliases).solve()
        })
        .collect::<Vec<_>>()
        .into();
    let potential = context::potential(context, &flows, &locals, &aliases);
    let patterns = (0..count)
        .into_par_iter()
        .map(|method| {
            let method = MethodId::new(method);
            let (flow, local) = (&flows[method], &locals[method]);
            context::patterns(context, method, flow, local, &potential, &aliases)
        })
        .collect::<Vec<_>>()
        .into();
    let published = published_fields(program, &returned);
    LockPatterns { acquired, potential, patterns, published }
}

fn published_fields(
    program: &Program,
    returned: &TypedVec<MethodId, Option<LockExpression>>,
) -> FxHashSet<FieldId> {
    returned
        .iter_with_ids()
        .filter(|(method, _)| !program.methods[*method].is_private())
        .filter_map(|(_, returned)| {
            match (returned.as_ref()?.steps().last(), returned.as_ref()?.root) {
                (Some(PathElement::Field(field)), _) => Some(*field),
                (None, ExpressionRoot::Static(field)) => Some(field),
                _ => None,
            }
        })
        .collect()
}

/// Bodies whose monitors do not nest, as gaps.
fn unstructured(context: &Context<'_>) -> Vec<Gap> {
    let methods: Vec<MethodId> = context.program.methods_with_bodies().collect();
    methods
        .par_iter()
        .filter(|method| context.program.is_application(**method))
        .filter_map(|method| {
            let body = context.program.body(*method)?;
            let has_monitors = body.instructions().any(|instruction| {
                matches!(instruction.operation, program::ir::Operation::MonitorEnter(_))
            });
            if !has_monitors {
                return None;
            }
            let offset = program::ir::monitor_regions(body).unstructured_at?;
            Some(Gap::new(
                GapKind::UnstructuredLocking,
                context.program.method_label(*method),
                format!("monitors are not released in the order they were entered, at bytecode offset {offset}"),
            ))
        })
        .collect()
}
