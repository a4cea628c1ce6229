//! From cycles and waits to findings: which to show, and the steps that prove them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use findings::{Evidence, Finding, Gap, GapKind, HeldLock, Severity, Site, Step, Witness};
use program::{FieldId, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cycles::{self, ConcurrencyFacts};
use super::edge_paths::{Callers, EdgePath, Holder};
use super::instances::{InstanceOrder, MutualReferences, instance_order};
use super::kinds::{LockId, Locks};
use super::lock_order::{EdgeInstance, GateLock, LockOrder};
use super::phases::{Phases, Publishers};
use super::waits::{CriticalWait, IndefiniteWait, Waits};
use super::{CLIENT, CRITICAL_WAIT, INDEFINITE_WAIT, LOCK_ORDER_CYCLE};
use crate::execution::{ContextId, ExecutionFacts, LockMode};
use crate::heap::{ObjectId, ObjectProperties, Place, ThreadId};
use crate::locks::expression::ExpressionRoot;
use crate::locks::taken_at;
use crate::{Outcome, Scope};

/// The roles of a cycle's steps, two for each edge.
const ROLES: [(&str, &str); cycles::LONGEST_CYCLE] = [
    ("holds.1", "wants.1"),
    ("holds.2", "wants.2"),
    ("holds.3", "wants.3"),
    ("holds.4", "wants.4"),
    ("holds.5", "wants.5"),
    ("holds.6", "wants.6"),
    ("holds.7", "wants.7"),
    ("holds.8", "wants.8"),
    ("holds.9", "wants.9"),
    ("holds.10", "wants.10"),
    ("holds.11", "wants.11"),
    ("holds.12", "wants.12"),
];

/// The names of the locks in messages, two for each edge: what is held, and what is wanted.
const SUBJECTS: [(&str, &str); cycles::LONGEST_CYCLE] = [
    ("held1", "wanted1"),
    ("held2", "wanted2"),
    ("held3", "wanted3"),
    ("held4", "wanted4"),
    ("held5", "wanted5"),
    ("held6", "wanted6"),
    ("held7", "wanted7"),
    ("held8", "wanted8"),
    ("held9", "wanted9"),
    ("held10", "wanted10"),
    ("held11", "wanted11"),
    ("held12", "wanted12"),
];

/// Threads that are looked at for one way to take an edge; a cycle needs [`cycles::LONGEST_CYCLE`] different ones.
const MOST_THREADS: usize = 16;

/// Ways to take two instances of a lock that no two threads have in common, and that are compared with each other.
const MOST_ALONE: usize = 16;

/// Contexts in which it is asked how code orders two instances of a lock: the code is the same in all of them, and only
/// what its callers call the two differs.
const MOST_CONTEXTS: usize = 4;

/// Routes of one edge before those that are alike are left out.
const MOST_EDGE_PATHS: usize = 4_096;

/// Everything the deadlock analysis found.
pub(super) fn outcome(
    execution: &ExecutionFacts<'_>,
    order: &LockOrder,
    callers: &Callers,
    waits: &Waits,
    phases: &Phases,
) -> Outcome {
    let publishers = phases.publishers(execution);
    let locks = Locks::of(execution, order);
    let known_holders = RefCell::default();
    let scope = Scope::of(execution.context);
    let report = Report { execution, order, callers, known_holders, locks, scope, publishers };
    let config = execution.context.config;
    let mut outcome = Outcome::default();
    if config.wants(LOCK_ORDER_CYCLE) {
        let edges = report.edges();
        let (found, is_cut) = report.cycles(&edges);
        outcome.findings.extend(found);
        outcome.findings.extend(report.instances(&edges));
        deduplicate(&mut outcome.findings);
        if is_cut {
            let detail = "so many locks depend on each other that not all long cycles of locks \
                          were searched for";
            outcome.gaps.push(Gap::new(GapKind::Limit, "the order of locks".to_string(), detail));
        }
    }
    if config.wants(LOCK_ORDER_CYCLE)
        && order.taken.keys().any(|lock| execution.heap.objects[*lock].is_imprecise())
    {
        let detail = "locks of objects that the program stores in the same places, and that could not be \
                      distinguished, were left out";
        outcome.gaps.push(Gap::new(GapKind::Limit, "the order of locks".to_string(), detail));
    }
    if config.wants(CRITICAL_WAIT) {
        let waits = waits.critical(execution, order);
        outcome.findings.extend(waits.iter().filter_map(|wait| report.critical_wait(wait)));
    }
    if config.wants(INDEFINITE_WAIT) {
        let waits = waits.indefinite(execution);
        outcome.findings.extend(waits.iter().filter_map(|wait| report.indefinite_wait(wait)));
    }
    outcome
}

/// Keeps of findings at the same places the worst, with the shortest way there: where a call leads to many methods
/// that all take the lock, one of them is proof enough.
fn deduplicate(findings: &mut Vec<Finding>) {
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.distance));
    let mut seen = BTreeSet::new();
    findings.retain(|finding| {
        let steps = finding.witnesses.iter().flat_map(|witness| &witness.steps);
        let places = steps.map(|step| {
            let place = step.site.line.or(step.site.offset);
            (step.role, step.site.method_name(), place)
        });
        seen.insert((finding.blame.method_name(), places.collect::<Vec<_>>()))
    });
}

