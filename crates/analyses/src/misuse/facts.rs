//! What the checks ask of the program and of single methods.

use std::collections::{BTreeMap, BTreeSet};

use classes::access;
use classes::bytecode::BinaryOp;
use findings::{Evidence, Finding, Severity, Site, Step, Witness};

use program::Program;
use program::callgraph::{CallGraph, CallKind};
use program::ids::{BlockId, ClassId, FieldId, Id, MethodId, TypedVec, ValueId};
use program::ir::{
    Body, Call, Constant, ControlDependence, DeclaredType, Definition, DynamicTarget, Instruction,
    Operation, Terminator,
};
use program::models::{ClassProperty, Effect, EntryThread, Models, Operand};
use program::threads::{self, RootKind};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ANALYSIS;
use crate::Context;
use crate::locks::expression::{ExpressionRoot, Expressions, LockExpression, PathElement};
use crate::locks::held::{self, LockFlowInputs, LockTransfer};
use crate::stale_value::guards::Guards;

/// Definitions are followed back through at most this many others.
const MOST_DEPTH: usize = 8;

/// Callers are followed up through at most this many methods.
const MOST_CALLERS: usize = 400;

/// The locks that are held at the instructions of a method, by offset, where there are any.
type HeldByOffset = FxHashMap<u32, Vec<Option<LockExpression>>>;

/// What is known of the whole program.
pub(super) struct ProgramFacts<'a> {
    pub(super) program: &'a Program,
    pub(super) graph: &'a CallGraph,
    pub(super) guards: Guards,
    held: TypedVec<MethodId, HeldByOffset>,
    /// Methods that somebody may call while holding no lock.
    entered_unlocked: TypedVec<MethodId, bool>,
    /// Methods that only the main thread of a program without other threads executes.
    sequential: FxHashSet<MethodId>,
    /// Where threads begin, and whether two can execute that method at once.
    pub(super) roots: FxHashMap<MethodId, (RootKind, bool)>,
    /// The class of all objects that are ever stored in a field, where it is one.
    stored_classes: FxHashMap<FieldId, Option<ClassId>>,
}

