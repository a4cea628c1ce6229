//! The data flow of one body: locks, fresh objects and order, point by point (dissertation, 3.4.1 and Figure
//! 3.8).
//!
//! What a method does is computed once, in its own terms, and recorded as a list: the events that it
//! may cause, each with the state in which it happens. A context only fills in what the alias sets are, which
//! locks callers hold and what has happened before.
//!
//! Property: a lock of a state is held on every path to its point, if the locks of callers are as the context
//! says.
//!
//! Misses locks that are taken on some paths only, and those that cannot be named when they are given back.
//! Two acquisitions are of one lock when its names say so, see [`crate::locks::aliases`].
//!
//! Deviations. 1. The dissertation walks the statements once for each context; the walk is the same for all
//! of them.
//! 2. Locks of `java.util.concurrent` are no stack: they are given back by name, and may be left to the
//!    caller.

use program::dataflow::{self, BlockTransition, Forward};
use program::ids::{FieldId, Id, MethodId, ValueId};
use program::ir::{
    Block, Body, Call, DeclaredType, Definition, DynamicTarget, Instruction, Operation,
};
use program::models::{self, Effect, MethodProperty, Mode, Operand, Outcome, Times, WaitKind};

use super::binding::{
    AbstractValue, BodyValues, ParameterSource, bindable, class_object, correspondence,
    parameter_sources, returned,
};
use super::fresh::{Freshness, FreshnessTransfer};
use super::lock_views::{is_volatile, viewed_lock};
use super::loops::Loops;
use super::order::{BaseFacts, OrderEffect, OrderTransfer, effects_here, tested};
use super::program_facts::ProgramFacts;
use super::{AccessKind, LockMode, SignalKind};
use crate::heap::{NodeId, Place, Slot, ThreadSet};
use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};
use crate::locks::{OptimisticReads, implicit_lock, is_conversion};
use crate::sorted::{insert, intersect, unite};

/// A lock as the code of one method sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SymbolicLock {
    /// What is locked, if threads may share it.
    pub(super) subject: Option<AbstractValue>,
    /// How it is held.
    pub(super) mode: LockMode,
    /// How the code names it.
    pub(super) expression: Option<LockExpression>,
    /// The object whose monitor it is, when it is one.
    value: Option<ValueId>,
    /// An object that stands for the acquisition, and gives the lock back when it is closed.
    handle: Option<ValueId>,
    /// Where it was taken.
    pub(super) offset: u32,
    /// Whether it was held before: such an acquisition changes nothing.
    pub(super) is_reentrant: bool,
    /// Whether taking it gives back the same lock as it was held before, in another mode.
    is_converted: bool,
}

impl SymbolicLock {
    /// Whether it is a monitor.
    fn is_monitor(&self) -> bool {
        self.value.is_some()
    }

    /// Whether two paths hold the same lock, wherever each of them has taken it, and whether alone or with others.
    fn is_same_lock(&self, other: &SymbolicLock) -> bool {
        let has_name = self.expression.is_some() || self.value.is_some();
        let (offset, mode) =
            if has_name { (other.offset, other.mode) } else { (self.offset, self.mode) };
        SymbolicLock { offset, mode, ..self.clone() } == *other
    }
}

/// What is known at one point of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// The locks that were taken here and are held, outermost first.
    pub(super) held: Vec<SymbolicLock>,
    /// Locks of callers that may have been given back.
    pub(super) released: Vec<LockExpression>,
    /// Locks that are held if a value turns out to be true, or false.
    conditional: Vec<(ValueId, bool, SymbolicLock)>,
    /// Threads and tasks whose end was waited for.
    pub(super) joined: Vec<LockExpression>,
    /// What is fresh.
    pub(super) fresh: Freshness,
    /// What was added to the order.
    pub(super) order: OrderEffect,
}

/// One event that a method may cause.
pub(super) struct MethodEvent {
    /// Where.
    pub(super) offset: u32,
    /// Whether one call of the method may do it more than once.
    pub(super) is_repeated: bool,
    /// The state before, among the states of the method.
    pub(super) state: usize,
    /// What happens.
    pub(super) action: Action,
}

/// The reference that an access goes through.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessReference {
    /// What it refers to.
    pub(super) subject: AbstractValue,
    /// The value, without casts; none for classes.
    pub(super) value: Option<ValueId>,
    /// How the code names it.
    pub(super) expression: Option<LockExpression>,
}

/// What is done to a variable.
pub(super) struct AccessAction {
    /// The reference.
    pub(super) reference: AccessReference,
    /// The variable.
    pub(super) slot: Slot,
    /// Read or write.
    pub(super) kind: AccessKind,
    /// Whether it is safe by itself.
    pub(super) is_atomic: bool,
    /// What is read or written.
    pub(super) value: Option<AbstractValue>,
    /// The value that is written.
    pub(super) written: Option<ValueId>,
    /// A lock that the accessing library method takes itself, or that the read is validated with.
    pub(super) own: Option<SymbolicLock>,
}

/// A call of one method.
pub(super) struct CallAction {
    /// The method.
    pub(super) method: MethodId,
    /// For each alias set that the callee shares with its callers, that of this method.
    pub(super) nodes: Box<[Option<NodeId>]>,
    /// The values of the arguments, without casts, where they are values of this method.
    pub(super) values: Vec<Option<ValueId>>,
    /// How the code names the arguments.
    pub(super) expressions: Vec<Option<LockExpression>>,
    /// A lock that the library method in between holds.
    pub(super) own: Option<SymbolicLock>,
    /// Whether the receivers of this method and of the callee are the same object.
    pub(super) is_on_this: bool,
    /// Whether the call may run it more than once.
    pub(super) is_repeated: bool,
}

