//! What the library calls on the objects that it is given: the lambdas and tasks that the models say it runs, and
//! what the summaries of its code say that it calls.
//!
//! Misses: methods of `Object` and of exceptions; objects whose class is not known where they are handed over, if
//! many classes of the application could be meant; what the library keeps and calls later, likewise. Methods that an
//! entry point of the models describes are left to that: who calls them is known better there.

use classes::access;
use classes::bytecode::InvokeKind;
use classes::descriptor::parameter_descriptors;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::vta::FlowingType;
use super::{CallKind, HierarchyTargets, Target, created_lambda};
use crate::ids::{ClassId, MethodId, ValueId};
use crate::ir::{Body, Call, DeclaredType};
use crate::library::{CallBack, Called};
use crate::symbols::{Origin, Program};
use crate::threads;
use models::language;
use models::{ClassProperty, Effect, Operand, Times};

/// Where it is not known which object is called, so many methods of the application may be meant by it at most.
const FEW_TARGETS: usize = 8;

/// The methods of the application that override those of the library.
pub(super) struct Callbacks {
    /// For a method that the library declares, what objects of which class run.
    overriding: FxHashMap<MethodId, Vec<(ClassId, MethodId)>>,
    /// Types that the library calls methods of all the time, on objects of its own.
    commonplace: Vec<ClassId>,
}

/// One thing that a library method calls.
struct CallbackRequest {
    /// The argument that the object is, or is kept by; the receiver is 0.
    argument: u16,
    is_kept: bool,
    method: MethodId,
}

/// The classes and lambdas that a value of a body can be; none if that is not known.
pub(super) type TypesOf<'a> = dyn Fn(&Body, ValueId) -> Option<Vec<FlowingType>> + Sync + 'a;

impl Callbacks {
    pub(super) fn of(program: &Program) -> Callbacks {
        let classes: Vec<ClassId> = program
            .classes
            .iter_with_ids()
            .filter(|(_, class)| class.origin == Origin::Application && class.is_concrete())
            .map(|(id, _)| id)
            .collect();
        let found: Vec<Vec<(MethodId, ClassId, MethodId)>> =
            classes.par_iter().map(|class| overriding(program, *class)).collect();
        let mut overriding: FxHashMap<MethodId, Vec<(ClassId, MethodId)>> = FxHashMap::default();
        for (declared, class, method) in found.into_iter().flatten() {
            overriding.entry(declared).or_default().push((class, method));
        }
        let commonplace = program.models().classes_that_are(ClassProperty::Commonplace);
        let commonplace = commonplace.filter_map(|name| program.class_named(name)).collect();
        Callbacks { overriding, commonplace }
    }

