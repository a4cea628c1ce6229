//! The closed vocabulary of events.
//!
//! **Order.** The events of a stream are in one total order. The events of one thread are in program
//! order; an acquisition stands after it was granted, and a release before it was given; a volatile
//! write stands before it was made, and a volatile read after. So whatever synchronises in the run is
//! ordered the same way in the stream. Two ordinary accesses that truly race may stand in either
//! order.
//!
//! **Epochs.** Every thread counts epochs: stretches of its execution in which it begins no atomic
//! block, receives no edge from another thread and sends none. Epoch numbers are unique in a run and
//! grow along each thread. An event that can receive an edge carries a later epoch than everything
//! before it in its thread, and what follows an event that can send one carries a later epoch than it.
//! Repeated accesses to a variable in one epoch say nothing new and are left out.
//!
//! **Earlier accesses.** An access that can receive no edge from another thread, because the last
//! accesses that conflict with it are the thread's own, is not reported when it happens, only noted
//! beside the variable. When another thread comes to conflict with it, it is reported then, as
//! [`Action::Earlier`], with the epoch in which it happened. It belongs before every event of its
//! thread that has a later epoch. The same access may be reported twice. A volatile read is left to be
//! reported late in the same way when the thread has read the variable since its last write: what it
//! receives has been received already.
//!
//! **Blocks.** The beginning of an atomic block is reported when something in it is first reported;
//! its event carries the epoch that began with it. An earlier access of the same thread with that epoch
//! or a later one, up to the end of the block, happened inside the block. A block in which nothing was
//! reported leaves no trace.

/// A thread of the run, numbered from 0 in the order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// An object of the run. Numbers are never reused; an object gets one when it is first reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u64);

/// A place in code, a row of [`crate::Tables::sites`]. 0 is "not known".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// A declared field, a row of [`crate::Tables::fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub u32);

/// A class, a row of [`crate::Tables::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// A stretch of one thread's execution; see the head of this file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// An atomic block: the site that begins it.
pub type Block = SiteId;

/// What can be raced on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// A field of one object.
    Field(ObjectId, FieldId),
    /// A static field.
    Static(FieldId),
    /// An element of an array.
    Element(ObjectId, u32),
    /// What a library object keeps, taken as one variable: a collection, a buffer, an atomic.
    Contents(ObjectId),
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// By one thread at a time.
    Exclusive,
    /// By any number of threads, but not beside an exclusive holder.
    Shared,
}

/// A read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// The variable is looked at.
    Read,
    /// The variable is changed.
    Write,
}

/// Which way a branch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Branch {
    /// To the target of the instruction.
    Taken,
    /// To the instruction after it.
    NotTaken,
    /// To this case of a switch.
    Case(i32),
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// An ordinary variable was read.
    Read(Variable),
    /// An ordinary variable was written.
    Write(Variable),
    /// An ordinary access that happened in the epoch this event carries and is reported only now.
    Earlier(Access, Variable),
    /// A volatile variable, or an atomic in at least that mode, was read.
    VolatileRead(Variable),
    /// A volatile variable, or an atomic in at least that mode, was written.
    VolatileWrite(Variable),
    /// An atomic was read and written in one step.
    AtomicUpdate(Variable),
    /// A lock is held from here on. Re-entrant acquisitions are not reported.
    Acquire(ObjectId, Mode),
    /// A lock is given back. Re-entrant releases are not reported.
    Release(ObjectId, Mode),
    /// The lock is given back to wait on it, or on a condition of it.
    Wait(ObjectId),
    /// The wait is over, and the lock is held again.
    Woken(ObjectId),
    /// One waiter of the lock may go on.
    Notify(ObjectId),
    /// All waiters of the lock may go on.
    NotifyAll(ObjectId),
    /// The thread begins.
    ThreadBegin,
    /// The thread has ended.
    ThreadEnd,
    /// A thread is started.
    Fork(ThreadId),
    /// A thread was seen to have ended.
    Join(ThreadId),
    /// A task is handed to another thread.
    Submit(ObjectId),
    /// A task begins.
    TaskBegin(ObjectId),
    /// A task ends.
    TaskEnd(ObjectId),
    /// A task was seen to have ended.
    TaskJoin(ObjectId),
    /// What this thread did so far is made visible to those who receive from the object.
    Publish(ObjectId),
    /// What was published to the object is visible from here on.
    Receive(ObjectId),
    /// The thread arrives at a barrier.
    BarrierArrive(ObjectId),
    /// The thread passes a barrier: all that arrived did so before.
    BarrierPass(ObjectId),
    /// A latch is counted down.
    LatchDown(ObjectId),
    /// The thread passes a latch: all that counted down did so before.
    LatchPass(ObjectId),
    /// An atomic block begins; the site names it. Blocks nest.
    Begin,
    /// The innermost atomic block ends.
    End,
    /// An object is met for the first time by something that is reported.
    Escape(ObjectId, ClassId),
    /// A class has been initialised by this thread.
    ClassInitialised(ClassId),
    /// A class that another thread initialised is used for the first time by this thread.
    ClassUsed(ClassId),
    /// A branch was decided.
    Branch(Branch),
}

/// One event of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// Who did it.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// In which epoch of the thread; 0 where the source of the events counts none.
    pub epoch: Epoch,
    /// What.
    pub action: Action,
}
