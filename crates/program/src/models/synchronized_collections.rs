//! Collections and buffers that take a monitor in each method: `Vector`, `Stack`, `Hashtable`,
//! `Properties`, `StringBuffer`, and the wrappers of `Collections.synchronized…`.
//!
//! The monitors can be taken by clients too, which is why they are named. Approximations: the
//! iterators of `Vector` lock the vector in each step, those of the wrappers do not lock at all;
//! both are written as views, and the steps of the wrappers' iterators have no rows. Since Java 9
//! `Properties` keeps its entries in a concurrent map and its reads take no monitor, which is how
//! they are written; before, they did. The mutex of a wrapper is the wrapper itself, unless the
//! wrapper is a view of another one: then it is that one's. Callbacks run while the monitor is
//! held.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Result};

/// The result is a wrapper around argument 0.
const WRAPPER: Effect = Store { value: Argument(0), into: Result };
const COPIES_OUT: Effect = Write { of: Argument(0) };

pub(super) const ROWS: &[&[Model]] = models! {
    "java/util/Vector" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(II)V" [];
        "<init>" "(Ljava/util/Collection;)V" [KEEPS_ALL0];
    }
    "java/util/Stack" => {
        "<init>" "()V" [];
        "push" "*" [SYNC, WRITE, KEEPS0, Load { from: Argument(0) }];
        "pop" "*" [SYNC, WRITE, GIVES];
        "peek" "*" [SYNC, READ, GIVES];
        "empty", "search" "*" [SYNC, READ];
    }
    "java/util/Vector", "java/util/Stack" => {
        "copyInto" "*" [
            SYNC, READ, COPIES_OUT, Store { value: Operand::Contents, into: Argument(0) },
        ];
        "trimToSize", "ensureCapacity", "setSize" "*" [SYNC, WRITE];
        "capacity", "size", "isEmpty", "contains", "indexOf", "lastIndexOf" "*" [SYNC, READ];
        "hashCode", "toString" "*" [SYNC, READ];
        "containsAll", "equals" "*" [SYNC, READ, READS0];
        "elementAt", "firstElement", "lastElement", "get" "*" [SYNC, READ, GIVES];
        "toArray", "clone" "*" [SYNC, READ, GIVES, FRESH];
        "addElement" "*" [SYNC, WRITE, KEEPS0];
        "add" "(Ljava/lang/Object;)Z" [SYNC, WRITE, KEEPS0];
        "add" "(ILjava/lang/Object;)V" [SYNC, WRITE, KEEPS1];
        "setElementAt", "insertElementAt" "*" [SYNC, WRITE, KEEPS0];
        "set" "*" [SYNC, WRITE, KEEPS1, GIVES];
        "addAll" "(Ljava/util/Collection;)Z" [SYNC, WRITE, KEEPS_ALL0];
        "addAll" "(ILjava/util/Collection;)Z" [SYNC, WRITE, KEEPS_ALL1];
        "remove" "(I)*" [SYNC, WRITE, GIVES];
        "remove" "(Ljava/lang/Object;)Z" [SYNC, WRITE];
        "removeElementAt", "removeElement", "removeAllElements", "clear" "*" [SYNC, WRITE];
        "removeRange" "*" [SYNC, WRITE];
        "removeAll", "retainAll" "*" [SYNC, WRITE, READS0];
        "removeIf" "*" [SYNC, WRITE, RUNS, FEEDS];
        "forEach" "*" [SYNC, READ, RUNS, FEEDS];
        "replaceAll" "*" [SYNC, WRITE, RUNS, FEEDS, KEEPS_MADE];
        "sort" "*" [SYNC, WRITE, RUNS, FEEDS];
        "iterator", "listIterator", "subList" "*" [SYNC, VIEW];
        "elements", "spliterator", "stream" "*" [VIEW];
        "parallelStream" "*" [VIEW, Parallel];
    }

    "java/util/Hashtable" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(IF)V" [];
        "<init>" "(Ljava/util/Map;)V" [KEEPS_ALL0];
        "size", "isEmpty", "contains", "containsKey", "containsValue" "*" [SYNC, READ];
        "get", "getOrDefault" "*" [SYNC, READ, GIVES];
        "keys", "elements" "*" [SYNC, VIEW];
    }
    "java/util/Properties" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(Ljava/util/Properties;)V" [KEEPS0];
        "size", "isEmpty", "contains", "containsKey", "containsValue" "*" [LOOK, RECEIVE];
        "get", "getOrDefault", "getProperty" "*" [LOOK, RECEIVE, GIVES];
        "keys", "elements" "*" [VIEW];
        "propertyNames", "stringPropertyNames" "*" [LOOK, RECEIVE, GIVES, FRESH];
        "setProperty" "*" [SYNC, CHANGE, PUBLISH, KEEPS0, KEEPS1, GIVES];
        "load", "loadFromXML" "*" [SYNC, CHANGE, PUBLISH];
        "store", "save" "*" [SYNC, LOOK, RECEIVE];
        "storeToXML", "list" "*" [LOOK, RECEIVE];
    }
    // The changes, which Properties locks as well; its readers, which do not lock, see them whole.
    "java/util/Hashtable", "java/util/Properties" => {
        "hashCode", "toString" "*" [SYNC, LOOK];
        "equals" "*" [SYNC, LOOK, READS0];
        "clone" "*" [SYNC, LOOK, GIVES, FRESH];
        "put", "putIfAbsent" "*" [SYNC, CHANGE, PUBLISH, KEEPS0, KEEPS1, GIVES];
        "putAll" "*" [SYNC, CHANGE, PUBLISH, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)*" [SYNC, CHANGE, GIVES];
        "remove" "(Ljava/lang/Object;Ljava/lang/Object;)*" [SYNC, CHANGE];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;)*" [SYNC, CHANGE, PUBLISH, KEEPS1, GIVES];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)*" [
            SYNC, CHANGE, PUBLISH, KEEPS2,
        ];
        "clear" "*" [SYNC, CHANGE];
        "computeIfAbsent" "*" [SYNC, CHANGE, PUBLISH, RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
        "computeIfPresent", "compute" "*" [
            SYNC, CHANGE, PUBLISH, RUNS_ONCE, FEEDS, KEEPS0, KEEPS_MADE, GIVES,
        ];
        "merge" "*" [
            SYNC, CHANGE, PUBLISH, RUNS_ONCE, FEEDS, KEEPS0, KEEPS1, KEEPS_MADE, GIVES,
        ];
        "forEach" "*" [SYNC, LOOK, RUNS, FEEDS];
        "replaceAll" "*" [SYNC, CHANGE, PUBLISH, RUNS, FEEDS, KEEPS_MADE];
        "rehash" "*" [CHANGE];
        "keySet", "values", "entrySet" "*" [VIEW];
    }

    "java/lang/StringBuffer" => {
        "<init>" "*" [];
        "length", "capacity", "charAt", "codePointAt", "codePointBefore" "*" [SYNC, READ];
        "codePointCount", "offsetByCodePoints", "indexOf", "lastIndexOf" "*" [SYNC, READ];
        "substring", "subSequence", "toString" "*" [SYNC, READ, FRESH];
        "getChars" "*" [SYNC, READ, Write { of: Argument(2) }];
        "compareTo" "(Ljava/lang/StringBuffer;)I" [
            SYNC, READ, Synchronized { lock: Argument(0) }, Read { of: Argument(0) },
        ];
        "compareTo" "(Ljava/lang/Object;)I" [
            SYNC, READ, Synchronized { lock: Argument(0) }, Read { of: Argument(0) },
        ];
        "append" "(Ljava/lang/StringBuffer;)*" [
            SYNC, WRITE, Synchronized { lock: Argument(0) }, Read { of: Argument(0) }, VIEW,
        ];
        "append", "appendCodePoint", "insert", "delete", "deleteCharAt", "replace" "*" [
            SYNC, WRITE, VIEW,
        ];
        "reverse" "*" [SYNC, WRITE, VIEW];
        "ensureCapacity", "trimToSize", "setLength", "setCharAt" "*" [SYNC, WRITE];
        "chars", "codePoints" "*" [VIEW];
    }

    // The wrappers. Rows are repeated for the subclasses so that a view of a view is found without
    // a hierarchy.
    "java/util/Collections$SynchronizedCollection", "java/util/Collections$SynchronizedSet",
    "java/util/Collections$SynchronizedSortedSet", "java/util/Collections$SynchronizedNavigableSet",
    "java/util/Collections$SynchronizedList",
    "java/util/Collections$SynchronizedRandomAccessList" => {
        "size", "isEmpty", "contains", "toString" "*" [SYNC_MUTEX, READ];
        "containsAll" "*" [SYNC_MUTEX, READ, READS0];
        "toArray" "*" [SYNC_MUTEX, READ, GIVES];
        "add" "(Ljava/lang/Object;)Z" [SYNC_MUTEX, WRITE, KEEPS0];
        "addAll" "(Ljava/util/Collection;)Z" [SYNC_MUTEX, WRITE, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)Z" [SYNC_MUTEX, WRITE];
        "clear" "*" [SYNC_MUTEX, WRITE];
        "removeAll", "retainAll" "*" [SYNC_MUTEX, WRITE, READS0];
        "removeIf" "*" [SYNC_MUTEX, WRITE, RUNS, FEEDS];
        "forEach" "*" [SYNC_MUTEX, READ, RUNS, FEEDS];
        // These leave the synchronisation to their users.
        "iterator", "spliterator", "stream" "*" [VIEW];
        "parallelStream" "*" [VIEW, Parallel];
    }
    "java/util/Collections$SynchronizedSet", "java/util/Collections$SynchronizedSortedSet",
    "java/util/Collections$SynchronizedNavigableSet", "java/util/Collections$SynchronizedList",
    "java/util/Collections$SynchronizedRandomAccessList" => {
        "hashCode" "*" [SYNC_MUTEX, READ];
        "equals" "*" [SYNC_MUTEX, READ, READS0];
    }
    "java/util/Collections$SynchronizedList",
    "java/util/Collections$SynchronizedRandomAccessList" => {
        "get" "*" [SYNC_MUTEX, READ, GIVES];
        "indexOf", "lastIndexOf" "*" [SYNC_MUTEX, READ];
        "set" "*" [SYNC_MUTEX, WRITE, KEEPS1, GIVES];
        "add" "(ILjava/lang/Object;)V" [SYNC_MUTEX, WRITE, KEEPS1];
        "remove" "(I)*" [SYNC_MUTEX, WRITE, GIVES];
        "addAll" "(ILjava/util/Collection;)Z" [SYNC_MUTEX, WRITE, KEEPS_ALL1];
        "replaceAll" "*" [SYNC_MUTEX, WRITE, RUNS, FEEDS, KEEPS_MADE];
        "sort" "*" [SYNC_MUTEX, WRITE, RUNS, FEEDS];
        "listIterator" "*" [VIEW];
        "subList" "*" [SYNC_MUTEX, VIEW];
    }
    "java/util/Collections$SynchronizedSortedSet",
    "java/util/Collections$SynchronizedNavigableSet" => {
        "comparator", "first", "last" "*" [SYNC_MUTEX, READ, GIVES];
        "subSet", "headSet", "tailSet" "*" [SYNC_MUTEX, VIEW];
    }
    "java/util/Collections$SynchronizedNavigableSet" => {
        "lower", "floor", "ceiling", "higher" "*" [SYNC_MUTEX, READ, GIVES];
        "pollFirst", "pollLast" "*" [SYNC_MUTEX, WRITE, GIVES];
        "descendingSet" "*" [SYNC_MUTEX, VIEW];
        "descendingIterator" "*" [VIEW];
    }
    "java/util/Collections$SynchronizedMap", "java/util/Collections$SynchronizedSortedMap",
    "java/util/Collections$SynchronizedNavigableMap" => {
        "size", "isEmpty", "containsKey", "containsValue" "*" [SYNC_MUTEX, READ];
        "hashCode", "toString" "*" [SYNC_MUTEX, READ];
        "equals" "*" [SYNC_MUTEX, READ, READS0];
        "get", "getOrDefault" "*" [SYNC_MUTEX, READ, GIVES];
        "put", "putIfAbsent" "*" [SYNC_MUTEX, WRITE, KEEPS0, KEEPS1, GIVES];
        "putAll" "*" [SYNC_MUTEX, WRITE, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)*" [SYNC_MUTEX, WRITE, GIVES];
        "remove" "(Ljava/lang/Object;Ljava/lang/Object;)*" [SYNC_MUTEX, WRITE];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;)*" [SYNC_MUTEX, WRITE, KEEPS1, GIVES];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)*" [
            SYNC_MUTEX, WRITE, KEEPS2,
        ];
        "clear" "*" [SYNC_MUTEX, WRITE];
        "computeIfAbsent" "*" [SYNC_MUTEX, WRITE, RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
        "computeIfPresent", "compute" "*" [
            SYNC_MUTEX, WRITE, RUNS_ONCE, FEEDS, KEEPS0, KEEPS_MADE, GIVES,
        ];
        "merge" "*" [SYNC_MUTEX, WRITE, RUNS_ONCE, FEEDS, KEEPS0, KEEPS1, KEEPS_MADE, GIVES];
        "forEach" "*" [SYNC_MUTEX, READ, RUNS, FEEDS];
        "replaceAll" "*" [SYNC_MUTEX, WRITE, RUNS, FEEDS, KEEPS_MADE];
        "keySet", "values", "entrySet" "*" [SYNC_MUTEX, VIEW];
    }
    "java/util/Collections$SynchronizedSortedMap",
    "java/util/Collections$SynchronizedNavigableMap" => {
        "comparator", "firstKey", "lastKey" "*" [SYNC_MUTEX, READ, GIVES];
        "subMap", "headMap", "tailMap" "*" [SYNC_MUTEX, VIEW];
    }
    "java/util/Collections$SynchronizedNavigableMap" => {
        "lowerEntry", "lowerKey", "floorEntry", "floorKey", "ceilingEntry", "ceilingKey" "*" [
            SYNC_MUTEX, READ, GIVES,
        ];
        "higherEntry", "higherKey", "firstEntry", "lastEntry" "*" [SYNC_MUTEX, READ, GIVES];
        "pollFirstEntry", "pollLastEntry" "*" [SYNC_MUTEX, WRITE, GIVES];
        "descendingMap", "navigableKeySet", "descendingKeySet" "*" [SYNC_MUTEX, VIEW];
    }

    // Their factories, and the other factories of Collections. A wrapper keeps what it wraps and
    // locks itself; an unmodifiable or checked collection is a view.
    "java/util/Collections" => {
        "synchronizedCollection" "(Ljava/util/Collection;)*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedCollection"),
        ];
        "synchronizedSet" "(Ljava/util/Set;)*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedSet"),
        ];
        "synchronizedSortedSet" "*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedSortedSet"),
        ];
        "synchronizedNavigableSet" "*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedNavigableSet"),
        ];
        // A random-access list gets a subclass of this one, whose rows are the same.
        "synchronizedList" "(Ljava/util/List;)*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedList"),
        ];
        "synchronizedMap" "*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedMap"),
        ];
        "synchronizedSortedMap" "*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedSortedMap"),
        ];
        "synchronizedNavigableMap" "*" [
            WRAPPER, FRESH, ReturnsType("java/util/Collections$SynchronizedNavigableMap"),
        ];
        "unmodifiableCollection", "unmodifiableSet", "unmodifiableSortedSet" "*" [VIEW0];
        "unmodifiableNavigableSet", "unmodifiableList", "unmodifiableMap" "*" [VIEW0];
        "unmodifiableSortedMap", "unmodifiableNavigableMap" "*" [VIEW0];
        "checkedCollection", "checkedQueue", "checkedSet", "checkedSortedSet" "*" [VIEW0];
        "checkedNavigableSet", "checkedList", "checkedMap", "checkedSortedMap" "*" [VIEW0];
        "checkedNavigableMap", "newSetFromMap", "asLifoQueue", "enumeration" "*" [VIEW0];
        "emptyIterator", "emptyListIterator", "emptyEnumeration", "emptySet", "emptyList" "*" [];
        "emptyMap", "emptySortedSet", "emptyNavigableSet", "emptySortedMap" "*" [];
        "emptyNavigableMap" "*" [];
        "singleton", "singletonList" "*" [WRAPPER, FRESH];
        "singletonMap" "*" [WRAPPER, Store { value: Argument(1), into: Result }, FRESH];
        "nCopies" "*" [Store { value: Argument(1), into: Result }, FRESH];
        "list" "*" [Load { from: Argument(0) }, FRESH, ReturnsType("java/util/ArrayList")];
        "sort" "(Ljava/util/List;Ljava/util/Comparator;)V" [Write { of: Argument(0) }, RUNS];
        "sort", "reverse", "shuffle", "swap", "rotate" "*" [Write { of: Argument(0) }];
        "fill", "replaceAll" "*" [
            Write { of: Argument(0) }, Store { value: Argument(1), into: Argument(0) },
        ];
        "copy" "*" [
            Read { of: Argument(1) }, Write { of: Argument(0) },
            Store { value: Operand::Elements(1), into: Argument(0) },
        ];
        "addAll" "*" [
            Write { of: Argument(0) }, Store { value: Operand::Elements(1), into: Argument(0) },
        ];
        "min", "max" "(Ljava/util/Collection;Ljava/util/Comparator;)*" [
            Read { of: Argument(0) }, Load { from: Argument(0) }, RUNS,
        ];
        "min", "max" "*" [Read { of: Argument(0) }, Load { from: Argument(0) }];
        "binarySearch" "(Ljava/util/List;Ljava/lang/Object;Ljava/util/Comparator;)I" [
            Read { of: Argument(0) }, RUNS,
        ];
        "binarySearch", "frequency" "*" [Read { of: Argument(0) }];
        "indexOfSubList", "lastIndexOfSubList", "disjoint" "*" [
            Read { of: Argument(0) }, Read { of: Argument(1) },
        ];
        "reverseOrder" "*" [];
    }
};
