//! Objects that are new, and that no other thread knows yet (dissertation, 4.3.2: NEW-safe events).
//!
//! Property: at a point where a value is fresh, the object it refers to was allocated by the current thread,
//! and no path to the point has made it reachable from a static field, from an object that is not fresh
//! itself, or from a started thread.
//!
//! Parameters are taken as fresh; whether they are is a matter of the context, which is asked where the facts
//! are used. An object that is stored in a fresh one stays fresh, but is tied to it: it escapes when its
//! owner does.
//!
//! Misses fresh objects behind phis, and behind more than [`MOST_VALUES`] values. May take an object for
//! fresh that an unknown method of a library keeps.
//!
//! Deviations. 1. The dissertation decides this on the object use graph, between NEW and the first ESCAPE
//! event. The flow here says the same without building that graph for objects that need no further argument.
//! 2. Factories: a result whose alias set a callee allocates, names nowhere and hands to nobody else is
//! fresh.

use program::callgraph::CallGraph;
use program::ids::{Id, MethodId, ValueId};
use program::ir::{Call, Definition, DynamicTarget, Instruction, Operation, Terminator};
use program::models::{Effect, Operand};
use program::{Origin, Program};

use super::binding::{BodyValues, ParameterSource, parameter_sources};
use super::order::effects_here;
use crate::heap::{NodeId, Shape, Slot};
use crate::sorted::{insert, intersect};

/// Values that are tracked at once, at most; others are not fresh.
const MOST_VALUES: usize = 48;

/// Whose an object is, as far as one thread can tell. The greater, the surer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ownership {
    /// Other threads may know it.
    #[default]
    Shared,
    /// The thread has taken it out of a collection, and not given it back: others know it only if they kept a reference
    /// that they should not have kept.
    TakenOut,
    /// The thread has made it, and nobody else knows it.
    Fresh,
}

/// What is fresh at one point. All lists are sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Freshness {
    /// The values that refer to fresh objects, and to those that were taken out of a collection.
    values: Vec<ValueId>,
    /// Those of them that were taken out of a collection.
    taken_out: Vec<ValueId>,
    /// Those that were stored somewhere, so that they may be loaded again.
    stored: Vec<ValueId>,
    /// Which fresh objects keep which.
    ownership: Vec<(ValueId, ValueId)>,
    /// What fields of fresh objects refer to.
    fields: Vec<(ValueId, Slot, ValueId)>,
    /// Values that refer to the same object as another one.
    same: Vec<(ValueId, ValueId)>,
}

impl Freshness {
    /// Joins the facts of another path; says whether that changes anything.
    pub(super) fn join(&mut self, other: &Freshness) -> bool {
        let mut changed = intersect(&mut self.values, &other.values)
            | intersect(&mut self.fields, &other.fields)
            | intersect(&mut self.same, &other.same);
        for value in &other.taken_out {
            changed |= self.is_tracked(*value) && insert(&mut self.taken_out, *value);
        }
        for value in &other.stored {
            changed |= self.is_tracked(*value) && insert(&mut self.stored, *value);
        }
        for pair in &other.ownership {
            changed |= self.is_tracked(pair.1) && insert(&mut self.ownership, *pair);
        }
        let values = &self.values;
        self.taken_out.retain(|value| values.binary_search(value).is_ok());
        self.stored.retain(|value| values.binary_search(value).is_ok());
        self.ownership.retain(|(_, kept)| values.binary_search(kept).is_ok());
        changed
    }

    fn is_tracked(&self, value: ValueId) -> bool {
        self.values.binary_search(&value).is_ok()
    }

    /// The value that stands for all values that refer to this object.
    fn root(&self, value: ValueId) -> ValueId {
        match self.same.binary_search_by_key(&value, |(value, _)| *value) {
            Ok(at) => self.same[at].1,
            Err(_) => value,
        }
    }