/// What happens in a step.
pub(super) enum Action {
    /// A variable is touched.
    Access(Box<AccessAction>),
    /// The contents of a library object are touched; how depends on its class.
    Contents {
        /// The reference to it.
        reference: AccessReference,
        /// The method that is called on it.
        method: MethodId,
        /// What is read or written.
        value: Option<AbstractValue>,
        /// The value that is written.
        written: Option<ValueId>,
    },
    /// A lock is taken.
    Acquire {
        /// The lock.
        lock: SymbolicLock,
        /// Whether the attempt ends after a while.
        gives_up: bool,
    },
    /// A thread waits, or wakes another.
    Signal {
        /// The object or condition.
        subject: Option<AbstractValue>,
        /// The lock that is given back while waiting.
        lock: Option<AbstractValue>,
        /// What is done.
        kind: SignalKind,
    },
    /// Threads are started or joined.
    Control {
        /// Their tasks.
        tasks: Vec<AbstractValue>,
        /// The threads, where they are known.
        threads: ThreadSet,
        /// Whether they are started.
        is_start: bool,
        /// Whether one start may run the task more than once.
        runs_often: bool,
    },
    /// An object is made.
    Allocate(AbstractValue),
    /// Methods are called.
    Call(Vec<CallAction>),
}

/// All events that a method may cause.
#[derive(Default)]
pub(super) struct MethodEvents {
    /// The states that steps refer to.
    pub(super) states: Vec<State>,
    /// The events, block by block.
    pub(super) events: Vec<MethodEvent>,
}

/// What an instruction does to locks.
enum LockChange {
    Acquire(SymbolicLock),
    Try { lock: SymbolicLock, result: ValueId, expected: bool },
    Release { expression: Option<LockExpression>, mode: Option<LockMode>, value: Option<ValueId> },
}

struct Flow<'a> {
    program_facts: &'a ProgramFacts<'a>,
    body_values: BodyValues<'a>,
    expressions: &'a Expressions<'a>,
    order: OrderTransfer<'a>,
    fresh: FreshnessTransfer<'a>,
}

impl State {
    fn join(&mut self, other: &State) -> bool {
        let before = (self.held.len(), self.conditional.len());
        let mut others = other.held.clone();
        let mut has_moved = false;
        self.held.retain_mut(|lock| {
            let Some(at) = others.iter().position(|other| lock.is_same_lock(other)) else {
                return false;
            };
            // Where it was taken depends on the path; the first place stands for all.
            let other = others.remove(at);
            let offset = lock.offset.min(other.offset);
            let mode = lock.mode.max(other.mode);
            has_moved |= (offset, mode) != (lock.offset, lock.mode);
            (lock.offset, lock.mode) = (offset, mode);
            true
        });
        self.conditional.retain(|lock| other.conditional.contains(lock));
        let mut changed = has_moved || before != (self.held.len(), self.conditional.len());
        changed |= intersect(&mut self.joined, &other.joined);
        changed |= unite(&mut self.released, &other.released);
        changed |= self.fresh.join(&other.fresh);
        changed |= self.order.join(&other.order);
        changed
    }

    /// A value is defined anew: what was named after it has another name, or none.
    fn redefine(&mut self, value: ValueId) {
        for lock in &mut self.held {
            if lock.expression.is_some_and(|name| name.depends_on_value(value)) {
                lock.expression = None;
            }
        }
        self.joined.retain(|name| !name.depends_on_value(value));
        self.conditional.retain(|(result, _, _)| *result != value);
    }

    /// A field, or the elements of an array, are assigned.
    fn assign(&mut self, depends: impl Fn(&LockExpression) -> bool) {
        for lock in &mut self.held {
            if lock.expression.as_ref().is_some_and(&depends) {
                lock.expression = None;
            }
        }
        self.joined.retain(|name| !depends(name));
    }
}

