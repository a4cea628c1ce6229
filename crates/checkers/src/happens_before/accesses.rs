//! The state of a variable: the last write, and the reads since.
//!
//! Most variables are read by one thread between two writes, or by threads in turns: then one read is
//! enough. Only where reads are not ordered there is one for each thread (FastTrack, section 3).

use events::Kind;

use super::clock::Clock;
use crate::latest_by_thread::{LatestByThread, Timed};
use crate::operation_at::OperationAt;
use crate::timeline::ThreadTime;
use crate::verb::Verb;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedAccess {
    pub(super) thread_time: ThreadTime,
    pub(super) operation_at: OperationAt,
}

impl Default for TimedAccess {
    fn default() -> TimedAccess {
        TimedAccess {
            thread_time: ThreadTime::NONE,
            operation_at: OperationAt::somewhere(Verb::of_kind(Kind::Write)),
        }
    }
}

impl Timed for TimedAccess {
    fn thread_time(&self) -> ThreadTime {
        self.thread_time
    }
}

/// The accesses to a variable that later ones can race with. Small, because there are many.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    write: TimedAccess,
    reads: Reads,
}

/// The reads since the last write.
#[derive(Debug)]
enum Reads {
    /// One that comes after all others, or none.
    Last(TimedAccess),
    /// The last of each thread.
    OfThreads(LatestByThread<TimedAccess>),
}

impl Default for Reads {
    fn default() -> Reads {
        Reads::Last(TimedAccess::default())
    }
}

impl Reads {
    /// Adds a read. `comes_after` is called only if the last read is of another thread.
    fn add(&mut self, access: TimedAccess, comes_after: impl Fn(ThreadTime) -> bool) {
        match self {
            Reads::OfThreads(reads) => reads.add(access),
            Reads::Last(last) if last.thread_time.is_none() => *last = access,
            Reads::Last(last) if last.thread_time.slot() == access.thread_time.slot() => {
                if last.thread_time.time() < access.thread_time.time() {
                    *last = access;
                }
            }
            Reads::Last(last) if comes_after(last.thread_time) => *last = access,
            Reads::Last(last) => {
                let mut reads = LatestByThread::default();
                reads.add(*last);
                reads.add(access);
                *self = Reads::OfThreads(reads);
            }
        }
    }

    /// Forgets all reads, keeps the allocation, and returns one that is not ordered before.
    fn take_unordered(
        &mut self,
        is_ordered_after: impl Fn(ThreadTime) -> bool,
    ) -> Option<TimedAccess> {
        match self {
            Reads::Last(last) => {
                let last = std::mem::take(last);
                (!is_ordered_after(last.thread_time)).then_some(last)
            }
            Reads::OfThreads(reads) => {
                let unknown = reads
                    .as_slice()
                    .iter()
                    .find(|read| !is_ordered_after(read.thread_time))
                    .copied();
                reads.clear();
                unknown
            }
        }
    }
}

impl Accesses {
    /// Adds a read. Returns the write that it is not ordered with.
    pub(super) fn read(
        &mut self,
        access: TimedAccess,
        is_ordered_after: impl Fn(ThreadTime) -> bool,
    ) -> Option<TimedAccess> {
        self.reads.add(access, &is_ordered_after);
        (!is_ordered_after(self.write.thread_time)).then_some(self.write)
    }

    /// Adds a write. Returns an access that it is not ordered with.
    pub(super) fn write(
        &mut self,
        access: TimedAccess,
        is_ordered_after: impl Fn(ThreadTime) -> bool,
    ) -> Option<TimedAccess> {
        let read = self.reads.take_unordered(&is_ordered_after);
        let write = std::mem::replace(&mut self.write, access);
        if is_ordered_after(write.thread_time) { read } else { Some(write) }
    }

    /// Adds a read that is reported late.
    pub(super) fn earlier_read(&mut self, access: TimedAccess) {
        self.reads.add(access, |_| false);
    }

    /// Adds a write that is reported late.
    pub(super) fn earlier_write(&mut self, access: TimedAccess) {
        let known = self.write.thread_time;
        if known.slot() != access.thread_time.slot() || known.time() < access.thread_time.time() {
            self.write = access;
        }
    }

    /// Forgets accesses that are ordered before every thread; returns whether any is left.
    pub(super) fn prune(&mut self, known: &Clock) -> bool {
        let has_reads = match &mut self.reads {
            Reads::Last(last) => !known.covers(last.thread_time),
            Reads::OfThreads(reads) => {
                reads.retain(|read| !known.covers(read.thread_time));
                !reads.is_empty()
            }
        };
        if !has_reads {
            self.reads = Reads::default();
        }
        has_reads || !known.covers(self.write.thread_time)
    }
}
