//! What calls of library methods do to references, as the models or the code of the library say; where neither does, a
//! library object keeps what it is given and gives out what it keeps.

use classes::bytecode::InvokeKind;
use program::Program;
use program::ids::ValueId;
use program::ir::{Body, Call, DeclaredType, Instruction, Operation};
use program::models::{self, Effect, Operand, Times, language};

use super::method::Builder;
use super::{Name, NameRoot, NodeId, Slot};

/// Whether a body makes a parallel stream.
pub(super) fn has_parallel_streams(program: &Program, body: &Body) -> bool {
    body.instructions().any(|instruction| match &instruction.operation {
        Operation::Call(call) => program.effects_of(call.method).contains(&Effect::Parallel),
        _ => false,
    })
}

/// Whether a call copies its receiver, field by field or element by element.
fn is_clone(program: &Program, call: &Call) -> bool {
    let declared = &program.methods[call.method];
    let class = &*program.classes[declared.class].name;
    let is_copied = class == language::OBJECT || class.starts_with('[');
    is_copied && &*declared.name == "clone" && &*declared.descriptor == "()Ljava/lang/Object;"
}

/// Whether a body stores something in a variable of an object that it has made.
fn is_given_another(body: &Body, made: ValueId, slot: Slot) -> bool {
    let is_made = |value: ValueId| body.without_casts(value) == made;
    body.instructions().any(|instruction| match (&instruction.operation, slot) {
        (Operation::PutField { object, field, .. }, Slot::Field(wanted)) => {
            *field == wanted && is_made(*object)
        }
        (Operation::ArrayStore { array, .. }, Slot::Element) => is_made(*array),
        _ => false,
    })
}