impl Flow<'_> {
    fn body(&self) -> &Body {
        self.body_values.body
    }

    /// A lock that is taken through a value.
    fn lock(&self, value: ValueId, mode: LockMode, is_monitor: bool, offset: u32) -> SymbolicLock {
        let program = self.program_facts.program();
        let lock_views = self.program_facts.base_facts.lock_views;
        let name = self.expressions.of(value);
        let (lock, mode) = if is_monitor {
            (value, mode)
        } else if let Some((lock, view_mode)) = viewed_lock(program, self.body(), value) {
            (lock, view_mode.unwrap_or(mode))
        } else {
            let field = name.and_then(|name| last_field(&name));
            (value, field.and_then(|field| lock_views.mode(field)).unwrap_or(mode))
        };
        let expression =
            if is_monitor { name } else { name.map(|name| lock_views.underlying_lock(name)) };
        let by_name = || expression.as_ref().and_then(|name| self.body_values.of_expression(name));
        SymbolicLock {
            subject: self.body_values.of_value(lock).or_else(by_name),
            mode,
            expression,
            value: is_monitor.then_some(value),
            handle: None,
            offset,
            is_reentrant: false,
            is_converted: false,
        }
    }

    /// A lock that is known by its name only.
    fn named_lock(&self, expression: Option<LockExpression>, offset: u32) -> SymbolicLock {
        SymbolicLock {
            subject: expression.as_ref().and_then(|name| self.body_values.of_expression(name)),
            mode: LockMode::Exclusive,
            expression,
            value: None,
            handle: None,
            offset,
            is_reentrant: false,
            is_converted: false,
        }
    }

    /// How a lock is held that is taken in this mode through this value; none if that keeps nobody out.
    fn mode(&self, mode: Mode, value: ValueId) -> Option<LockMode> {
        match mode {
            Mode::Exclusive => Some(LockMode::Exclusive),
            Mode::Shared | Mode::Any => Some(LockMode::Shared),
            Mode::Optimistic => None,
            Mode::Permit => {
                let field = self.expressions.of(value).and_then(|name| last_field(&name))?;
                let is_single = self.program_facts.base_facts.lock_views.is_single_permit(field);
                is_single.then_some(LockMode::Exclusive)
            }
        }
    }

    fn lock_changes(&self, instruction: &Instruction) -> Vec<LockChange> {
        let program = self.program_facts.program();
        let offset = instruction.offset;
        match &instruction.operation {
            Operation::MonitorEnter(object) => {
                vec![LockChange::Acquire(self.lock(*object, LockMode::Exclusive, true, offset))]
            }
            Operation::MonitorExit(object) => vec![LockChange::Release {
                expression: self.expressions.of(*object),
                mode: None,
                value: Some(*object),
            }],
            Operation::Call(call) => {
                let mut changes = Vec::new();
                let effects = effects_here(program, call.method);
                let is_conversion = is_conversion(effects);
                for effect in effects {
                    match effect {
                        Effect::Acquire { lock, mode, outcome } => {
                            let Some(value) = self.body_values.operand_value(call, *lock) else {
                                continue;
                            };
                            let Some(mode) = self.mode(*mode, value) else { continue };
                            let mut lock = self.lock(value, mode, false, offset);
                            lock.is_converted = is_conversion;
                            let expected = match outcome {
                                Outcome::Always => {
                                    changes.push(LockChange::Acquire(lock));
                                    continue;
                                }
                                Outcome::IfTrue | Outcome::IfNonZero | Outcome::IfNonNull => true,
                                Outcome::IfFalse => false,
                                Outcome::Unknown => continue,
                            };
                            if let Some(result) = instruction.result {
                                changes.push(LockChange::Try { lock, result, expected });
                            }
                        }
                        Effect::Release { lock, mode, .. } if !is_conversion => {
                            let Some(value) = self.body_values.operand_value(call, *lock) else {
                                continue;
                            };
                            let Some(held) = self.mode(*mode, value) else { continue };
                            let lock = self.lock(value, held, false, offset);
                            let mode = (*mode != Mode::Any).then_some(lock.mode);
                            let expression = lock.expression;
                            changes.push(LockChange::Release { expression, mode, value: None });
                        }
                        _ => {}
                    }
                }
                if changes.is_empty() {
                    self.changes_by_callee(instruction, call, &mut changes);
                }
                changes
            }
            _ => Vec::new(),
        }
    }

    /// What the only method that a call can run does to the locks of its caller.
    fn changes_by_callee(
        &self,
        instruction: &Instruction,
        call: &Call,
        changes: &mut Vec<LockChange>,
    ) {
        let BaseFacts { program, graph, lock_views, .. } = self.program_facts.base_facts;
        let [target] = graph.targets(self.body().method, instruction.offset) else { return };
        let theirs = &self.program_facts.changes[target.method];
        if theirs.acquired.is_empty() && theirs.released.is_empty() {
            return;
        }
        let terms = self.expressions.terms(call, instruction.offset, true);
        let named = |lock: &LockExpression| {
            let translated = terms.translate(program, *lock, target)?;
            Some(lock_views.underlying_lock(translated.expression))
        };
        for released in &theirs.released {
            let expression = named(released);
            changes.push(LockChange::Release { expression, mode: None, value: None });
        }
        let is_constructor = &*program.methods[call.method].name == "<init>";
        for acquired in &theirs.acquired {
            let mut lock = self.named_lock(named(acquired), instruction.offset);
            lock.handle = match is_constructor {
                true => call.arguments.first().copied(),
                false => instruction.result,
            };
            changes.push(LockChange::Acquire(lock));
        }
    }

    fn are_same_lock(&self, one: &LockExpression, other: &LockExpression) -> bool {
        self.program_facts.are_same_lock(self.body().method, one, other)
    }

    /// Whether a lock is held already, as far as this method shows.
    fn is_held(&self, state: &State, lock: &SymbolicLock) -> bool {
        state.held.iter().any(|held| {
            let covers = held.mode == LockMode::Exclusive || lock.mode == LockMode::Shared;
            let same = match (&held.expression, &lock.expression) {
                (Some(one), Some(other)) => self.are_same_lock(one, other),
                _ => false,
            };
            covers && same
        })
    }

    fn acquire(&self, state: &mut State, mut lock: SymbolicLock) {
        lock.is_reentrant = self.is_held(state, &lock);
        state.held.push(lock);
    }

    fn release(
        &self,
        state: &mut State,
        expression: Option<LockExpression>,
        mode: Option<LockMode>,
        value: Option<ValueId>,
    ) {
        let held = &state.held;
        let by_value =
            value.and_then(|value| held.iter().rposition(|lock| lock.value == Some(value)));
        let named = |lock: &SymbolicLock| lock.expression == expression && lock.value.is_none();
        let by_mode =
            || mode.and_then(|mode| held.iter().rposition(|lock| named(lock) && lock.mode == mode));
        let by_name = || held.iter().rposition(named);
        let by_handle = || {
            let ExpressionRoot::Local(handle) = expression?.root else { return None };
            held.iter().rposition(|lock| {
                lock.handle.is_some_and(|it| self.body().without_casts(it) == handle)
            })
        };
        let found = by_value.or_else(|| match value {
            // A monitor is given back by the method that took it.
            Some(_) => None,
            None => by_mode().or_else(by_name).or_else(by_handle),
        });
        match (found, expression) {
            (Some(at), _) => {
                state.held.remove(at);
            }
            (None, Some(expression)) if value.is_none() && !expression.is_local() => {
                insert(&mut state.released, expression);
            }
            (None, _) => {}
        }
    }

    fn apply(&self, state: &mut State, instruction: &Instruction) {
        if let Some(result) = instruction.result {
            state.redefine(result);
        }
        match &instruction.operation {
            Operation::PutField { field, .. } | Operation::PutStatic { field, .. } => {
                state.assign(|name| name.depends_on_field(*field));
            }
            Operation::ArrayStore { .. } => state.assign(LockExpression::depends_on_elements),
            _ => {}
        }
        for change in self.lock_changes(instruction) {
            match change {
                LockChange::Acquire(lock) => self.acquire(state, lock),
                LockChange::Try { lock, result, expected } => {
                    state.conditional.push((result, expected, lock));
                }
                LockChange::Release { expression, mode, value } => {
                    self.release(state, expression, mode, value);
                }
            }
        }
        self.note_join(state, instruction);
        self.fresh.step(&mut state.fresh, instruction);
        self.order.step(&mut state.order, instruction);
    }

    /// Records the names of threads whose end was waited for.
    fn note_join(&self, state: &mut State, instruction: &Instruction) {
        let Operation::Call(call) = &instruction.operation else { return };
        for effect in effects_here(self.program_facts.program(), call.method) {
            if let Effect::Join { task, outcome: Outcome::Always, .. } = effect
                && let Some(value) = self.body_values.operand_value(call, *task)
            {
                // The very value is that thread too, however it was found: an element of an array has no
                // lasting name.
                let value = self.body().without_casts(value);
                insert(&mut state.joined, LockExpression::new(ExpressionRoot::Local(value)));
                if let Some(name) = self.expressions.of(value) {
                    insert(&mut state.joined, name);
                }
            }
        }
    }
}

