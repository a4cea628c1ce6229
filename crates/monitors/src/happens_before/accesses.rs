//! What is remembered of a variable: the last write, and the reads since.
//!
//! Most variables are read by one thread between two writes, or by threads in turns: then one read is
//! enough. Only where reads are not ordered there is one for each thread (FastTrack, section 3).

use events::Kind;

use super::clock::Clock;
use crate::by_lane::{ByLane, Stepped};
use crate::doing::Doing;
use crate::timeline::Step;
use crate::verb::Verb;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) step: Step,
    pub(super) doing: Doing,
}

impl Default for Mark {
    fn default() -> Mark {
        Mark { step: Step::NONE, doing: Doing::somewhere(Verb::of_kind(Kind::Write)) }
    }
}

impl Stepped for Mark {
    fn step(&self) -> Step {
        self.step
    }
}

/// The accesses to a variable that later ones can race with. Small, because there are many.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    write: Mark,
    reads: Reads,
}

/// The reads since the last write.
#[derive(Debug)]
enum Reads {
    /// One that comes after all others, or none.
    Last(Mark),
    /// The last of each thread.
    OfThreads(ByLane<Mark>),
}

impl Default for Reads {
    fn default() -> Reads {
        Reads::Last(Mark::default())
    }
}

impl Reads {
    /// Adds a read. Whether it comes after the last one is only asked where that is of another thread.
    fn add(&mut self, mark: Mark, comes_after: impl Fn(Step) -> bool) {
        match self {
            Reads::OfThreads(reads) => reads.add(mark),
            Reads::Last(last) if last.step.is_none() => *last = mark,
            Reads::Last(last) if last.step.lane() == mark.step.lane() => {
                if last.step.time() < mark.step.time() {
                    *last = mark;
                }
            }
            Reads::Last(last) if comes_after(last.step) => *last = mark,
            Reads::Last(last) => {
                let mut reads = ByLane::default();
                reads.add(*last);
                reads.add(mark);
                *self = Reads::OfThreads(reads);
            }
        }
    }

    /// Forgets all, and keeps the memory. Returns one that is not known.
    fn take_unknown(&mut self, knows: impl Fn(Step) -> bool) -> Option<Mark> {
        match self {
            Reads::Last(last) => {
                let last = std::mem::take(last);
                (!knows(last.step)).then_some(last)
            }
            Reads::OfThreads(reads) => {
                let unknown = reads.as_slice().iter().find(|read| !knows(read.step)).copied();
                reads.clear();
                unknown
            }
        }
    }
}

impl Accesses {
    /// Adds a read. Returns the write that it is not ordered with.
    pub(super) fn read(&mut self, mark: Mark, knows: impl Fn(Step) -> bool) -> Option<Mark> {
        self.reads.add(mark, &knows);
        (!knows(self.write.step)).then_some(self.write)
    }

    /// Adds a write. Returns an access that it is not ordered with.
    pub(super) fn write(&mut self, mark: Mark, knows: impl Fn(Step) -> bool) -> Option<Mark> {
        let read = self.reads.take_unknown(&knows);
        let write = std::mem::replace(&mut self.write, mark);
        if knows(write.step) { read } else { Some(write) }
    }

    /// Adds a read that is reported late.
    pub(super) fn earlier_read(&mut self, mark: Mark) {
        self.reads.add(mark, |_| false);
    }

    /// Adds a write that is reported late.
    pub(super) fn earlier_write(&mut self, mark: Mark) {
        let known = self.write.step;
        if known.lane() != mark.step.lane() || known.time() < mark.step.time() {
            self.write = mark;
        }
    }

    /// Forgets what is known to all; whether anything is left.
    pub(super) fn prune(&mut self, known: &Clock) -> bool {
        let has_reads = match &mut self.reads {
            Reads::Last(last) => !known.covers(last.step),
            Reads::OfThreads(reads) => {
                reads.retain(|read| !known.covers(read.step));
                !reads.is_empty()
            }
        };
        if !has_reads {
            self.reads = Reads::default();
        }
        has_reads || !known.covers(self.write.step)
    }
}
