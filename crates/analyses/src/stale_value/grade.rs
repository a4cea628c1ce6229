//! From the uses of a method's stale values to suspicions: which uses matter, how much, and which
//! idioms make them harmless.

use std::collections::BTreeMap;

use findings::{GradeRule, Severity, grade};
use program::ids::{BlockId, Id, MethodId, TypedVec, ValueId};
use program::ir::{Block, Body, ControlDependence, DeclaredType, DynamicTarget, Operation};
use program::models::{ClassProperty, Removal, Sharing, language};
use rustc_hash::FxHashMap;

use super::domain::{Part, Variable};
use super::flow::{
    Effect, LocalWrite, Origin, OwnershipTaken, Phase, Source, TrackedValue, Use, ValueFacts,
    first_few,
};
use super::guards::Guards;
use super::summary::{
    EventLocation, ParameterEffect, ParameterUse, Returned, Summary, Write, WriteTarget,
};
use crate::Context;
use crate::locks::expression::{ExpressionRoot, LockExpression};
use crate::locks::held::LockTransfer;

/// A stale value of a method, with its worst use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StaleValue {
    /// How much it matters, and why.
    pub grade: GradeRule,
    /// Where the method gets the value.
    pub read: u32,
    /// How the read goes on inside a call.
    pub read_inside: Option<MethodId>,
    /// Calls on the way to the read.
    pub read_depth: u8,
    /// What was read; without a field when a method that nothing is known of returned it.
    pub variable: Variable,
    /// The lock it was read under.
    pub lock: Option<LockExpression>,
    /// Where that lock was taken, if this method did so.
    pub taken_at: Option<u32>,
    /// Where the lock was given back.
    pub released: u32,
    /// Where the value is used first.
    pub used: u32,
    /// Where it matters: the write, for high severity.
    pub written: Option<Written>,
    /// Calls on the ways to the read and to the write.
    pub distance: u32,
}

impl StaleValue {
    pub(super) fn severity(&self) -> Severity {
        self.grade.at_most
    }
}

/// A write that rests on a stale value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    /// The instruction.
    pub offset: u32,
    /// Where in its callees it happens.
    pub location: EventLocation,
    /// What is written.
    pub variable: Variable,
    /// Calls on the way.
    pub depth: u8,
    /// Whether the value is an argument there, and `location` leads through the uses of parameters.
    pub is_argument: bool,
}

/// Judges the facts of one method.
pub(super) struct Grader<'a> {
    pub context: &'a Context<'a>,
    pub guards: &'a Guards,
    pub lock_transfer: &'a LockTransfer<'a>,
    pub facts: &'a ValueFacts,
    dependence: &'a ControlDependence,
    /// What was checked afresh before each write.
    checked: Vec<Vec<Variable>>,
    argument_checked: Vec<Vec<Variable>>,
    deciders: FxHashMap<BlockId, Vec<BlockId>>,
    /// Further branches that come back before control gets to the block of a write.
    retries: FxHashMap<BlockId, Vec<BlockId>>,
    /// The blocks that are executed only where something was thrown.
    after_failure: TypedVec<BlockId, bool>,
    /// The blocks with writes of the same kind.
    alike: FxHashMap<(Variable, Option<MethodId>), Vec<BlockId>>,
}

/// Writes of the same variable, by instructions of the method itself or by calls of the same method.
fn kind_of(write: &LocalWrite) -> (Variable, Option<MethodId>) {
    let callee = match write.location {
        EventLocation::Here(_) => None,
        EventLocation::Call(_, callee) => Some(callee),
    };
    (write.target.variable, callee)
}

/// The blocks that control gets to through an exception alone.
fn after_failure(body: &Body) -> TypedVec<BlockId, bool> {
    let mut found = TypedVec::filled(true, body.blocks.len());
    let mut todo: Vec<BlockId> = body.blocks.ids().take(1).collect();
    while let Some(block) = todo.pop() {
        if std::mem::replace(&mut found[block], false) {
            todo.extend(body.blocks[block].terminator.successors());
        }
    }
    found
}

