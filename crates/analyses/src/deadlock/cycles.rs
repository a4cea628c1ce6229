//! Cycles in the lock-order graph, and whether threads can get caught in them (dissertation, 6.2.3, with the
//! conditions on threads and gate locks that it leaves out).
//!
//! A cycle is real when its edges can be taken by different threads at the same time: no two of them hold a lock in
//! common, none of them gives way to another because both only read, and no start or join keeps them apart.

use std::collections::{BTreeMap, BTreeSet};

use program::summaries;

use super::kinds::LockId;
use crate::execution::LockMode;
use crate::heap::ThreadId;

/// Locks in a cycle, at most. Longer ones are not listed, and it is said that there are some.
pub(super) const LONGEST_CYCLE: usize = 12;

/// Longer cycles are listed only where no edge leads from one of their locks to another but along the cycle: the others
/// are made of shorter ones, and in a program where many locks depend on each other there are too many of them.
const LONGEST_WITH_CHORDS: usize = 4;

/// Steps of the search for cycles of one length, at most. Short cycles are looked for first, so that only long ones
/// can be missed.
const MOST_STEPS: usize = 200_000;

/// Cycles of one length, at most: who has more does not read them.
const MOST_CYCLES: usize = 1_000;

/// Choices that are tried before a cycle is taken for real without having found who takes it.
const MOST_CHOICES: usize = 5_000;

/// One way to take an edge, as far as it matters for the question whether several can be taken at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct EdgeCondition {
    /// The threads that can take the edge so.
    pub(super) threads: Vec<ThreadId>,
    /// How the lock at the start of the edge is held.
    pub(super) held_mode: LockMode,
    /// How the lock at its end is wanted.
    pub(super) wanted_mode: LockMode,
    /// The other locks that are held.
    pub(super) gate_locks: Vec<(LockId, LockMode)>,
}

/// What the search asks about threads and locks.
pub(super) trait ConcurrencyFacts {
    /// Whether two different threads of these kinds can be at these two steps at the same time; steps are given by
    /// their edge in the cycle and their position there.
    fn can_run_at_once(
        &self,
        one: (usize, usize, ThreadId),
        other: (usize, usize, ThreadId),
    ) -> bool;

    /// Whether an abstract lock that two threads of a cycle hold is one lock at run time.
    fn is_single_object(&self, gate_lock: LockId) -> bool;
}

/// The cycles of the graph, each beginning with its smallest lock, short ones first, and whether the search was cut.
pub(super) fn cycles(edges: &BTreeSet<(LockId, LockId)>) -> (Vec<Vec<LockId>>, bool) {
    let mut successors: BTreeMap<LockId, Vec<LockId>> = BTreeMap::new();
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        successors.entry(*from).or_default().push(*to);
        successors.entry(*to).or_default();
    }
    let mut found = Vec::new();
    let mut is_cut = false;
    let components = connected(&successors);
    let predecessors = reversed(&successors);
    for length in 2..=LONGEST_CYCLE + 1 {
        let mut steps = 0;
        let before = found.len();
        for component in components.iter().filter(|component| component.len() >= length) {
            for start in component {
                if found.len() - before < MOST_CYCLES && steps <= MOST_STEPS {
                    let distances = distances_to(*start, component, &predecessors, length);
                    let search = Search { successors: &successors, distances, length };
                    search.extend(&mut vec![*start], &mut found, &mut steps);
                }
            }
        }
        if length > LONGEST_CYCLE {
            is_cut |= steps > MOST_STEPS || found.len() > before;
            found.truncate(before);
            break;
        }
        is_cut |= steps > MOST_STEPS || found.len() - before >= MOST_CYCLES;
        found.truncate(before + MOST_CYCLES);
    }
    (found, is_cut)
}

fn reversed(successors: &BTreeMap<LockId, Vec<LockId>>) -> BTreeMap<LockId, Vec<LockId>> {
    let mut predecessors: BTreeMap<LockId, Vec<LockId>> = BTreeMap::new();
    for (from, after) in successors {
        after.iter().for_each(|to| predecessors.entry(*to).or_default().push(*from));
    }
    predecessors
}

