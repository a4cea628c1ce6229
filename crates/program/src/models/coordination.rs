//! Latches, barriers, phasers, semaphores, exchangers, and the exceptions they throw.
//!
//! Approximations: all parties of a barrier or phaser publish when they arrive and receive when
//! they leave; edges are kept for the barrier, not for one generation of it. The queries
//! (`getCount`, `getPhase`, `isTerminated`, `register`) promise no memory order, although they read
//! volatile state. A semaphore is a lock whose mode is a permit: whether it excludes depends on the
//! number of permits, which only its constructor knows. An exchange publishes and receives on the
//! exchanger, not on the pair.

use super::vocabulary::*;

use Effect::*;
use Mode::Permit;
use Operand::{Argument, Receiver, Wrapped};
use Outcome::{Always, IfNonZero, IfTrue};

/// What a class coordinates threads by, where that is more than publishing and receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coordinator {
    /// Threads that arrive wait for each other: its rows publish on arrival and receive on leaving.
    Barrier,
    /// Threads wait for a count to reach zero: its rows publish on counting and receive on passing.
    Latch,
}

/// What exactly this class coordinates threads by.
#[must_use]
pub fn coordinator(class: &str) -> Option<Coordinator> {
    match class {
        "java/util/concurrent/CountDownLatch" => Some(Coordinator::Latch),
        "java/util/concurrent/CyclicBarrier" | "java/util/concurrent/Phaser" => {
            Some(Coordinator::Barrier)
        }
        _ => None,
    }
}

const ARRIVES_AND_LEAVES: Effect = RunsTask { task: Wrapped, times: Times::Once };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/concurrent/CountDownLatch" => {
        "<init>" "(I)V" [];
        "countDown" "()V" [PUBLISH];
        "await" "()V" [RECEIVE, BLOCKS];
        "await" "(JLjava/util/concurrent/TimeUnit;)Z" [RECEIVE_IF, BLOCKS_TIMED];
        "getCount", "toString" "*" [];
    }

    "java/util/concurrent/CyclicBarrier" => {
        "<init>" "(I)V" [];
        "<init>" "(ILjava/lang/Runnable;)V" [Wraps { task: Argument(1), by: Receiver }];
        // The last thread to arrive runs the barrier action.
        "await" "()I" [PUBLISH, ARRIVES_AND_LEAVES, RECEIVE, BLOCKS];
        "await" "(JLjava/util/concurrent/TimeUnit;)I" [
            PUBLISH, ARRIVES_AND_LEAVES, RECEIVE, BLOCKS_TIMED,
        ];
        "reset" "()V" [];
        "getParties", "isBroken", "getNumberWaiting" "*" [];
    }

    "java/util/concurrent/Phaser" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "*" [KEEPS0];
        "register", "bulkRegister" "*" [];
        "arrive", "arriveAndDeregister" "*" [PUBLISH];
        "arriveAndAwaitAdvance" "()I" [PUBLISH, RECEIVE, BLOCKS_DEAF];
        "awaitAdvance" "(I)I" [RECEIVE, BLOCKS_DEAF];
        "awaitAdvanceInterruptibly" "(I)I" [RECEIVE, BLOCKS];
        "awaitAdvanceInterruptibly" "(IJLjava/util/concurrent/TimeUnit;)I" [RECEIVE, BLOCKS_TIMED];
        "onAdvance" "*" [];
        "forceTermination" "()V" [PUBLISH];
        "isTerminated", "getPhase" "*" [];
        "getParent", "getRoot" "*" [GIVES];
        "getRegisteredParties", "getArrivedParties", "getUnarrivedParties", "toString" "*" [];
    }

    "java/util/concurrent/Semaphore" => {
        "<init>" "*" [];
        "acquire" "*" [acquire(Permit, Always), BLOCKS];
        "acquireUninterruptibly" "*" [acquire(Permit, Always), BLOCKS_DEAF];
        "tryAcquire" "()Z" [acquire(Permit, IfTrue)];
        "tryAcquire" "(I)Z" [acquire(Permit, IfTrue)];
        "tryAcquire" "*" [acquire(Permit, IfTrue), BLOCKS_TIMED];
        "release" "*" [release(Permit, Always)];
        "drainPermits" "()I" [acquire(Permit, IfNonZero)];
        "reducePermits" "*" [];
        "availablePermits", "isFair", "hasQueuedThreads", "getQueueLength" "*" [];
        "getQueuedThreads", "toString" "*" [];
    }

    "java/util/concurrent/Exchanger" => {
        "<init>" "()V" [];
        "exchange" "(Ljava/lang/Object;)*" [PUBLISH, RECEIVE, KEEPS0, GIVES, BLOCKS];
        "exchange" "*" [PUBLISH, RECEIVE, KEEPS0, GIVES, BLOCKS_TIMED];
    }

    "java/util/concurrent/BrokenBarrierException", "java/util/concurrent/CancellationException",
    "java/util/concurrent/CompletionException", "java/util/concurrent/ExecutionException",
    "java/util/concurrent/RejectedExecutionException", "java/util/concurrent/TimeoutException" => {
        "<init>" "*" [];
    }
};
