//! From cycles to findings: one for each block and pair of variables, with the best witness.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use events::{Branch, FieldId, Kind, ObjectId, SiteId, Tables, ThreadId, Variable};
use findings::{
    Cycle, CycleEdge, EdgeKind, Evidence, Finding, HeldLock, Operation, Severity, Step,
    ThreadAction, Transaction, Witness,
};
use rustc_hash::FxHashSet;

use super::RULE;
use super::tree::{AccessToken, LockToken, UntakenSide};
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};
use crate::verb::Verb;

/// An access of a cycle.
#[derive(Clone, Debug)]
pub(super) struct ReportedAccess {
    pub(super) thread: ThreadId,
    /// The outermost block of its unit.
    pub(super) block: Option<SiteId>,
    pub(super) access: AccessToken,
    /// The side that it is on, if it did not happen.
    pub(super) untaken: Option<UntakenSide>,
    pub(super) held: Vec<LockToken>,
    /// Whether the variable was read before it in the innermost section it is in.
    pub(super) is_reread: bool,
}

/// What a cycle visits.
#[derive(Clone, Debug)]
pub(super) struct ReportedVisit {
    pub(super) arrives: ReportedAccess,
    pub(super) leaves: ReportedAccess,
    /// Whether it leaves from another unit than it arrives at.
    pub(super) is_later: bool,
}

/// A block that can be split.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    /// The block.
    pub(super) block: SiteId,
    /// The other block, if neither of the two can be split without the other.
    pub(super) together_with: Option<SiteId>,
    /// What the cycle visits; the block that is split comes first.
    pub(super) visits: Vec<ReportedVisit>,
    /// An acquisition on a cycle of locks: the units may deadlock.
    pub(super) deadlock: Option<(ThreadId, LockToken)>,
}

impl Violation {
    /// How good a witness it is; lower is better.
    fn rank(&self) -> (bool, bool, usize, usize, usize) {
        (
            self.together_with.is_some(),
            self.severity() != Severity::High,
            self.accesses().filter(|access| access.untaken.is_some()).count(),
            self.visits.len(),
            self.visits.iter().filter(|visit| visit.is_later).count(),
        )
    }

    fn accesses(&self) -> impl Iterator<Item = &ReportedAccess> {
        self.visits.iter().flat_map(|visit| [&visit.arrives, &visit.leaves])
    }

    /// The accesses of the block: before and after the others.
    fn pair(&self) -> Option<(&ReportedAccess, &ReportedAccess)> {
        self.visits.first().map(|visit| (&visit.leaves, &visit.arrives))
    }

    fn interferes(&self) -> impl Iterator<Item = &ReportedAccess> {
        self.visits.iter().skip(1).flat_map(|visit| {
            let is_one = visit.arrives.access == visit.leaves.access && !visit.is_later;
            [Some(&visit.arrives), (!is_one).then_some(&visit.leaves)].into_iter().flatten()
        })
    }

    /// High: the block reads a variable under a lock, gives the lock back, takes it again and writes the variable without
    /// having read it again, and another thread really wrote it under that lock. Low: what is accessed is meant to
    /// be accessed without locks, or it takes two blocks to split each other. All else is medium.
    fn severity(&self) -> Severity {
        let Some((first, second)) = self.pair() else { return Severity::Low };
        let accesses = || [first, second].into_iter().chain(self.interferes());
        if self.together_with.is_some() || accesses().all(|it| it.access.is_volatile) {
            return Severity::Low;
        }
        let is_locked_by = |lock: &LockToken| {
            accesses().all(|it| it.held.iter().any(|held| held.lock == lock.lock))
        };
        let is_lost_update = accesses().all(|it| it.untaken.is_none())
            && !first.access.is_write
            && second.access.is_write
            && !second.is_reread
            && first.access.variable == second.access.variable
            && self.interferes().all(|it| it.access.is_write)
            && first.held.iter().any(is_locked_by);
        if is_lost_update { Severity::High } else { Severity::Medium }
    }
}

/// What two violations have in common that are reported as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Shape {
    block: SiteId,
    together_with: Option<SiteId>,
    first: Declared,
    second: Declared,
}

/// A variable, whatever object it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Declared {
    Field(u32),
    Element,
    Contents,
}

impl Declared {
    fn of(variable: Variable) -> Declared {
        match variable {
            Variable::Field(_, field) | Variable::Static(field) => Declared::Field(field.0),
            Variable::Element(..) => Declared::Element,
            Variable::Contents(_) => Declared::Contents,
        }
    }
}

/// All violations of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Violations {
    groups: BTreeMap<Shape, Violation>,
    /// The fields that were accessed in a way that synchronises. Of accesses that did not happen that is not told.
    pub(super) volatile_fields: FxHashSet<FieldId>,
    /// How many more there were than are kept.
    pub(super) left_out: u64,
}

/// Beyond this many shapes violations are only counted.
const MOST_SHAPES: usize = 10_000;

