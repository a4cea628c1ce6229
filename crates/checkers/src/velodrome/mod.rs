//! Transactions that are not serializable: rule `not-serializable`.
//!
//! Implements "Velodrome: A Sound and Complete Dynamic Atomicity Checker for Multithreaded Programs":
//! the analysis of Figure 4 with collection (4.1), merging of what happens outside of transactions
//! (4.2) and blame (4.3).
//!
//! Property: a violation is reported iff the run, as far as it was observed, is not
//! conflict-serializable. Sound and complete for the observed run; says nothing about other runs. What was
//! not observed (library code without a model, native code) can hide violations, but causes no false ones.
//!
//! An edge needs the order of two operations, and the stream has the order of their reports. For monitors and
//! whatever is reported while one is held these are the same. An operation on a volatile variable, an atomic or a
//! library object is an interval (`intervals.rs`). Of two conflicting intervals that overlap, the order is unknown, and there
//! is an edge in neither direction. So the property is, precisely: let X and Y of different threads
//! conflict, and X be *certainly before* Y iff the interval of X ends before that of Y begins. A violation is reported
//! iff the transactions of the run form a cycle of edges that are the order of a thread, or lead from an
//! operation to one that it is certainly before. Each such edge is an order that the run had, whatever the unknown orders
//! were; so a cycle of them is a violation in each of them. What may be a cycle with an unknown order is counted and not
//! reported. Ordinary accesses that race are taken in the order of their reports, which is not always that of the accesses.
//!
//! Deviations from the paper, with the reason:
//! 1. A step of the paper is a `ThreadTime`, a thread and a time of that thread, not a node and a time of
//!    that node. A node is an interval of a thread's time, so that an access that is reported late
//!    ([`events::Action::EarlierRead`], [`events::Action::EarlierWrite`]) finds the transaction it was part of, running, finished or collected,
//!    and no table of past epochs is needed. Times are epochs: what a thread does in one epoch has
//!    the same edges before it.
//! 2. `merge` reuses a node only if it has finished, and only if no order between operations is lost
//!    or made up: the thread's own last node, if all else that the operation comes after reaches
//!    that, with edges for blame; or another thread's node, if nothing else comes before. The paper
//!    ignores operations when merging, and loses blame.
//! 3. Transactions that end are merged into the thread's last node by the same rule. When many nodes are
//!    still alive, because one long transaction keeps everything alive that comes after it,
//!    nodes that are over are condensed: what they are reached from is all that matters of them.
//! 4. Between two nodes there may be several edges, where the paper keeps the newest: all those that
//!    come from later and lead to later. So the increasing path with the latest root is found, and with
//!    it the innermost block, whatever was left out of the stream because it is redundant.
//! 5. Edges that close a cycle are kept. What comes after a violation is judged by the whole run, not by
//!    what is left of it. Cycles that nothing reaches are collected when
//!    nodes are condensed.
//! 6. Fork, join, tasks, volatile variables, locks held in shared mode, barriers, latches and the initialisation
//!    of classes give edges. `wait` is a release and an acquisition. Where a thread starts another or waits for one, its
//!    blocks are cut (`cuts.rs`).
//! 7. A write forgets the reads before it: they come before the write.
//! 8. Publishing and receiving give no edges. A call of a concurrent collection publishes before it changes anything, and
//!    a thread that runs in between receives that too early; the change represents the whole call. Violations
//!    that depend on permits alone can be missed.
//! 9. An entry of a concurrent collection is a variable, and so is the collection as a whole: its size, iteration and what
//!    changes all of it. Calls that are about one entry do not conflict with those that are about the whole, although they
//!    may change the size: two threads that insert different keys would conflict over it. So a block that
//!    looks at the size and then inserts is not found to be split.
//! 10. Additions to an atomic whose results nobody looks at commute, and do not conflict with each other: a counter of requests
//!     is no reason why a request is not atomic.
//! 11. Blocks that have begun since the last edge that leaves their thread cannot be refuted by a cycle that is closed
//!     now. Once all the others that are open are refuted, and the innermost of them a thousand times, a further cycle is
//!     counted and no path is searched for: it could refute nothing new, only show other operations that do so.

mod access_history;
mod benign;
mod blame;
mod graph;
mod intervals;
mod reliance;
mod report;
mod witness;

use std::collections::BTreeSet;

