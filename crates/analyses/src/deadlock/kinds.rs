//! Locks by the class of what is locked: an abstract object may stand for objects of many classes, when a collection
//! holds them all; what is locked as a logger is not what is locked as an appender.

use std::collections::BTreeMap;

use classes::bytecode::Literal;
use program::Program;
use program::ids::{ClassId, Id, TypedVec, ValueId};
use program::ir::{Body, Constant, DeclaredType, Definition, Operation};
use rustc_hash::FxHashMap;

use super::lock_order::LockOrder;
use crate::Context;
use crate::execution::ExecutionFacts;
use crate::heap::{ObjectId, Place};
use crate::locks::{instruction_at, touches_lock};

program::typed_ids! {
    /// A lock: an abstract object, seen as one of some classes that have no object in common with others.
    LockId "lock";
}

/// A lock.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    /// The abstract object.
    pub(super) object: ObjectId,
    /// The class that it is locked as, where that distinguishes it from others of the same abstract object.
    pub(super) class: Option<ClassId>,
}

/// All locks of a program.
pub(super) struct Locks {
    /// The locks.
    pub(super) locks: TypedVec<LockId, Lock>,
    ids: FxHashMap<(ObjectId, Place), Vec<LockId>>,
}

impl Locks {
    /// The locks that are taken, distinguished by the classes that the code declares where it takes them.
    pub(super) fn of(execution: &ExecutionFacts<'_>, order: &LockOrder) -> Locks {
        let mut locks = Locks { locks: TypedVec::new(), ids: FxHashMap::default() };
        let mut classes: FxHashMap<Place, Option<ClassId>> = FxHashMap::default();
        for (object, taken) in &order.taken {
            let mut places: Vec<Place> = taken.iter().map(|(place, _)| *place).collect();
            places.sort_unstable();
            places.dedup();
            let is_of_many = execution.heap.objects[*object].classes.len() > 1;
            let mut of_class = |place: &Place| {
                let known = classes.entry(*place);
                *known.or_insert_with(|| locked_class(execution.context, *place))
            };
            let declared: Vec<Option<ClassId>> = places.iter().map(&mut of_class).collect();
            let known: Vec<ClassId> = declared.iter().copied().flatten().collect();
            let groups =
                if is_of_many { groups(execution, *object, &known) } else { BTreeMap::new() };
            let mut ids: BTreeMap<Option<ClassId>, LockId> = BTreeMap::new();
            for class in groups.values().copied() {
                let lock = Lock { object: *object, class: Some(class) };
                ids.entry(Some(class)).or_insert_with(|| locks.locks.push(lock));
            }
            if ids.is_empty() {
                ids.insert(None, locks.locks.push(Lock { object: *object, class: None }));
            }
            for (place, class) in places.iter().zip(declared) {
                let group = class.and_then(|class| groups.get(&class).copied());
                // A place that says nothing may lock any of them.
                let taken = match ids.get(&group) {
                    Some(id) => vec![*id],
                    None => ids.values().copied().collect(),
                };
                locks.ids.insert((*object, *place), taken);
            }
        }
        locks
    }

    /// The locks that may be taken at a place.
    pub(super) fn ids(&self, object: ObjectId, taken_at: Place) -> &[LockId] {
        self.ids.get(&(object, taken_at)).map_or(&[], Vec::as_slice)
    }
}

/// For each class a class that stands for all that may have an object in common with it.
fn groups(
    execution: &ExecutionFacts<'_>,
    object: ObjectId,
    classes: &[ClassId],
) -> BTreeMap<ClassId, ClassId> {
    let hierarchy = &execution.context.program.hierarchy;
    let allocated = &execution.heap.objects[object].classes;
    let objects_of = |class: ClassId| -> Vec<ClassId> {
        allocated.iter().copied().filter(|it| hierarchy.is_subtype(*it, class)).collect()
    };
    let may_share = |one: ClassId, other: ClassId| {
        let (of_one, of_other) = (objects_of(one), objects_of(other));
        if of_one.is_empty() || of_other.is_empty() {
            hierarchy.can_be_both(one, other)
        } else {
            of_one.iter().any(|class| of_other.contains(class))
        }
    };
    let mut sorted: Vec<ClassId> = classes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut group: BTreeMap<ClassId, usize> =
        sorted.iter().map(|class| (*class, class.index())).collect();
    for one in &sorted {
        for other in &sorted {
            let (first, second) = (group[one], group[other]);
            if first != second && may_share(*one, *other) {
                group.values_mut().filter(|it| **it == second).for_each(|it| *it = first);
            }
        }
    }
    // The widest class of a group gives it its name.
    let width = |class: ClassId| hierarchy.cone(class).len();
    let widest = |number: usize| {
        let members = sorted.iter().filter(|class| group[*class] == number);
        members.copied().max_by_key(|class| (width(*class), std::cmp::Reverse(*class)))
    };
    sorted.iter().filter_map(|class| Some((*class, widest(group[class])?))).collect()
}

/// What the code declares of the object that it locks at a place; none if that may be anything.
fn locked_class(context: &Context<'_>, place: Place) -> Option<ClassId> {
    let program = context.program;
    let body = program.body(place.method)?;
    let of_method = || {
        let declared = &program.methods[place.method];
        (declared.is_synchronized() && !declared.is_static()).then_some(declared.class)
    };
    let object = match instruction_at(body, place.offset).map(|(_, it)| &it.operation) {
        Some(Operation::MonitorEnter(object)) => *object,
        // The read and the write view of a read-write lock are of different classes.
        Some(Operation::Call(call)) if touches_lock(program.effects_of(call.method)) => {
            return None;
        }
        Some(Operation::Call(call)) if place.offset > 0 => *call.arguments.first()?,
        _ => return of_method(),
    };
    let class = declared_class(program, body, object, &mut Vec::new())?;
    // What is declared to be an `Object` may be anything.
    program.hierarchy.superclass(class).map(|_| class)
}

/// What is declared of a value, or of all that a variable may be: the widest of their classes.
fn declared_class(
    program: &Program,
    body: &Body,
    value: ValueId,
    seen: &mut Vec<ValueId>,
) -> Option<ClassId> {
    if let DeclaredType::Class(class) = body.declared_type(program, value) {
        return Some(class);
    }
    let value = body.without_casts(value);
    let Definition::Phi(block) = body.definitions[value] else { return None };
    seen.push(value);
    let phis = body.blocks[block].phis.iter().filter(|phi| phi.result == value);
    let mut widest: Option<ClassId> = None;
    for input in phis.flat_map(|phi| phi.inputs.iter().flatten()) {
        let is_null = body.defining_instruction(*input).is_some_and(|defined| {
            matches!(defined.operation, Operation::Constant(Constant::Literal(Literal::Null)))
        });
        if is_null || seen.contains(&body.without_casts(*input)) {
            continue;
        }
        let class = declared_class(program, body, *input, seen)?;
        widest = match widest {
            Some(known) if program.hierarchy.is_subtype(class, known) => Some(known),
            Some(known) if !program.hierarchy.is_subtype(known, class) => return None,
            Some(_) | None => Some(class),
        };
    }
    widest
}