    /// What the library runs of the application when it is called.
    pub(super) fn targets(
        &self,
        program: &Program,
        hierarchical: &HierarchyTargets,
        types_of: &TypesOf<'_>,
        body: &Body,
        call: &Call,
    ) -> Vec<Target> {
        let mut targets = lambdas(program, hierarchical, body, call);
        targets.extend(unknown_lambdas(program, hierarchical, body, call));
        for request in self.requests(program, call) {
            self.resolve(program, hierarchical, types_of, body, call, &request, &mut targets);
        }
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// What the method that a call names is known to call on its arguments.
    fn requests(&self, program: &Program, call: &Call) -> Vec<CallbackRequest> {
        let declared = &program.methods[call.method];
        let is_library = program.class_of(call.method).origin == Origin::Library;
        if program.body(call.method).is_some()
            || !(is_library || program.is_described_by_user(call.method))
        {
            return Vec::new();
        }
        let receivers = u16::from(call.kind != InvokeKind::Static);
        let mut requests = Vec::new();
        let is_run = |operand: Operand| {
            program.effects_of(call.method).iter().any(|effect| match effect {
                Effect::RunsTask { task, .. } => *task == operand || *task == Operand::Callbacks,
                _ => false,
            })
        };
        for (number, class) in program.models().task_arguments(&declared.descriptor) {
            if is_run(Operand::Argument(number)) {
                requests.extend(program.models().task_methods(class).filter_map(|task| {
                    let method = program.method_named(class, task.method, task.descriptor)?;
                    let argument = u16::from(number) + receivers;
                    Some(CallbackRequest { argument, is_kept: false, method })
                }));
            }
        }
        let mut add = |argument: u16, is_kept: bool, called: Called| match called {
            Called::Method(method) => requests.push(CallbackRequest { argument, is_kept, method }),
            Called::Any(class) => {
                let known = program.hierarchy.supertypes(class).into_iter();
                let methods = known.flat_map(|class| program.classes[class].methods.iter());
                let overridden = methods.filter(|method| self.overriding.contains_key(method));
                requests.extend(overridden.map(|method| CallbackRequest {
                    argument,
                    is_kept,
                    method: *method,
                }));
            }
        };
        // What a user interface keeps, its own thread calls.
        let is_interface =
            program.models().is(&program.class_of(call.method).name, ClassProperty::UserInterface);
        let calls = program.calls_back(call.method).iter();
        for CallBack { on, is_kept, called } in calls.filter(|it| !(it.is_kept && is_interface)) {
            match on {
                Operand::Receiver => add(0, *is_kept, *called),
                Operand::Argument(number) => add(u16::from(*number) + receivers, *is_kept, *called),
                _ => {}
            }
        }
        if !program.is_known(call.method) {
            let parameters = parameter_descriptors(&declared.descriptor);
            for (number, parameter) in (receivers..).zip(parameters) {
                if let Some(class) = program.class_of_descriptor(parameter) {
                    add(number, false, Called::Any(class));
                }
            }
        }
        requests
    }

    #[allow(clippy::too_many_arguments, reason = "what a call is resolved with")]
    fn resolve(
        &self,
        program: &Program,
        hierarchical: &HierarchyTargets,
        types_of: &TypesOf<'_>,
        body: &Body,
        call: &Call,
        request: &CallbackRequest,
        targets: &mut Vec<Target>,
    ) {
        let CallbackRequest { argument, is_kept, method } = *request;
        let Some(value) = call.arguments.get(usize::from(argument)) else { return };
        let overriding = self.overriding.get(&method).map_or(&[][..], |them| them.as_slice());
        let call_kind = CallKind::CalledBack { argument, is_kept };
        let known = if is_kept { None } else { types_of(body, *value) };
        let Some(types) = known else {
            let declared = program.methods[method].class;
            let is_above = |it: &ClassId| program.hierarchy.is_subtype(declared, *it);
            let can_be = |class: ClassId| match body.declared_type(program, *value) {
                DeclaredType::Class(declared) if !is_kept => {
                    program.hierarchy.is_subtype(class, declared)
                }
                DeclaredType::Class(_) | DeclaredType::Array | DeclaredType::Unknown => true,
            };
            let fitting = overriding.iter().filter(|(class, _)| can_be(*class));
            let methods: FxHashSet<MethodId> = fitting.map(|(_, method)| *method).collect();
            if methods.len() <= FEW_TARGETS && !self.commonplace.iter().any(is_above) {
                targets.extend(methods.into_iter().map(|method| Target { method, call_kind }));
            }
            return;
        };
        for flowing in types {
            match flowing {
                FlowingType::Class(class) => {
                    let run = overriding.iter().filter(|(of, _)| *of == class);
                    targets.extend(run.map(|(_, method)| Target { method: *method, call_kind }));
                }
                FlowingType::Lambda(lambda) => {
                    let known = &program.lambdas[lambda];
                    let is_known = targets.iter().any(|target| match target.call_kind {
                        CallKind::Callback { lambda: other, argument: at, .. } => {
                            other == lambda && at == argument
                        }
                        CallKind::Direct | CallKind::Lambda(_) | CallKind::CalledBack { .. } => {
                            false
                        }
                    });
                    if known.selector == program.methods[method].selector && !is_known {
                        let call_kind = CallKind::Callback { lambda, argument, repeatedly: true };
                        let run = hierarchical.lambda_targets(program, lambda).into_iter();
                        targets
                            .extend(run.map(|target| Target { method: target.method, call_kind }));
                    }
                }
            }
        }
    }
}

/// What the library can call on objects of a class: a method that it declares, the class, and the method that runs.
fn overriding(program: &Program, class: ClassId) -> Vec<(MethodId, ClassId, MethodId)> {
    let object = program.class_named(language::OBJECT);
    let throwable = program.class_named(language::THROWABLE);
    let mut found = Vec::new();
    // Whatever is caught may be any exception of the program.
    if throwable.is_some_and(|throwable| program.hierarchy.is_subtype(class, throwable)) {
        return found;
    }
    for supertype in program.hierarchy.supertypes(class) {
        if program.classes[supertype].origin != Origin::Library || Some(supertype) == object {
            continue;
        }
        for method in &program.classes[supertype].methods {
            let declared = &program.methods[*method];
            let is_fixed = declared.is_static()
                || declared.is_private()
                || declared.is_initializer()
                || declared.access & access::FINAL != 0;
            let is_of_object = object
                .is_some_and(|it| program.hierarchy.declared(it, declared.selector).is_some());
            if is_fixed || is_of_object {
                continue;
            }
            if let Some(run) = program.hierarchy.dispatch(class, declared.selector)
                && program.is_application(run)
                && program.body(run).is_some()
                && !threads::is_entry_point(program, run)
            {
                found.push((*method, class, run));
            }
        }
    }
    found
}

/// The lambdas among the arguments of a library call that the models say are run by the call.
fn lambdas(
    program: &Program,
    hierarchical: &HierarchyTargets,
    body: &Body,
    call: &Call,
) -> Vec<Target> {
    let mut targets = Vec::new();
    let receivers = usize::from(call.kind != InvokeKind::Static);
    for effect in program.effects_of(call.method) {
        let Effect::RunsTask { task, times } = effect else { continue };
        for (position, argument) in call.arguments.iter().enumerate().skip(receivers) {
            if let Operand::Argument(number) = task
                && usize::from(*number) + receivers != position
            {
                continue;
            }
            let Some(lambda) = created_lambda(body, *argument) else { continue };
            let call_kind = CallKind::Callback {
                lambda,
                argument: position as u16,
                repeatedly: *times != Times::Once,
            };
            let run = hierarchical.lambda_targets(program, lambda).into_iter();
            targets.extend(run.map(|target| Target { method: target.method, call_kind }));
        }
    }
    targets
}

/// The lambdas among the arguments of a call to code that is not there and that no model describes: whoever gets a
/// lambda calls it.
fn unknown_lambdas(
    program: &Program,
    hierarchical: &HierarchyTargets,
    body: &Body,
    call: &Call,
) -> Vec<Target> {
    let is_application = program.class_of(call.method).origin == Origin::Application;
    if is_application || program.body(call.method).is_some() || program.is_known(call.method) {
        return Vec::new();
    }
    let receivers = usize::from(call.kind != InvokeKind::Static);
    let mut targets = Vec::new();
    for (position, argument) in call.arguments.iter().enumerate().skip(receivers) {
        let Some(lambda) = created_lambda(body, *argument) else { continue };
        let argument = position as u16;
        let call_kind = CallKind::Callback { lambda, argument, repeatedly: true };
        let run = hierarchical.lambda_targets(program, lambda).into_iter();
        targets.extend(run.map(|target| Target { method: target.method, call_kind }));
    }
    targets
}
