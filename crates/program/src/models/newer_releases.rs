//! Methods that came after Java 17: virtual threads, sequenced collections, structured concurrency.
//!
//! Approximations: a virtual thread is a thread; that it pins its carrier while it holds a monitor,
//! until Java 24, is not modelled. Structured concurrency is a preview in Java 25: its rows follow
//! that release, and a later one may change its methods. Subtasks of a scope are joined by the
//! scope's `join`, whatever its policy.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Elements, Receiver, Result};
use Runner::{Executor, VirtualThread};

const WRAPS0: Effect = Wraps { task: Argument(0), by: Result };
const FORKS0: Effect = submit(Argument(0), Runner::NewThread);
const FORKS0_VIRTUAL: Effect = submit(Argument(0), VirtualThread);
const HANDLE0: Effect = Handle { of: Argument(0) };
const EXECUTE: Effect = submit(Argument(0), Executor(Receiver));
const DONE: Effect = join_if(Receiver, Outcome::Always);

pub(super) const SINCE_21: &[&[Model]] = models! {
    "java/lang/Thread" => {
        "startVirtualThread" "*" [FORKS0_VIRTUAL, HANDLE0, FRESH];
        "ofPlatform", "ofVirtual" "()*" [FRESH];
        "join" "(Ljava/time/Duration;)Z" [join_if(Receiver, Outcome::IfTrue), BLOCKS_TIMED];
        "isVirtual", "threadId" "*" [];
    }
    "java/lang/Thread$Builder", "java/lang/Thread$Builder$OfPlatform" => {
        "start" "*" [FORKS0, HANDLE0, FRESH];
    }
    "java/lang/Thread$Builder$OfVirtual" => {
        "start" "*" [FORKS0_VIRTUAL, HANDLE0, FRESH];
    }
    "java/lang/Thread$Builder", "java/lang/Thread$Builder$OfPlatform",
    "java/lang/Thread$Builder$OfVirtual" => {
        "unstarted" "*" [WRAPS0, FRESH];
        "factory" "()*" [FRESH];
        "name", "inheritInheritableThreadLocals" "*" [VIEW];
        "uncaughtExceptionHandler" "*" [submit(Argument(0), Runner::System), VIEW];
    }
    "java/lang/Thread$Builder$OfPlatform" => {
        "group", "daemon", "priority", "stackSize" "*" [VIEW];
    }

    "java/util/concurrent/Executors" => {
        "newThreadPerTaskExecutor", "newVirtualThreadPerTaskExecutor" "*" [
            FRESH, ReturnsType("java/util/concurrent/ThreadPerTaskExecutor"),
        ];
    }
    "java/util/concurrent/ExecutorService", "java/util/concurrent/ForkJoinPool" => {
        "close" "()V" [join(Receiver), BLOCKS_DEAF];
    }
    "java/util/concurrent/Future", "java/util/concurrent/FutureTask",
    "java/util/concurrent/CompletableFuture", "java/util/concurrent/ForkJoinTask" => {
        "resultNow", "exceptionNow" "()*" [DONE, RECEIVE, GIVES];
        "state" "()*" [join_if(Receiver, Outcome::Unknown)];
    }
    "java/util/concurrent/Future$State" => {
        "values" "()*" [FRESH];
        "valueOf" "*" [];
    }
    "java/util/concurrent/ForkJoinPool" => {
        "externalSubmit", "lazySubmit" "*" [EXECUTE, HANDLE0, VIEW0];
        "setParallelism" "*" [];
    }
    "java/util/concurrent/ForkJoinTask" => {
        "quietlyJoin" "(JLjava/util/concurrent/TimeUnit;)Z" [
            join_if(Receiver, Outcome::IfTrue), BLOCKS_TIMED,
        ];
        "quietlyJoinUninterruptibly" "*" [join_if(Receiver, Outcome::IfTrue), BLOCKS_TIMED_DEAF];
        "adaptInterruptible" "*" [WRAPS0, FRESH];
    }

    "java/util/concurrent/ConcurrentSkipListMap", "java/util/concurrent/ConcurrentNavigableMap" => {
        // They throw: the order of a sorted map is not theirs to choose.
        "putFirst", "putLast" "*" [];
        "sequencedKeySet", "sequencedValues", "sequencedEntrySet", "reversed" "()*" [VIEW];
    }
    "java/util/concurrent/ConcurrentSkipListSet" => {
        "addFirst", "addLast" "*" [];
        "getFirst", "getLast" "*" [LOOK, RECEIVE, GIVES];
        "removeFirst", "removeLast" "*" [CHANGE, RECEIVE, GIVES];
        "reversed" "()*" [VIEW];
    }
    "java/util/concurrent/CopyOnWriteArrayList" => {
        "getFirst", "getLast" "*" [LOOK, RECEIVE, GIVES];
        "addFirst", "addLast" "*" [CHANGE, PUBLISH, KEEPS0];
        "removeFirst", "removeLast" "*" [CHANGE, RECEIVE, GIVES];
        "reversed" "()*" [VIEW];
    }
    "java/util/concurrent/BlockingDeque", "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/ConcurrentLinkedDeque" => {
        "reversed" "()*" [VIEW];
    }
    "java/util/Vector", "java/util/Stack" => {
        "getFirst", "getLast" "*" [SYNC, READ, GIVES];
        "addFirst", "addLast" "*" [SYNC, WRITE, KEEPS0];
        "removeFirst", "removeLast" "*" [SYNC, WRITE, GIVES];
        "reversed" "()*" [VIEW];
    }
    "java/lang/StringBuffer" => {
        "repeat" "*" [SYNC, WRITE, VIEW];
    }
    "java/lang/StringBuilder" => {
        "repeat" "*" [WRITE, VIEW];
    }
    "java/util/concurrent/ThreadLocalRandom" => {
        "from" "*" [VIEW0];
    }
    "java/util/ArrayList" => {
        "getFirst", "getLast" "*" [READ, GIVES];
        "addFirst", "addLast" "*" [WRITE, KEEPS0];
        "removeFirst", "removeLast" "*" [WRITE, GIVES];
    }
    "java/util/List", "java/util/SequencedCollection" => {
        "getFirst", "getLast", "removeFirst", "removeLast" "*" [GIVES];
        "addFirst", "addLast" "*" [KEEPS0];
    }
    "java/util/SequencedCollection", "java/util/List", "java/util/Deque", "java/util/ArrayList",
    "java/util/LinkedList", "java/util/ArrayDeque", "java/util/LinkedHashSet",
    "java/util/TreeSet" => {
        "reversed" "()*" [VIEW];
    }
};

