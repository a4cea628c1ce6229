//! Phases of a program that latches, barriers and other publications separate.
//!
//! Property: if a thread is at a point where it has certainly received from a variable, then a thread that publishes to that variable
//! is past every point at which it has certainly not published yet. This holds for a variable that exists once, and for threads of
//! which there is one, if the receiver waits for all who publish (latches and barriers), or if that thread is the only one
//! who does. It is what `races` takes for an order as well, and a latch whose count is lower than the number of those who
//! count it down is taken for one that waits for all.

use program::models::Coordinator;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::execution::{ContextId, ExecutionFacts, Order, Publication, SyncVariable};
use crate::heap::{ThreadId, ThreadSet};

/// Where variables are published to.
#[derive(Default)]
pub(super) struct Phases {
    publications: FxHashSet<(Option<SyncVariable>, ContextId)>,
}

impl Phases {
    pub(super) fn add(&mut self, publication: Publication) {
        self.publications.insert((publication.variable, publication.context));
    }

    /// Who publishes to what, once the threads of all contexts are known.
    pub(super) fn publishers<'a>(&self, execution: &'a ExecutionFacts<'a>) -> Publishers<'a> {
        let mut by_variable: FxHashMap<SyncVariable, ThreadSet> = FxHashMap::default();
        let mut of_anything = ThreadSet::default();
        for (variable, context) in &self.publications {
            let known = match variable {
                Some(variable) => by_variable.entry(*variable).or_default(),
                None => &mut of_anything,
            };
            known.extend(&execution.threads[*context]);
        }
        for known in by_variable.values_mut() {
            known.extend(&of_anything);
        }
        Publishers { execution, by_variable }
    }
}

/// Who publishes to what.
pub(super) struct Publishers<'a> {
    execution: &'a ExecutionFacts<'a>,
    by_variable: FxHashMap<SyncVariable, ThreadSet>,
}

impl Publishers<'_> {
    /// Whether a thread that is where `at` has happened before is past a point of another thread where `earlier` has.
    pub(super) fn are_separated(&self, at: &Order, other: ThreadId, earlier: &Order) -> bool {
        self.execution.heap.threads[other].is_unique
            && at.has_received.iter().any(|variable| self.has_passed(*variable, other, earlier))
    }

    fn has_passed(&self, variable: SyncVariable, thread: ThreadId, earlier: &Order) -> bool {
        let Some(publishers) = self.by_variable.get(&variable) else { return false };
        let is_unique = self.execution.heap.objects[variable.object].properties.is_unique;
        is_unique
            && publishers.contains(thread)
            && !earlier.may_have_published.may_contain(&variable)
            && (self.waits_for_all(variable) || publishers.iter().all(|it| it == thread))
    }

    fn waits_for_all(&self, variable: SyncVariable) -> bool {
        let program = self.execution.context.program;
        let classes = &self.execution.heap.objects[variable.object].classes;
        variable.slot.is_none()
            && classes.iter().any(|class| {
                let coordinator = program.models().coordinator(&program.classes[*class].name);
                matches!(coordinator, Some(Coordinator::Latch | Coordinator::Barrier))
            })
    }
}