fn last_field(expression: &LockExpression) -> Option<FieldId> {
    match (expression.steps().last(), expression.root) {
        (Some(PathElement::Field(field)), _) => Some(*field),
        (None, ExpressionRoot::Static(field)) => Some(field),
        _ => None,
    }
}

impl Forward for Flow<'_> {
    type State = State;

    fn entry(&mut self, _body: &Body) -> State {
        State { fresh: self.fresh.at_entry(), ..State::default() }
    }

    fn join(&mut self, into: &mut State, from: &State) -> bool {
        into.join(from)
    }

    fn enter_block(&mut self, state: &mut State, block: &Block) {
        for phi in &block.phis {
            state.redefine(phi.result);
        }
    }

    fn instruction(&mut self, state: &mut State, instruction: &Instruction) {
        self.apply(state, instruction);
    }

    fn thrown(&mut self, state: &State, instruction: &Instruction) -> State {
        let mut thrown = state.clone();
        if matches!(instruction.operation, Operation::Call(_)) {
            // What was handed over may have escaped before the exception.
            self.fresh.step(&mut thrown.fresh, instruction);
            self.note_join(&mut thrown, instruction);
        }
        self.order.thrown(&mut thrown.order, instruction);
        thrown
    }

    fn leave_by(&mut self, state: &mut State, transition: &BlockTransition<'_>) {
        self.order.apply_transition(&mut state.order, transition);
        if state.conditional.is_empty() {
            return;
        }
        let Some((value, is_true)) = tested(self.body(), transition.block, transition.edge) else {
            return;
        };
        let (known, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.conditional).into_iter().partition(|it| it.0 == value);
        state.conditional = open;
        for (_, expected, mut lock) in known {
            if expected == is_true {
                if std::mem::take(&mut lock.is_converted) {
                    let is_old = |held: &SymbolicLock| {
                        held.expression == lock.expression && held.value.is_none()
                    };
                    state.held.retain(|held| !is_old(held));
                }
                self.acquire(state, lock);
            }
        }
    }
}

/// The events that a method may cause.
pub(super) fn method_events(program_facts: &ProgramFacts<'_>, body: &Body) -> MethodEvents {
    let base_facts = program_facts.base_facts;
    let body_values = BodyValues::new(base_facts.program, base_facts.heap, body);
    let bindable = bindable(body_values.shape);
    let returned = |method: MethodId| base_facts.returned[method];
    let expressions = Expressions::new(base_facts.program, base_facts.graph, body, &returned);
    let loops = Loops::of(body);
    let mut flow = Flow {
        program_facts,
        body_values,
        expressions: &expressions,
        order: OrderTransfer::new(base_facts, &expressions, &program_facts.order_effects, &loops),
        fresh: FreshnessTransfer {
            body_values,
            graph: base_facts.graph,
            bindable: &bindable,
            argument_effects: &|method| program_facts.argument_effects(method),
        },
    };
    let states = dataflow::solve(body, &mut flow);
    let mut collector = EventCollector {
        flow: &flow,
        bindable: &bindable,
        optimistic: OptimisticReads::of(base_facts.program, body),
        method_events: MethodEvents::default(),
        is_repeated: false,
    };
    let in_loop = body.blocks_in_loops();
    for (id, block) in body.blocks.iter_with_ids() {
        let Some(mut state) = states[id].clone() else { continue };
        flow.enter_block_for(&mut state, block);
        collector.is_repeated = in_loop[id];
        for instruction in &block.instructions {
            collector.collect(&state, instruction);
            flow.apply(&mut state, instruction);
        }
    }
    collector.method_events
}

