//! The memory that the Java half and the agent share.
//!
//! It is allocated once (notes: once a thread needs them), zeroed, and never freed: hooks may run until the very end of the process. Its
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
//! | notes | hooks: the reads that each thread notes of shared variables, and which threads have noted some | hooks |
//! | suspects | the consumer: where threads are held back, and how often; hooks count down | hooks |
//! | told branches | hooks: of which branches enough has been told, and which methods rest | hooks |
//! | holds, slices | hooks: how often and how long threads were held back | the agent, at the end |
//! | waited | the agent: how long threads waited for room in the ring | the agent |

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicI8, AtomicI32, AtomicI64, Ordering};
use std::time::Duration;

use agent_protocol::layout::{
    COUNTER_DISTANCE, EPOCH_BLOCKS, NOTE_PAGE_BITS, NOTE_PAGES, NOTE_STEP_BITS, ORDER_WORD_BITS,
    REGIONS, RING_SLOTS, SHARED_BITS, SITE_BYTES, SITES, SLOT_BITS, STATICS,
};
use event_ring::Ring;
use events::SiteId;
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, mprotect};

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
    /// Words of places that library code releases to.
    order_words: usize,
}

/// What a JVM gets.
const OF_A_JVM: Sizes = Sizes {
    ring: RING_SLOTS,
    epoch_blocks: EPOCH_BLOCKS,
    sites: SITES,
    statics: STATICS,
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
    notes: NoteRegions,
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
            notes: NoteRegions::new(),
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
            Part::NoNotes => self.notes.address(NoteRegions::EMPTY),
            Part::Noters => self.notes.address(NoteRegions::NOTERS),
            Part::OrderWords => self.order_words.as_ptr() as i64,
            Part::Suspects => self.suspects.as_ptr() as i64,
            Part::ToldBranches => self.told_branches.as_ptr() as i64,
            Part::Counter(counter) => std::ptr::from_ref(self.counter(counter)) as i64,
        }
    }

    /// The address of the region of notes of a thread, which is reserved now; 0 if there is no room.
    pub(crate) fn reserve_notes(&self, region: usize) -> i64 {
        if region < REGIONS { self.notes.reserve(region).unwrap_or(0) } else { 0 }
    }

    /// Makes a step of a region of notes writable.
    pub(crate) fn open_notes(&self, region: usize, step: usize) -> bool {
        region <= NoteRegions::NOTERS && self.notes.open(region, step)
    }

    /// Lets threads be held back at a site so many times, unless somebody has said so before.
    pub(crate) fn suspect(&self, site: SiteId, holds: i8) {
        if let Some(left) = self.suspects.get(site.0 as usize) {
            let _ = left.compare_exchange(0, holds, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// A thread has waited for room in the ring.
    pub(crate) fn waited(&self, time: Duration) {
        let time = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        self.counter(Counter::Waited).fetch_add(time, Ordering::Relaxed);
    }

    /// How long all threads together have waited for room in the ring.
    pub(crate) fn time_waited(&self) -> Duration {
        let time = self.counter(Counter::Waited).load(Ordering::Relaxed);
        Duration::from_micros(time.unsigned_abs())
    }

    /// How often threads were held back, and how many slices of time that took.
    pub(crate) fn holds(&self) -> (u64, u64) {
        let count = |which| self.counter(which).load(Ordering::Relaxed).max(0) as u64;
        (count(Counter::Holds), count(Counter::Slices))
    }
}

/// The notes of reads: a region for each of some threads, one with a word for each variable that says which of these have
/// notes of it, and one that stays empty.
///
/// A region is an address for every note that there can be. It takes memory only where something was noted, and none of what
/// a system promises to processes until a step of it is opened for writing; before that it can be read, and is zero. Steps are large
/// because each border between what is writable and what is not is a mapping of the process, and there is a limit on these.
#[derive(Debug)]
struct NoteRegions(Box<[AtomicI64]>);

impl NoteRegions {
    const NOTERS: usize = REGIONS;
    const EMPTY: usize = REGIONS + 1;

    /// The bytes of the notes, and those of the bytes behind them that say which pages are counted.
    const NOTES: usize = 8 << SHARED_BITS;
    const PAGES: usize = 1 << (SHARED_BITS - NOTE_PAGE_BITS);
    const STEP: usize = 8 << NOTE_STEP_BITS;

    fn new() -> NoteRegions {
        let regions = NoteRegions((0..=NoteRegions::EMPTY).map(|_| AtomicI64::new(0)).collect());
        for region in [NoteRegions::NOTERS, NoteRegions::EMPTY] {
            if regions.reserve(region).is_none() {
                handle_alloc_error(Layout::new::<[i64; 1 << SHARED_BITS]>());
            }
        }
        regions
    }

    fn address(&self, region: usize) -> i64 {
        self.0[region].load(Ordering::Acquire)
    }

    /// Reserves a region that was not reserved before. The Java half does so for one at a time.
    fn reserve(&self, region: usize) -> Option<i64> {
        let whole = NonZeroUsize::new(NoteRegions::NOTES + NoteRegions::PAGES)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: the mapping is a new one, where the system has room for it.
        let address = unsafe { mmap_anonymous(None, whole, ProtFlags::PROT_READ, flags) }.ok()?;
        // Pages are counted one by one. A system without huge pages refuses, and that is as good.
        // SAFETY: this is the mapping, of which nothing else is changed.
        let _ = unsafe { madvise(address, whole.get(), MmapAdvise::MADV_NOHUGEPAGE) };
        if !make_writable(address, NoteRegions::NOTES, NoteRegions::PAGES) {
            return None;
        }
        let address = address.as_ptr() as i64;
        self.0[region].store(address, Ordering::Release);
        Some(address)
    }

    fn open(&self, region: usize, step: usize) -> bool {
        let address = NonNull::new(self.address(region) as *mut c_void);
        let begin = step.saturating_mul(NoteRegions::STEP);
        begin < NoteRegions::NOTES
            && address.is_some_and(|it| make_writable(it, begin, NoteRegions::STEP))
    }
}

/// Makes some bytes of a region of notes writable.
fn make_writable(region: NonNull<c_void>, begin: usize, bytes: usize) -> bool {
    // SAFETY: the callers name a part of what was mapped for the region, which is never given back.
    let begin = unsafe { region.byte_add(begin) };
    // SAFETY: as above; and what can be read so far can be read then.
    unsafe { mprotect(begin, bytes, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE) }.is_ok()
}

/// The bytes of pages are where the hooks believe, and steps end with the notes.
const _: () = assert!(
    NoteRegions::NOTES == NOTE_PAGES && NoteRegions::NOTES.is_multiple_of(NoteRegions::STEP)
);

/// A part of the memory that the Java half writes to or reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Ring,
    Owners,
    Sites,
    Statics,
    NoNotes,
    Noters,
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
    /// How many microseconds threads have waited for room in the ring, all together.
    Waited,
}

const COUNTERS: usize = Counter::Waited as usize + 1;

/// A slot is as large as the hooks believe.
const _: () = assert!(size_of::<[AtomicI64; event_ring::WORDS]>() == 1 << SLOT_BITS);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use event_ring::{FIRST_WORDS, Record};

    use super::*;

    const SMALL: Sizes = Sizes { ring: 64, epoch_blocks: 5, sites: 7, statics: 3, order_words: 4 };

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
        ] {
            let first = memory.address(part);
            for index in 0..words {
                let word = word_at(first + 8 * index);
                assert_eq!(word.swap(-1, Ordering::Relaxed), 0, "word {index} of part {part:?}");
            }
        }
        let parts = [Part::Ring, Part::Owners, Part::Sites, Part::Statics, Part::NoNotes];
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
    fn notes_can_be_read_anywhere_and_written_where_they_were_opened() {
        let memory = Memory::of(SMALL);
        let last_step = (1 << (SHARED_BITS - NOTE_STEP_BITS)) - 1;
        let address = memory.reserve_notes(3);
        assert!(address != 0 && address == memory.notes.address(3));
        let word = |region: i64, index: i64| word_at(region + 8 * index).load(Ordering::Relaxed);
        for region in [address, memory.address(Part::NoNotes), memory.address(Part::Noters)] {
            assert_eq!(word(region, 0), 0);
            assert_eq!(word(region, (1 << SHARED_BITS) - 1), 0);
        }
        assert!(memory.open_notes(3, last_step) && memory.open_notes(REGIONS, 0));
        word_at(address + 8 * ((1 << SHARED_BITS) - 1)).store(7, Ordering::Relaxed);
        word_at(address + NOTE_PAGES as i64).store(1, Ordering::Relaxed);
        word_at(memory.address(Part::Noters)).store(1, Ordering::Relaxed);
        assert_eq!((word(address, (1 << SHARED_BITS) - 1), word(address, 0)), (7, 0));
        for (region, step) in [(3, last_step + 1), (4, 0), (REGIONS + 1, 0), (usize::MAX, 0)] {
            assert!(!memory.open_notes(region, step), "step {step} of region {region}");
        }
        assert_eq!(memory.reserve_notes(REGIONS), 0);
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
                        memory.ring().put(record(other << 32 | number), |_| thread::yield_now());
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
