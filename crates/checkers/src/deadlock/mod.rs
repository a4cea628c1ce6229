//! Rule `deadlock`: threads that wait for each other, observed in a run or predicted from one that went well; and rule
//! `hang`: threads that wait while nobody is left to wake them.
//!
//! **Observed.** The agent says which threads are blocked, on what, and what they hold (`blocked.rs`). It does so only for
//! threads that it has found waiting for each other twice in a row, without any of them having moved. A cycle of such
//! reports is a deadlock that has happened.
//!
//! **Hangs and starved pools.** The agent says that all threads of the program, or of a pool, wait without a limit, and
//! where (`standstill.rs`). `ScissionHang` and `ScissionPools` have the argument why nobody can wake them.
//!
//! **Predicted.** Tunç, Mathur, Pavlogiannis, Viswanathan: *Sound Dynamic Deadlock Prediction in Linear Time*, PLDI 2023,
//! sections 3 and 4 (`predictor.rs`, `lock_graph.rs`). A pattern is a cycle of acquisitions of different threads, each of a
//! lock that the next thread holds, without a lock that two of them hold. It is reported if a sync-preserving correct
//! reordering of the run leads to it: every thread does what it did, every read sees the write that it saw, and the
//! critical sections of each lock come in the order of the run.
//!
//! **Lock-order cycles.** Patterns for which there is no such reordering are a weaker grade, and called so: the locks are acquired in
//! a cycle, without a common lock, and neither start, join nor other synchronisation orders the
//! acquisitions; still weaker if what was read does (Havelund: *Using Runtime Analysis to Guide Model Checking of Java Programs*, SPIN 2000, with gate locks and order).
//! Threads can wait for each other there if critical sections of another lock come in another order, unless the program
//! does something else then.
//!
//! Soundness: a predicted deadlock can happen in an execution of the same code with the same inputs, as far as the
//! events tell what threads depend on: accesses in code that is not watched are not seen, and of two accesses that race the
//! order is not known. Misses: deadlocks that need critical sections of a lock in another order; what comes after the
//! bounds below.
//!
//! Deviations from the paper:
//! 1. The closure is computed with binary searches in the critical sections of each lock and thread, and not with
//!    pointers that move along: acquisitions are few compared with other events.
//! 2. Volatile variables, atomics, library objects, tasks, latches, barriers, notifications and order inside the
//!    library are no reads and writes: whoever receives from them depends on all who have published. Hooks do not know
//!    exactly whose value was seen. This misses deadlocks and invents none.
//!    The order that a lock makes inside the library is left out: it is that of its critical sections.
//! 3. A write that is reported late counts as made when it was reported, for the same reason.
//! 4. Read-write locks: a pattern needs an exclusive side at each lock; in the closure sections in shared mode count as
//!    exclusive ones.
//! 5. The run is looked at up to a bound of acquisitions and variables. What was done so far is a run too.

mod blocked;
mod lock_graph;
mod predictor;
mod report;
mod standstill;

use std::cell::RefCell;
use std::sync::Arc;

use events::{Action, Event, Mode, ObjectId, SiteId, Tables, ThreadId};
use findings::{Evidence, Finding};

use self::blocked::BlockedThreads;
use self::lock_graph::Predicted;
use self::predictor::{Key, Predictor};
use crate::{Checker, Needs, Registration, Settings};

/// The rule of this checker.
pub(crate) const RULE: &str = "deadlock";
/// The rule for threads that wait, and not for each other.
const HANG_RULE: &str = "hang";

/// The entry in the list of checkers.
pub(crate) const CHECKER: Registration = Registration {
    name: "deadlock",
    rules: &[RULE, HANG_RULE],
    on_by_default: true,
    needs: Needs {
        accesses: crate::NeededAccesses::InOrder,
        nested_blocks: false,
        order: true,
        speculation: false,
    },
    looks_into_libraries: true,
    start: |_: Settings| Box::new(Deadlocks::default()),
};

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Wanted {
    /// A lock.
    Lock(ObjectId),
    /// The end of a thread.
    End(ThreadId),
}

/// What one thread does in a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Waiter {
    thread: ThreadId,
    /// What it holds and the thread before it wants, and where it has acquired that; nothing if that one waits for its end.
    held: Option<(ObjectId, SiteId)>,
    wanted: Wanted,
    wanted_at: SiteId,
}

/// How certain it is that threads can wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    /// They do, or a reordering of the run leads to it.
    Proven,
    /// The locks are acquired in a cycle, and nothing that threads saw of each other orders the acquisitions.
    Unordered,
    /// The locks are acquired in a cycle that synchronisation does not order; but a thread has read what another wrote after it had
    /// acquired them.
    SeenInOrder,
}

/// Threads of which each waits for what the next one holds, and the last one for what the first one holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Deadlock {
    evidence: Evidence,
    grade: Grade,
    waiters: Vec<Waiter>,
}

/// The checker.
#[derive(Debug, Default)]
pub struct Deadlocks {
    blocked: BlockedThreads,
    predictor: Predictor,
    /// How many events there have been.
    events: u64,
    /// What was predicted last, and from how many events: nobody searches twice for the same.
    predicted: RefCell<Option<(u64, Arc<Predicted>)>>,
}