impl Flow<'_> {
    fn enter_block_for(&self, state: &mut State, block: &Block) {
        for phi in &block.phis {
            state.redefine(phi.result);
        }
    }
}

/// Collects the events of one body.
struct EventCollector<'a, 'b> {
    flow: &'b Flow<'a>,
    bindable: &'b [bool],
    optimistic: OptimisticReads,
    method_events: MethodEvents,
    is_repeated: bool,
}

impl EventCollector<'_, '_> {
    /// Whether anybody wants to know what is done to a subject.
    fn is_reported(&self, subject: AbstractValue) -> bool {
        match subject {
            AbstractValue::Object(object) => self.flow.program_facts.is_reported[object],
            AbstractValue::Node(node) => self.bindable[node.index()],
        }
    }

    fn push(&mut self, state: &State, offset: u32, action: Action) {
        if self.method_events.states.last() != Some(state) {
            self.method_events.states.push(state.clone());
        }
        self.method_events.events.push(MethodEvent {
            offset,
            is_repeated: self.is_repeated,
            state: self.method_events.states.len() - 1,
            action,
        });
    }

    fn reference_of(&self, value: ValueId) -> Option<AccessReference> {
        let subject = self.flow.body_values.of_value(value)?;
        self.is_reported(subject).then(|| AccessReference {
            subject,
            value: Some(self.flow.body().without_casts(value)),
            expression: self.flow.expressions.of(value),
        })
    }

    fn class_reference(&self, field: FieldId) -> Option<AccessReference> {
        let class = self.flow.program_facts.program().fields[field].class;
        let object = class_object(self.flow.program_facts.heap(), class)?;
        let subject = AbstractValue::Object(object);
        self.is_reported(subject).then(|| AccessReference {
            subject,
            value: None,
            expression: Some(LockExpression::new(ExpressionRoot::Class(class))),
        })
    }

    fn collect(&mut self, state: &State, instruction: &Instruction) {
        let offset = instruction.offset;
        match &instruction.operation {
            Operation::GetField { object, field } => {
                if !self.is_unchanged_once_shared(*field) {
                    let reference = self.reference_of(*object);
                    self.field(state, offset, reference, *field, instruction.result, None);
                }
            }
            Operation::PutField { object, field, value } => {
                if !self.is_unchanged_once_shared(*field) {
                    let reference = self.reference_of(*object);
                    self.field(state, offset, reference, *field, None, Some(*value));
                }
            }
            Operation::GetStatic(field) => {
                if !self.is_unchanged_once_shared(*field) {
                    let reference = self.class_reference(*field);
                    self.field(state, offset, reference, *field, instruction.result, None);
                }
            }
            Operation::PutStatic { field, value } => {
                if !self.is_unchanged_once_shared(*field) {
                    let reference = self.class_reference(*field);
                    self.field(state, offset, reference, *field, None, Some(*value));
                }
            }
            Operation::ArrayLoad { array, .. } => {
                let reference = self.reference_of(*array);
                self.access(
                    state,
                    offset,
                    reference,
                    Slot::Element,
                    false,
                    instruction.result,
                    None,
                );
            }
            Operation::ArrayStore { array, value, .. } => {
                let reference = self.reference_of(*array);
                self.access(state, offset, reference, Slot::Element, false, None, Some(*value));
            }
            Operation::New(_) | Operation::NewArray { .. } => {
                self.allocate(state, offset, instruction.result);
            }
            Operation::DynamicCall(call) => {
                if matches!(call.target, DynamicTarget::Lambda(_)) {
                    self.allocate(state, offset, instruction.result);
                }
            }
            Operation::MonitorEnter(_) => self.locks(state, instruction, false),
            Operation::Call(call) => self.call(state, instruction, call),
            Operation::Constant(_)
            | Operation::ArrayLength(_)
            | Operation::Cast { .. }
            | Operation::InstanceOf { .. }
            | Operation::Binary { .. }
            | Operation::Unary(_)
            | Operation::Compare(..)
            | Operation::MonitorExit(_) => {}
        }
    }

    /// Whether a field never changes once other threads can see it, or its class is said to be safe.
    fn is_unchanged_once_shared(&self, field: FieldId) -> bool {
        let program = self.flow.program_facts.program();
        let declared = &program.fields[field];
        declared.is_final() || program.is_safe_by_user(declared.class)
    }

    fn field(
        &mut self,
        state: &State,
        offset: u32,
        reference: Option<AccessReference>,
        field: FieldId,
        read: Option<ValueId>,
        written: Option<ValueId>,
    ) {
        let is_atomic = is_volatile(self.flow.program_facts.program(), field);
        self.access(state, offset, reference, Slot::Field(field), is_atomic, read, written);
    }

