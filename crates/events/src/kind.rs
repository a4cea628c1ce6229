//! The kinds of actions as one table: their words in text, their numbers in binary traces, their
//! names in counts, and what each is done to. Every form of a trace is made of it.

use crate::{Access, Action, Branch, ClassId, Mode, ObjectId, ThreadId, Variable};

/// What an action is done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Nothing more is to be said.
    None,
    /// A variable.
    Variable(Variable),
    /// An object.
    Object(ObjectId),
    /// Another thread.
    Thread(ThreadId),
    /// A class.
    Class(ClassId),
    /// An object and its class.
    ObjectOfClass(ObjectId, ClassId),
    /// Which way a branch went.
    Branch(Branch),
}

/// What kind of operand a kind of action has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// None at all.
    None,
    /// A variable.
    Variable,
    /// An object.
    Object,
    /// Another thread.
    Thread,
    /// A class.
    Class,
    /// An object and its class.
    ObjectOfClass,
    /// Which way a branch went.
    Branch,
}

macro_rules! kinds {
    ($($name:ident $number:literal $word:literal $operand:ident $count:literal;)*) => {
        /// The kinds of actions: [`Action`] without what it is done to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $(#[doc = concat!("`", $word, "`: ", $count, ".")] $name = $number,)*
        }

        impl Kind {
            /// All kinds, in the order of their numbers.
            pub const ALL: &[Kind] = &[$(Kind::$name),*];

            /// The word for it in text traces.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Kind::$name => $word,)* }
            }

            /// What it is counted as, in the plural.
            #[must_use]
            pub fn counted_as(self) -> &'static str {
                match self { $(Kind::$name => $count,)* }
            }

            /// What it is done to.
            #[must_use]
            pub fn operand(self) -> OperandKind {
                match self { $(Kind::$name => OperandKind::$operand,)* }
            }
        }
    };
}

// The numbers are part of the binary format: the seven that are done to variables come first, and
// branches last.
kinds! {
    Read 0 "rd" Variable "reads";
    Write 1 "wr" Variable "writes";
    EarlierRead 2 "earlier-rd" Variable "reads reported later";
    EarlierWrite 3 "earlier-wr" Variable "writes reported later";
    VolatileRead 4 "vrd" Variable "volatile reads";
    VolatileWrite 5 "vwr" Variable "volatile writes";
    AtomicUpdate 6 "update" Variable "atomic updates";
    Acquire 7 "acq" Object "acquisitions";
    AcquireShared 8 "acq-shared" Object "shared acquisitions";
    Release 9 "rel" Object "releases";
    ReleaseShared 10 "rel-shared" Object "shared releases";
    Wait 11 "wait" Object "waits";
    Woken 12 "woken" Object "ends of waits";
    Notify 13 "notify" Object "notifications of one";
    NotifyAll 14 "notify-all" Object "notifications of all";
    ThreadBegin 15 "thread-begin" None "begins of threads";
    ThreadEnd 16 "thread-end" None "ends of threads";
    Fork 17 "fork" Thread "forks";
    Join 18 "join" Thread "joins";
    Submit 19 "submit" Object "submissions of tasks";
    TaskBegin 20 "task-begin" Object "begins of tasks";
    TaskEnd 21 "task-end" Object "ends of tasks";
    TaskJoin 22 "task-join" Object "joins of tasks";
    Publish 23 "publish" Object "publications";
    Receive 24 "receive" Object "receptions";
    BarrierArrive 25 "arrive" Object "arrivals at barriers";
    BarrierPass 26 "pass" Object "passings of barriers";
    LatchDown 27 "count-down" Object "countdowns of latches";
    LatchPass 28 "latch-pass" Object "passings of latches";
    Begin 29 "begin" None "begins of blocks";
    End 30 "end" None "ends of blocks";
    Escape 31 "escape" ObjectOfClass "escapes of objects";
    ClassInitialised 32 "class-init" Class "class initialisations";
    ClassUsed 33 "class-use" Class "first uses of classes";
    Branch 34 "branch" Branch "branches";
}

