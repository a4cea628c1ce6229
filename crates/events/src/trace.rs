//! A trace in whatever form it is.

use std::io::{self, Chain, Cursor, Read};

use thiserror::Error;

use crate::binary::{self, Header, ReadError};
use crate::std_form;
use crate::text::{self, TextError};
use crate::{Event, Tables};

/// The forms of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The binary trace.
    Binary,
    /// One event a line, as people write it.
    Text,
    /// `T0|acq(L3)|12`, as other tools write it.
    Std,
}

/// Why a trace cannot be read, or not read on.
#[derive(Debug, Error)]
pub enum TraceError {
    /// It has none of the forms.
    #[error("it is no trace: neither a binary one of scission, nor text")]
    NotATrace,
    /// It is a binary trace that cannot be read.
    #[error(transparent)]
    Binary(#[from] ReadError),
    /// It is text, with something in it that is not understood.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The bytes cannot be had.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads a trace in any form; which one it is, is seen from its content.
///
/// Binary traces are read block by block. Those in text are held in memory as text.
#[derive(Debug)]
pub struct TraceReader<R: Read> {
    inner: Inner<R>,
    /// The event that was read last from a text.
    last: Option<Event>,
}

#[derive(Debug)]
enum Inner<R: Read> {
    Binary(Box<binary::Reader<Chain<Cursor<Vec<u8>>, R>>>),
    Text(text::Reader),
    Std(std_form::Reader),
}

impl<R: Read> TraceReader<R> {
    /// How many bytes are looked at before all of a text is read.
    const FIRST_LOOK: u64 = 4096;

    /// Opens a trace.
    ///
    /// # Errors
    ///
    /// Fails when it is no trace in any form.
    pub fn new(input: R) -> Result<TraceReader<R>, TraceError> {
        TraceReader::open(input, None)
    }

    /// Opens a trace. If it is in the text form, the line of the text, in a file of this name, is the
    /// place of every event that names no other.
    ///
    /// # Errors
    ///
    /// Fails when it is no trace in any form.
    pub fn with_lines_as_sites(input: R, file: &str) -> Result<TraceReader<R>, TraceError> {
        TraceReader::open(input, Some(file))
    }

    fn open(mut input: R, own_file: Option<&str>) -> Result<TraceReader<R>, TraceError> {
        let mut first = Vec::new();
        input.by_ref().take(Self::FIRST_LOOK).read_to_end(&mut first)?;
        let there = first.len().min(binary::MAGIC.len());
        if there > 0 && first[..there] == binary::MAGIC[..there] {
            let reader = binary::Reader::new(Cursor::new(first).chain(input))?;
            return Ok(TraceReader::of(Inner::Binary(Box::new(reader))));
        }
        if first.contains(&0) {
            return Err(TraceError::NotATrace);
        }
        input.read_to_end(&mut first)?;
        let text = String::from_utf8(first).map_err(|_| TraceError::NotATrace)?;
        let reader = match own_file {
            _ if is_std_form(&text) => Inner::Std(std_form::Reader::new(text)),
            None => Inner::Text(text::Reader::new(text)),
            Some(file) => Inner::Text(text::Reader::new(text).with_lines_as_sites(file)),
        };
        Ok(TraceReader::of(reader))
    }

    fn of(inner: Inner<R>) -> TraceReader<R> {
        TraceReader { inner, last: None }
    }

    /// Which form it has.
    pub fn form(&self) -> Form {
        match &self.inner {
            Inner::Binary(_) => Form::Binary,
            Inner::Text(_) => Form::Text,
            Inner::Std(_) => Form::Std,
        }
    }

    /// What is known of the run as a whole.
    pub fn header(&self) -> Header {
        match &self.inner {
            Inner::Binary(reader) => reader.header().clone(),
            Inner::Text(_) | Inner::Std(_) => Header::default(),
        }
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be read on.
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        Ok(match &mut self.inner {
            Inner::Binary(reader) => reader.next_event()?,
            Inner::Text(reader) => reader.next_event()?,
            Inner::Std(reader) => reader.next_event()?,
        })
    }

    /// The events that come next, at least one, with the names that are known by then; none at the end.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be read on.
    pub fn next_batch(&mut self) -> Result<(&[Event], &Tables), TraceError> {
        match &mut self.inner {
            Inner::Binary(reader) => Ok(reader.next_batch()?),
            // A text may name something new with every event.
            Inner::Text(reader) => {
                self.last = reader.next_event()?;
                Ok((self.last.as_slice(), reader.tables()))
            }
            Inner::Std(reader) => {
                self.last = reader.next_event()?;
                Ok((self.last.as_slice(), reader.tables()))
            }
        }
    }

    /// The names that are known so far: all that the events so far need.
    pub fn tables(&self) -> &Tables {
        match &self.inner {
            Inner::Binary(reader) => reader.tables(),
            Inner::Text(reader) => reader.tables(),
            Inner::Std(reader) => reader.tables(),
        }
    }

    /// Whether events are missing from what was read so far because bytes are damaged or cut off.
    pub fn is_damaged(&self) -> bool {
        match &self.inner {
            Inner::Binary(reader) => !reader.damage().is_empty(),
            Inner::Text(_) | Inner::Std(_) => false,
        }
    }

    /// What is missing from what was read so far, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        match &self.inner {
            Inner::Binary(reader) => reader.damage().iter().map(ToString::to_string).collect(),
            Inner::Text(_) => Vec::new(),
            Inner::Std(reader) => match reader.left_out() {
                0 => Vec::new(),
                1 => vec!["1 line says nothing that events know, and was left out".to_string()],
                count => {
                    vec![format!("{count} lines say nothing that events know, and were left out")]
                }
            },
        }
    }
}

/// Whether a text has the form that other tools write: a thread of one word, and a `|`.
fn is_std_form(text: &str) -> bool {
    let is_comment = |line: &&str| line.starts_with('#') || line.starts_with("//");
    let lines = text.lines().map(str::trim);
    let first = lines.filter(|line| !line.is_empty()).find(|line| !is_comment(line));
    first
        .and_then(|line| line.split_once('|'))
        .is_some_and(|(thread, _)| !thread.trim().contains(char::is_whitespace))
}