    /// Whose the object is that a value (without casts) refers to, if parameters are as the context says.
    pub(super) fn ownership(
        &self,
        definition_of: &dyn Fn(ValueId) -> Definition,
        value: ValueId,
        of_parameter: &dyn Fn(u16) -> Ownership,
    ) -> Ownership {
        if self.values.is_empty() {
            return Ownership::Shared;
        }
        let mut least = Ownership::Fresh;
        let mut todo = vec![self.root(value)];
        let mut next = 0;
        while let Some(value) = todo.get(next).copied() {
            next += 1;
            if !self.is_tracked(value) {
                return Ownership::Shared;
            }
            if let Definition::Parameter(number) = definition_of(value) {
                least = least.min(of_parameter(number));
            } else if self.taken_out.binary_search(&value).is_ok() {
                least = least.min(Ownership::TakenOut);
            }
            if least == Ownership::Shared {
                return least;
            }
            for (owner, kept) in &self.ownership {
                if *kept == value && !todo.contains(owner) {
                    todo.push(*owner);
                }
            }
        }
        least
    }

    fn make(&mut self, value: ValueId) {
        self.forget(value);
        if self.values.len() < MOST_VALUES {
            insert(&mut self.values, value);
        }
    }

    fn take_out(&mut self, value: ValueId) {
        self.make(value);
        if self.is_tracked(value) {
            insert(&mut self.taken_out, value);
        }
    }

    /// Drops all that is known of a value.
    fn forget(&mut self, value: ValueId) {
        if self.values.is_empty() && self.same.is_empty() {
            return;
        }
        self.values.retain(|it| *it != value);
        self.taken_out.retain(|it| *it != value);
        self.stored.retain(|it| *it != value);
        self.ownership.retain(|(owner, kept)| *owner != value && *kept != value);
        self.fields.retain(|(owner, _, kept)| *owner != value && *kept != value);
        self.same.retain(|(one, other)| *one != value && *other != value);
    }

    fn drop_with_owned(&mut self, value: ValueId) {
        let mut todo = vec![value];
        while let Some(value) = todo.pop() {
            if self.is_tracked(value) {
                todo.extend(
                    self.ownership
                        .iter()
                        .filter(|(owner, _)| *owner == value)
                        .map(|(_, kept)| *kept),
                );
                self.forget(value);
            }
        }
    }
}

/// The alias sets that an alias set leads to, itself included.
fn reached_from(shape: &Shape, from: NodeId) -> Vec<bool> {
    let mut is_reached = vec![false; shape.nodes.len()];
    let mut todo = vec![from];
    while let Some(node) = todo.pop() {
        if !std::mem::replace(&mut is_reached[node.index()], true) {
            todo.extend(shape[node].edges.iter().filter_map(|edge| edge.target));
        }
    }
    is_reached
}

/// What a callee does to its arguments, as its shape shows.
#[derive(Debug, Default)]
pub(super) struct ArgumentEffects {
    /// Which parameters become known to other threads.
    leaks: Vec<bool>,
    /// Which parameters may keep which others afterwards.
    keeps: Vec<(usize, usize)>,
    /// Which parameters the result may be, or keep.
    in_result: Vec<usize>,
    /// Whether the result is a new object that nobody else knows.
    is_result_fresh: bool,
    /// Whether the result is new or was taken out of a collection.
    is_result_taken_out: bool,
    /// Fields of parameters that refer to new objects that nobody else knows.
    owned: Vec<(usize, Slot)>,
    /// Fields of parameters that are written.
    written: Vec<(usize, Slot)>,
}

