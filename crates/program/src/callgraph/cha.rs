//! Class hierarchy analysis (Dean, Grove and Chambers): any subtype of the static type may be the
//! receiver. An object that is created in the same body is known exactly.

use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;

use super::{CallKind, Target, is_statically_bound};
use crate::ids::{ClassId, LambdaId, MethodId, SelectorId};
use crate::ir::{Body, Call, DeclaredType, Operation};
use crate::symbols::{LambdaKind, Program};

/// The static type of a receiver: what the call names or, where that is less, what the value is
/// declared as. Compilers call the methods of `Object` by that name, whatever the receiver.
pub(super) fn receiver_type(program: &Program, body: &Body, call: &Call) -> DeclaredType {
    let declared = call
        .arguments
        .first()
        .map_or(DeclaredType::Unknown, |receiver| body.declared_type(program, *receiver));
    match declared {
        DeclaredType::Class(class) if program.hierarchy.is_subtype(class, call.class) => declared,
        // A call on an interface's view of a class keeps the interface.
        DeclaredType::Class(class) if program.hierarchy.superclass(call.class).is_none() => {
            DeclaredType::Class(class)
        }
        DeclaredType::Array => DeclaredType::Array,
        DeclaredType::Class(_) | DeclaredType::Unknown => DeclaredType::Class(call.class),
    }
}

/// What a call may run, by static type and selector.
type TargetsByType = FxHashMap<(ClassId, SelectorId), Arc<[Target]>>;

/// Answers, by static type and selector, kept for the next caller.
pub(crate) struct HierarchyTargets {
    lambdas: FxHashMap<SelectorId, Vec<LambdaId>>,
    targets_by_type: RwLock<TargetsByType>,
    single: RwLock<FxHashMap<MethodId, Arc<[Target]>>>,
}

impl HierarchyTargets {
    pub(crate) fn new(program: &Program) -> HierarchyTargets {
        let mut lambdas: FxHashMap<SelectorId, Vec<LambdaId>> = FxHashMap::default();
        for (id, lambda) in program.lambdas.iter_with_ids() {
            lambdas.entry(lambda.selector).or_default().push(id);
        }
        HierarchyTargets {
            lambdas,
            targets_by_type: RwLock::new(FxHashMap::default()),
            single: RwLock::new(FxHashMap::default()),
        }
    }

    /// Everything the call may run.
    pub(crate) fn receivers(&self, program: &Program, body: &Body, call: &Call) -> Arc<[Target]> {
        if is_statically_bound(program, call) {
            return self.single_target(call.method);
        }
        let Some(receiver) = call.arguments.first() else { return self.single_target(call.method) };
        let selector = program.methods[call.method].selector;
        if let Some(created) = body.defining_instruction(body.without_casts(*receiver))
            && let Operation::New(class) = created.operation
            && let Some(target) = program.hierarchy.dispatch(class, selector)
        {
            return self.single_target(target);
        }
        match receiver_type(program, body, call) {
            DeclaredType::Class(class) => self.subtypes_of(program, class, call.method),
            // Arrays have the methods of Object, and do not override them.
            DeclaredType::Array => self.single_target(call.method),
            DeclaredType::Unknown => self.subtypes_of(program, call.class, call.method),
        }
    }

    /// Only this method.
    pub(crate) fn single_target(&self, method: MethodId) -> Arc<[Target]> {
        if let Some(known) = read(&self.single).get(&method) {
            return known.clone();
        }
        let target = Arc::from([Target { method, call_kind: CallKind::Direct }].as_slice());
        write(&self.single).entry(method).or_insert(target).clone()
    }

    /// What a call of `method` on something of static type `class` may run.
    pub(crate) fn subtypes_of(
        &self,
        program: &Program,
        class: ClassId,
        method: MethodId,
    ) -> Arc<[Target]> {
        let selector = program.methods[method].selector;
        let key = (class, selector);
        if let Some(known) = read(&self.targets_by_type).get(&key) {
            return known.clone();
        }
        let mut targets: Vec<Target> = direct(program, class, selector)
            .map(|method| Target { method, call_kind: CallKind::Direct })
            .collect();
        for lambda in self.lambdas_of(program, class, selector) {
            targets.extend(self.lambda_targets(program, lambda));
        }
        if targets.is_empty() {
            // Nothing implements it here: the declaration itself may still have flags or a model.
            targets.push(Target { method, call_kind: CallKind::Direct });
        }
        targets.sort_unstable();
        targets.dedup();
        write(&self.targets_by_type).entry(key).or_insert_with(|| Arc::from(targets)).clone()
    }

    /// The lambdas that are called when `selector` is called on something of type `class`.
    fn lambdas_of(
        &self,
        program: &Program,
        class: ClassId,
        selector: SelectorId,
    ) -> impl Iterator<Item = LambdaId> + '_ {
        let lambdas = self.lambdas.get(&selector).into_iter().flatten().copied();
        let fitting: Vec<LambdaId> = lambdas
            .filter(|lambda| {
                program.hierarchy.is_subtype(program.lambdas[*lambda].interface, class)
            })
            .collect();
        fitting.into_iter()
    }

    /// What a lambda may run when it is called. A reference to a method of a functional interface may
    /// be a reference to another lambda, and so on.
    pub(crate) fn lambda_targets(&self, program: &Program, lambda: LambdaId) -> Vec<Target> {
        let call_kind = CallKind::Lambda(lambda);
        let mut seen = vec![lambda];
        let mut found = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let known = &program.lambdas[seen[next]];
            next += 1;
            if known.kind != LambdaKind::Virtual {
                found.push(known.implementation);
                continue;
            }
            let selector = program.methods[known.implementation].selector;
            found.extend(direct(program, known.receiver_class, selector));
            for lambda in self.lambdas_of(program, known.receiver_class, selector) {
                if !seen.contains(&lambda) {
                    seen.push(lambda);
                }
            }
        }
        if found.is_empty() {
            // Nothing implements it here: the declaration itself may still have a model.
            found.push(program.lambdas[lambda].implementation);
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|method| Target { method, call_kind }).collect()
    }
}

/// The methods that objects of the subtypes of `class` run for `selector`.
fn direct(
    program: &Program,
    class: ClassId,
    selector: SelectorId,
) -> impl Iterator<Item = MethodId> + '_ {
    let subtypes = program.hierarchy.concrete_subtypes(class);
    subtypes.filter_map(move |class| program.hierarchy.dispatch(class, selector))
}

// A panic while the lock was held would have ended the whole analysis, so a poisoned lock cannot be
// met; the data is whole in any case.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(std::sync::PoisonError::into_inner)
}
