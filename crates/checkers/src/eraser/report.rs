//! From unguarded variables to findings: counted, grouped by field and pair of places.

use std::collections::BTreeMap;

use events::{SiteId, Tables, Variable};
use findings::{Evidence, Finding, Severity, Step, Witness};

use super::RULE;
use crate::locksets::ReportedAccess;
use crate::stacks::Stacks;
use crate::subject::{StableNames, Subject, ThreadNames, site_of};

/// A variable that no lock guards.
#[derive(Clone, Debug)]
pub(super) struct Race {
    pub(super) variable: Variable,
    /// An access of another thread, if one is remembered.
    pub(super) first: Option<ReportedAccess>,
    /// The access that left no lock.
    pub(super) second: ReportedAccess,
}

/// The places of two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    first: SiteId,
    second: SiteId,
}

/// All variables that were reported.
#[derive(Debug, Default)]
pub(super) struct Races {
    pairs: BTreeMap<Pair, Race>,
    pub(super) count: u64,
}

/// Beyond this many pairs of places, variables are only counted.
const MOST_PAIRS: usize = 10_000;

impl Races {
    pub(super) fn add(&mut self, race: Race) {
        self.count += 1;
        let first = race.first.as_ref().map_or(SiteId(0), |first| first.site);
        let pair = Pair { first, second: race.second.site };
        if self.pairs.len() < MOST_PAIRS {
            self.pairs.entry(pair).or_insert(race);
        }
    }

    pub(super) fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        let uses = self.pairs.values().flat_map(|race| {
            let accesses = race.first.iter().chain([&race.second]);
            accesses.map(|access| (race.variable, access.site))
        });
        let names = StableNames::new(tables, uses);
        self.pairs.values().map(|race| finding(race, tables, &stacks, &names)).collect()
    }
}

fn finding(race: &Race, tables: &Tables, stacks: &Stacks<'_>, names: &StableNames<'_>) -> Finding {
    let variable = Subject::Variable(race.variable);
    let accesses = race.first.iter().chain([&race.second]);
    let threads = ThreadNames::new(tables, accesses.map(|access| access.thread));
    let step =
        |role, access: &ReportedAccess| access.step(role, race.variable, tables, &threads, stacks);
    let mut steps: Vec<Step> = race.first.iter().map(|first| step("first", first)).collect();
    steps.push(step("second", &race.second));
    let site = race.second.site;
    Finding {
        rule: RULE,
        evidence: Evidence::Predicted,
        severity: Severity::Medium,
        blame: site_of(tables, site),
        subjects: BTreeMap::from([("variable", variable.name(tables, site))]),
        stable_subjects: BTreeMap::from([("variable", names.of(race.variable, site))]),
        witnesses: vec![Witness::new(super::CHECKER.name, steps)],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}
