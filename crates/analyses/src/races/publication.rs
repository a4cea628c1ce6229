//! Objects that other threads may see before they are ready: rule `unsafe-publication` (dissertation, 4.6).
//!
//! What a thread does to a new object is ordered before what others do to it only if the variable through which the
//! object becomes known is not itself in conflict: then it escapes orderly. Double-checked locking is the classic
//! example of one that does not.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Evidence, Finding, Severity, Witness};
use rustc_hash::FxHashMap;

use super::conflict::{AcceptedReasons, Verdict};
use super::report::{self, GradedVariable};
use super::variable::{Event, RaceFacts, Variable};
use super::{CLIENT, UNSAFE_PUBLICATION};
use crate::Scope;
use crate::execution::AccessKind;
use crate::heap::{ObjectId, Slot, ThreadId};

/// An object becomes known through a variable in conflict, and a thread that may find it there reads what the maker
/// wrote before.
struct Escape<'a> {
    /// The write that makes the object known.
    published: &'a Event,
    /// The write that the reader may not see.
    written: &'a Event,
    /// The read of that very variable of the object.
    read: &'a Event,
    /// The variable of the object.
    part: &'a Variable,
    threads: (ThreadId, ThreadId),
}

/// The objects that do not escape orderly, and all that they lead to.
pub(super) fn unsafely_published(
    race_facts: &RaceFacts<'_>,
    graded: &[GradedVariable<'_>],
) -> BTreeSet<ObjectId> {
    let mut open: Vec<ObjectId> = Vec::new();
    for one in graded {
        let conflicting = one.conflicts.events();
        let events = conflicting.into_iter().map(|at| &one.variable.events[at]);
        open.extend(events.filter(|event| publishes(event)).filter_map(|event| event.value));
    }
    let mut found = BTreeSet::new();
    while let Some(object) = open.pop() {
        if found.insert(object) {
            let variables = &race_facts.execution.heap.objects[object].variables;
            open.extend(variables.values().filter_map(|variable| variable.target));
        }
    }
    found
}

fn publishes(event: &Event) -> bool {
    event.kind == AccessKind::Write && event.value_is_fresh
}

/// The findings of rule `unsafe-publication`: one for each variable through which objects become known too early.
pub(super) fn findings(
    race_facts: &RaceFacts<'_>,
    variables: &[Variable],
    graded: &[GradedVariable<'_>],
) -> Vec<Finding> {
    let context = race_facts.execution.context;
    let scope = Scope::of(context);
    let mut parts: FxHashMap<ObjectId, Vec<&Variable>> = FxHashMap::default();
    for variable in variables {
        parts.entry(variable.object).or_default().push(variable);
    }
    let mut findings = BTreeMap::new();
    for one in graded {
        // Where the race itself is harmless, so is what it makes known.
        let is_harmless = one.severity() == Severity::Low && !context.config.strict;
        let Slot::Field(field) = one.variable.slot else { continue };
        if is_harmless || findings.contains_key(&field) {
            continue;
        }
        let is_of_application = |event: &Event| context.program.is_application(event.place.method);
        let escape = escapes(race_facts, one, &parts)
            .into_iter()
            .filter(|escape| is_of_application(escape.published))
            .min_by_key(|escape| {
                let calls = race_facts.depth(escape.published) + race_facts.depth(escape.read);
                let is_elsewhere = !is_of_application(escape.read);
                (is_elsewhere, calls, escape.published.place, escape.read.place)
            });
        let Some(escape) = escape else { continue };
        let finding = finding(race_facts, one, &escape);
        if scope.covers(&finding.blame.method_name()) {
            findings.insert(field, finding);
        }
    }
    findings.into_values().collect()
}

/// Pairs of accesses that are looked at for one variable: one that shows the escape is enough, and where there are more
/// they are alike.
const MOST_PAIRS: usize = 24;

/// Places that make an object known in one and the same way, at most.
const MOST_ESCAPES: usize = 2;

fn escapes<'a>(
    race_facts: &RaceFacts<'_>,
    graded: &GradedVariable<'a>,
    parts: &FxHashMap<ObjectId, Vec<&'a Variable>>,
) -> Vec<Escape<'a>> {
    let GradedVariable { variable, conflicts, .. } = graded;
    let mut escapes = Vec::new();
    for pair in conflicts.pairs.iter().take(MOST_PAIRS) {
        let groups = [(pair.first, pair.second), (pair.second, pair.first)];
        for (group, other) in groups {
            let is_read = |at: &usize| variable.events[*at].kind == AccessKind::Read;
            if !conflicts.groups[other].first().is_some_and(is_read) {
                continue;
            }
            let readers = &variable.events[conflicts.groups[other][0]].threads;
            let publishing = conflicts.groups[group].iter().map(|at| &variable.events[*at]);
            for published in publishing.filter(|event| publishes(event)).take(MOST_ESCAPES) {
                let Some(object) = published.value else { continue };
                for part in parts.get(&object).into_iter().flatten() {
                    escapes.extend(unordered(race_facts, published, readers, part));
                }
            }
        }
    }
    escapes
}

