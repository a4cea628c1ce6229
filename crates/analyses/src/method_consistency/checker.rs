//! Which methods are inconsistent (dissertation, 5.2.2), and how much that matters.
//!
//! A method is inconsistent when it enters two sections of one lock, one after the other, and another thread may enter
//! a third one in between that conflicts with both: then what the method does cannot be the same as if it had run at
//! once. The chain property decides in addition whether the three sections access the variables differently: steps
//! that all update the same variables are taken for independent.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use classes::bytecode::Condition;
use findings::{Severity, grade};
use program::ids::{BlockId, ClassId, FieldId, MethodId, TypedVec, ValueId};
use program::ir::{Body, ControlDependence, Instruction, Operation, Terminator, retries_before};
use program::models::{ClassProperty, EntryThread};
use rustc_hash::{FxHashMap, FxHashSet};

use super::chain::{View, break_in_chain};
use super::scopes::Scopes;
use super::views::{SectionEntry, SectionId, VariableId, Views};
use crate::execution::{ContextId, ExecutionFacts};
use crate::heap::{ObjectId, Place, Slot, TaskSharing, ThreadId, ThreadKind, ThreadSet};
use crate::locks::expression::LockExpression;
use crate::locks::{in_caller, taken_at};

/// Pairs of sections of one context that are looked at closely, at most: a method with more of them is no operation.
const MOST_TRIES: usize = 500;

/// What may come between two sections.
type InterferencesByPair = FxHashMap<(SectionId, SectionId), Rc<[Interference]>>;

/// Where a method is inconsistent.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    /// The method in one of its contexts.
    pub(super) context: ContextId,
    /// The first section, the variable that matters, and the way there.
    pub(super) first: SectionUse,
    /// The second section.
    pub(super) second: SectionUse,
    /// What comes in between.
    pub(super) between: SectionId,
    /// How much it matters.
    pub(super) severity: Severity,
    /// The class that the variables belong to.
    pub(super) owner: Option<ClassId>,
}

/// One of the two sections.
#[derive(Clone, Debug)]
pub(super) struct SectionUse {
    /// The section.
    pub(super) section: SectionId,
    /// The variable.
    pub(super) variable: VariableId,
    /// The calls that lead there, the first one in the method itself; the last place is that of the acquisition.
    pub(super) path: Vec<(ContextId, Place)>,
}

/// A lock that guards more than this stands for many locks that are not distinguished: that two of its sections are
/// one section too many says nothing.
const MOST_SECTIONS_OF_LOCK: usize = 300;

/// What is known when violations are looked for.
pub(super) struct ConsistencyChecker<'a> {
    pub(super) execution: &'a ExecutionFacts<'a>,
    pub(super) views: &'a Views,
    pub(super) sections: &'a BTreeMap<SectionId, View>,
    pub(super) scopes: &'a Scopes,
    /// The sections of each lock that conflict with a section, of threads that may run at the same time.
    conflicting_sections: FxHashMap<SectionId, Vec<SectionId>>,
    /// The contexts that wait for others with a lock given back, by the lock; filled when asked for.
    waiting: RefCell<FxHashMap<ObjectId, FxHashSet<ContextId>>>,
    sequences: RefCell<FxHashMap<MethodId, Rc<InstructionOrder>>>,
    interferences: RefCell<InterferencesByPair>,
}

