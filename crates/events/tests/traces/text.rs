//! The text trace.

use events::text::{Comment, Reader, TextError, Writer};
use events::{
    Action, Epoch, Event, FieldId, Kind, ObjectId, Sink, SiteId, Tables, ThreadId, Variable,
};
use proptest::prelude::*;

use crate::random::{events, one_of_each, tables};

pub(crate) fn written(events: &[Event], tables: &Tables) -> String {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    writer.events(events, tables).unwrap();
    writer.finish(tables).unwrap();
    drop(writer);
    String::from_utf8(bytes).unwrap()
}

fn read_all(reader: &mut Reader) -> Result<Vec<Event>, TextError> {
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    Ok(events)
}

fn read(text: &str) -> Result<(Vec<Event>, Tables), TextError> {
    let mut reader = Reader::new(text.to_string());
    let events = read_all(&mut reader)?;
    Ok((events, reader.into_tables()))
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

proptest! {
    #[test]
    fn what_is_written_is_read(events in events(60), mut tables in tables()) {
        let text = written(&events, &tables);
        let (read_events, read_tables) = read(&text).unwrap();
        events.iter().for_each(|event| tables.note(event));
        prop_assert_eq!(&read_events, &events);
        prop_assert_eq!(&read_tables, &tables);
        prop_assert_eq!(written(&read_events, &read_tables), text);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), words in "([a-z.%@#:\"\\\\~0-9\\[\\]*]{1,6}[ \n]){0,30}") {
        let _ = read(&text);
        let _ = read(&words);
    }

    #[test]
    fn cut_off_it_gives_events_or_says_where(events in events(3), tables in tables()) {
        let text = written(&events, &tables);
        for (length, _) in text.char_indices() {
            let mut reader = Reader::new(text[..length].to_string());
            let mut count = 0;
            while let Ok(Some(event)) = reader.next_event() {
                // The last line may be cut in the middle of a name or number.
                let is_last = text[..length].lines().count() <= count + 1 + definitions(&text[..length]);
                prop_assert!(event == events[count] || is_last);
                count += 1;
            }
        }
    }
}

fn definitions(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with('.')).count()
}

#[test]
fn a_fixture_is_read_as_people_mean_it() {
    let text = "\
# Two threads, and one account.
t1 begin deposit            //~ not-serializable[d] block
t1 acq m
t1 rd acc.balance           //~ not-serializable[d] first
t2 wr acc.balance @ Account.java:12
t1 wr count epoch 9
t1 update queue.*
t1 rd array[3]
t1 end
";
    let mut reader = Reader::new(text.to_string());
    let events = read_all(&mut reader).unwrap();
    let (first, second) = (ThreadId(0), ThreadId(1));
    let (lock, account, queue, array) = (ObjectId(1), ObjectId(2), ObjectId(3), ObjectId(4));
    let balance = Variable::Field(account, FieldId(0));
    let event = |thread, site, epoch, action| Event {
        thread,
        site: SiteId(site),
        epoch: Epoch(epoch),
        action,
        overlaps: 0,
    };
    let expected = [
        event(first, 1, 0, Action::Begin),
        event(first, 0, 0, Action::Acquire(lock)),
        event(first, 0, 0, Action::Read(balance)),
        event(second, 2, 0, Action::Write(balance)),
        event(first, 0, 9, Action::Write(Variable::Static(FieldId(1)))),
        event(first, 0, 0, Action::AtomicUpdate(Variable::Contents(queue))),
        event(first, 0, 0, Action::Read(Variable::Element(array, 3))),
        event(first, 0, 0, Action::End),
    ];
    assert_eq!(events, expected);
    let comment = |line, text: &str| Comment { line, text: text.to_string() };
    assert_eq!(reader.comments().len(), 3);
    assert_eq!(reader.comments()[1], comment(2, "//~ not-serializable[d] block"));
    assert_eq!(reader.object_name(account), Some("acc"));
    let tables = reader.into_tables();
    assert_eq!(tables.threads[1].name, "t2");
    assert_eq!(tables.fields[0].name, "balance");
    assert_eq!(tables.sites[1].site.method, "deposit");
    assert_eq!(tables.sites[2].site.file.as_deref(), Some("Account.java"));
    assert_eq!(tables.sites[2].site.line, Some(12));
    assert_eq!(
        written(&events, &tables),
        "\
.thread t1 \"t1\"
.thread t2 \"t2\"
.field balance \"\" \"balance\"
.field count \"\" \"count\"
.site _ \"\" \"\" \"\"
.site deposit \"\" \"deposit\" \"\"
.site Account.java:12 \"Account\" \"\" \"\" file \"Account.java\" line 12
t1 begin deposit
t1 acq o1
t1 rd o2.balance
t2 wr o2.balance @ Account.java:12
t1 wr count epoch 9
t1 update o3.*
t1 rd o4[3]
t1 end
"
    );
}

