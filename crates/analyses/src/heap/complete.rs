//! Objects beyond the distance up to which shapes describe them to callers.
//!
//! A shape describes to its callers what is near (`HeapLimits::most_steps`). A method deep down a chain of calls may
//! touch what is further away from everything that has a name. Such objects get a place in the graph here, by the
//! fields that lead to them: one for each object and field, and for what is still further away one for each field.

use std::collections::{BTreeMap, BTreeSet};

use program::Program;
use program::ids::{ClassId, FieldId, Id};

use super::{AbstractObject, Heap, NameRoot, ObjectId, Slot};

pub(super) fn complete(program: &Program, heap: &mut Heap) {
    let fields = followed_fields(program, heap);
    let known = heap.objects.len();
    let mut by_field: BTreeMap<FieldId, ObjectId> = BTreeMap::new();
    // Objects that are made on the way are gone through as well: what they lead to is distinguished by field alone.
    let mut at = 0;
    while at < heap.objects.len() {
        let object = ObjectId::new(at);
        for class in classes_of(program, heap, object) {
            for owner in program.hierarchy.superclasses(class) {
                for field in fields.get(&owner).into_iter().flatten() {
                    connect_field(heap, object, *field, at < known, &mut by_field);
                }
            }
        }
        at += 1;
    }
}

/// The instance fields that some method follows to an object, by class.
fn followed_fields(program: &Program, heap: &Heap) -> BTreeMap<ClassId, BTreeSet<FieldId>> {
    let mut fields: BTreeMap<ClassId, BTreeSet<FieldId>> = BTreeMap::new();
    for method in program.methods_with_bodies().filter(|method| heap.is_reached[*method]) {
        for edge in heap.shapes[method].nodes.iter().flat_map(|node| &node.edges) {
            if let (Slot::Field(field), Some(_)) = (edge.slot, edge.target)
                && !program.fields[field].is_static()
            {
                fields.entry(program.fields[field].class).or_default().insert(field);
            }
        }
    }
    fields
}

/// The classes that an object can be of: those that are allocated, else what is declared of it.
fn classes_of(program: &Program, heap: &Heap, object: ObjectId) -> Vec<ClassId> {
    let known = &heap.objects[object];
    if !known.classes.is_empty() {
        return known.classes.clone();
    }
    let of_roots = known.roots.iter().filter_map(|root| match root {
        NameRoot::Outside(class) => Some(*class),
        NameRoot::Task(body) => Some(program.methods[*body].class),
        NameRoot::Class(_) | NameRoot::Library(_) | NameRoot::BeyondDepth => None,
    });
    let of_fields = known.referred_by.iter().filter_map(|(_, slot)| match slot {
        Slot::Field(field) => program.class_of_field(*field),
        Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => None,
    });
    let mut classes: Vec<ClassId> = of_roots.chain(of_fields).collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

fn connect_field(
    heap: &mut Heap,
    object: ObjectId,
    field: FieldId,
    is_known: bool,
    by_field: &mut BTreeMap<FieldId, ObjectId>,
) {
    let slot = Slot::Field(field);
    if heap.target(object, slot).is_some() {
        return;
    }
    let target = match by_field.get(&field) {
        Some(target) if !is_known => *target,
        _ => {
            let mut made = AbstractObject::default();
            made.properties.escapes = true;
            let target = heap.objects.push(made);
            if !is_known {
                by_field.insert(field, target);
            }
            target
        }
    };
    let is_shared = heap.objects[object].properties.is_shared;
    let made = &mut heap.objects[target];
    made.referred_by.push((object, slot));
    made.properties.is_shared |= is_shared;
    heap.objects[object].variables.entry(slot).or_default().target = Some(target);
}