impl<'a> ConsistencyChecker<'a> {
    pub(super) fn new(
        execution: &'a ExecutionFacts<'a>,
        views: &'a Views,
        sections: &'a BTreeMap<SectionId, View>,
        scopes: &'a Scopes,
    ) -> ConsistencyChecker<'a> {
        let mut checker = ConsistencyChecker {
            execution,
            views,
            sections,
            scopes,
            conflicting_sections: FxHashMap::default(),
            waiting: RefCell::default(),
            sequences: RefCell::default(),
            interferences: RefCell::default(),
        };
        checker.conflicting_sections = checker.find_conflicting_sections();
        checker
    }

    fn find_conflicting_sections(&self) -> FxHashMap<SectionId, Vec<SectionId>> {
        let mut of_lock: BTreeMap<ObjectId, Vec<SectionId>> = BTreeMap::new();
        for section in self.sections.keys() {
            of_lock.entry(self.views.sections[*section].object).or_default().push(*section);
        }
        let mut conflicting_sections: FxHashMap<SectionId, Vec<SectionId>> = FxHashMap::default();
        for sections in of_lock.values() {
            if sections.len() > MOST_SECTIONS_OF_LOCK || (self.execution.context.cancelled)() {
                continue;
            }
            let threads: Vec<ThreadSet> =
                sections.iter().map(|section| self.threads(*section)).collect();
            let mut meet: FxHashMap<(&ThreadSet, &ThreadSet), bool> = FxHashMap::default();
            for (at, one) in sections.iter().enumerate() {
                let conflicting = sections.iter().zip(&threads).filter(|(other, its)| {
                    self.sections[one].conflicts(&self.sections[other]).next().is_some()
                        && *meet
                            .entry((&threads[at], its))
                            .or_insert_with(|| self.can_meet(&threads[at], its))
                });
                let mut conflicting: Vec<SectionId> =
                    conflicting.map(|(other, _)| *other).collect();
                conflicting
                    .sort_by_key(|other| (self.views.sections[*other].lock.taken_at, *other));
                conflicting_sections.insert(*one, conflicting);
            }
        }
        conflicting_sections
    }

    /// The threads that enter a section.
    fn threads(&self, section: SectionId) -> ThreadSet {
        let mut threads = ThreadSet::default();
        for entered in self.views.entered(section) {
            threads.extend(&self.execution.threads[entered.context]);
        }
        threads
    }

    fn can_meet(&self, one: &ThreadSet, other: &ThreadSet) -> bool {
        let heap = self.execution.heap;
        one.iter().any(|first| other.iter().any(|second| heap.can_interleave(first, second)))
    }

    /// Every method that is inconsistent, by the context in which it is; the worst reason for each class whose
    /// variables are concerned.
    pub(super) fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        for context in self.scopes.candidates() {
            if (self.execution.context.cancelled)() {
                break;
            }
            found.extend(self.violations_in(context).into_values());
        }
        self.innermost(found)
    }

    /// Without those that call another inconsistent method for the same class: the innermost is the one to fix (phase
    /// 3 of the algorithm in Figure 5.5).
    fn innermost(&self, found: Vec<Violation>) -> Vec<Violation> {
        let mut of_owner: BTreeMap<Option<ClassId>, Vec<Violation>> = BTreeMap::new();
        for violation in found {
            of_owner.entry(violation.owner).or_default().push(violation);
        }
        let mut innermost = Vec::new();
        for mut violations in of_owner.into_values() {
            // Who has others below enters at least what they enter.
            violations.sort_by_key(|violation| {
                (self.scopes.inside(violation.context).len(), violation.context)
            });
            let mut above: FxHashSet<ContextId> = FxHashSet::default();
            for violation in violations {
                if above.contains(&violation.context) {
                    continue;
                }
                // What matters little must not hide what matters more further up.
                if violation.severity > Severity::Low {
                    let mut callers = self.scopes.and_above(violation.context);
                    callers.remove(&violation.context);
                    above.extend(callers);
                }
                innermost.push(violation);
            }
        }
        innermost
    }

    /// The worst violation of a context for each class whose variables are concerned.
    fn violations_in(&self, context: ContextId) -> BTreeMap<Option<ClassId>, Violation> {
        let mut worst: BTreeMap<Option<ClassId>, Violation> = BTreeMap::new();
        let method = self.execution.methods[context];
        let Some(body) = self.execution.context.program.body(method) else { return worst };
        let by_offset = self.scopes.by_offset(context);
        if !self.takes_a_lock_twice(&by_offset) {
            return worst;
        }
        let mut method_view = View::default();
        for section in self.scopes.inside(context) {
            method_view.extend(&self.sections[section]);
        }
        let is_several = self.execution.heap.is_several(&self.execution.threads[context]);
        let order = self.sequence(body);
        let mut tries = 0;
        for (first, sections) in &by_offset {
            for (second, others) in &by_offset {
                let Some(sequence) = order.sequence(*first, *second) else { continue };
                let (at_first, at_second) = (*first, *second);
                let view = &method_view;
                let scope =
                    PairScope { context, body, view, is_several, at_first, at_second, sequence };
                for one in sections {
                    let object = self.views.sections[*one].object;
                    let alike = |other: &&SectionId| self.views.sections[**other].object == object;
                    for other in others.iter().filter(alike) {
                        if tries < MOST_TRIES {
                            tries += self.try_pair(&scope, *one, *other, &mut worst);
                        }
                    }
                }
            }
        }
        worst
    }

    fn takes_a_lock_twice(&self, by_offset: &BTreeMap<u32, BTreeSet<SectionId>>) -> bool {
        let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
        by_offset.values().any(|sections| {
            let locks: FxHashSet<ObjectId> =
                sections.iter().map(|section| self.views.sections[*section].object).collect();
            locks.into_iter().filter(|lock| !seen.insert(*lock)).count() > 0
        })
    }

    fn sequence(&self, body: &Body) -> Rc<InstructionOrder> {
        let mut known = self.sequences.borrow_mut();
        known.entry(body.method).or_insert_with(|| Rc::new(InstructionOrder::of(body))).clone()
    }

    /// Whether somewhere inside of a context a thread waits, and gives a lock back meanwhile.
    fn waits_inside(&self, context: ContextId, lock: ObjectId) -> bool {
        let mut known = self.waiting.borrow_mut();
        let waiting = known.entry(lock).or_insert_with(|| {
            let waits = self.views.waits.iter().filter(|(_, its)| *its == Some(lock));
            waits.flat_map(|(context, _)| self.scopes.and_above(*context)).collect()
        });
        waiting.contains(&context)
    }

    /// The sections that may run between two sections, each with the variables for which that matters most; the worst
    /// first.
    fn interferences(&self, first: SectionId, second: SectionId) -> Rc<[Interference]> {
        if let Some(known) = self.interferences.borrow().get(&(first, second)) {
            return known.clone();
        }
        let against =
            |section: SectionId| self.conflicting_sections.get(&section).into_iter().flatten();
        let of_second: FxHashSet<SectionId> = against(second).copied().collect();
        let both = against(first).filter(|section| of_second.contains(section));
        let (one, other) = (&self.sections[&first], &self.sections[&second]);
        let mut interferences: Vec<Interference> = both
            .filter_map(|between| {
                let third = &self.sections[between];
                let others: Vec<VariableId> = other.conflicts(third).collect();
                let pairs = one
                    .conflicts(third)
                    .flat_map(|variable| others.iter().map(move |its| (variable, *its)));
                let interferences = pairs.filter(|(variable, its)| {
                    variable == its || self.belong_together(*variable, *its)
                });
                let graded = interferences.map(|(variable, its)| {
                    let first_updates = one.updates(variable) == Some(true);
                    let second_updates = other.updates(its) == Some(true);
                    let severity = base_severity(variable == its, first_updates, second_updates);
                    Interference { severity, between: *between, first: variable, second: its }
                });
                graded.min_by_key(|interference| {
                    (Reverse(interference.severity), interference.first, interference.second)
                })
            })
            .collect();
        // Stable: of those alike, the opponents' order remains.
        interferences.sort_by_key(|interference| Reverse(interference.severity));
        let interferences: Rc<[Interference]> = interferences.into();
        self.interferences.borrow_mut().insert((first, second), interferences.clone());
        interferences
    }

    /// Checks whether a third section may run between two sections of one method, with a higher severity than what is
    /// known. Returns how often it had to look closely.
    fn try_pair(
        &self,
        scope: &PairScope<'_>,
        first: SectionId,
        second: SectionId,
        worst: &mut BTreeMap<Option<ClassId>, Violation>,
    ) -> usize {
        let object = self.views.sections[first].object;
        let (at_first, at_second) = (scope.at_first, scope.at_second);
        let held_locks = self.views.held_from_to(scope.context, at_first, at_second);
        let mut tries = 0;
        let mut entered = None;
        for interference in self.interferences(first, second).iter() {
            let owner = self.owners(interference.first).first().copied();
            if worst.get(&owner).is_some_and(|known| known.severity >= interference.severity) {
                continue;
            }
            tries += 1;
            let (one, other) = (&self.sections[&first], &self.sections[&second]);
            let third = &self.sections[&interference.between];
            let views = [(one, scope.is_several), (other, scope.is_several), (third, true)];
            if break_in_chain(scope.view, &views).is_none()
                || self.is_excluded(interference.between, &held_locks, object)
            {
                continue;
            }
            let entered = entered.get_or_insert_with(|| self.entered_by(scope, first, second));
            if !self.can_interleave_between(scope, entered, interference.between) {
                continue;
            }
            if let Some(violation) = self.violation(scope, first, second, interference, owner) {
                let replaces = |known: &Violation| known.severity < violation.severity;
                if worst.get(&owner).is_none_or(replaces) {
                    worst.insert(owner, violation);
                }
            }
            // An interference of lower severity changes nothing.
            break;
        }
        tries
    }

    fn violation(
        &self,
        scope: &PairScope<'_>,
        first: SectionId,
        second: SectionId,
        interference: &Interference,
        owner: Option<ClassId>,
    ) -> Option<Violation> {
        let method = self.execution.methods[scope.context];
        let part = |section: SectionId, variable: VariableId, offset: u32| {
            let from = (scope.context, Place { method, offset });
            Some(SectionUse {
                section,
                variable,
                path: self.scopes.path(self.views, from, section)?,
            })
        };
        let first = part(first, interference.first, scope.at_first)?;
        let second = part(second, interference.second, scope.at_second)?;
        let severity =
            self.grade(scope, interference.severity, (&first, &second), interference.between)?;
        let (context, between) = (scope.context, interference.between);
        Some(Violation { context, first, second, between, severity, owner })
    }

    /// Whether a section is entered with a lock that is held all the time.
    fn is_excluded(&self, section: SectionId, held_locks: &[ObjectId], lock: ObjectId) -> bool {
        let objects = &self.execution.heap.objects;
        let is_single_object = |outer: ObjectId| {
            let properties = &objects[outer].properties;
            properties.is_unique
                || properties.is_class
                || objects[lock].properties.host == Some(outer)
        };
        let around = &self.views.sections[section].around;
        around.iter().any(|object| held_locks.contains(object) && is_single_object(*object))
    }

    /// Where a method enters two sections; others may do so at other times.
    fn entered_by(
        &self,
        scope: &PairScope<'_>,
        first: SectionId,
        second: SectionId,
    ) -> [Vec<SectionEntry>; 2] {
        let entered = |offset: u32, section: SectionId| {
            let inside = self.scopes.and_below(scope.context, offset);
            let entered = self.views.entered(section);
            entered.filter(|at| inside.contains(&at.context)).copied().collect()
        };
        [entered(scope.at_first, first), entered(scope.at_second, second)]
    }

    /// Whether a thread that enters a section may run between two sections of other threads: it may have been started
    /// before the second, and has not certainly ended before the first.
    fn can_interleave_between(
        &self,
        scope: &PairScope<'_>,
        [firsts, seconds]: &[Vec<SectionEntry>; 2],
        between: SectionId,
    ) -> bool {
        let heap = self.execution.heap;
        let threads = &self.execution.threads[scope.context];
        let order = |entered: &SectionEntry| &self.views.orders[entered.order];
        self.views.entered(between).any(|entered| {
            self.execution.threads[entered.context].iter().any(|its| {
                let has_ended = |at: &SectionEntry| order(at).has_joined.contains(its);
                let may_run = |at: &SectionEntry| order(at).may_run_concurrently(heap, its);
                !firsts.iter().all(has_ended)
                    && seconds.iter().any(may_run)
                    && threads.iter().any(|thread| {
                        heap.can_interleave(thread, its)
                            && order(entered).may_run_concurrently(heap, thread)
                    })
            })
        })
    }

    /// Whether two variables belong to objects of one class: consistency is expected there (5.2.2, partitions of
    /// views).
    fn belong_together(&self, one: VariableId, other: VariableId) -> bool {
        let others = self.owners(other);
        self.owners(one).iter().any(|owner| others.contains(owner))
    }

    /// The class that a variable belongs to. The contents of an array or a collection belong to the classes that have
    /// it in a field.
    pub(super) fn owners(&self, variable: VariableId) -> Vec<ClassId> {
        let program = self.execution.context.program;
        let (object, slot) = self.views.variables[variable];
        let mut owners: Vec<ClassId> = match slot {
            Slot::Field(field) => vec![program.fields[field].class],
            Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => {
                self.holding_fields(object).iter().map(|it| program.fields[*it].class).collect()
            }
        };
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// The fields that lead to an object, sorted.
    pub(super) fn holding_fields(&self, object: ObjectId) -> Vec<FieldId> {
        let referring = self.execution.heap.objects[object].referred_by.iter();
        let field = |(_, slot): &(ObjectId, Slot)| match slot {
            Slot::Field(field) => Some(*field),
            Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => None,
        };
        let mut fields: Vec<FieldId> = referring.filter_map(field).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// How much a violation matters, in the light of how the two sections depend on each other; none if they are about
    /// different objects.
    fn grade(
        &self,
        scope: &PairScope<'_>,
        severity: Severity,
        (first, second): (&SectionUse, &SectionUse),
        between: SectionId,
    ) -> Option<Severity> {
        let object = self.views.sections[first.section].object;
        let properties = &self.execution.heap.objects[object].properties;
        let is_one = properties.is_unique || properties.is_class;
        let lock_name = self.lock_name(first);
        let mut severity = match (is_one, lock_name, self.lock_name(second)) {
            (true, ..) => severity,
            (false, Some(one), Some(other)) if one == other => severity,
            (false, Some(_), Some(_)) => return None,
            (false, ..) => Severity::Low,
        };
        match scope.sequence {
            Sequence::Follows => {}
            // Few methods are meant to be atomic where they have failed.
            Sequence::AfterException => severity = severity.min(Severity::Medium),
            // Rounds of a loop are operations of their own, unless one uses what the one before has seen. What a round
            // computes may be the lock of another object in the next.
            Sequence::NextRound => {
                let changes = lock_name.is_some_and(|name| name.is_local());
                if (changes && !is_one) || !self.is_carried_over(scope, first, second) {
                    return None;
                }
                severity = severity.min(Severity::Medium);
            }
        }
        if self.waits_inside(scope.context, object) {
            severity = Severity::Low;
        }
        // Threads of one kind may have an object each: nobody else is seen to use this one.
        let threads = &self.execution.threads[scope.context];
        if !is_one
            && (threads.iter().all(|thread| self.is_of_one_kind(thread, between))
                || self.is_left_to_callers(threads, between))
        {
            severity = severity.min(Severity::Medium);
        }
        // Who comes back to one thing, and does not use what was seen before, was mostly done with it.
        if severity == Severity::High && !self.depends(scope, first, second) {
            severity = Severity::Low;
        }
        if severity > Severity::Low && self.is_checked_again(scope, first, second) {
            severity = Severity::Low;
        }
        // Of the two steps of a library's method few are meant to be one.
        if self.is_reached_by_callers(scope.context, between) {
            severity = severity.min(grade::CALLERS_OF_LIBRARY.at_most);
        }
        // What lies so deep below a method is no step of an operation that its author had in mind.
        if first.path.len().max(second.path.len()) > MOST_CALLS {
            severity = Severity::Low;
        }
        Some(severity)
    }

    /// Whether a thread that is not started by anything that is seen is the only one that gets to a section: several such
    /// threads seldom run on one object.
    fn is_of_one_kind(&self, thread: ThreadId, section: SectionId) -> bool {
        let known = &self.execution.heap.threads[thread];
        let mut entered = self.views.entered(section);
        matches!(known.kind, ThreadKind::Entry(EntryThread::Own | EntryThread::Pool))
            && known.root_sharing != TaskSharing::Several
            && entered.all(|entered| {
                self.execution.threads[entered.context].iter().all(|other| other == thread)
            })
    }

    /// Whether only callers of a library get to the method and to what comes in between: whether they do so at the same time,
    /// on one object, is up to them.
    fn is_left_to_callers(&self, threads: &ThreadSet, between: SectionId) -> bool {
        let is_caller =
            |thread: ThreadId| self.execution.heap.threads[thread].kind == ThreadKind::Public;
        threads.iter().all(is_caller)
            && self
                .views
                .entered(between)
                .all(|entered| self.execution.threads[entered.context].iter().all(is_caller))
    }

    /// Whether a caller of a library is one of those that get to the method, or to what comes in between.
    pub(super) fn is_reached_by_callers(&self, context: ContextId, between: SectionId) -> bool {
        let execution = self.execution;
        let is_caller = |thread| execution.heap.threads[thread].kind == ThreadKind::Public;
        execution.threads[context].iter().any(is_caller)
            || self
                .views
                .entered(between)
                .any(|entered| execution.threads[entered.context].iter().any(is_caller))
    }

    /// What the method calls the lock of a section.
    fn lock_name(&self, part: &SectionUse) -> Option<LockExpression> {
        let context = self.execution.context;
        let ((_, acquired), calls) = part.path.split_last()?;
        let mut name = taken_at(context, *acquired)?;
        let mut callee = acquired.method;
        for (_, call) in calls.iter().rev() {
            name = in_caller(context, name, callee, *call)?;
            callee = call.method;
        }
        Some(name)
    }

    /// Whether what the first section read can decide about the second one or flow into it, inside of the method.
    fn depends(&self, scope: &PairScope<'_>, first: &SectionUse, second: &SectionUse) -> bool {
        let body = scope.body;
        let flows = self.values_known_before(scope, first);
        if flows.is_empty() {
            // A check that throws decides whether anything follows.
            return first.path.len() > 1;
        }
        let written = self.views.touched(second.section, second.variable).written;
        let written = written.map(|(place, _)| place).filter(|place| place.method == body.method);
        let targets: Vec<u32> =
            written.map(|place| place.offset).into_iter().chain([scope.at_second]).collect();
        let dependence = ControlDependence::of(body);
        body.blocks.iter_with_ids().any(|(id, block)| {
            let mut at_target = block.instructions.iter().filter(|it| targets.contains(&it.offset));
            at_target.any(|instruction| {
                let mut uses = false;
                instruction.operation.for_each_operand(|operand| uses |= flows.contains(&operand));
                let decided = |branch: &BlockId| {
                    body.blocks[*branch].terminator.operands().any(|value| flows.contains(&value))
                };
                uses || dependence.all_deciders(id).iter().any(decided)
            })
        })
    }

    /// Whether a round of a loop uses in the second section what a round before has read in the first.
    fn is_carried_over(
        &self,
        scope: &PairScope<'_>,
        first: &SectionUse,
        second: &SectionUse,
    ) -> bool {
        let body = scope.body;
        let seen = self.values_known_before(scope, first);
        let heads = body.blocks.iter_with_ids().filter(|(id, block)| {
            // Blocks are in reverse post-order, so that only loops go back.
            block.predecessors.iter().any(|from| from >= id)
        });
        let phis = heads.flat_map(|(_, block)| &block.phis).map(|phi| phi.result);
        let mut carried: FxHashSet<ValueId> = phis.filter(|value| seen.contains(value)).collect();
        follow(body, &mut carried);
        let written = self.views.touched(second.section, second.variable).written;
        let offset = match written {
            Some((place, _)) if second.path.len() == 1 && place.method == body.method => {
                place.offset
            }
            _ => scope.at_second,
        };
        body.instructions().filter(|instruction| instruction.offset == offset).any(|instruction| {
            let mut uses = false;
            instruction.operation.for_each_operand(|operand| uses |= carried.contains(&operand));
            uses
        })
    }

    /// Whether the second section looks again at what the first one saw before it writes, and what it sees decides about
    /// the write: then what the first section saw was a hint. What is written must not come from the first section, and a
    /// look at another entry of a collection says nothing about this one.
    fn is_checked_again(
        &self,
        scope: &PairScope<'_>,
        first: &SectionUse,
        second: &SectionUse,
    ) -> bool {
        let read = self.views.touched(second.section, first.variable).read;
        let written = self.views.touched(second.section, second.variable).written;
        let (Some((read, _)), Some((written, _))) = (read, written) else { return false };
        let is_one_variable = first.variable == second.variable;
        let program = self.execution.context.program;
        let Some(body) = program.body(written.method) else { return false };
        let is_own = written.method == scope.body.method;
        // What the method knows from before, and hands to the write, or to the method that writes.
        let carrier = if is_own { written.offset } else { scope.at_second };
        let looks: Vec<&Instruction> = match read.method == written.method {
            true => body.instructions().filter(|it| it.offset == read.offset).collect(),
            // A getter that is called with the lock held.
            false => self.calls_of(body, read.method).filter(|it| it.offset != carrier).collect(),
        };
        let before = self.values_known_before(scope, first);
        let hands_on = scope.body.instructions().filter(|it| it.offset == carrier).any(|it| {
            let mut uses = false;
            it.operation.for_each_operand(|operand| uses |= before.contains(&operand));
            uses
        });
        let dependence = ControlDependence::of(body);
        let order = self.sequence(body);
        let decides = |look: &&Instruction, write: &Instruction, block: BlockId| {
            let mut flows: FxHashSet<ValueId> = look.result.into_iter().collect();
            follow(body, &mut flows);
            let mut told = false;
            look.operation.for_each_operand(|operand| told |= before.contains(&operand));
            let decided = |branch: &BlockId| {
                let terminator = &body.blocks[*branch].terminator;
                let is_looked_at = terminator.operands().any(|value| flows.contains(&value));
                // What others may have changed is compared with what was seen before.
                let is_compared = || {
                    let is_equality = matches!(
                        terminator,
                        Terminator::Branch { condition: Condition::Eq | Condition::Ne, .. }
                    );
                    let is_seen = terminator.operands().any(|value| before.contains(&value));
                    is_own && is_equality && (is_seen || told)
                };
                is_looked_at && (!hands_on || is_compared())
            };
            order.is_before(look.offset, write.offset)
                && (!is_one_variable || hands_on || is_about_same_entry(body, look, write))
                && (dependence.all_deciders(block).iter().any(decided)
                    || retries_before(body, block).iter().any(decided))
        };
        body.blocks.iter_with_ids().any(|(id, block)| {
            let mut writes = block.instructions.iter().filter(|it| it.offset == written.offset);
            writes.any(|write| looks.iter().any(|look| decides(look, write, id)))
        })
    }

    /// The calls in a body that can run a method.
    fn calls_of<'b>(
        &self,
        body: &'b Body,
        callee: MethodId,
    ) -> impl Iterator<Item = &'b Instruction> {
        let graph = self.execution.context.graph;
        body.instructions().filter(move |instruction| {
            let targets = graph.targets(body.method, instruction.offset);
            targets.iter().any(|target| target.method == callee)
        })
    }

    /// What the method has from its first section: whatever that read, or the result of the call that entered it.
    fn values_known_before(&self, scope: &PairScope<'_>, first: &SectionUse) -> FxHashSet<ValueId> {
        let body = scope.body;
        let is_own = first.path.len() == 1;
        let read = self.views.touched(first.section, first.variable).read.map(|(place, _)| place);
        let offset = match read {
            Some(place) if is_own && place.method == body.method => place.offset,
            _ => scope.at_first,
        };
        let at_offset = body.instructions().filter(|it| it.offset == offset);
        let mut known: FxHashSet<ValueId> = at_offset.filter_map(|it| it.result).collect();
        follow(body, &mut known);
        known
    }
}

