//! What the script of a page finds in it. Only the two are about this shape: it may change with any release.

use std::collections::{BTreeMap, BTreeSet};

use findings::{
    BaselineEntry, Cycle, Evidence, Finding, Fingerprint, Gap, GapKind, Results, Severity, Step,
    Witness,
};
use serde::Serialize;

use super::excerpts::{Excerpt, excerpts};
use super::picture::{self, Picture};
use super::shown_text::{shown, shown_within};
use super::tables::{LONGEST_NAME, PageSite, PageStack, Tables};
use crate::{Sources, TOOL_VERSION, words};

/// No sentence in a page is longer.
const LONGEST_SENTENCE: usize = 1000;
/// How many proofs of one finding are shown.
const MOST_WITNESSES: usize = 5;

#[derive(Serialize)]
pub(super) struct Page {
    version: &'static str,
    has_baseline: bool,
    interrupted: bool,
    classes: Vec<String>,
    files: Vec<String>,
    sites: Vec<PageSite>,
    stacks: Vec<PageStack>,
    sources: BTreeMap<usize, Vec<Excerpt>>,
    /// What each rule is about, in one sentence.
    rules: BTreeMap<&'static str, &'static str>,
    findings: Vec<PageFinding>,
    gone: Vec<PageGone>,
    below_level: usize,
    remarks: Vec<String>,
    gaps: Vec<PageGap>,
}

/// What was decided about a finding.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    /// It is shown, and there is no baseline to compare it with.
    Found,
    /// It is not in the baseline.
    New,
    /// It is in the baseline.
    Known,
    /// The configuration or an annotation suppresses it.
    Suppressed,
}

#[derive(Serialize)]
struct PageFinding {
    rule: &'static str,
    evidence: Evidence,
    severity: Severity,
    status: Status,
    /// Why it is suppressed.
    reason: Option<String>,
    message: String,
    advice: String,
    fingerprint: Fingerprint,
    package: String,
    blame: usize,
    signature: String,
    /// The place that the reader is sent to.
    primary: usize,
    witnesses: Vec<PageWitness>,
    also: Vec<PageFinding>,
}

#[derive(Serialize)]
struct PageWitness {
    analysis: &'static str,
    steps: Vec<PageStep>,
    picture: Option<Picture>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct PageStep {
    role: &'static str,
    site: usize,
    label: String,
    thread: Option<String>,
    chain: Vec<usize>,
    held: Vec<PageLock>,
    stack: Option<usize>,
}

/// A lock, and where it was acquired.
#[derive(Serialize)]
struct PageLock(String, usize);

#[derive(Serialize)]
struct PageGone {
    rule: String,
    message: String,
}

#[derive(Serialize)]
struct PageGap {
    kind: GapKind,
    place: String,
    detail: String,
    may_hide: &'static str,
    count: u32,
}

/// Everything that is in a page.
pub(super) fn page(results: &Results, sources: &Sources) -> Page {
    let mut tables = Tables::default();
    let mut steps = BTreeSet::new();
    let comparison = results.baseline.as_ref();
    let found = if comparison.is_some() { Status::New } else { Status::Found };
    let mut add = |finding: &Finding, status, reason| {
        page_finding(finding, status, reason, &mut tables, &mut steps)
    };
    let mut findings: Vec<PageFinding> =
        results.findings.iter().map(|finding| add(finding, found, None)).collect();
    for finding in comparison.map_or(&[][..], |comparison| &comparison.known) {
        findings.push(add(finding, Status::Known, None));
    }
    for suppressed in &results.suppressed {
        let reason = Some(shown_within(&suppressed.reason, LONGEST_SENTENCE));
        findings.push(add(&suppressed.finding, Status::Suppressed, reason));
    }
    let used: BTreeSet<&str> = findings.iter().flat_map(|finding| rules_of(finding)).collect();
    let rules = used
        .into_iter()
        .filter_map(|name| findings::rules::named(name).map(|rule| (rule.name, rule.summary)));
    Page {
        version: TOOL_VERSION,
        has_baseline: comparison.is_some(),
        interrupted: results.interrupted,
        sources: excerpts(&tables, &steps, sources),
        classes: tables.classes.values().to_vec(),
        files: tables.files.values().iter().map(|file| shown_within(file, LONGEST_NAME)).collect(),
        sites: tables.sites.values().to_vec(),
        stacks: tables.stacks.values().to_vec(),
        rules: rules.collect(),
        findings,
        gone: comparison
            .map_or(&[][..], |comparison| &comparison.gone)
            .iter()
            .map(|BaselineEntry { rule, message, .. }| PageGone {
                rule: shown(rule),
                message: shown_within(message, LONGEST_SENTENCE),
            })
            .collect(),
        below_level: results.below_level.values().sum(),
        remarks: results
            .remarks
            .iter()
            .cloned()
            .chain(results.watched.as_ref().map(words::what_was_watched))
            .map(|remark| shown_within(&remark, LONGEST_SENTENCE))
            .collect(),
        gaps: results.gaps.iter().map(page_gap).collect(),
    }
}

fn rules_of(finding: &PageFinding) -> Vec<&'static str> {
    std::iter::once(finding.rule).chain(finding.also.iter().map(|also| also.rule)).collect()
}

