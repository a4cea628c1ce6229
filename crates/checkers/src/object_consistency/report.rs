//! From overlaps to findings: grouped by the places of the three accesses.

use std::collections::BTreeMap;

use events::{Access, SiteId, Tables, ThreadId, Variable};
use findings::{Evidence, Finding, Severity, Step, Witness};

use super::{CHECKER, RULE, Remembered};
use crate::locksets::ReportedAccess;
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, owner_name, site_of, stable_owner_name};

/// One of the three accesses.
#[derive(Clone, Copy, Debug)]
struct Part {
    access: Access,
    variable: Variable,
    thread: ThreadId,
    site: SiteId,
}

/// An object that was used while a method was at work on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap {
    /// The method.
    block: SiteId,
    /// Its first access, that of the other thread, and its last one.
    parts: [Part; 3],
    severity: Severity,
}

impl Overlap {
    pub(super) fn new(block: SiteId, parts: [&Remembered; 3], severity: Severity) -> Overlap {
        let parts = parts.map(|it| Part {
            access: it.access,
            variable: it.variable,
            thread: it.thread,
            site: it.site,
        });
        Overlap { block, parts, severity }
    }
}

/// All overlaps.
#[derive(Debug, Default)]
pub(super) struct Overlaps {
    by_places: BTreeMap<[SiteId; 3], Overlap>,
}

/// Beyond this many triples of places, no others are reported.
const MOST: usize = 10_000;

impl Overlaps {
    pub(super) fn add(&mut self, overlap: Overlap) {
        let places = overlap.parts.map(|part| part.site);
        if let Some(known) = self.by_places.get_mut(&places) {
            if known.severity < overlap.severity {
                *known = overlap;
            }
        } else if self.by_places.len() < MOST {
            self.by_places.insert(places, overlap);
        }
    }

    pub(super) fn places(&self) -> impl Iterator<Item = ([SiteId; 3], Severity)> {
        self.by_places.iter().map(|(places, overlap)| (*places, overlap.severity))
    }

    /// One finding for a method, the object's class and the severity's best overlap: the others are the same defect.
    pub(super) fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        let mut best: BTreeMap<(SiteId, String), &Overlap> = BTreeMap::new();
        for overlap in self.by_places.values() {
            let [first, ..] = overlap.parts;
            let object = stable_owner_name(tables, first.variable, first.site);
            let known = best.entry((overlap.block, object)).or_insert(overlap);
            if known.severity < overlap.severity {
                *known = overlap;
            }
        }
        best.values().map(|overlap| finding(overlap, tables, &stacks)).collect()
    }
}

fn finding(overlap: &Overlap, tables: &Tables, stacks: &Stacks<'_>) -> Finding {
    let [first, between, last] = overlap.parts;
    let threads = ThreadNames::new(tables, overlap.parts.iter().map(|part| part.thread));
    let step = |role, part: Part| {
        let Part { access, variable, thread, site } = part;
        let access = ReportedAccess { access, thread, site, held: Vec::new() };
        access.step(role, variable, tables, &threads, stacks)
    };
    let site = first.site;
    let variables = |name: &dyn Fn(Part) -> String| {
        let mut names: Vec<String> = overlap.parts.iter().map(|part| name(*part)).collect();
        names.sort_unstable();
        names.dedup();
        names.join("`, `")
    };
    let in_run = |part: Part| Subject::Variable(part.variable).name(tables, part.site);
    let stable = |part: Part| Subject::Variable(part.variable).stable_name(tables, part.site);
    Finding {
        rule: RULE,
        evidence: Evidence::Observed,
        severity: overlap.severity,
        blame: site_of(tables, overlap.block),
        subjects: BTreeMap::from([
            ("object", owner_name(tables, first.variable, site)),
            ("fields", variables(&in_run)),
        ]),
        stable_subjects: BTreeMap::from([
            ("object", stable_owner_name(tables, first.variable, site)),
            ("fields", variables(&stable)),
        ]),
        witnesses: vec![Witness::new(
            CHECKER.name,
            vec![
                Step::at("block", site_of(tables, overlap.block)),
                step("first", first),
                step("interferes", between),
                step("second", last),
            ],
        )],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}
