//! The table of what instrumented code calls: the hooks, and the operations that [`Hook::Call`] and its kin
//! report.
//!
//! `instrument` inserts calls of these. The class behind them is `java.lang.Scission`; the stub runtime of the tests of
//! `instrument` and the test that calls every hook with hostile operands are generated from this table.

/// The class that all hooks are static methods of.
pub const RUNTIME_CLASS: &str = "java/lang/Scission";

/// What a parameter of a hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// A reference of any type.
    Object,
    /// A class.
    Class,
    /// The place in code, by its number. Always the last parameter.
    Site,
    /// A number that the program computed: an index of an array, or an operand of a branch.
    Value,
    /// The number that instrumentation gave to the implementation of a lambda.
    Key,
    /// The number of an [`Op`].
    Operation,
    /// The opcode of a branch.
    Opcode,
    /// The result of a call; the hook does nothing if it is 0.
    UnlessZero,
    /// The result of a call; the hook does nothing unless it is 0.
    IfZero,
    /// The result of a call; the hook does nothing if it is null.
    UnlessNull,
    /// What [`Hook::Since`] or [`Hook::SinceByClass`] returned. The only one that takes two words of the operand stack.
    Ticket,
    /// The result of a call; the hook does nothing unless it is null.
    IfNull,
}

/// The type of a parameter or a result in descriptors.
macro_rules! descriptor {
    () => {
        "V"
    };
    (Ticket) => {
        "J"
    };
    (Object) => {
        "Ljava/lang/Object;"
    };
    (UnlessNull) => {
        "Ljava/lang/Object;"
    };
    (IfNull) => {
        "Ljava/lang/Object;"
    };
    (Class) => {
        "Ljava/lang/Class;"
    };
    ($number:ident) => {
        "I"
    };
}

impl Parameter {
    /// Its type in Java.
    #[must_use]
    pub const fn java_type(self) -> &'static str {
        match self {
            Parameter::Object | Parameter::UnlessNull | Parameter::IfNull => "Object",
            Parameter::Class => "Class<?>",
            Parameter::Site
            | Parameter::Value
            | Parameter::Key
            | Parameter::Operation
            | Parameter::Opcode
            | Parameter::UnlessZero
            | Parameter::IfZero => "int",
            Parameter::Ticket => "long",
        }
    }

    /// How many words of the operand stack it takes.
    const fn words(self) -> u16 {
        match self {
            Parameter::Ticket => 2,
            Parameter::Object
            | Parameter::Class
            | Parameter::Site
            | Parameter::Value
            | Parameter::Key
            | Parameter::Operation
            | Parameter::Opcode
            | Parameter::UnlessZero
            | Parameter::IfZero
            | Parameter::UnlessNull
            | Parameter::IfNull => 1,
        }
    }
}

macro_rules! hooks {
    ($(
        $(#[$doc:meta])+
        $hook:ident = $name:ident($($parameter:ident: $what:ident),*) $(-> $result:ident)?;
    )+) => {
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
            pub const fn name(self) -> &'static str {
                match self {
                    $(Hook::$hook => stringify!($name),)+
                }
            }

            /// The descriptor of the method.
            #[must_use]
            pub const fn descriptor(self) -> &'static str {
                match self {
                    $(Hook::$hook => concat!(
                        "(", $(descriptor!($what),)* ")", descriptor!($($result)?)
                    ),)+
                }
            }

            /// What it returns, if anything.
            #[must_use]
            pub const fn result(self) -> Option<Parameter> {
                match self {
                    $(Hook::$hook => [$(Some(Parameter::$result),)? None][0],)+
                }
            }

            /// The names and meanings of its parameters, in order.
            #[must_use]
            pub const fn parameters(self) -> &'static [(&'static str, Parameter)] {
                match self {
                    $(Hook::$hook => &[$((stringify!($parameter), Parameter::$what)),*],)+
                }
            }
        }
    };
}

