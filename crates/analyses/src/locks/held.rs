//! The locks that are held, point by point, through one method.
//!
//! Misses locks that are taken or given back on some paths only: where paths meet, what all of them
//! hold counts as held, wherever each has acquired it. Two acquisitions are of one lock when its names say so.

use program::Program;
use program::callgraph::CallGraph;
use program::dataflow::{self, BlockTransition, Forward};
use program::ids::{MethodId, TypedVec, ValueId};
use program::ir::{Block, Body, Instruction, Operation, Terminator};
use program::summaries;

use super::aliases::Aliases;
use super::events::{LockEvent, implicit_lock, lock_events, succeeded, touches_lock};
use super::expression::{ExpressionRoot, Expressions, LockExpression};
use super::is_confined;

/// One acquisition that has not been undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenAcquisition {
    /// How the lock is named, if it can be.
    pub lock: Option<LockExpression>,
    /// The object whose monitor it is, when it is one.
    pub object: Option<ValueId>,
    /// An object that stands for the acquisition, and gives the lock back when it is closed.
    pub handle: Option<ValueId>,
    /// Where it was acquired; [`OpenAcquisition::is_from_caller`] tells whether that is in this method.
    pub offset: u32,
    /// Whether it was held before, or keeps nobody out: such an acquisition changes nothing.
    pub is_invisible: bool,
}

/// Locks held by all callers count down from here.
const FROM_CALLER: u32 = u32::MAX;

/// No method has this many bytes of code: the JVM's limit is far below.
const LARGEST_OFFSET: u32 = 1 << 24;

impl OpenAcquisition {
    /// Whether every caller holds it already.
    #[must_use]
    pub fn is_from_caller(&self) -> bool {
        self.offset > LARGEST_OFFSET
    }

    /// Whether two paths hold the same lock in the same way, wherever each of them has acquired it.
    fn is_same_lock(&self, other: &OpenAcquisition) -> bool {
        let has_name = self.lock.is_some() || self.object.is_some();
        let offset = if has_name { other.offset } else { self.offset };
        OpenAcquisition { offset, ..*self } == *other
    }
}

/// The locks that are held at one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldLocks {
    stack: Vec<OpenAcquisition>,
    /// Locks that are held if a value turns out to be true: the results of `tryLock`.
    conditional: Vec<(ValueId, Option<LockExpression>, u32)>,
}

impl HeldLocks {
    /// The acquisitions that count, the latest last.
    pub fn visible(&self) -> impl DoubleEndedIterator<Item = &OpenAcquisition> {
        self.stack.iter().filter(|held| !held.is_invisible)
    }

    /// The names of all locks that are held.
    pub fn names(&self) -> impl Iterator<Item = &LockExpression> {
        self.stack.iter().filter_map(|held| held.lock.as_ref())
    }

    /// Keeps what is held on another path too; says whether that is less.
    pub fn join(&mut self, other: &HeldLocks) -> bool {
        let before = (self.stack.len(), self.conditional.len());
        let mut others = other.stack.clone();
        let mut has_moved = false;
        self.stack.retain_mut(|held| {
            let Some(at) = others.iter().position(|other| held.is_same_lock(other)) else {
                return false;
            };
            // Where it was acquired depends on the path; the first place stands for all.
            let offset = held.offset.min(others.remove(at).offset);
            has_moved |= offset != held.offset;
            held.offset = offset;
            true
        });
        self.conditional.retain(|conditional| other.conditional.contains(conditional));
        has_moved || before != (self.stack.len(), self.conditional.len())
    }
}

/// What calling a method does to the locks of its caller, in the method's own terms, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockChanges {
    /// Held afterwards, and not before.
    pub acquired: Vec<LockExpression>,
    /// Given back.
    pub released: Vec<LockExpression>,
    /// Given back for a while.
    pub waited_for: Vec<LockExpression>,
}

impl LockChanges {
    /// Whether it does nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.acquired.is_empty() && self.released.is_empty() && self.waited_for.is_empty()
    }
}

/// What the flow of held locks needs to know about the program.
#[derive(Clone, Copy)]
pub struct LockFlowInputs<'a> {
    /// The program.
    pub program: &'a Program,
    /// Who calls whom.
    pub graph: &'a CallGraph,
    /// Locks under two names.
    pub aliases: &'a Aliases,
}

