//! Method views: which sections each context enters, itself or through calls (dissertation, 5.2.1).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use program::ids::TypedVec;
use rustc_hash::{FxHashMap, FxHashSet};

use super::views::{SectionId, Views};
use crate::execution::{ContextId, ExecutionFacts};
use crate::heap::Place;

/// Sections of one context, at most. A method that does more is an application, not an operation: nobody means
/// it to be atomic.
const MOST_SECTIONS: usize = 48;

/// The sections that each context enters.
pub(super) struct Scopes {
    /// All sections, sorted; none where there are too many.
    inside: TypedVec<ContextId, Option<Vec<SectionId>>>,
    /// Those that it enters itself, by offset.
    direct: FxHashMap<ContextId, Vec<(u32, SectionId)>>,
    /// What it calls, and where.
    callees: FxHashMap<ContextId, Vec<(Place, ContextId)>>,
    callers: FxHashMap<ContextId, Vec<ContextId>>,
}

impl Scopes {
    /// The scopes of the sections that matter. Where locks were forgotten, a section may be entered with its lock held
    /// already, and is none.
    pub(super) fn of(
        execution: &ExecutionFacts<'_>,
        views: &Views,
        matter: impl Iterator<Item = SectionId>,
    ) -> Scopes {
        let mut scopes = Scopes {
            inside: TypedVec::filled(Some(Vec::new()), execution.methods.len()),
            direct: FxHashMap::default(),
            callees: FxHashMap::default(),
            callers: FxHashMap::default(),
        };
        let mut grown: BTreeSet<ContextId> = BTreeSet::new();
        for section in matter {
            for entered in views.entered(section).filter(|it| !execution.unknown_locks[it.context])
            {
                let direct = scopes.direct.entry(entered.context).or_default();
                direct.push((entered.place.offset, section));
                if let Some(inside) = &mut scopes.inside[entered.context] {
                    inside.push(section);
                    grown.insert(entered.context);
                }
            }
        }
        for context in &grown {
            if let Some(inside) = &mut scopes.inside[*context] {
                inside.sort_unstable();
                inside.dedup();
            }
        }
        for call in &views.calls {
            scopes.callers.entry(call.to).or_default().push(call.from);
        }
        for callers in scopes.callers.values_mut() {
            callers.sort_unstable();
            callers.dedup();
        }
        scopes.propagate(grown, execution.context.cancelled);
        for call in &views.calls {
            if scopes.inside[call.to].as_ref().is_none_or(|inside| !inside.is_empty()) {
                let callees = scopes.callees.entry(call.from).or_default();
                callees.push((call.place, call.to));
            }
        }
        scopes
    }

    /// Callers enter what their callees enter, until nothing changes.
    fn propagate(&mut self, mut grown: BTreeSet<ContextId>, cancelled: &dyn Fn() -> bool) {
        while let Some(context) = grown.pop_last() {
            if cancelled() {
                break;
            }
            let Some(callers) = self.callers.get(&context) else { continue };
            let inside = self.inside[context].clone();
            for caller in callers {
                let has_grown = match (&mut self.inside[*caller], &inside) {
                    (None, _) => false,
                    (known, None) => {
                        *known = None;
                        true
                    }
                    (Some(known), Some(inside)) => {
                        let is_known =
                            inside.iter().all(|section| known.binary_search(section).is_ok());
                        if !is_known {
                            known.extend(inside);
                            known.sort_unstable();
                            known.dedup();
                        }
                        let has_grown = !is_known;
                        if known.len() > MOST_SECTIONS {
                            self.inside[*caller] = None;
                        }
                        has_grown
                    }
                };
                if has_grown {
                    grown.insert(*caller);
                }
            }
        }
    }

    /// The sections that a context enters; nothing where there are too many.
    pub(super) fn inside(&self, context: ContextId) -> &[SectionId] {
        self.inside[context].as_deref().unwrap_or_default()
    }