use events::{
    Access, Action, Block, Epoch, Event, Kind, Mode, ObjectId, SiteId, Tables, ThreadId, Variable,
};
use findings::Finding;
use rustc_hash::FxHashMap;

use crate::cuts::{CutBlocks, is_inserted};
use crate::operation_at::{ContextId, Contexts, OperationAt};
use crate::subject::Subject;
use crate::table::{Key, Position, Table};
use crate::timeline::{ThreadSlot, ThreadSlots, ThreadTime, Timeline};
use crate::verb::Verb;
use crate::{Checker, NeededAccesses, Needs, Registration};
use access_history::{AccessHistory, Barrier, HistoryKey, TimedOperation};
use benign::{DoubtfulViolation, Look, MeetingAccess, NewViolation, ReadSince, Touched};
use blame::{Path, PathSearch};
use graph::{Added, Edge, Endpoint, Graph, Label, NodeId};
use intervals::{Interval, Use};
use reliance::Sections;
use report::{Group, Violations};
use witness::CycleBuilder;

pub use report::Shape;

const RULE: &str = "not-serializable";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "velodrome",
    rules: &[RULE],
    on_by_default: true,
    needs: Needs {
        accesses: NeededAccesses::InOrder,
        nested_blocks: true,
        order: false,
        speculation: false,
    },
    looks_into_libraries: false,
    start: |_| Box::new(CutBlocks::new(Velodrome::new(Config::default()))),
};

/// How much state is kept. The findings do not depend on it, but for `kept_intervals`.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Whether operations outside of transactions are merged into existing nodes.
    pub merge: bool,
    /// Whether nodes are collected that cannot be on a cycle any more.
    pub collect: bool,
    /// How many nodes may be alive before those that are over are condensed: their findings name the
    /// ends of the cycle and not all that is in between.
    pub condense_above: usize,
    /// How many operations on a variable are kept at least, once some of them are intervals. A violation that depends on
    /// an older one, because all later ones overlap the operation that completes it, is missed.
    pub kept_intervals: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { merge: true, collect: true, condense_above: 128, kept_intervals: 8 }
    }
}

/// How many nodes a run needed, as in Table 1 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Nodes that were made.
    pub allocated: u64,
    /// The most nodes that were alive at a time.
    pub most_alive: usize,
    /// The number of thread slots; those of ended threads are reused.
    pub slots: usize,
}

/// An atomic block that has begun and not ended.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: Block,
    begin: u64,
    /// This block and those around it.
    context: ContextId,
}

/// The state of a thread.
#[derive(Debug, Default)]
struct Thread {
    timeline: Timeline,
    /// Outermost first.
    open: Vec<OpenBlock>,
    /// Where it was started, until it does something.
    started: TimedOperation,
    /// Violations of its open blocks that may turn out to do no harm.
    doubtful: Vec<DoubtfulViolation>,
    /// When its transaction last looked at variables that need no lock.
    looks: FxHashMap<Variable, Look>,
    /// The locks that it holds, and those that its transaction has held.
    sections: Sections,
    /// What its transaction has read and written.
    touched: Touched,
}

/// Beyond this many violations in doubt at a time, a thread's further ones are taken to do harm.
const MOST_DOUBTFUL: usize = 64;

/// Beyond this many variables in one transaction, looks at others are not remembered: none of them is known to be one of a loop.
const MOST_LOOKS: usize = 1024;

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

    /// The transaction has read or changed a variable that needs no lock.
    fn look(&mut self, access: Use, variable: Variable, site: SiteId) {
        if self.open.is_empty() {
            return;
        }
        let now = self.timeline.now();
        if self.looks.len() == MOST_LOOKS && !self.looks.contains_key(&variable) {
            return;
        }
        let look =
            self.looks.entry(variable).or_insert(Look { read: 0, read_at: SiteId(0), written: 0 });
        match access {
            Use::Read => (look.read, look.read_at) = (now, site),
            Use::Write | Use::Add => look.written = now,
        }
    }
}

/// The checker.
#[derive(Debug)]
pub struct Velodrome {
    graph: Graph,
    slots: ThreadSlots,
    threads: Vec<Thread>,
    variables: Table<AccessHistory>,
    /// Locks, tasks and the like.
    sync_histories: Table<AccessHistory>,
    barriers: Table<Barrier>,
    contexts: Contexts,
    violations: Violations,
    /// How many events there were.
    position: u64,
    /// How many operations may have closed a cycle with one that they overlapped.
    uncertain_cycles: u64,
    /// How many violations are in doubt, in all threads.
    doubtful: usize,
    sources: Vec<TimedOperation>,
    labelled: Vec<(ThreadTime, Label)>,
    paths: PathSearch,
}

