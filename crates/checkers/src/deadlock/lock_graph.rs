//! Acquisitions under other locks, the cycles among them, and which of these can really deadlock.
//!
//! Acquisitions of one thread, of one lock, with the same locks held, are one node, as in section 4.2 of the paper. A cycle
//! of nodes stands for all cycles of their acquisitions. These are looked through once: the set of events that
//! must have happened only grows, and acquisitions that lie in it cannot be pending any more.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use events::{Mode, ObjectId, SiteId, ThreadId};
use findings::Evidence;
use rustc_hash::{FxHashMap, FxHashSet};

use super::predictor::{HeldLock, Section, Stamp, count_of};
use super::{Deadlock, Grade, Waiter, Wanted};

/// How many acquisitions of a node are kept. Later ones hardly differ.
const MOST_OF_NODE: usize = 256;
/// How many nodes there are at most.
const MOST_NODES: usize = 1 << 17;
/// How many threads the cycles have that are looked for in turns: short ones first, since long ones are many and often
/// consist of the same code.
const LENGTHS: &[(usize, usize)] = &[(2, 2), (3, 3), (4, 4), (5, 6), (7, usize::MAX)];
/// How many steps the search for cycles takes at most, and how many critical sections are looked at.
const MOST_STEPS: u64 = 1 << 21;
const MOST_SECTIONS: u64 = 1 << 26;
/// How many cycles are kept that no reordering leads to, and how many acquisitions of each are compared.
const MOST_UNPROVEN: usize = 1 << 12;
const MOST_COMPARED: u32 = 1 << 14;

/// An acquisition that could be pending.
#[derive(Debug)]
struct Acquisition {
    /// What must have happened before it.
    before: Stamp,
    site: SiteId,
    held: Vec<HeldLock>,
}

#[derive(Debug)]
struct Node {
    thread: u32,
    lock: ObjectId,
    mode: Mode,
    /// What is held, sorted.
    held: Vec<(ObjectId, Mode)>,
    acquisitions: Vec<Acquisition>,
}

type NodeKey = (u32, ObjectId, Mode, Vec<(ObjectId, Mode)>);

/// All nested acquisitions of a run.
#[derive(Debug, Default)]
pub(super) struct LockGraph {
    /// The threads, by the numbers that stamps have for them.
    pub(super) threads: Vec<ThreadId>,
    nodes: Vec<Node>,
    numbers: FxHashMap<NodeKey, usize>,
    /// Whether there were too many nodes.
    is_full: bool,
}

/// What can happen in another order.
#[derive(Debug, Default)]
pub(super) struct Predicted {
    pub(super) found: Vec<Deadlock>,
    /// Whether a bound ended the search.
    pub(super) was_cut_short: bool,
}

type Sections = FxHashMap<ObjectId, Vec<(u32, Vec<Section>)>>;

