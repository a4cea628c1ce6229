//! Bytes that are read piece by piece: a file, or memory that behaves like one.
//!
//! Archives and JDK images are large and only parts of them are needed. They are read with
//! positioned reads, which need no lock between threads; mapping them into memory would need
//! `unsafe`, and a file that shrinks meanwhile would kill the process instead of giving an error.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use crate::error::{ReadError, ReadErrorKind};

/// A byte string of known length that any thread may read from at any offset.
#[derive(Debug)]
pub(crate) enum Storage {
    File { file: File, length: u64 },
    Memory(Arc<[u8]>),
}

impl Storage {
    pub(crate) fn open(path: &Path) -> std::io::Result<Storage> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Storage::File { file, length })
    }

    pub(crate) fn length(&self) -> u64 {
        match self {
            Storage::File { length, .. } => *length,
            Storage::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Reads exactly `length` bytes. Nothing is allocated for bytes that are not there.
    pub(crate) fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, ReadError> {
        // An empty read behind the end is refused as well: its offset is no place in the bytes.
        let end = offset.saturating_add(length);
        if end > self.length() {
            let needed = usize::try_from(end - self.length()).unwrap_or(usize::MAX);
            return Err(fail(ReadErrorKind::Truncated { needed }, offset));
        }
        // On a 32-bit machine a file may be larger than memory.
        let too_large = |_| fail(ReadErrorKind::TooLarge(usize::MAX as u64), offset);
        let length = usize::try_from(length).map_err(too_large)?;
        match self {
            Storage::Memory(bytes) => {
                let start = usize::try_from(offset).map_err(too_large)?;
                Ok(bytes[start..start + length].to_vec())
            }
            Storage::File { file, .. } => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset)
                    .map_err(|error| fail(ReadErrorKind::Io(error.to_string()), offset))?;
                Ok(bytes)
            }
        }
    }
}

/// An error at an offset of a storage.
pub(crate) fn fail(kind: ReadErrorKind, offset: u64) -> ReadError {
    ReadError::at(kind, usize::try_from(offset).unwrap_or(usize::MAX))
}
