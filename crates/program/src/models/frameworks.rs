//! Widely used libraries that start threads or lock: Guava, Spring, JavaFX, Android.
//!
//! These rows are written from the public documentation; nothing in the test suite proves that they
//! name real methods. They are few on purpose: a library on the class path is analysed from its own
//! code, and rows are for those that are not there, or whose code says too little.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, CallbackResult, Callbacks, Receiver, Result};
use Runner::{EventDispatch, Executor};

const EXECUTE: Effect = submit(Argument(0), Executor(Receiver));
const EXECUTE_OFTEN: Effect =
    Submit { task: Argument(0), to: Executor(Receiver), times: Times::Repeatedly };
const HANDLE: Effect = Handle { of: Argument(0) };
const LOCK: Effect = acquire(Mode::Exclusive, Outcome::Always);
const LOCK_IF: Effect = acquire(Mode::Exclusive, Outcome::IfTrue);

pub(super) const ROWS: &[&[Model]] = models! {
    "com/google/common/util/concurrent/ListenableFuture" => {
        "addListener" "*" [
            submit(Argument(0), Executor(Argument(1))),
            After { task: Argument(0), stage: Receiver },
        ];
    }
    "com/google/common/util/concurrent/Futures" => {
        "addCallback" "*" [
            submit(Argument(1), Executor(Argument(2))),
            After { task: Argument(1), stage: Argument(0) },
            Feeds { task: Argument(1), from: Argument(0) },
        ];
        "transform", "transformAsync" "*" [
            submit(Argument(1), Executor(Argument(2))),
            After { task: Argument(1), stage: Argument(0) },
            Feeds { task: Argument(1), from: Argument(0) },
            Store { value: CallbackResult, into: Result },
            Handle { of: Argument(1) },
        ];
        "immediateFuture" "*" [Store { value: Argument(0), into: Result }, FRESH];
        "getUnchecked", "getDone" "*" [
            join(Argument(0)), Receive { from: Argument(0), outcome: Outcome::Always },
            Load { from: Argument(0) }, BLOCKS_DEAF,
        ];
        "allAsList", "successfulAsList" "*" [FRESH];
        "submit" "*" [submit(Argument(0), Executor(Argument(1))), HANDLE, FRESH];
    }
    "com/google/common/util/concurrent/SettableFuture" => {
        "create" "*" [FRESH];
        "set", "setException" "*" [PUBLISH, KEEPS0];
    }
    "com/google/common/util/concurrent/MoreExecutors" => {
        "listeningDecorator" "*" [VIEW0];
        "newSequentialExecutor" "*" [VIEW0, SingleWorker];
        "directExecutor", "newDirectExecutorService" "*" [];
    }
    "com/google/common/util/concurrent/Monitor" => {
        "enter", "enterWhenUninterruptibly" "*" [LOCK, BLOCKS_DEAF];
        "enterInterruptibly", "enterWhen" "()V" [LOCK, BLOCKS];
        "enterWhen" "*" [LOCK, BLOCKS];
        "tryEnter", "tryEnterIf", "enterIf" "*" [LOCK_IF];
        "leave" "()V" [release(Mode::Exclusive, Outcome::Always)];
        "waitFor" "*" [wait(WaitKind::Condition, false), BLOCKS];
    }
    "com/google/common/cache/Cache", "com/google/common/cache/LoadingCache" => {
        "getIfPresent" "*" [LOOK, RECEIVE, GIVES];
        "get" "*" [CHANGE, PUBLISH, RECEIVE, RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
        "put" "*" [CHANGE, PUBLISH, KEEPS0, KEEPS1];
        "invalidate", "invalidateAll" "*" [CHANGE];
    }
    "com/google/common/base/Suppliers" => {
        "memoize" "*" [Wraps { task: Argument(0), by: Result }, FRESH];
    }

    "org/springframework/core/task/TaskExecutor",
    "org/springframework/core/task/AsyncTaskExecutor" => {
        "execute" "*" [EXECUTE];
        "submit" "*" [EXECUTE, HANDLE, FRESH];
    }
    "org/springframework/scheduling/TaskScheduler" => {
        "schedule", "scheduleAtFixedRate", "scheduleWithFixedDelay" "*" [
            EXECUTE_OFTEN, HANDLE, FRESH,
        ];
    }
    "org/springframework/transaction/support/TransactionTemplate" => {
        "execute" "*" [RunsTask { task: Callbacks, times: Times::Once }];
    }

    "javafx/application/Platform" => {
        "runLater" "*" [submit(Argument(0), EventDispatch)];
    }
    "android/os/Handler" => {
        "post" "*" [submit(Argument(0), EventDispatch)];
        "postDelayed", "postAtTime", "postAtFrontOfQueue" "*" [submit(Argument(0), EventDispatch)];
    }
    "android/app/Activity" => {
        "runOnUiThread" "*" [submit(Argument(0), EventDispatch)];
    }
    "android/os/AsyncTask" => {
        "execute", "executeOnExecutor" "*" [submit(Receiver, Runner::System), VIEW];
        "get" "*" [join(Receiver), GIVES, BLOCKS];
    }
};
