//! The closed vocabulary of events. The kinds of events are the rows of the table in `agent_protocol`.
//!
//! **Order.** The events of a stream are in one total order. The events of one thread are in program
//! order; an acquisition is recorded after it succeeded, and a release before it takes effect; a volatile
//! write is recorded before it is made, and a volatile read after. So whatever synchronises in the run is
//! ordered the same way in the stream. Two ordinary accesses that race may be recorded in either
//! order.
//!
//! **Overlaps.** A hook and the operation that it reports are not one step. The report of a monitor is
//! made while the monitor is held, so that reports and operations are in one order; that of a volatile
//! variable or of a call of the library is made some time before or after the operation, and another
//! thread may do and report something in between. [`Event::overlaps`] says of how many events before
//! this one that cannot be excluded. All events before those are of operations that were over
//! when this one began. So where conflicts are what matters, an event is an interval that ends with its place in the
//! stream; where synchronisation matters, its place is enough.
//!
//! **Epochs.** Every thread counts epochs: intervals of its execution in which it begins no atomic
//! block, receives no edge from another thread and sends none. Epoch numbers are unique in a run and
//! grow along each thread. An event that can receive an edge carries a later epoch than everything
//! before it in its thread, and what follows an event that can send one carries a later epoch than it.
//! Repeated accesses to a variable in one epoch are redundant and left out.
//!
//! **Earlier accesses.** An access that can receive no edge from another thread, because the last
//! accesses that conflict with it are the thread's own, is not reported when it happens, only stored
//! beside the variable. When another thread conflicts with it, it is reported as
//! [`Action::EarlierRead`] or [`Action::EarlierWrite`], with the epoch in which it happened. It belongs before every event of its
//! thread that has a later epoch. The same access may be reported twice. A volatile read is left to be
//! reported late in the same way when the thread has read the variable since its last write: what it
//! receives has been received already.
//!
//! **Blocks.** The beginning of an atomic block is reported when something in it is first reported;
//! its event carries the epoch that began with it. An earlier access of the same thread with that epoch
//! or a later one, up to the end of the block, happened inside the block. A block in which nothing was
//! reported is not in the stream.
//!
//! **What did not happen.** Where a branch was decided, a source may tell what the sides that were not taken would
//! have done, with the objects of that moment: [`Action::Choice`], then for each such side [`Action::Untaken`], what
//! it would do ([`Action::WouldRead`] and its kin, and further choices) and [`Action::UntakenEnd`], then what the thread
//! really did on the side it took, and [`Action::Rejoin`]. A choice on a side that was not taken has no side that was.
//! A choice that an exception left has no rejoin; the end of the unit closes it. A choice and a rejoin begin an epoch
//! if anything is reported late, so that it is known on which side of the branch that happened. Iterations of a loop
//! follow one another; a further one that would have run is a choice that rejoins at once.

use crate::operand::{Operand, Operands};
use agent_protocol::EventKind as Kind;

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
    /// The contents of a library object as one variable: a collection, a buffer, an atomic.
    Contents(ObjectId),
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// By one thread at a time.
    Exclusive,
    /// By any number of threads, but not while it is held exclusively.
    Shared,
}

/// A read or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// The variable is read.
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

/// What a condition is that several branches of a unit decide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// Stands for the same condition in the whole unit.
    pub number: u32,
    /// Whether it is true.
    pub holds: bool,
}

macro_rules! actions {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $(($($field:ident: $operand:ident),+))?
            = $word:literal, counted as $count:literal, said as $verb:literal;
    )+) => {
        /// What happened, and to what. Its variants are the rows of [`agent_protocol::for_each_event!`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $($(#[doc = $doc])+ $name $(($($operand),+))?,)+
        }

        impl Action {
            /// What kind of action it is, and what it is done to.
            #[must_use]
            #[inline]
            pub fn parts(self) -> (Kind, Operand) {
                match self {
                    $(Action::$name $(($($field),+))? => {
                        (Kind::$name, Operands::operand(($($($field,)+)?)))
                    })+
                }
            }

            /// What kind of action it is.
            #[must_use]
            #[inline]
            pub fn kind(self) -> Kind {
                match self { $(Action::$name { .. } => Kind::$name,)+ }
            }

            /// The action of a kind that is done to `operand`; none if that is not what it is done to.
            #[must_use]
            #[inline]
            pub fn of_kind(kind: Kind, operand: Operand) -> Option<Action> {
                Some(match kind {
                    $(Kind::$name => {
                        let ($($($field,)+)?) = <($($($operand,)+)?) as Operands>::of(operand)?;
                        Action::$name $(($($field),+))?
                    })+
                })
            }
        }
    };
}

agent_protocol::for_each_event!(actions);

impl Action {
    /// The acquisition of a lock in a mode.
    #[must_use]
    pub fn acquire(lock: ObjectId, mode: Mode) -> Action {
        match mode {
            Mode::Exclusive => Action::Acquire(lock),
            Mode::Shared => Action::AcquireShared(lock),
        }
    }

    /// The release of a lock that was held in a mode.
    #[must_use]
    pub fn release(lock: ObjectId, mode: Mode) -> Action {
        match mode {
            Mode::Exclusive => Action::Release(lock),
            Mode::Shared => Action::ReleaseShared(lock),
        }
    }

    /// An ordinary access that is reported late.
    #[must_use]
    pub fn earlier(access: Access, variable: Variable) -> Action {
        match access {
            Access::Read => Action::EarlierRead(variable),
            Access::Write => Action::EarlierWrite(variable),
        }
    }

    /// Whether it is an access that is reported late.
    #[must_use]
    #[inline]
    pub fn is_earlier(self) -> bool {
        matches!(self, Action::EarlierRead(_) | Action::EarlierWrite(_))
    }
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
    /// How many of the events right before it, of any thread, may be of operations that were done after it began;
    /// [`Event::OVERLAPS_ALL`] where that is not known.
    pub overlaps: u32,
}

impl Event {
    /// Nothing is known of when the operation began.
    pub const OVERLAPS_ALL: u32 = u32::MAX;
}
