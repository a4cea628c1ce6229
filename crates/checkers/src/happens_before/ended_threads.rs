//! Threads that have ended and whose slots other threads have now.
//!
//! Others may still join them, report what they did, and race with it. When there are too many, those are forgotten
//! that ended before everything that still runs, and then those that ended longest ago. Whoever asks for one of them gets a
//! clock that contains theirs, and races with them are not reported, so that forgetting can hide races and cannot report
//! false ones.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use events::{Epoch, ThreadId};
use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::clock_history::ClockHistory;
use crate::timeline::{ThreadSlot, ThreadTime, Timeline};

/// How many words ended threads may take.
const MOST_WORDS: usize = 1 << 21;

/// How many words a thread takes besides its clock.
const WORDS_PER_THREAD: usize = 24;

/// A thread that has ended.
#[derive(Debug)]
pub(super) struct EndedThread {
    pub(super) slot: ThreadSlot,
    pub(super) timeline: Timeline,
    /// Its clock at its end, with its own time.
    pub(super) clock: Clock,
    pub(super) history: ClockHistory,
}

impl EndedThread {
    /// The time of one of its epochs.
    pub(super) fn time_of(&mut self, epoch: Epoch) -> ThreadTime {
        let time = self.timeline.time_of(epoch).min(self.timeline.now());
        ThreadTime::new(self.slot, time)
    }

    fn size(&self) -> usize {
        WORDS_PER_THREAD + self.clock.size() + self.history.size()
    }
}

/// Who had a slot before the thread that has it now.
#[derive(Debug, Default)]
struct FormerThreads {
    /// Each with its last time, in the order in which they had the slot.
    threads: VecDeque<(u64, ThreadId)>,
    /// Until when it is not known any more who had the slot.
    forgotten_until: u64,
}

/// The ended threads that may still matter.
#[derive(Debug, Default)]
pub(super) struct EndedThreads {
    by_thread: FxHashMap<ThreadId, EndedThread>,
    /// Each with its last time, in the order in which their slots were reused.
    in_order: VecDeque<(ThreadTime, ThreadId)>,
    by_slot: Vec<FormerThreads>,
    words: usize,
    /// The clocks of those that were forgotten.
    forgotten: Clock,
}

impl EndedThreads {
    /// Keeps a thread whose slot is given to another one.
    pub(super) fn add(&mut self, thread: ThreadId, ended: EndedThread) {
        let (slot, last) = (ended.slot, ended.timeline.now());
        if self.by_slot.len() <= slot.index() {
            self.by_slot.resize_with(slot.index() + 1, FormerThreads::default);
        }
        self.by_slot[slot.index()].threads.push_back((last, thread));
        self.in_order.push_back((ThreadTime::new(slot, last), thread));
        self.words += ended.size();
        // A thread that did something after its end has ended twice. Its last clock contains the one before.
        if let Some(before) = self.by_thread.insert(thread, ended) {
            self.words -= before.size();
        }
    }

    pub(super) fn get_mut(&mut self, thread: ThreadId) -> Option<&mut EndedThread> {
        self.by_thread.get_mut(&thread)
    }

    /// The clock of a thread at its end; if nothing is known of the thread, one that contains it.
    pub(super) fn last_clock(&self, thread: ThreadId) -> &Clock {
        self.by_thread.get(&thread).map_or(&self.forgotten, |ended| &ended.clock)
    }

    /// The clock of a thread at one of its epochs; if nothing is known of the thread, one that contains it.
    pub(super) fn clock_at(&mut self, thread: ThreadId, epoch: Epoch) -> Clock {
        let Some(ended) = self.by_thread.get_mut(&thread) else { return self.forgotten.clone() };
        let time = ended.time_of(epoch);
        let mut clock = ended.history.clock_at(&ended.clock, time.time());
        clock.set(time.slot(), time.time());
        clock
    }

    /// Who had a slot at a time, `now` being the thread that has it now. None if that was forgotten.
    pub(super) fn thread_at(&self, thread_time: ThreadTime, now: ThreadId) -> Option<ThreadId> {
        let Some(former) = self.by_slot.get(thread_time.slot().index()) else { return Some(now) };
        if thread_time.time() <= former.forgotten_until {
            return None;
        }
        let at = former.threads.partition_point(|(last, _)| *last < thread_time.time());
        Some(former.threads.get(at).map_or(now, |(_, thread)| *thread))
    }

