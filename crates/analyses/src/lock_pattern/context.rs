//! The search for a context up the call graph (paper, 4.4): what a method acquires twice without
//! holding a lock is an instance of the pattern if a caller holds one.

use std::collections::BTreeMap;

use program::ids::{MethodId, TypedVec};
use program::summaries::Summaries;

use super::config::{DEEPEST_CHAIN, MOST_TWICE};
use super::flow::{CallContext, FlowFacts, Pattern, Twice, TwiceKey, is_confined};
use super::summary::{self, LocalFacts};
use crate::Context;

/// The potential witnesses of a method (FINAL_T): its own, and those of calls it makes without
/// holding a lock; the closest ones, sorted.
pub(super) fn potential(
    context: &Context<'_>,
    method: MethodId,
    facts: &FlowFacts,
    locals: &LocalFacts,
    known: &Summaries<'_, Vec<Twice>>,
) -> Vec<Twice> {
    let mut found: BTreeMap<TwiceKey, Twice> =
        facts.twice.iter().map(|twice| (twice.key(), *twice)).collect();
    for call in facts.calls.iter().filter(|call| call.context.is_none()) {
        for twice in inherited(context, method, call, locals, |callee| known.of(callee)) {
            if twice.first.expression.is_local() || twice.second.expression.is_local() {
                continue;
            }
            let shortest = found.entry(twice.key()).or_insert(twice);
            *shortest = (*shortest).min(twice);
        }
    }
    let mut found: Vec<Twice> = found.into_values().collect();
    found.sort_unstable();
    found.truncate(MOST_TWICE);
    found
}

/// The instances of the pattern whose context lock the method holds (FINAL_P), sorted.
pub(super) fn patterns(
    context: &Context<'_>,
    method: MethodId,
    facts: &FlowFacts,
    locals: &LocalFacts,
    potential: &TypedVec<MethodId, Vec<Twice>>,
) -> Vec<Pattern> {
    let mut found: BTreeMap<(u32, TwiceKey), Pattern> = facts
        .patterns
        .iter()
        .map(|pattern| ((pattern.context_offset, pattern.twice.key()), *pattern))
        .collect();
    for call in &facts.calls {
        let Some((expression, context_offset)) = call.context else { continue };
        for twice in inherited(context, method, call, locals, |callee| &potential[callee]) {
            let pattern = Pattern { twice, context: expression, context_offset };
            let closest = found.entry((context_offset, twice.key())).or_insert(pattern);
            *closest = (*closest).min(pattern);
        }
    }
    let mut found: Vec<Pattern> = found.into_values().collect();
    found.sort_unstable();
    found
}

/// The potential witnesses of a call's targets, in the terms of the caller, without those that the
/// caller holds already.
fn inherited<'a>(
    context: &Context<'_>,
    method: MethodId,
    call: &CallContext,
    locals: &LocalFacts,
    of: impl Fn(MethodId) -> &'a Vec<Twice>,
) -> Vec<Twice> {
    let program = context.program;
    let mut found = Vec::new();
    let (Some(terms), Some(body)) = (locals.call_at(call.offset), program.body(method)) else {
        return found;
    };
    let targets = context.graph.targets(method, call.offset);
    for target in targets {
        for twice in of(target.method) {
            // A guess at the receiver on top of the guesses inside is one too many.
            let is_guess = |lock| summary::is_guess(program, target, targets, lock);
            if twice.depth >= DEEPEST_CHAIN || is_guess(&twice.first) || is_guess(&twice.second) {
                continue;
            }
            let translate = |lock| summary::translate(program, terms, target, lock);
            let (Some(first), Some(second)) = (translate(&twice.first), translate(&twice.second))
            else {
                continue;
            };
            let is_out = |lock: &summary::Lock| {
                call.held.contains(&lock.expression)
                    || is_confined(body, lock)
                    || summary::is_beyond_belief(lock, targets)
            };
            if is_out(&first) || is_out(&second) {
                continue;
            }
            found.push(Twice {
                depth: twice.depth + 1,
                first,
                second,
                place: twice.place,
                through: Some((call.offset, target.method)),
            });
        }
    }
    found
}
