//! The parts that statements are made of: operands, modes, outcomes, orderings, runners, and the
//! properties of classes, methods and fields.

use crate::words::{InRust, Phrase, Problem, Word, Words, words};

/// An object that takes part in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// The object that the method is called on, or the object under construction.
    Receiver,
    /// A declared parameter, counted from 0 without the receiver.
    Argument(u8),
    /// The elements of the collection, map or array that is this parameter. A row that names them
    /// also says that the callee goes through the collection by its own methods, and under whatever
    /// lock those take.
    Elements(u8),
    /// Whatever the receiver keeps.
    Contents,
    /// Every parameter whose declared type has a method that is a task or a callback: the callbacks
    /// of this overload.
    Callbacks,
    /// The tasks that the receiver wraps, see [`Effect::Wraps`](crate::Effect::Wraps).
    Wrapped,
    /// What the callbacks of this call return.
    CallbackResult,
    /// What the method returns.
    Result,
    /// The `Class` object of the declaring class, as the lock of static synchronized methods.
    Class,
    /// The object in this field of the receiver, such as the mutex of a synchronized wrapper.
    Field(&'static str),
    /// The variable that the receiver and the leading arguments designate together: the element of
    /// an atomic array at an index, the field that an updater or a `VarHandle` names of its target,
    /// the memory of an object at an `Unsafe` offset.
    Designated,
    /// The thread that makes the call.
    CurrentThread,
}

/// How operands are written, and what they mean. `N` stands for a number, `FIELD` for a name.
pub const OPERANDS: &[(&str, &str)] = &[
    ("this", "The object that the method is called on, or the object under construction."),
    ("argN", "A declared parameter, counted from 0 without the receiver: `arg0` is the first."),
    (
        "each argN",
        "The elements of the collection, map or array that is this parameter. The callee goes \
         through the collection by the collection's own methods, under whatever lock those take.",
    ),
    ("contents", "Whatever the receiver keeps."),
    ("callbacks", "Every parameter whose declared type has a method that is a task or a callback."),
    ("wrapped", "The tasks that the receiver wraps, see `wraps`."),
    ("callback-result", "What the callbacks of this call return."),
    ("result", "What the method returns."),
    (
        "class",
        "The `Class` object of the declaring class: the lock of static synchronized methods.",
    ),
    ("this.FIELD", "The object in this field of the receiver, such as a mutex."),
    (
        "variable",
        "The variable that the receiver and the leading arguments designate together: an element of \
         an atomic array, the field that a `VarHandle` or an updater names of its target.",
    ),
    ("current-thread", "The thread that makes the call."),
];

/// The operands that are one fixed word.
const FIXED: &[Word<Operand>] = &[
    Word { word: "this", value: Operand::Receiver, meaning: "" },
    Word { word: "contents", value: Operand::Contents, meaning: "" },
    Word { word: "callbacks", value: Operand::Callbacks, meaning: "" },
    Word { word: "wrapped", value: Operand::Wrapped, meaning: "" },
    Word { word: "callback-result", value: Operand::CallbackResult, meaning: "" },
    Word { word: "result", value: Operand::Result, meaning: "" },
    Word { word: "class", value: Operand::Class, meaning: "" },
    Word { word: "variable", value: Operand::Designated, meaning: "" },
    Word { word: "current-thread", value: Operand::CurrentThread, meaning: "" },
];

fn argument(word: &str) -> Option<u8> {
    word.strip_prefix("arg")?.parse().ok()
}

impl Phrase for Operand {
    const SHAPE: &'static str = "OPERAND";

