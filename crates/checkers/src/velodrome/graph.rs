//! The happens-before graph of transactions, and which of them a thread time belongs to.
//!
//! A node is an interval of one thread's time: a transaction, and whatever the thread does outside of
//! transactions after it. So an operation finds its node by its thread time alone, also when
//! it is reported long after it happened; and what is not in a live node any more is in one
//! that was collected, and cannot be on a cycle.

use std::collections::VecDeque;

use events::{Block, SiteId, ThreadId};

use super::Config;
use super::blame::RootSearch;
use crate::operation_at::OperationAt;
use crate::subject::Subject;
use crate::timeline::{ThreadSlot, ThreadTime};
use crate::verb::Verb;

/// A node of the graph; numbers are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

impl NodeId {
    pub(super) fn number(self) -> u64 {
        u64::from(self.0)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// One end of an edge: who does what. An operation that was merged into a node of another thread is still its
/// own thread's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint {
    pub(super) operation_at: OperationAt,
    pub(super) thread: ThreadId,
}

impl Default for Endpoint {
    fn default() -> Endpoint {
        Endpoint {
            operation_at: OperationAt::somewhere(Verb::PRECEDES),
            thread: ThreadId(u32::MAX),
        }
    }
}

/// What an edge is about, and its two ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) subject: Subject,
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
}

impl Label {
    /// An edge without operations: only the nodes at its ends are known.
    pub(super) fn of_nodes(subject: Subject) -> Label {
        let to =
            Endpoint { operation_at: OperationAt::somewhere(Verb::FOLLOWS), ..Endpoint::default() };
        Label { subject, from: Endpoint::default(), to }
    }

    /// Whether its ends are operations.
    pub(super) fn has_endpoints(&self) -> bool {
        !matches!(self.subject, Subject::Order | Subject::Omitted)
    }
}

/// An edge as its target keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) source: ThreadTime,
    /// The time of the target's thread.
    pub(super) at: u64,
    pub(super) label: Label,
}

/// What adding an edge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The edge is redundant.
    Nothing,
    /// The edge is there.
    Edge,
    /// The edge is there and closes a cycle.
    Cycle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The number is not in use.
    Free,
    /// More edges may come in.
    Running,
    /// A thread time that was reported before anything else of its thread: it may be part of a transaction
    /// whose beginning is not reported yet. More edges may come in.
    Tentative,
    /// No edge comes in any more, but for what is known to be reachable already.
    Finished,
}

#[derive(Debug)]
struct Node {
    state: State,
    slot: ThreadSlot,
    /// How many nodes were made before it.
    number: u64,
    /// The outermost block of the transaction; the unknown site outside of blocks, and where several
    /// transactions were merged.
    block: Block,
    /// In the order of `at`; those of one source thread are also in the order of their source.
    incoming: Vec<Edge>,
    /// Where edges lead to, each once.
    outgoing: Vec<NodeId>,
    /// All nodes from which a path leads here.
    ancestors: NodeSet,
}

/// What the times of a slot belong to, from `begin` to the next entry.
#[derive(Clone, Copy, Debug)]
struct Interval {
    begin: u64,
    owner: IntervalOwner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntervalOwner {
    Node(NodeId),
    /// Operations outside of transactions that were merged into another thread's node: they count
    /// as done right after this thread time of it.
    MergedAfter(ThreadTime),
}

/// The time of an edge that represents a path of nodes, but not of operations: blame ignores it.
const PATH_OF_NODES: u64 = u64::MAX;

/// Beyond this many, operations that were merged into other nodes are treated as earlier than they were.
const MOST_MERGED_INTERVALS: usize = 16;

/// Beyond this many edges into one node, those that only help blame are thinned out.
const MOST_INCOMING: usize = 256;

/// How many edges of one source thread remain then.
const KEPT_OF_ONE_THREAD: usize = 8;

/// How many thread times may wait for the beginning of their transaction to be reported, for each thread.
const MOST_TENTATIVE: usize = 256;

/// How many removed nodes are dropped from the sets of ancestors at once.
const REMOVED_TOGETHER: usize = 32;

/// The graph.
#[derive(Debug)]
pub(super) struct Graph {
    config: Config,
    nodes: Vec<Node>,
    /// Numbers that can be used.
    free: Vec<NodeId>,
    /// Numbers of removed nodes that may still be among the ancestors of others.
    removed: Vec<NodeId>,
    intervals: Vec<VecDeque<Interval>>,
    /// For each slot the latest time from which an edge leads away.
    last_left: Vec<u64>,
    alive: usize,
    /// How many nodes were ever made.
    pub(super) allocated: u64,
    /// The most nodes that were alive at a time.
    pub(super) most_alive: usize,
    /// Beyond this many nodes alive, they are condensed.
    condense_at: usize,
    worklist: Vec<NodeId>,
}

impl Graph {
    pub(super) fn new(config: Config) -> Graph {
        Graph {
            config,
            nodes: Vec::new(),
            free: Vec::new(),
            removed: Vec::new(),
            intervals: Vec::new(),
            last_left: Vec::new(),
            alive: 0,
            allocated: 0,
            most_alive: 0,
            condense_at: config.condense_above,
            worklist: Vec::new(),
        }
    }