/// The names of a finding, and those that stay what they are when the program gets more objects.
type SubjectNames = (BTreeMap<&'static str, String>, BTreeMap<&'static str, String>);

/// "`A` and `B`", or "two of `A`".
fn enumerated(names: &[String], is_single_object: bool) -> String {
    match names.split_last() {
        Some((only, _)) if is_single_object => format!("two of `{only}`"),
        Some((last, others)) => format!("`{}` and `{last}`", others.join("`, `")),
        None => String::new(),
    }
}

/// The edges of the graph, each with the ways to take it.
type Edges<'a> = BTreeMap<(LockId, LockId), Vec<EdgePath<'a>>>;

/// Where the callers of a context take a lock.
type KnownHolders = FxHashMap<(ContextId, ObjectId), Rc<[Holder]>>;

/// Where a path begins and ends.
fn places_of(edge_path: &EdgePath<'_>) -> (Place, Place) {
    (edge_path.held_at, edge_path.way.wanted_at)
}

struct Report<'a> {
    execution: &'a ExecutionFacts<'a>,
    order: &'a LockOrder,
    callers: &'a Callers,
    /// Where callers take locks, for those that were asked for.
    known_holders: RefCell<KnownHolders>,
    locks: Locks,
    scope: Scope<'a>,
    publishers: Publishers<'a>,
}

/// What the search for cycles asks, for one cycle.
struct CycleFacts<'a> {
    report: &'a Report<'a>,
    locks: &'a [LockId],
    ways: &'a [Vec<&'a EdgePath<'a>>],
}

impl ConcurrencyFacts for CycleFacts<'_> {
    fn can_run_at_once(
        &self,
        one: (usize, usize, ThreadId),
        other: (usize, usize, ThreadId),
    ) -> bool {
        let heap = self.report.execution.heap;
        let order = |(edge, position, _): (usize, usize, ThreadId)| {
            &self.report.order.orders[self.ways[edge][position].way.order]
        };
        heap.can_interleave(one.2, other.2)
            && order(one).may_run_concurrently(heap, other.2)
            && order(other).may_run_concurrently(heap, one.2)
            && !self.report.publishers.are_separated(order(one), other.2, order(other))
            && !self.report.publishers.are_separated(order(other), one.2, order(one))
    }

    fn is_single_object(&self, gate_lock: LockId) -> bool {
        let properties = self.report.properties(gate_lock);
        let object = self.report.locks.locks[gate_lock].object;
        // Each lock of the cycle belongs to one object, which is the gate lock in both threads.
        let is_hosted_by_gate = |lock: &LockId| self.report.properties(*lock).host == Some(object);
        properties.is_unique || properties.is_class || self.locks.iter().any(is_hosted_by_gate)
    }
}

