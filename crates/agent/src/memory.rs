//! The memory that the Java half and the agent share.
//!
//! It is allocated once, zeroed, and never freed: hooks may run until the very end of the process. Its
//! pages become real only when they are touched. This side reaches it through slices of atomics, so that the
//! one place with pointers is `allocate`; hooks reach it by address. The tests of this file are run by
//! `cargo xtask test` once more under `valgrind`, which sees every access beside what was allocated.
//!
//! | part | written by | read by |
//! |---|---|---|
//! | ring, tail, head | hooks and the consumer, as `event_ring` says | hooks and the consumer |
//! | owners | a thread that takes a block of epochs | all hooks |
//! | sites | the hook that resolves a site | all hooks |
//! | statics | hooks: the words of static fields | hooks |
//! | order words | hooks in library code: who released to which place in memory | the same hooks |
//! | notes | hooks: the reads that each thread notes of shared variables | hooks |
//! | suspects | the consumer: where threads are held back, and how often; hooks count down | hooks |
//! | told branches | hooks: of which branches enough has been told, and which methods rest | hooks |
//! | holds, slices | hooks: how often and how long threads were held back | the agent, at the end |

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::atomic::{AtomicI8, AtomicI32, AtomicI64, Ordering};

use agent_protocol::layout::{
    COUNTER_DISTANCE, EPOCH_BLOCKS, ORDER_WORD_BITS, REGIONS, RING_SLOTS, SHARED_BITS, SITE_BYTES,
    SITES, SLOT_BITS, STATICS,
};
use event_ring::Ring;
use events::SiteId;

/// How many words lie between two counters.
const COUNTER_WORDS: usize = COUNTER_DISTANCE / size_of::<AtomicI64>();

/// How much of everything there is.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Slots of the ring; a power of two.
    ring: usize,
    /// Blocks of epochs; block 0 belongs to nobody, since a word of 0 is none.
    epoch_blocks: usize,
    /// Sites.
    sites: usize,
    /// Static fields that get words.
    statics: usize,
    /// Notes of reads.
    notes: usize,
    /// Words of places that library code releases to.
    order_words: usize,
}

/// What a JVM gets. There is a region of notes for each of some threads, and one that stays empty.
const OF_A_JVM: Sizes = Sizes {
    ring: RING_SLOTS,
    epoch_blocks: EPOCH_BLOCKS,
    sites: SITES,
    statics: STATICS,
    notes: (REGIONS + 1) << SHARED_BITS,
    order_words: 1 << ORDER_WORD_BITS,
};

/// The parts.
#[derive(Debug)]
pub(crate) struct Memory {
    ring: &'static [[AtomicI64; event_ring::WORDS]],
    counters: &'static [AtomicI64],
    owners: &'static [AtomicI32],
    sites: &'static [[AtomicI64; SITE_BYTES / 8]],
    statics: &'static [[AtomicI64; 2]],
    notes: &'static [AtomicI64],
    order_words: &'static [AtomicI64],
    suspects: &'static [AtomicI8],
    told_branches: &'static [AtomicI32],
}

/// What may be made of zeros and changed by others.
///
/// # Safety
///
/// The type consists of atomic integers only.
unsafe trait SharedWords: Sync + 'static {}

// SAFETY: these are atomic integers.
unsafe impl SharedWords for AtomicI8 {}
// SAFETY: as above.
unsafe impl SharedWords for AtomicI32 {}
// SAFETY: as above.
unsafe impl SharedWords for AtomicI64 {}
// SAFETY: as above.
unsafe impl<T: SharedWords, const COUNT: usize> SharedWords for [T; COUNT] {}

/// Zeroed memory that begins on a page. A large request of ordinary alignment gets fresh pages from the
/// system, which are zero already and become real when they are touched; a request for aligned memory
/// would be cleared by hand.
fn allocate<T: SharedWords>(count: usize) -> &'static [T] {
    const PAGE: usize = 4096;
    let bytes = count * size_of::<T>();
    let layout = Layout::array::<u64>((bytes + PAGE).div_ceil(8)).unwrap_or(Layout::new::<T>());
    // SAFETY: there is a page more than needed, so the size is not zero.
    let address = unsafe { alloc_zeroed(layout) };
    if address.is_null() {
        handle_alloc_error(layout);
    }
    let skipped = address.align_offset(PAGE);
    assert!(skipped + bytes <= layout.size(), "the parts have sizes that a machine can address");
    // SAFETY: by the line above, so many bytes from there on lie in what was allocated. They are aligned for
    // all atomics, zero is a value of each, and nothing frees them.
    unsafe { std::slice::from_raw_parts(address.add(skipped).cast(), count) }
}

