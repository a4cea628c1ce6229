//! Which method of a task runs: the methods that library code calls on the objects it is given.
//!
//! A row of the models names a task by operand; what runs is the method that this table has for the
//! operand's declared type, in the class that the object turns out to have. Descriptors are erased,
//! as in the class file of the interface. Approximation: an interface with several callbacks, such
//! as `Flow.Subscriber`, has them run in any order.

use classes::descriptor::parameter_descriptors;

/// One method through which a task is run.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskMethod {
    /// Internal name of the interface or class that declares the method.
    pub class: &'static str,
    /// Name of the method.
    pub method: &'static str,
    /// Its exact descriptor.
    pub descriptor: &'static str,
}

const fn task(class: &'static str, method: &'static str, descriptor: &'static str) -> TaskMethod {
    TaskMethod { class, method, descriptor }
}

/// Sorted by class.
#[rustfmt::skip]
const TASK_METHODS: &[TaskMethod] = &[
    task("com/google/common/base/Function", "apply", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    task("com/google/common/base/Supplier", "get", "()Ljava/lang/Object;"),
    task("com/google/common/util/concurrent/AsyncCallable", "call", "()Lcom/google/common/util/concurrent/ListenableFuture;"),
    task("com/google/common/util/concurrent/AsyncFunction", "apply", "(Ljava/lang/Object;)Lcom/google/common/util/concurrent/ListenableFuture;"),
    task("com/google/common/util/concurrent/FutureCallback", "onFailure", "(Ljava/lang/Throwable;)V"),
    task("com/google/common/util/concurrent/FutureCallback", "onSuccess", "(Ljava/lang/Object;)V"),
    task("com/sun/net/httpserver/HttpHandler", "handle", "(Lcom/sun/net/httpserver/HttpExchange;)V"),
    task("java/awt/event/ActionListener", "actionPerformed", "(Ljava/awt/event/ActionEvent;)V"),
    task("java/lang/Runnable", "run", "()V"),
    task("java/lang/ScopedValue$CallableOp", "call", "()Ljava/lang/Object;"),
    task("java/lang/Thread", "run", "()V"),
    task("java/lang/Thread$UncaughtExceptionHandler", "uncaughtException", "(Ljava/lang/Thread;Ljava/lang/Throwable;)V"),
    task("java/lang/reflect/InvocationHandler", "invoke", "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;"),
    task("java/security/PrivilegedAction", "run", "()Ljava/lang/Object;"),
    task("java/security/PrivilegedExceptionAction", "run", "()Ljava/lang/Object;"),
    task("java/util/Comparator", "compare", "(Ljava/lang/Object;Ljava/lang/Object;)I"),
    task("java/util/Observer", "update", "(Ljava/util/Observable;Ljava/lang/Object;)V"),
    task("java/util/TimerTask", "run", "()V"),
    task("java/util/concurrent/Callable", "call", "()Ljava/lang/Object;"),
    task("java/util/concurrent/CountedCompleter", "compute", "()V"),
    task("java/util/concurrent/CountedCompleter", "onCompletion", "(Ljava/util/concurrent/CountedCompleter;)V"),
    task("java/util/concurrent/CountedCompleter", "onExceptionalCompletion", "(Ljava/lang/Throwable;Ljava/util/concurrent/CountedCompleter;)Z"),
    task("java/util/concurrent/Flow$Subscriber", "onComplete", "()V"),
    task("java/util/concurrent/Flow$Subscriber", "onError", "(Ljava/lang/Throwable;)V"),
    task("java/util/concurrent/Flow$Subscriber", "onNext", "(Ljava/lang/Object;)V"),
    task("java/util/concurrent/Flow$Subscriber", "onSubscribe", "(Ljava/util/concurrent/Flow$Subscription;)V"),
    task("java/util/concurrent/ForkJoinPool$ManagedBlocker", "block", "()Z"),
    task("java/util/concurrent/ForkJoinPool$ManagedBlocker", "isReleasable", "()Z"),
    task("java/util/concurrent/ForkJoinTask", "exec", "()Z"),
    task("java/util/concurrent/FutureTask", "run", "()V"),
    task("java/util/concurrent/RecursiveAction", "compute", "()V"),
    task("java/util/concurrent/RecursiveTask", "compute", "()Ljava/lang/Object;"),
    task("java/util/concurrent/RejectedExecutionHandler", "rejectedExecution", "(Ljava/lang/Runnable;Ljava/util/concurrent/ThreadPoolExecutor;)V"),
    task("java/util/concurrent/RunnableFuture", "run", "()V"),
    task("java/util/concurrent/ThreadFactory", "newThread", "(Ljava/lang/Runnable;)Ljava/lang/Thread;"),
    task("java/util/function/BiConsumer", "accept", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    task("java/util/function/BiFunction", "apply", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    task("java/util/function/BiPredicate", "test", "(Ljava/lang/Object;Ljava/lang/Object;)Z"),
    task("java/util/function/BinaryOperator", "apply", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    task("java/util/function/BooleanSupplier", "getAsBoolean", "()Z"),
    task("java/util/function/Consumer", "accept", "(Ljava/lang/Object;)V"),
    task("java/util/function/DoubleBinaryOperator", "applyAsDouble", "(DD)D"),
    task("java/util/function/DoubleConsumer", "accept", "(D)V"),
    task("java/util/function/DoubleFunction", "apply", "(D)Ljava/lang/Object;"),
    task("java/util/function/DoublePredicate", "test", "(D)Z"),
    task("java/util/function/DoubleSupplier", "getAsDouble", "()D"),
    task("java/util/function/DoubleToIntFunction", "applyAsInt", "(D)I"),
    task("java/util/function/DoubleToLongFunction", "applyAsLong", "(D)J"),
    task("java/util/function/DoubleUnaryOperator", "applyAsDouble", "(D)D"),
    task("java/util/function/Function", "apply", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    task("java/util/function/IntBinaryOperator", "applyAsInt", "(II)I"),
    task("java/util/function/IntConsumer", "accept", "(I)V"),
    task("java/util/function/IntFunction", "apply", "(I)Ljava/lang/Object;"),
    task("java/util/function/IntPredicate", "test", "(I)Z"),
    task("java/util/function/IntSupplier", "getAsInt", "()I"),
    task("java/util/function/IntToDoubleFunction", "applyAsDouble", "(I)D"),
    task("java/util/function/IntToLongFunction", "applyAsLong", "(I)J"),
    task("java/util/function/IntUnaryOperator", "applyAsInt", "(I)I"),
    task("java/util/function/LongBinaryOperator", "applyAsLong", "(JJ)J"),
    task("java/util/function/LongConsumer", "accept", "(J)V"),
    task("java/util/function/LongFunction", "apply", "(J)Ljava/lang/Object;"),
    task("java/util/function/LongPredicate", "test", "(J)Z"),
    task("java/util/function/LongSupplier", "getAsLong", "()J"),
    task("java/util/function/LongToDoubleFunction", "applyAsDouble", "(J)D"),
    task("java/util/function/LongToIntFunction", "applyAsInt", "(J)I"),
    task("java/util/function/LongUnaryOperator", "applyAsLong", "(J)J"),
    task("java/util/function/ObjDoubleConsumer", "accept", "(Ljava/lang/Object;D)V"),
    task("java/util/function/ObjIntConsumer", "accept", "(Ljava/lang/Object;I)V"),
    task("java/util/function/ObjLongConsumer", "accept", "(Ljava/lang/Object;J)V"),
    task("java/util/function/Predicate", "test", "(Ljava/lang/Object;)Z"),
    task("java/util/function/Supplier", "get", "()Ljava/lang/Object;"),
    task("java/util/function/ToDoubleBiFunction", "applyAsDouble", "(Ljava/lang/Object;Ljava/lang/Object;)D"),
    task("java/util/function/ToDoubleFunction", "applyAsDouble", "(Ljava/lang/Object;)D"),
    task("java/util/function/ToIntBiFunction", "applyAsInt", "(Ljava/lang/Object;Ljava/lang/Object;)I"),
    task("java/util/function/ToIntFunction", "applyAsInt", "(Ljava/lang/Object;)I"),
    task("java/util/function/ToLongBiFunction", "applyAsLong", "(Ljava/lang/Object;Ljava/lang/Object;)J"),
    task("java/util/function/ToLongFunction", "applyAsLong", "(Ljava/lang/Object;)J"),
    task("java/util/function/UnaryOperator", "apply", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    task("java/util/stream/DoubleStream$DoubleMapMultiConsumer", "accept", "(DLjava/util/function/DoubleConsumer;)V"),
    task("java/util/stream/IntStream$IntMapMultiConsumer", "accept", "(ILjava/util/function/IntConsumer;)V"),
    task("java/util/stream/LongStream$LongMapMultiConsumer", "accept", "(JLjava/util/function/LongConsumer;)V"),
    task("javax/swing/SwingWorker", "doInBackground", "()Ljava/lang/Object;"),
    task("kotlin/jvm/functions/Function0", "invoke", "()Ljava/lang/Object;"),
    task("kotlin/jvm/functions/Function1", "invoke", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    task("kotlin/jvm/functions/Function2", "invoke", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    task("scala/Function0", "apply", "()Ljava/lang/Object;"),
    task("scala/Function1", "apply", "(Ljava/lang/Object;)Ljava/lang/Object;"),
    task("scala/Function2", "apply", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    task("scala/PartialFunction", "apply", "(Ljava/lang/Object;)Ljava/lang/Object;"),
];

/// The methods through which a task of this declared type is run; empty when the type is not known
/// to be a task.
#[must_use]
pub fn task_methods(class: &str) -> &'static [TaskMethod] {
    let start = TASK_METHODS.partition_point(|row| row.class < class);
    let length = TASK_METHODS[start..].partition_point(|row| row.class == class);
    &TASK_METHODS[start..start + length]
}

/// Whether tasks of this declared type are handed to other threads. The other types of the table are
/// only ever run by whoever was given them, in the midst of other work: comparators and arithmetic.
#[must_use]
pub fn is_run_elsewhere(class: &str) -> bool {
    let is_function = class.starts_with("java/util/function/");
    let is_given_to_futures = matches!(
        class,
        "java/util/function/BiConsumer"
            | "java/util/function/BiFunction"
            | "java/util/function/Consumer"
            | "java/util/function/Function"
            | "java/util/function/Supplier"
    );
    let is_run_at_once = matches!(
        class,
        "java/lang/ScopedValue$CallableOp"
            | "java/lang/reflect/InvocationHandler"
            | "java/security/PrivilegedAction"
            | "java/security/PrivilegedExceptionAction"
            | "java/util/Comparator"
            | "java/util/concurrent/ForkJoinPool$ManagedBlocker"
            | "java/util/concurrent/ThreadFactory"
    ) || class.starts_with("java/util/stream/");
    !task_methods(class).is_empty() && !is_run_at_once && (!is_function || is_given_to_futures)
}

/// Types that library code calls methods of all the time, on objects of its own: that it calls one of them says little about
/// whose object is called.
#[must_use]
pub fn commonplace_types() -> &'static [&'static str] {
    &[
        "java/lang/CharSequence",
        "java/lang/Comparable",
        "java/lang/Iterable",
        "java/util/Dictionary",
        "java/util/Enumeration",
        "java/util/Iterator",
        "java/util/Map",
        "java/util/Map$Entry",
    ]
}

/// Every row, sorted by class.
#[must_use]
pub fn all_task_methods() -> &'static [TaskMethod] {
    TASK_METHODS
}

/// The parameters of a method that are tasks, by index and declared type: what
/// [`Operand::Callbacks`](super::Operand::Callbacks) stands for. A malformed descriptor has none.
#[must_use]
pub fn task_arguments(descriptor: &str) -> Vec<(u8, &str)> {
    (0..=u8::MAX)
        .zip(parameter_descriptors(descriptor))
        .filter_map(|(index, parameter)| {
            Some((index, parameter.strip_prefix('L')?.strip_suffix(';')?))
        })
        .filter(|(_, class)| !task_methods(class).is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_unique() {
        for pair in TASK_METHODS.windows(2) {
            let key = |row: &TaskMethod| (row.class, row.method, row.descriptor);
            assert!(key(&pair[0]) < key(&pair[1]), "{:?} before {:?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn a_subscriber_has_several_methods_and_a_string_none() {
        assert_eq!(task_methods("java/util/concurrent/Flow$Subscriber").len(), 4);
        assert_eq!(task_methods("java/lang/Runnable")[0].method, "run");
        assert!(task_methods("java/lang/String").is_empty());
        assert!(is_run_elsewhere("java/lang/Runnable"));
        assert!(!is_run_elsewhere("java/util/Comparator"));
        assert!(!is_run_elsewhere("java/util/function/IntPredicate"));
        assert!(!is_run_elsewhere("java/lang/String"));
    }

    #[test]
    fn tasks_are_found_among_the_arguments() {
        assert_eq!(
            task_arguments(
                "(J[[ILjava/util/function/BiFunction;[Ljava/lang/Runnable;Ljava/lang/Runnable;)V"
            ),
            [(2, "java/util/function/BiFunction"), (4, "java/lang/Runnable")]
        );
        assert!(task_arguments("(Ljava/lang/Runnable").is_empty());
        assert!(task_arguments("").is_empty());
        assert!(task_arguments("([").is_empty());
    }
}
