//! The happens-before graph of transactions, and which of them a step belongs to.
//!
//! A node is a stretch of one thread's time: a transaction, and whatever the thread does outside of
//! transactions after it. So a step, a thread and a time, finds its node by the time alone, also when
//! the step is reported long after it happened; and what is not in a live node any more is in one
//! that was collected, and cannot be on a cycle.

use std::collections::VecDeque;

use events::{Block, SiteId, ThreadId};

use super::{Config, blame};
use crate::doing::Doing;
use crate::subject::Subject;
use crate::timeline::{Lane, Step};
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
pub(super) struct End {
    pub(super) doing: Doing,
    pub(super) thread: ThreadId,
}

impl Default for End {
    fn default() -> End {
        End { doing: Doing::somewhere(Verb::PRECEDES), thread: ThreadId(u32::MAX) }
    }
}

/// What an edge is about, and its two ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) subject: Subject,
    pub(super) from: End,
    pub(super) to: End,
}

impl Label {
    /// An edge that stands for no operations: its ends are known by their nodes only.
    pub(super) fn of_nodes(subject: Subject) -> Label {
        let to = End { doing: Doing::somewhere(Verb::FOLLOWS), ..End::default() };
        Label { subject, from: End::default(), to }
    }

    /// Whether its ends are operations.
    pub(super) fn has_ends(&self) -> bool {
        !matches!(self.subject, Subject::Order | Subject::Omitted)
    }
}

/// An edge as its target keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) source: Step,
    /// The time of the target's thread.
    pub(super) at: u64,
    pub(super) label: Label,
}

/// What adding an edge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The edge says nothing new.
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
    /// A step that was reported before anything else of its thread: it may be part of a transaction
    /// whose beginning is not reported yet. More edges may come in.
    Tentative,
    /// No edge comes in any more, but for what is known to be reachable already.
    Finished,
}

#[derive(Debug)]
struct Node {
    state: State,
    lane: Lane,
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

/// What the times of a lane belong to, from `begin` to the next entry.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: u64,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Node(NodeId),
    /// Operations outside of transactions that were merged into another thread's node: they count
    /// as done right after this step of it.
    After(Step),
}

/// The time of an edge that stands for a path of nodes, but not one of operations: it helps no blame.
const PATH_OF_NODES: u64 = u64::MAX;

/// Beyond this many, operations that were merged elsewhere are taken for earlier than they were.
const MOST_STRETCHES_ELSEWHERE: usize = 16;

/// Beyond this many edges into one node, those that only help blame are thinned out.
const MOST_INCOMING: usize = 256;

/// How many edges of one source thread remain then.
const KEPT_OF_ONE_THREAD: usize = 8;

/// How many steps may wait for the beginning of their transaction to be reported, for each thread.
const MOST_TENTATIVE: usize = 256;

/// How many nodes that are gone are forgotten together.
const GONE_TOGETHER: usize = 32;

/// The graph.
#[derive(Debug)]
pub(super) struct Graph {
    config: Config,
    nodes: Vec<Node>,
    /// Numbers that can be used.
    free: Vec<NodeId>,
    /// Numbers of nodes that are gone, and may still be among the ancestors of others.
    gone: Vec<NodeId>,
    stretches: Vec<VecDeque<Stretch>>,
    alive: usize,
    /// How many nodes were ever made.
    pub(super) allocated: u64,
    /// The most nodes that were alive at a time.
    pub(super) most_alive: usize,
    /// Beyond this many nodes alive, they are condensed.
    crowded_at: usize,
    worklist: Vec<NodeId>,
}

impl Graph {
    pub(super) fn new(config: Config) -> Graph {
        Graph {
            config,
            nodes: Vec::new(),
            free: Vec::new(),
            gone: Vec::new(),
            stretches: Vec::new(),
            alive: 0,
            allocated: 0,
            most_alive: 0,
            crowded_at: config.crowd,
            worklist: Vec::new(),
        }
    }

    /// Makes sure that the lane is there.
    pub(super) fn add_lane(&mut self, lane: Lane) {
        while self.stretches.len() <= lane.index() {
            self.stretches.push(VecDeque::new());
        }
    }

