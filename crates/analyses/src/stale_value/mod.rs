//! Values that outlive the lock they were read under: rule `stale-value`.
//!
//! Implements "Using Block-local Atomicity to Detect Stale-value Concurrency Errors", sections 3 and
//! 4: every register has a state ⟨shared, block⟩ (`flow.rs`), nested locks open blocks of their own,
//! and calls are seen through summaries (`summary.rs`, `calls.rs`). Beyond the paper, as its section 5
//! asks for: a value goes stale only if somebody may write it under that lock (`guards.rs`), uses are
//! graded by what they do, and idioms that make them harmless are recognised (`grade.rs`).
//!
//! Property (strict mode): a finding names a read under a lock, the place where that lock is given
//! back, and a use of the value after that, in this order on one path through the method, calls
//! inlined three deep. The oracle in `tests/stale_value_oracle` checks this, and that no such use is
//! missed, on random methods.
//!
//! Misses values that travel through fields, arrays and collections, or through more calls than
//! that; what is decided by an exception; locks that are the same object under two names. May report
//! paths that cannot happen, because conditions are not compared, objects that only one thread
//! uses although others could, and snapshots that are meant to be snapshots.
//!
//! Deviations from the paper, with the reason:
//! 1. A block is over when its lock is given back, not as soon as a nested block is opened: what was
//!    read under the outer lock is still protected inside the inner one. The letter of section 3
//!    would report every such use.
//! 2. A stale value stays stale after its first use, so that its worst use can be found; it is still
//!    reported once (footnote 3), by the place where the blamed method gets it.
//! 3. Copies and casts are no uses. Where the source returns a value inside a block, the compiler gives
//!    the lock back just before the return; only strict mode counts that as a use.
//! 4. Bytecode has no comparisons that give a `boolean`, only branches to the constants 0 and 1: such
//!    a value carries what the branches compared (see `flow.rs`, `ImplicitFlow`).
//! 5. Constants, final fields, fields that nobody writes after construction, objects under
//!    construction and new objects that nobody else knows yet are not shared.
//! 6. An unknown callee returns a value with a block of its own (section 5.1) in strict mode only:
//!    native methods and missing classes say nothing about locks. The arguments of library calls
//!    without a model are not passed on, and the results of value classes carry their arguments.
//! 7. Not in strict mode: a value belongs to the innermost lock that guards it, as the writes of the
//!    program or `@GuardedBy` show, or to the outermost that all of them hold; a value that its reader took out, overwrote or marked is handed
//!    over (Figure 5, object pools); a write that is decided by a fresh look at the same variable, or
//!    at a version that was read with it, is checked (Figure 6).
//! 8. Private methods and lambdas that are only ever run under a lock belong to their callers' block.

mod calls;
mod config;
pub(crate) mod domain;
mod flow;
mod grade;
pub(crate) mod guards;
mod report;
mod summary;

use program::callgraph::Target;
use program::ids::{MethodId, TypedVec};
use program::ir::ControlDependence;
use program::summaries::{self, Summaries};

use crate::locks::expression::Expressions;
use crate::locks::held::{LockFlowInputs, LockTransfer};
use crate::locks::implicit_lock;
use crate::{Analysis, Context, Outcome};
use flow::Flow;
use grade::Grader;
use guards::Guards;
use summary::Summary;

/// Its entry in the list of analyses.
pub const ANALYSIS: Analysis = Analysis {
    name: "stale-value",
    time_counter: "stale_value_ms",
    rules: &[STALE_VALUE],
    makes_watch_list: false,
    run,
};

const STALE_VALUE: &str = "stale-value";

fn run(context: &Context<'_>) -> Outcome {
    let guards = Guards::of(context);
    let matters = matters(context, &guards);
    let summaries: TypedVec<MethodId, Summary> =
        summaries::solve(context.graph, context.program.methods.len(), |method, known| {
            if matters[method] {
                summary(context, &guards, method, known)
            } else {
                Summary::default()
            }
        });
    report::outcome(context, &summaries)
}

/// The methods whose summaries matter: those in which a value can go stale, because they hold a lock
/// or a call returns what was read under one, and those that they call, both only as far as calls
/// are followed.
fn matters(context: &Context<'_>, guards: &Guards) -> TypedVec<MethodId, bool> {
    let Context { program, graph, config, .. } = *context;
    let mut matters = TypedVec::filled(config.strict, program.methods.len());
    if config.strict {
        return matters;
    }
    let returns = |method: &MethodId| !program.methods[*method].descriptor.ends_with(")V");
    let holds = |method: &MethodId| {
        guards.holds_locks(*method) || implicit_lock(program, *method).is_some()
    };
    let mut found: Vec<MethodId> = program.methods.ids().filter(holds).collect();
    let mut last = found.clone();
    for _ in 0..config::DEEPEST_CHAIN {
        found.iter().for_each(|method| matters[*method] = true);
        let returning = last.iter().filter(|method| returns(method));
        let callers = returning.flat_map(|method| graph.callers(*method));
        last = callers.copied().filter(|caller| !matters[*caller]).collect();
        last.sort_unstable();
        last.dedup();
        found.extend(&last);
    }
    let mut last = found;
    for _ in 0..=config::DEEPEST_CHAIN {
        last.iter().for_each(|method| matters[*method] = true);
        let callees = last.iter().flat_map(|method| graph.callees(*method));
        let mut next: Vec<MethodId> = callees.filter(|callee| !matters[*callee]).collect();
        next.sort_unstable();
        next.dedup();
        last = next;
    }
    matters
}

fn summary(
    context: &Context<'_>,
    guards: &Guards,
    method: MethodId,
    known: &Summaries<'_, Summary>,
) -> Summary {
    let Context { program, graph, .. } = *context;
    if let Some(summary) = Summary::of_library(program, method) {
        return summary;
    }
    let Some(body) = program.body(method) else { return Summary::default() };
    if (context.cancelled)() || body.definitions.len() > config::LARGEST_BODY {
        return Summary::default();
    }
    if known.of(method).is_left_out {
        return Summary::left_out();
    }
    // A method without callers needs no summary, and without locks nothing goes stale.
    let returns_locked = |target: &Target| {
        known.of(target.method).returned.iter().any(|returned| !returned.locks.is_empty())
    };
    if !context.config.strict
        && graph.callers(method).is_empty()
        && !guards.holds_locks(method)
        && !graph.sites(method).iter().any(|site| site.targets.iter().any(returns_locked))
    {
        return Summary::default();
    }
    let returned = |callee: MethodId| guards.returned[callee];
    let expressions = Expressions::new(program, graph, body, &returned);
    let inputs = LockFlowInputs { program, graph, aliases: &guards.aliases };
    let lock_transfer =
        LockTransfer::new(inputs, &expressions, &guards.changes, guards.held_at_entry(method));
    let dependence = ControlDependence::of(body);
    let flow = Flow::new(context, guards, known, &expressions, &lock_transfer, &dependence);
    let Some(facts) = flow.solve() else {
        // Whoever is told to stop has not met a bound.
        return if (context.cancelled)() { Summary::default() } else { Summary::left_out() };
    };
    Grader::new(context, guards, &lock_transfer, &dependence, &facts).summary()
}