/// How many edges lead at least from each lock to this one, through locks of its component that are not smaller, up to
/// the length of a cycle.
fn distances_to(
    start: LockId,
    component: &BTreeSet<LockId>,
    predecessors: &BTreeMap<LockId, Vec<LockId>>,
    length: usize,
) -> BTreeMap<LockId, usize> {
    let mut distances = BTreeMap::from([(start, 0)]);
    let mut reached = vec![start];
    for distance in 1..length {
        let mut next = Vec::new();
        for lock in reached.iter().filter_map(|lock| predecessors.get(lock)).flatten() {
            if *lock > start && component.contains(lock) && !distances.contains_key(lock) {
                distances.insert(*lock, distance);
                next.push(*lock);
            }
        }
        reached = next;
    }
    distances
}

/// Looks for the cycles of one length that begin with one lock.
struct Search<'a> {
    successors: &'a BTreeMap<LockId, Vec<LockId>>,
    /// How far the locks are from the first one, which is the smallest.
    distances: BTreeMap<LockId, usize>,
    length: usize,
}

impl Search<'_> {
    fn extend(&self, path: &mut Vec<LockId>, found: &mut Vec<Vec<LockId>>, steps: &mut usize) {
        *steps += 1;
        let (Some(first), Some(last)) = (path.first().copied(), path.last()) else { return };
        if *steps > MOST_STEPS {
            return;
        }
        let successors = &self.successors[last];
        if path.len() == self.length {
            if successors.binary_search(&first).is_ok() {
                found.push(path.clone());
            }
            return;
        }
        // The smallest lock comes first, so that every cycle is found once.
        for next in successors.iter().filter(|next| **next > first) {
            let is_near = |distance: &usize| path.len() + distance <= self.length;
            if self.distances.get(next).is_some_and(is_near)
                && !path.contains(next)
                && (self.length <= LONGEST_WITH_CHORDS || !self.has_chord(path, *next))
            {
                path.push(*next);
                self.extend(path, found, steps);
                path.pop();
            }
        }
    }
}

impl Search<'_> {
    /// Whether an edge joins the next lock of a path with one before, other than the last one, or other than from the end
    /// of a cycle to its beginning.
    fn has_chord(&self, path: &[LockId], next: LockId) -> bool {
        let leads = |from: LockId, to: LockId| self.successors[&from].binary_search(&to).is_ok();
        let is_last = path.len() + 1 == self.length;
        path.iter().enumerate().any(|(at, lock)| {
            let is_edge = at + 1 == path.len();
            let is_end = is_last && at == 0;
            (!is_edge && leads(*lock, next)) || (!is_end && leads(next, *lock))
        })
    }
}

/// The strongly connected components of more than one lock, by their smallest lock.
fn connected(successors: &BTreeMap<LockId, Vec<LockId>>) -> Vec<BTreeSet<LockId>> {
    let locks: Vec<LockId> = successors.keys().copied().collect();
    let position = |lock: &LockId| locks.binary_search(lock).ok();
    let graph: Vec<Vec<usize>> =
        successors.values().map(|after| after.iter().filter_map(position).collect()).collect();
    let mut connected: Vec<BTreeSet<LockId>> = summaries::components(&graph)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| component.into_iter().map(|position| locks[position]).collect())
        .collect();
    connected.sort();
    connected
}

/// For each edge of a cycle the position of a step, such that all of them can be taken at the same time by different
/// threads; none if there are no such steps. `locks` are the starts of the edges.
pub(super) fn realise(
    locks: &[LockId],
    edges: &[Vec<&EdgeCondition>],
    facts: &dyn ConcurrencyFacts,
) -> Option<Vec<usize>> {
    let mut choice = StepSearch { locks, edges, facts, chosen: Vec::new(), tried: 0 };
    if choice.extend() {
        return Some(choice.chosen.iter().map(|(position, _)| *position).collect());
    }
    // Too many to try them all: no cycle may be lost, and the first steps are as good as any.
    (choice.tried > MOST_CHOICES).then(|| vec![0; edges.len()])
}