/// The best read of a part of the object that a reader of the variable makes, and that nothing orders after what the
/// publishing thread wrote before, but for the order that the escape was to give.
fn unordered<'a>(
    race_facts: &RaceFacts<'_>,
    published: &'a Event,
    readers: &crate::heap::ThreadSet,
    part: &'a Variable,
) -> Option<Escape<'a>> {
    if !matches!(part.slot, Slot::Field(_) | Slot::Contents) {
        return None;
    }
    let accepted =
        AcceptedReasons { new: false, constructors: false, ..AcceptedReasons::all(true) };
    let is_initial = |event: &&Event| {
        event.kind == AccessKind::Write && (event.base.is_fresh || event.is_in_constructor)
    };
    let is_read = |event: &&Event| event.kind == AccessKind::Read && !event.base.is_fresh;
    let shares = |event: &Event, threads: &crate::heap::ThreadSet| {
        event.threads.iter().any(|thread| threads.contains(thread))
    };
    let writes = part.events.iter().filter(is_initial);
    let writes = writes.filter(|write| shares(write, &published.threads));
    let pairs = writes.flat_map(|written| {
        let reads = part.events.iter().filter(is_read).filter(|read| shares(read, readers));
        reads.map(move |read| (written, read))
    });
    pairs
        .take(MOST_PAIRS)
        .filter_map(|(written, read)| {
            match race_facts.decide(accepted, part.object, written, read) {
                Verdict::Conflict(one, other) => {
                    Some(Escape { published, written, read, part, threads: (one, other) })
                }
                Verdict::Safe(_) => None,
            }
        })
        .min_by_key(|escape| {
            (race_facts.depth(escape.read), escape.read.place, escape.written.place)
        })
}

fn finding(
    race_facts: &RaceFacts<'_>,
    graded: &GradedVariable<'_>,
    escape: &Escape<'_>,
) -> Finding {
    let program = race_facts.execution.context.program;
    let through = report::name_of(race_facts, graded.variable);
    let part = report::name_of(race_facts, escape.part);
    let steps = vec![
        report::step(race_facts, "first", escape.published, escape.threads.0, &through),
        report::step(race_facts, "second", escape.read, escape.threads.1, &part),
    ];
    let written_at = program.site(escape.written.place.method, escape.written.place.offset);
    let subjects = BTreeMap::from([
        ("variable", through),
        ("part", part),
        ("written", written_at.method_name()),
    ]);
    Finding {
        rule: UNSAFE_PUBLICATION,
        evidence: Evidence::Possible,
        severity: Severity::Medium,
        blame: program.site(report::written_at(race_facts, escape.published).0.method, 0),
        subjects,
        stable_subjects: BTreeMap::from([("written", String::new())]),
        witnesses: vec![Witness::new(CLIENT.name, steps)],
        distance: race_facts.depth(escape.published) + race_facts.depth(escape.read),
        fingerprint: None,
        also: Vec::new(),
    }
}