impl Kind {
    /// The action of this kind that is done to `operand`; none if that is not what it is done to.
    #[must_use]
    #[inline]
    pub fn action(self, operand: Operand) -> Option<Action> {
        use Operand::{Class, Object, ObjectOfClass, Thread, Variable};
        Some(match (self, operand) {
            (Kind::Read, Variable(it)) => Action::Read(it),
            (Kind::Write, Variable(it)) => Action::Write(it),
            (Kind::EarlierRead, Variable(it)) => Action::Earlier(Access::Read, it),
            (Kind::EarlierWrite, Variable(it)) => Action::Earlier(Access::Write, it),
            (Kind::VolatileRead, Variable(it)) => Action::VolatileRead(it),
            (Kind::VolatileWrite, Variable(it)) => Action::VolatileWrite(it),
            (Kind::AtomicUpdate, Variable(it)) => Action::AtomicUpdate(it),
            (Kind::Acquire, Object(it)) => Action::Acquire(it, Mode::Exclusive),
            (Kind::AcquireShared, Object(it)) => Action::Acquire(it, Mode::Shared),
            (Kind::Release, Object(it)) => Action::Release(it, Mode::Exclusive),
            (Kind::ReleaseShared, Object(it)) => Action::Release(it, Mode::Shared),
            (Kind::Wait, Object(it)) => Action::Wait(it),
            (Kind::Woken, Object(it)) => Action::Woken(it),
            (Kind::Notify, Object(it)) => Action::Notify(it),
            (Kind::NotifyAll, Object(it)) => Action::NotifyAll(it),
            (Kind::ThreadBegin, Operand::None) => Action::ThreadBegin,
            (Kind::ThreadEnd, Operand::None) => Action::ThreadEnd,
            (Kind::Fork, Thread(it)) => Action::Fork(it),
            (Kind::Join, Thread(it)) => Action::Join(it),
            (Kind::Submit, Object(it)) => Action::Submit(it),
            (Kind::TaskBegin, Object(it)) => Action::TaskBegin(it),
            (Kind::TaskEnd, Object(it)) => Action::TaskEnd(it),
            (Kind::TaskJoin, Object(it)) => Action::TaskJoin(it),
            (Kind::Publish, Object(it)) => Action::Publish(it),
            (Kind::Receive, Object(it)) => Action::Receive(it),
            (Kind::BarrierArrive, Object(it)) => Action::BarrierArrive(it),
            (Kind::BarrierPass, Object(it)) => Action::BarrierPass(it),
            (Kind::LatchDown, Object(it)) => Action::LatchDown(it),
            (Kind::LatchPass, Object(it)) => Action::LatchPass(it),
            (Kind::Begin, Operand::None) => Action::Begin,
            (Kind::End, Operand::None) => Action::End,
            (Kind::Escape, ObjectOfClass(it, class)) => Action::Escape(it, class),
            (Kind::ClassInitialised, Class(it)) => Action::ClassInitialised(it),
            (Kind::ClassUsed, Class(it)) => Action::ClassUsed(it),
            (Kind::Branch, Operand::Branch(it)) => Action::Branch(it),
            _ => return None,
        })
    }
}

impl Action {
    /// What kind of action it is, and what it is done to.
    #[must_use]
    #[inline]
    pub fn parts(self) -> (Kind, Operand) {
        use Operand::{Class, Object, Thread, Variable};
        match self {
            Action::Read(it) => (Kind::Read, Variable(it)),
            Action::Write(it) => (Kind::Write, Variable(it)),
            Action::Earlier(Access::Read, it) => (Kind::EarlierRead, Variable(it)),
            Action::Earlier(Access::Write, it) => (Kind::EarlierWrite, Variable(it)),
            Action::VolatileRead(it) => (Kind::VolatileRead, Variable(it)),
            Action::VolatileWrite(it) => (Kind::VolatileWrite, Variable(it)),
            Action::AtomicUpdate(it) => (Kind::AtomicUpdate, Variable(it)),
            Action::Acquire(it, Mode::Exclusive) => (Kind::Acquire, Object(it)),
            Action::Acquire(it, Mode::Shared) => (Kind::AcquireShared, Object(it)),
            Action::Release(it, Mode::Exclusive) => (Kind::Release, Object(it)),
            Action::Release(it, Mode::Shared) => (Kind::ReleaseShared, Object(it)),
            Action::Wait(it) => (Kind::Wait, Object(it)),
            Action::Woken(it) => (Kind::Woken, Object(it)),
            Action::Notify(it) => (Kind::Notify, Object(it)),
            Action::NotifyAll(it) => (Kind::NotifyAll, Object(it)),
            Action::ThreadBegin => (Kind::ThreadBegin, Operand::None),
            Action::ThreadEnd => (Kind::ThreadEnd, Operand::None),
            Action::Fork(it) => (Kind::Fork, Thread(it)),
            Action::Join(it) => (Kind::Join, Thread(it)),
            Action::Submit(it) => (Kind::Submit, Object(it)),
            Action::TaskBegin(it) => (Kind::TaskBegin, Object(it)),
            Action::TaskEnd(it) => (Kind::TaskEnd, Object(it)),
            Action::TaskJoin(it) => (Kind::TaskJoin, Object(it)),
            Action::Publish(it) => (Kind::Publish, Object(it)),
            Action::Receive(it) => (Kind::Receive, Object(it)),
            Action::BarrierArrive(it) => (Kind::BarrierArrive, Object(it)),
            Action::BarrierPass(it) => (Kind::BarrierPass, Object(it)),
            Action::LatchDown(it) => (Kind::LatchDown, Object(it)),
            Action::LatchPass(it) => (Kind::LatchPass, Object(it)),
            Action::Begin => (Kind::Begin, Operand::None),
            Action::End => (Kind::End, Operand::None),
            Action::Escape(it, class) => (Kind::Escape, Operand::ObjectOfClass(it, class)),
            Action::ClassInitialised(it) => (Kind::ClassInitialised, Class(it)),
            Action::ClassUsed(it) => (Kind::ClassUsed, Class(it)),
            Action::Branch(it) => (Kind::Branch, Operand::Branch(it)),
        }
    }
}
