//! The protocol under every order of its steps, and with every value that a weakly ordered machine may read,
//! up to a bound on how often a thread is interrupted. `loom` replays the threads of a model in all of them.
//!
//! The bounds keep each model below some seconds. Two producers and a consumer that all wait for each other are
//! explored with one interruption: with more, `loom` follows schedules in which the two that wait take turns
//! for ever and the third is never run.
//!
//! That these tests can fail is shown by the last ones: the same models with weaker orderings, and with a producer
//! that does not look at its slot. Each must be caught.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use event_ring::{Consumer, FIRST_WORDS, Record, Ring, WORDS, Word};
use loom::sync::atomic::AtomicI64;
use loom::thread;

/// Which orderings are kept.
trait Orderings: Send + Sync + 'static {
    fn of_load(ordering: Ordering) -> Ordering {
        ordering
    }
    fn of_store(ordering: Ordering) -> Ordering {
        ordering
    }
}

/// All of them.
struct AsWritten;
impl Orderings for AsWritten {}

/// A word that the explorer controls.
struct Explored<O> {
    word: AtomicI64,
    orderings: std::marker::PhantomData<O>,
}

impl<O: Orderings> Explored<O> {
    fn new() -> Explored<O> {
        Explored { word: AtomicI64::new(0), orderings: std::marker::PhantomData }
    }
}

impl<O: Orderings> Word for Explored<O> {
    fn load(&self, ordering: Ordering) -> i64 {
        self.word.load(O::of_load(ordering))
    }

    fn store(&self, value: i64, ordering: Ordering) {
        self.word.store(value, O::of_store(ordering));
    }

    fn fetch_add(&self, value: i64, ordering: Ordering) -> i64 {
        self.word.fetch_add(value, ordering)
    }

    fn compare_exchange(
        &self,
        expected: i64,
        value: i64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<i64, i64> {
        self.word.compare_exchange(expected, value, O::of_store(success), O::of_load(failure))
    }
}

struct Shared<O> {
    slots: Vec<[Explored<O>; WORDS]>,
    tail: Explored<O>,
    head: Explored<O>,
}

impl<O: Orderings> Shared<O> {
    fn new(slots: usize) -> Arc<Shared<O>> {
        let word = |_| Explored::new();
        let slots = (0..slots).map(|_| [0; WORDS].map(word)).collect();
        Arc::new(Shared { slots, tail: Explored::new(), head: Explored::new() })
    }

    fn ring(&self) -> Ring<'_, Explored<O>> {
        Ring::new(&self.slots, &self.tail, &self.head)
    }
}

/// A record that shows when it is torn: every word tells which one it is.
fn record(producer: i64, number: i64) -> Record {
    let content = producer << 8 | number;
    [FIRST_WORDS + content, content, content, content]
}

/// The producer and the number of a record.
fn content(record: Record) -> (i64, i64) {
    let content = record[0] - FIRST_WORDS;
    assert_eq!(record, [record[0], content, content, content], "a torn record");
    (content >> 8, content & 0xff)
}

/// How a consumer meets a ticket whose record is not there.
#[derive(Clone, Copy)]
struct Skips {
    /// How often it does not wait at all. Then it waits, since it would otherwise skip for ever.
    at_once: u64,
}

const WAITS: Skips = Skips { at_once: 0 };

/// What a consumer got.
#[derive(Default)]
struct Got {
    records: Vec<(i64, i64)>,
    lost: u64,
}

impl Got {
    /// Takes what is there.
    fn take<O: Orderings>(&mut self, consumer: &mut Consumer<'_, Explored<O>>, skips: &mut Skips) {
        let until = consumer.drawn();
        loop {
            let before = consumer.position();
            let skip_until = if skips.at_once > 0 { before + 1 } else { 0 };
            match consumer.take(until, skip_until) {
                Some(record) => self.records.push(content(record)),
                None if consumer.position() == before => break,
                None => skips.at_once = skips.at_once.saturating_sub(1),
            }
        }
        consumer.give_back();
        self.lost = consumer.lost();
    }