    /// Whether nothing of the lane can be on a cycle any more.
    pub(super) fn is_settled(&self, lane: Lane) -> bool {
        self.stretches[lane.index()].iter().all(|stretch| match stretch.place {
            Place::Node(_) => false,
            Place::After(step) => self.node_of(step).is_none(),
        })
    }

    /// The node of a step, unless it was collected.
    pub(super) fn node_of(&self, step: Step) -> Option<NodeId> {
        if step.is_none() {
            return None;
        }
        let stretches = &self.stretches[step.lane().index()];
        let found = stretches.iter().rev().find(|stretch| stretch.begin <= step.time())?;
        match found.place {
            Place::Node(node) => Some(node),
            Place::After(_) => None,
        }
    }

    /// The step that stands for a time of a thread: itself, the step it was merged with, or none when
    /// it cannot be on a cycle.
    pub(super) fn step_at(&self, lane: Lane, time: u64) -> Step {
        let stretches = &self.stretches[lane.index()];
        match stretches.iter().rev().find(|stretch| stretch.begin <= time) {
            None => Step::NONE,
            Some(Stretch { place: Place::Node(_), .. }) => Step::new(lane, time),
            Some(Stretch { place: Place::After(step), .. }) => {
                if self.node_of(*step).is_some() {
                    *step
                } else {
                    Step::NONE
                }
            }
        }
    }

    /// The step that stands for a time that the thread has not reported anything about: the first of
    /// a transaction, or an operation outside.
    pub(super) fn tentative_step(&mut self, lane: Lane, time: u64) -> Step {
        let stretches = &self.stretches[lane.index()];
        let mut waiting = 0;
        for stretch in stretches.iter().rev() {
            match stretch.place {
                Place::Node(node) if self.nodes[node.index()].state == State::Tentative => {
                    if stretch.begin == time {
                        return Step::new(lane, time);
                    }
                    waiting += 1;
                }
                Place::Node(_) | Place::After(_) => break,
            }
        }
        if waiting >= MOST_TENTATIVE {
            self.settle(lane, Some(time));
        }
        let last = self.last_settled(lane, time);
        let node = self.add_node(lane, time, State::Tentative);
        if !last.is_none() {
            self.order(last, node, time);
        }
        Step::new(lane, time)
    }

    /// The last step of the thread before this time that is not tentative.
    fn last_settled(&self, lane: Lane, time: u64) -> Step {
        let mut limit = time;
        for stretch in self.stretches[lane.index()].iter().rev() {
            if self.is_tentative(stretch) {
                limit = limit.min(stretch.begin);
            } else {
                return self.step_at(lane, stretch.begin.max(limit.saturating_sub(1)));
            }
        }
        Step::NONE
    }

    fn is_tentative(&self, stretch: &Stretch) -> bool {
        match stretch.place {
            Place::Node(node) => self.nodes[node.index()].state == State::Tentative,
            Place::After(_) => false,
        }
    }

    /// The thread did something outside of transactions, or begins one at `transaction`: whatever is
    /// tentative before is over. Returns the node that is made of what is not before.
    pub(super) fn settle(&mut self, lane: Lane, transaction: Option<u64>) -> Option<NodeId> {
        let stretches = &self.stretches[lane.index()];
        if !stretches.back().is_some_and(|last| self.is_tentative(last)) {
            return None;
        }
        let tentative = stretches.iter().filter(|stretch| self.is_tentative(stretch));
        let tentative: Vec<Stretch> = tentative.copied().collect();
        let limit = transaction.unwrap_or(u64::MAX);
        let mut first: Option<NodeId> = None;
        for stretch in tentative {
            let Place::Node(node) = stretch.place else { continue };
            if stretch.begin < limit {
                self.nodes[node.index()].state = State::Finished;
                self.finish(node);
            } else if let Some(first) = first {
                self.unite(first, node);
            } else {
                // The transaction begins before the step that was the first to be known of it.
                for edge in &mut self.nodes[node.index()].incoming {
                    edge.at = limit;
                    if edge.source.lane() == lane {
                        edge.source = Step::new(lane, edge.source.time().min(limit - 1));
                    }
                }
                let stretches = self.stretches[lane.index()].iter_mut();
                stretches.filter(|found| found.place == stretch.place).for_each(|found| {
                    found.begin = limit;
                });
                first = Some(node);
            }
        }
        first
    }

