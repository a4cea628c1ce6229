//! The binary trace.

use std::io::{self, ErrorKind, Write};

use events::binary::{Damage, Header, ReadError, Reader, Writer};
use events::{Action, Epoch, Event, Sink, SiteEntry, SiteId, Tables, ThreadEntry, ThreadId};
use proptest::prelude::*;

use crate::random::{events, one_of_each, tables};

fn header() -> Header {
    Header::default().with("tool", "scission 0.1.0").with("java", "21.0.2")
}

/// A trace with a block for every `flush_after` events.
fn written(events: &[Event], tables: &Tables, flush_after: usize) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for chunk in events.chunks(flush_after) {
        writer.events(chunk, tables).unwrap();
        writer.flush(tables).unwrap();
    }
    writer.finish(tables).unwrap();
    writer.into_output()
}

struct Read {
    events: Vec<Event>,
    tables: Tables,
    header: Header,
    damage: Vec<Damage>,
}

fn read(bytes: &[u8]) -> Result<Read, ReadError> {
    let mut reader = Reader::new(bytes)?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    let (header, damage) = (reader.header().clone(), reader.damage().to_vec());
    Ok(Read { events, tables: reader.into_tables(), header, damage })
}

proptest! {
    #[test]
    fn what_is_written_is_read(events in events(200), mut tables in tables(), flush_after in 1..300_usize) {
        let read = read(&written(&events, &tables, flush_after)).unwrap();
        events.iter().for_each(|event| tables.note(event));
        prop_assert_eq!(read.events, events);
        prop_assert_eq!(read.tables, tables);
        prop_assert_eq!(read.header, header());
        prop_assert_eq!(read.damage, []);
    }

    #[test]
    fn any_damage_is_noticed_and_the_rest_is_read(
        events in events(60),
        tables in tables(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let whole = written(&events, &tables, 10);
        let mut bytes = whole.clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        prop_assume!(bytes != whole);
        if let Ok(read) = read(&bytes) {
            prop_assert!(!read.damage.is_empty());
            prop_assert!(is_part_of(&read.events, &events));
        }
    }

    #[test]
    fn a_hostile_payload_is_left_out_or_is_a_trace(
        events in events(40),
        tables in tables(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let mut bytes = written(&events, &tables, 10);
        for (place, value) in changes {
            let place = 12 + place.index(bytes.len() - 12);
            bytes[place] = value;
        }
        make_checksums_right(&mut bytes);
        let first = read(&bytes).unwrap();
        let second = read(&written(&first.events, &first.tables, 100)).unwrap();
        prop_assert_eq!(second.events, first.events);
        prop_assert_eq!(second.tables, first.tables);
        prop_assert_eq!(second.damage, []);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let mut after_preamble = written(&[], &Tables::default(), 1)[..12].to_vec();
        after_preamble.extend_from_slice(&bytes);
        let read = read(&after_preamble).unwrap();
        prop_assert_eq!(read.events, []);
        prop_assert_eq!(read.damage.len(), 1);
    }
}

/// As if a writer had written what is there.
fn make_checksums_right(bytes: &mut [u8]) {
    let mut at = 12;
    while let Some(block) = bytes.get_mut(at..).filter(|rest| rest.len() >= 32) {
        let length = u32::from_le_bytes([block[8], block[9], block[10], block[11]]) as usize;
        let length = length.min(block.len() - 32);
        block[8..12].copy_from_slice(&(length as u32).to_le_bytes());
        let payload = crc32fast::hash(&block[32..32 + length]);
        block[24..28].copy_from_slice(&payload.to_le_bytes());
        let header = crc32fast::hash(&block[..28]);
        block[28..32].copy_from_slice(&header.to_le_bytes());
        at += 32 + length;
    }
}

/// Whether `part` is `whole` with some events left out.
fn is_part_of(part: &[Event], whole: &[Event]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|event| rest.any(|other| other == event))
}

#[test]
fn cut_off_anywhere_a_trace_gives_the_events_before() {
    let (events, tables) = one_of_each();
    let bytes = written(&events, &tables, 7);
    let mut most = 0;
    for length in 0..bytes.len() {
        let read = read(&bytes[..length]).unwrap();
        assert_eq!(read.events, events[..read.events.len()], "cut to {length}");
        assert!(matches!(read.damage[..], [Damage::Truncated { .. }]), "{:?}", read.damage);
        // Whole blocks, and all that are there.
        assert!(
            read.events.len() >= most && read.events.len().is_multiple_of(7)
                || length > bytes.len() - 40
        );
        most = read.events.len();
    }
    assert_eq!(most, events.len());
}

#[test]
fn every_flipped_bit_is_noticed_and_costs_one_block() {
    let (events, tables) = one_of_each();
    let whole = written(&events, &tables, 10);
    for place in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[place / 8] ^= 1 << (place % 8);
        match read(&bytes) {
            Err(ReadError::NotATrace) => assert!(place / 8 < 8),
            Err(ReadError::UnknownVersion(_)) => assert!(matches!(place / 8, 8..12)),
            Err(ReadError::Io(error)) => panic!("{error}"),
            Ok(read) => {
                assert!(!read.damage.is_empty(), "bit {place}");
                assert!(is_part_of(&read.events, &events), "bit {place}");
                assert!(read.events.len() + 10 >= events.len(), "bit {place}");
                assert!(read.damage.len() <= 1, "bit {place}: {:?}", read.damage);
                if let [Damage::Lost { events: lost, .. }] = read.damage[..] {
                    assert_eq!(read.events.len() as u64 + lost, events.len() as u64);
                }
            }
        }
    }
}