    /// Nothing is there twice, and those of each producer stand in their order.
    fn assert_ordered(&self) {
        let distinct: BTreeSet<_> = self.records.iter().collect();
        assert_eq!(distinct.len(), self.records.len(), "a record was taken twice");
        for (at, one) in self.records.iter().enumerate() {
            for later in &self.records[at..] {
                assert!(one.0 != later.0 || one.1 <= later.1, "{one:?} before {later:?}");
            }
        }
    }
}

/// Explores a model in which threads are interrupted so often at places of the explorer's choice.
fn explore(interruptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions);
    builder.check(model);
}

/// Producers that write so many records each, and a consumer that goes on until it has an account of all.
fn produce_and_consume<O: Orderings>(slots: usize, producers: &[i64], skips: Skips) {
    let shared = Shared::<O>::new(slots);
    let finished = Arc::new(AtomicI64::new(0));
    let threads: Vec<_> = (1..)
        .zip(producers)
        .map(|(producer, &records)| {
            let (shared, finished) = (Arc::clone(&shared), Arc::clone(&finished));
            thread::spawn(move || {
                for number in 0..records {
                    shared.ring().put(record(producer, number), |_| thread::yield_now());
                }
                finished.fetch_add(1, Ordering::Release);
            })
        })
        .collect();
    let all = producers.iter().sum::<i64>() as u64;
    let mut consumer = shared.ring().consumer();
    let mut got = Got::default();
    let mut left = skips;
    got.take(&mut consumer, &mut left);
    // Producers that have room need nobody.
    let have_room = all <= slots as u64 && skips.at_once == 0;
    while !have_room && finished.load(Ordering::Acquire) < producers.len() as i64 {
        thread::yield_now();
        got.take(&mut consumer, &mut left);
    }
    for thread in threads {
        thread.join().unwrap();
    }
    got.take(&mut consumer, &mut left);
    got.assert_ordered();
    assert_eq!(got.records.len() as u64 + got.lost, all, "a record was lost and not counted");
    assert!(got.lost <= skips.at_once);
}

#[test]
fn two_producers_share_a_ring_with_room() {
    explore(3, || produce_and_consume::<AsWritten>(4, &[2, 2], WAITS));
}

#[test]
fn a_producer_waits_for_room_and_goes_round() {
    explore(3, || produce_and_consume::<AsWritten>(1, &[2], WAITS));
    explore(3, || produce_and_consume::<AsWritten>(2, &[3], WAITS));
}

#[test]
fn two_producers_wait_for_room_and_go_round() {
    explore(1, || produce_and_consume::<AsWritten>(1, &[1, 1], WAITS));
    explore(1, || produce_and_consume::<AsWritten>(2, &[2, 1], WAITS));
}

#[test]
fn a_producer_that_was_skipped_may_go_on_at_any_time() {
    explore(2, || produce_and_consume::<AsWritten>(2, &[3], Skips { at_once: 1 }));
    explore(1, || produce_and_consume::<AsWritten>(2, &[3], Skips { at_once: 2 }));
}

#[test]
fn one_of_two_producers_is_skipped() {
    explore(2, || produce_and_consume::<AsWritten>(2, &[1, 1], Skips { at_once: 1 }));
    explore(1, || produce_and_consume::<AsWritten>(2, &[1, 2], Skips { at_once: 1 }));
    explore(1, || produce_and_consume::<AsWritten>(4, &[2, 3], Skips { at_once: 2 }));
}

#[test]
fn a_producer_that_never_goes_on_costs_its_record_and_its_slot() {
    explore(2, || {
        let shared = Shared::<AsWritten>::new(2);
        // It has drawn its ticket, and that was all.
        shared.tail.fetch_add(1, Ordering::Relaxed);
        let producer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for number in 0..3 {
                    shared.ring().put(record(1, number), |_| thread::yield_now());
                }
            })
        };
        let mut consumer = shared.ring().consumer();
        let mut got = Got::default();
        while got.records.len() < 3 {
            // The first ticket is skipped, and no other.
            while let Some(record) = consumer.take(consumer.drawn(), 1) {
                got.records.push(content(record));
            }
            consumer.give_back();
            thread::yield_now();
        }
        producer.join().unwrap();
        assert_eq!(got.records, [(1, 0), (1, 1), (1, 2)]);
        assert_eq!(consumer.lost(), 1);
    });
}