impl Deadlocks {
    /// The acquisitions that deadlock in a predicted order, each with its thread and place; for tests that compare with all
    /// orders.
    #[doc(hidden)]
    #[must_use]
    pub fn predicted_acquisitions(&self) -> Vec<Vec<(ThreadId, SiteId)>> {
        let acquisition = |waiter: &Waiter| (waiter.thread, waiter.wanted_at);
        let deadlocks = self.predicted();
        let proven = deadlocks.found.iter().filter(|it| it.grade == Grade::Proven);
        proven.map(|it| it.waiters.iter().map(acquisition).collect()).collect()
    }

    /// The deadlocks that can happen in another order of what has happened so far.
    fn predicted(&self) -> Arc<Predicted> {
        let mut last = self.predicted.borrow_mut();
        match &*last {
            Some((events, predicted)) if *events == self.events => Arc::clone(predicted),
            _ => {
                let predicted = Arc::new(self.predictor.deadlocks());
                *last = Some((self.events, Arc::clone(&predicted)));
                predicted
            }
        }
    }
}

impl Checker for Deadlocks {
    fn event(&mut self, event: &Event) {
        let (thread, site) = (event.thread, event.site);
        self.events += 1;
        let predictor = &mut self.predictor;
        match event.action {
            Action::Read(variable) => predictor.read(thread, variable),
            Action::Write(variable) | Action::EarlierWrite(variable) => {
                predictor.write(thread, variable);
            }
            // Who reads what only it has written receives nothing.
            Action::EarlierRead(_) => {}
            Action::VolatileRead(variable) => predictor.receive(thread, Key::Variable(variable)),
            Action::VolatileWrite(variable) => predictor.publish(thread, Key::Variable(variable)),
            Action::AtomicUpdate(variable)
            | Action::AtomicAdd(variable)
            | Action::AtomicSwap(variable) => {
                predictor.receive(thread, Key::Variable(variable));
                predictor.publish(thread, Key::Variable(variable));
            }
            Action::Acquire(lock) => predictor.acquire(thread, lock, Mode::Exclusive, site),
            Action::AcquireShared(lock) => predictor.acquire(thread, lock, Mode::Shared, site),
            Action::Release(lock) | Action::Wait(lock) => {
                predictor.release(thread, lock, Mode::Exclusive, event.epoch);
            }
            Action::ReleaseShared(lock) => {
                predictor.release(thread, lock, Mode::Shared, event.epoch)
            }
            Action::Woken(lock) => {
                predictor.receive(thread, Key::Notification(lock));
                predictor.acquire(thread, lock, Mode::Exclusive, site);
            }
            Action::Notify(lock) | Action::NotifyAll(lock) => {
                predictor.publish(thread, Key::Notification(lock));
            }
            Action::Tried(lock) => predictor.tried(thread, lock),
            Action::Fork(child) => predictor.fork(thread, child),
            Action::Join(child) => predictor.join(thread, child),
            Action::Submit(task) | Action::TaskEnd(task) => {
                predictor.publish(thread, Key::Task(task));
            }
            Action::TaskBegin(task) | Action::TaskJoin(task) => {
                predictor.receive(thread, Key::Task(task));
            }
            Action::Publish(object) => predictor.publish(thread, Key::Object(object)),
            Action::Receive(object) => predictor.receive(thread, Key::Object(object)),
            Action::BarrierArrive(barrier) => predictor.publish(thread, Key::Barrier(barrier)),
            Action::BarrierPass(barrier) => predictor.receive(thread, Key::Barrier(barrier)),
            Action::LatchDown(latch) => predictor.publish(thread, Key::Latch(latch)),
            Action::LatchPass(latch) => predictor.receive(thread, Key::Latch(latch)),
            Action::ClassInitialised(class) => predictor.publish(thread, Key::Class(class)),
            Action::ClassUsed(class) => predictor.receive(thread, Key::Class(class)),
            Action::OrderRelease(place) | Action::EarlierOrderRelease(place) => {
                predictor.release_to_place(thread, place, event.epoch);
            }
            Action::OrderAcquire(place) => predictor.acquire_from_place(thread, place),
            Action::OrderAcquireAll => predictor.receive_from_all(thread),
            Action::Missed => predictor.stop(),
            Action::Holds(lock) => self.blocked.holds(thread, lock, site),
            Action::Blocked(lock) => self.blocked.waits(thread, Wanted::Lock(lock), site),
            Action::BlockedByThread(awaited) => {
                self.blocked.waits(thread, Wanted::End(awaited), site);
            }
            Action::Stalled(object, call) => self.blocked.stalls(thread, site, object, call),
            Action::Hung => self.blocked.stands_still(None),
            Action::Starved(pool) => self.blocked.stands_still(Some(pool)),
            // What did not happen waits for nothing.
            Action::ThreadBegin
            | Action::ThreadEnd
            | Action::Begin
            | Action::End
            | Action::Escape(..)
            | Action::Branch(_)
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
            | Action::Given(_) => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let mut findings = self.urgent_findings(tables);
        findings.extend(report::findings(self.predicted().found.iter(), tables));
        findings
    }

    fn limits(&self) -> Vec<(&'static str, u64)> {
        let after =
            "deadlocks are predicted from the run up to a bound only, or until a hook failed";
        let search = "not all cycles of locks were searched for deadlocks: there are too many";
        let all = [
            (after, self.predictor.acquisitions_left_out()),
            (search, u64::from(self.predicted().was_cut_short)),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn has_urgent_findings(&mut self) -> bool {
        self.blocked.take_new()
    }

    fn urgent_findings(&self, tables: &Tables) -> Vec<Finding> {
        let mut findings = report::findings(self.blocked.deadlocks().iter(), tables);
        findings.extend(standstill::findings(self.blocked.standstills(), tables));
        findings
    }
}