    /// How many operations on a variable are kept at least.
    pub(super) fn kept_intervals(&self) -> usize {
        self.config.kept_intervals
    }

    /// Makes sure that the slot is there.
    pub(super) fn add_slot(&mut self, slot: ThreadSlot) {
        while self.intervals.len() <= slot.index() {
            self.intervals.push(VecDeque::new());
            self.last_left.push(0);
        }
    }

    /// Whether nothing of the slot can be on a cycle any more.
    pub(super) fn is_collected(&self, slot: ThreadSlot) -> bool {
        self.intervals[slot.index()].iter().all(|interval| match interval.owner {
            IntervalOwner::Node(_) => false,
            IntervalOwner::MergedAfter(thread_time) => self.node_of(thread_time).is_none(),
        })
    }

    /// The node of a thread time, unless it was collected.
    #[inline]
    pub(super) fn node_of(&self, thread_time: ThreadTime) -> Option<NodeId> {
        if thread_time.is_none() {
            return None;
        }
        match self.interval_at(thread_time.slot(), thread_time.time())?.owner {
            IntervalOwner::Node(node) => Some(node),
            IntervalOwner::MergedAfter(_) => None,
        }
    }

    /// Whether a thread time is in a node, and not in this one.
    #[inline]
    pub(super) fn is_in_other(&self, thread_time: ThreadTime, node: NodeId) -> bool {
        self.node_of(thread_time).is_some_and(|other| other != node)
    }

    /// The interval that a time of a slot lies in. Most are asked for soon.
    #[inline]
    fn interval_at(&self, slot: ThreadSlot, time: u64) -> Option<Interval> {
        let intervals = &self.intervals[slot.index()];
        let last = intervals.back()?;
        if last.begin <= time {
            return Some(*last);
        }
        self.earlier_interval_at(slot, time)
    }

    fn earlier_interval_at(&self, slot: ThreadSlot, time: u64) -> Option<Interval> {
        let intervals = &self.intervals[slot.index()];
        // What is over and collected lies before the first.
        if intervals.front()?.begin > time {
            return None;
        }
        let after = intervals.partition_point(|interval| interval.begin <= time);
        after.checked_sub(1).map(|at| intervals[at])
    }

    /// The thread time that represents a time of a thread: itself, the one it was merged with, or none if
    /// it cannot be on a cycle.
    pub(super) fn thread_time_at(&self, slot: ThreadSlot, time: u64) -> ThreadTime {
        match self.interval_at(slot, time).map(|interval| interval.owner) {
            None => ThreadTime::NONE,
            Some(IntervalOwner::Node(_)) => ThreadTime::new(slot, time),
            Some(IntervalOwner::MergedAfter(thread_time)) => {
                if self.node_of(thread_time).is_some() { thread_time } else { ThreadTime::NONE }
            }
        }
    }

    /// The thread time that represents a time from which nothing is reported yet: the first of
    /// a transaction, or an operation outside.
    pub(super) fn tentative_time(&mut self, slot: ThreadSlot, time: u64) -> ThreadTime {
        let intervals = &self.intervals[slot.index()];
        let mut waiting = 0;
        for interval in intervals.iter().rev() {
            match interval.owner {
                IntervalOwner::Node(node) if self.nodes[node.index()].state == State::Tentative => {
                    if interval.begin == time {
                        return ThreadTime::new(slot, time);
                    }
                    waiting += 1;
                }
                IntervalOwner::Node(_) | IntervalOwner::MergedAfter(_) => break,
            }
        }
        if waiting >= MOST_TENTATIVE {
            self.resolve_tentative(slot, Some(time));
        }
        let last = self.last_non_tentative(slot, time);
        let node = self.add_node(slot, time, State::Tentative);
        if !last.is_none() {
            self.order(last, node, time);
        }
        ThreadTime::new(slot, time)
    }

    /// The last thread time of the thread before this time that is not tentative.
    fn last_non_tentative(&self, slot: ThreadSlot, time: u64) -> ThreadTime {
        let mut limit = time;
        for interval in self.intervals[slot.index()].iter().rev() {
            if self.is_tentative(interval) {
                limit = limit.min(interval.begin);
            } else {
                return self.thread_time_at(slot, interval.begin.max(limit.saturating_sub(1)));
            }
        }
        ThreadTime::NONE
    }

    fn is_tentative(&self, interval: &Interval) -> bool {
        match interval.owner {
            IntervalOwner::Node(node) => self.nodes[node.index()].state == State::Tentative,
            IntervalOwner::MergedAfter(_) => false,
        }
    }

