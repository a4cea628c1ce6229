//! The runtime libraries of Kotlin and Scala, as far as they start threads or lock.
//!
//! Approximations: Kotlin's `synchronized`, `withLock`, `read` and `write` are inlined by its
//! compiler and need no rows. A suspending function may return before it has done its work; the
//! rows say what holds when it has, which is when its continuation runs. Coroutines that run on one
//! dispatcher thread are taken as threads of their own. Scala's `Future` methods take the execution
//! context as last argument; the rows call every callback of a call a task of that executor.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, CallbackResult, Callbacks, Receiver, Result, Wrapped};
use Runner::{Completer, Dispatcher, NewThread};

const LAUNCH: Effect = submit(Callbacks, Dispatcher);
const HANDLE: Effect = Handle { of: Callbacks };
const WRAPS: Effect = Wraps { task: Callbacks, by: Result };
const THEN: Effect = submit(Callbacks, Completer);
const AFTER: Effect = After { task: Callbacks, stage: Receiver };
const MAKES: Effect = Store { value: CallbackResult, into: Result };

pub(super) const ROWS: &[&[Model]] = models! {
    "kotlin/concurrent/ThreadsKt" => {
        // Started at once unless its first argument is false.
        "thread", "thread$default" "*" [submit(Callbacks, NewThread), HANDLE, FRESH];
    }
    "kotlin/LazyKt" => {
        "lazy" "*" [WRAPS, FRESH, ReturnsType("kotlin/SynchronizedLazyImpl")];
    }
    "kotlin/Lazy" => {
        "getValue" "()*" [RunsTask { task: Wrapped, times: Times::Once }, GIVES];
        "isInitialized" "()Z" [];
    }
    "kotlin/SynchronizedLazyImpl" => {
        "<init>" "*" [Wraps { task: Callbacks, by: Receiver }];
        "getValue" "()*" [
            SYNC_LOCK,
            RunsTask { task: Wrapped, times: Times::Once },
            Store { value: CallbackResult, into: Receiver },
            GIVES,
        ];
        "isInitialized" "()Z" [AtomicRead { of: Receiver, ordering: Ordering::Volatile }];
    }
    "kotlin/SafePublicationLazyImpl" => {
        "<init>" "*" [Wraps { task: Callbacks, by: Receiver }];
        "getValue" "()*" [
            update(Receiver, Ordering::Volatile, Outcome::Unknown),
            RunsTask { task: Wrapped, times: Times::Once },
            Store { value: CallbackResult, into: Receiver },
            GIVES,
        ];
        "isInitialized" "()Z" [AtomicRead { of: Receiver, ordering: Ordering::Volatile }];
    }

    "kotlinx/coroutines/BuildersKt" => {
        "launch", "launch$default", "async", "async$default" "*" [LAUNCH, HANDLE, FRESH];
        "runBlocking", "runBlocking$default" "*" [LAUNCH, join(Callbacks), BLOCKS];
        "withContext" "*" [LAUNCH, join(Callbacks)];
    }
    "kotlinx/coroutines/CoroutineScopeKt" => {
        "coroutineScope" "*" [RunsTask { task: Callbacks, times: Times::Once }];
    }
    "kotlinx/coroutines/Job", "kotlinx/coroutines/Deferred" => {
        "join" "*" [join(Receiver)];
        "cancel", "start" "*" [];
        "isCompleted" "()Z" [join_if(Receiver, Outcome::IfTrue)];
    }
    "kotlinx/coroutines/Deferred" => {
        "await" "*" [join(Receiver), RECEIVE, GIVES];
        "getCompleted" "*" [RECEIVE, GIVES];
    }
    "kotlinx/coroutines/CompletableDeferred" => {
        "complete", "completeExceptionally" "*" [PUBLISH, KEEPS0];
    }
    "kotlinx/coroutines/AwaitKt" => {
        "awaitAll", "joinAll" "*" [join(Operand::Elements(0))];
    }
    "kotlinx/coroutines/DelayKt" => {
        "delay" "*" [];
    }
    "kotlinx/coroutines/sync/Mutex" => {
        "lock" "*" [acquire(Mode::Exclusive, Outcome::Always)];
        "tryLock" "*" [acquire(Mode::Exclusive, Outcome::IfTrue)];
        "unlock" "*" [release(Mode::Exclusive, Outcome::Always)];
        "isLocked", "holdsLock" "*" [];
    }
    "kotlinx/coroutines/sync/Semaphore" => {
        "acquire" "*" [acquire(Mode::Permit, Outcome::Always)];
        "tryAcquire" "*" [acquire(Mode::Permit, Outcome::IfTrue)];
        "release" "*" [release(Mode::Permit, Outcome::Always)];
    }
    "kotlinx/coroutines/channels/SendChannel", "kotlinx/coroutines/channels/Channel" => {
        "send", "trySend-JP2dKIU", "offer" "*" [CHANGE, PUBLISH, KEEPS0];
        "close" "*" [PUBLISH];
    }
    "kotlinx/coroutines/channels/ReceiveChannel", "kotlinx/coroutines/channels/Channel" => {
        "receive" "*" [CHANGE, RECEIVE, GIVES];
        "receiveCatching-JP2dKIU", "tryReceive-PtdJZtk", "poll" "*" [
            CHANGE, receive(Outcome::Unknown), GIVES,
        ];
        "iterator" "*" [VIEW];
    }
    "kotlinx/coroutines/flow/MutableStateFlow" => {
        "setValue" "*" [AtomicWrite { of: Receiver, ordering: Ordering::Volatile }, KEEPS0];
        "getValue" "*" [AtomicRead { of: Receiver, ordering: Ordering::Volatile }, GIVES];
        "compareAndSet" "*" [update(Receiver, Ordering::Volatile, Outcome::IfTrue), KEEPS1];
    }

    "scala/concurrent/Future$" => {
        "apply" "(Lscala/Function0;Lscala/concurrent/ExecutionContext;)Lscala/concurrent/Future;" [
            submit(Argument(0), Runner::Executor(Argument(1))),
            Handle { of: Argument(0) },
            MAKES,
            FRESH,
        ];
        "successful", "failed", "fromTry" "*" [Store { value: Argument(0), into: Result }, FRESH];
        "sequence", "traverse" "*" [FRESH];
    }
    "scala/concurrent/Future" => {
        "map", "flatMap", "filter", "withFilter", "collect", "recover", "recoverWith" "*" [
            THEN, AFTER, FEEDS, MAKES, HANDLE,
        ];
        "transform", "transformWith", "andThen" "*" [THEN, AFTER, FEEDS, MAKES, HANDLE];
        "onComplete", "foreach", "onSuccess", "onFailure" "*" [THEN, AFTER, FEEDS];
        "isCompleted" "()Z" [join_if(Receiver, Outcome::IfTrue), RECEIVE_IF];
        "value" "()*" [receive(Outcome::Unknown), GIVES];
        "zip", "fallbackTo" "*" [FRESH];
    }
    "scala/concurrent/Await$" => {
        "result" "*" [
            Join { task: Argument(0), timed: true, outcome: Outcome::Always },
            Receive { from: Argument(0), outcome: Outcome::Always },
            Load { from: Argument(0) },
            BLOCKS_TIMED,
        ];
        "ready" "*" [
            Join { task: Argument(0), timed: true, outcome: Outcome::Always },
            Receive { from: Argument(0), outcome: Outcome::Always },
            VIEW0,
            BLOCKS_TIMED,
        ];
    }
    "scala/concurrent/Promise" => {
        "success", "failure", "complete" "*" [PUBLISH, KEEPS0, VIEW];
        "trySuccess", "tryFailure", "tryComplete" "*" [PUBLISH, KEEPS0];
        "completeWith", "tryCompleteWith" "*" [VIEW];
        "future" "()*" [VIEW];
    }
    "scala/concurrent/ExecutionContext" => {
        "execute" "*" [submit(Argument(0), Runner::Executor(Receiver))];
    }
    "scala/concurrent/package$" => {
        "blocking" "*" [RunsTask { task: Callbacks, times: Times::Once }];
    }
    "scala/collection/parallel/package$" => {
        "setTaskSupport" "*" [];
    }
    "scala/collection/concurrent/TrieMap" => {
        "get", "apply", "getOrElse" "*" [LOOK, RECEIVE, GIVES];
        "put", "putIfAbsent" "*" [CHANGE, PUBLISH, RECEIVE, KEEPS0, KEEPS1, GIVES];
        "update" "*" [CHANGE, PUBLISH, KEEPS0, KEEPS1];
        "remove" "*" [CHANGE, RECEIVE, GIVES];
        "getOrElseUpdate" "*" [CHANGE, PUBLISH, RECEIVE, RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
    }
};
