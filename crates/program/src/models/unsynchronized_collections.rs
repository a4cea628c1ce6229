//! The ordinary collections and other mutable classes of `java.util`, `java.text` and `java.lang`:
//! what they read and write, keep and hand out, and the callbacks they run.
//!
//! A call on an unprotected `HashMap` is an access that can race, although the racing fields are
//! inside the library; the rows make it one access to the map. Approximations: a collection is one
//! variable. The interfaces (`Collection`, `List`, `Map`, …) have rows for what flows through them
//! and for callbacks, but none for reads and writes: an unknown implementation may be a concurrent
//! one. Views (`keySet`, `iterator`, `subList`) read nothing by themselves; what is done through
//! them is done to the collection. A `LinkedHashMap` in access order and a `WeakHashMap` write when
//! they are read, and so are those rows; `IdentityHashMap` and the `Enum` collections have the rows
//! that matter most. `SimpleDateFormat` and its relatives write when they format.

use super::vocabulary::*;

use Effect::*;
use Operand::{Argument, Receiver, Result};

const MAKES0: Effect = Store { value: Argument(0), into: Result };
const ITSELF: Effect = View { of: Receiver };

pub(super) const ROWS: &[&[Model]] = models! {
    // The interfaces: flow and callbacks only.
    "java/lang/Iterable" => {
        "iterator", "spliterator" "*" [VIEW];
        "forEach" "*" [RUNS, FEEDS];
    }
    "java/util/Enumeration" => {
        "hasMoreElements" "*" [];
        "nextElement" "*" [GIVES];
    }
    "java/util/Iterator", "java/util/ListIterator" => {
        "hasNext", "remove" "*" [];
        "next" "*" [GIVES];
        "forEachRemaining" "*" [RUNS, FEEDS];
    }
    "java/util/ListIterator" => {
        "previous" "*" [GIVES];
        "set", "add" "*" [KEEPS0];
    }
    "java/util/Spliterator" => {
        "tryAdvance", "forEachRemaining" "*" [RUNS, FEEDS];
        "trySplit" "*" [VIEW];
    }
    "java/util/Collection", "java/util/List", "java/util/Set", "java/util/Queue", "java/util/Deque",
    "java/util/SortedSet", "java/util/NavigableSet" => {
        "add" "(Ljava/lang/Object;)Z" [KEEPS0];
        "addAll" "(Ljava/util/Collection;)Z" [KEEPS_ALL0];
        "toArray" "*" [GIVES];
        "iterator", "spliterator", "stream" "*" [VIEW];
        "parallelStream" "*" [VIEW, Parallel];
        "removeIf", "forEach" "*" [RUNS, FEEDS];
    }
    "java/util/List" => {
        "add" "(ILjava/lang/Object;)V" [KEEPS1];
        "addAll" "(ILjava/util/Collection;)Z" [KEEPS_ALL1];
        "get" "*" [GIVES];
        "remove" "(I)*" [GIVES];
        "set" "*" [KEEPS1, GIVES];
        "replaceAll" "*" [RUNS, FEEDS, KEEPS_MADE];
        "sort" "*" [RUNS, FEEDS];
        "listIterator", "subList" "*" [VIEW];
        "copyOf" "*" [Store { value: Operand::Elements(0), into: Result }, FRESH];
    }
    "java/util/Queue", "java/util/Deque" => {
        "offer" "*" [KEEPS0];
        "poll", "peek", "element" "*" [GIVES];
        "remove" "()*" [GIVES];
    }
    "java/util/Deque" => {
        "addFirst", "addLast", "offerFirst", "offerLast", "push" "*" [KEEPS0];
        "removeFirst", "removeLast", "pollFirst", "pollLast", "pop" "*" [GIVES];
        "getFirst", "getLast", "peekFirst", "peekLast" "*" [GIVES];
        "descendingIterator" "*" [VIEW];
    }
    "java/util/SortedSet", "java/util/NavigableSet" => {
        "first", "last", "comparator" "*" [GIVES];
        "subSet", "headSet", "tailSet" "*" [VIEW];
    }
    "java/util/NavigableSet" => {
        "lower", "floor", "ceiling", "higher", "pollFirst", "pollLast" "*" [GIVES];
        "descendingSet", "descendingIterator" "*" [VIEW];
    }
    "java/util/Map", "java/util/SortedMap", "java/util/NavigableMap" => {
        "get", "getOrDefault" "*" [GIVES];
        "put", "putIfAbsent" "*" [KEEPS0, KEEPS1, GIVES];
        "putAll" "*" [KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)*" [GIVES];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;)*" [KEEPS1, GIVES];
        "replace" "*" [KEEPS2];
        "computeIfAbsent" "*" [RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
        "computeIfPresent", "compute" "*" [RUNS_ONCE, FEEDS, KEEPS0, KEEPS_MADE, GIVES];
        "merge" "*" [RUNS_ONCE, FEEDS, KEEPS0, KEEPS1, KEEPS_MADE, GIVES];
        "forEach" "*" [RUNS, FEEDS];
        "replaceAll" "*" [RUNS, FEEDS, KEEPS_MADE];
        "keySet", "values", "entrySet" "*" [VIEW];
    }
    "java/util/SortedMap", "java/util/NavigableMap" => {
        "firstKey", "lastKey", "comparator" "*" [GIVES];
        "subMap", "headMap", "tailMap" "*" [VIEW];
    }
    "java/util/NavigableMap" => {
        "lowerEntry", "lowerKey", "floorEntry", "floorKey", "ceilingEntry", "ceilingKey" "*" [
            GIVES,
        ];
        "higherEntry", "higherKey", "firstEntry", "lastEntry" "*" [GIVES];
        "pollFirstEntry", "pollLastEntry" "*" [GIVES];
        "descendingMap", "navigableKeySet", "descendingKeySet" "*" [VIEW];
    }
    "java/util/Map$Entry" => {
        "getKey", "getValue" "*" [GIVES];
        "setValue" "*" [KEEPS0, GIVES];
    }

    // Lists, sets and queues.
    "java/util/ArrayList", "java/util/LinkedList", "java/util/HashSet", "java/util/LinkedHashSet",
    "java/util/TreeSet", "java/util/ArrayDeque", "java/util/PriorityQueue" => {
        "<init>" "()V" [];
        "size", "isEmpty", "contains", "toString" "*" [READ];
        "containsAll" "*" [READ, READS0];
        "hashCode" "*" [READ];
        "equals" "*" [READ, READS0];
        "toArray" "*" [READ, GIVES];
        "clone" "*" [READ, GIVES, FRESH];
        "add" "(Ljava/lang/Object;)Z" [WRITE, KEEPS0];
        "addAll" "(Ljava/util/Collection;)Z" [WRITE, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)Z" [WRITE];
        "clear" "*" [WRITE];
        "removeAll", "retainAll" "*" [WRITE, READS0];
        "removeIf" "*" [WRITE, RUNS, FEEDS];
        "forEach" "*" [READ, RUNS, FEEDS];
        "iterator", "spliterator", "stream" "*" [VIEW];
        "parallelStream" "*" [VIEW, Parallel];
    }
    "java/util/ArrayList", "java/util/LinkedList", "java/util/HashSet", "java/util/LinkedHashSet",
    "java/util/ArrayDeque" => {
        "<init>" "(Ljava/util/Collection;)V" [KEEPS_ALL0];
    }
    "java/util/ArrayList", "java/util/HashSet", "java/util/LinkedHashSet", "java/util/ArrayDeque",
    "java/util/PriorityQueue" => {
        "<init>" "(I)V" [];
    }
    "java/util/HashSet", "java/util/LinkedHashSet" => {
        "<init>" "(IF)V" [];
    }
    "java/util/TreeSet" => {
        "<init>" "(Ljava/util/Comparator;)V" [KEEPS0];
        "<init>" "*" [KEEPS_ALL0];
        "first", "last", "lower", "floor", "ceiling", "higher" "*" [READ, GIVES];
        "pollFirst", "pollLast" "*" [WRITE, GIVES];
        "subSet", "headSet", "tailSet", "descendingSet", "descendingIterator" "*" [VIEW];
        "comparator" "*" [GIVES];
    }
    "java/util/PriorityQueue" => {
        "<init>" "(Ljava/util/Comparator;)V" [KEEPS0];
        "<init>" "(ILjava/util/Comparator;)V" [KEEPS1];
        "<init>" "*" [KEEPS_ALL0];
        "comparator" "*" [GIVES];
    }
    "java/util/ArrayList", "java/util/LinkedList" => {
        "get" "*" [READ, GIVES];
        "indexOf", "lastIndexOf" "*" [READ];
        "set" "*" [WRITE, KEEPS1, GIVES];
        "add" "(ILjava/lang/Object;)V" [WRITE, KEEPS1];
        "addAll" "(ILjava/util/Collection;)Z" [WRITE, KEEPS_ALL1];
        "remove" "(I)*" [WRITE, GIVES];
        "replaceAll" "*" [WRITE, RUNS, FEEDS, KEEPS_MADE];
        "sort" "*" [WRITE, RUNS, FEEDS];
        "listIterator", "subList" "*" [VIEW];
    }
    "java/util/ArrayList" => {
        "trimToSize", "ensureCapacity" "*" [WRITE];
    }
    "java/util/LinkedList", "java/util/ArrayDeque", "java/util/PriorityQueue" => {
        "offer" "*" [WRITE, KEEPS0];
        "poll" "*" [WRITE, GIVES];
        "remove" "()*" [WRITE, GIVES];
        "peek", "element" "*" [READ, GIVES];
    }
    "java/util/LinkedList", "java/util/ArrayDeque" => {
        "addFirst", "addLast", "offerFirst", "offerLast", "push" "*" [WRITE, KEEPS0];
        "removeFirst", "removeLast", "pollFirst", "pollLast", "pop" "*" [WRITE, GIVES];
        "getFirst", "getLast", "peekFirst", "peekLast" "*" [READ, GIVES];
        "removeFirstOccurrence", "removeLastOccurrence" "*" [WRITE];
        "descendingIterator" "*" [VIEW];
    }

    // Maps.
    "java/util/HashMap", "java/util/LinkedHashMap", "java/util/TreeMap", "java/util/WeakHashMap",
    "java/util/IdentityHashMap", "java/util/EnumMap" => {
        "size", "isEmpty", "containsKey", "containsValue" "*" [READ];
        "hashCode", "toString" "*" [READ];
        "equals" "*" [READ, READS0];
        "put", "putIfAbsent" "*" [WRITE, KEEPS0, KEEPS1, GIVES];
        "putAll" "*" [WRITE, KEEPS_ALL0];
        "remove" "(Ljava/lang/Object;)*" [WRITE, GIVES];
        "remove" "(Ljava/lang/Object;Ljava/lang/Object;)*" [WRITE];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;)*" [WRITE, KEEPS1, GIVES];
        "replace" "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)*" [WRITE, KEEPS2];
        "clear" "*" [WRITE];
        "computeIfAbsent" "*" [WRITE, RUNS_ONCE, KEEPS0, KEEPS_MADE, GIVES];
        "computeIfPresent", "compute" "*" [WRITE, RUNS_ONCE, FEEDS, KEEPS0, KEEPS_MADE, GIVES];
        "merge" "*" [WRITE, RUNS_ONCE, FEEDS, KEEPS0, KEEPS1, KEEPS_MADE, GIVES];
        "forEach" "*" [READ, RUNS, FEEDS];
        "replaceAll" "*" [WRITE, RUNS, FEEDS, KEEPS_MADE];
        "keySet", "values", "entrySet" "*" [VIEW];
    }
    "java/util/HashMap", "java/util/TreeMap", "java/util/IdentityHashMap", "java/util/EnumMap" => {
        "get", "getOrDefault" "*" [READ, GIVES];
    }
    // Access order and stale entries: a look is a change.
    "java/util/LinkedHashMap", "java/util/WeakHashMap" => {
        "get", "getOrDefault" "*" [WRITE, GIVES];
    }
    "java/util/HashMap", "java/util/LinkedHashMap", "java/util/WeakHashMap" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(IF)V" [];
        "<init>" "(Ljava/util/Map;)V" [KEEPS_ALL0];
    }
    "java/util/LinkedHashMap" => {
        "<init>" "(IFZ)V" [];
    }
    "java/util/IdentityHashMap" => {
        "<init>" "()V" [];
        "<init>" "(I)V" [];
        "<init>" "(Ljava/util/Map;)V" [KEEPS_ALL0];
    }
    "java/util/EnumMap" => {
        "<init>" "(Ljava/lang/Class;)V" [];
        "<init>" "*" [KEEPS_ALL0];
    }
    "java/util/HashMap", "java/util/TreeMap", "java/util/IdentityHashMap" => {
        "clone" "*" [READ, GIVES, FRESH];
    }
    "java/util/TreeMap" => {
        "<init>" "()V" [];
        "<init>" "(Ljava/util/Comparator;)V" [KEEPS0];
        "<init>" "*" [KEEPS_ALL0];
        "firstKey", "lastKey", "lowerKey", "floorKey", "ceilingKey", "higherKey" "*" [READ, GIVES];
        "firstEntry", "lastEntry", "lowerEntry", "floorEntry", "ceilingEntry", "higherEntry" "*" [
            READ, GIVES,
        ];
        "pollFirstEntry", "pollLastEntry" "*" [WRITE, GIVES];
        "subMap", "headMap", "tailMap", "descendingMap" "*" [VIEW];
        "navigableKeySet", "descendingKeySet" "*" [VIEW];
        "comparator" "*" [GIVES];
    }

    "java/util/Arrays" => {
        "asList" "*" [VIEW0, FRESH];
        "stream" "*" [VIEW0];
        "copyOf", "copyOfRange" "*" [
            Read { of: Argument(0) }, Store { value: Operand::Elements(0), into: Result }, FRESH,
        ];
        "fill" "*" [Write { of: Argument(0) }];
        "sort" "*" [Write { of: Argument(0) }];
        "deepEquals" "*" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([Ljava/lang/Object;[Ljava/lang/Object;)Z" [
            Read { of: Argument(0) }, Read { of: Argument(1) },
        ];
        "equals" "([J[J)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([I[I)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([S[S)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([C[C)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([B[B)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([Z[Z)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([D[D)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "equals" "([F[F)Z" [Read { of: Argument(0) }, Read { of: Argument(1) }];
        "hashCode", "deepHashCode", "toString", "deepToString", "binarySearch" "*" [
            Read { of: Argument(0) },
        ];
    }
    "java/util/Objects" => {
        "requireNonNull" "(Ljava/lang/Object;)*" [VIEW0];
        "requireNonNull" "*" [VIEW0];
        "requireNonNullElse" "*" [VIEW0, View { of: Argument(1) }];
        "requireNonNullElseGet" "*" [RUNS_ONCE, VIEW0];
        "equals", "hashCode", "hash", "toString", "isNull", "nonNull" "*" [];
    }

    "java/util/BitSet" => {
        "<init>" "*" [];
        "set", "clear", "flip" "*" [WRITE];
        "and", "or", "xor", "andNot" "*" [WRITE, READS0];
        "get", "nextSetBit", "nextClearBit", "previousSetBit", "previousClearBit" "*" [READ];
        "length", "isEmpty", "cardinality", "size", "hashCode", "toString", "intersects" "*" [READ];
        "toByteArray", "toLongArray" "*" [READ];
        "equals" "*" [READ, READS0];
        "clone" "*" [READ, FRESH];
        "stream" "*" [VIEW];
    }

    "java/lang/StringBuilder" => {
        "<init>" "*" [];
        "append", "appendCodePoint", "insert", "delete", "deleteCharAt", "replace" "*" [
            WRITE, ITSELF,
        ];
        "reverse" "*" [WRITE, ITSELF];
        "setCharAt", "setLength", "trimToSize", "ensureCapacity" "*" [WRITE];
        "length", "capacity", "charAt", "codePointAt", "codePointBefore" "*" [READ];
        "codePointCount", "offsetByCodePoints", "indexOf", "lastIndexOf", "compareTo" "*" [READ];
        "substring", "subSequence", "toString" "*" [READ, FRESH];
        "getChars" "*" [READ, Write { of: Argument(2) }];
        "chars", "codePoints" "*" [VIEW];
    }
    "java/util/StringJoiner" => {
        "add", "merge", "setEmptyValue" "*" [WRITE, ITSELF];
        "length", "toString" "*" [READ];
    }

    // Formats keep the calendar or the digits they work on in fields.
    "java/text/Format", "java/text/DateFormat", "java/text/SimpleDateFormat",
    "java/text/NumberFormat", "java/text/DecimalFormat", "java/text/MessageFormat" => {
        "format", "parseObject" "*" [WRITE];
    }
    "java/text/MessageFormat" => {
        "format" "(Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/String;" [];
    }
    "java/text/DateFormat", "java/text/SimpleDateFormat", "java/text/NumberFormat",
    "java/text/DecimalFormat", "java/text/MessageFormat" => {
        "parse" "*" [WRITE];
    }
    "java/text/DateFormat", "java/text/SimpleDateFormat" => {
        "setCalendar", "setNumberFormat" "*" [WRITE, KEEPS0];
        "setTimeZone", "setLenient" "*" [WRITE];
    }
    "java/text/SimpleDateFormat" => {
        "applyPattern", "applyLocalizedPattern", "set2DigitYearStart" "*" [WRITE];
    }
    "java/util/Calendar", "java/util/GregorianCalendar" => {
        "set", "add", "roll", "clear", "setTime", "setTimeInMillis", "setTimeZone" "*" [WRITE];
        // Fields are computed when they are asked for.
        "get", "getTime", "getTimeInMillis" "*" [WRITE];
        "clone" "*" [WRITE, FRESH];
    }
    "java/util/Date" => {
        "setTime" "*" [WRITE];
        "getTime", "before", "after", "compareTo" "*" [READ];
    }
    "java/util/regex/Matcher" => {
        "matches", "find", "lookingAt", "reset", "usePattern", "region" "*" [WRITE];
        "group", "start", "end", "groupCount", "hitEnd" "*" [READ];
    }
    "java/util/Scanner" => {
        "next", "nextLine", "nextInt", "nextLong", "hasNext", "hasNextLine" "*" [WRITE];
    }

    "java/util/List", "java/util/Set" => {
        "of" "()*" [];
        "of" "(Ljava/lang/Object;)*" [MAKES0];
        "of" "([Ljava/lang/Object;)*" [Store { value: Operand::Elements(0), into: Result }];
    }
};
