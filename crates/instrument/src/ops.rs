//! The one table of what instrumented code calls: the hooks, and the operations that [`Hook::Call`]
//! and its kin report. The class behind them, `java.lang.Scission`, mirrors this table.

/// The class that all hooks are static methods of.
pub const RUNTIME_CLASS: &str = "java/lang/Scission";

macro_rules! hooks {
    ($($(#[$doc:meta])+ $hook:ident = $name:literal $descriptor:literal;)+) => {
        /// A static method of the runtime that instrumented code calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Hook {
            $($(#[$doc])+ $hook,)+
        }

        impl Hook {
            /// Every hook, in the order of the table.
            pub const ALL: &'static [Hook] = &[$(Hook::$hook,)+];

            /// The name of the method.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Hook::$hook => $name,)+
                }
            }

            /// The descriptor of the method.
            #[must_use]
            pub fn descriptor(self) -> &'static str {
                match self {
                    $(Hook::$hook => $descriptor,)+
                }
            }
        }
    };
}

hooks! {
    /// After a field was read: the object, which is never null, and the site.
    Read = "read" "(Ljava/lang/Object;I)V";
    /// Before a field is written: the object, which may be null, and the site.
    Write = "write" "(Ljava/lang/Object;I)V";
    /// After a static field was read: the class that the code names, and the site.
    ReadStatic = "readStatic" "(Ljava/lang/Class;I)V";
    /// Before a static field is written: the class that the code names, and the site.
    WriteStatic = "writeStatic" "(Ljava/lang/Class;I)V";
    /// As [`Hook::ReadStatic`], in class files that cannot name a class as a constant.
    ReadStaticUnnamed = "readStatic" "(I)V";
    /// As [`Hook::WriteStatic`], in class files that cannot name a class as a constant.
    WriteStaticUnnamed = "writeStatic" "(I)V";
    /// Before an array element is read: the array, which may be null, the index, which may be out of
    /// bounds, and the site.
    ReadElement = "readElement" "(Ljava/lang/Object;II)V";
    /// Before an array element is written, as [`Hook::ReadElement`].
    WriteElement = "writeElement" "(Ljava/lang/Object;II)V";
    /// Before a monitor is entered: the object, which may be null.
    Prepare = "prepare" "(Ljava/lang/Object;)V";
    /// After the monitor of the last [`Hook::Prepare`] was entered: the site.
    Entered = "entered" "(I)V";
    /// Before a monitor is given back: the object and the site.
    Exit = "exit" "(Ljava/lang/Object;I)V";
    /// At the entry of a synchronized method: the receiver or the class, and the site.
    EnterMethod = "enterMethod" "(Ljava/lang/Object;I)V";
    /// At the entry of a static synchronized method, in class files that cannot name a class as a
    /// constant.
    EnterMethodUnnamed = "enterMethod" "(I)V";
    /// Before a synchronized method ends, in whichever way: the site of its entry.
    LeaveMethod = "leaveMethod" "(I)V";
    /// At the beginning of an atomic block: the site.
    Begin = "begin" "(I)V";
    /// At the end of an atomic block, in whichever way it ends: the site of its beginning.
    End = "end" "(I)V";
    /// At the entry of a method that may be the body of a task: the task and the site.
    TaskBegin = "taskBegin" "(Ljava/lang/Object;I)V";
    /// Before the body of a task ends, in whichever way: the site of its beginning.
    TaskEnd = "taskEnd" "(I)V";
    /// At the entry of the implementation of a lambda: its key and the site.
    LambdaBegin = "lambdaBegin" "(II)V";
    /// After a lambda was made: the object, the key of its implementation, and the site.
    Lambda = "lambda" "(Ljava/lang/Object;II)V";
    /// Before the initialiser of a class returns: the class and the site.
    Initialised = "initialised" "(Ljava/lang/Class;I)V";
    /// Around a call of the library: an object, an [`Op`] and the site.
    Call = "call" "(Ljava/lang/Object;II)V";
    /// After a call whose result is not 0, as [`Hook::Call`].
    CallIf = "callIf" "(ILjava/lang/Object;II)V";
    /// After a call whose result is 0, as [`Hook::Call`].
    CallIfNot = "callIfNot" "(ILjava/lang/Object;II)V";
    /// After a call whose result is not null, as [`Hook::Call`].
    CallIfSome = "callIfSome" "(Ljava/lang/Object;Ljava/lang/Object;II)V";
    /// After a call that made the first object another face of the second; the site says how they are
    /// related.
    Alias = "alias" "(Ljava/lang/Object;Ljava/lang/Object;I)V";
    /// Only where threads may be held back, before a field is read or written, an array element is
    /// accessed or a monitor is entered: the object, which may be null, and the site of the operation.
    Approach = "approach" "(Ljava/lang/Object;I)V";
    /// As [`Hook::Approach`], before a static field is read or written: the site.
    ApproachStatic = "approachStatic" "(I)V";
    /// Only where threads may be held back, before a call: the site.
    ApproachCall = "approachCall" "(I)V";
    /// Before a branch on an `int`, or a switch: the operand, the opcode and the site.
    BranchInt = "branch" "(III)V";
    /// Before a branch on a reference.
    BranchRef = "branch" "(Ljava/lang/Object;II)V";
    /// Before a branch on two `int`s.
    BranchInts = "branch" "(IIII)V";
    /// Before a branch on two references.
    BranchRefs = "branch" "(Ljava/lang/Object;Ljava/lang/Object;II)V";
}

