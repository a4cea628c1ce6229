package java.lang;

import static java.lang.ScissionEvents.emitWithoutStack;
import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionTrees.*;

import java.util.Arrays;

/**
 * A walk along one side of a branch that is not taken. It reads the tree of the side with the objects of the moment,
 * and reports what would be done.
 *
 * <p>A value that is not known drops what would be done with it; and under a lock that is not known nothing is
 * reported at all, since it would seem unguarded. Both is counted, and so is where a walk ends early. Sides inside of
 * this one are dropped where their guards do not hold, or contradict what holds on this one.
 */
final class ScissionWalk {
    /** How many steps a walk makes at most, and how deep it follows calls. */
    private static final int MOST_STEPS = 256;
    private static final int MOST_CALLS = 6;

    /** A value that nobody knows. */
    static final Object UNKNOWN = new Object();

    /** A number in a register, which no reference of the program is. */
    static final class Int {
        final int value;
        /** Whether it stands in the code or in a final field; others may be different next time. */
        final boolean isConstant;

        Int(int value, boolean isConstant) {
            this.value = value;
            this.isConstant = isConstant;
        }
    }

    /** An object that the side would make. */
    static final class Fresh {
        /** Its class; null for arrays, and until a constructor is called whose class has been loaded. */
        Class<?> type;
    }

    /** The lock that a read-write lock gives out for one of its two uses. */
    private static final class LockView {
        final Object of;
        final boolean isShared;

        LockView(Object of, boolean isShared) {
            this.of = of;
            this.isShared = isShared;
        }
    }

    private final ScissionThread s;
    private final ScissionSides.Choices choices;
    private Class<?> from;
    private int steps = MOST_STEPS;
    private int calls;
    /** The locks that would be held, by number, complemented where others may share them; 0 if one is held anyway, -1 if
        it is not known. */
    private long[] locks = new long[8];
    private int held;
    /** How many of them are not known. */
    private int unknown;
    /** More than locks are ever held if they are not known any more, else 0. */
    private int lost;
    /** What would be assigned: an object or class, an offset, and the value. */
    private Object[] owners = new Object[8];
    private long[] offsets = new long[8];
    private Object[] values = new Object[8];
    private int stored;
    /** The conditions of the method, by their numbers in it: the numbers in events, 0 if there is none yet, and what
        holds on this side. */
    private int[] numbers = ScissionSides.NO_TREE;
    private byte[] assumed = NOTHING_ASSUMED;
    /** How many levels sides of choices in the list have left, the list included: a bit each, the lowest for one. */
    private int left;
    private int impossible;
    private int unknownSteps;
    private int ignoredCalls;

    private static final byte[] NOTHING_ASSUMED = {};
    private static final byte TRUE = 1;
    private static final byte FALSE = 2;

    ScissionWalk(ScissionThread s, ScissionSides.Choices choices, Class<?> from) {
        this.s = s;
        this.choices = choices;
        this.from = from;
        for (int at = choices.firstCondition(); at < choices.known; at++) {
            if (choices.conditionUnits[at] == s.unit) {
                needCondition(choices.conditions[at]);
                numbers[choices.conditions[at]] = choices.numbers[at];
            }
        }
    }

    private void needCondition(int condition) {
        if (condition >= numbers.length) {
            numbers = Arrays.copyOf(numbers, condition + 4);
            assumed = Arrays.copyOf(assumed, condition + 4);
        }
    }

    /** The side needs a condition. */
    void assume(int condition, boolean holds) {
        needCondition(condition);
        assumed[condition] = holds ? TRUE : FALSE;
    }

    /** Adds what it left out to what all did. */
    void count() {
        ScissionSides.impossibleSteps += impossible;
        ScissionSides.unknownSteps += unknownSteps;
        ScissionSides.ignoredCalls += ignoredCalls;
        if (steps < 0) {
            ScissionSides.endedWalks++;
        }
    }