pub(super) const SINCE_25: &[&[Model]] = models! {
    "java/util/concurrent/StructuredTaskScope" => {
        "open" "*" [FRESH];
        "fork" "*" [FORKS0_VIRTUAL, HANDLE0, KEEPS0, FRESH];
        "join" "()*" [join(Receiver), RECEIVE, GIVES, BLOCKS];
        "close" "()V" [join(Receiver), BLOCKS_DEAF];
        "isCancelled" "()Z" [RECEIVE_IF];
    }
    "java/util/concurrent/StructuredTaskScope$Subtask" => {
        "get", "exception" "()*" [DONE, GIVES];
        "state" "()*" [];
    }
    "java/util/concurrent/StructuredTaskScope$Subtask$State" => {
        "values" "()*" [FRESH];
        "valueOf" "*" [];
    }
    "java/util/concurrent/StructuredTaskScope$Configuration" => {
        "withThreadFactory", "withName", "withTimeout" "*" [VIEW];
    }
    "java/util/concurrent/StructuredTaskScope$Joiner" => {
        "onFork", "onComplete", "result" "*" [];
        "allSuccessfulOrThrow", "anySuccessfulResultOrThrow", "awaitAllSuccessfulOrThrow" "*" [
            FRESH,
        ];
        "awaitAll", "allUntil" "*" [FRESH];
    }
    "java/util/concurrent/StructureViolationException" => {
        "<init>" "*" [];
    }
    "java/util/concurrent/ForkJoinPool" => {
        "invokeAllUninterruptibly" "*" [
            submit(Elements(0), Executor(Receiver)), Handle { of: Elements(0) }, join(Elements(0)),
            BLOCKS_DEAF,
        ];
        "schedule" "*" [EXECUTE, HANDLE0, FRESH];
        "scheduleAtFixedRate", "scheduleWithFixedDelay" "*" [
            Submit { task: Argument(0), to: Executor(Receiver), times: Times::Repeatedly },
            HANDLE0, FRESH,
        ];
        "submitWithTimeout" "*" [
            EXECUTE, submit(Argument(3), Executor(Receiver)), HANDLE0, FRESH,
        ];
        "cancelDelayedTasksOnShutdown", "getDelayedTaskCount" "*" [];
    }
    "java/util/concurrent/ThreadLocalRandom" => {
        "equiDoubles" "*" [VIEW];
    }
    "java/util/concurrent/ForkJoinWorkerThread" => {
        "getQueuedTaskCount" "*" [];
    }
    "java/lang/ScopedValue" => {
        "get", "orElse" "*" [ThreadLocalAccess { of: Receiver }, GIVES];
        "where" "*" [Store { value: Argument(1), into: Result }, FRESH];
        "newInstance" "*" [FRESH];
        "isBound" "*" [ThreadLocalAccess { of: Receiver }];
    }
    "java/lang/ScopedValue$Carrier" => {
        "run", "call" "*" [RUNS_ONCE];
        "where" "*" [Store { value: Argument(1), into: Result }, VIEW];
    }
};
