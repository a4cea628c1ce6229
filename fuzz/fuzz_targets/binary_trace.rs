//! A binary trace: reading it must end in events, damage or an error, never in a panic or in memory
//! that the input does not justify; and what was read is written and read again as the same.
//!
//! Checksums keep most inputs out: they are made right first, block by block. Good seeds are traces
//! that `scission trace --to binary` writes.

#![no_main]

use events::binary::{Reader, Writer};
use events::{Event, Sink, Tables};
use libfuzzer_sys::fuzz_target;

const PREAMBLE: usize = 12;
const HEADER: usize = 32;

fuzz_target!(|data: &[u8]| {
    let _ = read(data);
    let mut bytes = data.to_vec();
    make_checksums_right(&mut bytes);
    let Some((events, tables)) = read(&bytes) else { return };
    let mut writer = Writer::new(Vec::new(), &Default::default()).expect("memory takes all");
    writer.events(&events, &tables).expect("memory takes all");
    writer.finish(&tables).expect("memory takes all");
    assert_eq!(read(&writer.into_output()), Some((events, tables)));
});

fn read(bytes: &[u8]) -> Option<(Vec<Event>, Tables)> {
    let mut reader = Reader::new(bytes).ok()?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event().expect("memory can be read") {
        events.push(event);
    }
    for damage in reader.damage() {
        assert!(!damage.to_string().is_empty());
    }
    Some((events, reader.into_tables()))
}

/// As if a writer had written what is there.
fn make_checksums_right(bytes: &mut [u8]) {
    let mut at = PREAMBLE;
    while let Some(block) = bytes.get_mut(at..).filter(|rest| rest.len() >= HEADER) {
        let length = u32::from_le_bytes([block[8], block[9], block[10], block[11]]) as usize;
        let length = length.min(block.len() - HEADER);
        block[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        let payload = crc32fast::hash(&block[HEADER..HEADER + length]);
        block[24..28].copy_from_slice(&payload.to_le_bytes());
        let header = crc32fast::hash(&block[..28]);
        block[28..32].copy_from_slice(&header.to_le_bytes());
        at += HEADER + length;
    }
}