impl<'a> ProgramFacts<'a> {
    /// Looks at the whole program.
    pub(super) fn of(context: &'a Context<'a>) -> ProgramFacts<'a> {
        let Context { program, graph, .. } = *context;
        let found = threads::roots(program, graph, &context.config.entry_points);
        let roots = found.iter().map(|root| (root.method, (root.kind, root.may_overlap))).collect();
        let mut facts = ProgramFacts {
            program,
            graph,
            guards: Guards::of(context),
            held: TypedVec::new(),
            entered_unlocked: TypedVec::filled(false, program.methods.len()),
            sequential: FxHashSet::default(),
            roots,
            stored_classes: stored_classes(program),
        };
        facts.held = (0..program.methods.len())
            .into_par_iter()
            .map(|method| facts.held_in(MethodId::new(method)))
            .collect::<Vec<_>>()
            .into();
        facts.find_unlocked_entries();
        facts.find_sequential();
        facts
    }

    /// The methods to look at.
    pub(super) fn methods(&self) -> impl Iterator<Item = MethodId> + '_ {
        self.program.methods_with_bodies().filter(|method| {
            self.program.is_application(*method)
                && self.graph.is_reachable(*method)
                && self.program.methods[*method].access & access::BRIDGE == 0
        })
    }

    /// Calls `look` with what is known of one method.
    pub(super) fn with_method<T>(
        &self,
        method: MethodId,
        look: impl FnOnce(&MethodFacts<'_>) -> T,
    ) -> Option<T> {
        let body = self.program.body(method)?;
        let returned = |callee: MethodId| self.guards.returned[callee];
        let expressions = Expressions::new(self.program, self.graph, body, &returned);
        Some(look(&MethodFacts { facts: self, method, body, expressions }))
    }

    fn held_in(&self, method: MethodId) -> HeldByOffset {
        let mut found = HeldByOffset::default();
        if !self.program.is_application(method) || !self.guards.holds_locks(method) {
            return found;
        }
        let Some(body) = self.program.body(method) else { return found };
        let returned = |callee: MethodId| self.guards.returned[callee];
        let expressions = Expressions::new(self.program, self.graph, body, &returned);
        let inputs = LockFlowInputs {
            program: self.program,
            graph: self.graph,
            aliases: &self.guards.aliases,
        };
        let from_callers = self.guards.held_at_entry(method);
        let transfer = LockTransfer::new(inputs, &expressions, &self.guards.changes, from_callers);
        held::visit(transfer, |instruction, held, _| {
            let locks: Vec<_> = held.visible().map(|held| held.lock).collect();
            if !locks.is_empty() {
                found.insert(instruction.offset, locks);
            }
        });
        found
    }

    /// A public method of a public class may be called in any way; of others the calls that are seen count.
    fn find_unlocked_entries(&mut self) {
        let program = self.program;
        let is_open = |method: MethodId| {
            let declared = &program.methods[method];
            let is_public = declared.access & access::PUBLIC != 0
                && program.classes[declared.class].access & access::PUBLIC != 0;
            let callers = self.graph.callers(method);
            is_public
                || callers.is_empty()
                || callers.iter().any(|caller| !program.is_application(*caller))
                || self.roots.contains_key(&method)
        };
        let mut todo: Vec<MethodId> =
            program.methods.ids().filter(|method| is_open(*method)).collect();
        let mut entered = TypedVec::filled(false, program.methods.len());
        todo.iter().for_each(|method| entered[*method] = true);
        while let Some(method) = todo.pop() {
            for site in self.graph.sites(method) {
                if self.held[method].contains_key(&site.offset) {
                    continue;
                }
                for target in site.targets.iter().filter(|target| !entered[target.method]) {
                    todo.push(target.method);
                }
                site.targets.iter().for_each(|target| entered[target.method] = true);
            }
        }
        self.entered_unlocked = entered;
    }

    /// Without any thread but the main one, what `main` calls is executed by one thread. What it does not call may be
    /// there for others.
    fn find_sequential(&mut self) {
        let is_main = |kind: &RootKind| *kind == RootKind::Entry(EntryThread::Main);
        if self.roots.is_empty() || !self.roots.values().all(|(kind, _)| is_main(kind)) {
            return;
        }
        let program = self.program;
        let mut sequential = FxHashSet::default();
        let mut todo: Vec<MethodId> = self.roots.keys().copied().collect();
        while let Some(method) = todo.pop() {
            if !sequential.insert(method) {
                continue;
            }
            todo.extend(self.graph.callees(method));
            let body = program.body(method).filter(|_| program.is_application(method));
            for instruction in body.into_iter().flat_map(|it| it.instructions()) {
                match &instruction.operation {
                    // Whoever gets a lambda may call it.
                    Operation::DynamicCall(call) => {
                        if let DynamicTarget::Lambda(lambda) = call.target {
                            todo.push(program.lambdas[lambda].implementation);
                        }
                    }
                    // Somebody starts threads, although it is not seen what they run.
                    Operation::Call(call) if starts_thread(program, call) => return,
                    _ => {}
                }
            }
        }
        self.sequential = sequential;
    }

    /// Whether one thread alone executes a method.
    pub(super) fn is_sequential(&self, method: MethodId) -> bool {
        self.sequential.contains(&method)
    }

    /// Whether somebody may call a method while holding no lock.
    pub(super) fn is_entered_unlocked(&self, method: MethodId) -> bool {
        self.entered_unlocked[method]
    }

    /// Where the threads begin that execute a method, and the methods of that kind that callers outside may call;
    /// `None` if there are too many callers to say.
    pub(super) fn origins(&self, method: MethodId) -> Option<BTreeSet<MethodId>> {
        let mut origins = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut todo = vec![method];
        while let Some(method) = todo.pop() {
            if !seen.insert(method) {
                continue;
            }
            if seen.len() > MOST_CALLERS {
                return None;
            }
            let callers = self.graph.callers(method);
            if self.roots.contains_key(&method) || callers.is_empty() {
                origins.insert(method);
            }
            todo.extend(callers);
        }
        Some(origins)
    }

    /// Whether a single thread executes a method: all ways to it begin in one method that no two threads execute.
    pub(super) fn has_one_thread(&self, method: MethodId) -> bool {
        self.is_sequential(method)
            || self.origins(method).is_some_and(|origins| {
                let mut origins = origins.iter();
                match (origins.next(), origins.next()) {
                    (Some(only), None) => {
                        self.roots.get(only).is_some_and(|(kind, may_overlap)| {
                            !may_overlap && !matches!(kind, RootKind::Named)
                        })
                    }
                    _ => false,
                }
            })
    }

    /// Where the threads begin that run a method, without the main thread: what that does before it starts others and
    /// after it has waited for them disturbs nobody.
    pub(super) fn threads_running(&self, method: MethodId) -> BTreeSet<MethodId> {
        let mut origins = self.origins(method).unwrap_or_default();
        origins.retain(|origin| {
            self.roots
                .get(origin)
                .is_some_and(|(kind, _)| *kind != RootKind::Entry(EntryThread::Main))
        });
        origins
    }

    /// Whether two threads can begin with a method at the same time.
    pub(super) fn may_overlap(&self, method: MethodId) -> bool {
        self.roots.get(&method).is_some_and(|(_, may_overlap)| *may_overlap)
    }

    /// The class of all objects that are ever stored in a field, where it is one.
    pub(super) fn stored_class(&self, field: FieldId) -> Option<ClassId> {
        self.stored_classes.get(&field).copied().flatten()
    }

    /// Whether a class or one above it has a property.
    pub(super) fn class_is(&self, class: ClassId, property: ClassProperty) -> bool {
        let models = self.models();
        let supertypes = self.program.hierarchy.supertypes(class);
        let mut names =
            std::iter::once(class).chain(supertypes).map(|it| &*self.program.classes[it].name);
        names.any(|name| models.is(name, property))
    }

    /// What is known of library code.
    pub(super) fn models(&self) -> &Models {
        self.program.models()
    }

    /// Whether a field is volatile.
    pub(super) fn is_volatile(&self, field: FieldId) -> bool {
        self.program.fields[field].access & access::VOLATILE != 0
    }

    /// The name of a field with its class: `Counter.hits`.
    pub(super) fn field_name(&self, field: FieldId) -> String {
        let field = &self.program.fields[field];
        format!("{}.{}", self.class_name(field.class), field.name)
    }

    /// The name of a class without its package.
    pub(super) fn class_name(&self, class: ClassId) -> String {
        let name = &self.program.classes[class].name;
        name.rsplit('/').next().unwrap_or(name).replace('$', ".")
    }
}