struct StepSearch<'a> {
    locks: &'a [LockId],
    edges: &'a [Vec<&'a EdgeCondition>],
    facts: &'a dyn ConcurrencyFacts,
    /// For each edge so far the step and the thread.
    chosen: Vec<(usize, ThreadId)>,
    tried: usize,
}

impl StepSearch<'_> {
    fn extend(&mut self) -> bool {
        let edge = self.chosen.len();
        if edge == self.edges.len() {
            return true;
        }
        for (position, step) in self.edges[edge].iter().enumerate() {
            if (0..edge).any(|other| !self.can_meet(other, edge, position)) {
                continue;
            }
            for thread in &step.threads {
                self.tried += 1;
                if self.tried > MOST_CHOICES {
                    return false;
                }
                let beside = |(other, (at, its)): (usize, &(usize, ThreadId))| {
                    self.facts.can_run_at_once((other, *at, *its), (edge, position, *thread))
                };
                if !self.chosen.iter().enumerate().all(beside) {
                    continue;
                }
                self.chosen.push((position, *thread));
                if self.extend() {
                    return true;
                }
                self.chosen.pop();
            }
        }
        false
    }

    /// Whether the locks allow that an edge is taken by this step while an earlier one is taken as chosen.
    fn can_meet(&self, earlier: usize, edge: usize, position: usize) -> bool {
        let one = self.edges[earlier][self.chosen[earlier].0];
        let other = self.edges[edge][position];
        // Who wants to read does not wait for readers.
        let last = self.edges.len() - 1;
        let waits = |wanting: &EdgeCondition, holding: &EdgeCondition| {
            wanting.wanted_mode == LockMode::Exclusive || holding.held_mode == LockMode::Exclusive
        };
        if (earlier + 1 == edge && !waits(one, other))
            || (earlier == 0 && edge == last && !waits(other, one))
        {
            return false;
        }
        let of_one = held(self.locks[earlier], one);
        let of_other = held(self.locks[edge], other);
        let excludes = |(lock, mode): (LockId, LockMode)| {
            let is_exclusive =
                |theirs: LockMode| mode == LockMode::Exclusive || theirs == LockMode::Exclusive;
            of_other.clone().any(|(its, its_mode)| its == lock && is_exclusive(its_mode))
                && self.facts.is_single_object(lock)
        };
        !of_one.into_iter().any(excludes)
    }
}

/// Everything that is held at a step.
fn held(
    lock: LockId,
    step: &EdgeCondition,
) -> impl Iterator<Item = (LockId, LockMode)> + Clone + '_ {
    std::iter::once((lock, step.held_mode)).chain(step.gate_locks.iter().copied())
}

#[cfg(test)]
mod tests {
    use program::ids::Id;
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::random::Random;

    fn lock(number: usize) -> LockId {
        LockId::new(number)
    }

