//! Compares Eraser and Atomizer with their papers, written as statements about all operations so far:
//! no states, no interned sets, nothing forgotten.

use std::collections::BTreeSet;

use checkers::Checker;
use checkers::atomizer::Atomizer;
use checkers::eraser::Eraser;
use events::Mode;

use crate::filters::{Filters, LOCKSETS, Model};
use crate::random::{Random, number_from};
use crate::trace::{self, Op, Operation, Run, Shape};

/// What a use is a use of. An acquisition writes the lock, or reads it in shared mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Variable(u32),
    Volatile(u32),
    Lock(u32),
}

/// The thing that an operation uses, and whether it changes it.
fn used(op: Op) -> Option<(Target, bool)> {
    match op {
        Op::Read(x) => Some((Target::Variable(x), false)),
        Op::Write(x) => Some((Target::Variable(x), true)),
        Op::VolatileRead(x) => Some((Target::Volatile(x), false)),
        Op::VolatileWrite(x) | Op::Update(x) | Op::Add(x) => Some((Target::Volatile(x), true)),
        Op::Acquire(m, mode) => Some((Target::Lock(m), mode == Mode::Exclusive)),
        Op::Release(..)
        | Op::Fork(_)
        | Op::Join(_)
        | Op::Publish(_)
        | Op::Receive(_)
        | Op::Begin
        | Op::End
        | Op::ThreadEnd => None,
    }
}

/// The locks that the thread of an operation holds when it begins; to change something they must be held
/// exclusively.
fn held(run: &Run, at: usize, only_exclusive: bool) -> BTreeSet<u32> {
    let mut held: Vec<(u32, Mode)> = Vec::new();
    for operation in run.0[..at].iter().filter(|it| it.thread == run.0[at].thread) {
        match operation.op {
            Op::Acquire(lock, mode) => held.push((lock, mode)),
            Op::Release(lock, mode) => held.retain(|it| *it != (lock, mode)),
            _ => {}
        }
    }
    held.retain(|(_, mode)| !only_exclusive || *mode == Mode::Exclusive);
    held.into_iter().map(|(lock, _)| lock).collect()
}

fn common(sets: impl Iterator<Item = BTreeSet<u32>>) -> Option<BTreeSet<u32>> {
    sets.reduce(|all, set| all.intersection(&set).copied().collect())
}

/// How a thing was used up to an operation.
struct History {
    /// One thread alone has used it.
    is_own: bool,
    /// It was not changed since a second thread came, or a lock was held at all uses since.
    is_guarded: bool,
    /// The locks held at all changes since.
    write_guards: BTreeSet<u32>,
}

fn history(run: &Run, until: usize, target: Target) -> History {
    let uses: Vec<(usize, bool)> = (0..=until)
        .filter_map(|at| Some((at, used(run.0[at].op).filter(|(it, _)| *it == target)?.1)))
        .collect();
    let owner = uses.first().map(|(at, _)| run.0[*at].thread);
    let shared: Vec<(usize, bool)> =
        uses.into_iter().skip_while(|(at, _)| Some(run.0[*at].thread) == owner).collect();
    let changes = || shared.iter().filter(|(_, changes)| *changes);
    let guards = common(shared.iter().map(|(at, changes)| held(run, *at, *changes)));
    History {
        is_own: shared.is_empty(),
        is_guarded: changes().next().is_none() || guards.is_some_and(|guards| !guards.is_empty()),
        write_guards: common(changes().map(|(at, _)| held(run, *at, true))).unwrap_or_default(),
    }
}

/// The first operation after which each variable is unguarded.
fn unguarded(run: &Run) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    for (at, operation) in run.0.iter().enumerate() {
        if let Some((Target::Variable(x), _)) = used(operation.op)
            && !history(run, at, Target::Variable(x)).is_guarded
            && !found.iter().any(|(known, _)| *known == x)
        {
            found.push((x, at));
        }
    }
    found
}

/// Which way an operation moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoverKind {
    Both,
    Right,
    Left,
    Neither,
}

