//! Reports: what was found, in a form someone or something can read.
//!
//! One file a format. This is the only crate that knows JSON, SARIF or how a terminal looks; the
//! analyses hand over plain data and the words are chosen here. Whatever the format, a report is
//! the same for the same results, and holds no absolute path and no name of this machine.

mod baseline;
mod combined;
mod dot;
mod html;
mod json;
mod observed;
mod observed_message;
mod other_notes;
mod read;
#[cfg(test)]
mod samples;
mod sarif;
mod sources;
mod text;
mod trace;
mod words;

use std::io::{self, Write};
use std::path::Path;

use findings::Results;

pub use baseline::{Baseline, BaselineError};
pub use combined::combined;
pub use dot::{dot, graph_name, render_graph};
pub use html::render_page;
pub use read::{ReportError, read_findings, read_results};
pub use sources::Sources;
pub use trace::TraceSummary;
pub use words::message;

/// The version of the tool, as reports state it.
const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The formats a report can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: diagnostics as rustc writes them.
    #[default]
    Text,
    /// For programs: the shape in `docs/json-format.md`.
    Json,
    /// For code-scanning services and editors: SARIF 2.1.0.
    Sarif,
}

/// How much a text report contains besides the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The findings alone.
    Quiet,
    /// A digest of the gaps, and a summary line.
    #[default]
    Normal,
    /// Every gap, every held lock, every counter.
    Verbose,
}

/// How a report is to be written. Only the text format looks at these: what programs read is the
/// same for everyone.
pub struct Options<'a> {
    /// Where excerpts come from.
    pub sources: &'a Sources,
    /// How much to say.
    pub detail: Detail,
    /// Colours, as ANSI escape codes.
    pub colored: bool,
    /// Columns that source excerpts may take; longer source lines are cut.
    pub width: usize,
    /// The directory that the graphs of cycles were written to, as the user named it.
    pub graphs: Option<&'a Path>,
    /// How many findings are shown at most, the best; the others are counted.
    pub most_findings: usize,
}

impl<'a> Options<'a> {
    /// Plain text of normal detail in 140 columns, with all findings, and excerpts from these sources.
    #[must_use]
    pub fn new(sources: &'a Sources) -> Options<'a> {
        Options {
            sources,
            detail: Detail::Normal,
            colored: false,
            width: 140,
            graphs: None,
            most_findings: usize::MAX,
        }
    }
}

/// Writes a report.
///
/// # Errors
/// Only those of the writer.
pub fn render(
    format: Format,
    results: &Results,
    options: &Options<'_>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::render(results, options, writer),
        Format::Json => json::render(results, writer),
        Format::Sarif => sarif::render(results, options.sources, writer),
    }
}
