//! What the symbolic execution reports to its listeners: abstract events on objects that threads may share.

use program::MethodId;

use crate::heap::{Heap, ObjectId, Place, Slot, ThreadId, ThreadKind, ThreadSet};

program::typed_ids! {
    /// A method in one context: what its parameters are, which locks are held, and what has happened before.
    ContextId "context";
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    /// By one thread at a time.
    Exclusive,
    /// By any number of readers.
    Shared,
}

/// The relation of a held lock to the object that is accessed. It shows that two accesses to one object are made
/// under one lock although nobody knows which of many it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The lock is what these slots of the accessed object lead to; without any, the object itself.
    Inside(Vec<Slot>),
    /// The accessed object is what these slots (at least one) of the locked object lead to.
    Around(Vec<Slot>),
    /// Both have names here, and the object is not on a way that begins at the lock.
    Apart,
    /// Not known.
    Unknown,
}

/// A lock that is held. Re-entrant acquisitions are not listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeldLock {
    /// The abstract object that is locked; for a lock with several views (read-write locks) the lock they belong to.
    /// None where only the thread itself knows the lock.
    pub object: Option<ObjectId>,
    /// How it is held.
    pub mode: LockMode,
    /// Where it was taken; if a caller took it, one of the places where callers do.
    pub taken_at: Place,
}

/// A variable that orders threads when it is written and then read: a volatile field, a latch, a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SyncVariable {
    /// The object.
    pub object: ObjectId,
    /// The volatile field; none for library objects, which synchronise as a whole.
    pub slot: Option<Slot>,
}

/// What may have been published to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Published<T> {
    /// These variables at most, sorted.
    These(Vec<T>),
    /// Any variable.
    Anything,
}

/// Variables that are distinguished, at most. Whoever publishes to more, in a large part of a large program, orders
/// nothing by that.
const MOST_PUBLISHED: usize = 64;

impl<T> Default for Published<T> {
    fn default() -> Published<T> {
        Published::These(Vec::new())
    }
}

impl<T: Ord + Copy> Published<T> {
    /// Whether a variable may be among them.
    #[must_use]
    pub fn may_contain(&self, variable: &T) -> bool {
        match self {
            Published::These(these) => these.binary_search(variable).is_ok(),
            Published::Anything => true,
        }
    }

    /// Whether it is certain that nothing was published.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Published::These(these) => these.is_empty(),
            Published::Anything => false,
        }
    }

    /// Adds a variable; says whether that changes anything.
    pub fn insert(&mut self, variable: T) -> bool {
        let Published::These(these) = self else { return false };
        let Err(at) = these.binary_search(&variable) else { return false };
        if these.len() == MOST_PUBLISHED {
            *self = Published::Anything;
        } else {
            these.insert(at, variable);
        }
        true
    }

    /// Adds what else may have been published; says whether that changes anything.
    pub fn extend(&mut self, other: &Published<T>) -> bool {
        self.extend_by(other, |one| Some(*one))
    }

    /// Adds what else may have been published, as far as it has a name here; says whether that changes anything.
    pub fn extend_by<U>(&mut self, other: &Published<U>, name: impl Fn(&U) -> Option<T>) -> bool {
        match (&mut *self, other) {
            (Published::Anything, _) => false,
            (Published::These(_), Published::Anything) => {
                *self = Published::Anything;
                true
            }
            (Published::These(_), Published::These(others)) => {
                let named = others.iter().filter_map(name);
                named.fold(false, |has_grown, one| self.insert(one) | has_grown)
            }
        }
    }
}

/// What is known to have happened before a point, and what may have, in the thread that gets there. All sets are
/// about the one thread; what its own starter did is found through the places where it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order {
    /// The threads that this thread, or one that it started, may have started before; none if all may run already.
    pub may_have_started: Option<ThreadSet>,
    /// The threads of which all instances have certainly ended.
    pub has_joined: ThreadSet,
    /// What this thread may have published to before.
    pub may_have_published: Published<SyncVariable>,
    /// What this thread has certainly received from, sorted.
    pub has_received: Vec<SyncVariable>,
}

