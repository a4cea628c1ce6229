//! Decompression that trusts no declared size.

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::ReadErrorKind;

/// What surrounds the compressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// Nothing: an entry of a zip archive.
    Raw,
    /// A zlib header and checksum: a resource of a JDK image.
    Zlib,
}

/// How far a decompression got, whether or not it succeeded.
pub(crate) struct Inflation {
    /// How many compressed bytes were used.
    pub(crate) consumed: usize,
    /// How many bytes came out; this is what limits on total work count.
    pub(crate) produced: u64,
    /// Whether the end of the compressed data was reached within the limit.
    pub(crate) result: Result<(), ReadErrorKind>,
}

/// Decompresses and hands the bytes to `sink` in pieces, stopping as soon as more than `limit` bytes
/// come out.
pub(crate) fn inflate_into(
    input: &[u8],
    wrapping: Wrapping,
    limit: u64,
    mut sink: impl FnMut(&[u8]),
) -> Inflation {
    let mut decompress = Decompress::new(wrapping == Wrapping::Zlib);
    let mut piece = vec![0; 32 * 1024];
    let result = loop {
        let (consumed, produced) = (decompress.total_in(), decompress.total_out());
        let rest = &input[usize::try_from(consumed).unwrap_or(usize::MAX).min(input.len())..];
        let status = match decompress.decompress(rest, &mut piece, FlushDecompress::None) {
            Ok(status) => status,
            Err(error) => break Err(ReadErrorKind::Damaged(error.to_string())),
        };
        let new = decompress.total_out() - produced;
        if decompress.total_out() > limit {
            break Err(ReadErrorKind::TooLarge(limit));
        }
        sink(&piece[..usize::try_from(new).unwrap_or(0)]);
        match status {
            Status::StreamEnd => break Ok(()),
            Status::Ok | Status::BufError if new == 0 && decompress.total_in() == consumed => {
                break Err(ReadErrorKind::Damaged("it ends too early".to_owned()));
            }
            Status::Ok | Status::BufError => {}
        }
    };
    Inflation {
        consumed: usize::try_from(decompress.total_in()).unwrap_or(input.len()).min(input.len()),
        produced: decompress.total_out(),
        result,
    }
}

/// Decompresses into memory. `expected` is the declared size: a hint, and nothing more.
pub(crate) fn inflate(
    input: &[u8],
    wrapping: Wrapping,
    expected: u64,
    limit: u64,
) -> (Result<Vec<u8>, ReadErrorKind>, u64) {
    let hint = usize::try_from(expected.min(limit)).unwrap_or(0).min(1 << 20);
    let mut bytes = Vec::with_capacity(hint);
    let inflation = inflate_into(input, wrapping, limit, |piece| bytes.extend_from_slice(piece));
    (inflation.result.map(|()| bytes), inflation.produced)
}
