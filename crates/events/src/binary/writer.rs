//! Writes binary traces.

use std::io::{self, Write};

use super::codec::{CodecState, EVENT_ROOM};
use super::rows::{Counts, put_header, put_rows};
use super::{
    BLOCK_HEADER_BYTES, BlockHeader, BlockKind, EVENT_BLOCK_BYTES, Header, MAGIC, PREAMBLE_BYTES,
    VERSION,
};
use crate::{Event, Sink, Tables};

/// Writes a binary trace, block by block.
///
/// It needs no buffer around its output: every block is written with one call. What is in the
/// block that is not full yet is lost when the process is killed; [`Sink::flush`] writes it out.
/// The first error of the output is returned, once; after it nothing is written any more.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: W,
    is_open: bool,
    /// Room for the header of the block, its payload, and one event more.
    block: Box<[u8]>,
    /// How much of `block` is filled, the room for the header included.
    used: usize,
    context: CodecState,
    rows_written: Counts,
    blocks_written: u32,
    /// Events in blocks that are written.
    events_before: u64,
    /// Events in the block that is not written yet.
    events_in_block: u64,
    bytes_written: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    ///
    /// Fails when its beginning cannot be written.
    pub fn new(output: W, header: &Header) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            output,
            is_open: true,
            block: vec![0; BLOCK_HEADER_BYTES + EVENT_BLOCK_BYTES + EVENT_ROOM].into(),
            used: BLOCK_HEADER_BYTES,
            context: CodecState::new(),
            rows_written: Counts::default(),
            blocks_written: 0,
            events_before: 0,
            events_in_block: 0,
            bytes_written: PREAMBLE_BYTES as u64,
        };
        let mut preamble = [0; PREAMBLE_BYTES];
        preamble[..8].copy_from_slice(&MAGIC);
        preamble[8..12].copy_from_slice(&VERSION.to_le_bytes());
        writer.output.write_all(&preamble)?;
        writer.write_block(BlockKind::Header, &put_header(header))?;
        writer.output.flush()?;
        Ok(writer)
    }

    /// How many events are in the file, those not counted that are not written yet.
    pub fn events_written(&self) -> u64 {
        self.events_before
    }

    /// How many bytes are in the file.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Whether it still writes: it does until it fails or is finished.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Gives the output back. What was not flushed is lost.
    pub fn into_output(self) -> W {
        self.output
    }

    #[inline]
    fn add(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        if !self.is_open {
            return Ok(());
        }
        if let Some(room) = self.block[self.used..].first_chunk_mut::<EVENT_ROOM>() {
            self.used += self.context.encode(event, room);
            self.events_in_block += 1;
        }
        if self.used < BLOCK_HEADER_BYTES + EVENT_BLOCK_BYTES {
            return Ok(());
        }
        self.once(|writer| writer.write_events(tables))
    }

    /// Does what may fail; a failure closes the writer.
    fn once(&mut self, work: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if !self.is_open {
            return Ok(());
        }
        let done = work(self);
        self.is_open = done.is_ok();
        done
    }

    /// Writes the events of the block, after the rows of the tables that they need.
    fn write_events(&mut self, tables: &Tables) -> io::Result<()> {
        while self.rows_written != Counts::of(tables) {
            let payload = put_rows(tables, &mut self.rows_written);
            if payload.is_empty() {
                break;
            }
            self.write_block(BlockKind::Rows, &payload)?;
        }
        if self.events_in_block == 0 {
            return Ok(());
        }
        let (head, payload) = self.block[..self.used].split_at_mut(BLOCK_HEADER_BYTES);
        let header = BlockHeader {
            kind: BlockKind::Events,
            payload_bytes: payload.len(),
            number: self.blocks_written,
            events_before: self.events_before,
            payload_checksum: crc32fast::hash(payload),
        };
        head.copy_from_slice(&header.to_bytes());
        self.output.write_all(&self.block[..self.used])?;
        self.bytes_written += self.used as u64;
        self.blocks_written = self.blocks_written.wrapping_add(1);
        self.events_before += self.events_in_block;
        self.events_in_block = 0;
        self.used = BLOCK_HEADER_BYTES;
        self.context.reset();
        Ok(())
    }

    fn write_block(&mut self, kind: BlockKind, payload: &[u8]) -> io::Result<()> {
        let header = BlockHeader {
            kind,
            payload_bytes: payload.len(),
            number: self.blocks_written,
            events_before: self.events_before,
            payload_checksum: crc32fast::hash(payload),
        };
        let mut bytes = Vec::with_capacity(BLOCK_HEADER_BYTES + payload.len());
        bytes.extend_from_slice(&header.to_bytes());
        bytes.extend_from_slice(payload);
        self.output.write_all(&bytes)?;
        self.bytes_written += bytes.len() as u64;
        self.blocks_written = self.blocks_written.wrapping_add(1);
        Ok(())
    }
}

impl<W: Write> Sink for Writer<W> {
    #[inline]
    fn event(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        self.add(event, tables)
    }

    fn events(&mut self, events: &[Event], tables: &Tables) -> io::Result<()> {
        events.iter().try_for_each(|event| self.add(event, tables))
    }

    fn flush(&mut self, tables: &Tables) -> io::Result<()> {
        self.once(|writer| {
            writer.write_events(tables)?;
            writer.output.flush()
        })
    }

    /// Writes what is left, and the end block.
    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.once(|writer| {
            writer.write_events(tables)?;
            writer.write_block(BlockKind::End, &[])?;
            writer.output.flush()
        })?;
        self.is_open = false;
        Ok(())
    }
}