    /** Whether a side can be taken with objects as they are. */
    boolean canBeTaken(int[] words, int guard, Object[] registers) {
        return applyGuard(words, guard + 1, guard + 1 + words[guard], registers);
    }

    /** A side behind its guard. */
    void side(int[] words, int guard, Object[] registers, int copies) {
        int list = guard + 1 + words[guard];
        for (int copy = 0; copy < copies; copy++) {
            walk(words, list + 1, list + 1 + words[list], registers);
            releaseTo(0, 0);
        }
    }

    /** Whether a side can be taken with objects as they are; what it says of registers holds in them afterwards. */
    private boolean applyGuard(int[] words, int at, int end, Object[] registers) {
        if (at >= end || !ScissionSides.FEASIBLE_ONLY) {
            return true;
        }
        int kind = words[at];
        switch (kind) {
            case GUARD_IS_NULL:
            case GUARD_NOT_NULL: {
                Object value = term(words, at + 1, registers);
                if (value == UNKNOWN || value == null) {
                    return value == UNKNOWN || kind == GUARD_IS_NULL;
                }
                // A register may hold something else next time, a final field does not.
                if (kind == GUARD_IS_NULL && isReal(value) && words[at + 1] == TERM_REGISTER) {
                    registers[words[at + 2]] = null;
                    return true;
                }
                return kind == GUARD_NOT_NULL;
            }
            case GUARD_INSTANCE_OF:
            case GUARD_NOT_INSTANCE_OF: {
                Object value = term(words, at + 2, registers);
                if (value != null && !isReal(value)) {
                    return true;
                }
                Class<?> type = ScissionPlaces.loaded(from, ScissionNatives.classInTree(words[at + 1]));
                return type == null || type.isInstance(value) == (kind == GUARD_INSTANCE_OF);
            }
            case GUARD_SAME:
            case GUARD_NOT_SAME: {
                int second = afterTerm(words, at + 1);
                if (words[at + 1] != TERM_PATH || words[second] != TERM_PATH) {
                    return true;
                }
                Object one = term(words, at + 1, registers);
                Object other = term(words, second, registers);
                return one == UNKNOWN || other == UNKNOWN || (one == other) == (kind == GUARD_SAME);
            }
            case GUARD_COMPARE: {
                Object one = term(words, at + 2, registers);
                Object other = term(words, afterTerm(words, at + 2), registers);
                return !isConstant(one) || !isConstant(other)
                    || compares(words[at + 1], ((Int) one).value, ((Int) other).value);
            }
            default: {
                Object value = term(words, at + 1, registers);
                if (!isConstant(value)) {
                    return true;
                }
                int count = afterTerm(words, at + 1);
                boolean isListed = false;
                for (int number = 1; number <= words[count]; number++) {
                    isListed |= words[count + number] == ((Int) value).value;
                }
                return isListed == (kind == GUARD_ONE_OF);
            }
        }
    }

    private static boolean isConstant(Object value) {
        return value instanceof Int && ((Int) value).isConstant;
    }

    private static boolean compares(int condition, int one, int other) {
        switch (condition) {
            case CONDITION_EQ: return one == other;
            case CONDITION_NE: return one != other;
            case CONDITION_LT: return one < other;
            case CONDITION_GE: return one >= other;
            case CONDITION_GT: return one > other;
            default: return one <= other;
        }
    }

    /** What a guard speaks of; {@link #UNKNOWN} if nobody knows. */
    private Object term(int[] words, int at, Object[] registers) {
        if (words[at] == TERM_REGISTER) {
            return registers[words[at + 1]];
        }
        if (words[at] == TERM_CONSTANT) {
            return new Int(words[at + 1], true);
        }
        int base = words[at + 1];
        Object value = base < 0 ? null : registers[base];
        for (int number = 0; number < words[at + 2]; number++) {
            boolean isStatic = base < 0 && number == 0;
            if (!isStatic && !isReal(value)) {
                return UNKNOWN;
            }
            value = finalValue(value, isStatic, words[at + 3 + number]);
        }
        return value;
    }