fn starts_thread(program: &Program, call: &Call) -> bool {
    let mut effects = program.effects_of(call.method).iter();
    effects.any(|effect| matches!(effect, Effect::Fork { .. } | Effect::Submit { .. }))
}

fn stored_classes(program: &Program) -> FxHashMap<FieldId, Option<ClassId>> {
    let mut found: FxHashMap<FieldId, Option<ClassId>> = FxHashMap::default();
    for method in program.methods_with_bodies().filter(|it| program.is_application(*it)) {
        let Some(body) = program.body(method) else { continue };
        for instruction in body.instructions() {
            let (Operation::PutField { field, value, .. } | Operation::PutStatic { field, value }) =
                &instruction.operation
            else {
                continue;
            };
            let value = body.without_casts(*value);
            if is_null(body, value) {
                continue;
            }
            let class = match body.defining_instruction(value).map(|it| &it.operation) {
                Some(Operation::New(class)) => Some(*class),
                Some(Operation::Call(call)) => {
                    program.effects_of(call.method).iter().find_map(|effect| match effect {
                        Effect::ReturnsType { class } => program.class_named(class),
                        _ => None,
                    })
                }
                _ => None,
            };
            let known = found.entry(*field).or_insert(class);
            *known = known.filter(|known| Some(*known) == class);
        }
    }
    found
}