#[test]
fn missing_bytes_in_the_middle_cost_what_they_were_in() {
    let (events, tables) = one_of_each();
    let whole = written(&events, &tables, 10);
    for place in 12..whole.len() - 50 {
        let mut bytes = whole.clone();
        bytes.drain(place..place + 5);
        let read = read(&bytes).unwrap();
        assert!(is_part_of(&read.events, &events), "{place}");
        assert!(read.events.len() + 30 >= events.len(), "{place}");
        assert!(!read.damage.is_empty());
    }
}

#[test]
fn rows_that_were_lost_do_not_move_the_others() {
    let mut tables = Tables::default();
    let row = |line| {
        let mut entry = SiteEntry::unknown();
        entry.site.line = Some(line);
        entry
    };
    let event = |site| Event {
        thread: ThreadId(0),
        site: SiteId(site),
        epoch: Epoch(0),
        action: Action::End,
        overlaps: 0,
    };
    let mut writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    let mut ends = Vec::new();
    for line in 0..3 {
        tables.sites.push(row(line));
        writer.event(&event(line), &tables).unwrap();
        ends.push(writer.bytes_written() as usize);
        writer.flush(&tables).unwrap();
    }
    writer.finish(&tables).unwrap();
    let mut bytes = writer.into_output();
    // In the payload of the second block of rows.
    bytes[ends[1] + 34] ^= 1;
    let read = read(&bytes).unwrap();
    assert_eq!(read.events, [event(0), event(1), event(2)]);
    assert_eq!(read.tables.sites, [row(0), SiteEntry::unknown(), row(2)]);
    assert!(matches!(read.damage[..], [Damage::Lost { events: 0, .. }]), "{:?}", read.damage);
}

#[test]
fn many_blocks_and_long_names_are_read_back() {
    let event = |number: u64| Event {
        thread: ThreadId((number % 1000) as u32),
        site: SiteId((number % 3_000_000) as u32),
        epoch: Epoch(number / 3),
        action: Action::Acquire(events::ObjectId(number * number)),
        overlaps: 0,
    };
    let all: Vec<Event> = (0..100_000).map(event).collect();
    let thread = |length: usize| ThreadEntry { name: "ö".repeat(length), is_virtual: true };
    let threads = (0..200).map(|number| thread(number * 40)).collect();
    let mut tables = Tables { threads, ..Tables::default() };
    let bytes = written(&all, &tables, usize::MAX);
    let read = read(&bytes).unwrap();
    assert_eq!(read.events, all);
    assert_eq!(read.tables, tables);
    // What is too long is cut between two letters.
    tables.threads = [thread(40_000)].into_iter().collect();
    let cut = self::read(&written(&[], &tables, 1)).unwrap().tables;
    assert_eq!(cut.threads, [thread(32_767)].into_iter().collect());
}

#[test]
fn foreign_files_and_later_versions_are_named() {
    let refused = |bytes: &[u8]| read(bytes).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused(b"\x7fELF, and much more of it"), "it is not a binary trace of scission");
    assert_eq!(refused(b"T0|begin|0"), "it is not a binary trace of scission");
    let mut later = written(&[], &Tables::default(), 1);
    later[8] = 3;
    assert!(refused(&later).starts_with("it is a trace in version 3 of the format"));
}

#[test]
fn the_version_without_stacks_is_read() {
    let (events, mut tables) = one_of_each();
    tables.stacks.clear();
    let mut bytes = written(&events, &tables, 10);
    bytes[8] = 1;
    let read = read(&bytes).unwrap();
    assert_eq!((read.events, read.tables, read.damage), (events, tables, Vec::new()));
}

#[test]
fn deep_stacks_and_long_frames_are_cut() {
    let (_, mut tables) = one_of_each();
    let mut frame = tables.sites[1].site.clone();
    frame.class = "x".repeat(70_000);
    tables.stacks[0].frames = vec![frame.into(); 100];
    tables.stacks = vec![tables.stacks[0].clone(); 10];
    let read = read(&written(&[], &tables, 1)).unwrap();
    assert_eq!(read.damage, []);
    assert_eq!(read.tables.stacks.len(), 10);
    let frames = &read.tables.stacks[9].frames;
    assert_eq!((frames.len(), frames[0].class.len()), (64, 2000));
}

#[test]
fn two_traces_in_one_file_are_one_and_a_remark() {
    let (events, tables) = one_of_each();
    let mut bytes = written(&events, &tables, 10);
    let length = bytes.len() as u64;
    bytes.extend(bytes.clone());
    let read = read(&bytes).unwrap();
    assert_eq!(read.events, events);
    assert_eq!(read.damage, [Damage::AfterEnd { offset: length }]);
}

/// A disk with little room.
struct Disk {
    room: usize,
    kept: Vec<u8>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.room);
        self.kept.extend_from_slice(&bytes[..count]);
        self.room -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_said_once_and_keeps_what_was_written() {
    let (events, tables) = one_of_each();
    let whole = written(&events, &tables, 10).len();
    for room in 200..whole {
        let Ok(mut writer) = Writer::new(Disk { room, kept: Vec::new() }, &header()) else {
            panic!("there is room for the header");
        };
        let mut failures = 0;
        for chunk in events.chunks(10) {
            failures += usize::from(writer.events(chunk, &tables).is_err());
            failures += usize::from(writer.flush(&tables).is_err());
        }
        failures += usize::from(writer.finish(&tables).is_err());
        assert_eq!(failures, 1, "{room}");
        assert!(!writer.is_open());
        let counted = writer.events_written() as usize;
        let read = read(&writer.into_output().kept).unwrap();
        assert_eq!(read.events, events[..counted]);
    }
    assert!(Writer::new(Disk { room: 30, kept: Vec::new() }, &header()).is_err());
}
