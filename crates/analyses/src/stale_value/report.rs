//! From suspicions to findings: the steps that prove them.

use std::collections::BTreeMap;

use findings::{Evidence, Finding, Gap, GapKind, HeldLock, Site, Step, Witness};
use program::Program;
use program::ids::{MethodId, TypedVec};

use super::config::LARGEST_BODY;
use super::domain::{Part, Variable};
use super::grade::{StaleValue, Written};
use super::summary::{EventLocation, ParameterEffect, ParameterUse, Returned, Summary, Write};
use super::{ANALYSIS, STALE_VALUE};
use crate::alone::MainMethod;
use crate::locks::expression::{Expressions, LockExpression};
use crate::source_names::field_name;
use crate::{Context, Outcome, Scope};

/// One finding for each stale value of the application.
pub(super) fn outcome(context: &Context<'_>, summaries: &TypedVec<MethodId, Summary>) -> Outcome {
    let program = context.program;
    let scope = Scope::of(context);
    let main_method = MainMethod::of(context);
    let mut findings = Vec::new();
    for method in program.methods_with_bodies() {
        let stale_values = &summaries[method].stale_values;
        if stale_values.is_empty()
            || !program.is_application(method)
            || !context.graph.is_reachable(method)
        {
            continue;
        }
        let name = program.site(method, 0).method_name();
        if !scope.covers(&name) {
            continue;
        }
        // Compilers copy `finally` blocks: what counts as one place is the line, where known.
        let mut worst: BTreeMap<(u32, String), (&StaleValue, Finding)> = BTreeMap::new();
        for stale_value in stale_values {
            let last = stale_value.written.map_or(stale_value.used, |written| written.offset);
            if !context.config.strict
                && main_method.is_alone(context, method, stale_value.read, last)
            {
                continue;
            }
            let finding = finding(context, summaries, method, stale_value);
            let place = program.site(method, stale_value.read).line.unwrap_or(stale_value.read);
            let key = (place, finding.subjects["value"].clone());
            match worst.get(&key) {
                Some((known, _)) if known.severity() >= stale_value.severity() => {}
                _ => {
                    worst.insert(key, (stale_value, finding));
                }
            }
        }
        findings.extend(worst.into_values().map(|(_, finding)| finding));
    }
    Outcome { findings, gaps: left_out(program, summaries), ..Outcome::default() }
}

/// Methods whose values were not followed.
fn left_out(program: &Program, summaries: &TypedVec<MethodId, Summary>) -> Vec<Gap> {
    let gap = |method: MethodId| {
        let size = program.body(method).map_or(0, |body| body.definitions.len());
        let detail = if size > LARGEST_BODY {
            format!("computes more than {LARGEST_BODY} values, which were not followed")
        } else if summaries[method].is_left_out {
            "has too many paths between its locks to follow every value".to_owned()
        } else {
            return None;
        };
        Some(Gap::new(GapKind::Limit, program.method_label(method), detail))
    };
    let methods = program.methods_with_bodies().filter(|method| program.is_application(*method));
    let mut gaps: Vec<Gap> = methods.filter_map(gap).collect();
    let is_cut = |method: &MethodId| program.is_application(*method) && summaries[*method].is_cut;
    let cut = program.methods_with_bodies().filter(is_cut).count();
    if cut > 0 {
        let detail = "a method does more with values and variables than its callers get to know; the closest was kept";
        gaps.push(Gap { count: cut as u32, ..Gap::new(GapKind::Limit, STALE_VALUE, detail) });
    }
    gaps
}

fn finding(
    context: &Context<'_>,
    summaries: &TypedVec<MethodId, Summary>,
    method: MethodId,
    stale_value: &StaleValue,
) -> Finding {
    let program = context.program;
    let chains = Chains { program, summaries };
    let site = |offset: u32| program.site(method, offset);
    let mut subjects = names(context, method, stale_value, &|names, path| names.describe(path));
    stale_value.grade.note_in(&mut subjects);
    let stable_subjects =
        names(context, method, stale_value, &|names, path| names.describe_stable(path));
    let held_locks: Vec<HeldLock> = stale_value
        .taken_at
        .map(|offset| HeldLock { lock: subjects["lock"].clone(), taken_at: site(offset) })
        .into_iter()
        .collect();
    let mut steps = vec![
        Step {
            call_chain: chains.of_read(stale_value),
            held_locks,
            ..Step::at("read", site(stale_value.read))
        },
        Step::at("released", site(stale_value.released)),
        Step::at("used", site(stale_value.used)),
    ];
    if let Some(written) = stale_value.written {
        let call_chain = chains.of_write(&written);
        steps.push(Step { call_chain, ..Step::at("written", site(written.offset)) });
    }
    Finding {
        rule: STALE_VALUE,
        evidence: Evidence::Possible,
        severity: stale_value.severity(),
        // The method as a whole, so that reads of one variable in it are reported together.
        blame: site(0),
        subjects,
        stable_subjects,
        witnesses: vec![Witness::new(ANALYSIS.name, steps)],
        distance: stale_value.distance,
        fingerprint: None,
        also: Vec::new(),
    }
}