impl<'a> Report<'a> {
    fn program(&self) -> &'a Program {
        self.execution.context.program
    }

    fn properties(&self, lock: LockId) -> &'a ObjectProperties {
        &self.execution.heap.objects[self.locks.locks[lock].object].properties
    }

    /// The edges that threads of the program can take, with the best witnesses first.
    fn edges(&self) -> Edges<'a> {
        let mut edges = Edges::new();
        for ((from, to), ways) in self.order.cyclic_edges() {
            if [from, to].iter().any(|it| self.execution.heap.objects[*it].is_imprecise()) {
                continue;
            }
            let mut alike: FxHashMap<_, usize> = FxHashMap::default();
            for way in ways {
                // The same step of the same threads, further contexts of which would only show further call chains.
                let threads = &self.execution.threads[way.context];
                let modes = (way.held_mode, way.wanted_mode);
                let is_own = way.held_at.method == way.wanted_at.method;
                let own = is_own.then_some(way.held_at);
                let step = (own, way.wanted_at, modes, &way.gate_locks, way.order, threads);
                let times = alike.entry(step).or_default();
                *times += 1;
                if *times > MOST_CONTEXTS {
                    continue;
                }
                let holders = self.holders(way.context, from, way.held_at, way.wanted_at);
                for Holder { context, taken_at, calls } in holders.iter() {
                    let (context, taken_at) = (*context, *taken_at);
                    let path = calls.iter().copied().chain([way.wanted_at]).collect();
                    let is_guess = self.locks.ids(from, taken_at).len() > 1
                        || self.locks.ids(to, way.wanted_at).len() > 1;
                    let held_at = taken_at;
                    let step = Rc::new(self.step(way, context));
                    let edge_path =
                        EdgePath { way, holder: context, held_at, path, is_guess, step };
                    if edge_path.step.threads.is_empty() {
                        continue;
                    }
                    for start in self.locks.ids(from, taken_at) {
                        for end in self.locks.ids(to, way.wanted_at) {
                            let is_contended =
                                |lock: LockId| !self.properties(lock).is_thread_specific;
                            if is_contended(*start) && is_contended(*end) {
                                edges.entry((*start, *end)).or_default().push(edge_path.clone());
                            }
                        }
                    }
                }
            }
            for edge_paths in
                edges.values_mut().filter(|edge_paths| edge_paths.len() > MOST_EDGE_PATHS)
            {
                self.keep_distinct(edge_paths);
            }
        }
        for edge_paths in edges.values_mut() {
            self.keep_distinct(edge_paths);
        }
        edges
    }

    /// Sorts paths, the best witnesses first, and keeps of those that are alike the first: one for each pair of
    /// places, and one for each step that differs in what decides whether it can be taken at the same time as others.
    fn keep_distinct(&self, edge_paths: &mut Vec<EdgePath<'a>>) {
        edge_paths.sort_by(|one, other| {
            let rank = |edge_path: &EdgePath<'_>| {
                let is_foreign = !self.program().is_application(edge_path.way.wanted_at.method);
                (
                    is_foreign,
                    edge_path.is_guess,
                    edge_path.path.len(),
                    edge_path.held_at,
                    edge_path.holder,
                )
            };
            rank(one).cmp(&rank(other)).then_with(|| one.way.cmp(other.way))
        });
        let mut places = FxHashSet::default();
        let mut steps = FxHashSet::default();
        edge_paths.retain(|edge_path| {
            let step = (edge_path.step.clone(), edge_path.way.order);
            let is_new_step = steps.insert(step);
            places.insert(places_of(edge_path)) || is_new_step
        });
    }

    /// Where a lock is taken that is held in a context: there, or by its callers.
    fn holders(
        &self,
        context: ContextId,
        lock: ObjectId,
        taken_at: Place,
        held_at: Place,
    ) -> Rc<[Holder]> {
        if taken_at.method == held_at.method {
            return Rc::new([Holder { context, taken_at, calls: Vec::new() }]);
        }
        let mut known = self.known_holders.borrow_mut();
        let holders = known.entry((context, lock));
        holders.or_insert_with(|| self.callers.holders(context, lock).into()).clone()
    }

    /// What matters of a way that begins in a context.
    fn step(&self, way: &EdgeInstance, holder: ContextId) -> cycles::EdgeCondition {
        let threads = self.execution.threads[holder].iter();
        let user = threads.filter(|thread| self.execution.heap.threads[*thread].is_user_thread());
        cycles::EdgeCondition {
            threads: user.take(MOST_THREADS).collect(),
            held_mode: way.held_mode,
            wanted_mode: way.wanted_mode,
            gate_locks: way
                .gate_locks
                .iter()
                .filter_map(|gate_lock| self.gate_lock(gate_lock))
                .collect(),
        }
    }

    /// A lock that is held besides, if it is known which one.
    fn gate_lock(&self, gate_lock: &GateLock) -> Option<(LockId, LockMode)> {
        match self.locks.ids(gate_lock.object, gate_lock.taken_at) {
            [lock] => Some((*lock, gate_lock.mode)),
            _ => None,
        }
    }

    /// A path for each edge such that all can be taken at once.
    fn realise<'r>(
        &self,
        locks: &[LockId],
        edge_paths: &[Vec<&'r EdgePath<'a>>],
    ) -> Option<Vec<&'r EdgePath<'a>>> {
        let steps: Vec<Vec<&cycles::EdgeCondition>> = edge_paths
            .iter()
            .map(|edge_paths| edge_paths.iter().map(|edge_path| &*edge_path.step).collect())
            .collect();
        let facts = CycleFacts { report: self, locks, ways: edge_paths };
        let chosen = cycles::realise(locks, &steps, &facts)?;
        Some(
            chosen
                .iter()
                .zip(edge_paths)
                .map(|(position, edge_paths)| edge_paths[*position])
                .collect(),
        )
    }

    /// Cycles of different locks; and whether some may be missing.
    fn cycles(&self, edges: &Edges<'a>) -> (Vec<Finding>, bool) {
        let (found, is_cut) = cycles::cycles(&edges.keys().copied().collect());
        let mut shown: BTreeSet<(LockId, LockId)> = BTreeSet::new();
        let mut findings = Vec::new();
        for mut locks in found {
            let next = |locks: &[LockId], at: usize| locks[(at + 1) % locks.len()];
            let edge = |locks: &[LockId], at: usize| (locks[at], next(locks, at));
            // All of its edges are parts of shorter cycles: a fix of those fixes this one.
            if locks.len() > 2 && (0..locks.len()).all(|at| shown.contains(&edge(&locks, at))) {
                continue;
            }
            // What the fewest places do is what most likely is wrong; it comes last.
            let places = |at: usize| {
                let ways = edges[&edge(&locks, at)].iter();
                ways.map(places_of).collect::<BTreeSet<_>>().len()
            };
            // Of those alike the one that stands last in the program.
            let first_place = |at: usize| edges[&edge(&locks, at)].iter().map(places_of).min();
            let rank = |at: &usize| (places(*at), std::cmp::Reverse(first_place(*at)));
            let odd = (0..locks.len()).min_by_key(rank).unwrap_or_default();
            let length = locks.len();
            locks.rotate_left((odd + 1) % length);
            let mut ways: Vec<Vec<&EdgePath<'_>>> =
                (0..length).map(|at| edges[&edge(&locks, at)].iter().collect()).collect();
            let Some(last) = ways.pop() else { continue };
            let mut methods = BTreeSet::new();
            for way in &last {
                let method = (way.held_at.method, way.way.wanted_at.method);
                if methods.contains(&method) {
                    continue;
                }
                // The others should want the lock where this one takes it, and hold what it wants where it wants it: so
                // the two show one deadlock.
                let mut others: Vec<Vec<&EdgePath<'_>>> = ways.clone();
                if let Some(before) = others.last_mut() {
                    before.sort_by_key(|edge_path| edge_path.way.wanted_at != way.held_at);
                }
                if let Some(after) = others.first_mut() {
                    after.sort_by_key(|edge_path| {
                        (
                            edge_path.held_at != way.way.wanted_at,
                            edge_path.way.wanted_at != way.held_at,
                        )
                    });
                }
                others.push(vec![*way]);
                let real = self.realise(&locks, &others);
                if let Some(real) = real {
                    methods.insert(method);
                    shown.extend((0..length).map(|at| edge(&locks, at)));
                    findings.extend(self.cycle(&locks, &real, self.severity(&locks, &real)));
                }
            }
        }
        (findings, is_cut)
    }

    /// Two locks that are one abstract lock, in both orders.
    fn instances(&self, edges: &Edges<'a>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut mutual_references = None;
        for ((from, to), ways) in edges {
            let from = *from;
            if from != *to || self.properties(from).is_unique {
                continue;
            }
            let mut through: BTreeMap<Vec<FieldId>, &EdgePath<'_>> = BTreeMap::new();
            let mut methods = BTreeSet::new();
            let mut asked: BTreeMap<(Place, Place), usize> = BTreeMap::new();
            let mut alone: Vec<(&EdgePath<'_>, Severity)> = Vec::new();
            for way in ways {
                let method = (way.held_at.method, way.way.wanted_at.method);
                let times = asked.entry(places_of(way)).or_default();
                *times += 1;
                if methods.contains(&method) || *times > MOST_CONTEXTS {
                    continue;
                }
                let severity = match instance_order(self.execution, self.callers, way) {
                    InstanceOrder::AsGiven => Severity::Medium,
                    InstanceOrder::Unknown => Severity::Low,
                    InstanceOrder::Through(fields) => {
                        through.entry(fields).or_insert(way);
                        continue;
                    }
                    InstanceOrder::InTurn | InstanceOrder::Compared => continue,
                };
                let both = [vec![way], vec![way]];
                if let Some(real) = self.realise(&[from, from], &both) {
                    methods.insert(method);
                    let is_of_parameters = severity == Severity::Medium
                        && [way.held_at, way.way.wanted_at].iter().all(|at| self.is_own_lock(*at));
                    let severity = if is_of_parameters { severity.raised() } else { severity };
                    findings.extend(self.cycle(&[from, from], &real, severity));
                } else if alone.len() < MOST_ALONE {
                    alone.push((way, severity));
                }
            }
            // No two threads do the same; but one may do the one and another the other.
            for (at, (way, severity)) in alone.iter().enumerate() {
                let others: Vec<&EdgePath<'_>> =
                    alone[at + 1..].iter().map(|(other, _)| *other).collect();
                if let Some(real) = self.realise(&[from, from], &[vec![*way], others]) {
                    findings.extend(self.cycle(&[from, from], &real, *severity));
                }
            }
            if through.len() > 1 {
                let mutual_references =
                    mutual_references.get_or_insert_with(|| MutualReferences::of(self.program()));
                findings.extend(self.both_ways(from, &through, mutual_references));
            }
        }
        findings
    }

    /// Two objects that lead to each other, each locked while the other is held.
    fn both_ways(
        &self,
        lock: LockId,
        through: &BTreeMap<Vec<FieldId>, &EdgePath<'a>>,
        mutual_references: &MutualReferences,
    ) -> Option<Finding> {
        through.iter().enumerate().find_map(|(at, (there, one))| {
            through.iter().skip(at + 1).find_map(|(back, other)| {
                if !mutual_references.refers_back(there, back) {
                    return None;
                }
                let real = self.realise(&[lock, lock], &[vec![*one], vec![*other]])?;
                self.cycle(&[lock, lock], &real, Severity::Medium)
            })
        })
    }

    /// Two locks that there is one of each, or that are the objects whose methods are running, and two threads: no
    /// doubt is left but that about the paths.
    fn severity(&self, locks: &[LockId], ways: &[&EdgePath<'_>]) -> Severity {
        let is_sure = |(lock, way): (&LockId, &&EdgePath<'_>)| {
            let properties = self.properties(*lock);
            if way.is_guess {
                return false;
            }
            properties.is_unique || properties.is_class || self.is_own_lock(way.held_at)
        };
        if locks.len() == 2 && locks.iter().zip(ways).all(is_sure) {
            Severity::High
        } else {
            Severity::Medium
        }
    }

    /// Whether the lock that is taken here is the object whose method is running.
    fn is_own_lock(&self, place: Place) -> bool {
        taken_at(self.execution.context, place).is_some_and(|lock| {
            lock.root == ExpressionRoot::Parameter(0) && lock.steps().is_empty()
        }) && !self.program().methods[place.method].is_static()
    }

    fn cycle(
        &self,
        locks: &[LockId],
        ways: &[&EdgePath<'_>],
        severity: Severity,
    ) -> Option<Finding> {
        let mut steps = Vec::new();
        let mut names = SubjectNames::default();
        let mut distance = 0;
        let called = self.called(locks, &|lock| self.execution.describe_lock(lock));
        let stable = self.called(locks, &|lock| self.execution.describe_lock_stable(lock));
        for (at, way) in ways.iter().enumerate() {
            let (holds, wants) = ROLES.get(at)?;
            let (held, wanted) = SUBJECTS.get(at)?;
            let path = self.sites(&way.path);
            let held_at = self.program().site(way.held_at.method, way.held_at.offset);
            let (site, call_chain) = path.split_first()?;
            let lock = called[at].clone();
            let held_locks = vec![HeldLock { lock, taken_at: held_at.clone() }];
            distance += call_chain.len() as u32;
            steps.push(Step::at(holds, held_at));
            let call_chain = call_chain.to_vec();
            steps.push(Step { call_chain, held_locks, ..Step::at(wants, site.clone()) });
            for (names, lock_names) in [(&mut names.0, &called), (&mut names.1, &stable)] {
                names.insert(*held, lock_names[at].clone());
                names.insert(*wanted, lock_names[(at + 1) % locks.len()].clone());
            }
        }
        let is_single_object = locks.iter().all(|lock| *lock == locks[0]);
        names.0.insert("locks", enumerated(&called, is_single_object));
        names.1.insert("locks", enumerated(&stable, is_single_object));
        let blame = ways.last()?.held_at;
        self.finding(LOCK_ORDER_CYCLE, severity, blame, names, steps, distance)
    }

    /// The names of the locks of a cycle. An abstract object of many classes is called by the class it is locked as.
    fn called(&self, locks: &[LockId], describe: &dyn Fn(ObjectId) -> String) -> Vec<String> {
        let name = |lock: &LockId| {
            let lock = &self.locks.locks[*lock];
            match lock.class {
                Some(class) => self.program().classes[class].dotted_name(),
                None => describe(lock.object),
            }
        };
        locks.iter().map(name).collect()
    }

    /// The names of locks in messages, and those that stay what they are.
    fn names(&self, subjects: &BTreeMap<&'static str, ObjectId>) -> SubjectNames {
        let named = |describe: &dyn Fn(ObjectId) -> String| {
            subjects.iter().map(|(subject, lock)| (*subject, describe(*lock))).collect()
        };
        (
            named(&|lock| self.execution.describe_lock(lock)),
            named(&|lock| self.execution.describe_lock_stable(lock)),
        )
    }

    fn sites(&self, places: &[Place]) -> Vec<Site> {
        places.iter().map(|place| self.program().site(place.method, place.offset)).collect()
    }

    fn critical_wait(&self, wait: &CriticalWait) -> Option<Finding> {
        let kept = wait.held.object?;
        let holders = self.holders(wait.context, kept, wait.held.taken_at, wait.place);
        let holder = holders.first()?;
        let distance = holder.calls.len() as u32;
        let lock = self.execution.describe_lock(kept);
        let held_at = self.program().site(holder.taken_at.method, holder.taken_at.offset);
        let held_locks = vec![HeldLock { lock, taken_at: held_at.clone() }];
        let waits = self.program().site(wait.place.method, wait.place.offset);
        let mut steps =
            vec![Step::at("holds", held_at), Step { held_locks, ..Step::at("waits", waits) }];
        if let Some((place, context, taken_at)) = wait.notifier
            && let Some(holder) = self.holders(context, kept, taken_at, place).first()
        {
            let needs = self.program().site(holder.taken_at.method, holder.taken_at.offset);
            let mut calls = holder.calls.clone();
            calls.push(place);
            let call_chain = self.sites(&calls);
            steps.push(Step { call_chain, ..Step::at("needs", needs) });
        }
        let names = self.names(&BTreeMap::from([("lock", kept), ("object", wait.object)]));
        self.finding(CRITICAL_WAIT, wait.severity, wait.place, names, steps, distance)
    }

    fn indefinite_wait(&self, wait: &IndefiniteWait) -> Option<Finding> {
        let site = self.program().site(wait.place.method, wait.place.offset);
        let steps = vec![Step::at("waits", site)];
        let names = self.names(&BTreeMap::from([("object", wait.object)]));
        self.finding(INDEFINITE_WAIT, wait.severity, wait.place, names, steps, 0)
    }

    fn finding(
        &self,
        rule: &'static str,
        severity: Severity,
        blame: Place,
        (subjects, stable_subjects): SubjectNames,
        steps: Vec<Step>,
        distance: u32,
    ) -> Option<Finding> {
        let site = self.program().site(blame.method, blame.offset);
        let is_told =
            self.program().is_application(blame.method) && self.scope.covers(&site.method_name());
        is_told.then(|| Finding {
            rule,
            evidence: Evidence::Possible,
            severity,
            blame: site,
            subjects,
            stable_subjects,
            witnesses: vec![Witness::new(CLIENT.name, steps)],
            distance,
            fingerprint: None,
            also: Vec::new(),
        })
    }
}
