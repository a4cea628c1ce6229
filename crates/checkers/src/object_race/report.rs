//! From unguarded objects to findings: grouped by the places of two accesses.

use std::collections::BTreeMap;

use events::{SiteId, Tables, Variable};
use findings::{Evidence, Finding, Severity, Witness};

use super::{CHECKER, RULE};
use crate::locksets::ReportedAccess;
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, owner_name, site_of, stable_owner_name};

/// An object that no lock guards.
#[derive(Clone, Debug)]
pub(super) struct Race {
    /// An access of another thread, and what it accesses.
    pub(super) first: (Variable, ReportedAccess),
    /// The access that left no lock, or came after that.
    pub(super) second: (Variable, ReportedAccess),
    pub(super) severity: Severity,
}

/// All objects that were reported.
#[derive(Debug, Default)]
pub(super) struct Races {
    pairs: BTreeMap<(SiteId, SiteId), Race>,
}

/// Beyond this many pairs of places, objects are only counted.
const MOST_PAIRS: usize = 10_000;

impl Races {
    pub(super) fn add(&mut self, race: Race) {
        let pair = (race.first.1.site, race.second.1.site);
        if self.pairs.len() < MOST_PAIRS {
            self.pairs.entry(pair).or_insert(race);
        }
    }

    pub(super) fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        self.pairs.values().map(|race| finding(race, tables, &stacks)).collect()
    }
}

fn finding(race: &Race, tables: &Tables, stacks: &Stacks<'_>) -> Finding {
    let accesses = [&race.first, &race.second];
    let threads = ThreadNames::new(tables, accesses.iter().map(|(_, access)| access.thread));
    let step = |role, (variable, access): &(Variable, ReportedAccess)| {
        access.step(role, *variable, tables, &threads, stacks)
    };
    let (variable, site) = (race.second.0, race.second.1.site);
    Finding {
        rule: RULE,
        evidence: Evidence::Predicted,
        severity: race.severity,
        blame: site_of(tables, site),
        subjects: BTreeMap::from([
            ("object", owner_name(tables, variable, site)),
            ("variable", Subject::Variable(variable).name(tables, site)),
        ]),
        stable_subjects: BTreeMap::from([
            ("object", stable_owner_name(tables, variable, site)),
            ("variable", Subject::Variable(variable).stable_name(tables, site)),
        ]),
        witnesses: vec![Witness::new(
            CHECKER.name,
            vec![step("first", &race.first), step("second", &race.second)],
        )],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}