    /** What a final field holds. */
    private Object finalValue(Object object, boolean isStatic, int site) {
        ScissionPlaces.Place place = ScissionPlaces.place(site, isStatic ? from : object.getClass(), isStatic);
        if (place == null) {
            return UNKNOWN;
        }
        if (place.offset >= 0) {
            return place.value(isStatic ? place.base : object);
        }
        String[] target = ScissionNatives.target(site).split(" ");
        return ScissionPlaces.number(place, target[1], target[2].charAt(0), isStatic, object);
    }

    private static int afterTerm(int[] words, int at) {
        return words[at] == TERM_PATH ? at + 3 + words[at + 2] : at + 2;
    }

    /** The register that is null on a side, if that is what its guard says; else -1. */
    private static int isNullOn(int[] words, int guard) {
        boolean isNull = words[guard] > 0 && words[guard + 1] == GUARD_IS_NULL && words[guard + 2] == TERM_REGISTER;
        return isNull ? words[guard + 3] : -1;
    }

    private Object operand(int[] words, int at, Object[] registers) {
        switch (words[at]) {
            case OPERAND_REGISTER: return registers[words[at + 1]];
            case OPERAND_NULL: return null;
            case OPERAND_INT: return new Int(words[at + 1], true);
            default: return UNKNOWN;
        }
    }

    /** Makes the steps of a list; returns how many levels the path leaves, this list included; 0 at the end of it. */
    private int walk(int[] words, int at, int end, Object[] registers) {
        int held = this.held;
        int unknown = this.unknown;
        while (at < end) {
            if (--steps < 0) {
                releaseTo(held, unknown);
                return Integer.MAX_VALUE;
            }
            int site = words[at + 1];
            switch (words[at]) {
                case STEP_READ:
                case STEP_WRITE:
                    access(words[at] == STEP_WRITE, registers[words[at + 2]], site);
                    at += 4;
                    break;
                case STEP_READ_STATIC:
                case STEP_WRITE_STATIC:
                    accessStatic(words[at] == STEP_WRITE_STATIC, site);
                    at += 3;
                    break;
                case STEP_READ_ELEMENT:
                case STEP_WRITE_ELEMENT:
                    element(words[at] == STEP_WRITE_ELEMENT, registers[words[at + 2]],
                        operand(words, at + 3, registers), site);
                    at += 5;
                    break;
                case STEP_LOAD:
                    registers[words[at + 2]] = load(registers[words[at + 3]], site);
                    at += 5;
                    break;
                case STEP_LOAD_STATIC:
                    registers[words[at + 2]] = loadStatic(site);
                    at += 4;
                    break;
                case STEP_LOAD_ELEMENT:
                    registers[words[at + 2]] = loadElement(registers[words[at + 3]], operand(words, at + 4, registers));
                    at += 6;
                    break;
                case STEP_STORE:
                    store(registers[words[at + 2]], operand(words, at + 4, registers), site);
                    at += 6;
                    break;
                case STEP_STORE_STATIC: {
                    ScissionPlaces.Place place = ScissionPlaces.place(site, from, true);
                    if (place != null && place.offset >= 0) {
                        assign(place.base, place.offset, operand(words, at + 3, registers));
                    }
                    at += 5;
                    break;
                }
                case STEP_STORE_ELEMENT:
                    storeElement(registers[words[at + 2]], operand(words, at + 3, registers),
                        operand(words, at + 5, registers));
                    at += 7;
                    break;
                case STEP_FRESH:
                    registers[words[at + 2]] = new Fresh();
                    at += 3;
                    break;
                case STEP_CLASS_OBJECT: {
                    Class<?> type = ScissionPlaces.loaded(from, ScissionNatives.classInTree(words[at + 3]));
                    registers[words[at + 2]] = type == null ? UNKNOWN : type;
                    at += 4;
                    break;
                }
                case STEP_SET:
                    registers[words[at + 2]] = operand(words, at + 3, registers);
                    at += 5;
                    break;
                case STEP_ENTER:
                    acquire(operand(words, at + 2, registers), false, site);
                    at += 4;
                    break;
                case STEP_EXIT:
                    if (this.held > held) {
                        release(site);
                    }
                    at += 4;
                    break;
                case STEP_CALL: {
                    int count = words[at + 5];
                    Object[] arguments = new Object[count];
                    for (int number = 0; number < count; number++) {
                        arguments[number] = operand(words, at + 6 + 2 * number, registers);
                    }
                    Object result = call(words[at + 2], words[at + 3], arguments, site);
                    if (words[at + 4] >= 0) {
                        registers[words[at + 4]] = result;
                    }
                    at += 6 + 2 * count;
                    break;
                }
                case STEP_CHOICE:
                    at = choice(words, at, site, registers);
                    break;
                case STEP_TWICE: {
                    int list = at + 2;
                    int outside = left;
                    // The iteration is one level, and the loop another.
                    left = 0;
                    int leaves = walk(words, list + 1, list + 1 + words[list], registers);
                    if (leaves <= 1 || (left & 1) != 0) {
                        leaves = walk(words, list + 1, list + 1 + words[list], registers);
                    }
                    boolean goesOn = leaves <= 2 || (left & 2) != 0;
                    left = outside | left >>> 2;
                    if (!goesOn) {
                        releaseTo(held, unknown);
                        return leaves - 2;
                    }
                    at = list + 1 + words[list];
                    break;
                }
                case STEP_LEAVE:
                    releaseTo(held, unknown);
                    return words[at + 2];
                default:
                    // No tree has such a step.
                    ScissionFailures.hooks++;
                    return Integer.MAX_VALUE;
            }
        }
        return 0;
    }

