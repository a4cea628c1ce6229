//! Reads binary traces, intact or damaged.
//!
//! A truncated trace gives the events of its complete blocks, a damaged block is skipped, and
//! [`Reader::damage`] says what is missing. The length in an intact header is trusted; otherwise the reader
//! searches for the marker of the next block. So every byte is read a bounded number of times,
//! whatever the file.

use std::fmt::{self, Display, Formatter};
use std::io::{self, ErrorKind, Read};

use thiserror::Error;

use super::codec::{CodecState, Input};
use super::rows::{take_header, take_rows};
use super::{
    BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Header, MAGIC, MARKER, PREAMBLE_BYTES, VERSION,
};
use crate::{Event, Tables};

/// Why a file cannot be read as a binary trace at all.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It does not begin like one.
    #[error("it is not a binary trace of scission")]
    NotATrace,
    /// It has a version that this reader does not know.
    #[error(
        "it is a trace in version {0} of the format, and this scission reads versions up to \
         {VERSION}: use the scission that recorded it, or a newer one"
    )]
    UnknownVersion(u32),
    /// The bytes cannot be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What is missing from a trace that could be read otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Some blocks are damaged or missing, and were left out.
    Lost {
        /// Where they were.
        offset: u64,
        /// How many bytes were left out.
        bytes: u64,
        /// How many events were in them.
        events: u64,
    },
    /// There is no end: the program was killed, the disk was full, or the file was cut.
    Truncated {
        /// Where the complete blocks end.
        offset: u64,
        /// How many bytes of an incomplete block follow.
        bytes: u64,
    },
    /// There are bytes after the end, which were ignored.
    AfterEnd {
        /// Where it begins.
        offset: u64,
    },
}

impl Display for Damage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Lost { offset, bytes, events } => {
                write!(f, "{bytes} damaged bytes at offset {offset} were left out, ")?;
                match events {
                    0 => f.write_str("and perhaps names with them, but no events"),
                    1 => f.write_str("and 1 event with them"),
                    _ => write!(f, "and {events} events with them"),
                }
            }
            Damage::Truncated { offset, bytes } => {
                write!(f, "the trace is not complete: it breaks off after {offset} bytes")?;
                match bytes {
                    0 => Ok(()),
                    _ => write!(f, ", and the {bytes} bytes that follow are no whole block"),
                }
            }
            Damage::AfterEnd { offset } => {
                write!(f, "what follows the end of the trace at offset {offset} was left out")
            }
        }
    }
}

/// Reads a binary trace, block by block.
#[derive(Debug)]
pub struct Reader<R: Read> {
    window: Window<R>,
    header: Header,
    tables: Tables,
    events: Vec<Event>,
    next_event: usize,
    context: CodecState,
    next_number: u32,
    events_before: u64,
    /// Where the bytes begin that are being left out.
    lost_from: Option<u64>,
    /// How many rows of tables may have been in what was left out, at a byte a row or more. What is
    /// allocated for them is justified by bytes that were there.
    may_fill: u64,
    is_done: bool,
    damage: Vec<Damage>,
}

impl<R: Read> Reader<R> {
    /// Opens a trace. One that was cut off in its first bytes is an empty trace.
    ///
    /// # Errors
    ///
    /// Fails when it is no trace, or one of a version that is not known.
    pub fn new(input: R) -> Result<Reader<R>, ReadError> {
        let mut window = Window { input, bytes: Vec::new(), start: 0, offset: 0, is_at_end: false };
        let is_whole = window.fill(PREAMBLE_BYTES)?;
        let preamble = window.bytes();
        let there = preamble.len().min(MAGIC.len());
        if preamble[..there] != MAGIC[..there] {
            return Err(ReadError::NotATrace);
        }
        let mut reader = Reader {
            window,
            header: Header::default(),
            tables: Tables::default(),
            events: Vec::new(),
            next_event: 0,
            context: CodecState::new(),
            next_number: 0,
            events_before: 0,
            lost_from: None,
            may_fill: 0,
            is_done: false,
            damage: Vec::new(),
        };
        if !is_whole {
            reader.lost_from = Some(0);
            reader.end_early();
            return Ok(reader);
        }
        let preamble = reader.window.bytes();
        let version = u32::from_le_bytes([preamble[8], preamble[9], preamble[10], preamble[11]]);
        if !(1..=VERSION).contains(&version) {
            return Err(ReadError::UnknownVersion(version));
        }
        reader.window.skip(PREAMBLE_BYTES);
        reader.advance()?;
        Ok(reader)
    }

    /// What is known of the run as a whole.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The names that are known so far. They are complete when all events are read.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Gives the names away.
    pub fn into_tables(self) -> Tables {
        self.tables
    }

    /// What is missing, so far.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    ///
    /// Fails when the bytes cannot be had.
    pub fn next_event(&mut self) -> io::Result<Option<Event>> {
        if self.next_event == self.events.len() {
            self.advance()?;
        }
        let event = self.events.get(self.next_event).copied();
        self.next_event += usize::from(event.is_some());
        Ok(event)
    }

    /// The events that come next, at least one; none at the end.
    ///
    /// # Errors
    ///
    /// Fails when the bytes cannot be had.
    pub fn next_events(&mut self) -> io::Result<&[Event]> {
        Ok(self.next_batch()?.0)
    }

