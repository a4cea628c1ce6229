//! What whole classes promise to threads that share their objects.
//!
//! A class that is not listed promises nothing that is known here. `ThreadSafe` says that single
//! calls are atomic or protected, not that sequences of calls are. Approximation: an immutable
//! class is immutable by itself; what its fields refer to may change.

/// What a class promises about the sharing of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// Objects never change after construction and may be shared in any way.
    Immutable,
    /// Every call may be made by any thread at any time.
    ThreadSafe,
    /// Calls must be ordered by the clients.
    NotThreadSafe,
    /// Each thread has its own object, or its own state behind the object.
    ThreadConfined,
}

/// The promise of one class.
#[derive(Debug, PartialEq, Eq)]
pub struct ClassSharing {
    /// Internal name of the class.
    pub class: &'static str,
    /// What it promises.
    pub sharing: Sharing,
}

/// Every row, by promise.
pub fn class_sharing() -> impl Iterator<Item = ClassSharing> {
    let with = |sharing, classes: &'static [&'static str]| {
        classes.iter().map(move |class| ClassSharing { class, sharing })
    };
    with(Sharing::Immutable, IMMUTABLE)
        .chain(with(Sharing::ThreadSafe, THREAD_SAFE))
        .chain(with(Sharing::NotThreadSafe, NOT_THREAD_SAFE))
        .chain(with(Sharing::ThreadConfined, THREAD_CONFINED))
}

/// What exactly this class promises, if it is known.
#[must_use]
pub fn sharing(class: &str) -> Option<Sharing> {
    let in_list = |classes: &[&str]| classes.binary_search(&class).is_ok();
    if in_list(IMMUTABLE) {
        Some(Sharing::Immutable)
    } else if in_list(THREAD_SAFE) {
        Some(Sharing::ThreadSafe)
    } else if in_list(NOT_THREAD_SAFE) {
        Some(Sharing::NotThreadSafe)
    } else if in_list(THREAD_CONFINED) {
        Some(Sharing::ThreadConfined)
    } else {
        None
    }
}

/// Whether objects of this immutable class hold on to others, which may change.
#[must_use]
pub fn holds_others(class: &str) -> bool {
    matches!(class, "java/lang/Enum" | "java/lang/Record" | "java/util/Optional")
        || class.starts_with("java/util/ImmutableCollections$")
}

/// Sorted.
#[rustfmt::skip]
const IMMUTABLE: &[&str] = &[
    "java/io/File",
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Class",
    "java/lang/Double",
    "java/lang/Enum",
    "java/lang/Float",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Record",
    "java/lang/Short",
    "java/lang/StackTraceElement",
    "java/lang/String",
    "java/lang/invoke/MethodHandle",
    "java/lang/invoke/MethodType",
    "java/lang/invoke/VarHandle",
    "java/math/BigDecimal",
    "java/math/BigInteger",
    "java/net/InetAddress",
    "java/net/URI",
    "java/nio/charset/Charset",
    "java/nio/file/Path",
    "java/time/Duration",
    "java/time/Instant",
    "java/time/LocalDate",
    "java/time/LocalDateTime",
    "java/time/LocalTime",
    "java/time/OffsetDateTime",
    "java/time/Period",
    "java/time/Year",
    "java/time/YearMonth",
    "java/time/ZoneId",
    "java/time/ZonedDateTime",
    "java/time/format/DateTimeFormatter",
    "java/util/Currency",
    "java/util/ImmutableCollections$List12",
    "java/util/ImmutableCollections$ListN",
    "java/util/ImmutableCollections$Map1",
    "java/util/ImmutableCollections$MapN",
    "java/util/ImmutableCollections$Set12",
    "java/util/ImmutableCollections$SetN",
    "java/util/Locale",
    "java/util/Optional",
    "java/util/OptionalDouble",
    "java/util/OptionalInt",
    "java/util/OptionalLong",
    "java/util/UUID",
    "java/util/concurrent/TimeUnit",
    "java/util/regex/Pattern",
];

