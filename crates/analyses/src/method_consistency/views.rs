//! Lock views: which variables are read and updated in the scope of each acquisition of a lock (dissertation, 5.2.1).
//!
//! A section is an acquisition with the locks that are held around it. Sections at one place that hold the same locks
//! are one: where they were called from makes no difference to what they protect.
//!
//! What a called method touches belongs to the sections of all who call it with a lock held. A context knows which
//! locks its callers hold, but not where they took them: what it touches under such a lock is propagated to its
//! callers, from context to context, to those that did.

use std::collections::{BTreeMap, BTreeSet};

use program::ids::TypedVec;
use program::interner::Interner;
use program::summaries;
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

/// Variables that are propagated from a context to its callers, at most. A section that touches more of them in the
/// methods it calls is no operation, and need not be known in full.
const MOST_VARIABLES: usize = 96;

/// An acquisition of a lock, with the locks around it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Section {
    /// The object that is locked.
    pub(super) object: ObjectId,
    /// The lock.
    pub(super) lock: HeldLock,
    /// The objects whose locks are held around it, outermost first.
    pub(super) around: Vec<ObjectId>,
}

/// Where a section is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct SectionEntry {
    /// In which context.
    pub(super) context: ContextId,
    /// Where.
    pub(super) place: Place,
    /// What happened before.
    pub(super) order: OrderId,
}

/// Where a section touches a variable: one place of each kind, the first in the order of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SectionAccesses {
    /// Where it reads.
    pub(super) read: Option<(Place, ContextId)>,
    /// Where it writes.
    pub(super) written: Option<(Place, ContextId)>,
}

impl SectionAccesses {
    fn note(&mut self, kind: AccessKind, place: (Place, ContextId)) {
        let known = match kind {
            AccessKind::Read => &mut self.read,
            AccessKind::Write => &mut self.written,
        };
        *known = Some(known.map_or(place, |known| known.min(place)));
    }

    /// Adds what another place does that was not done yet; returns whether there is any.
    fn extend(&mut self, other: &SectionAccesses) -> bool {
        let is_new = (self.read.is_none() && other.read.is_some())
            || (self.written.is_none() && other.written.is_some());
        self.read = self.read.or(other.read);
        self.written = self.written.or(other.written);
        is_new
    }
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Who calls.
    pub(super) from: ContextId,
    /// Where.
    pub(super) place: Place,
    /// Who is called.
    pub(super) to: ContextId,
}

/// What a context touches under a lock that a caller took.
type Inherited = BTreeMap<(ContextId, ObjectId), BTreeMap<VariableId, SectionAccesses>>;

/// Everything that is remembered of the execution.
#[derive(Default)]
pub(super) struct Views {
    pub(super) sections: Interner<SectionId, Section>,
    pub(super) variables: Interner<VariableId, (ObjectId, Slot)>,
    touched: FxHashMap<(SectionId, VariableId), SectionAccesses>,
    inherited: Inherited,
    /// The calls that are made in a section.
    called_in: BTreeSet<(SectionId, ContextId)>,
    /// The calls that are made under a lock that a caller took: who calls, which lock, who is called.
    passed_on: BTreeSet<(ContextId, ObjectId, ContextId)>,
    entered: FxHashMap<SectionId, BTreeSet<SectionEntry>>,
    /// The locks that are held at calls and acquisitions, by context and offset.
    held_at: FxHashMap<(ContextId, u32), Vec<HeldLock>>,
    pub(super) orders: Interner<OrderId, Order>,
    /// All calls.
    pub(super) calls: Vec<Call>,
    /// Who waits, and which lock is given back meanwhile.
    pub(super) waits: Vec<(ContextId, Option<ObjectId>)>,
}

impl Views {
    /// Learns that a variable is touched. What is touched without a lock belongs to no section.
    pub(super) fn access(&mut self, access: &Access<'_>) {
        // A volatile field is not meant to be guarded. The contents of a collection may be safe for who does not
        // lock, and belong to the sections of who does.
        let is_volatile = access.is_atomic && matches!(access.slot, Slot::Field(_));
        if access.locks.is_empty()
            || is_volatile
            || access.is_in_constructor
            || access.base.is_fresh
        {
            return;
        }
        let variable = self.variable(access.object, access.slot);
        let place = (access.place, access.context);
        let mut around = Vec::new();
        for (lock, _) in access.locks {
            let Some(object) = lock.object else { continue };
            let touched = if lock.taken_at.method == access.place.method {
                let section = self.section(object, lock, &around);
                self.touched.entry((section, variable)).or_default()
            } else {
                let of_context = self.inherited.entry((access.context, object)).or_default();
                of_context.entry(variable).or_default()
            };
            touched.note(access.kind, place);
            around.push(object);
        }
    }