hooks! {
    /// After a field was read: the object, which is never null, and the site.
    Read = read(object: Object, site: Site);
    /// Before a field is written: the object, which may be null, and the site.
    Write = write(object: Object, site: Site);
    /// As [`Hook::Read`], of an object that no other thread can know yet.
    ReadNew = readNew(object: Object, site: Site);
    /// As [`Hook::Write`], of an object that no other thread can know yet; it is not null.
    WriteNew = writeNew(object: Object, site: Site);
    /// After a static field was read: the class that the code names, and the site.
    ReadStatic = readStatic(owner: Class, site: Site);
    /// Before a static field is written: the class that the code names, and the site.
    WriteStatic = writeStatic(owner: Class, site: Site);
    /// As [`Hook::ReadStatic`], in class files that cannot name a class as a constant.
    ReadStaticUnnamed = readStatic(site: Site);
    /// As [`Hook::WriteStatic`], in class files that cannot name a class as a constant.
    WriteStaticUnnamed = writeStatic(site: Site);
    /// Before a field is read that is or may be volatile: the object, which may be null, and the site of the read.
    BeforeRead = beforeRead(object: Object, site: Site);
    /// As [`Hook::BeforeRead`], of a static field: the class that the code names, and the site of the read.
    BeforeReadStatic = beforeReadStatic(owner: Class, site: Site);
    /// As [`Hook::BeforeReadStatic`], in class files that cannot name a class as a constant.
    BeforeReadStaticUnnamed = beforeReadStatic(site: Site);
    /// After a field was written that is or may be volatile: the site of the write.
    Written = written(site: Site);
    /// Before an array element is read: the array, which may be null, the index, which may be out of
    /// bounds, and the site.
    ReadElement = readElement(array: Object, index: Value, site: Site);
    /// Before an array element is written, as [`Hook::ReadElement`].
    WriteElement = writeElement(array: Object, index: Value, site: Site);
    /// Before a monitor is entered: the object, which may be null.
    Prepare = prepare(object: Object);
    /// After the monitor of the last [`Hook::Prepare`] was entered: the site.
    Entered = entered(site: Site);
    /// Before a monitor is given back: the object and the site.
    Exit = exit(object: Object, site: Site);
    /// At the entry of a synchronized method: the receiver or the class, and the site.
    EnterMethod = enterMethod(object: Object, site: Site);
    /// At the entry of a static synchronized method, in class files that cannot name a class as a
    /// constant.
    EnterMethodUnnamed = enterMethod(site: Site);
    /// Before a synchronized method ends, in whichever way: the site of its entry.
    LeaveMethod = leaveMethod(site: Site);
    /// At the beginning of an atomic block: the site.
    Begin = begin(site: Site);
    /// At the end of an atomic block, in whichever way it ends: the site of its beginning.
    End = end(site: Site);
    /// As [`Hook::Begin`], in a method that may be the body of a task, after [`Hook::TaskBegin`]: the body is no block.
    BeginUnlessBody = beginUnlessBody(site: Site);
    /// As [`Hook::End`], of a block that [`Hook::BeginUnlessBody`] began, or did not.
    EndUnlessBody = endUnlessBody(site: Site);
    /// Before a call that starts a thread or waits for one, after what is reported before it: open blocks are cut.
    Cut = cut();
    /// At the entry of a method that may be the body of a task: the task and the site.
    TaskBegin = taskBegin(task: Object, site: Site);
    /// Before code of the program itself calls a method that may be the body of a task: the call is one as any other.
    CallsTask = callsTask();
    /// The same before such a call in a loop, which may call one task after the other.
    CallsTasks = callsTasks();
    /// In the body of a task that does nothing but call another method: the site of that call.
    Forwards = forwards(site: Site);
    /// Before the body of a task ends, in whichever way: the site of its beginning.
    TaskEnd = taskEnd(site: Site);
    /// At the entry of the implementation of a lambda: its key and the site.
    LambdaBegin = lambdaBegin(body: Key, site: Site);
    /// After a lambda was made: the object, the key of its implementation, and the site.
    Lambda = lambda(object: Object, body: Key, site: Site);
    /// Before the initialiser of a class returns: the class and the site.
    Initialised = initialised(type: Class, site: Site);
    /// Around a call of the library: an object, an [`Op`] and the site.
    Call = call(operand: Object, op: Operation, site: Site);
    /// After a call whose result is not 0, as [`Hook::Call`].
    CallIf = callIf(result: UnlessZero, operand: Object, op: Operation, site: Site);
    /// After a call whose result is 0, as [`Hook::Call`].
    CallIfNot = callIfNot(result: IfZero, operand: Object, op: Operation, site: Site);
    /// After a call whose result is not null, as [`Hook::Call`].
    CallIfSome = callIfSome(result: UnlessNull, operand: Object, op: Operation, site: Site);
    /// Before a call whose reports after it are not one step with it: how many events have been reported.
    Since = since(site: Site) -> Ticket;
    /// As [`Hook::Since`], before a call by an interface, if the class of the object is a concurrent collection.
    SinceByClass = sinceByClass(operand: Object, site: Site) -> Ticket;
    /// [`Hook::ReadContents`] and [`Hook::SinceByClass`] in one.
    ReadContentsSince = readContentsSince(operand: Object, site: Site) -> Ticket;
    /// [`Hook::WriteContents`] and [`Hook::SinceByClass`] in one.
    WriteContentsSince = writeContentsSince(operand: Object, site: Site) -> Ticket;
    /// After such a call and before its reports: what was returned before the call.
    Interval = interval(since: Ticket);
    /// After a call by an interface: [`Hook::Interval`] and [`Hook::Call`] in one, which do nothing if what was returned before
    /// the call says that the object is no concurrent collection. Most are none.
    Concurrent = concurrent(since: Ticket, operand: Object, op: Operation, site: Site);
    /// As [`Hook::Concurrent`], for a call that is about the entry with this key alone.
    ConcurrentEntry = concurrentEntry(since: Ticket, key: Object, operand: Object, op: Operation, site: Site);
    /// After a call whose result is null, as [`Hook::Call`].
    CallIfNone = callIfNone(result: IfNull, operand: Object, op: Operation, site: Site);
    /// Before a call: [`Op::CollectionRead`], which is so frequent that it has a hook of its own.
    ReadContents = readContents(object: Object, site: Site);
    /// Before a call: [`Op::CollectionWrite`], likewise.
    WriteContents = writeContents(object: Object, site: Site);
    /// After a call that made the first object a view of the second; the site says how they are related.
    Alias = alias(view: Object, of: Object, site: Site);
    /// After `super.clone()`, where that is not code of the program: the copy, whose added fields hold what those of the
    /// original held.
    Cloned = cloned(copy: Object);
    /// After any other call of `clone()`, which may be of the library or of the program: the original and the result.
    Copied = copied(of: Object, copy: Object);
    /// Only where threads may be held back, before a field is read or written, an array element is
    /// accessed or a monitor is entered: the object, which may be null, and the site of the operation.
    Approach = approach(object: Object, site: Site);
    /// As [`Hook::Approach`], before a static field is read or written: the site.
    ApproachStatic = approachStatic(site: Site);
    /// Only where threads may be held back, before a call: the site.
    ApproachCall = approachCall(site: Site);
    /// Before a branch on an `int`, or a switch: the operand, the opcode and the site.
    BranchInt = branch(value: Value, opcode: Opcode, site: Site);
    /// Before a branch on a reference.
    BranchRef = branch(value: Object, opcode: Opcode, site: Site);
    /// Before a branch on two `int`s.
    BranchInts = branch(left: Value, right: Value, opcode: Opcode, site: Site);
    /// Before a branch on two references.
    BranchRefs = branch(left: Object, right: Object, opcode: Opcode, site: Site);
    /// At the entry of a method whose branches have trees: the site of the first of them.
    EnterSides = enterSides(site: Site);
    /// Before such a method ends, in whichever way.
    LeaveSides = leaveSides(site: Site);
    /// Where sides of branches meet: how deep inside others, and the site of the first branch of the method.
    Rejoin = rejoin(depth: Value, site: Site);
    /// Before [`Hook::Decide`]: a reference that its sides start from, the register it belongs into, and the site.
    RootRef = root(value: Object, register: Key, site: Site);
    /// Before [`Hook::Decide`]: a number that its sides start from.
    RootInt = root(value: Value, register: Key, site: Site);
    /// Before a branch on an `int`: 0 if it jumps, else 1.
    WayInt = way(value: Value, opcode: Opcode) -> Value;
    /// The same for a reference.
    WayRef = way(value: Object, opcode: Opcode) -> Value;
    /// The same for two `int`s.
    WayInts = way(left: Value, right: Value, opcode: Opcode) -> Value;
    /// The same for two references.
    WayRefs = way(left: Object, right: Object, opcode: Opcode) -> Value;
    /// Before a branch whose sides have trees: the way it goes, the class, three references that the sides start from, and
    /// the site.
    Decide = decide(way: Value, from: Class, first: Object, second: Object, third: Object, site: Site);
    /// The same for a switch: the operand instead of the way.
    DecideSwitch = decideSwitch(value: Value, from: Class, first: Object, second: Object, third: Object, site: Site);
}