/// Sorted.
#[rustfmt::skip]
const THREAD_SAFE: &[&str] = &[
    "java/io/BufferedInputStream",
    "java/io/BufferedOutputStream",
    "java/io/BufferedReader",
    "java/io/BufferedWriter",
    "java/io/ByteArrayInputStream",
    "java/io/ByteArrayOutputStream",
    "java/io/PrintStream",
    "java/io/PrintWriter",
    "java/io/StringReader",
    "java/io/StringWriter",
    "java/lang/ClassLoader",
    "java/lang/Runtime",
    "java/lang/StringBuffer",
    "java/lang/Thread",
    "java/lang/ThreadGroup",
    "java/lang/ThreadLocal",
    "java/lang/ref/Cleaner",
    "java/lang/ref/ReferenceQueue",
    "java/net/http/HttpClient",
    "java/nio/channels/FileChannel",
    "java/security/SecureRandom",
    "java/util/Collections$SynchronizedCollection",
    "java/util/Collections$SynchronizedList",
    "java/util/Collections$SynchronizedMap",
    "java/util/Collections$SynchronizedNavigableMap",
    "java/util/Collections$SynchronizedNavigableSet",
    "java/util/Collections$SynchronizedRandomAccessList",
    "java/util/Collections$SynchronizedSet",
    "java/util/Collections$SynchronizedSortedMap",
    "java/util/Collections$SynchronizedSortedSet",
    "java/util/Hashtable",
    "java/util/Observable",
    "java/util/Properties",
    "java/util/Random",
    "java/util/Stack",
    "java/util/Timer",
    "java/util/Vector",
    "java/util/concurrent/ArrayBlockingQueue",
    "java/util/concurrent/BlockingDeque",
    "java/util/concurrent/BlockingQueue",
    "java/util/concurrent/CompletableFuture",
    "java/util/concurrent/CompletionService",
    "java/util/concurrent/CompletionStage",
    "java/util/concurrent/ConcurrentHashMap",
    "java/util/concurrent/ConcurrentHashMap$KeySetView",
    "java/util/concurrent/ConcurrentLinkedDeque",
    "java/util/concurrent/ConcurrentLinkedQueue",
    "java/util/concurrent/ConcurrentMap",
    "java/util/concurrent/ConcurrentNavigableMap",
    "java/util/concurrent/ConcurrentSkipListMap",
    "java/util/concurrent/ConcurrentSkipListSet",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/CopyOnWriteArraySet",
    "java/util/concurrent/CountDownLatch",
    "java/util/concurrent/CyclicBarrier",
    "java/util/concurrent/DelayQueue",
    "java/util/concurrent/Exchanger",
    "java/util/concurrent/Executor",
    "java/util/concurrent/ExecutorCompletionService",
    "java/util/concurrent/ExecutorService",
    "java/util/concurrent/ForkJoinPool",
    "java/util/concurrent/ForkJoinTask",
    "java/util/concurrent/Future",
    "java/util/concurrent/FutureTask",
    "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/LinkedBlockingQueue",
    "java/util/concurrent/LinkedTransferQueue",
    "java/util/concurrent/Phaser",
    "java/util/concurrent/PriorityBlockingQueue",
    "java/util/concurrent/ScheduledExecutorService",
    "java/util/concurrent/ScheduledThreadPoolExecutor",
    "java/util/concurrent/Semaphore",
    "java/util/concurrent/SubmissionPublisher",
    "java/util/concurrent/SynchronousQueue",
    "java/util/concurrent/ThreadPoolExecutor",
    "java/util/concurrent/TransferQueue",
    "java/util/concurrent/atomic/AtomicBoolean",
    "java/util/concurrent/atomic/AtomicInteger",
    "java/util/concurrent/atomic/AtomicIntegerArray",
    "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
    "java/util/concurrent/atomic/AtomicLong",
    "java/util/concurrent/atomic/AtomicLongArray",
    "java/util/concurrent/atomic/AtomicLongFieldUpdater",
    "java/util/concurrent/atomic/AtomicMarkableReference",
    "java/util/concurrent/atomic/AtomicReference",
    "java/util/concurrent/atomic/AtomicReferenceArray",
    "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
    "java/util/concurrent/atomic/AtomicStampedReference",
    "java/util/concurrent/atomic/DoubleAccumulator",
    "java/util/concurrent/atomic/DoubleAdder",
    "java/util/concurrent/atomic/LongAccumulator",
    "java/util/concurrent/atomic/LongAdder",
    "java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
    "java/util/concurrent/locks/AbstractQueuedSynchronizer",
    "java/util/concurrent/locks/Condition",
    "java/util/concurrent/locks/Lock",
    "java/util/concurrent/locks/ReadWriteLock",
    "java/util/concurrent/locks/ReentrantLock",
    "java/util/concurrent/locks/ReentrantReadWriteLock",
    "java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock",
    "java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock",
    "java/util/concurrent/locks/StampedLock",
    "java/util/logging/Logger",
];

