//! Whether two accesses to one variable can come at the same time (dissertation, 4.3 and 4.4.1).
//!
//! Property: when there is a reason why they cannot, then in every execution in which what the accesses are said to
//! hold and to have waited for is true, either the two are of one thread, or a lock or an order of start, end and
//! publication lies between them. `conflict_oracle.rs` compares this with all interleavings of small programs.
//!
//! The decision is pure: it knows the accesses and asks [`ConflictFacts`] for everything else.

use crate::execution::{AccessKind, BaseReference, LockMode, Order, Relation, SyncVariable};
use crate::heap::{ObjectId, Slot, ThreadId, ThreadSet};

/// Why two accesses cannot conflict. The order is the one in which reasons are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SafetyReason {
    /// One thread at run time does both.
    OneThread,
    /// Neither writes.
    ReadOnly,
    /// The variable is volatile, atomic, or otherwise safe to touch by itself.
    Atomic,
    /// The object belongs to one thread.
    ThreadSpecific,
    /// One of them happens before the object is known to other threads (NEW-safe).
    New,
    /// One of them happens in a constructor of the very object, which does not hand it out as far as is known.
    Constructor,
    /// Both are made by threads on the very object that each was started with (intra-thread encapsulation).
    OwnRoot,
    /// One of them happens before the other's thread is started (START-safe).
    Start,
    /// One of them happens after the other's thread has ended (JOIN-safe).
    Join,
    /// One thread has published after its access, and the other has received that before its own.
    Published,
    /// Both hold one lock, of which there is one at run time.
    UniqueLock,
    /// Both hold the object itself, or what a field of it that never changes refers to.
    ObjectLock,
    /// Both hold the object that the accessed one belongs to.
    HostLock,
}

impl SafetyReason {
    /// The reason in a few words, as `scission inspect --object-use` prints it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            SafetyReason::OneThread => "one thread",
            SafetyReason::ReadOnly => "read-only",
            SafetyReason::Atomic => "atomic",
            SafetyReason::ThreadSpecific => "thread-specific",
            SafetyReason::New => "NEW-safe",
            SafetyReason::Constructor => "constructor",
            SafetyReason::OwnRoot => "intra-thread",
            SafetyReason::Start => "START-safe",
            SafetyReason::Join => "JOIN-safe",
            SafetyReason::Published => "published",
            SafetyReason::UniqueLock => "unique lock",
            SafetyReason::ObjectLock => "this-lock",
            SafetyReason::HostLock => "host-lock",
        }
    }
}

/// A lock that is held during an access; where it was taken does not matter here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AccessLock {
    /// The abstract object that is locked, where threads may share it.
    pub(super) object: Option<ObjectId>,
    /// How.
    pub(super) mode: LockMode,
    /// Whether it is the monitor of the object; a lock of the library is another lock than its monitor.
    pub(super) is_monitor: bool,
    /// How it lies to the accessed object.
    pub(super) relation: Relation,
}

/// One of two accesses to the same variable of the same object.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedAccess<'a> {
    /// Read or write.
    pub(super) kind: AccessKind,
    /// Whether the variable is safe to touch by itself.
    pub(super) is_atomic: bool,
    /// What is known of the reference.
    pub(super) base: BaseReference,
    /// Whether it happens in a constructor of the very object.
    pub(super) is_in_constructor: bool,
    /// The locks that are held.
    pub(super) guards: &'a [AccessLock],
    /// What happened before.
    pub(super) order: &'a Order,
    /// Who makes it.
    pub(super) threads: &'a ThreadSet,
}

/// Which reasons are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AcceptedReasons {
    /// What a thread does to a new object counts as done before others see the object.
    pub(super) new: bool,
    /// So does what constructors do.
    pub(super) constructors: bool,
    /// That a thread has not been started yet, or has ended, counts.
    pub(super) start_and_end: bool,
    /// Locks, atomic variables and publications count, which order accesses and still let them alternate.
    pub(super) synchronisation: bool,
}

impl AcceptedReasons {
    /// All reasons count, as far as the user does not want suspicions too.
    pub(super) fn all(is_strict: bool) -> AcceptedReasons {
        AcceptedReasons {
            new: true,
            constructors: !is_strict,
            start_and_end: true,
            synchronisation: true,
        }
    }
}

