//! The ring through which hooks report events: any number of producers, one consumer, one order.
//!
//! A producer draws a ticket, waits until the ring has room for it, and writes the slot that the ticket
//! names; the first word of the slot goes last and publishes the others. The consumer takes the records in
//! the order of their tickets. Producers are hooks in a JVM: [`Ring::put`] is what `put` in `ScissionEvents.java`
//! does, line by line, and whoever changes one changes the other. It is here so that the protocol can be
//! explored (`tests/exploration.rs`) and measured (`examples/cost.rs`) without a JVM.
//!
//! **Property.** Every record is taken at most once, whole, and in the order of the tickets; a record that is
//! not taken is counted as lost. That holds however long a producer pauses at whatever place, and if it
//! never goes on.
//!
//! **Why slots are skipped.** A producer may be stopped between its ticket and its record: for good by an
//! asynchronous exception or a stack that overflows, or for seconds by a garbage collection or a debugger. The
//! others must not wait for it for ever, so the consumer skips the slot after a while. What then must not
//! happen: the producer goes on later and writes into a slot that is used for another ticket by now.
//!
//! **How that is prevented.** A slot that was skipped is withheld: nobody else writes it until its producer
//! has shown that it is done with it. So a slot has one writer at any time, and needs no claim.
//!
//! The first word of a slot says what it is used for:
//!
//! | word | meaning | written by |
//! |---|---|---|
//! | `0 .. 2^56` | free for the ticket of this lap | the consumer |
//! | `2^56 ..` | a record, of which this is the first word | the producer of the lap |
//! | `WITHHELD + lap` | the ticket of this lap was skipped | the consumer, unless there is a record |
//! | `ABANDONED` | the producer of the skipped ticket uses another ticket | that producer |
//!
//! The word `head` says how far the consumer is. As long as nothing was skipped it is the next ticket to be
//! taken, and a producer that finds room by it has its slot to itself: the consumer has made the slot free
//! before it said so. From the first skip on `head` is lower by 2^62 for good, so that no producer
//! finds room at the first look, and each goes the slower way: it looks at its slot before it writes. If
//! that is not free for its lap, an earlier producer still may write it, and this one draws another
//! ticket. It cannot be free for the lap by mistake, since a slot is freed for one lap only: the next whose
//! ticket the consumer has not passed. So as long as nothing was skipped, a producer does the
//! same loads and stores as it would without all that (ARCHITECTURE.md has measurements). `head` stays low for good because a producer may have
//! drawn its ticket while its slot was withheld, and look at `head` any time later.
//!
//! A record whose ticket was skipped is lost if its producer was already past its look at `head`. Otherwise the
//! producer sees that it was skipped, abandons the ticket and draws another, and nothing is lost.
//!
//! **Limits.** A producer that never goes on costs its slot for good. There are 2^56 laps.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};

/// How many words a record has.
pub const WORDS: usize = 4;

/// What a producer writes. The first word is at least [`FIRST_WORDS`].
pub type Record = [i64; WORDS];

/// The least first word of a record: below it, the word says what the slot is used for.
pub const FIRST_WORDS: i64 = 1 << 56;

/// Added to a lap: the slot was skipped in that lap.
const WITHHELD: i64 = i64::MIN;

/// The producer of the ticket that was skipped does not write the slot any more.
const ABANDONED: i64 = -1;

/// Added to the head from the first skip on.
const CAREFUL: i64 = i64::MIN / 2;

/// The head when nobody takes records any more: no producer waits for room, and where they write is of no
/// matter.
const ENDED: i64 = i64::MAX / 2;

