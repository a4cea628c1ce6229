//! Which fields are guarded by which locks, as the code that writes them shows.
//!
//! A value can only go stale if somebody may write the variable meanwhile. What is written in
//! constructors alone never changes again; and a lock that is never held when a variable is written
//! does not guard it.

use classes::AnnotationValue;
use classes::bytecode::Literal;
use program::callgraph::{CallGraph, CallKind, Target};
use program::ids::{ClassId, FieldId, Id, LambdaId, MethodId, TypedVec, ValueId};
use program::ir::{Body, Constant, DynamicTarget, Instruction, Operation};
use program::models::ContentsAccess;
use program::{Program, threads};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::domain::{
    GuardRelation, Part, Variable, container_field, contents_accessed, written_by,
};
use crate::Context;
use crate::locks::aliases::Aliases;
use crate::locks::expression::{
    ExpressionRoot, Expressions, LockExpression, PathElement, returned_expressions,
};
use crate::locks::held::{self, LockChanges, LockFlowInputs, LockTransfer};
use crate::locks::{EscapingValues, is_new, touches_lock};

/// Callers are followed up this far to see whether all of them hold a lock.
const CALLER_ROUNDS: usize = 3;

/// What is known about locks and writes before values are followed.
pub(crate) struct Guards {
    /// Locks under two names.
    pub aliases: Aliases,
    /// What getters return.
    pub returned: TypedVec<MethodId, Option<LockExpression>>,
    /// What methods do to the locks of their callers.
    pub changes: TypedVec<MethodId, LockChanges>,
    /// Locks that every caller of a method holds.
    from_callers: FxHashMap<MethodId, Vec<LockExpression>>,
    /// Methods that only run while their object is being made.
    constructing: FxHashSet<MethodId>,
    /// The guards under which variables are written after construction; without any where they are
    /// written without a lock.
    writes: FxHashMap<(FieldId, Part), Vec<GuardRelation>>,
    /// Of these, the ones under which every write happens.
    always: FxHashMap<(FieldId, Part), Vec<GuardRelation>>,
    /// Methods that can hold a lock that they took themselves.
    takes_locks: TypedVec<MethodId, bool>,
    /// The guards that annotations name.
    annotated: FxHashMap<FieldId, GuardRelation>,
    /// Variables that are written by methods that are called without a lock.
    written_without_locks: FxHashSet<(FieldId, Part)>,
    /// Fields that only ever get one constant after construction.
    one_way: FxHashMap<FieldId, Option<i32>>,
    /// Classes whose methods write fields of their own objects, and whether they ever do so under a
    /// lock.
    own_writes: FxHashMap<ClassId, bool>,
}

/// What one method does under its own locks.
#[derive(Default)]
struct Accesses {
    /// What is written, under which locks.
    writes: Vec<(Variable, Vec<LockExpression>)>,
    /// The fields that are written, and the constant if it is one.
    stored: Vec<(FieldId, Option<i32>)>,
    /// The calls made while a lock is held, by offset.
    calls: Vec<(u32, Vec<LockExpression>)>,
}

impl Guards {
    /// Looks at every write of the program.
    #[must_use]
    pub(crate) fn of(context: &Context<'_>) -> Guards {
        let Context { program, graph, .. } = *context;
        let aliases = Aliases::of(program);
        let returned = returned_expressions(program, graph);
        let inputs = LockFlowInputs { program, graph, aliases: &aliases };
        let changes = held::lock_changes(inputs);
        let constructing = constructing(program, graph);
        let mut guards = Guards {
            aliases,
            returned,
            changes,
            from_callers: FxHashMap::default(),
            constructing,
            writes: FxHashMap::default(),
            always: FxHashMap::default(),
            takes_locks: TypedVec::filled(false, program.methods.len()),
            annotated: annotated(program),
            written_without_locks: FxHashSet::default(),
            one_way: FxHashMap::default(),
            own_writes: FxHashMap::default(),
        };
        guards.takes_locks = (0..program.methods.len())
            .into_par_iter()
            .map(|method| program.body(MethodId::new(method)))
            .map(|body| body.is_some_and(|body| takes_locks(&guards, context, body)))
            .collect::<Vec<_>>()
            .into();
        let accesses: TypedVec<MethodId, Accesses> = (0..program.methods.len())
            .into_par_iter()
            .map(|method| guards.accesses(context, MethodId::new(method)))
            .collect::<Vec<_>>()
            .into();
        guards.from_callers = guards.held_by_callers(context, &accesses);
        let all_accesses = accesses;
        for (method, accesses) in all_accesses.iter_with_ids() {
            let declared = &program.methods[method];
            let is_free = !accesses.writes.is_empty()
                && guards.is_called_without_locks(context, &all_accesses, method);
            for (field, constant) in &accesses.stored {
                let known = guards.one_way.entry(*field).or_insert(*constant);
                *known = known.filter(|known| Some(*known) == *constant);
            }
            for (variable, held) in &accesses.writes {
                let Some(field) = variable.field else { continue };
                let mut here: Vec<GuardRelation> = held
                    .iter()
                    .chain(guards.held_at_entry(method))
                    .map(|lock| GuardRelation::of(variable, Some(*lock)))
                    .collect();
                here.sort_unstable();
                here.dedup();
                let is_own = variable.part == Part::Value
                    && !declared.is_static()
                    && program.fields[field].class == declared.class;
                if is_own {
                    let is_locked = guards.own_writes.entry(declared.class).or_insert(false);
                    *is_locked |= !here.is_empty();
                }
                let key = (field, variable.part);
                if is_free {
                    guards.written_without_locks.insert(key);
                }
                match guards.always.get_mut(&key) {
                    Some(always) => always.retain(|guard| here.contains(guard)),
                    None => {
                        guards.always.insert(key, here.clone());
                    }
                }
                let known = guards.writes.entry(key).or_default();
                here.retain(|guard| !known.contains(guard));
                known.append(&mut here);
            }
        }
        guards
    }