    /// Makes one node of two that turn out to be one transaction. The second has no edges in but the
    /// one from the operation before, which the first has too.
    fn unite(&mut self, first: NodeId, second: NodeId) {
        self.replace(second, first);
        self.merge_blocks(first, second);
        let lane = self.nodes[second.index()].lane;
        self.stretches[lane.index()].retain(|stretch| stretch.place != Place::Node(second));
        let bit = second.index();
        for node in &mut self.nodes {
            if node.ancestors.remove(bit) {
                node.ancestors.insert(first.index());
            }
        }
        self.release(second);
    }

    /// One node is to stand for another too: unless both execute the same block, nobody knows any more which
    /// one a step of it was in.
    fn merge_blocks(&mut self, kept: NodeId, gone: NodeId) {
        if self.nodes[kept.index()].block != self.nodes[gone.index()].block {
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
    pub(super) fn begin(&mut self, lane: Lane, time: u64, block: Block) -> NodeId {
        if let Some(node) = self.settle(lane, Some(time)) {
            self.nodes[node.index()].state = State::Running;
            self.nodes[node.index()].block = block;
            return node;
        }
        let last = self.last_settled(lane, time);
        let node = self.add_node(lane, time, State::Running);
        self.nodes[node.index()].block = block;
        if !last.is_none() {
            self.order(last, node, time);
        }
        node
    }

    /// The transaction of the thread, which is in one.
    pub(super) fn running(&self, lane: Lane) -> Option<NodeId> {
        match self.stretches[lane.index()].back()?.place {
            Place::Node(node) => Some(node),
            Place::After(_) => None,
        }
    }

    /// A transaction ends.
    pub(super) fn end(&mut self, node: NodeId) {
        self.nodes[node.index()].state = State::Finished;
        self.finish(node);
    }

    /// An operation outside of transactions that comes after `sources`. Returns the step that stands
    /// for it.
    pub(super) fn outside(
        &mut self,
        lane: Lane,
        time: u64,
        is_new_epoch: bool,
        sources: &[(Step, Label)],
    ) -> Step {
        let last = self.last_settled(lane, time);
        if !self.config.merge {
            // What a thread does in one epoch is not told apart, and only the first of it can come after
            // something new.
            let last_begin = self.stretches[lane.index()].back().map(|last| last.begin);
            let is_dead = |(step, _): &(Step, Label)| self.node_of(*step).is_none();
            if last_begin == Some(time) || (!is_new_epoch && sources.iter().all(is_dead)) {
                return self.step_at(lane, time);
            }
            return self.unary(lane, time, last, sources);
        }
        let mut others = sources.iter().filter_map(|(step, _)| Some((*step, self.node_of(*step)?)));
        let Some(last_node) = self.node_of(last) else {
            // Nothing of the thread itself is left: the operation can be part of what it comes after,
            // if that is one node, and over.
            let Some((first, node)) = others.next() else { return Step::NONE };
            let mut latest = first;
            for (step, other) in others {
                if other != node {
                    return self.unary(lane, time, last, sources);
                }
                latest = latest.max(step);
            }
            return self.outside_after(lane, time, latest, node, last, sources);
        };
        if last.lane() == lane {
            let ancestors = &self.nodes[last_node.index()].ancestors;
            if others.all(|(_, node)| node == last_node || ancestors.contains(node.index())) {
                for (step, label) in sources {
                    self.add_edge(*step, last_node, time, *label);
                }
                return Step::new(lane, time);
            }
            return self.unary(lane, time, last, sources);
        }
        // The last operation was merged into a node of another thread.
        let mut latest = last;
        for (step, node) in others {
            if node != last_node {
                return self.unary(lane, time, last, sources);
            }
            latest = latest.max(step);
        }
        self.outside_after(lane, time, latest, last_node, last, sources)
    }

    fn outside_after(
        &mut self,
        lane: Lane,
        time: u64,
        latest: Step,
        node: NodeId,
        last: Step,
        sources: &[(Step, Label)],
    ) -> Step {
        if self.nodes[node.index()].state != State::Finished {
            // A transaction that goes on may still receive edges, and this operation must not.
            return self.unary(lane, time, last, sources);
        }
        if latest.lane() == lane {
            return Step::new(lane, time);
        }
        if latest != last {
            self.forget_settled(lane);
            let place = Place::After(latest);
            self.stretches[lane.index()].push_back(Stretch { begin: time, place });
        }
        latest
    }

    /// Drops stretches that were merged elsewhere and matter no more.
    fn forget_settled(&mut self, lane: Lane) {
        let mut elsewhere = 0;
        while let Some(Stretch { place: Place::After(step), .. }) =
            self.stretches[lane.index()].front()
            && self.node_of(*step).is_none()
        {
            self.stretches[lane.index()].pop_front();
        }
        for stretch in self.stretches[lane.index()].iter().rev() {
            match stretch.place {
                Place::Node(_) => break,
                Place::After(_) => elsewhere += 1,
            }
        }
        if elsewhere >= MOST_STRETCHES_ELSEWHERE {
            self.stretches[lane.index()].pop_back();
        }
    }

    /// A node of its own for an operation outside of transactions.
    fn unary(&mut self, lane: Lane, time: u64, last: Step, sources: &[(Step, Label)]) -> Step {
        self.forget_settled(lane);
        let node = self.add_node(lane, time, State::Running);
        if !last.is_none() {
            self.order(last, node, time);
        }
        for (step, label) in sources {
            self.add_edge(*step, node, time, *label);
        }
        self.nodes[node.index()].state = State::Finished;
        self.collect_if_unreached(node);
        self.step_at(lane, time)
    }

    /// Adds the edge from the operation before of the same thread.
    fn order(&mut self, last: Step, node: NodeId, time: u64) {
        self.add_edge(last, node, time, Label::of_nodes(Subject::Order));
    }

    fn is_redundant(&self, source: Step, target: NodeId) -> bool {
        // A later step of the same thread comes after this one; that there is an edge from it already
        // says more, of the nodes as of the operations.
        let mut known = self.nodes[target.index()].incoming.iter().rev();
        known
            .find(|edge| edge.source.lane() == source.lane() && edge.at != PATH_OF_NODES)
            .is_some_and(|edge| edge.source.time() >= source.time())
    }

    /// Adds an edge into a node at a time of its thread that is not before that of any other edge into
    /// it. Edges that close a cycle are added too: what follows is judged by the whole run.
    pub(super) fn add_edge(
        &mut self,
        source: Step,
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
            self.thin_out(target);
        }
        let closes = self.nodes[from.index()].ancestors.contains(target.index());
        add_once(&mut self.nodes[from.index()].outgoing, target);
        self.spread(from, target);
        if closes { Added::Cycle } else { Added::Edge }
    }

    /// Leaves of each source thread only the latest edges. The others help to find the innermost
    /// block to blame; the nodes they come from have a path to the later ones.
    fn thin_out(&mut self, target: NodeId) {
        let mut incoming = std::mem::take(&mut self.nodes[target.index()].incoming);
        let mut kept: Vec<(Lane, usize)> = Vec::new();
        let mut keep: Vec<bool> = incoming
            .iter()
            .rev()
            .map(|edge| {
                let lane = edge.source.lane();
                match kept.iter_mut().find(|(known, _)| *known == lane) {
                    Some((_, count)) => {
                        *count += 1;
                        *count <= KEPT_OF_ONE_THREAD
                    }
                    None => {
                        kept.push((lane, 1));
                        true
                    }
                }
            })
            .collect();
        incoming.retain(|_| keep.pop().unwrap_or(true));
        self.nodes[target.index()].incoming = incoming;
    }

    /// Everything that reaches `from` now reaches `target` and all that is reached from there.
    fn spread(&mut self, from: NodeId, target: NodeId) {
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

    fn add_node(&mut self, lane: Lane, begin: u64, state: State) -> NodeId {
        if self.alive >= self.crowded_at && self.config.collect {
            self.condense();
            self.crowded_at = (2 * self.alive).max(self.config.crowd);
        }
        self.allocated += 1;
        self.alive += 1;
        self.most_alive = self.most_alive.max(self.alive);
        if self.free.is_empty() && self.gone.len() >= GONE_TOGETHER {
            self.forget_gone();
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node {
                state: State::Free,
                lane,
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
        node.lane = lane;
        node.number = self.allocated;
        node.block = SiteId(0);
        // Tentative steps are not reported in the order of their times.
        let stretches = &mut self.stretches[lane.index()];
        let after = stretches.iter().rev().take_while(|stretch| stretch.begin > begin).count();
        stretches.insert(stretches.len() - after, Stretch { begin, place: Place::Node(id) });
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
        let lane = self.nodes[node.index()].lane;
        let stretches = &self.stretches[lane.index()];
        let Some(at) = stretches.iter().rposition(|stretch| stretch.place == Place::Node(node))
        else {
            return;
        };
        let Some(Stretch { place: Place::Node(previous), .. }) =
            at.checked_sub(1).and_then(|before| stretches.get(before)).copied()
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
        self.stretches[lane.index()].remove(at);
        self.release(node);
    }

    /// Nobody asks whether a node that is gone is an ancestor, so it is enough to forget it before its
    /// number is used again, together with others.
    #[cold]
    fn forget_gone(&mut self) {
        let mut gone = NodeSet::default();
        for id in &self.gone {
            gone.insert(id.index());
        }
        for node in &mut self.nodes {
            node.ancestors.remove_all(&gone);
        }
        self.free.append(&mut self.gone);
    }

    fn release(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.index()];
        node.state = State::Free;
        node.incoming.clear();
        node.outgoing.clear();
        node.ancestors.clear();
        self.gone.push(id);
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
        let lane = self.nodes[id.index()].lane;
        let stretches = &mut self.stretches[lane.index()];
        let Some(at) = stretches.iter().position(|stretch| stretch.place == Place::Node(id)) else {
            return;
        };
        // Everything of the thread before is collected too.
        stretches.remove(at);
        let limit = stretches.get(at).map_or(u64::MAX, |next| next.begin);
        let outgoing = std::mem::take(&mut self.nodes[id.index()].outgoing);
        for target in &outgoing {
            let is_gone = |step: Step| step.lane() == lane && step.time() < limit;
            self.nodes[target.index()].incoming.retain(|edge| !is_gone(edge.source));
            pending.push(*target);
        }
        self.keep_capacity(id, outgoing);
        self.release(id);
    }

    /// Makes room when many nodes are alive.
    ///
    /// Cycles are closed by edges into transactions that are not over. So all that matters of a node
    /// that is over is from which of those it can be reached, and after which of their steps. Its
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
        let mut scratch = Scratch::new(self.nodes.len(), self.stretches.len());
        for id in oldest_first {
            self.straighten(id, &mut scratch);
        }
        if self.config.merge {
            for lane in 0..self.stretches.len() {
                self.condense_lane(lane, &not_over, &mut scratch);
            }
        }
        self.rebuild(&mut scratch);
        for at in 0..self.nodes.len() {
            self.collect_if_unreached(NodeId(at as u32));
        }
    }

    /// Replaces the edges into a node that is over by edges straight from transactions that are not.
    fn straighten(&mut self, id: NodeId, scratch: &mut Scratch) {
        let incoming = std::mem::take(&mut self.nodes[id.index()].incoming);
        let mut found: Vec<Edge> = std::mem::take(&mut scratch.edges);
        let mut reached: Vec<Step> = std::mem::take(&mut scratch.steps);
        scratch.next();
        for edge in &incoming {
            let Some(source) = self.node_of(edge.source) else { continue };
            if !self.is_over(source) {
                if edge.at != PATH_OF_NODES {
                    scratch.add_later(&mut found, *edge, edge.at);
                }
                reached.push(edge.source);
            } else if scratch.is_straight[source.index()] {
                for root in &self.nodes[source.index()].incoming {
                    if edge.at != PATH_OF_NODES && root.at <= edge.source.time() {
                        scratch.add_later(&mut found, *root, edge.at);
                    }
                    reached.push(root.source);
                }
            } else {
                if edge.at != PATH_OF_NODES {
                    for root in blame::roots(self, edge.source, edge, true) {
                        scratch.add_later(&mut found, root, edge.at);
                    }
                }
                let roots = blame::roots(self, edge.source, edge, false);
                reached.extend(roots.iter().map(|root| root.source));
            }
        }
        for edge in &found {
            self.note_source(edge.source, scratch);
        }
        for source in reached.drain(..) {
            if self.note_source(source, scratch) {
                let label = Label::of_nodes(Subject::Omitted);
                found.push(Edge { source, at: PATH_OF_NODES, label });
            }
        }
        self.nodes[id.index()].incoming.clone_from(&found);
        found.clear();
        scratch.is_straight[id.index()] = true;
        (scratch.edges, scratch.steps) = (found, reached);
    }

    /// Whether the node of a step was not noted yet.
    fn note_source(&self, source: Step, scratch: &mut Scratch) -> bool {
        self.node_of(source).is_some_and(|node| scratch.note(node))
    }

    /// Makes one node of neighbours that are reached from the same transactions.
    fn condense_lane(&mut self, lane: usize, not_over: &NodeSet, scratch: &mut Scratch) {
        let mut kept = VecDeque::with_capacity(self.stretches[lane].len());
        let mut stretches = self.stretches[lane].clone().into_iter();
        kept.extend(stretches.next());
        let mut gone = Vec::new();
        for stretch in stretches {
            let before = kept.back().map(|last: &Stretch| last.place);
            let (Some(Place::Node(first)), Place::Node(second)) = (before, stretch.place) else {
                kept.push_back(stretch);
                continue;
            };
            let (one, other) = (&self.nodes[first.index()], &self.nodes[second.index()]);
            let are_over = one.state == State::Finished && other.state == State::Finished;
            if are_over && one.ancestors.agree(&other.ancestors, not_over) {
                self.merge_straight(first, second, scratch);
                gone.push(second);
            } else {
                kept.push_back(stretch);
            }
        }
        self.stretches[lane] = kept;
        gone.into_iter().for_each(|id| self.release(id));
    }

    /// Adds the straight edges of a node to those of the one before it.
    fn merge_straight(&mut self, first: NodeId, second: NodeId, scratch: &mut Scratch) {
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
                    self.spread(source, target);
                }
            }
        }
    }

    /// Whether no more edges come into a node.
    pub(super) fn is_over(&self, node: NodeId) -> bool {
        self.nodes[node.index()].state == State::Finished
    }

    /// The place of the thread whose node it is.
    pub(super) fn lane_of(&self, node: NodeId) -> Lane {
        self.nodes[node.index()].lane
    }

    /// The outermost block of a transaction; the unknown site outside of blocks, and where it is not known.
    pub(super) fn block_of(&self, node: NodeId) -> Block {
        self.nodes[node.index()].block
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
    is_straight: Vec<bool>,
    /// For each node the turn in which it was noted.
    noted: Vec<u32>,
    /// For each lane the turn in which an edge from it was added, and where that is in the list.
    latest: Vec<(u32, usize)>,
    turn: u32,
    edges: Vec<Edge>,
    steps: Vec<Step>,
}

impl Scratch {
    fn new(nodes: usize, lanes: usize) -> Scratch {
        Scratch {
            is_straight: vec![false; nodes],
            noted: vec![0; nodes],
            latest: vec![(0, 0); lanes],
            turn: 0,
            edges: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Nothing is noted any more.
    fn next(&mut self) {
        self.turn += 1;
    }

    /// Whether a node was not noted yet.
    fn note(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.noted[node.index()], self.turn) != self.turn
    }

    fn note_latest(&mut self, source: Step, at: usize) {
        self.latest[source.lane().index()] = (self.turn, at);
    }

    /// Adds an edge that arrives at a time, not before those in the list, unless there is one from a later
    /// step of the same thread.
    fn add_later(&mut self, list: &mut Vec<Edge>, edge: Edge, at: u64) {
        let (turn, known) = self.latest[edge.source.lane().index()];
        let edge = Edge { at, ..edge };
        if turn == self.turn {
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
