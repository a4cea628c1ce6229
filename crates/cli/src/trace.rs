//! `scission trace`: counts the events of a trace, and converts it. Running checkers on it is in
//! `trace_checkers.rs`.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail};
use events::binary::{self, Header, ReadError};
use events::{Event, Form, Sink, Stats, Tables, TraceError, TraceReader, resolve, std_form, text};
use report::TraceSummary;

use crate::Outcome;
use crate::attended_work::attend;
use crate::cancel::Cancel;
use crate::config::why_unreadable;
use crate::flags::{self, TraceFlags, TraceForm, TriageFlags};
use crate::output::{self, Destination};
use crate::terminal_text::say;
use crate::trace_checkers;

/// A damaged trace may have very many notes; the others are counted.
const SHOWN_NOTES: usize = 20;

pub(crate) type Trace = TraceReader<Box<dyn Read>>;

pub(crate) fn run(flags: &'static TraceFlags) -> anyhow::Result<Outcome> {
    if !flags.stats && flags.to.is_none() {
        return trace_checkers::run(flags);
    }
    let wants_findings = flags.triage != TriageFlags::default()
        || flags.learn_spec.is_some()
        || !flags.presentation.source.is_empty()
        || flags.presentation.html.is_some();
    if wants_findings {
        bail!(
            "levels, baselines, sources, pages, configuration and `--learn-spec` apply to findings: give \
             `--monitor`"
        );
    }
    let format = match flags.presentation.format {
        flags::Format::Text => StatsFormat::Text,
        flags::Format::Json if flags.stats => StatsFormat::Json,
        flags::Format::Json => bail!("`--format json` is for `--stats` and `--monitor`"),
        flags::Format::Sarif => bail!("`--format sarif` is for findings: give `--monitor`"),
    };
    let destination = Destination::new(flags.output.as_deref());
    if flags.to == Some(TraceForm::Binary)
        && destination == Destination::Screen
        && io::stdout().is_terminal()
    {
        bail!(
            "a binary trace cannot be printed to a terminal; `--output FILE` writes it to a file"
        );
    }
    if flags.stats && flags.to.is_some() && destination == Destination::Screen {
        bail!(
            "counts and trace would be mixed on standard output; `--output FILE` writes the trace to a file"
        );
    }
    let cancel = Cancel::on_interrupt();
    let worker = cancel.clone();
    let done =
        attend(move || count_or_convert(flags, &format, &destination, &worker), || cancel.grace());
    match done {
        // A trace that ends where the user has stopped it may look damaged.
        Some(Err(_)) | None if cancel.is_requested() => {
            output_file::remove_unfinished();
            Ok(Outcome::InterruptedWithoutFindings)
        }
        Some(outcome) => outcome,
        None => Ok(Outcome::InterruptedWithoutFindings),
    }
}

fn count_or_convert(
    flags: &TraceFlags,
    format: &StatsFormat,
    destination: &Destination,
    cancel: &Cancel,
) -> anyhow::Result<Outcome> {
    let mut trace = open(&flags.file, cancel)?;
    let mut stats = flags.stats.then(Stats::default);
    let mut notes = Vec::new();
    match flags.to {
        Some(form) => {
            let (stats, notes) = (&mut stats, &mut notes);
            let converted = deliver(destination, &flags.file, |writer| {
                *notes = convert(&mut trace, form, stats.as_mut(), writer, cancel)?;
                Ok(())
            });
            converted?;
        }
        None => {
            count(&mut trace, stats.as_mut(), cancel)
                .map_err(|error| unreadable(&flags.file, &error))?;
        }
    }
    let mut all_notes = trace.notes();
    all_notes.append(&mut notes);
    if cancel.is_requested() {
        all_notes.push("interrupted: this is what was read until then".to_string());
    }
    if let Some(stats) = &stats {
        let header = trace.header();
        let summary =
            TraceSummary { form: trace.form(), header: &header.pairs, stats, notes: &all_notes };
        // With `--to`, the file is for the trace.
        let destination = if flags.to.is_some() { &Destination::Screen } else { destination };
        deliver(destination, &flags.file, |writer| {
            let rendered = match format {
                StatsFormat::Text => summary.render_text(writer),
                StatsFormat::Json => summary.render_json(writer),
            };
            rendered.map_err(Failure::Write)
        })?;
    }
    for note in all_notes.iter().take(SHOWN_NOTES) {
        say(format_args!("note: {note}"));
    }
    if let Some(more @ 1..) = all_notes.len().checked_sub(SHOWN_NOTES) {
        say(format_args!("note: {more} more notes like these"));
    }
    if cancel.is_requested() {
        return Ok(Outcome::InterruptedWithoutFindings);
    }
    Ok(Outcome::NothingFound)
}

fn open(path: &Path, cancel: &Cancel) -> anyhow::Result<Trace> {
    TraceReader::new(input(path, cancel)?).map_err(|error| unreadable(path, &error))
}

/// The bytes of a trace; `-` is standard input. What is not there yet when the user asks to stop is not waited for.
pub(crate) fn input(path: &Path, cancel: &Cancel) -> anyhow::Result<Box<dyn Read>> {
    let is_file = fs::metadata(path).map(|metadata| metadata.is_file());
    match is_file {
        _ if path == Path::new("-") => {
            Ok(Box::new(AwaitedInput::new(cancel.clone(), || Ok(io::stdin()))))
        }
        Ok(false) => {
            let path = path.to_path_buf();
            Ok(Box::new(AwaitedInput::new(cancel.clone(), move || File::open(path))))
        }
        Ok(true) => match File::open(path) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(unreadable(path, &error.into())),
        },
        Err(error) => Err(unreadable(path, &error.into())),
    }
}