/// Whether a look is about what is written, as far as keys and elements say: what the look is told is told to the write as
/// well.
fn is_about_same_entry(body: &Body, look: &Instruction, write: &Instruction) -> bool {
    let arguments = |instruction: &Instruction| match &instruction.operation {
        Operation::Call(call) => {
            call.arguments.iter().skip(1).map(|value| body.without_casts(*value)).collect()
        }
        _ => Vec::new(),
    };
    let told = arguments(write);
    arguments(look).iter().all(|value| told.contains(value))
}

/// A method in one context, and two places in it.
struct PairScope<'a> {
    context: ContextId,
    body: &'a Body,
    /// What the method touches in all its sections.
    view: &'a View,
    /// Whether several threads at run time can be in the method.
    is_several: bool,
    /// The first place.
    at_first: u32,
    /// The second place.
    at_second: u32,
    /// How control gets from the first to the second.
    sequence: Sequence,
}

/// How control gets from one place of a method to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    /// One comes after the other, where nothing is thrown.
    Follows,
    /// Only if something is thrown in between.
    AfterException,
    /// It is one place in a loop.
    NextRound,
}

/// Calls between a method and what it must not be interrupted in, the acquisition included.
const MOST_CALLS: usize = 4;

/// A section that may come between two others, and the variables for which that matters.
#[derive(Clone, Copy, Debug)]
struct Interference {
    severity: Severity,
    between: SectionId,
    first: VariableId,
    second: VariableId,
}