/// What must be known of threads and objects.
pub(super) trait ConflictFacts {
    /// Whether two threads at run time that belong to these abstract threads can be different ones.
    fn can_interleave(&self, one: ThreadId, other: ThreadId) -> bool;
    /// Whether there is at most one such thread.
    fn is_unique_thread(&self, thread: ThreadId) -> bool;
    /// The threads that start a thread; none if something outside the program may.
    fn starters(&self, thread: ThreadId) -> Option<&ThreadSet>;
    /// Everything that starts a thread: by whom, and what happened before.
    fn starts(&self, thread: ThreadId) -> &[StartOfThread];
    /// Whether there is one such object at run time.
    fn is_unique_object(&self, object: ObjectId) -> bool;
    /// Whether an object belongs to one thread.
    fn is_thread_specific(&self, object: ObjectId) -> bool;
    /// Whether a thread begins with the object.
    fn is_thread(&self, object: ObjectId) -> bool;
    /// Whether a constructor of the object starts a thread that knows the object.
    fn is_handed_out_in_constructor(&self, object: ObjectId) -> bool;
    /// The object that an object belongs to.
    fn host(&self, object: ObjectId) -> Option<ObjectId>;
    /// Whether what a variable refers to is the same for as long as other threads know its object.
    fn never_changes(&self, slot: Slot) -> bool;
    /// Who publishes to a variable.
    fn publishers(&self, variable: SyncVariable) -> Option<&ThreadSet>;
    /// Whether all accesses to one object at run time that are ordered by this variable are ordered by one and the
    /// same.
    fn is_one_for(&self, variable: SyncVariable, object: ObjectId) -> bool;
    /// Whether receiving from a variable waits for everybody who publishes to it: latches and barriers.
    fn waits_for_all(&self, variable: SyncVariable) -> bool;
}

/// A place that starts a thread, in one context.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StartOfThread {
    /// Who gets there.
    pub(super) by: ThreadSet,
    /// What happened before.
    pub(super) order: Order,
}

/// What is decided about two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They cannot come at the same time, or it does not matter.
    Safe(SafetyReason),
    /// They can, in these threads, the first access in the first one.
    Conflict(ThreadId, ThreadId),
}

/// Decides about two accesses to one variable of `object`; both may be the same one, made by several threads.
pub(super) fn decide(
    conflict_facts: &dyn ConflictFacts,
    accepted: AcceptedReasons,
    object: ObjectId,
    first: &ComparedAccess<'_>,
    second: &ComparedAccess<'_>,
) -> Verdict {
    match without_threads(conflict_facts, accepted, object, first, second) {
        Some(reason) => Verdict::Safe(reason),
        None => between_threads(conflict_facts, accepted, object, first, second),
    }
}

