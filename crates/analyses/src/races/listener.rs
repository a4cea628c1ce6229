//! The events of the symbolic execution in compact form: accesses that may matter, with interned locks and orders.

use program::FieldId;
use program::interner::Interner;
use rustc_hash::FxHashSet;

use crate::execution::{
    Access, AccessKind, Allocation, BaseReference, ContextId, ExecutionFacts, HeldLock, Listener,
    Order, Publication, Relation, SyncVariable, ThreadControl,
};
use crate::heap::{Heap, ObjectId, Place, Slot, ThreadSet};
use crate::{Context, Outcome};

program::typed_ids! {
    /// A list of locks, each with its relation to the object that is accessed.
    LocksId "locks";
    /// What happened before an access.
    OrderId "order";
}

/// The locks of an access, each with its relation to the object.
pub(super) type Locks = [(HeldLock, Relation)];

/// An access, as it was reported. The order of the fields is the order in which accesses are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedAccess {
    pub(super) object: ObjectId,
    pub(super) slot: Slot,
    pub(super) kind: AccessKind,
    pub(super) place: Place,
    pub(super) base: BaseReference,
    pub(super) locks: LocksId,
    pub(super) order: OrderId,
    pub(super) is_atomic: bool,
    pub(super) is_in_constructor: bool,
    pub(super) value: Option<ObjectId>,
    pub(super) value_is_fresh: bool,
    pub(super) context: ContextId,
}

/// Threads are started or waited for, in one context.
#[derive(Clone, Debug)]
pub(super) struct ThreadControlRecord {
    pub(super) context: ContextId,
    pub(super) place: Place,
    pub(super) threads: ThreadSet,
    pub(super) object: Option<ObjectId>,
    pub(super) is_start: bool,
    pub(super) order: OrderId,
}

/// Which accesses are kept.
pub(super) enum WantedAccesses {
    /// Those to variables that several threads touch and at least one writes, and that are not atomic.
    Conflicting(FxHashSet<(ObjectId, Slot)>),
    /// All of them.
    Everything,
}

impl WantedAccesses {
    /// The variables that can be in conflict at all, as far as the heap shape graph shows: of shared objects that
    /// belong to no thread, touched by several threads, and written by some.
    pub(super) fn conflicting(heap: &Heap) -> WantedAccesses {
        let mut variables = FxHashSet::default();
        for (id, object) in heap.objects.iter_with_ids() {
            if !object.properties.is_shared || object.properties.is_thread_specific {
                continue;
            }
            for (slot, variable) in &object.variables {
                let mut threads = variable.readers.clone();
                threads.extend(&variable.writers);
                if !variable.writers.is_empty() && heap.is_several(&threads) {
                    variables.insert((id, *slot));
                }
            }
        }
        WantedAccesses::Conflicting(variables)
    }
}

/// All events that are kept.
pub(super) struct Records {
    pub(super) accesses: Vec<RecordedAccess>,
    pub(super) allocations: Vec<(ObjectId, Place, ContextId)>,
    pub(super) locks: Interner<LocksId, Vec<(HeldLock, Relation)>>,
    pub(super) orders: Interner<OrderId, Order>,
    pub(super) controls: Vec<ThreadControlRecord>,
    /// Who publishes to what.
    pub(super) publications: FxHashSet<(Option<SyncVariable>, ContextId)>,
    /// Fields that are written after initialisation.
    pub(super) rewritten: FxHashSet<FieldId>,
}

/// What becomes of the records when the execution is over.
type Finish<'a> = Box<dyn FnOnce(Records, &ExecutionFacts<'_>) -> Outcome + 'a>;

/// Keeps events until the execution is over.
pub(super) struct Recorder<'a> {
    context: &'a Context<'a>,
    wanted: WantedAccesses,
    records: Records,
    finish: Finish<'a>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        wanted: WantedAccesses,
        finish: Finish<'a>,
    ) -> Self {
        let records = Records {
            accesses: Vec::new(),
            allocations: Vec::new(),
            locks: Interner::default(),
            orders: Interner::default(),
            controls: Vec::new(),
            publications: FxHashSet::default(),
            rewritten: FxHashSet::default(),
        };
        Recorder { context, wanted, records, finish }
    }

    fn is_initialisation(&self, access: &Access<'_>) -> bool {
        let program = self.context.program;
        access.base.is_fresh
            || access.is_in_constructor
            || &*program.methods[access.place.method].name == "<clinit>"
    }

    fn is_wanted(&self, access: &Access<'_>) -> bool {
        match &self.wanted {
            WantedAccesses::Conflicting(variables) => {
                !access.is_atomic && variables.contains(&(access.object, access.slot))
            }
            WantedAccesses::Everything => true,
        }
    }
}

impl Listener for Recorder<'_> {
    fn access(&mut self, access: &Access<'_>) {
        if let (AccessKind::Write, Slot::Field(field)) = (access.kind, access.slot)
            && !self.is_initialisation(access)
        {
            self.records.rewritten.insert(field);
        }
        if !self.is_wanted(access) {
            return;
        }
        let recorded = RecordedAccess {
            object: access.object,
            slot: access.slot,
            kind: access.kind,
            place: access.place,
            base: access.base,
            locks: self.records.locks.intern_copy(access.locks),
            order: self.records.orders.intern_copy(access.order),
            is_atomic: access.is_atomic,
            is_in_constructor: access.is_in_constructor,
            value: access.value,
            value_is_fresh: access.value_is_fresh,
            context: access.context,
        };
        self.records.accesses.push(recorded);
    }

    fn allocation(&mut self, allocation: Allocation) {
        if let WantedAccesses::Everything = self.wanted {
            let allocated = (allocation.object, allocation.place, allocation.context);
            self.records.allocations.push(allocated);
        }
    }

    fn thread_control(&mut self, control: &ThreadControl<'_>) {
        let order = self.records.orders.intern_copy(control.order);
        self.records.controls.push(ThreadControlRecord {
            context: control.context,
            place: control.place,
            threads: control.threads.clone(),
            object: control.object,
            is_start: control.is_start,
            order,
        });
    }

    fn publication(&mut self, publication: Publication) {
        self.records.publications.insert((publication.variable, publication.context));
    }

    fn finish(self: Box<Self>, execution: &ExecutionFacts<'_>) -> Outcome {
        let Recorder { mut records, finish, .. } = *self;
        records.accesses.sort_unstable();
        records.accesses.dedup();
        finish(records, execution)
    }
}
