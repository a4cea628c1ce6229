//! The form that other tools read and write.

use events::std_form::{BeginUse, Reader, Writer};
use events::text::TextError;
use events::{Action, Event, Form, Kind, ObjectId, Sink, SiteId, Tables, ThreadId, TraceReader};
use proptest::prelude::*;

use crate::random::{events, one_of_each, tables};

fn written(events: &[Event], tables: &Tables) -> (String, u64) {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    writer.events(events, tables).unwrap();
    writer.finish(tables).unwrap();
    let left_out = writer.left_out();
    drop(writer);
    (String::from_utf8(bytes).unwrap(), left_out)
}

fn read(text: &str) -> Result<(Vec<Event>, Tables, u64), TextError> {
    let mut reader = Reader::new(text.to_string());
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    let left_out = reader.left_out();
    Ok((events, reader.into_tables(), left_out))
}

fn kinds(text: &str) -> Vec<Kind> {
    read(text).unwrap().0.iter().map(|event| event.action.parts().0).collect()
}

fn use_in(text: &str) -> BeginUse {
    Reader::new(text.to_string()).begin_use()
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_written_again(events in events(100), tables in tables()) {
        let (text, left_out) = written(&events, &tables);
        let (read_events, read_tables, not_read) = read(&text).unwrap();
        // Acquisitions of what is held already become no events, nor do their releases.
        prop_assert!(text.lines().count() as u64 == read_events.len() as u64 + not_read);
        prop_assert!(left_out <= events.len() as u64);
        if not_read == 0 {
            prop_assert_eq!(written(&read_events, &read_tables), (text, 0));
        }
    }

    #[test]
    fn what_the_form_can_say_is_the_same_event(events in events(100)) {
        let sayable = |event: &Event| matches!(
            event.action,
            Action::Read(_) | Action::Write(_) | Action::Fork(_) | Action::Join(_)
                | Action::Begin | Action::End
        );
        let events: Vec<Event> = events.into_iter().filter(sayable).collect();
        let (text, _) = written(&events, &Tables::default());
        let (read_events, tables, _) = read(&text).unwrap();
        prop_assert_eq!(read_events.len(), events.len());
        let line = |site: SiteId| tables.sites.get(site.0 as usize).and_then(|entry| entry.site.line);
        for (read, event) in read_events.iter().zip(&events) {
            prop_assert_eq!(read.action.parts().0, event.action.parts().0);
            prop_assert!(line(read.site).unwrap_or(0) == event.site.0);
        }
        for (first, second) in (0..events.len()).flat_map(|first| {
            (0..events.len()).map(move |second| (first, second))
        }) {
            let same = |pair: &[Event]| {
                let operand = |event: &Event| event.action.parts().1;
                let threads = pair[first].thread == pair[second].thread;
                (threads, operand(&pair[first]) == operand(&pair[second]))
            };
            prop_assert_eq!(same(&read_events), same(&events));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), lines in "([T01|()acqrelbgind ]{1,12}\n){0,30}") {
        let _ = read(&text);
        let _ = read(&lines);
    }
}

#[test]
fn the_form_is_as_others_write_it() {
    let text = "\
T0|begin(L0)|0
T1|begin(L0)|0
T0|w(V0)|2
T0|fork(T1)|3
T1|begin(L0)|0
T1|req(L0)|6
T1|acq(L0)|6
T1|acq(L0)|7
T1|r(V0)|8
T1|rel(L0)|7
T1|rel(L0)|6
T1|end(L0)|0
T0|join(T1)|9
T0|end(L0)|0
T1|end(L0)|0
";
    let (events, tables, left_out) = read(text).unwrap();
    assert_eq!(left_out, 3);
    assert_eq!(use_in(text), BeginUse::Threads);
    let expected = [
        Kind::ThreadBegin,
        Kind::ThreadBegin,
        Kind::Write,
        Kind::Fork,
        Kind::ThreadBegin,
        Kind::Acquire,
        Kind::Read,
        Kind::Release,
        Kind::ThreadEnd,
        Kind::Join,
        Kind::ThreadEnd,
        Kind::ThreadEnd,
    ];
    assert_eq!(events.iter().map(|event| event.action.parts().0).collect::<Vec<_>>(), expected);
    assert_eq!(tables.threads[1].name, "T1");
    assert_eq!(tables.sites[events[6].site.0 as usize].site.line, Some(8));
    assert_eq!(events[0].site, SiteId(0));
    assert_eq!(events[3].action, Action::Fork(ThreadId(1)));
}