    fn read(words: &mut Words<'_>) -> Result<Operand, Problem> {
        if let Some(operand) = words.take_of(FIXED) {
            return Ok(operand);
        }
        if words.take_if("each") {
            return match words.peek().and_then(argument) {
                Some(number) => {
                    words.take();
                    Ok(Operand::Elements(number))
                }
                None => Err(Problem::unknown("argument", words.peek(), &["arg0", "arg1"])),
            };
        }
        if let Some(number) = words.peek().and_then(argument) {
            words.take();
            return Ok(Operand::Argument(number));
        }
        if let Some(field) = words.peek().and_then(|word| word.strip_prefix("this."))
            && !field.is_empty()
        {
            words.take();
            return Ok(Operand::Field(crate::keep(field)));
        }
        let known: Vec<&str> = FIXED.iter().map(|word| word.word).chain(["arg0", "each"]).collect();
        Err(Problem::unknown("operand", words.peek(), &known))
    }

    fn text(&self) -> String {
        match self {
            Operand::Argument(number) => format!("arg{number}"),
            Operand::Elements(number) => format!("each arg{number}"),
            Operand::Field(name) => format!("this.{name}"),
            Operand::Receiver
            | Operand::Contents
            | Operand::Callbacks
            | Operand::Wrapped
            | Operand::CallbackResult
            | Operand::Result
            | Operand::Class
            | Operand::Designated
            | Operand::CurrentThread => FIXED
                .iter()
                .find(|word| word.value == *self)
                .map_or_else(String::new, |word| word.word.to_owned()),
        }
    }
}

impl InRust for Operand {
    fn rust(&self) -> String {
        format!("Operand::{self:?}")
    }
}

words! {
    /// How a lock is held.
    Mode is "lock mode" shape "MODE" {
        /// By one thread at a time.
        Exclusive = "exclusive",
        /// By any number of threads at a time, but not beside an exclusive holder.
        Shared = "shared",
        /// Not held at all: the reader validates afterwards that no writer came in between.
        Optimistic = "optimistic",
        /// As one of several permits, by no thread in particular; excludes others only if there is a
        /// single permit.
        Permit = "permit",
        /// In whichever mode it is held, or in either mode that the result is asked for.
        Any = "any",
    }
}

words! {
    /// When an effect has happened, told from the result of the call.
    Outcome is "outcome" shape "[OUTCOME]" default Always {
        /// Whenever the call returns normally.
        Always = "always",
        /// When it returns `true`.
        IfTrue = "if true",
        /// When it returns `false`.
        IfFalse = "if false",
        /// When it returns a number that is not zero, such as the stamp of a `StampedLock`.
        IfNonZero = "if nonzero",
        /// When it returns a reference that is not null.
        IfNonNull = "if nonnull",
        /// Perhaps; the result does not tell, or not in a way that can be written here.
        Unknown = "perhaps",
    }
}

words! {
    /// What a waiting thread waits on.
    WaitKind is "kind of waiting" shape "KIND" {
        /// The monitor of an object, which is released while waiting.
        Monitor = "monitor",
        /// A condition, whose lock is released while waiting.
        Condition = "condition",
        /// The permit of a parked thread; no lock is released.
        Park = "park",
    }
}

words! {
    /// The memory ordering of an atomic operation, as `VarHandle` names them.
    Ordering is "memory ordering" shape "[ORDERING]" default Volatile {
        /// As an access to an ordinary variable: such an access can race.
        Plain = "plain",
        /// Coherent, but orders nothing else. Rows of concurrent collections use it for the access to
        /// the collection's contents and name their happens-before edges separately.
        Opaque = "opaque",
        /// The read receives what a release has published.
        Acquire = "acquire",
        /// The write publishes what came before it.
        Release = "release",
        /// As an access to a volatile variable.
        Volatile = "volatile",
    }
}

words! {
    /// How often a task runs for one call.
    Times is "number of runs" shape "[TIMES]" default Once {
        /// At most once.
        Once = "once",
        /// Any number of times, each run ordered after the one before.
        Repeatedly = "repeatedly",
        /// Any number of times, and two runs may overlap.
        Concurrently = "concurrently",
    }
}

