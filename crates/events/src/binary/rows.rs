//! Rows of the tables, and the pairs of the header, as bytes.
//!
//! A payload of rows is a list of entries: a table's number and a row of it, or a table's number
//! plus four and the number of the row that comes next in this table. So a reader that lost a block
//! still knows which row is which. Nobody refers to a stack by its row: those that are lost are not
//! missed, and only the row has a number.

use std::sync::Arc;

use findings::Site;
use rustc_hash::{FxHashMap, FxHashSet};

use super::codec::{Input, put_number};
use super::{Header, MAX_FRAME_TEXT_BYTES, MAX_SHARED_TEXT_BYTES, MAX_TEXT_BYTES, ROW_BLOCK_BYTES};
use crate::{
    ClassEntry, Context, FieldEntry, MAX_FRAMES, Seen, SiteEntry, SiteId, StackEntry, Tables,
    ThreadEntry, ThreadId,
};

/// The tables whose rows have numbers.
const TABLES: u8 = 4;

/// Begins the row of a stack.
const STACK: u8 = 2 * TABLES;

/// What the row of a site begins with: how much is seen of what its code does, and whether a call there takes something out of
/// a collection.
const SITES: [(u8, Seen, bool); 6] = [
    (0, Seen::Everything, false),
    (STACK + 1, Seen::Order, false),
    (STACK + 2, Seen::NotAllState, false),
    (STACK + 3, Seen::Everything, true),
    (STACK + 4, Seen::NotAllState, true),
    (STACK + 5, Seen::Order, true),
];

fn tag_of_site(entry: &SiteEntry) -> u8 {
    let wanted = (entry.seen, entry.gives_away);
    SITES.iter().find(|(_, seen, gives)| (*seen, *gives) == wanted).map_or(0, |site| site.0)
}

fn site_of_tag(tag: u8) -> Option<(Seen, bool)> {
    SITES.iter().find(|site| site.0 == tag).map(|(_, seen, gives)| (*seen, *gives))
}

/// How many rows of each table there are: sites, fields, classes, threads, stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts([usize; TABLES as usize + 1]);

impl Counts {
    pub(super) fn of(tables: &Tables) -> Counts {
        Counts([
            tables.sites.len(),
            tables.fields.len(),
            tables.classes.len(),
            tables.threads.len(),
            tables.stacks.len(),
        ])
    }
}

/// Texts of one payload. A text that was there before is referred to by its number, from 1.
#[derive(Debug, Default)]
struct TextWriter<'a> {
    known: FxHashMap<&'a str, u64>,
}

impl<'a> TextWriter<'a> {
    fn put(&mut self, payload: &mut Vec<u8>, text: &'a str) {
        let text = cut(text, MAX_TEXT_BYTES);
        if text.len() <= MAX_SHARED_TEXT_BYTES {
            if let Some(number) = self.known.get(text) {
                put_number(payload, *number);
                return;
            }
            let number = self.known.len() as u64 + 1;
            self.known.insert(text, number);
        }
        put_number(payload, 0);
        put_number(payload, text.len() as u64);
        payload.extend_from_slice(text.as_bytes());
    }
}

#[derive(Debug, Default)]
struct TextReader<'a> {
    known: Vec<&'a str>,
}

impl<'a> TextReader<'a> {
    fn take(&mut self, input: &mut Input<'a>) -> Result<&'a str, &'static str> {
        let number = input.narrow()? as usize;
        if let Some(place) = number.checked_sub(1) {
            return self.known.get(place).copied().ok_or("a text that is not there");
        }
        let length = input.narrow()? as usize;
        let text = str::from_utf8(input.take(length)?).map_err(|_| "a text that is not UTF-8")?;
        if text.len() <= MAX_SHARED_TEXT_BYTES {
            self.known.push(text);
        }
        Ok(text)
    }
}

fn put_optional(payload: &mut Vec<u8>, number: Option<u32>) {
    put_number(payload, number.map_or(0, |number| u64::from(number) + 1));
}

