//! Valid pairs and valid cycles.
//!
//! A cycle leads through visits of units: it arrives at an access and leaves from an access. What it leaves from
//! conflicts with what it arrives at in the next visit, and comes before it. In a visit, the access it leaves from comes
//! after the one it arrives at, or is the same, or is in a later unit; but in the unit that is split it comes *before*:
//! the unit has done something that comes before all the others, and is to do something that comes after them.
//!
//! A section is one step to whoever needs its lock: what must come after something that is done under the lock comes
//! after all of the section. So it does not matter in which order the accesses of a visit are in a section whose lock is
//! held at an access that the cycle has left before, up to the unit that is split, or arrives at later. In the
//! words of the paper, edges are between sections of the outermost common lock.

use std::rc::Rc;

use events::{SiteId, ThreadId};
use rustc_hash::FxHashMap;

use super::forest::{Forest, Unit, UnitId};
use super::order::Place;
use super::schedule::{Feasibility, Part, ThreadParts, feasibility};
use super::tree::Leaf;

/// An access in a unit, by its number in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Access {
    pub(super) unit: UnitId,
    pub(super) leaf: usize,
}

/// How a cycle gets from where it arrives to where it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Passage {
    /// Within one unit, forward.
    Forward,
    /// Within one section of a unit, whose lock others of the cycle need, backward.
    Section,
    /// From a unit to one that comes after it.
    Later,
    /// Within one unit that is meant to be atomic, backward: the unit is split.
    Backward,
}

/// A step of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Visit {
    pub(super) arrives: Access,
    pub(super) leaves: Access,
    pub(super) passage: Passage,
}

/// Among no more units than this, all are considered as later ones of a cycle.
const FEW_UNITS: usize = 128;

/// Finds the cycles through a unit.
pub(super) struct CycleSearch<'a, F> {
    forest: &'a Forest,
    start: UnitId,
    edges: usize,
    steps: u64,
    most_steps: u64,
    visits: Vec<Visit>,
    threads: Vec<ThreadId>,
    /// Whether the first unit can be split between the access it is left from and a later one, as far as the first edge
    /// tells.
    may_split_start: bool,
    /// What [`CycleSearch::units_after`] has found.
    after: FxHashMap<ThreadId, Rc<[UnitId]>>,
    found: F,
}

impl<'a, F: FnMut(&[Visit])> CycleSearch<'a, F> {
    /// Calls `found` for each cycle with so many edges that the unit is part of. How many steps that took; more than
    /// `most_steps` if the search was ended.
    pub(super) fn run(
        forest: &'a Forest,
        start: UnitId,
        edges: usize,
        most_steps: u64,
        found: F,
    ) -> u64 {
        let Some(unit) = forest.get(start) else { return 0 };
        let threads = vec![unit.thread];
        let mut search = CycleSearch {
            forest,
            start,
            edges,
            steps: 0,
            most_steps,
            visits: Vec::new(),
            threads,
            may_split_start: false,
            after: FxHashMap::default(),
            found,
        };
        for leaf in 0..unit.tree.leaves.len() {
            search.follow(Access { unit: start, leaf }, Access { unit: start, leaf });
        }
        search.steps
    }

    fn leaf(&self, access: Access) -> Option<(&'a Unit, &'a Leaf)> {
        let unit = self.forest.get(access.unit)?;
        Some((unit, unit.tree.leaves.get(access.leaf)?))
    }

