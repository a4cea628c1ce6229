//! Compares the checkers of objects with chapter 7 of the dissertation, written as statements about all operations so
//! far: no states, no interned sets.
//!
//! Variables two by two are the fields of an object. Which code belongs to the class of the objects is decided by the
//! place of an operation.

use std::collections::BTreeMap;

use checkers::object_consistency::{self, ObjectConsistency};
use checkers::object_race::ObjectRace;
use checkers::{Checker, ObjectRaceCriterion};
use events::{
    Action, Event, FieldEntry, FieldId, Mode, ObjectId, SiteEntry, SiteId, Tables, Variable,
};
use findings::Severity;

use crate::filters::{ALL, Filters, LOCKSETS, Model};
use crate::locksets::open_blocks;
use crate::naive;
use crate::random::{Random, number_from};
use crate::trace::{Op, Operation, Run, Shape};

const FIELDS: u32 = 2;

/// The object and the field that a variable is here.
fn object_of(x: u32) -> u32 {
    x / FIELDS
}

fn field(x: u32) -> Variable {
    Variable::Field(ObjectId(u64::from(5000 + object_of(x))), FieldId(x % FIELDS))
}

fn moved(event: Event) -> Event {
    let field = |variable| match variable {
        Variable::Static(FieldId(x)) => field(x),
        other => other,
    };
    let action = match event.action {
        Action::Read(variable) => Action::Read(field(variable)),
        Action::Write(variable) => Action::Write(field(variable)),
        Action::EarlierRead(variable) => Action::EarlierRead(field(variable)),
        Action::EarlierWrite(variable) => Action::EarlierWrite(field(variable)),
        other => other,
    };
    Event { action, ..event }
}

/// Whether code of the objects' class is at a place, and whether it accesses its own fields.
fn is_own_block(place: u32) -> bool {
    !place.is_multiple_of(5)
}

fn is_own_access(place: u32) -> bool {
    !place.is_multiple_of(4)
}

fn tables(run: &Run) -> Tables {
    let mut tables = Tables::default();
    tables.sites.push(SiteEntry::unknown());
    for (at, operation) in run.0.iter().enumerate() {
        let place = at as u32 + 1;
        let mut entry = SiteEntry::unknown();
        let is_own = match operation.op {
            Op::Begin => is_own_block(place),
            _ => is_own_access(place),
        };
        entry.site.class = if is_own { "C" } else { "D" }.to_string();
        entry.subject = "C.f".to_string();
        tables.sites.push(entry);
    }
    for name in ["f", "g"] {
        tables.fields.push(FieldEntry { class: "C".to_string(), name: name.to_string() });
    }
    tables
}

/// Gives a run to a checker; `after` is called after each operation.
fn observe<C: Checker>(
    run: &Run,
    filters: Option<Filters>,
    checker: &mut C,
    mut after: impl FnMut(&mut C, usize),
) {
    checker.learn(&tables(run));
    let mut model = filters.map(Model::new);
    for (number, operation) in run.0.iter().enumerate() {
        match &mut model {
            Some(model) => {
                model.operation(*operation, number);
                model.events.drain(..).for_each(|event| checker.event(&moved(event)));
            }
            None => checker.event(&moved(operation.event(number))),
        }
        after(checker, number);
    }
}

/// The variable that an operation accesses, and whether it writes it.
fn access(operation: Operation) -> Option<(u32, bool)> {
    match operation.op {
        Op::Read(x) => Some((x, false)),
        Op::Write(x) => Some((x, true)),
        _ => None,
    }
}

/// The locks that the thread of an operation holds then.
fn held(run: &Run, at: usize) -> Vec<(u32, Mode)> {
    let mut held = Vec::new();
    for operation in run.0[..at].iter().filter(|it| it.thread == run.0[at].thread) {
        match operation.op {
            Op::Acquire(lock, mode) => held.push((lock, mode)),
            Op::Release(lock, mode) => held.retain(|it| *it != (lock, mode)),
            _ => {}
        }
    }
    held
}

/// The accesses to an object up to an operation.
fn uses(run: &Run, object: u32, until: usize) -> Vec<usize> {
    let is_use = |at: &usize| access(run.0[*at]).is_some_and(|(x, _)| object_of(x) == object);
    (0..=until).filter(is_use).collect()
}

