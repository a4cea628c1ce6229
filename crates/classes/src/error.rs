//! The one error of reading bytes: what is wrong, at which byte, and inside what.
//!
//! Every reader in this crate fails with [`ReadError`] and never with a panic, whatever the bytes.
//! The byte offset counts from the start of the thing that was handed to the reader (a class file,
//! an archive, an image), so that a user can open it in a hex editor and look.

use std::fmt;

/// What is wrong with the bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// The bytes end before the structure does.
    #[error("truncated: {needed} more byte{} needed", if *needed == 1 { "" } else { "s" })]
    Truncated {
        /// How many bytes are missing for the item that was being read.
        needed: usize,
    },
    /// The first four bytes are not those of the expected format.
    #[error("{found:#010x} is not the magic number of {expected}")]
    BadMagic {
        /// The bytes that were found, as a big-endian number.
        found: u32,
        /// What the bytes were supposed to be.
        expected: &'static str,
    },
    /// A constant pool entry of a kind that no class-file version defines.
    #[error("unknown constant tag {0}")]
    UnknownConstantTag(u8),
    /// A constant pool index that points outside the pool or at the second half of a wide entry.
    #[error("there is no constant #{0}")]
    NoSuchConstant(u16),
    /// A constant pool index that points at an entry of another kind.
    #[error("constant #{index} is {found}, not {expected}")]
    WrongConstant {
        /// The index that was followed.
        index: u16,
        /// What the place that holds the index needs.
        expected: &'static str,
        /// What the entry is.
        found: &'static str,
    },
    /// A structure that ends before the length it declares.
    #[error("{0} unexpected bytes after the end")]
    TrailingBytes(usize),
    /// A field or method descriptor that does not follow the grammar.
    #[error("`{0}` is not a valid descriptor")]
    BadDescriptor(String),
    /// A value that the format does not allow in this place.
    #[error("{0}")]
    Invalid(String),
    /// A feature of the format that this build does not read.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// Compressed data that does not decompress.
    #[error("the compressed data is damaged: {0}")]
    Damaged(String),
    /// Data that is larger than the configured limit.
    #[error("larger than the limit of {0} bytes")]
    TooLarge(u64),
    /// The operating system could not deliver the bytes.
    #[error("cannot read: {0}")]
    Io(String),
}

/// Why some bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// The byte at which it was noticed.
    pub offset: usize,
    /// The structure around that byte, innermost first: ``Code of `foo()V` ``. Empty at top level.
    pub context: String,
}

impl ReadError {
    /// An error at a byte, inside a named structure.
    #[must_use]
    pub fn new(kind: ReadErrorKind, offset: usize, context: impl Into<String>) -> ReadError {
        ReadError { kind, offset, context: context.into() }
    }

    /// An error at a byte, outside any named structure so far; see [`ReadError::within`].
    #[must_use]
    pub fn at(kind: ReadErrorKind, offset: usize) -> ReadError {
        ReadError::new(kind, offset, "")
    }

    /// The same error, seen from the structure that encloses the failing one.
    #[must_use]
    pub fn within(mut self, structure: impl fmt::Display) -> ReadError {
        if self.context.is_empty() {
            self.context = structure.to_string();
        } else {
            self.context = format!("{} of {structure}", self.context);
        }
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)?;
        if !self.context.is_empty() {
            write!(f, ", in {}", self.context)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// Adds the enclosing structure to the error of a result, paying for the text only on failure.
pub(crate) trait Within<T> {
    fn within<D: fmt::Display>(self, structure: impl FnOnce() -> D) -> Result<T, ReadError>;
}

impl<T> Within<T> for Result<T, ReadError> {
    fn within<D: fmt::Display>(self, structure: impl FnOnce() -> D) -> Result<T, ReadError> {
        self.map_err(|error| error.within(structure()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_one_sentence() {
        let error = ReadError::at(ReadErrorKind::Truncated { needed: 2 }, 1234)
            .within("Code")
            .within("`foo()V`");
        assert_eq!(
            error.to_string(),
            "truncated: 2 more bytes needed at byte 1234, in Code of `foo()V`"
        );
    }
}