/// The reasons that do not depend on which threads make the accesses.
pub(super) fn without_threads(
    conflict_facts: &dyn ConflictFacts,
    accepted: AcceptedReasons,
    object: ObjectId,
    first: &ComparedAccess<'_>,
    second: &ComparedAccess<'_>,
) -> Option<SafetyReason> {
    let both = |fact: fn(&ComparedAccess<'_>) -> bool| fact(first) && fact(second);
    let one = |fact: fn(&ComparedAccess<'_>) -> bool| fact(first) || fact(second);
    if both(|compared_access| compared_access.kind == AccessKind::Read) {
        return Some(SafetyReason::ReadOnly);
    }
    if conflict_facts.is_thread_specific(object) {
        return Some(SafetyReason::ThreadSpecific);
    }
    if accepted.synchronisation && both(|compared_access| compared_access.is_atomic) {
        return Some(SafetyReason::Atomic);
    }
    if accepted.new && one(|compared_access| compared_access.base.is_fresh) {
        return Some(SafetyReason::New);
    }
    if both(|compared_access| compared_access.base.is_own_root) {
        return Some(SafetyReason::OwnRoot);
    }
    let is_awaited = |ended: &ComparedAccess<'_>, after: &ComparedAccess<'_>| {
        ended.base.is_own_root && after.base.is_joined
    };
    if accepted.start_and_end && (is_awaited(first, second) || is_awaited(second, first)) {
        return Some(SafetyReason::Join);
    }
    // An object that its own constructor hands to a thread is known to that thread too early.
    if accepted.constructors
        && one(|compared_access| compared_access.is_in_constructor)
        && !conflict_facts.is_handed_out_in_constructor(object)
    {
        return Some(SafetyReason::Constructor);
    }
    if accepted.synchronisation {
        return common_lock(conflict_facts, object, first.guards, second.guards);
    }
    None
}

/// Goes through the pairs of threads until two are found in which nothing orders the accesses, of different kinds if
/// there are such: threads of one kind more often have an object each.
pub(super) fn between_threads(
    conflict_facts: &dyn ConflictFacts,
    accepted: AcceptedReasons,
    object: ObjectId,
    first: &ComparedAccess<'_>,
    second: &ComparedAccess<'_>,
) -> Verdict {
    let mut reason = SafetyReason::OneThread;
    let mut of_one_kind = None;
    let before = |first, second| before(conflict_facts, accepted, object, first, second);
    for one in first.threads.iter() {
        for other in
            second.threads.iter().filter(|other| conflict_facts.can_interleave(one, *other))
        {
            let ordered = before((one, first.order), (other, second.order))
                .or_else(|| before((other, second.order), (one, first.order)));
            match ordered {
                Some(found) => reason = reason.max(found),
                None if one == other => of_one_kind = of_one_kind.or(Some(one)),
                None => return Verdict::Conflict(one, other),
            }
        }
    }
    match of_one_kind {
        Some(thread) => Verdict::Conflict(thread, thread),
        None => Verdict::Safe(reason),
    }
}

/// A lock that both hold and that is certainly one object at run time.
fn common_lock(
    conflict_facts: &dyn ConflictFacts,
    object: ObjectId,
    first: &[AccessLock],
    second: &[AccessLock],
) -> Option<SafetyReason> {
    let mut best: Option<SafetyReason> = None;
    for one in first {
        for other in second {
            if one.mode == LockMode::Shared && other.mode == LockMode::Shared {
                continue;
            }
            let found = is_one_lock(conflict_facts, object, one, other);
            best = match (best, found) {
                (Some(known), Some(found)) => Some(known.min(found)),
                (known, found) => known.or(found),
            };
        }
    }
    best
}

fn is_one_lock(
    conflict_facts: &dyn ConflictFacts,
    object: ObjectId,
    one: &AccessLock,
    other: &AccessLock,
) -> Option<SafetyReason> {
    if one.is_monitor != other.is_monitor {
        return None;
    }
    let common = one.object.filter(|lock| other.object == Some(*lock));
    if common.is_some_and(|lock| conflict_facts.is_unique_object(lock)) {
        return Some(SafetyReason::UniqueLock);
    }
    // Both accesses go to one object, so the same steps from it lead to one lock if none of them changes.
    if let (Relation::Inside(steps), Relation::Inside(others)) = (&one.relation, &other.relation)
        && steps == others
        && steps.iter().all(|slot| conflict_facts.never_changes(*slot))
    {
        return Some(SafetyReason::ObjectLock);
    }
    // The lock of another host guards nothing of this one.
    if one.relation == Relation::Apart || other.relation == Relation::Apart {
        return None;
    }
    // An object has one host, and the host may have one in turn.
    let mut at = object;
    for _ in 0..MOST_HOSTS {
        let host = conflict_facts.host(at)?;
        if common == Some(host) {
            return Some(SafetyReason::HostLock);
        }
        at = host;
    }
    None
}

/// Hosts of hosts are followed so far. Hosts form no circle at run time, but abstract objects may.
const MOST_HOSTS: usize = 4;

/// Why everything that `first` does at its access comes before everything that `second` does at its own, if it does.
fn before(
    conflict_facts: &dyn ConflictFacts,
    accepted: AcceptedReasons,
    object: ObjectId,
    first: (ThreadId, &Order),
    second: (ThreadId, &Order),
) -> Option<SafetyReason> {
    let ((one, earlier), (other, later)) = (first, second);
    if !accepted.start_and_end {
        return None;
    }
    // Before START (4.3.4): nobody has started the other thread yet, and nobody else can.
    let is_not_started =
        earlier.may_have_started.as_ref().is_some_and(|started| !started.contains(other));
    if conflict_facts.is_unique_thread(one)
        && is_not_started
        && starts_below(conflict_facts, other, one)
    {
        return Some(SafetyReason::Start);
    }
    // After JOIN (4.3.5), or started by one that has waited for the end.
    if has_ended(conflict_facts, one, other, later) {
        return Some(SafetyReason::Join);
    }
    let starts = conflict_facts.starts(other);
    let starter_has_waited = |start: &StartOfThread| {
        !start.by.is_empty()
            && start.by.iter().all(|starter| has_ended(conflict_facts, one, starter, &start.order))
    };
    if conflict_facts.starters(other).is_some()
        && !starts.is_empty()
        && starts.iter().all(starter_has_waited)
    {
        return Some(SafetyReason::Join);
    }
    if !accepted.synchronisation {
        return None;
    }
    let through_starters = || {
        let (first, others) = starts.split_first()?;
        let everywhere = |variable: &&SyncVariable| {
            others.iter().all(|start| start.order.has_received.contains(variable))
        };
        Some(first.order.has_received.iter().filter(everywhere))
    };
    let mut received = later.has_received.iter().chain(through_starters().into_iter().flatten());
    received
        .any(|variable| {
            conflict_facts.is_one_for(*variable, object)
                && is_published(conflict_facts, *variable, one, earlier)
        })
        .then_some(SafetyReason::Published)
}

/// Whether a thread is started only by `root`, or by threads that are.
fn starts_below(conflict_facts: &dyn ConflictFacts, thread: ThreadId, root: ThreadId) -> bool {
    starts_only_by(conflict_facts, thread, |starter| starter == root)
}

/// Whether all instances of `thread` have ended, for good, when `other` gets to a point. Nobody may be left who could
/// start one more: only the waiting thread itself, of which there is one, or threads that have ended too.
fn has_ended(
    conflict_facts: &dyn ConflictFacts,
    thread: ThreadId,
    other: ThreadId,
    order: &Order,
) -> bool {
    order.has_joined.contains(thread)
        && conflict_facts.is_unique_thread(other)
        && all_starters(conflict_facts, thread, |starter| starter == other).is_some_and(|others| {
            others.iter().all(|starter| starter == thread || order.has_joined.contains(starter))
        })
}

fn starts_only_by(
    conflict_facts: &dyn ConflictFacts,
    thread: ThreadId,
    is_root: impl Fn(ThreadId) -> bool,
) -> bool {
    all_starters(conflict_facts, thread, is_root).is_some()
}

/// Who starts a thread, and who starts those, roots left out; none if something unknown does, or nothing.
fn all_starters(
    conflict_facts: &dyn ConflictFacts,
    thread: ThreadId,
    is_root: impl Fn(ThreadId) -> bool,
) -> Option<ThreadSet> {
    let mut seen = ThreadSet::default();
    let mut open = vec![thread];
    while let Some(thread) = open.pop() {
        let starters = conflict_facts.starters(thread).filter(|starters| !starters.is_empty())?;
        for starter in starters.iter().filter(|starter| !is_root(*starter)) {
            if seen.insert(starter) {
                open.push(starter);
            }
        }
    }
    Some(seen)
}

/// Whether who has received from a variable certainly comes after an access that `thread` made at this point. With one
/// publisher, what was received was published after the access; a latch or barrier waits for all of them.
fn is_published(
    conflict_facts: &dyn ConflictFacts,
    variable: SyncVariable,
    thread: ThreadId,
    at: &Order,
) -> bool {
    let Some(publishers) = conflict_facts.publishers(variable) else { return false };
    let is_alone = || {
        conflict_facts.is_unique_thread(thread)
            && publishers.iter().all(|publisher| publisher == thread)
    };
    publishers.contains(thread)
        && !at.may_have_published.may_contain(&variable)
        && (conflict_facts.waits_for_all(variable) || is_alone())
}
