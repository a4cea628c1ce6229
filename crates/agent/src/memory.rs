//! The memory that the Java half and the agent share.
//!
//! It is allocated once, zeroed, and never freed: hooks may run until the very end of the process. Its
//! pages become real only when they are touched.
//!
//! | part | written by | read by |
//! |---|---|---|
//! | ring | hooks, one slot a ticket | the consumer, which clears what it has read |
//! | tail | hooks: the next ticket | the consumer |
//! | head | the consumer: everything before it is free again | hooks |
//! | owners | a thread that takes a block of epochs | all hooks |
//! | sites | the hook that resolves a site | all hooks |
//! | statics | hooks: the words of static fields | hooks |
//! | notes | hooks: the reads that each thread notes of shared variables | hooks |
//! | suspects | the consumer: where threads are held back, and how often; hooks count down | hooks |
//! | holds, slices | hooks: how often and how long threads were held back | the agent, at the end |

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI8, AtomicI32, AtomicI64, AtomicU64, Ordering};

use agent_protocol::layout::{
    COUNTER_DISTANCE, EPOCH_BLOCKS, REGIONS, RING_SLOTS, SHARED_BITS, SITES, SLOT_BITS, STATICS,
};
use events::SiteId;

use crate::record::Record;

/// Notes of reads: a region for each of some threads, and one that stays empty.
const NOTES: usize = (REGIONS + 1) << SHARED_BITS;

/// Addresses of the parts.
#[derive(Debug)]
pub(crate) struct Memory {
    ring: NonNull<[AtomicU64; 4]>,
    counters: NonNull<AtomicI64>,
    owners: NonNull<AtomicI32>,
    sites: NonNull<u64>,
    statics: NonNull<[u64; 2]>,
    notes: NonNull<u64>,
    suspects: NonNull<AtomicI8>,
}

// SAFETY: the parts are only reached through atomics, from here and from the hooks.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Zeroed memory that begins on a page. A large request of ordinary alignment gets fresh pages from the
/// system, which are zero already and become real when they are touched; a request for aligned memory
/// would be cleared by hand.
fn allocate<T>(count: usize) -> NonNull<T> {
    const PAGE: usize = 4096;
    let layout = Layout::array::<u64>((count * size_of::<T>() + PAGE) / 8);
    let layout = layout.unwrap_or(Layout::new::<T>());
    // SAFETY: no part is of size zero.
    let address = unsafe { alloc_zeroed(layout) };
    if address.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: there is a page more than needed.
    let aligned = unsafe { address.add(address.align_offset(PAGE)) };
    // SAFETY: it lies inside of what was allocated.
    unsafe { NonNull::new_unchecked(aligned.cast()) }
}

impl Memory {
    pub(crate) fn new() -> Memory {
        let memory = Memory {
            ring: allocate(RING_SLOTS),
            counters: allocate(COUNTERS * COUNTER_DISTANCE / 8),
            owners: allocate(EPOCH_BLOCKS),
            sites: allocate(SITES),
            statics: allocate(STATICS),
            notes: allocate(NOTES),
            suspects: allocate(SITES),
        };
        // SAFETY: the first owner lies in the table. Block 0 is no thread's.
        unsafe { memory.owners.as_ref() }.store(-1, Ordering::Relaxed);
        memory.counter(Counter::NextBlock).store(1, Ordering::Relaxed);
        memory.counter(Counter::NextObject).store(1, Ordering::Relaxed);
        memory
    }

    fn counter(&self, which: Counter) -> &AtomicI64 {
        // SAFETY: the counters lie at this distance, and there are as many as have names.
        unsafe { self.counters.add(which as usize * COUNTER_DISTANCE / 8).as_ref() }
    }

    /// The address of a part.
    pub(crate) fn address(&self, part: Part) -> i64 {
        match part {
            Part::Ring => self.ring.as_ptr() as i64,
            Part::Owners => self.owners.as_ptr() as i64,
            Part::Sites => self.sites.as_ptr() as i64,
            Part::Statics => self.statics.as_ptr() as i64,
            Part::Notes => self.notes.as_ptr() as i64,
            Part::Suspects => self.suspects.as_ptr() as i64,
            Part::Counter(counter) => std::ptr::from_ref(self.counter(counter)) as i64,
        }
    }

    /// How many tickets hooks have drawn.
    pub(crate) fn tail(&self) -> i64 {
        self.counter(Counter::Tail).load(Ordering::Acquire)
    }

    /// How many records have been taken.
    pub(crate) fn head(&self) -> i64 {
        self.counter(Counter::Head).load(Ordering::Relaxed)
    }

    /// Gives back the slots before this ticket.
    pub(crate) fn set_head(&self, head: i64) {
        self.counter(Counter::Head).store(head, Ordering::Release);
    }

    /// Lets threads be held back at a site so many times, unless somebody has said so before.
    pub(crate) fn suspect(&self, site: SiteId, holds: i8) {
        let place = site.0 as usize;
        if place < SITES {
            // SAFETY: the place lies in the table.
            let left = unsafe { self.suspects.add(place).as_ref() };
            let _ = left.compare_exchange(0, holds, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// How often threads were held back, and how many slices of time that took.
    pub(crate) fn holds(&self) -> (u64, u64) {
        let count = |which| self.counter(which).load(Ordering::Relaxed).max(0) as u64;
        (count(Counter::Holds), count(Counter::Slices))
    }

    /// Takes the record of a ticket, if it has been written.
    pub(crate) fn take(&self, ticket: i64) -> Option<Record> {
        // SAFETY: the index lies in the ring.
        let slot = unsafe { self.ring.add(ticket as usize & (RING_SLOTS - 1)).as_ref() };
        let head = slot[0].load(Ordering::Acquire);
        if head == 0 {
            return None;
        }
        let [epoch, first, second] =
            [&slot[1], &slot[2], &slot[3]].map(|word| word.load(Ordering::Relaxed));
        slot[0].store(0, Ordering::Relaxed);
        Some(Record { head, epoch, first, second })
    }
}

/// A part of the memory that the Java half writes to or reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Ring,
    Owners,
    Sites,
    Statics,
    Notes,
    Suspects,
    Counter(Counter),
}

/// A number that threads count up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// The next ticket.
    Tail,
    /// Everything before it is free again.
    Head,
    /// The next block of epochs.
    NextBlock,
    /// The number of the next object.
    NextObject,
    /// How often threads were held back.
    Holds,
    /// How many slices of time that took.
    Slices,
}

const COUNTERS: usize = Counter::Slices as usize + 1;

/// A slot is as large as the hooks believe.
const _: () = assert!(size_of::<[AtomicU64; 4]>() == 1 << SLOT_BITS);