    #[allow(clippy::too_many_arguments, reason = "an access is all of this")]
    fn access(
        &mut self,
        state: &State,
        offset: u32,
        reference: Option<AccessReference>,
        slot: Slot,
        is_atomic: bool,
        read: Option<ValueId>,
        written: Option<ValueId>,
    ) {
        let Some(reference) = reference else { return };
        let value = read.or(written).and_then(|value| self.flow.body_values.of_value(value));
        let kind = if written.is_some() { AccessKind::Write } else { AccessKind::Read };
        let written = written.map(|value| self.flow.body().without_casts(value));
        let optimistic = self.optimistic.lock_at(offset).filter(|_| kind == AccessKind::Read);
        let own = optimistic
            .map(|taken| self.flow.lock(taken.lock, LockMode::Shared, false, taken.offset));
        let access = AccessAction { reference, slot, kind, is_atomic, value, written, own };
        self.push(state, offset, Action::Access(Box::new(access)));
    }

    fn allocate(&mut self, state: &State, offset: u32, result: Option<ValueId>) {
        let subject = result.and_then(|result| self.flow.body_values.of_value(result));
        if let Some(subject) = subject.filter(|subject| self.is_reported(*subject)) {
            self.push(state, offset, Action::Allocate(subject));
        }
    }

    /// The locks that an instruction takes.
    fn locks(&mut self, state: &State, instruction: &Instruction, is_timed: bool) {
        for change in self.flow.lock_changes(instruction) {
            let (lock, gives_up) = match change {
                LockChange::Acquire(lock) => (lock, is_timed),
                LockChange::Try { lock, .. } => (lock, true),
                LockChange::Release { .. } => continue,
            };
            // What a callee takes and keeps is reported there.
            if lock.handle.is_none() {
                self.lock(state, instruction.offset, lock, gives_up);
            }
        }
    }

    fn lock(&mut self, state: &State, offset: u32, mut lock: SymbolicLock, gives_up: bool) {
        lock.is_reentrant = self.flow.is_held(state, &lock);
        if lock.subject.is_some_and(|subject| self.is_reported(subject)) && !lock.is_reentrant {
            self.push(state, offset, Action::Acquire { lock, gives_up });
        }
    }

    fn call(&mut self, state: &State, instruction: &Instruction, call: &Call) {
        let program = self.flow.program_facts.program();
        let effects = effects_here(program, call.method);
        let offset = instruction.offset;
        let own = match effects.is_empty() {
            true => None,
            false => self.own_lock(instruction, call),
        };
        if let Some(own) = &own {
            self.lock(state, offset, own.clone(), false);
        }
        if !effects.is_empty() {
            let is_timed =
                effects.iter().any(|effect| matches!(effect, Effect::Blocks { timed: true, .. }));
            self.locks(state, instruction, is_timed);
            self.contents(state, instruction, call, effects, own.as_ref());
            self.signals(state, instruction, call, effects);
            self.control(state, instruction, call, effects);
            if effects.contains(&Effect::ReturnsFresh) {
                self.allocate(state, offset, instruction.result);
            }
        } else if program.body(call.method).is_none() {
            self.contents(state, instruction, call, effects, None);
        }
        self.targets(state, instruction, call, own);
    }

    /// The monitor that a library method holds while it runs.
    fn own_lock(&self, instruction: &Instruction, call: &Call) -> Option<SymbolicLock> {
        let program = self.flow.program_facts.program();
        if !program.methods[call.method].is_synchronized()
            && !effects_here(program, call.method)
                .iter()
                .any(|effect| matches!(effect, Effect::Synchronized { .. }))
        {
            return None;
        }
        let lock = implicit_lock(program, call.method)?;
        let expression = match lock.root {
            // The mutex of a wrapper is the wrapper itself, nearly always.
            ExpressionRoot::Parameter(number) => {
                let value = *call.arguments.get(usize::from(number))?;
                let mut taken =
                    self.flow.lock(value, LockMode::Exclusive, true, instruction.offset);
                taken.value = None;
                return Some(taken);
            }
            ExpressionRoot::Static(_) | ExpressionRoot::Class(_) | ExpressionRoot::Local(_) => lock,
        };
        Some(self.flow.named_lock(Some(expression), instruction.offset))
    }

