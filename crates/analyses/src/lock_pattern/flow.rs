//! The flow of acquired and released locks through one method (paper, 4.2 to 4.4).
//!
//! The state is a stack of frames, one for each lock that is held, the lowest one standing for the
//! method itself. A frame holds R, the locks that were acquired and released since the frame's own
//! lock was taken. A lock that is released while it is already in R of the same frame was acquired
//! and released twice (T): with a context if the frame has a lock, else as a potential witness that
//! callers may give a context to.

use std::collections::BTreeMap;
use std::rc::Rc;

use program::callgraph::CallKind;
use program::dataflow::{self, BlockTransition, Forward};
use program::ids::{BlockId, FieldId, MethodId, ValueId};
use program::ir::{Block, Body, Call, Instruction, Operation};
use program::models::Effect;

use rustc_hash::FxHashMap;

use super::config::MOST_PAIRED;
use super::summary::{AcquiredAt, CalleeSummaries, LocalFacts, Lock};
use super::{REACQUIRED_LOCK, REACQUIRED_LOCK_PAIR};
use crate::Context;
use crate::locks::aliases::Aliases;
use crate::locks::expression::{CallTerms, ExpressionRoot, Expressions, LockExpression};
use crate::locks::{LockEvent, implicit_lock, is_confined, lock_events, succeeded, touches_lock};

/// An acquisition: where, and how it goes on inside the call when it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Acquisition {
    /// Bytecode offset of the instruction that acquires, or of the call that leads there.
    pub offset: u32,
    /// Calls on the way whose target is a guess.
    pub guesses: u8,
    /// The method called, and the lock as that method names it.
    pub inside: Option<(MethodId, Lock)>,
}

/// Where two acquisitions follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcquisitionPair {
    /// The method both are in.
    pub method: MethodId,
    /// The first.
    pub first: Acquisition,
    /// The second.
    pub second: Acquisition,
}

/// Two locks acquired and released one after the other; the same lock twice, unless the variant
/// with two witnesses is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reacquisition {
    /// Calls from the method at hand to the place.
    pub depth: u16,
    /// The lock of the first acquisition, in the terms of the method at hand.
    pub first: Lock,
    /// The lock of the second.
    pub second: Lock,
    /// Where it happens.
    pub pair: AcquisitionPair,
    /// The call on the way to the place: its offset and its target.
    pub through: Option<(u32, MethodId)>,
}

impl Reacquisition {
    /// The rule that this is an instance of.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        if self.first.expression == self.second.expression {
            REACQUIRED_LOCK
        } else {
            REACQUIRED_LOCK_PAIR
        }
    }

    /// What distinguishes two instances.
    pub(super) fn key(&self) -> ReacquisitionKey {
        (self.pair.method, self.pair.second.offset, self.first, self.second)
    }
}

/// What distinguishes two instances: where the second acquisition is, and the locks.
pub(super) type ReacquisitionKey = (MethodId, u32, Lock, Lock);

/// A full instance of the pattern: twice, and the context lock held by the method at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatternInstance {
    /// What is acquired twice.
    pub reacquisition: Reacquisition,
    /// The context lock; `None` when it cannot be named.
    pub context: Option<LockExpression>,
    /// Where the context lock is taken.
    pub context_offset: u32,
}

/// What the flow found out about a method by itself, sorted.
#[derive(Debug, Default)]
pub struct FlowFacts {
    /// Locks acquired twice in the method while it holds none: callers may give them a context.
    pub reacquisitions: Vec<Reacquisition>,
    /// Instances of the pattern within the method.
    pub patterns: Vec<PatternInstance>,
    /// The calls that can lead to a lock, with the locks held there.
    pub calls: Vec<CallContext>,
}

/// The locks held at a call.
#[derive(Debug)]
pub struct CallContext {
    /// Bytecode offset of the call.
    pub offset: u32,
    /// The innermost lock that is held: its name if it has one, and where it was taken.
    pub context: Option<(Option<LockExpression>, u32)>,
    /// All locks that are held and have a name.
    pub held: Vec<LockExpression>,
}

