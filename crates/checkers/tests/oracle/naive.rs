//! The oracles: every operation is kept, every pair is compared.

use std::collections::BTreeSet;

use events::{Mode, Variable};

use crate::trace::{Op, Operation, Run, variable};

/// A set of operations.
pub(crate) type Set = u128;

/// The most operations a run may have.
pub(crate) const MOST: usize = 120;

/// What is true of a run after each of its operations.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The first operation that makes it not serializable.
    pub(crate) first_violation: Option<usize>,
    /// The blocks, by the place of their beginning, that are not self-serializable.
    pub(crate) refuted: BTreeSet<u32>,
    /// Variables with a race, each with the operation that completes the first.
    pub(crate) races: Vec<(Variable, usize)>,
}

fn is_shared(mode: Mode) -> bool {
    mode == Mode::Shared
}

/// Whether two operations conflict, the first of which comes before the other.
pub(crate) fn conflict(a: Operation, b: Operation) -> bool {
    if a.thread == b.thread {
        return true;
    }
    match (a.op, b.op) {
        (Op::Read(x), Op::Write(y)) | (Op::Write(x), Op::Read(y) | Op::Write(y)) => x == y,
        (Op::VolatileRead(x), Op::VolatileWrite(y) | Op::Update(y) | Op::Add(y)) => x == y,
        (
            Op::VolatileWrite(x) | Op::Update(x),
            Op::VolatileRead(y) | Op::VolatileWrite(y) | Op::Update(y) | Op::Add(y),
        ) => x == y,
        // In which order two additions came, nobody can tell.
        (Op::Add(x), Op::VolatileRead(y) | Op::VolatileWrite(y) | Op::Update(y)) => x == y,
        (
            Op::Acquire(m, how) | Op::Release(m, how),
            Op::Acquire(n, other) | Op::Release(n, other),
        ) => m == n && !(is_shared(how) && is_shared(other)),
        (Op::Fork(child), _) if child == b.thread => true,
        (_, Op::Join(child)) => child == a.thread,
        _ => false,
    }
}

/// Whether one operation synchronises with a later one.
fn synchronises(a: Operation, b: Operation) -> bool {
    if a.thread == b.thread {
        return true;
    }
    match (a.op, b.op) {
        (
            Op::VolatileWrite(x) | Op::Update(x) | Op::Add(x),
            Op::VolatileRead(y) | Op::Update(y) | Op::Add(y),
        ) => x == y,
        (Op::Release(m, how), Op::Acquire(n, other)) => {
            m == n && !(is_shared(how) && is_shared(other))
        }
        (Op::Publish(o), Op::Receive(p)) => o == p,
        (Op::Fork(child), _) if child == b.thread => true,
        (_, Op::Join(child)) => child == a.thread,
        _ => false,
    }
}

/// For each operation, those that happen before it.
pub(crate) fn ordered(run: &Run) -> Vec<Set> {
    before(run, synchronises)
}

/// For each operation, those that a relation puts before it.
fn before(run: &Run, relation: impl Fn(Operation, Operation) -> bool) -> Vec<Set> {
    before_by_number(run, |earlier, at| relation(run.0[earlier], run.0[at]))
}

/// The same for a relation between the numbers of operations.
fn before_by_number(run: &Run, relation: impl Fn(usize, usize) -> bool) -> Vec<Set> {
    let mut sets: Vec<Set> = Vec::new();
    for at in 0..run.0.len() {
        let related = (0..at).filter(|earlier| relation(*earlier, at));
        sets.push(related.fold(0, |set, earlier| set | sets[earlier] | (1 << earlier)));
    }
    sets
}

/// The transaction of each operation: the first operation of it.
fn transactions(run: &Run) -> Vec<usize> {
    let mut open: Vec<(usize, usize)> = vec![(0, 0); 16];
    let mut found = Vec::new();
    for (at, operation) in run.0.iter().enumerate() {
        let (depth, first) = &mut open[operation.thread as usize];
        if *depth == 0 {
            *first = at;
        }
        found.push(*first);
        match operation.op {
            Op::Begin => *depth += 1,
            Op::End => *depth -= 1,
            _ => {}
        }
    }
    found
}

