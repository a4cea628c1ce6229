//! What library methods do to locks, threads, memory order and sharing: one table, one row a
//! method.
//!
//! Every analysis reads this table instead of guessing, and the run-time instrumentation reads the
//! same rows, so that both sides agree on what `ReentrantLock.lock` or `BlockingQueue.take` means.
//!
//! **How to find the row of a call.** [`lookup`] knows exact classes only. A caller that has the
//! class hierarchy walks it: the receiver's class, its superclasses from near to far, then its
//! interfaces breadth first, `Object` last; the first row wins. [`find`] does that walk with the
//! hierarchy of the modelled library classes, which is stored beside the rows, so that it works
//! where no JDK can be read. A method that the program itself overrides is analysed by its body;
//! the row of a library supertype stands for a method only where there is no body to look at.
//!
//! **How to read a row.** The effects of a row happen in one call, in no order that an analysis may
//! rely on, with two exceptions: whatever releases or publishes happens before the callee returns
//! and after everything the caller did before, and [`Effect::Synchronized`] encloses all other
//! effects of its row, callbacks included. A row without effects says that the method was looked at
//! and does nothing that concerns us; a method without a row was not looked at.
//!
//! **What is approximate.** Rows describe contracts, not implementations, except where the
//! implementation's lock can be named and taken by clients (`Vector`, `Hashtable`, `PrintStream`).
//! Happens-before edges of collections are kept for a whole collection, not for one element. What a
//! method does only when it throws is not described. Each table file names its own approximations
//! at its head.

mod vocabulary;

mod atomics;
mod collections;
mod contents;
mod coordination;
mod entry_points;
mod executors;
mod frameworks;
mod futures;
mod input_output;
mod kotlin_and_scala;
mod locks;
mod newer_releases;
mod object_and_thread;
mod reflection;
mod sharing;
mod streams;
mod supertypes;
mod synchronized_collections;
mod tasks;
mod unsynchronized_collections;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

pub use contents::{
    ContentsAccess, Removal, contents_access, has_access_order, removal, writes_in_access_order,
};
pub use coordination::{Coordinator, coordinator};
pub use entry_points::{
    EntryPoint, EntryThread, Matcher, Multiplicity, ReceiverSharing, entry_points,
};
pub use sharing::{
    ClassSharing, Sharing, class_sharing, computes_values, holds_others, is_often_confined,
    is_own_mutex, is_pipeline, is_stream, is_user_interface, sharing,
};
pub use supertypes::{Supertypes, all_supertypes, supertypes};
pub use tasks::{
    TaskMethod, all_task_methods, commonplace_types, is_run_elsewhere, task_arguments, task_methods,
};

/// The model of one library method, or of all its overloads.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// Internal name of the class, as in `java/util/concurrent/locks/Lock`.
    pub class: &'static str,
    /// Name of the method; `<init>` for constructors.
    pub method: &'static str,
    /// An exact descriptor; or parameters with `*` for the result, as in `(I)*`, which also stands
    /// for the bridge methods of covariant results; or `*` for every overload that has no row of
    /// its own.
    pub descriptor: &'static str,
    /// What a call does; empty when it does nothing that matters here.
    pub effects: &'static [Effect],
}

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
    /// Every parameter whose declared type has a row in the table of task methods: the callbacks of
    /// this overload. [`task_arguments`] lists them for a descriptor.
    Callbacks,
    /// The tasks that the receiver wraps, see [`Effect::Wraps`].
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

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// By one thread at a time.
    Exclusive,
    /// By any number of threads at a time, but not beside an exclusive holder.
    Shared,
    /// Not held at all: the reader validates afterwards that no writer came in between.
    Optimistic,
    /// As one of several permits, by no thread in particular; excludes others only if there is a
    /// single permit.
    Permit,
    /// In whichever mode it is held, or in either mode that the result is asked for.
    Any,
}

/// When an effect has happened, told from the result of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Whenever the call returns normally.
    Always,
    /// When it returns `true`.
    IfTrue,
    /// When it returns `false`.
    IfFalse,
    /// When it returns a number that is not zero, such as the stamp of a `StampedLock`.
    IfNonZero,
    /// When it returns a reference that is not null.
    IfNonNull,
    /// Perhaps; the result does not tell, or not in a way that can be written here.
    Unknown,
}