    /// Follows the conflict edges from an access; `first` is the access that the first visit leaves from.
    fn follow(&mut self, first: Access, from: Access) {
        let Some((unit, leaf)) = self.leaf(from) else { return };
        let Some(place) = unit.place(leaf) else { return };
        let is_last = self.visits.len() + 1 == self.edges;
        let home = self.threads[0];
        // What came last first, in case there are too many.
        let forest = self.forest;
        for other in forest.conflicting(leaf.access.variable, leaf.access.is_write, place) {
            self.steps += 1;
            if self.steps > self.most_steps {
                return;
            }
            let Some(target) = forest.get(other) else { continue };
            let is_free = !self.threads.contains(&target.thread);
            let is_allowed = if is_last {
                target.thread == home || (is_free && self.comes_before(target, first))
            } else {
                is_free
            };
            if !is_allowed {
                continue;
            }
            self.steps += target.tree.leaves.len() as u64;
            for (number, end) in target.tree.leaves.iter().enumerate() {
                let is_edge = leaf.conflicts(end)
                    && target.place(end).is_some_and(|it| it.is_concurrent(place));
                if !is_edge {
                    continue;
                }
                let arrives = Access { unit: other, leaf: number };
                if self.visits.is_empty() {
                    self.may_split_start = (first.leaf + 1..unit.tree.leaves.len())
                        .any(|later| self.may_split(unit, first.leaf, later, arrives));
                }
                if is_last {
                    self.close(first, arrives);
                } else {
                    self.visit(first, arrives);
                }
            }
        }
    }

    /// Whether a block can be split between two accesses, as far as one of the accesses that split it tells: it is
    /// not excluded by a section that both are in.
    fn may_split(&self, unit: &Unit, first: usize, second: usize, other: Access) -> bool {
        let (first, second) = (&unit.tree.leaves[first], &unit.tree.leaves[second]);
        unit.tree.block.is_some()
            && first.is_compatible(second)
            && self.leaf(other).is_some_and(|(other, leaf)| {
                let around = first.sections.iter().filter(|it| second.sections.contains(it));
                let mut around = around.filter_map(|section| unit.tree.lock_at(*section));
                !around.any(|lock| other.tree.held(leaf).any(|held| held.excludes(&lock)))
            })
    }

    /// Whether something in a unit of another thread may come before an access.
    fn comes_before(&self, unit: &Unit, access: Access) -> bool {
        let place = self.leaf(access).and_then(|(unit, leaf)| unit.place(leaf));
        let stretch = unit.places.first().map(|place| place.stretch);
        place.zip(stretch).is_some_and(|(place, stretch)| place.clock.of(unit.thread) >= stretch)
    }

    /// How a visit that arrives and leaves there can pass, if it can. Of a tree that was executed more than once, both.
    fn passages(&self, arrives: Access, leaves: Access) -> [Option<Passage>; 3] {
        let (Some((from, arrived)), Some((to, left))) = (self.leaf(arrives), self.leaf(leaves))
        else {
            return [None; 3];
        };
        let mut passages = [None; 3];
        if arrives.unit == leaves.unit && arrived.is_compatible(left) {
            if arrived.position <= left.position {
                passages[0] = Some(Passage::Forward);
                return passages;
            }
            passages[0] = from.tree.block.is_some().then_some(Passage::Backward);
            let is_shared = arrived.sections.iter().any(|section| left.sections.contains(section));
            passages[2] = is_shared.then_some(Passage::Section);
        }
        let is_later = if from.thread == to.thread {
            from.first < to.last
        } else {
            let places = (from.place(arrived), to.place(left));
            matches!(places, (Some(from), Some(to)) if from.is_before(to))
        };
        passages[1] = is_later.then_some(Passage::Later);
        passages
    }

    fn close(&mut self, first: Access, arrives: Access) {
        for passage in self.passages(arrives, first).into_iter().flatten() {
            let visit = Visit { arrives, leaves: first, passage };
            let backward = self
                .visits
                .iter()
                .chain([&visit])
                .filter(|it| it.passage == Passage::Backward)
                .count();
            if backward == 1 || (backward == 2 && self.edges == 2) {
                self.visits.insert(0, visit);
                if sections_are_steps(self.forest, &self.visits) {
                    (self.found)(&self.visits);
                }
                self.visits.remove(0);
            }
        }
    }