    /// The locks that all callers of a method hold.
    #[must_use]
    pub(crate) fn held_at_entry(&self, method: MethodId) -> &[LockExpression] {
        self.from_callers.get(&method).map_or(&[], Vec::as_slice)
    }

    /// Whether a method can hold a lock at any time.
    #[must_use]
    pub(crate) fn holds_locks(&self, method: MethodId) -> bool {
        self.takes_locks[method] || self.from_callers.contains_key(&method)
    }

    /// Whether the object that a method works on is known to nobody else yet.
    #[must_use]
    pub(crate) fn is_constructing(&self, program: &Program, method: MethodId) -> bool {
        program.methods[method].is_initializer() || self.constructing.contains(&method)
    }

    /// Whether a path of a method starts from what the method is still making: its own object, or the
    /// statics of its class.
    #[must_use]
    pub(crate) fn is_under_construction(
        &self,
        program: &Program,
        method: MethodId,
        path: &LockExpression,
    ) -> bool {
        let declared = &program.methods[method];
        match path.root {
            ExpressionRoot::Parameter(0) => {
                !declared.is_static() && self.is_constructing(program, method)
            }
            ExpressionRoot::Static(_) => &*declared.name == "<clinit>",
            ExpressionRoot::Parameter(_) | ExpressionRoot::Class(_) | ExpressionRoot::Local(_) => {
                false
            }
        }
    }

    /// Whether somebody writes the variable after construction. What has no name may be written.
    #[must_use]
    pub(crate) fn is_written(&self, variable: &Variable) -> bool {
        variable.field.is_none_or(|field| self.writes.contains_key(&(field, variable.part)))
    }

    /// Whether somebody assigns the field after construction.
    #[must_use]
    pub(crate) fn is_field_written(&self, field: FieldId) -> bool {
        self.writes.contains_key(&(field, Part::Value))
    }

    /// Whether somebody writes the variable under a lock that lies to it like this; or, where an
    /// annotation names the guard, whether this is the one.
    #[must_use]
    pub(crate) fn is_guarded_by(&self, variable: &Variable, guard: &GuardRelation) -> bool {
        let Some(field) = variable.field else { return false };
        if let Some(annotated) = self.annotated.get(&field) {
            return annotated == guard;
        }
        let Some(known) = self.writes.get(&(field, variable.part)) else { return false };
        match guard {
            GuardRelation::Unknown => !known.is_empty(),
            guard => known.contains(guard) || known.contains(&GuardRelation::Unknown),
        }
    }

    /// Whether everybody who writes the variable holds a lock that lies to it like this.
    #[must_use]
    pub(crate) fn is_always_guarded_by(&self, variable: &Variable, guard: &GuardRelation) -> bool {
        if let Some(annotated) = variable.field.and_then(|field| self.annotated.get(&field)) {
            return annotated == guard;
        }
        let known = variable.field.and_then(|field| self.always.get(&(field, variable.part)));
        *guard != GuardRelation::Unknown && known.is_some_and(|known| known.contains(guard))
    }