/// Sorted.
#[rustfmt::skip]
const NOT_THREAD_SAFE: &[&str] = &[
    "java/lang/StringBuilder",
    "java/nio/ByteBuffer",
    "java/nio/CharBuffer",
    "java/security/MessageDigest",
    "java/text/DateFormat",
    "java/text/DecimalFormat",
    "java/text/Format",
    "java/text/MessageFormat",
    "java/text/NumberFormat",
    "java/text/SimpleDateFormat",
    "java/util/ArrayDeque",
    "java/util/ArrayList",
    "java/util/BitSet",
    "java/util/Calendar",
    "java/util/Date",
    "java/util/EnumMap",
    "java/util/EnumSet",
    "java/util/Formatter",
    "java/util/GregorianCalendar",
    "java/util/HashMap",
    "java/util/HashSet",
    "java/util/IdentityHashMap",
    "java/util/LinkedHashMap",
    "java/util/LinkedHashSet",
    "java/util/LinkedList",
    "java/util/PriorityQueue",
    "java/util/Scanner",
    "java/util/ServiceLoader",
    "java/util/SplittableRandom",
    "java/util/StringJoiner",
    "java/util/StringTokenizer",
    "java/util/TreeMap",
    "java/util/TreeSet",
    "java/util/WeakHashMap",
    "java/util/regex/Matcher",
    "java/util/zip/CRC32",
    "javax/crypto/Cipher",
    "javax/xml/parsers/DocumentBuilder",
    "javax/xml/parsers/SAXParser",
];

/// Sorted.
#[rustfmt::skip]
const THREAD_CONFINED: &[&str] = &[
    "java/util/concurrent/ThreadLocalRandom",
];

/// Whether the static methods of this class compute their results from their arguments alone.
#[must_use]
pub fn computes_values(class: &str) -> bool {
    matches!(class, "java/lang/Math" | "java/lang/StrictMath" | "java/util/Objects")
}

/// Whether objects of this synchronized class are mostly used by one thread, or under another lock,
/// in spite of their own synchronization: the collections and buffers of Java 1.
#[must_use]
pub fn is_often_confined(class: &str) -> bool {
    matches!(
        class,
        "java/util/Vector"
            | "java/util/Stack"
            | "java/util/Hashtable"
            | "java/util/Properties"
            | "java/lang/StringBuffer"
    ) || class.starts_with("java/util/Collections$Synchronized")
}

/// Whether this field of a synchronized wrapper holds its lock, which is the wrapper itself unless the
/// wrapper is a view of another one.
#[must_use]
pub fn is_own_mutex(class: &str, field: &str) -> bool {
    field == "mutex" && class.starts_with("java/util/Collections$Synchronized")
}

/// Whether this class belongs to a user interface, which calls what it is given in a thread of its own.
#[must_use]
pub fn is_user_interface(class: &str) -> bool {
    ["java/awt/", "javax/swing/", "javafx/"].iter().any(|prefix| class.starts_with(prefix))
}

/// Whether this is a stream of elements, or belongs to one: a pipeline of callbacks.
#[must_use]
pub fn is_pipeline(class: &str) -> bool {
    class.starts_with("java/util/stream/")
}

/// Whether this is a stream, reader or writer of the library, the console included.
#[must_use]
pub fn is_stream(class: &str) -> bool {
    class.starts_with("java/io/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_disjoint() {
        for list in [IMMUTABLE, THREAD_SAFE, NOT_THREAD_SAFE, THREAD_CONFINED] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        for row in class_sharing() {
            assert_eq!(sharing(row.class), Some(row.sharing), "{}", row.class);
        }
    }
}
