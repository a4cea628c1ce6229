//! Reports in JSON, read back: what an earlier command suspects, or what several commands have found.

use std::collections::BTreeMap;

use findings::{
    BaselineEntry, BenignCycle, Comparison, Cycle, CycleEdge, EdgeKind, Evidence, Finding,
    Fingerprint, Gap, HeldLock, Operation, Results, Severity, Site, Stack, Step, Suppressed,
    Suppressor, ThreadAction, Transaction, WatchedCode, Witness, kept_name, rules,
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
    #[serde(default)]
    suppressed: Vec<ReadSuppressed>,
    baseline: Option<ReadComparison>,
    #[serde(default)]
    below_level: BTreeMap<Severity, usize>,
    #[serde(default)]
    remarks: Vec<String>,
    #[serde(default)]
    threads: Vec<String>,
    #[serde(default)]
    gaps: Vec<Gap>,
    watched: Option<ReadWatched>,
    #[serde(default)]
    stats: BTreeMap<String, u64>,
    #[serde(default)]
    interrupted: bool,
}

#[derive(Deserialize)]
struct ReadWatched {
    places: BTreeMap<String, u64>,
    order_only: u64,
}

#[derive(Deserialize)]
struct ReadSuppressed {
    by: Suppressor,
    reason: String,
    finding: ReadFinding,
}

#[derive(Deserialize)]
struct ReadComparison {
    known: Vec<ReadFinding>,
    gone: Vec<BaselineEntry>,
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
    cycle: Option<ReadCycle>,
    #[serde(default)]
    other_witnesses: Vec<ReadWitness>,
    #[serde(default)]
    also: Vec<ReadFinding>,
}

#[derive(Deserialize)]
struct ReadWitness {
    analysis: String,
    witness: Vec<ReadStep>,
    cycle: Option<ReadCycle>,
}

#[derive(Deserialize)]
struct ReadCycle {
    transactions: Vec<Transaction>,
    edges: Vec<ReadEdge>,
    outer_blocks: Vec<Site>,
    count: u64,
    benign: Option<BenignCycle>,
}

#[derive(Deserialize)]
struct ReadEdge {
    kind: EdgeKind,
    subject: Option<String>,
    from: Option<Operation>,
    to: Option<Operation>,
    is_race: bool,
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
    let mut findings = flattened(read(text)?.findings);
    for witness in findings.iter_mut().flat_map(|finding| &mut finding.witnesses) {
        witness.cycle = None;
    }
    Ok(findings)
}

/// Everything that a report in JSON says, with each finding by itself. Findings of rules that this version does not know
/// are left out.
///
/// # Errors
/// When the text is something else.
pub fn read_results(text: &str) -> Result<Results, ReportError> {
    let file = read(text)?;
    let mut suppressed = Vec::new();
    for ReadSuppressed { by, reason, finding } in file.suppressed {
        suppressed.extend(flattened(vec![finding]).into_iter().map(|finding| Suppressed {
            finding,
            by,
            reason: reason.clone(),
            is_known: false,
        }));
    }
    let comparison = |it: ReadComparison| Comparison { known: flattened(it.known), gone: it.gone };
    Ok(Results {
        findings: flattened(file.findings),
        suppressed,
        below_level: file.below_level,
        baseline: file.baseline.map(comparison),
        remarks: file.remarks,
        gaps: file.gaps,
        threads: file.threads,
        watched: file
            .watched
            .map(|it| WatchedCode { places: it.places, order_only: it.order_only }),
        stats: file.stats.iter().map(|(name, number)| (kept_name(name), *number)).collect(),
        interrupted: file.interrupted,
    })
}

fn read(text: &str) -> Result<File, ReportError> {
    let header: Header = serde_json::from_str(text)?;
    if header.tool.is_none_or(|tool| tool.name != "scission") {
        return Err(ReportError::NotAReport);
    }
    Ok(serde_json::from_str(text)?)
}

fn flattened(findings: Vec<ReadFinding>) -> Vec<Finding> {
    let mut all = Vec::new();
    for finding in findings {
        finding.add_to(&mut all);
    }
    all
}

