//! The binary trace: compact, written during the run, and readable as far as it is intact.
//!
//! A file is a preamble and a row of blocks. Each block has a header and a checksum of its own. The
//! rows of the tables are in separate blocks, before the first event that needs them; the
//! last block marks the trace as complete. `docs/trace-format.md` describes every byte; this
//! file holds the numbers of it that writer and reader share.

mod codec;
mod reader;
mod rows;
mod writer;

pub use reader::{Damage, ReadError, Reader};
pub use writer::Writer;

/// The first bytes of a trace. They are chosen as those of PNG are: no text begins like this, and
/// what changes line ends or drops the eighth bit damages them.
pub const MAGIC: [u8; 8] = *b"\x89SCN\r\n\x1a\n";

/// The version of the format that is written. Version 1, which has no stacks, is read as well.
pub const VERSION: u32 = 2;

/// What is known of the run as a whole: pairs of a key and a text, such as `tool` and `scission
/// 0.1.0`. No names of machines, no absolute paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The pairs, in the order in which they are written.
    pub pairs: Vec<(String, String)>,
}

impl Header {
    /// Adds a pair.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Header {
        self.pairs.push((key.to_string(), value.to_string()));
        self
    }

    /// The text of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

/// The magic and the version.
const PREAMBLE_BYTES: usize = 12;

/// Each block begins with these bytes; a reader that has lost its way looks for them.
const MARKER: [u8; 4] = *b"\xf5SB\n";

/// Marker, kind, three zeros, payload length, block number, events before the block, checksum of
/// the payload, checksum of the 28 bytes before.
const BLOCK_HEADER_BYTES: usize = 32;

/// A block of events is closed when its payload has this many bytes. What is not closed is lost
/// when the process is killed, and what is lost with a damaged byte is a block.
const EVENT_BLOCK_BYTES: usize = 64 * 1024;

/// A block of table rows is closed when its payload has this many bytes.
const ROW_BLOCK_BYTES: usize = 256 * 1024;

/// No payload is longer. A block of rows is closed after the row that fills it, and a row has at
/// most five texts, or the frames of a stack, whose texts are shorter.
const MAX_PAYLOAD_BYTES: usize = 1024 * 1024;

/// Longer texts are cut. Names in class files are never longer; those of threads may be.
const MAX_TEXT_BYTES: usize = 65_535;

/// Texts in the frames of stacks are cut shorter: a stack is one row, with up to 256 of them.
const MAX_FRAME_TEXT_BYTES: usize = 2000;

/// Only texts up to this length are written once a block and then referred to, so that what a
/// reader must allocate is in proportion to what it reads.
const MAX_SHARED_TEXT_BYTES: usize = 255;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    /// What is known of the run; the first block.
    Header = 0,
    /// Rows of tables.
    Rows = 1,
    /// Events.
    Events = 2,
    /// Nothing more follows.
    End = 3,
}

impl BlockKind {
    fn from_number(number: u8) -> Option<BlockKind> {
        [BlockKind::Header, BlockKind::Rows, BlockKind::Events, BlockKind::End]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// The header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockHeader {
    kind: BlockKind,
    payload_bytes: usize,
    number: u32,
    events_before: u64,
    payload_checksum: u32,
}

impl BlockHeader {
    fn to_bytes(self) -> [u8; BLOCK_HEADER_BYTES] {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        bytes[..4].copy_from_slice(&MARKER);
        bytes[4] = self.kind as u8;
        let payload_bytes = u32::try_from(self.payload_bytes).unwrap_or(u32::MAX);
        bytes[8..12].copy_from_slice(&payload_bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.events_before.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_checksum.to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// None if it is no header, or a damaged one.
    fn from_bytes(bytes: &[u8; BLOCK_HEADER_BYTES]) -> Option<BlockHeader> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if bytes[..4] != MARKER || word(28) != crc32fast::hash(&bytes[..28]) {
            return None;
        }
        let payload_bytes = word(8) as usize;
        if payload_bytes > MAX_PAYLOAD_BYTES || bytes[5..8] != [0; 3] {
            return None;
        }
        Some(BlockHeader {
            kind: BlockKind::from_number(bytes[4])?,
            payload_bytes,
            number: word(12),
            events_before: u64::from(word(16)) | u64::from(word(20)) << 32,
            payload_checksum: word(24),
        })
    }
}