/// What a waiting thread waits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// The monitor of an object, which is released while waiting.
    Monitor,
    /// A condition, whose lock is released while waiting.
    Condition,
    /// The permit of a parked thread; no lock is released.
    Park,
}

/// The memory ordering of an atomic operation, as `VarHandle` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// As an access to an ordinary variable: such an access can race.
    Plain,
    /// Coherent, but orders nothing else. Rows of concurrent collections use it for the access to
    /// the collection's contents and name their happens-before edges separately.
    Opaque,
    /// The read receives what a release has published.
    Acquire,
    /// The write publishes what came before it.
    Release,
    /// As an access to a volatile variable.
    Volatile,
}

/// How often a task runs for one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Times {
    /// At most once.
    Once,
    /// Any number of times, each run ordered after the one before.
    Repeatedly,
    /// Any number of times, and two runs may overlap.
    Concurrently,
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

/// One thing that a call does.
#[allow(missing_docs, reason = "the sentence of each variant says what its fields are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// The lock is held afterwards. Receives what its releases have published.
    Acquire { lock: Operand, mode: Mode, outcome: Outcome },
    /// The lock is given back. Publishes.
    Release { lock: Operand, mode: Mode, outcome: Outcome },
    /// The callee takes this monitor at its start and gives it back at its end; everything else in
    /// the row, callbacks included, happens while it is held.
    Synchronized { lock: Operand },
    /// The result is another face of the operand's lock. Whatever mode the rows of the result's type
    /// name, it locks the operand in this one.
    LockView { of: Operand, mode: Mode },
    /// The result is a condition of the operand's lock.
    ConditionOf { lock: Operand },
    /// The caller waits, after giving back the lock that belongs to the operand, and holds that
    /// lock again afterwards.
    Wait { on: Operand, kind: WaitKind, timed: bool },
    /// One waiter, or all of them, may go on.
    Notify { on: Operand, all: bool },

    /// The result is a view: its locking and its contents are those of the operand.
    View { of: Operand },
    /// The operand `into` keeps a reference to the value, and may hand it out later.
    Store { value: Operand, into: Operand },
    /// The result is something that the operand keeps, or refers to such things.
    Load { from: Operand },
    /// The operand `by` keeps the task and runs it whenever it is run itself: the `Runnable` of a
    /// `Thread`, the `Callable` of a `FutureTask`, the functions of a `Collector`.
    Wraps { task: Operand, by: Operand },
    /// The reference parameters of the task receive what the operand keeps.
    Feeds { task: Operand, from: Operand },

    /// A new thread runs the operand. What the caller did before happens before its run.
    Fork { task: Operand },
    /// The task has ended: a thread, the task behind a future, or all tasks of an executor. All it
    /// did happens before the return. `timed` calls may give up or merely look.
    Join { task: Operand, timed: bool, outcome: Outcome },
    /// Another thread runs the task, now or later. What the caller did before happens before it.
    Submit { task: Operand, to: Runner, times: Times },
    /// The result, or the elements of the result, are handles of the task: joining them joins it.
    Handle { of: Operand },
    /// The task runs only after this stage or phase has completed, and sees what it did.
    After { task: Operand, stage: Operand },
    /// The caller itself runs the task before the call returns; on a lazy stream, before the
    /// terminal operation returns.
    RunsTask { task: Operand, times: Times },
    /// The interrupt flag of the thread, or of the threads that work for the operand, is set.
    Interrupt { thread: Operand },
    /// The caller learns that the thread was interrupted, and what the interrupting thread did
    /// before is visible.
    ObservesInterrupt { thread: Operand, outcome: Outcome },
    /// The thread is stopped, suspended or resumed from outside, at any point, whatever locks it
    /// holds.
    Controls { thread: Operand },
    /// The virtual machine ends; the call does not return.
    Terminates,

    /// What the caller did before is visible to whoever receives from the operand later.
    Publish { to: Operand },
    /// What was published to the operand is visible to the caller afterwards.
    Receive { from: Operand, outcome: Outcome },
    /// An atomic read of the operand, taken as one variable.
    AtomicRead { of: Operand, ordering: Ordering },
    /// An atomic write of the operand, taken as one variable.
    AtomicWrite { of: Operand, ordering: Ordering },
    /// An atomic read and write. When the outcome is not reached it is only a read.
    AtomicUpdate { of: Operand, ordering: Ordering, outcome: Outcome },
    /// Orders the caller's accesses before against those after, without any variable.
    Fence { ordering: Ordering },
    /// Reads the operand's contents as ordinary memory: it can race. An argument's contents are read
    /// by its own methods, so that a synchronized collection is read under its own lock.
    Read { of: Operand },
    /// Writes the operand's contents as ordinary memory: it can race. Of an argument, by its own
    /// methods, as for `Read`.
    Write { of: Operand },
    /// Touches the copy of the operand that belongs to the calling thread alone.
    ThreadLocalAccess { of: Operand },

    /// The call may block until another thread acts.
    Blocks { timed: bool, interruptible: bool },
    /// The call blocks for some time, whatever other threads do.
    Sleeps,
    /// The call runs code that cannot be told from the call site.
    Reflective,
    /// The result is a new object that no other thread knows yet.
    ReturnsFresh,
    /// The concrete class of the result.
    ReturnsType(&'static str),
    /// The result is an executor with a single worker: its tasks run one after the other, each
    /// ordered after the one before.
    SingleWorker,
    /// Callbacks given to the result run concurrently, on the workers of a fork-join pool.
    Parallel,
    /// Callbacks given to the result run one after the other, in the thread of the terminal call.
    Sequential,
    /// The operand becomes reachable from static state or from threads that are not seen here.
    Escapes { operand: Operand },
}