    fn visit(&mut self, first: Access, arrives: Access) {
        let Some(unit) = self.forest.get(arrives.unit) else { return };
        self.threads.push(unit.thread);
        self.leave(first, arrives, arrives.unit);
        let forest = self.forest;
        if self.steps > self.most_steps {
            self.threads.pop();
            return;
        }
        for later in self.units_after(unit.thread).iter() {
            self.steps += 1;
            if *later != arrives.unit {
                self.leave(first, arrives, *later);
            }
        }
        // Order between threads, if any comes from this unit.
        if forest.len() <= FEW_UNITS {
            let stretch = unit.places.first().map_or(u32::MAX, |place| place.stretch);
            for (later, other) in forest.all() {
                self.steps += 1;
                let last = other.places.last();
                let is_after = last.is_some_and(|place| place.clock.of(unit.thread) >= stretch);
                if other.thread != unit.thread && is_after && !self.threads.contains(&other.thread)
                {
                    self.threads.push(other.thread);
                    self.leave(first, arrives, later);
                    self.threads.pop();
                }
            }
        }
        self.threads.pop();
    }

    /// The units of a thread from which a cycle may leave that arrives in an earlier one: all, or, of a thread with very
    /// many, the last ones that can lead straight back.
    fn units_after(&mut self, thread: ThreadId) -> Rc<[UnitId]> {
        if let Some(known) = self.after.get(&thread) {
            return Rc::clone(known);
        }
        let all = self.forest.of_thread(thread);
        let units = match self.forest.get(self.start) {
            Some(start) if all.len() > FEW_UNITS => {
                let variables = start.tree.variables().take(FEW_UNITS);
                let units = variables.flat_map(|(variable, _)| {
                    self.forest.of_variable(variable, thread).take(FEW_UNITS)
                });
                let mut units: Vec<UnitId> = units.collect();
                self.steps += units.len() as u64;
                units.sort_unstable();
                units.dedup();
                units.into()
            }
            Some(_) | None => all.into(),
        };
        self.after.insert(thread, Rc::clone(&units));
        units
    }

    fn leave(&mut self, first: Access, arrives: Access, unit: UnitId) {
        let Some(target) = self.forest.get(unit) else { return };
        let came_from = self.visits.last().map_or(first, |visit| visit.leaves);
        let is_split = self.visits.iter().any(|visit| visit.passage == Passage::Backward);
        // One of the units must be split: the first, one before, or this one.
        let must_split = !is_split && !self.may_split_start && self.visits.len() + 2 == self.edges;
        for leaf in 0..target.tree.leaves.len() {
            self.steps += 1;
            if self.steps > self.most_steps {
                return;
            }
            let leaves = Access { unit, leaf };
            for passage in self.passages(arrives, leaves).into_iter().flatten() {
                let is_possible = match passage {
                    Passage::Backward => {
                        !is_split && self.may_split(target, leaf, arrives.leaf, came_from)
                    }
                    Passage::Forward | Passage::Section | Passage::Later => !must_split,
                };
                if is_possible {
                    self.visits.push(Visit { arrives, leaves, passage });
                    self.follow(first, leaves);
                    self.visits.pop();
                }
            }
        }
    }
}

