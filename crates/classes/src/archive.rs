//! Zip archives, of which jars, wars and jmods are kinds.
//!
//! Written by hand, because a damaged archive must still give what can be saved: when the table of
//! contents at its end is missing or damaged, the entries are found by walking from one local header
//! to the next, which libraries refuse to do for the streamed entries that the `jar` tool writes.
//! Only what class files need is read: stored and deflated entries, Zip64, data in front of the
//! archive (self-starting jars). Checksums and signatures are ignored, as the JVM's own class path
//! does not look at the first and a static analysis has no use for the second.

use std::sync::Arc;

use crate::error::{ReadError, ReadErrorKind, Within};
use crate::inflate::{self, Wrapping};
use crate::storage::{Storage, fail};

const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";
const CENTRAL_HEADER: [u8; 4] = *b"PK\x01\x02";
const END_OF_DIRECTORY: [u8; 4] = *b"PK\x05\x06";
const END_OF_DIRECTORY_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";

const LOCAL_HEADER_LENGTH: usize = 30;
const CENTRAL_HEADER_LENGTH: usize = 46;
const END_LENGTH: usize = 22;
const END_64_LENGTH: usize = 56;
const LOCATOR_64_LENGTH: usize = 20;

const FLAG_ENCRYPTED: u16 = 1;
/// Sizes follow the data instead of being in the local header.
const FLAG_STREAMED: u16 = 1 << 3;

const METHOD_STORED: u16 = 0;
const METHOD_DEFLATED: u16 = 8;

/// An opened archive. Entries can be read from any thread.
#[derive(Debug)]
pub(crate) struct Archive {
    storage: Storage,
    /// Sorted by name; entries of the same name keep the order of the archive.
    entries: Vec<ArchiveEntry>,
    /// What is wrong with the archive as a whole, when it had to be recovered.
    damage: Option<Damage>,
}

/// Why an archive had to be recovered and what that lost.
#[derive(Debug)]
pub(crate) struct Damage {
    /// What is wrong with the table of contents.
    pub(crate) error: ReadError,
    /// The names of the entries whose data could not be found, as far as even those are known.
    pub(crate) lost: Vec<String>,
}

/// One entry of an archive.
#[derive(Clone, Debug)]
pub(crate) struct ArchiveEntry {
    pub(crate) name: String,
    flags: u16,
    method: u16,
    compressed: u64,
    /// As declared; never trusted.
    uncompressed: u64,
    data: DataLocation,
}

#[derive(Clone, Copy, Debug)]
enum DataLocation {
    /// Behind the local header at this offset, whose length has to be looked up.
    BehindHeader(u64),
    /// At this offset.
    At(u64),
}

impl Archive {
    /// Opens an archive. At most `limit` bytes are looked at to recover a damaged one.
    pub(crate) fn open(storage: Storage, limit: u64) -> Result<Archive, ReadError> {
        let (mut entries, damage) = match read_directory(&storage) {
            Ok(entries) => (entries, None),
            Err(error) => match recover(&storage, limit) {
                Some((entries, lost)) => (entries, Some(Damage { error, lost })),
                None => return Err(error),
            },
        };
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Archive { storage, entries, damage })
    }

    pub(crate) fn entries(&self) -> &[ArchiveEntry] {
        &self.entries
    }

    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// The first entry of a name.
    pub(crate) fn find(&self, name: &str) -> Option<&ArchiveEntry> {
        let index = self.entries.partition_point(|entry| entry.name.as_str() < name);
        self.entries.get(index).filter(|entry| entry.name == name)
    }

    /// The content of an entry, and how many bytes were produced to get it or to fail.
    pub(crate) fn read(
        &self,
        entry: &ArchiveEntry,
        limit: u64,
    ) -> (Result<Arc<[u8]>, ReadError>, u64) {
        let (offset, data) = match self.data(entry, limit) {
            Ok(found) => found,
            Err(error) => return (Err(error), 0),
        };
        match entry.method {
            METHOD_STORED => {
                let length = data.len() as u64;
                (Ok(Arc::from(data)), length)
            }
            METHOD_DEFLATED => {
                let (result, produced) =
                    inflate::inflate(&data, Wrapping::Raw, entry.uncompressed, limit);
                (result.map(Arc::from).map_err(|kind| fail(kind, offset)), produced)
            }
            method => {
                let kind = ReadErrorKind::Unsupported(format!("compression method {method}"));
                (Err(fail(kind, offset)), 0)
            }
        }
    }

    /// Where the data of an entry is, and the data as it is in the archive.
    fn data(&self, entry: &ArchiveEntry, limit: u64) -> Result<(u64, Vec<u8>), ReadError> {
        let offset = match entry.data {
            DataLocation::At(offset) => offset,
            DataLocation::BehindHeader(header) => {
                let bytes = self
                    .storage
                    .read(header, LOCAL_HEADER_LENGTH as u64)
                    .within(|| "the local header")?;
                if !bytes.starts_with(&LOCAL_HEADER) {
                    let kind =
                        ReadErrorKind::Invalid("there is no local header of the entry".to_owned());
                    return Err(fail(kind, header));
                }
                let name_length = u64::from(u16_at(&bytes, 26));
                let extra_length = u64::from(u16_at(&bytes, 28));
                header + LOCAL_HEADER_LENGTH as u64 + name_length + extra_length
            }
        };
        if entry.flags & FLAG_ENCRYPTED != 0 {
            let kind = ReadErrorKind::Unsupported("encryption".to_owned());
            return Err(fail(kind, offset));
        }
        // Deflate makes data larger by five bytes in 16 KiB at worst, so compressed data that is
        // larger than the limit by more than that would come out larger than the limit too.
        if entry.compressed > limit.saturating_add(limit / 1024).saturating_add(64) {
            return Err(fail(ReadErrorKind::TooLarge(limit), offset));
        }
        let data =
            self.storage.read(offset, entry.compressed).within(|| "the data of the entry")?;
        if entry.method == METHOD_STORED && data.len() as u64 > limit {
            return Err(fail(ReadErrorKind::TooLarge(limit), offset));
        }
        Ok((offset, data))
    }
}

