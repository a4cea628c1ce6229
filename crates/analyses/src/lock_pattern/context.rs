//! The search for a context up the call graph (paper, 4.4): what a method acquires twice without
//! holding a lock is an instance of the pattern if a caller holds one.

use std::collections::BTreeMap;

use program::ids::{Id, MethodId, TypedVec};
use rayon::prelude::*;

use super::config::{DEEPEST_CHAIN, MOST_REACQUISITIONS};
use super::flow::{CallContext, FlowFacts, PatternInstance, Reacquisition, ReacquisitionKey};
use super::summary::{self, LocalFacts};
use crate::Context;
use crate::locks::aliases::Aliases;
use crate::locks::is_confined;

/// The potential witnesses of all methods (FINAL_T): their own, and those of calls they make without
/// holding a lock; the closest ones, sorted. As for the locks of calls, what is `n` calls away is
/// found in round `n`.
pub(super) fn potential(
    context: &Context<'_>,
    flows: &TypedVec<MethodId, FlowFacts>,
    locals: &TypedVec<MethodId, LocalFacts>,
    aliases: &Aliases,
) -> TypedVec<MethodId, Vec<Reacquisition>> {
    let mut known: TypedVec<MethodId, Vec<Reacquisition>> =
        flows.iter().map(|facts| keep_closest(facts.reacquisitions.clone())).collect();
    for depth in 0..DEEPEST_CHAIN {
        if (context.cancelled)() {
            break;
        }
        let round: Vec<Vec<Reacquisition>> = (0..flows.len())
            .into_par_iter()
            .map(|method| {
                let method = MethodId::new(method);
                let mut found: BTreeMap<ReacquisitionKey, Reacquisition> = BTreeMap::new();
                let free = flows[method].calls.iter().filter(|call| call.context.is_none());
                for call in free {
                    let locals = &locals[method];
                    for reacquisition in
                        inherited(context, method, call, locals, &known, aliases, Some(depth))
                    {
                        if reacquisition.first.expression.is_local()
                            || reacquisition.second.expression.is_local()
                        {
                            continue;
                        }
                        let shortest = found.entry(reacquisition.key()).or_insert(reacquisition);
                        *shortest = (*shortest).min(reacquisition);
                    }
                }
                if found.is_empty() {
                    return known[method].clone();
                }
                for reacquisition in &known[method] {
                    found.insert(reacquisition.key(), *reacquisition);
                }
                keep_closest(found.into_values().collect())
            })
            .collect();
        known = TypedVec::from(round);
    }
    known
}

fn keep_closest(mut reacquisition: Vec<Reacquisition>) -> Vec<Reacquisition> {
    reacquisition.sort_unstable();
    reacquisition.truncate(MOST_REACQUISITIONS);
    reacquisition
}

/// The instances of the pattern whose context lock the method holds (FINAL_P), sorted.
pub(super) fn patterns(
    context: &Context<'_>,
    method: MethodId,
    facts: &FlowFacts,
    locals: &LocalFacts,
    potential: &TypedVec<MethodId, Vec<Reacquisition>>,
    aliases: &Aliases,
) -> Vec<PatternInstance> {
    let mut found: BTreeMap<(u32, ReacquisitionKey), PatternInstance> = facts
        .patterns
        .iter()
        .map(|pattern| ((pattern.context_offset, pattern.reacquisition.key()), *pattern))
        .collect();
    for call in &facts.calls {
        let Some((expression, context_offset)) = call.context else { continue };
        for reacquisition in inherited(context, method, call, locals, potential, aliases, None) {
            let pattern = PatternInstance { reacquisition, context: expression, context_offset };
            let keep_closest =
                found.entry((context_offset, reacquisition.key())).or_insert(pattern);
            *keep_closest = (*keep_closest).min(pattern);
        }
    }
    let mut found: Vec<PatternInstance> = found.into_values().collect();
    found.sort_unstable();
    found
}

/// The potential witnesses of a call's targets, in the terms of the caller, without those that the
/// caller holds already; all of them, or those at one depth.
fn inherited(
    context: &Context<'_>,
    method: MethodId,
    call: &CallContext,
    locals: &LocalFacts,
    potential: &TypedVec<MethodId, Vec<Reacquisition>>,
    aliases: &Aliases,
    depth: Option<u16>,
) -> Vec<Reacquisition> {
    let program = context.program;
    let mut found = Vec::new();
    let (Some(terms), Some(body)) = (locals.call_at(call.offset), program.body(method)) else {
        return found;
    };
    let targets = context.graph.targets(method, call.offset);
    for target in targets {
        for reacquisition in &potential[target.method] {
            if depth.is_some_and(|depth| reacquisition.depth != depth) {
                continue;
            }
            // A guess at the receiver on top of the guesses inside is one too many.
            let is_guess = |lock| summary::is_guess(program, target, targets, lock);
            if reacquisition.depth >= DEEPEST_CHAIN
                || is_guess(&reacquisition.first)
                || is_guess(&reacquisition.second)
            {
                continue;
            }
            let translate = |lock| summary::translate(program, terms, target, lock);
            let (Some(first), Some(second)) =
                (translate(&reacquisition.first), translate(&reacquisition.second))
            else {
                continue;
            };
            let is_out = |lock: &summary::Lock| {
                let is_same = |held| aliases.are_same_lock(program, method, held, &lock.expression);
                call.held.iter().any(is_same)
                    || is_confined(body, &lock.expression)
                    || summary::is_implausible(lock, targets)
            };
            if is_out(&first) || is_out(&second) {
                continue;
            }
            found.push(Reacquisition {
                depth: reacquisition.depth + 1,
                first,
                second,
                pair: reacquisition.pair,
                through: Some((call.offset, target.method)),
            });
        }
    }
    found
}