impl LockGraph {
    /// Adds an acquisition under other locks. Its node, if it is kept.
    pub(super) fn add(
        &mut self,
        before: Stamp,
        lock: ObjectId,
        mode: Mode,
        held: &[HeldLock],
        site: SiteId,
    ) -> Option<usize> {
        let mut sorted: Vec<(ObjectId, Mode)> =
            held.iter().map(|held| (held.lock, held.mode)).collect();
        sorted.sort_unstable();
        let key = (before.thread, lock, mode, sorted);
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None if self.nodes.len() >= MOST_NODES => {
                self.is_full = true;
                return None;
            }
            None => {
                let number = self.nodes.len();
                let (thread, lock, mode, held) = key.clone();
                self.nodes.push(Node { thread, lock, mode, held, acquisitions: Vec::new() });
                self.numbers.insert(key, number);
                number
            }
        };
        let acquisitions = &mut self.nodes[number].acquisitions;
        (acquisitions.len() < MOST_OF_NODE).then(|| {
            acquisitions.push(Acquisition { before, site, held: held.to_vec() });
            number
        })
    }

    /// Forgets the acquisition that was added last to a node.
    pub(super) fn take_back(&mut self, node: usize) {
        self.nodes[node].acquisitions.pop();
    }

    /// The deadlocks that can happen in another order of the run, one for each combination of places.
    pub(super) fn deadlocks(&self, sections: &Sections, threads: usize) -> Predicted {
        let in_cycles = self.locks_in_cycles();
        let mut by_held: FxHashMap<ObjectId, Vec<usize>> = FxHashMap::default();
        for (number, node) in self.nodes.iter().enumerate() {
            if !node.acquisitions.is_empty() && in_cycles.contains(&node.lock) {
                let held = node.held.iter().filter(|(lock, _)| in_cycles.contains(lock));
                held.for_each(|(lock, _)| by_held.entry(*lock).or_default().push(number));
            }
        }
        // A lock that one thread alone uses orders nothing.
        let contended = sections.values().filter(|of_lock| of_lock.len() > 1);
        let mut search = Search {
            graph: self,
            by_held,
            sections: contended.map(Vec::as_slice).collect(),
            threads,
            steps: Cell::new(0),
            looked_at: Cell::new(0),
            lengths: 0..=0,
            has_longer: true,
            found: BTreeMap::new(),
            unproven: Vec::new(),
        };
        for (least, most) in LENGTHS {
            if !std::mem::take(&mut search.has_longer) {
                break;
            }
            search.lengths = *least..=*most;
            for start in 0..self.nodes.len() {
                search.extend(&mut vec![start]);
            }
        }
        search.judge_unproven();
        let was_cut_short = self.is_full || search.is_exhausted();
        let mut found: Vec<Deadlock> = search.found.into_values().collect();
        found.sort();
        Predicted { found, was_cut_short }
    }

    /// The locks that can be in a cycle: those from which no end is reached, and to which no beginning leads. A program that acquires
    /// its locks in one order has none, however many threads it has.
    fn locks_in_cycles(&self) -> FxHashSet<ObjectId> {
        let mut edges: FxHashSet<(ObjectId, ObjectId)> = FxHashSet::default();
        for node in self.nodes.iter().filter(|node| !node.acquisitions.is_empty()) {
            edges.extend(node.held.iter().map(|(held, _)| (*held, node.lock)));
        }
        let behind = behind_cycles(edges.iter().copied());
        let before = behind_cycles(edges.iter().map(|(held, wanted)| (*wanted, *held)));
        behind.intersection(&before).copied().collect()
    }
}

/// The nodes of a graph that cycles lead to: what is left when those are taken away, again and again, that no other leads to.
fn behind_cycles(edges: impl Iterator<Item = (ObjectId, ObjectId)>) -> FxHashSet<ObjectId> {
    let mut successors: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    let mut predecessors: FxHashMap<ObjectId, usize> = FxHashMap::default();
    for (from, to) in edges {
        successors.entry(from).or_default().push(to);
        *predecessors.entry(to).or_default() += 1;
    }
    let mut open: Vec<ObjectId> =
        successors.keys().filter(|node| !predecessors.contains_key(node)).copied().collect();
    while let Some(node) = open.pop() {
        for next in successors.get(&node).into_iter().flatten() {
            if let Some(count) = predecessors.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    predecessors.remove(next);
                    open.push(*next);
                }
            }
        }
    }
    predecessors.into_keys().collect()
}