fn mover(run: &Run, at: usize) -> MoverKind {
    match run.0[at].op {
        op @ (Op::Read(_)
        | Op::Write(_)
        | Op::VolatileRead(_)
        | Op::VolatileWrite(_)
        | Op::Update(_)
        | Op::Add(_)
        | Op::Acquire(..)) => {
            let Some((target, changes)) = used(op) else { return MoverKind::Both };
            let History { is_guarded, write_guards, .. } = history(run, at, target);
            let excludes_changes = || !held(run, at, false).is_disjoint(&write_guards);
            if is_guarded || (!changes && excludes_changes()) {
                MoverKind::Both
            } else if matches!(target, Target::Lock(_)) {
                MoverKind::Right
            } else {
                MoverKind::Neither
            }
        }
        Op::Release(lock, _) if history(run, at, Target::Lock(lock)).is_guarded => MoverKind::Both,
        Op::Release(..) | Op::Fork(_) => MoverKind::Left,
        Op::Join(_) => MoverKind::Right,
        Op::Publish(_) | Op::Receive(_) | Op::Begin | Op::End | Op::ThreadEnd => MoverKind::Both,
    }
}

/// The operations of a block up to one of its thread, repetitions left out, each with its mover.
fn operations(run: &Run, outermost: usize, begin: usize, until: usize) -> Vec<(usize, MoverKind)> {
    let thread = run.0[begin].thread;
    let mut found = Vec::new();
    // What was used in the transaction since the thread last synchronised.
    let mut recent: Vec<(Target, bool, usize)> = Vec::new();
    for at in (outermost + 1..=until).filter(|at| run.0[*at].thread == thread) {
        let op = run.0[at].op;
        let mut is_repeated_in_block = false;
        match used(op) {
            Some((target @ (Target::Variable(_) | Target::Volatile(_)), changes)) => {
                let mut same = recent
                    .iter()
                    .filter(|(it, changed, _)| *it == target && (*changed || !changes));
                let is_repeated = same.clone().next().is_some();
                is_repeated_in_block = same.any(|(.., when)| *when > begin);
                let is_volatile = matches!(target, Target::Volatile(_));
                if is_volatile && !is_repeated {
                    recent.clear();
                }
                let is_told = if is_volatile { !changes } else { !history(run, at, target).is_own };
                if is_told {
                    recent.push((target, changes, at));
                }
            }
            Some((Target::Lock(_), _)) => recent.clear(),
            None if matches!(op, Op::Begin | Op::End) => continue,
            None => recent.clear(),
        }
        if at > begin && !is_repeated_in_block {
            found.push((at, mover(run, at)));
        }
    }
    found
}

/// Whether movers are right ones, at most one that moves neither way, and left ones.
fn fits(movers: &[(usize, MoverKind)]) -> bool {
    let mut rest =
        movers.iter().map(|(_, mover)| *mover).filter(|it| *it != MoverKind::Both).peekable();
    while rest.next_if_eq(&MoverKind::Right).is_some() {}
    rest.next_if_eq(&MoverKind::Neither);
    rest.all(|mover| mover == MoverKind::Left)
}

/// The blocks that are open when an operation happens, by where they begin.
pub(crate) fn open_blocks(run: &Run, at: usize) -> Vec<usize> {
    let mut open = Vec::new();
    for earlier in (0..at).filter(|earlier| run.0[*earlier].thread == run.0[at].thread) {
        match run.0[earlier].op {
            Op::Begin => open.push(earlier),
            Op::End => {
                open.pop();
            }
            _ => {}
        }
    }
    open
}

/// The new verdicts of Atomizer after an operation.
#[derive(Debug, Default, PartialEq, Eq)]
struct CheckerVerdict {
    at: usize,
    failed: BTreeSet<u32>,
    suspects: BTreeSet<u32>,
}

/// The place of an operation.
fn place(at: usize) -> u32 {
    at as u32 + 1
}

fn reduction(run: &Run) -> Vec<CheckerVerdict> {
    let mut all: Vec<CheckerVerdict> = Vec::new();
    for at in 0..run.0.len() {
        let mut actual = CheckerVerdict { at, ..CheckerVerdict::default() };
        let open = open_blocks(run, at);
        for begin in &open {
            let operations = operations(run, open[0], *begin, at);
            let Some(((last, mover), before)) = operations.split_last() else { continue };
            if *last != at || fits(&operations) {
                continue;
            }
            if fits(before) {
                actual.failed.insert(place(*begin));
            }
            let is_misplaced = matches!(mover, MoverKind::Right | MoverKind::Neither);
            if is_misplaced && used(run.0[at].op).is_some() {
                actual.suspects.insert(place(at));
            }
        }
        if !actual.failed.is_empty() || !actual.suspects.is_empty() {
            all.push(actual);
        }
    }
    all
}