/// Reads the table of contents at the end of the archive.
fn read_directory(storage: &Storage) -> Result<Vec<ArchiveEntry>, ReadError> {
    let directory = find_directory(storage)?;
    let bytes =
        storage.read(directory.start, directory.length).within(|| "the central directory")?;
    let mut entries = Vec::with_capacity(bytes.len() / (CENTRAL_HEADER_LENGTH + 16));
    let mut position = 0;
    while let Some(header) = bytes.get(position..position + CENTRAL_HEADER_LENGTH) {
        let damaged = |what: &str| {
            let kind = ReadErrorKind::Invalid(what.to_owned());
            fail(kind, directory.start + position as u64)
                .within(format!("entry {} of the central directory", entries.len()))
        };
        if !header.starts_with(&CENTRAL_HEADER) {
            return Err(damaged("there is no header"));
        }
        let name_start = position + CENTRAL_HEADER_LENGTH;
        let extra_start = name_start + usize::from(u16_at(header, 28));
        let extra_end = extra_start + usize::from(u16_at(header, 30));
        let end = extra_end + usize::from(u16_at(header, 32));
        if end > bytes.len() {
            return Err(damaged("the header is truncated"));
        }
        let mut uncompressed = u64::from(u32_at(header, 24));
        let mut compressed = u64::from(u32_at(header, 20));
        let mut header_offset = u64::from(u32_at(header, 42));
        widen(
            &bytes[extra_start..extra_end],
            [&mut uncompressed, &mut compressed, &mut header_offset],
        );
        let header_offset = directory
            .archive_start
            .checked_add(header_offset)
            .ok_or_else(|| damaged("the offset of the data is out of range"))?;
        entries.push(ArchiveEntry {
            name: String::from_utf8_lossy(&bytes[name_start..extra_start]).into_owned(),
            flags: u16_at(header, 8),
            method: u16_at(header, 10),
            compressed,
            uncompressed,
            data: DataLocation::BehindHeader(header_offset),
        });
        position = end;
    }
    if position != bytes.len() {
        let needed = CENTRAL_HEADER_LENGTH - (bytes.len() - position);
        return Err(fail(ReadErrorKind::Truncated { needed }, directory.start + position as u64)
            .within("the central directory"));
    }
    Ok(entries)
}

struct Directory {
    start: u64,
    length: u64,
    /// Where the archive starts in the file; offsets in it count from here.
    archive_start: u64,
}

fn find_directory(storage: &Storage) -> Result<Directory, ReadError> {
    let file_length = storage.length();
    // The record is followed by a comment of at most 65535 bytes; room for the Zip64 records is
    // added in front.
    let tail_length = file_length.min((0xffff + END_LENGTH + LOCATOR_64_LENGTH) as u64);
    let tail_start = file_length - tail_length;
    let tail = storage.read(tail_start, tail_length)?;
    let no_directory = || {
        let what = "there is no end-of-central-directory record".to_owned();
        fail(ReadErrorKind::Invalid(what), file_length)
    };
    let last_candidate = tail.len().checked_sub(END_LENGTH).ok_or_else(no_directory)?;
    let end = (0..=last_candidate)
        .rev()
        .find(|&at| {
            tail[at..].starts_with(&END_OF_DIRECTORY)
                && at + END_LENGTH + usize::from(u16_at(&tail, at + 20)) <= tail.len()
        })
        .ok_or_else(no_directory)?;
    let mut end_start = tail_start + end as u64;
    let mut length = u64::from(u32_at(&tail, end + 12));
    let mut start = u64::from(u32_at(&tail, end + 16));
    let has_64 = length == 0xffff_ffff || start == 0xffff_ffff || u16_at(&tail, end + 10) == 0xffff;
    if has_64
        && let Some(locator) = end.checked_sub(LOCATOR_64_LENGTH)
        && tail[locator..].starts_with(&LOCATOR_64)
    {
        let (at, record) = find_end_64(storage, tail_start + locator as u64, &tail[locator..])?;
        end_start = at;
        length = u64_at(&record, 40);
        start = u64_at(&record, 48);
    }
    // The directory lies directly before its end record. Whatever is in front of where the archive
    // thinks it starts was put there later.
    let archive_start =
        end_start.checked_sub(length).and_then(|real_start| real_start.checked_sub(start));
    match archive_start {
        Some(archive_start) => Ok(Directory { start: end_start - length, length, archive_start }),
        None => {
            let what = format!("the central directory of {length} bytes at {start} does not fit");
            Err(fail(ReadErrorKind::Invalid(what), end_start))
        }
    }
}

