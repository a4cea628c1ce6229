//! What has happened before a point, and what may have: threads started and joined, messages sent and
//! received (dissertation, 4.1: the thread control relation, and START- and JOIN-safe events of 4.3).
//!
//! Property: what `has_joined` and `has_received` name has happened on every path to the point; what may have
//! happened on some path is in `may_have_started` and `may_have_published`.
//!
//! The flow is computed once for each method, as what is added to the order of the context it is called in. A
//! summary of that, callees first, gives callers what a call adds.
//!
//! May claim that all threads of a loop have ended although the loop joined some of them only, and that a
//! thread has ended although an interrupt cut the waiting short. Misses messages that go through variables
//! that are tested in another method than a getter.
//!
//! Deviations.
//! 1. The dissertation takes a JOIN as valid if it is the only one of the abstract thread. Here the thread
//!    must be unique, or the join be in a loop; it then counts where the loop is left. Two joins of one
//!    thread are common, and a single join of one of many threads is, too.
//! 2. Volatile variables, latches, barriers and queues are beyond the dissertation. A volatile variable is
//!    received from where it was seen to be not zero, false or null: what was written there must come from
//!    another write than the initial one.

use classes::bytecode::{Against, Condition, Literal};
use program::callgraph::CallGraph;
use program::dataflow::{self, BlockTransition, Edge, Forward};
use program::ids::{BlockId, Id, MethodId, TypedVec, ValueId};
use program::ir::{Block, Body, Call, Constant, Instruction, Operation, Terminator};
use program::models::{ClassProperty, Effect, Mode, Operand, Ordering, Outcome, Runner};
use program::{Program, summaries};
use rustc_hash::FxHashMap;

use super::binding::{
    AbstractValue, BodyValues, class_object, correspondence, parameter_sources, returned,
};
use super::event::Published;
use super::lock_views::{LockViews, is_volatile};
use super::loops::Loops;
use crate::heap::{self, Heap, Name, Place, Slot, ThreadSet};
use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};
use crate::sorted::{insert, intersect, unite};

/// A variable that orders threads: an object and, for volatile fields, the field.
pub(super) type Channel = (AbstractValue, Option<Slot>);

/// A task that has ended, and whether that is sure for all threads that run it.
pub(super) type Joined = (AbstractValue, bool);

/// What a part of a method adds to the order. All lists are sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OrderEffect {
    /// Tasks that may have been started.
    pub(super) started: Vec<AbstractValue>,
    /// Threads that may have been started here, as the heap shape graph knows.
    pub(super) started_threads: ThreadSet,
    /// Tasks that have ended.
    pub(super) joined: Vec<Joined>,
    /// What may have been published to.
    pub(super) published: Published<Channel>,
    /// What the method itself may have published to, without what it calls; callers do not see it.
    pub(super) own: Vec<Channel>,
    /// What has been received from.
    pub(super) received: Vec<Channel>,
    /// What will turn out when a value is known to be, or not to be, false, zero or null.
    pending: Vec<(ValueId, bool, Pending)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Joined(Joined),
    Received(Channel),
}

impl OrderEffect {
    /// Whether nothing is added.
    pub(super) fn is_empty(&self) -> bool {
        self.started.is_empty()
            && self.started_threads.is_empty()
            && self.joined.is_empty()
            && self.published.is_empty()
            && self.received.is_empty()
    }

    /// Joins what another path adds; says whether that changes anything.
    pub(super) fn join(&mut self, other: &OrderEffect) -> bool {
        let may = unite(&mut self.started, &other.started)
            | self.started_threads.extend(&other.started_threads)
            | self.published.extend(&other.published)
            | unite(&mut self.own, &other.own);
        let must = intersect(&mut self.joined, &other.joined)
            | intersect(&mut self.received, &other.received)
            | intersect(&mut self.pending, &other.pending);
        may | must
    }

    fn publish(&mut self, channel: Channel) {
        self.published.insert(channel);
        insert(&mut self.own, channel);
    }