impl Hook {
    /// How many words of the operand stack its parameters take. No parameter takes two.
    #[must_use]
    pub fn words(self) -> u16 {
        let parameters = self.descriptor().trim_start_matches('(').trim_end_matches(")V");
        let references = parameters.matches(';').count();
        let ints = parameters
            .split_inclusive(';')
            .map(|part| part.split('L').next().unwrap_or(part).len())
            .sum::<usize>();
        (references + ints) as u16
    }
}

macro_rules! ops {
    ($($(#[$doc:meta])+ $op:ident = $number:literal $name:literal;)+) => {
        /// What a call of the library does to the object that is reported with it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Op {
            $($(#[$doc])+ $op = $number,)+
        }

        impl Op {
            /// Every operation, in the order of their numbers.
            pub const ALL: &'static [Op] = &[$(Op::$op,)+];

            /// The name of the constant in the runtime.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Op::$op => $name,)+
                }
            }
        }
    };
}

ops! {
    /// After: the lock is held exclusively, or in the mode that its alias says.
    Acquire = 1 "ACQUIRE";
    /// After: the lock is held shared.
    AcquireShared = 2 "ACQUIRE_SHARED";
    /// Before: the lock is given back, in whichever mode it is held.
    Release = 3 "RELEASE";
    /// Before: the lock is given back, which was held shared.
    ReleaseShared = 4 "RELEASE_SHARED";
    /// Before: the lock, or the lock of the condition, is given back to wait. When the wait ends by an
    /// exception, no [`Op::Woken`] follows; the next report of the thread shows that it is over.
    Wait = 5 "WAIT";
    /// After: the wait is over.
    Woken = 6 "WOKEN";
    /// Before: one waiter may go on.
    Notify = 7 "NOTIFY";
    /// Before: all waiters may go on.
    NotifyAll = 8 "NOTIFY_ALL";
    /// Before: the thread is started, if it is one.
    Fork = 9 "FORK";
    /// After: the thread has ended, if it is one and is not alive: a join with a time limit is reported
    /// too.
    Join = 10 "JOIN";
    /// Before: the task is handed to another thread.
    Submit = 11 "SUBMIT";
    /// After: the task has ended; of an executor, all its tasks have; of a collection or an array, all
    /// that are in it.
    TaskJoin = 12 "TASK_JOIN";
    /// Before: what the thread did so far is visible to whoever receives from the object.
    Publish = 13 "PUBLISH";
    /// After: what was published to the object is visible.
    Receive = 14 "RECEIVE";
    /// After: the atomic was read.
    AtomicRead = 15 "ATOMIC_READ";
    /// Before: the atomic is written.
    AtomicWrite = 16 "ATOMIC_WRITE";
    /// After: the atomic was read and written; [`Op::Publish`] stands before the call when it orders.
    AtomicUpdate = 17 "ATOMIC_UPDATE";
    /// After: the monitor was taken, the contents were read, and the monitor was given back.
    SynchronizedRead = 18 "SYNCHRONIZED_READ";
    /// After: the monitor was taken, the contents were written, and the monitor was given back.
    SynchronizedWrite = 19 "SYNCHRONIZED_WRITE";
    /// After: the contents were read as ordinary memory.
    ContentsRead = 20 "CONTENTS_READ";
    /// After: the contents were written as ordinary memory.
    ContentsWrite = 21 "CONTENTS_WRITE";
    /// Before: the thread arrives at a barrier.
    Arrive = 22 "ARRIVE";
    /// After: the thread has passed a barrier.
    Pass = 23 "PASS";
    /// Before: the latch is counted down.
    CountDown = 24 "COUNT_DOWN";
    /// After: the thread has passed a latch.
    LatchPass = 25 "LATCH_PASS";
    /// Before: the tasks in the collection or array are handed to other threads.
    SubmitAll = 26 "SUBMIT_ALL";
    /// After: the monitor was taken and given back.
    Synchronized = 27 "SYNCHRONIZED";
    /// Before, and right after a [`Op::Submit`] or [`Op::SubmitAll`]: the executor that gets what was
    /// submitted; joining it joins that too.
    SubmittedTo = 28 "SUBMITTED_TO";
    /// After a call by an interface: as [`Op::ContentsRead`], if the class of the object leaves it to
    /// others to order its calls.
    InterfaceRead = 29 "INTERFACE_READ";
    /// After a call by an interface: as [`Op::ContentsWrite`], if the class of the object leaves it to
    /// others to order its calls.
    InterfaceWrite = 30 "INTERFACE_WRITE";
    /// Before, and right after a [`Op::Submit`]: the stage that ends before what was submitted begins.
    SubmittedAfter = 31 "SUBMITTED_AFTER";
    /// Before: the futures in the collection or array that the result will stand for.
    Gather = 32 "GATHER";
    /// After, with the result: it stands for the futures of the last [`Op::Gather`].
    Gathered = 33 "GATHERED";
    /// Before: a callback of a stream, which other threads may run if the stream is parallel.
    StreamStep = 34 "STREAM_STEP";
    /// Before: the stream is about to be worked off.
    StreamBegin = 35 "STREAM_BEGIN";
    /// After: the stream has been worked off.
    StreamEnd = 36 "STREAM_END";
    /// After: the monitor was taken, the contents were read as those of a concurrent collection are, and the monitor was
    /// given back.
    SynchronizedLook = 37 "SYNCHRONIZED_LOOK";
    /// After: the monitor was taken, the contents were changed as those of a concurrent collection are, and the monitor
    /// was given back.
    SynchronizedChange = 38 "SYNCHRONIZED_CHANGE";
    /// After: as [`Op::Acquire`], of an object that is a lock because a model says so.
    AcquireModelled = 39 "ACQUIRE_MODELLED";
    /// Before: as [`Op::Release`], of an object that is a lock because a model says so.
    ReleaseModelled = 40 "RELEASE_MODELLED";
}

impl Op {
    /// The number that instrumented code hands to the runtime.
    #[must_use]
    pub fn number(self) -> i32 {
        self as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_hooks_are_their_parameters() {
        for &hook in Hook::ALL {
            let parsed = classes::descriptor::parse_method(hook.descriptor()).unwrap();
            assert_eq!(u32::from(hook.words()), parsed.param_slots(), "{}", hook.descriptor());
            assert_eq!(parsed.ret, None);
        }
    }

    #[test]
    fn operations_are_numbered_from_one() {
        for (position, op) in Op::ALL.iter().enumerate() {
            assert_eq!(op.number(), position as i32 + 1);
        }
    }
}
