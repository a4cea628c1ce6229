//! How fast binary traces are written and read, and how large they are, on made-up events that look
//! like those of a run: `cargo run --profile checked -p scission-events --example trace_speed`.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use events::binary::{Header, Reader, Writer};
use events::{Action, Epoch, Event, FieldId, ObjectId, Sink, SiteId, Tables, ThreadId, Variable};

const EVENTS: usize = 4_000_000;

/// Threads take turns, each working on a few objects under a lock.
fn made_up_events() -> Vec<Event> {
    let mut state = 1_u64;
    let mut random = move |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut events = Vec::with_capacity(EVENTS + 16);
    let mut epoch = 0;
    while events.len() < EVENTS {
        let thread = ThreadId(random(8) as u32);
        let method = random(2_000) as u32 * 20;
        let object = ObjectId(random(1_000_000));
        epoch += 1;
        let mut add = |site: u32, action| {
            events.push(Event {
                thread,
                site: SiteId(method + site),
                epoch: Epoch(epoch),
                action,
                overlaps: 0,
            });
        };
        add(1, Action::Acquire(object));
        for access in 0..random(6) as u32 {
            let variable = Variable::Field(object, FieldId(method / 50 + access));
            add(
                2 + access,
                match random(3) {
                    0 => Action::Write(variable),
                    _ => Action::Read(variable),
                },
            );
        }
        add(9, Action::Release(object));
    }
    events
}

fn main() -> io::Result<()> {
    let events = made_up_events();
    let tables = Tables::default();
    let millions = events.len() as f64 / 1e6;
    for round in 0..3 {
        let begun = Instant::now();
        let mut writer = Writer::new(io::sink(), &Header::default())?;
        for event in &events {
            writer.event(black_box(event), &tables)?;
        }
        writer.finish(&tables)?;
        let wrote = begun.elapsed().as_secs_f64();
        let mut writer = Writer::new(Vec::new(), &Header::default())?;
        writer.events(&events, &tables)?;
        writer.finish(&tables)?;
        let bytes = writer.into_output();
        let begun = Instant::now();
        let mut reader = Reader::new(&bytes[..]).map_err(io::Error::other)?;
        let mut count = 0;
        loop {
            let block = reader.next_events()?;
            if block.is_empty() {
                break;
            }
            count += black_box(block).len();
        }
        let read = begun.elapsed().as_secs_f64();
        assert_eq!(count, events.len());
        println!(
            "round {round}: {:.1} million events/s written, {:.1} read, {:.2} bytes an event",
            millions / wrote,
            millions / read,
            bytes.len() as f64 / events.len() as f64
        );
    }
    Ok(())
}