/// Which thread runs a submitted task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runner {
    /// A worker of the executor that is this operand; the caller itself, if the executor likes.
    Executor(Operand),
    /// A worker of `ForkJoinPool.commonPool()`.
    CommonPool,
    /// A worker of the fork-join pool that the caller runs in, or of the common pool.
    CurrentPool,
    /// A platform thread made for this task.
    NewThread,
    /// A virtual thread made for this task.
    VirtualThread,
    /// The single thread of the timer that is this operand.
    Timer(Operand),
    /// The event dispatch thread of the user interface.
    EventDispatch,
    /// The thread that completes the awaited stage, or the caller if the stage is complete.
    Completer,
    /// A worker of the coroutine dispatcher that is in effect.
    Dispatcher,
    /// A thread of the virtual machine or of the library: cleaner, shutdown hook, dying thread.
    System,
}

/// How runners are written, and what they mean.
pub const RUNNERS: &[(&str, &str)] = &[
    (
        "executor OPERAND",
        "A worker of the executor that is this operand; the caller itself, if the executor likes.",
    ),
    ("common-pool", "A worker of `ForkJoinPool.commonPool()`."),
    (
        "current-pool",
        "A worker of the fork-join pool that the caller runs in, or of the common pool.",
    ),
    ("new-thread", "A platform thread made for this task."),
    ("virtual-thread", "A virtual thread made for this task."),
    ("timer OPERAND", "The single thread of the timer that is this operand."),
    ("event-dispatch", "The event dispatch thread of the user interface."),
    (
        "completer",
        "The thread that completes the awaited stage, or the caller if the stage is complete.",
    ),
    ("dispatcher", "A worker of the coroutine dispatcher that is in effect."),
    ("system", "A thread of the virtual machine or of the library."),
];

const FIXED_RUNNERS: &[Word<Runner>] = &[
    Word { word: "common-pool", value: Runner::CommonPool, meaning: "" },
    Word { word: "current-pool", value: Runner::CurrentPool, meaning: "" },
    Word { word: "new-thread", value: Runner::NewThread, meaning: "" },
    Word { word: "virtual-thread", value: Runner::VirtualThread, meaning: "" },
    Word { word: "event-dispatch", value: Runner::EventDispatch, meaning: "" },
    Word { word: "completer", value: Runner::Completer, meaning: "" },
    Word { word: "dispatcher", value: Runner::Dispatcher, meaning: "" },
    Word { word: "system", value: Runner::System, meaning: "" },
];

impl Runner {
    /// The executor or timer, where the call names one.
    #[must_use]
    pub fn operand(self) -> Option<Operand> {
        match self {
            Runner::Executor(operand) | Runner::Timer(operand) => Some(operand),
            Runner::CommonPool
            | Runner::CurrentPool
            | Runner::NewThread
            | Runner::VirtualThread
            | Runner::EventDispatch
            | Runner::Completer
            | Runner::Dispatcher
            | Runner::System => None,
        }
    }
}

impl Phrase for Runner {
    const SHAPE: &'static str = "RUNNER";

    fn read(words: &mut Words<'_>) -> Result<Runner, Problem> {
        if words.take_if("executor") {
            return Operand::read(words).map(Runner::Executor);
        }
        if words.take_if("timer") {
            return Operand::read(words).map(Runner::Timer);
        }
        words.take_of(FIXED_RUNNERS).ok_or_else(|| {
            let known: Vec<&str> = ["executor", "timer"]
                .into_iter()
                .chain(FIXED_RUNNERS.iter().map(|it| it.word))
                .collect();
            Problem::unknown("runner", words.peek(), &known)
        })
    }

    fn text(&self) -> String {
        match self {
            Runner::Executor(operand) => format!("executor {}", operand.text()),
            Runner::Timer(operand) => format!("timer {}", operand.text()),
            Runner::CommonPool
            | Runner::CurrentPool
            | Runner::NewThread
            | Runner::VirtualThread
            | Runner::EventDispatch
            | Runner::Completer
            | Runner::Dispatcher
            | Runner::System => FIXED_RUNNERS
                .iter()
                .find(|word| word.value == *self)
                .map_or_else(String::new, |word| word.word.to_owned()),
        }
    }
}