impl Builder<'_> {
    pub(super) fn library_call(&mut self, instruction: &Instruction, call: &Call) {
        let program = self.inputs.program;
        let effects = program.effects_of(call.method);
        self.touch_by_interface(instruction, call, effects);
        if !program.is_known(call.method) {
            self.unknown_call(instruction, call);
            return;
        }
        // Each thread has its own: what one puts in, no other takes out.
        let is_local =
            effects.iter().any(|effect| matches!(effect, Effect::ThreadLocalAccess { .. }));
        for effect in effects {
            self.effect(instruction, call, effect, is_local);
        }
        if is_clone(program, call) {
            self.copy(instruction, call);
        }
    }

    /// A copy refers to what the object refers to that it was made from; unless the method goes on to give it something of
    /// its own, as deep copies do.
    fn copy(&mut self, instruction: &Instruction, call: &Call) {
        let program = self.inputs.program;
        let Some((original, result)) = call.arguments.first().copied().zip(instruction.result)
        else {
            return;
        };
        let (Some(from), Some(to)) = (self.node(original), self.node(result)) else { return };
        let slots: Vec<Slot> = match self.body.declared_type(program, original) {
            DeclaredType::Array => vec![Slot::Element],
            DeclaredType::Class(class) => {
                if program.classes[class].is_concrete() {
                    self.sets.class(to, class);
                }
                program.instance_fields(class).into_iter().map(Slot::Field).collect()
            }
            DeclaredType::Unknown => Vec::new(),
        };
        for slot in slots.into_iter().filter(|slot| !is_given_another(self.body, result, *slot)) {
            let (of_original, of_copy) = (self.sets.target(from, slot), self.sets.target(to, slot));
            self.sets.unify(of_original, of_copy);
        }
    }

    /// A collection that is known by its interface only is touched as well; the rows of interfaces do not say so.
    fn touch_by_interface(&mut self, instruction: &Instruction, call: &Call, effects: &[Effect]) {
        let program = self.inputs.program;
        let declared = &program.methods[call.method];
        let is_told = effects.iter().any(|effect| match effect {
            Effect::Read { of }
            | Effect::Write { of }
            | Effect::AtomicRead { of, .. }
            | Effect::AtomicWrite { of, .. }
            | Effect::AtomicUpdate { of, .. } => *of == Operand::Receiver,
            _ => false,
        });
        if is_told || declared.is_static() || declared.is_initializer() {
            return;
        }
        let class = &program.classes[declared.class].name;
        let models = program.models();
        let is_written = match models.contents_access(class, &declared.name, effects) {
            Some(access) => Some(access != models::ContentsAccess::Looks),
            // Iterators and streams look at what they go through.
            None => models
                .memory_access(class, &declared.name, effects)
                .map(|access| access != models::MemoryAccess::Reads),
        };
        if let Some(is_written) = is_written {
            self.touch_contents(instruction, call, Operand::Receiver, !is_written, is_written);
        }
    }

    fn effect(&mut self, instruction: &Instruction, call: &Call, effect: &Effect, is_local: bool) {
        match *effect {
            Effect::Store { value, into } if !is_local => {
                if let Operand::Elements(number) = value {
                    self.touch_contents(instruction, call, Operand::Argument(number), true, false);
                }
                let slot = self.kept_slot_of(instruction, call, into);
                for keeper in self.operand(instruction, call, into) {
                    let contents = self.sets.target(keeper, slot);
                    for value in self.operand(instruction, call, value) {
                        self.sets.unify(contents, value);
                        self.keep(keeper, value);
                    }
                }
            }
            Effect::Load { from } if !is_local => {
                let Some(result) = self.result_of(instruction) else { return };
                let slot = self.kept_slot_of(instruction, call, from);
                for keeper in self.operand(instruction, call, from) {
                    let contents = self.sets.target(keeper, slot);
                    self.sets.unify(contents, result);
                    self.keep(keeper, result);
                }
            }
            Effect::View { of } | Effect::LockView { of, .. } => {
                let Some(result) = self.result_of(instruction) else { return };
                for viewed in self.operand(instruction, call, of) {
                    self.sets.unify(viewed, result);
                }
            }
            // Each condition is an object of its own: who waits for one is not woken by another of the same lock.
            Effect::ConditionOf { .. } => {}
            Effect::Wraps { task, by } => {
                for keeper in self.operand(instruction, call, by) {
                    for task in self.operand(instruction, call, task) {
                        let wrapped = self.sets.target(keeper, Slot::Task);
                        self.sets.unify(wrapped, task);
                    }
                }
            }
            Effect::Handle { of } => {
                let Some(result) = self.result_of(instruction) else { return };
                for task in self.operand(instruction, call, of) {
                    let handled = self.sets.target(result, Slot::Task);
                    self.sets.unify(handled, task);
                }
            }
            Effect::Fork { task } => {
                for task in self.operand(instruction, call, task) {
                    self.submit(None, task);
                }
            }
            Effect::Submit { task, to, .. } => {
                let first_of = |operand| self.operand(instruction, call, operand).first().copied();
                let executor = to.operand().and_then(first_of);
                for task in self.operand(instruction, call, task) {
                    self.submit(executor, task);
                }
            }
            Effect::RunsTask { task, times } => {
                if times == Times::Concurrently || self.has_parallel_streams {
                    for task in self.operand(instruction, call, task) {
                        self.submit(None, task);
                    }
                }
            }
            Effect::Escapes { operand } => {
                let kept = NameRoot::Library(program_class(self.inputs.program, call));
                for node in self.operand(instruction, call, operand) {
                    self.sets.name(node, Name::new(kept));
                }
            }
            Effect::ReturnsFresh => {
                if let Some(result) = self.result_of(instruction) {
                    self.sets.node(result).flags.is_allocated = true;
                }
            }
            Effect::ReturnsType { class: name } => {
                let class = self.inputs.program.class_named(name);
                if let (Some(result), Some(class)) = (self.result_of(instruction), class) {
                    self.sets.class(result, class);
                }
            }
            Effect::SingleWorker => {
                if let Some(result) = self.result_of(instruction) {
                    self.sets.node(result).flags.is_single_worker = true;
                }
            }
            Effect::Read { of } | Effect::AtomicRead { of, .. } => {
                self.touch_contents(instruction, call, of, true, false);
            }
            Effect::Write { of } | Effect::AtomicWrite { of, .. } => {
                self.touch_contents(instruction, call, of, false, true);
            }
            Effect::AtomicUpdate { of, .. } => {
                self.touch_contents(instruction, call, of, true, true);
            }
            Effect::Acquire { lock: operand, .. }
            | Effect::Release { lock: operand, .. }
            | Effect::Synchronized { lock: operand }
            | Effect::Wait { on: operand, .. }
            | Effect::Notify { on: operand, .. }
            | Effect::Publish { to: operand }
            | Effect::Receive { from: operand, .. } => {
                for node in self.operand(instruction, call, operand) {
                    self.sets.node(node).flags.is_locked = true;
                }
            }
            Effect::Store { .. }
            | Effect::Load { .. }
            | Effect::Feeds { .. }
            | Effect::Join { .. }
            | Effect::After { .. }
            | Effect::Interrupt { .. }
            | Effect::ObservesInterrupt { .. }
            | Effect::Controls { .. }
            | Effect::Terminates
            | Effect::Fence { .. }
            | Effect::ThreadLocalAccess { .. }
            | Effect::Blocks { .. }
            | Effect::Sleeps
            | Effect::Reflective
            | Effect::Parallel
            | Effect::Sequential => {}
        }
    }

    fn result_of(&mut self, instruction: &Instruction) -> Option<NodeId> {
        instruction.result.and_then(|result| self.node(result))
    }

    fn touch_contents(
        &mut self,
        instruction: &Instruction,
        call: &Call,
        of: Operand,
        is_read: bool,
        is_written: bool,
    ) {
        let slot = self.kept_slot_of(instruction, call, of);
        for node in self.operand(instruction, call, of) {
            self.sets.touch(node, slot, is_read, is_written);
        }
    }

    /// The variable that an operand keeps things in.
    fn kept_slot_of(&self, instruction: &Instruction, call: &Call, operand: Operand) -> Slot {
        let values = match operand {
            Operand::Result => instruction.result.into_iter().collect(),
            operand => self.inputs.program.operand_values(call, operand),
        };
        let mut slots = values.into_iter().map(|value| self.kept_slot(value));
        slots.find(|slot| *slot == Slot::Element).unwrap_or(Slot::Contents)
    }

    /// The variable that what a value refers to keeps things in: elements, if it is an array.
    pub(super) fn kept_slot(&self, value: ValueId) -> Slot {
        match self.body.declared_type(self.inputs.program, value) {
            DeclaredType::Array => Slot::Element,
            DeclaredType::Class(_) | DeclaredType::Unknown => Slot::Contents,
        }
    }

    /// The alias sets that an operand of a library call stands for.
    fn operand(&mut self, instruction: &Instruction, call: &Call, operand: Operand) -> Vec<NodeId> {
        let program = self.inputs.program;
        match operand {
            Operand::Receiver | Operand::Argument(_) | Operand::Callbacks => {
                let values = program.operand_values(call, operand);
                values.into_iter().filter_map(|value| self.node(value)).collect()
            }
            Operand::Elements(number) => {
                let slot = self.kept_slot_of(instruction, call, Operand::Argument(number));
                let values = program.operand_values(call, Operand::Argument(number));
                let nodes = values.into_iter().filter_map(|value| {
                    let node = self.node(value)?;
                    Some(self.sets.target(node, slot))
                });
                nodes.collect()
            }
            Operand::Contents => {
                let slot = self.kept_slot_of(instruction, call, Operand::Receiver);
                self.slot_of_receiver(call, slot)
            }
            Operand::Wrapped => self.slot_of_receiver(call, Slot::Task),
            Operand::Result => self.result_of(instruction).into_iter().collect(),
            Operand::Class => {
                let class = program_class(program, call);
                vec![self.class_object(class)]
            }
            // The mutex of a wrapper is the wrapper itself, nearly always.
            Operand::Field(_) => {
                let values = program.operand_values(call, Operand::Receiver);
                values.into_iter().filter_map(|value| self.node(value)).collect()
            }
            Operand::CallbackResult | Operand::Designated | Operand::CurrentThread => Vec::new(),
        }
    }

    fn slot_of_receiver(&mut self, call: &Call, slot: Slot) -> Vec<NodeId> {
        let values = self.inputs.program.operand_values(call, Operand::Receiver);
        let nodes = values.into_iter().filter_map(|value| {
            let node = self.node(value)?;
            Some(self.sets.target(node, slot))
        });
        nodes.collect()
    }

    /// A library object keeps something.
    fn keep(&mut self, keeper: NodeId, kept: NodeId) {
        if self.sets.node(keeper).flags.escapes_object {
            self.sets.node(kept).flags.escapes_object = true;
        }
    }

    /// What callbacks of a library call are given.
    pub(super) fn callback_argument(&mut self, call: &Call) -> Option<NodeId> {
        let program = self.inputs.program;
        let from = program.effects_of(call.method).iter().find_map(|effect| match effect {
            Effect::Feeds { from, .. } => Some(*from),
            _ => None,
        })?;
        let value = program.operand_values(call, from).first().copied()?;
        let node = self.node(value)?;
        Some(self.sets.target(node, Slot::Contents))
    }

    /// A callback of a library call has returned something.
    pub(super) fn callback_result(
        &mut self,
        instruction: &Instruction,
        call: &Call,
        given: NodeId,
    ) {
        let effects = self.inputs.program.effects_of(call.method);
        for effect in effects {
            match *effect {
                Effect::Store { value: Operand::CallbackResult, into } => {
                    for keeper in self.operand(instruction, call, into) {
                        let contents = self.sets.target(keeper, Slot::Contents);
                        self.sets.unify(contents, given);
                    }
                }
                Effect::Load { from: Operand::CallbackResult }
                | Effect::View { of: Operand::CallbackResult } => {
                    if let Some(result) = self.result_of(instruction) {
                        self.sets.unify(result, given);
                    }
                }
                _ => {}
            }
        }
    }

    /// A call of which nothing is known but its types.
    fn unknown_call(&mut self, instruction: &Instruction, call: &Call) {
        let program = self.inputs.program;
        // What the program declares itself is done by those that implement it.
        if program.is_application(call.method) {
            return;
        }
        let has_receiver = call.kind != InvokeKind::Static;
        let receiver = call.arguments.first().filter(|_| has_receiver);
        let receiver = receiver.and_then(|receiver| self.node(*receiver));
        let arguments: Vec<(ValueId, NodeId)> = call
            .arguments
            .iter()
            .skip(usize::from(has_receiver))
            .filter_map(|argument| Some((*argument, self.node(*argument)?)))
            .collect();
        if let Some(receiver) = receiver {
            for (_, argument) in &arguments {
                let contents = self.sets.target(receiver, Slot::Contents);
                self.sets.unify(contents, *argument);
                self.keep(receiver, *argument);
            }
        }
        let Some(result) = self.result_of(instruction) else { return };
        if let Some(receiver) = receiver {
            let contents = self.sets.target(receiver, Slot::Contents);
            self.sets.unify(contents, result);
        } else if let Some(value) = instruction.result {
            let wanted = self.body.declared_type(program, value);
            for (argument, node) in arguments {
                let declared = self.body.declared_type(program, argument);
                if program.hierarchy.can_be_one(wanted, declared) {
                    self.sets.unify(node, result);
                }
            }
        }
    }
}

fn program_class(program: &Program, call: &Call) -> program::ClassId {
    program.methods[call.method].class
}