/// A word that threads share. The operations are those of [`AtomicI64`].
pub trait Word {
    /// As [`AtomicI64::load`].
    fn load(&self, ordering: Ordering) -> i64;
    /// As [`AtomicI64::store`].
    fn store(&self, value: i64, ordering: Ordering);
    /// As [`AtomicI64::fetch_add`].
    fn fetch_add(&self, value: i64, ordering: Ordering) -> i64;
    /// As [`AtomicI64::compare_exchange`].
    ///
    /// # Errors
    /// The value that was there instead of the expected one.
    fn compare_exchange(
        &self,
        expected: i64,
        value: i64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<i64, i64>;
}

impl Word for AtomicI64 {
    fn load(&self, ordering: Ordering) -> i64 {
        self.load(ordering)
    }

    fn store(&self, value: i64, ordering: Ordering) {
        self.store(value, ordering);
    }

    fn fetch_add(&self, value: i64, ordering: Ordering) -> i64 {
        self.fetch_add(value, ordering)
    }

    fn compare_exchange(
        &self,
        expected: i64,
        value: i64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<i64, i64> {
        self.compare_exchange(expected, value, success, failure)
    }
}

/// The shared words of a ring, all zero at the beginning.
#[derive(Debug)]
pub struct Ring<'a, W> {
    slots: &'a [[W; WORDS]],
    /// The next ticket.
    tail: &'a W,
    head: &'a W,
}

impl<W> Clone for Ring<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Ring<'_, W> {}

impl<'a, W: Word> Ring<'a, W> {
    /// A ring of these words. The number of slots is a power of two.
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn new(slots: &'a [[W; WORDS]], tail: &'a W, head: &'a W) -> Ring<'a, W> {
        assert!(slots.len().is_power_of_two(), "the slot of a ticket is found by its low bits");
        Ring { slots, tail, head }
    }

    fn mask(&self) -> i64 {
        self.slots.len() as i64 - 1
    }

    fn slot(&self, ticket: i64) -> &'a [W; WORDS] {
        &self.slots[(ticket & self.mask()) as usize]
    }

    /// How often the ring was gone round before a ticket.
    fn lap(&self, ticket: i64) -> i64 {
        ticket >> self.slots.len().trailing_zeros()
    }

    /// Writes a record; `pause` lets some time pass until there is room, and is told how often it has done so.
    #[inline]
    pub fn put(&self, record: Record, pause: impl FnMut(u32)) {
        // The hooks that operations of a program run one after the other have tickets in that order,
        // however weak this addition is: all additions to one word have one order.
        let mut ticket = self.tail.fetch_add(1, Ordering::Relaxed);
        if ticket - self.head.load(Ordering::Acquire) > self.mask() {
            ticket = self.ticket_with_room(ticket, pause);
        }
        let slot = self.slot(ticket);
        slot[1].store(record[1], Ordering::Relaxed);
        slot[2].store(record[2], Ordering::Relaxed);
        slot[3].store(record[3], Ordering::Relaxed);
        slot[0].store(record[0], Ordering::Release);
    }

    /// Waits until a ticket has room; or draws others, until one has a slot that may be written.
    #[cold]
    #[inline(never)]
    fn ticket_with_room(&self, mut ticket: i64, mut pause: impl FnMut(u32)) -> i64 {
        let mut waits = 0;
        loop {
            let head = self.head.load(Ordering::Acquire);
            if ticket - head <= self.mask() {
                return ticket;
            }
            if head >= 0 || ticket - (head - CAREFUL) > self.mask() {
                pause(waits);
                waits += 1;
                continue;
            }
            let slot = self.slot(ticket);
            let lap = self.lap(ticket);
            let used_for = slot[0].load(Ordering::Relaxed);
            if used_for == lap {
                return ticket;
            }
            if used_for == WITHHELD + lap {
                slot[0].store(ABANDONED, Ordering::Release);
            }
            ticket = self.tail.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lets producers go on without a consumer, for ever.
    pub fn end(&self) {
        self.head.store(ENDED, Ordering::Release);
    }

    /// The consumer. A ring has one, from the beginning.
    #[must_use]
    pub fn consumer(self) -> Consumer<'a, W> {
        let withheld = BTreeSet::new();
        Consumer { ring: self, next: 0, given_back: 0, withheld, skipped: 0, redrawn: 0 }
    }
}

/// The side that takes the records.
#[derive(Debug)]
pub struct Consumer<'a, W> {
    ring: Ring<'a, W>,
    /// The next ticket to be taken.
    next: i64,
    /// The first ticket whose slot has not been given back.
    given_back: i64,
    /// The slots whose producers were skipped and may still write.
    withheld: BTreeSet<usize>,
    /// How many tickets were skipped.
    skipped: u64,
    /// How many of these were abandoned by producers that then used others.
    redrawn: u64,
}

impl<W: Word> Consumer<'_, W> {
    /// How many tickets have been drawn.
    #[must_use]
    pub fn drawn(&self) -> i64 {
        self.ring.tail.load(Ordering::Relaxed)
    }

