//! `Future`, `FutureTask`, `CompletableFuture`, `CompletionStage` and `Flow`.
//!
//! Approximations: a dependent of a stage runs in the thread that completes the stage, or in the
//! caller when the stage is complete already; both are written as the completer. A dependent of
//! either of two stages is ordered after one of them, and the row names neither. The asynchronous
//! methods without executor run in the common pool, although a subclass may choose another default.
//! A timeout completes a future from a thread of the library. `isDone` and `get` join the task, or
//! receive from whoever completed the future by hand; after a cancellation the task may still run.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, CallbackResult, Elements, Receiver, Result, Wrapped};
use Runner::{CommonPool, Completer, Executor};

const GET: Effect = join(Receiver);
const GET_TIMED: Effect = Join { task: Receiver, timed: true, outcome: Outcome::Always };
const DONE_IF: Effect = join_if(Receiver, Outcome::IfTrue);
const HANDLE0: Effect = Handle { of: Argument(0) };
const HANDLE1: Effect = Handle { of: Argument(1) };
/// Argument 0 runs when the receiver is complete, argument 1 when both the receiver and argument 0
/// are; the result keeps what it returns.
const THEN0: Effect = submit(Argument(0), Completer);
const THEN1: Effect = submit(Argument(1), Completer);
const POOL0: Effect = submit(Argument(0), CommonPool);
const POOL1: Effect = submit(Argument(1), CommonPool);
const EXECUTOR0: Effect = submit(Argument(0), Executor(Argument(1)));
const EXECUTOR1: Effect = submit(Argument(1), Executor(Argument(2)));
const AFTER: Effect = After { task: Argument(0), stage: Receiver };
const AFTER_THIS: Effect = After { task: Argument(1), stage: Receiver };
const AFTER_OTHER: Effect = After { task: Argument(1), stage: Argument(0) };
const FEEDS_OTHER: Effect = Feeds { task: Argument(1), from: Argument(0) };
const FEEDS_THIS: Effect = Feeds { task: Argument(1), from: Receiver };
const MAKES: Effect = Store { value: CallbackResult, into: Result };
const CARRIES: Effect = Store { value: Argument(0), into: Result };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/concurrent/Future", "java/util/concurrent/FutureTask" => {
        "get" "()*" [GET, RECEIVE, GIVES, BLOCKS];
        "get" "(JLjava/util/concurrent/TimeUnit;)*" [GET_TIMED, RECEIVE, GIVES, BLOCKS_TIMED];
        "cancel" "(Z)Z" [Interrupt { thread: Receiver }, PUBLISH];
        "isDone" "()Z" [DONE_IF, RECEIVE_IF];
        "isCancelled" "()Z" [RECEIVE_IF];
    }
    "java/util/concurrent/FutureTask" => {
        "<init>" "*" [Wraps { task: Argument(0), by: Receiver }];
        "run", "runAndReset" "*" [
            RunsTask { task: Wrapped, times: Times::Once },
            PUBLISH,
            Store { value: CallbackResult, into: Receiver },
        ];
        "set", "setException" "*" [PUBLISH, KEEPS0];
        "done", "toString" "*" [];
    }
    "java/util/concurrent/RunnableFuture" => {
        "run" "()V" [RunsTask { task: Wrapped, times: Times::Once }, PUBLISH];
    }
    "java/util/concurrent/RunnableScheduledFuture" => {
        "isPeriodic" "()Z" [];
    }
    "java/util/concurrent/Delayed" => {
        "getDelay" "*" [];
        "compareTo" "*" [];
    }
    "java/util/concurrent/Callable" => {
        "call" "()*" [RunsTask { task: Wrapped, times: Times::Once }];
    }

    "java/util/concurrent/CompletionStage", "java/util/concurrent/CompletableFuture" => {
        "thenApply", "thenAccept", "thenCompose" "*" [THEN0, AFTER, FEEDS, MAKES, HANDLE0];
        "whenComplete", "handle", "exceptionally", "exceptionallyCompose" "*" [
            THEN0, AFTER, FEEDS, MAKES, HANDLE0,
        ];
        "thenRun" "*" [THEN0, AFTER, HANDLE0];
        "thenApplyAsync" "(Ljava/util/function/Function;)*" [POOL0, AFTER, FEEDS, MAKES, HANDLE0];
        "thenApplyAsync" "(Ljava/util/function/Function;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, FEEDS, MAKES, HANDLE0,
        ];
        "thenAcceptAsync" "(Ljava/util/function/Consumer;)*" [POOL0, AFTER, FEEDS, HANDLE0];
        "thenAcceptAsync" "(Ljava/util/function/Consumer;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, FEEDS, HANDLE0,
        ];
        "thenRunAsync" "(Ljava/lang/Runnable;)*" [POOL0, AFTER, HANDLE0];
        "thenRunAsync" "(Ljava/lang/Runnable;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, HANDLE0,
        ];
        "thenComposeAsync" "(Ljava/util/function/Function;)*" [POOL0, AFTER, FEEDS, MAKES, HANDLE0];
        "thenComposeAsync" "(Ljava/util/function/Function;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, FEEDS, MAKES, HANDLE0,
        ];
        "whenCompleteAsync" "(Ljava/util/function/BiConsumer;)*" [POOL0, AFTER, FEEDS, HANDLE0];
        "whenCompleteAsync" "(Ljava/util/function/BiConsumer;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, FEEDS, HANDLE0,
        ];
        "handleAsync" "(Ljava/util/function/BiFunction;)*" [POOL0, AFTER, FEEDS, MAKES, HANDLE0];
        "handleAsync" "(Ljava/util/function/BiFunction;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, FEEDS, MAKES, HANDLE0,
        ];
        "exceptionallyAsync", "exceptionallyComposeAsync" "(Ljava/util/function/Function;)*" [
            POOL0, AFTER, FEEDS, MAKES, HANDLE0,
        ];
        "exceptionallyAsync", "exceptionallyComposeAsync"
        "(Ljava/util/function/Function;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, AFTER, FEEDS, MAKES, HANDLE0,
        ];

        "thenCombine", "thenAcceptBoth" "*" [
            THEN1, AFTER_THIS, AFTER_OTHER, FEEDS_THIS, FEEDS_OTHER, MAKES, HANDLE1,
        ];
        "runAfterBoth" "*" [THEN1, AFTER_THIS, AFTER_OTHER, HANDLE1];
        "thenCombineAsync"
        "(Ljava/util/concurrent/CompletionStage;Ljava/util/function/BiFunction;)*" [
            POOL1, AFTER_THIS, AFTER_OTHER, FEEDS_THIS, FEEDS_OTHER, MAKES, HANDLE1,
        ];
        "thenCombineAsync" "*" [
            EXECUTOR1, AFTER_THIS, AFTER_OTHER, FEEDS_THIS, FEEDS_OTHER, MAKES, HANDLE1,
        ];
        "thenAcceptBothAsync"
        "(Ljava/util/concurrent/CompletionStage;Ljava/util/function/BiConsumer;)*" [
            POOL1, AFTER_THIS, AFTER_OTHER, FEEDS_THIS, FEEDS_OTHER, HANDLE1,
        ];
        "thenAcceptBothAsync" "*" [
            EXECUTOR1, AFTER_THIS, AFTER_OTHER, FEEDS_THIS, FEEDS_OTHER, HANDLE1,
        ];
        "runAfterBothAsync" "(Ljava/util/concurrent/CompletionStage;Ljava/lang/Runnable;)*" [
            POOL1, AFTER_THIS, AFTER_OTHER, HANDLE1,
        ];
        "runAfterBothAsync" "*" [EXECUTOR1, AFTER_THIS, AFTER_OTHER, HANDLE1];

        "applyToEither", "acceptEither" "*" [THEN1, FEEDS_THIS, FEEDS_OTHER, MAKES, HANDLE1];
        "runAfterEither" "*" [THEN1, HANDLE1];
        "applyToEitherAsync"
        "(Ljava/util/concurrent/CompletionStage;Ljava/util/function/Function;)*" [
            POOL1, FEEDS_THIS, FEEDS_OTHER, MAKES, HANDLE1,
        ];
        "applyToEitherAsync" "*" [EXECUTOR1, FEEDS_THIS, FEEDS_OTHER, MAKES, HANDLE1];
        "acceptEitherAsync"
        "(Ljava/util/concurrent/CompletionStage;Ljava/util/function/Consumer;)*" [
            POOL1, FEEDS_THIS, FEEDS_OTHER, HANDLE1,
        ];
        "acceptEitherAsync" "*" [EXECUTOR1, FEEDS_THIS, FEEDS_OTHER, HANDLE1];
        "runAfterEitherAsync" "(Ljava/util/concurrent/CompletionStage;Ljava/lang/Runnable;)*" [
            POOL1, HANDLE1,
        ];
        "runAfterEitherAsync" "*" [EXECUTOR1, HANDLE1];
        "toCompletableFuture" "()*" [VIEW];
    }

    "java/util/concurrent/CompletableFuture" => {
        "<init>" "()V" [];
        "supplyAsync" "(Ljava/util/function/Supplier;)*" [POOL0, MAKES, HANDLE0, FRESH];
        "supplyAsync" "(Ljava/util/function/Supplier;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, MAKES, HANDLE0, FRESH,
        ];
        "runAsync" "(Ljava/lang/Runnable;)*" [POOL0, HANDLE0, FRESH];
        "runAsync" "(Ljava/lang/Runnable;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, HANDLE0, FRESH,
        ];
        "completeAsync" "(Ljava/util/function/Supplier;)*" [POOL0, KEEPS_MADE, HANDLE0, VIEW];
        "completeAsync" "(Ljava/util/function/Supplier;Ljava/util/concurrent/Executor;)*" [
            EXECUTOR0, KEEPS_MADE, HANDLE0, VIEW,
        ];
        "completedFuture", "completedStage", "failedFuture", "failedStage" "*" [CARRIES, FRESH];
        "get" "()*" [GET, RECEIVE, GIVES, BLOCKS];
        "get" "(JLjava/util/concurrent/TimeUnit;)*" [GET_TIMED, RECEIVE, GIVES, BLOCKS_TIMED];
        "join" "()*" [GET, RECEIVE, GIVES, BLOCKS_DEAF];
        "getNow" "*" [
            join_if(Receiver, Outcome::Unknown), receive(Outcome::Unknown), GIVES,
        ];
        "isDone", "isCompletedExceptionally" "()Z" [DONE_IF, RECEIVE_IF];
        "isCancelled" "()Z" [RECEIVE_IF];
        "complete", "completeExceptionally" "*" [PUBLISH, KEEPS0];
        // It cannot interrupt whoever was going to complete the future.
        "cancel" "(Z)Z" [PUBLISH];
        "obtrudeValue", "obtrudeException" "*" [PUBLISH, KEEPS0];
        "orTimeout" "*" [VIEW];
        "completeOnTimeout" "*" [PUBLISH, KEEPS0, VIEW];
        "allOf" "*" [Handle { of: Elements(0) }, FRESH];
        "anyOf" "*" [Store { value: Elements(0), into: Result }, FRESH];
        "copy", "minimalCompletionStage" "()*" [Handle { of: Receiver }, VIEW];
        "newIncompleteFuture" "()*" [FRESH];
        "defaultExecutor" "()*" [];
        "delayedExecutor" "(JLjava/util/concurrent/TimeUnit;)*" [FRESH];
        "delayedExecutor"
        "(JLjava/util/concurrent/TimeUnit;Ljava/util/concurrent/Executor;)*" [
            View { of: Argument(2) },
        ];
        "getNumberOfDependents", "toString" "*" [];
    }

    "java/util/concurrent/Flow" => {
        "defaultBufferSize" "()I" [];
    }
    "java/util/concurrent/Flow$Publisher" => {
        "subscribe" "*" [
            Submit { task: Argument(0), to: Runner::System, times: Times::Repeatedly }, KEEPS0,
        ];
    }
    "java/util/concurrent/Flow$Subscriber" => {
        "onSubscribe", "onNext", "onError", "onComplete" "*" [];
    }
    "java/util/concurrent/Flow$Subscription" => {
        "request", "cancel" "*" [];
    }
    "java/util/concurrent/SubmissionPublisher" => {
        "<init>" "()V" [];
        "<init>" "*" [KEEPS0];
        "subscribe" "*" [
            Submit { task: Argument(0), to: Executor(Receiver), times: Times::Repeatedly }, KEEPS0,
        ];
        "consume" "*" [
            Submit { task: Argument(0), to: Executor(Receiver), times: Times::Repeatedly },
            FEEDS, HANDLE0, FRESH,
        ];
        "submit" "*" [PUBLISH, KEEPS0, BLOCKS_DEAF];
        "offer" "(Ljava/lang/Object;Ljava/util/function/BiPredicate;)*" [
            PUBLISH, KEEPS0, RUNS, FEEDS,
        ];
        "offer" "*" [PUBLISH, KEEPS0, RUNS, FEEDS, BLOCKS_TIMED];
        "close" "()V" [PUBLISH];
        "closeExceptionally" "*" [PUBLISH, KEEPS0];
        "getClosedException", "getExecutor", "getSubscribers" "*" [GIVES];
        "isClosed", "hasSubscribers", "getNumberOfSubscribers", "getMaxBufferCapacity" "*" [];
        "isSubscribed", "estimateMinimumDemand", "estimateMaximumLag" "*" [];
    }
};