impl Violations {
    fn shape(violation: &Violation) -> Option<Shape> {
        let (first, second) = violation.pair()?;
        Some(Shape {
            block: violation.block,
            together_with: violation.together_with,
            first: Declared::of(first.access.variable),
            second: Declared::of(second.access.variable),
        })
    }

    /// Whether it is worth finding out whether this can happen.
    pub(super) fn is_better(&self, violation: &Violation) -> bool {
        let Some(shape) = Violations::shape(violation) else { return false };
        self.groups.get(&shape).is_none_or(|known| violation.rank() < known.rank())
    }

    pub(super) fn add(&mut self, violation: Violation) {
        let Some(shape) = Violations::shape(&violation) else { return };
        if self.groups.len() < MOST_SHAPES || self.groups.contains_key(&shape) {
            self.groups.insert(shape, violation);
        } else {
            self.left_out += 1;
        }
    }

    /// The blocks that can be split alone, and the pairs of blocks that can split each other only.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (SiteId, Option<SiteId>)> + '_ {
        self.groups.keys().map(|shape| (shape.block, shape.together_with))
    }

    pub(super) fn findings(&self, tables: &Tables) -> Vec<Finding> {
        let volatile_fields = &self.volatile_fields;
        let names = FindingBuilder { tables, stacks: Stacks::new(tables), volatile_fields };
        let alone: BTreeSet<SiteId> =
            self.blocks().filter(|(_, other)| other.is_none()).map(|(block, _)| block).collect();
        // That a block can be split with another says nothing more where it, or the other, can be split alone.
        let is_alone = |block: Option<SiteId>| block.is_some_and(|block| alone.contains(&block));
        let told = self.groups.values().filter(|it| {
            it.together_with.is_none() || !(is_alone(Some(it.block)) || is_alone(it.together_with))
        });
        told.filter_map(|violation| names.finding(violation)).collect()
    }
}

struct FindingBuilder<'a> {
    tables: &'a Tables,
    stacks: Stacks<'a>,
    volatile_fields: &'a FxHashSet<FieldId>,
}

