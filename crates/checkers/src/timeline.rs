//! When something happened in a run: a thread slot and a time of that thread, in 64 bits.
//!
//! The time of a thread is its epoch, counted from the thread's first. Events that carry no epoch are
//! given one each. The slot of a thread that has ended is reused by another; the times of a slot keep
//! growing, so that a time of the earlier thread is never mistaken for one of the later thread.

use events::{Epoch, ThreadId};
use rustc_hash::FxHashMap;

/// How many bits of a [`ThreadTime`] are the time; the others are the slot.
const TIME_BITS: u32 = 40;
const LAST_TIME: u64 = (1 << TIME_BITS) - 1;

/// How many epochs of a thread may turn out to lie before the first that was seen.
const ROOM_BEFORE_FIRST: u64 = 1 << 20;

/// The index of a thread in the tables of a checker. Slots of ended threads are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ThreadSlot(pub(crate) u32);

impl ThreadSlot {
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A time of a thread; or none, when it is not known or does not matter any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadTime(u64);

impl ThreadTime {
    pub(crate) const NONE: ThreadTime = ThreadTime(0);

    /// Times begin at 1.
    #[inline]
    pub(crate) fn new(slot: ThreadSlot, time: u64) -> ThreadTime {
        ThreadTime((u64::from(slot.0) << TIME_BITS) | time.min(LAST_TIME))
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self == ThreadTime::NONE
    }

    #[inline]
    pub(crate) fn slot(self) -> ThreadSlot {
        ThreadSlot((self.0 >> TIME_BITS) as u32)
    }

    #[inline]
    pub(crate) fn time(self) -> u64 {
        self.0 & LAST_TIME
    }
}

/// The clock of the thread that has a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeline {
    /// The time of the thread's latest event, [`events::Action::EarlierRead`] and [`events::Action::EarlierWrite`] left out.
    now: u64,
    /// The time of the last thread's latest event in this slot.
    before: u64,
    /// An epoch of this thread and its time.
    anchor: Option<(u64, u64)>,
    has_ended: bool,
}

impl Timeline {
    /// The time of the latest event.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Whether the thread has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The time of an event that happens now.
    #[inline]
    pub(crate) fn advance(&mut self, epoch: Epoch) -> u64 {
        let time = if epoch.0 == 0 {
            if self.anchor.is_some() { self.now } else { self.now + 1 }
        } else {
            self.time_of(epoch)
        };
        self.now = self.now.max(time).min(LAST_TIME);
        self.now
    }

    /// The time of an epoch.
    #[inline]
    pub(crate) fn time_of(&mut self, epoch: Epoch) -> u64 {
        let (from, time) = *self
            .anchor
            .get_or_insert_with(|| (epoch.0, self.now + 1 + epoch.0.min(ROOM_BEFORE_FIRST)));
        let found = if epoch.0 >= from {
            time.saturating_add(epoch.0 - from)
        } else {
            time.saturating_sub(from - epoch.0)
        };
        found.max(self.before + 1).min(LAST_TIME)
    }

    /// Marks the thread as ended.
    pub(crate) fn end(&mut self) {
        self.has_ended = true;
    }

    /// Makes room for another thread.
    pub(crate) fn restart(&mut self) {
        *self = Timeline { now: self.now, before: self.now, ..Timeline::default() };
    }
}

/// Which thread has which slot.
#[derive(Debug)]
pub(crate) struct ThreadSlots {
    by_thread: FxHashMap<ThreadId, ThreadSlot>,
    threads: Vec<ThreadId>,
    /// Recently used threads, by the last bits of their number.
    recent: Box<[(ThreadId, ThreadSlot); RECENT]>,
    /// ThreadSlots of threads that have ended, in the order in which they did.
    ended: Vec<ThreadSlot>,
}

/// How many threads are found without a search.
const RECENT: usize = 256;

/// Stands for no thread at all among the recent ones.
const NO_THREAD: (ThreadId, ThreadSlot) = (ThreadId(u32::MAX), ThreadSlot(u32::MAX));

impl Default for ThreadSlots {
    fn default() -> ThreadSlots {
        ThreadSlots {
            by_thread: FxHashMap::default(),
            threads: Vec::new(),
            recent: Box::new([NO_THREAD; RECENT]),
            ended: Vec::new(),
        }
    }
}

impl ThreadSlots {
    /// The slot of a thread that has one.
    #[inline]
    pub(crate) fn find(&mut self, thread: ThreadId) -> Option<ThreadSlot> {
        let (recent, slot) = self.recent[thread.0 as usize % RECENT];
        if recent == thread && slot != NO_THREAD.1 { Some(slot) } else { self.search(thread) }
    }

    fn search(&mut self, thread: ThreadId) -> Option<ThreadSlot> {
        let slot = *self.by_thread.get(&thread)?;
        self.recent[thread.0 as usize % RECENT] = (thread, slot);
        Some(slot)
    }

    /// The thread that has a slot now.
    pub(crate) fn thread(&self, slot: ThreadSlot) -> ThreadId {
        self.threads[slot.index()]
    }

    /// A new slot for a thread.
    pub(crate) fn add(&mut self, thread: ThreadId) -> ThreadSlot {
        let slot = ThreadSlot(self.threads.len() as u32);
        self.threads.push(thread);
        self.by_thread.insert(thread, slot);
        slot
    }

    /// The slot of a thread that has ended and may be reused, given to another thread. Looks at the
    /// slots that have waited longest.
    pub(crate) fn reuse(
        &mut self,
        thread: ThreadId,
        may_be_reused: impl Fn(ThreadSlot) -> bool,
    ) -> Option<ThreadSlot> {
        let at = self.ended.iter().take(MOST_CANDIDATES).position(|slot| may_be_reused(*slot))?;
        let slot = self.ended.remove(at);
        let before = self.threads[slot.index()];
        self.by_thread.remove(&before);
        self.recent[before.0 as usize % RECENT] = NO_THREAD;
        self.threads[slot.index()] = thread;
        self.by_thread.insert(thread, slot);
        Some(slot)
    }

    /// The thread of the slot has ended.
    pub(crate) fn end(&mut self, slot: ThreadSlot) {
        if !self.ended.contains(&slot) {
            self.ended.push(slot);
        }
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }
}

/// How many slots of ended threads are considered for reuse.
const MOST_CANDIDATES: usize = 64;