fn take_optional(input: &mut Input<'_>) -> Result<Option<u32>, &'static str> {
    match input.number()?.checked_sub(1) {
        None => Ok(None),
        Some(number) => Ok(Some(u32::try_from(number).map_err(|_| "a number that is too large")?)),
    }
}

/// The payload of the header.
pub(super) fn put_header(header: &Header) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut texts = TextWriter::default();
    for (key, value) in &header.pairs {
        if payload.len() >= ROW_BLOCK_BYTES {
            break;
        }
        texts.put(&mut payload, key);
        texts.put(&mut payload, value);
    }
    payload
}

pub(super) fn take_header(payload: &[u8]) -> Result<Header, &'static str> {
    let mut input = Input::new(payload);
    let mut texts = TextReader::default();
    let mut header = Header::default();
    while !input.is_empty() {
        let key = texts.take(&mut input)?.to_string();
        header.pairs.push((key, texts.take(&mut input)?.to_string()));
    }
    Ok(header)
}

/// A payload with the rows that come after `written`, as many as a block takes. `written` then
/// counts them too. Empty if there are none.
pub(super) fn put_rows(tables: &Tables, written: &mut Counts) -> Vec<u8> {
    let mut payload = Vec::new();
    let mut texts = TextWriter::default();
    let all = Counts::of(tables);
    for table in 0..TABLES {
        let next = &mut written.0[usize::from(table)];
        let end = all.0[usize::from(table)];
        if *next < end && payload.len() < ROW_BLOCK_BYTES {
            payload.push(TABLES + table);
            put_number(&mut payload, *next as u64);
        }
        while *next < end && payload.len() < ROW_BLOCK_BYTES {
            let tag = match table {
                0 => tag_of_site(&tables.sites[*next]),
                table => table,
            };
            payload.push(tag);
            match table {
                0 => {
                    let entry = &tables.sites[*next];
                    put_site(&mut payload, &mut texts, &entry.site, MAX_TEXT_BYTES);
                    texts.put(&mut payload, &entry.subject);
                }
                1 => {
                    texts.put(&mut payload, &tables.fields[*next].class);
                    texts.put(&mut payload, &tables.fields[*next].name);
                }
                2 => texts.put(&mut payload, &tables.classes[*next].name),
                _ => {
                    texts.put(&mut payload, &tables.threads[*next].name);
                    payload.push(u8::from(tables.threads[*next].is_virtual));
                }
            }
            *next += 1;
        }
    }
    let next = &mut written.0[usize::from(TABLES)];
    while *next < tables.stacks.len() && payload.len() < ROW_BLOCK_BYTES {
        payload.push(STACK);
        put_stack(&mut payload, &mut texts, &tables.stacks[*next]);
        *next += 1;
    }
    payload
}

fn put_site<'a>(payload: &mut Vec<u8>, texts: &mut TextWriter<'a>, site: &'a Site, longest: usize) {
    let Site { class, method, descriptor, offset, file, line } = site;
    texts.put(payload, cut(class, longest));
    texts.put(payload, cut(method, longest));
    texts.put(payload, cut(descriptor, longest));
    put_optional(payload, *offset);
    payload.push(u8::from(file.is_some()));
    if let Some(file) = file {
        texts.put(payload, cut(file, longest));
    }
    put_optional(payload, *line);
}

fn put_stack<'a>(payload: &mut Vec<u8>, texts: &mut TextWriter<'a>, stack: &'a StackEntry) {
    put_number(payload, u64::from(stack.site.0));
    put_number(payload, u64::from(stack.thread.0));
    for block in stack.context.0 {
        put_number(payload, u64::from(block.0));
    }
    let frames = &stack.frames[..stack.frames.len().min(MAX_FRAMES)];
    put_number(payload, frames.len() as u64);
    for frame in frames {
        put_site(payload, texts, frame, MAX_FRAME_TEXT_BYTES);
    }
}

fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