impl ArgumentEffects {
    /// Reads it from a shape and a body.
    pub(super) fn of(
        program: &Program,
        graph: &CallGraph,
        method: MethodId,
        shape: &Shape,
    ) -> ArgumentEffects {
        let reach = |from: NodeId| reached_from(shape, from);
        let reached: Vec<Option<Vec<bool>>> =
            shape.parameters.iter().map(|parameter| parameter.map(reach)).collect();
        let is_reached =
            |by: usize, node: NodeId| reached[by].as_ref().is_some_and(|it| it[node.index()]);
        let mut argument_effects = ArgumentEffects {
            is_result_taken_out: shape.result.is_some() && gives_away(program, graph, method, 0),
            ..ArgumentEffects::default()
        };
        for (at, parameter) in shape.parameters.iter().enumerate() {
            let Some(parameter) = *parameter else {
                argument_effects.leaks.push(false);
                continue;
            };
            let node = &shape[parameter];
            argument_effects.leaks.push(!node.names.is_empty() || node.flags.is_started);
            let others = (0..shape.parameters.len()).filter(|other| *other != at);
            let keepers = others.clone().filter(|other| is_reached(*other, parameter));
            argument_effects.keeps.extend(keepers.map(|keeper| (keeper, at)));
            for edge in &node.edges {
                if edge.is_written {
                    argument_effects.written.push((at, edge.slot));
                }
                if let Some(target) = edge.target
                    && shape[target].names.is_empty()
                    && shape[target].flags.is_allocated
                    && target != parameter
                    && !others.clone().any(|other| is_reached(other, target))
                {
                    argument_effects.owned.push((at, edge.slot));
                }
            }
        }
        if let Some(result) = shape.result {
            let node = &shape[result];
            let count = shape.parameters.len();
            argument_effects.is_result_fresh = node.flags.is_allocated
                && !node.flags.is_started
                && node.names.is_empty()
                && !(0..count).any(|at| is_reached(at, result));
            let reached = reach(result);
            argument_effects.in_result = (0..count)
                .filter(|at| shape.parameters[*at].is_some_and(|it| reached[it.index()]))
                .collect();
        }
        argument_effects
    }
}

/// Calls that are followed to where an object is taken out of a collection.
const MOST_CALLS: usize = 3;

/// Whether everything that a method returns is new, or was taken out of a collection: by itself or by methods that it calls.
fn gives_away(program: &Program, graph: &CallGraph, method: MethodId, depth: usize) -> bool {
    if is_giving_away(program, method) {
        return true;
    }
    let Some(body) = program.body(method).filter(|_| depth < MOST_CALLS) else { return false };
    let mut todo: Vec<ValueId> = Vec::new();
    for block in body.blocks.iter() {
        if let Terminator::Return(Some(value)) = &block.terminator {
            todo.push(body.without_casts(*value));
        }
    }
    let (mut seen, mut is_any_taken) = (Vec::new(), false);
    while let Some(value) = todo.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        match body.definitions[value] {
            Definition::Phi(block) => {
                let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
                let inputs = phis.flat_map(|phi| phi.inputs.iter().flatten());
                todo.extend(inputs.map(|input| body.without_casts(*input)));
            }
            Definition::Instruction(..) => {
                let Some(instruction) = body.defining_instruction(value) else { return false };
                match &instruction.operation {
                    Operation::New(_) | Operation::Constant(_) => {}
                    Operation::Call(call) => {
                        let targets = graph.targets(method, instruction.offset);
                        let is_taken = is_giving_away(program, call.method)
                            || (!targets.is_empty()
                                && targets.iter().all(|target| {
                                    gives_away(program, graph, target.method, depth + 1)
                                }));
                        if !is_taken {
                            return false;
                        }
                        is_any_taken = true;
                    }
                    _ => return false,
                }
            }
            Definition::Parameter(_) | Definition::Caught(_) | Definition::Removed => return false,
        }
    }
    is_any_taken
}

/// Whether a method of the library takes what it returns out of its receiver.
fn is_giving_away(program: &Program, method: MethodId) -> bool {
    let declared = &program.methods[method];
    let class = &program.classes[declared.class];
    class.origin != Origin::Application
        && declared.descriptor.ends_with(';')
        && program.models().gives_away(&class.name, &declared.name, &declared.descriptor)
}