/// How much it matters that another section runs between two accesses, before it is known how they depend on each
/// other.
fn base_severity(is_same_variable: bool, first_updates: bool, second_updates: bool) -> Severity {
    match (is_same_variable, first_updates, second_updates) {
        (true, false, true) => Severity::High,
        (true, ..) | (false, true, false) => Severity::Low,
        (false, ..) => Severity::Medium,
    }
}

/// Adds all values that are computed from these.
fn follow(body: &Body, flows: &mut FxHashSet<ValueId>) {
    loop {
        let before = flows.len();
        for block in body.blocks.iter() {
            for phi in &block.phis {
                if phi.inputs.iter().flatten().any(|input| flows.contains(input)) {
                    flows.insert(phi.result);
                }
            }
            for instruction in &block.instructions {
                let Some(result) = instruction.result else { continue };
                let mut uses = false;
                instruction.operation.for_each_operand(|operand| uses |= flows.contains(&operand));
                if uses && !matches!(instruction.operation, Operation::MonitorEnter(_)) {
                    flows.insert(result);
                }
            }
        }
        if flows.len() == before {
            return;
        }
    }
}

/// Which instructions of a body can come after which others.
struct InstructionOrder {
    /// The block and the position of each instruction, by offset; compilers copy `finally` blocks, the offsets differ.
    at: FxHashMap<u32, (BlockId, usize)>,
    /// The blocks that control can get to from each block, itself only in loops, if nothing is thrown.
    after: BlocksAfter,
    /// The same with handlers of exceptions.
    after_exceptions: BlocksAfter,
}

