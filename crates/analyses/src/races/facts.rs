//! What the decision about conflicts must know of threads and objects, gathered when the execution is over.

use std::collections::BTreeSet;

use program::ids::{MethodId, TypedVec};
use program::models::Coordinator;
use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{Knowledge, StartOfThread};
use super::listener::Records;
use crate::execution::{SyncVariable, World};
use crate::heap::{ObjectId, Slot, ThreadId, ThreadKind, ThreadSet};

/// The knowledge of one whole-program analysis.
pub(super) struct Facts<'a> {
    world: &'a World<'a>,
    starters: TypedVec<ThreadId, Option<ThreadSet>>,
    starts: TypedVec<ThreadId, Vec<StartOfThread>>,
    publishers: FxHashMap<SyncVariable, ThreadSet>,
    rewritten: FxHashSet<program::FieldId>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(world: &'a World<'a>, records: &Records) -> Facts<'a> {
        let threads = world.heap.threads.len();
        let mut starts: TypedVec<ThreadId, BTreeSet<StartOfThread>> =
            TypedVec::filled(BTreeSet::new(), threads);
        let mut seen = FxHashSet::default();
        for control in records.controls.iter().filter(|control| control.is_start) {
            for thread in control.threads.iter() {
                seen.insert((thread, control.place));
                let by = world.threads[control.context].clone();
                // What no thread gets to starts nothing.
                if !by.is_empty() {
                    let order = records.order(control.order).clone();
                    starts[thread].insert(StartOfThread { by, order });
                }
            }
        }
        let starters = world.heap.threads.iter_with_ids().map(|(id, thread)| {
            // Only what the program starts itself, and at places that were all seen.
            let is_known = thread.kind == ThreadKind::Run
                && thread.started_at.iter().all(|place| seen.contains(&(id, *place)));
            let mut all = ThreadSet::default();
            for start in &starts[id] {
                all.extend(&start.by);
            }
            (is_known && !all.is_empty()).then_some(all)
        });
        let starters = starters.collect();
        let mut publishers: FxHashMap<SyncVariable, ThreadSet> = FxHashMap::default();
        let mut of_anything = ThreadSet::default();
        for (variable, context) in &records.publications {
            let known = match variable {
                Some(variable) => publishers.entry(*variable).or_default(),
                None => &mut of_anything,
            };
            known.extend(&world.threads[*context]);
        }
        for known in publishers.values_mut() {
            known.extend(&of_anything);
        }
        let starts = starts.into_items().map(|starts| starts.into_iter().collect()).collect();
        Facts { world, starters, starts, publishers, rewritten: records.rewritten.clone() }
    }
}

impl Knowledge for Facts<'_> {
    fn can_interleave(&self, one: ThreadId, other: ThreadId) -> bool {
        self.world.heap.can_interleave(one, other)
    }

    fn is_unique_thread(&self, thread: ThreadId) -> bool {
        self.world.heap.threads[thread].is_unique
    }

    fn starters(&self, thread: ThreadId) -> Option<&ThreadSet> {
        self.starters[thread].as_ref()
    }

    fn starts(&self, thread: ThreadId) -> &[StartOfThread] {
        &self.starts[thread]
    }

    fn is_unique_object(&self, object: ObjectId) -> bool {
        let marks = self.world.heap.objects[object].marks;
        marks.is_unique || marks.is_class
    }

    fn is_thread_specific(&self, object: ObjectId) -> bool {
        self.world.heap.objects[object].marks.is_thread_specific
    }

    fn is_thread(&self, object: ObjectId) -> bool {
        let known = &self.world.heap.objects[object];
        known.marks.is_thread && !known.is_blurred()
    }

    fn starts_itself(&self, object: ObjectId) -> bool {
        let World { context, heap, .. } = self.world;
        let program = context.program;
        let starts_itself = |constructor: &MethodId| {
            let shape = &heap.shapes[*constructor];
            let this = shape.parameters.first().copied().flatten();
            program.methods[*constructor].is_initializer()
                && this.is_some_and(|this| shape[this].happenings.is_started)
        };
        self.is_thread(object)
            && heap.objects[object].classes.iter().any(|class| {
                program
                    .hierarchy
                    .superclasses(*class)
                    .any(|class| program.classes[class].methods.iter().any(starts_itself))
            })
    }

    fn host(&self, object: ObjectId) -> Option<ObjectId> {
        self.world.heap.objects[object].marks.host
    }

    fn never_changes(&self, slot: Slot) -> bool {
        match slot {
            Slot::Field(field) => {
                let declared = &self.world.context.program.fields[field];
                declared.is_final() || !self.rewritten.contains(&field)
            }
            Slot::Captured(_) => true,
            Slot::Element | Slot::Contents | Slot::Task => false,
        }
    }

    fn publishers(&self, variable: SyncVariable) -> Option<&ThreadSet> {
        self.publishers.get(&variable)
    }

    fn is_one_for(&self, variable: SyncVariable, object: ObjectId) -> bool {
        let is_part = || {
            let variables = &self.world.heap.objects[object].variables;
            variables.iter().any(|(slot, held)| {
                held.target == Some(variable.object) && self.never_changes(*slot)
            })
        };
        variable.object == object || self.is_unique_object(variable.object) || is_part()
    }

    fn waits_for_all(&self, variable: SyncVariable) -> bool {
        let classes = &self.world.heap.objects[variable.object].classes;
        let program = self.world.context.program;
        variable.slot.is_none()
            && classes.iter().any(|class| {
                matches!(
                    program.models().coordinator(&program.classes[*class].name),
                    Some(Coordinator::Latch | Coordinator::Barrier)
                )
            })
    }
}