    /// Every sequence of different locks whose neighbours are joined by edges, tried one by one.
    fn cycles_by_trying(edges: &BTreeSet<(LockId, LockId)>, locks: usize) -> Vec<Vec<LockId>> {
        let mut found = Vec::new();
        for length in 2..=locks {
            for code in 0..locks.pow(length as u32) {
                let sequence: Vec<LockId> =
                    (0..length).map(|at| lock(code / locks.pow(at as u32) % locks)).collect();
                let different: BTreeSet<&LockId> = sequence.iter().collect();
                let is_closed = (0..length)
                    .all(|at| edges.contains(&(sequence[at], sequence[(at + 1) % length])));
                let is_chord = |(from, to): &(usize, usize)| {
                    from != to
                        && (from + 1) % length != *to
                        && edges.contains(&(sequence[*from], sequence[*to]))
                };
                let mut pairs = (0..length * length).map(|pair| (pair / length, pair % length));
                let is_listed = length <= LONGEST_WITH_CHORDS || !pairs.any(|it| is_chord(&it));
                if different.len() == length
                    && is_closed
                    && is_listed
                    && sequence.iter().min() == sequence.first()
                {
                    found.push(sequence);
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn cycles_are_those_that_trying_all_sequences_finds() {
        let mut random = Random::new(1);
        for _ in 0..600 {
            let locks = 2 + random.below(4);
            let edges: BTreeSet<(LockId, LockId)> = (0..random.below(14))
                .map(|_| (lock(random.below(locks)), lock(random.below(locks))))
                .collect();
            let (mut found, is_cut) = cycles(&edges);
            assert!(!is_cut);
            assert!(found.is_sorted_by_key(Vec::len), "short ones first");
            found.sort();
            assert_eq!(found, cycles_by_trying(&edges, locks), "{edges:?}");
        }
    }

    #[test]
    fn long_cycles_are_found_and_longer_ones_mentioned() {
        let ring = |length: usize| -> BTreeSet<(LockId, LockId)> {
            (0..length).map(|at| (lock(at), lock((at + 1) % length))).collect()
        };
        assert_eq!(
            cycles(&ring(LONGEST_CYCLE)),
            (vec![(0..LONGEST_CYCLE).map(lock).collect()], false)
        );
        assert_eq!(cycles(&ring(LONGEST_CYCLE + 1)), (Vec::new(), true));
    }

    /// What a thread of a small program does next.
    #[derive(Clone, Copy, Debug)]
    enum Action {
        Acquire(usize, LockMode),
        Release(usize),
    }

    /// Threads that take and give back locks in properly nested blocks.
    struct LockProgram {
        threads: Vec<Vec<Action>>,
    }

    impl LockProgram {
        fn random(random: &mut Random, with_readers: bool) -> LockProgram {
            let locks = 3 + random.below(2);
            let thread = |random: &mut Random| {
                let mut actions = Vec::new();
                let mut open: Vec<usize> = Vec::new();
                for _ in 0..1 + random.below(7) {
                    let next = random.below(locks);
                    if open.len() < 3 && !open.contains(&next) && random.below(3) > 0 {
                        let mode = match random.below(3) {
                            0 if with_readers => LockMode::Shared,
                            _ => LockMode::Exclusive,
                        };
                        actions.push(Action::Acquire(next, mode));
                        open.push(next);
                    } else if let Some(last) = open.pop() {
                        actions.push(Action::Release(last));
                    }
                }
                actions.extend(open.into_iter().rev().map(Action::Release));
                actions
            };
            let threads = (0..2 + random.below(2)).map(|_| thread(random)).collect();
            LockProgram { threads }
        }

        /// Whether some interleaving ends with threads that wait for each other.
        fn can_deadlock(&self) -> bool {
            let start = vec![0; self.threads.len()];
            let mut seen = FxHashSet::default();
            let mut todo = vec![start];
            while let Some(state) = todo.pop() {
                if !seen.insert(state.clone()) {
                    continue;
                }
                let held: Vec<Vec<(usize, LockMode)>> = (0..state.len())
                    .map(|thread| held_after(&self.threads[thread][..state[thread]]))
                    .collect();
                let can_go = |thread: usize| match self.threads[thread].get(state[thread]) {
                    None => false,
                    Some(Action::Release(_)) => true,
                    Some(Action::Acquire(lock, mode)) => {
                        let others = held.iter().enumerate().filter(|(at, _)| *at != thread);
                        !others.flat_map(|(_, locks)| locks).any(|(its, its_mode)| {
                            its == lock
                                && (*mode, *its_mode) != (LockMode::Shared, LockMode::Shared)
                        })
                    }
                };
                let going: Vec<usize> = (0..state.len()).filter(|thread| can_go(*thread)).collect();
                let is_done =
                    (0..state.len()).all(|thread| state[thread] == self.threads[thread].len());
                if going.is_empty() && !is_done {
                    return true;
                }
                for thread in going {
                    let mut next = state.clone();
                    next[thread] += 1;
                    todo.push(next);
                }
            }
            false
        }

        /// What the analysis says.
        fn has_cycle(&self) -> bool {
            let mut edges: BTreeMap<(LockId, LockId), Vec<EdgeCondition>> = BTreeMap::new();
            for (thread, actions) in self.threads.iter().enumerate() {
                for (at, action) in actions.iter().enumerate() {
                    let Action::Acquire(wanted, wanted_mode) = action else { continue };
                    let held = held_after(&actions[..at]);
                    for (from, held_mode) in &held {
                        let others = held.iter().filter(|(other, _)| other != from);
                        edges.entry((lock(*from), lock(*wanted))).or_default().push(
                            EdgeCondition {
                                threads: vec![ThreadId::new(thread)],
                                held_mode: *held_mode,
                                wanted_mode: *wanted_mode,
                                gate_locks: others
                                    .map(|(other, mode)| (lock(*other), *mode))
                                    .collect(),
                            },
                        );
                    }
                }
            }
            let (found, _) = cycles(&edges.keys().copied().collect());
            found.iter().any(|locks| {
                let edges: Vec<Vec<&EdgeCondition>> = (0..locks.len())
                    .map(|at| edges[&(locks[at], locks[(at + 1) % locks.len()])].iter().collect())
                    .collect();
                realise(locks, &edges, &EachOnce).is_some()
            })
        }
    }

    fn held_after(actions: &[Action]) -> Vec<(usize, LockMode)> {
        let mut held = Vec::new();
        for action in actions {
            match action {
                Action::Acquire(lock, mode) => held.push((*lock, *mode)),
                Action::Release(lock) => held.retain(|(its, _)| its != lock),
            }
        }
        held
    }

    /// Every thread runs once, and every lock is one lock.
    struct EachOnce;

    impl ConcurrencyFacts for EachOnce {
        fn can_run_at_once(
            &self,
            one: (usize, usize, ThreadId),
            other: (usize, usize, ThreadId),
        ) -> bool {
            one.2 != other.2
        }

        fn is_single_object(&self, _gate: LockId) -> bool {
            true
        }
    }

    #[test]
    fn programs_with_a_cycle_are_those_that_some_interleaving_deadlocks() {
        let mut random = Random::new(2);
        let mut deadlocks = 0;
        for number in 0..6000 {
            let program = LockProgram::random(&mut random, number % 2 == 1);
            let (says, can) = (program.has_cycle(), program.can_deadlock());
            assert_eq!(says, can, "program {number}: {:?}", program.threads);
            deadlocks += usize::from(can);
        }
        assert!(deadlocks > 300, "too few of the programs deadlock to tell: {deadlocks}");
    }

    fn step(thread: usize, gate_locks: &[usize]) -> EdgeCondition {
        EdgeCondition {
            threads: vec![ThreadId::new(thread)],
            held_mode: LockMode::Exclusive,
            wanted_mode: LockMode::Exclusive,
            gate_locks: gate_locks
                .iter()
                .map(|gate_lock| (lock(*gate_lock), LockMode::Exclusive))
                .collect(),
        }
    }

    #[test]
    fn a_gate_lock_and_a_single_thread_make_a_cycle_harmless() {
        let locks = [lock(0), lock(1)];
        let is_real = |one: EdgeCondition, other: EdgeCondition| {
            realise(&locks, &[vec![&one], vec![&other]], &EachOnce).is_some()
        };
        assert!(is_real(step(1, &[]), step(2, &[])));
        assert!(is_real(step(1, &[7]), step(2, &[8])));
        assert!(!is_real(step(1, &[7]), step(2, &[7])), "both hold a gate lock");
        assert!(!is_real(step(1, &[]), step(1, &[])), "one thread");
    }

    #[test]
    fn readers_do_not_wait_for_readers() {
        let locks = [lock(0), lock(1)];
        let read = |thread| EdgeCondition { held_mode: LockMode::Shared, ..step(thread, &[]) };
        let wants_to_read =
            |step: EdgeCondition| EdgeCondition { wanted_mode: LockMode::Shared, ..step };
        let (one, other) = (wants_to_read(read(1)), wants_to_read(read(2)));
        assert_eq!(realise(&locks, &[vec![&one], vec![&other]], &EachOnce), None);
        let (one, other) = (read(1), read(2));
        let writers = [vec![&one], vec![&other]];
        assert_eq!(realise(&locks, &writers, &EachOnce), Some(vec![0, 0]));
    }
}
