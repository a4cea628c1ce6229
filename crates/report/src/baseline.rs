//! The baseline: earlier findings, so that a run can show what is new.
//!
//! A JSON file for people to keep under version control. Each finding is one line, sorted by the
//! blamed method, so that differences read well and merges rarely conflict; a merge that leaves lines
//! twice or out of order does no harm. Only the fingerprint counts, the rest is there to be read.

use std::collections::BTreeSet;
use std::io::{self, Write};

use findings::{BaselineEntry, Finding, Fingerprint};
use serde::Deserialize;

use crate::words;

/// The identification in the file.
const FORMAT: &str = "scission-baseline";

/// Grows when an older reader would misunderstand the file, or the fingerprints change.
const VERSION: u64 = 2;

/// The findings of an earlier run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Sorted, each fingerprint once.
    recorded: Vec<BaselineEntry>,
    fingerprints: BTreeSet<Fingerprint>,
}

/// Why a text is not a baseline that can be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// No JSON, or not of the documented shape.
    #[error("it is damaged ({0}); restore it, or write it anew with `--write-baseline`")]
    Damaged(#[from] serde_json::Error),
    /// JSON that is not a baseline.
    #[error("it is not a baseline; `--write-baseline` makes one")]
    NotABaseline,
    /// A baseline of another version.
    #[error(
        "it has format version {found}, and this scission reads version {VERSION}; write it anew \
         with `--write-baseline`"
    )]
    OtherVersion {
        /// The version it has.
        found: String,
    },
}

/// Identifies a baseline and its version.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct File {
    findings: Vec<BaselineEntry>,
}

