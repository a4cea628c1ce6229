//! What a record costs its producer: `cargo run --release -p scission-event-ring --example cost`.
//!
//! Two producers write as fast as they can while a consumer takes, by this protocol and by three others: one that does
//! not prevent late writers from doing harm, as a measure; one that looks at its slot before every record; and one
//! that claims its slot by a compare-and-exchange. Rounds alternate. What is measured is the time that the producers
//! spend on a processor, as Linux counts it, so that a busy machine matters less; the spread of the rounds is printed
//! beside the median, since a difference within it says nothing.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use event_ring::{FIRST_WORDS, Record, Ring, WORDS};

const SLOTS: usize = 1 << 18;
const PRODUCERS: usize = 2;
const RECORDS: i64 = 1_000_000;
const ROUNDS: usize = 15;
/// Work between two records, as a program has it: with none, producers only take the ticket counter from each other.
const WORK: u32 = 10;

#[repr(align(128))]
struct Line(AtomicI64);

struct Shared {
    slots: Vec<[AtomicI64; WORDS]>,
    tail: Line,
    head: Line,
}

impl Shared {
    fn new() -> Shared {
        let slots = (0..SLOTS).map(|_| [0; WORDS].map(AtomicI64::new)).collect();
        Shared { slots, tail: Line(AtomicI64::new(0)), head: Line(AtomicI64::new(0)) }
    }

    fn ring(&self) -> Ring<'_, AtomicI64> {
        Ring::new(&self.slots, &self.tail.0, &self.head.0)
    }
}

fn pause() {
    std::thread::sleep(Duration::from_micros(50));
}

/// How the slot of a ticket with room is entered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Protocol {
    AsIs,
    Unprotected,
    Look,
    Claim,
}

/// Writes a record. All protocols learn the number of slots at run time, and check the index.
fn put(shared: &Shared, ring: Ring<'_, AtomicI64>, protocol: Protocol, record: Record) {
    if protocol == Protocol::AsIs {
        return ring.put(record, |_| pause());
    }
    let slots = shared.slots.len();
    let ticket = shared.tail.0.fetch_add(1, Ordering::Relaxed);
    while ticket - shared.head.0.load(Ordering::Acquire) >= slots as i64 {
        pause();
    }
    let slot = &shared.slots[ticket as usize & (slots - 1)];
    let lap = ticket >> slots.trailing_zeros();
    let may_write = match protocol {
        Protocol::AsIs | Protocol::Unprotected => true,
        Protocol::Look => slot[0].load(Ordering::Relaxed) == lap,
        Protocol::Claim => {
            let claimed = i64::MIN + lap;
            slot[0].compare_exchange(lap, claimed, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        }
    };
    assert!(may_write, "nothing is skipped here");
    for word in 1..WORDS {
        slot[word].store(record[word], Ordering::Relaxed);
    }
    slot[0].store(record[0], Ordering::Release);
}

/// How long this thread has been on a processor, in nanoseconds.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number comes first")
}

/// Nanoseconds a record.
fn round(protocol: Protocol) -> f64 {
    let shared = Shared::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut consumer = shared.ring().consumer();
            while !is_over.load(Ordering::Relaxed) {
                let until = consumer.drawn().min(consumer.position() + 4096);
                let mut taken = 0_u32;
                while consumer.take(until, 0).is_some() {
                    taken += 1;
                }
                consumer.give_back();
                if taken == 0 {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        });
        let producer = || {
            let before = processor_time();
            let ring = shared.ring();
            let mut work = 1_u64;
            for number in 0..RECORDS {
                for _ in 0..WORK {
                    work = std::hint::black_box(work.wrapping_mul(31));
                }
                put(&shared, ring, protocol, [FIRST_WORDS + number, number, number, number]);
            }
            processor_time() - before
        };
        let producers: Vec<_> = (0..PRODUCERS).map(|_| scope.spawn(producer)).collect();
        let times = producers.into_iter().map(|producer| producer.join().expect("it ends"));
        let all: u64 = times.sum();
        is_over.store(true, Ordering::Relaxed);
        all as f64 / (PRODUCERS as f64 * RECORDS as f64)
    })
}

fn main() {
    let protocols = [Protocol::Unprotected, Protocol::AsIs, Protocol::Look, Protocol::Claim];
    let mut rounds = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        for (rounds, protocol) in rounds.iter_mut().zip(protocols) {
            rounds.push(round(protocol));
        }
    }
    for (rounds, protocol) in rounds.iter_mut().zip(protocols) {
        rounds.sort_by(f64::total_cmp);
        let (low, median, high) = (rounds[ROUNDS / 4], rounds[ROUNDS / 2], rounds[ROUNDS * 3 / 4]);
        println!(
            "{protocol:?}: {median:.1} ns a record (half of the rounds {low:.1} to {high:.1})"
        );
    }
}