    /// The thread did something outside of transactions, or begins one at `transaction`: whatever is
    /// tentative before is over. Returns the node that is made of what is not before.
    pub(super) fn resolve_tentative(
        &mut self,
        slot: ThreadSlot,
        transaction: Option<u64>,
    ) -> Option<NodeId> {
        let intervals = &self.intervals[slot.index()];
        if !intervals.back().is_some_and(|last| self.is_tentative(last)) {
            return None;
        }
        let tentative = intervals.iter().filter(|interval| self.is_tentative(interval));
        let tentative: Vec<Interval> = tentative.copied().collect();
        let limit = transaction.unwrap_or(u64::MAX);
        let mut first: Option<NodeId> = None;
        for interval in tentative {
            let IntervalOwner::Node(node) = interval.owner else { continue };
            if interval.begin < limit {
                self.nodes[node.index()].state = State::Finished;
                self.finish(node);
            } else if let Some(first) = first {
                self.merge_nodes(first, node);
            } else {
                // The transaction begins before the thread time that was the first to be known of it.
                for edge in &mut self.nodes[node.index()].incoming {
                    edge.at = limit;
                    if edge.source.slot() == slot {
                        edge.source = ThreadTime::new(slot, edge.source.time().min(limit - 1));
                    }
                }
                let intervals = self.intervals[slot.index()].iter_mut();
                intervals.filter(|found| found.owner == interval.owner).for_each(|found| {
                    found.begin = limit;
                });
                first = Some(node);
            }
        }
        first
    }

    /// Makes one node of two that round out to be one transaction. The second has no edges in but the
    /// one from the operation before, which the first has too.
    fn merge_nodes(&mut self, first: NodeId, second: NodeId) {
        self.replace(second, first);
        self.merge_blocks(first, second);
        let slot = self.nodes[second.index()].slot;
        self.intervals[slot.index()]
            .retain(|interval| interval.owner != IntervalOwner::Node(second));
        let bit = second.index();
        for node in &mut self.nodes {
            if node.ancestors.remove(bit) {
                node.ancestors.insert(first.index());
            }
        }
        self.release(second);
    }

    /// One node represents another too: unless both execute the same block, the block of a thread time is
    /// no longer known.
    fn merge_blocks(&mut self, kept: NodeId, removed: NodeId) {
        if self.nodes[kept.index()].block != self.nodes[removed.index()].block {
            self.nodes[kept.index()].block = SiteId(0);
        }
    }

    /// Puts one node in the place of another in all lists of edges.
    fn replace(&mut self, old: NodeId, new: NodeId) {
        if self.nodes[old.index()].outgoing.contains(&new) {
            let mut incoming = std::mem::take(&mut self.nodes[new.index()].incoming);
            incoming.retain(|edge| self.node_of(edge.source) != Some(old));
            self.nodes[new.index()].incoming = incoming;
        }
        let outgoing = std::mem::take(&mut self.nodes[old.index()].outgoing);
        for target in &outgoing {
            if *target != new {
                add_once(&mut self.nodes[new.index()].outgoing, *target);
            }
        }
        self.keep_capacity(old, outgoing);
        let incoming = std::mem::take(&mut self.nodes[old.index()].incoming);
        for edge in &incoming {
            if let Some(source) = self.node_of(edge.source) {
                self.nodes[source.index()].outgoing.retain(|target| *target != old);
                if source != new {
                    add_once(&mut self.nodes[source.index()].outgoing, new);
                    if !self.is_redundant(edge.source, new) {
                        self.nodes[new.index()].incoming.push(*edge);
                    }
                }
            }
        }
        let mut incoming = incoming;
        incoming.clear();
        self.nodes[old.index()].incoming = incoming;
    }

    fn keep_capacity(&mut self, node: NodeId, mut outgoing: Vec<NodeId>) {
        outgoing.clear();
        self.nodes[node.index()].outgoing = outgoing;
    }

    /// A transaction begins: an execution of this block.
    pub(super) fn begin(&mut self, slot: ThreadSlot, time: u64, block: Block) -> NodeId {
        if let Some(node) = self.resolve_tentative(slot, Some(time)) {
            self.nodes[node.index()].state = State::Running;
            self.nodes[node.index()].block = block;
            return node;
        }
        let last = self.last_non_tentative(slot, time);
        let node = self.add_node(slot, time, State::Running);
        self.nodes[node.index()].block = block;
        if !last.is_none() {
            self.order(last, node, time);
        }
        node
    }

    /// The transaction of the thread, which is in one.
    pub(super) fn running(&self, slot: ThreadSlot) -> Option<NodeId> {
        match self.intervals[slot.index()].back()?.owner {
            IntervalOwner::Node(node) => Some(node),
            IntervalOwner::MergedAfter(_) => None,
        }
    }

