//! From cycles to findings: counted, grouped by blamed block and shape.

use std::collections::BTreeMap;

use events::{Block, SiteId, Tables};
use findings::{
    BenignCycle, Cycle, CycleEdge, EdgeKind, Evidence, Finding, Operation, Severity, Stack, Step,
    ThreadAction, Transaction, Witness,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::RULE;
use super::benign::{self, DoubtfulViolation, Harmless};
use super::graph::{Endpoint, Label};
use super::reliance::{Guards, Reliance, reliance};
use super::witness::{CycleTransaction, TransactionCycle};
use crate::operation_at::Contexts;
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};

/// What two violations have in common that are reported as one. What others did in between, and in which blocks the blamed one
/// was, is that of the first of them: under load it varies without end, and what must change is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// The innermost block that is not self-serializable; or the outermost block of the transaction that closed the
    /// cycle, when no single block is to blame.
    pub block: Block,
    /// Whether the block is to blame, and not the whole cycle.
    pub is_blamed: bool,
    /// The transaction's first operation of the cycle.
    pub first: SiteId,
    /// The transaction's operation that comes after what others did.
    pub second: SiteId,
}

/// Violations of one shape.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// How many there were.
    pub(super) count: u64,
    /// How many of them did no harm.
    harmless: u64,
    /// Why, each reason once.
    reasons: Vec<Harmless>,
    /// Whether in some of them the block wrote what it had read first.
    loses_updates: bool,
    /// The blocks around the blamed one that were refuted with it, outermost first, in the first violation.
    outer_blocks: Vec<Block>,
    /// What others did, in the first violation.
    pub(super) interferes: Vec<(Endpoint, Subject)>,
    /// The cycle, of the first violation.
    pub(super) cycle: TransactionCycle,
    /// What guards its ends.
    guards: Guards,
}

/// Beyond this many different reasons, violations of one shape are taken to do harm.
const MOST_REASONS: usize = 8;

impl Group {
    /// The first violation of a shape.
    pub(super) fn new(
        outer_blocks: Vec<Block>,
        interferes: Vec<(Endpoint, Subject)>,
        cycle: TransactionCycle,
        guards: Guards,
    ) -> Group {
        Group {
            count: 1,
            harmless: 0,
            reasons: Vec::new(),
            loses_updates: false,
            outer_blocks,
            interferes,
            cycle,
            guards,
        }
    }

    /// Why none of them did any harm; empty if that is not so.
    fn harmless(&self) -> &[Harmless] {
        if self.harmless == self.count { &self.reasons } else { &[] }
    }
}

/// All violations of a run.
#[derive(Debug, Default)]
pub(super) struct Violations {
    groups: FxHashMap<Shape, Group>,
    pub(super) count: u64,
    /// How many violations were not looked into, because their blocks had been refuted often enough.
    pub(super) not_searched: u64,
    /// How many violations have a shape that was not kept.
    pub(super) not_kept: u64,
    /// The blocks that are not self-serializable; and in how many violations each was the innermost that could be refuted, and
    /// there was no doubt that they did harm.
    pub(super) refuted: FxHashMap<Block, u32>,
    /// The places where variables were updated in one step that fails if their value has changed.
    pub(super) updates: FxHashSet<SiteId>,
}

/// Beyond this many shapes violations are only counted.
const MOST_SHAPES: usize = 10_000;

/// A block that was refuted this often is not searched for further shapes.
const REFUTED_OFTEN: u32 = 1000;

impl Violations {
    /// The different shapes, with how often each was seen.
    pub(super) fn shapes(&self) -> impl Iterator<Item = (&Shape, u64)> {
        self.groups.iter().map(|(shape, group)| (shape, group.count))
    }

