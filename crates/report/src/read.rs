//! The findings of a report in JSON, read back: what an earlier command suspects.

use std::collections::BTreeMap;

use findings::{
    Evidence, Finding, Fingerprint, HeldLock, Severity, Site, Stack, Step, ThreadAction, Witness,
    kept_name, rules,
};
use serde::Deserialize;

/// Why a text is not a report whose findings can be used.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// No JSON, or not of the documented shape.
    #[error("it is no report in JSON: {0}")]
    Damaged(#[from] serde_json::Error),
    /// JSON that is not a report.
    #[error("it is no report of scission; `--format json --output FILE` writes one")]
    NotAReport,
}

#[derive(Deserialize)]
struct Header {
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

#[derive(Deserialize)]
struct File {
    findings: Vec<ReadFinding>,
}

#[derive(Deserialize)]
struct ReadFinding {
    rule: String,
    evidence: Evidence,
    severity: Severity,
    fingerprint: Fingerprint,
    blame: Site,
    subjects: BTreeMap<String, String>,
    analysis: Option<String>,
    witness: Vec<ReadStep>,
    #[serde(default)]
    other_witnesses: Vec<ReadWitness>,
    #[serde(default)]
    also: Vec<ReadFinding>,
}

#[derive(Deserialize)]
struct ReadWitness {
    analysis: String,
    witness: Vec<ReadStep>,
}

#[derive(Deserialize)]
struct ReadStep {
    role: String,
    #[serde(flatten)]
    site: Site,
    call_chain: Vec<Site>,
    held_locks: Vec<ReadHeldLock>,
    thread: Option<String>,
    verb: Option<String>,
    subject: Option<String>,
    stack: Option<Stack>,
}

#[derive(Deserialize)]
struct ReadHeldLock {
    lock: String,
    taken_at: Site,
}

/// The findings that a report in JSON shows, each by itself; without their cycles. Those of rules that this version
/// does not know are left out.
///
/// # Errors
/// When the text is something else.
pub fn read_findings(text: &str) -> Result<Vec<Finding>, ReportError> {
    let header: Header = serde_json::from_str(text)?;
    if header.tool.is_none_or(|tool| tool.name != "scission") {
        return Err(ReportError::NotAReport);
    }
    let File { findings } = serde_json::from_str(text)?;
    let mut all = Vec::new();
    for finding in findings {
        finding.add_to(&mut all);
    }
    Ok(all)
}

impl ReadFinding {
    fn add_to(self, all: &mut Vec<Finding>) {
        if let Some(rule) = rules::named(&self.rule) {
            let first = self.analysis.map(|analysis| witness(&analysis, self.witness));
            let others = self.other_witnesses.into_iter();
            let others = others.map(|other| witness(&other.analysis, other.witness));
            let subjects = self.subjects.into_iter();
            all.push(Finding {
                rule: rule.name,
                evidence: self.evidence,
                severity: self.severity,
                blame: self.blame,
                subjects: subjects.map(|(name, it)| (kept_name(&name), it)).collect(),
                stable_subjects: BTreeMap::new(),
                witnesses: first.into_iter().chain(others).collect(),
                distance: 0,
                fingerprint: Some(self.fingerprint),
                also: Vec::new(),
            });
        }
        for also in self.also {
            also.add_to(all);
        }
    }
}

fn witness(analysis: &str, steps: Vec<ReadStep>) -> Witness {
    Witness::new(kept_name(analysis), steps.into_iter().map(ReadStep::step).collect())
}

impl ReadStep {
    fn step(self) -> Step {
        let held = |ReadHeldLock { lock, taken_at }| HeldLock { lock, taken_at };
        let action = self.verb.zip(self.subject);
        Step {
            role: kept_name(&self.role),
            site: self.site,
            call_chain: self.call_chain,
            held_locks: self.held_locks.into_iter().map(held).collect(),
            thread: self.thread,
            action: action.map(|(verb, subject)| ThreadAction { verb, subject }),
            stack: self.stack,
        }
    }
}

#[cfg(test)]
mod tests {
    use findings::{Results, merge_and_rank};

    use super::*;
    use crate::{Format, Options, Sources, render, samples};

    fn json(findings: Vec<Finding>) -> String {
        let results = Results { findings, ..Results::default() };
        let mut bytes = Vec::new();
        render(Format::Json, &results, &Options::new(&Sources::default()), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut written = samples::results().findings;
        for finding in &mut written {
            finding.distance = 0;
        }
        assert_eq!(read_findings(&json(written.clone())).unwrap(), written);
    }

    #[test]
    fn findings_that_stand_under_others_are_findings_too() {
        let found = merge_and_rank(vec![samples::predicted_deposit(), samples::account_deposit()]);
        let read = read_findings(&json(found)).unwrap();
        let rules: Vec<_> = read.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["not-serializable", "breakable-block"]);
        let mut steps = samples::predicted_deposit().witnesses.remove(0).steps;
        // The stacks of a cycle stand at its edges, which are not read.
        steps.iter_mut().for_each(|step| step.stack = None);
        assert_eq!(read[1].witnesses[0].steps, steps);
    }

    #[test]
    fn everything_else_is_refused_with_a_reason() {
        let written = json(samples::results().findings);
        for (text, said) in [
            ("", "it is no report in JSON"),
            ("[]", "it is no report in JSON"),
            ("{}", "it is no report of scission"),
            ("{\"format\": \"scission-baseline\"}", "it is no report of scission"),
            (&written[..written.len() / 2], "it is no report in JSON"),
            (&written.replace("\"rule\"", "\"rules\""), "missing field `rule`"),
        ] {
            let error = read_findings(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error} does not say {said}");
        }
        let unknown = written.replace("reacquired-lock", "a-newer-rule");
        assert!(read_findings(&unknown).unwrap().is_empty());
    }
}
