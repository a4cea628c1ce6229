//! The table of events: one row a kind, in the order of their numbers.
//!
//! Everything that knows the kinds of events is generated from it: [`EventKind`] here; `Action`, which has
//! the operands as well, in the crate `events`; the opcodes of binary traces and the words of text traces there;
//! the constants of the Java half (`java.rs`), and the table in `docs/trace-format.md`.
//!
//! **How to add a kind.** Append a row: numbers are part of the binary format, so that rows are never moved nor
//! removed. The compiler then names every checker that must say what the new kind means to it.

/// Calls the macro `$callback` with all rows of the table of events.
///
/// A row is
///
/// ```text
/// /// What happened, as a whole sentence.
/// Name(operand: Type, ...) = "word", counted as "plural", said as "verb";
/// ```
///
/// `word` stands in text traces; the plural in counts; the verb in findings, where the name of what it is done to
/// follows. The operands are one of the lists that [`OperandKind`] names.
#[macro_export]
macro_rules! for_each_event {
    ($callback:ident) => {
        $callback! {
            /// An ordinary variable was read.
            Read(variable: Variable) = "rd", counted as "reads", said as "reads";
            /// An ordinary variable was written.
            Write(variable: Variable) = "wr", counted as "writes", said as "writes";
            /// A read that happened in the epoch this event carries and is reported only now.
            EarlierRead(variable: Variable) = "earlier-rd", counted as "reads reported later", said as "reads";
            /// An ordinary write that happened in the epoch this event carries and is reported only now.
            EarlierWrite(variable: Variable) = "earlier-wr", counted as "writes reported later", said as "writes";
            /// A volatile variable, or an atomic in at least that mode, was read.
            VolatileRead(variable: Variable) = "vrd", counted as "volatile reads", said as "reads";
            /// A volatile variable, or an atomic in at least that mode, was written.
            VolatileWrite(variable: Variable) = "vwr", counted as "volatile writes", said as "writes";
            /// An atomic was read and written in one step.
            AtomicUpdate(variable: Variable) = "update", counted as "atomic updates", said as "updates";
            /// A lock is held exclusively from here on. Re-entrant acquisitions are not reported.
            Acquire(lock: ObjectId) = "acq", counted as "acquisitions", said as "acquires";
            /// A lock is held in shared mode from here on.
            AcquireShared(lock: ObjectId) = "acq-shared", counted as "shared acquisitions", said as "acquires in shared mode";
            /// A lock that is held exclusively is released. Re-entrant releases are not reported.
            Release(lock: ObjectId) = "rel", counted as "releases", said as "releases";
            /// A lock that is held in shared mode is released.
            ReleaseShared(lock: ObjectId) = "rel-shared", counted as "shared releases", said as "releases in shared mode";
            /// The lock is released to wait on it, or on a condition of it.
            Wait(lock: ObjectId) = "wait", counted as "waits", said as "waits on";
            /// The wait is over, and the lock is held again.
            Woken(lock: ObjectId) = "woken", counted as "ends of waits", said as "reacquires after waiting on";
            /// One waiter of the lock may continue.
            Notify(lock: ObjectId) = "notify", counted as "notifications of one", said as "notifies";
            /// All waiters of the lock may continue.
            NotifyAll(lock: ObjectId) = "notify-all", counted as "notifications of all", said as "notifies";
            /// The thread begins.
            ThreadBegin = "thread-begin", counted as "begins of threads", said as "begins";
            /// The thread has ended.
            ThreadEnd = "thread-end", counted as "ends of threads", said as "ends";
            /// A thread is started.
            Fork(child: ThreadId) = "fork", counted as "forks", said as "starts";
            /// A thread is known to have ended.
            Join(child: ThreadId) = "join", counted as "joins", said as "joins";
            /// A task is submitted to another thread.
            Submit(task: ObjectId) = "submit", counted as "submissions of tasks", said as "submits";
            /// A task begins.
            TaskBegin(task: ObjectId) = "task-begin", counted as "begins of tasks", said as "begins";
            /// A task ends.
            TaskEnd(task: ObjectId) = "task-end", counted as "ends of tasks", said as "ends";
            /// A task is known to have ended.
            TaskJoin(task: ObjectId) = "task-join", counted as "joins of tasks", said as "awaits";
            /// What this thread did so far becomes visible to threads that receive from the object.
            Publish(object: ObjectId) = "publish", counted as "publications", said as "publishes to";
            /// What was published to the object is visible from here on.
            Receive(object: ObjectId) = "receive", counted as "receptions", said as "receives from";
            /// The thread arrives at a barrier.
            BarrierArrive(barrier: ObjectId) = "arrive", counted as "arrivals at barriers", said as "arrives at";
            /// The thread passes a barrier: all that arrived did so before.
            BarrierPass(barrier: ObjectId) = "pass", counted as "passings of barriers", said as "passes";
            /// A latch is counted down.
            LatchDown(latch: ObjectId) = "count-down", counted as "countdowns of latches", said as "counts down";
            /// The thread passes a latch: all that counted down did so before.
            LatchPass(latch: ObjectId) = "latch-pass", counted as "passings of latches", said as "passes";
            /// An atomic block begins; the site names it. Blocks nest.
            Begin = "begin", counted as "begins of blocks", said as "begins";
            /// The innermost atomic block ends.
            End = "end", counted as "ends of blocks", said as "ends";
            /// An object is reported for the first time.
            Escape(object: ObjectId, class: ClassId) = "escape", counted as "escapes of objects", said as "uses";
            /// A class has been initialised by this thread.
            ClassInitialised(class: ClassId) = "class-init", counted as "class initialisations", said as "initialises";
            /// A class that another thread initialised is used for the first time by this thread.
            ClassUsed(class: ClassId) = "class-use", counted as "first uses of classes", said as "uses";
            /// A branch was decided.
            Branch(way: Branch) = "branch", counted as "branches", said as "decides";
            /// Hooks could not report what happened before: there was no memory or stack left for them.
            Missed = "missed", counted as "reports that hooks could not make", said as "misses";
            /// What this thread did so far is ordered before whatever follows an acquisition from the same place in memory.
            /// Code of the library, or of the program below its models, did that: it orders, and conflicts with nothing.
            OrderRelease(object: ObjectId) = "order-rel", counted as "releases inside libraries", said as "releases to";
            /// What was released to the place in memory is ordered before what follows.
            OrderAcquire(object: ObjectId) = "order-acq", counted as "acquisitions inside libraries", said as "acquires from";
            /// As `order-rel`, in the epoch this event carries and reported only now.
            EarlierOrderRelease(object: ObjectId) = "earlier-order-rel", counted as "releases inside libraries reported later", said as "releases to";
            /// What all threads did so far is ordered before what follows.
            OrderAcquireAll = "order-acq-all", counted as "acquisitions from all threads", said as "follows all threads";
            /// From here on order is reported where library code makes it; that a call of the library does so by its models
            /// is no order any more.
            LibraryOrder = "library-order", counted as "begins of order inside libraries", said as "observes";
            /// A branch was decided, and what its other sides would do is told next; what the thread really does on the side
            /// it took follows, up to `rejoin`.
            Choice = "choice", counted as "choices between sides of branches", said as "decides";
            /// Up to `untaken-end` follows what the thread would have done on this side of the innermost choice. The site is
            /// that of the branch.
            Untaken(way: Branch) = "untaken", counted as "sides of branches that were not taken", said as "does not take";
            /// What the thread would have done on a side that it did not take is told.
            UntakenEnd = "untaken-end", counted as "ends of sides that were not taken", said as "does not take";
            /// The sides of the innermost choice have met again.
            Rejoin = "rejoin", counted as "ends of choices", said as "continues after";
            /// A variable would have been read. Only between `untaken` and `untaken-end`, as what follows.
            WouldRead(variable: Variable) = "would-rd", counted as "reads that would have happened", said as "would read";
            /// A variable would have been written, or updated in one step.
            WouldWrite(variable: Variable) = "would-wr", counted as "writes that would have happened", said as "would write";
            /// A lock would have been held exclusively from here on.
            WouldAcquire(lock: ObjectId) = "would-acq", counted as "acquisitions that would have happened", said as "would acquire";
            /// A lock would have been held in shared mode from here on.
            WouldAcquireShared(lock: ObjectId) = "would-acq-shared", counted as "shared acquisitions that would have happened", said as "would acquire in shared mode";
            /// A lock that would have been held exclusively would have been released.
            WouldRelease(lock: ObjectId) = "would-rel", counted as "releases that would have happened", said as "would release";
            /// A lock that would have been held in shared mode would have been released.
            WouldReleaseShared(lock: ObjectId) = "would-rel-shared", counted as "shared releases that would have happened", said as "would release in shared mode";
            /// The side of the innermost choice that is told, or the one that is taken, is executed only if this condition is
            /// so. Within a unit a number stands for one condition, whose value does not change: sides that need it to be
            /// different exclude each other.
            Given(condition: Condition) = "given", counted as "conditions of sides", said as "decides by";
            /// The acquisition of the lock that was just reported would not have waited without end: it was only tried.
            Tried(lock: ObjectId) = "tried", counted as "acquisitions that were only tried", said as "tries to acquire";
            /// The thread holds the lock, where that matters because another thread is blocked. The site is where it was
            /// acquired, or where the thread is if that is not known.
            Holds(lock: ObjectId) = "holds", counted as "locks of threads that block others", said as "holds";
            /// The thread waits for the lock and cannot go on before those who hold it do, who are blocked themselves.
            Blocked(lock: ObjectId) = "blocked", counted as "threads that are blocked for good", said as "waits for";
            /// The thread waits for the end of another thread, which is blocked itself.
            BlockedByThread(awaited: ThreadId) = "blocked-by-thread", counted as "threads that wait for blocked ones", said as "waits for the end of";
            /// An atomic was changed by an addition, or a step like one, whose result nobody looks at. Additions commute:
            /// in which order two of them came cannot be told afterwards.
            AtomicAdd(variable: Variable) = "atomic-add", counted as "atomic additions", said as "adds to";
            /// An atomic had the value that the thread expected, and was updated in the same step.
            AtomicSwap(variable: Variable) = "swap", counted as "successful comparisons with updates", said as "updates";
            /// The thread waits without a limit. The object is what it waits for, 0 if that is not known; the class names the
            /// method of the library in which it waits, or `synchronized`, or `carrier` for a virtual thread that is ready to
            /// run and has nothing to run on. What that means, the next `hung` or `starved` says.
            Stalled(object: ObjectId, class: ClassId) = "stalled", counted as "threads that wait without a limit", said as "waits in";
            /// All threads of the program wait without a limit: the stalled ones that were reported last.
            Hung = "hung", counted as "hangs", said as "hangs";
            /// The stalled threads that were reported last are all threads of this pool, and each waits for tasks that only
            /// they could execute.
            Starved(pool: ObjectId) = "starved", counted as "pools whose threads all wait for tasks of the pool", said as "waits for tasks of";
        }
    };
}