/// The blocks that control can get to from each block.
type BlocksAfter = TypedVec<BlockId, BTreeSet<BlockId>>;

impl InstructionOrder {
    fn of(body: &Body) -> InstructionOrder {
        let mut at = FxHashMap::default();
        for (id, block) in body.blocks.iter_with_ids() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                at.insert(instruction.offset, (id, position));
            }
        }
        InstructionOrder {
            at,
            after: blocks_after(body, |_| Vec::new()),
            after_exceptions: blocks_after(body, |block| {
                body.blocks[block].handlers.iter().map(|handler| handler.target).collect()
            }),
        }
    }

    /// Whether the instruction at one offset can come after that at another. What has no instruction, such as the
    /// lock of a synchronized method, comes first and lasts.
    fn is_before(&self, first: u32, second: u32) -> bool {
        matches!(self.sequence(first, second), Some(Sequence::Follows))
    }

    /// How control can get from the instruction at one offset to that at another.
    fn sequence(&self, first: u32, second: u32) -> Option<Sequence> {
        let (one, position) = self.at.get(&first)?;
        let (other, its) = self.at.get(&second)?;
        if first == second {
            return self.after[*one].contains(one).then_some(Sequence::NextRound);
        }
        if (one == other && position < its) || self.after[*one].contains(other) {
            return Some(Sequence::Follows);
        }
        self.after_exceptions[*one].contains(other).then_some(Sequence::AfterException)
    }
}

