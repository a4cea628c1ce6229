//! Lock views: which variables are read and updated in the scope of each acquisition of a lock (dissertation, 5.2.1).
//!
//! A section is an acquisition with the locks that are held around it. Sections at one place that hold the same locks
//! are one: where they were called from makes no difference to what they protect.

use std::collections::{BTreeMap, BTreeSet};

use program::ids::TypedVec;
use rustc_hash::FxHashMap;

use super::chain::View;
use crate::execution::{
    Access, AccessKind, Acquisition, ContextId, HeldLock, Invocation, Order, Signal, SignalKind,
};
use crate::heap::{ObjectId, Place, Slot};

program::typed_ids! {
    /// A section: an acquisition of a lock, with the locks around it.
    SectionId "section";
    /// A variable of an abstract object.
    VariableId "variable";
    /// What happened before an acquisition; the same for many.
    OrderId "order";
}

/// An acquisition of a lock, and the next one around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Section {
    /// The section it is inside of.
    pub(super) around: Option<SectionId>,
    /// The lock; [`Section::object`] is the same without the doubt.
    pub(super) lock: HeldLock,
    /// The object that is locked.
    pub(super) object: ObjectId,
}

/// Where a section is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Entered {
    /// In which context.
    pub(super) context: ContextId,
    /// Where.
    pub(super) place: Place,
    /// What happened before.
    pub(super) order: OrderId,
}

/// Where a section touches a variable: one place of each kind, the first in the order of places.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touched {
    /// Where it reads.
    pub(super) read: Option<(Place, ContextId)>,
    /// Where it writes.
    pub(super) written: Option<(Place, ContextId)>,
}

/// Everything that is remembered of the execution.
#[derive(Default)]
pub(super) struct Views {
    pub(super) sections: TypedVec<SectionId, Section>,
    section_ids: FxHashMap<(Option<SectionId>, HeldLock), SectionId>,
    pub(super) variables: TypedVec<VariableId, (ObjectId, Slot)>,
    variable_ids: FxHashMap<(ObjectId, Slot), VariableId>,
    touched: FxHashMap<(SectionId, VariableId), Touched>,
    entered: FxHashMap<SectionId, BTreeSet<Entered>>,
    pub(super) orders: TypedVec<OrderId, Order>,
    order_ids: FxHashMap<Order, OrderId>,
    /// All calls.
    pub(super) calls: Vec<Invocation>,
    /// Who waits, and which lock is given back meanwhile.
    pub(super) waits: Vec<(ContextId, Option<ObjectId>)>,
}

impl Views {
    /// Learns that a variable is touched. What is touched without a lock belongs to no section.
    pub(super) fn access(&mut self, access: &Access<'_>) {
        // A volatile field is not meant to be guarded. The contents of a collection may be safe for who does not lock, and
        // belong to the sections of who does.
        let is_volatile = access.is_atomic && matches!(access.slot, Slot::Field(_));
        if access.locks.is_empty()
            || is_volatile
            || access.is_in_constructor
            || access.base.is_fresh
        {
            return;
        }
        let variable = self.variable(access.object, access.slot);
        let mut around = None;
        for (lock, _) in access.locks {
            let Some(section) = self.section(around, lock) else { continue };
            around = Some(section);
            let touched = self.touched.entry((section, variable)).or_default();
            let known = match access.kind {
                AccessKind::Read => &mut touched.read,
                AccessKind::Write => &mut touched.written,
            };
            let place = (access.place, access.context);
            *known = Some(known.map_or(place, |known| known.min(place)));
        }
    }

    /// Learns that a lock is taken.
    pub(super) fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        let mut around = None;
        for lock in acquisition.held {
            around = self.section(around, lock).or(around);
        }
        let Some(section) = self.section(around, acquisition.lock) else { return };
        let order = self.order(acquisition.order);
        self.entered.entry(section).or_default().insert(Entered {
            context: acquisition.context,
            place: acquisition.place,
            order,
        });
    }

    /// Learns of a wait.
    pub(super) fn signal(&mut self, signal: &Signal<'_>) {
        match signal.kind {
            SignalKind::Wait { .. } => self.waits.push((signal.context, signal.lock)),
            SignalKind::Notify => {}
        }
    }

    /// The section that a lock opens; none for a lock that only its thread knows.
    fn section(&mut self, around: Option<SectionId>, lock: &HeldLock) -> Option<SectionId> {
        let object = lock.object?;
        if let Some(known) = self.section_ids.get(&(around, lock.clone())) {
            return Some(*known);
        }
        let section = self.sections.push(Section { around, lock: lock.clone(), object });
        self.section_ids.insert((around, lock.clone()), section);
        Some(section)
    }

    fn variable(&mut self, object: ObjectId, slot: Slot) -> VariableId {
        if let Some(known) = self.variable_ids.get(&(object, slot)) {
            return *known;
        }
        let variable = self.variables.push((object, slot));
        self.variable_ids.insert((object, slot), variable);
        variable
    }

    fn order(&mut self, order: &Order) -> OrderId {
        if let Some(known) = self.order_ids.get(order) {
            return *known;
        }
        let id = self.orders.push(order.clone());
        self.order_ids.insert(order.clone(), id);
        id
    }

    /// Where a section is entered, in a fixed order.
    pub(super) fn entered(&self, section: SectionId) -> impl DoubleEndedIterator<Item = &Entered> {
        self.entered.get(&section).into_iter().flatten()
    }

    /// Where a section touches a variable.
    pub(super) fn touched(&self, section: SectionId, variable: VariableId) -> Touched {
        self.touched.get(&(section, variable)).copied().unwrap_or_default()
    }

    /// A section and those around it, innermost first.
    pub(super) fn and_around(&self, section: SectionId) -> impl Iterator<Item = SectionId> + '_ {
        std::iter::successors(Some(section), |section| self.sections[*section].around)
    }

    /// The view of each section: the variables that it touches and that matter, of those that some section updates. Phase 1
    /// of the algorithm in Figure 5.5: what nobody updates cannot be inconsistent.
    pub(super) fn views(&self, matters: &dyn Fn(VariableId) -> bool) -> BTreeMap<SectionId, View> {
        let mut is_updated: TypedVec<VariableId, bool> =
            TypedVec::filled(false, self.variables.len());
        for ((_, variable), touched) in &self.touched {
            is_updated[*variable] |= touched.written.is_some();
        }
        for variable in self.variables.ids() {
            is_updated[variable] = is_updated[variable] && matters(variable);
        }
        let mut views: BTreeMap<SectionId, View> = BTreeMap::new();
        for ((section, variable), touched) in &self.touched {
            if is_updated[*variable] {
                let view = views.entry(*section).or_default();
                view.touch(*variable, touched.written.is_some());
            }
        }
        views
    }
}