/// What events of a kind are about, and how the two operand words of a record in the ring say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandKind {
    /// Nothing more is to be said.
    None,
    /// A variable. First word: the number of the object, 0 for a static field. Second word: a
    /// [`crate::VariableForm`] in the upper half, the number of the field or the index in the lower.
    Variable,
    /// An object. First word: its number.
    Object,
    /// Another thread. First word: its number.
    Thread,
    /// A class. First word: its number.
    Class,
    /// An object and its class. First word: the number of the object; second word: that of the class.
    ObjectOfClass,
    /// Which way a branch went. First word: 0 for not taken, 1 for taken, 2 for a case of a switch. Second word:
    /// the value of the case.
    Branch,
    /// What a condition is. First word: the number of the condition. Second word: 1 if it holds, 0 if not.
    Condition,
}

impl OperandKind {
    /// What it is called in the documentation.
    #[must_use]
    pub const fn described(self) -> &'static str {
        match self {
            OperandKind::None => "",
            OperandKind::Variable => "variable",
            OperandKind::Object => "object",
            OperandKind::Thread => "thread",
            OperandKind::Class => "class",
            OperandKind::ObjectOfClass => "object, class",
            OperandKind::Branch => "which way",
            OperandKind::Condition => "condition, `true` or `false`",
        }
    }
}