/// What was read and the lock it was read under, as the source would write them.
fn names(
    context: &Context<'_>,
    method: MethodId,
    stale_value: &StaleValue,
    describe: &dyn Fn(&Expressions<'_>, LockExpression) -> String,
) -> BTreeMap<&'static str, String> {
    let program = context.program;
    let no_getters = |_: MethodId| None;
    let named = |path: Option<LockExpression>| {
        let body = program.body(method)?;
        let expressions = Expressions::new(program, context.graph, body, &no_getters);
        Some(describe(&expressions, path?))
    };
    let variable = &stale_value.variable;
    let field = variable.field.map(|field| field_name(program, field));
    let place = named(variable.path).or(field);
    let value = match (place, variable.part) {
        (Some(place), Part::Value) => place,
        (Some(place), Part::Elements) => format!("{place}[]"),
        (Some(place), Part::Contents) => format!("the contents of {place}"),
        (None, _) => "what the call returns".to_string(),
    };
    let lock = named(stale_value.lock).unwrap_or_else(|| "a lock".to_string());
    BTreeMap::from([("value", value), ("lock", lock)])
}

/// Follows entries of summaries down to the instruction they are about.
struct Chains<'a> {
    program: &'a Program,
    summaries: &'a TypedVec<MethodId, Summary>,
}

impl Chains<'_> {
    /// Follows the entries about a variable from method to method; `entry` gives, for the entry that
    /// is so many calls away from the end, where it happens.
    fn follow(
        &self,
        start: Option<MethodId>,
        depth: u8,
        entry: impl Fn(&Summary, u8) -> Option<EventLocation>,
    ) -> Vec<Site> {
        let mut chain = Vec::new();
        let mut at = start;
        for depth in (0..depth).rev() {
            let Some(method) = at else { break };
            let (offset, next) = match entry(&self.summaries[method], depth) {
                Some(EventLocation::Here(offset)) => (offset, None),
                Some(EventLocation::Call(offset, method)) => (offset, Some(method)),
                None => break,
            };
            chain.push(self.program.site(method, offset));
            at = next;
        }
        chain
    }

    fn of_read(&self, stale_value: &StaleValue) -> Vec<Site> {
        self.follow(stale_value.read_inside, stale_value.read_depth, |summary, depth| {
            let is_it = |returned: &&Returned| {
                returned.depth == depth && is_about(&returned.variable, &stale_value.variable)
            };
            Some(summary.returned.iter().find(is_it)?.location)
        })
    }

    fn of_write(&self, written: &Written) -> Vec<Site> {
        let EventLocation::Call(_, start) = written.location else { return Vec::new() };
        self.follow(Some(start), written.depth, |summary, depth| {
            if written.is_argument {
                let is_it = |used: &&ParameterUse| {
                    let (ParameterEffect::Written(target) | ParameterEffect::Decides(target)) =
                        &used.effect
                    else {
                        return false;
                    };
                    used.depth == depth && is_about(&target.variable, &written.variable)
                };
                Some(summary.uses.iter().find(is_it)?.location)
            } else {
                let is_it = |write: &&Write| {
                    write.depth == depth && is_about(&write.target.variable, &written.variable)
                };
                Some(summary.writes.iter().find(is_it)?.location)
            }
        })
    }
}

/// Whether a callee's variable is the caller's, as far as the field shows; what a collection is called
/// the callee may not know.
fn is_about(of_callee: &Variable, of_caller: &Variable) -> bool {
    of_callee.part == of_caller.part
        && (of_callee.field == of_caller.field || of_callee.field.is_none())
}