/// What a call does to locks, in the terms of the caller.
struct ChangesHere {
    events: Vec<LockEvent>,
    acquired: Vec<Option<LockExpression>>,
    /// What stands for the acquisitions from then on.
    handle: Option<ValueId>,
}

/// What methods do to the locks of their callers.
pub trait KnownChanges {
    /// What this method does.
    fn of(&self, method: MethodId) -> &LockChanges;
}

impl KnownChanges for TypedVec<MethodId, LockChanges> {
    fn of(&self, method: MethodId) -> &LockChanges {
        &self[method]
    }
}

impl KnownChanges for summaries::Summaries<'_, LockChanges> {
    fn of(&self, method: MethodId) -> &LockChanges {
        self.of(method)
    }
}

/// Applies what instructions do to the locks that are held.
pub struct LockTransfer<'a> {
    inputs: LockFlowInputs<'a>,
    expressions: &'a Expressions<'a>,
    changes: &'a dyn KnownChanges,
    /// What every caller holds.
    from_callers: &'a [LockExpression],
}

impl<'a> LockTransfer<'a> {
    /// The steps of the method that `expressions` belongs to.
    #[must_use]
    pub fn new(
        inputs: LockFlowInputs<'a>,
        expressions: &'a Expressions<'a>,
        changes: &'a dyn KnownChanges,
        from_callers: &'a [LockExpression],
    ) -> LockTransfer<'a> {
        LockTransfer { inputs, expressions, changes, from_callers }
    }

    /// The body whose steps these are.
    #[must_use]
    pub fn body(&self) -> &'a Body {
        self.expressions.body
    }

    /// The method whose steps these are.
    #[must_use]
    pub fn method(&self) -> MethodId {
        self.body().method
    }

    /// The locks that are held when the method starts.
    #[must_use]
    pub fn at_entry(&self) -> HeldLocks {
        let mut held = HeldLocks::default();
        for (offset, lock) in (0..FROM_CALLER).rev().zip(self.from_callers) {
            self.acquire(&mut held, Some(*lock), None, offset);
        }
        let method = self.body().method;
        if self.inputs.program.methods[method].is_synchronized()
            && let Some(lock) = implicit_lock(self.inputs.program, method)
        {
            self.acquire(&mut held, Some(lock), None, 0);
        }
        held
    }

    /// Whether one of the held locks is this one.
    #[must_use]
    pub fn is_held(&self, held: &HeldLocks, lock: &LockExpression) -> bool {
        held.names().any(|name| self.are_same_lock(name, lock))
    }

    /// Whether two names are of one lock.
    #[must_use]
    pub fn are_same_lock(&self, one: &LockExpression, other: &LockExpression) -> bool {
        let LockFlowInputs { program, aliases, .. } = self.inputs;
        aliases.are_same_lock(program, self.body().method, one, other)
    }

    fn acquire(
        &self,
        held: &mut HeldLocks,
        lock: Option<LockExpression>,
        object: Option<ValueId>,
        offset: u32,
    ) {
        let is_invisible =
            lock.is_some_and(|lock| self.is_held(held, &lock) || is_confined(self.body(), &lock));
        held.stack.push(OpenAcquisition { lock, object, handle: None, offset, is_invisible });
    }

    /// What the only method that a call can run does to the locks of its caller, in the caller's
    /// terms. Which of several methods runs is a guess; only what is sure counts.
    fn changes_by_call(&self, instruction: &Instruction) -> Option<ChangesHere> {
        let LockFlowInputs { program, graph, .. } = self.inputs;
        let Operation::Call(call) = &instruction.operation else { return None };
        let [target] = graph.targets(self.body().method, instruction.offset) else { return None };
        let changes = self.changes.of(target.method);
        if changes.is_empty() || touches_lock(program.effects_of(call.method)) {
            return None;
        }
        let terms = self.expressions.terms(call, instruction.offset, true);
        let named = |lock: &LockExpression| {
            terms.translate(program, *lock, target).map(|lock| lock.expression)
        };
        let waits = changes.waited_for.iter().map(|lock| LockEvent::Wait { lock: named(lock) });
        let release = |lock| LockEvent::Release { lock: named(lock), object: None };
        let is_constructor = &*program.methods[call.method].name == "<init>";
        Some(ChangesHere {
            events: waits.chain(changes.released.iter().map(release)).collect(),
            acquired: changes.acquired.iter().map(named).collect(),
            handle: match is_constructor {
                true => call.arguments.first().copied(),
                false => instruction.result,
            },
        })
    }

    /// Applies an instruction; returns the acquisitions that count and came to an end, if only for a
    /// while.
    pub fn apply_instruction(
        &self,
        held: &mut HeldLocks,
        instruction: &Instruction,
    ) -> Vec<OpenAcquisition> {
        let mut ended = Vec::new();
        for event in lock_events(self.inputs.program, self.expressions, instruction) {
            self.apply_event(held, event, instruction.offset, &mut ended);
        }
        if let Some(changes) = self.changes_by_call(instruction) {
            for event in changes.events {
                self.apply_event(held, event, instruction.offset, &mut ended);
            }
            for lock in changes.acquired {
                self.acquire(held, lock, None, instruction.offset);
                if let Some(acquisition) = held.stack.last_mut() {
                    acquisition.handle = changes.handle;
                }
            }
        }
        ended
    }

    fn apply_event(
        &self,
        held: &mut HeldLocks,
        event: LockEvent,
        offset: u32,
        ended: &mut Vec<OpenAcquisition>,
    ) {
        match event {
            LockEvent::Acquire { lock, object } => self.acquire(held, lock, object, offset),
            LockEvent::TryAcquire { lock, result } => {
                held.conditional.push((result, lock, offset));
            }
            LockEvent::Release { lock, object } => {
                let by_object = object.and_then(|object| {
                    held.stack.iter().rposition(|held| held.object == Some(object))
                });
                let by_name = || held.stack.iter().rposition(|held| held.lock == lock);
                let by_handle = || {
                    let ExpressionRoot::Local(handle) = lock?.root else { return None };
                    let stands_for = |held: &OpenAcquisition| {
                        held.handle.is_some_and(|it| self.body().without_casts(it) == handle)
                    };
                    held.stack.iter().rposition(stands_for)
                };
                if let Some(position) = by_object.or_else(by_name).or_else(by_handle) {
                    let released = held.stack.remove(position);
                    ended.extend((!released.is_invisible).then_some(released));
                }
            }
            LockEvent::Wait { lock } => {
                let Some(lock) = lock else { return };
                // However often the lock was taken, it is given back altogether.
                let given_back = held
                    .visible()
                    .rfind(|held| held.lock.is_some_and(|held| self.are_same_lock(&held, &lock)));
                ended.extend(given_back);
            }
        }
    }

    /// Learns from the way between two blocks whether a lock that was tried is held.
    pub fn apply_transition(&self, held: &mut HeldLocks, transition: &BlockTransition<'_>) {
        if held.conditional.is_empty() {
            return;
        }
        let Some((tested, is_true)) = succeeded(self.body(), transition.block, transition.edge)
        else {
            return;
        };
        let Some(at) = held.conditional.iter().position(|(result, _, _)| *result == tested) else {
            return;
        };
        let (_, lock, offset) = held.conditional.remove(at);
        if is_true {
            self.acquire(held, lock, None, offset);
        }
    }
}