fn find_end_64(
    storage: &Storage,
    locator_start: u64,
    locator: &[u8],
) -> Result<(u64, Vec<u8>), ReadError> {
    // The offset in the locator is wrong when data was put in front of the archive; then the record
    // is, in practice, directly before the locator.
    let candidates = [Some(u64_at(locator, 8)), locator_start.checked_sub(END_64_LENGTH as u64)];
    candidates
        .into_iter()
        .flatten()
        .find_map(|at| {
            let record = storage.read(at, END_64_LENGTH as u64).ok()?;
            record.starts_with(&END_OF_DIRECTORY_64).then_some((at, record))
        })
        .ok_or_else(|| {
            let what = "there is no Zip64 end-of-central-directory record".to_owned();
            fail(ReadErrorKind::Invalid(what), locator_start)
        })
}

/// Replaces the fields that did not fit 32 bits by those of the Zip64 extra field, which has only
/// those, in order.
fn widen<const N: usize>(mut extra: &[u8], fields: [&mut u64; N]) {
    while extra.len() >= 4 {
        let length = usize::from(u16_at(extra, 2));
        let Some(content) = extra.get(4..4 + length) else { return };
        if u16_at(extra, 0) == 1 {
            let mut values = content.chunks_exact(8);
            for field in fields {
                if *field == 0xffff_ffff
                    && let Some(value) = values.next()
                {
                    *field = u64_at(value, 0);
                }
            }
            return;
        }
        extra = &extra[4 + length..];
    }
}

/// Finds entries by their local headers, from the start of the archive. Gives the entries and the
/// names of those that are there in part only; nothing when not one whole entry was found.
fn recover(storage: &Storage, limit: u64) -> Option<(Vec<ArchiveEntry>, Vec<String>)> {
    if storage.length() > limit {
        return None;
    }
    let bytes = storage.read(0, storage.length()).ok()?;
    let mut entries = Vec::new();
    let mut lost = Vec::new();
    // Each false header may make us decompress the rest of the archive; this keeps hostile input
    // from asking for that again and again.
    let mut work_left = limit;
    let mut position = 0;
    while let Some(found) = find(&bytes, position, LOCAL_HEADER) {
        let Some(header) = bytes.get(found..found + LOCAL_HEADER_LENGTH) else { break };
        let name_start = found + LOCAL_HEADER_LENGTH;
        let extra_start = name_start + usize::from(u16_at(header, 26));
        let data_start = extra_start + usize::from(u16_at(header, 28));
        if data_start > bytes.len() {
            break;
        }
        let name = String::from_utf8_lossy(&bytes[name_start..extra_start]).into_owned();
        let flags = u16_at(header, 6);
        let method = u16_at(header, 8);
        let mut compressed = u64::from(u32_at(header, 18));
        let mut uncompressed = u64::from(u32_at(header, 22));
        widen(&bytes[extra_start..data_start], [&mut uncompressed, &mut compressed]);

        let rest = &bytes[data_start..];
        let length = if flags & FLAG_STREAMED == 0 || compressed != 0 {
            usize::try_from(compressed).ok().filter(|length| *length <= rest.len())
        } else if method == METHOD_DEFLATED && work_left > 0 {
            let inflation = inflate::inflate_into(rest, Wrapping::Raw, work_left, |_| ());
            let work = inflation.produced.max(inflation.consumed as u64);
            work_left = work_left.saturating_sub(work);
            inflation.result.ok().map(|()| inflation.consumed)
        } else {
            None
        };
        match length {
            Some(length) => {
                entries.push(ArchiveEntry {
                    name,
                    flags,
                    method,
                    compressed: length as u64,
                    uncompressed,
                    data: DataLocation::At(data_start as u64),
                });
                position = data_start + length;
            }
            None => {
                lost.push(name);
                position = data_start;
            }
        }
    }
    (!entries.is_empty()).then_some((entries, lost))
}

fn find(bytes: &[u8], from: usize, signature: [u8; 4]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(4).position(|window| window == signature).map(|at| from + at)
}

/// The numbers below are read from headers whose whole length has been checked to be there.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
