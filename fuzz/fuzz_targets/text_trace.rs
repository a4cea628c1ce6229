//! A text trace: reading it must end in events or an error with a place in the text, never in a panic; and what
//! was read is written and read again as the same.

#![no_main]

use events::text::{Reader, Writer};
use events::{Event, Sink, Tables, resolve};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Some((events, tables)) = read(text.to_string()) else { return };
    let mut written = Vec::new();
    let mut writer = Writer::new(&mut written);
    writer.events(&events, &tables).expect("memory takes all");
    writer.finish(&tables).expect("memory takes all");
    drop(writer);
    let again = String::from_utf8(written).expect("it is text");
    assert!(resolve(&events).len() <= events.len());
    assert_eq!(read(again), Some((events, tables)));
});

fn read(text: String) -> Option<(Vec<Event>, Tables)> {
    let lines = text.lines().count();
    let mut reader = Reader::new(text);
    let mut events = Vec::new();
    loop {
        match reader.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => return Some((events, reader.into_tables())),
            Err(error) => {
                assert!(error.line as usize <= lines && error.column > 0, "{error}");
                return None;
            }
        }
    }
}