    /// Whether a method writes the variable that is called while no other lock is held.
    #[must_use]
    pub(crate) fn is_written_without_locks(&self, variable: &Variable) -> bool {
        variable
            .field
            .is_none_or(|field| self.written_without_locks.contains(&(field, variable.part)))
    }

    /// Whether a method is called while no lock is held, as far as can be seen; what nobody is seen to
    /// call may be called in any way.
    fn is_called_without_locks(
        &self,
        context: &Context<'_>,
        accesses: &TypedVec<MethodId, Accesses>,
        method: MethodId,
    ) -> bool {
        let graph = context.graph;
        let callers = graph.callers(method);
        callers.is_empty()
            || callers.iter().any(|caller| {
                let calls = &accesses[*caller].calls;
                let is_locked = |offset: u32| {
                    calls.binary_search_by_key(&offset, |(offset, _)| *offset).is_ok()
                };
                let calls_it = |target: &Target| target.method == method;
                !self.from_callers.contains_key(caller)
                    && graph
                        .sites(*caller)
                        .iter()
                        .any(|site| site.targets.iter().any(calls_it) && !is_locked(site.offset))
            })
    }

    /// Whether a field only ever gets one constant after construction.
    #[must_use]
    pub(crate) fn is_one_way(&self, field: FieldId) -> bool {
        self.one_way.get(&field).is_some_and(Option::is_some)
    }

    /// Whether objects of a class are not meant for several threads: its methods, or those of the
    /// nearest superclass that has any state, write fields of their own object, and never under a
    /// lock.
    #[must_use]
    pub(crate) fn is_unsynchronized(&self, program: &Program, class: ClassId) -> bool {
        let mut classes = program.hierarchy.superclasses(class);
        classes.find_map(|class| self.own_writes.get(&class)).is_some_and(|is_locked| !is_locked)
    }

    fn accesses(&self, context: &Context<'_>, method: MethodId) -> Accesses {
        let Context { program, graph, .. } = *context;
        let mut accesses = Accesses::default();
        let Some(body) = program.body(method) else { return accesses };
        let returned = |callee: MethodId| self.returned[callee];
        let expressions = Expressions::new(program, graph, body, &returned);
        let escaping = EscapingValues::of(body);
        let mut write = |instruction: &Instruction,
                         variable: Variable,
                         held: Vec<LockExpression>| {
            let is_early = variable
                .path
                .is_some_and(|path| self.is_under_construction(program, method, &path));
            let is_confined = |path: LockExpression| match path.root {
                ExpressionRoot::Local(object) => is_new(body, object) && !escaping.contains(object),
                _ => false,
            };
            if !is_early && !variable.path.is_some_and(is_confined) {
                if let Some(field) = variable.field.filter(|_| variable.part == Part::Value) {
                    accesses.stored.push((field, stored_constant(body, instruction)));
                }
                accesses.writes.push((variable, held));
            }
        };
        let written = |instruction: &Instruction| match &instruction.operation {
            Operation::Call(call) => match contents_accessed(program, &expressions, call) {
                Some((ContentsAccess::Changes | ContentsAccess::Takes, variable, _)) => {
                    Some(variable)
                }
                _ => array_passed_on(program, &expressions, body, call),
            },
            _ => written_by(&expressions, instruction),
        };
        if !self.takes_locks[method] {
            for instruction in body.instructions() {
                if let Some(variable) = written(instruction) {
                    write(instruction, variable, Vec::new());
                }
            }
            return accesses;
        }
        let inputs = LockFlowInputs { program, graph, aliases: &self.aliases };
        let mut calls = Vec::new();
        held::visit(
            LockTransfer::new(inputs, &expressions, &self.changes, &[]),
            |instruction, held, _| {
                let names = || held.names().copied().collect::<Vec<_>>();
                if let Some(variable) = written(instruction) {
                    write(instruction, variable, names());
                }
                if matches!(instruction.operation, Operation::Call(_))
                    && held.names().next().is_some()
                {
                    calls.push((instruction.offset, names()));
                }
            },
        );
        calls.sort_by_key(|(offset, _)| *offset);
        calls.dedup_by_key(|(offset, _)| *offset);
        accesses.calls = calls;
        accesses
    }