/// Gives a run to a checker, operation by operation.
fn observe<M: Checker>(
    run: &Run,
    filters: Option<Filters>,
    checker: &mut M,
    mut after: impl FnMut(&mut M, usize, Operation),
) {
    let mut model = filters.map(Model::new);
    for (number, operation) in run.0.iter().enumerate() {
        match &mut model {
            Some(model) => {
                model.operation(*operation, number);
                model.events.drain(..).for_each(|event| checker.event(&event));
            }
            None => checker.event(&operation.event(number)),
        }
        after(checker, number, *operation);
    }
}

fn run_eraser(run: &Run, filters: Option<Filters>) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    observe(run, filters, &mut Eraser::default(), |checker, at, operation| {
        let (Op::Read(x) | Op::Write(x)) = operation.op else { return };
        if checker.has_race_on(trace::variable(x)) && !found.iter().any(|(known, _)| *known == x) {
            found.push((x, at));
        }
    });
    found
}

fn run_atomizer(run: &Run, filters: Option<Filters>) -> Vec<CheckerVerdict> {
    let mut all: Vec<CheckerVerdict> = Vec::new();
    observe(run, filters, &mut Atomizer::default(), |checker, at, _| {
        let is_new = |block: &u32| !all.iter().any(|actual| actual.failed.contains(block));
        let failed = checker.failed().iter().map(|block| block.0).filter(is_new).collect();
        let suspects = checker.suspects().iter().map(|site| site.0).collect();
        let actual = CheckerVerdict { at, failed, suspects };
        if !actual.failed.is_empty() || !actual.suspects.is_empty() {
            all.push(actual);
        }
    });
    all
}

fn mismatch(run: &Run, filters: Option<Filters>) -> Option<String> {
    let (expected, actual) = (unguarded(run), run_eraser(run, filters));
    if actual != expected {
        return Some(format!("eraser: {actual:?} instead of {expected:?}"));
    }
    let (expected, actual) = (reduction(run), run_atomizer(run, filters));
    (actual != expected).then(|| format!("atomizer: {actual:?} instead of {expected:?}"))
}

/// How many variables were unguarded, and how many blocks failed.
fn check(name: &str, filters: Option<Filters>, runs: u64) -> (usize, usize) {
    let seed = number_from("CHECKER_SEED", 1);
    let (mut variables, mut blocks) = (0, 0);
    for number in 0..number_from("CHECKER_RUNS", runs) {
        let mut random = Random::new(seed.wrapping_mul(0x0001_0000_0001).wrapping_add(number));
        let shape = Shape::random(&mut random);
        let run = Run::random(&mut random, shape);
        variables += unguarded(&run).len();
        blocks += reduction(&run).iter().map(|actual| actual.failed.len()).sum::<usize>();
        if mismatch(&run, filters).is_some() {
            let small = run.shrink(shape.forks, |run| mismatch(run, filters).is_some());
            let why = mismatch(&small, filters).unwrap_or_default();
            panic!("{name}, run {number}:\n{small:?}{why}");
        }
    }
    (variables, blocks)
}

#[test]
fn eraser_and_atomizer_agree_with_the_textbook() {
    let (variables, blocks) = check("unfiltered", None, 3000);
    assert!(variables > 1000, "the runs say little: {variables} variables");
    assert!(blocks > 1000, "the runs say little: {blocks} blocks");
}

#[test]
fn filters_for_locksets_change_nothing() {
    check("filtered", Some(LOCKSETS), 3000);
    check("no ownership", Some(Filters { ownership: false, ..LOCKSETS }), 1000);
    check("no epochs", Some(Filters { epoch: false, ..LOCKSETS }), 1000);
}

#[test]
fn other_checkers_see_the_same_with_filters_for_locksets() {
    crate::check("filters for locksets", Some(LOCKSETS), 3000);
}

#[test]
fn filters_that_know_edges_only_hide_the_owner_without_a_lock() {
    let lock = |thread| (thread, Op::Acquire(0, Mode::Exclusive));
    let unlock = |thread| (thread, Op::Release(0, Mode::Exclusive));
    let run = [
        (0, Op::Write(0)),
        lock(1),
        (1, Op::Write(0)),
        unlock(1),
        lock(0),
        (0, Op::Write(0)),
        unlock(0),
        (0, Op::Write(0)),
    ];
    let run = Run(run.into_iter().map(|(thread, op)| Operation { thread, op }).collect());
    assert_eq!(run_eraser(&run, Some(LOCKSETS)), [(0, 7)]);
    assert_eq!(run_eraser(&run, Some(crate::filters::ALL)), []);
}
