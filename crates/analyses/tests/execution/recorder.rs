//! A listener that writes down what it is told, in words.

use std::cell::RefCell;
use std::rc::Rc;

use analyses::execution::{
    self, Access, AccessKind, Acquisition, Allocation, ContextId, Counters, Executed, Listener,
    LockMode, Relation, Signal, SignalKind, ThreadControl, World,
};
use analyses::heap::{self, Heap, ObjectId, Place, Slot, ThreadSet, slot_label};
use analyses::{Config, Outcome};
use program::Program;

use crate::java_program::Compiled;

/// An access, in words where objects are concerned.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
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

/// Everything that was told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) accesses: Vec<Seen>,
    /// Where, under which locks, whether it gives up.
    pub(crate) acquisitions: Vec<(String, usize, bool, bool)>,
    pub(crate) signals: Vec<(String, bool, bool)>,
    pub(crate) controls: Vec<(String, usize, bool)>,
    pub(crate) allocations: Vec<(ObjectId, Place)>,
    pub(crate) is_finished: bool,
}

struct Recorder<'a> {
    program: &'a Program,
    told: Rc<RefCell<Told>>,
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
                Relation::Unknown => format!("{mode}unknown"),
            }
        });
        let seen = Seen {
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
        self.told.borrow_mut().accesses.push(seen);
    }

    fn allocation(&mut self, allocation: Allocation) {
        self.told.borrow_mut().allocations.push((allocation.object, allocation.place));
    }

    fn thread_control(&mut self, control: &ThreadControl<'_>) {
        let told = (name(self.program, control.place), control.threads.iter().count());
        self.told.borrow_mut().controls.push((told.0, told.1, control.is_start));
    }

    fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        let method = name(self.program, acquisition.place);
        let told =
            (method, acquisition.held.len(), acquisition.gives_up, acquisition.is_other_instance);
        self.told.borrow_mut().acquisitions.push(told);
    }

    fn signal(&mut self, signal: &Signal<'_>) {
        let is_wait = matches!(signal.kind, SignalKind::Wait { .. });
        let told = (name(self.program, signal.place), is_wait, signal.lock.is_some());
        self.told.borrow_mut().signals.push(told);
    }

    fn finish(self: Box<Self>, _world: &World<'_>) -> Outcome {
        self.told.borrow_mut().is_finished = true;
        Outcome::default()
    }
}

/// A program, its heap shape graph, and what the symbolic execution told.
pub(crate) struct Run {
    pub(crate) heap: Heap,
    pub(crate) executed: Executed,
    pub(crate) told: Told,
}

impl Run {
    pub(crate) fn of(sources: &[(&str, &str)]) -> Run {
        Run::with(sources, &execution::Limits::default())
    }

    pub(crate) fn with(sources: &[(&str, &str)], limits: &execution::Limits) -> Run {
        Run::within(sources, limits, &|| false)
    }

    /// With a budget that is used up when `exhausted` says so.
    pub(crate) fn within(
        sources: &[(&str, &str)],
        limits: &execution::Limits,
        exhausted: &(dyn Fn() -> bool + Sync),
    ) -> Run {
        let sources: Vec<(String, String)> =
            sources.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let compiled = Compiled::new(&sources);
        let config = Config::default();
        let mut context = compiled.context(&config);
        context.exhausted = exhausted;
        let mut heap = Heap::build(&context, &heap::Limits::default());
        let told = Rc::new(RefCell::new(Told::default()));
        let executed = {
            let recorder = Recorder { program: &compiled.program, told: told.clone() };
            let mut listeners: Vec<Box<dyn Listener + '_>> = vec![Box::new(recorder)];
            let executed = execution::execute(&context, &heap, &mut listeners, limits);
            executed.mark(&mut heap);
            for listener in listeners {
                listener.finish(&executed.world(&context, &heap));
            }
            executed
        };
        let told = std::mem::take(&mut *told.borrow_mut());
        Run { heap, executed, told }
    }

    /// The accesses to a field in a method, both by name.
    pub(crate) fn accesses(&self, method: &str, slot: &str) -> Vec<&Seen> {
        let is_meant =
            |seen: &&Seen| seen.method == method && seen.slot.rsplit('.').next() == Some(slot);
        self.told.accesses.iter().filter(is_meant).collect()
    }

    /// The one access that there is to a field in a method.
    pub(crate) fn access(&self, method: &str, slot: &str) -> &Seen {
        let found = self.accesses(method, slot);
        assert!(!found.is_empty(), "no access to {slot} in {method}: {:#?}", self.told.accesses);
        found[0]
    }

    /// The locks of all accesses to a field in a method.
    pub(crate) fn locks(&self, method: &str, slot: &str) -> Vec<Vec<String>> {
        let mut locks: Vec<Vec<String>> =
            self.accesses(method, slot).iter().map(|seen| seen.locks.clone()).collect();
        locks.sort();
        locks.dedup();
        assert!(!locks.is_empty(), "no access to {slot} in {method}: {:#?}", self.told.accesses);
        locks
    }

    pub(crate) fn counters(&self) -> Counters {
        self.executed.counters
    }

    /// The abstract threads that get to an access.
    pub(crate) fn threads(&self, seen: &Seen) -> usize {
        self.executed.threads[seen.context].iter().count()
    }
}