impl InRust for Runner {
    fn rust(&self) -> String {
        match self {
            Runner::Executor(operand) => format!("Runner::Executor({})", operand.rust()),
            Runner::Timer(operand) => format!("Runner::Timer({})", operand.rust()),
            Runner::CommonPool
            | Runner::CurrentPool
            | Runner::NewThread
            | Runner::VirtualThread
            | Runner::EventDispatch
            | Runner::Completer
            | Runner::Dispatcher
            | Runner::System => format!("Runner::{self:?}"),
        }
    }
}

/// The name of a class, in the form of class files.
impl Phrase for &'static str {
    const SHAPE: &'static str = "CLASS";

    fn read(words: &mut Words<'_>) -> Result<&'static str, Problem> {
        match words.take() {
            Some(name) => Ok(crate::keep(&name.replace('.', "/"))),
            None => Err(Problem::new("the name of a class is missing at the end")),
        }
    }

    fn text(&self) -> String {
        self.replace('/', ".")
    }
}

words! {
    /// A property of a class, or of all classes of a package.
    ClassProperty is "property of a class" shape "PROPERTY" {
        /// Objects never change after construction and may be shared in any way.
        Immutable = "immutable",
        /// Every call may be made by any thread at any time: single calls are atomic or protected,
        /// sequences of calls are not.
        ThreadSafe = "thread-safe",
        /// Calls must be ordered by the clients.
        NotThreadSafe = "not-thread-safe",
        /// Each thread has its own object, or its own state behind the object.
        ThreadConfined = "confined",
        /// Objects of this immutable class hold on to others, which may change.
        HoldsOthers = "holding-others",
        /// The static methods compute their results from their arguments alone.
        ComputesValues = "computing-values",
        /// Objects of this synchronized class are mostly used by one thread, or under another lock.
        OftenConfined = "often-confined",
        /// Library code calls methods of this type all the time, on objects of its own: that it calls
        /// one of them says little about whose object is called.
        Commonplace = "commonplace",
        /// Threads that arrive wait for each other: the rows publish on arrival and receive on leaving.
        Barrier = "barrier",
        /// Threads wait for a count to reach zero: the rows publish on counting and receive on passing.
        Latch = "latch",
        /// Belongs to a user interface, which calls what it is given in a thread of its own.
        UserInterface = "user-interface",
        /// A stream of elements, or part of one: a pipeline of callbacks.
        Pipeline = "pipeline",
        /// A stream, reader or writer: what was written to it is gone.
        Stream = "stream",
        /// Runs the tasks that it is given: joining it joins them.
        Executor = "executor",
        /// Made for one loop, which keeps it to itself: an iterator.
        Cursor = "cursor",
        /// Its constructor is told the number of permits; with a single one it excludes others.
        Semaphore = "semaphore",
        /// Objects hold their elements themselves: they give them out as an array without calling any other
        /// object. Views and wrappers of other collections do not.
        HoldsElements = "holding-elements",
        /// A stream whose terminal operation may run on several threads.
        ParallelStream = "parallel-stream",
        /// A thread that runs parts of the parallel streams of other threads.
        StreamWorker = "stream-worker",
        /// Runs tests: its methods last as long as the tests do, and are not meant to be atomic.
        TestRunner = "test-runner",
        /// At run time its code is rewritten so that the order that its volatile accesses, monitors and atomic
        /// operations make is seen; its accesses and blocks are not watched.
        Observed = "observed",
        /// Not `observed`, although its package is.
        Unobserved = "unobserved",
        /// Part of a library that keeps its own state in order, such as the runtime of a language: at run
        /// time it is watched only where somebody names it.
        Library = "library",
        /// Holds variables of the program, although its package is a `library`.
        HoldsVariables = "holding-variables",
        /// Equal values may be one object that unrelated code has too: literals are interned, boxes are cached.
        SharedByValue = "shared-by-value",
        /// Used like a constant, but its methods change it while they work: threads that share one need a lock.
        ChangesWhenUsed = "changing-when-used",
        /// Made for several threads: whoever keeps such an object in a field expects them.
        MeantForThreads = "meant-for-threads",
    }
}

