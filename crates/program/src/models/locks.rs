//! `java.util.concurrent.locks`.
//!
//! Approximations: the read lock of a `ReadWriteLock` is the lock of its owner in shared mode, so
//! that a field written under the write lock and read under the read lock has a common guard.
//! Subclasses of the queued synchronizers decide by themselves what an acquisition means; it is
//! taken here as exclusive or shared after its name. A conversion of a stamp releases the old mode
//! and acquires the new one when it succeeds. `park` and `unpark` promise no memory order, and the
//! spurious return of `park` is not told apart. An optimistic read holds nothing: `validate` says
//! afterwards, by returning `true`, that it was as if the read lock had been held.

use super::vocabulary::*;

use Effect::*;
use Mode::{Any, Exclusive, Optimistic, Shared};
use Operand::{Argument, CurrentThread, Receiver};
use Outcome::{Always, IfNonZero, IfTrue, Unknown};
use WaitKind::{Condition, Park};

const LOCK: Effect = acquire(Exclusive, Always);
const LOCK_IF: Effect = acquire(Exclusive, IfTrue);
const LOCK_STAMP: Effect = acquire(Exclusive, IfNonZero);
const UNLOCK: Effect = release(Exclusive, Always);
const SHARE: Effect = acquire(Shared, Always);
const SHARE_IF: Effect = acquire(Shared, IfTrue);
const SHARE_STAMP: Effect = acquire(Shared, IfNonZero);
const UNSHARE: Effect = release(Shared, Always);
const GLANCE_STAMP: Effect = acquire(Optimistic, IfNonZero);
const CONDITION: Effect = ConditionOf { lock: Receiver };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/concurrent/locks/Lock" => {
        "lock" "()V" [LOCK, BLOCKS_DEAF];
        "lockInterruptibly" "()V" [LOCK, BLOCKS];
        "tryLock" "()Z" [LOCK_IF];
        "tryLock" "(JLjava/util/concurrent/TimeUnit;)Z" [LOCK_IF, BLOCKS_TIMED];
        "unlock" "()V" [UNLOCK];
        "newCondition" "()*" [CONDITION, FRESH];
    }

    "java/util/concurrent/locks/ReentrantLock",
    "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock" => {
        "lock" "()V" [LOCK, BLOCKS_DEAF];
        "lockInterruptibly" "()V" [LOCK, BLOCKS];
        "tryLock" "()Z" [LOCK_IF];
        "tryLock" "(JLjava/util/concurrent/TimeUnit;)Z" [LOCK_IF, BLOCKS_TIMED];
        "unlock" "()V" [UNLOCK];
        "newCondition" "()*" [
            CONDITION, FRESH,
            ReturnsType("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject"),
        ];
        "getHoldCount", "isHeldByCurrentThread", "toString" "*" [];
    }
    "java/util/concurrent/locks/ReentrantLock" => {
        "<init>" "*" [];
        "isLocked", "isFair", "hasQueuedThreads", "hasQueuedThread", "getQueueLength" "*" [];
        "hasWaiters", "getWaitQueueLength" "*" [];
    }

    "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock" => {
        "lock" "()V" [SHARE, BLOCKS_DEAF];
        "lockInterruptibly" "()V" [SHARE, BLOCKS];
        "tryLock" "()Z" [SHARE_IF];
        "tryLock" "(JLjava/util/concurrent/TimeUnit;)Z" [SHARE_IF, BLOCKS_TIMED];
        "unlock" "()V" [UNSHARE];
        // A read lock has no conditions; the call throws.
        "newCondition", "toString" "*" [];
    }

    "java/util/concurrent/locks/ReadWriteLock" => {
        "readLock" "()*" [LockView { of: Receiver, mode: Shared }];
        "writeLock" "()*" [LockView { of: Receiver, mode: Exclusive }];
    }
    "java/util/concurrent/locks/ReentrantReadWriteLock" => {
        "<init>" "*" [];
        "readLock" "()*" [
            LockView { of: Receiver, mode: Shared },
            ReturnsType("java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock"),
        ];
        "writeLock" "()*" [
            LockView { of: Receiver, mode: Exclusive },
            ReturnsType("java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock"),
        ];
        "isFair", "getReadLockCount", "isWriteLocked", "isWriteLockedByCurrentThread" "*" [];
        "getWriteHoldCount", "getReadHoldCount", "hasQueuedThreads", "hasQueuedThread" "*" [];
        "getQueueLength", "hasWaiters", "getWaitQueueLength", "toString" "*" [];
    }

    "java/util/concurrent/locks/StampedLock" => {
        "<init>" "*" [];
        "writeLock" "()J" [LOCK, BLOCKS_DEAF];
        "writeLockInterruptibly" "()J" [LOCK, BLOCKS];
        "tryWriteLock" "()J" [LOCK_STAMP];
        "tryWriteLock" "(JLjava/util/concurrent/TimeUnit;)J" [LOCK_STAMP, BLOCKS_TIMED];
        "readLock" "()J" [SHARE, BLOCKS_DEAF];
        "readLockInterruptibly" "()J" [SHARE, BLOCKS];
        "tryReadLock" "()J" [SHARE_STAMP];
        "tryReadLock" "(JLjava/util/concurrent/TimeUnit;)J" [SHARE_STAMP, BLOCKS_TIMED];
        "tryOptimisticRead" "()J" [GLANCE_STAMP];
        "validate" "(J)Z" [RECEIVE_IF];
        "unlockWrite" "(J)V" [UNLOCK];
        "unlockRead" "(J)V" [UNSHARE];
        "unlock" "(J)V" [release(Any, Always)];
        "tryConvertToWriteLock" "(J)J" [release(Any, IfNonZero), LOCK_STAMP];
        "tryConvertToReadLock" "(J)J" [release(Any, IfNonZero), SHARE_STAMP];
        "tryConvertToOptimisticRead" "(J)J" [release(Any, IfNonZero), GLANCE_STAMP];
        "tryUnlockWrite" "()Z" [release(Exclusive, IfTrue)];
        "tryUnlockRead" "()Z" [release(Shared, IfTrue)];
        "asReadLock" "()*" [LockView { of: Receiver, mode: Shared }];
        "asWriteLock" "()*" [LockView { of: Receiver, mode: Exclusive }];
        "asReadWriteLock" "()*" [LockView { of: Receiver, mode: Any }];
        "isWriteLocked", "isReadLocked", "isWriteLockStamp", "isReadLockStamp" "*" [];
        "isLockStamp", "isOptimisticReadStamp", "getReadLockCount", "toString" "*" [];
    }

    "java/util/concurrent/locks/Condition",
    "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject" => {
        "await" "()V" [wait(Condition, false), BLOCKS];
        "awaitUninterruptibly" "()V" [wait(Condition, false), BLOCKS_DEAF];
        "await" "(JLjava/util/concurrent/TimeUnit;)Z" [wait(Condition, true), BLOCKS_TIMED];
        "awaitNanos" "(J)J" [wait(Condition, true), BLOCKS_TIMED];
        "awaitUntil" "(Ljava/util/Date;)Z" [wait(Condition, true), BLOCKS_TIMED];
        "signal" "()V" [Notify { on: Receiver, all: false }];
        "signalAll" "()V" [Notify { on: Receiver, all: true }];
    }
    "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer$ConditionObject" => {
        // The constructor of an inner class: its only argument is the synchronizer around it.
        "<init>" "*" [KEEPS0];
    }

    "java/util/concurrent/locks/LockSupport" => {
        "park" "*" [Wait { on: CurrentThread, kind: Park, timed: false }, BLOCKS];
        "parkNanos", "parkUntil" "*" [
            Wait { on: CurrentThread, kind: Park, timed: true }, BLOCKS_TIMED,
        ];
        "unpark" "*" [Notify { on: Argument(0), all: false }];
        "setCurrentBlocker", "getBlocker" "*" [];
    }

    "java/util/concurrent/locks/AbstractQueuedSynchronizer",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer" => {
        "<init>" "()V" [];
        "acquire" "*" [LOCK, BLOCKS_DEAF];
        "acquireInterruptibly" "*" [LOCK, BLOCKS];
        "tryAcquireNanos" "*" [LOCK_IF, BLOCKS_TIMED];
        // The result tells whether the lock is free for others, not whether it was given back.
        "release" "*" [UNLOCK];
        "acquireShared" "*" [SHARE, BLOCKS_DEAF];
        "acquireSharedInterruptibly" "*" [SHARE, BLOCKS];
        "tryAcquireSharedNanos" "*" [SHARE_IF, BLOCKS_TIMED];
        "releaseShared" "*" [UNSHARE];
        // What subclasses build their protocols from.
        "getState" "*" [AtomicRead { of: Receiver, ordering: Ordering::Volatile }];
        "setState" "*" [AtomicWrite { of: Receiver, ordering: Ordering::Volatile }];
        "compareAndSetState" "*" [update(Receiver, Ordering::Volatile, IfTrue)];
        "tryAcquire" "*" [LOCK_IF];
        "tryRelease" "*" [release(Exclusive, Unknown)];
        "tryAcquireShared" "*" [acquire(Shared, Unknown)];
        "tryReleaseShared" "*" [release(Shared, Unknown)];
        "isHeldExclusively" "*" [];
        "hasQueuedThreads", "hasContended", "getFirstQueuedThread", "isQueued" "*" [];
        "hasQueuedPredecessors", "getQueueLength", "owns", "hasWaiters" "*" [];
        "getWaitQueueLength", "toString" "*" [];
        "getQueuedThreads", "getExclusiveQueuedThreads", "getSharedQueuedThreads" "*" [FRESH];
        "getWaitingThreads" "*" [FRESH];
    }
};
