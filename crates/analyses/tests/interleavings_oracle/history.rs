//! What has to be recorded of an execution to show that a call was not atomic.
//!
//! Two accesses conflict if they are about one variable and one of them writes. A call is not atomic if one
//! of its accesses comes before an access of another thread, by conflicts and by the order within the other
//! threads, and that one before another access of the call: then no execution with the same conflicts in
//! the same order has the accesses of the call side by side. Locks give no order of their own here: that a
//! call gave a lock back and took it again is only harmful if some variable changed in between. This misses
//! calls that run inside a section of another thread although a lock protects it, where no variable alone
//! tells; a finding about such a call counts as made up.
//!
//! Of such pairs of accesses only the tightest count, those that have no other pair between them, and the
//! innermost call that has both is the one that is not atomic: the calls around it are so because of it.
//!
//! Vector clocks show what comes before what. An entry counts the accesses of a thread since it began its
//! outermost call that is meant to be atomic; at the end of that call all entries about it are
//! forgotten, so that executions that differ only in what is over are taken for one.

use std::collections::BTreeMap;

use program::MethodId;

use crate::machine::{Access, Frame, Section, Variable};

/// Threads at most, the first one counted.
pub(crate) const MOST_THREADS: usize = 4;

/// For each thread its last access that comes before; 0 for none.
type Clock = [u32; MOST_THREADS];

/// A call that was not atomic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The method that was called.
    pub(crate) method: MethodId,
    /// An access of the call that comes before one of another thread.
    pub(crate) first: Guarded,
    /// The access of the call that comes after that.
    pub(crate) second: Guarded,
}

/// An access with the locks that were held.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Guarded {
    pub(crate) access: Access,
    pub(crate) sections: Vec<Section>,
}

/// The accesses to a variable that later ones can conflict with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct AccessHistory {
    /// By which thread it was last written, and what came before that.
    write: Option<(usize, Clock)>,
    /// The same for the last read of each thread since.
    reads: BTreeMap<usize, Clock>,
}

/// What came before what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct History {
    clocks: [Clock; MOST_THREADS],
    /// The accesses of each thread that are counted.
    accesses: [Vec<Guarded>; MOST_THREADS],
    /// The first access of the last pair that others came between, for each thread; 0 for none.
    last_pair: Clock,
    access_histories: BTreeMap<Variable, AccessHistory>,
}

impl History {
    /// The number that the next access of a thread gets.
    pub(crate) fn next_access(&self, thread: usize) -> u32 {
        self.accesses[thread].len() as u32 + 1
    }

    /// A thread makes an access while it holds these locks and these calls are open.
    pub(crate) fn access(
        &mut self,
        thread: usize,
        access: Access,
        sections: Vec<Section>,
        frames: &[Frame],
        is_atomic: impl Fn(MethodId) -> bool,
    ) -> Option<Violation> {
        let access_history = self.access_histories.entry(access.variable).or_default();
        let mut before: Vec<Clock> = Vec::new();
        if let Some((writer, clock)) = access_history.write
            && writer != thread
        {
            before.push(clock);
        }
        if access.is_write {
            let others = access_history.reads.iter().filter(|(reader, _)| **reader != thread);
            before.extend(others.map(|(_, clock)| *clock));
        }
        let guarded = Guarded { access, sections };
        let own = before.iter().map(|clock| clock[thread]).max().unwrap_or_default();
        let mut violation = None;
        if own > self.last_pair[thread] {
            self.last_pair[thread] = own;
            let is_broken = |frame: &&Frame| frame.first_access <= own && is_atomic(frame.method);
            violation = frames.iter().rev().find(is_broken).map(|frame| Violation {
                method: frame.method,
                first: self.accesses[thread][own as usize - 1].clone(),
                second: guarded.clone(),
            });
        }

        let is_counted = frames.iter().any(|frame| is_atomic(frame.method));
        let clock = &mut self.clocks[thread];
        for other in &before {
            for (mine, theirs) in clock.iter_mut().zip(other) {
                *mine = (*mine).max(*theirs);
            }
        }
        if is_counted {
            self.accesses[thread].push(guarded);
            clock[thread] = self.accesses[thread].len() as u32;
        }
        if access.is_write {
            access_history.write = Some((thread, *clock));
            access_history.reads.clear();
        } else {
            access_history.reads.insert(thread, *clock);
        }
        self.tidy(access.variable);
        violation
    }

    /// The outermost call of a thread is over.
    pub(crate) fn forget(&mut self, thread: usize) {
        if self.accesses[thread].is_empty() {
            return;
        }
        self.accesses[thread].clear();
        self.last_pair[thread] = 0;
        for clock in &mut self.clocks {
            clock[thread] = 0;
        }
        for access_history in self.access_histories.values_mut() {
            if let Some((_, clock)) = &mut access_history.write {
                clock[thread] = 0;
            }
            for clock in access_history.reads.values_mut() {
                clock[thread] = 0;
            }
        }
        let variables: Vec<Variable> = self.access_histories.keys().copied().collect();
        variables.into_iter().for_each(|variable| self.tidy(variable));
    }

    /// Drops what nothing can come of: accesses before which no counted one comes.
    fn tidy(&mut self, variable: Variable) {
        let Some(access_history) = self.access_histories.get_mut(&variable) else { return };
        let says_nothing = |clock: &Clock| clock.iter().all(|entry| *entry == 0);
        access_history.write.take_if(|(_, clock)| says_nothing(clock));
        access_history.reads.retain(|_, clock| !says_nothing(clock));
        if access_history.write.is_none() && access_history.reads.is_empty() {
            self.access_histories.remove(&variable);
        }
    }
}