impl Velodrome {
    /// A checker that has seen nothing yet.
    #[must_use]
    pub fn new(config: Config) -> Velodrome {
        Velodrome {
            graph: Graph::new(config),
            slots: ThreadSlots::default(),
            threads: Vec::new(),
            variables: Table::default(),
            sync_histories: Table::default(),
            barriers: Table::default(),
            contexts: Contexts::default(),
            violations: Violations::default(),
            position: 0,
            uncertain_cycles: 0,
            doubtful: 0,
            sources: Vec::new(),
            labelled: Vec::new(),
            paths: PathSearch::default(),
        }
    }

    /// How many operations closed a cycle.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.violations.count
    }

    /// The different shapes of the violations, with how often each was seen.
    pub fn shapes(&self) -> impl Iterator<Item = (&Shape, u64)> {
        self.violations.shapes()
    }

    /// The blocks that were found not to be self-serializable.
    #[must_use]
    pub fn refuted(&self) -> BTreeSet<Block> {
        self.violations.refuted.keys().copied().collect()
    }

    /// How many nodes were needed.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics {
            allocated: self.graph.allocated,
            most_alive: self.graph.most_alive,
            slots: self.slots.len(),
        }
    }

    /// The slot of a thread, which gets one if it has none.
    #[inline]
    fn slot(&mut self, thread: ThreadId) -> ThreadSlot {
        match self.slots.find(thread) {
            Some(slot) => slot,
            None => self.new_slot(thread),
        }
    }

    #[cold]
    fn new_slot(&mut self, thread: ThreadId) -> ThreadSlot {
        if let Some(slot) = self.slots.reuse(thread, |slot| self.graph.is_collected(slot)) {
            let reused = &mut self.threads[slot.index()];
            reused.timeline.restart();
            reused.open.clear();
            reused.sections = Sections::default();
            reused.started = TimedOperation::default();
            return slot;
        }
        let slot = self.slots.add(thread);
        self.graph.add_slot(slot);
        self.threads.push(Thread::default());
        slot
    }

    /// An operation that comes after those in `self.sources`. Returns the operation with the thread time that
    /// represents it.
    fn operation(&mut self, event: &Event, subject: Subject) -> TimedOperation {
        let slot = self.slot(event.thread);
        self.start(slot);
        let context = self.threads[slot.index()].context();
        let operation_at = OperationAt::new(Verb::of(event.action), event.site, context);
        let end = Endpoint { operation_at, thread: event.thread };
        let thread_time = self.operation_in(slot, event.epoch, end, subject);
        TimedOperation { thread_time, end }
    }

    fn operation_in(
        &mut self,
        slot: ThreadSlot,
        epoch: Epoch,
        end: Endpoint,
        subject: Subject,
    ) -> ThreadTime {
        let timeline = &mut self.threads[slot.index()].timeline;
        let before = timeline.now();
        let time = timeline.advance(epoch);
        let label = |operation: &TimedOperation| Label { subject, from: operation.end, to: end };
        if self.threads[slot.index()].open.is_empty() {
            self.graph.resolve_tentative(slot, None);
            self.labelled.clear();
            // What was collected orders nothing, and most sources are.
            let sources = self.sources.iter();
            let sources = sources.filter(|source| self.graph.node_of(source.thread_time).is_some());
            self.labelled
                .extend(sources.map(|operation| (operation.thread_time, label(operation))));
            return self.graph.operation_outside(slot, time, time > before, &self.labelled);
        }
        let Some(node) = self.graph.running(slot) else { return ThreadTime::NONE };
        if let Subject::Variable(variable) = subject
            && !self.threads[slot.index()].doubtful.is_empty()
            // The edge itself may be redundant: the lock has told of the order before.
            && self.sources.iter().any(|it| self.graph.would_close_cycle(it.thread_time, node))
        {
            let (verb, site) = (end.operation_at.verb(), end.operation_at.site);
            let access = MeetingAccess { variable, verb, site };
            let Thread { doubtful, touched, .. } = &mut self.threads[slot.index()];
            doubtful.iter_mut().for_each(|violation| violation.note_change(access, touched));
        }
        for at in 0..self.sources.len() {
            let source = self.sources[at];
            if !self.graph.is_in_other(source.thread_time, node) {
                continue;
            }
            let label = label(&source);
            if self.graph.add_edge(source.thread_time, node, time, label) == Added::Cycle {
                self.violation(slot, node, source.thread_time, label);
            }
        }
        ThreadTime::new(slot, time)
    }

    /// The first thing a thread does comes after the start of the thread.
    #[inline]
    fn start(&mut self, slot: ThreadSlot) {
        if !self.threads[slot.index()].started.thread_time.is_none() {
            self.start_after(slot);
        }
    }

    #[cold]
    fn start_after(&mut self, slot: ThreadSlot) {
        let started = std::mem::take(&mut self.threads[slot.index()].started);
        let others = std::mem::replace(&mut self.sources, vec![started]);
        let thread = self.slots.thread(slot);
        let operation_at =
            OperationAt::new(Verb::of_kind(Kind::Begin), SiteId(0), ContextId::OUTSIDE);
        let end = Endpoint { operation_at, thread };
        self.operation_in(slot, Epoch(0), end, Subject::Thread(thread));
        self.sources = others;
    }

    fn shared_access(&mut self, event: &Event, variable: Variable) {
        self.make_room_for_variables();
        let position = self.variables.position(Key::from(variable));
        if self.variables.at(position).is_some_and(AccessHistory::has_intervals) {
            return self.interval_at(event, Use::Read, variable, position);
        }
        self.sources.clear();
        self.sources.extend(self.variables.at(position).map(|history| history.exclusive));
        let operation = self.operation(event, Subject::Variable(variable));
        if !operation.thread_time.is_none() {
            self.touch(operation.thread_time.slot(), event, Access::Read, variable);
            self.variables.entry_at(position).add_shared(operation, &self.graph);
        }
    }

    /// The running transaction of a thread has read or written what others may use, too.
    fn touch(&mut self, slot: ThreadSlot, event: &Event, access: Access, variable: Variable) {
        let thread = &mut self.threads[slot.index()];
        if !thread.open.is_empty() {
            thread.touched.note(variable, access == Access::Write, event.site);
        }
    }

    fn exclusive(&mut self, event: &Event, variable: Variable) {
        self.make_room_for_variables();
        let position = self.variables.position(Key::from(variable));
        if self.variables.at(position).is_some_and(AccessHistory::has_intervals) {
            return self.interval_at(event, Use::Write, variable, position);
        }
        self.sources.clear();
        if let Some(history) = self.variables.at(position) {
            self.sources.push(history.exclusive);
            history.add_shared_to(&mut self.sources);
        }
        let operation = self.operation(event, Subject::Variable(variable));
        if !operation.thread_time.is_none() {
            self.touch(operation.thread_time.slot(), event, Access::Write, variable);
        }
        // An operation that cannot be on a cycle need not be stored, but replaces the stored one.
        if !operation.thread_time.is_none() || self.variables.at(position).is_some() {
            self.variables.entry_at(position).exclusive(operation);
        }
    }

    /// An access of which it is known in which interval it happened.
    fn interval(&mut self, event: &Event, access: Use, variable: Variable) {
        self.make_room_for_variables();
        let position = self.variables.position(Key::from(variable));
        self.interval_at(event, access, variable, position);
    }

    fn interval_at(&mut self, event: &Event, access: Use, variable: Variable, position: Position) {
        let begin = match event.overlaps {
            Event::OVERLAPS_ALL => 0,
            events => self.position.saturating_sub(u64::from(events)),
        };
        self.sources.clear();
        if let Some(history) = self.variables.at(position) {
            if let Some(intervals) = history.intervals() {
                intervals.add_certain_to(begin, access, &mut self.sources);
            }
            self.sources.push(history.exclusive);
            if access != Use::Read {
                history.add_shared_to(&mut self.sources);
            }
        }
        let violations = self.violations.count;
        let operation = self.operation(event, Subject::Variable(variable));
        if self.violations.count == violations && begin < self.position {
            self.count_uncertain(event.thread, begin, access, position);
        }
        if !operation.thread_time.is_none() {
            let interval = Interval { operation, access, begin, end: self.position };
            self.variables.entry_at(position).add_interval(interval, &self.graph);
        }
        let slot = self.slot(event.thread);
        // Who finds the value that it expects has read it once more.
        let looks_again = matches!(event.action, Action::AtomicSwap(_));
        let access = if looks_again { Use::Read } else { access };
        self.threads[slot.index()].look(access, variable, event.site);
    }

    /// Counts an operation that closes a cycle if it came after one that it overlapped.
    fn count_uncertain(&mut self, thread: ThreadId, begin: u64, access: Use, at: Position) {
        let slot = self.slot(thread);
        if self.threads[slot.index()].open.is_empty() {
            return;
        }
        let Some(node) = self.graph.running(slot) else { return };
        let intervals = self.variables.at(at).and_then(AccessHistory::intervals);
        let is_cycle = intervals.is_some_and(|intervals| {
            let mut overlapping = intervals.overlapping(begin, access);
            overlapping.any(|other| self.graph.would_close_cycle(other.thread_time, node))
        });
        self.uncertain_cycles += u64::from(is_cycle);
    }

    fn make_room_for_variables(&mut self) {
        if self.variables.is_full() {
            self.variables.make_room(|history| history.prune(&self.graph));
        }
    }

    /// Where the history of a channel is.
    fn key(&mut self, key: HistoryKey) -> Position {
        if self.sync_histories.is_full() {
            self.sync_histories.make_room(|history| history.prune(&self.graph));
        }
        self.sync_histories.position(key.into())
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sources.clear();
        if let Some(history) = self.sync_histories.get(HistoryKey::Lock(lock).into()) {
            self.sources.push(history.exclusive);
            match mode {
                Mode::Exclusive => history.add_shared_to(&mut self.sources),
                Mode::Shared => {}
            }
        }
        self.operation(event, Subject::Lock(lock));
        let slot = self.slot(event.thread);
        let thread = &mut self.threads[slot.index()];
        if !thread.open.is_empty() {
            thread.sections.acquire((lock, event.site), thread.timeline.now());
        }
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sources.clear();
        let operation = self.operation(event, Subject::Lock(lock));
        let slot = self.slot(event.thread);
        let thread = &mut self.threads[slot.index()];
        if !thread.open.is_empty() {
            thread.sections.release(lock, thread.timeline.now());
        }
        let position = self.key(HistoryKey::Lock(lock));
        if operation.thread_time.is_none() && self.sync_histories.at(position).is_none() {
            return;
        }
        let history = self.sync_histories.entry_at(position);
        match mode {
            Mode::Exclusive => history.exclusive(operation),
            Mode::Shared => history.add_shared(operation, &self.graph),
        }
    }

    fn publish(&mut self, event: &Event, key: HistoryKey, subject: Subject) {
        self.sources.clear();
        let operation = self.operation(event, subject);
        if !operation.thread_time.is_none() {
            let position = self.key(key);
            self.sync_histories.entry_at(position).add_shared(operation, &self.graph);
        }
    }

    fn receive(&mut self, event: &Event, key: HistoryKey, subject: Subject) {
        self.sources.clear();
        if let Some(history) = self.sync_histories.get(key.into()) {
            history.add_shared_to(&mut self.sources);
        }
        self.operation(event, subject);
    }

    fn arrive(&mut self, event: &Event, barrier: ObjectId) {
        self.sources.clear();
        let operation = self.operation(event, Subject::Object(barrier));
        let slot = self.slot(event.thread);
        if self.barriers.is_full() {
            self.barriers.make_room(|barrier| barrier.is_needed(&self.graph));
        }
        self.barriers.entry(HistoryKey::Barrier(barrier).into()).arrive(slot, operation);
    }

    fn pass(&mut self, event: &Event, barrier: ObjectId) {
        let slot = self.slot(event.thread);
        self.sources.clear();
        let passed = self.barriers.entry(HistoryKey::Barrier(barrier).into()).pass(slot);
        self.sources.extend(passed);
        self.operation(event, Subject::Object(barrier));
    }

    fn fork(&mut self, event: &Event, child: ThreadId) {
        self.sources.clear();
        let operation = self.operation(event, Subject::Thread(child));
        let child = self.slot(child);
        self.threads[child.index()].started = operation;
    }

    fn join(&mut self, event: &Event, child: ThreadId) {
        self.sources.clear();
        if let Some(slot) = self.slots.find(child) {
            self.start(slot);
            if self.threads[slot.index()].open.is_empty() {
                self.graph.resolve_tentative(slot, None);
            }
            let now = self.threads[slot.index()].timeline.now();
            let thread_time = self.graph.thread_time_at(slot, now);
            let end = Endpoint {
                operation_at: OperationAt::somewhere(Verb::of_kind(Kind::ThreadEnd)),
                thread: child,
            };
            self.sources.clear();
            self.sources.push(TimedOperation { thread_time, end });
        }
        self.operation(event, Subject::Thread(child));
    }

    fn thread_end(&mut self, event: &Event) {
        self.sources.clear();
        self.operation(event, Subject::Thread(event.thread));
        let slot = self.slot(event.thread);
        while !self.threads[slot.index()].open.is_empty() {
            self.end(slot);
        }
        self.threads[slot.index()].timeline.end();
        self.slots.end(slot);
    }

    fn begin(&mut self, event: &Event) {
        let slot = self.slot(event.thread);
        self.start(slot);
        let time = self.threads[slot.index()].timeline.advance(event.epoch);
        if self.threads[slot.index()].open.is_empty() {
            self.graph.begin(slot, time, event.site);
        }
        let around = self.threads[slot.index()].context();
        let context = self.contexts.enter(around, event.site);
        let block = OpenBlock { block: event.site, begin: time, context };
        self.threads[slot.index()].open.push(block);
    }

    fn end(&mut self, slot: ThreadSlot) {
        let thread = &mut self.threads[slot.index()];
        let has_ended = thread.open.pop().is_some();
        if !thread.doubtful.is_empty() {
            let open = thread.open.len();
            let settled = thread.doubtful.extract_if(.., |violation| violation.depth > open);
            for violation in settled {
                self.doubtful -= 1;
                self.violations.settle(&violation);
            }
        }
        if thread.open.is_empty() {
            thread.sections.end_transaction();
            thread.touched.clear();
            if !thread.looks.is_empty() {
                thread.looks.clear();
            }
        }
        if has_ended
            && thread.open.is_empty()
            && let Some(node) = self.graph.running(slot)
        {
            self.graph.end(node);
        }
    }

    /// An access that happened before and receives no edge.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        // A thread without a slot has ended, and all it did cannot be on a cycle any more.
        let Some(slot) = self.slots.find(event.thread) else { return };
        self.start(slot);
        let thread = &mut self.threads[slot.index()];
        let time = thread.timeline.time_of(event.epoch);
        let is_unknown = time > thread.timeline.now() && thread.open.is_empty();
        let thread_time = if is_unknown && !thread.timeline.has_ended() {
            self.graph.tentative_time(slot, time)
        } else {
            self.graph.thread_time_at(slot, time)
        };
        if thread_time.is_none() {
            return;
        }
        if self.threads[slot.index()].open.first().is_some_and(|block| block.begin <= time) {
            self.touch(slot, event, access, variable);
        }
        let context = self.threads[slot.index()].context_at(time);
        let operation_at = OperationAt::new(Verb::of(event.action), event.site, context);
        let operation =
            TimedOperation { thread_time, end: Endpoint { operation_at, thread: event.thread } };
        self.make_room_for_variables();
        let history = self.variables.entry(Key::from(variable));
        match access {
            Access::Read => history.add_shared(operation, &self.graph),
            Access::Write => {
                let known = history.exclusive.thread_time;
                if known.slot() != thread_time.slot() || known.time() < thread_time.time() {
                    history.exclusive = operation;
                }
            }
        }
    }

    fn violation(&mut self, slot: ThreadSlot, node: NodeId, source: ThreadTime, closing: Label) {
        let open = &self.threads[slot.index()].open;
        // An increasing path leaves the blocks that it refutes.
        let last_left = self.graph.last_left(slot);
        let exposed = open.partition_point(|block| block.begin <= last_left);
        if self.violations.are_refuted_often(open[..exposed].iter().map(|open| open.block)) {
            self.violations.count += 1;
            self.violations.not_searched += 1;
            return;
        }
        let path = self.paths.path(&self.graph, node, source);
        let root = path.edges.first();
        let until = match root {
            Some(root) if path.is_increasing => root.source.time(),
            Some(_) | None => 0,
        };
        debug_assert!(until <= last_left, "an edge leaves the transaction later than is known");
        // Blocks begin in the order in which they are nested.
        let refuted = &open[..open.partition_point(|block| block.begin <= until)];
        let (depth, is_innermost) = (refuted.len(), exposed > 0 && refuted.len() == exposed);
        let outermost = open.first().map_or(SiteId(0), |block| block.block);
        let shape = Shape {
            block: refuted.last().map_or(outermost, |block| block.block),
            is_blamed: depth > 0,
            first: root.map_or(SiteId(0), |edge| edge.label.from.operation_at.site),
            second: closing.to.operation_at.site,
        };
        let has_room = self.threads[slot.index()].doubtful.len() < MOST_DOUBTFUL;
        let doubtful = root.filter(|_| has_room).and_then(|root| {
            let interferes = interfering(&path, &closing)
                .next()
                .map_or(SiteId(0), |(end, _)| end.operation_at.site);
            let thread = &self.threads[slot.index()];
            let violation = NewViolation {
                shape: &shape,
                // Without blame it is the transaction as a whole that is in doubt.
                depth: depth.max(1),
                interferes,
                root: &root.label,
                closing: &closing,
                read_again: self.read_since(slot, root.source, &root.label),
                touched: &thread.touched,
                guarded_by: thread.sections.guards(root.source.time()).first.map(|it| it.0),
            };
            DoubtfulViolation::new(&violation, &self.violations.updates)
        });
        let certain = (is_innermost && doubtful.is_none()).then_some(shape.block);
        self.violations.refute(refuted.iter().map(|block| block.block), certain);
        if self.violations.count(&shape) {
            let outer = refuted.split_last().map_or(&[][..], |(_, outer)| outer);
            let outer = outer.iter().map(|block| block.block).collect();
            let first = self.threads[slot.index()].context_at(until);
            let (graph, slots, contexts) = (&self.graph, &self.slots, &self.contexts);
            let builder = CycleBuilder { graph, slots, contexts };
            let cycle = builder.cycle(node, &path, source, closing, first);
            let mut interferes: Vec<_> = interfering(&path, &closing).collect();
            interferes.dedup_by_key(|(end, _)| end.operation_at.site);
            let left = root.map_or(0, |edge| edge.source.time());
            let guards = self.threads[slot.index()].sections.guards(left);
            self.violations.keep(shape, Group::new(outer, interferes, cycle, guards));
        }
        if let Some(new) = doubtful {
            let doubtful = &mut self.threads[slot.index()].doubtful;
            // In a loop there may be very many of them.
            match doubtful.iter_mut().find(|known| known.is_like(&new)) {
                Some(known) => known.count += 1,
                None => {
                    doubtful.push(new);
                    self.doubtful += 1;
                }
            }
        }
    }
}

