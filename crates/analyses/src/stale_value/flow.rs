//! The flow of shared values through one method (paper, sections 3 and 4).
//!
//! The state knows, beside the locks that are held, for every value where it was read, in which
//! monitor block, and whether that block is still open: the paper's ⟨shared, block⟩ for every
//! register. SSA values are the registers; phis pass the state on.

use std::rc::Rc;

use classes::bytecode::Literal;
use program::dataflow::{self, BlockTransition, Forward};
use program::ids::{BlockId, Id, MethodId, ValueId};
use program::ir::{
    Block, Body, Call, Constant, ControlDependence, Definition, DynamicTarget, Instruction,
    Operation, Phi, Terminator,
};
use program::models::{self, ClassProperty, Sharing};
use program::summaries::Summaries;
use program::{Origin as ClassOrigin, Program};
use rustc_hash::FxHashMap;

use super::calls::CallFacts;
use super::config::{DEEPEST_MARK, MOST_CHECKED, MOST_COMPARED};
use super::domain::{
    GuardRelation, Part, Variable, contents_access, contents_accessed, read_by, removal, written_by,
};
use super::guards::Guards;
use super::summary::{EventLocation, ParameterEffect, ReadLock, Summary, WriteTarget};
use crate::Context;
use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression};
use crate::locks::held::{HeldLocks, LockTransfer, OpenAcquisition};
use crate::locks::is_new;
use crate::sorted::insert;

/// Position in the list of origins of a method.
pub(super) type OriginId = u32;

/// Where a method gets a value from.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The instruction.
    pub offset: u32,
    /// How.
    pub source: Source,
    /// What was read.
    pub variable: Variable,
    /// What was read to find the array element that was read.
    pub index: Vec<Variable>,
    /// Calls on the way to the read.
    pub depth: u8,
    /// Whether the value is a reference.
    pub is_reference: bool,
}

/// How a method gets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// It reads it, or this callee does.
    Read(Option<MethodId>),
    /// A method that nothing is known of returns it.
    Unknown,
    /// It is a parameter.
    Parameter(u16),
}

/// The monitor block that a value was read in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MonitorBlock {
    /// Where it was opened.
    pub start: BlockStart,
    /// The locks that were held, those that all callers hold left out, the block's own last.
    pub locks: Vec<ReadLock>,
    /// The block's own lock.
    pub own: ReadLock,
    /// The acquisitions that the block lies in.
    pub around: Vec<u32>,
}

impl MonitorBlock {
    /// No block of this method.
    fn outside(own: ReadLock) -> MonitorBlock {
        MonitorBlock { start: BlockStart::Outside, locks: Vec::new(), own, around: Vec::new() }
    }
}

/// Where a monitor block was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BlockStart {
    /// By a caller, or by nobody.
    Outside,
    /// By this acquisition.
    Here(u32),
    /// By a callee, which has closed it again.
    Callee,
}

/// How far a value has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Phase {
    /// Its block is open.
    Current,
    /// Its block was closed at this offset.
    Released(u32),
    /// Its block was closed, and then it was used.
    Used {
        /// Where the block was closed.
        released: u32,
        /// Where it was used first.
        used: u32,
    },
}

impl Phase {
    /// After a use at an offset.
    fn used_at(self, offset: u32) -> Phase {
        match self {
            Phase::Released(released) => Phase::Used { released, used: offset },
            Phase::Current | Phase::Used { .. } => self,
        }
    }
}

/// One fact: a value comes from what was read at an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrackedValue {
    value: ValueId,
    /// Where it was read.
    pub origin: OriginId,
    /// Position in the list of monitor blocks.
    pub block: u32,
    /// How far it has got.
    pub phase: Phase,
    /// Whether its reader took it out of the variable, or marked it as taken, before the block was
    /// closed.
    pub taken: OwnershipTaken,
}

/// Whether a value was taken by its reader: then it is handed over, and nobody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OwnershipTaken {
    /// On no path.
    Never,
    /// On some paths, not on others: if it is there, or if it was not there before.
    Sometimes,
    /// On every path.
    Always,
}

impl OwnershipTaken {
    fn join(self, other: OwnershipTaken) -> OwnershipTaken {
        if self == other { self } else { OwnershipTaken::Sometimes }
    }
}

impl TrackedValue {
    fn key(&self) -> (ValueId, OriginId, u32, Phase) {
        (self.value, self.origin, self.block, self.phase)
    }
}

/// The data-flow state.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    held: HeldLocks,
    /// New objects that others may know by now, sorted.
    escaped: Vec<ValueId>,
    /// Sorted by key.
    tracked: Vec<TrackedValue>,
}

impl State {
    fn of(&self, value: ValueId) -> &[TrackedValue] {
        let start = self.tracked.partition_point(|tracked| tracked.value < value);
        let rest = &self.tracked[start..];
        &rest[..rest.partition_point(|tracked| tracked.value == value)]
    }

    /// Adds a fact; says whether it is new.
    fn add(&mut self, new: TrackedValue) -> bool {
        match self.tracked.binary_search_by_key(&new.key(), TrackedValue::key) {
            Ok(at) => {
                let known = &mut self.tracked[at];
                let before = known.taken;
                known.taken = before.join(new.taken);
                known.taken != before
            }
            Err(at) => {
                self.tracked.insert(at, new);
                true
            }
        }
    }