    /// A transaction ends.
    pub(super) fn end(&mut self, node: NodeId) {
        self.nodes[node.index()].state = State::Finished;
        self.finish(node);
    }

    /// An operation outside of transactions that comes after `sources`. Returns the thread time that
    /// represents it.
    pub(super) fn operation_outside(
        &mut self,
        slot: ThreadSlot,
        time: u64,
        is_new_epoch: bool,
        sources: &[(ThreadTime, Label)],
    ) -> ThreadTime {
        let last = self.last_non_tentative(slot, time);
        if !self.config.merge {
            // The operations of one epoch are not distinguished, and only the first can come after
            // something new.
            let last_begin = self.intervals[slot.index()].back().map(|last| last.begin);
            let is_unreachable =
                |(thread_time, _): &(ThreadTime, Label)| self.node_of(*thread_time).is_none();
            if last_begin == Some(time) || (!is_new_epoch && sources.iter().all(is_unreachable)) {
                return self.thread_time_at(slot, time);
            }
            return self.add_outside_node(slot, time, last, sources);
        }
        let mut others = sources
            .iter()
            .filter_map(|(thread_time, _)| Some((*thread_time, self.node_of(*thread_time)?)));
        let Some(last_node) = self.node_of(last) else {
            // Nothing of the thread itself is left: the operation can be part of what it comes after,
            // if that is one node, and over.
            let Some((first, node)) = others.next() else { return ThreadTime::NONE };
            let mut latest = first;
            for (thread_time, other) in others {
                if other != node {
                    return self.add_outside_node(slot, time, last, sources);
                }
                latest = latest.max(thread_time);
            }
            return self.merge_outside_after(slot, time, latest, node, last, sources);
        };
        if last.slot() == slot {
            let ancestors = &self.nodes[last_node.index()].ancestors;
            if others.all(|(_, node)| node == last_node || ancestors.contains(node.index())) {
                for (thread_time, label) in sources {
                    self.add_edge(*thread_time, last_node, time, *label);
                }
                return ThreadTime::new(slot, time);
            }
            return self.add_outside_node(slot, time, last, sources);
        }
        // The last operation was merged into a node of another thread.
        let mut latest = last;
        for (thread_time, node) in others {
            if node != last_node {
                return self.add_outside_node(slot, time, last, sources);
            }
            latest = latest.max(thread_time);
        }
        self.merge_outside_after(slot, time, latest, last_node, last, sources)
    }

    fn merge_outside_after(
        &mut self,
        slot: ThreadSlot,
        time: u64,
        latest: ThreadTime,
        node: NodeId,
        last: ThreadTime,
        sources: &[(ThreadTime, Label)],
    ) -> ThreadTime {
        if self.nodes[node.index()].state != State::Finished {
            // A running transaction may still receive edges, and this operation must not.
            return self.add_outside_node(slot, time, last, sources);
        }
        if latest.slot() == slot {
            return ThreadTime::new(slot, time);
        }
        if latest != last {
            self.drop_collected_intervals(slot);
            let owner = IntervalOwner::MergedAfter(latest);
            self.intervals[slot.index()].push_back(Interval { begin: time, owner });
        }
        latest
    }

    /// Drops intervals that were merged elsewhere and matter no more.
    fn drop_collected_intervals(&mut self, slot: ThreadSlot) {
        let mut merged = 0;
        while let Some(Interval { owner: IntervalOwner::MergedAfter(thread_time), .. }) =
            self.intervals[slot.index()].front()
            && self.node_of(*thread_time).is_none()
        {
            self.intervals[slot.index()].pop_front();
        }
        for interval in self.intervals[slot.index()].iter().rev() {
            match interval.owner {
                IntervalOwner::Node(_) => break,
                IntervalOwner::MergedAfter(_) => merged += 1,
            }
        }
        if merged >= MOST_MERGED_INTERVALS {
            self.intervals[slot.index()].pop_back();
        }
    }

    /// A node of its own for an operation outside of transactions.
    fn add_outside_node(
        &mut self,
        slot: ThreadSlot,
        time: u64,
        last: ThreadTime,
        sources: &[(ThreadTime, Label)],
    ) -> ThreadTime {
        self.drop_collected_intervals(slot);
        let node = self.add_node(slot, time, State::Running);
        if !last.is_none() {
            self.order(last, node, time);
        }
        for (thread_time, label) in sources {
            self.add_edge(*thread_time, node, time, *label);
        }
        self.nodes[node.index()].state = State::Finished;
        self.collect_if_unreached(node);
        self.thread_time_at(slot, time)
    }

    /// Adds the edge from the operation before of the same thread.
    fn order(&mut self, last: ThreadTime, node: NodeId, time: u64) {
        self.add_edge(last, node, time, Label::of_nodes(Subject::Order));
    }