/// What others did between the first operation of a cycle and the one that closed it.
fn interfering(path: &Path, closing: &Label) -> impl Iterator<Item = (Endpoint, Subject)> {
    let along = path.edges.iter().enumerate().filter(|(_, edge)| edge.label.has_endpoints());
    let along = along.flat_map(|(at, Edge { label, .. })| {
        let left = (at > 0).then_some((label.from, label.subject));
        left.into_iter().chain([(label.to, label.subject)])
    });
    along.chain([(closing.from, closing.subject)])
}

impl Velodrome {
    /// Whether the thread that a path begins with has read the variable again since, in whichever order with others.
    fn read_since(&self, slot: ThreadSlot, since: ThreadTime, root: &Label) -> ReadSince {
        let Subject::Variable(variable) = root.subject else { return ReadSince::No };
        let looks = self.threads[slot.index()].looks.get(&variable);
        let is_read = root.from.operation_at.verb() == Verb::of_kind(Kind::VolatileRead);
        let begins_anew = |look: &Look| {
            let site = root.from.operation_at.site;
            let is_in_loop = look.read_at == site
                || self.violations.updates.contains(&look.read_at)
                || self.violations.updates.contains(&site);
            is_read && is_in_loop && look.read > since.time() && look.written <= since.time()
        };
        if looks.is_some_and(begins_anew) {
            return ReadSince::InLoop;
        }
        let history = self.variables.get(Key::from(variable));
        match history.and_then(AccessHistory::intervals) {
            Some(intervals) if intervals.has_read_since(since) => ReadSince::Somewhere,
            Some(_) | None => ReadSince::No,
        }
    }
}