/// A pipe, or whatever else may keep its reader waiting, read by a thread that may be left behind.
struct AwaitedInput {
    cancel: Cancel,
    parts: Receiver<io::Result<Vec<u8>>>,
    /// What was received and not read yet, and how much of it was.
    part: Vec<u8>,
    taken: usize,
}

/// How much is read at a time, and how many parts wait for the reader of the trace.
const PART: usize = 1 << 16;
const WAITING_PARTS: usize = 16;

/// How often it is asked whether to go on waiting.
const POLL: Duration = Duration::from_millis(20);

impl AwaitedInput {
    fn new<R: Read>(
        cancel: Cancel,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> AwaitedInput {
        let (sender, parts) = mpsc::sync_channel(WAITING_PARTS);
        thread::spawn(move || {
            let mut input = match open() {
                Ok(input) => input,
                Err(error) => {
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            loop {
                let mut part = vec![0; PART];
                let read = input.read(&mut part).map(|length| {
                    part.truncate(length);
                    part
                });
                let is_last = match &read {
                    Ok(part) => part.is_empty(),
                    Err(error) => error.kind() != io::ErrorKind::Interrupted,
                };
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        AwaitedInput { cancel, parts, part: Vec::new(), taken: 0 }
    }
}

impl Read for AwaitedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.part.len() {
            match self.parts.recv_timeout(POLL) {
                Ok(part) => (self.part, self.taken) = (part?, 0),
                Err(RecvTimeoutError::Timeout) if self.cancel.is_requested() => return Ok(0),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
            if self.part.is_empty() {
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.part.len() - self.taken);
        buffer[..length].copy_from_slice(&self.part[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

/// How counts are written.
enum StatsFormat {
    Text,
    Json,
}

/// What can go wrong between two traces.
enum Failure {
    Read(TraceError),
    Write(io::Error),
}

impl Failure {
    /// What is written is not whole, and does not take the place of an older file.
    fn interrupted() -> Failure {
        Failure::Write(io::ErrorKind::Interrupted.into())
    }
}

pub(crate) fn unreadable(path: &Path, error: &TraceError) -> anyhow::Error {
    let why = match error {
        TraceError::Io(error) | TraceError::Binary(ReadError::Io(error)) => why_unreadable(error),
        other => other.to_string(),
    };
    anyhow!("cannot read the trace `{}`: {why}", path.display())
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Failure {
        Failure::Read(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}

/// Writes to a file or to standard output, and distinguishes errors of the trace from those of the output.
fn deliver(
    destination: &Destination,
    trace: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> anyhow::Result<()> {
    let mut why_not_read = None;
    let write = |writer: &mut dyn Write| match write(writer) {
        Ok(()) => Ok(()),
        Err(Failure::Write(error)) => Err(error),
        Err(Failure::Read(error)) => {
            why_not_read = Some(unreadable(trace, &error));
            Err(io::Error::other("the trace cannot be read"))
        }
    };
    let delivered = match destination {
        Destination::Screen => output::stream(write),
        Destination::File(path) => output::write_file(path, write),
    };
    why_not_read.map_or(delivered, Err)
}

fn count(
    trace: &mut Trace,
    mut stats: Option<&mut Stats>,
    cancel: &Cancel,
) -> Result<(), TraceError> {
    while !cancel.is_requested()
        && let Some(event) = trace.next_event()?
    {
        if let Some(stats) = &mut stats {
            stats.add(&event);
        }
    }
    Ok(())
}

/// Writes the trace in another format; returns notes on what was lost.
fn convert(
    trace: &mut Trace,
    form: TraceForm,
    mut stats: Option<&mut Stats>,
    writer: &mut dyn Write,
    cancel: &Cancel,
) -> Result<Vec<String>, Failure> {
    match form {
        TraceForm::Binary => {
            let mut header = trace.header();
            if trace.form() != Form::Binary {
                header =
                    Header::default().with("tool", concat!("scission ", env!("CARGO_PKG_VERSION")));
            }
            copy(trace, &mut binary::Writer::new(writer, &header)?, stats, cancel)?;
        }
        TraceForm::Text => copy(trace, &mut text::Writer::new(writer), stats, cancel)?,
        TraceForm::Std => {
            let mut events: Vec<Event> = Vec::new();
            while !cancel.is_requested()
                && let Some(event) = trace.next_event()?
            {
                if let Some(stats) = &mut stats {
                    stats.add(&event);
                }
                events.push(event);
            }
            if cancel.is_requested() {
                return Err(Failure::interrupted());
            }
            let tables: &Tables = trace.tables();
            let mut sink = std_form::Writer::new(writer);
            sink.events(&resolve(&events), tables)?;
            sink.finish(tables)?;
            return Ok(match sink.left_out() {
                0 => Vec::new(),
                1 => vec!["1 event cannot be written in this format and was left out".to_string()],
                count => {
                    vec![format!(
                        "{count} events cannot be written in this format and were left out"
                    )]
                }
            });
        }
    }
    Ok(Vec::new())
}

fn copy(
    trace: &mut Trace,
    sink: &mut dyn Sink,
    mut stats: Option<&mut Stats>,
    cancel: &Cancel,
) -> Result<(), Failure> {
    while !cancel.is_requested()
        && let Some(event) = trace.next_event()?
    {
        if let Some(stats) = &mut stats {
            stats.add(&event);
        }
        sink.event(&event, trace.tables())?;
    }
    // A pipe whose writer is still there may have ended here for the reader alone.
    if cancel.is_requested() {
        return Err(Failure::interrupted());
    }
    Ok(sink.finish(trace.tables())?)
}