    fn is_redundant(&self, source: ThreadTime, target: NodeId) -> bool {
        // A later thread time of the same thread comes after this one; an existing edge
        // from it is stronger, for the nodes and for the operations.
        let mut known = self.nodes[target.index()].incoming.iter().rev();
        known
            .find(|edge| edge.source.slot() == source.slot() && edge.at != PATH_OF_NODES)
            .is_some_and(|edge| edge.source.time() >= source.time())
    }

    /// Adds an edge into a node at a time of its thread that is not before that of any other edge into
    /// it. Edges that close a cycle are added too: what follows is judged by the whole run.
    pub(super) fn add_edge(
        &mut self,
        source: ThreadTime,
        target: NodeId,
        at: u64,
        label: Label,
    ) -> Added {
        let Some(from) = self.node_of(source) else { return Added::Nothing };
        if from == target || self.is_redundant(source, target) {
            return Added::Nothing;
        }
        self.nodes[target.index()].incoming.push(Edge { source, at, label });
        if self.nodes[target.index()].incoming.len() > MOST_INCOMING {
            self.drop_early_edges(target);
        }
        let closes = self.nodes[from.index()].ancestors.contains(target.index());
        let last_left = &mut self.last_left[source.slot().index()];
        *last_left = source.time().max(*last_left);
        add_once(&mut self.nodes[from.index()].outgoing, target);
        self.propagate_ancestors(from, target);
        if closes { Added::Cycle } else { Added::Edge }
    }

    /// Whether an edge would close a cycle.
    pub(super) fn would_close_cycle(&self, source: ThreadTime, target: NodeId) -> bool {
        self.node_of(source).is_some_and(|from| {
            from != target && self.nodes[from.index()].ancestors.contains(target.index())
        })
    }

    /// Leaves of each source thread only the latest edges. The others help to find the innermost
    /// block to blame; the nodes they come from have a path to the later ones.
    fn drop_early_edges(&mut self, target: NodeId) {
        let mut incoming = std::mem::take(&mut self.nodes[target.index()].incoming);
        let mut kept: Vec<(ThreadSlot, usize)> = Vec::new();
        let mut keep: Vec<bool> = incoming
            .iter()
            .rev()
            .map(|edge| {
                let slot = edge.source.slot();
                match kept.iter_mut().find(|(known, _)| *known == slot) {
                    Some((_, count)) => {
                        *count += 1;
                        *count <= KEPT_OF_ONE_THREAD
                    }
                    None => {
                        kept.push((slot, 1));
                        true
                    }
                }
            })
            .collect();
        incoming.retain(|_| keep.pop().unwrap_or(true));
        self.nodes[target.index()].incoming = incoming;
    }

    /// Everything that reaches `from` now reaches `target` and all that is reached from there.
    fn propagate_ancestors(&mut self, from: NodeId, target: NodeId) {
        let mut pending = std::mem::take(&mut self.worklist);
        pending.push(from);
        pending.push(target);
        while let (Some(target), Some(from)) = (pending.pop(), pending.pop()) {
            let (from, target) = (from.index(), target.index());
            let mut ancestors = std::mem::take(&mut self.nodes[target].ancestors);
            let changed = if from == target {
                false
            } else {
                ancestors.add_all(&self.nodes[from].ancestors) | ancestors.insert(from)
            };
            self.nodes[target].ancestors = ancestors;
            if changed {
                for next in &self.nodes[target].outgoing {
                    pending.push(NodeId(target as u32));
                    pending.push(*next);
                }
            }
        }
        self.worklist = pending;
    }