    fn start(&mut self, task: AbstractValue) {
        insert(&mut self.started, task);
        self.joined.retain(|(joined, _)| *joined != task);
    }

    fn apply_pending(&mut self, pending: Pending) {
        match pending {
            Pending::Joined(joined) => insert(&mut self.joined, joined),
            Pending::Received(channel) => insert(&mut self.received, channel),
        };
    }
}

/// What the methods that are called add.
pub(super) trait KnownOrderEffects {
    /// What this method adds.
    fn of(&self, method: MethodId) -> &OrderEffect;
}

impl KnownOrderEffects for TypedVec<MethodId, OrderEffect> {
    fn of(&self, method: MethodId) -> &OrderEffect {
        &self[method]
    }
}

impl KnownOrderEffects for summaries::Summaries<'_, OrderEffect> {
    fn of(&self, method: MethodId) -> &OrderEffect {
        self.of(method)
    }
}

/// What the order of all methods is computed from.
#[derive(Clone, Copy)]
pub(super) struct BaseFacts<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) heap: &'a Heap,
    pub(super) lock_views: &'a LockViews,
    /// The threads that are started at a place, as the heap shape graph knows.
    pub(super) started_at: &'a FxHashMap<Place, ThreadSet>,
    /// What getters return.
    pub(super) returned: &'a TypedVec<MethodId, Option<LockExpression>>,
}

/// What the models say of a call; nothing for methods whose body is there to be looked at.
pub(super) fn effects_here(program: &Program, method: MethodId) -> &[Effect] {
    match program.is_application(method) && program.body(method).is_some() {
        true => &[],
        false => program.effects_of(method),
    }
}

/// The value that the end of a block tests, and whether going this way means that it is true, not zero or not
/// null.
pub(super) fn tested(body: &Body, block: &Block, edge: Edge) -> Option<(ValueId, bool)> {
    let Terminator::Branch { condition, against, left, right, .. } = &block.terminator else {
        return None;
    };
    let is_taken = match edge {
        Edge::Taken => true,
        Edge::NotTaken => false,
        Edge::Jump | Edge::Exception => return None,
    };
    let is_equal = match (condition, is_taken) {
        (Condition::Eq, true) | (Condition::Ne, false) => true,
        (Condition::Eq, false) | (Condition::Ne, true) => false,
        // More than zero is not zero.
        (Condition::Gt | Condition::Lt, true) | (Condition::Ge | Condition::Le, false) => false,
        (Condition::Gt | Condition::Lt, false) | (Condition::Ge | Condition::Le, true) => {
            return None;
        }
    };
    match against {
        Against::Zero | Against::Null => {
            // A long is compared with zero first.
            let value = match body.defining_instruction(*left).map(|it| &it.operation) {
                Some(Operation::Compare(value, _)) => *value,
                _ => *left,
            };
            Some((body.without_casts(value), !is_equal))
        }
        Against::Int | Against::Ref => {
            let right = (*right)?;
            let constant = |value: ValueId| {
                let defined = body.defining_instruction(value)?;
                match &defined.operation {
                    Operation::Constant(Constant::Literal(Literal::Int(number))) => {
                        Some(*number != 0)
                    }
                    _ => None,
                }
            };
            // Equal to a number that is not zero.
            let is_order = !matches!(condition, Condition::Eq | Condition::Ne);
            if is_order || !is_equal {
                return None;
            }
            match (constant(*left), constant(right)) {
                (None, Some(true)) => Some((*left, true)),
                (Some(true), None) => Some((right, true)),
                _ => None,
            }
        }
    }
}

/// Applies what the instructions of one body add to the order.
pub(super) struct OrderTransfer<'a> {
    base_facts: BaseFacts<'a>,
    body_values: BodyValues<'a>,
    expressions: &'a Expressions<'a>,
    known: &'a dyn KnownOrderEffects,
    loops: &'a Loops,
    /// What is joined in each loop, by loop.
    joined_in_loops: Vec<(usize, Joined)>,
    has_no_order_effect: bool,
}