impl Hook {
    /// How many words of the operand stack its parameters take.
    #[must_use]
    pub fn words(self) -> u16 {
        self.parameters().iter().map(|(_, what)| what.words()).sum()
    }

    /// How many words of the operand stack its result takes.
    #[must_use]
    pub fn result_words(self) -> u16 {
        self.result().map_or(0, Parameter::words)
    }

    /// The declaration of the method in Java, without a body.
    #[must_use]
    pub fn java_declaration(self) -> String {
        let parameters: Vec<String> = self
            .parameters()
            .iter()
            .map(|(name, what)| format!("{} {name}", what.java_type()))
            .collect();
        let result = self.result().map_or("void", Parameter::java_type);
        format!("public static {result} {}({})", self.name(), parameters.join(", "))
    }
}

macro_rules! ops {
    ($($(#[$doc:meta])+ $op:ident;)+) => {
        /// What a call of the library does to the object that is reported with it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Op {
            $($(#[$doc])+ $op,)+
        }

        impl Op {
            /// Every operation, in the order of their numbers.
            pub const ALL: &'static [Op] = &[$(Op::$op,)+];

            /// Its name in the table.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Op::$op => stringify!($op),)+
                }
            }
        }
    };
}

ops! {
    /// After: the lock is held exclusively, or in the mode that its alias says.
    Acquire;
    /// After: the lock is held shared.
    AcquireShared;
    /// Before: the lock is given back, in whichever mode it is held.
    Release;
    /// Before: the lock is given back, which was held shared.
    ReleaseShared;
    /// Before: the lock, or the lock of the condition, is given back to wait. When the wait ends by an
    /// exception, no [`Op::Woken`] follows; the next report of the thread shows that it is over.
    Wait;
    /// After: the wait is over.
    Woken;
    /// Before: one waiter may go on.
    Notify;
    /// Before: all waiters may go on.
    NotifyAll;
    /// Before: the thread is started, if it is one.
    Fork;
    /// After: the thread has ended, if it is one and is not alive: a join with a time limit is reported
    /// too.
    Join;
    /// Before: the task is handed to another thread.
    Submit;
    /// After: the task has ended; of an executor, all its tasks have; of a collection or an array, all
    /// that are in it.
    TaskJoin;
    /// Before: what the thread did so far is visible to whoever receives from the object.
    Publish;
    /// After: what was published to the object is visible.
    Receive;
    /// After: the atomic was read.
    AtomicRead;
    /// After: the atomic was written; [`Op::Publish`] stands before the call.
    AtomicWrite;
    /// After: the atomic was read and written; [`Op::Publish`] stands before the call when it orders.
    AtomicUpdate;
    /// After: the contents were read as ordinary memory.
    ContentsRead;
    /// After: the contents were written as ordinary memory.
    ContentsWrite;
    /// Before: the thread arrives at a barrier.
    Arrive;
    /// After: the thread has passed a barrier.
    Pass;
    /// Before: the latch is counted down.
    CountDown;
    /// After: the thread has passed a latch.
    LatchPass;
    /// Before: the tasks in the collection or array are handed to other threads.
    SubmitAll;
    /// Before, and right after a [`Op::Submit`] or [`Op::SubmitAll`]: the executor that gets what was
    /// submitted; joining it joins that too.
    SubmittedTo;
    /// Before, or after if the result decides: as [`Op::ContentsRead`], if the class of the object, or of the collection
    /// that it is a view of, is one of the library that leaves it to others to order its calls.
    CollectionRead;
    /// Before, or after if the result decides: as [`Op::ContentsWrite`], under the same condition.
    CollectionWrite;
    /// Before, and right after a [`Op::Submit`]: the stage that ends before what was submitted begins.
    SubmittedAfter;
    /// Before: the futures in the collection or array that the result will stand for.
    Gather;
    /// After, with the result: it stands for the futures of the last [`Op::Gather`].
    Gathered;
    /// Before: a callback of a stream, which other threads may run if the stream is parallel.
    StreamStep;
    /// Before: the stream is about to be worked off.
    StreamBegin;
    /// After: the stream has been worked off.
    StreamEnd;
    /// After: as [`Op::Acquire`], of an object that is a lock because a model says so.
    AcquireModelled;
    /// Before: as [`Op::Release`], of an object that is a lock because a model says so.
    ReleaseModelled;
    /// Before: as [`Op::Submit`], because a user's model says so: no code of the library need show that order.
    SubmitModelled;
    /// After: as [`Op::TaskJoin`], because a user's model says so.
    TaskJoinModelled;
    /// After, and right before another one, which is about the entry with this key alone; the key may be null.
    Key;
    /// After a call by an interface: as [`Op::AtomicRead`], if the class of the object is a concurrent collection.
    ConcurrentRead;
    /// After a call by an interface: as [`Op::AtomicUpdate`], if the class of the object is a concurrent collection.
    ConcurrentUpdate;
    /// As [`Op::Key`], right before one of the two.
    ConcurrentKey;
    /// As [`Op::CollectionRead`], by `super`: the class that decides is the one of the library that the class of the object
    /// extends.
    SuperRead;
    /// As [`Op::CollectionWrite`], by `super`.
    SuperWrite;
    /// After: as [`Op::AtomicUpdate`], by a step that commutes with others like it and whose result is not used.
    AtomicAdd;
    /// After: as [`Op::AtomicUpdate`], which has found the value that was expected.
    AtomicSwap;
    /// After: the thread reads without a lock from here on, and asks before it relies on what it has read.
    BeginOptimistic;
    /// Before: the thread asks whether what it has read without a lock was consistent.
    EndOptimistic;
}

impl Op {
    /// The number that instrumented code hands to the runtime, from 1.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32 + 1
    }

    /// Whether it follows a call by an interface, and is there for concurrent collections only.
    #[must_use]
    pub const fn is_of_concurrent(self) -> bool {
        matches!(self, Op::ConcurrentRead | Op::ConcurrentUpdate | Op::ConcurrentKey)
    }
}