    fn add_node(&mut self, slot: ThreadSlot, begin: u64, state: State) -> NodeId {
        if self.alive >= self.condense_at && self.config.collect {
            self.condense();
            self.condense_at = (2 * self.alive).max(self.config.condense_above);
        }
        self.allocated += 1;
        self.alive += 1;
        self.most_alive = self.most_alive.max(self.alive);
        if self.free.is_empty() && self.removed.len() >= REMOVED_TOGETHER {
            self.forget_removed();
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node {
                state: State::Free,
                slot,
                number: 0,
                block: SiteId(0),
                incoming: Vec::new(),
                outgoing: Vec::new(),
                ancestors: NodeSet::default(),
            });
            NodeId(self.nodes.len() as u32 - 1)
        });
        let node = &mut self.nodes[id.index()];
        node.state = state;
        node.slot = slot;
        node.number = self.allocated;
        node.block = SiteId(0);
        // Tentative thread times are not reported in the order of their times.
        let intervals = &mut self.intervals[slot.index()];
        let after = intervals.iter().rev().take_while(|interval| interval.begin > begin).count();
        intervals
            .insert(intervals.len() - after, Interval { begin, owner: IntervalOwner::Node(id) });
        id
    }

    /// What can be done with a node once it is over: nothing reaches it, and it is collected; or what
    /// reaches it also reaches what the thread did before, and it becomes part of that.
    fn finish(&mut self, node: NodeId) {
        if self.config.merge && !self.nodes[node.index()].incoming.is_empty() {
            self.append_to_previous(node);
        }
        self.collect_if_unreached(node);
    }

    /// Makes a node part of the one before it in its thread, if all its edges come from there or from
    /// where that can be reached from: then it is on a cycle only if the other is.
    fn append_to_previous(&mut self, node: NodeId) {
        let slot = self.nodes[node.index()].slot;
        let intervals = &self.intervals[slot.index()];
        let Some(at) =
            intervals.iter().rposition(|interval| interval.owner == IntervalOwner::Node(node))
        else {
            return;
        };
        let Some(Interval { owner: IntervalOwner::Node(previous), .. }) =
            at.checked_sub(1).and_then(|before| intervals.get(before)).copied()
        else {
            return;
        };
        if self.nodes[previous.index()].state != State::Finished {
            return;
        }
        let ancestors = &self.nodes[previous.index()].ancestors;
        let is_covered = |edge: &Edge| {
            self.node_of(edge.source)
                .is_none_or(|source| source == previous || ancestors.contains(source.index()))
        };
        if !self.nodes[node.index()].incoming.iter().all(is_covered) {
            return;
        }
        self.replace(node, previous);
        self.merge_blocks(previous, node);
        self.intervals[slot.index()].remove(at);
        self.release(node);
    }

    /// Removed nodes among ancestors do no harm, so they are dropped in batches, before their numbers are
    /// reused.
    #[cold]
    fn forget_removed(&mut self) {
        let mut removed = NodeSet::default();
        for id in &self.removed {
            removed.insert(id.index());
        }
        for node in &mut self.nodes {
            node.ancestors.remove_all(&removed);
        }
        self.free.append(&mut self.removed);
    }

    fn release(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.state = State::Free;
        node.incoming.clear();
        node.outgoing.clear();
        node.ancestors.clear();
        self.removed.push(id);
        self.alive -= 1;
    }

    fn collect_if_unreached(&mut self, node: NodeId) {
        if !self.config.collect {
            return;
        }
        let mut pending = vec![];
        let mut next = Some(node);
        while let Some(id) = next {
            let node = &self.nodes[id.index()];
            if node.state == State::Finished && node.incoming.is_empty() {
                self.collect(id, &mut pending);
            }
            next = pending.pop();
        }
    }

    fn collect(&mut self, id: NodeId, pending: &mut Vec<NodeId>) {
        let slot = self.nodes[id.index()].slot;
        let intervals = &mut self.intervals[slot.index()];
        let Some(at) =
            intervals.iter().position(|interval| interval.owner == IntervalOwner::Node(id))
        else {
            return;
        };
        // Everything of the thread before is collected too.
        intervals.remove(at);
        let limit = intervals.get(at).map_or(u64::MAX, |next| next.begin);
        let outgoing = std::mem::take(&mut self.nodes[id.index()].outgoing);
        for target in &outgoing {
            let is_removed =
                |thread_time: ThreadTime| thread_time.slot() == slot && thread_time.time() < limit;
            self.nodes[target.index()].incoming.retain(|edge| !is_removed(edge.source));
            pending.push(*target);
        }
        self.keep_capacity(id, outgoing);
        self.release(id);
    }

    /// Makes room when many nodes are alive.
    ///
    /// Cycles are closed by edges into transactions that are not over. So all that matters of a node
    /// that is over is from which of those it can be reached, and after which of their thread times. Its
    /// edges are replaced by edges straight from there; what nothing reaches any more is collected,
    /// cycles included; and neighbours of one thread that are reached from the same transactions
    /// become one.
    #[cold]
    fn condense(&mut self) {
        let mut not_over = NodeSet::default();
        let mut oldest_first: Vec<NodeId> = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            match node.state {
                State::Free => {}
                State::Running | State::Tentative => {
                    not_over.insert(at);
                }
                State::Finished => oldest_first.push(NodeId(at as u32)),
            }
        }
        // Most edges come from older nodes, which have straight edges already.
        oldest_first.sort_unstable_by_key(|id| self.nodes[id.index()].number);
        let mut scratch = Scratch::new(self.nodes.len(), self.intervals.len());
        for intervals in &self.intervals {
            scratch.running.extend(intervals.iter().filter_map(|interval| match interval.owner {
                IntervalOwner::Node(node) if !self.is_over(node) => {
                    let slot = self.nodes[node.index()].slot;
                    Some((node, ThreadTime::new(slot, interval.begin)))
                }
                IntervalOwner::Node(_) | IntervalOwner::MergedAfter(_) => None,
            }));
        }
        for id in oldest_first {
            self.replace_by_root_edges(id, &mut scratch);
        }
        if self.config.merge {
            for slot in 0..self.intervals.len() {
                self.condense_thread(slot, &not_over, &mut scratch);
            }
        }
        self.rebuild(&mut scratch);
        for at in 0..self.nodes.len() {
            self.collect_if_unreached(NodeId(at as u32));
        }
    }

    /// Replaces the edges into a node that is over by edges straight from transactions that are not.
    fn replace_by_root_edges(&mut self, id: NodeId, scratch: &mut Scratch) {
        let incoming = std::mem::take(&mut self.nodes[id.index()].incoming);
        let mut found: Vec<Edge> = std::mem::take(&mut scratch.edges);
        scratch.next();
        for edge in incoming.iter().filter(|edge| edge.at != PATH_OF_NODES) {
            let Some(source) = self.node_of(edge.source) else { continue };
            if !self.is_over(source) {
                scratch.add_later(&mut found, *edge, edge.at);
            } else if scratch.has_root_edges[source.index()] {
                for root in &self.nodes[source.index()].incoming {
                    if root.at <= edge.source.time() {
                        scratch.add_later(&mut found, *root, edge.at);
                    }
                }
            } else {
                let mut roots = std::mem::take(&mut scratch.roots);
                roots.search(self, edge.source);
                for (_, root) in roots.found() {
                    scratch.add_later(&mut found, *root, edge.at);
                }
                scratch.roots = roots;
            }
        }
        for edge in &found {
            self.note_source(edge.source, scratch);
        }
        // What a path of nodes leads from is known without a search.
        let ancestors = &self.nodes[id.index()].ancestors;
        for at in 0..scratch.running.len() {
            let (node, source) = scratch.running[at];
            if ancestors.contains(node.index()) && scratch.note(node) {
                let label = Label::of_nodes(Subject::Omitted);
                found.push(Edge { source, at: PATH_OF_NODES, label });
            }
        }
        self.nodes[id.index()].incoming.clone_from(&found);
        found.clear();
        scratch.has_root_edges[id.index()] = true;
        scratch.edges = found;
    }

    /// Whether the node of a thread time was not noted yet.
    fn note_source(&self, source: ThreadTime, scratch: &mut Scratch) -> bool {
        self.node_of(source).is_some_and(|node| scratch.note(node))
    }

    /// Makes one node of neighbours that are reached from the same transactions.
    fn condense_thread(&mut self, slot: usize, not_over: &NodeSet, scratch: &mut Scratch) {
        let mut kept = VecDeque::with_capacity(self.intervals[slot].len());
        let mut intervals = self.intervals[slot].clone().into_iter();
        kept.extend(intervals.next());
        let mut removed = Vec::new();
        for interval in intervals {
            let before = kept.back().map(|last: &Interval| last.owner);
            let (Some(IntervalOwner::Node(first)), IntervalOwner::Node(second)) =
                (before, interval.owner)
            else {
                kept.push_back(interval);
                continue;
            };
            let (one, other) = (&self.nodes[first.index()], &self.nodes[second.index()]);
            let are_over = one.state == State::Finished && other.state == State::Finished;
            if are_over && one.ancestors.agree(&other.ancestors, not_over) {
                self.merge_root_edges(first, second, scratch);
                removed.push(second);
            } else {
                kept.push_back(interval);
            }
        }
        self.intervals[slot] = kept;
        removed.into_iter().for_each(|id| self.release(id));
    }

    /// Adds the straight edges of a node to those of the one before it.
    fn merge_root_edges(&mut self, first: NodeId, second: NodeId, scratch: &mut Scratch) {
        scratch.next();
        let mut known = std::mem::take(&mut self.nodes[first.index()].incoming);
        for (at, edge) in known.iter().enumerate() {
            self.note_source(edge.source, scratch);
            if edge.at != PATH_OF_NODES {
                scratch.note_latest(edge.source, at);
            }
        }
        for edge in std::mem::take(&mut self.nodes[second.index()].incoming) {
            if edge.at != PATH_OF_NODES {
                self.note_source(edge.source, scratch);
                scratch.add_later(&mut known, edge, edge.at);
            } else if self.note_source(edge.source, scratch) {
                known.push(edge);
            }
        }
        self.nodes[first.index()].incoming = known;
        self.merge_blocks(first, second);
    }

    /// Works out from the edges into nodes where they lead to, and who reaches whom.
    fn rebuild(&mut self, scratch: &mut Scratch) {
        for node in &mut self.nodes {
            node.outgoing.clear();
            node.ancestors.clear();
        }
        for at in 0..self.nodes.len() {
            let target = NodeId(at as u32);
            scratch.next();
            for edge in 0..self.nodes[at].incoming.len() {
                let source = self.node_of(self.nodes[at].incoming[edge].source);
                if let Some(source) = source.filter(|source| *source != target)
                    && scratch.note(source)
                {
                    self.nodes[source.index()].outgoing.push(target);
                    self.propagate_ancestors(source, target);
                }
            }
        }
    }

    /// Whether no more edges come into a node.
    pub(super) fn is_over(&self, node: NodeId) -> bool {
        self.nodes[node.index()].state == State::Finished
    }

    /// The place of the thread whose node it is.
    pub(super) fn slot_of(&self, node: NodeId) -> ThreadSlot {
        self.nodes[node.index()].slot
    }

    /// The outermost block of a transaction; the unknown site outside of blocks, and where it is not known.
    pub(super) fn block_of(&self, node: NodeId) -> Block {
        self.nodes[node.index()].block
    }

    /// The latest time of a slot from which an edge leads away.
    pub(super) fn last_left(&self, slot: ThreadSlot) -> u64 {
        self.last_left[slot.index()]
    }

    /// How many slots there are.
    pub(super) fn slots(&self) -> usize {
        self.intervals.len()
    }

    /// Nodes have smaller numbers than this.
    pub(super) fn numbers(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a path leads from one node to another.
    pub(super) fn is_reached(&self, node: NodeId, from: NodeId) -> bool {
        self.nodes[node.index()].ancestors.contains(from.index())
    }

    /// The edges into a node.
    pub(super) fn incoming(&self, node: NodeId) -> &[Edge] {
        &self.nodes[node.index()].incoming
    }
}