#[test]
fn blocks_and_threads_are_told_apart() {
    // Something stands before a begin.
    assert_eq!(use_in("T0|r(x)|1\nT0|begin|0\nT0|end|0"), BeginUse::Blocks);
    assert_eq!(use_in("T0|begin|0\nT0|end|0\nT0|begin|0\nT0|end|0"), BeginUse::Blocks);
    // One thread decides for all.
    assert_eq!(use_in("T1|begin|0\nT1|end|0\nT0|r(x)|1\nT0|begin|0"), BeginUse::Blocks);
    assert_eq!(use_in("T0|begin(?)|0\nT0|begin|0\nT0|r(x)|1\nT0|end|0"), BeginUse::Threads);
    assert_eq!(use_in("T0|begin\nT0|end\nT0|r(x)|1\nT0|end"), BeginUse::Threads);
    // A place is the place of a block.
    assert_eq!(use_in("T0|begin|1\nT0|r(x)|2\nT0|end|3"), BeginUse::Blocks);
    // The operand may say it.
    assert_eq!(
        kinds("T0|begin(B3)|3\nT0|r(x)|1\nT0|end(B3)|3"),
        [Kind::Begin, Kind::Read, Kind::End]
    );
    assert_eq!(
        kinds("T0|r(x)|1\nT0|begin(T0)|3\nT0|end(T0)|1"),
        [Kind::Read, Kind::ThreadBegin, Kind::ThreadEnd]
    );
}

#[test]
fn what_the_form_cannot_say_keeps_its_order() {
    let (events, tables) = one_of_each();
    let (text, left_out) = written(&events, &tables);
    // Two notifications, a begin and an end of a thread, an escape, three branches, what was missed, an acquisition from
    // all threads, and that order is observed inside the library; of what would have happened, three kinds without
    // an operand, three ways of a branch, a condition in two forms, two accesses to variables of four forms, and four kinds
    // about locks; four kinds about acquisitions that were tried and threads that are blocked; and three about threads that
    // all wait.
    assert_eq!(left_out, 11 + 3 + 3 + 2 + 2 * 4 + 4 + 4 + 3);
    let first = |kind: Kind| events.iter().find(|event| event.action.parts().0 == kind).unwrap();
    let line = |event: &Event| written(&[*event], &tables).0;
    assert_eq!(line(first(Kind::VolatileWrite)), "T0|acq(L0)|2\nT0|w(V0)|2\nT0|rel(L0)|2\n");
    assert_eq!(
        line(first(Kind::AtomicUpdate)),
        "T0|acq(L0)|0\nT0|r(V0)|0\nT0|w(V0)|0\nT0|rel(L0)|0\n"
    );
    assert_eq!(line(first(Kind::Begin)), "T0|begin(B2)|2\n");
    assert!(line(first(Kind::Wait)).starts_with("T0|rel(L0)|"));
    assert!(line(first(Kind::Woken)).starts_with("T0|acq(L0)|"));
    assert_eq!(line(first(Kind::Publish)).lines().count(), 2);
    // A monitor and a publication of one object are two locks.
    assert!(text.contains("(L1)"));
    let earlier = Action::EarlierRead(events::Variable::Contents(ObjectId(1)));
    assert!(line(&Event { action: earlier, ..events[0] }).starts_with("T0|r(V0)"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let refused = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        refused("T0|r(x)|1\nT0|aqc(m)|2"),
        "line 2, column 4: `aqc` is not a known word; did you mean `acq`?"
    );
    assert_eq!(refused("T0 acq m"), "line 1, column 1: this is not like `T0|acq(L3)|12`");
    assert_eq!(refused("T0|r(x|1"), "line 1, column 4: `r(x` has no `)`");
    assert_eq!(refused("T0|r|1"), "line 1, column 4: `r` needs to be done to something");
    assert_eq!(refused("|r(x)|1"), "line 1, column 1: the thread is missing");
}

#[test]
fn a_form_is_known_by_its_content() {
    let form = |bytes: &[u8]| TraceReader::new(bytes).map(|reader| reader.form()).ok();
    assert_eq!(form(b"# a comment\n\nT0|r(x)|1"), Some(Form::Std));
    assert_eq!(form(b"t1 rd x"), Some(Form::Text));
    assert_eq!(form(b".thread a \"b|c\""), Some(Form::Text));
    assert_eq!(form(b""), Some(Form::Text));
    assert_eq!(form(b"\x89SCN"), Some(Form::Binary));
    assert_eq!(form(b"PK\x03\x04\0\0"), None);
    assert_eq!(form(b"t1 rd \xff"), None);
}