/// The kind of operand that a list of operand types stands for.
macro_rules! operand_kind {
    () => {
        OperandKind::None
    };
    (Variable) => {
        OperandKind::Variable
    };
    (ObjectId) => {
        OperandKind::Object
    };
    (ThreadId) => {
        OperandKind::Thread
    };
    (ClassId) => {
        OperandKind::Class
    };
    (ObjectId ClassId) => {
        OperandKind::ObjectOfClass
    };
    (Branch) => {
        OperandKind::Branch
    };
    (Condition) => {
        OperandKind::Condition
    };
}

macro_rules! event_kinds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $(($($field:ident: $operand:ident),+))?
            = $word:literal, counted as $count:literal, said as $verb:literal;
    )+) => {
        /// What kind of thing happened: an event without what it is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum EventKind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl EventKind {
            /// All kinds, in the order of their numbers.
            pub const ALL: &'static [EventKind] = &[$(EventKind::$name),+];

            /// Its name in the table.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(EventKind::$name => stringify!($name),)+ }
            }

            /// The word for it in text traces.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(EventKind::$name => $word,)+ }
            }

            /// What it is counted as, in the plural.
            #[must_use]
            pub const fn counted_as(self) -> &'static str {
                match self { $(EventKind::$name => $count,)+ }
            }

            /// What a thread does, to be followed by the name of what it does it to.
            #[must_use]
            pub const fn verb(self) -> &'static str {
                match self { $(EventKind::$name => $verb,)+ }
            }

            /// What it means, as a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(EventKind::$name => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// What it is done to.
            #[must_use]
            pub const fn operand(self) -> OperandKind {
                match self { $(EventKind::$name => operand_kind!($($($operand)+)?),)+ }
            }
        }
    };
}

