//! From violations to findings: who is blamed, and the steps that prove it.

use std::collections::BTreeMap;

use findings::{Evidence, Finding, HeldLock, Site, Step, Witness, grade};
use program::ids::{ClassId, MethodId};

use super::atomic::Atomicity;
use super::checker::{ConsistencyChecker, SectionUse, Violation};
use super::views::VariableId;
use super::{CLIENT, INCONSISTENT_METHOD};
use crate::heap::{Place, Slot};
use crate::source_names::field_name;
use crate::{Outcome, Scope};

/// One finding for each blamed method and class of variables: the worst one.
pub(super) fn outcome(checker: &ConsistencyChecker<'_>, violations: &[Violation]) -> Outcome {
    let execution = checker.execution;
    let atomicity = Atomicity::of(execution.context, execution.heap);
    let scope = Scope::of(execution.context);
    let mut worst: BTreeMap<(MethodId, Option<ClassId>), Finding> = BTreeMap::new();
    for violation in violations {
        let is_blamable = |context| atomicity.covers(execution.methods[context]);
        for blamed in checker.scopes.nearest_above(violation.context, is_blamable) {
            let method = execution.methods[blamed];
            let name = execution.context.program.site(method, 0).method_name();
            if !scope.covers(&name) {
                continue;
            }
            let Some(finding) = finding(checker, violation, method) else { continue };
            let key = (method, violation.owner);
            let is_worse = |known: &Finding| {
                (finding.severity, std::cmp::Reverse(finding.distance))
                    > (known.severity, std::cmp::Reverse(known.distance))
            };
            if worst.get(&key).is_none_or(is_worse) {
                worst.insert(key, finding);
            }
        }
    }
    Outcome { findings: worst.into_values().collect(), ..Outcome::default() }
}

fn finding(
    checker: &ConsistencyChecker<'_>,
    violation: &Violation,
    blamed: MethodId,
) -> Option<Finding> {
    let execution = checker.execution;
    let program = execution.context.program;
    let locked = checker.views.sections[violation.first.section].object;
    let lock = execution.describe_lock(locked);
    let held = |place: Place| {
        vec![HeldLock { lock: lock.clone(), taken_at: program.site(place.method, place.offset) }]
    };
    let step = |role: &'static str, part: &SectionUse| {
        let sites = sites_of(checker, part)?;
        let (site, call_chain) = sites.split_first()?;
        let (_, acquired) = part.path.last()?;
        let (call_chain, held_locks) = (call_chain.to_vec(), held(*acquired));
        Some(Step { call_chain, held_locks, ..Step::at(role, site.clone()) })
    };
    let between = interference(checker, violation)?;
    let taken = checker.views.sections[violation.between].lock.taken_at;
    let steps = vec![
        Step::at("block", program.site(blamed, 0)),
        step("first", &violation.first)?,
        step("second", &violation.second)?,
        Step {
            held_locks: held(taken),
            ..Step::at("interferes", program.site(between.method, between.offset))
        },
    ];
    let variables = [violation.first.variable, violation.second.variable];
    let mut names = variables.map(|variable| name_of(checker, variable)).to_vec();
    names.sort_unstable();
    names.dedup();
    let fields = names.join(" and ");
    let stable = execution.describe_lock_stable(locked);
    let stable_subjects = BTreeMap::from([("lock", stable), ("fields", fields.clone())]);
    let mut subjects = BTreeMap::from([("lock", lock), ("fields", fields)]);
    if violation.severity == grade::CALLERS_OF_LIBRARY.at_most
        && checker.is_reached_by_callers(violation.context, violation.between)
    {
        grade::CALLERS_OF_LIBRARY.note_in(&mut subjects);
    }
    Some(Finding {
        rule: INCONSISTENT_METHOD,
        evidence: Evidence::Possible,
        severity: violation.severity,
        blame: program.site(blamed, 0),
        subjects,
        stable_subjects,
        distance: steps.iter().map(|step| step.call_chain.len() as u32).sum(),
        witnesses: vec![Witness::new(CLIENT.name, steps)],
        fingerprint: None,
        also: Vec::new(),
    })
}

/// From the place in the method that is meant to be atomic down to where the variable is touched.
fn sites_of(checker: &ConsistencyChecker<'_>, part: &SectionUse) -> Option<Vec<Site>> {
    let program = checker.execution.context.program;
    let touched = checker.views.touched(part.section, part.variable);
    let (place, _) = touched.written.or(touched.read)?;
    let mut places: Vec<Place> = part.path.iter().map(|(_, place)| *place).collect();
    if let Some(acquired) = places.last_mut()
        && acquired.method == place.method
    {
        *acquired = place;
    }
    Some(places.iter().map(|place| program.site(place.method, place.offset)).collect())
}

/// Where the section in between touches what the others touch: a write, if there is one.
fn interference(checker: &ConsistencyChecker<'_>, violation: &Violation) -> Option<Place> {
    let touched = [violation.first.variable, violation.second.variable]
        .map(|variable| checker.views.touched(violation.between, variable));
    let written = touched.iter().find_map(|touched| touched.written);
    let read = touched.iter().find_map(|touched| touched.read);
    written.or(read).map(|(place, _)| place)
}

/// What a variable is called: by the field that it is, or that holds it.
fn name_of(checker: &ConsistencyChecker<'_>, variable: VariableId) -> String {
    let execution = checker.execution;
    let program = execution.context.program;
    let (object, slot) = checker.views.variables[variable];
    let holder = || match checker.holding_fields(object).first() {
        Some(field) => field_name(program, *field),
        None => execution.describe_lock_stable(object),
    };
    match slot {
        Slot::Field(field) => format!("`{}`", field_name(program, field)),
        Slot::Element => format!("the elements of `{}`", holder()),
        Slot::Contents | Slot::Task | Slot::Captured(_) => {
            format!("the contents of `{}`", holder())
        }
    }
}