    /// The same with the names that they need.
    ///
    /// # Errors
    ///
    /// Fails when the bytes cannot be had.
    pub fn next_batch(&mut self) -> io::Result<(&[Event], &Tables)> {
        if self.next_event == self.events.len() {
            self.advance()?;
        }
        let first = self.next_event;
        self.next_event = self.events.len();
        Ok((&self.events[first..], &self.tables))
    }

    /// Goes to the next block with events, or to the end.
    fn advance(&mut self) -> io::Result<()> {
        self.events.clear();
        self.next_event = 0;
        while !self.is_done && self.events.is_empty() {
            self.next_block()?;
        }
        self.events.iter().for_each(|event| self.tables.note(event));
        Ok(())
    }

    fn next_block(&mut self) -> io::Result<()> {
        if !self.window.fill(BLOCK_HEADER_BYTES)? {
            self.end_early();
            return Ok(());
        }
        let bytes = self.window.bytes().first_chunk::<BLOCK_HEADER_BYTES>();
        let Some(block) = bytes.and_then(BlockHeader::from_bytes) else {
            self.skip_to_next_marker();
            return Ok(());
        };
        let length = BLOCK_HEADER_BYTES + block.payload_bytes;
        if !self.window.fill(length)? {
            // The last block of a trace that was cut off; or bytes are missing in the middle.
            self.skip_to_next_marker();
            return Ok(());
        }
        let payload = &self.window.bytes()[BLOCK_HEADER_BYTES..length];
        let is_whole = crc32fast::hash(payload) == block.payload_checksum;
        let is_in_order =
            block.number >= self.next_number && block.events_before >= self.events_before;
        if !is_whole || !is_in_order {
            self.lose(length);
            return Ok(());
        }
        let is_first_after_loss = self.lost_from.is_some() || block.number != self.next_number;
        let taken = match block.kind {
            BlockKind::Header => take_header(payload).map(|header| self.header = header),
            BlockKind::Rows => take_rows(payload, &mut self.tables, &mut self.may_fill),
            BlockKind::Events => take_events(payload, &mut self.context, &mut self.events),
            BlockKind::End => Ok(()),
        };
        if taken.is_err() {
            self.events.clear();
            self.lose(length);
            return Ok(());
        }
        if is_first_after_loss {
            self.note_loss(&block);
        }
        self.next_number = block.number.saturating_add(1);
        self.events_before = block.events_before + self.events.len() as u64;
        self.window.skip(length);
        if block.kind == BlockKind::End {
            self.is_done = true;
            if self.window.fill(1)? {
                self.damage.push(Damage::AfterEnd { offset: self.window.offset });
            }
        }
        Ok(())
    }

    /// Leaves out a block.
    fn lose(&mut self, length: usize) {
        self.lost_from.get_or_insert(self.window.offset);
        self.may_fill += length as u64;
        self.window.skip(length);
    }

    fn skip_to_next_marker(&mut self) {
        let bytes = self.window.bytes();
        let found = bytes[1..].windows(MARKER.len()).position(|bytes| *bytes == MARKER);
        // A marker may have begun in the last bytes of the window.
        let length = found.map_or(bytes.len() - (MARKER.len() - 1), |position| position + 1);
        self.lose(length);
    }

    /// Says what was left out, now that `block` shows how many events there were.
    fn note_loss(&mut self, block: &BlockHeader) {
        let offset = self.lost_from.take().unwrap_or(self.window.offset);
        let bytes = self.window.offset - offset;
        let events = block.events_before - self.events_before;
        self.damage.push(Damage::Lost { offset, bytes, events });
    }

    /// The file ends without an end block.
    fn end_early(&mut self) {
        let left = self.window.bytes().len() as u64;
        let end = self.window.offset + left;
        let offset = self.lost_from.take().unwrap_or(self.window.offset);
        self.damage.push(Damage::Truncated { offset, bytes: end - offset });
        self.is_done = true;
    }
}

fn take_events(
    payload: &[u8],
    context: &mut CodecState,
    events: &mut Vec<Event>,
) -> Result<(), &'static str> {
    context.reset();
    let mut input = Input::new(payload);
    while !input.is_empty() {
        events.push(context.decode(&mut input)?);
    }
    Ok(())
}

/// The part of the file in memory.
#[derive(Debug)]
struct Window<R: Read> {
    input: R,
    bytes: Vec<u8>,
    start: usize,
    /// Where in the file `start` is.
    offset: u64,
    is_at_end: bool,
}

impl<R: Read> Window<R> {
    /// How much is read at a time.
    const STEP: usize = 256 * 1024;

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// Tries to read that many bytes; returns whether it could.
    fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        while self.bytes.len() - self.start < wanted && !self.is_at_end {
            self.bytes.drain(..self.start);
            self.start = 0;
            let there = self.bytes.len();
            self.bytes.resize(there + Self::STEP, 0);
            let read = loop {
                match self.input.read(&mut self.bytes[there..]) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            self.bytes.truncate(there + *read.as_ref().unwrap_or(&0));
            self.is_at_end = read? == 0;
        }
        Ok(self.bytes.len() - self.start >= wanted)
    }

    fn skip(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }
}
