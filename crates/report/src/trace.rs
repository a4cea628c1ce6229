//! What is in a trace, in numbers: for people and for programs.

use std::io::{self, Write};

use events::{Form, Kind, Stats};
use serde_json::{Map, Value, json};

use crate::TOOL_VERSION;

/// Grows when a field changes its meaning or goes away; new fields do not count.
const VERSION: u32 = 1;

/// What is known of a trace.
pub struct TraceSummary<'a> {
    /// Its form.
    pub form: Form,
    /// What it says of the run as a whole.
    pub header: &'a [(String, String)],
    /// What is in it.
    pub stats: &'a Stats,
    /// What is missing from it.
    pub notes: &'a [String],
}

/// The name of a form, as on the command line.
fn name(form: Form) -> &'static str {
    match form {
        Form::Binary => "binary",
        Form::Text => "text",
        Form::Std => "std",
    }
}

impl TraceSummary<'_> {
    /// Writes it for people: one count a line, and no line for what does not occur. What is missing is
    /// not in it; it is said on standard error.
    ///
    /// # Errors
    /// Only those of the writer.
    pub fn render_text(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut lines = vec![("form", name(self.form).to_string())];
        lines.extend(self.header.iter().map(|(key, value)| (key.as_str(), printable(value))));
        lines.push(("events", self.stats.events().to_string()));
        let counted = self.stats.distinct_counts();
        lines.extend(counted.iter().map(|(thing, count)| (*thing, count.to_string())));
        let kinds: Vec<(&str, String)> = Kind::ALL
            .iter()
            .map(|kind| (kind.counted_as(), self.stats.of_kind(*kind)))
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind, count.to_string()))
            .collect();
        let all = lines.iter().chain(&kinds);
        let width = all.map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in &lines {
            writeln!(writer, "{:width$}  {value}", printable(name))?;
        }
        if !kinds.is_empty() {
            writeln!(writer)?;
        }
        for (kind, count) in &kinds {
            writeln!(writer, "{kind:width$}  {count}")?;
        }
        Ok(())
    }

    /// Writes it for programs; `docs/trace-format.md` describes the shape.
    ///
    /// # Errors
    /// Only those of the writer.
    pub fn render_json(&self, writer: &mut dyn Write) -> io::Result<()> {
        let header: Map<String, Value> =
            self.header.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        let distinct_counts =
            self.stats.distinct_counts().map(|(thing, count)| (thing.to_string(), count.into()));
        let kinds: Map<String, Value> = Kind::ALL
            .iter()
            .map(|kind| (kind.word().to_string(), self.stats.of_kind(*kind).into()))
            .collect();
        let mut summary = json!({
            "version": VERSION,
            "tool": { "name": "scission", "version": TOOL_VERSION },
            "form": name(self.form),
            "header": header,
            "events": self.stats.events(),
        });
        if let Some(fields) = summary.as_object_mut() {
            fields.extend(distinct_counts);
            fields.insert("kinds".to_string(), kinds.into());
            fields.insert("notes".to_string(), self.notes.into());
        }
        serde_json::to_writer_pretty(&mut *writer, &summary)?;
        writeln!(writer)
    }
}

/// A text from a file that anyone may have written, without what could move a terminal's cursor.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '?' } else { character }).collect()
}
