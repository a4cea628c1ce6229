//! Transactions that are not serializable: rule `not-serializable`.
//!
//! Implements "Velodrome: A Sound and Complete Dynamic Atomicity Checker for Multithreaded Programs":
//! the analysis of Figure 4 with collection (4.1), merging of what happens outside of transactions
//! (4.2) and blame (4.3).
//!
//! Property: a violation is reported iff the run, as far as it was observed, is not
//! conflict-serializable. Sound and complete for the observed run; says nothing of other runs. What was
//! not observed (library code without a model, native code) can hide violations and cannot make any.
//!
//! Deviations from the paper, with the reason:
//! 1. A step is a thread and a time of that thread in 64 bits, not a node and a time of that node. A node
//!    is a stretch of a thread's time, so that an access that is reported late
//!    ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) finds the transaction it was part of, running, finished or collected,
//!    and no table of past epochs is needed. Times are epochs: what a thread does in one epoch has
//!    the same edges before it.
//! 2. `merge` reuses a node only if it has finished, and only if no order between operations is lost
//!    or made up: the thread's own last node, if all else that the operation comes after reaches
//!    that, with edges for blame; or another thread's node, if nothing else comes before. The paper
//!    ignores operations when merging, and loses blame.
//! 3. Transactions that end are merged into the thread's last node by the same rule. When many nodes are
//!    alive all the same, because one long transaction keeps everything alive that comes after it,
//!    nodes that are over are condensed: what they are reached from is all that matters of them.
//! 4. Between two nodes there may be several edges, where the paper keeps the newest: all those that
//!    come from later and lead to later. So the increasing path with the latest root is found, and with
//!    it the innermost block, whatever was left out of the stream because it is redundant.
//! 5. Edges that close a cycle are kept. What comes after a violation is judged by the whole run, not by
//!    what is left of it. Cycles that nothing reaches are collected when
//!    nodes are condensed.
//! 6. Fork, join, tasks, volatile variables, locks held in shared mode, barriers, latches and the initialisation
//!    of classes give edges. `wait` is a release and an acquisition; a block that waits is reported as a
//!    note.
//! 7. A write forgets the reads before it: they come before the write.
//! 8. Publishing and receiving give no edges. A call of a concurrent collection publishes before it changes anything, and
//!    whoever comes in between receives that too early; the change stands for the whole call. What is
//!    ordered by permits alone can be missed.

mod blame;
mod graph;
mod report;
mod trails;
mod witness;

use std::collections::BTreeSet;

use events::{
    Access, Action, Block, Epoch, Event, Kind, Mode, ObjectId, SiteId, Tables, ThreadId, Variable,
};
use findings::Finding;

use crate::doing::{ContextId, Contexts, Doing};
use crate::subject::Subject;
use crate::table::{Key, Place, Table};
use crate::timeline::{Lane, Lanes, Step, Timeline};
use crate::verb::Verb;
use crate::{Monitor, Needs, Registration};
use graph::{Added, End, Graph, Label, NodeId};
use report::{Group, Violations};
use trails::{Barrier, Channel, Mark, Trail};
use witness::Chains;

pub use report::Shape;

const RULE: &str = "not-serializable";

/// Its entry in the list of monitors.
pub const MONITOR: Registration = Registration {
    name: "velodrome",
    rules: &[RULE],
    on_by_default: true,
    needs: Needs { locksets: false },
    start: || Box::new(Velodrome::new(Config::default())),
};

/// How much is kept. The verdicts are the same.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Whether operations outside of transactions become part of nodes that are there.
    pub merge: bool,
    /// Whether nodes are forgotten that cannot be on a cycle any more.
    pub collect: bool,
    /// How many nodes may be alive before those that are over are condensed: their findings name the
    /// ends of the cycle and not all that is in between.
    pub crowd: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { merge: true, collect: true, crowd: 128 }
    }
}

/// How many nodes a run took, as in Table 1 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Nodes that were made.
    pub allocated: u64,
    /// The most nodes that were alive at a time.
    pub most_alive: usize,
    /// Threads that there was room for: threads that have ended leave theirs to others.
    pub lanes: usize,
}