    /// Adds the facts of another path, which are sorted; says whether some are new.
    fn add_all(&mut self, others: &[TrackedValue]) -> bool {
        let (mut at, mut changed, mut missing) = (0, false, 0);
        for other in others {
            while self.tracked.get(at).is_some_and(|known| known.key() < other.key()) {
                at += 1;
            }
            match self.tracked.get_mut(at) {
                Some(known) if known.key() == other.key() => {
                    let before = known.taken;
                    known.taken = before.join(other.taken);
                    changed |= known.taken != before;
                }
                _ => missing += 1,
            }
        }
        if missing == 0 {
            return changed;
        }
        let known = std::mem::take(&mut self.tracked);
        self.tracked.reserve(known.len() + missing);
        let mut known = known.into_iter().peekable();
        for other in others {
            while let Some(smaller) = known.next_if(|known| known.key() < other.key()) {
                self.tracked.push(smaller);
            }
            // What both have is joined already.
            let same = known.next_if(|known| known.key() == other.key());
            self.tracked.push(same.unwrap_or(*other));
        }
        self.tracked.extend(known);
        true
    }

    /// Others may know the object from now on; says whether they could not before.
    fn escapes(&mut self, object: ValueId) -> bool {
        insert(&mut self.escaped, object)
    }

    fn forget(&mut self, value: ValueId) {
        let start = self.tracked.partition_point(|tracked| tracked.value < value);
        let count = self.of(value).len();
        self.tracked.drain(start..start + count);
    }

    /// Changes the phase of facts, which may make some of them equal.
    fn change(&mut self, mut change: impl FnMut(&mut TrackedValue)) {
        self.tracked.iter_mut().for_each(&mut change);
        self.tracked.sort_unstable();
        self.tracked.dedup_by(|copy, kept| {
            let same = copy.key() == kept.key();
            if same {
                kept.taken = kept.taken.join(copy.taken);
            }
            same
        });
    }
}

/// What is done with a tracked value.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// Something is computed from it, or it leads to another object.
    Operand,
    /// It is returned or thrown.
    Returned,
    /// It is handed to code that is not known, so many calls away.
    Passed(u8),
    /// It decides at the end of this block where control goes.
    Decides,
    /// It decides so many calls away what is done there; it is compared with these.
    DecidesInCallee(u8, Vec<Variable>),
    /// It is written: position in the list of writes.
    Written(usize),
    /// It leads to the object that is written: position in the list of writes.
    WritesThrough(usize),
    /// It is an argument that a callee writes: position in the list of writes inside callees.
    WrittenInCallee(usize),
    /// It is an argument that decides about a write of a callee: position in that list.
    DecidesWriteInCallee(usize),
}

/// A use of a value.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// What is used.
    pub fact: TrackedValue,
    /// The instruction.
    pub offset: u32,
    /// The block it stands in.
    pub block: BlockId,
    /// What is done with the value.
    pub effect: Effect,
}

/// A write.
#[derive(Clone, Debug)]
pub(super) struct LocalWrite {
    /// The instruction.
    pub offset: u32,
    /// The block it stands in.
    pub block: BlockId,
    /// What is written, and under which locks.
    pub target: WriteTarget,
    /// The acquisitions under which it is written.
    pub held: Vec<u32>,
    /// Whether only this thread knows the object.
    pub is_confined: bool,
    /// Calls on the way.
    pub depth: u8,
    /// Where it happens.
    pub location: EventLocation,
}

/// What a method was found to do with values.
#[derive(Debug, Default)]
pub(super) struct ValueFacts {
    pub origins: Vec<Origin>,
    pub blocks: Vec<MonitorBlock>,
    pub uses: Vec<Use>,
    pub writes: Vec<LocalWrite>,
    /// Writes of arguments inside callees.
    pub argument_writes: Vec<LocalWrite>,
    /// What the branch at the end of each block depends on.
    pub branches: FxHashMap<BlockId, Vec<TrackedValue>>,
    /// What the returned values carry.
    pub returned: Vec<TrackedValue>,
}

