//! From cycles to findings: counted, grouped by blamed block and shape.

use std::collections::BTreeMap;

use events::{Block, SiteId, Tables};
use findings::{Evidence, Finding, Severity, Step, Witness};

use super::RULE;
use crate::subject::{Subject, place};

/// What two violations have in common that are reported as one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The blocks that are not self-serializable, outermost first; the last one is blamed. Empty when
    /// no single block is: then the whole cycle is.
    pub refuted: Vec<Block>,
    /// The outermost block of the transaction that closed the cycle.
    pub transaction: Block,
    /// The places of the cycle: the transaction's first operation, what others did after it, and the
    /// transaction's operation that comes after that.
    pub first: SiteId,
    /// See `first`.
    pub interferes: Vec<SiteId>,
    /// See `first`.
    pub second: SiteId,
}

/// Violations of one shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// How many there were.
    pub(super) count: u64,
    /// Whether every one of them was of a block that gave its lock back to wait.
    pub(super) waits: bool,
    pub(super) first: Subject,
    pub(super) second: Subject,
}

/// All violations of a run.
#[derive(Debug, Default)]
pub(super) struct Violations {
    pub(super) groups: BTreeMap<Shape, Group>,
    pub(super) count: u64,
}

/// Beyond this many shapes violations are only counted.
const MOST_SHAPES: usize = 10_000;

impl Violations {
    pub(super) fn add(&mut self, shape: Shape, group: Group) {
        self.count += 1;
        if let Some(known) = self.groups.get_mut(&shape) {
            known.count += 1;
            known.waits &= group.waits;
        } else if self.groups.len() < MOST_SHAPES {
            self.groups.insert(shape, group);
        }
    }

    pub(super) fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.groups.iter().map(|(shape, group)| finding(shape, group, tables)).collect()
    }
}

fn finding(shape: &Shape, group: &Group, tables: &Tables) -> Finding {
    let step = |role, site| Step {
        role,
        site: place(tables, site),
        call_chain: Vec::new(),
        held_locks: Vec::new(),
    };
    let blamed = shape.refuted.last().copied().unwrap_or(shape.transaction);
    let mut steps = vec![step("block", blamed), step("first", shape.first)];
    steps.extend(shape.interferes.iter().map(|site| step("interferes", *site)));
    steps.push(step("second", shape.second));
    let severity = match shape.refuted.last() {
        Some(_) if group.waits => Severity::Low,
        Some(_) => Severity::High,
        None => Severity::Medium,
    };
    Finding {
        rule: RULE,
        evidence: Evidence::Observed,
        severity,
        blame: place(tables, blamed),
        subjects: BTreeMap::from([
            ("first", group.first.name(tables, shape.first)),
            ("second", group.second.name(tables, shape.second)),
        ]),
        stable_subjects: BTreeMap::new(),
        witnesses: vec![Witness { analysis: super::MONITOR.name, steps }],
        distance: 0,
        fingerprint: None,
    }
}