    /** A choice inside the side: all of its sides are told that can be taken. Returns where the next step is. */
    private int choice(int[] words, int at, int site, Object[] registers) {
        int condition = ScissionSides.FEASIBLE_ONLY ? words[at + 2] : 0;
        boolean isNegated = (words[at + 3] & FLAG_NEGATED) != 0;
        int count = words[at + 4];
        int side = at + 5;
        byte before = 0;
        if (condition != 0) {
            needCondition(condition);
            if ((words[at + 3] & FLAG_RENEWED) != 0 || numbers[condition] == 0) {
                numbers[condition] = choices.newNumber();
                assumed[condition] = 0;
            }
            before = assumed[condition];
        }
        int[] numbers = this.numbers;
        byte[] assumed = this.assumed;
        int[] numbersBehind = numbers;
        emitWithoutStack(s, EVENT_CHOICE, site, 0, 0);
        int stored = this.stored;
        for (int number = 0; number < count; number++) {
            int guard = side + 1 + 2 * words[side];
            int list = guard + 1 + words[guard];
            int register = isNullOn(words, guard);
            Object value = register < 0 ? null : registers[register];
            byte needed = condition == 0 ? 0 : ScissionSides.holdsOn(words, side, isNegated) ? TRUE : FALSE;
            boolean isPossible = before == 0 || needed == before;
            if (words[list] == 0) {
                // Nothing to tell.
            } else if (!isPossible || !applyGuard(words, guard + 1, list, registers)) {
                ScissionSides.infeasibleSides++;
            } else {
                int held = this.held;
                int unknown = this.unknown;
                ScissionSides.untaken(s, words, side, site);
                if (numbers.length > 0) {
                    this.numbers = numbers.clone();
                    this.assumed = assumed.clone();
                }
                if (needed != 0) {
                    this.assumed[condition] = needed;
                    if (before == 0) {
                        ScissionSides.given(s, numbers[condition], needed == TRUE, site);
                    }
                }
                // What a side assigns is read behind the choice only if no other one comes there.
                int outside = left;
                left = 0;
                int leaves = walk(words, list + 1, list + 1 + words[list], registers);
                left = outside | left >>> 1 | (leaves >= 2 && leaves <= 32 ? 1 << leaves - 2 : 0);
                releaseTo(held, unknown);
                emitWithoutStack(s, EVENT_UNTAKEN_END, site, 0, 0);
                // Whether it was assigned depends on the side, and so does which number a condition has.
                Arrays.fill(values, stored, this.stored, UNKNOWN);
                numbersBehind = agreed(numbersBehind, this.numbers);
            }
            if (register >= 0) {
                registers[register] = value;
            }
            side = list + 1 + words[list];
        }
        this.numbers = numbersBehind;
        this.assumed = Arrays.copyOf(assumed, numbersBehind.length);
        emitWithoutStack(s, EVENT_REJOIN, site, 0, 0);
        return side;
    }

