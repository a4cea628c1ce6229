//! From cycles to findings: counted, grouped by blamed block and shape.

use std::collections::BTreeMap;

use events::{Block, SiteId, Tables};
use findings::{
    Cycle, CycleEdge, EdgeKind, Evidence, Finding, Operation, Severity, Stack, Step, ThreadAction,
    Transaction, Witness,
};
use rustc_hash::FxHashSet;

use super::RULE;
use super::benign::{self, Harmless};
use super::graph::{Endpoint, Label};
use super::witness::{CycleTransaction, TransactionCycle};
use crate::operation_at::Contexts;
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};

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
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// How many there were.
    pub(super) count: u64,
    /// How many of them did no harm, and why.
    harmless: (u64, Option<Harmless>),
    /// The operations at the places of the shape, of the first violation.
    pub(super) interferes: Vec<(Endpoint, Subject)>,
    /// The cycle, of the first violation.
    pub(super) cycle: TransactionCycle,
}

impl Group {
    /// The first violation of a shape.
    pub(super) fn new(interferes: Vec<(Endpoint, Subject)>, cycle: TransactionCycle) -> Group {
        Group { count: 1, harmless: (0, None), interferes, cycle }
    }

    /// Why none of them did any harm, if that is so.
    fn harmless(&self) -> Option<Harmless> {
        self.harmless.1.filter(|_| self.harmless.0 == self.count)
    }
}

/// All violations of a run.
#[derive(Debug, Default)]
pub(super) struct Violations {
    pub(super) groups: BTreeMap<Shape, Group>,
    pub(super) count: u64,
    /// The places where variables were updated in one step.
    pub(super) updates: FxHashSet<SiteId>,
}

/// Beyond this many shapes violations are only counted.
const MOST_SHAPES: usize = 10_000;

impl Violations {
    /// Counts a violation. Whether it is the first of its shape, and is to be kept whole.
    pub(super) fn count(&mut self, shape: &Shape) -> bool {
        self.count += 1;
        match self.groups.get_mut(shape) {
            Some(known) => {
                known.count += 1;
                false
            }
            None => self.groups.len() < MOST_SHAPES,
        }
    }

    /// The block of a violation has ended, and it is known whether it did harm.
    pub(super) fn settle(&mut self, shape: &Shape, harmless: Option<Harmless>) {
        let Some(group) = self.groups.get_mut(shape) else { return };
        if harmless.is_some() && (group.harmless.0 == 0 || group.harmless.1 == harmless) {
            group.harmless = (group.harmless.0 + 1, harmless);
        }
    }

    pub(super) fn findings(&self, tables: &Tables, contexts: &Contexts) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        let names = FindingBuilder { tables, contexts, stacks, updates: &self.updates };
        self.groups.iter().map(|(shape, group)| names.finding(shape, group)).collect()
    }
}

/// What findings are made of.
struct FindingBuilder<'a> {
    tables: &'a Tables,
    contexts: &'a Contexts,
    stacks: Stacks<'a>,
    updates: &'a FxHashSet<SiteId>,
}