/// A lock that is held, and what was released meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// How the lock is named; `None` for the method itself, and for locks without a name.
    expression: Option<LockExpression>,
    /// The object whose monitor it is, when it is one.
    object: Option<ValueId>,
    offset: u32,
    /// The method itself, or a lock that was held already: not a context.
    is_transparent: bool,
    /// R, sorted by lock.
    released: Vec<(Lock, Acquisition)>,
}

impl Frame {
    fn of_method() -> Frame {
        Frame {
            expression: None,
            object: None,
            offset: 0,
            is_transparent: true,
            released: Vec::new(),
        }
    }

    fn is_same_lock(&self, other: &Frame) -> bool {
        (self.expression, self.object, self.offset)
            == (other.expression, other.object, other.offset)
    }

    /// The entries of R for one expression.
    fn named_like(&self, expression: &LockExpression) -> &[(Lock, Acquisition)] {
        let start = self.released.partition_point(|(lock, _)| lock.expression < *expression);
        let rest = &self.released[start..];
        &rest[..rest.partition_point(|(lock, _)| lock.expression == *expression)]
    }

    /// Of the entries of R for other expressions, those acquired at the lowest offsets.
    fn others_than(&self, expression: &LockExpression) -> Vec<(Lock, Acquisition)> {
        let others = self.released.iter().filter(|(lock, _)| lock.expression != *expression);
        let mut others: Vec<(Lock, Acquisition)> = others.copied().collect();
        others.sort_unstable_by_key(|(lock, acquisition)| (acquisition.offset, *lock));
        others.truncate(MOST_PAIRED);
        others
    }

    /// Adds to R; says whether R changed.
    fn add(&mut self, lock: Lock, acquisition: Acquisition) -> bool {
        match self.released.binary_search_by_key(&lock, |(lock, _)| *lock) {
            Ok(known) if self.released[known].1 <= acquisition => false,
            Ok(known) => {
                self.released[known].1 = acquisition;
                true
            }
            Err(position) => {
                self.released.insert(position, (lock, acquisition));
                true
            }
        }
    }
}

/// The data-flow state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    frames: Vec<Frame>,
    /// Locks that are held if a value turns out to be true: the results of `tryLock`.
    conditional: Vec<(ValueId, Option<LockExpression>, u32)>,
}

/// The analysis of one method.
pub struct Flow<'a> {
    context: &'a Context<'a>,
    expressions: &'a Expressions<'a>,
    locals: &'a LocalFacts,
    acquired: &'a CalleeSummaries<'a>,
    aliases: &'a Aliases,
    body: &'a Body,
    wants_pairs: bool,
    reacquisitions: BTreeMap<ReacquisitionKey, Reacquisition>,
    patterns: BTreeMap<(u32, ReacquisitionKey), PatternInstance>,
    calls: BTreeMap<u32, CallContext>,
    /// What each call acquires and releases, by offset, as far as it can be part of a pair.
    acquired_by: FxHashMap<u32, Rc<Acquisitions>>,
}

/// What a call acquires and releases, and of that what it may acquire more than once.
#[derive(Default)]
struct Acquisitions {
    once: Vec<(Lock, Acquisition)>,
    repeatedly: Vec<(Lock, Acquisition)>,
}

