//! A trace in the form of other tools: reading it must end in events or an error with a place in the
//! text, never in a panic; and what was read can be written in this form again.

#![no_main]

use events::Sink;
use events::std_form::{Reader, Writer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let lines = text.lines().count();
    let mut reader = Reader::new(text.to_string());
    let mut events = Vec::new();
    loop {
        match reader.next_event() {
            Ok(Some(event)) => events.push(event),
            Ok(None) => break,
            Err(error) => {
                assert!(error.line as usize <= lines && error.column > 0, "{error}");
                return;
            }
        }
    }
    let tables = reader.into_tables();
    let mut written = Vec::new();
    let mut writer = Writer::new(&mut written);
    writer.events(&events, &tables).expect("memory takes all");
    writer.finish(&tables).expect("memory takes all");
    drop(writer);
    let mut again = Reader::new(String::from_utf8(written).expect("it is text"));
    while again.next_event().expect("what is written can be read").is_some() {}
});