/// Whether a value is `null`.
pub(super) fn is_null(body: &Body, value: ValueId) -> bool {
    matches!(
        body.defining_instruction(value).map(|it| &it.operation),
        Some(Operation::Constant(Constant::Literal(classes::bytecode::Literal::Null)))
    )
}

/// What is known of one method.
pub(super) struct MethodFacts<'a> {
    pub(super) facts: &'a ProgramFacts<'a>,
    pub(super) method: MethodId,
    pub(super) body: &'a Body,
    pub(super) expressions: Expressions<'a>,
}

/// A call that a getter, a setter or the like makes on a field, in the terms of who calls that.
pub(super) struct Delegated<'a> {
    pub(super) call: &'a Call,
    /// The field that it is made on.
    pub(super) field: FieldId,
    /// The path of the field.
    pub(super) receiver: LockExpression,
    /// Its arguments after the receiver, where the caller has them.
    pub(super) arguments: Vec<Option<ValueId>>,
    /// Whether the caller gets its result.
    pub(super) returns_result: bool,
}

/// A name for a finding, and the same without what local variables are called.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) text: String,
    pub(super) stable: String,
}

impl From<String> for Named {
    fn from(text: String) -> Named {
        Named { stable: text.clone(), text }
    }
}

impl<'a> MethodFacts<'a> {
    /// The program.
    pub(super) fn program(&self) -> &'a Program {
        self.facts.program
    }

    /// All instructions with their blocks.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (BlockId, &'a Instruction)> {
        let body = self.body;
        body.blocks
            .iter_with_ids()
            .flat_map(|(id, block)| block.instructions.iter().map(move |it| (id, it)))
    }

    /// All calls with their blocks.
    pub(super) fn calls(&self) -> impl Iterator<Item = (BlockId, &'a Instruction, &'a Call)> {
        self.instructions().filter_map(|(block, instruction)| match &instruction.operation {
            Operation::Call(call) => Some((block, instruction, &**call)),
            _ => None,
        })
    }

    /// What the models say of a called method.
    pub(super) fn effects(&self, call: &Call) -> &'a [Effect] {
        self.facts.program.effects_of(call.method)
    }

    /// The same, by the class that the receiver really has.
    pub(super) fn effects_on(&self, call: &Call) -> &'a [Effect] {
        let declared = &self.program().methods[call.method];
        let class = self.receiver(call).and_then(|receiver| self.class_of(receiver));
        let row = class.and_then(|class| {
            let name = &self.program().classes[class].name;
            self.facts.models().find(name, &declared.name, &declared.descriptor)
        });
        row.map_or_else(|| self.effects(call), |row| row.effects)
    }

    /// The one call of the library that a small method makes on a field, besides boxing; the method does nothing else.
    pub(super) fn delegated(&self, call: &Call, offset: u32) -> Option<Delegated<'a>> {
        let program = self.program();
        let [target] = self.facts.graph.targets(self.method, offset) else { return None };
        if target.call_kind != CallKind::Direct
            || !program.is_application(target.method)
            || program.methods[target.method].is_synchronized()
        {
            return None;
        }
        let body = program.body(target.method)?;
        let mut blocks = body.blocks.iter();
        let (Some(block), None) = (blocks.next(), blocks.next()) else { return None };
        let mut made: Option<(&Instruction, &Call)> = None;
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::Call(inner) if self.is_box(inner) => {}
                Operation::Call(inner) if made.is_none() => made = Some((instruction, &**inner)),
                Operation::GetField { .. }
                | Operation::GetStatic(_)
                | Operation::Constant(_)
                | Operation::Cast { .. } => {}
                _ => return None,
            }
        }
        let (instruction, made) = made?;
        let unboxed = |value: ValueId| {
            let value = body.without_casts(value);
            match body.defining_instruction(value).map(|it| &it.operation) {
                Some(Operation::Call(inner)) if self.is_box(inner) => {
                    body.without_casts(inner.arguments[0])
                }
                _ => value,
            }
        };
        let of_caller = |value: ValueId| {
            let value = unboxed(value);
            let number = body.parameters.iter().position(|parameter| *parameter == value)?;
            call.arguments.get(number).copied()
        };
        if program.methods[made.method].is_static() {
            return None;
        }
        let receiver = body.without_casts(*made.arguments.first()?);
        let (field, receiver) = match &body.defining_instruction(receiver)?.operation {
            Operation::GetField { object, field } => {
                (*field, self.field_path(Some(of_caller(*object)?), *field)?)
            }
            Operation::GetStatic(field) => (*field, self.field_path(None, *field)?),
            _ => return None,
        };
        let returns_result = match block.terminator {
            Terminator::Return(Some(value)) => instruction.result == Some(unboxed(value)),
            _ => false,
        };
        let arguments = made.arguments[1..].iter().map(|value| of_caller(*value)).collect();
        Some(Delegated { call: made, field, receiver, arguments, returns_result })
    }

    /// Whether a call puts a number into an object or takes it out.
    fn is_box(&self, call: &Call) -> bool {
        let class = self.program().methods[call.method].class;
        let name = &self.program().classes[class].name;
        call.arguments.len() == 1 && self.facts.models().is(name, ClassProperty::SharedByValue)
    }

    /// The locks that are held before the instruction at an offset; one that cannot be named is `None`.
    pub(super) fn held(&self, offset: u32) -> &[Option<LockExpression>] {
        self.facts.held[self.method].get(&offset).map_or(&[], Vec::as_slice)
    }

    /// Whether a lock is held at an offset, by this method or by every caller that is seen. A method that releases a lock
    /// which it has not acquired is entered with it.
    pub(super) fn is_locked(&self, offset: u32) -> bool {
        !self.held(offset).is_empty()
            || !self.facts.is_entered_unlocked(self.method)
            || !self.facts.guards.changes[self.method].released.is_empty()
    }

    /// Whether the object or class that this method belongs to is still being made.
    pub(super) fn is_constructing(&self) -> bool {
        self.facts.guards.is_constructing(self.program(), self.method)
    }

    /// Whether a path starts at an object that nobody else knows yet.
    pub(super) fn is_unshared(&self, path: &LockExpression) -> bool {
        let guards = &self.facts.guards;
        guards.is_under_construction(self.program(), self.method, path)
            || crate::locks::is_confined(self.body, path)
    }

    /// The place of an offset.
    pub(super) fn site(&self, offset: u32) -> Site {
        self.program().site(self.method, offset)
    }

    /// A path as the source would write it.
    pub(super) fn describe(&self, path: LockExpression) -> Named {
        Named {
            text: self.expressions.describe(path),
            stable: self.expressions.describe_stable(path),
        }
    }

    /// The expression behind a value as the source would write it.
    pub(super) fn name_of(&self, value: ValueId) -> Named {
        self.expressions
            .of(value)
            .map_or_else(|| "the object".to_string().into(), |path| self.describe(path))
    }

    /// The path of the field that an instruction reads or writes.
    pub(super) fn field_path(
        &self,
        object: Option<ValueId>,
        field: FieldId,
    ) -> Option<LockExpression> {
        match object {
            Some(object) => self.expressions.of(object)?.then(PathElement::Field(field)),
            None => Some(LockExpression::new(ExpressionRoot::Static(field))),
        }
    }

    /// The field that a value was read from.
    pub(super) fn field_of(&self, value: ValueId) -> Option<FieldId> {
        let value = self.body.without_casts(value);
        match self.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::GetField { field, .. } | Operation::GetStatic(field)) => Some(*field),
            _ => None,
        }
    }

    /// The class of a value: that of the objects in its field, or what is declared.
    pub(super) fn class_of(&self, value: ValueId) -> Option<ClassId> {
        let stored = self.field_of(value).and_then(|field| self.facts.stored_class(field));
        stored.or(match self.body.declared_type(self.program(), value) {
            DeclaredType::Class(class) => Some(class),
            DeclaredType::Array | DeclaredType::Unknown => None,
        })
    }

    /// The values that an operation reads.
    pub(super) fn operands(&self, value: ValueId) -> Vec<ValueId> {
        match self.body.definitions[value] {
            Definition::Phi(block) => {
                let phis = self.body.blocks[block].phis.iter();
                let phi = phis.into_iter().find(|phi| phi.result == value);
                phi.into_iter().flat_map(|phi| phi.inputs.iter().flatten().copied()).collect()
            }
            Definition::Instruction(..) => {
                let mut operands = Vec::new();
                if let Some(defined) = self.body.defining_instruction(value) {
                    defined.operation.for_each_operand(|operand| operands.push(operand));
                }
                operands
            }
            Definition::Parameter(_) | Definition::Caught(_) | Definition::Removed => Vec::new(),
        }
    }

    /// A value that `value` is computed from and that `is_it` accepts; `through` says which definitions are followed.
    pub(super) fn computed_from(
        &self,
        value: ValueId,
        is_it: &dyn Fn(ValueId) -> bool,
        through: &dyn Fn(ValueId) -> bool,
    ) -> Option<ValueId> {
        let mut seen = FxHashSet::default();
        let mut todo = vec![(value, MOST_DEPTH)];
        while let Some((value, depth)) = todo.pop() {
            if !seen.insert(value) {
                continue;
            }
            if is_it(value) {
                return Some(value);
            }
            if depth > 0 && through(value) {
                todo.extend(self.operands(value).into_iter().map(|it| (it, depth - 1)));
            }
        }
        None
    }

    /// Whether a value is arithmetic on others: an operation of the machine, a phi, a cast, a box or a call of a method
    /// that computes from its arguments alone.
    pub(super) fn is_arithmetic(&self, value: ValueId) -> bool {
        match self.body.definitions[value] {
            Definition::Phi(_) => true,
            Definition::Instruction(..) => {
                match self.body.defining_instruction(value).map(|it| &it.operation) {
                    Some(
                        Operation::Binary { .. } | Operation::Unary(_) | Operation::Cast { .. },
                    ) => true,
                    Some(Operation::Call(call)) => {
                        let class = self.program().methods[call.method].class;
                        let is = |property| {
                            let name = &self.program().classes[class].name;
                            self.facts.models().is(name, property)
                        };
                        is(ClassProperty::ComputesValues) || is(ClassProperty::SharedByValue)
                    }
                    _ => false,
                }
            }
            Definition::Parameter(_) | Definition::Caught(_) | Definition::Removed => false,
        }
    }

    /// A value that `value` is computed from and that `is_it` accepts, with some arithmetic in between: a value that is
    /// only chosen or boxed is not computed. Says whether the arithmetic is an addition or a subtraction.
    pub(super) fn calculated_from(
        &self,
        value: ValueId,
        is_it: &dyn Fn(ValueId) -> bool,
    ) -> Option<(ValueId, bool)> {
        let is_choice =
            |value: ValueId| self.is_arithmetic(value) && self.calculation(value).is_none();
        let mut found = None;
        let is_result = |candidate: ValueId| {
            self.calculation(candidate).is_some()
                && self.operands(candidate).into_iter().any(|operand| {
                    self.computed_from(operand, is_it, &|it| self.is_arithmetic(it)).is_some()
                })
        };
        if let Some(result) = self.computed_from(value, &is_result, &is_choice) {
            let through = |it| self.is_arithmetic(it);
            let operands = self.operands(result).into_iter();
            let read = operands.into_iter().find_map(|it| self.computed_from(it, is_it, &through));
            found = read.map(|read| (read, self.calculation(result) == Some(true)));
        }
        found
    }

    /// Whether a value is the result of arithmetic, and if so, whether of an addition or a subtraction.
    fn calculation(&self, value: ValueId) -> Option<bool> {
        match self.body.defining_instruction(value).map(|it| &it.operation) {
            Some(Operation::Binary { op, .. }) => Some(matches!(op, BinaryOp::Add | BinaryOp::Sub)),
            Some(Operation::Call(call)) => {
                let class = self.program().methods[call.method].class;
                let name = &self.program().classes[class].name;
                self.facts.models().is(name, ClassProperty::ComputesValues).then_some(false)
            }
            _ => None,
        }
    }

    /// The branches that decide directly whether a block runs, without those of `assert`.
    pub(super) fn deciders(&self, dependence: &ControlDependence, block: BlockId) -> Vec<BlockId> {
        let is_assertion = |branch: &BlockId| {
            dependence.deciders(*branch).iter().chain([branch]).any(|branch| {
                self.tested(*branch).iter().any(|value| {
                    self.field_of(*value).is_some_and(|field| {
                        &*self.program().fields[field].name == "$assertionsDisabled"
                    })
                })
            })
        };
        let deciders = dependence.deciders(block).iter().copied();
        deciders.filter(|branch| !is_assertion(branch)).collect()
    }

    /// Where a value is defined.
    pub(super) fn offset_of(&self, value: ValueId) -> Option<u32> {
        self.body.defining_instruction(value).map(|it| it.offset)
    }

    /// The blocks that control can get to from a block, itself only through a loop.
    pub(super) fn reachable_from(&self, block: BlockId) -> FxHashSet<BlockId> {
        let mut seen = FxHashSet::default();
        let mut todo = vec![block];
        while let Some(at) = todo.pop() {
            let block = &self.body.blocks[at];
            let handlers = block.handlers.iter().map(|handler| handler.target);
            for next in block.terminator.successors().chain(handlers) {
                if seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        seen
    }

    /// Whether a block is executed repeatedly.
    pub(super) fn is_in_loop(&self, block: BlockId) -> bool {
        self.reachable_from(block).contains(&block)
    }

    /// Whether the instruction at `earlier` may be executed before that at `later`.
    pub(super) fn may_precede(
        &self,
        earlier: (BlockId, u32),
        later: (BlockId, u32),
        reachable: &FxHashSet<BlockId>,
    ) -> bool {
        (earlier.0 == later.0 && earlier.1 < later.1) || reachable.contains(&later.0)
    }

    /// The value that the branch at the end of a block tests, if it compares with zero, null or another value.
    pub(super) fn tested(&self, block: BlockId) -> Vec<ValueId> {
        match &self.body.blocks[block].terminator {
            Terminator::Branch { left, right, .. } => {
                std::iter::once(*left).chain(*right).collect()
            }
            Terminator::Switch { value, .. } => vec![*value],
            Terminator::Goto(_) | Terminator::Return(_) | Terminator::Throw(_) => Vec::new(),
        }
    }

    /// The receiver of a call whose effects name the receiver as operand.
    pub(super) fn receiver(&self, call: &Call) -> Option<ValueId> {
        (!self.program().methods[call.method].is_static())
            .then(|| call.arguments.first().copied())
            .flatten()
    }

    /// The argument that an operand of a model stands for.
    pub(super) fn operand(&self, call: &Call, operand: &Operand) -> Option<ValueId> {
        self.program().operand_values(call, *operand).first().copied()
    }

    /// A finding that is blamed on this method.
    pub(super) fn finding(
        &self,
        rule: &'static str,
        severity: Severity,
        subjects: Vec<(&'static str, Named)>,
        steps: Vec<(&'static str, u32)>,
    ) -> Finding {
        let steps = steps.into_iter().map(|(role, offset)| Step::at(role, self.site(offset)));
        finding_at(rule, severity, self.site(0), subjects, steps.collect())
    }
}

/// A finding of this analysis.
pub(super) fn finding_at(
    rule: &'static str,
    severity: Severity,
    blame: Site,
    subjects: Vec<(&'static str, Named)>,
    steps: Vec<Step>,
) -> Finding {
    let stable: BTreeMap<&'static str, String> =
        subjects.iter().map(|(name, named)| (*name, named.stable.clone())).collect();
    Finding {
        rule,
        evidence: Evidence::Possible,
        severity,
        blame,
        subjects: subjects.into_iter().map(|(name, named)| (name, named.text)).collect(),
        stable_subjects: stable,
        witnesses: vec![Witness::new(ANALYSIS.name, steps)],
        distance: 0,
        fingerprint: None,
        also: Vec::new(),
    }
}
