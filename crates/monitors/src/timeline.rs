//! Where in a run something happened: a thread and a time of that thread, in 64 bits.
//!
//! The time of a thread is its epoch, counted from the thread's first. Events that carry no epoch are
//! given one each. Threads that are gone leave their place to others; the times of a place go on
//! growing, so that a step of the thread before is never taken for one of the thread after.

use events::{Epoch, ThreadId};
use rustc_hash::FxHashMap;

/// How many bits of a step are its time.
const TIME_BITS: u32 = 40;
const LAST_TIME: u64 = (1 << TIME_BITS) - 1;

/// How many epochs of a thread may turn out to lie before the first that was seen.
const ROOM_BEFORE_FIRST: u64 = 1 << 20;

/// The place of a thread in the tables of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lane(pub(crate) u32);

impl Lane {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A time of a thread; or none, when it is not known or does not matter any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step(u64);

impl Step {
    pub(crate) const NONE: Step = Step(0);

    /// Times begin at 1.
    pub(crate) fn new(lane: Lane, time: u64) -> Step {
        Step((u64::from(lane.0) << TIME_BITS) | time.min(LAST_TIME))
    }

    pub(crate) fn is_none(self) -> bool {
        self == Step::NONE
    }

    pub(crate) fn lane(self) -> Lane {
        Lane((self.0 >> TIME_BITS) as u32)
    }

    pub(crate) fn time(self) -> u64 {
        self.0 & LAST_TIME
    }
}

/// The clock of the thread that has a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeline {
    /// The time of the thread's latest event, [`events::Action::EarlierRead`], [`events::Action::EarlierWrite`] ones left out.
    now: u64,
    /// The time of the last thread's latest event in this lane.
    before: u64,
    /// An epoch of this thread and its time.
    anchor: Option<(u64, u64)>,
    has_ended: bool,
}

impl Timeline {
    /// The time of the latest event.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Whether the thread has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The time of an event that happens now.
    pub(crate) fn advance(&mut self, epoch: Epoch) -> u64 {
        let time = if epoch.0 == 0 {
            if self.anchor.is_some() { self.now } else { self.now + 1 }
        } else {
            self.past(epoch)
        };
        self.now = self.now.max(time).min(LAST_TIME);
        self.now
    }

    /// The time of an epoch.
    pub(crate) fn past(&mut self, epoch: Epoch) -> u64 {
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

/// Which thread has which lane.
#[derive(Debug)]
pub(crate) struct Lanes {
    by_thread: FxHashMap<ThreadId, Lane>,
    threads: Vec<ThreadId>,
    /// Threads that were asked for, by the last bits of their number.
    recent: Box<[(ThreadId, Lane); RECENT]>,
    /// Lanes of threads that have ended, in the order in which they did.
    ended: Vec<Lane>,
}

/// How many threads are found without a search.
const RECENT: usize = 256;

/// Stands for no thread at all among the recent ones.
const NOBODY: (ThreadId, Lane) = (ThreadId(u32::MAX), Lane(u32::MAX));

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            by_thread: FxHashMap::default(),
            threads: Vec::new(),
            recent: Box::new([NOBODY; RECENT]),
            ended: Vec::new(),
        }
    }
}

impl Lanes {
    /// The lane of a thread that has one.
    #[inline]
    pub(crate) fn find(&mut self, thread: ThreadId) -> Option<Lane> {
        let (recent, lane) = self.recent[thread.0 as usize % RECENT];
        if recent == thread && lane != NOBODY.1 { Some(lane) } else { self.search(thread) }
    }

    fn search(&mut self, thread: ThreadId) -> Option<Lane> {
        let lane = *self.by_thread.get(&thread)?;
        self.recent[thread.0 as usize % RECENT] = (thread, lane);
        Some(lane)
    }

    /// The thread that has a lane now.
    pub(crate) fn thread(&self, lane: Lane) -> ThreadId {
        self.threads[lane.index()]
    }

    /// A new lane for a thread.
    pub(crate) fn add(&mut self, thread: ThreadId) -> Lane {
        let lane = Lane(self.threads.len() as u32);
        self.threads.push(thread);
        self.by_thread.insert(thread, lane);
        lane
    }

    /// The lane of a thread that has ended and may be reused, given to another thread. Looks at the
    /// lanes that have waited longest.
    pub(crate) fn reuse(
        &mut self,
        thread: ThreadId,
        may_be_reused: impl Fn(Lane) -> bool,
    ) -> Option<Lane> {
        let at = self.ended.iter().take(LOOKED_AT).position(|lane| may_be_reused(*lane))?;
        let lane = self.ended.remove(at);
        let before = self.threads[lane.index()];
        self.by_thread.remove(&before);
        self.recent[before.0 as usize % RECENT] = NOBODY;
        self.threads[lane.index()] = thread;
        self.by_thread.insert(thread, lane);
        Some(lane)
    }

    /// The thread of the lane has ended.
    pub(crate) fn end(&mut self, lane: Lane) {
        if !self.ended.contains(&lane) {
            self.ended.push(lane);
        }
    }

    /// How many lanes there are.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }
}

/// How many ended threads are asked whether their lane may be reused.
const LOOKED_AT: usize = 64;