/// The flow of one method.
pub(super) struct Flow<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) guards: &'a Guards,
    pub(super) known: &'a Summaries<'a, Summary>,
    pub(super) expressions: &'a Expressions<'a>,
    pub(super) lock_transfer: &'a LockTransfer<'a>,
    pub(super) implicit: ImplicitFlow,
    facts: ValueFacts,
    origin_ids: FxHashMap<(u32, u16), OriginId>,
    block_ids: FxHashMap<MonitorBlock, u32>,
    /// What calls do, by offset.
    calls: FxHashMap<u32, Rc<CallFacts>>,
    /// The block whose instructions are being recorded, once the solution is known.
    recording: Option<BlockId>,
    /// How many facts were compared so far.
    compared: usize,
    /// Whether that became too many, or the user wants an end: then there is no solution.
    gave_up: bool,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        guards: &'a Guards,
        known: &'a Summaries<'a, Summary>,
        expressions: &'a Expressions<'a>,
        lock_transfer: &'a LockTransfer<'a>,
        dependence: &'a ControlDependence,
    ) -> Flow<'a> {
        Flow {
            context,
            guards,
            known,
            expressions,
            lock_transfer,

            implicit: ImplicitFlow::of(context.program, expressions.body, dependence),
            facts: ValueFacts::default(),
            origin_ids: FxHashMap::default(),
            block_ids: FxHashMap::default(),
            calls: FxHashMap::default(),
            recording: None,
            compared: 0,
            gave_up: false,
        }
    }

    /// Solves the flow, then walks through the solution once more and records what happens. Nothing if that takes too long.
    pub(super) fn solve(mut self) -> Option<ValueFacts> {
        let body = self.body();
        if self.is_plain() {
            return Some(self.solve_plain());
        }
        let states = dataflow::solve(body, &mut self);
        if self.gave_up {
            return None;
        }
        for (id, block) in body.blocks.iter_with_ids() {
            let Some(mut state) = states[id].clone() else { continue };
            self.walk(&mut state, id, block);
        }
        Some(self.facts)
    }

    fn walk(&mut self, state: &mut State, id: BlockId, block: &Block) {
        self.recording = Some(id);
        for instruction in &block.instructions {
            self.instruction(state, instruction);
        }
        self.terminator(state, id, block);
        self.recording = None;
    }

    /// Whether no lock is held at any time, and no call returns what was read under one: nothing
    /// can go stale here, and values carry the same wherever they are used.
    fn is_plain(&mut self) -> bool {
        let body = self.body();
        if self.guards.holds_locks(body.method) || self.context.config.strict {
            return false;
        }
        body.instructions().all(|instruction| match &instruction.operation {
            Operation::Call(call) => {
                let facts = self.call_facts(call, instruction.offset);
                facts.returned.iter().all(|read| read.locks.is_empty())
            }
            _ => true,
        })
    }

    /// One state is enough for a plain method. It is walked through twice, for what loops carry back.
    fn solve_plain(mut self) -> ValueFacts {
        let body = self.body();
        let mut state = self.entry(body);
        let has_loops = body
            .blocks
            .iter_with_ids()
            .any(|(id, block)| block.predecessors.iter().any(|from| *from >= id));
        for is_last in [false, true] {
            if !is_last && !has_loops {
                continue;
            }
            for (id, block) in body.blocks.iter_with_ids() {
                for phi in &block.phis {
                    let decisive = self.implicit.of_phi(phi.result);
                    for input in phi.inputs.iter().flatten().chain(decisive) {
                        Self::propagate(&mut state, *input, phi.result, None);
                    }
                    for input in phi.inputs.iter().flatten() {
                        self.escapes(&mut state, *input);
                    }
                }
                if is_last {
                    self.walk(&mut state, id, block);
                } else {
                    for instruction in &block.instructions {
                        self.instruction(&mut state, instruction);
                    }
                }
            }
        }
        self.facts
    }

    fn body(&self) -> &'a Body {
        self.expressions.body
    }

    fn program(&self) -> &'a Program {
        self.context.program
    }

    fn origin(&mut self, number: u16, origin: Origin) -> OriginId {
        let next = self.facts.origins.len() as OriginId;
        let id = *self.origin_ids.entry((origin.offset, number)).or_insert(next);
        match self.facts.origins.get_mut(id as usize) {
            Some(known) => {
                for variable in origin.index {
                    if !known.index.contains(&variable) {
                        known.index.push(variable);
                    }
                }
            }
            None => self.facts.origins.push(origin),
        }
        id
    }

    fn block(&mut self, block: MonitorBlock) -> u32 {
        let next = self.facts.blocks.len() as u32;
        let id = *self.block_ids.entry(block.clone()).or_insert(next);
        if id == next {
            self.facts.blocks.push(block);
        }
        id
    }

    /// The monitor block that a read of a variable belongs to: the innermost one, except that a lock
    /// that does not guard the variable gives way to one around it that does.
    fn block_of_read(&mut self, held: &HeldLocks, variable: &Variable) -> u32 {
        let guards = self.guards;
        let lock_of = |held: &OpenAcquisition| ReadLock {
            lock: held.lock,
            guard: GuardRelation::of(variable, held.lock),
        };
        let guarding = held.visible().rfind(|held| {
            !self.context.config.strict && guards.is_guarded_by(variable, &lock_of(held).guard)
        });
        // What is taken inside of a lock that everybody holds who writes the variable protects nothing of it.
        let is_enough = |held: &&OpenAcquisition| {
            !self.context.config.strict
                && guards.is_always_guarded_by(variable, &lock_of(held).guard)
        };
        let enclosing = held.visible().find(is_enough).filter(|_| guarding.is_some());
        let Some(own) = enclosing.or(guarding).or_else(|| held.visible().next_back()) else {
            let own = ReadLock { lock: None, guard: GuardRelation::Unknown };
            return self.block(MonitorBlock::outside(own));
        };
        let mut locks = Vec::new();
        for held in held.visible() {
            if !held.is_from_caller() {
                locks.push(lock_of(held));
            }
            if held == own {
                break;
            }
        }
        let outer = held.visible().take_while(|held| *held != own);
        let around = outer.map(|held| held.offset).collect();
        let start = BlockStart::Here(own.offset);
        self.block(MonitorBlock { start, locks, own: lock_of(own), around })
    }

    /// Whether reading a variable gives a value that can go stale.
    fn is_shared(&self, state: &State, variable: &Variable) -> bool {
        !self.is_constant(variable)
            && !self.is_private_to_thread(state, variable)
            && self.guards.is_written(variable)
    }

    /// Whether the variable never changes.
    fn is_constant(&self, variable: &Variable) -> bool {
        let is_final = |field| self.program().fields[field].is_final();
        variable.part == Part::Value && variable.field.is_some_and(is_final)
    }

    /// Whether only this thread can know the object that a variable belongs to.
    fn is_private_to_thread(&self, state: &State, variable: &Variable) -> bool {
        let Some(path) = &variable.path else { return false };
        let is_early = self.guards.is_under_construction(self.program(), self.body().method, path);
        is_early || self.is_unknown_to_others(state, path)
    }

    /// Whether the path starts from a new object that nobody else knows yet.
    fn is_unknown_to_others(&self, state: &State, path: &LockExpression) -> bool {
        match path.root {
            ExpressionRoot::Local(object) => {
                is_new(self.body(), object) && state.escaped.binary_search(&object).is_err()
            }
            _ => false,
        }
    }

    fn record(&mut self, state: &State, value: ValueId, offset: u32, effect: &Effect) {
        let Some(block) = self.recording else { return };
        // Uses that change nothing are not part of summaries.
        let matters_to_callers =
            !matches!(effect, Effect::Operand | Effect::Returned | Effect::WritesThrough(_));
        for fact in state.of(value) {
            let is_parameter = || {
                let source = self.facts.origins[fact.origin as usize].source;
                matches!(source, Source::Parameter(_))
            };
            if fact.phase != Phase::Current || (matters_to_callers && is_parameter()) {
                let effect = effect.clone();
                self.facts.uses.push(Use { fact: *fact, offset, block, effect });
            }
        }
    }

    /// The result carries what an operand carries, after this use of it.
    fn propagate(state: &mut State, from: ValueId, to: ValueId, at: Option<u32>) {
        if state.of(from).is_empty() {
            return;
        }
        for fact in state.of(from).to_vec() {
            let phase = at.map_or(fact.phase, |offset| fact.phase.used_at(offset));
            state.add(TrackedValue { value: to, phase, ..fact });
        }
    }

    /// The value was read just now.
    fn read(
        &mut self,
        state: &mut State,
        value: ValueId,
        number: u16,
        origin: Origin,
        taken: OwnershipTaken,
    ) {
        if !self.is_shared(state, &origin.variable) {
            return;
        }
        let block = self.block_of_read(&state.held, &origin.variable);
        let origin = self.origin(number, origin);
        state.add(TrackedValue { value, origin, block, phase: Phase::Current, taken });
    }

    fn is_reference(&self, value: ValueId) -> bool {
        use program::ir::DeclaredType;
        match self.body().declared_type(self.program(), value) {
            DeclaredType::Class(_) | DeclaredType::Array => true,
            DeclaredType::Unknown => false,
        }
    }

    /// A variable is overwritten: what was read from it in blocks that are still open has been
    /// taken.
    fn overwritten(&self, state: &mut State, variable: &Variable) {
        let origins = &self.facts.origins;
        for fact in &mut state.tracked {
            let origin = &origins[fact.origin as usize];
            let is_it = origin.variable.may_be(variable)
                || origin.index.iter().any(|index| index.may_be(variable));
            if is_it && fact.phase == Phase::Current {
                fact.taken = OwnershipTaken::Always;
            }
        }
    }

    /// An object is changed: if it, or the object that it belongs to, was read in a block that is
    /// still open, that object has been marked.
    fn marked(&self, state: &mut State, object: ValueId) {
        let body = self.body();
        let mut at = Some(object);
        for _ in 0..DEEPEST_MARK {
            let Some(object) = at.map(|object| body.without_casts(object)) else { return };
            for fact in state.tracked.iter_mut().filter(|fact| fact.value == object) {
                if fact.phase == Phase::Current {
                    fact.taken = OwnershipTaken::Always;
                }
            }
            at = match body.defining_instruction(object).map(|defined| &defined.operation) {
                Some(Operation::GetField { object, .. }) => Some(*object),
                _ => None,
            };
        }
    }

    fn local_write(&self, state: &State, offset: u32, variable: Variable) -> LocalWrite {
        LocalWrite {
            offset,
            block: self.recording.unwrap_or(BlockId::new(0)),
            target: WriteTarget {
                variable,
                locks: state.held.names().map(|lock| Some(*lock)).collect(),
                checked: Vec::new(),
                is_update: false,
                removal: None,
            },
            held: state.held.visible().map(|held| held.offset).collect(),
            is_confined: self.is_private_to_thread(state, &variable),
            depth: 0,
            location: EventLocation::Here(offset),
        }
    }

    /// Records a write, and returns its position in the list.
    fn add_write(&mut self, write: LocalWrite) -> usize {
        if self.recording.is_some() {
            self.facts.writes.push(write);
        }
        self.facts.writes.len().saturating_sub(1)
    }

    fn terminator(&mut self, state: &State, id: BlockId, block: &Block) {
        match &block.terminator {
            Terminator::Branch { .. } | Terminator::Switch { .. } => {
                let mut facts = Vec::new();
                for operand in block.terminator.operands() {
                    self.record(state, operand, block.end_offset, &Effect::Decides);
                    facts.extend_from_slice(state.of(operand));
                }
                if !facts.is_empty() {
                    self.facts.branches.insert(id, facts);
                }
            }
            Terminator::Return(Some(value)) => {
                self.record(state, *value, block.end_offset, &Effect::Returned);
                self.facts.returned.extend_from_slice(state.of(*value));
                for decisive in self.implicit.of_return(id) {
                    self.facts.returned.extend_from_slice(state.of(*decisive));
                }
            }
            Terminator::Throw(value) => {
                self.record(state, *value, block.end_offset, &Effect::Returned);
            }
            Terminator::Goto(_) | Terminator::Return(None) => {}
        }
    }

    /// What a call does, looked up once.
    fn call_facts(&mut self, call: &Call, offset: u32) -> Rc<CallFacts> {
        let (context, expressions, known) = (self.context, self.expressions, self.known);
        let facts = self.calls.entry(offset).or_insert_with(|| {
            let Context { program, graph, .. } = *context;
            Rc::new(CallFacts::of(program, graph, expressions, known, call, offset))
        });
        Rc::clone(facts)
    }

    fn call(&mut self, state: &mut State, call: &Call, instruction: &Instruction) {
        let program = self.program();
        let offset = instruction.offset;
        let facts = self.call_facts(call, offset);
        self.arguments(state, call, offset, &facts);

        for ended in self.lock_transfer.apply_instruction(&mut state.held, instruction) {
            self.closed(state, &ended, offset);
        }

        for write in &facts.writes {
            self.overwritten(state, &write.target.variable);
            if let Some(argument) = write.properties {
                self.marked(state, argument);
            }
            if self.recording.is_some() {
                let location = EventLocation::Call(offset, write.method);
                let here =
                    self.write_in_callee(state, offset, &write.target, write.depth, location);
                self.add_write(here);
            }
        }

        if contents_access(program, call.method)
            .is_some_and(|access| access != models::ContentsAccess::Looks)
            && let Some(receiver) = call.arguments.first()
        {
            self.marked(state, *receiver);
        }
        let receivers = usize::from(!program.methods[call.method].is_static());
        for argument in call.arguments.iter().skip(receivers) {
            self.escapes(state, *argument);
        }
        // A new object carries what it was made of.
        if &*program.methods[call.method].name == "<init>"
            && let Some((object, arguments)) = call.arguments.split_first()
        {
            for argument in arguments {
                Self::propagate(state, *argument, *object, Some(offset));
            }
        }
        let Some(result) = instruction.result else { return };
        if self.is_value_class(call) {
            for argument in &call.arguments {
                Self::propagate(state, *argument, result, Some(offset));
            }
        }
        for value in &facts.passed {
            Self::propagate(state, *value, result, Some(offset));
        }
        // What a new object was made of can be got out of it again.
        if let (1, true, Some(object)) = (receivers, facts.reads, call.arguments.first())
            && self.is_new(*object)
        {
            Self::propagate(state, *object, result, Some(offset));
        }
        self.results(state, result, offset, call, &facts);
    }

    /// What the result of a call was read from.
    fn results(
        &mut self,
        state: &mut State,
        result: ValueId,
        offset: u32,
        call: &Call,
        facts: &CallFacts,
    ) {
        let is_reference = self.is_reference(result);
        for (number, read) in facts.returned.iter().enumerate() {
            let number = number as u16 + 1;
            let variable = read.variable;
            let origin = Origin {
                offset,
                source: Source::Read(Some(read.method)),
                variable,
                index: Vec::new(),
                depth: read.depth,
                is_reference,
            };
            let taken = if read.is_taken { OwnershipTaken::Always } else { OwnershipTaken::Never };
            // A lock that is held here and at every write keeps others out, whatever the callee took.
            let is_protected = !self.context.config.strict
                && state.held.names().any(|lock| {
                    self.guards
                        .is_always_guarded_by(&variable, &GuardRelation::of(&variable, Some(*lock)))
                });
            let is_given_back = |held: &ReadLock| {
                !is_protected
                    && held.lock.is_none_or(|lock| {
                        !self.lock_transfer.is_held(&state.held, &lock)
                            && !self.is_unknown_to_others(state, &lock)
                    })
            };
            let given_back: Vec<ReadLock> =
                read.locks.iter().copied().filter(is_given_back).collect();
            let Some(own) = given_back.last().copied() else {
                self.read(state, result, number, origin, taken);
                continue;
            };
            if self.is_private_to_thread(state, &variable) || !self.guards.is_written(&variable) {
                continue;
            }
            let around = state.held.visible().filter(|held| !held.is_from_caller());
            let guard = |held: &OpenAcquisition| ReadLock {
                lock: held.lock,
                guard: GuardRelation::of(&variable, held.lock),
            };
            let locks = around.map(guard).chain(given_back).collect();
            let around = state.held.visible().map(|held| held.offset).collect();
            let start = BlockStart::Callee;
            let block = self.block(MonitorBlock { start, locks, own, around });
            let origin = self.origin(number, origin);
            let phase = Phase::Released(offset);
            state.add(TrackedValue { value: result, origin, block, phase, taken });
        }
        if self.context.config.strict && self.is_unknown(call, offset) {
            let origin = Origin {
                offset,
                source: Source::Unknown,
                variable: Variable { part: Part::Value, field: None, path: None },
                index: Vec::new(),
                depth: 0,
                is_reference,
            };
            let own = ReadLock { lock: None, guard: GuardRelation::Unknown };
            let start = BlockStart::Callee;
            let block =
                self.block(MonitorBlock { start, locks: vec![own], own, around: Vec::new() });
            let origin = self.origin(0, origin);
            let phase = Phase::Released(offset);
            state.add(TrackedValue {
                value: result,
                origin,
                block,
                phase,
                taken: OwnershipTaken::Never,
            });
        }
    }

    /// A write inside a callee, as it happens here.
    fn write_in_callee(
        &self,
        state: &State,
        offset: u32,
        target: &WriteTarget,
        depth: u8,
        location: EventLocation,
    ) -> LocalWrite {
        let mut here = self.local_write(state, offset, target.variable);
        here.target.locks.extend(&target.locks);
        here.target.checked.clone_from(&target.checked);
        here.target.is_update = target.is_update;
        here.target.removal = target.removal;
        LocalWrite { depth, location, ..here }
    }

    /// What becomes of the arguments of a call.
    fn arguments(&mut self, state: &State, call: &Call, offset: u32, facts: &CallFacts) {
        if self.recording.is_none() || state.tracked.is_empty() {
            return;
        }
        for used in &facts.uses {
            if state.of(used.value).is_empty() {
                continue;
            }
            let location = EventLocation::Call(offset, used.method);
            let write = |flow: &mut Flow<'a>, target: &WriteTarget| {
                let here = flow.write_in_callee(state, offset, target, used.depth, location);
                flow.facts.argument_writes.push(here);
                flow.facts.argument_writes.len() - 1
            };
            let effect = match &used.effect {
                ParameterEffect::Written(target) => Effect::WrittenInCallee(write(self, target)),
                ParameterEffect::Decides(target) => {
                    Effect::DecidesWriteInCallee(write(self, target))
                }
                ParameterEffect::Branches(against) => {
                    Effect::DecidesInCallee(used.depth, against.clone())
                }
                ParameterEffect::Passed => Effect::Passed(used.depth),
            };
            self.record(state, used.value, offset, &effect);
        }
        let program = self.program();
        let has_receiver = !program.methods[call.method].is_static();
        let stored = contents_accessed(program, self.expressions, call)
            .filter(|(access, ..)| *access != models::ContentsAccess::Looks);
        for (position, argument) in call.arguments.iter().enumerate() {
            if state.of(*argument).is_empty() {
                continue;
            }
            self.record(state, *argument, offset, &Effect::Operand);
            if has_receiver && position == 0 {
                continue;
            }
            if let Some((_, variable, _)) = stored {
                let mut here = self.local_write(state, offset, variable);
                here.target.removal = removal(program, call.method);
                // The locks that the collection takes itself.
                let own = facts.writes.iter().find(|write| write.target.variable.is(&variable));
                here.target.locks.extend(own.iter().flat_map(|own| &own.target.locks));
                self.facts.argument_writes.push(here);
                let write = self.facts.argument_writes.len() - 1;
                self.record(state, *argument, offset, &Effect::WrittenInCallee(write));
            } else if self.is_unknown(call, offset) {
                self.record(state, *argument, offset, &Effect::Passed(0));
            }
        }
    }

    /// Whether the call runs code that is neither there to be looked at nor known to the models.
    fn is_unknown(&self, call: &Call, offset: u32) -> bool {
        let program = self.program();
        let method = &program.methods[call.method];
        let is_dark = match program.classes[method.class].origin {
            ClassOrigin::Application => method.is_native(),
            ClassOrigin::Missing => true,
            ClassOrigin::Library => false,
        };
        let targets = self.context.graph.targets(self.body().method, offset);
        is_dark
            && program.effects_of(call.method).is_empty()
            && targets.iter().all(|target| program.body(target.method).is_none())
    }

    /// Whether the result of a library call is computed from its arguments alone: `Math.max`,
    /// `Integer.valueOf`, `String.length`.
    fn is_value_class(&self, call: &Call) -> bool {
        let program = self.program();
        let method = &program.methods[call.method];
        let class = &program.classes[method.class];
        program.body(call.method).is_none()
            && class.origin != ClassOrigin::Application
            && (program.models().sharing(&class.name) == Some(Sharing::Immutable)
                || program.models().is(&class.name, ClassProperty::ComputesValues))
    }

    fn is_new(&self, value: ValueId) -> bool {
        is_new(self.body(), self.body().without_casts(value))
    }

    /// A value is stored, passed on or known by another name from now on.
    fn escapes(&self, state: &mut State, value: ValueId) {
        let value = self.body().without_casts(value);
        if self.is_new(value) {
            state.escapes(value);
        }
    }

    /// A monitor block is closed.
    fn closed(&self, state: &mut State, ended: &OpenAcquisition, offset: u32) {
        let blocks = &self.facts.blocks;
        state.change(|fact| {
            if fact.phase == Phase::Current
                && blocks[fact.block as usize].start == BlockStart::Here(ended.offset)
            {
                fact.phase = Phase::Released(offset);
            }
        });
    }
}