    /// The contexts that enter at least two sections, or one twice, but not too many.
    pub(super) fn candidates(&self) -> impl Iterator<Item = ContextId> + '_ {
        self.inside.iter_with_ids().filter_map(|(context, inside)| {
            inside.as_ref().is_some_and(|inside| !inside.is_empty()).then_some(context)
        })
    }

    /// What a context enters, by the offset of the call or of the acquisition itself.
    pub(super) fn by_offset(&self, context: ContextId) -> BTreeMap<u32, BTreeSet<SectionId>> {
        let mut found: BTreeMap<u32, BTreeSet<SectionId>> = BTreeMap::new();
        for (offset, section) in self.direct.get(&context).into_iter().flatten() {
            found.entry(*offset).or_default().insert(*section);
        }
        for (call, callee) in self.callees.get(&context).into_iter().flatten() {
            found.entry(call.offset).or_default().extend(self.inside(*callee));
        }
        found
    }

    /// The contexts that a context leads to by the call at an offset, as far as they enter sections; and the context
    /// itself, which may enter one there.
    pub(super) fn and_below(&self, context: ContextId, offset: u32) -> FxHashSet<ContextId> {
        let mut found = FxHashSet::from_iter([context]);
        let calls = self.callees.get(&context).into_iter().flatten();
        let mut todo: Vec<ContextId> =
            calls.filter(|(call, _)| call.offset == offset).map(|(_, callee)| *callee).collect();
        while let Some(context) = todo.pop() {
            if found.insert(context) {
                let calls = self.callees.get(&context).into_iter().flatten();
                todo.extend(calls.map(|(_, callee)| *callee));
            }
        }
        found
    }

    /// The contexts that lead to one, itself included.
    pub(super) fn and_above(&self, context: ContextId) -> FxHashSet<ContextId> {
        let mut found = FxHashSet::from_iter([context]);
        let mut todo = vec![context];
        while let Some(context) = todo.pop() {
            for caller in self.callers.get(&context).into_iter().flatten() {
                if found.insert(*caller) {
                    todo.push(*caller);
                }
            }
        }
        found
    }

    /// The nearest contexts above one that are wanted; itself if it is.
    pub(super) fn nearest_above(
        &self,
        context: ContextId,
        is_wanted: impl Fn(ContextId) -> bool,
    ) -> BTreeSet<ContextId> {
        let mut found = BTreeSet::new();
        let mut seen = FxHashSet::from_iter([context]);
        let mut todo = vec![context];
        while let Some(context) = todo.pop() {
            if is_wanted(context) {
                found.insert(context);
                continue;
            }
            for caller in self.callers.get(&context).into_iter().flatten() {
                if seen.insert(*caller) {
                    todo.push(*caller);
                }
            }
        }
        found
    }

    /// The calls from an offset of a context down to where a section is entered, each with the context that makes it.
    /// The last place is that of the acquisition.
    pub(super) fn path(
        &self,
        views: &Views,
        from: (ContextId, Place),
        section: SectionId,
    ) -> Option<Vec<(ContextId, Place)>> {
        let entered: BTreeMap<ContextId, Place> =
            views.entered(section).rev().map(|at| (at.context, at.place)).collect();
        let (context, place) = from;
        let is_direct = self
            .direct
            .get(&context)
            .is_some_and(|direct| direct.contains(&(place.offset, section)));
        if is_direct {
            return Some(vec![(context, place)]);
        }
        // Breadth first, so that the shortest chain of calls is reported.
        let mut came_from: FxHashMap<ContextId, (ContextId, Place)> = FxHashMap::default();
        let mut todo = VecDeque::new();
        for (call, callee) in self.callees.get(&context).into_iter().flatten() {
            if *call == place && !came_from.contains_key(callee) {
                came_from.insert(*callee, (context, place));
                todo.push_back(*callee);
            }
        }
        while let Some(at) = todo.pop_front() {
            if let Some(acquired) = entered.get(&at) {
                let mut path = vec![(at, *acquired)];
                let mut below = at;
                while let Some((above, call)) = came_from.get(&below) {
                    path.push((*above, *call));
                    below = *above;
                    if (*above, *call) == from {
                        break;
                    }
                }
                path.reverse();
                return Some(path);
            }
            for (call, callee) in self.callees.get(&at).into_iter().flatten() {
                if !came_from.contains_key(callee) {
                    came_from.insert(*callee, (at, *call));
                    todo.push_back(*callee);
                }
            }
        }
        None
    }
}