    /// Learns that a lock is taken.
    pub(super) fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        let Some(object) = acquisition.lock.object else { return };
        let around: Vec<ObjectId> =
            acquisition.held.iter().filter_map(|lock| lock.object).collect();
        let section = self.section(object, acquisition.lock, &around);
        let order = self.orders.intern_copy(acquisition.order);
        let (context, place) = (acquisition.context, acquisition.place);
        self.entered.entry(section).or_default().insert(SectionEntry { context, place, order });
        self.note_held(context, place, acquisition.held);
    }

    /// Learns of a call.
    pub(super) fn invocation(&mut self, call: Invocation<'_>) {
        self.calls.push(Call { from: call.from, place: call.place, to: call.to });
        self.note_held(call.from, call.place, call.held);
        let mut around = Vec::new();
        for lock in call.held {
            let Some(object) = lock.object else { continue };
            if lock.taken_at.method == call.place.method {
                let section = self.section(object, lock, &around);
                self.called_in.insert((section, call.to));
            } else {
                self.passed_on.insert((call.from, object, call.to));
            }
            around.push(object);
        }
    }

    fn note_held(&mut self, context: ContextId, place: Place, held: &[HeldLock]) {
        if !held.is_empty() {
            self.held_at.entry((context, place.offset)).or_insert_with(|| held.to_vec());
        }
    }

    /// The locks that are held at two places of a context, and not given back in between.
    pub(super) fn held_from_to(
        &self,
        context: ContextId,
        first: u32,
        second: u32,
    ) -> Vec<ObjectId> {
        let at = |offset: u32| self.held_at.get(&(context, offset)).map_or(&[][..], Vec::as_slice);
        let kept = at(first).iter().filter(|lock| at(second).contains(lock));
        kept.filter_map(|lock| lock.object).collect()
    }

    /// Adds what contexts touch under the locks of their callers to the sections of the callers that took them.
    /// Contexts that call each other touch the same, and are looked at together, those that they call first.
    pub(super) fn propagate_to_callers(&mut self, matters: &dyn Fn(VariableId) -> bool) {
        type Node = (ContextId, ObjectId);
        let passed = self.passed_on.iter();
        let ends = passed.flat_map(|(from, object, to)| [(*from, *object), (*to, *object)]);
        let nodes: BTreeSet<Node> = ends.chain(self.inherited.keys().copied()).collect();
        let nodes: Vec<Node> = nodes.into_iter().collect();
        let position = |node: &Node| nodes.binary_search(node).ok();
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (from, object, to) in &self.passed_on {
            if let (Some(from), Some(to)) = (position(&(*from, *object)), position(&(*to, *object)))
            {
                callees[from].push(to);
            }
        }
        // What each node touches is kept once for its component.
        let mut component: Vec<usize> = vec![0; nodes.len()];
        let mut touched: Vec<BTreeMap<VariableId, SectionAccesses>> = Vec::new();
        for members in summaries::components(&callees) {
            let mut sum: BTreeMap<VariableId, SectionAccesses> = BTreeMap::new();
            for node in &members {
                component[*node] = touched.len();
            }
            for node in &members {
                let own = self.inherited.get(&nodes[*node]);
                let below =
                    callees[*node].iter().filter_map(|callee| touched.get(component[*callee]));
                for part in own.into_iter().chain(below) {
                    for (variable, place) in part.iter().filter(|(it, _)| matters(**it)) {
                        if sum.len() < MOST_VARIABLES || sum.contains_key(variable) {
                            sum.entry(*variable).or_default().extend(place);
                        }
                    }
                }
            }
            touched.push(sum);
        }
        for (section, callee) in &self.called_in {
            let Some(node) = position(&(*callee, self.sections[*section].object)) else { continue };
            for (variable, touched) in &touched[component[node]] {
                self.touched.entry((*section, *variable)).or_default().extend(touched);
            }
        }
    }

    /// Learns of a wait.
    pub(super) fn signal(&mut self, signal: &Signal<'_>) {
        match signal.kind {
            SignalKind::Wait { .. } => self.waits.push((signal.context, signal.lock)),
            SignalKind::Notify => {}
        }
    }

    /// The section that a lock opens.
    fn section(&mut self, object: ObjectId, lock: &HeldLock, around: &[ObjectId]) -> SectionId {
        let section = Section { object, lock: lock.clone(), around: around.to_vec() };
        self.sections.intern(section)
    }

    fn variable(&mut self, object: ObjectId, slot: Slot) -> VariableId {
        self.variables.intern((object, slot))
    }

    /// Where a section is entered, in a fixed order.
    pub(super) fn entered(
        &self,
        section: SectionId,
    ) -> impl DoubleEndedIterator<Item = &SectionEntry> {
        self.entered.get(&section).into_iter().flatten()
    }

    /// Where a section touches a variable.
    pub(super) fn touched(&self, section: SectionId, variable: VariableId) -> SectionAccesses {
        self.touched.get(&(section, variable)).copied().unwrap_or_default()
    }

    /// The variables that some section updates, and that can be inconsistent (phase 1 of the algorithm in Figure 5.5).
    pub(super) fn updated(
        &self,
        can_be: &dyn Fn(VariableId) -> bool,
    ) -> TypedVec<VariableId, bool> {
        let mut is_updated: TypedVec<VariableId, bool> =
            TypedVec::filled(false, self.variables.len());
        for ((_, variable), touched) in &self.touched {
            is_updated[*variable] |= touched.written.is_some();
        }
        for (variable, touched) in self.inherited.values().flatten() {
            is_updated[*variable] |= touched.written.is_some();
        }
        for variable in self.variables.ids() {
            is_updated[variable] = is_updated[variable] && can_be(variable);
        }
        is_updated
    }

    /// The view of each section: the variables that it touches and that matter.
    pub(super) fn views(&self, matters: &dyn Fn(VariableId) -> bool) -> BTreeMap<SectionId, View> {
        let mut views: BTreeMap<SectionId, View> = BTreeMap::new();
        for ((section, variable), touched) in &self.touched {
            if matters(*variable) {
                let view = views.entry(*section).or_default();
                view.touch(*variable, touched.written.is_some());
            }
        }
        views
    }
}