impl Forward for Flow<'_> {
    type State = State;

    fn entry(&mut self, body: &Body) -> State {
        let mut state = State { held: self.lock_transfer.at_entry(), ..State::default() };
        let own = ReadLock { lock: None, guard: GuardRelation::Unknown };
        let block = self.block(MonitorBlock::outside(own));
        for (number, value) in body.parameters.iter().enumerate() {
            let variable = Variable { part: Part::Value, field: None, path: None };
            let origin = Origin {
                offset: 0,
                source: Source::Parameter(number as u16),
                variable,
                index: Vec::new(),
                depth: 0,
                is_reference: self.is_reference(*value),
            };
            // Numbers of reads at offset 0 are small.
            let origin = self.origin(u16::MAX - number as u16, origin);
            let phase = Phase::Current;
            state.add(TrackedValue {
                value: *value,
                origin,
                block,
                phase,
                taken: OwnershipTaken::Never,
            });
        }
        state
    }

    fn join(&mut self, into: &mut State, from: &State) -> bool {
        let compared = into.tracked.len() + from.tracked.len() + 1;
        self.compared += compared;
        let is_time_to_ask = self.compared >> 20 != (self.compared - compared) >> 20;
        self.gave_up |=
            self.compared > MOST_COMPARED || (is_time_to_ask && (self.context.cancelled)());
        if self.gave_up {
            return false;
        }
        let mut changed = into.held.join(&from.held);
        for object in &from.escaped {
            changed |= into.escapes(*object);
        }
        changed | into.add_all(&from.tracked)
    }

    fn enter_block(&mut self, _state: &mut State, _block: &Block) {}

    fn instruction(&mut self, state: &mut State, instruction: &Instruction) {
        if self.gave_up {
            return;
        }
        let offset = instruction.offset;
        if let Some(result) = instruction.result {
            state.forget(result);
        }
        if let Operation::Call(call) = &instruction.operation {
            self.call(state, call, instruction);
            return;
        }
        match &instruction.operation {
            Operation::Cast { value, .. } => {
                if let Some(result) = instruction.result {
                    Self::propagate(state, *value, result, None);
                }
            }
            Operation::Binary { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::InstanceOf { .. }
            | Operation::ArrayLength(_)
            | Operation::NewArray { .. } => {
                instruction.operation.for_each_operand(|operand| {
                    self.record(state, operand, offset, &Effect::Operand);
                    if let Some(result) = instruction.result {
                        Self::propagate(state, operand, result, Some(offset));
                    }
                });
            }
            Operation::DynamicCall(call) => {
                let is_computed = match call.target {
                    DynamicTarget::StringConcatenation
                    | DynamicTarget::RecordMethod
                    | DynamicTarget::PatternSwitch => true,
                    DynamicTarget::Lambda(_) | DynamicTarget::Unknown(_) => false,
                };
                for operand in call.arguments.iter().copied() {
                    self.record(state, operand, offset, &Effect::Operand);
                    self.escapes(state, operand);
                    if let (true, Some(result)) = (is_computed, instruction.result) {
                        Self::propagate(state, operand, result, Some(offset));
                    }
                }
            }
            Operation::GetField { .. } | Operation::GetStatic(_) | Operation::ArrayLoad { .. } => {
                self.memory_read(state, instruction);
            }
            Operation::PutField { .. }
            | Operation::PutStatic { .. }
            | Operation::ArrayStore { .. } => self.memory_write(state, instruction),
            Operation::MonitorEnter(object) | Operation::MonitorExit(object) => {
                if matches!(instruction.operation, Operation::MonitorEnter(_)) {
                    self.record(state, *object, offset, &Effect::Operand);
                }
                for ended in self.lock_transfer.apply_instruction(&mut state.held, instruction) {
                    self.closed(state, &ended, offset);
                }
            }
            Operation::Constant(_) | Operation::New(_) | Operation::Call(_) => {}
        }
    }

    fn leave_by(&mut self, state: &mut State, transition: &BlockTransition<'_>) {
        self.lock_transfer.apply_transition(&mut state.held, transition);
        let body = self.body();
        let target = &body.blocks[transition.to];
        let mut passed = Vec::new();
        if let Some(from) = target.predecessors.iter().position(|block| *block == transition.from) {
            for phi in &target.phis {
                let input = phi.inputs.get(from).copied().flatten();
                if let Some(input) = input {
                    self.escapes(state, input);
                }
                for fact in input.map_or(&[][..], |input| state.of(input)) {
                    passed.push(TrackedValue { value: phi.result, ..*fact });
                }
                for decisive in self.implicit.of_phi(phi.result) {
                    for fact in state.of(*decisive) {
                        let phase = fact.phase.used_at(transition.block.end_offset);
                        passed.push(TrackedValue { value: phi.result, phase, ..*fact });
                    }
                }
            }
        }
        let implicit = &self.implicit;
        let is_redefined =
            |value: ValueId| body.definitions[value] == Definition::Phi(transition.to);
        state
            .tracked
            .retain(|fact| implicit.outlives_block(fact.value) && !is_redefined(fact.value));
        for fact in passed {
            state.add(fact);
        }
    }
}