/// An atomic block that has begun and not ended.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: Block,
    begin: u64,
    /// Whether it gave a lock back to wait.
    waits: bool,
    /// This block and those around it.
    context: ContextId,
}

/// What is known of a thread.
#[derive(Debug, Default)]
struct Thread {
    timeline: Timeline,
    /// Outermost first.
    open: Vec<OpenBlock>,
    /// Where it was started, until it does something.
    started: Mark,
}

impl Thread {
    /// The blocks that are open.
    fn context(&self) -> ContextId {
        self.open.last().map_or(ContextId::OUTSIDE, |block| block.context)
    }

    /// The blocks that were open at an earlier time, as far as they still are.
    fn context_at(&self, time: u64) -> ContextId {
        let open = self.open.iter().rev().find(|block| block.begin <= time);
        open.map_or(ContextId::UNKNOWN, |block| block.context)
    }
}

/// The monitor.
#[derive(Debug)]
pub struct Velodrome {
    graph: Graph,
    lanes: Lanes,
    threads: Vec<Thread>,
    variables: Table<Trail>,
    /// Locks, tasks and the like.
    channels: Table<Trail>,
    barriers: Table<Barrier>,
    contexts: Contexts,
    violations: Violations,
    sources: Vec<Mark>,
    labelled: Vec<(Step, Label)>,
}

impl Velodrome {
    /// A monitor that has seen nothing yet.
    #[must_use]
    pub fn new(config: Config) -> Velodrome {
        Velodrome {
            graph: Graph::new(config),
            lanes: Lanes::default(),
            threads: Vec::new(),
            variables: Table::default(),
            channels: Table::default(),
            barriers: Table::default(),
            contexts: Contexts::default(),
            violations: Violations::default(),
            sources: Vec::new(),
            labelled: Vec::new(),
        }
    }