    /// The next ticket to be taken.
    #[must_use]
    pub fn position(&self) -> i64 {
        self.next
    }

    /// Takes the next record of the tickets before `until`, if it has been written. Tickets before
    /// `skip_until` are skipped if theirs has not. Producers get the room when it is given back.
    pub fn take(&mut self, until: i64, skip_until: i64) -> Option<Record> {
        while self.next < until {
            let ticket = self.next;
            let slot = self.ring.slot(ticket);
            let lap = self.ring.lap(ticket);
            if !self.withheld.is_empty() && self.is_withheld(ticket) {
                // Its producer draws another ticket.
                self.next += 1;
                continue;
            }
            let mut first = slot[0].load(Ordering::Acquire);
            if first < FIRST_WORDS && ticket < skip_until {
                let exchanged = slot[0].compare_exchange(
                    lap,
                    WITHHELD + lap,
                    Ordering::Release,
                    Ordering::Acquire,
                );
                match exchanged {
                    Ok(_) => {
                        self.withheld.insert((ticket & self.ring.mask()) as usize);
                        self.skipped += 1;
                        self.next += 1;
                        continue;
                    }
                    Err(written) => first = written,
                }
            }
            if first < FIRST_WORDS {
                return None;
            }
            let rest = [&slot[1], &slot[2], &slot[3]].map(|word| word.load(Ordering::Relaxed));
            // `give_back` makes this known, and that the words have been read.
            slot[0].store(lap + 1, Ordering::Relaxed);
            self.next += 1;
            return Some([first, rest[0], rest[1], rest[2]]);
        }
        None
    }

    /// Whether the slot of a ticket is withheld. If its producer is done with it, the slot is made free for the
    /// next lap: the producer of this ticket may have seen that it was withheld.
    fn is_withheld(&mut self, ticket: i64) -> bool {
        let index = (ticket & self.ring.mask()) as usize;
        if !self.withheld.contains(&index) {
            return false;
        }
        let slot = self.ring.slot(ticket);
        let used_for = slot[0].load(Ordering::Acquire);
        if used_for == ABANDONED {
            self.redrawn += 1;
        }
        if used_for == ABANDONED || used_for >= FIRST_WORDS {
            slot[0].store(self.ring.lap(ticket) + 1, Ordering::Relaxed);
            self.withheld.remove(&index);
        }
        true
    }

    /// Gives the slots of what was taken or skipped back to the producers. Without any, the word that all
    /// producers read is left alone.
    pub fn give_back(&mut self) {
        if self.given_back < self.next {
            self.given_back = self.next;
            let lowered = if self.skipped == 0 { 0 } else { CAREFUL };
            self.ring.head.store(self.next + lowered, Ordering::Release);
        }
    }

    /// How many records of the tickets so far were lost: those that were skipped, but for those whose producers
    /// have drawn another ticket.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let is_abandoned =
            |index: &&usize| self.ring.slots[**index][0].load(Ordering::Acquire) == ABANDONED;
        self.skipped - self.redrawn - self.withheld.iter().filter(is_abandoned).count() as u64
    }
}
