//! A listener that records events as text.

use std::cell::RefCell;
use std::rc::Rc;

use analyses::execution::{
    self, Access, AccessKind, Acquisition, Allocation, ContextId, Counters, ExecutionFacts,
    ExecutionResult, Listener, LockMode, Relation, Signal, SignalKind, ThreadControl,
};
use analyses::heap::{self, Heap, ObjectId, Place, Slot, ThreadSet, slot_label};
use analyses::{Config, Outcome};
use program::Program;

use crate::java_program::Compiled;

/// An access, in words where objects are concerned.
#[derive(Clone, Debug)]
pub(crate) struct RecordedAccess {
    pub(crate) context: ContextId,
    pub(crate) method: String,
    pub(crate) object: ObjectId,
    pub(crate) slot: String,
    pub(crate) kind: AccessKind,
    pub(crate) is_atomic: bool,
    pub(crate) is_fresh: bool,
    pub(crate) is_own_root: bool,
    pub(crate) is_joined: bool,
    pub(crate) is_in_constructor: bool,
    pub(crate) value_is_fresh: bool,
    /// Each lock: how it lies to the object, and its mode when that is shared.
    pub(crate) locks: Vec<String>,
    pub(crate) may_have_started: Option<ThreadSet>,
    pub(crate) has_joined: ThreadSet,
    pub(crate) has_received: usize,
    pub(crate) may_have_published: bool,
}

/// All recorded events.
#[derive(Default)]
pub(crate) struct RecordedEvents {
    pub(crate) accesses: Vec<RecordedAccess>,
    /// Where, under which locks, whether it gives up.
    pub(crate) acquisitions: Vec<(String, usize, bool, bool)>,
    pub(crate) signals: Vec<(String, bool, bool)>,
    pub(crate) controls: Vec<(String, usize, bool)>,
    pub(crate) allocations: Vec<(ObjectId, Place)>,
    pub(crate) is_finished: bool,
}

struct Recorder<'a> {
    program: &'a Program,
    recorded: Rc<RefCell<RecordedEvents>>,
}

fn name(program: &Program, place: Place) -> String {
    let method = &program.methods[place.method];
    format!("{}.{}", program.class_of(place.method).dotted_name(), method.name)
}

impl Listener for Recorder<'_> {
    fn access(&mut self, access: &Access<'_>) {
        let label = |slots: &[Slot]| {
            slots.iter().map(|slot| slot_label(self.program, *slot)).collect::<Vec<_>>().join(".")
        };
        let locks = access.locks.iter().map(|(lock, relation)| {
            let mode = match lock.mode {
                LockMode::Exclusive => "",
                LockMode::Shared => "shared ",
            };
            match relation {
                Relation::Inside(slots) => format!("{mode}inside({})", label(slots)),
                Relation::Around(slots) => format!("{mode}around({})", label(slots)),
                Relation::Apart => format!("{mode}apart"),
                Relation::Unknown => format!("{mode}unknown"),
            }
        });
        let seen = RecordedAccess {
            context: access.context,
            method: name(self.program, access.place),
            object: access.object,
            slot: slot_label(self.program, access.slot),
            kind: access.kind,
            is_atomic: access.is_atomic,
            is_fresh: access.base.is_fresh,
            is_own_root: access.base.is_own_root,
            is_joined: access.base.is_joined,
            is_in_constructor: access.is_in_constructor,
            value_is_fresh: access.value_is_fresh,
            locks: locks.collect(),
            may_have_started: access.order.may_have_started.clone(),
            has_joined: access.order.has_joined.clone(),
            has_received: access.order.has_received.len(),
            may_have_published: !access.order.may_have_published.is_empty(),
        };
        self.recorded.borrow_mut().accesses.push(seen);
    }

    fn allocation(&mut self, allocation: Allocation) {
        self.recorded.borrow_mut().allocations.push((allocation.object, allocation.place));
    }

    fn thread_control(&mut self, control: &ThreadControl<'_>) {
        let recorded = (name(self.program, control.place), control.threads.iter().count());
        self.recorded.borrow_mut().controls.push((recorded.0, recorded.1, control.is_start));
    }

    fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        let method = name(self.program, acquisition.place);
        let recorded =
            (method, acquisition.held.len(), acquisition.gives_up, acquisition.is_other_instance);
        self.recorded.borrow_mut().acquisitions.push(recorded);
    }

    fn signal(&mut self, signal: &Signal<'_>) {
        let is_wait = matches!(signal.kind, SignalKind::Wait { .. });
        let recorded = (name(self.program, signal.place), is_wait, signal.lock.is_some());
        self.recorded.borrow_mut().signals.push(recorded);
    }

    fn finish(self: Box<Self>, _world: &ExecutionFacts<'_>) -> Outcome {
        self.recorded.borrow_mut().is_finished = true;
        Outcome::default()
    }
}