impl Effect {
    /// The operand that later receivers must name to see what the caller did before, if this effect
    /// publishes anything.
    #[must_use]
    pub fn publishes_to(self) -> Option<Operand> {
        match self {
            Effect::Release { lock, .. } | Effect::Synchronized { lock } => Some(lock),
            Effect::Wait { on, kind: WaitKind::Monitor | WaitKind::Condition, .. } => Some(on),
            Effect::Publish { to } => Some(to),
            Effect::AtomicWrite { of, ordering: Ordering::Release | Ordering::Volatile }
            | Effect::AtomicUpdate {
                of, ordering: Ordering::Release | Ordering::Volatile, ..
            } => Some(of),
            Effect::Fork { task } | Effect::Submit { task, .. } => Some(task),
            Effect::Interrupt { thread } => Some(thread),
            Effect::Acquire { .. }
            | Effect::LockView { .. }
            | Effect::ConditionOf { .. }
            | Effect::Wait { kind: WaitKind::Park, .. }
            | Effect::Notify { .. }
            | Effect::View { .. }
            | Effect::Store { .. }
            | Effect::Load { .. }
            | Effect::Wraps { .. }
            | Effect::Feeds { .. }
            | Effect::Join { .. }
            | Effect::Handle { .. }
            | Effect::After { .. }
            | Effect::RunsTask { .. }
            | Effect::ObservesInterrupt { .. }
            | Effect::Controls { .. }
            | Effect::Terminates
            | Effect::Receive { .. }
            | Effect::AtomicRead { .. }
            | Effect::AtomicWrite { .. }
            | Effect::AtomicUpdate { .. }
            | Effect::Fence { .. }
            | Effect::Read { .. }
            | Effect::Write { .. }
            | Effect::ThreadLocalAccess { .. }
            | Effect::Blocks { .. }
            | Effect::Sleeps
            | Effect::Reflective
            | Effect::ReturnsFresh
            | Effect::ReturnsType(_)
            | Effect::SingleWorker
            | Effect::Parallel
            | Effect::Sequential
            | Effect::Escapes { .. } => None,
        }
    }