impl Flow<'_> {
    fn memory_read(&mut self, state: &mut State, instruction: &Instruction) {
        let offset = instruction.offset;
        let Some(variable) = read_by(self.expressions, instruction) else { return };
        let Some(result) = instruction.result else { return };
        let mut index = Vec::new();
        match &instruction.operation {
            Operation::GetField { object, .. } => {
                self.record(state, *object, offset, &Effect::Operand);
                // What never changes belongs to the object, and so does what a new object was made
                // of.
                if self.is_constant(&variable) || self.is_new(*object) {
                    Self::propagate(state, *object, result, Some(offset));
                }
            }
            Operation::ArrayLoad { array, index: at, .. } => {
                self.record(state, *array, offset, &Effect::Operand);
                self.record(state, *at, offset, &Effect::Operand);
                index = state
                    .of(*at)
                    .iter()
                    .map(|fact| self.facts.origins[fact.origin as usize].variable)
                    .filter(|variable| variable.field.is_some())
                    .collect();
            }
            _ => {}
        }
        let origin = Origin {
            offset,
            source: Source::Read(None),
            variable,
            index,
            depth: 0,
            is_reference: self.is_reference(result),
        };
        self.read(state, result, 0, origin, OwnershipTaken::Never);
    }

    fn memory_write(&mut self, state: &mut State, instruction: &Instruction) {
        let offset = instruction.offset;
        let Some(variable) = written_by(self.expressions, instruction) else { return };
        let mut write = self.local_write(state, offset, variable);
        if let Operation::PutField { value, .. }
        | Operation::PutStatic { value, .. }
        | Operation::ArrayStore { value, .. } = &instruction.operation
        {
            let is_current = |fact: &TrackedValue| {
                fact.phase == Phase::Current
                    && self.facts.origins[fact.origin as usize].variable.may_be(&variable)
            };
            write.target.is_update = state.of(*value).iter().any(is_current);
            self.escapes(state, *value);
        }
        let write = self.add_write(write);
        match &instruction.operation {
            Operation::PutField { object, value, .. } => {
                self.record(state, *value, offset, &Effect::Written(write));
                self.record(state, *object, offset, &Effect::WritesThrough(write));
                self.marked(state, *object);
            }
            Operation::PutStatic { value, .. } => {
                self.record(state, *value, offset, &Effect::Written(write));
            }
            Operation::ArrayStore { array, index, value } => {
                self.record(state, *value, offset, &Effect::Written(write));
                self.record(state, *index, offset, &Effect::Written(write));
                self.record(state, *array, offset, &Effect::WritesThrough(write));
            }
            _ => {}
        }
        self.overwritten(state, &variable);
    }
}

