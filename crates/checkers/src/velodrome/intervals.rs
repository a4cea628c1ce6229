//! Operations on one variable whose order is known only where they did not overlap.
//!
//! The report of an operation on a volatile variable, an atomic or a library object is not one step with the
//! operation. What is known is an interval in which the operation happened: it ends with the report, and
//! [`events::Event::overlaps`] says where it begins. X comes *certainly before* Y iff the interval of X
//! ends before that of Y begins; of two that overlap the order is unknown.
//!
//! **What is kept.** An operation X can be forgotten for another one, Z, if whatever comes certainly after Z has a path
//! from X: X comes before Z by a certain edge or by the order of its thread, and Z conflicts with all that X conflicts with. But
//! what begins between the ends of X and Z comes after X alone. So an operation is not forgotten at once: the
//! latest stay, as many as [`super::Config::kept_intervals`] says, and of the others those that nothing stands for. A violation is missed if it depends on an
//! older one.

use super::access_history::TimedOperation;
use super::graph::Graph;
use crate::timeline::ThreadTime;

/// What an operation does to its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Its value is asked for.
    Read,
    /// It gets a value, and perhaps was read in the same step.
    Write,
    /// Something is added to it, and nobody asks for the result. Additions commute, and do not conflict with each other.
    Add,
}

/// An operation, and between which places in the stream it happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) operation: TimedOperation,
    pub(super) access: Use,
    /// What was reported before this place was over when the operation began.
    pub(super) begin: u64,
    /// The place of the report.
    pub(super) end: u64,
}

impl Interval {
    /// Whether its report and itself were one step, as far as the stream tells.
    pub(super) fn is_exact(&self) -> bool {
        self.begin == self.end
    }

    /// Whether whatever comes certainly after `self` has a path from `earlier`.
    fn stands_for(&self, earlier: &Interval) -> bool {
        let (own, other) = (self.operation.thread_time, earlier.operation.thread_time);
        let is_later_in_thread = own.slot() == other.slot() && own.time() >= other.time();
        match self.access {
            Use::Write => earlier.end < self.begin || is_later_in_thread,
            Use::Read | Use::Add => earlier.access == self.access && is_later_in_thread,
        }
    }
}

/// The operations that the next one can conflict with, in the order of their ends.
#[derive(Debug, Default)]
pub(super) struct Intervals(Vec<Interval>);

impl Intervals {
    /// Adds an operation, whose end is later than all others.
    pub(super) fn add(&mut self, new: Interval, graph: &Graph) {
        if new.operation.thread_time.is_none() {
            return;
        }
        if self.0.len() >= graph.kept_intervals() {
            self.prune(graph);
        }
        if self.0.len() >= graph.kept_intervals() {
            let is_over = |(at, old): (usize, &Interval)| {
                self.0[at + 1..].iter().any(|later| later.stands_for(old)) || new.stands_for(old)
            };
            if let Some(at) = self.0.iter().enumerate().position(is_over) {
                self.0.remove(at);
            }
        }
        self.0.push(new);
    }

    /// Appends what an operation that begins at a place comes certainly after, latest first, without what it comes
    /// after anyway because it comes after another one.
    pub(super) fn add_certain_to(&self, begin: u64, access: Use, list: &mut Vec<TimedOperation>) {
        // What ended before this place, another one that was found stands for.
        let mut known_before = 0;
        for earlier in self.0.iter().rev() {
            if earlier.end < known_before {
                break;
            }
            if earlier.end < begin && conflict(earlier.access, access) {
                list.push(earlier.operation);
                if earlier.access == Use::Write {
                    known_before = known_before.max(earlier.begin);
                }
            }
        }
    }

    /// The operations that one that begins at a place conflicts with and overlaps.
    pub(super) fn overlapping(
        &self,
        begin: u64,
        access: Use,
    ) -> impl Iterator<Item = &TimedOperation> {
        let later = self.0.iter().rev().take_while(move |earlier| earlier.end >= begin);
        later
            .filter(move |earlier| conflict(earlier.access, access))
            .map(|earlier| &earlier.operation)
    }

    /// Whether a thread has read the variable again after an operation of its own.
    pub(super) fn has_read_since(&self, since: ThreadTime) -> bool {
        self.0.iter().any(|known| {
            let time = known.operation.thread_time;
            known.access == Use::Read && time.slot() == since.slot() && time.time() > since.time()
        })
    }

    /// Forgets what cannot be on a cycle; returns whether anything is left.
    pub(super) fn prune(&mut self, graph: &Graph) -> bool {
        self.0.retain(|known| graph.node_of(known.operation.thread_time).is_some());
        !self.0.is_empty()
    }
}

fn conflict(one: Use, other: Use) -> bool {
    one == Use::Write || one != other
}