    /// The locks that all callers of a private method hold. What is known of the callers' own
    /// callers is found round by round.
    fn held_by_callers(
        &self,
        context: &Context<'_>,
        accesses: &TypedVec<MethodId, Accesses>,
    ) -> FxHashMap<MethodId, Vec<LockExpression>> {
        let Context { program, graph, .. } = *context;
        let known_callers_only = KnownCallers::of(program, graph);
        let candidates: Vec<MethodId> = program
            .methods_with_bodies()
            .filter(|method| known_callers_only.has_no_others(program, *method))
            .collect();
        let mut held: FxHashMap<MethodId, Vec<LockExpression>> = FxHashMap::default();
        for _ in 0..CALLER_ROUNDS {
            let round: Vec<(MethodId, Vec<LockExpression>)> = candidates
                .par_iter()
                .map(|method| (*method, self.common(context, accesses, &held, *method)))
                .filter(|(_, locks)| !locks.is_empty())
                .collect();
            let round: FxHashMap<_, _> = round.into_iter().collect();
            if round == held {
                break;
            }
            held = round;
        }
        held
    }

    /// The locks that are held at every call of a method.
    fn common(
        &self,
        context: &Context<'_>,
        accesses: &TypedVec<MethodId, Accesses>,
        known: &FxHashMap<MethodId, Vec<LockExpression>>,
        method: MethodId,
    ) -> Vec<LockExpression> {
        let Context { program, graph, .. } = *context;
        let mut common: Option<Vec<LockExpression>> = None;
        for caller in graph.callers(method) {
            let Some(body) = program.body(*caller) else { return Vec::new() };
            let returned = |callee: MethodId| self.returned[callee];
            let expressions = Expressions::new(program, graph, body, &returned);
            for instruction in body.instructions() {
                let Operation::Call(call) = &instruction.operation else { continue };
                let targets = graph.targets(*caller, instruction.offset);
                for target in targets.iter().filter(|target| target.method == method) {
                    let calls = &accesses[*caller].calls;
                    let own = calls
                        .binary_search_by_key(&instruction.offset, |(offset, _)| *offset)
                        .map_or(&[][..], |at| &calls[at].1);
                    let inherited = known.get(caller).map_or(&[][..], Vec::as_slice);
                    let terms = expressions.terms(call, instruction.offset, true);
                    let mut here: Vec<LockExpression> = own
                        .iter()
                        .chain(inherited)
                        .filter_map(|lock| terms.in_callee(program, lock, target))
                        .collect();
                    if let Some(common) = &common {
                        here.retain(|lock| common.contains(lock));
                    }
                    if here.is_empty() {
                        return Vec::new();
                    }
                    here.sort_unstable();
                    here.dedup();
                    common = Some(here);
                }
            }
        }
        common.unwrap_or_default()
    }
}

/// The guards that `@GuardedBy` names, whichever library it comes from: `this`, another field of the
/// object, a static field, or the class itself. What cannot be understood is left out.
fn annotated(program: &Program) -> FxHashMap<FieldId, GuardRelation> {
    let mut found = FxHashMap::default();
    for class in program.classes.iter() {
        let has_any = class
            .file
            .as_ref()
            .is_some_and(|file| file.fields.iter().any(|field| !field.annotations.is_empty()));
        for field in class.fields.iter().filter(|_| has_any) {
            let annotations = program.annotations_of_field(*field).iter();
            let guard = annotations
                .filter(|annotation| annotation.simple_name() == "GuardedBy")
                .find_map(|annotation| match annotation.element("value")? {
                    AnnotationValue::String(name) => named_guard(program, *field, name),
                    AnnotationValue::Array(names) => match &names[..] {
                        [AnnotationValue::String(name)] => named_guard(program, *field, name),
                        _ => None,
                    },
                    _ => None,
                });
            if let Some(guard) = guard {
                found.insert(*field, guard);
            }
        }
    }
    found
}

/// The guard that a name in an annotation means for a field.
fn named_guard(program: &Program, field: FieldId, name: &str) -> Option<GuardRelation> {
    let owner = LockExpression::new(ExpressionRoot::Parameter(0));
    let class = program.fields[field].class;
    let name = name.trim();
    if name == "this" {
        return Some(GuardRelation::Relative { owner, lock: owner });
    }
    if name.ends_with(".class") {
        return Some(GuardRelation::Global(LockExpression::new(ExpressionRoot::Class(class))));
    }
    let name = name.rsplit('.').next()?;
    let lock = program.hierarchy.superclasses(class).find_map(|class| {
        let fields = program.classes[class].fields.iter().copied();
        fields.into_iter().find(|field| *program.fields[*field].name == *name)
    })?;
    if program.fields[lock].is_static() {
        Some(GuardRelation::Global(LockExpression::new(ExpressionRoot::Static(lock))))
    } else {
        Some(GuardRelation::Relative { owner, lock: owner.then(PathElement::Field(lock))? })
    }
}