/// Values that depend on a comparison although no operand leads from one to the other: bytecode has
/// no comparisons that give a `boolean`, only branches to the constants 0 and 1.
pub(super) struct ImplicitFlow {
    /// For phis of the constants 0 and 1: what the branches in front of them compare.
    phis: FxHashMap<ValueId, Vec<ValueId>>,
    /// For blocks that return 0 or 1: what the branches in front of them compare.
    returns: FxHashMap<BlockId, Vec<ValueId>>,
    /// Values that are read outside of the block that defines them.
    outlives_block: Vec<bool>,
}

impl ImplicitFlow {
    fn of(program: &Program, body: &Body, dependence: &ControlDependence) -> ImplicitFlow {
        let mut flow = ImplicitFlow {
            phis: FxHashMap::default(),
            returns: FxHashMap::default(),
            outlives_block: vec![false; body.definitions.len()],
        };
        let is_boolean = |value: ValueId| {
            body.defining_instruction(value).is_some_and(|defined| {
                matches!(
                    defined.operation,
                    Operation::Constant(Constant::Literal(Literal::Int(0 | 1)))
                )
            })
        };
        let returns_boolean = program.methods[body.method].descriptor.ends_with(")Z");
        let operands = |deciders: &[BlockId]| -> Vec<ValueId> {
            let terminators = deciders.iter().map(|block| &body.blocks[*block].terminator);
            terminators.flat_map(Terminator::operands).collect()
        };
        for (id, block) in body.blocks.iter_with_ids() {
            for phi in &block.phis {
                phi.inputs.iter().flatten().for_each(|input| flow.outlives(*input));
                if !phi.inputs.iter().all(|input| input.is_some_and(is_boolean)) {
                    continue;
                }
                let mut deciders: Vec<BlockId> = Vec::new();
                for from in &block.predecessors {
                    deciders.extend(dependence.deciders(*from));
                    if matches!(body.blocks[*from].terminator, Terminator::Branch { .. }) {
                        deciders.push(*from);
                    }
                }
                deciders.sort_unstable();
                deciders.dedup();
                deciders.retain(|decider| {
                    !dependence.deciders(id).contains(decider)
                        && has_different_values(body, *decider, id, phi)
                });
                flow.phis.insert(phi.result, operands(&deciders));
            }
            if let Terminator::Return(Some(value)) = &block.terminator
                && returns_boolean
                && is_boolean(*value)
            {
                flow.returns.insert(id, operands(dependence.deciders(id)));
            }
            let mut reads = |operand: ValueId| {
                let is_here = match body.definitions[operand] {
                    Definition::Instruction(defined, _)
                    | Definition::Phi(defined)
                    | Definition::Caught(defined) => defined == id,
                    Definition::Parameter(_) | Definition::Removed => false,
                };
                if !is_here {
                    flow.outlives_block[operand.index()] = true;
                }
            };
            for instruction in &block.instructions {
                instruction.operation.for_each_operand(&mut reads);
            }
            block.terminator.operands().for_each(&mut reads);
        }
        let decisive: Vec<ValueId> =
            flow.phis.values().chain(flow.returns.values()).flatten().copied().collect();
        decisive.into_iter().for_each(|value| flow.outlives(value));
        flow
    }