    /// How many operations closed a cycle.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.violations.count
    }

    /// The different shapes of the violations, with how often each was seen.
    pub fn shapes(&self) -> impl Iterator<Item = (&Shape, u64)> {
        self.violations.groups.iter().map(|(shape, group)| (shape, group.count))
    }

    /// The blocks that were found not to be self-serializable.
    #[must_use]
    pub fn refuted(&self) -> BTreeSet<Block> {
        self.shapes().flat_map(|(shape, _)| shape.refuted.iter().copied()).collect()
    }

    /// How many nodes it took.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics {
            allocated: self.graph.allocated,
            most_alive: self.graph.most_alive,
            lanes: self.lanes.len(),
        }
    }

    /// The lane of a thread, which gets one if it has none.
    fn lane(&mut self, thread: ThreadId) -> Lane {
        if let Some(lane) = self.lanes.find(thread) {
            return lane;
        }
        if let Some(lane) = self.lanes.reuse(thread, |lane| self.graph.is_settled(lane)) {
            let reused = &mut self.threads[lane.index()];
            reused.timeline.restart();
            reused.open.clear();
            reused.started = Mark::default();
            return lane;
        }
        let lane = self.lanes.add(thread);
        self.graph.add_lane(lane);
        self.threads.push(Thread::default());
        lane
    }

    /// An operation that comes after those in `self.sources`. Returns the step that stands for it, with what
    /// is done.
    fn operation(&mut self, event: &Event, subject: Subject) -> Mark {
        let lane = self.lane(event.thread);
        self.start(lane);
        let context = self.threads[lane.index()].context();
        let doing = Doing::new(Verb::of(event.action), event.site, context);
        let end = End { doing, thread: event.thread };
        let step = self.operation_in(lane, event.epoch, end, subject);
        Mark { step, end }
    }

    fn operation_in(&mut self, lane: Lane, epoch: Epoch, end: End, subject: Subject) -> Step {
        let timeline = &mut self.threads[lane.index()].timeline;
        let before = timeline.now();
        let time = timeline.advance(epoch);
        let label = |mark: &Mark| Label { subject, from: mark.end, to: end };
        if self.threads[lane.index()].open.is_empty() {
            self.graph.settle(lane, None);
            self.labelled.clear();
            self.labelled.extend(self.sources.iter().map(|mark| (mark.step, label(mark))));
            return self.graph.outside(lane, time, time > before, &self.labelled);
        }
        let Some(node) = self.graph.running(lane) else { return Step::NONE };
        for at in 0..self.sources.len() {
            let source = self.sources[at];
            let label = label(&source);
            if self.graph.add_edge(source.step, node, time, label) == Added::Cycle {
                self.violation(lane, node, source.step, label);
            }
        }
        Step::new(lane, time)
    }

    /// The first thing a thread does comes after the start of the thread.
    fn start(&mut self, lane: Lane) {
        let started = std::mem::take(&mut self.threads[lane.index()].started);
        if !started.step.is_none() {
            let others = std::mem::replace(&mut self.sources, vec![started]);
            let thread = self.lanes.thread(lane);
            let doing = Doing::new(Verb::of_kind(Kind::Begin), SiteId(0), ContextId::OUTSIDE);
            self.operation_in(lane, Epoch(0), End { doing, thread }, Subject::Thread(thread));
            self.sources = others;
        }
    }

    fn look_at(&mut self, event: &Event, variable: Variable) {
        self.make_room_for_variables();
        let place = self.variables.place(Key::from(variable));
        self.sources.clear();
        self.sources.extend(self.variables.at(place).map(|trail| trail.change));
        let mark = self.operation(event, Subject::Variable(variable));
        if !mark.step.is_none() {
            self.variables.entry_at(place).look(mark, &self.graph);
        }
    }

    fn change(&mut self, event: &Event, variable: Variable) {
        self.make_room_for_variables();
        let place = self.variables.place(Key::from(variable));
        self.sources.clear();
        if let Some(trail) = self.variables.at(place) {
            self.sources.push(trail.change);
            trail.add_looks_to(&mut self.sources);
        }
        let mark = self.operation(event, Subject::Variable(variable));
        // What cannot be on a cycle need not be remembered, but takes the place of what is.
        if !mark.step.is_none() || self.variables.at(place).is_some() {
            self.variables.entry_at(place).change(mark);
        }
    }

    fn make_room_for_variables(&mut self) {
        if self.variables.is_full() {
            self.variables.make_room(|trail| trail.prune(&self.graph));
        }
    }

    /// Where the trail of a channel is.
    fn channel(&mut self, channel: Channel) -> Place {
        if self.channels.is_full() {
            self.channels.make_room(|trail| trail.prune(&self.graph));
        }
        self.channels.place(channel.into())
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sources.clear();
        if let Some(trail) = self.channels.get(Channel::Lock(lock).into()) {
            self.sources.push(trail.change);
            match mode {
                Mode::Exclusive => trail.add_looks_to(&mut self.sources),
                Mode::Shared => {}
            }
        }
        self.operation(event, Subject::Lock(lock));
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sources.clear();
        let mark = self.operation(event, Subject::Lock(lock));
        let place = self.channel(Channel::Lock(lock));
        if mark.step.is_none() && self.channels.at(place).is_none() {
            return;
        }
        let trail = self.channels.entry_at(place);
        match mode {
            Mode::Exclusive => trail.change(mark),
            Mode::Shared => trail.look(mark, &self.graph),
        }
    }

    fn publish(&mut self, event: &Event, channel: Channel, subject: Subject) {
        self.sources.clear();
        let mark = self.operation(event, subject);
        if !mark.step.is_none() {
            let place = self.channel(channel);
            self.channels.entry_at(place).look(mark, &self.graph);
        }
    }

    fn receive(&mut self, event: &Event, channel: Channel, subject: Subject) {
        self.sources.clear();
        if let Some(trail) = self.channels.get(channel.into()) {
            trail.add_looks_to(&mut self.sources);
        }
        self.operation(event, subject);
    }

    fn arrive(&mut self, event: &Event, barrier: ObjectId) {
        self.sources.clear();
        let mark = self.operation(event, Subject::Object(barrier));
        let lane = self.lane(event.thread);
        if self.barriers.is_full() {
            self.barriers.make_room(|barrier| barrier.matters(&self.graph));
        }
        self.barriers.entry(Channel::Barrier(barrier).into()).arrive(lane, mark);
    }

    fn pass(&mut self, event: &Event, barrier: ObjectId) {
        let lane = self.lane(event.thread);
        self.sources.clear();
        let passed = self.barriers.entry(Channel::Barrier(barrier).into()).pass(lane);
        self.sources.extend(passed);
        self.operation(event, Subject::Object(barrier));
    }

    fn fork(&mut self, event: &Event, child: ThreadId) {
        self.sources.clear();
        let mark = self.operation(event, Subject::Thread(child));
        let child = self.lane(child);
        self.threads[child.index()].started = mark;
    }

    fn join(&mut self, event: &Event, child: ThreadId) {
        self.sources.clear();
        if let Some(lane) = self.lanes.find(child) {
            self.start(lane);
            if self.threads[lane.index()].open.is_empty() {
                self.graph.settle(lane, None);
            }
            let now = self.threads[lane.index()].timeline.now();
            let step = self.graph.step_at(lane, now);
            let end =
                End { doing: Doing::somewhere(Verb::of_kind(Kind::ThreadEnd)), thread: child };
            self.sources.clear();
            self.sources.push(Mark { step, end });
        }
        self.operation(event, Subject::Thread(child));
    }

    fn thread_end(&mut self, event: &Event) {
        self.sources.clear();
        self.operation(event, Subject::Thread(event.thread));
        let lane = self.lane(event.thread);
        while !self.threads[lane.index()].open.is_empty() {
            self.end(lane);
        }
        self.threads[lane.index()].timeline.end();
        self.lanes.end(lane);
    }

    fn begin(&mut self, event: &Event) {
        let lane = self.lane(event.thread);
        self.start(lane);
        let time = self.threads[lane.index()].timeline.advance(event.epoch);
        if self.threads[lane.index()].open.is_empty() {
            self.graph.begin(lane, time, event.site);
        }
        let around = self.threads[lane.index()].context();
        let context = self.contexts.enter(around, event.site);
        let block = OpenBlock { block: event.site, begin: time, waits: false, context };
        self.threads[lane.index()].open.push(block);
    }

    fn end(&mut self, lane: Lane) {
        let thread = &mut self.threads[lane.index()];
        if thread.open.pop().is_some()
            && thread.open.is_empty()
            && let Some(node) = self.graph.running(lane)
        {
            self.graph.end(node);
        }
    }

    /// An access that happened before and receives no edge.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        // A thread without a lane has ended, and all it did cannot be on a cycle any more.
        let Some(lane) = self.lanes.find(event.thread) else { return };
        self.start(lane);
        let thread = &mut self.threads[lane.index()];
        let time = thread.timeline.past(event.epoch);
        let is_unknown = time > thread.timeline.now() && thread.open.is_empty();
        let step = if is_unknown && !thread.timeline.has_ended() {
            self.graph.tentative_step(lane, time)
        } else {
            self.graph.step_at(lane, time)
        };
        if step.is_none() {
            return;
        }
        let context = self.threads[lane.index()].context_at(time);
        let doing = Doing::new(Verb::of(event.action), event.site, context);
        let mark = Mark { step, end: End { doing, thread: event.thread } };
        self.make_room_for_variables();
        let trail = self.variables.entry(Key::from(variable));
        match access {
            Access::Read => trail.look(mark, &self.graph),
            Access::Write => {
                let known = trail.change.step;
                if known.lane() != step.lane() || known.time() < step.time() {
                    trail.change = mark;
                }
            }
        }
    }

    fn violation(&mut self, lane: Lane, node: NodeId, source: Step, closing: Label) {
        let path = blame::path(&self.graph, node, source);
        let open = &self.threads[lane.index()].open;
        let root = path.edges.first();
        let until = match root {
            Some(root) if path.is_increasing => root.source.time(),
            Some(_) | None => 0,
        };
        let refuted: Vec<OpenBlock> =
            open.iter().filter(|block| block.begin <= until).copied().collect();
        let mut interferes: Vec<(End, Subject)> = Vec::new();
        for (at, edge) in path.edges.iter().enumerate() {
            if edge.label.has_ends() {
                interferes.extend((at > 0).then_some((edge.label.from, edge.label.subject)));
                interferes.push((edge.label.to, edge.label.subject));
            }
        }
        interferes.push((closing.from, closing.subject));
        interferes.dedup_by_key(|(end, _)| end.doing.site);
        let shape = Shape {
            refuted: refuted.iter().map(|block| block.block).collect(),
            transaction: open.first().map_or(SiteId(0), |block| block.block),
            first: root.map_or(SiteId(0), |edge| edge.label.from.doing.site),
            interferes: interferes.iter().map(|(end, _)| end.doing.site).collect(),
            second: closing.to.doing.site,
        };
        let waits = refuted.last().is_some_and(|block| block.waits);
        if self.violations.count(&shape, waits) {
            let first = self.threads[lane.index()].context_at(until);
            let (graph, lanes, contexts) = (&self.graph, &self.lanes, &self.contexts);
            let chains = Chains { graph, lanes, contexts };
            let chain = chains.chain(node, &path, source, closing, first);
            self.violations.groups.insert(shape, Group { count: 1, waits, interferes, chain });
        }
    }
}

