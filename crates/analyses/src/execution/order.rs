//! What has happened before a point, and what may have: threads started and joined, messages sent and
//! received (dissertation, 4.1: the thread control relation, and START- and JOIN-safe events of 4.3).
//!
//! Property: what `has_joined` and `has_received` name has happened on every path to the point; what may have
//! happened on some path is in `may_have_started` and `may_have_published`.
//!
//! The flow is computed once for each method, as what is added to the order of the context it is called in. A
//! summary of that, callees first, tells callers what a call adds.
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
use program::dataflow::{self, Edge, Forward, Passage};
use program::ids::{BlockId, Id, MethodId, TypedVec, ValueId};
use program::ir::{Block, Body, Call, Constant, Instruction, Operation, Terminator};
use program::models::{ClassProperty, Effect, Mode, Operand, Ordering, Outcome, Runner};
use program::{Program, summaries};
use rustc_hash::FxHashMap;

use super::binding::{Scene, Subject, class_object, correspondence, given, returned};
use super::event::Published;
use super::faces::{Faces, is_volatile};
use super::loops::Loops;
use crate::heap::{self, Heap, Name, Place, Slot, ThreadSet};
use crate::locks::expression::{Expressions, LockExpression, Root, Step};
use crate::sorted::{insert, intersect, unite};

/// A variable that orders threads: an object and, for volatile fields, the field.
pub(super) type Channel = (Subject, Option<Slot>);

/// A task that has ended, and whether that is sure for all threads that run it.
pub(super) type Joined = (Subject, bool);

/// What a stretch of code adds to the order. All lists are sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Delta {
    /// Tasks that may have been started.
    pub(super) started: Vec<Subject>,
    /// Threads that may have been started here, as the heap shape graph knows.
    pub(super) started_threads: ThreadSet,
    /// Tasks that have ended.
    pub(super) joined: Vec<Joined>,
    /// What may have been published to.
    pub(super) published: Published<Channel>,
    /// What the method itself may have published to, without what it calls; callers do not hear of it.
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

impl Delta {
    /// Whether nothing is added.
    pub(super) fn is_empty(&self) -> bool {
        self.started.is_empty()
            && self.started_threads.is_empty()
            && self.joined.is_empty()
            && self.published.is_empty()
            && self.received.is_empty()
    }

    /// Joins what another path adds; says whether that changes anything.
    pub(super) fn join(&mut self, other: &Delta) -> bool {
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

    fn start(&mut self, task: Subject) {
        insert(&mut self.started, task);
        self.joined.retain(|(joined, _)| *joined != task);
    }

    fn reach(&mut self, pending: Pending) {
        match pending {
            Pending::Joined(joined) => insert(&mut self.joined, joined),
            Pending::Received(channel) => insert(&mut self.received, channel),
        };
    }
}

/// What the methods that are called add.
pub(super) trait KnownDeltas {
    /// What this method adds.
    fn of(&self, method: MethodId) -> &Delta;
}

impl KnownDeltas for TypedVec<MethodId, Delta> {
    fn of(&self, method: MethodId) -> &Delta {
        &self[method]
    }
}

impl KnownDeltas for summaries::Summaries<'_, Delta> {
    fn of(&self, method: MethodId) -> &Delta {
        self.of(method)
    }
}

/// What the order of all methods is computed from.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) heap: &'a Heap,
    pub(super) faces: &'a Faces,
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
pub(super) struct OrderSteps<'a> {
    ground: Ground<'a>,
    scene: Scene<'a>,
    expressions: &'a Expressions<'a>,
    known: &'a dyn KnownDeltas,
    loops: &'a Loops,
    /// What is joined in each loop, by loop.
    joined_in_loops: Vec<(usize, Joined)>,
    is_quiet: bool,
}