impl Memory {
    pub(crate) fn new() -> Memory {
        Memory::of(OF_A_JVM)
    }

    fn of(sizes: Sizes) -> Memory {
        let memory = Memory {
            ring: allocate(sizes.ring),
            counters: allocate(COUNTERS * COUNTER_WORDS),
            owners: allocate(sizes.epoch_blocks),
            sites: allocate(sizes.sites),
            statics: allocate(sizes.statics),
            notes: allocate(sizes.notes),
            order_words: allocate(sizes.order_words),
            suspects: allocate(sizes.sites),
            told_branches: allocate(sizes.sites),
        };
        memory.owners[0].store(-1, Ordering::Relaxed);
        memory.counter(Counter::NextBlock).store(1, Ordering::Relaxed);
        memory.counter(Counter::NextObject).store(1, Ordering::Relaxed);
        memory
    }

    fn counter(&self, which: Counter) -> &AtomicI64 {
        &self.counters[which as usize * COUNTER_WORDS]
    }

    /// The ring of events.
    pub(crate) fn ring(&self) -> Ring<'_, AtomicI64> {
        Ring::new(self.ring, self.counter(Counter::Tail), self.counter(Counter::Head))
    }

    /// The address of a part.
    pub(crate) fn address(&self, part: Part) -> i64 {
        match part {
            Part::Ring => self.ring.as_ptr() as i64,
            Part::Owners => self.owners.as_ptr() as i64,
            Part::Sites => self.sites.as_ptr() as i64,
            Part::Statics => self.statics.as_ptr() as i64,
            Part::Notes => self.notes.as_ptr() as i64,
            Part::OrderWords => self.order_words.as_ptr() as i64,
            Part::Suspects => self.suspects.as_ptr() as i64,
            Part::ToldBranches => self.told_branches.as_ptr() as i64,
            Part::Counter(counter) => std::ptr::from_ref(self.counter(counter)) as i64,
        }
    }

    /// Lets threads be held back at a site so many times, unless somebody has said so before.
    pub(crate) fn suspect(&self, site: SiteId, holds: i8) {
        if let Some(left) = self.suspects.get(site.0 as usize) {
            let _ = left.compare_exchange(0, holds, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// How often threads were held back, and how many slices of time that took.
    pub(crate) fn holds(&self) -> (u64, u64) {
        let count = |which| self.counter(which).load(Ordering::Relaxed).max(0) as u64;
        (count(Counter::Holds), count(Counter::Slices))
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
    OrderWords,
    Suspects,
    ToldBranches,
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
const _: () = assert!(size_of::<[AtomicI64; event_ring::WORDS]>() == 1 << SLOT_BITS);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use event_ring::{FIRST_WORDS, Record};

    use super::*;

    const SMALL: Sizes =
        Sizes { ring: 64, epoch_blocks: 5, sites: 7, statics: 3, notes: 65, order_words: 4 };

    /// The word at an address that the Java half was told, as a hook reaches it.
    fn word_at(address: i64) -> &'static AtomicI64 {
        // SAFETY: the tests ask for words of the parts only, which are never freed; `valgrind` looks.
        unsafe { &*(address as *const AtomicI64) }
    }

    /// What `put` of `ScissionEvents.java` does when it finds room at the first look, by address as it does it. Between
    /// its look and its writing, `meanwhile` happens.
    fn put_as_a_hook(memory: &Memory, record: Record, meanwhile: impl FnOnce()) {
        let counter = |which| word_at(memory.address(Part::Counter(which)));
        let (tail, head) = (counter(Counter::Tail), counter(Counter::Head));
        let mask = SMALL.ring as i64 - 1;
        let ticket = tail.fetch_add(1, Ordering::SeqCst);
        assert!(ticket - head.load(Ordering::SeqCst) <= mask);
        meanwhile();
        let slot = memory.address(Part::Ring) + ((ticket & mask) << SLOT_BITS);
        for (index, word) in record.into_iter().enumerate().skip(1) {
            word_at(slot + 8 * index as i64).store(word, Ordering::Relaxed);
        }
        word_at(slot).store(record[0], Ordering::Release);
    }

    fn record(content: i64) -> Record {
        [FIRST_WORDS + content, content, content, content]
    }

    fn content(record: Record) -> i64 {
        let content = record[0] - FIRST_WORDS;
        assert_eq!(record, [record[0], content, content, content], "a torn record");
        content
    }

    #[test]
    fn every_part_is_zero_on_a_page_of_its_own_and_as_large_as_it_says() {
        let memory = Memory::of(SMALL);
        let (tail, head) = (Part::Counter(Counter::Tail), Part::Counter(Counter::Head));
        for (part, words) in [
            (Part::Ring, 64 * 4),
            (tail, 1),
            (head, 1),
            (Part::Sites, 7 * 2),
            (Part::OrderWords, 4),
            (Part::Statics, 3 * 2),
            (Part::Notes, 65),
        ] {
            let first = memory.address(part);
            for index in 0..words {
                let word = word_at(first + 8 * index);
                assert_eq!(word.swap(-1, Ordering::Relaxed), 0, "word {index} of part {part:?}");
            }
        }
        let parts = [Part::Ring, Part::Owners, Part::Sites, Part::Statics, Part::Notes];
        for part in parts.into_iter().chain([tail, Part::Suspects]) {
            assert_eq!(memory.address(part) % 4096, 0, "{part:?}");
        }
        let owners: Vec<i32> = memory.owners.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        assert_eq!(owners, [-1, 0, 0, 0, 0]);
        for counter in [Counter::NextBlock, Counter::NextObject] {
            let address = memory.address(Part::Counter(counter));
            assert_eq!(word_at(address).load(Ordering::Relaxed), 1);
        }
        assert_eq!(memory.address(head) - memory.address(tail), COUNTER_DISTANCE as i64);
    }

    #[test]
    fn sites_beyond_the_table_are_never_suspected() {
        let memory = Memory::of(SMALL);
        for site in [0, 6, 7, u32::MAX] {
            memory.suspect(SiteId(site), 3);
        }
        let suspects = memory.suspects.iter().map(|it| it.load(Ordering::Relaxed));
        assert_eq!(suspects.collect::<Vec<_>>(), [3, 0, 0, 0, 0, 0, 3]);
    }

    /// A thread draws its ticket and is paused for longer than the consumer waits for it. The others go round the
    /// ring many times before it goes on. Its record is lost and counted; all others arrive whole and in order.
    #[test]
    fn a_hook_that_was_paused_harms_no_other_record() {
        const OTHERS: i64 = 3;
        const RECORDS: i64 = 2_000;
        let memory: &'static Memory = Box::leak(Box::new(Memory::of(SMALL)));
        let goes_on: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let mut consumer = memory.ring().consumer();

        let paused = thread::spawn(move || {
            put_as_a_hook(memory, record(-1), || {
                while !goes_on.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        });
        while consumer.drawn() == 0 {
            thread::yield_now();
        }
        // The patience of the consumer has come to its end.
        assert_eq!(consumer.take(1, 1), None);
        consumer.give_back();
        assert_eq!((consumer.position(), consumer.lost()), (1, 1));

        let others: Vec<_> = (0..OTHERS)
            .map(|other| {
                thread::spawn(move || {
                    for number in 0..RECORDS {
                        memory.ring().put(record(other << 32 | number), thread::yield_now);
                    }
                })
            })
            .collect();
        let mut next: BTreeMap<i64, i64> = BTreeMap::new();
        let mut taken = 0;
        while taken < OTHERS * RECORDS {
            while let Some(record) = consumer.take(consumer.drawn(), 0) {
                let content = content(record);
                let expected = next.entry(content >> 32).or_default();
                assert_eq!(content & 0xffff_ffff, *expected);
                *expected += 1;
                taken += 1;
                // The paused thread writes while the others are at work.
                if taken == OTHERS * RECORDS / 2 {
                    goes_on.store(true, Ordering::Release);
                }
            }
            consumer.give_back();
            thread::yield_now();
        }
        for thread in others.into_iter().chain([paused]) {
            thread.join().expect("the thread ends");
        }
        assert_eq!(consumer.take(consumer.drawn(), 0), None);
        assert_eq!(consumer.lost(), 1);
        memory.ring().end();
    }
}