impl<'a> OrderTransfer<'a> {
    pub(super) fn new(
        base_facts: BaseFacts<'a>,
        expressions: &'a Expressions<'a>,
        known: &'a dyn KnownOrderEffects,
        loops: &'a Loops,
    ) -> OrderTransfer<'a> {
        let body_values = BodyValues::new(base_facts.program, base_facts.heap, expressions.body);
        let mut steps = OrderTransfer {
            base_facts,
            body_values,
            expressions,
            known,
            loops,
            joined_in_loops: Vec::new(),
            has_no_order_effect: false,
        };
        steps.has_no_order_effect = !has_order_effect(&base_facts, known, body_values.body);
        if !steps.has_no_order_effect {
            steps.joined_in_loops = steps.find_joins_in_loops();
        }
        steps
    }

    fn find_joins_in_loops(&self) -> Vec<(usize, Joined)> {
        let mut found = Vec::new();
        for (id, block) in self.body_values.body.blocks.iter_with_ids() {
            let Some(inside) = self.loops.innermost(id) else { continue };
            for instruction in &block.instructions {
                let mut order_effect = OrderEffect::default();
                self.step(&mut order_effect, instruction);
                found.extend(
                    order_effect.joined.into_iter().map(|(task, _)| (inside, (task, true))),
                );
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Applies an instruction.
    pub(super) fn step(&self, order_effect: &mut OrderEffect, instruction: &Instruction) {
        if self.has_no_order_effect {
            return;
        }
        let (program, lock_views) = (self.base_facts.program, self.base_facts.lock_views);
        match &instruction.operation {
            Operation::PutField { object, field, value }
                if is_volatile(program, *field)
                    && lock_views.is_tested(*field)
                    && !is_zero(self.body_values.body, *value) =>
            {
                if let Some(subject) = self.body_values.of_value(*object) {
                    order_effect.publish((subject, Some(Slot::Field(*field))));
                }
            }
            Operation::PutStatic { field, value }
                if is_volatile(program, *field)
                    && lock_views.is_tested(*field)
                    && !is_zero(self.body_values.body, *value) =>
            {
                let class = class_object(self.base_facts.heap, program.fields[*field].class);
                if let Some(class) = class {
                    let channel = (AbstractValue::Object(class), Some(Slot::Field(*field)));
                    order_effect.publish(channel);
                }
            }
            Operation::Call(call) => self.call(order_effect, instruction, call),
            _ => {}
        }
    }

    fn call(&self, order_effect: &mut OrderEffect, instruction: &Instruction, call: &Call) {
        let result = instruction.result;
        if let Some(result) = result {
            order_effect.pending.retain(|(value, _, _)| *value != result);
        }
        self.call_targets(order_effect, instruction, call);
        let effects = effects_here(self.base_facts.program, call.method);
        let operand = |operand: Operand| self.body_values.operand(call, result, operand);
        let blocks = effects.iter().any(|effect| matches!(effect, Effect::Blocks { .. }));
        let gives = effects.iter().any(|effect| matches!(effect, Effect::Load { .. }));
        for effect in effects {
            match effect {
                Effect::Fork { task } | Effect::Submit { task, .. } => {
                    for task in operand(*task) {
                        self.body_values
                            .tasks(task)
                            .into_iter()
                            .for_each(|it| order_effect.start(it));
                    }
                }
                Effect::Join { task, outcome, .. } => {
                    let is_all = match task {
                        Operand::Elements(_) | Operand::Callbacks => true,
                        _ => self.is_executor(call),
                    };
                    let mut tasks: Vec<AbstractValue> = operand(*task)
                        .into_iter()
                        .flat_map(|task| self.body_values.tasks(task))
                        .collect();
                    if is_all && let Some(executor) = self.body_values.operand_value(call, *task) {
                        tasks.extend(self.tasks_given_to(executor));
                    }
                    for task in tasks {
                        apply_outcome(
                            order_effect,
                            Pending::Joined((task, is_all)),
                            *outcome,
                            result,
                        );
                    }
                }
                Effect::Publish { to }
                | Effect::AtomicWrite {
                    of: to,
                    ordering: Ordering::Release | Ordering::Volatile,
                }
                | Effect::AtomicUpdate {
                    of: to,
                    ordering: Ordering::Release | Ordering::Volatile,
                    ..
                }
                | Effect::Release { lock: to, mode: Mode::Permit, .. } => {
                    for subject in operand(*to) {
                        order_effect.publish((subject, None));
                    }
                }
                Effect::Receive { from, outcome }
                | Effect::Acquire { lock: from, mode: Mode::Permit, outcome } => {
                    // A lookup that does not wait has received something if it has found something.
                    let outcome = match (outcome, blocks, gives) {
                        (Outcome::Always, false, true) => Outcome::IfNonNull,
                        (Outcome::Always, false, false) => Outcome::Unknown,
                        (outcome, _, _) => *outcome,
                    };
                    for subject in operand(*from) {
                        apply_outcome(
                            order_effect,
                            Pending::Received((subject, None)),
                            outcome,
                            result,
                        );
                    }
                }
                Effect::AtomicRead { of, ordering: Ordering::Acquire | Ordering::Volatile } => {
                    for subject in operand(*of) {
                        let received = Pending::Received((subject, None));
                        apply_outcome(order_effect, received, Outcome::IfNonZero, result);
                    }
                }
                // These order nothing, or not enough; what locks order is the business of their regions.
                Effect::Acquire { .. }
                | Effect::Release { .. }
                | Effect::Synchronized { .. }
                | Effect::LockView { .. }
                | Effect::ConditionOf { .. }
                | Effect::Wait { .. }
                | Effect::Notify { .. }
                | Effect::View { .. }
                | Effect::Store { .. }
                | Effect::Load { .. }
                | Effect::Wraps { .. }
                | Effect::Feeds { .. }
                | Effect::Handle { .. }
                | Effect::After { .. }
                | Effect::RunsTask { .. }
                | Effect::Interrupt { .. }
                | Effect::ObservesInterrupt { .. }
                | Effect::Controls { .. }
                | Effect::Terminates
                | Effect::AtomicRead { .. }
                | Effect::AtomicWrite { .. }
                | Effect::AtomicUpdate { .. }
                | Effect::Fence { .. }
                | Effect::Read { .. }
                | Effect::Write { .. }
                | Effect::ThreadLocalAccess { .. }
                | Effect::Blocks { .. }
                | Effect::Sleeps
                | Effect::Reflective
                | Effect::ReturnsFresh
                | Effect::ReturnsType { .. }
                | Effect::SingleWorker
                | Effect::Parallel
                | Effect::Sequential
                | Effect::Escapes { .. } => {}
            }
        }
        let place = Place { method: self.body_values.body.method, offset: instruction.offset };
        if let Some(threads) = self.base_facts.started_at.get(&place) {
            order_effect.started_threads.extend(threads);
        }
    }

    /// The tasks that an executor was given: by all that is called here, and by this very body where nobody
    /// else knows the executor.
    fn tasks_given_to(&self, executor: ValueId) -> Vec<AbstractValue> {
        let shape = self.body_values.shape;
        let node = shape.node_of(executor);
        let bodies = node.iter().flat_map(|node| &shape[*node].runs);
        let named =
            |body: &MethodId| self.base_facts.heap.named(&Name::new(heap::NameRoot::Task(*body)));
        let mut tasks: Vec<AbstractValue> =
            bodies.filter_map(named).map(AbstractValue::Object).collect();
        let name = self.expressions.of(executor);
        for instruction in self.body_values.body.instructions() {
            let Operation::Call(call) = &instruction.operation else { continue };
            for effect in effects_here(self.base_facts.program, call.method) {
                if let Effect::Submit { task, to: Runner::Executor(to), .. } = effect
                    && let Some(to) = self.body_values.operand_value(call, *to)
                    && self.expressions.of(to) == name
                {
                    tasks.extend(self.body_values.operand(call, instruction.result, *task));
                }
            }
        }
        tasks
    }

    fn is_executor(&self, call: &Call) -> bool {
        let program = self.base_facts.program;
        let supertypes = program.hierarchy.supertypes(call.class);
        supertypes.into_iter().any(|class| {
            let name = &*program.classes[class].name;
            let runs_tasks = |name: &str| program.models().is(name, ClassProperty::Executor);
            runs_tasks(name)
                || program.models().supertypes(name).iter().any(|name| runs_tasks(name))
        })
    }

    /// What the methods that a call may run add.
    fn call_targets(&self, order_effect: &mut OrderEffect, instruction: &Instruction, call: &Call) {
        let BaseFacts { program, graph, heap, .. } = self.base_facts;
        let targets = graph.targets(self.body_values.body.method, instruction.offset);
        let mut must: Option<OrderEffect> = None;
        for target in targets {
            let theirs = self.known.of(target.method);
            let is_sure = !target.call_kind.is_by_library();
            if theirs.is_empty() {
                if is_sure {
                    must = Some(OrderEffect::default());
                }
                continue;
            }
            let callee = &heap.shapes[target.method];
            let sources = parameter_sources(program, call, target, callee.parameters.len());
            let result = returned(target, instruction.result);
            let nodes = correspondence(&self.body_values, &sources, result, callee);
            let ours = |subject: &AbstractValue| match subject {
                AbstractValue::Object(_) => Some(*subject),
                AbstractValue::Node(node) => nodes
                    .get(node.index())
                    .copied()
                    .flatten()
                    .map(|it| self.body_values.of_node(it)),
            };
            let channel = |(subject, slot): &Channel| Some((ours(subject)?, *slot));
            for task in theirs.started.iter().filter_map(ours) {
                self.body_values.tasks(task).into_iter().for_each(|task| order_effect.start(task));
            }
            order_effect.started_threads.extend(&theirs.started_threads);
            order_effect.published.extend_by(&theirs.published, channel);
            if !is_sure {
                continue;
            }
            let mut here = OrderEffect::default();
            for (task, is_all) in &theirs.joined {
                for task in ours(task).into_iter().flat_map(|task| self.body_values.tasks(task)) {
                    insert(&mut here.joined, (task, *is_all));
                }
            }
            for received in theirs.received.iter().filter_map(channel) {
                insert(&mut here.received, received);
            }
            match &mut must {
                Some(known) => {
                    intersect(&mut known.joined, &here.joined);
                    intersect(&mut known.received, &here.received);
                }
                unset => *unset = Some(here),
            }
        }
        if let Some(must) = must {
            unite(&mut order_effect.joined, &must.joined);
            unite(&mut order_effect.received, &must.received);
        }
    }

    /// The order when an instruction throws. An interrupt while waiting for a thread is rare, and those who
    /// go on then have no better idea than everybody else.
    pub(super) fn thrown(&self, order_effect: &mut OrderEffect, instruction: &Instruction) {
        if self.has_no_order_effect {
            return;
        }
        if let Operation::Call(call) = &instruction.operation
            && effects_here(self.base_facts.program, call.method)
                .iter()
                .any(|effect| matches!(effect, Effect::Join { outcome: Outcome::Always, .. }))
        {
            self.step(order_effect, instruction);
        }
    }

    /// Learns from the way between two blocks.
    pub(super) fn apply_transition(
        &self,
        order_effect: &mut OrderEffect,
        transition: &BlockTransition<'_>,
    ) {
        if self.has_no_order_effect {
            return;
        }
        if !self.joined_in_loops.is_empty() {
            for left in self.loops.left(transition.from, transition.to) {
                let joined = self.joined_in_loops.iter().filter(|(inside, _)| *inside == left);
                joined.for_each(|(_, joined)| order_effect.apply_pending(Pending::Joined(*joined)));
            }
        }
        let body = self.body_values.body;
        let Some((value, is_true)) = tested(body, transition.block, transition.edge) else {
            return;
        };
        let turned_out: Vec<Pending> = order_effect
            .pending
            .iter()
            .filter(|(pending, expected, _)| *pending == value && *expected == is_true)
            .map(|(_, _, pending)| *pending)
            .collect();
        turned_out.into_iter().for_each(|pending| order_effect.apply_pending(pending));
        order_effect.pending.retain(|(pending, _, _)| *pending != value);
        if is_true && let Some(channel) = self.volatile_source(value) {
            insert(&mut order_effect.received, channel);
        }
    }

    /// The volatile variable that a value was read from, here or in a getter.
    fn volatile_source(&self, value: ValueId) -> Option<Channel> {
        let program = self.base_facts.program;
        let expression = self.expressions.of(value)?;
        match (expression.split_last(), expression.root) {
            (Some((object, PathElement::Field(field))), _) if is_volatile(program, field) => {
                let subject = self.body_values.of_expression(&object)?;
                Some((subject, Some(Slot::Field(field))))
            }
            (None, ExpressionRoot::Static(field)) if is_volatile(program, field) => {
                let class = class_object(self.base_facts.heap, program.fields[field].class)?;
                Some((AbstractValue::Object(class), Some(Slot::Field(field))))
            }
            _ => None,
        }
    }
}

/// Whether a value is zero, false or null: whoever sees something else in a variable has not seen this write.
fn is_zero(body: &Body, value: ValueId) -> bool {
    let Some(instruction) = body.defining_instruction(value) else { return false };
    matches!(
        instruction.operation,
        Operation::Constant(Constant::Literal(Literal::Null | Literal::Int(0) | Literal::Long(0)))
    )
}

/// Something that has happened if the result of a call is as the outcome says.
fn apply_outcome(
    order_effect: &mut OrderEffect,
    fact: Pending,
    outcome: Outcome,
    result: Option<ValueId>,
) {
    let expected = match outcome {
        Outcome::Always => return order_effect.apply_pending(fact),
        Outcome::IfTrue | Outcome::IfNonZero | Outcome::IfNonNull => true,
        Outcome::IfFalse => false,
        Outcome::Unknown => return,
    };
    if let Some(result) = result {
        insert(&mut order_effect.pending, (result, expected, fact));
    }
}

/// Whether a body does anything that concerns the order.
fn has_order_effect(
    base_facts: &BaseFacts<'_>,
    known: &dyn KnownOrderEffects,
    body: &Body,
) -> bool {
    let BaseFacts { program, graph, lock_views, .. } = *base_facts;
    let is_flag = |field| is_volatile(program, field) && lock_views.is_tested(field);
    let has_effect = |instruction: &Instruction| match &instruction.operation {
        Operation::GetField { field, .. }
        | Operation::PutField { field, .. }
        | Operation::GetStatic(field)
        | Operation::PutStatic { field, .. } => is_flag(*field),
        Operation::Call(call) => {
            let targets = graph.targets(body.method, instruction.offset);
            effects_here(program, call.method).iter().any(|effect| {
                matches!(
                    effect,
                    Effect::Fork { .. }
                        | Effect::Submit { .. }
                        | Effect::Join { .. }
                        | Effect::Publish { .. }
                        | Effect::Receive { .. }
                        | Effect::AtomicRead { .. }
                        | Effect::AtomicWrite { .. }
                        | Effect::AtomicUpdate { .. }
                        | Effect::RunsTask { .. }
                        | Effect::Acquire { mode: Mode::Permit, .. }
                        | Effect::Release { mode: Mode::Permit, .. }
                )
            }) || targets.iter().any(|target| !known.of(target.method).is_empty())
                || is_volatile_getter(base_facts, targets)
        }
        _ => false,
    };
    body.instructions().any(has_effect)
}

/// Whether a call is of a getter of a volatile field.
fn is_volatile_getter(base_facts: &BaseFacts<'_>, targets: &[program::callgraph::Target]) -> bool {
    let [target] = targets else { return false };
    let Some(returned) = base_facts.returned[target.method] else { return false };
    match (returned.steps().last().copied(), returned.root) {
        (Some(PathElement::Field(field)), _) | (None, ExpressionRoot::Static(field)) => {
            is_volatile(base_facts.program, field)
        }
        _ => false,
    }
}

struct OrderFlow<'a> {
    steps: OrderTransfer<'a>,
}

impl Forward for OrderFlow<'_> {
    type State = OrderEffect;

    fn entry(&mut self, _body: &Body) -> OrderEffect {
        OrderEffect::default()
    }

    fn join(&mut self, into: &mut OrderEffect, from: &OrderEffect) -> bool {
        into.join(from)
    }

    fn enter_block(&mut self, _state: &mut OrderEffect, _block: &Block) {}

    fn instruction(&mut self, state: &mut OrderEffect, instruction: &Instruction) {
        self.steps.step(state, instruction);
    }

    fn thrown(&mut self, state: &OrderEffect, instruction: &Instruction) -> OrderEffect {
        let mut thrown = state.clone();
        self.steps.thrown(&mut thrown, instruction);
        thrown
    }

    fn leave_by(&mut self, state: &mut OrderEffect, transition: &BlockTransition<'_>) {
        self.steps.apply_transition(state, transition);
    }
}

