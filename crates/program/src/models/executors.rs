//! Executors: `Executor` to `ForkJoinPool`, their factories, the event dispatch threads.
//!
//! Approximations: an executor may run a task in the caller, in a new thread or in a worker; unless
//! the factory says that there is a single worker, any two tasks may overlap. A worker's earlier
//! tasks are not ordered before its later ones. `shutdown` ends no task, so it orders nothing;
//! `awaitTermination` joins every task of the executor when it returns `true`. A cancelled task may
//! still be running although its future is done. Timed `invokeAll` and both `invokeAny` join only
//! some of their tasks, so their outcome is unknown. Hooks such as `beforeExecute` run in workers
//! and are found as overridden methods, not here.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Elements, Receiver, Result};
use Runner::{CurrentPool, EventDispatch, Executor, NewThread};

const EXECUTE: Effect = submit(Argument(0), Executor(Receiver));
const EXECUTE_ALL: Effect = submit(Elements(0), Executor(Receiver));
const EXECUTE_OFTEN: Effect =
    Submit { task: Argument(0), to: Executor(Receiver), times: Times::Repeatedly };
const HANDLE: Effect = Handle { of: Argument(0) };
const HANDLES: Effect = Handle { of: Elements(0) };
const JOIN_SOME: Effect = join_if(Elements(0), Outcome::Unknown);
const TERMINATED_IF: Effect = join_if(Receiver, Outcome::IfTrue);
const WRAPS0: Effect = Wraps { task: Argument(0), by: Result };
const WORKER: Effect = RunsTask { task: Receiver, times: Times::Once };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/concurrent/Executor", "java/util/concurrent/ThreadPoolExecutor",
    "java/util/concurrent/ScheduledThreadPoolExecutor", "java/util/concurrent/ForkJoinPool" => {
        "execute" "*" [EXECUTE];
    }

    "java/util/concurrent/ExecutorService", "java/util/concurrent/AbstractExecutorService" => {
        "submit" "*" [EXECUTE, HANDLE, FRESH];
        "invokeAll" "(Ljava/util/Collection;)*" [EXECUTE_ALL, HANDLES, join(Elements(0)), BLOCKS];
        "invokeAll" "(Ljava/util/Collection;JLjava/util/concurrent/TimeUnit;)*" [
            EXECUTE_ALL, HANDLES, JOIN_SOME, BLOCKS_TIMED,
        ];
        "invokeAny" "(Ljava/util/Collection;)*" [EXECUTE_ALL, JOIN_SOME, BLOCKS];
        "invokeAny" "(Ljava/util/Collection;JLjava/util/concurrent/TimeUnit;)*" [
            EXECUTE_ALL, JOIN_SOME, BLOCKS_TIMED,
        ];
    }
    "java/util/concurrent/AbstractExecutorService" => {
        "<init>" "*" [];
        "newTaskFor" "*" [WRAPS0, FRESH, ReturnsType("java/util/concurrent/FutureTask")];
    }
    "java/util/concurrent/ExecutorService", "java/util/concurrent/ThreadPoolExecutor",
    "java/util/concurrent/ForkJoinPool" => {
        "shutdown" "()V" [];
        "shutdownNow" "()*" [Interrupt { thread: Receiver }, GIVES];
        "isShutdown" "()Z" [];
        "isTerminated" "()Z" [TERMINATED_IF];
        "awaitTermination" "*" [TERMINATED_IF, BLOCKS_TIMED];
    }

    "java/util/concurrent/ThreadPoolExecutor" => {
        "<init>" "(IIJLjava/util/concurrent/TimeUnit;Ljava/util/concurrent/BlockingQueue;)V" [
            Store { value: Argument(4), into: Receiver },
        ];
        "<init>" "(IIJLjava/util/concurrent/TimeUnit;Ljava/util/concurrent/BlockingQueue;Ljava/util/concurrent/ThreadFactory;Ljava/util/concurrent/RejectedExecutionHandler;)V" [
            Store { value: Argument(4), into: Receiver },
            Store { value: Argument(5), into: Receiver },
            Store { value: Argument(6), into: Receiver },
        ];
        "<init>" "*" [
            Store { value: Argument(4), into: Receiver },
            Store { value: Argument(5), into: Receiver },
        ];
        "setThreadFactory", "setRejectedExecutionHandler" "*" [KEEPS0];
        "getThreadFactory", "getRejectedExecutionHandler", "getQueue" "*" [GIVES];
        "remove", "purge", "setCorePoolSize", "setMaximumPoolSize", "setKeepAliveTime" "*" [];
        "allowCoreThreadTimeOut", "prestartCoreThread", "prestartAllCoreThreads" "*" [];
        "isTerminating", "getCorePoolSize", "allowsCoreThreadTimeOut", "getMaximumPoolSize" "*" [];
        "getKeepAliveTime", "getPoolSize", "getActiveCount", "getLargestPoolSize" "*" [];
        "getTaskCount", "getCompletedTaskCount", "toString" "*" [];
        "beforeExecute", "afterExecute", "terminated", "finalize" "*" [];
    }

    "java/util/concurrent/ScheduledExecutorService",
    "java/util/concurrent/ScheduledThreadPoolExecutor" => {
        "schedule" "*" [EXECUTE, HANDLE, FRESH];
        "scheduleAtFixedRate", "scheduleWithFixedDelay" "*" [EXECUTE_OFTEN, HANDLE, FRESH];
    }
    "java/util/concurrent/ScheduledThreadPoolExecutor" => {
        "<init>" "(I)V" [];
        "<init>" "(ILjava/util/concurrent/ThreadFactory;)V" [KEEPS1];
        "<init>" "(ILjava/util/concurrent/RejectedExecutionHandler;)V" [KEEPS1];
        "<init>" "*" [KEEPS1, KEEPS2];
        "submit" "*" [EXECUTE, HANDLE, FRESH];
        "shutdown" "()V" [];
        "shutdownNow" "()*" [Interrupt { thread: Receiver }, GIVES];
        "getQueue" "*" [GIVES];
        "setContinueExistingPeriodicTasksAfterShutdownPolicy" "*" [];
        "getContinueExistingPeriodicTasksAfterShutdownPolicy" "*" [];
        "setExecuteExistingDelayedTasksAfterShutdownPolicy" "*" [];
        "getExecuteExistingDelayedTasksAfterShutdownPolicy" "*" [];
        "setRemoveOnCancelPolicy", "getRemoveOnCancelPolicy" "*" [];
        "decorateTask" "*" [];
    }

    "java/util/concurrent/RejectedExecutionHandler" => {
        "rejectedExecution" "*" [];
    }
    "java/util/concurrent/ThreadPoolExecutor$CallerRunsPolicy" => {
        "<init>" "*" [];
        "rejectedExecution" "*" [RunsTask { task: Argument(0), times: Times::Once }];
    }
    "java/util/concurrent/ThreadPoolExecutor$DiscardOldestPolicy" => {
        "<init>" "*" [];
        "rejectedExecution" "*" [submit(Argument(0), Executor(Argument(1)))];
    }
    "java/util/concurrent/ThreadPoolExecutor$AbortPolicy",
    "java/util/concurrent/ThreadPoolExecutor$DiscardPolicy" => {
        "<init>", "rejectedExecution" "*" [];
    }

    "java/util/concurrent/ThreadFactory" => {
        "newThread" "*" [WRAPS0, FRESH];
    }

    "java/util/concurrent/CompletionService", "java/util/concurrent/ExecutorCompletionService" => {
        "submit" "*" [EXECUTE, HANDLE, KEEPS0, FRESH];
        "take" "()*" [RECEIVE, GIVES, BLOCKS];
        "poll" "()*" [RECEIVE_SOME, GIVES];
        "poll" "(JLjava/util/concurrent/TimeUnit;)*" [RECEIVE_SOME, GIVES, BLOCKS_TIMED];
    }
    "java/util/concurrent/ExecutorCompletionService" => {
        "<init>" "(Ljava/util/concurrent/Executor;)V" [KEEPS0];
        "<init>" "*" [KEEPS0, KEEPS1];
    }

    "java/util/concurrent/Executors" => {
        "newFixedThreadPool", "newCachedThreadPool" "*" [
            FRESH, ReturnsType("java/util/concurrent/ThreadPoolExecutor"),
        ];
        "newScheduledThreadPool" "*" [
            FRESH, ReturnsType("java/util/concurrent/ScheduledThreadPoolExecutor"),
        ];
        "newWorkStealingPool" "*" [FRESH, ReturnsType("java/util/concurrent/ForkJoinPool")];
        "newSingleThreadExecutor" "*" [
            FRESH, SingleWorker,
            ReturnsType("java/util/concurrent/Executors$FinalizableDelegatedExecutorService"),
        ];
        "newSingleThreadScheduledExecutor" "*" [
            FRESH, SingleWorker,
            ReturnsType("java/util/concurrent/Executors$DelegatedScheduledExecutorService"),
        ];
        "unconfigurableExecutorService" "*" [
            VIEW0, ReturnsType("java/util/concurrent/Executors$DelegatedExecutorService"),
        ];
        "unconfigurableScheduledExecutorService" "*" [
            VIEW0, ReturnsType("java/util/concurrent/Executors$DelegatedScheduledExecutorService"),
        ];
        "defaultThreadFactory", "privilegedThreadFactory" "*" [FRESH];
        "callable", "privilegedCallable", "privilegedCallableUsingCurrentClassLoader" "*" [
            WRAPS0, FRESH,
        ];
    }

    "java/util/concurrent/ForkJoinPool" => {
        "<init>" "*" [];
        "commonPool" "()*" [ReturnsType("java/util/concurrent/ForkJoinPool")];
        "invoke" "*" [EXECUTE, join(Argument(0)), BLOCKS_DEAF];
        "submit" "*" [EXECUTE, HANDLE];
        // Interruptible since Java 22.
        "invokeAll" "(Ljava/util/Collection;)*" [EXECUTE_ALL, HANDLES, join(Elements(0)), BLOCKS];
        "invokeAll" "(Ljava/util/Collection;JLjava/util/concurrent/TimeUnit;)*" [
            EXECUTE_ALL, HANDLES, JOIN_SOME, BLOCKS_TIMED,
        ];
        "invokeAny" "(Ljava/util/Collection;)*" [EXECUTE_ALL, JOIN_SOME, BLOCKS];
        "invokeAny" "(Ljava/util/Collection;JLjava/util/concurrent/TimeUnit;)*" [
            EXECUTE_ALL, JOIN_SOME, BLOCKS_TIMED,
        ];
        "awaitQuiescence" "*" [TERMINATED_IF, BLOCKS_TIMED_DEAF];
        "isQuiescent" "()Z" [TERMINATED_IF];
        "managedBlock" "*" [RunsTask { task: Argument(0), times: Times::Repeatedly }, BLOCKS];
        "getFactory", "getUncaughtExceptionHandler" "*" [GIVES];
        "getParallelism", "getCommonPoolParallelism", "getPoolSize", "getAsyncMode" "*" [];
        "getRunningThreadCount", "getActiveThreadCount", "getStealCount" "*" [];
        "getQueuedTaskCount", "getQueuedSubmissionCount", "hasQueuedSubmissions" "*" [];
        "toString", "isTerminating", "pollSubmission", "drainTasksTo" "*" [];
    }
    "java/util/concurrent/ForkJoinPool$ForkJoinWorkerThreadFactory" => {
        "newThread" "*" [FRESH];
    }
    "java/util/concurrent/ForkJoinPool$ManagedBlocker" => {
        "block" "()Z" [BLOCKS];
        "isReleasable" "()Z" [];
    }
    "java/util/concurrent/ForkJoinWorkerThread" => {
        "<init>" "*" [];
        "run" "()V" [RunsTask { task: Operand::Wrapped, times: Times::Repeatedly }];
        "getPool" "*" [GIVES];
        "getPoolIndex", "onStart", "onTermination" "*" [];
    }

    "java/util/concurrent/ForkJoinTask" => {
        "<init>" "()V" [];
        "fork" "()*" [submit(Receiver, CurrentPool), VIEW];
        "join" "()*" [join(Receiver), GIVES, BLOCKS_DEAF];
        "invoke" "()*" [WORKER, join(Receiver), GIVES, BLOCKS_DEAF];
        "quietlyJoin" "()V" [join(Receiver), BLOCKS_DEAF];
        "quietlyInvoke" "()V" [WORKER, join(Receiver), BLOCKS_DEAF];
        "get" "()*" [join(Receiver), GIVES, BLOCKS];
        "get" "(JLjava/util/concurrent/TimeUnit;)*" [
            Join { task: Receiver, timed: true, outcome: Outcome::Always }, GIVES, BLOCKS_TIMED,
        ];
        "invokeAll" "(Ljava/util/concurrent/ForkJoinTask;Ljava/util/concurrent/ForkJoinTask;)V" [
            submit(Argument(0), CurrentPool), submit(Argument(1), CurrentPool),
            join(Argument(0)), join(Argument(1)), BLOCKS_DEAF,
        ];
        "invokeAll" "([Ljava/util/concurrent/ForkJoinTask;)V" [
            submit(Elements(0), CurrentPool), join(Elements(0)), BLOCKS_DEAF,
        ];
        "invokeAll" "(Ljava/util/Collection;)*" [
            submit(Elements(0), CurrentPool), join(Elements(0)), VIEW0, BLOCKS_DEAF,
        ];
        "isDone", "isCompletedNormally", "isCompletedAbnormally" "()Z" [
            join_if(Receiver, Outcome::IfTrue),
        ];
        "cancel" "*" [PUBLISH];
        "isCancelled" "*" [RECEIVE_IF];
        "getException" "*" [RECEIVE_SOME, GIVES];
        "complete", "completeExceptionally" "*" [PUBLISH, KEEPS0];
        "quietlyComplete" "*" [PUBLISH];
        // Runs other tasks of the pool in the meantime, any of them.
        "helpQuiesce" "()V" [BLOCKS_DEAF];
        "adapt" "*" [WRAPS0, FRESH];
        "reinitialize" "()V" [WRITE];
        "getRawResult" "()*" [READ, GIVES];
        "setRawResult" "*" [WRITE, KEEPS0];
        "exec" "*" [RunsTask { task: Operand::Wrapped, times: Times::Once }];
        "getForkJoinTaskTag" "*" [AtomicRead { of: Receiver, ordering: Ordering::Volatile }];
        "setForkJoinTaskTag" "*" [update(Receiver, Ordering::Volatile, Outcome::Always)];
        "compareAndSetForkJoinTaskTag" "*" [update(Receiver, Ordering::Volatile, Outcome::IfTrue)];
        "getPool", "inForkJoinPool", "tryUnfork", "getQueuedTaskCount" "*" [];
        "getSurplusQueuedTaskCount", "peekNextLocalTask", "pollNextLocalTask", "pollTask" "*" [];
        "pollSubmission" "*" [];
    }
    "java/util/concurrent/RecursiveTask", "java/util/concurrent/RecursiveAction" => {
        "<init>" "()V" [];
        "compute" "*" [];
        "exec" "*" [WORKER];
        "getRawResult" "()*" [READ, GIVES];
        "setRawResult" "*" [WRITE];
    }
    "java/util/concurrent/CountedCompleter" => {
        "<init>" "()V" [];
        "<init>" "*" [KEEPS0];
        "compute" "*" [];
        "exec" "*" [WORKER];
        "onCompletion", "onExceptionalCompletion" "*" [];
        "getCompleter", "getRoot" "*" [GIVES];
        "getPendingCount" "*" [AtomicRead { of: Receiver, ordering: Ordering::Volatile }];
        "setPendingCount" "*" [AtomicWrite { of: Receiver, ordering: Ordering::Volatile }];
        "addToPendingCount", "decrementPendingCountUnlessZero" "*" [
            update(Receiver, Ordering::Volatile, Outcome::Always),
        ];
        "compareAndSetPendingCount" "*" [update(Receiver, Ordering::Volatile, Outcome::IfTrue)];
        "tryComplete", "propagateCompletion" "()V" [
            update(Receiver, Ordering::Volatile, Outcome::Always), WORKER,
        ];
        "complete" "*" [
            update(Receiver, Ordering::Volatile, Outcome::Always), WORKER, PUBLISH, KEEPS0,
        ];
        "firstComplete", "nextComplete" "()*" [
            update(Receiver, Ordering::Volatile, Outcome::Unknown), GIVES,
        ];
        "quietlyCompleteRoot" "()V" [PUBLISH];
        "helpComplete" "(I)V" [];
        "getRawResult" "()*" [READ, GIVES];
        "setRawResult" "*" [WRITE, KEEPS0];
    }

    "java/util/concurrent/TimeUnit" => {
        "sleep" "(J)V" [Sleeps];
        "timedWait" "*" [
            Wait { on: Argument(0), kind: WaitKind::Monitor, timed: true }, BLOCKS_TIMED,
        ];
        "timedJoin" "*" [join_if(Argument(0), Outcome::Unknown), BLOCKS_TIMED];
        "values" "()*" [FRESH];
        "valueOf", "convert", "toNanos", "toMicros", "toMillis", "toSeconds", "toMinutes" "*" [];
        "toHours", "toDays", "toChronoUnit", "of" "*" [];
    }

    "java/util/concurrent/ThreadLocalRandom" => {
        "current" "()*" [];
        "setSeed" "*" [];
        "nextBoolean", "nextInt", "nextLong", "nextFloat", "nextDouble" "*" [
            ThreadLocalAccess { of: Receiver },
        ];
        "nextBytes", "next", "nextExponential" "*" [ThreadLocalAccess { of: Receiver }];
        // Inherited with its monitor, on the one object that all threads share.
        "nextGaussian" "*" [SYNC, ThreadLocalAccess { of: Receiver }];
        "ints", "longs", "doubles" "*" [VIEW];
        "isDeprecated" "*" [];
    }

    "javax/swing/SwingUtilities", "java/awt/EventQueue" => {
        "invokeLater" "*" [submit(Argument(0), EventDispatch)];
        "invokeAndWait" "*" [submit(Argument(0), EventDispatch), join(Argument(0)), BLOCKS];
    }
    "javax/swing/SwingWorker" => {
        "execute" "()V" [submit(Receiver, NewThread)];
        "get" "()*" [join(Receiver), GIVES, BLOCKS];
        "get" "(JLjava/util/concurrent/TimeUnit;)*" [
            Join { task: Receiver, timed: true, outcome: Outcome::Always }, GIVES, BLOCKS_TIMED,
        ];
        "publish" "*" [PUBLISH, KEEPS_ALL0];
        "cancel" "*" [Interrupt { thread: Receiver }];
        "isDone" "*" [join_if(Receiver, Outcome::IfTrue)];
    }
    "javax/swing/Timer" => {
        "<init>" "*" [Wraps { task: Argument(1), by: Receiver }];
        "addActionListener" "*" [Wraps { task: Argument(0), by: Receiver }];
        "start", "restart" "()V" [
            Submit { task: Operand::Wrapped, to: EventDispatch, times: Times::Repeatedly },
        ];
        "stop" "()V" [];
    }
    "java/rmi/server/UnicastRemoteObject" => {
        "exportObject" "*" [
            Submit { task: Argument(0), to: Runner::System, times: Times::Concurrently },
            Escapes { operand: Argument(0) },
        ];
    }
    "com/sun/net/httpserver/HttpServer" => {
        "createContext" "(Ljava/lang/String;Lcom/sun/net/httpserver/HttpHandler;)*" [
            Submit { task: Argument(1), to: Runner::System, times: Times::Concurrently },
            Escapes { operand: Argument(1) },
        ];
        "setExecutor" "*" [KEEPS0];
    }
};