    /// The operand whose publications the caller sees afterwards, with the outcome that tells
    /// whether it does, if this effect receives anything.
    #[must_use]
    pub fn receives_from(self) -> Option<(Operand, Outcome)> {
        match self {
            Effect::Acquire { lock, outcome, .. } => Some((lock, outcome)),
            Effect::Synchronized { lock } => Some((lock, Outcome::Always)),
            Effect::Wait { on, kind: WaitKind::Monitor | WaitKind::Condition, .. } => {
                Some((on, Outcome::Always))
            }
            Effect::Receive { from, outcome } => Some((from, outcome)),
            Effect::AtomicRead { of, ordering: Ordering::Acquire | Ordering::Volatile }
            | Effect::AtomicUpdate {
                of, ordering: Ordering::Acquire | Ordering::Volatile, ..
            } => Some((of, Outcome::Always)),
            Effect::Join { task, outcome, .. } => Some((task, outcome)),
            Effect::ObservesInterrupt { thread, outcome } => Some((thread, outcome)),
            Effect::Release { .. }
            | Effect::LockView { .. }
            | Effect::ConditionOf { .. }
            | Effect::Wait { kind: WaitKind::Park, .. }
            | Effect::Notify { .. }
            | Effect::View { .. }
            | Effect::Store { .. }
            | Effect::Load { .. }
            | Effect::Wraps { .. }
            | Effect::Feeds { .. }
            | Effect::Fork { .. }
            | Effect::Submit { .. }
            | Effect::Handle { .. }
            | Effect::After { .. }
            | Effect::RunsTask { .. }
            | Effect::Interrupt { .. }
            | Effect::Controls { .. }
            | Effect::Terminates
            | Effect::Publish { .. }
            | Effect::AtomicRead { .. }
            | Effect::AtomicWrite { .. }
            | Effect::AtomicUpdate { .. }
            | Effect::Fence { .. }
            | Effect::Read { .. }
            | Effect::Write { .. }
            | Effect::ThreadLocalAccess { .. }
            | Effect::Blocks { .. }
            | Effect::Sleeps
            | Effect::Reflective
            | Effect::ReturnsFresh
            | Effect::ReturnsType(_)
            | Effect::SingleWorker
            | Effect::Parallel
            | Effect::Sequential
            | Effect::Escapes { .. } => None,
        }
    }
}

/// The rows of one area, with the Java release that has all of their methods.
#[derive(Debug)]
pub struct Table {
    /// What the rows are about; the name of the file that holds them.
    pub area: &'static str,
    /// The oldest Java release whose library has every method of this table, counting from 17;
    /// 0 for libraries that do not come with Java.
    pub since: u8,
    /// The rows, class by class.
    pub rows: &'static [&'static [Model]],
}

/// Every table.
pub static TABLES: &[Table] = &[
    Table { area: "object_and_thread", since: 17, rows: object_and_thread::ROWS },
    Table { area: "locks", since: 17, rows: locks::ROWS },
    Table { area: "atomics", since: 17, rows: atomics::ROWS },
    Table { area: "executors", since: 17, rows: executors::ROWS },
    Table { area: "futures", since: 17, rows: futures::ROWS },
    Table { area: "coordination", since: 17, rows: coordination::ROWS },
    Table { area: "collections", since: 17, rows: collections::ROWS },
    Table { area: "synchronized_collections", since: 17, rows: synchronized_collections::ROWS },
    Table { area: "unsynchronized_collections", since: 17, rows: unsynchronized_collections::ROWS },
    Table { area: "input_output", since: 17, rows: input_output::ROWS },
    Table { area: "reflection", since: 17, rows: reflection::ROWS },
    Table { area: "streams", since: 17, rows: streams::ROWS },
    Table { area: "newer_releases", since: 21, rows: newer_releases::SINCE_21 },
    Table { area: "newer_releases", since: 25, rows: newer_releases::SINCE_25 },
    Table { area: "kotlin_and_scala", since: 0, rows: kotlin_and_scala::ROWS },
    Table { area: "frameworks", since: 0, rows: frameworks::ROWS },
];

/// Every row, sorted by class, method and descriptor.
pub fn all() -> &'static [&'static Model] {
    static ALL: OnceLock<Vec<&'static Model>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut rows: Vec<&Model> =
            TABLES.iter().flat_map(|table| table.rows.iter().copied().flatten()).collect();
        rows.sort_by_key(|model| (model.class, model.method, model.descriptor));
        rows
    })
}

