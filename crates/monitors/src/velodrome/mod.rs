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
//!    ([`events::Action::Earlier`]) finds the transaction it was part of, running, finished or collected,
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

mod blame;
mod graph;
mod report;
mod trails;

use std::collections::BTreeSet;

use events::{
    Access, Action, Block, Epoch, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable,
};
use findings::Finding;
use rustc_hash::FxHashMap;

use crate::subject::Subject;
use crate::timeline::{Lane, Lanes, Step, Timeline};
use crate::{Monitor, Registration};
use graph::{Added, Graph, Label, NodeId};
use report::{Group, Violations};
use trails::{Barrier, Channel, Mark, Trails};

pub use report::Shape;

const RULE: &str = "not-serializable";

/// Its entry in the list of monitors.
pub const MONITOR: Registration = Registration {
    name: "velodrome",
    rules: &[RULE],
    on_by_default: true,
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

/// The monitor.
#[derive(Debug)]
pub struct Velodrome {
    graph: Graph,
    lanes: Lanes,
    threads: Vec<Thread>,
    variables: Trails<Variable>,
    locks: Trails<ObjectId>,
    channels: Trails<Channel>,
    barriers: FxHashMap<ObjectId, Barrier>,
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
            variables: Trails::default(),
            locks: Trails::default(),
            channels: Trails::default(),
            barriers: FxHashMap::default(),
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

    /// An operation that comes after those in `self.sources`. Returns the step that stands for it.
    fn operation(&mut self, event: &Event, subject: Subject) -> Step {
        let lane = self.lane(event.thread);
        self.start(lane);
        self.operation_in(lane, event.epoch, event.site, subject)
    }

    fn operation_in(&mut self, lane: Lane, epoch: Epoch, site: SiteId, subject: Subject) -> Step {
        let timeline = &mut self.threads[lane.index()].timeline;
        let before = timeline.now();
        let time = timeline.advance(epoch);
        let label = |mark: &Mark| Label { subject, from: mark.site, to: site };
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
            self.operation_in(lane, Epoch(0), SiteId(0), Subject::Thread);
            self.sources = others;
        }
    }

    fn look_at(&mut self, event: &Event, variable: Variable) {
        self.sources.clear();
        self.sources.extend(self.variables.get(&variable).map(|trail| trail.change));
        let step = self.operation(event, Subject::Variable(variable));
        self.variables.entry(variable, &self.graph).look(Mark { step, site: event.site });
    }

    fn change(&mut self, event: &Event, variable: Variable) {
        self.sources.clear();
        if let Some(trail) = self.variables.get(&variable) {
            self.sources.push(trail.change);
            self.sources.extend(trail.looks());
        }
        let step = self.operation(event, Subject::Variable(variable));
        self.variables.entry(variable, &self.graph).change(Mark { step, site: event.site });
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sources.clear();
        if let Some(trail) = self.locks.get(&lock) {
            self.sources.push(trail.change);
            match mode {
                Mode::Exclusive => self.sources.extend(trail.looks()),
                Mode::Shared => {}
            }
        }
        self.operation(event, Subject::Lock(lock));
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sources.clear();
        let step = self.operation(event, Subject::Lock(lock));
        let trail = self.locks.entry(lock, &self.graph);
        let mark = Mark { step, site: event.site };
        match mode {
            Mode::Exclusive => trail.change(mark),
            Mode::Shared => trail.look(mark),
        }
    }

    fn publish(&mut self, event: &Event, channel: Channel, subject: Subject) {
        self.sources.clear();
        let step = self.operation(event, subject);
        self.channels.entry(channel, &self.graph).look(Mark { step, site: event.site });
    }

    fn receive(&mut self, event: &Event, channel: Channel, subject: Subject) {
        self.sources.clear();
        if let Some(trail) = self.channels.get(&channel) {
            self.sources.extend(trail.looks());
        }
        self.operation(event, subject);
    }

    fn fork(&mut self, event: &Event, child: ThreadId) {
        self.sources.clear();
        let step = self.operation(event, Subject::Thread);
        let child = self.lane(child);
        self.threads[child.index()].started = Mark { step, site: event.site };
    }

    fn join(&mut self, event: &Event, child: ThreadId) {
        self.sources.clear();
        if let Some(child) = self.lanes.find(child) {
            self.start(child);
            if self.threads[child.index()].open.is_empty() {
                self.graph.settle(child, None);
            }
            let now = self.threads[child.index()].timeline.now();
            let step = self.graph.step_at(child, now);
            self.sources.clear();
            self.sources.push(Mark { step, site: SiteId(0) });
        }
        self.operation(event, Subject::Thread);
    }

    fn thread_end(&mut self, event: &Event) {
        self.sources.clear();
        self.operation(event, Subject::Thread);
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
            self.graph.begin(lane, time);
        }
        let block = OpenBlock { block: event.site, begin: time, waits: false };
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
        let trail = self.variables.entry(variable, &self.graph);
        let mark = Mark { step, site: event.site };
        match access {
            Access::Read => trail.look(mark),
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
        let mut interferes: Vec<SiteId> = Vec::new();
        for (at, edge) in path.edges.iter().enumerate() {
            if edge.label.subject != Subject::Order {
                interferes.extend((at > 0).then_some(edge.label.from));
                interferes.push(edge.label.to);
            }
        }
        interferes.push(closing.from);
        interferes.dedup();
        let shape = Shape {
            refuted: refuted.iter().map(|block| block.block).collect(),
            transaction: open.first().map_or(SiteId(0), |block| block.block),
            first: root.map_or(SiteId(0), |edge| edge.label.from),
            interferes,
            second: closing.to,
        };
        let group = Group {
            count: 1,
            waits: refuted.last().is_some_and(|block| block.waits),
            first: root.map_or(Subject::Thread, |edge| edge.label.subject),
            second: closing.subject,
        };
        self.violations.add(shape, group);
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
            Action::Earlier(access, variable) => self.earlier(event, access, variable),
            Action::Acquire(lock, mode) => self.acquire(event, lock, mode),
            Action::Release(lock, mode) => self.release(event, lock, mode),
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
                self.operation(event, Subject::Thread);
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
            Action::Publish(object) => {
                self.publish(event, Channel::Published(object), Subject::Object(object));
            }
            Action::Receive(object) => {
                self.receive(event, Channel::Published(object), Subject::Object(object));
            }
            Action::LatchDown(latch) => {
                self.publish(event, Channel::Latch(latch), Subject::Object(latch));
            }
            Action::LatchPass(latch) => {
                self.receive(event, Channel::Latch(latch), Subject::Object(latch));
            }
            Action::BarrierArrive(barrier) => {
                self.sources.clear();
                let step = self.operation(event, Subject::Object(barrier));
                let lane = self.lane(event.thread);
                let mark = Mark { step, site: event.site };
                self.barriers.entry(barrier).or_default().arrive(lane, mark);
            }
            Action::BarrierPass(barrier) => {
                let lane = self.lane(event.thread);
                self.sources.clear();
                self.sources.extend(self.barriers.entry(barrier).or_default().pass(lane));
                self.operation(event, Subject::Object(barrier));
            }
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
            Action::Escape(..) | Action::Branch(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.violations.findings(tables)
    }
}