impl FindingBuilder<'_> {
    /// A variable that one method reads and another writes may be what protects the block: a lock of its own.
    fn severity(
        &self,
        violation: &Violation,
        first: &ReportedAccess,
        second: &ReportedAccess,
    ) -> Severity {
        let [first, second] =
            [first, second].map(|access| site_of(self.tables, access.access.site));
        let is_one_method = (&first.class, &first.method, &first.descriptor)
            == (&second.class, &second.method, &second.descriptor);
        match violation.severity() {
            Severity::High if !is_one_method => Severity::Medium,
            Severity::Medium if violation.accesses().all(|it| self.synchronises(it)) => {
                Severity::Low
            }
            severity => severity,
        }
    }

    /// Whether a variable is meant to be accessed without a lock: a volatile field, or an atomic.
    fn synchronises(&self, access: &ReportedAccess) -> bool {
        match access.access.variable {
            _ if access.access.is_volatile => true,
            Variable::Field(_, field) | Variable::Static(field) => {
                self.volatile_fields.contains(&field)
            }
            Variable::Contents(object) => self
                .tables
                .objects
                .get(object)
                .and_then(|entry| self.tables.classes.get(entry.class.0 as usize))
                .is_some_and(|class| class.name.starts_with("java.util.concurrent.atomic.")),
            Variable::Element(..) => false,
        }
    }

    fn finding(&self, violation: &Violation) -> Option<Finding> {
        let tables = self.tables;
        let (first, second) = violation.pair()?;
        let threads = ThreadNames::new(tables, violation.accesses().map(|access| access.thread));
        let name = |thread| Some(threads.name(thread));
        let mut steps = vec![Step {
            thread: name(first.thread),
            ..Step::at("block", site_of(tables, violation.block))
        }];
        if let Some(other) = violation.together_with {
            let thread = violation.visits.get(1).and_then(|visit| name(visit.arrives.thread));
            steps.push(Step { thread, ..Step::at("together", site_of(tables, other)) });
        }
        if let Some((thread, lock)) = violation.deadlock {
            let verb = Verb::of_kind(Kind::Acquire).words().to_string();
            let subject = Subject::Lock(lock.lock).name(tables, lock.site);
            steps.push(Step {
                thread: name(thread),
                action: Some(ThreadAction { verb, subject }),
                ..Step::at("deadlock", site_of(tables, lock.site))
            });
        }
        let blamed = violation.block;
        self.access("first", first, blamed, &threads, &mut steps);
        for access in violation.interferes() {
            self.access("interferes", access, blamed, &threads, &mut steps);
        }
        self.access("second", second, blamed, &threads, &mut steps);
        let names = |name: fn(Subject, &Tables, SiteId) -> String| {
            let of = |it: &ReportedAccess| {
                name(Subject::Variable(it.access.variable), tables, it.access.site)
            };
            BTreeMap::from([("first", of(first)), ("second", of(second))])
        };
        let mut subjects = names(Subject::name);
        let mut stable_subjects = names(Subject::stable_name);
        subjects.insert("guard", self.guard(violation));
        stable_subjects.insert("guard", String::new());
        let cycle = self.cycle(violation, &threads);
        Some(Finding {
            rule: RULE,
            evidence: Evidence::Predicted,
            severity: self.severity(violation, first, second),
            blame: site_of(tables, blamed),
            subjects,
            stable_subjects,
            witnesses: vec![Witness { analysis: super::CHECKER.name, steps, cycle: Some(cycle) }],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        })
    }

    /// What to hold: the lock that is held at the most accesses, if at more than one.
    fn guard(&self, violation: &Violation) -> String {
        let mut counts: BTreeMap<ObjectId, (usize, SiteId)> = BTreeMap::new();
        let pair = violation.pair().into_iter().flat_map(|(first, second)| [first, second]);
        for held in pair.chain(violation.interferes()).flat_map(|access| &access.held) {
            counts.entry(held.lock).or_insert((0, held.site)).0 += 1;
        }
        let best = counts.iter().max_by_key(|(lock, (count, _))| (*count, Reverse(**lock)));
        match best {
            Some((lock, (count, site))) if *count > 1 => {
                format!("`{}`", Subject::Lock(*lock).name(self.tables, *site))
            }
            _ => "one lock".to_string(),
        }
    }

    /// The step of an access, and that of the branch it depends on.
    fn access(
        &self,
        role: &'static str,
        access: &ReportedAccess,
        blamed: SiteId,
        threads: &ThreadNames<'_>,
        steps: &mut Vec<Step>,
    ) {
        let tables = self.tables;
        let site = access.access.site;
        let subject = Subject::Variable(access.access.variable).name(tables, site);
        if let Some(UntakenSide { site, way }) = access.untaken {
            let verb = match way {
                Branch::Taken | Branch::NotTaken => "went the other way".to_string(),
                Branch::Case(value) => format!("did not take `case {value}`"),
            };
            let step = Step {
                thread: Some(threads.name(access.thread)),
                action: Some(ThreadAction { verb, subject: subject.clone() }),
                ..Step::at("branch", site_of(tables, site))
            };
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let held = access.held.iter().map(|held| HeldLock {
            lock: Subject::Lock(held.lock).name(tables, held.site),
            taken_at: site_of(tables, held.site),
        });
        steps.push(Step {
            held_locks: held.collect(),
            thread: Some(threads.name(access.thread)),
            action: Some(ThreadAction { verb: verb(access), subject }),
            stack: self.stacks.find(
                site,
                access.thread,
                None,
                Some(&site_of(tables, access.block.unwrap_or(blamed))),
            ),
            ..Step::at(role, site_of(tables, site))
        });
    }

    fn cycle(&self, violation: &Violation, threads: &ThreadNames<'_>) -> Cycle {
        let transaction = |access: &ReportedAccess| Transaction {
            thread: threads.name(access.thread),
            block: access.block.map(|block| site_of(self.tables, block)),
            is_blamed: false,
        };
        let mut transactions = Vec::new();
        let mut edges = Vec::new();
        for (at, visit) in violation.visits.iter().enumerate() {
            transactions.push(transaction(&visit.arrives));
            if visit.is_later {
                let is_one_thread = visit.arrives.thread == visit.leaves.thread;
                let kind = if is_one_thread { EdgeKind::Order } else { EdgeKind::Omitted };
                edges.push(self.edge(kind, &visit.arrives, &visit.leaves));
                transactions.push(transaction(&visit.leaves));
            }
            let next = &violation.visits[(at + 1) % violation.visits.len()];
            edges.push(self.edge(EdgeKind::Operations, &visit.leaves, &next.arrives));
        }
        if let Some(first) = transactions.first_mut() {
            first.is_blamed = violation.together_with.is_none();
        }
        Cycle { transactions, edges, outer_blocks: Vec::new(), count: 1, benign: None }
    }

    fn edge(&self, kind: EdgeKind, from: &ReportedAccess, to: &ReportedAccess) -> CycleEdge {
        let operation = |end: &ReportedAccess| {
            let site = end.access.site;
            let block = end.block.map(|block| site_of(self.tables, block));
            Operation {
                verb: verb(end),
                site: (site != SiteId(0)).then(|| site_of(self.tables, site)),
                stack: self.stacks.find(site, end.thread, None, block.as_ref()),
            }
        };
        let subject = Subject::Variable(to.access.variable).name(self.tables, to.access.site);
        CycleEdge { kind, subject, from: operation(from), to: operation(to), is_race: false }
    }
}

/// `reads`, or `would write`.
fn verb(access: &ReportedAccess) -> String {
    let kind = match (access.untaken.is_some(), access.access.is_write) {
        (false, false) => Kind::Read,
        (false, true) => Kind::Write,
        (true, false) => Kind::WouldRead,
        (true, true) => Kind::WouldWrite,
    };
    Verb::of_kind(kind).words().to_string()
}