/// A search for cycles.
struct Search<'a> {
    graph: &'a LockGraph,
    /// The nodes with acquisitions while a lock is held.
    by_held: FxHashMap<ObjectId, Vec<usize>>,
    sections: Vec<&'a [(u32, Vec<Section>)]>,
    threads: usize,
    steps: Cell<u64>,
    looked_at: Cell<u64>,
    /// How many threads the cycles have that are looked for.
    lengths: RangeInclusive<usize>,
    /// Whether a chain could have been longer than that.
    has_longer: bool,
    /// The deadlocks that were found, by their code: however many threads meet there, it is one.
    found: BTreeMap<Places, Deadlock>,
    /// Cycles that no reordering leads to.
    unproven: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn is_exhausted(&self) -> bool {
        self.steps.get() >= MOST_STEPS || self.looked_at.get() >= MOST_SECTIONS
    }

    /// Looks for cycles that begin with this chain: each node acquires a lock that the next one holds. The first node has
    /// the lowest number, so that a cycle is found once.
    fn extend(&mut self, chain: &mut Vec<usize>) {
        let nodes = &self.graph.nodes;
        let (first, last) = (&nodes[chain[0]], &nodes[chain[chain.len() - 1]]);
        if last.acquisitions.is_empty() {
            return;
        }
        if self.lengths.contains(&chain.len()) && blocks(last, first) {
            self.judge(chain);
        }
        let Some(holders) = self.by_held.get(&last.lock) else { return };
        for next in holders.clone() {
            self.steps.set(self.steps.get() + 1);
            if self.is_exhausted() {
                return;
            }
            let candidate = &nodes[next];
            let fits = |other: &usize| {
                let other = &nodes[*other];
                other.thread != candidate.thread
                    && other.lock != candidate.lock
                    && !other
                        .held
                        .iter()
                        .any(|(lock, _)| candidate.held.iter().any(|(held, _)| held == lock))
            };
            if next > chain[0] && blocks(last, candidate) && chain.iter().all(fits) {
                if chain.len() == *self.lengths.end() {
                    self.has_longer = true;
                    return;
                }
                chain.push(next);
                self.extend(chain);
                chain.pop();
            }
        }
    }

    /// Reports a cycle of nodes if acquisitions of theirs can be pending at the same time.
    fn judge(&mut self, cycle: &[usize]) {
        let graph = self.graph;
        let nodes: Vec<&Node> = cycle.iter().map(|node| &graph.nodes[*node]).collect();
        let firsts: Vec<&Acquisition> = nodes.iter().map(|node| &node.acquisitions[0]).collect();
        // The search comes to shorter cycles first.
        if self.found.contains_key(&places(&nodes, &firsts)) {
            return;
        }
        match self.pending_together(&nodes) {
            Some(pending) => self.add(&nodes, &pending, Grade::Proven),
            None if self.unproven.len() < MOST_UNPROVEN => self.unproven.push(cycle.to_vec()),
            None => {}
        }
    }

    /// Adds the cycles that no reordering leads to, where nothing orders the acquisitions and no other cycle is at the same
    /// places.
    fn judge_unproven(&mut self) {
        let graph = self.graph;
        let unproven = std::mem::take(&mut self.unproven);
        for (grade, knows) in
            [(Grade::Unordered, depends_on as Knows), (Grade::SeenInOrder, follows)]
        {
            for cycle in &unproven {
                let nodes: Vec<&Node> = cycle.iter().map(|node| &graph.nodes[*node]).collect();
                let (mut chosen, mut compared) = (Vec::new(), 0);
                if choose_unordered(&nodes, knows, &mut chosen, &mut compared) {
                    self.add(&nodes, &chosen, grade);
                }
            }
        }
    }

    fn add(&mut self, nodes: &[&Node], pending: &[&Acquisition], grade: Grade) {
        let places = places(nodes, pending);
        if !self.found.contains_key(&places) {
            let waiters = (0..nodes.len()).map(|at| {
                let before = nodes[(at + nodes.len() - 1) % nodes.len()];
                let site = pending[at].held.iter().find(|held| held.lock == before.lock);
                Waiter {
                    thread: self.graph.threads[nodes[at].thread as usize],
                    held: site.map(|held| (held.lock, held.site)),
                    wanted: Wanted::Lock(nodes[at].lock),
                    wanted_at: pending[at].site,
                }
            });
            let waiters = waiters.collect();
            self.found.insert(places, Deadlock { evidence: Evidence::Predicted, grade, waiters });
        }
    }

    /// One acquisition of each node, so that all of them can be pending at the same time; algorithm 2 of the paper.
    fn pending_together<'n>(&self, nodes: &[&'n Node]) -> Option<Vec<&'n Acquisition>> {
        let mut happened = vec![0; self.threads];
        let mut chosen = vec![0; nodes.len()];
        loop {
            for (node, at) in nodes.iter().zip(&chosen) {
                include(&mut happened, &node.acquisitions[*at].before);
            }
            self.close(&mut happened);
            let mut is_settled = true;
            for (node, at) in nodes.iter().zip(&mut chosen) {
                // An acquisition that must have happened is not pending, and no later reordering makes it so.
                while node.acquisitions.get(*at)?.before.count < happened[node.thread as usize] {
                    *at += 1;
                    is_settled = false;
                }
            }
            if is_settled {
                return Some(
                    nodes.iter().zip(chosen).map(|(node, at)| &node.acquisitions[at]).collect(),
                );
            }
            if self.is_exhausted() {
                return None;
            }
        }
    }

    /// Adds what else must have happened: of the critical sections of a lock that have begun, all but the last one in the
    /// order of the run have ended. Definition 3 of the paper.
    fn close(&self, happened: &mut [u32]) {
        let mut is_closed = false;
        while !is_closed {
            is_closed = true;
            for of_lock in &self.sections {
                self.looked_at.set(self.looked_at.get() + of_lock.len() as u64);
                let begun = |happened: &[u32], (thread, sections): &(u32, Vec<Section>)| {
                    let count = happened[*thread as usize];
                    sections.partition_point(|section| section.acquired < count)
                };
                let last = of_lock.iter().filter_map(|of_thread| {
                    let begun = begun(happened, of_thread).checked_sub(1)?;
                    Some(of_thread.1[begun].order)
                });
                let Some(last) = last.max() else { continue };
                for of_thread in *of_lock {
                    let Some(begun) = begun(happened, of_thread).checked_sub(1) else { continue };
                    let section = &of_thread.1[begun];
                    // A section in shared mode may not have ended: nobody had to wait for it then.
                    if section.order < last
                        && let Some(released) = &section.released
                        && happened[released.thread as usize] < released.count
                    {
                        include(happened, released);
                        is_closed = false;
                    }
                }
            }
            if self.is_exhausted() {
                return;
            }
        }
    }
}

