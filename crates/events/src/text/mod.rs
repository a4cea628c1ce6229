//! The text trace: one event a line, for people and for tests.
//!
//! ```text
//! t1 begin deposit
//! t1 rd acc.balance @ Account.java:12
//! t1 acq m            # a comment
//! ```
//!
//! A line is a thread, a word for what it did ([`crate::Kind::word`]), what it did it to, and,
//! where known, the place, the epoch and how many events it overlaps. Names are given numbers as they appear. A line that begins
//! with a point defines a row of a table in full, and the name that lines use for it; what the
//! [`Writer`] writes is full of them, and nothing of a trace is lost in it. `docs/trace-format.md`
//! describes the form precisely.

mod reader;
mod writer;

pub use reader::{Comment, Reader, TextError};
pub use writer::Writer;

/// Stands before the number of an epoch.
const EPOCH: &str = "epoch";

/// Stands before the number of events that the operation may have overlapped with.
const OVERLAPS: &str = "overlaps";

/// Stands for that number where it is not known.
const ALL: &str = "all";

/// Stands before each frame of a stack.
const FRAME: &str = "frame";

/// Splits the text form of `File.java:12`.
pub(crate) fn file_and_line(label: &str) -> Option<(&str, u32)> {
    let (file, line) = label.rsplit_once(':')?;
    Some((file, line.parse().ok()?)).filter(|(file, _)| !file.is_empty())
}

/// The name of a source file without folders and ending: what its main class is called.
pub(crate) fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}
