//! What the clock of a thread was at an earlier time of it.
//!
//! Only joins change what a thread knows of others, and most change little: each change is kept with the value
//! before it, and an earlier clock is the present one with the later changes undone. A bounded number of
//! changes is kept. A clock from before the oldest of them is answered by the oldest that is known: it
//! contains the right one, so that it can hide races and cannot report false ones. All changes of one time are
//! dropped together, because a clock is only ever one that the thread really had: whoever is ordered after an
//! operation must also be ordered after all that came before that operation.

use std::collections::VecDeque;

use super::clock::Clock;
use crate::timeline::ThreadSlot;

/// How many changes of a clock are kept.
const MOST_CHANGES: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Change {
    /// The time of the thread since when the new value holds.
    since: u64,
    slot: ThreadSlot,
    before: u64,
}

/// The latest changes of a clock, oldest first.
#[derive(Debug, Default)]
pub(super) struct ClockHistory {
    changes: VecDeque<Change>,
}

impl ClockHistory {
    /// Joins another clock into that of the thread, whose time is `now`; returns whether that changed anything.
    pub(super) fn join(&mut self, clock: &mut Clock, other: &Clock, now: u64) -> bool {
        let changes = &mut self.changes;
        let known = changes.len();
        clock.join_with(other, |slot, before| {
            changes.push_back(Change { since: now, slot, before });
        });
        if changes.len() == known {
            return false;
        }
        while changes.len() > MOST_CHANGES {
            let oldest = changes[0].since;
            while changes.front().is_some_and(|change| change.since == oldest) {
                changes.pop_front();
            }
        }
        true
    }

    /// What `clock` was when the time of its thread was `time`.
    pub(super) fn clock_at(&self, clock: &Clock, time: u64) -> Clock {
        let mut past = Clock::default();
        self.write_clock_at(clock, time, &mut past);
        past
    }

    /// The same, in the room of another clock.
    pub(super) fn write_clock_at(&self, clock: &Clock, time: u64, past: &mut Clock) {
        past.assign(clock);
        for change in self.changes.iter().rev().take_while(|change| change.since > time) {
            past.set(change.slot, change.before);
        }
    }

    /// How many words it takes.
    pub(super) fn size(&self) -> usize {
        3 * self.changes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(times: &[u64]) -> Clock {
        let mut clock = Clock::default();
        for (at, time) in times.iter().enumerate() {
            clock.set(ThreadSlot(at as u32), *time);
        }
        clock
    }

    #[test]
    fn earlier_clocks_are_known() {
        let mut history = ClockHistory::default();
        let mut now = clock(&[0, 1, 1]);
        assert!(history.join(&mut now, &clock(&[0, 3, 1]), 5));
        assert!(!history.join(&mut now, &clock(&[0, 2, 1]), 6));
        assert!(history.join(&mut now, &clock(&[0, 3, 4, 7]), 8));
        assert_eq!(history.clock_at(&now, 4), clock(&[0, 1, 1, 0]));
        assert_eq!(history.clock_at(&now, 5), clock(&[0, 3, 1, 0]));
        assert_eq!(history.clock_at(&now, 7), clock(&[0, 3, 1, 0]));
        assert_eq!(history.clock_at(&now, 8), clock(&[0, 3, 4, 7]));
    }

    #[test]
    fn what_was_forgotten_is_answered_by_a_later_clock_that_the_thread_had() {
        let mut history = ClockHistory::default();
        let mut now = Clock::default();
        let mut had = Vec::new();
        for time in 1..1000 {
            // Components that change together stay equal in every clock that the thread had.
            history.join(&mut now, &clock(&[0, time, time, time]), time);
            had.push(now.clone());
        }
        assert!(history.size() <= 3 * MOST_CHANGES);
        for time in 1..1000_usize {
            let past = history.clock_at(&now, time as u64);
            assert!(past.covers_all(&had[time - 1]), "{time}");
            assert!(had.contains(&past), "{time}: {past:?}");
        }
        assert_eq!(history.clock_at(&now, 990), had[989]);
    }
}
