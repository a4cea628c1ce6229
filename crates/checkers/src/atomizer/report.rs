//! From blocks that do not fit the pattern to findings: counted, grouped by block and operations.

use std::collections::{BTreeMap, BTreeSet};

use events::{Block, SiteId, Tables, ThreadId};
use findings::{Evidence, Finding, Severity, Step, ThreadAction, Witness};

use super::{Operation, RULE};
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};

/// A block that failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) thread: ThreadId,
    pub(super) block: Block,
    /// The blocks around it that have failed too, outermost first.
    pub(super) around: Vec<Block>,
    /// The operation after which only what moves left may follow.
    pub(super) first: Operation,
    /// The operation that does not move left.
    pub(super) second: Operation,
}

/// What two failures have in common that are reported as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    block: Block,
    first: SiteId,
    second: SiteId,
}

/// All failures of a run.
#[derive(Debug, Default)]
pub(super) struct Failures {
    /// Each as it was the first time.
    groups: BTreeMap<Shape, Failure>,
    pub(super) count: u64,
    /// The blocks that failed: those to blame, and those around them.
    pub(super) blocks: BTreeSet<Block>,
}

/// Beyond this many shapes failures are only counted.
const MOST_SHAPES: usize = 10_000;

impl Failures {
    pub(super) fn add(&mut self, failure: Failure) {
        self.count += 1;
        let Failure { block, first, second, .. } = failure;
        let shape = Shape { block, first: first.site, second: second.site };
        if self.groups.len() < MOST_SHAPES {
            self.groups.entry(shape).or_insert(failure);
        }
    }

    pub(super) fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        self.groups.values().map(|failure| finding(failure, tables, &stacks)).collect()
    }
}

fn finding(failure: &Failure, tables: &Tables, stacks: &Stacks<'_>) -> Finding {
    let Failure { thread, block, around, first, second } = failure;
    let thread_name = Some(ThreadNames::new(tables, [*thread].into_iter()).name(*thread));
    let blame = site_of(tables, *block);
    let block_step = |role, block| Step {
        thread: thread_name.clone(),
        ..Step::at(role, site_of(tables, block))
    };
    let step = |role, operation: &Operation| {
        let Operation { site, verb, subject, context } = *operation;
        Step {
            action: Some(ThreadAction {
                verb: verb.words().to_string(),
                subject: subject.name(tables, site),
            }),
            stack: stacks.find(site, *thread, Some(context), Some(&blame)),
            ..block_step(role, site)
        }
    };
    let mut steps = vec![block_step("block", *block), step("first", first), step("second", second)];
    steps.extend(around.iter().map(|block| block_step("outer", *block)));
    let names = |name: fn(Subject, &Tables, SiteId) -> String| {
        BTreeMap::from([
            ("first", name(first.subject, tables, first.site)),
            ("second", name(second.subject, tables, second.site)),
        ])
    };
    Finding {
        rule: RULE,
        evidence: Evidence::Predicted,
        severity: Severity::Medium,
        subjects: names(Subject::name),
        stable_subjects: names(Subject::stable_name),
        witnesses: vec![Witness::new(super::CHECKER.name, steps)],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
        blame,
    }
}