/// Whether the locking discipline of section 7.1.1 is violated after an access, by the ownership model of 7.1.2.
fn is_unguarded(run: &Run, object: u32, at: usize) -> bool {
    let uses = uses(run, object, at);
    let thread = |at: usize| run.0[at].thread;
    let owner = uses.first().map(|first| thread(*first));
    let since: Vec<usize> = uses.into_iter().skip_while(|at| Some(thread(*at)) == owner).collect();
    let is_shared = since.iter().any(|it| thread(*it) != thread(since[0]));
    let writes = |at: usize| access(run.0[at]).is_some_and(|(_, is_write)| is_write);
    let guards = since.iter().map(|at| {
        let held = held(run, *at);
        let guards = held.iter().filter(|(_, mode)| !writes(*at) || *mode == Mode::Exclusive);
        guards.map(|(lock, _)| *lock).collect::<std::collections::BTreeSet<u32>>()
    });
    let common = guards.reduce(|all, set| all.intersection(&set).copied().collect());
    is_shared && since.iter().any(|at| writes(*at)) && common.is_some_and(|it| it.is_empty())
}

/// What is said of each object after each operation.
fn object_races(run: &Run, criterion: ObjectRaceCriterion) -> Vec<BTreeMap<u32, Severity>> {
    let before = naive::ordered(run);
    let mut known: BTreeMap<u32, Severity> = BTreeMap::new();
    let mut all = Vec::new();
    for at in 0..run.0.len() {
        if let Some((x, is_write)) = access(run.0[at])
            && is_unguarded(run, object_of(x), at)
        {
            let thread = run.0[at].thread;
            let mut latest: BTreeMap<(u32, u32, bool), usize> = BTreeMap::new();
            for earlier in uses(run, object_of(x), at).into_iter().filter(|it| *it < at) {
                let Some((y, writes)) = access(run.0[earlier]) else { continue };
                latest.insert((run.0[earlier].thread, y, writes), earlier);
            }
            let is_separate = |earlier: usize| match criterion {
                ObjectRaceCriterion::Hybrid => before[at] & (1 << earlier) == 0,
                ObjectRaceCriterion::Lockset => !held(run, earlier).iter().any(|(lock, mode)| {
                    held(run, at).iter().any(|(other, how)| {
                        lock == other && (*mode, *how) != (Mode::Shared, Mode::Shared)
                    })
                }),
            };
            for ((other, y, writes), earlier) in latest {
                if other != thread && (writes || is_write) && is_separate(earlier) {
                    let severity = if x == y { Severity::Medium } else { Severity::Low };
                    let verdict = known.entry(object_of(x)).or_insert(severity);
                    *verdict = (*verdict).max(severity);
                }
            }
        }
        all.push(known.clone());
    }
    all
}

fn run_object_race(
    run: &Run,
    criterion: ObjectRaceCriterion,
    filters: Option<Filters>,
) -> Vec<BTreeMap<u32, Severity>> {
    let mut all = Vec::new();
    observe(run, filters, &mut ObjectRace::new(criterion), |checker, _| {
        let objects = (0..8).filter_map(|object| {
            checker.verdict_on(field(object * FIELDS)).map(|severity| (object, severity))
        });
        all.push(objects.collect());
    });
    all
}

/// Where the unit of work begins that an access belongs to.
fn unit(run: &Run, at: usize) -> Option<usize> {
    let place = |at: usize| at as u32 + 1;
    if !is_own_access(place(at)) {
        return None;
    }
    let open = open_blocks(run, at);
    let block = *open.iter().rev().take_while(|begin| is_own_block(place(**begin))).last()?;
    let mut taken: Vec<(u32, Mode, usize)> = Vec::new();
    for earlier in (0..at).filter(|earlier| run.0[*earlier].thread == run.0[at].thread) {
        match run.0[earlier].op {
            Op::Acquire(lock, mode) => taken.push((lock, mode, earlier)),
            Op::Release(lock, _) => {
                if let Some(last) = taken.iter().rposition(|(held, ..)| *held == lock) {
                    taken.remove(last);
                }
            }
            _ => {}
        }
    }
    let lock = taken.iter().map(|(.., when)| *when).find(|when| *when > block);
    Some(lock.unwrap_or(block))
}