    pub(super) fn is_full(&self) -> bool {
        self.words > MOST_WORDS
    }

    /// Forgets threads that ended before everything that still runs, and if that is not enough, the older half.
    pub(super) fn make_room(&mut self, known: &Clock) {
        let mut in_order = std::mem::take(&mut self.in_order);
        in_order.retain(|(last, thread)| {
            let is_over = known.covers(*last);
            if is_over {
                self.forget(*last, *thread);
            }
            !is_over
        });
        if self.words > MOST_WORDS / 2 {
            for (last, thread) in in_order.drain(..in_order.len() / 2) {
                self.forget(last, thread);
            }
        }
        self.in_order = in_order;
    }

    /// Forgets a thread that had its slot earlier than all others that are still known to have had it.
    fn forget(&mut self, last: ThreadTime, thread: ThreadId) {
        let former = &mut self.by_slot[last.slot().index()];
        former.threads.pop_front();
        former.forgotten_until = last.time();
        if let Entry::Occupied(entry) = self.by_thread.entry(thread)
            && entry.get().slot == last.slot()
            && entry.get().timeline.now() == last.time()
        {
            let ended = entry.remove();
            self.words -= ended.size();
            self.forgotten.join(&ended.clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that is the only one ever to know of itself, and has ended.
    fn ended(slot: u32, last: u64, clock_size: u32) -> EndedThread {
        let slot = ThreadSlot(slot);
        let mut timeline = Timeline::default();
        while timeline.now() < last {
            timeline.advance(Epoch(0));
        }
        let mut clock = Clock::default();
        clock.set(ThreadSlot(clock_size), 1);
        clock.set(slot, last);
        EndedThread { slot, timeline, clock, history: ClockHistory::default() }
    }

    #[test]
    fn every_thread_that_had_a_slot_is_known() {
        let mut threads = EndedThreads::default();
        threads.add(ThreadId(7), ended(1, 3, 4));
        threads.add(ThreadId(8), ended(1, 5, 4));
        let thread_at = |slot, time| {
            threads.thread_at(ThreadTime::new(ThreadSlot(slot), time), ThreadId(9)).map(|it| it.0)
        };
        assert_eq!(
            (1..8).map(|time| thread_at(1, time)).collect::<Vec<_>>(),
            [7, 7, 7, 8, 8, 9, 9].map(Some)
        );
        assert_eq!(thread_at(0, 1), Some(9));
        assert_eq!(thread_at(2, 1), Some(9));
    }

    #[test]
    fn what_is_over_is_forgotten_first_and_the_oldest_next() {
        let mut threads = EndedThreads::default();
        let mut next = 0;
        while !threads.is_full() {
            next += 1;
            threads.add(ThreadId(next), ended(next % 4, u64::from(next), 4096));
        }
        let mut known = Clock::default();
        known.set(ThreadSlot(0), 8);
        known.set(ThreadSlot(1), 1000);
        let rest = ThreadId(next + 1);
        let thread_at = |threads: &EndedThreads, time: u64| {
            threads.thread_at(ThreadTime::new(ThreadSlot((time % 4) as u32), time), rest)
        };
        threads.make_room(&known);
        assert!(!threads.is_full());
        for over in [4, 8, 9, 97] {
            assert_eq!(thread_at(&threads, over), None);
            assert!(
                threads.last_clock(ThreadId(over as u32)).get(ThreadSlot((over % 4) as u32))
                    >= over
            );
        }
        assert_eq!(thread_at(&threads, u64::from(next) - 2), Some(ThreadId(next - 2)));
        let before = threads.by_thread.len();
        while !threads.is_full() {
            next += 1;
            threads.add(ThreadId(next), ended(next % 4, u64::from(next), 4096));
        }
        threads.make_room(&Clock::default());
        assert!(threads.by_thread.len() <= before.max(MOST_WORDS / 4096 / 2 + 1));
        assert_eq!(threads.words, threads.by_thread.values().map(EndedThread::size).sum::<usize>());
    }
}