struct HeldFlow<'a> {
    transfer: LockTransfer<'a>,
}

impl Forward for HeldFlow<'_> {
    type State = HeldLocks;

    fn entry(&mut self, _body: &Body) -> HeldLocks {
        self.transfer.at_entry()
    }

    fn join(&mut self, into: &mut HeldLocks, from: &HeldLocks) -> bool {
        into.join(from)
    }

    fn enter_block(&mut self, _state: &mut HeldLocks, _block: &Block) {}

    fn instruction(&mut self, state: &mut HeldLocks, instruction: &Instruction) {
        self.transfer.apply_instruction(state, instruction);
    }

    fn leave_by(&mut self, state: &mut HeldLocks, transition: &BlockTransition<'_>) {
        self.transfer.apply_transition(state, transition);
    }
}

/// Visits every instruction with the locks held before it.
pub fn visit(
    transfer: LockTransfer<'_>,
    mut visitor: impl FnMut(&Instruction, &HeldLocks, &LockTransfer<'_>),
) {
    let body = transfer.body();
    let mut flow = HeldFlow { transfer };
    let states = dataflow::solve(body, &mut flow);
    for (id, block) in body.blocks.iter_with_ids() {
        let Some(mut state) = states[id].clone() else { continue };
        for instruction in &block.instructions {
            visitor(instruction, &state, &flow.transfer);
            flow.transfer.apply_instruction(&mut state, instruction);
        }
    }
}

/// What every method does to the locks of its callers.
#[must_use]
pub fn lock_changes(inputs: LockFlowInputs<'_>) -> TypedVec<MethodId, LockChanges> {
    let LockFlowInputs { program, graph, .. } = inputs;
    summaries::solve(graph, program.methods.len(), |method, known| {
        let Some(body) = program.body(method) else { return of_library(inputs, method) };
        let own = body.instructions().any(|instruction| match &instruction.operation {
            Operation::Call(call) => {
                touches_lock(program.effects_of(call.method))
                    || matches!(
                        graph.targets(method, instruction.offset),
                        [target] if !known.of(target.method).is_empty()
                    )
            }
            _ => false,
        });
        if !own {
            return LockChanges::default();
        }
        let no_getters = |_: MethodId| None;
        let expressions = Expressions::new(program, graph, body, &no_getters);
        changes_of(LockTransfer::new(inputs, &expressions, known, &[]))
    })
}

fn of_library(inputs: LockFlowInputs<'_>, method: MethodId) -> LockChanges {
    use program::models::{Effect, Operand};
    let receiver = LockExpression::new(ExpressionRoot::Parameter(0));
    let mut changes = LockChanges::default();
    for effect in inputs.program.effects_of(method) {
        match effect {
            Effect::Release { lock: Operand::Receiver, .. } => changes.released.push(receiver),
            Effect::Wait { on: Operand::Receiver, .. } => changes.waited_for.push(receiver),
            _ => {}
        }
    }
    changes
}

fn changes_of(transfer: LockTransfer<'_>) -> LockChanges {
    let body = transfer.body();
    let program = transfer.inputs.program;
    let mut flow = HeldFlow { transfer };
    let states = dataflow::solve(body, &mut flow);
    let mut changes = LockChanges::default();
    let mut at_return: Option<HeldLocks> = None;
    for (id, block) in body.blocks.iter_with_ids() {
        let Some(mut state) = states[id].clone() else { continue };
        for instruction in &block.instructions {
            for event in flow.transfer.events_for_caller(&state, instruction) {
                match event {
                    LockEvent::Release { lock: Some(lock), .. } => changes.released.push(lock),
                    LockEvent::Wait { lock: Some(lock) } => changes.waited_for.push(lock),
                    _ => {}
                }
            }
            flow.transfer.apply_instruction(&mut state, instruction);
        }
        if matches!(block.terminator, Terminator::Return(_)) {
            match &mut at_return {
                Some(known) => {
                    known.join(&state);
                }
                unset => *unset = Some(state),
            }
        }
    }
    if let Some(state) = &at_return {
        let implicit = program.methods[body.method].is_synchronized();
        let kept = state.visible().filter(|held| held.object.is_none());
        let explicit = kept.filter(|held| !(implicit && held.offset == 0));
        changes.acquired.extend(explicit.filter_map(|held| held.lock));
    }
    for list in [&mut changes.acquired, &mut changes.released, &mut changes.waited_for] {
        list.retain(|lock| !lock.is_local());
        list.sort_unstable();
        list.dedup();
    }
    changes
}

impl LockTransfer<'_> {
    /// What an instruction does to locks that this method did not take itself.
    fn events_for_caller(&self, held: &HeldLocks, instruction: &Instruction) -> Vec<LockEvent> {
        // A monitor is given back by the method that took it.
        if !matches!(instruction.operation, Operation::Call(_)) {
            return Vec::new();
        }
        let mut events = lock_events(self.inputs.program, self.expressions, instruction);
        events.extend(self.changes_by_call(instruction).into_iter().flat_map(|it| it.events));
        events.retain(|event| match event {
            LockEvent::Release { lock: Some(lock), .. } => !self.is_held(held, lock),
            // However often the lock was taken, callers included, it is given back altogether.
            LockEvent::Wait { lock } => lock.is_some(),
            _ => false,
        });
        events
    }
}