/// Whether each section that a cycle passes as one step is one to an access that it left before, or arrives at later.
fn sections_are_steps(forest: &Forest, visits: &[Visit]) -> bool {
    let count = visits.len();
    let split = visits.iter().position(|visit| visit.passage == Passage::Backward).unwrap_or(0);
    (0..count).filter(|at| visits[*at].passage == Passage::Section).all(|at| {
        let Some(unit) = forest.get(visits[at].arrives.unit) else { return false };
        let leaves = &unit.tree.leaves;
        let (arrived, left) = (&leaves[visits[at].arrives.leaf], &leaves[visits[at].leaves.leaf]);
        let shared = arrived.sections.iter().filter(|section| left.sections.contains(section));
        let locks: Vec<_> = shared.filter_map(|section| unit.tree.lock_at(*section)).collect();
        // From the unit that is split to this one, and from this one on to the unit that is split.
        let before = (at + count - split) % count;
        let left_before = (0..before).map(|it| visits[(split + it) % count].leaves);
        let arrived_later = (before + 1..=count).map(|it| visits[(split + it) % count].arrives);
        left_before.chain(arrived_later).any(|access| {
            forest.get(access.unit).is_some_and(|other| {
                let mut held = other.tree.held(&other.tree.leaves[access.leaf]);
                held.any(|held| locks.iter().any(|lock| held.excludes(lock)))
            })
        })
    })
}

/// Whether the units of a cycle can be interleaved as it says, and how many states were looked at.
pub(super) fn is_feasible(
    forest: &Forest,
    visits: &[Visit],
    most_states: usize,
) -> (Feasibility, usize) {
    if is_in_one_section(forest, visits) {
        return (Feasibility::Impossible, 0);
    }
    let Some(parts) = parts_of(forest, visits) else { return (Feasibility::Unknown, 0) };
    let mut threads: Vec<ThreadParts<'_>> = Vec::new();
    for (_, unit, accesses) in &parts {
        let Some(unit) = forest.get(*unit) else { return (Feasibility::Unknown, 0) };
        let part = Part { tree: &unit.tree, places: &unit.places, accesses: accesses.clone() };
        match threads.iter_mut().find(|it| it.thread == unit.thread) {
            Some(thread) => thread.parts.push(part),
            None => threads.push(ThreadParts { thread: unit.thread, parts: vec![part] }),
        }
    }
    let count = visits.len();
    let order: Vec<_> = (0..count).map(|at| (2 * at + 1, 2 * ((at + 1) % count))).collect();
    feasibility(&threads, &order, most_states)
}

/// Whether a unit would have to be split inside of a section that excludes one of the accesses that split it: the
/// ends of its edges are then one node, or one is an ancestor of the other.
fn is_in_one_section(forest: &Forest, visits: &[Visit]) -> bool {
    let count = visits.len();
    visits.iter().enumerate().filter(|(_, visit)| visit.passage == Passage::Backward).any(
        |(at, visit)| {
            let Some(unit) = forest.get(visit.leaves.unit) else { return false };
            let tree = &unit.tree;
            let (first, second) =
                (&tree.leaves[visit.leaves.leaf], &tree.leaves[visit.arrives.leaf]);
            let around = first.sections.iter().filter(|section| second.sections.contains(section));
            let others =
                [visits[(at + 1) % count].arrives, visits[(at + count - 1) % count].leaves];
            around.filter_map(|section| tree.lock_at(*section)).any(|lock| {
                others.iter().any(|access| {
                    forest.get(access.unit).is_some_and(|other| {
                        let leaf = &other.tree.leaves[access.leaf];
                        other.tree.held(leaf).any(|held| held.excludes(&lock))
                    })
                })
            })
        },
    )
}

/// An execution of a unit that takes part: its number in its thread, the unit, and the accesses that matter.
type ExecutedPart = (u64, UnitId, Vec<(u32, usize)>);

/// More units between two others of a cycle are not looked at.
const MOST_BETWEEN: usize = 12;