    fn outlives(&mut self, value: ValueId) {
        self.outlives_block[value.index()] = true;
    }

    fn outlives_block(&self, value: ValueId) -> bool {
        self.outlives_block[value.index()]
    }

    fn of_phi(&self, phi: ValueId) -> &[ValueId] {
        self.phis.get(&phi).map_or(&[], Vec::as_slice)
    }

    fn of_return(&self, block: BlockId) -> &[ValueId] {
        self.returns.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// Whether the two sides of a branch can bring different values to a phi.
fn has_different_values(body: &Body, branch: BlockId, at: BlockId, phi: &Phi) -> bool {
    let brought_by = |side: BlockId| {
        let mut brought: Vec<Option<ValueId>> = Vec::new();
        let mut seen = vec![false; body.blocks.len()];
        let mut todo = vec![(branch, side)];
        while let Some((from, to)) = todo.pop() {
            if to == at {
                let inputs = body.blocks[at].predecessors.iter().zip(&phi.inputs);
                brought.extend(inputs.filter(|(block, _)| **block == from).map(|(_, it)| *it));
            } else if to != branch && !std::mem::replace(&mut seen[to.index()], true) {
                todo.extend(body.blocks[to].terminator.successors().map(|next| (to, next)));
            }
        }
        let constant =
            |value: &Option<ValueId>| match &body.defining_instruction((*value)?)?.operation {
                Operation::Constant(Constant::Literal(Literal::Int(constant))) => Some(*constant),
                _ => None,
            };
        let mut constants: Vec<Option<i32>> = brought.iter().map(constant).collect();
        constants.sort_unstable();
        constants.dedup();
        constants
    };
    let mut sides = body.blocks[branch].terminator.successors().map(brought_by);
    let first = sides.next();
    sides.any(|side| Some(side) != first)
}

impl ValueFacts {
    /// The variables that were read afresh, under the locks of a write, to decide whether to write.
    pub(super) fn checked(&self, deciders: &[BlockId], write: &LocalWrite) -> Vec<Variable> {
        let mut checked = write.target.checked.clone();
        for decider in deciders {
            for fact in self.branches.get(decider).map_or(&[][..], Vec::as_slice) {
                let is_fresh = fact.phase == Phase::Current
                    && match self.blocks[fact.block as usize].start {
                        BlockStart::Here(start) => write.held.contains(&start),
                        BlockStart::Outside => true,
                        BlockStart::Callee => false,
                    };
                let variable = self.origins[fact.origin as usize].variable;
                if is_fresh && variable.field.is_some() && !checked.contains(&variable) {
                    checked.push(variable);
                }
            }
        }
        checked
    }

    /// The lock of the block that a fact was read in.
    pub(super) fn lock_of(&self, fact: &TrackedValue) -> Option<LockExpression> {
        self.blocks[fact.block as usize].own.lock
    }
}

/// Keeps the first few, sorted.
pub(super) fn first_few(mut variables: Vec<Variable>) -> Vec<Variable> {
    variables.sort_unstable();
    variables.dedup();
    variables.truncate(MOST_CHECKED);
    variables
}