words! {
    /// A property of a method.
    MethodProperty is "property of a method" shape "PROPERTY" {
        /// Library code calls this method on objects that it is given, perhaps in another thread: this
        /// is what runs when such an object is run.
        Task = "task",
        /// Library code calls this method on objects that it is given, always in the calling thread.
        Callback = "callback",
        /// The result tells something about the contents of the receiver.
        Looks = "look",
        /// The contents of the receiver change.
        Changes = "change",
        /// The contents of the receiver change, and the result is what was in there before.
        Takes = "take",
        /// Takes something out of the receiver if it is there; if not, nothing happens.
        TolerantRemoval = "tolerant-removal",
        /// Takes something out of the receiver that must be there.
        DemandingRemoval = "demanding-removal",
        /// The result is an object that the receiver had, and has no longer: it belongs to the caller from now on.
        GivesAway = "giving-away",
        /// A look that is a change in a map that keeps its entries in the order of access.
        WritesInAccessOrder = "writing-in-access-order",
        /// A constructor that can make a map that keeps its entries in the order of access.
        MakesAccessOrder = "making-access-order",
        /// Stands for whatever library code calls to read the contents of a collection.
        StandsForReads = "standing-for-reads",
        /// Stands for whatever library code calls to change the contents of a collection.
        StandsForWrites = "standing-for-writes",
        /// The atomic update that it makes commutes with those of other such methods: where nobody looks at the results,
        /// nobody can tell in which order they came.
        Commutes = "commuting",
        /// The atomic update that it makes depends on the value that is there: one that was read before is still there if the
        /// update succeeds.
        Compares = "comparing",
        /// Tells whether what was read since an optimistic acquisition was consistent.
        Validates = "validating",
        /// In a run, a read of the contents of its object, or of the collection that its object is a view of.
        ReadsContents = "contents-read",
        /// In a run, a write of the contents of its object, or of the collection that its object is a view of.
        WritesContents = "contents-write",
        /// In a run, a write of the contents if the result is null or true, and a read otherwise: what was there already
        /// stays.
        WritesNewContents = "contents-write-if-new",
        /// No class can override it: its row counts whichever class a call names.
        Final = "final",
        /// A call of a method of this name on a class whose supertypes are not known may be a call of
        /// it; at run time the object decides.
        KnownByName = "known-by-name",
        /// `observed`, although its class is not.
        ObservedMethod = "observed",
        /// The order that library code makes inside this method is an accident, and does not count.
        Quiet = "quiet",
        /// Order counts inside this method, although its caller is `quiet`: it runs code of the program.
        Loud = "loud",
        /// Atomic operations inside this method acquire and do not release.
        AcquireOnly = "acquire-only",
        /// Atomic operations inside this method release and do not acquire.
        ReleaseOnly = "release-only",
        /// Releases inside this method are those of a shared holder, which other shared holders do not acquire.
        SharedRelease = "shared-release",
        /// When it returns, what shared holders of the receiver have released is acquired.
        AcquiresShared = "acquire-shared",
        /// What was withheld by `release-only` is acquired before a call of this method in library code.
        AcquiresWithheld = "acquire-withheld",
        /// When it begins, the thread releases to the receiver.
        ReleasesReceiver = "release-this",
        /// When it begins, the thread releases to the first argument, as to a task that is handed over.
        ReleasesArgument = "release-argument",
        /// When it begins, the thread acquires from the receiver, as from a task that was handed over.
        AcquiresReceiver = "acquire-this",
        /// When it returns, the thread acquires from the receiver.
        AcquiresReceiverAfter = "acquire-this-after",
        /// When it returns, the thread acquires from the result, as from a task that was handed over.
        AcquiresResult = "acquire-result",
        /// When it returns, the thread acquires from its own thread object, where interrupts are released to.
        AcquiresInterrupt = "acquire-interrupt",
        /// When it begins and when it returns, the thread acquires from all threads.
        AcquiresAll = "acquire-all",
        /// The receiver is a thread that is about to be started.
        StartsReceiver = "start-this",
        /// When it returns, the thread that is the receiver may have ended.
        JoinsReceiver = "join-this",
        /// A fence after which others may see what was written before it.
        ReleaseFence = "release-fence",
        /// A fence after which what others wrote before theirs is seen.
        AcquireFence = "acquire-fence",
        /// Reads the variable that the reflective receiver designates of the first argument.
        ReflectiveRead = "reflective-read",
        /// Writes the variable that the reflective receiver designates of the first argument.
        ReflectiveWrite = "reflective-write",
        /// The result is a method handle that accesses a field.
        MakesAccessor = "accessor",
        /// It is about one entry of its receiver alone, the one whose key or element is its first argument.
        Keyed = "keyed",
        /// Changes its receiver only if what it adds is not there yet, and then returns `true` or null. Of one that runs
        /// callbacks the result does not tell.
        AddsIfAbsent = "adding-if-absent",
        /// The body of a program, a thread, a task or a closure: no atomic block by itself. Counts for
        /// subtypes; `*` in the names of the class and the method stands for any characters.
        Body = "body",
        /// Calls of its own library that have rows are reported from here, although its class is a
        /// `library`: programs come by them in ways that do not show what is called.
        Reporting = "reporting",
        /// Runs code of the program again until nothing disturbs it. Atomic operations that are made by that
        /// code are not reported; those of this method are.
        Retrying = "retrying",
    }
}