impl ReadFinding {
    fn add_to(self, all: &mut Vec<Finding>) {
        if let Some(rule) = rules::named(&self.rule) {
            let first = self.analysis.map(|it| witness(&it, self.witness, self.cycle));
            let others = self.other_witnesses.into_iter();
            let others = others.map(|other| witness(&other.analysis, other.witness, other.cycle));
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

fn witness(analysis: &str, steps: Vec<ReadStep>, cycle: Option<ReadCycle>) -> Witness {
    let mut steps: Vec<Step> = steps.into_iter().map(ReadStep::step).collect();
    let cycle = cycle.map(ReadCycle::cycle);
    if let Some(cycle) = &cycle {
        steps.iter_mut().for_each(|step| take_stack(step, cycle));
    }
    Witness { cycle, ..Witness::new(kept_name(analysis), steps) }
}

/// The stack of a step of a cycle is written once, at the edge that it is an end of.
fn take_stack(step: &mut Step, cycle: &Cycle) {
    let at_step = |operation: &&Operation| operation.site.as_ref() == Some(&step.site);
    let ends = cycle.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
    let end = match step.role {
        "first" => cycle.edges.first().map(|edge| &edge.from).filter(at_step),
        "second" => cycle.edges.last().map(|edge| &edge.to).filter(at_step),
        "interferes" => ends.clone().skip(1).find(at_step),
        _ => None,
    };
    if step.stack.is_none() {
        step.stack = end.and_then(|end| end.stack.clone());
    }
}

impl ReadCycle {
    fn cycle(self) -> Cycle {
        let nothing = || Operation { verb: String::new(), site: None, stack: None };
        let edge = |edge: ReadEdge| CycleEdge {
            kind: edge.kind,
            subject: edge.subject.unwrap_or_default(),
            from: edge.from.unwrap_or_else(nothing),
            to: edge.to.unwrap_or_else(nothing),
            is_race: edge.is_race,
        };
        Cycle {
            transactions: self.transactions,
            edges: self.edges.into_iter().map(edge).collect(),
            outer_blocks: self.outer_blocks,
            count: self.count,
            benign: self.benign,
        }
    }
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
    fn a_whole_report_is_read_again() {
        let deposit = samples::account_deposit();
        let read = read_results(&json(vec![deposit.clone()])).unwrap();
        let without_stacks = |mut witnesses: Vec<Witness>| {
            witnesses
                .iter_mut()
                .for_each(|it| it.steps.iter_mut().for_each(|step| step.stack = None));
            witnesses
        };
        let mut witnesses = without_stacks(deposit.witnesses);
        for witness in &mut witnesses {
            // Below the program's own code nothing is written.
            for edge in witness.cycle.iter_mut().flat_map(|cycle| &mut cycle.edges) {
                for stack in [&mut edge.from.stack, &mut edge.to.stack].into_iter().flatten() {
                    stack.frames.retain(|frame| frame.class != "java.lang.Thread");
                }
            }
        }
        let first = &read.findings[0].witnesses[0];
        let edge = &first.cycle.as_ref().unwrap().edges[0];
        assert!(edge.from.stack.is_some());
        assert_eq!(first.steps[1].stack, edge.from.stack);
        assert_eq!(without_stacks(read.findings[0].witnesses.clone()), witnesses);
        let triaged = samples::triaged();
        let mut bytes = Vec::new();
        render(Format::Json, &triaged, &Options::new(&Sources::default()), &mut bytes).unwrap();
        let read = read_results(&String::from_utf8(bytes).unwrap()).unwrap();
        assert_eq!(read.suppressed, triaged.suppressed);
        assert_eq!(read.baseline.unwrap().gone, triaged.baseline.unwrap().gone);
        assert_eq!((read.below_level, read.remarks), (triaged.below_level, triaged.remarks));
        assert_eq!(read.stats, triaged.stats);
    }

    #[test]
    fn findings_that_stand_under_others_are_findings_too() {
        let found = merge_and_rank(vec![samples::predicted_deposit(), samples::account_deposit()]);
        let read = read_findings(&json(found)).unwrap();
        let rules: Vec<_> = read.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["not-serializable", "breakable-block"]);
        let mut steps = samples::predicted_deposit().witnesses.remove(0).steps;
        let mut read = read[1].witnesses[0].steps.clone();
        // The stacks of a cycle stand at its edges.
        steps.iter_mut().chain(&mut read).for_each(|step| step.stack = None);
        assert_eq!(read, steps);
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