for_each_event!(event_kinds);

impl EventKind {
    /// The kind with this number.
    #[must_use]
    #[inline]
    pub fn numbered(number: usize) -> Option<EventKind> {
        EventKind::ALL.get(number).copied()
    }

    /// The number by which records in the ring name it. 0 is left for slots that nobody has written.
    #[must_use]
    pub const fn record_number(self) -> u8 {
        self as u8 + 1
    }
}

/// The rows of the table in `docs/trace-format.md`.
#[must_use]
pub fn event_documentation() -> String {
    let mut rows = String::from("| number | word | done to | meaning |\n|---|---|---|---|\n");
    for kind in EventKind::ALL {
        let (number, word) = (*kind as u8, kind.word());
        let operand = kind.operand().described();
        let space = if operand.is_empty() { "" } else { " " };
        rows.push_str(&format!(
            "| {number} | `{word}` |{space}{operand} | {} |\n",
            kind.meaning().trim_end_matches('.')
        ));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_table() {
        for (number, kind) in EventKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number);
            assert_eq!(EventKind::numbered(number), Some(*kind));
        }
        assert_eq!(EventKind::numbered(EventKind::ALL.len()), None);
    }

    #[test]
    fn words_are_different() {
        let words: std::collections::BTreeSet<_> =
            EventKind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), EventKind::ALL.len());
    }

    #[test]
    fn the_documentation_has_the_table() {
        let page = include_str!("../../../docs/trace-format.md");
        for row in event_documentation().lines() {
            assert!(
                page.contains(row),
                "docs/trace-format.md lacks {row}; `cargo xtask docs` writes it"
            );
        }
    }
}