    /** The numbers that conditions have on both ways, 0 for others. */
    private static int[] agreed(int[] one, int[] other) {
        if (one == other || Arrays.equals(one, other)) {
            return one;
        }
        int[] agreed = new int[Math.max(one.length, other.length)];
        for (int at = 0; at < Math.min(one.length, other.length); at++) {
            agreed[at] = one[at] == other[at] ? one[at] : 0;
        }
        return agreed;
    }

    // -------------------------------------------------------------- accesses

    private void access(boolean isWrite, Object object, int site) {
        if (isLeftOut(object)) {
            return;
        }
        ScissionPlaces.Place place = ScissionPlaces.place(site, object.getClass(), false);
        if (place != null && place.isWatched) {
            report(isWrite, place, object, ScissionObjects.id(s, object), OF_FIELD | ScissionSites.field(site), site);
        }
    }

    /** Whether nothing is said of what would be done with an object; counts why. */
    private boolean isLeftOut(Object object) {
        if (object == null) {
            impossible++;
            return true;
        }
        if (object == UNKNOWN || unknown > 0 && isReal(object)) {
            unknownSteps++;
            return true;
        }
        return !isReal(object);
    }

    private void accessStatic(boolean isWrite, int site) {
        if (unknown > 0) {
            unknownSteps++;
            return;
        }
        ScissionPlaces.Place place = ScissionPlaces.place(site, from, true);
        if (place != null && place.isWatched) {
            ScissionAccesses.usesClass(s, null, site);
            report(isWrite, place, null, 0, OF_STATIC | ScissionSites.field(site), site);
        }
    }

    private void report(boolean isWrite, ScissionPlaces.Place place, Object object, long first, long second, int site) {
        if (place.entry > 0) {
            ScissionFilters.mark(s, isWrite, object, ScissionSites.wordOfReads(place.entry),
                ScissionSites.wordOfWrites(place.entry), first, second);
        }
        emitWithoutStack(s, isWrite ? EVENT_WOULD_WRITE : EVENT_WOULD_READ, site, first, second);
    }

    private void element(boolean isWrite, Object array, Object index, int site) {
        if (isLeftOut(array)) {
            return;
        }
        if (index == UNKNOWN) {
            unknownSteps++;
        } else if (!isElement(array, index)) {
            impossible++;
        } else {
            emitWithoutStack(s, isWrite ? EVENT_WOULD_WRITE : EVENT_WOULD_READ, site,
                ScissionObjects.id(s, array), OF_ELEMENT | ((Int) index).value);
        }
    }

    private static boolean isElement(Object array, Object index) {
        return isReal(array) && array.getClass().isArray() && index instanceof Int && ((Int) index).value >= 0
            && ((Int) index).value < java.lang.reflect.Array.getLength(array);
    }

    private static boolean isReal(Object object) {
        return object != null && object != UNKNOWN && !(object instanceof Fresh) && !(object instanceof Int)
            && !(object instanceof LockView);
    }

    /** The class of an object of the program, or of one that the side would make; null if that is not known. */
    private static Class<?> typeOf(Object object) {
        return isReal(object) ? object.getClass() : object instanceof Fresh ? ((Fresh) object).type : null;
    }

