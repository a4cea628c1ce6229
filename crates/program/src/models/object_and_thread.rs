//! `Object`, `Thread`, thread locals, and what else of `java.lang` concerns threads.
//!
//! Approximations: the monitors that `Thread.start`, `join` and `setName` take on the thread object
//! are an implementation detail and left out. `isAlive` is a join when it returns `false`, as JLS
//! 17.4.4 says; `getState` is not. A thread local is private to a thread; that a value stored in
//! one may itself be shared is for the heap analysis to see, and the initial value's supplier is
//! taken to run in the caller. `stop` may let go of any lock at any point, which no analysis here
//! follows.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Callbacks, CurrentThread, Receiver, Result, Wrapped};

const LOCAL: Effect = ThreadLocalAccess { of: Receiver };
const JOIN: Effect = join(Receiver);
const JOIN_PERHAPS: Effect = join_if(Receiver, Outcome::Unknown);
const CONTROLS: Effect = Controls { thread: Receiver };
const WRAPS0: Effect = Wraps { task: Argument(0), by: Receiver };
const WRAPS1: Effect = Wraps { task: Argument(1), by: Receiver };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/lang/Object" => {
        "<init>" "()V" [];
        "getClass", "hashCode", "equals", "toString", "finalize" "*" [];
        "clone" "()Ljava/lang/Object;" [READ, FRESH, Store { value: Operand::Contents, into: Operand::Result }];
        "notify" "()V" [Notify { on: Receiver, all: false }];
        "notifyAll" "()V" [Notify { on: Receiver, all: true }];
        "wait" "()V" [wait(WaitKind::Monitor, false), BLOCKS];
        "wait" "(J)V" [wait(WaitKind::Monitor, true), BLOCKS_TIMED];
        "wait" "(JI)V" [wait(WaitKind::Monitor, true), BLOCKS_TIMED];
    }

    "java/lang/Thread" => {
        "<init>" "()V" [];
        "<init>" "(Ljava/lang/String;)V" [];
        "<init>" "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V" [];
        "<init>" "(Ljava/lang/Runnable;)V" [WRAPS0];
        "<init>" "(Ljava/lang/Runnable;Ljava/lang/String;)V" [WRAPS0];
        "<init>" "(Ljava/lang/ThreadGroup;Ljava/lang/Runnable;)V" [WRAPS1];
        "<init>" "(Ljava/lang/ThreadGroup;Ljava/lang/Runnable;Ljava/lang/String;)V" [WRAPS1];
        "<init>" "(Ljava/lang/ThreadGroup;Ljava/lang/Runnable;Ljava/lang/String;J)V" [WRAPS1];
        "<init>" "(Ljava/lang/ThreadGroup;Ljava/lang/Runnable;Ljava/lang/String;JZ)V" [WRAPS1];
        "start" "()V" [Fork { task: Receiver }];
        "run" "()V" [RunsTask { task: Wrapped, times: Times::Once }];
        "join" "()V" [JOIN, BLOCKS];
        "join" "(J)V" [JOIN_PERHAPS, BLOCKS_TIMED];
        "join" "(JI)V" [JOIN_PERHAPS, BLOCKS_TIMED];
        "isAlive" "()Z" [join_if(Receiver, Outcome::IfFalse)];
        "sleep" "*" [Sleeps];
        "yield", "onSpinWait" "()V" [];
        "interrupt" "()V" [Interrupt { thread: Receiver }];
        "interrupted" "()Z" [ObservesInterrupt { thread: CurrentThread, outcome: Outcome::IfTrue }];
        "isInterrupted" "()Z" [ObservesInterrupt { thread: Receiver, outcome: Outcome::IfTrue }];
        "stop", "suspend", "resume" "()V" [CONTROLS];
        "currentThread" "()Ljava/lang/Thread;" [];
        "setUncaughtExceptionHandler" "*" [submit(Argument(0), Runner::System), KEEPS0];
        "setDefaultUncaughtExceptionHandler" "*" [
            Submit { task: Argument(0), to: Runner::System, times: Times::Concurrently },
            Escapes { operand: Argument(0) },
        ];
        "getUncaughtExceptionHandler" "*" [GIVES];
        "getDefaultUncaughtExceptionHandler" "*" [];
        "setContextClassLoader" "*" [KEEPS0];
        "getContextClassLoader" "*" [GIVES];
        "enumerate" "*" [];
        "getAllStackTraces", "getStackTrace" "*" [FRESH];
        "setPriority", "getPriority", "setName", "getName", "getThreadGroup", "activeCount" "*" [];
        "countStackFrames", "dumpStack", "setDaemon", "isDaemon", "checkAccess" "*" [];
        "toString", "holdsLock", "getId", "getState", "clone" "*" [];
    }

    // A plain virtual call, unless the object is the library's wrapper around another task.
    "java/lang/Runnable" => {
        "run" "()V" [RunsTask { task: Wrapped, times: Times::Once }];
    }

    "java/lang/Thread$UncaughtExceptionHandler" => {
        "uncaughtException" "*" [];
    }

    "java/lang/ThreadGroup" => {
        "interrupt" "()V" [Interrupt { thread: Receiver }];
        "stop", "suspend", "resume" "()V" [CONTROLS];
    }

    "java/lang/ThreadLocal", "java/lang/InheritableThreadLocal" => {
        "get" "()*" [LOCAL, GIVES, RunsTask { task: Wrapped, times: Times::Once }];
        "set" "(Ljava/lang/Object;)V" [LOCAL, KEEPS0];
        "remove" "()V" [LOCAL];
    }
    "java/lang/ThreadLocal" => {
        "<init>" "()V" [];
        "withInitial" "*" [Wraps { task: Argument(0), by: Result }, FRESH];
    }
    "java/lang/InheritableThreadLocal" => {
        "<init>" "()V" [];
    }

    "java/lang/Runtime" => {
        "exit", "halt" "(I)V" [Terminates];
        "addShutdownHook" "*" [
            submit(Argument(0), Runner::System), Escapes { operand: Argument(0) },
        ];
        "removeShutdownHook", "availableProcessors", "getRuntime" "*" [];
        "freeMemory", "totalMemory", "maxMemory", "gc", "runFinalization" "*" [];
        "load", "loadLibrary" "*" [Reflective];
    }

    "java/lang/System" => {
        "exit" "(I)V" [Terminates];
        "arraycopy" "*" [
            Read { of: Argument(0) }, Write { of: Argument(2) },
            Store { value: Operand::Elements(0), into: Argument(2) },
        ];
        "currentTimeMillis", "nanoTime", "identityHashCode", "lineSeparator", "gc" "*" [];
        "getProperty", "getenv", "getSecurityManager", "runFinalization" "*" [];
        "setProperty", "clearProperty" "*" [];
        "setIn", "setOut", "setErr" "*" [Escapes { operand: Argument(0) }];
        "load", "loadLibrary" "*" [Reflective];
    }

    "java/lang/Process" => {
        "waitFor" "()I" [BLOCKS];
        "waitFor" "(JLjava/util/concurrent/TimeUnit;)Z" [BLOCKS_TIMED];
    }

    "java/lang/ref/Cleaner" => {
        "create" "*" [FRESH];
        "register" "*" [submit(Argument(1), Runner::System), Escapes { operand: Argument(1) }];
    }

    "java/lang/ref/Reference", "java/lang/ref/WeakReference", "java/lang/ref/SoftReference" => {
        "get" "()Ljava/lang/Object;" [GIVES];
        "refersTo", "clear", "isEnqueued", "enqueue", "reachabilityFence" "*" [];
    }
    "java/lang/ref/WeakReference", "java/lang/ref/SoftReference" => {
        "<init>" "*" [KEEPS0];
    }
    "java/lang/ref/PhantomReference" => {
        "<init>" "*" [];
    }
    "java/lang/ref/ReferenceQueue" => {
        "poll" "()*" [RECEIVE_SOME, GIVES];
        "remove" "()*" [RECEIVE, GIVES, BLOCKS];
        "remove" "(J)*" [RECEIVE_SOME, GIVES, BLOCKS_TIMED];
    }

    "java/util/Timer" => {
        "<init>" "*" [];
        "schedule" "(Ljava/util/TimerTask;J)V" [
            submit(Argument(0), Runner::Timer(Receiver)), KEEPS0,
        ];
        "schedule" "(Ljava/util/TimerTask;Ljava/util/Date;)V" [
            submit(Argument(0), Runner::Timer(Receiver)), KEEPS0,
        ];
        "schedule", "scheduleAtFixedRate" "*" [
            Submit { task: Argument(0), to: Runner::Timer(Receiver), times: Times::Repeatedly },
            KEEPS0,
        ];
        "cancel", "purge" "*" [];
    }
    "java/util/TimerTask" => {
        "<init>", "run" "()V" [];
        "cancel", "scheduledExecutionTime" "*" [Synchronized { lock: Operand::Field("lock") }];
    }

    "java/util/Random" => {
        "next", "nextBytes", "nextInt", "nextLong", "nextBoolean", "nextFloat", "nextDouble" "*" [
            update(Receiver, Ordering::Opaque, Outcome::Always),
        ];
        "setSeed", "nextGaussian" "*" [SYNC, update(Receiver, Ordering::Opaque, Outcome::Always)];
        "ints", "longs", "doubles" "*" [VIEW];
    }

    "java/util/TimeZone" => {
        "getTimeZone" "(Ljava/lang/String;)*" [SYNC_CLASS];
        "getAvailableIDs" "*" [SYNC_CLASS, FRESH];
    }
    "java/util/Locale" => {
        "setDefault" "*" [SYNC_CLASS];
        "getDefault" "*" [];
    }

    "java/util/Observable" => {
        "addObserver" "*" [SYNC, WRITE, WRAPS0];
        "deleteObserver", "deleteObservers", "setChanged", "clearChanged" "*" [SYNC, WRITE];
        "hasChanged", "countObservers" "*" [SYNC, READ];
        // The observers run after the monitor is given back.
        "notifyObservers" "*" [
            Publish { to: Receiver }, RECEIVE, RunsTask { task: Wrapped, times: Times::Repeatedly },
        ];
    }

    "java/lang/Throwable" => {
        "getCause", "initCause", "fillInStackTrace", "addSuppressed", "getSuppressed" "*" [SYNC];
    }

    "java/util/Optional", "java/util/OptionalInt", "java/util/OptionalLong",
    "java/util/OptionalDouble" => {
        "ifPresent", "ifPresentOrElse" "*" [RUNS_ONCE, FEEDS];
        "orElseThrow" "()*" [GIVES];
        "orElseThrow" "*" [RUNS_ONCE, GIVES];
        "orElseGet" "*" [RUNS_ONCE, GIVES];
    }
    "java/util/Optional" => {
        "map", "flatMap", "filter" "*" [RUNS_ONCE, FEEDS, GIVES];
        "or" "*" [RUNS_ONCE, GIVES];
        "get", "orElse" "*" [GIVES];
        "of", "ofNullable" "*" [Store { value: Argument(0), into: Result }, FRESH];
    }

    "java/security/AccessController" => {
        "doPrivileged" "*" [RunsTask { task: Callbacks, times: Times::Once }, Load { from: Operand::CallbackResult }];
    }
};