/// Applies what instructions do to fresh objects.
pub(super) struct FreshnessTransfer<'a> {
    pub(super) body_values: BodyValues<'a>,
    pub(super) graph: &'a CallGraph,
    /// Which alias sets may be shared in some context.
    pub(super) bindable: &'a [bool],
    /// What callees do to their arguments.
    pub(super) argument_effects: &'a (dyn Fn(MethodId) -> &'a ArgumentEffects + 'a),
}

impl FreshnessTransfer<'_> {
    fn is_bindable(&self, value: ValueId) -> bool {
        self.body_values.shape.node_of(value).is_some_and(|node| self.bindable[node.index()])
    }

    fn root(&self, state: &Freshness, value: ValueId) -> ValueId {
        state.root(self.body_values.body.without_casts(value))
    }

    /// What is fresh when the method begins.
    pub(super) fn at_entry(&self) -> Freshness {
        let mut state = Freshness::default();
        for parameter in &self.body_values.body.parameters {
            if self.is_bindable(*parameter) {
                insert(&mut state.values, *parameter);
                insert(&mut state.stored, *parameter);
            }
        }
        state
    }

    /// Another thread may know the object from now on, and whatever it leads to. The object itself may be of
    /// no interest, such as a thread that only its starter knows, and lead to a task that is.
    fn escape(&self, state: &mut Freshness, value: ValueId) {
        let root = self.root(state, value);
        let is_known = state.is_tracked(root);
        state.drop_with_owned(root);
        let Some(node) = self.body_values.shape.node_of(value) else { return };
        if state.stored.is_empty() {
            return;
        }
        let is_reached = reached_from(self.body_values.shape, node);
        let escapes = |other: &ValueId| {
            let Some(of_other) = self.body_values.shape.node_of(*other) else { return false };
            // It may be any of the objects of its own alias set that were stored before, unless it is known
            // which.
            let is_parameter =
                matches!(self.body_values.body.definitions[*other], Definition::Parameter(_));
            match of_other == node {
                true => !is_known && !is_parameter,
                false => is_reached[of_other.index()],
            }
        };
        let others: Vec<ValueId> = state.stored.iter().copied().filter(escapes).collect();
        others.into_iter().for_each(|other| state.drop_with_owned(other));
    }

    /// One object keeps another from now on.
    fn store(&self, state: &mut Freshness, value: ValueId, into: ValueId, slot: Slot) {
        let (kept, owner) = (self.root(state, value), self.root(state, into));
        if state.is_tracked(owner) {
            state.fields.retain(|(of, field, _)| (*of, *field) != (owner, slot));
            if state.is_tracked(kept) {
                insert(&mut state.stored, kept);
                insert(&mut state.ownership, (owner, kept));
                if matches!(slot, Slot::Field(_)) {
                    insert(&mut state.fields, (owner, slot, kept));
                }
            }
        } else if self.is_bindable(into) {
            self.escape(state, value);
        } else if state.is_tracked(kept) {
            insert(&mut state.stored, kept);
        }
    }

    fn load(&self, state: &mut Freshness, from: ValueId, slot: Slot, result: Option<ValueId>) {
        let Some(result) = result else { return };
        state.forget(result);
        let owner = self.root(state, from);
        let found = state.fields.iter().find(|(of, field, _)| (*of, *field) == (owner, slot));
        if let Some((_, _, kept)) = found.copied() {
            if kept == owner {
                // The callee that made the object left it here: this value stands for it from now on.
                state.make(result);
                if state.is_tracked(result) {
                    state.fields.retain(|(of, field, _)| (*of, *field) != (owner, slot));
                    insert(&mut state.fields, (owner, slot, result));
                    insert(&mut state.ownership, (owner, result));
                    insert(&mut state.stored, result);
                }
            } else if state.is_tracked(kept) {
                insert(&mut state.same, (result, kept));
            }
        }
    }

    /// Applies an instruction.
    pub(super) fn step(&self, state: &mut Freshness, instruction: &Instruction) {
        match &instruction.operation {
            Operation::New(_) | Operation::NewArray { .. } => self.make(state, instruction.result),
            Operation::DynamicCall(call) => {
                if !matches!(call.target, DynamicTarget::Lambda(_)) {
                    return;
                }
                self.make(state, instruction.result);
                if let Some(result) = instruction.result {
                    for (at, captured) in call.arguments.iter().enumerate() {
                        self.store(state, *captured, result, Slot::Captured(at as u16));
                    }
                }
            }
            Operation::PutStatic { value, .. } => self.escape(state, *value),
            Operation::PutField { object, field, value } => {
                self.store(state, *value, *object, Slot::Field(*field));
            }
            Operation::ArrayStore { array, value, .. } => {
                self.store(state, *value, *array, Slot::Element);
            }
            Operation::GetField { object, field } => {
                self.load(state, *object, Slot::Field(*field), instruction.result);
            }
            Operation::Call(call) => self.call(state, instruction, call),
            _ => {}
        }
    }

    /// Threads and tasks that nobody shares are followed too: what they keep is known to others once they are
    /// started.
    fn make(&self, state: &mut Freshness, result: Option<ValueId>) {
        if let Some(result) = result {
            let node = self.body_values.shape.node_of(result);
            let is_started = node.is_some_and(|it| self.body_values.shape[it].flags.is_started);
            match is_started || self.is_bindable(result) {
                true => state.make(result),
                false => state.forget(result),
            }
        }
    }

    fn call(&self, state: &mut Freshness, instruction: &Instruction, call: &Call) {
        let program = self.body_values.program;
        if let Some(result) = instruction.result {
            state.forget(result);
        }
        let targets = self.graph.targets(self.body_values.body.method, instruction.offset);
        let (mut is_result_fresh, mut is_taken_out) = (None, true);
        for target in targets {
            let callee = &self.body_values.heap.shapes[target.method];
            if program.body(target.method).is_none() {
                continue;
            }
            let is_result_wanted = instruction.result.is_some_and(|it| self.is_bindable(it));
            if state.values.is_empty() && !is_result_wanted {
                break;
            }
            let argument_effects = (self.argument_effects)(target.method);
            let sources = parameter_sources(program, call, target, callee.parameters.len());
            self.apply_argument_effects(state, argument_effects, &sources, instruction.result);
            is_result_fresh =
                Some(is_result_fresh.unwrap_or(true) && argument_effects.is_result_fresh);
            is_taken_out &= argument_effects.is_result_taken_out;
        }
        if is_result_fresh == Some(true) && effects_here(program, call.method).is_empty() {
            self.make(state, instruction.result);
            return;
        }
        if is_result_fresh.is_none() {
            self.library_call(state, instruction, call);
        }
        let is_taken_out = match is_result_fresh {
            Some(_) => is_taken_out,
            None => is_giving_away(program, call.method),
        };
        if let Some(result) = instruction.result.filter(|it| is_taken_out && self.is_bindable(*it))
        {
            state.take_out(result);
        }
    }

    fn apply_argument_effects(
        &self,
        state: &mut Freshness,
        argument_effects: &ArgumentEffects,
        sources: &[ParameterSource],
        result: Option<ValueId>,
    ) {
        let holder = |at: usize| match sources.get(at) {
            Some(
                ParameterSource::Argument(value)
                | ParameterSource::Captured(value, _)
                | ParameterSource::Kept(value),
            ) => Some(*value),
            Some(ParameterSource::Allocated) => result,
            Some(ParameterSource::Unknown) | None => None,
        };
        for (at, leaks) in argument_effects.leaks.iter().enumerate() {
            if *leaks && let Some(value) = holder(at) {
                self.escape(state, value);
            }
        }
        for (at, slot) in &argument_effects.written {
            if let Some(ParameterSource::Argument(value)) = sources.get(*at) {
                let owner = self.root(state, *value);
                state.fields.retain(|(of, field, _)| (*of, *field) != (owner, *slot));
            }
        }
        for (keeper, kept) in &argument_effects.keeps {
            if let (Some(keeper), Some(kept)) = (holder(*keeper), holder(*kept)) {
                self.store(state, kept, keeper, Slot::Contents);
            }
        }
        for at in &argument_effects.in_result {
            if let Some(value) = holder(*at) {
                let root = self.root(state, value);
                if state.is_tracked(root) {
                    insert(&mut state.stored, root);
                }
            }
        }
        for (at, slot) in &argument_effects.owned {
            if let Some(ParameterSource::Argument(value)) = sources.get(*at) {
                let owner = self.root(state, *value);
                if state.is_tracked(owner) {
                    // A field of its own owner: not loaded yet, so no value stands for it.
                    insert(&mut state.fields, (owner, *slot, owner));
                }
            }
        }
    }

    fn library_call(&self, state: &mut Freshness, instruction: &Instruction, call: &Call) {
        let program = self.body_values.program;
        let effects = effects_here(program, call.method);
        if effects.is_empty() {
            if program.class_of(call.method).origin == Origin::Missing {
                let is_static = program.methods[call.method].is_static();
                for value in call.arguments.iter().skip(usize::from(!is_static)) {
                    self.escape(state, *value);
                }
            }
            return;
        }
        if effects.contains(&Effect::ReturnsFresh) {
            self.make(state, instruction.result);
        }
        let values = |operand: Operand| match operand {
            Operand::Callbacks => program.operand_values(call, operand),
            Operand::Result => instruction.result.into_iter().collect(),
            operand => {
                self.body_values.operand_value(call, operand).into_iter().collect::<Vec<_>>()
            }
        };
        for effect in effects {
            match effect {
                Effect::Store { value, into } | Effect::Wraps { task: value, by: into } => {
                    for into in values(*into) {
                        for value in values(*value) {
                            self.store(state, value, into, Slot::Contents);
                        }
                        if let Operand::Elements(at) = value {
                            for from in values(Operand::Argument(*at)) {
                                self.store_kept(state, from, into);
                            }
                        }
                    }
                }
                Effect::View { of } => {
                    if let (Some(result), [of]) = (instruction.result, &*values(*of)) {
                        let root = self.root(state, *of);
                        if state.is_tracked(root) && root != result {
                            insert(&mut state.same, (result, root));
                        }
                    }
                }
                Effect::Fork { task } | Effect::Submit { task, .. } => {
                    values(*task).into_iter().for_each(|task| self.escape(state, task));
                    if let Operand::Elements(at) = task {
                        for from in values(Operand::Argument(*at)) {
                            self.escape(state, from);
                        }
                    }
                }
                Effect::Escapes { operand } => {
                    values(*operand).into_iter().for_each(|value| self.escape(state, value));
                }
                // Nobody else gets to know an object by these.
                Effect::Acquire { .. }
                | Effect::Release { .. }
                | Effect::Synchronized { .. }
                | Effect::LockView { .. }
                | Effect::ConditionOf { .. }
                | Effect::Wait { .. }
                | Effect::Notify { .. }
                | Effect::Load { .. }
                | Effect::Feeds { .. }
                | Effect::Join { .. }
                | Effect::Handle { .. }
                | Effect::After { .. }
                | Effect::RunsTask { .. }
                | Effect::Interrupt { .. }
                | Effect::ObservesInterrupt { .. }
                | Effect::Controls { .. }
                | Effect::Terminates
                | Effect::Publish { .. }
                | Effect::Receive { .. }
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
                | Effect::Sequential => {}
            }
        }
    }

    /// What one object keeps, another keeps from now on, too.
    fn store_kept(&self, state: &mut Freshness, from: ValueId, into: ValueId) {
        let owner = self.root(state, from);
        let kept: Vec<ValueId> =
            state.ownership.iter().filter(|(of, _)| *of == owner).map(|(_, kept)| *kept).collect();
        for value in kept {
            self.store(state, value, into, Slot::Contents);
        }
    }
}
