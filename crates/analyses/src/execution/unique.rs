//! Which abstract objects and threads stand for one at run time (dissertation, 3.4.4 and Figure 3.10), and what else
//! follows from who calls whom.
//!
//! Property: an object that is marked unique is allocated at most once, as far as the contexts show: by one
//! thread that runs once, at one statement outside of loops, along calls outside of loops and recursion.
//!
//! May take an object for unique that library code allocates too, where the heap shape graph takes both for
//! one.
//!
//! Deviations. 1. The dissertation counts while it executes, and adjusts the counters where a context is
//! reused. Here the number of runs of each context is found afterwards: one, or many. 2. A thread is unique
//! if it is started once; the contexts of its starters show that. 3. Objects of which no allocation is seen are
//! not unique, classes aside.

use program::ids::{Id, TypedVec};

use super::event::ContextId;
use crate::heap::{self, Heap, ObjectId, Place, ThreadId, ThreadKind, ThreadSet};

/// A call from one context to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRecord {
    pub(super) from: ContextId,
    pub(super) to: ContextId,
    /// Whether one run of the caller may make the call more than once.
    pub(super) is_repeated: bool,
}

/// Threads are started in a context.
#[derive(Clone, Debug)]
pub(super) struct StartRecord {
    pub(super) context: ContextId,
    pub(super) threads: ThreadSet,
    pub(super) is_repeated: bool,
}

/// An object is made in a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllocationRecord {
    pub(super) context: ContextId,
    pub(super) place: Place,
    pub(super) object: ObjectId,
    pub(super) is_repeated: bool,
}

/// What the execution records for this.
#[derive(Default)]
pub(super) struct ExecutionRecord {
    /// The contexts that threads begin with.
    pub(super) entries: Vec<(ThreadId, ContextId)>,
    pub(super) calls: Vec<CallRecord>,
    pub(super) starts: Vec<StartRecord>,
    pub(super) allocations: Vec<AllocationRecord>,
    /// Objects that are allocated in contexts that were not looked at.
    pub(super) unseen_allocations: Vec<ObjectId>,
    /// Contexts that were entered without all the locks that are held.
    pub(super) unknown_locks: Vec<ContextId>,
}

/// The calls by caller.
struct CallsByCaller {
    first: Vec<usize>,
    calls: Vec<(ContextId, bool)>,
}

impl CallsByCaller {
    fn of(record: &ExecutionRecord, contexts: usize) -> CallsByCaller {
        let mut first = vec![0; contexts + 1];
        for call in &record.calls {
            first[call.from.index() + 1] += 1;
        }
        for at in 0..contexts {
            first[at + 1] += first[at];
        }
        let mut next = first.clone();
        let mut calls = vec![(ContextId::new(0), false); record.calls.len()];
        for call in &record.calls {
            let at = &mut next[call.from.index()];
            calls[*at] = (call.to, call.is_repeated);
            *at += 1;
        }
        CallsByCaller { first, calls }
    }

    fn from(&self, context: ContextId) -> &[(ContextId, bool)] {
        &self.calls[self.first[context.index()]..self.first[context.index() + 1]]
    }
}

/// Which abstract threads get to each context.
pub(super) fn threads(record: &ExecutionRecord, contexts: usize) -> TypedVec<ContextId, ThreadSet> {
    let mut threads: Vec<ThreadSet> = vec![ThreadSet::default(); contexts];
    for (thread, context) in &record.entries {
        threads[context.index()].insert(*thread);
    }
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); contexts];
    for call in &record.calls {
        callees[call.from.index()].push(call.to.index());
    }
    TypedVec::from(heap::propagate_thread_sets(&callees, threads))
}

/// The contexts in which not all held locks are known: what is unknown in a caller is unknown in all that it calls.
pub(super) fn unknown_locks(
    record: &ExecutionRecord,
    contexts: usize,
) -> TypedVec<ContextId, bool> {
    let outgoing = CallsByCaller::of(record, contexts);
    let mut forgot: TypedVec<ContextId, bool> = TypedVec::filled(false, contexts);
    let mut todo = record.unknown_locks.clone();
    while let Some(context) = todo.pop() {
        if !std::mem::replace(&mut forgot[context], true) {
            todo.extend(outgoing.from(context).iter().map(|(to, _)| *to));
        }
    }
    forgot
}

/// What runs or is made once, and what more often.
pub(super) struct Counts {
    pub(super) objects: TypedVec<ObjectId, u32>,
    pub(super) threads: TypedVec<ThreadId, u32>,
}

/// Counts no further than this.
const MANY: u32 = 2;

/// How often something happens that happens in a context that runs so often.
fn times(runs: u32, is_repeated: bool) -> u32 {
    if is_repeated && runs > 0 { MANY } else { runs.min(MANY) }
}

/// Counts runs and allocations, up to many.
pub(super) fn count(heap: &Heap, record: &ExecutionRecord, contexts: usize) -> Counts {
    let outgoing = CallsByCaller::of(record, contexts);
    let mut runs: TypedVec<ContextId, u32> = TypedVec::filled(0, contexts);
    // Each call, start and entry has added this much to what it leads to; what it adds can only grow.
    let mut started: TypedVec<ThreadId, u32> = TypedVec::filled(0, heap.threads.len());
    let mut starts_of: Vec<Vec<usize>> = vec![Vec::new(); contexts];
    for (at, start) in record.starts.iter().enumerate() {
        starts_of[start.context.index()].push(at);
    }
    let mut entries_of: Vec<Vec<ContextId>> = vec![Vec::new(); heap.threads.len()];
    for (thread, context) in &record.entries {
        entries_of[thread.index()].push(*context);
    }
    let mut todo: Vec<(ContextId, u32)> = Vec::new();
    for (id, thread) in heap.threads.iter_with_ids() {
        let runs = match thread.kind {
            ThreadKind::Main | ThreadKind::Init => 1,
            ThreadKind::Entry(_) | ThreadKind::Client | ThreadKind::Public => MANY,
            ThreadKind::Run => continue,
        };
        started[id] = runs;
        todo.extend(entries_of[id.index()].iter().map(|context| (*context, runs)));
    }
    todo.reverse();
    while let Some((context, more)) = todo.pop() {
        let before = runs[context];
        let after = (before + more).min(MANY);
        if before == after {
            continue;
        }
        runs[context] = after;
        for (to, is_repeated) in outgoing.from(context) {
            let more = times(after, *is_repeated) - times(before, *is_repeated);
            if more > 0 {
                todo.push((*to, more));
            }
        }
        for start in &starts_of[context.index()] {
            let start = &record.starts[*start];
            let more = times(after, start.is_repeated) - times(before, start.is_repeated);
            for thread in start.threads.iter().filter(|_| more > 0) {
                let known = started[thread];
                started[thread] = (known + more).min(MANY);
                let more = started[thread] - known;
                if more > 0 {
                    let entries = entries_of[thread.index()].iter();
                    todo.extend(entries.map(|context| (*context, more)));
                }
            }
        }
    }
    let mut objects: TypedVec<ObjectId, u32> = TypedVec::filled(0, heap.objects.len());
    for allocations in &record.allocations {
        let more = times(runs[allocations.context], allocations.is_repeated);
        objects[allocations.object] = (objects[allocations.object] + more).min(MANY);
    }
    for object in &record.unseen_allocations {
        objects[*object] = MANY;
    }
    Counts { objects, threads: started }
}