fn add_once(list: &mut Vec<NodeId>, node: NodeId) {
    if !list.contains(&node) {
        list.push(node);
    }
}

/// What is noted while nodes are condensed.
struct Scratch {
    /// Nodes, by number, that have straight edges.
    has_root_edges: Vec<bool>,
    /// For each node the round in which it was noted.
    noted: Vec<u32>,
    /// For each slot the round in which an edge from it was added, and where that is in the list.
    latest: Vec<(u32, usize)>,
    round: u32,
    edges: Vec<Edge>,
    /// The nodes that are not over, each with a thread time of it.
    running: Vec<(NodeId, ThreadTime)>,
    roots: RootSearch,
}

impl Scratch {
    fn new(nodes: usize, slots: usize) -> Scratch {
        Scratch {
            has_root_edges: vec![false; nodes],
            noted: vec![0; nodes],
            latest: vec![(0, 0); slots],
            round: 0,
            edges: Vec::new(),
            running: Vec::new(),
            roots: RootSearch::default(),
        }
    }

    /// Nothing is noted any more.
    fn next(&mut self) {
        self.round += 1;
    }

    /// Whether a node was not noted yet.
    fn note(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.noted[node.index()], self.round) != self.round
    }

    fn note_latest(&mut self, source: ThreadTime, at: usize) {
        self.latest[source.slot().index()] = (self.round, at);
    }

    /// Adds an edge that arrives at a time, not before those in the list, unless there is one from a later
    /// thread time of the same thread.
    fn add_later(&mut self, list: &mut Vec<Edge>, edge: Edge, at: u64) {
        let (round, known) = self.latest[edge.source.slot().index()];
        let edge = Edge { at, ..edge };
        if round == self.round {
            if list[known].source.time() >= edge.source.time() {
                return;
            }
            if list[known].at == at {
                list[known] = edge;
                return;
            }
        }
        self.note_latest(edge.source, list.len());
        list.push(edge);
    }
}