impl FindingBuilder<'_> {
    fn finding(&self, shape: &Shape, group: &Group) -> Finding {
        let tables = self.tables;
        let edges = &group.cycle.edges;
        let blamed = shape.refuted.last().copied().unwrap_or(shape.transaction);
        let mut block = Step::at("block", site_of(tables, blamed));
        let threads = ThreadNames::new(
            tables,
            group.cycle.transactions.iter().map(|transaction| transaction.thread),
        );
        block.thread =
            group.cycle.transactions.first().map(|transaction| threads.name(transaction.thread));
        let mut steps = vec![block];
        if let Some(first) = edges.first() {
            steps.push(self.step("first", &first.from, first.subject, blamed, &threads));
        }
        for (end, subject) in &group.interferes {
            steps.push(self.step("interferes", end, *subject, blamed, &threads));
        }
        if let Some(last) = edges.last() {
            steps.push(self.step("second", &last.to, last.subject, blamed, &threads));
        }
        let benign = group
            .harmless()
            .and_then(|harmless| benign::idiom(tables, shape, harmless, self.updates));
        let severity = match (shape.refuted.last(), benign) {
            (_, Some(_)) => Severity::Low,
            (Some(_), None) => Severity::High,
            (None, None) => Severity::Medium,
        };
        let mut subjects = BTreeMap::new();
        let mut stable_subjects = BTreeMap::new();
        for (name, edge, site) in
            [("first", edges.first(), shape.first), ("second", edges.last(), shape.second)]
        {
            if let Some(edge) = edge {
                subjects.insert(name, edge.subject.name(tables, site));
                stable_subjects.insert(name, edge.subject.stable_name(tables, site));
            }
        }
        let outer_blocks = shape.refuted.split_last().map_or(&[][..], |(_, outer)| outer);
        let cycle = Cycle {
            transactions: self.transactions(group, !shape.refuted.is_empty(), &threads),
            edges: edges.iter().map(|edge| self.edge(edge, blamed)).collect(),
            outer_blocks: outer_blocks.iter().map(|block| site_of(tables, *block)).collect(),
            count: group.count,
            benign,
        };
        Finding {
            rule: RULE,
            evidence: Evidence::Observed,
            severity,
            blame: site_of(tables, blamed),
            subjects,
            stable_subjects,
            witnesses: vec![Witness { analysis: super::CHECKER.name, steps, cycle: Some(cycle) }],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    fn step(
        &self,
        role: &'static str,
        end: &Endpoint,
        subject: Subject,
        blamed: Block,
        threads: &ThreadNames<'_>,
    ) -> Step {
        let site = end.operation_at.site;
        let mut step = Step::at(role, site_of(self.tables, site));
        step.thread = Some(threads.name(end.thread));
        let verb = end.operation_at.verb().words().to_string();
        step.action = Some(ThreadAction { verb, subject: subject.name(self.tables, site) });
        step.stack = self.stack(end, blamed);
        step
    }

    fn stack(&self, end: &Endpoint, blamed: Block) -> Option<Stack> {
        let context = self.contexts.innermost(end.operation_at.context());
        let blamed = site_of(self.tables, blamed);
        self.stacks.find(end.operation_at.site, end.thread, context, Some(&blamed))
    }

    fn transactions(
        &self,
        group: &Group,
        is_blamed: bool,
        threads: &ThreadNames<'_>,
    ) -> Vec<Transaction> {
        let transaction = |(at, transaction): (usize, &CycleTransaction)| Transaction {
            thread: threads.name(transaction.thread),
            block: transaction
                .block
                .filter(|block| *block != SiteId(0))
                .map(|block| site_of(self.tables, block)),
            is_blamed: is_blamed && at == 0,
        };
        group.cycle.transactions.iter().enumerate().map(transaction).collect()
    }

    fn edge(&self, edge: &Label, blamed: Block) -> CycleEdge {
        let operation = |end: &Endpoint| {
            let site = end.operation_at.site;
            Operation {
                verb: end.operation_at.verb().words().to_string(),
                site: (site != SiteId(0)).then(|| site_of(self.tables, site)),
                stack: self.stack(end, blamed),
            }
        };
        let site = [edge.to, edge.from].map(|end| end.operation_at.site);
        let site = site.into_iter().find(|site| *site != SiteId(0)).unwrap_or(SiteId(0));
        CycleEdge {
            kind: match edge.subject {
                Subject::Order => EdgeKind::Order,
                Subject::Omitted => EdgeKind::Omitted,
                Subject::Variable(_)
                | Subject::Lock(_)
                | Subject::Thread(_)
                | Subject::Object(_)
                | Subject::Class(_) => EdgeKind::Operations,
            },
            subject: edge.subject.name(self.tables, site),
            from: operation(&edge.from),
            to: operation(&edge.to),
            is_race: false,
        }
    }
}
