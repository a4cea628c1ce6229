//! Findings as they are read back.

use std::collections::BTreeMap;

use findings::{
    Cycle, Evidence, Finding, Fingerprint, HeldLock, Severity, Site, Stack, Step, ThreadAction,
    Witness, kept_name, rules,
};
use serde::{Deserialize, Deserializer, de};

/// Reads findings; one of a rule that this build does not know is an error.
pub(crate) fn read_all<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Finding>, D::Error> {
    let read = Vec::<ReadFinding>::deserialize(reader)?;
    read.into_iter().map(|finding| finding.finding().map_err(de::Error::custom)).collect()
}

#[derive(Deserialize)]
struct ReadFinding {
    rule: String,
    evidence: Evidence,
    severity: Severity,
    blame: Site,
    subjects: BTreeMap<String, String>,
    stable_subjects: BTreeMap<String, String>,
    witnesses: Vec<ReadWitness>,
    distance: u32,
    fingerprint: Option<Fingerprint>,
}

#[derive(Deserialize)]
struct ReadWitness {
    analysis: String,
    steps: Vec<ReadStep>,
    cycle: Option<Cycle>,
}

#[derive(Deserialize)]
struct ReadStep {
    role: String,
    site: Site,
    call_chain: Vec<Site>,
    held_locks: Vec<ReadHeldLock>,
    thread: Option<String>,
    action: Option<ThreadAction>,
    stack: Option<Stack>,
}

#[derive(Deserialize)]
struct ReadHeldLock {
    lock: String,
    taken_at: Site,
}

impl ReadFinding {
    fn finding(self) -> Result<Finding, String> {
        let rule = rules::named(&self.rule).ok_or_else(|| {
            format!("a finding of the unknown rule `{}`", self.rule.escape_debug())
        })?;
        Ok(Finding {
            rule: rule.name,
            evidence: self.evidence,
            severity: self.severity,
            blame: self.blame,
            subjects: with_kept_names(self.subjects),
            stable_subjects: with_kept_names(self.stable_subjects),
            witnesses: self.witnesses.into_iter().map(ReadWitness::witness).collect(),
            distance: self.distance,
            fingerprint: self.fingerprint,
            also: Vec::new(),
        })
    }
}

impl ReadWitness {
    fn witness(self) -> Witness {
        let steps = self.steps.into_iter().map(ReadStep::step).collect();
        Witness { analysis: kept_name(&self.analysis), steps, cycle: self.cycle }
    }
}

impl ReadStep {
    fn step(self) -> Step {
        let held = |ReadHeldLock { lock, taken_at }| HeldLock { lock, taken_at };
        Step {
            role: kept_name(&self.role),
            site: self.site,
            call_chain: self.call_chain,
            held_locks: self.held_locks.into_iter().map(held).collect(),
            thread: self.thread,
            action: self.action,
            stack: self.stack,
        }
    }
}

fn with_kept_names(subjects: BTreeMap<String, String>) -> BTreeMap<&'static str, String> {
    subjects.into_iter().map(|(name, subject)| (kept_name(&name), subject)).collect()
}
