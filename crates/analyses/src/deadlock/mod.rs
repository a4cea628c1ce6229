//! Threads that wait for each other, or for nobody: rules `lock-order-cycle`, `critical-wait` and `indefinite-wait`.
//!
//! Implements chapter 6 of the dissertation on the events of the symbolic execution: the lock-order graph
//! (`lock_order.rs`, 6.2.3), its cycles (`cycles.rs`), and waits (`waits.rs`, 6.2.2). Beyond it: a cycle counts only if
//! different threads can take its edges at the same time, and an abstract lock that stands for many can be in a cycle
//! with itself (`instances.rs`), which the dissertation names as a source of misses (6.4.1).
//!
//! Property: each finding about a cycle names, for each of its edges, a place where a lock is taken and one where the
//! next lock is wanted while the first is held, such that threads that may run at the same time get to all of them
//! without holding a lock in common. `cycles.rs` is compared with trying all interleavings of small programs: no
//! deadlock is missed there.
//!
//! Misses cycles of more than twelve locks, and says so; deadlocks through joins, latches, queues and class initialisers; locks
//! behind native or reflective code; objects that the heap analysis took for known to one thread only. May report
//! cycles of paths that cannot happen, and of abstract locks that are different objects at run time.
//!
//! Deviations from the dissertation, with the reason:
//! 1. An edge leads from every lock that is held to the wanted one, not only from the last: the locks in between may be
//!    different ones elsewhere.
//! 2. Cycles are listed, up to twelve locks, instead of strongly connected components: a component of a hundred locks
//!    tells nobody what to change, and only for a cycle can be asked who takes its edges.
//! 3. Gate locks, threads that start and join keep apart, readers of read-write locks and acquisitions that give up
//!    after a while are taken into account (6.4.2 calls for the first two).
//!    So are phases that a latch, a barrier or a single publisher separates (`phases.rs`).
//! 4. Locks of one abstract object may be two at run time; see `instances.rs`.
//! 5. An abstract object that stands for objects of many classes is as many locks as the classes it is locked as; see
//!    `kinds.rs`. Section 6.3 names false aliasing as the main source of spurious reports.
//! 6. A wait with another lock held is reported only if other threads take that lock, and is `high` only if whoever
//!    could wake the thread needs it. Waits with a time limit are not reported.
//! 7. Nobody waits in vain on a thread, whose end wakes all; and what code outside of the program knows may be woken
//!    from there, so that such waits are of low severity.

mod cycles;
mod describe;
mod edge_paths;
mod instances;
mod kinds;
mod lock_order;
mod phases;
mod report;
mod waits;

pub use describe::{LockOrderGraph, LockOrderWriter};

use crate::execution::{
    Acquisition, Client, ExecutionFacts, Invocation, Listener, Publication, Signal,
};
use crate::heap::Heap;
use crate::{Context, Outcome};
use edge_paths::Callers;
use lock_order::LockOrder;
use phases::Phases;
use waits::Waits;

/// Its entry in the list of clients.
pub static CLIENT: Client = Client {
    name: "deadlock",
    rules: &[LOCK_ORDER_CYCLE, CRITICAL_WAIT, INDEFINITE_WAIT],
    makes_watch_list: false,
    listen,
};

const LOCK_ORDER_CYCLE: &str = "lock-order-cycle";
const CRITICAL_WAIT: &str = "critical-wait";
const INDEFINITE_WAIT: &str = "indefinite-wait";

fn listen<'a>(_context: &'a Context<'a>, _heap: &Heap) -> Box<dyn Listener + 'a> {
    Box::new(Deadlock::default())
}

/// What is remembered of the execution.
#[derive(Default)]
struct Deadlock {
    order: LockOrder,
    waits: Waits,
    callers: Callers,
    phases: Phases,
}

impl Listener for Deadlock {
    fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        self.order.add(acquisition);
    }

    fn signal(&mut self, signal: &Signal<'_>) {
        self.waits.add(signal);
    }

    fn invocation(&mut self, invocation: Invocation<'_>) {
        self.callers.add(invocation);
    }

    fn publication(&mut self, publication: Publication) {
        self.phases.add(publication);
    }

    fn finish(self: Box<Self>, execution: &ExecutionFacts<'_>) -> Outcome {
        report::outcome(execution, &self.order, &self.callers, &self.waits, &self.phases)
    }
}