impl Baseline {
    /// The baseline that these findings make, with those that stand under them: the next run may find one without
    /// the other.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Baseline {
        let record = |finding: &Finding| BaselineEntry {
            blame: words::signature(&finding.blame),
            rule: finding.rule.to_string(),
            message: words::message(finding),
            fingerprint: words::fingerprint(finding),
        };
        Baseline::new(findings.into_iter().flat_map(Finding::with_also).map(record).collect())
    }

    /// The same with further findings, which are remembered as they were.
    #[must_use]
    pub fn with(mut self, kept: Vec<BaselineEntry>) -> Baseline {
        self.recorded.extend(kept);
        Baseline::new(self.recorded)
    }

    fn new(mut recorded: Vec<BaselineEntry>) -> Baseline {
        recorded.sort();
        let mut fingerprints = BTreeSet::new();
        recorded.retain(|recorded| fingerprints.insert(recorded.fingerprint));
        Baseline { recorded, fingerprints }
    }

    /// Reads what [`Baseline::write`] wrote.
    ///
    /// # Errors
    /// When the text is something else, damaged, or of another version.
    pub fn read(text: &str) -> Result<Baseline, BaselineError> {
        let value: serde_json::Value = serde_json::from_str(text)?;
        let header = Header::deserialize(&value).map_err(|_| BaselineError::NotABaseline)?;
        if header.format.as_deref() != Some(FORMAT) {
            return Err(BaselineError::NotABaseline);
        }
        match header.version {
            Some(version) if version.as_u64() == Some(VERSION) => {}
            version => {
                let found = version.map_or("none".to_string(), |version| version.to_string());
                return Err(BaselineError::OtherVersion { found });
            }
        }
        // From the text, not from the value: an error then knows its line.
        let File { findings } = serde_json::from_str(text)?;
        Ok(Baseline::new(findings))
    }

    /// Writes it; the same findings give the same bytes.
    ///
    /// # Errors
    /// Only those of the writer.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(writer, "{{")?;
        writeln!(writer, "  \"format\": \"{FORMAT}\",")?;
        writeln!(writer, "  \"version\": {VERSION},")?;
        write!(writer, "  \"findings\": [")?;
        let mut separator = "\n";
        for recorded in &self.recorded {
            write!(writer, "{separator}    {}", serde_json::to_string(recorded)?)?;
            separator = ",\n";
        }
        let end = if self.recorded.is_empty() { "" } else { "\n  " };
        writeln!(writer, "{end}]\n}}")
    }

    /// Whether it has a finding, or one of another rule about the same defect.
    #[must_use]
    pub fn contains(&self, finding: &Finding) -> bool {
        let mut all = finding.with_also().flat_map(Fingerprint::all_of);
        all.any(|fingerprint| self.fingerprints.contains(&fingerprint))
    }

    /// What it has that is not among these findings, sorted.
    pub fn missing_from<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Finding>,
    ) -> Vec<BaselineEntry> {
        let found = findings.into_iter().flat_map(Finding::with_also);
        let found: BTreeSet<Fingerprint> = found.flat_map(Fingerprint::all_of).collect();
        let is_missing = |recorded: &&BaselineEntry| !found.contains(&recorded.fingerprint);
        self.recorded.iter().filter(is_missing).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn text(baseline: &Baseline) -> String {
        let mut bytes = Vec::new();
        baseline.write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let findings = samples::results().findings;
        let baseline = Baseline::of(&findings);
        assert_eq!(Baseline::read(&text(&baseline)).unwrap(), baseline);
        assert!(findings.iter().all(|finding| baseline.contains(finding)));
        let missing = baseline.missing_from(&findings[1..]);
        assert_eq!(missing.len(), 1);
        assert_eq!(Baseline::of(&findings[1..]).with(missing), baseline);
        let empty = Baseline::default();
        assert_eq!(Baseline::read(&text(&empty)).unwrap(), empty);
        assert!(!empty.contains(&findings[0]));
    }

    #[test]
    fn a_defect_is_known_by_whichever_rule_found_it() {
        let predicted = findings::merge_and_rank(vec![samples::predicted_deposit()]);
        let observed = vec![samples::account_deposit()];
        let both = findings::merge_and_rank([predicted.clone(), observed.clone()].concat());
        assert_eq!(both.len(), 1);
        let baseline = Baseline::of(&both);
        assert!(baseline.contains(&predicted[0]) && baseline.contains(&observed[0]));
        assert!(Baseline::of(&predicted).contains(&both[0]));
        assert!(baseline.missing_from(&both).is_empty());
        assert_eq!(baseline.missing_from(&observed).len(), 1);
    }

    #[test]
    fn one_sorted_line_a_finding_whatever_their_order() {
        let mut findings = samples::results().findings;
        let written = text(&Baseline::of(&findings));
        findings.reverse();
        findings.extend(samples::results().findings);
        assert_eq!(text(&Baseline::of(&findings)), written);
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 8);
        assert!(lines[4].starts_with(
            "    {\"blame\":\"geometry.Line.contains(geometry.Location)\",\
             \"rule\":\"reacquired-lock\",\"message\":\"`geometry.Line.contains` releases"
        ));
        assert!(lines[5].contains("java.util.Vector.addAll"));
    }

    #[test]
    fn lines_that_a_merge_left_twice_do_no_harm() {
        let findings = samples::results().findings;
        let written = text(&Baseline::of(&findings));
        let line = written.lines().nth(4).unwrap();
        let merged = written.replacen(line, &format!("{line}\n{line}"), 1);
        assert_eq!(Baseline::read(&merged).unwrap(), Baseline::of(&findings));
    }

    #[test]
    fn everything_else_is_refused_with_a_reason() {
        let written = text(&Baseline::of(&samples::results().findings));
        for (damaged, said) in [
            (String::new(), "damaged"),
            (written[..written.len() / 2].to_string(), "line 5"),
            (written.replace("{\"blame\"", "<<<<<<< HEAD\n{\"blame\""), "line 5"),
            (written.replace("\"fingerprint\"", "\"print\""), "missing field `fingerprint`"),
            ("[]".to_string(), "not a baseline"),
            ("{\"version\": 1, \"findings\": []}".to_string(), "not a baseline"),
            (written.replace("\"version\": 2", "\"version\": 1"), "has format version 1"),
            (written.replace("  \"version\": 2,\n", ""), "has format version none"),
        ] {
            let error = Baseline::read(&damaged).unwrap_err().to_string();
            assert!(error.contains(said), "{error} does not say {said}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
