//! The concurrent and blocking collections of `java.util.concurrent`.
//!
//! Approximations: a collection is one variable, whose changes are atomic one by one; bulk
//! operations (`putAll`, `addAll`, `removeIf`, `forEach`, `clear`) are written the same way
//! although they are not atomic as a whole on the non-blocking collections. What was done before an
//! insertion happens before what follows the access or removal of *that element*; the rows say so
//! for the whole collection, and name the element by `Store` and `Load` for those who can do
//! better. The internal locks are not named: a callback of `ConcurrentHashMap.compute` runs while a
//! bin is locked, which can deadlock with another lock and is not seen. Iterators are weakly
//! consistent views; their own methods have no rows. Bulk operations of `ConcurrentHashMap` with a
//! threshold run their callbacks on the common pool as well as in the caller.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Callbacks, Elements, Receiver};

/// Callbacks run on the common pool and in the caller, at the same time, and have ended on return.
const RUNS_IN_POOL: Effect =
    Submit { task: Callbacks, to: Runner::CommonPool, times: Times::Concurrently };
const JOINS_POOL: Effect = join(Callbacks);
/// The collection in argument 0 gets what the receiver kept.
const DRAINS: Effect = Store { value: Operand::Contents, into: Argument(0) };
const STORES_OUT: Effect = Write { of: Argument(0) };

