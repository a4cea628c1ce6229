//! A cursor over bytes that knows its absolute offset, so that every failure can name a byte.

use crate::error::{ReadError, ReadErrorKind};

/// Reads big-endian items from a range of a larger byte string.
///
/// A reader for a nested structure is made with [`Reader::take`]; it cannot run past the length
/// the structure declares, and its offsets still count from the start of the whole.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, position: 0, end: bytes.len() }
    }

    /// Offset of the next byte from the start of the whole.
    pub(crate) fn offset(&self) -> usize {
        self.position
    }

    pub(crate) fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// A capacity for `count` items of at least `item_bytes` each, never more than the rest of the
    /// bytes can hold: a count field in hostile input must not decide how much is allocated.
    pub(crate) fn capacity(&self, count: u16, item_bytes: usize) -> usize {
        usize::from(count).min(self.remaining() / item_bytes.max(1))
    }

    pub(crate) fn fail(&self, kind: ReadErrorKind) -> ReadError {
        ReadError::at(kind, self.position)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        if length > self.remaining() {
            let needed = length - self.remaining();
            return Err(self.fail(ReadErrorKind::Truncated { needed }));
        }
        let slice = &self.bytes[self.position..self.position + length];
        self.position += length;
        Ok(slice)
    }

    /// A reader for the next `length` bytes; this one continues behind them.
    pub(crate) fn take(&mut self, length: usize) -> Result<Reader<'a>, ReadError> {
        let start = self.position;
        self.bytes(length)?;
        Ok(Reader { bytes: self.bytes, position: start, end: self.position })
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ReadError> {
        Ok(self.bytes(1)?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ReadError> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ReadError> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, ReadError> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    /// Fails unless everything has been read.
    pub(crate) fn finish(&self) -> Result<(), ReadError> {
        match self.remaining() {
            0 => Ok(()),
            rest => Err(self.fail(ReadErrorKind::TrailingBytes(rest))),
        }
    }
}