/// How many events of a thread have come before.
type Knows = fn(&Stamp, u32) -> u32;

/// As far as reads saw what they saw.
fn depends_on(stamp: &Stamp, thread: u32) -> u32 {
    count_of(&stamp.others, thread)
}

/// As far as synchronisation orders them.
fn follows(stamp: &Stamp, thread: u32) -> u32 {
    count_of(&stamp.ordered, thread)
}

/// Chooses one acquisition of each node so that none of them must have happened before another.
fn choose_unordered<'n>(
    nodes: &[&'n Node],
    knows: Knows,
    chosen: &mut Vec<&'n Acquisition>,
    compared: &mut u32,
) -> bool {
    let Some(node) = nodes.get(chosen.len()) else { return true };
    for acquisition in &node.acquisitions {
        *compared += 1;
        if *compared > MOST_COMPARED {
            return false;
        }
        let is_before = |one: &Stamp, other: &Stamp| knows(other, one.thread) > one.count;
        let (before, others) = (&acquisition.before, chosen.iter().map(|other| &other.before));
        if others.clone().any(|other| is_before(before, other) || is_before(other, before)) {
            continue;
        }
        chosen.push(acquisition);
        if choose_unordered(nodes, knows, chosen, compared) {
            return true;
        }
        chosen.pop();
    }
    false
}

/// Whether the one waits for a lock while the other holds it.
fn blocks(waits: &Node, holds: &Node) -> bool {
    let is_exclusive = |mode: Mode| mode == Mode::Exclusive;
    let mut held = holds.held.iter().filter(|(lock, _)| *lock == waits.lock);
    held.any(|(_, mode)| is_exclusive(*mode) || is_exclusive(waits.mode))
}

fn include(happened: &mut [u32], stamp: &Stamp) {
    let own = [(stamp.thread, stamp.count)];
    for (thread, count) in stamp.others.iter().chain(&own) {
        let known = &mut happened[*thread as usize];
        *known = (*known).max(*count);
    }
}

/// Where threads wait, and where they acquired what others want.
type Places = BTreeSet<(SiteId, SiteId)>;

/// The places of a cycle.
fn places(nodes: &[&Node], acquisitions: &[&Acquisition]) -> Places {
    let length = nodes.len();
    let place = |at: usize| {
        let wanted = nodes[(at + length - 1) % length].lock;
        let held = acquisitions[at].held.iter().find(|held| held.lock == wanted);
        (acquisitions[at].site, held.map_or(SiteId(0), |held| held.site))
    };
    (0..length).map(place).collect()
}