fn blocks_after(body: &Body, handlers: impl Fn(BlockId) -> Vec<BlockId>) -> BlocksAfter {
    let mut after: BlocksAfter = TypedVec::filled(BTreeSet::new(), body.blocks.len());
    for id in body.blocks.ids() {
        let mut todo = vec![id];
        while let Some(block) = todo.pop() {
            for next in body.blocks[block].terminator.successors().chain(handlers(block)) {
                if after[id].insert(next) {
                    todo.push(next);
                }
            }
        }
    }
    after
}

/// Whether a variable can be inconsistent: final fields cannot, and nobody expects several operations on a stream to be
/// one.
pub(super) fn matters(execution: &ExecutionFacts<'_>, variable: (ObjectId, Slot)) -> bool {
    let program = execution.context.program;
    let (object, slot) = variable;
    let is_stream = |class: &ClassId| {
        let mut superclasses = program.hierarchy.superclasses(*class);
        let is_one =
            |class| program.models().is(&program.classes[class].name, ClassProperty::Stream);
        is_one(*class) || superclasses.any(is_one)
    };
    let is_settled = match slot {
        Slot::Field(field) => program.fields[field].is_final(),
        Slot::Task | Slot::Captured(_) => true,
        Slot::Element | Slot::Contents => false,
    };
    !is_settled
        && (execution.context.config.strict
            || !execution.heap.objects[object].classes.iter().any(is_stream))
}