impl<'a> OrderSteps<'a> {
    pub(super) fn new(
        ground: Ground<'a>,
        expressions: &'a Expressions<'a>,
        known: &'a dyn KnownDeltas,
        loops: &'a Loops,
    ) -> OrderSteps<'a> {
        let scene = Scene::new(ground.program, ground.heap, expressions.body);
        let mut steps = OrderSteps {
            ground,
            scene,
            expressions,
            known,
            loops,
            joined_in_loops: Vec::new(),
            is_quiet: false,
        };
        steps.is_quiet = !is_concerned(&ground, known, scene.body);
        if !steps.is_quiet {
            steps.joined_in_loops = steps.find_joins_in_loops();
        }
        steps
    }

    fn find_joins_in_loops(&self) -> Vec<(usize, Joined)> {
        let mut found = Vec::new();
        for (id, block) in self.scene.body.blocks.iter_with_ids() {
            let Some(inside) = self.loops.innermost(id) else { continue };
            for instruction in &block.instructions {
                let mut delta = Delta::default();
                self.step(&mut delta, instruction);
                found.extend(delta.joined.into_iter().map(|(task, _)| (inside, (task, true))));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Applies an instruction.
    pub(super) fn step(&self, delta: &mut Delta, instruction: &Instruction) {
        if self.is_quiet {
            return;
        }
        let (program, faces) = (self.ground.program, self.ground.faces);
        match &instruction.operation {
            Operation::PutField { object, field, .. }
                if is_volatile(program, *field) && faces.is_tested(*field) =>
            {
                if let Some(subject) = self.scene.of_value(*object) {
                    delta.publish((subject, Some(Slot::Field(*field))));
                }
            }
            Operation::PutStatic { field, .. }
                if is_volatile(program, *field) && faces.is_tested(*field) =>
            {
                let class = class_object(self.ground.heap, program.fields[*field].class);
                if let Some(class) = class {
                    let channel = (Subject::Object(class), Some(Slot::Field(*field)));
                    delta.publish(channel);
                }
            }
            Operation::Call(call) => self.call(delta, instruction, call),
            _ => {}
        }
    }

    fn call(&self, delta: &mut Delta, instruction: &Instruction, call: &Call) {
        let result = instruction.result;
        if let Some(result) = result {
            delta.pending.retain(|(value, _, _)| *value != result);
        }
        self.call_targets(delta, instruction, call);
        let effects = effects_here(self.ground.program, call.method);
        let operand = |operand: Operand| self.scene.operand(call, result, operand);
        let blocks = effects.iter().any(|effect| matches!(effect, Effect::Blocks { .. }));
        let gives = effects.iter().any(|effect| matches!(effect, Effect::Load { .. }));
        for effect in effects {
            match effect {
                Effect::Fork { task } | Effect::Submit { task, .. } => {
                    for task in operand(*task) {
                        self.scene.tasks(task).into_iter().for_each(|it| delta.start(it));
                    }
                }
                Effect::Join { task, outcome, .. } => {
                    let is_all = match task {
                        Operand::Elements(_) | Operand::Callbacks => true,
                        _ => self.is_executor(call),
                    };
                    let mut tasks: Vec<Subject> = operand(*task)
                        .into_iter()
                        .flat_map(|task| self.scene.tasks(task))
                        .collect();
                    if is_all && let Some(executor) = self.scene.operand_value(call, *task) {
                        tasks.extend(self.given_to(executor));
                    }
                    for task in tasks {
                        settle(delta, Pending::Joined((task, is_all)), *outcome, result);
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
                        delta.publish((subject, None));
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
                        settle(delta, Pending::Received((subject, None)), outcome, result);
                    }
                }
                Effect::AtomicRead { of, ordering: Ordering::Acquire | Ordering::Volatile } => {
                    for subject in operand(*of) {
                        let received = Pending::Received((subject, None));
                        settle(delta, received, Outcome::IfNonZero, result);
                    }
                }
                _ => {}
            }
        }
        let place = Place { method: self.scene.body.method, offset: instruction.offset };
        if let Some(threads) = self.ground.started_at.get(&place) {
            delta.started_threads.extend(threads);
        }
    }

    /// The tasks that an executor was given: by all that is called here, and by this very body where nobody
    /// else knows the executor.
    fn given_to(&self, executor: ValueId) -> Vec<Subject> {
        let shape = self.scene.shape;
        let node = shape.node_of(executor);
        let bodies = node.iter().flat_map(|node| &shape[*node].runs);
        let named = |body: &MethodId| self.ground.heap.named(&Name::new(heap::Root::Task(*body)));
        let mut tasks: Vec<Subject> = bodies.filter_map(named).map(Subject::Object).collect();
        let name = self.expressions.of(executor);
        for instruction in self.scene.body.instructions() {
            let Operation::Call(call) = &instruction.operation else { continue };
            for effect in effects_here(self.ground.program, call.method) {
                if let Effect::Submit { task, to: Runner::Executor(to), .. } = effect
                    && let Some(to) = self.scene.operand_value(call, *to)
                    && self.expressions.of(to) == name
                {
                    tasks.extend(self.scene.operand(call, instruction.result, *task));
                }
            }
        }
        tasks
    }

    fn is_executor(&self, call: &Call) -> bool {
        let program = self.ground.program;
        let supertypes = program.hierarchy.supertypes(call.class);
        supertypes.into_iter().any(|class| {
            let name = &*program.classes[class].name;
            let runs_tasks = |name: &str| program.models().is(name, ClassProperty::Executor);
            runs_tasks(name)
                || program.models().supertypes(name).iter().any(|name| runs_tasks(name))
        })
    }

    /// What the methods that a call may run add.
    fn call_targets(&self, delta: &mut Delta, instruction: &Instruction, call: &Call) {
        let Ground { program, graph, heap, .. } = self.ground;
        let targets = graph.targets(self.scene.body.method, instruction.offset);
        let mut must: Option<Delta> = None;
        for target in targets {
            let theirs = self.known.of(target.method);
            let is_sure = !target.via.is_by_library();
            if theirs.is_empty() {
                if is_sure {
                    must = Some(Delta::default());
                }
                continue;
            }
            let callee = &heap.shapes[target.method];
            let given = given(program, call, target, callee.parameters.len());
            let result = returned(target, instruction.result);
            let nodes = correspondence(&self.scene, &given, result, callee);
            let ours = |subject: &Subject| match subject {
                Subject::Object(_) => Some(*subject),
                Subject::Node(node) => {
                    nodes.get(node.index()).copied().flatten().map(|it| self.scene.of_node(it))
                }
            };
            let channel = |(subject, slot): &Channel| Some((ours(subject)?, *slot));
            for task in theirs.started.iter().filter_map(ours) {
                self.scene.tasks(task).into_iter().for_each(|task| delta.start(task));
            }
            delta.started_threads.extend(&theirs.started_threads);
            delta.published.extend_by(&theirs.published, channel);
            if !is_sure {
                continue;
            }
            let mut here = Delta::default();
            for (task, is_all) in &theirs.joined {
                for task in ours(task).into_iter().flat_map(|task| self.scene.tasks(task)) {
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
            unite(&mut delta.joined, &must.joined);
            unite(&mut delta.received, &must.received);
        }
    }

    /// The order when an instruction throws. An interrupt while waiting for a thread is rare, and those who
    /// go on then have no better idea than everybody else.
    pub(super) fn thrown(&self, delta: &mut Delta, instruction: &Instruction) {
        if self.is_quiet {
            return;
        }
        if let Operation::Call(call) = &instruction.operation
            && effects_here(self.ground.program, call.method)
                .iter()
                .any(|effect| matches!(effect, Effect::Join { outcome: Outcome::Always, .. }))
        {
            self.step(delta, instruction);
        }
    }

    /// Learns from the way between two blocks.
    pub(super) fn pass(&self, delta: &mut Delta, passage: &Passage<'_>) {
        if self.is_quiet {
            return;
        }
        if !self.joined_in_loops.is_empty() {
            for left in self.loops.left(passage.from, passage.to) {
                let joined = self.joined_in_loops.iter().filter(|(inside, _)| *inside == left);
                joined.for_each(|(_, joined)| delta.reach(Pending::Joined(*joined)));
            }
        }
        let body = self.scene.body;
        let Some((value, is_true)) = tested(body, passage.block, passage.edge) else { return };
        let turned_out: Vec<Pending> = delta
            .pending
            .iter()
            .filter(|(pending, expected, _)| *pending == value && *expected == is_true)
            .map(|(_, _, pending)| *pending)
            .collect();
        turned_out.into_iter().for_each(|pending| delta.reach(pending));
        delta.pending.retain(|(pending, _, _)| *pending != value);
        if is_true && let Some(channel) = self.flag(value) {
            insert(&mut delta.received, channel);
        }
    }

    /// The volatile variable that a value was read from, here or in a getter.
    fn flag(&self, value: ValueId) -> Option<Channel> {
        let program = self.ground.program;
        let expression = self.expressions.of(value)?;
        match (expression.split_last(), expression.root) {
            (Some((object, Step::Field(field))), _) if is_volatile(program, field) => {
                let subject = self.scene.of_expression(&object)?;
                Some((subject, Some(Slot::Field(field))))
            }
            (None, Root::Static(field)) if is_volatile(program, field) => {
                let class = class_object(self.ground.heap, program.fields[field].class)?;
                Some((Subject::Object(class), Some(Slot::Field(field))))
            }
            _ => None,
        }
    }
}

/// Something that has happened if the result of a call is as the outcome says.
fn settle(delta: &mut Delta, fact: Pending, outcome: Outcome, result: Option<ValueId>) {
    let expected = match outcome {
        Outcome::Always => return delta.reach(fact),
        Outcome::IfTrue | Outcome::IfNonZero | Outcome::IfNonNull => true,
        Outcome::IfFalse => false,
        Outcome::Unknown => return,
    };
    if let Some(result) = result {
        insert(&mut delta.pending, (result, expected, fact));
    }
}

/// Whether a body does anything that concerns the order.
fn is_concerned(ground: &Ground<'_>, known: &dyn KnownDeltas, body: &Body) -> bool {
    let Ground { program, graph, faces, .. } = *ground;
    let is_flag = |field| is_volatile(program, field) && faces.is_tested(field);
    let concerns = |instruction: &Instruction| match &instruction.operation {
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
                || ends_in_flag(ground, targets)
        }
        _ => false,
    };
    body.instructions().any(concerns)
}

/// Whether a call is of a getter of a volatile field.
fn ends_in_flag(ground: &Ground<'_>, targets: &[program::callgraph::Target]) -> bool {
    let [target] = targets else { return false };
    let Some(returned) = ground.returned[target.method] else { return false };
    match (returned.steps().last().copied(), returned.root) {
        (Some(Step::Field(field)), _) | (None, Root::Static(field)) => {
            is_volatile(ground.program, field)
        }
        _ => false,
    }
}

struct OrderFlow<'a> {
    steps: OrderSteps<'a>,
}

impl Forward for OrderFlow<'_> {
    type State = Delta;

    fn entry(&mut self, _body: &Body) -> Delta {
        Delta::default()
    }

    fn join(&mut self, into: &mut Delta, from: &Delta) -> bool {
        into.join(from)
    }

    fn enter_block(&mut self, _state: &mut Delta, _block: &Block) {}

    fn instruction(&mut self, state: &mut Delta, instruction: &Instruction) {
        self.steps.step(state, instruction);
    }

    fn thrown(&mut self, state: &Delta, instruction: &Instruction) -> Delta {
        let mut thrown = state.clone();
        self.steps.thrown(&mut thrown, instruction);
        thrown
    }

    fn leave_by(&mut self, state: &mut Delta, passage: &Passage<'_>) {
        self.steps.pass(state, passage);
    }
}

/// What calling each method adds to the order, in the terms of what callers can know.
pub(super) fn deltas(ground: Ground<'_>) -> TypedVec<MethodId, Delta> {
    summaries::solve(ground.graph, ground.program.methods.len(), |method, known| {
        let Some(body) = ground.program.body(method) else { return Delta::default() };
        if !is_concerned(&ground, known, body) {
            return Delta::default();
        }
        let returned = |method: MethodId| ground.returned[method];
        let expressions = Expressions::new(ground.program, ground.graph, body, &returned);
        let loops = Loops::of(body);
        let mut flow = OrderFlow { steps: OrderSteps::new(ground, &expressions, known, &loops) };
        let states = dataflow::solve(body, &mut flow);
        at_return(&flow.steps, body, &states)
    })
}

fn at_return(
    steps: &OrderSteps<'_>,
    body: &Body,
    states: &TypedVec<BlockId, Option<Delta>>,
) -> Delta {
    let mut end: Option<Delta> = None;
    let mut anywhere = Delta::default();
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
    let exposed = steps.scene.shape.exposed;
    let is_known = |subject: &Subject| match subject {
        Subject::Object(_) => true,
        Subject::Node(node) => node.index() < exposed,
    };
    end.started.retain(is_known);
    end.joined.retain(|(subject, _)| is_known(subject));
    if let Published::These(these) = &mut end.published {
        these.retain(|(subject, _)| is_known(subject));
    }
    end.received.retain(|(subject, _)| is_known(subject));
    end
}