impl<'a> Flow<'a> {
    /// The analysis of the method that `expressions` belongs to.
    #[must_use]
    pub(super) fn new(
        context: &'a Context<'a>,
        expressions: &'a Expressions<'a>,
        locals: &'a LocalFacts,
        acquired: &'a CalleeSummaries<'a>,
        aliases: &'a Aliases,
    ) -> Flow<'a> {
        Flow {
            context,
            expressions,
            locals,
            acquired,
            aliases,
            body: expressions.body,
            wants_pairs: context.config.wants(REACQUIRED_LOCK_PAIR),
            reacquisitions: BTreeMap::new(),
            patterns: BTreeMap::new(),
            calls: BTreeMap::new(),
            acquired_by: FxHashMap::default(),
        }
    }

    /// Runs it.
    #[must_use]
    pub fn solve(mut self) -> FlowFacts {
        self.acquired_by = self.acquisitions();
        if self.acquired_by.is_empty() && !self.takes_locks() {
            // Nothing can be found here, and every call is made without a lock.
            let free = |call: &CallTerms| CallContext {
                offset: call.offset,
                context: None,
                held: Vec::new(),
            };
            let calls = self.locals.calls.iter().map(free).collect();
            return FlowFacts { calls, ..FlowFacts::default() };
        }
        dataflow::solve(self.body, &mut self);
        FlowFacts {
            reacquisitions: self.reacquisitions.into_values().collect(),
            patterns: self.patterns.into_values().collect(),
            calls: self.calls.into_values().collect(),
        }
    }

    /// Whether the method holds a lock at any time.
    fn takes_locks(&self) -> bool {
        let program = self.context.program;
        program.methods[self.method()].is_synchronized()
            || self.body.instructions().any(|instruction| match &instruction.operation {
                Operation::MonitorEnter(_) => true,
                Operation::Call(call) => touches_lock(program.effects_of(call.method)),
                _ => false,
            })
    }

    /// What each call acquires and releases. Locks that only one place of the method acquires, and
    /// that not in a loop, cannot make a pair and are left out: most are of this kind.
    fn acquisitions(&self) -> FxHashMap<u32, Rc<Acquisitions>> {
        let in_loop = offsets_in_loops(self.body);
        // A local object that only one call ever sees, and that once, makes no pair either.
        let mut uses: FxHashMap<ValueId, u32> = FxHashMap::default();
        for root in self.locals.calls.iter().flat_map(CallTerms::expressions) {
            if let ExpressionRoot::Local(value) = root.root {
                *uses.entry(value).or_insert(0) += 1;
            }
        }
        for instruction in self.body.instructions() {
            if let Operation::MonitorEnter(object) = instruction.operation
                && let Some(LockExpression { root: ExpressionRoot::Local(value), .. }) =
                    self.expressions.of(object)
            {
                *uses.entry(value).or_insert(0) += 1;
            }
        }
        let by = |terms: &CallTerms, counts: &dyn Fn(CallKind) -> bool| {
            let is_worth_it = |argument: &LockExpression| match argument.root {
                ExpressionRoot::Local(value) => {
                    self.wants_pairs || uses[&value] > 1 || in_loop(terms.offset)
                }
                ExpressionRoot::Parameter(_)
                | ExpressionRoot::Static(_)
                | ExpressionRoot::Class(_) => true,
            };
            self.acquired
                .of_call(self.context, self.method(), terms, counts, is_worth_it)
                .into_iter()
                .map(|(lock, acquired)| {
                    let inside = match acquired.way {
                        AcquiredAt::Call(_, target, lock) => Some((target, lock)),
                        AcquiredAt::Here(_) => None,
                    };
                    let guesses = acquired.guesses;
                    (lock, Acquisition { offset: terms.offset, guesses, inside })
                })
                .collect::<Vec<_>>()
        };
        let mut places: FxHashMap<LockExpression, u32> = FxHashMap::default();
        let mut found = Vec::new();
        for terms in &self.locals.calls {
            let once = by(terms, &|_| true);
            for (lock, _) in &once {
                *places.entry(lock.expression).or_insert(0) += 1;
            }
            let again = |call_kind| {
                matches!(
                    call_kind,
                    CallKind::Callback { repeatedly: true, .. } | CallKind::CalledBack { .. }
                )
            };
            let targets = self.context.graph.targets(self.method(), terms.offset);
            let repeatedly = if targets.iter().any(|target| again(target.call_kind)) {
                by(terms, &again)
            } else {
                Vec::new()
            };
            found.push((terms.offset, Acquisitions { once, repeatedly }));
        }
        for instruction in self.body.instructions() {
            let own = match &instruction.operation {
                Operation::MonitorEnter(object) => self.expressions.of(*object),
                Operation::Call(call) => self.explicit_lock(call, instruction.offset),
                _ => None,
            };
            if let Some(expression) = own {
                *places.entry(expression).or_insert(0) += 1;
            }
        }
        found
            .into_iter()
            .filter_map(|(offset, mut acquisitions)| {
                if !self.wants_pairs && !in_loop(offset) && acquisitions.repeatedly.is_empty() {
                    acquisitions.once.retain(|(lock, _)| places[&lock.expression] > 1);
                }
                (!acquisitions.once.is_empty()).then(|| (offset, Rc::new(acquisitions)))
            })
            .collect()
    }

    /// The lock that a modelled call acquires.
    fn explicit_lock(&self, call: &Call, offset: u32) -> Option<LockExpression> {
        let program = self.context.program;
        let terms = self.locals.call_at(offset)?;
        program.effects_of(call.method).iter().find_map(|effect| match effect {
            Effect::Acquire { lock, .. } => {
                terms.operand(lock, program.methods[call.method].is_static())
            }
            _ => None,
        })
    }

    fn method(&self) -> MethodId {
        self.body.method
    }

    fn is_held(&self, state: &State, lock: &Lock) -> bool {
        state.frames.iter().filter_map(|frame| frame.expression.as_ref()).any(|held| {
            self.aliases.are_same_lock(self.context.program, self.method(), held, &lock.expression)
        })
    }

    fn acquire(
        &self,
        state: &mut State,
        expression: Option<LockExpression>,
        object: Option<ValueId>,
        offset: u32,
    ) {
        let is_transparent = expression
            .is_some_and(|expression| self.is_held(state, &Lock { expression, guard: None }));
        state.frames.push(Frame {
            expression,
            object,
            offset,
            is_transparent,
            released: Vec::new(),
        });
    }

    /// Takes the frame of a lock from the stack and records it as released, with all that was
    /// released inside.
    fn release(
        &mut self,
        state: &mut State,
        expression: Option<LockExpression>,
        object: Option<ValueId>,
    ) {
        let by_object = object
            .and_then(|object| state.frames.iter().rposition(|frame| frame.object == Some(object)));
        let found = by_object.or_else(|| {
            state
                .frames
                .iter()
                .rposition(|frame| frame.expression == expression && !Self::is_root(frame))
        });
        let Some(position) = found else { return };
        let frame = state.frames.remove(position);
        // The lock itself comes first: what was released inside did not come before it, and made
        // its pairs then, with all locks that were held.
        let below = Self::counting(state, position - 1);
        if let Some(expression) = frame.expression
            && !frame.is_transparent
        {
            let acquisition = Acquisition { offset: frame.offset, guesses: 0, inside: None };
            self.released(state, below, &[(Lock { expression, guard: None }, acquisition)]);
        }
        for (lock, acquisition) in &frame.released {
            state.frames[below].add(*lock, *acquisition);
        }
    }

    /// The frame at a position, or the one below it that counts: a lock that was held already does
    /// not begin a run of its own.
    fn counting(state: &State, mut position: usize) -> usize {
        while position > 0 && state.frames[position].is_transparent {
            position -= 1;
        }
        position
    }

    fn is_root(frame: &Frame) -> bool {
        frame.expression.is_none() && frame.object.is_none() && frame.is_transparent
    }

    /// Records locks as acquired and released within the frame at a position, or the one below it
    /// that counts. What was released before makes pairs with them, in this frame and in those
    /// below: those locks are held too, and need not be given back in order.
    fn released(&mut self, state: &mut State, position: usize, locks: &[(Lock, Acquisition)]) {
        let position = Self::counting(state, position);
        for frame in 0..=position {
            if frame == 0 || !state.frames[frame].is_transparent {
                self.pair(state, frame, locks);
            }
        }
        for (lock, acquisition) in locks {
            if !self.is_held(state, lock) {
                state.frames[position].add(*lock, *acquisition);
            }
        }
    }

    /// Finds the pairs that later acquisitions make with what a frame has seen released.
    fn pair(&mut self, state: &State, position: usize, locks: &[(Lock, Acquisition)]) {
        let frame = &state.frames[position];
        for (lock, second) in locks {
            if self.is_held(state, lock) || is_confined(self.body, &lock.expression) {
                continue;
            }
            for (earlier, first) in frame.named_like(&lock.expression) {
                if let Some(met) = earlier.meet(lock, self.context.program) {
                    let pair = AcquisitionPair {
                        method: self.body.method,
                        first: *first,
                        second: *second,
                    };
                    let reacquisition =
                        Reacquisition { depth: 0, first: met, second: met, pair, through: None };
                    Self::found(&mut self.reacquisitions, &mut self.patterns, frame, reacquisition);
                }
            }
            if !self.wants_pairs {
                continue;
            }
            for (earlier, first) in frame.others_than(&lock.expression) {
                let pair = AcquisitionPair { method: self.body.method, first, second: *second };
                let reacquisition =
                    Reacquisition { depth: 0, first: earlier, second: *lock, pair, through: None };
                Self::found(&mut self.reacquisitions, &mut self.patterns, frame, reacquisition);
            }
        }
    }

    /// Records an instance: of the pattern if the frame is a lock's, of a potential witness if it
    /// is the method's.
    fn found(
        reacquisitions: &mut BTreeMap<ReacquisitionKey, Reacquisition>,
        patterns: &mut BTreeMap<(u32, ReacquisitionKey), PatternInstance>,
        frame: &Frame,
        reacquisition: Reacquisition,
    ) {
        if Self::is_root(frame) {
            if !reacquisition.first.expression.is_local()
                && !reacquisition.second.expression.is_local()
            {
                let known = reacquisitions.entry(reacquisition.key()).or_insert(reacquisition);
                *known = (*known).min(reacquisition);
            }
            return;
        }
        let pattern = PatternInstance {
            reacquisition,
            context: frame.expression,
            context_offset: frame.offset,
        };
        let known = patterns.entry((frame.offset, reacquisition.key())).or_insert(pattern);
        *known = (*known).min(pattern);
    }

    fn call(&mut self, state: &mut State, call: &Call, instruction: &Instruction) {
        let program = self.context.program;
        let locals = self.locals;
        if locals.call_at(instruction.offset).is_none() {
            return;
        }
        if touches_lock(program.effects_of(call.method)) {
            for event in lock_events(program, self.expressions, instruction) {
                self.lock_event(state, event, instruction.offset);
            }
            return;
        }
        if let Some(acquisitions) = self.acquired_by.get(&instruction.offset).cloned() {
            let top = state.frames.len() - 1;
            self.released(state, top, &acquisitions.once);
            self.released(state, top, &acquisitions.repeatedly);
        }
        let context = state.frames.iter().rev().find(|frame| !frame.is_transparent);
        self.calls.insert(
            instruction.offset,
            CallContext {
                offset: instruction.offset,
                context: context.map(|frame| (frame.expression, frame.offset)),
                held: state.frames.iter().filter_map(|frame| frame.expression).collect(),
            },
        );
    }

    fn lock_event(&mut self, state: &mut State, event: LockEvent, offset: u32) {
        match event {
            LockEvent::Acquire { lock, object } => self.acquire(state, lock, object, offset),
            LockEvent::TryAcquire { lock, result } => {
                state.conditional.push((result, lock, offset));
            }
            LockEvent::Release { lock, object } => self.release(state, lock, object),
            LockEvent::Wait { lock } => {
                let frames = &mut state.frames;
                if lock.is_some()
                    && let Some(at) = frames.iter().rposition(|frame| frame.expression == lock)
                {
                    frames[at..].iter_mut().for_each(|frame| frame.released.clear());
                }
            }
        }
    }

    fn forget(state: &mut State, changed: impl Fn(&LockExpression) -> bool) {
        for frame in &mut state.frames {
            frame.released.retain(|(lock, _)| !changed(&lock.expression));
        }
    }

    fn forget_value(state: &mut State, value: ValueId) {
        Self::forget(state, |expression| expression.depends_on_value(value));
        state.conditional.retain(|(result, _, _)| *result != value);
    }

    fn forget_field(state: &mut State, field: FieldId) {
        Self::forget(state, |expression| expression.depends_on_field(field));
    }
}