/// A set of nodes.
#[derive(Debug, Default)]
struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    fn contains(&self, bit: usize) -> bool {
        self.words.get(bit / 64).is_some_and(|word| word & (1 << (bit % 64)) != 0)
    }

    /// Whether it was not there before.
    fn insert(&mut self, bit: usize) -> bool {
        if self.words.len() <= bit / 64 {
            self.words.resize(bit / 64 + 1, 0);
        }
        let word = &mut self.words[bit / 64];
        let before = *word;
        *word |= 1 << (bit % 64);
        *word != before
    }

    /// Whether it was there before.
    fn remove(&mut self, bit: usize) -> bool {
        let Some(word) = self.words.get_mut(bit / 64) else { return false };
        let before = *word;
        *word &= !(1 << (bit % 64));
        *word != before
    }

    /// Whether that changed anything.
    fn add_all(&mut self, other: &NodeSet) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut changed = false;
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        changed
    }

    fn remove_all(&mut self, other: &NodeSet) {
        for (word, less) in self.words.iter_mut().zip(&other.words) {
            *word &= !less;
        }
    }

    /// Whether two sets have the same members among these.
    fn agree(&self, other: &NodeSet, among: &NodeSet) -> bool {
        let word = |set: &NodeSet, at: usize| set.words.get(at).copied().unwrap_or(0);
        let mut words = among.words.iter().enumerate();
        words.all(|(at, mask)| (word(self, at) ^ word(other, at)) & mask == 0)
    }

    fn clear(&mut self) {
        self.words.clear();
    }
}
