//! What the decision about conflicts must know of threads and objects, gathered when the execution is over.

use std::collections::BTreeSet;

use program::ids::{MethodId, TypedVec};
use program::models::Coordinator;
use rustc_hash::{FxHashMap, FxHashSet};

use super::conflict::{ConflictFacts, StartOfThread};
use super::listener::Records;
use crate::execution::{ExecutionFacts, SyncVariable};
use crate::heap::{Name, NameRoot, ObjectId, Slot, ThreadId, ThreadKind, ThreadSet};

/// The knowledge of one whole-program analysis.
pub(super) struct ComputedConflictFacts<'a> {
    execution: &'a ExecutionFacts<'a>,
    starters: TypedVec<ThreadId, Option<ThreadSet>>,
    starts: TypedVec<ThreadId, Vec<StartOfThread>>,
    publishers: FxHashMap<SyncVariable, ThreadSet>,
    rewritten: FxHashSet<program::FieldId>,
}

impl<'a> ComputedConflictFacts<'a> {
    pub(super) fn new(
        execution: &'a ExecutionFacts<'a>,
        records: &Records,
    ) -> ComputedConflictFacts<'a> {
        let threads = execution.heap.threads.len();
        let mut starts: TypedVec<ThreadId, BTreeSet<StartOfThread>> =
            TypedVec::filled(BTreeSet::new(), threads);
        let mut seen = FxHashSet::default();
        for control in records.controls.iter().filter(|control| control.is_start) {
            for thread in control.threads.iter() {
                seen.insert((thread, control.place));
                let by = execution.threads[control.context].clone();
                // What no thread gets to starts nothing.
                if !by.is_empty() {
                    let order = records.orders[control.order].clone();
                    starts[thread].insert(StartOfThread { by, order });
                }
            }
        }
        let starters = execution.heap.threads.iter_with_ids().map(|(id, thread)| {
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
            known.extend(&execution.threads[*context]);
        }
        for known in publishers.values_mut() {
            known.extend(&of_anything);
        }
        let starts = starts.into_items().map(|starts| starts.into_iter().collect()).collect();
        ComputedConflictFacts {
            execution,
            starters,
            starts,
            publishers,
            rewritten: records.rewritten.clone(),
        }
    }
}

impl ConflictFacts for ComputedConflictFacts<'_> {
    fn can_interleave(&self, one: ThreadId, other: ThreadId) -> bool {
        self.execution.heap.can_interleave(one, other)
    }

    fn is_unique_thread(&self, thread: ThreadId) -> bool {
        self.execution.heap.threads[thread].is_unique
    }

    fn starters(&self, thread: ThreadId) -> Option<&ThreadSet> {
        self.starters[thread].as_ref()
    }

    fn starts(&self, thread: ThreadId) -> &[StartOfThread] {
        &self.starts[thread]
    }

    fn is_unique_object(&self, object: ObjectId) -> bool {
        let properties = self.execution.heap.objects[object].properties;
        properties.is_unique || properties.is_class
    }

    fn is_thread_specific(&self, object: ObjectId) -> bool {
        self.execution.heap.objects[object].properties.is_thread_specific
    }

    fn is_thread(&self, object: ObjectId) -> bool {
        let known = &self.execution.heap.objects[object];
        known.properties.is_thread && !known.is_imprecise()
    }

    fn is_handed_out_in_constructor(&self, object: ObjectId) -> bool {
        let ExecutionFacts { context, heap, .. } = self.execution;
        let program = context.program;
        let hands_out = |constructor: &MethodId| {
            let shape = &heap.shapes[*constructor];
            let this = shape.parameters.first().copied().flatten();
            let is_known = |name: &Name| matches!(name.root, NameRoot::Task(_));
            program.methods[*constructor].is_initializer()
                && this.is_some_and(|this| {
                    shape[this].flags.is_started || shape[this].names.iter().any(is_known)
                })
        };
        let known = &heap.objects[object];
        !known.is_imprecise()
            && known.classes.iter().any(|class| {
                program
                    .hierarchy
                    .superclasses(*class)
                    .any(|class| program.classes[class].methods.iter().any(hands_out))
            })
    }

    fn host(&self, object: ObjectId) -> Option<ObjectId> {
        self.execution.heap.objects[object].properties.host
    }

    fn never_changes(&self, slot: Slot) -> bool {
        match slot {
            Slot::Field(field) => {
                let declared = &self.execution.context.program.fields[field];
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
            let variables = &self.execution.heap.objects[object].variables;
            variables.iter().any(|(slot, held)| {
                held.target == Some(variable.object) && self.never_changes(*slot)
            })
        };
        variable.object == object || self.is_unique_object(variable.object) || is_part()
    }

    fn waits_for_all(&self, variable: SyncVariable) -> bool {
        let classes = &self.execution.heap.objects[variable.object].classes;
        let program = self.execution.context.program;
        variable.slot.is_none()
            && classes.iter().any(|class| {
                matches!(
                    program.models().coordinator(&program.classes[*class].name),
                    Some(Coordinator::Latch | Coordinator::Barrier)
                )
            })
    }
}