words! {
    /// A property of a field.
    FieldProperty is "property of a field" shape "PROPERTY" {
        /// Holds the lock of its object, which is the object itself unless that is a view of another one.
        OwnLock = "own-lock",
        /// Holds the collection that its object is a view of.
        Viewed = "viewed",
        /// Is read as an ordinary field and orders as a volatile one: fences in the code see to that.
        Ordering = "ordering",
        /// Belongs to code that the compiler made, and is no variable of the program; if it is volatile, it
        /// gives order. Counts for subtypes; `*` in the names of the class and the field stands for any
        /// characters.
        CompilerMade = "compiler-made",
        /// As `compiler-made` if it is volatile: holds a value that is made when it is first needed, by
        /// code that the compiler made.
        MadeOnce = "made-once",
    }
}

words! {
    /// The thread that calls an entry point.
    EntryThread is "thread of an entry point" shape "THREAD" {
        /// The main thread of the program.
        Main = "main",
        /// A thread of its own.
        Own = "own",
        /// A worker of some pool.
        Pool = "pool",
        /// A worker of a server, one for each request at a time.
        Request = "request",
        /// The event dispatch thread of the user interface.
        EventDispatch = "event-dispatch",
        /// The single thread of a timer.
        Timer = "timer",
        /// The thread of a test runner.
        Test = "test",
        /// A worker of a coroutine dispatcher.
        Coroutine = "coroutine",
        /// The container that starts and stops the program's parts, one part at a time.
        Container = "container",
        /// The finalizer, a cleaner, or a shutdown hook.
        System = "system",
        /// Whichever thread first needs the class.
        ClassInitialization = "class-initialization",
    }
}

words! {
    /// How many calls can be under way at once.
    Multiplicity is "number of calls" shape "COUNT" {
        /// One at a time.
        One = "one",
        /// Any number at a time.
        Many = "many",
    }
}

words! {
    /// Whether the calls of an entry point share their receiver.
    ReceiverSharing is "kind of receiver" shape "[RECEIVER]" default Unknown {
        /// The method is static.
        NoReceiver = "no-receiver",
        /// One object receives all calls.
        Shared = "shared-receiver",
        /// Each call has an object of its own.
        PerCall = "receiver-per-call",
        /// It depends on the program.
        Unknown = "any-receiver",
    }
}