    private Object load(Object object, int site) {
        Class<?> type = typeOf(object);
        ScissionPlaces.Place place = type == null ? null : ScissionPlaces.place(site, type, false);
        if (place == null || place.offset < 0) {
            return UNKNOWN;
        }
        Object assigned = assigned(object, place.offset);
        // What code that was not followed may have assigned to a new object is not known.
        return assigned != this ? assigned : isReal(object) ? place.value(object) : UNKNOWN;
    }

    private Object loadStatic(int site) {
        ScissionPlaces.Place place = ScissionPlaces.place(site, from, true);
        if (place == null || place.offset < 0) {
            return UNKNOWN;
        }
        Object assigned = assigned(place.base, place.offset);
        return assigned != this ? assigned : place.value(place.base);
    }

    private Object loadElement(Object array, Object index) {
        if (!isElement(array, index) || !(array instanceof Object[])) {
            return UNKNOWN;
        }
        Object assigned = assigned(array, -1 - ((Int) index).value);
        return assigned != this ? assigned : ((Object[]) array)[((Int) index).value];
    }

    private void store(Object object, Object value, int site) {
        Class<?> type = typeOf(object);
        ScissionPlaces.Place place = type == null ? null : ScissionPlaces.place(site, type, false);
        if (place != null && place.offset >= 0) {
            assign(object, place.offset, value);
        }
    }

    private void storeElement(Object array, Object index, Object value) {
        if (isElement(array, index)) {
            assign(array, -1 - ((Int) index).value, value);
        }
    }

    /** What a place would hold; this walk itself if that was not changed. */
    private Object assigned(Object owner, long offset) {
        for (int at = stored - 1; at >= 0; at--) {
            if (owners[at] == owner && offsets[at] == offset) {
                return values[at];
            }
        }
        return this;
    }

    private void assign(Object owner, long offset, Object value) {
        if (stored == owners.length) {
            owners = Arrays.copyOf(owners, stored * 2);
            offsets = Arrays.copyOf(offsets, stored * 2);
            values = Arrays.copyOf(values, stored * 2);
        }
        owners[stored] = owner;
        offsets[stored] = offset;
        values[stored++] = value;
    }

    // -------------------------------------------------------------- locks

    private void acquire(Object lock, boolean isShared, int site) {
        if (held == locks.length) {
            locks = Arrays.copyOf(locks, held * 2);
        }
        long id = 0;
        if (lock instanceof Fresh) {
            // Nobody else can take it.
            id = 0;
        } else if (lock instanceof LockView) {
            LockView view = (LockView) lock;
            id = free(ScissionObjects.id(s, view.of), view.isShared);
        } else if (isReal(lock)) {
            boolean isReadLock = isShared || ScissionShapes.of(lock.getClass()).has(FACT_SHARED_LOCK);
            id = free(ScissionObjects.id(s, lock), isReadLock);
        } else {
            id = -1;
        }
        if (id == -1) {
            unknown++;
        } else if (id != 0 && unknown == 0) {
            emitWithoutStack(s, id < 0 ? EVENT_WOULD_ACQUIRE_SHARED : EVENT_WOULD_ACQUIRE, site, id < 0 ? ~id : id, 0);
        }
        locks[held++] = id;
    }

    /** What is held besides if a lock is acquired: nothing if that is held already, and nobody knows what if it never would be,
        since it is held shared. */
    private long free(long id, boolean isShared) {
        if (holds(id) || isShared && holds(~id)) {
            return 0;
        }
        return isShared ? ~id : holds(~id) ? -1 : id;
    }

    private boolean holds(long id) {
        for (int at = 0; at < s.held; at++) {
            if (s.lockIds[at] == id) {
                return true;
            }
        }
        for (int at = 0; at < held; at++) {
            if (locks[at] == id) {
                return true;
            }
        }
        return false;
    }