    /// What a library call does to the contents of objects.
    fn contents(
        &mut self,
        state: &State,
        instruction: &Instruction,
        call: &Call,
        effects: &[Effect],
        own: Option<&SymbolicLock>,
    ) {
        let program = self.flow.program_facts.program();
        let offset = instruction.offset;
        let stored = effects.iter().find_map(|effect| match effect {
            Effect::Store { value, into: Operand::Receiver } => {
                self.flow.body_values.operand_value(call, *value)
            }
            _ => None,
        });
        // Whoever puts all elements of a collection elsewhere goes through it.
        for effect in effects {
            if let Effect::Store { value: Operand::Elements(number), .. } = effect
                && let Some(base) =
                    self.flow.body_values.operand_value(call, Operand::Argument(*number))
                && let Some(reference) = self.reference_of(base)
                && !self.is_array(base)
            {
                self.contents_by_class(state, offset, reference, &[AccessKind::Read], None);
            }
        }
        let mut is_told = false;
        for effect in effects {
            let (of, kinds) = match effect {
                Effect::Read { of } | Effect::AtomicRead { of, .. } => {
                    (of, &[AccessKind::Read][..])
                }
                Effect::Write { of } | Effect::AtomicWrite { of, .. } => {
                    (of, &[AccessKind::Write][..])
                }
                Effect::AtomicUpdate { of, .. } => (of, &[AccessKind::Read, AccessKind::Write][..]),
                _ => continue,
            };
            is_told |= *of == Operand::Receiver;
            let Some(base) = self.flow.body_values.operand_value(call, *of) else { continue };
            let Some(reference) = self.reference_of(base) else { continue };
            if *of != Operand::Receiver && !self.is_array(base) {
                // By its own methods: how safe that is depends on what it is.
                self.contents_by_class(state, offset, reference, kinds, None);
                continue;
            }
            let is_atomic = match effect {
                Effect::AtomicRead { ordering, .. }
                | Effect::AtomicWrite { ordering, .. }
                | Effect::AtomicUpdate { ordering, .. } => *ordering != models::Ordering::Plain,
                _ => false,
            };
            let slot = if self.is_array(base) { Slot::Element } else { Slot::Contents };
            for kind in kinds {
                let value = match kind {
                    AccessKind::Read => instruction.result,
                    AccessKind::Write => stored,
                };
                let access = AccessAction {
                    reference,
                    slot,
                    kind: *kind,
                    is_atomic,
                    value: value.and_then(|value| self.flow.body_values.of_value(value)),
                    written: stored.filter(|_| *kind == AccessKind::Write),
                    own: own.cloned(),
                };
                self.push(state, offset, Action::Access(Box::new(access)));
            }
        }
        let declared = &program.methods[call.method];
        if !is_told
            && !declared.is_static()
            && !declared.is_initializer()
            && let Some(reference) =
                call.arguments.first().and_then(|base| self.reference_of(*base))
        {
            let value = stored.or(instruction.result);
            let value = value.and_then(|value| self.flow.body_values.of_value(value));
            let action =
                Action::Contents { reference, method: call.method, value, written: stored };
            self.push(state, offset, action);
        }
    }

    fn is_array(&self, value: ValueId) -> bool {
        let declared = self.flow.body().declared_type(self.flow.program_facts.program(), value);
        declared == DeclaredType::Array
    }

    /// An argument's contents are read or written by its own methods.
    fn contents_by_class(
        &mut self,
        state: &State,
        offset: u32,
        reference: AccessReference,
        kinds: &[AccessKind],
        value: Option<AbstractValue>,
    ) {
        let program = self.flow.program_facts.program();
        for kind in kinds {
            // Any method that does just this stands for those that the library calls.
            let stands_for = match kind {
                AccessKind::Read => MethodProperty::StandsForReads,
                AccessKind::Write => MethodProperty::StandsForWrites,
            };
            let mut known = program.models().methods_that_are(stands_for);
            let Some(method) =
                known.find_map(|it| program.method_named(it.class, it.method, it.descriptor))
            else {
                continue;
            };
            let action = Action::Contents { reference, method, value, written: None };
            self.push(state, offset, action);
        }
    }

    fn signals(
        &mut self,
        state: &State,
        instruction: &Instruction,
        call: &Call,
        effects: &[Effect],
    ) {
        for effect in effects {
            let (on, kind, is_condition) = match effect {
                Effect::Wait { on, kind: WaitKind::Monitor, timed } => {
                    (on, SignalKind::Wait { is_timed: *timed }, false)
                }
                Effect::Wait { on, kind: WaitKind::Condition, timed } => {
                    (on, SignalKind::Wait { is_timed: *timed }, true)
                }
                Effect::Notify { on, .. } => (on, SignalKind::Notify, false),
                _ => continue,
            };
            let Some(value) = self.flow.body_values.operand_value(call, *on) else { continue };
            let subject = self.flow.body_values.of_value(value).or_else(|| {
                let name = self.flow.expressions.of(value)?;
                self.flow.body_values.of_expression(&name)
            });
            let lock = match is_condition {
                true => self.lock_of_condition(state, value),
                false => subject,
            };
            let is_reported = [subject, lock].into_iter().flatten().any(|it| self.is_reported(it));
            if is_reported {
                let lock = lock.filter(|_| kind != SignalKind::Notify);
                self.push(state, instruction.offset, Action::Signal { subject, lock, kind });
            }
        }
    }

    /// The lock that waiting for a condition gives back: the one it belongs to, or the only one that is held
    /// here.
    fn lock_of_condition(&self, state: &State, condition: ValueId) -> Option<AbstractValue> {
        let flow = self.flow;
        let program = flow.program_facts.program();
        if let Some((lock, _)) = viewed_lock(program, flow.body(), condition) {
            return flow.body_values.of_value(lock);
        }
        let name = flow.expressions.of(condition);
        let owner = name.and_then(|name| {
            let owner = flow.program_facts.base_facts.lock_views.underlying_lock(name);
            (owner != name).then_some(owner)
        });
        if let Some(owner) = owner {
            return flow.body_values.of_expression(&owner);
        }
        let mut held = state.held.iter().filter(|lock| !lock.is_monitor() && !lock.is_reentrant);
        match (held.next(), held.next()) {
            (Some(only), None) => only.subject,
            _ => None,
        }
    }