    /// Whether nothing is to be learned from one more violation that can refute these blocks: all of them are refuted, and
    /// the innermost so often that its shapes are known.
    pub(super) fn are_refuted_often(
        &self,
        mut open: impl DoubleEndedIterator<Item = Block>,
    ) -> bool {
        let Some(innermost) = open.next_back() else { return false };
        self.refuted.get(&innermost).is_some_and(|count| *count >= REFUTED_OFTEN)
            && open.all(|block| self.refuted.contains_key(&block))
    }

    /// Notes which blocks a violation refutes. The innermost of them may be the innermost open block, whose violation
    /// is without doubt.
    pub(super) fn refute(&mut self, blocks: impl Iterator<Item = Block>, certain: Option<Block>) {
        for block in blocks {
            self.refuted.entry(block).or_insert(0);
        }
        if let Some(count) = certain.and_then(|block| self.refuted.get_mut(&block)) {
            *count = count.saturating_add(1);
        }
    }

    /// Counts a violation of a shape. Whether it is the first, and is to be kept whole.
    pub(super) fn count(&mut self, shape: &Shape) -> bool {
        self.count += 1;
        if let Some(known) = self.groups.get_mut(shape) {
            known.count += 1;
            return false;
        }
        let is_kept = self.groups.len() < MOST_SHAPES;
        self.not_kept += u64::from(!is_kept);
        is_kept
    }

    /// Keeps the first violation of a shape.
    pub(super) fn keep(&mut self, shape: Shape, group: Group) {
        self.groups.insert(shape, group);
    }

    /// The block of a violation has ended, and it is known whether it did harm.
    pub(super) fn settle(&mut self, violation: &DoubtfulViolation) {
        let Some(group) = self.groups.get_mut(&violation.shape) else { return };
        group.loses_updates |= violation.loses_update();
        let Some(reason) = violation.settled() else { return };
        if !group.reasons.contains(&reason) {
            if group.reasons.len() == MOST_REASONS {
                return;
            }
            group.reasons.push(reason);
        }
        group.harmless += violation.count;
    }

    pub(super) fn findings(&self, tables: &Tables, contexts: &Contexts) -> Vec<Finding> {
        let stacks = Stacks::new(tables);
        let names = FindingBuilder { tables, contexts, stacks, updates: &self.updates };
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_unstable_by_key(|(shape, _)| **shape);
        groups.into_iter().map(|(shape, group)| names.finding(shape, group)).collect()
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
        let blamed = shape.block;
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
        let is_of_class = |edge: Option<&Label>| {
            edge.is_some_and(|edge| matches!(edge.subject, Subject::Class(_)))
        };
        let benign = if is_of_class(edges.first()) || is_of_class(edges.last()) {
            Some(BenignCycle::ClassInitialised)
        } else {
            benign::idiom(tables, shape, group.harmless(), self.updates)
        };
        // That no change was seen means less where some would not have been.
        let places = [shape.first, shape.second].into_iter();
        let places = places.chain(group.interferes.iter().map(|(end, _)| end.operation_at.site));
        let rests_on_all =
            matches!(benign, Some(BenignCycle::NothingChanged | BenignCycle::UpdatedAgain));
        let is_unseen = rests_on_all && !benign::is_all_seen(tables, places);
        let benign = benign.filter(|_| !is_unseen);
        let severity = match (benign, reliance(tables, edges, group.guards)) {
            (Some(_), _) => Severity::Low,
            (None, Reliance::Certainly) if is_unseen => Severity::Medium,
            (None, Reliance::Hardly) if !group.loses_updates => Severity::Low,
            (None, Reliance::Perhaps) if !group.loses_updates => Severity::Medium,
            (None, _) if shape.is_blamed => Severity::High,
            (None, _) => Severity::Medium,
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
        let cycle = Cycle {
            transactions: self.transactions(group, shape.is_blamed, &threads),
            edges: edges.iter().map(|edge| self.edge(edge, blamed)).collect(),
            outer_blocks: group.outer_blocks.iter().map(|block| site_of(tables, *block)).collect(),
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
