//! From where a lock is taken to where the next one is wanted: the calls in between.
//!
//! A context knows which locks its callers hold, but not where they took them. The callers know, one after the other.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::cycles::EdgeCondition;
use super::lock_order::EdgeInstance;
use crate::execution::{ContextId, Invocation};
use crate::heap::{ObjectId, Place};

/// Different places that a lock can be taken at on the way to one place where it is held, at most.
const MOST_HOLDERS: usize = 6;

/// Callers that are looked through for those places, at most.
const MOST_CALLERS: usize = 2_000;

/// Who calls a context.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The context.
    pub(super) context: ContextId,
    /// Where it calls.
    pub(super) place: Place,
    /// The locks that it took itself and holds at the call, with where.
    own: Vec<(ObjectId, Place)>,
}

/// Who calls whom, with the locks that are held.
#[derive(Default)]
pub(super) struct Callers {
    callers: FxHashMap<ContextId, Vec<Caller>>,
}

/// One way in which a lock is wanted while another is held, from the place where that one is taken.
#[derive(Clone, Debug)]
pub(super) struct EdgePath<'a> {
    /// The way.
    pub(super) way: &'a EdgeInstance,
    /// The context that takes the first lock.
    pub(super) holder: ContextId,
    /// Where it does.
    pub(super) held_at: Place,
    /// The calls from there to where the second is wanted; the last place is that one.
    pub(super) path: Vec<Place>,
    /// Whether the code leaves open which of several locks one of the two is.
    pub(super) is_guess: bool,
    /// What matters for the question whether it can be taken at the same time as others.
    pub(super) step: Rc<EdgeCondition>,
}

/// Where a lock is taken that is held at some place, and the calls from there.
#[derive(Clone, Debug)]
pub(super) struct Holder {
    /// The context that takes it.
    pub(super) context: ContextId,
    /// Where.
    pub(super) taken_at: Place,
    /// The calls that lead on.
    pub(super) calls: Vec<Place>,
}

impl Callers {
    /// Learns of a call.
    pub(super) fn add(&mut self, call: Invocation<'_>) {
        let own = call.held.iter().filter(|lock| lock.taken_at.method == call.place.method);
        let own = own.filter_map(|lock| Some((lock.object?, lock.taken_at))).collect();
        let caller = Caller { context: call.from, place: call.place, own };
        self.callers.entry(call.to).or_default().push(caller);
    }

    /// Who calls a context.
    pub(super) fn of(&self, context: ContextId) -> &[Caller] {
        self.callers.get(&context).map_or(&[], Vec::as_slice)
    }

    /// Where the callers of a context take a lock that they hold all the way to it; near ones first.
    pub(super) fn holders(&self, context: ContextId, lock: ObjectId) -> Vec<Holder> {
        let mut found: Vec<Holder> = Vec::new();
        let mut came_from: FxHashMap<ContextId, (ContextId, Place)> = FxHashMap::default();
        let mut todo: VecDeque<ContextId> = VecDeque::from([context]);
        while let Some(at) = todo.pop_front() {
            for caller in self.of(at) {
                if found.len() == MOST_HOLDERS || came_from.len() > MOST_CALLERS {
                    return found;
                }
                match caller.own.iter().find(|(object, _)| *object == lock) {
                    Some((_, taken_at)) => {
                        let is_known = |it: &Holder| {
                            it.taken_at == *taken_at && it.calls.first() == Some(&caller.place)
                        };
                        if !found.iter().any(is_known) {
                            let mut calls = vec![caller.place];
                            let mut below = at;
                            while let Some((next, call)) = came_from.get(&below) {
                                calls.push(*call);
                                below = *next;
                            }
                            let (context, taken_at) = (caller.context, *taken_at);
                            found.push(Holder { context, taken_at, calls });
                        }
                    }
                    None => {
                        let is_new =
                            caller.context != context && !came_from.contains_key(&caller.context);
                        if is_new {
                            came_from.insert(caller.context, (at, caller.place));
                            todo.push_back(caller.context);
                        }
                    }
                }
            }
        }
        found
    }
}