/// The row of a method of exactly this class: the one for this descriptor, else the one for these
/// parameters with any result, else the one for every overload.
#[must_use]
pub fn lookup(class: &str, method: &str, descriptor: &str) -> Option<&'static Model> {
    type Overloads = Vec<&'static Model>;
    static INDEX: OnceLock<FxHashMap<(&'static str, &'static str), Overloads>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index: FxHashMap<_, Overloads> = FxHashMap::default();
        for model in all() {
            index.entry((model.class, model.method)).or_default().push(model);
        }
        index
    });
    let overloads = index.get(&(class, method))?;
    let with = |wanted: &dyn Fn(&str) -> bool| {
        overloads.iter().copied().find(|model| wanted(model.descriptor))
    };
    with(&|pattern| pattern == descriptor)
        .or_else(|| {
            let parameters = &descriptor[..=descriptor.rfind(')')?];
            with(&|pattern| pattern.strip_suffix('*') == Some(parameters))
        })
        .or_else(|| with(&|pattern| pattern == "*"))
}

/// The row that a call resolves to: of the class itself, of its superclasses from near to far, or
/// of its interfaces breadth first, as far as [`supertypes`] knows them.
#[must_use]
pub fn find(class: &str, method: &str, descriptor: &str) -> Option<&'static Model> {
    lookup(class, method, descriptor).or_else(|| {
        // A constructor is not inherited.
        let inherited: &[_] = if method == "<init>" { &[] } else { supertypes(class) };
        inherited.iter().find_map(|ancestor| lookup(ancestor, method, descriptor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_method_has_two_rows() {
        for pair in all().windows(2) {
            let key = |model: &Model| (model.class, model.method, model.descriptor);
            assert_ne!(key(pair[0]), key(pair[1]));
        }
    }

    #[test]
    fn an_exact_row_wins_over_parameters_and_parameters_over_any() {
        let descriptor = |descriptor| {
            lookup("java/util/concurrent/ConcurrentMap", "remove", descriptor)
                .map(|model| model.descriptor)
        };
        assert_eq!(
            descriptor("(Ljava/lang/Object;)Ljava/lang/Object;"),
            Some("(Ljava/lang/Object;)*")
        );
        assert_eq!(descriptor("(Ljava/lang/Object;Ljava/lang/Object;)Z"), {
            Some("(Ljava/lang/Object;Ljava/lang/Object;)*")
        });
        assert_eq!(descriptor("()V"), None);
        assert!(lookup("java/lang/Object", "wait", "(J)V").is_some());
        assert_eq!(lookup("java/lang/Object", "wait", "not a descriptor"), None);
    }

    #[test]
    fn a_reentrant_lock_is_locked_through_its_interface() {
        let model = find("java/util/concurrent/locks/ReentrantLock", "lock", "()V").unwrap();
        assert!(model.effects.contains(&Effect::Acquire {
            lock: Operand::Receiver,
            mode: Mode::Exclusive,
            outcome: Outcome::Always
        }));
    }

    #[test]
    fn constructors_are_not_inherited() {
        assert_eq!(find("java/lang/Thread$Builder$OfVirtual", "<init>", "()V"), None);
        assert_eq!(find("java/util/concurrent/ConcurrentMap", "<init>", "()V"), None);
    }

    #[test]
    fn rows_of_wrappers_name_their_mutex() {
        let model = find(
            "java/util/Collections$SynchronizedRandomAccessList",
            "get",
            "(I)Ljava/lang/Object;",
        )
        .unwrap();
        assert_eq!(model.effects[0], Effect::Synchronized { lock: Operand::Field("mutex") });
    }

    #[test]
    fn a_failed_try_lock_receives_nothing() {
        let model = find("java/util/concurrent/locks/Lock", "tryLock", "()Z").unwrap();
        let received: Vec<_> =
            model.effects.iter().filter_map(|effect| effect.receives_from()).collect();
        assert_eq!(received, [(Operand::Receiver, Outcome::IfTrue)]);
        assert!(model.effects.iter().all(|effect| effect.publishes_to().is_none()));
    }
}