    fn control(
        &mut self,
        state: &State,
        instruction: &Instruction,
        call: &Call,
        effects: &[Effect],
    ) {
        let body_values = &self.flow.body_values;
        let (mut started, mut joined) = (Vec::new(), Vec::new());
        let mut runs_often = false;
        for effect in effects {
            let (task, list) = match effect {
                Effect::Fork { task } => (task, &mut started),
                Effect::Submit { task, times, .. } => {
                    runs_often |= *times != Times::Once;
                    (task, &mut started)
                }
                Effect::Join { task, .. } => (task, &mut joined),
                _ => continue,
            };
            for task in body_values.operand(call, instruction.result, *task) {
                list.extend(body_values.tasks(task));
            }
        }
        let place = Place { method: self.flow.body().method, offset: instruction.offset };
        let threads = self.flow.program_facts.base_facts.started_at.get(&place).cloned();
        runs_often |= started.is_empty() && threads.is_some();
        let threads = threads.unwrap_or_default();
        for (tasks, threads, is_start) in
            [(started, threads, true), (joined, ThreadSet::default(), false)]
        {
            if !tasks.is_empty() || !threads.is_empty() {
                let action = Action::Control { tasks, threads, is_start, runs_often };
                self.push(state, instruction.offset, action);
            }
        }
    }

    fn targets(
        &mut self,
        state: &State,
        instruction: &Instruction,
        call: &Call,
        own: Option<SymbolicLock>,
    ) {
        let program_facts = self.flow.program_facts;
        let BaseFacts { program, graph, heap, .. } = program_facts.base_facts;
        let is_modelled = !effects_here(program, call.method).is_empty();
        let mut calls = Vec::new();
        for target in graph.targets(self.flow.body().method, instruction.offset) {
            let is_followed = program.body(target.method).is_some()
                && (program.is_application(target.method) || !is_modelled)
                && !program_facts.causes_no_event[target.method];
            if !is_followed {
                continue;
            }
            let callee = &heap.shapes[target.method];
            let sources = parameter_sources(program, call, target, callee.parameters.len());
            let result = returned(target, instruction.result);
            let nodes = correspondence(&self.flow.body_values, &sources, result, callee);
            self.control_by_callee(state, instruction.offset, target.method, &nodes);
            let terms = self.flow.expressions.terms(call, instruction.offset, true);
            let expressions = (0..callee.parameters.len()).map(|number| {
                callee.parameters[number]?;
                let parameter = LockExpression::new(ExpressionRoot::Parameter(number as u16));
                Some(terms.translate(program, parameter, target)?.expression)
            });
            let is_repeated = target.call_kind.may_be_repeated();
            let values: Vec<Option<ValueId>> =
                sources.iter().map(|source| self.value_of(*source)).collect();
            let receiver = values.first().copied().flatten();
            let is_on_this = !program.methods[target.method].is_static()
                && receiver.is_some_and(|it| self.flow.body().is_receiver(program, it));
            calls.push(CallAction {
                method: target.method,
                nodes,
                expressions: expressions.collect(),
                values,
                own: own.clone().filter(|_| target.call_kind.is_by_library()),
                is_on_this,
                is_repeated,
            });
        }
        if !calls.is_empty() {
            self.push(state, instruction.offset, Action::Call(calls));
        }
    }

    /// Tasks that a callee starts or joins without seeing them: it gets a thread, and only this method knows
    /// what the thread wraps.
    fn control_by_callee(
        &mut self,
        state: &State,
        offset: u32,
        callee: MethodId,
        nodes: &[Option<NodeId>],
    ) {
        let program_facts = self.flow.program_facts;
        let (order_effect, shape) =
            (&program_facts.order_effects[callee], &program_facts.heap().shapes[callee]);
        let wrapped = |subject: &AbstractValue| {
            let AbstractValue::Node(node) = subject else { return Vec::new() };
            if shape[*node].target(Slot::Task).is_some() {
                return Vec::new();
            }
            let Some(ours) = nodes.get(node.index()).copied().flatten() else { return Vec::new() };
            self.flow.body_values.tasks(self.flow.body_values.of_node(ours)).split_off(1)
        };
        let started: Vec<AbstractValue> = order_effect.started.iter().flat_map(wrapped).collect();
        let joined: Vec<AbstractValue> =
            order_effect.joined.iter().flat_map(|(it, _)| wrapped(it)).collect();
        for (tasks, is_start) in [(started, true), (joined, false)] {
            if !tasks.is_empty() {
                let threads = ThreadSet::default();
                let action = Action::Control { tasks, threads, is_start, runs_often: false };
                self.push(state, offset, action);
            }
        }
    }

    fn value_of(&self, source: ParameterSource) -> Option<ValueId> {
        let body = self.flow.body();
        match source {
            ParameterSource::Argument(value) => Some(body.without_casts(value)),
            ParameterSource::Captured(holder, number) => {
                let holder = body.without_casts(holder);
                let Operation::DynamicCall(call) = &body.defining_instruction(holder)?.operation
                else {
                    return None;
                };
                let captured = call.arguments.get(usize::from(number))?;
                Some(body.without_casts(*captured))
            }
            ParameterSource::Kept(_) | ParameterSource::Allocated | ParameterSource::Unknown => {
                None
            }
        }
    }
}

/// The number of the parameter that a value is, if it is one.
pub(super) fn parameter_number(body: &Body, value: ValueId) -> Option<u16> {
    match body.definitions[value] {
        Definition::Parameter(number) => Some(number),
        Definition::Phi(_)
        | Definition::Caught(_)
        | Definition::Instruction(..)
        | Definition::Removed => None,
    }
}