impl Order {
    /// Whether threads of this kind may run while a thread is at this point: some may have been started before, and
    /// not all have ended. What the program does not start itself may run at any time.
    #[must_use]
    pub fn may_run_concurrently(&self, heap: &Heap, thread: ThreadId) -> bool {
        let is_started = heap.threads[thread].kind == ThreadKind::Run;
        let may_have_begun =
            self.may_have_started.as_ref().is_none_or(|started| started.contains(thread));
        !self.has_joined.contains(thread) && (may_have_begun || !is_started)
    }
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// What is known of the reference that an access goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct BaseReference {
    /// It is `this` of the method at hand.
    pub is_this: bool,
    /// The object is new, and no other thread knows it yet (NEW-safe).
    pub is_fresh: bool,
    /// The thread has taken the object out of a collection, and not given it back: it has the object alone if everybody
    /// keeps to that.
    pub is_taken_out: bool,
    /// It is the very object that the current thread was started with, and no other thread runs it.
    pub is_own_root: bool,
    /// It is the very object that the current thread was started with; whether others run it is not known.
    pub is_perhaps_own_root: bool,
    /// It is a thread or task whose end the current thread has waited for.
    pub is_joined: bool,
}

/// An access to a variable of an object that threads may share.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    /// In which context.
    pub context: ContextId,
    /// Where.
    pub place: Place,
    /// To which object.
    pub object: ObjectId,
    /// To which variable of it.
    pub slot: Slot,
    /// Read or write.
    pub kind: AccessKind,
    /// Whether the variable is volatile, atomic, or otherwise safe to touch by itself: it never races.
    pub is_atomic: bool,
    /// What is known of the reference.
    pub base: BaseReference,
    /// The locks that are held, outermost first, each with its relation to the object.
    pub locks: &'a [(HeldLock, Relation)],
    /// What happened before.
    pub order: &'a Order,
    /// The shared object, if any, that is written into the variable, or read from it.
    pub value: Option<ObjectId>,
    /// Whether the value that is written is an object that no other thread knows yet.
    pub value_is_fresh: bool,
    /// Whether this happens in a constructor (or a method that only constructors call) of the very object.
    pub is_in_constructor: bool,
}

/// A lock is taken that was not held.
#[derive(Clone, Debug)]
pub struct Acquisition<'a> {
    /// In which context.
    pub context: ContextId,
    /// Where.
    pub place: Place,
    /// Which lock.
    pub lock: &'a HeldLock,
    /// The locks that are held already, outermost first.
    pub held: &'a [HeldLock],
    /// Whether the same abstract object is among the held ones, and this may be another instance of it: not known to be
    /// re-entrant.
    pub is_other_instance: bool,
    /// Whether the acquisition gives up after a while, or at once.
    pub gives_up: bool,
    /// What happened before.
    pub order: &'a Order,
}

/// An object that threads may share is allocated.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// In which context.
    pub context: ContextId,
    /// Where.
    pub place: Place,
    /// The object.
    pub object: ObjectId,
}

/// Threads are started, or their end is waited for.
#[derive(Clone, Debug)]
pub struct ThreadControl<'a> {
    /// In which context.
    pub context: ContextId,
    /// Where.
    pub place: Place,
    /// The abstract threads.
    pub threads: &'a ThreadSet,
    /// The thread or task object, where threads may share it.
    pub object: Option<ObjectId>,
    /// Whether they are started, or have ended.
    pub is_start: bool,
    /// What happened before: a thread comes after everything that its starter has waited for.
    pub order: &'a Order,
}

/// A variable that orders threads is written: whoever receives from it later comes after what was done before this.
#[derive(Clone, Copy, Debug)]
pub struct Publication {
    /// In which context.
    pub context: ContextId,
    /// Where.
    pub place: Place,
    /// The variable; none if it may be any.
    pub variable: Option<SyncVariable>,
}

/// A thread waits for a notification, or gives one.
#[derive(Clone, Debug)]
pub struct Signal<'a> {
    /// In which context.
    pub context: ContextId,
    /// Where.
    pub place: Place,
    /// The object; for a condition, the condition itself.
    pub object: Option<ObjectId>,
    /// The lock that is given back while waiting.
    pub lock: Option<ObjectId>,
    /// The locks that are held, outermost first.
    pub held: &'a [HeldLock],
    /// What is done.
    pub kind: SignalKind,
}

/// Waiting, and being woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// Waits, for good or for some time.
    Wait {
        /// Whether it ends after some time by itself.
        is_timed: bool,
    },
    /// Wakes one waiter or all.
    Notify,
}

/// A call from one context to another.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// The context that calls.
    pub from: ContextId,
    /// Where.
    pub place: Place,
    /// The context that is called.
    pub to: ContextId,
    /// The method that is called.
    pub callee: MethodId,
    /// The locks that are held, outermost first. Those that the caller took itself say where; of the others, one of the
    /// places is reported where such a lock is taken, since contexts do not differ in that.
    pub held: &'a [HeldLock],
}