/// What calling each method adds to the order, in the terms of what callers can know.
pub(super) fn order_effects(base_facts: BaseFacts<'_>) -> TypedVec<MethodId, OrderEffect> {
    summaries::solve(base_facts.graph, base_facts.program.methods.len(), |method, known| {
        let Some(body) = base_facts.program.body(method) else { return OrderEffect::default() };
        if !has_order_effect(&base_facts, known, body) {
            return OrderEffect::default();
        }
        let returned = |method: MethodId| base_facts.returned[method];
        let expressions = Expressions::new(base_facts.program, base_facts.graph, body, &returned);
        let loops = Loops::of(body);
        let mut flow =
            OrderFlow { steps: OrderTransfer::new(base_facts, &expressions, known, &loops) };
        let states = dataflow::solve(body, &mut flow);
        at_return(&flow.steps, body, &states)
    })
}

fn at_return(
    steps: &OrderTransfer<'_>,
    body: &Body,
    states: &TypedVec<BlockId, Option<OrderEffect>>,
) -> OrderEffect {
    let mut end: Option<OrderEffect> = None;
    let mut anywhere = OrderEffect::default();
    for (id, block) in body.blocks.iter_with_ids() {
        let Some(mut state) = states[id].clone() else { continue };
        for instruction in &block.instructions {
            steps.step(&mut state, instruction);
        }
        unite(&mut anywhere.started, &state.started);
        anywhere.started_threads.extend(&state.started_threads);
        anywhere.published.extend(&state.published);
        unite(&mut anywhere.own, &state.own);
        if matches!(block.terminator, Terminator::Return(_)) {
            match &mut end {
                Some(known) => {
                    known.join(&state);
                }
                unset => *unset = Some(state),
            }
        }
    }
    // What may have happened, may have happened before an exception, too.
    let mut end = end.unwrap_or_default();
    end.started = anywhere.started;
    end.started_threads = anywhere.started_threads;
    end.published = anywhere.published;
    end.pending.clear();
    end.own = anywhere.own;
    let exposed = steps.body_values.shape.exposed;
    let is_known = |subject: &AbstractValue| match subject {
        AbstractValue::Object(_) => true,
        AbstractValue::Node(node) => node.index() < exposed,
    };
    end.started.retain(is_known);
    end.joined.retain(|(subject, _)| is_known(subject));
    if let Published::These(these) = &mut end.published {
        these.retain(|(subject, _)| is_known(subject));
    }
    end.received.retain(|(subject, _)| is_known(subject));
    end
}