/// A program, its heap shape graph, and the events of the symbolic execution.
pub(crate) struct Run {
    pub(crate) heap: Heap,
    pub(crate) executed: ExecutionResult,
    pub(crate) recorded: RecordedEvents,
}

impl Run {
    pub(crate) fn of(sources: &[(&str, &str)]) -> Run {
        Run::with(sources, &execution::ExecutionLimits::default())
    }

    pub(crate) fn with(sources: &[(&str, &str)], limits: &execution::ExecutionLimits) -> Run {
        Run::within(sources, limits, &|| false)
    }

    /// With a budget that is used up when `exhausted` says so.
    pub(crate) fn within(
        sources: &[(&str, &str)],
        limits: &execution::ExecutionLimits,
        exhausted: &(dyn Fn() -> bool + Sync),
    ) -> Run {
        let sources: Vec<(String, String)> =
            sources.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let compiled = Compiled::new(&sources);
        let config = Config::default();
        let mut context = compiled.context(&config);
        context.exhausted = exhausted;
        let mut heap = Heap::build(&context, &heap::HeapLimits::default());
        let recorded = Rc::new(RefCell::new(RecordedEvents::default()));
        let executed = {
            let recorder = Recorder { program: &compiled.program, recorded: recorded.clone() };
            let mut listeners: Vec<Box<dyn Listener + '_>> = vec![Box::new(recorder)];
            let executed = execution::execute(&context, &heap, &mut listeners, limits);
            executed.mark_unique_objects(&mut heap);
            for listener in listeners {
                listener.finish(&executed.facts(&context, &heap));
            }
            executed
        };
        let recorded = std::mem::take(&mut *recorded.borrow_mut());
        Run { heap, executed, recorded }
    }

    /// The accesses to a field in a method, both by name.
    pub(crate) fn accesses(&self, method: &str, slot: &str) -> Vec<&RecordedAccess> {
        let is_meant = |seen: &&RecordedAccess| {
            seen.method == method && seen.slot.rsplit('.').next() == Some(slot)
        };
        self.recorded.accesses.iter().filter(is_meant).collect()
    }

    /// The one access that there is to a field in a method.
    pub(crate) fn access(&self, method: &str, slot: &str) -> &RecordedAccess {
        let found = self.accesses(method, slot);
        assert!(
            !found.is_empty(),
            "no access to {slot} in {method}: {:#?}",
            self.recorded.accesses
        );
        found[0]
    }

    /// The locks of all accesses to a field in a method.
    pub(crate) fn locks(&self, method: &str, slot: &str) -> Vec<Vec<String>> {
        let mut locks: Vec<Vec<String>> =
            self.accesses(method, slot).iter().map(|seen| seen.locks.clone()).collect();
        locks.sort();
        locks.dedup();
        assert!(
            !locks.is_empty(),
            "no access to {slot} in {method}: {:#?}",
            self.recorded.accesses
        );
        locks
    }

    pub(crate) fn counters(&self) -> Counters {
        self.executed.counters
    }

    /// The abstract threads that get to an access.
    pub(crate) fn threads(&self, seen: &RecordedAccess) -> usize {
        self.executed.threads[seen.context].iter().count()
    }
}