/// Whether a method can hold a lock that it took itself.
fn takes_locks(guards: &Guards, context: &Context<'_>, body: &Body) -> bool {
    let Context { program, graph, .. } = *context;
    program.methods[body.method].is_synchronized()
        || body.instructions().any(|instruction| match &instruction.operation {
            Operation::MonitorEnter(_) => true,
            Operation::Call(call) => {
                touches_lock(program.effects_of(call.method))
                    || matches!(
                        graph.targets(body.method, instruction.offset),
                        [target] if !guards.changes[target.method].is_empty()
                    )
            }
            _ => false,
        })
}

/// The constant that an instruction writes, if it is one.
fn stored_constant(body: &Body, instruction: &Instruction) -> Option<i32> {
    let (Operation::PutField { value, .. } | Operation::PutStatic { value, .. }) =
        &instruction.operation
    else {
        return None;
    };
    match &body.defining_instruction(*value)?.operation {
        Operation::Constant(Constant::Literal(Literal::Int(constant))) => Some(*constant),
        _ => None,
    }
}

/// An array that is handed to a method without a body, which may write its elements.
fn array_passed_on(
    program: &Program,
    expressions: &Expressions<'_>,
    body: &Body,
    call: &program::ir::Call,
) -> Option<Variable> {
    if program.body(call.method).is_some() {
        return None;
    }
    let is_array =
        |value: &&ValueId| body.declared_type(program, **value) == program::ir::DeclaredType::Array;
    let array = call.arguments.iter().find(is_array)?;
    let path = expressions.of(*array);
    Some(Variable { part: Part::Elements, field: container_field(path), path })
}

/// Private methods that only constructors of their own class call, directly or through each other.
fn constructing(program: &Program, graph: &CallGraph) -> FxHashSet<MethodId> {
    let mut found: FxHashSet<MethodId> = FxHashSet::default();
    loop {
        let before = found.len();
        for method in program.methods_with_bodies() {
            let declared = &program.methods[method];
            if !declared.is_private() || declared.is_initializer() || found.contains(&method) {
                continue;
            }
            let callers = graph.callers(method);
            let is_early = |caller: &MethodId| {
                program.methods[*caller].class == declared.class
                    && (program.methods[*caller].is_initializer() || found.contains(caller))
            };
            if !callers.is_empty() && callers.iter().all(is_early) {
                found.insert(method);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Methods all of whose callers are in the call graph.
struct KnownCallers {
    /// Methods that run as lambdas whose callers are not all known.
    lost: FxHashSet<MethodId>,
    roots: FxHashSet<MethodId>,
}

impl KnownCallers {
    fn of(program: &Program, graph: &CallGraph) -> KnownCallers {
        let mut known = KnownCallers {
            lost: FxHashSet::default(),
            roots: threads::roots(program, graph, &[])
                .into_iter()
                .map(|root| root.method)
                .collect(),
        };
        for method in program.methods_with_bodies() {
            let Some(body) = program.body(method) else { continue };
            for instruction in body.instructions() {
                let Operation::DynamicCall(call) = &instruction.operation else { continue };
                let DynamicTarget::Lambda(lambda) = call.target else { continue };
                let is_followed = instruction
                    .result
                    .is_some_and(|value| is_run_where_passed(graph, body, value, lambda));
                if !is_followed {
                    known.lost.insert(program.lambdas[lambda].implementation);
                }
            }
        }
        known
    }

    fn has_no_others(&self, program: &Program, method: MethodId) -> bool {
        program.methods[method].is_private()
            && !self.lost.contains(&method)
            && !self.roots.contains(&method)
    }
}

/// Whether a lambda is only ever handed to library methods that run it before they return.
fn is_run_where_passed(graph: &CallGraph, body: &Body, value: ValueId, lambda: LambdaId) -> bool {
    let mut is_run = true;
    let runs = |target: &Target| matches!(target.call_kind, CallKind::Callback { lambda: run, .. } if run == lambda);
    for instruction in body.instructions() {
        let mut reads = false;
        instruction.operation.for_each_operand(|operand| reads |= operand == value);
        if reads {
            is_run &= matches!(instruction.operation, Operation::Call(_))
                && graph.targets(body.method, instruction.offset).iter().any(runs);
        }
    }
    let in_phi = body.blocks.iter().any(|block| {
        block.terminator.operands().any(|operand| operand == value)
            || block.phis.iter().any(|phi| phi.inputs.contains(&Some(value)))
    });
    is_run && !in_phi
}