/// Adds the rows of a payload to the tables. Rows that were lost before them are filled in as
/// unknown, up to `may_fill` of them, which then counts what is left. All rows are added, or none.
pub(super) fn take_rows(
    payload: &[u8],
    tables: &mut Tables,
    may_fill: &mut u64,
) -> Result<(), &'static str> {
    let before = Counts::of(tables);
    let taken = try_take_rows(payload, tables, may_fill);
    if taken.is_err() {
        tables.sites.truncate(before.0[0]);
        tables.fields.truncate(before.0[1]);
        tables.classes.truncate(before.0[2]);
        tables.threads.truncate(before.0[3]);
        tables.stacks.truncate(before.0[4]);
    }
    taken
}

fn try_take_rows(
    payload: &[u8],
    tables: &mut Tables,
    may_fill: &mut u64,
) -> Result<(), &'static str> {
    let mut input = Input::new(payload);
    let mut texts = TextReader::default();
    let mut frames = FxHashSet::default();
    while !input.is_empty() {
        let tag = input.byte()?;
        if let Some((seen, gives_away)) = site_of_tag(tag) {
            let site = take_site(&mut input, &mut texts)?;
            let subject = texts.take(&mut input)?.to_string();
            tables.sites.push(SiteEntry { site, subject, seen, gives_away });
            continue;
        }
        match tag {
            1 => {
                let class = texts.take(&mut input)?.to_string();
                let name = texts.take(&mut input)?.to_string();
                tables.fields.push(FieldEntry { class, name });
            }
            2 => {
                let name = texts.take(&mut input)?.to_string();
                tables.classes.push(ClassEntry { name });
            }
            3 => {
                let name = texts.take(&mut input)?.to_string();
                tables.threads.push(ThreadEntry { name, is_virtual: take_flag(&mut input)? });
            }
            4..=7 => {
                let next = input.number()?;
                let there = Counts::of(tables).0[usize::from(tag - TABLES)] as u64;
                let missing = next.checked_sub(there).ok_or("rows that are there already")?;
                *may_fill = may_fill.checked_sub(missing).ok_or("rows before it are missing")?;
                for _ in 0..missing {
                    match tag - TABLES {
                        0 => tables.sites.push(SiteEntry::unknown()),
                        1 => tables
                            .fields
                            .push(FieldEntry { class: String::new(), name: String::new() }),
                        2 => tables.classes.push(ClassEntry { name: String::new() }),
                        _ => tables
                            .threads
                            .push(ThreadEntry { name: String::new(), is_virtual: false }),
                    }
                }
            }
            STACK => tables.stacks.push(take_stack(&mut input, &mut texts, &mut frames)?),
            _ => return Err("a table that is not known"),
        }
    }
    Ok(())
}

fn take_site<'a>(input: &mut Input<'a>, texts: &mut TextReader<'a>) -> Result<Site, &'static str> {
    let class = texts.take(input)?.to_string();
    let method = texts.take(input)?.to_string();
    let descriptor = texts.take(input)?.to_string();
    let offset = take_optional(input)?;
    let has_file = take_flag(input)?;
    let file = if has_file { Some(texts.take(input)?.to_string()) } else { None };
    let line = take_optional(input)?;
    Ok(Site { class, method, descriptor, offset, file, line })
}

fn take_stack<'a>(
    input: &mut Input<'a>,
    texts: &mut TextReader<'a>,
    known: &mut FxHashSet<Arc<Site>>,
) -> Result<StackEntry, &'static str> {
    let site = SiteId(input.narrow()?);
    let thread = ThreadId(input.narrow()?);
    let mut context = Context::default();
    for block in &mut context.0 {
        *block = SiteId(input.narrow()?);
    }
    let count = input.narrow()? as usize;
    if count > MAX_FRAMES {
        return Err("a stack that is too deep");
    }
    let mut frames = Vec::with_capacity(count);
    for _ in 0..count {
        let frame = take_site(input, texts)?;
        let frame = known.get(&frame).cloned().unwrap_or_else(|| Arc::new(frame));
        known.insert(Arc::clone(&frame));
        frames.push(frame);
    }
    Ok(StackEntry { site, thread, context, frames })
}

fn take_flag(input: &mut Input<'_>) -> Result<bool, &'static str> {
    match input.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err("a flag that is neither 0 nor 1"),
    }
}