fn page_finding(
    finding: &Finding,
    status: Status,
    reason: Option<String>,
    tables: &mut Tables,
    steps: &mut BTreeSet<usize>,
) -> PageFinding {
    let primary = tables.site(words::primary_site(finding));
    let blame = tables.site(&finding.blame);
    steps.extend([primary, blame]);
    let witnesses = finding.witnesses.iter().take(MOST_WITNESSES);
    let witnesses = witnesses.map(|witness| page_witness(finding, witness, tables, steps));
    let package = finding.blame.class.rsplit_once('.').map_or("", |(package, _)| package);
    PageFinding {
        rule: finding.rule,
        evidence: finding.evidence,
        severity: finding.severity,
        status,
        reason,
        message: shown_within(&words::message(finding), LONGEST_SENTENCE),
        advice: shown_within(&words::advice(finding), LONGEST_SENTENCE),
        fingerprint: words::fingerprint(finding),
        package: shown_within(package, LONGEST_NAME),
        blame,
        signature: shown_within(&words::signature(&finding.blame), LONGEST_NAME),
        primary,
        witnesses: witnesses.collect(),
        also: finding
            .also
            .iter()
            .map(|also| page_finding(also, status, None, tables, steps))
            .collect(),
    }
}

fn page_witness(
    finding: &Finding,
    witness: &Witness,
    tables: &mut Tables,
    steps: &mut BTreeSet<usize>,
) -> PageWitness {
    let mut page_steps = Vec::new();
    for step in &witness.steps {
        let page_step = page_step(finding, step, tables);
        steps.insert(page_step.site);
        page_steps.push(page_step);
    }
    for edge in witness.cycle.iter().flat_map(|cycle| &cycle.edges) {
        let ends = [&edge.from, &edge.to].into_iter().filter_map(|end| end.site.as_ref());
        steps.extend(ends.map(|site| tables.site(site)));
    }
    PageWitness {
        analysis: witness.analysis,
        steps: page_steps,
        picture: picture::of(finding, witness, tables),
        notes: witness.cycle.as_ref().map_or(Vec::new(), cycle_notes),
    }
}

fn page_step(finding: &Finding, step: &Step, tables: &mut Tables) -> PageStep {
    PageStep {
        role: step.role,
        site: tables.site(&step.site),
        label: shown_within(&words::label(finding, step), LONGEST_SENTENCE),
        thread: step.thread.as_ref().map(|thread| shown_within(thread, LONGEST_NAME)),
        chain: step.call_chain.iter().map(|site| tables.site(site)).collect(),
        held: step
            .held_locks
            .iter()
            .map(|held| {
                PageLock(shown_within(&held.lock, LONGEST_NAME), tables.site(&held.taken_at))
            })
            .collect(),
        stack: step.stack.as_ref().map(|stack| tables.stack(stack)),
    }
}

/// What a picture of a cycle does not show.
fn cycle_notes(cycle: &Cycle) -> Vec<String> {
    let mut notes = Vec::new();
    if !cycle.transactions.iter().any(|transaction| transaction.is_blamed) {
        notes.push(
            "No single block is to blame: each of these blocks alone could have been atomic, but not all of them."
                .to_string(),
        );
    }
    if !cycle.outer_blocks.is_empty() {
        let blocks: Vec<String> =
            cycle.outer_blocks.iter().map(|block| format!("`{}`", block.method_name())).collect();
        notes.push(format!("Enclosing blocks were split too: {}.", blocks.join(", ")));
    }
    notes.extend(cycle.benign.map(|benign| format!("{}.", words::why_benign(benign, cycle))));
    if cycle.count > 1 {
        notes.push(format!("Observed {} times.", words::with_separators(cycle.count)));
    }
    notes.iter().map(|note| shown_within(note, LONGEST_SENTENCE)).collect()
}

fn page_gap(gap: &Gap) -> PageGap {
    PageGap {
        kind: gap.kind,
        place: shown_within(&words::gap_place(gap), LONGEST_NAME),
        detail: shown_within(&words::gap_detail(gap), LONGEST_SENTENCE),
        may_hide: gap.kind.may_hide(),
        count: gap.count,
    }
}