impl Forward for Flow<'_> {
    type State = State;

    fn entry(&mut self, _body: &Body) -> State {
        let mut state = State { frames: vec![Frame::of_method()], conditional: Vec::new() };
        let program = self.context.program;
        if program.methods[self.method()].is_synchronized()
            && let Some(lock) = implicit_lock(program, self.method())
        {
            self.acquire(&mut state, Some(lock), None, 0);
        }
        state
    }

    fn join(&mut self, into: &mut State, from: &State) -> bool {
        let common = into
            .frames
            .iter()
            .zip(&from.frames)
            .take_while(|(one, other)| one.is_same_lock(other))
            .count();
        // Frames that only one path has are left as they would be by a release.
        let rest = into.frames.split_off(common);
        let mut changed = !rest.is_empty();
        for (frame, other) in into.frames.iter_mut().zip(&from.frames) {
            for (lock, acquisition) in &other.released {
                changed |= frame.add(*lock, *acquisition);
            }
        }
        let beyond = rest.iter().chain(&from.frames[common..]);
        // Never empty: the frame of the method itself is common to all paths.
        let last = Self::counting(into, into.frames.len().saturating_sub(1));
        if let Some(last) = into.frames.get_mut(last) {
            for (lock, acquisition) in beyond.flat_map(|frame| &frame.released) {
                changed |= last.add(*lock, *acquisition);
            }
        }
        let before = into.conditional.len();
        into.conditional.retain(|conditional| from.conditional.contains(conditional));
        changed || into.conditional.len() != before
    }

    fn enter_block(&mut self, state: &mut State, block: &Block) {
        for phi in &block.phis {
            Self::forget_value(state, phi.result);
        }
        if let Some(caught) = block.caught {
            Self::forget_value(state, caught);
        }
    }

    fn instruction(&mut self, state: &mut State, instruction: &Instruction) {
        if let Some(result) = instruction.result {
            Self::forget_value(state, result);
        }
        match &instruction.operation {
            Operation::MonitorEnter(_) | Operation::MonitorExit(_) => {
                for event in lock_events(self.context.program, self.expressions, instruction) {
                    self.lock_event(state, event, instruction.offset);
                }
            }
            Operation::PutField { field, .. } | Operation::PutStatic { field, .. } => {
                Self::forget_field(state, *field);
            }
            Operation::ArrayStore { .. } => {
                Self::forget(state, LockExpression::depends_on_elements);
            }
            Operation::Call(call) => self.call(state, call, instruction),
            _ => {}
        }
    }

    /// A callee that throws may have acquired and released its locks before.
    fn thrown(&mut self, state: &State, instruction: &Instruction) -> State {
        let mut thrown = state.clone();
        if let Operation::Call(call) = &instruction.operation
            && !touches_lock(self.context.program.effects_of(call.method))
        {
            self.call(&mut thrown, call, instruction);
        }
        thrown
    }

    fn leave_by(&mut self, state: &mut State, transition: &BlockTransition<'_>) {
        if state.conditional.is_empty() {
            return;
        }
        let Some((tested, is_true)) = succeeded(self.body, transition.block, transition.edge)
        else {
            return;
        };
        let Some(at) = state.conditional.iter().position(|(result, _, _)| *result == tested) else {
            return;
        };
        let (_, expression, offset) = state.conditional.remove(at);
        if is_true {
            self.acquire(state, expression, None, offset);
        }
    }
}

/// Tells which offsets may be executed more than once in one run of the method: those of blocks
/// between the head of a loop and a jump back to it, blocks being in reverse post-order.
fn offsets_in_loops(body: &Body) -> impl Fn(u32) -> bool {
    let mut loops: Vec<(BlockId, BlockId)> = Vec::new();
    for (id, block) in body.blocks.iter_with_ids() {
        loops.extend(block.predecessors.iter().filter(|from| **from >= id).map(|from| (id, *from)));
    }
    let mut offsets: Vec<u32> = body
        .blocks
        .iter_with_ids()
        .filter(|(id, _)| loops.iter().any(|(head, back)| head <= id && id <= back))
        .flat_map(|(_, block)| block.instructions.iter().map(|instruction| instruction.offset))
        .collect();
    offsets.sort_unstable();
    move |offset| offsets.binary_search(&offset).is_ok()
}