#[test]
fn records_that_a_program_orders_are_taken_in_that_order() {
    explore(3, || {
        let shared = Shared::<AsWritten>::new(4);
        let is_written = Arc::new(AtomicI64::new(0));
        let first = {
            let (shared, is_written) = (Arc::clone(&shared), Arc::clone(&is_written));
            thread::spawn(move || {
                shared.ring().put(record(1, 0), |_| thread::yield_now());
                is_written.store(1, Ordering::Release);
            })
        };
        let second = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let is_after = is_written.load(Ordering::Acquire) == 1;
                shared.ring().put(record(2, 0), |_| thread::yield_now());
                is_after
            })
        };
        first.join().unwrap();
        let is_after = second.join().unwrap();
        let mut got = Got::default();
        got.take(&mut shared.ring().consumer(), &mut WAITS.clone());
        assert_eq!(got.records.len(), 2);
        assert!(!is_after || got.records == [(1, 0), (2, 0)]);
    });
}

#[test]
fn after_the_end_nobody_waits() {
    explore(3, || {
        let shared = Shared::<AsWritten>::new(1);
        let producer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for number in 0..3 {
                    shared.ring().put(record(1, number), |_| thread::yield_now());
                }
            })
        };
        let mut consumer = shared.ring().consumer();
        // It may have skipped something before.
        let _ = consumer.take(consumer.drawn(), 1);
        consumer.give_back();
        shared.ring().end();
        producer.join().unwrap();
    });
}

/// Stores publish nothing.
struct WeakStores;
impl Orderings for WeakStores {
    fn of_store(_: Ordering) -> Ordering {
        Ordering::Relaxed
    }
}

/// Loads receive nothing.
struct WeakLoads;
impl Orderings for WeakLoads {
    fn of_load(_: Ordering) -> Ordering {
        Ordering::Relaxed
    }
}

#[test]
#[should_panic(expected = "a torn record")]
fn a_record_needs_stores_that_publish() {
    explore(3, || produce_and_consume::<WeakStores>(4, &[1, 1], WAITS));
}

#[test]
#[should_panic(expected = "a torn record")]
fn a_record_needs_loads_that_receive() {
    explore(3, || produce_and_consume::<WeakLoads>(4, &[1, 1], WAITS));
}

/// A producer that writes when there is room, whoever else may write the slot.
fn put_without_a_look<O: Orderings>(shared: &Shared<O>, record: Record) {
    let ticket = shared.tail.fetch_add(1, Ordering::Relaxed);
    let next = |head: i64| if head < 0 { head - i64::MIN / 2 } else { head };
    while ticket - next(shared.head.load(Ordering::Acquire)) >= shared.slots.len() as i64 {
        thread::yield_now();
    }
    let slot = &shared.slots[ticket as usize % shared.slots.len()];
    for word in 1..WORDS {
        slot[word].store(record[word], Ordering::Relaxed);
    }
    slot[0].store(record[0], Ordering::Release);
}

/// The producer of ticket 0 was skipped and writes while that of ticket 2 does, in the same slot of two.
fn writers_of_two_laps(
    put: impl Fn(&Shared<AsWritten>, Record) + Send + Sync + Copy + 'static,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Shared::<AsWritten>::new(2);
        shared.tail.fetch_add(1, Ordering::Relaxed);
        let mut consumer = shared.ring().consumer();
        assert_eq!(consumer.take(1, 1), None);
        consumer.give_back();
        let late = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for (word, value) in (0..WORDS).zip(record(1, 0)).rev() {
                    shared.slots[0][word].store(value, Ordering::Release);
                }
            })
        };
        let mut got = Got::default();
        for number in 0..2 {
            put(&shared, record(2, number));
            got.take(&mut consumer, &mut WAITS.clone());
        }
        late.join().unwrap();
        got.take(&mut consumer, &mut WAITS.clone());
        assert_eq!(got.records, [(2, 0), (2, 1)]);
        assert_eq!(consumer.lost(), 1);
    }
}

#[test]
fn a_slot_is_withheld_from_the_next_lap() {
    explore(
        3,
        writers_of_two_laps(|shared, record| shared.ring().put(record, |_| thread::yield_now())),
    );
}

#[test]
#[should_panic(expected = "left == right")]
fn a_producer_needs_a_look_at_its_slot() {
    explore(3, writers_of_two_laps(put_without_a_look));
}