impl Checker for Velodrome {
    fn event(&mut self, event: &Event) {
        self.position += u64::from(!is_inserted(event));
        if self.doubtful > 0
            && let Some(slot) = self.slots.find(event.thread)
        {
            let doubtful = &mut self.threads[slot.index()].doubtful;
            doubtful.iter_mut().for_each(|violation| violation.note(event.action, event.site));
        }
        if let Action::AtomicSwap(_) = event.action {
            self.violations.updates.insert(event.site);
        }
        match event.action {
            Action::Read(variable) => self.shared_access(event, variable),
            Action::Write(variable) => self.exclusive(event, variable),
            Action::VolatileRead(variable) => self.interval(event, Use::Read, variable),
            Action::VolatileWrite(variable)
            | Action::AtomicUpdate(variable)
            | Action::AtomicSwap(variable) => {
                self.interval(event, Use::Write, variable);
            }
            Action::AtomicAdd(variable) => self.interval(event, Use::Add, variable),
            Action::EarlierRead(variable) => self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => self.earlier(event, Access::Write, variable),
            Action::Acquire(lock) | Action::Woken(lock) => {
                self.acquire(event, lock, Mode::Exclusive);
            }
            Action::AcquireShared(lock) => self.acquire(event, lock, Mode::Shared),
            Action::Release(lock) | Action::Wait(lock) => {
                self.release(event, lock, Mode::Exclusive);
            }
            Action::ReleaseShared(lock) => self.release(event, lock, Mode::Shared),
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
                self.publish(event, HistoryKey::Submitted(task), Subject::Object(task));
            }
            Action::TaskBegin(task) => {
                self.receive(event, HistoryKey::Submitted(task), Subject::Object(task));
            }
            Action::TaskEnd(task) => {
                self.publish(event, HistoryKey::Ended(task), Subject::Object(task));
            }
            Action::TaskJoin(task) => {
                self.receive(event, HistoryKey::Ended(task), Subject::Object(task));
            }
            Action::LatchDown(latch) => {
                self.publish(event, HistoryKey::Latch(latch), Subject::Object(latch));
            }
            Action::LatchPass(latch) => {
                self.receive(event, HistoryKey::Latch(latch), Subject::Object(latch));
            }
            Action::BarrierArrive(barrier) => self.arrive(event, barrier),
            Action::BarrierPass(barrier) => self.pass(event, barrier),
            Action::ClassInitialised(class) => {
                self.publish(event, HistoryKey::Class(class), Subject::Class(class));
            }
            Action::ClassUsed(class) => {
                self.receive(event, HistoryKey::Class(class), Subject::Class(class));
            }
            Action::Begin => self.begin(event),
            Action::End => {
                let slot = self.slot(event.thread);
                self.threads[slot.index()].timeline.advance(event.epoch);
                self.end(slot);
            }
            Action::Publish(_)
            | Action::Receive(_)
            | Action::Escape(..)
            | Action::Branch(_)
            | Action::OrderRelease(_)
            | Action::OrderAcquire(_)
            | Action::EarlierOrderRelease(_)
            | Action::OrderAcquireAll
            | Action::LibraryOrder
            | Action::Choice
            | Action::Untaken(_)
            | Action::UntakenEnd
            | Action::Rejoin
            | Action::WouldRead(_)
            | Action::WouldWrite(_)
            | Action::WouldAcquire(_)
            | Action::WouldAcquireShared(_)
            | Action::WouldRelease(_)
            | Action::WouldReleaseShared(_)
            | Action::Given(_)
            | Action::Tried(_)
            | Action::Holds(_)
            | Action::Blocked(_)
            | Action::BlockedByThread(_)
            | Action::Stalled(..)
            | Action::Hung
            | Action::Starved(_)
            | Action::Missed => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.violations.findings(tables, &self.contexts)
    }

    fn uncertain_violations(&self) -> u64 {
        self.uncertain_cycles
    }

    fn limits(&self) -> Vec<(&'static str, u64)> {
        let all = [
            (
                "blocks that had been found not to be atomic a thousand times were split again, and it was not \
                 looked for other operations that do so",
                self.violations.not_searched,
            ),
            (
                "blocks were split in so many ways that those after the first ten thousand are not reported",
                self.violations.not_kept,
            ),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