impl Monitor for Velodrome {
    fn event(&mut self, event: &Event) {
        match event.action {
            Action::Read(variable) | Action::VolatileRead(variable) => {
                self.look_at(event, variable);
            }
            Action::Write(variable)
            | Action::VolatileWrite(variable)
            | Action::AtomicUpdate(variable) => self.change(event, variable),
            Action::EarlierRead(variable) => self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => self.earlier(event, Access::Write, variable),
            Action::Acquire(lock) => self.acquire(event, lock, Mode::Exclusive),
            Action::AcquireShared(lock) => self.acquire(event, lock, Mode::Shared),
            Action::Release(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ReleaseShared(lock) => self.release(event, lock, Mode::Shared),
            Action::Wait(lock) => {
                self.release(event, lock, Mode::Exclusive);
                let lane = self.lane(event.thread);
                self.threads[lane.index()].open.iter_mut().for_each(|block| block.waits = true);
            }
            Action::Woken(lock) => self.acquire(event, lock, Mode::Exclusive),
            // Who notifies holds the lock, and the edge is the lock's.
            Action::Notify(_) | Action::NotifyAll(_) => {}
            Action::ThreadBegin => {
                self.sources.clear();
                self.operation(event, Subject::Thread(event.thread));
            }
            Action::ThreadEnd => self.thread_end(event),
            Action::Fork(child) => self.fork(event, child),
            Action::Join(child) => self.join(event, child),
            Action::Submit(task) => {
                self.publish(event, Channel::Submitted(task), Subject::Object(task));
            }
            Action::TaskBegin(task) => {
                self.receive(event, Channel::Submitted(task), Subject::Object(task));
            }
            Action::TaskEnd(task) => {
                self.publish(event, Channel::Ended(task), Subject::Object(task));
            }
            Action::TaskJoin(task) => {
                self.receive(event, Channel::Ended(task), Subject::Object(task));
            }
            Action::LatchDown(latch) => {
                self.publish(event, Channel::Latch(latch), Subject::Object(latch));
            }
            Action::LatchPass(latch) => {
                self.receive(event, Channel::Latch(latch), Subject::Object(latch));
            }
            Action::BarrierArrive(barrier) => self.arrive(event, barrier),
            Action::BarrierPass(barrier) => self.pass(event, barrier),
            Action::ClassInitialised(class) => {
                self.publish(event, Channel::Class(class), Subject::Class(class));
            }
            Action::ClassUsed(class) => {
                self.receive(event, Channel::Class(class), Subject::Class(class));
            }
            Action::Begin => self.begin(event),
            Action::End => {
                let lane = self.lane(event.thread);
                self.threads[lane.index()].timeline.advance(event.epoch);
                self.end(lane);
            }
            Action::Publish(_) | Action::Receive(_) | Action::Escape(..) | Action::Branch(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.violations.findings(tables, &self.contexts)
    }
}