#[test]
fn blocks_of_one_name_are_one_block_and_lines_can_be_places() {
    let text = "t1 begin A.p\nt1 rd x\nt1 end\nt2 begin A.p\nt2 wr x @ B.java:7";
    let mut reader = Reader::new(text.to_string()).with_lines_as_sites("two.trace");
    let sites: Vec<u32> = read_all(&mut reader).unwrap().iter().map(|event| event.site.0).collect();
    assert_eq!(sites, [1, 2, 3, 1, 4]);
    let tables = reader.into_tables();
    let place = |row: usize| {
        let site = &tables.sites[row].site;
        (site.method_name(), site.file.as_deref().unwrap(), site.line.unwrap())
    };
    assert_eq!(place(1), ("A.p".to_string(), "two.trace", 1));
    assert_eq!(place(2), ("two.".to_string(), "two.trace", 2));
    assert_eq!(place(4), ("B.".to_string(), "B.java", 7));
}

#[test]
fn named_objects_avoid_the_numbers_that_are_used() {
    let (events, _) = read("t acq m\nt acq o1\nt acq k\nt acq o3\nt acq o01").unwrap();
    let objects: Vec<Action> = events.iter().map(|event| event.action).collect();
    let acquire = |object| Action::Acquire(ObjectId(object));
    assert_eq!(objects, [acquire(2), acquire(1), acquire(4), acquire(3), acquire(5)]);
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_the_nearest_word() {
    assert_eq!(
        refused("t1 acq m\nt1 aqc m"),
        "line 2, column 4: `aqc` is not a known word; did you mean `acq`?"
    );
    assert_eq!(refused("t1 rd"), "line 1, column 6: a variable, such as `acc.balance`, is missing");
    assert_eq!(refused("t1 rd x y"), "line 1, column 9: `y` is too much here");
    assert_eq!(refused("  t1"), "line 1, column 5: what the thread did is missing");
    assert_eq!(refused("t1 rd a[x]"), "line 1, column 7: `a[x]` is not like `array[3]`");
    assert_eq!(refused("t1 rd .x"), "line 1, column 7: `.x` is not like `acc.balance`");
    assert_eq!(
        refused("t1 rd x epoch -1"),
        "line 1, column 15: `-1` is not the number of an epoch"
    );
    assert_eq!(
        refused(".thraed a \"b\""),
        "line 1, column 1: there is no table `.thraed`; did you mean `.thread`?"
    );
    assert_eq!(
        refused(".class a \"b\"\n.class a \"c\""),
        "line 2, column 8: `a` has a meaning already"
    );
    assert_eq!(
        refused(".class a \"b"),
        "line 1, column 10: this text in quotes does not end in its line"
    );
    assert_eq!(
        refused("t1 branch tkaen"),
        "line 1, column 11: `tkaen` is not a way of a branch; did you mean `taken`?"
    );
}

#[test]
fn every_kind_has_a_word_of_its_own() {
    let mut words: Vec<&str> = Kind::ALL.iter().map(|kind| kind.word()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Kind::ALL.len());
    for (number, kind) in Kind::ALL.iter().enumerate() {
        assert_eq!(*kind as usize, number);
    }
    let (events, tables) = one_of_each();
    let text = written(&events, &tables);
    for word in words {
        assert!(text.contains(&format!(" {word}")), "{word} is not in {text}");
    }
    assert_eq!(read(&text).unwrap(), (events, tables));
}

#[test]
fn the_document_has_every_kind() {
    let document = include_str!("../../../../docs/trace-format.md");
    for kind in Kind::ALL {
        let row = format!("\n| {} | `{}` | ", *kind as u8, kind.word());
        assert!(document.contains(&row), "docs/trace-format.md lacks{row}");
    }
}