/// The overlaps of section 7.2.2, by the places of their accesses, of those accesses to an object that are remembered.
fn overlaps(run: &Run, remembered: usize) -> BTreeMap<[u32; 3], Severity> {
    let before = naive::ordered(run);
    let mut found: BTreeMap<[u32; 3], Severity> = BTreeMap::new();
    for last in 0..run.0.len() {
        let Some((x, _)) = access(run.0[last]) else { continue };
        let Some(begin) = unit(run, last) else { continue };
        let all = uses(run, object_of(x), last);
        let earlier = &all[..all.len() - 1];
        let earlier = &earlier[earlier.len().saturating_sub(remembered)..];
        for first in earlier.iter().copied() {
            for between in earlier.iter().copied().filter(|between| *between > first) {
                let three = [first, between, last];
                let threads = three.map(|at| run.0[at].thread);
                let [a, b, c] = three.map(|at| access(run.0[at]).unwrap_or_default());
                if threads[0] != threads[2]
                    || threads[0] == threads[1]
                    || first < begin
                    || !is_own_access(first as u32 + 1)
                    || !(a.1 || b.1 || c.1)
                {
                    continue;
                }
                let races = |one: usize, other: usize| {
                    let (x, y) = (access(run.0[one]), access(run.0[other]));
                    let (Some((x, writes)), Some((y, also))) = (x, y) else { return false };
                    x == y && (writes || also) && before[other] & (1 << one) == 0
                };
                // Whether the unit gives the same before the other access, or after it.
                let is_serial = b.1 == (a.1 && c.1);
                let is_split = a.0 == b.0 && b.0 == c.0 && !is_serial;
                let is_unordered = races(first, between) || races(between, last);
                let severity = match u32::from(is_split) + u32::from(is_unordered) {
                    2 => Severity::High,
                    1 => Severity::Medium,
                    _ => Severity::Low,
                };
                found.insert(three.map(|at| at as u32 + 1), severity);
            }
        }
    }
    found
}

fn run_object_consistency(run: &Run, filters: Option<Filters>) -> BTreeMap<[u32; 3], Severity> {
    let mut checker = ObjectConsistency::default();
    observe(run, filters, &mut checker, |_, _| {});
    checker.overlaps().map(|(places, severity)| (places.map(|SiteId(it)| it), severity)).collect()
}

fn mismatch(run: &Run) -> Option<String> {
    for criterion in [ObjectRaceCriterion::Lockset, ObjectRaceCriterion::Hybrid] {
        let (expected, actual) =
            (object_races(run, criterion), run_object_race(run, criterion, None));
        if actual != expected {
            return Some(format!("{criterion:?}: {actual:?} instead of {expected:?}"));
        }
    }
    let hybrid = ObjectRaceCriterion::Hybrid;
    let (most, filtered) =
        (object_races(run, hybrid), run_object_race(run, hybrid, Some(LOCKSETS)));
    for (most, filtered) in most.iter().zip(&filtered) {
        if filtered.iter().any(|(object, severity)| most.get(object) < Some(severity)) {
            return Some(format!("filtered: {filtered:?} is more than {most:?}"));
        }
    }
    let expected = overlaps(run, object_consistency::MOST_REMEMBERED);
    let actual = run_object_consistency(run, None);
    if actual != expected {
        return Some(format!("consistency: {actual:?} instead of {expected:?}"));
    }
    let most = overlaps(run, usize::MAX);
    let filtered = run_object_consistency(run, Some(ALL));
    if filtered.iter().any(|(places, severity)| most.get(places) < Some(severity)) {
        return Some(format!("consistency, filtered: {filtered:?} is more than {most:?}"));
    }
    None
}

#[test]
fn monitors_of_objects_agree_with_the_dissertation() {
    let seed = number_from("CHECKER_SEED", 1);
    let (mut races, mut graded_down, mut overlapping) = (0, 0, 0);
    for number in 0..number_from("CHECKER_RUNS", 3000) {
        let mut random = Random::new(seed.wrapping_mul(0x0001_0000_0003).wrapping_add(number));
        let shape = Shape::random(&mut random);
        let run = Run::random(&mut random, shape);
        let verdicts = object_races(&run, ObjectRaceCriterion::Hybrid);
        for severity in verdicts.last().into_iter().flat_map(BTreeMap::values) {
            races += usize::from(*severity == Severity::Medium);
            graded_down += usize::from(*severity == Severity::Low);
        }
        overlapping += overlaps(&run, object_consistency::MOST_REMEMBERED).len();
        if mismatch(&run).is_some() {
            let small = run.shrink(shape.forks, |run| mismatch(run).is_some());
            let why = mismatch(&small).unwrap_or_default();
            panic!("run {number}:\n{small:?}{why}");
        }
    }
    assert!(races > 500, "the runs say little: {races} races");
    assert!(graded_down > 20, "the runs say little: {graded_down} graded down");
    assert!(overlapping > 500, "the runs say little: {overlapping} overlaps");
}