pub(super) const ROWS: &[&[Model]] = models! {
    // Maps.
    "java/util/concurrent/ConcurrentMap", "java/util/concurrent/ConcurrentHashMap",
    "java/util/concurrent/ConcurrentSkipListMap" => {
        "size", "isEmpty", "containsKey", "containsValue" "*" [LOOK, RECEIVE];
        "hashCode", "toString" "*" [LOOK, RECEIVE];
        "equals" "*" [LOOK, RECEIVE, READS0];
        "get" "*" [LOOK, RECEIVE, GIVES];
        "getOrDefault" "*" [LOOK, RECEIVE, GIVES];
        "put", "putIfAbsent" "*" [CHANGE, PUBLISH, RECEIVE, KEEPS0, KEEPS1, GIVES];
        "putAll" "*" [CHANGE, PUBLISH, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)*" [CHANGE, RECEIVE, GIVES];
        "remove" "(Ljava/lang/Object;Ljava/lang/Object;)*" [CHANGE_IF, RECEIVE];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;)*" [
            CHANGE, PUBLISH, RECEIVE, KEEPS1, GIVES,
        ];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)*" [
            CHANGE_IF, PUBLISH, RECEIVE, KEEPS2,
        ];
        "clear" "*" [CHANGE];
        "computeIfAbsent" "*" [CHANGE, PUBLISH, RECEIVE, RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
        "computeIfPresent", "compute" "*" [
            CHANGE, PUBLISH, RECEIVE, RUNS_ONCE, FEEDS, KEEPS0, KEEPS_MADE, GIVES,
        ];
        "merge" "*" [
            CHANGE, PUBLISH, RECEIVE, RUNS_ONCE, FEEDS, KEEPS0, KEEPS1, KEEPS_MADE, GIVES,
        ];
        "forEach" "*" [LOOK, RECEIVE, RUNS, FEEDS];
        "replaceAll" "*" [CHANGE, PUBLISH, RECEIVE, RUNS, FEEDS, KEEPS_MADE];
        "values", "entrySet" "*" [VIEW];
    }
    "java/util/concurrent/ConcurrentMap" => {
        "keySet" "*" [VIEW];
    }
    "java/util/concurrent/ConcurrentHashMap" => {
        "keySet" "*" [VIEW, ReturnsType("java/util/concurrent/ConcurrentHashMap$KeySetView")];
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(IF)V" [];
        "<init>" "(IFI)V" [];
        "<init>" "(Ljava/util/Map;)V" [KEEPS_ALL0];
        "contains", "mappingCount" "*" [LOOK, RECEIVE];
        "keys", "elements" "*" [VIEW];
        "newKeySet" "*" [FRESH, ReturnsType("java/util/concurrent/ConcurrentHashMap$KeySetView")];
        "forEach" "(JLjava/util/function/BiConsumer;)V" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "forEach" "(JLjava/util/function/BiFunction;Ljava/util/function/Consumer;)V" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "forEachKey", "forEachValue", "forEachEntry" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "search", "searchKeys", "searchValues", "searchEntries" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "reduce", "reduceKeys", "reduceValues", "reduceEntries" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL, GIVES,
        ];
        "reduceToDouble", "reduceToLong", "reduceToInt" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "reduceKeysToDouble", "reduceKeysToLong", "reduceKeysToInt" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "reduceValuesToDouble", "reduceValuesToLong", "reduceValuesToInt" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
        "reduceEntriesToDouble", "reduceEntriesToLong", "reduceEntriesToInt" "*" [
            LOOK, RECEIVE, RUNS_IN_POOL, RUNS, FEEDS, JOINS_POOL,
        ];
    }
    "java/util/concurrent/ConcurrentNavigableMap", "java/util/concurrent/ConcurrentSkipListMap" => {
        "comparator" "*" [GIVES];
        "firstKey", "lastKey", "lowerKey", "floorKey", "ceilingKey", "higherKey" "*" [
            LOOK, RECEIVE, GIVES,
        ];
        "firstEntry", "lastEntry", "lowerEntry", "floorEntry", "ceilingEntry", "higherEntry" "*" [
            LOOK, RECEIVE, GIVES,
        ];
        "pollFirstEntry", "pollLastEntry" "*" [CHANGE, RECEIVE, GIVES];
        "subMap", "headMap", "tailMap", "descendingMap" "*" [VIEW];
        "keySet", "navigableKeySet", "descendingKeySet" "*" [VIEW];
    }
    "java/util/concurrent/ConcurrentSkipListMap" => {
        "<init>" "()V" [];
        "<init>" "(Ljava/util/Comparator;)V" [KEEPS0];
        "<init>" "*" [KEEPS_ALL0];
        "clone" "()*" [LOOK, RECEIVE, GIVES, FRESH];
    }

    // What every concurrent collection of elements has.
    "java/util/concurrent/BlockingQueue", "java/util/concurrent/BlockingDeque",
    "java/util/concurrent/TransferQueue", "java/util/concurrent/ArrayBlockingQueue",
    "java/util/concurrent/LinkedBlockingQueue", "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/PriorityBlockingQueue", "java/util/concurrent/DelayQueue",
    "java/util/concurrent/SynchronousQueue", "java/util/concurrent/LinkedTransferQueue",
    "java/util/concurrent/ConcurrentLinkedQueue", "java/util/concurrent/ConcurrentLinkedDeque",
    "java/util/concurrent/ConcurrentSkipListSet", "java/util/concurrent/CopyOnWriteArraySet",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/ConcurrentHashMap$KeySetView" => {
        "size", "isEmpty", "contains", "toString" "*" [LOOK, RECEIVE];
        "containsAll" "*" [LOOK, RECEIVE, READS0];
        "add" "(Ljava/lang/Object;)*" [CHANGE, PUBLISH, KEEPS0];
        "addAll" "(Ljava/util/Collection;)*" [CHANGE, PUBLISH, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)*" [CHANGE_IF, RECEIVE_IF];
        "removeAll", "retainAll" "*" [CHANGE_IF, RECEIVE, READS0];
        "removeIf" "*" [CHANGE_IF, RECEIVE, RUNS, FEEDS];
        "clear" "*" [CHANGE];
        "forEach" "*" [LOOK, RECEIVE, RUNS, FEEDS];
        "toArray" "*" [LOOK, RECEIVE, GIVES];
        "iterator", "spliterator", "stream" "*" [VIEW];
        "parallelStream" "*" [VIEW, Parallel];
    }

    // Sets and lists compare by contents, queues by identity.
    "java/util/concurrent/ConcurrentSkipListSet", "java/util/concurrent/CopyOnWriteArraySet",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/ConcurrentHashMap$KeySetView" => {
        "hashCode" "*" [LOOK, RECEIVE];
        "equals" "*" [LOOK, RECEIVE, READS0];
    }
    "java/util/concurrent/ConcurrentHashMap$KeySetView" => {
        "getMap" "()*" [GIVES];
        "getMappedValue" "()*" [GIVES];
    }
    "java/util/concurrent/ConcurrentSkipListSet" => {
        "<init>" "()V" [];
        "<init>" "(Ljava/util/Comparator;)V" [KEEPS0];
        "<init>" "*" [KEEPS_ALL0];
        "clone" "()*" [LOOK, RECEIVE, GIVES, FRESH];
        "comparator" "*" [GIVES];
        "first", "last", "lower", "floor", "ceiling", "higher" "*" [LOOK, RECEIVE, GIVES];
        "pollFirst", "pollLast" "*" [CHANGE, RECEIVE_SOME, GIVES];
        "subSet", "headSet", "tailSet", "descendingSet", "descendingIterator" "*" [VIEW];
    }
    "java/util/concurrent/CopyOnWriteArraySet" => {
        "<init>" "()V" [];
        "<init>" "*" [KEEPS_ALL0];
    }
    "java/util/concurrent/CopyOnWriteArrayList" => {
        "<init>" "()V" [];
        "<init>" "*" [KEEPS_ALL0];
        "clone" "()*" [LOOK, RECEIVE, GIVES, FRESH];
        "get" "(I)*" [LOOK, RECEIVE, GIVES];
        "indexOf", "lastIndexOf" "*" [LOOK, RECEIVE];
        "set" "*" [CHANGE, PUBLISH, RECEIVE, KEEPS1, GIVES];
        "add" "(ILjava/lang/Object;)V" [CHANGE, PUBLISH, KEEPS1];
        "remove" "(I)*" [CHANGE, RECEIVE, GIVES];
        "addIfAbsent" "*" [CHANGE_IF, PUBLISH, RECEIVE, KEEPS0];
        "addAllAbsent" "*" [CHANGE, PUBLISH, RECEIVE, KEEPS_ALL0];
        "addAll" "(ILjava/util/Collection;)*" [CHANGE, PUBLISH, KEEPS_ALL1];
        "replaceAll" "*" [CHANGE, PUBLISH, RECEIVE, RUNS, FEEDS, KEEPS_MADE];
        "sort" "*" [CHANGE, PUBLISH, RECEIVE, RUNS, FEEDS];
        "listIterator", "subList" "*" [VIEW];
    }

    // What every concurrent queue has.
    "java/util/concurrent/BlockingQueue", "java/util/concurrent/BlockingDeque",
    "java/util/concurrent/TransferQueue", "java/util/concurrent/ArrayBlockingQueue",
    "java/util/concurrent/LinkedBlockingQueue", "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/PriorityBlockingQueue", "java/util/concurrent/DelayQueue",
    "java/util/concurrent/SynchronousQueue", "java/util/concurrent/LinkedTransferQueue",
    "java/util/concurrent/ConcurrentLinkedQueue", "java/util/concurrent/ConcurrentLinkedDeque" => {
        "offer" "(Ljava/lang/Object;)Z" [CHANGE_IF, PUBLISH, KEEPS0];
        "poll" "()*" [CHANGE, RECEIVE_SOME, GIVES];
        "remove" "()*" [CHANGE, RECEIVE, GIVES];
        "peek" "()*" [LOOK, RECEIVE_SOME, GIVES];
        "element" "()*" [LOOK, RECEIVE, GIVES];
    }

    // What every blocking queue has.
    "java/util/concurrent/BlockingQueue", "java/util/concurrent/BlockingDeque",
    "java/util/concurrent/TransferQueue", "java/util/concurrent/ArrayBlockingQueue",
    "java/util/concurrent/LinkedBlockingQueue", "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/PriorityBlockingQueue", "java/util/concurrent/DelayQueue",
    "java/util/concurrent/SynchronousQueue", "java/util/concurrent/LinkedTransferQueue" => {
        "take" "()*" [CHANGE, RECEIVE, GIVES, BLOCKS];
        "poll" "(JLjava/util/concurrent/TimeUnit;)*" [CHANGE, RECEIVE_SOME, GIVES, BLOCKS_TIMED];
        "drainTo" "*" [CHANGE, RECEIVE, STORES_OUT, DRAINS];
        "remainingCapacity" "()I" [LOOK];
    }
    "java/util/concurrent/BlockingQueue", "java/util/concurrent/BlockingDeque",
    "java/util/concurrent/ArrayBlockingQueue", "java/util/concurrent/LinkedBlockingQueue",
    "java/util/concurrent/LinkedBlockingDeque", "java/util/concurrent/SynchronousQueue" => {
        "put" "*" [CHANGE, PUBLISH, KEEPS0, BLOCKS];
        "offer" "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z" [
            CHANGE_IF, PUBLISH, KEEPS0, BLOCKS_TIMED,
        ];
    }
    // Unbounded queues never make their producers wait.
    "java/util/concurrent/PriorityBlockingQueue", "java/util/concurrent/LinkedTransferQueue" => {
        "put" "*" [CHANGE, PUBLISH, KEEPS0];
        "offer" "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z" [CHANGE, PUBLISH, KEEPS0];
    }
    "java/util/concurrent/DelayQueue" => {
        "<init>" "()V" [];
        "<init>" "*" [KEEPS_ALL0];
        "put" "*" [CHANGE, PUBLISH, KEEPS0];
        "add" "(Ljava/util/concurrent/Delayed;)Z" [CHANGE, PUBLISH, KEEPS0];
        "offer" "*" [CHANGE, PUBLISH, KEEPS0];
    }
    "java/util/concurrent/ArrayBlockingQueue" => {
        "<init>" "(I)V" [];
        "<init>" "(IZ)V" [];
        "<init>" "*" [Store { value: Elements(2), into: Receiver }];
    }
    "java/util/concurrent/LinkedBlockingQueue", "java/util/concurrent/LinkedBlockingDeque" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "*" [KEEPS_ALL0];
    }
    "java/util/concurrent/PriorityBlockingQueue" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(ILjava/util/Comparator;)V" [KEEPS1];
        "<init>" "*" [KEEPS_ALL0];
        "comparator" "*" [GIVES];
    }
    "java/util/concurrent/SynchronousQueue" => {
        "<init>" "*" [];
    }
    "java/util/concurrent/LinkedTransferQueue", "java/util/concurrent/ConcurrentLinkedQueue",
    "java/util/concurrent/ConcurrentLinkedDeque" => {
        "<init>" "()V" [];
        "<init>" "*" [KEEPS_ALL0];
    }
    "java/util/concurrent/TransferQueue", "java/util/concurrent/LinkedTransferQueue" => {
        // The element has been received when the call returns, but the receiver publishes nothing.
        "transfer" "*" [CHANGE, PUBLISH, KEEPS0, BLOCKS];
        "tryTransfer" "(Ljava/lang/Object;)Z" [CHANGE_IF, PUBLISH, KEEPS0];
        "tryTransfer" "*" [CHANGE_IF, PUBLISH, KEEPS0, BLOCKS_TIMED];
        "hasWaitingConsumer", "getWaitingConsumerCount" "*" [LOOK];
    }

    // Deques.
    "java/util/concurrent/BlockingDeque", "java/util/concurrent/LinkedBlockingDeque",
    "java/util/concurrent/ConcurrentLinkedDeque" => {
        "addFirst", "addLast", "push" "*" [CHANGE, PUBLISH, KEEPS0];
        "offerFirst", "offerLast" "(Ljava/lang/Object;)Z" [CHANGE_IF, PUBLISH, KEEPS0];
        "pollFirst", "pollLast" "()*" [CHANGE, RECEIVE_SOME, GIVES];
        "removeFirst", "removeLast", "pop" "()*" [CHANGE, RECEIVE, GIVES];
        "removeFirstOccurrence", "removeLastOccurrence" "*" [CHANGE_IF, RECEIVE_IF];
        "getFirst", "getLast" "()*" [LOOK, RECEIVE, GIVES];
        "peekFirst", "peekLast" "()*" [LOOK, RECEIVE_SOME, GIVES];
        "descendingIterator" "()*" [VIEW];
    }
    "java/util/concurrent/BlockingDeque", "java/util/concurrent/LinkedBlockingDeque" => {
        "putFirst", "putLast" "*" [CHANGE, PUBLISH, KEEPS0, BLOCKS];
        "offerFirst", "offerLast" "(Ljava/lang/Object;JLjava/util/concurrent/TimeUnit;)Z" [
            CHANGE_IF, PUBLISH, KEEPS0, BLOCKS_TIMED,
        ];
        "takeFirst", "takeLast" "()*" [CHANGE, RECEIVE, GIVES, BLOCKS];
        "pollFirst", "pollLast" "(JLjava/util/concurrent/TimeUnit;)*" [
            CHANGE, RECEIVE_SOME, GIVES, BLOCKS_TIMED,
        ];
    }
};
