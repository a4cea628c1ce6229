//! What a record costs its producer: `cargo run --release -p scission-event-ring --example cost`.
//!
//! Two producers write as fast as they can while a consumer takes, by this protocol and by three others: one that does
//! not prevent late writers from doing harm, as a measure; one that looks at its slot before every record; and one
//! that claims its slot by a compare-and-exchange. Rounds alternate, and the best of each counts.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use event_ring::{FIRST_WORDS, Record, Ring, WORDS};

const SLOTS: usize = 1 << 18;
const PRODUCERS: usize = 2;
const RECORDS: i64 = 1_000_000;
const ROUNDS: usize = 9;
/// Work between two records, as a program has it: with none, producers only take the ticket counter from each other.
const WORK: u32 = 40;

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

fn put(shared: &Shared, protocol: Protocol, record: Record) {
    if protocol == Protocol::AsIs {
        return shared.ring().put(record, pause);
    }
    let ticket = shared.tail.0.fetch_add(1, Ordering::SeqCst);
    while ticket - shared.head.0.load(Ordering::Acquire) >= SLOTS as i64 {
        pause();
    }
    let slot = &shared.slots[ticket as usize & (SLOTS - 1)];
    let lap = ticket / SLOTS as i64;
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

fn round(protocol: Protocol) -> Duration {
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
        let start = Instant::now();
        std::thread::scope(|producers| {
            for _ in 0..PRODUCERS {
                producers.spawn(|| {
                    let mut work = 1_u64;
                    for number in 0..RECORDS {
                        for _ in 0..WORK {
                            work = std::hint::black_box(work.wrapping_mul(31));
                        }
                        put(&shared, protocol, [FIRST_WORDS + number, number, number, number]);
                    }
                });
            }
        });
        let elapsed = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        elapsed
    })
}

fn main() {
    let protocols = [Protocol::Unprotected, Protocol::AsIs, Protocol::Look, Protocol::Claim];
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        for (best, protocol) in best.iter_mut().zip(protocols) {
            *best = round(protocol).min(*best);
        }
    }
    for (time, protocol) in best.iter().zip(protocols) {
        let each = time.as_secs_f64() * 1e9 / (PRODUCERS as f64 * RECORDS as f64);
        let ratio = time.as_secs_f64() / best[0].as_secs_f64();
        println!("{protocol:?}: {each:.1} ns a record, {ratio:.2} times the unprotected one");
    }
}