impl<'a> Grader<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        guards: &'a Guards,
        lock_transfer: &'a LockTransfer<'a>,
        dependence: &'a ControlDependence,
        facts: &'a ValueFacts,
    ) -> Grader<'a> {
        let mut deciders: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
        for write in facts.writes.iter().chain(&facts.argument_writes) {
            deciders.entry(write.block).or_insert_with(|| dependence.all_deciders(write.block));
        }
        let mut retries: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
        for (block, deciders) in &deciders {
            let mut all = program::ir::retries_before(lock_transfer.body(), *block);
            all.retain(|branch| !deciders.contains(branch));
            retries.insert(*block, all);
        }
        let checked = |writes: &[LocalWrite]| -> Vec<Vec<Variable>> {
            let deciders =
                |write: &LocalWrite| [&*deciders[&write.block], &*retries[&write.block]].concat();
            writes.iter().map(|write| facts.checked(&deciders(write), write)).collect()
        };
        let (checked, argument_checked) = (checked(&facts.writes), checked(&facts.argument_writes));
        let mut alike: FxHashMap<_, Vec<BlockId>> = FxHashMap::default();
        for write in &facts.writes {
            alike.entry(kind_of(write)).or_default().push(write.block);
        }
        Grader {
            context,
            guards,
            lock_transfer,
            facts,
            dependence,
            checked,
            argument_checked,
            deciders,
            retries,
            after_failure: after_failure(lock_transfer.body()),
            alike,
        }
    }

    fn origin(&self, fact: &TrackedValue) -> &'a Origin {
        &self.facts.origins[fact.origin as usize]
    }

    /// What callers need to know.
    pub(super) fn summary(&self) -> Summary {
        let mut summary = Summary {
            returned: Vec::new(),
            passed: Vec::new(),
            uses: Vec::new(),
            writes: Vec::new(),
            is_left_out: false,
            is_cut: false,
            stale_values: self.stale_values(),
        };
        for fact in &self.facts.returned {
            let origin = self.origin(fact);
            match origin.source {
                Source::Parameter(number) => summary.passed.push(number),
                Source::Unknown => {}
                Source::Read(inside) => summary.returned.push(Returned {
                    depth: origin.depth,
                    variable: origin.variable.without_locals(),
                    locks: self.facts.blocks[fact.block as usize]
                        .locks
                        .iter()
                        .map(|held| super::summary::ReadLock {
                            lock: held.lock.filter(|lock| !lock.is_local()),
                            ..*held
                        })
                        .collect(),
                    is_taken: self.is_taken_on_return(fact),
                    location: match inside {
                        None => EventLocation::Here(origin.offset),
                        Some(method) => EventLocation::Call(origin.offset, method),
                    },
                }),
            }
        }
        let is_constructing = self.guards.is_constructing(self.context.program, self.method());
        for (write, checked) in self.facts.writes.iter().zip(&self.checked) {
            if write.is_confined && !is_constructing {
                continue;
            }
            let target = exported(write, checked);
            // A variable that callers can neither name nor show to be locked says nothing to them.
            if target.variable.path.is_some() || target.locks.iter().any(Option::is_some) {
                summary.writes.push(Write { depth: write.depth, target, location: write.location });
            }
        }
        let receivers =
            u16::from(!self.context.program.methods[self.lock_transfer.method()].is_static());
        for used in &self.facts.uses {
            let Source::Parameter(parameter) = self.origin(&used.fact).source else { continue };
            // What a method does with its own object is no use of a reference to it.
            if parameter < receivers {
                continue;
            }
            summary.uses.extend(self.parameter_uses(used, parameter));
        }
        summary.bounded()
    }

    fn method(&self) -> MethodId {
        self.lock_transfer.method()
    }

    /// Whether a returned value was taken on some path: it is handed over there, and new or not there
    /// on the others. Test-and-set and get-or-create return such values.
    fn is_taken_on_return(&self, fact: &TrackedValue) -> bool {
        let same = |other: &&TrackedValue| (other.origin, other.block) == (fact.origin, fact.block);
        self.facts.returned.iter().filter(same).any(|other| other.taken != OwnershipTaken::Never)
    }

    fn parameter_uses(&self, used: &Use, parameter: u16) -> Vec<ParameterUse> {
        let of = |depth: u8, effect: ParameterEffect, location: EventLocation| ParameterUse {
            depth,
            parameter,
            effect,
            location,
        };
        let here = EventLocation::Here(used.offset);
        let (write, checked, decides) = match &used.effect {
            Effect::Operand | Effect::Returned | Effect::WritesThrough(_) => return Vec::new(),
            Effect::Passed(depth) => return vec![of(*depth, ParameterEffect::Passed, here)],
            Effect::DecidesInCallee(depth, against) => {
                let against = first_few(against.iter().map(|it| it.without_locals()).collect());
                return vec![of(*depth, ParameterEffect::Branches(against), here)];
            }
            Effect::Decides => {
                let against = first_few(self.compared_with(used.block));
                let mut uses = vec![of(0, ParameterEffect::Branches(against), here)];
                for (number, write) in self.decided(used.block) {
                    let target = exported(write, &self.checked[number]);
                    uses.push(of(write.depth, ParameterEffect::Decides(target), write.location));
                }
                return uses;
            }
            Effect::Written(write) => (&self.facts.writes[*write], &self.checked[*write], false),
            Effect::WrittenInCallee(write) => {
                (&self.facts.argument_writes[*write], &self.argument_checked[*write], false)
            }
            Effect::DecidesWriteInCallee(write) => {
                (&self.facts.argument_writes[*write], &self.argument_checked[*write], true)
            }
        };
        if write.is_confined {
            return Vec::new();
        }
        let target = exported(write, checked);
        let effect = if decides {
            ParameterEffect::Decides(target)
        } else {
            ParameterEffect::Written(target)
        };
        vec![of(write.depth, effect, write.location)]
    }

    /// The variables whose current values the branch at the end of a block looks at.
    fn compared_with(&self, branch: BlockId) -> Vec<Variable> {
        let facts = self.facts.branches.get(&branch).map_or(&[][..], Vec::as_slice);
        let current = facts.iter().filter(|fact| fact.phase == Phase::Current);
        let variables = current.map(|fact| self.origin(fact).variable.without_locals());
        variables.filter(|variable| variable.field.is_some()).collect()
    }

    /// The writes that the branch at the end of a block decides about, confined ones left out.
    fn decided(&self, branch: BlockId) -> impl Iterator<Item = (usize, &'a LocalWrite)> {
        let writes = self.facts.writes.iter().enumerate();
        writes.filter(move |(_, write)| {
            !write.is_confined && self.deciders_of(write.block).binary_search(&branch).is_ok()
        })
    }

    /// Whether every way out of a branch leads to a write like this one, as when a compiler copies the
    /// end of a `try` to all its exits: then the branch decides nothing.
    fn is_on_all_branches(&self, branch: BlockId, write: &LocalWrite) -> bool {
        let Some(alike) = self.alike.get(&kind_of(write)) else { return false };
        if alike.iter().all(|block| *block == write.block) {
            return false;
        }
        let body = self.lock_transfer.body();
        let mut branches = body.blocks[branch].terminator.successors();
        branches.all(|location| {
            let mut seen = vec![false; body.blocks.len()];
            let mut todo = vec![location];
            while let Some(block) = todo.pop() {
                if alike.contains(&block) {
                    return true;
                }
                if block != branch && !std::mem::replace(&mut seen[block.index()], true) {
                    todo.extend(body.blocks[block].terminator.successors());
                }
            }
            false
        })
    }

    /// The stale values, each with its worst use, in the order of the code.
    fn stale_values(&self) -> Vec<StaleValue> {
        let mut worst: BTreeMap<(u32, Variable), StaleValue> = BTreeMap::new();
        for used in &self.facts.uses {
            let Some(stale_value) = self.stale_value(used) else { continue };
            let key = (stale_value.read, stale_value.variable);
            let rank = |it: &StaleValue| {
                (std::cmp::Reverse(it.severity()), it.distance, it.used, it.released, it.written)
            };
            match worst.get_mut(&key) {
                Some(known) if rank(known) <= rank(&stale_value) => {}
                Some(known) => *known = stale_value,
                None => {
                    worst.insert(key, stale_value);
                }
            }
        }
        worst.into_values().collect()
    }

    fn stale_value(&self, used: &Use) -> Option<StaleValue> {
        let fact = &used.fact;
        let origin = self.origin(fact);
        let inside = match origin.source {
            Source::Read(inside) => inside,
            Source::Unknown => None,
            Source::Parameter(_) => return None,
        };
        let (released, first_used) = match fact.phase {
            Phase::Current => return None,
            Phase::Released(released) => (released, used.offset),
            Phase::Used { released, used } => (released, used),
        };
        let block = &self.facts.blocks[fact.block as usize];
        let is_strict = self.context.config.strict;
        if !is_strict && !self.guards.is_guarded_by(&origin.variable, &block.own.guard) {
            return None;
        }
        let (grade, written) = self.grade_of_use(used)?;
        let distance =
            u32::from(origin.depth) + written.map_or(0, |written| u32::from(written.depth));
        Some(StaleValue {
            grade,
            read: origin.offset,
            read_inside: inside,
            read_depth: origin.depth,
            variable: origin.variable,
            lock: block.own.lock,
            taken_at: match block.start {
                super::flow::BlockStart::Here(offset) => Some(offset),
                super::flow::BlockStart::Outside | super::flow::BlockStart::Callee => None,
            },
            released,
            // For a write the whole way counts, from the first use on; else the use that matters.
            used: match grade.at_most {
                Severity::High => self.first_use(fact, released).min(first_used),
                Severity::Medium | Severity::Low => used.offset,
            },
            written,
            distance,
        })
    }

    /// The grade of a write that rests on a stale value, under the lock of that value. What looks
    /// like a defect and rarely is one is only of medium severity.
    fn grade_of_write(
        &self,
        fact: &TrackedValue,
        write: &LocalWrite,
        checked: &[Variable],
        decided: bool,
    ) -> GradeRule {
        if self.context.config.strict {
            return grade::STALE_WRITE;
        }
        let origin = self.origin(fact);
        let block = &self.facts.blocks[fact.block as usize];
        // The value belongs to an object that is known to its owner alone, and the owner does
        // without locks.
        let program = self.context.program;
        let method = &program.methods[self.lock_transfer.method()];
        let is_owned = block.own.lock.is_some_and(|lock| {
            lock.root == ExpressionRoot::Parameter(0)
                && !lock.steps().is_empty()
                && !method.is_static()
                && self.guards.is_unsynchronized(program, method.class)
        });
        // What is written to a stream in two pieces is rarely meant to be atomic.
        let is_of_stream = origin.variable.field.is_some_and(|field| {
            let class = &program.classes[program.fields[field].class];
            program.models().is(&class.name, ClassProperty::Stream)
        });
        // Another lock is held all the way from the read in a callee to the write, and nobody is seen
        // to write without one: it may well keep others out.
        let is_surrounded = matches!(origin.source, Source::Read(Some(_)))
            && !self.guards.is_written_without_locks(&origin.variable)
            && block.around.iter().any(|acquired| write.held.contains(acquired));
        // At worst the thing is gone already.
        let is_tolerant = write.target.removal == Some(Removal::Tolerant);
        // What is done where something has failed undoes or cleans up; it only rests on what was read before if it writes that.
        let is_after_failure = decided && self.after_failure[write.block];
        // A collection that several threads may use at once guards itself: each call is a step of its own by design.
        let is_of_safe_collection =
            origin.variable.part == Part::Contents && self.guards_itself(&origin.variable);
        // What a class of the library keeps for itself, under its own lock, is a step of the library's.
        let is_of_library = origin.variable.part == Part::Value
            && matches!(origin.source, Source::Read(Some(read)) if !program.is_application(read));
        // An object that was looked up is the same object later on, whatever else is in the collection by then.
        let is_same_object = !decided
            && origin.variable.part == Part::Contents
            && write.target.variable.part == Part::Contents
            && self.has_identity(origin);
        // Others read a volatile field without the lock, and so live with a value that has changed since.
        let is_volatile = origin.variable.part == Part::Value
            && origin
                .variable
                .field
                .is_some_and(|field| program.fields[field].access & classes::access::VOLATILE != 0);
        // Of an array it may be another element.
        let is_element = origin.variable.part == Part::Elements;
        // Looked up, not found and put there: at worst that is done twice.
        let is_cache = origin.is_reference && origin.variable.part == Part::Contents;
        // Nobody ever writes anything else: at worst it is written twice.
        let is_one_way =
            write.target.variable.field.is_some_and(|field| self.guards.is_one_way(field));
        // What is there by then is counted on, after a fresh look at something else.
        let is_counted = write.target.is_update && !checked.is_empty();
        let reasons = [
            (is_owned, grade::OWNED_OBJECT),
            (is_of_stream, grade::STREAM),
            (is_surrounded, grade::LOCK_AROUND),
            (is_tolerant, grade::TOLERANT_REMOVAL),
            (is_after_failure, grade::AFTER_FAILURE),
            (is_of_safe_collection, grade::SAFE_COLLECTION),
            (is_of_library, grade::LIBRARY_LOCK),
            (is_same_object, grade::STALE_ELEMENT),
            (decided && is_element, grade::OTHER_ELEMENT),
            (decided && is_cache, grade::FILLED_TWICE),
            (decided && is_one_way, grade::ONE_WAY_VALUE),
            (decided && is_counted, grade::COUNTED_ON),
            (decided && is_volatile, grade::VOLATILE_VALUE),
        ];
        let reason = reasons.into_iter().find(|(applies, _)| *applies);
        reason.map_or(grade::STALE_WRITE, |(_, grade)| grade)
    }

    /// Whether what was read is used as an object of a class whose objects can change, and so is no value that somebody
    /// has computed.
    fn has_identity(&self, origin: &Origin) -> bool {
        let program = self.context.program;
        let body = self.lock_transfer.body();
        let changes = |class: &str| program.models().sharing(class) != Some(Sharing::Immutable);
        let Some(read) = body.instructions().find(|it| it.offset == origin.offset) else {
            return false;
        };
        if let Operation::Call(call) = &read.operation {
            let descriptor = &program.methods[call.method].descriptor;
            let returned = descriptor.rsplit_once(")L").and_then(|(_, it)| it.strip_suffix(';'));
            if let Some(class) = returned.filter(|class| *class != language::OBJECT) {
                return changes(class);
            }
        }
        body.instructions().any(|it| match &it.operation {
            Operation::Cast { value, class: Some(class) } if Some(*value) == read.result => {
                changes(&program.classes[*class].name)
            }
            _ => false,
        })
    }

    /// Whether the collection that a variable is the contents of is one that several threads may use at once, as the
    /// declared type of its field says.
    fn guards_itself(&self, variable: &Variable) -> bool {
        let program = self.context.program;
        let class = variable.field.and_then(|field| program.class_of_field(field));
        class.is_some_and(|class| {
            let is = |property| program.models().is(&program.classes[class].name, property);
            // Synchronized collections of old are locked from outside to make several calls one step.
            is(ClassProperty::ThreadSafe) && !is(ClassProperty::OftenConfined)
        })
    }

    /// The first use in the code of what was read together and given up at the same place.
    fn first_use(&self, fact: &TrackedValue, released: u32) -> u32 {
        let same = |used: &&Use| {
            used.fact.origin == fact.origin
                && used.fact.block == fact.block
                && used.fact.phase == Phase::Released(released)
        };
        self.facts.uses.iter().filter(same).map(|used| used.offset).min().unwrap_or(u32::MAX)
    }

    /// How much a use matters, and the write that makes it matter; nothing where an idiom makes it
    /// harmless.
    fn grade_of_use(&self, used: &Use) -> Option<(GradeRule, Option<Written>)> {
        let fact = &used.fact;
        let is_strict = self.context.config.strict;
        let is_silent = fact.taken == OwnershipTaken::Always && !is_strict;
        match &used.effect {
            Effect::Returned if !is_strict && self.is_returned_inside(used) => None,
            Effect::Operand | Effect::Returned => {
                (!is_silent).then_some((grade::SNAPSHOT_USED, None))
            }
            Effect::Passed(_) => {
                let is_reference = self.origin(fact).is_reference;
                let grade = match is_strict {
                    false if is_reference => grade::SNAPSHOT_OBJECT,
                    false if self.is_passed_as_text(used.offset) => grade::SNAPSHOT_USED,
                    _ => grade::SNAPSHOT_PASSED,
                };
                (!is_silent).then_some((grade, None))
            }
            Effect::DecidesInCallee(_, against) => {
                let is_checked = self.is_among(fact, against) && !is_strict;
                (!is_silent && !is_checked).then_some((grade::STALE_DECISION, None))
            }
            Effect::Written(write) => {
                let (write, checked) = (&self.facts.writes[*write], &self.checked[*write]);
                self.written(fact, write, checked, false)
            }
            Effect::WrittenInCallee(write) => {
                let (write, checked) =
                    (&self.facts.argument_writes[*write], &self.argument_checked[*write]);
                self.written(fact, write, checked, true)
            }
            Effect::WritesThrough(write) => {
                let write = &self.facts.writes[*write];
                if is_silent {
                    return None;
                }
                let grade = match self.is_under_its_lock(fact, &write.target) {
                    true => grade::STALE_DECISION,
                    false => grade::SNAPSHOT_OBJECT,
                };
                Some((grade, None))
            }
            Effect::DecidesWriteInCallee(write) => {
                let (write, checked) =
                    (&self.facts.argument_writes[*write], &self.argument_checked[*write]);
                if is_silent {
                    return None;
                }
                self.decides(used, write, checked, true)
            }
            Effect::Decides => {
                if is_silent || (!is_strict && self.is_among(fact, &self.compared_with(used.block)))
                {
                    return None;
                }
                let decided = self.decided(used.block);
                let decided =
                    decided.filter(|(_, write)| !self.is_on_all_branches(used.block, write));
                let decided = decided.filter_map(|(number, write)| {
                    self.decides(used, write, &self.checked[number], false)
                });
                let worst = decided.max_by_key(|(grade, _)| grade.at_most);
                Some(worst.unwrap_or((grade::SNAPSHOT_USED, None)))
            }
        }
    }

    /// Whether a call gets no number, but a text: what was made of a number for people to read, nobody computes with.
    fn is_passed_as_text(&self, offset: u32) -> bool {
        let (program, body) = (self.context.program, self.lock_transfer.body());
        let mut instructions = body.instructions().filter(|it| it.offset == offset);
        let Some(Operation::Call(call)) = instructions.next().map(|it| &it.operation) else {
            return false;
        };
        let is_static = program.methods[call.method].is_static();
        let mut arguments = call.arguments.iter().skip(usize::from(!is_static));
        let is_text = |value: &ValueId| match body.declared_type(program, *value) {
            DeclaredType::Class(class) => &*program.classes[class].name == language::STRING,
            DeclaredType::Array => false,
            DeclaredType::Unknown => {
                let made = body.defining_instruction(*value).map(|it| &it.operation);
                matches!(made, Some(Operation::DynamicCall(made)) if made.target == DynamicTarget::StringConcatenation)
            }
        };
        !call.arguments.is_empty() && arguments.all(is_text)
    }

    /// Whether the source returns the value inside the block: the compiler gives the lock back between
    /// the last word of the statement and the return itself.
    fn is_returned_inside(&self, used: &Use) -> bool {
        let Phase::Released(released) = used.fact.phase else { return false };
        let line =
            |offset: u32| self.context.program.site(self.lock_transfer.method(), offset).line;
        matches!((line(used.offset), line(released)), (Some(used), Some(released)) if used <= released)
    }

    /// The value is written.
    fn written(
        &self,
        fact: &TrackedValue,
        write: &LocalWrite,
        checked: &[Variable],
        is_argument: bool,
    ) -> Option<(GradeRule, Option<Written>)> {
        let origin = self.origin(fact);
        let is_strict = self.context.config.strict;
        if write.is_confined {
            return (fact.taken != OwnershipTaken::Always || is_strict)
                .then_some((grade::SNAPSHOT_USED, None));
        }
        if !is_strict {
            if self.is_checked(fact, write, checked) {
                return None;
            }
            // An object that was taken may be put back, and so may a number, if it is added to what
            // is there by then; else what others have written meanwhile is lost.
            let is_put_back = origin.is_reference
                || origin.variable.part != Part::Value
                || write.target.is_update
                || !write.target.variable.is(&origin.variable);
            if fact.taken == OwnershipTaken::Always && is_put_back {
                return None;
            }
        }
        // A write to something without any name may be to an object that nobody else knows.
        let is_known =
            write.target.variable.path.is_some() || write.target.variable.field.is_some();
        if !is_known && !is_strict {
            return Some((grade::SNAPSHOT_USED, None));
        }
        Some(if self.is_under_its_lock(fact, &write.target) {
            self.grade(fact, write, checked, is_argument, false)
        } else {
            (grade::STALE_DECISION, None)
        })
    }

    fn grade(
        &self,
        fact: &TrackedValue,
        write: &LocalWrite,
        checked: &[Variable],
        is_argument: bool,
        decided: bool,
    ) -> (GradeRule, Option<Written>) {
        let written = Written {
            offset: write.offset,
            location: write.location,
            variable: write.target.variable,
            depth: write.depth,
            is_argument,
        };
        let grade = self.grade_of_write(fact, write, checked, decided);
        (grade, (grade.at_most == Severity::High).then_some(written))
    }

    /// The value has decided about a write.
    fn decides(
        &self,
        used: &Use,
        write: &LocalWrite,
        checked: &[Variable],
        is_argument: bool,
    ) -> Option<(GradeRule, Option<Written>)> {
        let fact = &used.fact;
        let origin = self.origin(fact);
        let is_strict = self.context.config.strict;
        if !is_strict && (self.is_checked(fact, write, checked) || self.is_superseded(used, write))
        {
            return None;
        }
        let is_weak = !is_strict
            && match used.effect {
                // Only another round of a loop leads to the write, and that looks again; or the value
                // says how many rounds there are.
                Effect::Decides => write.offset < used.offset || self.is_loop_bound(used),
                // The callee is written for an old value: it takes it as a parameter.
                _ => true,
            };
        if self.is_under_its_lock(fact, &write.target)
            && write.target.variable.is(&origin.variable)
            && !is_weak
        {
            Some(self.grade(fact, write, checked, is_argument, true))
        } else if write.target.locks.is_empty() {
            None
        } else {
            Some((grade::STALE_DECISION, None))
        }
    }

    /// Whether a value that was read before a loop decides whether to go round once more.
    fn is_loop_bound(&self, used: &Use) -> bool {
        let branch = used.block;
        if self.dependence.deciders(branch).binary_search(&branch).is_err() {
            return false;
        }
        let read = self.origin(&used.fact).offset;
        let body = self.lock_transfer.body();
        let mut blocks = body.blocks.iter_with_ids();
        let is_read_in = |block: &Block| block.instructions.iter().any(|it| it.offset == read);
        let read_in = blocks.find(|(_, block)| is_read_in(block)).map(|(id, _)| id);
        read_in.is_some_and(|block| {
            block != branch && self.dependence.all_deciders(block).binary_search(&branch).is_err()
        })
    }

    /// Whether the variable is looked at once more on the way from the decision to the write: then that
    /// later look decides.
    fn is_superseded(&self, used: &Use, write: &LocalWrite) -> bool {
        let variable = &self.origin(&used.fact).variable;
        self.deciders_of(write.block).iter().filter(|later| **later != used.block).any(|later| {
            let facts = self.facts.branches.get(later).map_or(&[][..], Vec::as_slice);
            let is_later_look = |fact: &TrackedValue| {
                fact.origin != used.fact.origin && self.origin(fact).variable.may_be(variable)
            };
            facts.iter().any(is_later_look)
                && self.dependence.all_deciders(*later).binary_search(&used.block).is_ok()
        })
    }

    fn is_among(&self, fact: &TrackedValue, variables: &[Variable]) -> bool {
        let variable = &self.origin(fact).variable;
        variables.iter().any(|other| other.may_be(variable))
    }

    /// Whether the value was checked to be still the current one before a write that rests on it:
    /// the variable itself was looked at again, or another that was read together with it (a version)
    /// was compared with what it had been.
    fn is_checked(&self, fact: &TrackedValue, write: &LocalWrite, checked: &[Variable]) -> bool {
        self.is_among(fact, checked)
            || self.deciders_of(write.block).iter().chain(self.retries_of(write.block)).any(
                |decider| {
                    let facts = self.facts.branches.get(decider).map_or(&[][..], Vec::as_slice);
                    let together = |stale: &&TrackedValue| {
                        stale.block == fact.block && stale.phase != Phase::Current
                    };
                    facts.iter().filter(together).any(|stale| {
                        let variable = &self.origin(stale).variable;
                        facts.iter().any(|fresh| {
                            fresh.phase == Phase::Current
                                && self.origin(fresh).variable.may_be(variable)
                        })
                    })
                },
            )
    }

    fn deciders_of(&self, block: BlockId) -> &[BlockId] {
        self.deciders.get(&block).map_or(&[], Vec::as_slice)
    }

    fn retries_of(&self, block: BlockId) -> &[BlockId] {
        self.retries.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Whether the lock that a value was read under is held again at a write.
    fn is_under_its_lock(&self, fact: &TrackedValue, write: &WriteTarget) -> bool {
        self.facts.lock_of(fact).is_some_and(|lock| {
            write.locks.iter().flatten().any(|held| self.lock_transfer.are_same_lock(held, &lock))
        })
    }
}

/// A write as callers see it.
fn exported(write: &LocalWrite, checked: &[Variable]) -> WriteTarget {
    let global = |lock: &Option<LockExpression>| lock.filter(|lock| !lock.is_local());
    WriteTarget {
        variable: write.target.variable.without_locals(),
        locks: write.target.locks.iter().map(global).collect(),
        checked: first_few(checked.iter().map(|variable| variable.without_locals()).collect()),
        is_update: write.target.is_update,
        removal: write.target.removal,
    }
}
