//! `java.util.concurrent.atomic`, `VarHandle` and `sun.misc.Unsafe`.
//!
//! Approximations: a compare-and-exchange does not say in its result type whether it wrote, so its
//! outcome is unknown. A failed compare-and-set is a read; its ordering is taken from the row's
//! update. The weak forms that fail spuriously are written like the others. `weakCompareAndSet` is
//! plain on the `Atomic*` classes and volatile on `VarHandle`. Adders and accumulators are one
//! variable each, although `sum` is no snapshot. A plain `VarHandle` or `Unsafe` access is a plain
//! access and can race. Callbacks of `updateAndGet` and its kin may run several times.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Designated, Receiver};
use Ordering::{Acquire, Opaque, Plain, Release, Volatile};
use Outcome::{Always, IfTrue, Unknown};

const fn read(of: Operand, ordering: Ordering) -> Effect {
    AtomicRead { of, ordering }
}

const fn write(of: Operand, ordering: Ordering) -> Effect {
    AtomicWrite { of, ordering }
}

const fn add(of: Operand, ordering: Ordering) -> Effect {
    update(of, ordering, Always)
}

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/concurrent/atomic/AtomicBoolean", "java/util/concurrent/atomic/AtomicInteger",
    "java/util/concurrent/atomic/AtomicLong" => {
        // The value is written before anyone else can know the object, but not as a final field.
        "<init>" "*" [write(Receiver, Plain)];
        "get", "toString" "*" [read(Receiver, Volatile)];
        "getPlain" "*" [read(Receiver, Plain)];
        "getOpaque" "*" [read(Receiver, Opaque)];
        "getAcquire" "*" [read(Receiver, Acquire)];
        "set" "*" [write(Receiver, Volatile)];
        "setPlain" "*" [write(Receiver, Plain)];
        "setOpaque" "*" [write(Receiver, Opaque)];
        "setRelease", "lazySet" "*" [write(Receiver, Release)];
        "getAndSet" "*" [add(Receiver, Volatile)];
        "compareAndSet", "weakCompareAndSetVolatile" "*" [update(Receiver, Volatile, IfTrue)];
        "weakCompareAndSet", "weakCompareAndSetPlain" "*" [update(Receiver, Plain, IfTrue)];
        "weakCompareAndSetAcquire" "*" [update(Receiver, Acquire, IfTrue)];
        "weakCompareAndSetRelease" "*" [update(Receiver, Release, IfTrue)];
        "compareAndExchange" "*" [update(Receiver, Volatile, Unknown)];
        "compareAndExchangeAcquire" "*" [update(Receiver, Acquire, Unknown)];
        "compareAndExchangeRelease" "*" [update(Receiver, Release, Unknown)];
    }
    "java/util/concurrent/atomic/AtomicInteger", "java/util/concurrent/atomic/AtomicLong" => {
        "intValue", "longValue", "floatValue", "doubleValue" "*" [read(Receiver, Volatile)];
        "byteValue", "shortValue" "*" [read(Receiver, Volatile)];
        "getAndIncrement", "getAndDecrement", "getAndAdd" "*" [add(Receiver, Volatile)];
        "incrementAndGet", "decrementAndGet", "addAndGet" "*" [add(Receiver, Volatile)];
        "getAndUpdate", "updateAndGet" "*" [add(Receiver, Volatile), RUNS];
        "getAndAccumulate", "accumulateAndGet" "*" [add(Receiver, Volatile), RUNS];
    }

    "java/util/concurrent/atomic/AtomicReference" => {
        "<init>" "()V" [write(Receiver, Plain)];
        "<init>" "(Ljava/lang/Object;)V" [write(Receiver, Plain), KEEPS0];
        "get" "*" [read(Receiver, Volatile), GIVES];
        "toString" "*" [read(Receiver, Volatile)];
        "getPlain" "*" [read(Receiver, Plain), GIVES];
        "getOpaque" "*" [read(Receiver, Opaque), GIVES];
        "getAcquire" "*" [read(Receiver, Acquire), GIVES];
        "set" "*" [write(Receiver, Volatile), KEEPS0];
        "setPlain" "*" [write(Receiver, Plain), KEEPS0];
        "setOpaque" "*" [write(Receiver, Opaque), KEEPS0];
        "setRelease", "lazySet" "*" [write(Receiver, Release), KEEPS0];
        "getAndSet" "*" [add(Receiver, Volatile), KEEPS0, GIVES];
        "compareAndSet", "weakCompareAndSetVolatile" "*" [
            update(Receiver, Volatile, IfTrue), KEEPS1,
        ];
        "weakCompareAndSet", "weakCompareAndSetPlain" "*" [update(Receiver, Plain, IfTrue), KEEPS1];
        "weakCompareAndSetAcquire" "*" [update(Receiver, Acquire, IfTrue), KEEPS1];
        "weakCompareAndSetRelease" "*" [update(Receiver, Release, IfTrue), KEEPS1];
        "compareAndExchange" "*" [update(Receiver, Volatile, Unknown), KEEPS1, GIVES];
        "compareAndExchangeAcquire" "*" [update(Receiver, Acquire, Unknown), KEEPS1, GIVES];
        "compareAndExchangeRelease" "*" [update(Receiver, Release, Unknown), KEEPS1, GIVES];
        "getAndUpdate", "updateAndGet" "*" [
            add(Receiver, Volatile), RUNS, FEEDS, KEEPS_MADE, GIVES,
        ];
        "getAndAccumulate", "accumulateAndGet" "*" [
            add(Receiver, Volatile), RUNS, FEEDS, KEEPS0, KEEPS_MADE, GIVES,
        ];
    }

    "java/util/concurrent/atomic/AtomicMarkableReference",
    "java/util/concurrent/atomic/AtomicStampedReference" => {
        "<init>" "*" [write(Receiver, Plain), KEEPS0];
        "getReference", "get" "*" [read(Receiver, Volatile), GIVES];
        "set" "*" [write(Receiver, Volatile), KEEPS0];
        "compareAndSet", "weakCompareAndSet" "*" [update(Receiver, Volatile, IfTrue), KEEPS1];
    }
    "java/util/concurrent/atomic/AtomicMarkableReference" => {
        "isMarked" "*" [read(Receiver, Volatile)];
        "attemptMark" "*" [update(Receiver, Volatile, IfTrue)];
    }
    "java/util/concurrent/atomic/AtomicStampedReference" => {
        "getStamp" "*" [read(Receiver, Volatile)];
        "attemptStamp" "*" [update(Receiver, Volatile, IfTrue)];
    }

    "java/util/concurrent/atomic/AtomicIntegerArray",
    "java/util/concurrent/atomic/AtomicLongArray" => {
        "<init>" "*" [write(Receiver, Plain)];
        "length" "*" [];
        "toString" "*" [read(Receiver, Volatile)];
        "get" "*" [read(Designated, Volatile)];
        "getPlain" "*" [read(Designated, Plain)];
        "getOpaque" "*" [read(Designated, Opaque)];
        "getAcquire" "*" [read(Designated, Acquire)];
        "set" "*" [write(Designated, Volatile)];
        "setPlain" "*" [write(Designated, Plain)];
        "setOpaque" "*" [write(Designated, Opaque)];
        "setRelease", "lazySet" "*" [write(Designated, Release)];
        "getAndSet" "*" [add(Designated, Volatile)];
        "compareAndSet", "weakCompareAndSetVolatile" "*" [update(Designated, Volatile, IfTrue)];
        "weakCompareAndSet", "weakCompareAndSetPlain" "*" [update(Designated, Plain, IfTrue)];
        "weakCompareAndSetAcquire" "*" [update(Designated, Acquire, IfTrue)];
        "weakCompareAndSetRelease" "*" [update(Designated, Release, IfTrue)];
        "compareAndExchange" "*" [update(Designated, Volatile, Unknown)];
        "compareAndExchangeAcquire" "*" [update(Designated, Acquire, Unknown)];
        "compareAndExchangeRelease" "*" [update(Designated, Release, Unknown)];
        "getAndIncrement", "getAndDecrement", "getAndAdd" "*" [add(Designated, Volatile)];
        "incrementAndGet", "decrementAndGet", "addAndGet" "*" [add(Designated, Volatile)];
        "getAndUpdate", "updateAndGet" "*" [add(Designated, Volatile), RUNS];
        "getAndAccumulate", "accumulateAndGet" "*" [add(Designated, Volatile), RUNS];
    }

    "java/util/concurrent/atomic/AtomicReferenceArray" => {
        "<init>" "(I)V" [write(Receiver, Plain)];
        "<init>" "([Ljava/lang/Object;)V" [write(Receiver, Plain), KEEPS_ALL0];
        "length" "*" [];
        "toString" "*" [read(Receiver, Volatile)];
        "get" "*" [read(Designated, Volatile), GIVES];
        "getPlain" "*" [read(Designated, Plain), GIVES];
        "getOpaque" "*" [read(Designated, Opaque), GIVES];
        "getAcquire" "*" [read(Designated, Acquire), GIVES];
        "set" "*" [write(Designated, Volatile), KEEPS1];
        "setPlain" "*" [write(Designated, Plain), KEEPS1];
        "setOpaque" "*" [write(Designated, Opaque), KEEPS1];
        "setRelease", "lazySet" "*" [write(Designated, Release), KEEPS1];
        "getAndSet" "*" [add(Designated, Volatile), KEEPS1, GIVES];
        "compareAndSet", "weakCompareAndSetVolatile" "*" [
            update(Designated, Volatile, IfTrue), KEEPS2,
        ];
        "weakCompareAndSet", "weakCompareAndSetPlain" "*" [
            update(Designated, Plain, IfTrue), KEEPS2,
        ];
        "weakCompareAndSetAcquire" "*" [update(Designated, Acquire, IfTrue), KEEPS2];
        "weakCompareAndSetRelease" "*" [update(Designated, Release, IfTrue), KEEPS2];
        "compareAndExchange" "*" [update(Designated, Volatile, Unknown), KEEPS2, GIVES];
        "compareAndExchangeAcquire" "*" [update(Designated, Acquire, Unknown), KEEPS2, GIVES];
        "compareAndExchangeRelease" "*" [update(Designated, Release, Unknown), KEEPS2, GIVES];
        "getAndUpdate", "updateAndGet" "*" [
            add(Designated, Volatile), RUNS, FEEDS, KEEPS_MADE, GIVES,
        ];
        "getAndAccumulate", "accumulateAndGet" "*" [
            add(Designated, Volatile), RUNS, FEEDS, KEEPS1, KEEPS_MADE, GIVES,
        ];
    }

    "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
    "java/util/concurrent/atomic/AtomicLongFieldUpdater" => {
        "newUpdater" "*" [FRESH];
        "get" "*" [read(Designated, Volatile)];
        "set" "*" [write(Designated, Volatile)];
        "lazySet" "*" [write(Designated, Release)];
        "getAndSet" "*" [add(Designated, Volatile)];
        "compareAndSet" "*" [update(Designated, Volatile, IfTrue)];
        "weakCompareAndSet" "*" [update(Designated, Plain, IfTrue)];
        "getAndIncrement", "getAndDecrement", "getAndAdd" "*" [add(Designated, Volatile)];
        "incrementAndGet", "decrementAndGet", "addAndGet" "*" [add(Designated, Volatile)];
        "getAndUpdate", "updateAndGet" "*" [add(Designated, Volatile), RUNS];
        "getAndAccumulate", "accumulateAndGet" "*" [add(Designated, Volatile), RUNS];
    }
    "java/util/concurrent/atomic/AtomicReferenceFieldUpdater" => {
        "newUpdater" "*" [FRESH];
        "get" "*" [read(Designated, Volatile), Load { from: Argument(0) }];
        "set" "*" [write(Designated, Volatile), Store { value: Argument(1), into: Argument(0) }];
        "lazySet" "*" [write(Designated, Release), Store { value: Argument(1), into: Argument(0) }];
        "getAndSet" "*" [
            add(Designated, Volatile),
            Store { value: Argument(1), into: Argument(0) },
            Load { from: Argument(0) },
        ];
        "compareAndSet" "*" [
            update(Designated, Volatile, IfTrue), Store { value: Argument(2), into: Argument(0) },
        ];
        "weakCompareAndSet" "*" [
            update(Designated, Plain, IfTrue), Store { value: Argument(2), into: Argument(0) },
        ];
        "getAndUpdate", "updateAndGet" "*" [
            add(Designated, Volatile),
            RUNS,
            Store { value: Operand::CallbackResult, into: Argument(0) },
            Load { from: Argument(0) },
        ];
        "getAndAccumulate", "accumulateAndGet" "*" [
            add(Designated, Volatile),
            RUNS,
            Store { value: Argument(1), into: Argument(0) },
            Store { value: Operand::CallbackResult, into: Argument(0) },
            Load { from: Argument(0) },
        ];
    }

    "java/util/concurrent/atomic/LongAdder", "java/util/concurrent/atomic/DoubleAdder" => {
        "<init>" "*" [];
        "add" "*" [add(Receiver, Volatile)];
        "sum", "toString", "longValue", "intValue", "floatValue", "doubleValue" "*" [
            read(Receiver, Volatile),
        ];
        "byteValue", "shortValue" "*" [read(Receiver, Volatile)];
        "reset" "*" [write(Receiver, Volatile)];
        "sumThenReset" "*" [add(Receiver, Volatile)];
    }
    "java/util/concurrent/atomic/LongAdder" => {
        "increment", "decrement" "*" [add(Receiver, Volatile)];
    }
    "java/util/concurrent/atomic/LongAccumulator",
    "java/util/concurrent/atomic/DoubleAccumulator" => {
        "<init>" "*" [Wraps { task: Argument(0), by: Receiver }];
        "accumulate" "*" [
            add(Receiver, Volatile),
            RunsTask { task: Operand::Wrapped, times: Times::Repeatedly },
        ];
        "get", "toString", "longValue", "intValue", "floatValue", "doubleValue" "*" [
            read(Receiver, Volatile),
            RunsTask { task: Operand::Wrapped, times: Times::Repeatedly },
        ];
        "byteValue", "shortValue" "*" [
            read(Receiver, Volatile),
            RunsTask { task: Operand::Wrapped, times: Times::Repeatedly },
        ];
        "reset" "*" [write(Receiver, Volatile)];
        "getThenReset" "*" [
            add(Receiver, Volatile),
            RunsTask { task: Operand::Wrapped, times: Times::Repeatedly },
        ];
    }

    "java/lang/invoke/VarHandle" => {
        "get" "*" [read(Designated, Plain)];
        "getOpaque" "*" [read(Designated, Opaque)];
        "getAcquire" "*" [read(Designated, Acquire)];
        "getVolatile" "*" [read(Designated, Volatile)];
        "set" "*" [write(Designated, Plain)];
        "setOpaque" "*" [write(Designated, Opaque)];
        "setRelease" "*" [write(Designated, Release)];
        "setVolatile" "*" [write(Designated, Volatile)];
        "compareAndSet", "weakCompareAndSet" "*" [update(Designated, Volatile, IfTrue)];
        "weakCompareAndSetPlain" "*" [update(Designated, Plain, IfTrue)];
        "weakCompareAndSetAcquire" "*" [update(Designated, Acquire, IfTrue)];
        "weakCompareAndSetRelease" "*" [update(Designated, Release, IfTrue)];
        "compareAndExchange" "*" [update(Designated, Volatile, Unknown)];
        "compareAndExchangeAcquire" "*" [update(Designated, Acquire, Unknown)];
        "compareAndExchangeRelease" "*" [update(Designated, Release, Unknown)];
        "getAndSet", "getAndAdd" "*" [add(Designated, Volatile)];
        "getAndBitwiseOr", "getAndBitwiseAnd", "getAndBitwiseXor" "*" [add(Designated, Volatile)];
        "getAndSetAcquire", "getAndAddAcquire", "getAndBitwiseOrAcquire" "*" [
            add(Designated, Acquire),
        ];
        "getAndBitwiseAndAcquire", "getAndBitwiseXorAcquire" "*" [add(Designated, Acquire)];
        "getAndSetRelease", "getAndAddRelease", "getAndBitwiseOrRelease" "*" [
            add(Designated, Release),
        ];
        "getAndBitwiseAndRelease", "getAndBitwiseXorRelease" "*" [add(Designated, Release)];
        "fullFence" "()V" [Fence { ordering: Volatile }];
        "acquireFence", "loadLoadFence" "()V" [Fence { ordering: Acquire }];
        "releaseFence", "storeStoreFence" "()V" [Fence { ordering: Release }];
        "withInvokeExactBehavior", "withInvokeBehavior" "*" [VIEW];
        "toMethodHandle" "*" [VIEW];
        "hasInvokeExactBehavior", "varType", "coordinateTypes", "accessModeType" "*" [];
        "isAccessModeSupported", "describeConstable", "toString" "*" [];
    }

    "sun/misc/Unsafe" => {
        "getInt", "getObject", "getBoolean", "getByte", "getShort", "getChar" "*" [
            read(Designated, Plain),
        ];
        "getLong", "getFloat", "getDouble", "getAddress" "*" [read(Designated, Plain)];
        "putInt", "putObject", "putBoolean", "putByte", "putShort", "putChar" "*" [
            write(Designated, Plain),
        ];
        "putLong", "putFloat", "putDouble", "putAddress" "*" [write(Designated, Plain)];
        "getIntVolatile", "getObjectVolatile", "getBooleanVolatile", "getByteVolatile" "*" [
            read(Designated, Volatile),
        ];
        "getShortVolatile", "getCharVolatile", "getLongVolatile", "getFloatVolatile" "*" [
            read(Designated, Volatile),
        ];
        "getDoubleVolatile" "*" [read(Designated, Volatile)];
        "putIntVolatile", "putObjectVolatile", "putBooleanVolatile", "putByteVolatile" "*" [
            write(Designated, Volatile),
        ];
        "putShortVolatile", "putCharVolatile", "putLongVolatile", "putFloatVolatile" "*" [
            write(Designated, Volatile),
        ];
        "putDoubleVolatile" "*" [write(Designated, Volatile)];
        "putOrderedObject", "putOrderedInt", "putOrderedLong" "*" [write(Designated, Release)];
        "compareAndSwapObject", "compareAndSwapInt", "compareAndSwapLong" "*" [
            update(Designated, Volatile, IfTrue),
        ];
        "getAndAddInt", "getAndAddLong" "*" [add(Designated, Volatile)];
        "getAndSetInt", "getAndSetLong", "getAndSetObject" "*" [add(Designated, Volatile)];
        "loadFence" "*" [Fence { ordering: Acquire }];
        "storeFence" "*" [Fence { ordering: Release }];
        "fullFence" "*" [Fence { ordering: Volatile }];
        "park" "*" [
            Wait { on: Operand::CurrentThread, kind: WaitKind::Park, timed: true }, BLOCKS,
        ];
        "unpark" "*" [Notify { on: Argument(0), all: false }];
        "allocateInstance" "*" [FRESH];
        "ensureClassInitialized" "*" [Reflective];
        "setMemory" "*" [write(Designated, Plain)];
        "copyMemory" "(Ljava/lang/Object;JLjava/lang/Object;JJ)V" [
            Read { of: Argument(0) }, Write { of: Argument(2) },
        ];
        "objectFieldOffset", "staticFieldOffset", "staticFieldBase", "arrayBaseOffset" "*" [];
        "arrayIndexScale", "addressSize", "pageSize", "getUnsafe" "*" [];
    }
};
