//! `java.util.stream`: callbacks, and whether they run in parallel.
//!
//! A pipeline is a view of its source. Approximations: the rows say that callbacks of intermediate
//! operations run in the calling thread, which is the thread of the terminal operation unless the
//! stream is parallel; then, as `Parallel` on some earlier stage tells, they run on the common
//! pool, concurrently, and have ended when the terminal operation returns. A stream that is
//! parallel only because it came out of an unknown method is taken as sequential. Suppliers and
//! accumulators of a `Collector` are run by `collect`, and are found through the collector, which
//! wraps them.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Callbacks, Result};

/// The result wraps the callbacks.
const COLLECTOR: Effect = Wraps { task: Callbacks, by: Result };
const IN_POOL: Effect =
    Submit { task: Callbacks, to: Runner::CommonPool, times: Times::Concurrently };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/stream/BaseStream", "java/util/stream/Stream", "java/util/stream/IntStream",
    "java/util/stream/LongStream", "java/util/stream/DoubleStream" => {
        "parallel" "()*" [VIEW, Parallel];
        "sequential" "()*" [VIEW, Sequential];
        "unordered" "()*" [VIEW];
        "iterator", "spliterator" "()*" [VIEW];
        "onClose" "*" [VIEW, RUNS_ONCE];
        "close" "()V" [];
        "isParallel" "()Z" [];
    }
    "java/util/stream/Stream", "java/util/stream/IntStream", "java/util/stream/LongStream",
    "java/util/stream/DoubleStream" => {
        "filter", "map", "flatMap", "mapMulti", "peek", "takeWhile", "dropWhile" "*" [
            VIEW, RUNS, FEEDS,
        ];
        "distinct", "limit", "skip" "*" [VIEW];
        "sorted" "()*" [VIEW];
        "forEach", "forEachOrdered", "anyMatch", "allMatch", "noneMatch" "*" [RUNS, FEEDS];
        "reduce", "collect" "*" [RUNS, FEEDS, GIVES];
        "count" "*" [];
        "findFirst", "findAny" "*" [GIVES];
        "toArray" "*" [GIVES, FRESH];
        "iterate", "generate" "*" [RUNS, FRESH];
        "concat" "*" [VIEW0, View { of: Argument(1) }];
        "of", "empty", "builder" "*" [FRESH];
    }
    "java/util/stream/Stream" => {
        "mapToInt", "mapToLong", "mapToDouble" "*" [VIEW, RUNS, FEEDS];
        "flatMapToInt", "flatMapToLong", "flatMapToDouble" "*" [VIEW, RUNS, FEEDS];
        "mapMultiToInt", "mapMultiToLong", "mapMultiToDouble" "*" [VIEW, RUNS, FEEDS];
        "sorted" "(Ljava/util/Comparator;)*" [VIEW, RUNS, FEEDS];
        // The collector's parts are what it wraps.
        "collect" "(Ljava/util/stream/Collector;)*" [
            RunsTask { task: Argument(0), times: Times::Repeatedly }, GIVES,
        ];
        "min", "max" "*" [RUNS, FEEDS, GIVES];
        "toList" "*" [GIVES, FRESH];
        "ofNullable" "*" [FRESH];
    }
    "java/util/stream/IntStream", "java/util/stream/LongStream",
    "java/util/stream/DoubleStream" => {
        "mapToObj" "*" [VIEW, RUNS, FEEDS];
        "boxed" "*" [VIEW];
        "sum", "average", "min", "max", "summaryStatistics" "*" [];
    }
    "java/util/stream/IntStream" => {
        "mapToLong", "mapToDouble" "*" [VIEW, RUNS, FEEDS];
        "asLongStream", "asDoubleStream" "*" [VIEW];
        "range", "rangeClosed" "*" [FRESH];
    }
    "java/util/stream/LongStream" => {
        "mapToInt", "mapToDouble" "*" [VIEW, RUNS, FEEDS];
        "asDoubleStream" "*" [VIEW];
        "range", "rangeClosed" "*" [FRESH];
    }
    "java/util/stream/DoubleStream" => {
        "mapToInt", "mapToLong" "*" [VIEW, RUNS, FEEDS];
    }
    "java/util/stream/StreamSupport" => {
        // The last argument decides, and is not known here: possibly parallel.
        "stream", "intStream", "longStream", "doubleStream" "*" [VIEW0, Parallel];
    }
    "java/util/stream/Collector" => {
        "of" "*" [COLLECTOR, FRESH];
    }
    "java/util/stream/Collectors" => {
        "toList", "toSet", "toUnmodifiableList", "toUnmodifiableSet", "joining", "counting" "*" [
            FRESH,
        ];
        "toCollection", "mapping", "flatMapping", "filtering", "collectingAndThen" "*" [
            COLLECTOR, FRESH,
        ];
        "groupingBy", "groupingByConcurrent", "partitioningBy" "*" [COLLECTOR, FRESH];
        "toMap", "toConcurrentMap", "toUnmodifiableMap", "reducing", "minBy", "maxBy" "*" [
            COLLECTOR, FRESH,
        ];
        "summingInt", "summingLong", "summingDouble" "*" [COLLECTOR, FRESH];
        "averagingInt", "averagingLong", "averagingDouble" "*" [COLLECTOR, FRESH];
        "summarizingInt", "summarizingLong", "summarizingDouble" "*" [COLLECTOR, FRESH];
        "teeing" "*" [COLLECTOR, FRESH];
    }
    "java/util/Arrays" => {
        "parallelSort" "([Ljava/lang/Object;Ljava/util/Comparator;)V" [
            Write { of: Argument(0) }, IN_POOL, RUNS, join(Callbacks),
        ];
        "parallelSort" "([Ljava/lang/Object;IILjava/util/Comparator;)V" [
            Write { of: Argument(0) }, IN_POOL, RUNS, join(Callbacks),
        ];
        "parallelSort" "*" [Write { of: Argument(0) }];
        "sort" "([Ljava/lang/Object;Ljava/util/Comparator;)V" [Write { of: Argument(0) }, RUNS];
        "sort" "([Ljava/lang/Object;IILjava/util/Comparator;)V" [Write { of: Argument(0) }, RUNS];
        "setAll" "*" [Write { of: Argument(0) }, RUNS];
        "parallelSetAll", "parallelPrefix" "*" [
            Write { of: Argument(0) }, IN_POOL, RUNS, join(Callbacks),
        ];
    }
};