    private void release(int site) {
        long id = locks[--held];
        if (id == -1) {
            unknown--;
        } else if (id != 0 && unknown == 0) {
            emitWithoutStack(s, id < 0 ? EVENT_WOULD_RELEASE_SHARED : EVENT_WOULD_RELEASE, site, id < 0 ? ~id : id, 0);
        }
    }

    private void releaseTo(int held, int unknown) {
        while (this.held > held) {
            release(0);
        }
        this.unknown = Math.max(unknown, lost);
    }

    /** From here on it is not known which locks would be held. */
    private void loseLocks() {
        lost = 1 << 20;
        unknown = Math.max(unknown, lost);
    }

    // -------------------------------------------------------------- calls

    /** Follows a call; returns what it would return. */
    private Object call(int kind, int method, Object[] arguments, int site) {
        Object receiver = kind != CALL_STATIC && arguments.length > 0 ? arguments[0] : null;
        if (method < 0) {
            return operation(method, receiver, site);
        }
        if (kind == CALL_SPECIAL && receiver instanceof Fresh && ((Fresh) receiver).type == null) {
            // Its constructor.
            ((Fresh) receiver).type = ScissionPlaces.loaded(from, ScissionNatives.classInTree(method));
        } else if (kind != CALL_STATIC && typeOf(receiver) == null) {
            if (receiver == null) {
                impossible++;
            } else if (receiver == UNKNOWN) {
                unknownSteps++;
            }
            return UNKNOWN;
        }
        Class<?> type = calls == MOST_CALLS ? null : ScissionMethods.declaring(kind, method, typeOf(receiver), from);
        int[] words = type == null ? ScissionSides.NO_TREE : ScissionSides.method(type, method);
        // A method without a tree, or one of another shape than the call.
        if (words.length < 5 || words[1] != arguments.length) {
            ignoredCalls++;
            return UNKNOWN;
        }
        Object[] registers = new Object[Math.max(words[0], arguments.length)];
        System.arraycopy(arguments, 0, registers, 0, arguments.length);
        int held = this.held;
        int unknown = this.unknown;
        Class<?> caller = from;
        int[] numbers = this.numbers;
        byte[] assumed = this.assumed;
        int left = this.left;
        this.numbers = ScissionSides.NO_TREE;
        this.assumed = NOTHING_ASSUMED;
        from = type;
        calls++;
        if ((words[2] & METHOD_IS_SYNCHRONIZED) != 0) {
            acquire(kind == CALL_STATIC ? type : receiver, false, site);
        }
        int locked = this.held;
        walk(words, 5, words.length, registers);
        if (this.held != locked) {
            loseLocks();
        }
        calls--;
        from = caller;
        this.numbers = numbers;
        this.assumed = assumed;
        this.left = left;
        releaseTo(held, unknown);
        return operand(words, 3, registers);
    }

    /** What a method of the library does to its receiver; returns what it returns. */
    private Object operation(int operation, Object receiver, int site) {
        switch (operation) {
            case TREE_ACQUIRES:
            case TREE_ACQUIRES_SHARED:
                acquire(receiver, operation == TREE_ACQUIRES_SHARED, site);
                break;
            case TREE_EXCLUSIVE_VIEW:
            case TREE_SHARED_VIEW:
                // A class of the program may give out any lock.
                if (isReal(receiver) && receiver.getClass().getClassLoader0() == null) {
                    return new LockView(receiver, operation == TREE_SHARED_VIEW);
                }
                break;
            case TREE_ACQUIRES_OTHER:
                loseLocks();
                break;
            case TREE_RELEASES:
                if (held > 0) {
                    release(site);
                }
                break;
            case TREE_READS:
            case TREE_WRITES:
                if (!isLeftOut(receiver)) {
                    emitWithoutStack(s, operation == TREE_WRITES ? EVENT_WOULD_WRITE : EVENT_WOULD_READ, site,
                        ScissionObjects.id(s, receiver), OF_CONTENTS);
                }
                break;
            default:
                break;
        }
        return UNKNOWN;
    }
}