/// The executions that take part in a cycle, in the order of each thread: those that it visits, and those that lie
/// between two of them and use locks. None if there are too many.
fn parts_of(forest: &Forest, visits: &[Visit]) -> Option<Vec<ExecutedPart>> {
    let mut parts: Vec<ExecutedPart> = Vec::new();
    let mut between: Vec<(u64, UnitId)> = Vec::new();
    let mut add = |number: u64, access: Access, event: usize| -> Option<()> {
        let position = forest.get(access.unit)?.tree.leaves[access.leaf].position;
        match parts.iter_mut().find(|(it, unit, _)| (*it, *unit) == (number, access.unit)) {
            Some((_, _, accesses)) => accesses.push((position, event)),
            None => parts.push((number, access.unit, vec![(position, event)])),
        }
        Some(())
    };
    for (at, visit) in visits.iter().enumerate() {
        let (from, to) = (forest.get(visit.arrives.unit)?, forest.get(visit.leaves.unit)?);
        let (mut begin, mut end) = (from.first, to.first);
        if visit.passage == Passage::Later && from.thread == to.thread {
            begin = if from.last < to.last { from.last } else { from.first };
            end = if to.first > begin { to.first } else { to.last };
            for id in forest.of_thread(from.thread) {
                let unit = forest.get(*id)?;
                let mut numbers = [unit.first, unit.last].into_iter();
                if let Some(number) = numbers.find(|it| (begin + 1..end).contains(it))
                    && unit.tree.has_locks
                {
                    between.push((number, *id));
                }
            }
            let arrived = from.place(&from.tree.leaves[visit.arrives.leaf])?;
            let left = to.place(&to.tree.leaves[visit.leaves.leaf])?;
            between.extend(started_and_joined(forest, arrived, left));
        } else if visit.passage == Passage::Later {
            begin = from.last;
            let arrived = from.place(&from.tree.leaves[visit.arrives.leaf])?;
            let left = to.place(&to.tree.leaves[visit.leaves.leaf])?;
            for (id, unit) in forest.all() {
                let follows = unit.places.first().is_some_and(|it| {
                    arrived.is_before(it) || (unit.thread == from.thread && unit.first > begin)
                });
                let precedes = unit.places.last().is_some_and(|it| {
                    it.is_before(left) || (unit.thread == to.thread && unit.last < end)
                });
                if follows && precedes && unit.tree.has_locks {
                    between.push((unit.first, id));
                }
            }
        }
        add(begin, visit.arrives, 2 * at)?;
        add(end, visit.leaves, 2 * at + 1)?;
    }
    if between.len() > MOST_BETWEEN {
        return None;
    }
    for (number, unit) in between {
        if !parts.iter().any(|(it, other, _)| (*it, *other) == (number, unit)) {
            parts.push((number, unit, Vec::new()));
        }
    }
    parts.iter_mut().for_each(|(_, _, accesses)| accesses.sort_unstable());
    parts.sort_by_key(|(number, unit, _)| (*number, *unit));
    Some(parts)
}

/// The units of other threads that must be executed after one place of a thread and before another, and use locks. Of a
/// thread with very many only the last ones.
fn started_and_joined<'a>(
    forest: &'a Forest,
    arrived: &'a Place,
    left: &'a Place,
) -> impl Iterator<Item = (u64, UnitId)> + 'a {
    let threads = left.clock.threads().filter(|it| left.clock.of(*it) > arrived.clock.of(*it));
    threads.flat_map(move |thread| {
        let units = forest.of_thread(thread).iter().rev().take(FEW_UNITS);
        units.filter_map(|id| {
            let unit = forest.get(*id)?;
            let follows = unit.places.first().is_some_and(|it| arrived.is_before(it));
            let precedes = unit.places.last().is_some_and(|it| it.is_before(left));
            (follows && precedes && unit.tree.has_locks).then_some((unit.first, *id))
        })
    })
}

/// The blocks that a cycle splits, the one that the report is about first, by their visits.
pub(super) fn split_blocks(forest: &Forest, visits: &[Visit]) -> Vec<(SiteId, usize)> {
    let mut blocks: Vec<(SiteId, usize)> = Vec::new();
    for (at, visit) in visits.iter().enumerate() {
        if visit.passage == Passage::Backward
            && let Some(block) = forest.get(visit.leaves.unit).and_then(|unit| unit.tree.block)
        {
            blocks.push((block, at));
        }
    }
    blocks.sort_unstable();
    blocks
}