fn first_violation(run: &Run, before: &[Set]) -> Option<usize> {
    let transactions = transactions(run);
    let mut reached: Vec<Set> = vec![0; run.0.len()];
    for at in 0..run.0.len() {
        let target = transactions[at];
        for earlier in (0..at).filter(|earlier| before[at] & (1 << earlier) != 0) {
            let source = transactions[earlier];
            if source == target {
                continue;
            }
            if reached[target] & (1 << source) != 0 {
                return Some(at);
            }
            let news = reached[target] | (1 << target);
            for (other, set) in reached.iter_mut().enumerate() {
                if other == source || *set & (1 << source) != 0 {
                    *set |= news;
                }
            }
        }
    }
    None
}

fn refuted(run: &Run, before: &[Set]) -> BTreeSet<u32> {
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); 16];
    let mut found = BTreeSet::new();
    for (at, operation) in run.0.iter().enumerate() {
        let blocks = &mut open[operation.thread as usize];
        for others in (0..at).filter(|other| {
            before[at] & (1 << other) != 0 && run.0[*other].thread != operation.thread
        }) {
            // Everything that the thread did since the block began is in the block.
            found.extend(
                blocks
                    .iter()
                    .filter(|begin| before[others] & (1 << **begin) != 0)
                    .map(|begin| *begin as u32 + 1),
            );
        }
        match operation.op {
            Op::Begin => blocks.push(at),
            Op::End => {
                blocks.pop();
            }
            _ => {}
        }
    }
    found
}

/// Whether an operation and a later one, by their places in a run, race.
fn race(run: &Run, before: &[Set], earlier: usize, at: usize) -> bool {
    matches!(run.0[earlier].op, Op::Read(_) | Op::Write(_))
        && conflict(run.0[earlier], run.0[at])
        && before[at] & (1 << earlier) == 0
}

/// All pairs of operations that race, by their places in the run, the earlier one first.
pub(crate) fn racing_pairs(run: &Run) -> BTreeSet<(usize, usize)> {
    let before = before(run, synchronises);
    let pairs = (0..run.0.len()).flat_map(|at| (0..at).map(move |earlier| (earlier, at)));
    pairs.filter(|(earlier, at)| race(run, &before, *earlier, *at)).collect()
}

pub(crate) fn races(run: &Run) -> Vec<(Variable, usize)> {
    let before = before(run, synchronises);
    let mut found: Vec<(Variable, usize)> = Vec::new();
    for (at, operation) in run.0.iter().enumerate() {
        let (Op::Read(x) | Op::Write(x)) = operation.op else { continue };
        let races = (0..at).any(|earlier| race(run, &before, earlier, at));
        if races && !found.iter().any(|(known, _)| *known == variable(x)) {
            found.push((variable(x), at));
        }
    }
    found
}

/// Judges a run.
pub(crate) fn judge(run: &Run) -> Verdict {
    assert!(run.0.len() <= MOST, "a run is too long for the oracle");
    let before = before(run, conflict);
    Verdict {
        first_violation: first_violation(run, &before),
        refuted: refuted(run, &before),
        races: races(run),
    }
}

/// Judges a run in which each operation may have happened before some of those that were reported right before it:
/// two of them that overlap are not ordered, unless they are of one thread.
pub(crate) fn judge_overlapping(run: &Run, overlaps: &[u32]) -> Verdict {
    assert!(run.0.len() <= MOST, "a run is too long for the oracle");
    let is_interval = |operation: Operation| {
        matches!(
            operation.op,
            Op::VolatileRead(_) | Op::VolatileWrite(_) | Op::Update(_) | Op::Add(_)
        )
    };
    let before = before_by_number(run, |earlier, at| {
        let (a, b) = (run.0[earlier], run.0[at]);
        // A thread begins after its start and ends before it is joined, whatever it does then.
        let may_overlap = a.thread != b.thread && is_interval(a) && is_interval(b);
        conflict(a, b) && (!may_overlap || at - earlier > overlaps[at] as usize)
    });
    Verdict {
        first_violation: first_violation(run, &before),
        refuted: refuted(run, &before),
        races: races(run),
    }
}
