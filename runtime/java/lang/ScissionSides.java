package java.lang;

import static java.lang.ScissionEvents.emitWithoutStack;
import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionTrees.*;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/**
 * What the sides of branches would do that are not taken. A branch whose sides do something that other threads can see
 * has a tree, made by the crate {@code summary_trees}; {@link ScissionTrees} names its numbers. At the branch the
 * trees of the other sides are walked with the objects of that moment, and what is found there is reported between
 * {@code choice} and the end of the side. Nothing of the program is executed or changed: references are read
 * from memory, and what the side would assign is kept in a copy.
 *
 * <p>A value that is not known drops what would be done with it; and under a lock that is not known nothing is
 * reported at all, since it would seem unguarded. Both is counted, and so is where a walk ends early.
 *
 * <p>Sides that cannot be taken are dropped and counted: those of branches that decide by constants and final fields alone,
 * which go the same way whenever the objects are the same, and sides inside of others whose guards do not hold for the
 * objects of the moment. Where branches of a frame decide by the same condition, the sides say what it is there: one
 * number stands for the condition as long as its value cannot have changed, so that checkers do not put sides together
 * that exclude each other. Inside of a side what contradicts it is dropped.
 */
final class ScissionSides {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** How many steps a walk makes at most, and how deep it follows calls. */
    private static final int MOST_STEPS = 256;
    private static final int MOST_CALLS = 6;

    /** How often a branch is told; the code is the same each time, and so is what is found. */
    private static final int MOST_TOLD = 1000;

    /** How many values of a condition are told apart in one unit; two iterations of a loop stand for all. */
    private static final int MOST_ROUNDS = 2;

    /** Whether sides that cannot be taken are dropped. */
    private static final boolean FEASIBLE_ONLY = ScissionNatives.configuration(WORD_ALL_BRANCHES) == 0;

    /*
     * What was left out; the agent reads it at the end of the run. Counts that two threads lose to each other do not
     * matter.
     */
    /** Sides that cannot be taken. */
    static int infeasibleSides;
    /** What sides would do with null, or beyond the end of an array: it cannot be done. */
    static int impossibleSteps;
    /** What sides would do with values that are not known, or under a lock that is not. */
    static int unknownSteps;
    /** Walks that took too many steps, and calls that were not followed. */
    static int endedWalks;
    static int ignoredCalls;
    /** Branches that were not told again, having been told so often. */
    static int silentBranches;

    /** A value that nobody knows. */
    private static final Object UNKNOWN = new Object();

    /** A number in a register, which no reference of the program is. */
    private static final class Int {
        final int value;
        /** Whether it stands in the code or in a final field; others may be different next time. */
        final boolean isConstant;

        Int(int value, boolean isConstant) {
            this.value = value;
            this.isConstant = isConstant;
        }
    }

    /** An object that the side would make. */
    private static final class Fresh {}

    private ScissionSides() {}

    // ------------------------------------------------------------------ trees

    /** The tree of a branch. */
    static final class Branch {
        final int[] words;
        final int registers;
        final int depth;
        /** The side that goes on with a loop, -1 if the branch leaves none. */
        final int iterates;
        /** The number of its condition if others have it too, 0 if not; whether its value may be another one now. */
        final int condition;
        final boolean isRenewed;
        private final boolean isNegated;
        /** The sites of the fields that must be final for it to go the same way always; null if that does not help. */
        private int[] fixedIfFinal;
        private boolean isFixed;
        /** Where the sides begin, and how many there are. */
        private final int[] sides;
        /** Which sides do something. */
        private final boolean[] isVisible;
        /** How often it has been told; threads that tell it at the same time may count once. */
        private int told;

        Branch(int[] words) {
            this.words = words;
            registers = words[0];
            depth = words[1];
            iterates = words[2];
            int fields = words[3];
            if (fields >= 0 && FEASIBLE_ONLY) {
                fixedIfFinal = Arrays.copyOfRange(words, 4, 4 + fields);
            }
            int at = 4 + Math.max(fields, 0);
            condition = FEASIBLE_ONLY ? words[at] : 0;
            isRenewed = (words[at + 1] & FLAG_RENEWED) != 0;
            isNegated = (words[at + 1] & FLAG_NEGATED) != 0;
            at += 2;
            sides = new int[words[at++]];
            isVisible = new boolean[sides.length];
            for (int side = 0; side < sides.length; side++) {
                sides[side] = at;
                int guard = at + 1 + 2 * words[at];
                int steps = guard + 1 + words[guard];
                isVisible[side] = words[steps] > 0;
                at = steps + 1 + words[steps];
            }
        }

        /** The side that a way leads to. */
        int sideOf(int way, int value) {
            int otherwise = -1;
            for (int side = 0; side < sides.length; side++) {
                int at = sides[side];
                for (int number = 0; number < words[at]; number++) {
                    int kind = words[at + 1 + 2 * number];
                    if (kind == way && (kind != WAY_CASE || words[at + 2 + 2 * number] == value)) {
                        return side;
                    }
                    if (kind == WAY_DEFAULT) {
                        otherwise = side;
                    }
                }
            }
            return otherwise;
        }

        int guard(int side) {
            return sides[side] + 1 + 2 * words[sides[side]];
        }

        /** Whether its condition holds on a side. */
        boolean holdsOn(int side) {
            return ScissionSides.holdsOn(words, sides[side], isNegated);
        }

        /** Whether it goes the same way whenever the objects are the same. */
        boolean isFixed(Class<?> from) {
            int[] fields = fixedIfFinal;
            if (fields != null) {
                boolean areFinal = true;
                for (int at = 0; at < fields.length && areFinal; at++) {
                    areFinal = isFinal(fields[at], from);
                }
                isFixed = areFinal;
                U.storeFence();
                fixedIfFinal = null;
            }
            return isFixed;
        }

        boolean isVisible(int side) {
            return isVisible[side];
        }

        /** Whether a side other than this one does something. */
        boolean hasOther(int taken) {
            for (int side = 0; side < sides.length; side++) {
                if (side != taken && isVisible[side]) {
                    return true;
                }
            }
            return false;
        }
    }

    private static final int PART_BITS = 12;
    private static final Branch[][] BRANCHES = new Branch[SITES >>> PART_BITS][];
    /** Stands for a branch without a tree. */
    private static final Branch NONE = new Branch(new int[] {0, 0, -1, -1, 0, 0, 0});

    private static Branch branch(int site) {
        Branch[] part = ScissionSites.isSite(site) ? BRANCHES[site >>> PART_BITS] : null;
        Branch branch = part == null ? null : part[site & (1 << PART_BITS) - 1];
        return branch != null ? branch : readBranch(site);
    }

    @DontInline
    private static synchronized Branch readBranch(int site) {
        if (!ScissionSites.isSite(site)) {
            return NONE;
        }
        int[] words = read(ScissionNatives.treeOfBranch(site));
        Branch branch = words == null ? NONE : new Branch(words);
        Branch[] part = BRANCHES[site >>> PART_BITS];
        if (part == null) {
            part = new Branch[1 << PART_BITS];
        }
        // Whoever finds the branch finds what it is made of.
        U.storeFence();
        part[site & (1 << PART_BITS) - 1] = branch;
        U.storeFence();
        BRANCHES[site >>> PART_BITS] = part;
        return branch;
    }

    /** A tree in the memory of the agent: how many numbers, and the numbers. */
    private static int[] read(long address) {
        if (address == 0) {
            return null;
        }
        int[] words = new int[U.getInt(address)];
        for (int at = 0; at < words.length; at++) {
            words[at] = U.getInt(address + 4 + 4L * at);
        }
        return words;
    }

    /** The trees of the methods of each class, by the number of the method. */
    private static final ClassValue<HashMap<Integer, int[]>> METHODS = new ClassValue<HashMap<Integer, int[]>>() {
        @Override
        protected HashMap<Integer, int[]> computeValue(Class<?> type) {
            return new HashMap<>();
        }
    };
    private static final int[] NO_TREE = {};

    /** The tree of a method as a class has it; of no length if the class does not declare it. */
    private static int[] method(Class<?> type, int number) {
        HashMap<Integer, int[]> known = METHODS.get(type);
        synchronized (known) {
            int[] words = known.get(number);
            if (words == null) {
                words = read(ScissionNatives.treeOfMethod(type.getName(), number));
                known.put(number, words == null ? NO_TREE : words);
            }
            return words == null ? NO_TREE : words;
        }
    }

    // ------------------------------------------------------------------ choices

    /** The choices of a thread that are open, by frame. */
    static final class Choices {
        /** The depths of the open ones, and in which unit they were opened. */
        private int[] depths = new int[16];
        private long[] units = new long[16];
        private int open;
        /** How many were open when the frames that can have some began, and how many loops. */
        private int[] frames = new int[32];
        private int[] loopFrames = new int[32];
        private int frame;
        /** The loops that are running: the site of the branch that can leave each, and how often it did not. */
        private int[] loops = new int[16];
        private int[] iterations = new int[16];
        private int running;
        /** The conditions that branches of these frames decided by: their numbers in the method and in events, and the unit. */
        private int[] conditions = new int[16];
        private int[] numbers = new int[16];
        private long[] conditionUnits = new long[16];
        /** How often each had a new value in its unit, up to one more than {@link #MOST_ROUNDS}. */
        private int[] rounds = new int[16];
        private int known;
        private int[] conditionFrames = new int[32];
        private int numbered;
        /** What has been said in which unit. */
        private final long[] spoken = new long[1024];
        /** Roots that do not fit into the operands of a hook. */
        private final Object[] roots = new Object[64];
        private boolean hasRoots;

        /** The roots that were given for the branch that is decided now; null if there are none. */
        Object[] takeRoots() {
            if (!hasRoots) {
                return null;
            }
            Object[] taken = roots.clone();
            Arrays.fill(roots, null);
            hasRoots = false;
            return taken;
        }

        /** The first condition of the innermost frame. */
        private int firstCondition() {
            return frame > 0 ? conditionFrames[frame - 1] : 0;
        }

        /** Where the condition is that a branch decides by; it has a new number unless it is still the same. */
        int conditionOf(int condition, boolean isRenewed, long unit) {
            int at = known - 1;
            int first = firstCondition();
            while (at >= first && conditions[at] != condition) {
                at--;
            }
            if (at < first) {
                at = known++;
                if (at == conditions.length) {
                    conditions = Arrays.copyOf(conditions, at * 2);
                    numbers = Arrays.copyOf(numbers, at * 2);
                    conditionUnits = Arrays.copyOf(conditionUnits, at * 2);
                    rounds = Arrays.copyOf(rounds, at * 2);
                }
                conditions[at] = condition;
                rounds[at] = 0;
            } else if (conditionUnits[at] != unit) {
                rounds[at] = 0;
            } else if (!isRenewed) {
                return at;
            }
            conditionUnits[at] = unit;
            rounds[at] = Math.min(rounds[at] + 1, MOST_ROUNDS + 1);
            numbers[at] = newNumber();
            return at;
        }

        int newNumber() {
            // Units are over long before numbers come again; 0 is none.
            numbered = numbered == Integer.MAX_VALUE ? 1 : numbered + 1;
            return numbered;
        }
    }

    private static Choices choices(ScissionThread s) {
        Choices choices = s.choices;
        if (choices == null) {
            s.choices = choices = new Choices();
        }
        return choices;
    }

    /** A method begins that has branches with trees. */
    static void enter(ScissionThread s) {
        Choices choices = choices(s);
        int frame = choices.frame;
        if (frame == choices.frames.length) {
            choices.frames = Arrays.copyOf(choices.frames, frame * 2);
            choices.loopFrames = Arrays.copyOf(choices.loopFrames, frame * 2);
            choices.conditionFrames = Arrays.copyOf(choices.conditionFrames, frame * 2);
        }
        choices.frames[frame] = choices.open;
        choices.loopFrames[frame] = choices.running;
        choices.conditionFrames[frame] = choices.known;
        choices.frame = frame + 1;
    }

    /** Such a method ends. */
    static void leave(ScissionThread s) {
        Choices choices = choices(s);
        if (choices.frame > 0) {
            choices.frame--;
            close(s, choices, choices.frames[choices.frame], -1);
            choices.running = Math.min(choices.running, choices.loopFrames[choices.frame]);
            choices.known = Math.min(choices.known, choices.conditionFrames[choices.frame]);
        }
    }

    /** The thread has come to a place where sides meet. */
    static void rejoin(ScissionThread s, int depth) {
        Choices choices = choices(s);
        if (choices.frame > 0 && choices.open > choices.frames[choices.frame - 1]) {
            close(s, choices, choices.frames[choices.frame - 1], depth);
        }
    }

    /** Ends the innermost choices: those deeper than this, and not more than leave so many open. */
    private static void close(ScissionThread s, Choices choices, int least, int depth) {
        while (choices.open > least && choices.depths[choices.open - 1] > depth) {
            choices.open--;
            if (choices.units[choices.open] == s.unit) {
                emitWithoutStack(s, EVENT_REJOIN, 0, 0, 0);
                ScissionEpochs.beginEpoch(s);
            }
        }
    }

    /** A root that does not fit into the operands of {@link #decide}. */
    static void root(ScissionThread s, Object value, int register) {
        if (register >= 0 && register < 64) {
            Choices choices = choices(s);
            choices.roots[register] = value;
            choices.hasRoots = true;
        }
    }

    static Object number(int value) {
        return new Int(value, false);
    }

    // ------------------------------------------------------------------ branches

    /** A branch is decided: the way that it goes, and the roots in the order of their registers. */
    static void decide(
            ScissionThread s, int way, int value, Class<?> from, Object first, Object second, Object third, int site) {
        Branch branch = branch(site);
        Object[] roots = s.choices == null ? null : s.choices.takeRoots();
        int condition = 0;
        int round = 0;
        if (branch.condition != 0) {
            int known = choices(s).conditionOf(branch.condition, branch.isRenewed, s.unit);
            condition = s.choices.numbers[known];
            round = s.choices.rounds[known];
        }
        if (branch.told >= MOST_TOLD) {
            return;
        }
        int taken = branch.sideOf(way, value);
        if (taken < 0) {
            return;
        }
        Choices choices = choices(s);
        int copies = 1;
        if (branch.iterates >= 0) {
            copies = 2 - iterationsOf(choices, site, taken == branch.iterates);
            if (taken != branch.iterates && copies <= 0) {
                return;
            }
        }
        if (!branch.hasOther(taken)) {
            if (condition != 0 && round <= MOST_ROUNDS) {
                restrict(s, choices, branch, taken, condition, from, site);
            }
            return;
        }
        long key = (site * 0x9e3779b97f4a7c15L + taken) * 0xbf58476d1ce4e5b9L + s.unit * 0x94d049bb133111ebL
            + System.identityHashCode(first) * 0xd6e8feb86659fd93L
            + System.identityHashCode(second) * 0xa0761d6478bd642fL
            + System.identityHashCode(third) * 0xe7037ed1a0b428dbL + Math.min(round, MOST_ROUNDS) * 0x8ebc6af09c88c6e3L;
        int at = (int) (key >>> 54);
        if (choices.spoken[at] == key) {
            if (condition != 0 && round <= MOST_ROUNDS) {
                restrict(s, choices, branch, taken, condition, from, site);
            }
            return;
        }
        choices.spoken[at] = key;
        if (branch.isFixed(from)) {
            infeasibleSides++;
            return;
        }
        if (++branch.told == MOST_TOLD) {
            silentBranches++;
        }
        Object[] registers = new Object[Math.max(branch.registers, 3)];
        if (roots != null) {
            System.arraycopy(roots, 0, registers, 0, Math.min(roots.length, registers.length));
        }
        registers[0] = first != null ? first : registers[0];
        registers[1] = second != null ? second : registers[1];
        registers[2] = third != null ? third : registers[2];
        speculate(s, choices, branch, taken, copies, condition, from, registers, site);
    }

    /** How many iterations of a loop there were; counts one more, or forgets the loop. */
    private static int iterationsOf(Choices choices, int site, boolean iterates) {
        int base = choices.frame > 0 ? choices.loopFrames[choices.frame - 1] : 0;
        int at = choices.running - 1;
        while (at >= base && choices.loops[at] != site) {
            at--;
        }
        if (at < base) {
            if (!iterates) {
                return 0;
            }
            at = choices.running++;
            if (at == choices.loops.length) {
                choices.loops = Arrays.copyOf(choices.loops, at * 2);
                choices.iterations = Arrays.copyOf(choices.iterations, at * 2);
            }
            choices.loops[at] = site;
            choices.iterations[at] = 1;
            return 1;
        }
        if (iterates) {
            // Loops inside it have ended, however they did.
            choices.running = at + 1;
            return choices.iterations[at] = Math.min(choices.iterations[at] + 1, 2);
        }
        choices.running = at;
        return choices.iterations[at];
    }

    @DontInline
    private static void speculate(
            ScissionThread s, Choices choices, Branch branch, int taken, int copies, int condition, Class<?> from,
            Object[] registers, int site) {
        ScissionEpochs.beginEpoch(s);
        emitWithoutStack(s, EVENT_CHOICE, site, 0, 0);
        boolean isLoop = branch.iterates >= 0 && taken != branch.iterates;
        for (int side = 0; side < branch.sides.length; side++) {
            if (side == taken || !branch.isVisible(side)) {
                continue;
            }
            Walk walk = new Walk(s, choices, from);
            Object[] copy = registers.clone();
            if (!walk.canBeTaken(branch.words, branch.guard(side), copy)) {
                infeasibleSides++;
                continue;
            }
            untaken(s, branch.words, branch.sides[side], site);
            if (condition != 0) {
                given(s, condition, branch.holdsOn(side), site);
                walk.assume(branch.condition, branch.holdsOn(side));
            }
            walk.side(branch.words, branch.guard(side), copy, isLoop && side == branch.iterates ? copies : 1);
            emitWithoutStack(s, EVENT_UNTAKEN_END, site, 0, 0);
            walk.count();
        }
        ScissionEpochs.beginEpoch(s);
        if (isLoop || !branch.isVisible(taken)) {
            // Nothing on this side excludes what would have been done on the others.
            emitWithoutStack(s, EVENT_REJOIN, site, 0, 0);
            return;
        }
        if (condition != 0) {
            given(s, condition, branch.holdsOn(taken), site);
        }
        open(s, choices, branch);
    }

    /** A side is taken that has nothing to tell beside it; what happens on it needs the condition all the same. */
    @DontInline
    private static void restrict(
            ScissionThread s, Choices choices, Branch branch, int taken, int condition, Class<?> from, int site) {
        boolean isLoop = branch.iterates >= 0 && taken != branch.iterates;
        if (!isLoop && branch.isVisible(taken) && !branch.isFixed(from)) {
            ScissionEpochs.beginEpoch(s);
            emitWithoutStack(s, EVENT_CHOICE, site, 0, 0);
            given(s, condition, branch.holdsOn(taken), site);
            open(s, choices, branch);
        }
    }

    private static void open(ScissionThread s, Choices choices, Branch branch) {
        int open = choices.open;
        if (open == choices.depths.length) {
            choices.depths = Arrays.copyOf(choices.depths, open * 2);
            choices.units = Arrays.copyOf(choices.units, open * 2);
        }
        choices.depths[open] = branch.depth;
        choices.units[open] = s.unit;
        choices.open = open + 1;
    }

    private static void given(ScissionThread s, int condition, boolean holds, int site) {
        emitWithoutStack(s, EVENT_GIVEN, site, condition, holds ? 1 : 0);
    }

    /** Whether the condition of a branch holds on a side of it. */
    private static boolean holdsOn(int[] words, int side, boolean isNegated) {
        boolean jumps = words[side] > 0 && words[side + 1] == WAY_TAKEN;
        return jumps != isNegated;
    }

    /** A side begins that is not taken. */
    private static void untaken(ScissionThread s, int[] words, int side, int site) {
        int way = words[side] == 0 ? WAY_NOT_TAKEN : words[side + 1];
        long kind = way == WAY_TAKEN ? 1 : way == WAY_CASE ? 2 : 0;
        emitWithoutStack(s, EVENT_UNTAKEN, site, kind, kind == 2 ? words[side + 2] : 0);
    }

    // ------------------------------------------------------------------ fields

    /** Where a field is that a site of a tree names. */
    private static final class Place {
        final Class<?> declaring;
        /** Its entry in the table of sites, and whether accesses to it are reported. */
        final long entry;
        final boolean isWatched;
        /** Where its value is, -1 if that is not known. */
        final long offset;
        final Object base;
        private final Field reflected;

        Place(Class<?> declaring, long entry, long offset, Object base, Field reflected) {
            this.declaring = declaring;
            this.entry = entry;
            isWatched = entry > 0 || ScissionSites.isVolatileField(entry) || ScissionSites.isVolatileStatic(entry);
            this.offset = offset;
            this.base = base;
            this.reflected = reflected;
        }

        /** The reference that it holds. */
        Object value(Object owner) {
            return ScissionContents.reference(owner, offset, reflected);
        }
    }

    /** The number in a final field; {@link #UNKNOWN} if that cannot be read. */
    private static Object number(Place place, String name, char type, boolean isStatic, Object owner) {
        try {
            Field field = place.declaring.getDeclaredField(name);
            Object base = isStatic ? U.staticFieldBase(field) : owner;
            long offset = isStatic ? U.staticFieldOffset(field) : U.objectFieldOffset(field);
            switch (type) {
                case 'I': return new Int(U.getInt(base, offset), true);
                case 'Z': return new Int(U.getBoolean(base, offset) ? 1 : 0, true);
                case 'B': return new Int(U.getByte(base, offset), true);
                case 'C': return new Int(U.getChar(base, offset), true);
                case 'S': return new Int(U.getShort(base, offset), true);
                default: return UNKNOWN;
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return UNKNOWN;
        }
    }

    /** Whether the field that a site reads is final. */
    private static boolean isFinal(int site, Class<?> from) {
        String[] target = ScissionNatives.target(site).split(" ");
        Class<?> owner = target.length < 4 ? null : loaded(from, target[0].replace('/', '.'));
        Class<?> declaring =
            owner == null ? null : ScissionSites.declaringClass(owner, target[1], target[3].equals("static"));
        try {
            return declaring != null && Modifier.isFinal(declaring.getDeclaredField(target[1]).getModifiers());
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return false;
        }
    }

    private static final HashMap<Integer, Place> PLACES = new HashMap<>();

    /** The field of a site, for objects of a class; null if the objects do not have it. */
    private static synchronized Place place(int site, Class<?> from, boolean isStatic) {
        Place known = PLACES.get(site);
        if (known == null) {
            known = find(site, from, isStatic);
            if (known == null) {
                return null;
            }
            PLACES.put(site, known);
        }
        return isStatic || known.declaring.isAssignableFrom(from) ? known : null;
    }

    private static Place find(int site, Class<?> from, boolean isStatic) {
        String[] target = ScissionNatives.target(site).split(" ");
        if (target.length < 4 || target[3].equals("static") != isStatic) {
            return null;
        }
        String owner = target[0].replace('/', '.');
        String name = target[1];
        Class<?> start = isStatic ? loaded(from, owner) : above(from, owner);
        Class<?> declaring = start == null ? null : ScissionSites.declaringClass(start, name, isStatic);
        if (declaring == null || isStatic && U.shouldBeInitialized(declaring)) {
            return null;
        }
        long entry = ScissionSites.resolve(isStatic ? start : from, site, isStatic);
        boolean isReference = target[2].startsWith("L") || target[2].startsWith("[");
        if (!isReference) {
            return new Place(declaring, entry, -1, null, null);
        }
        if (!isStatic && ScissionContents.HAS_GET_REFERENCE) {
            return new Place(declaring, entry, U.objectFieldOffset(declaring, name), null, null);
        }
        try {
            Field reflected = declaring.getDeclaredField(name);
            reflected.setAccessible(true);
            long offset = isStatic ? U.staticFieldOffset(reflected) : U.objectFieldOffset(reflected);
            Object base = isStatic ? U.staticFieldBase(reflected) : null;
            return new Place(declaring, entry, offset, base, reflected);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError unknown) {
            return new Place(declaring, entry, -1, null, null);
        }
    }

    /** A class or one above it that has this name. */
    private static Class<?> above(Class<?> from, String name) {
        Class<?> type = from;
        while (type != null && !type.getName().equals(name)) {
            type = type.getSuperclass();
        }
        return type;
    }

    /** The class of this name that code of another class has used before; nothing is loaded. */
    private static Class<?> loaded(Class<?> from, String name) {
        if (from == null) {
            return null;
        }
        Class<?> type = above(from, name);
        ClassLoader loader = from.getClassLoader0();
        return type != null || loader == null ? type : loader.findLoadedClass(name);
    }

    // ------------------------------------------------------------------ walks

    /** A walk along one side. */
    private static final class Walk {
        private final ScissionThread s;
        private final Choices choices;
        private Class<?> from;
        private int steps = MOST_STEPS;
        private int calls;
        /** The locks that would be held, by number; 0 if one is held anyway, or is not known. */
        private long[] locks = new long[8];
        private int held;
        /** How many of them are not known. */
        private int unknown;
        /** What would be assigned: an object or class, an offset, and the value. */
        private Object[] owners = new Object[8];
        private long[] offsets = new long[8];
        private Object[] values = new Object[8];
        private int stored;
        /** The conditions of the method, by their numbers in it: the numbers in events, 0 if there is none yet, and what
            holds on this side. */
        private int[] numbers = NO_TREE;
        private byte[] assumed = NOTHING_ASSUMED;
        /** How many levels sides of choices in the list have left, the list included: a bit each, the lowest for one. */
        private int left;
        private int impossible;
        private int unknownSteps;
        private int ignoredCalls;

        private static final byte[] NOTHING_ASSUMED = {};
        private static final byte TRUE = 1;
        private static final byte FALSE = 2;

        Walk(ScissionThread s, Choices choices, Class<?> from) {
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
                endedWalks++;
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
            if (at >= end || !FEASIBLE_ONLY) {
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
                    if (kind == GUARD_IS_NULL && !(value instanceof Fresh) && words[at + 1] == TERM_REGISTER) {
                        registers[words[at + 2]] = null;
                        return true;
                    }
                    return kind == GUARD_NOT_NULL;
                }
                case GUARD_INSTANCE_OF:
                case GUARD_NOT_INSTANCE_OF: {
                    Object value = term(words, at + 2, registers);
                    if (value == UNKNOWN || value instanceof Fresh) {
                        return true;
                    }
                    Class<?> type = loaded(from, ScissionNatives.classInTree(words[at + 1]));
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
            Place place = place(site, isStatic ? from : object.getClass(), isStatic);
            if (place == null) {
                return UNKNOWN;
            }
            if (place.offset >= 0) {
                return place.value(isStatic ? place.base : object);
            }
            String[] target = ScissionNatives.target(site).split(" ");
            return number(place, target[1], target[2].charAt(0), isStatic, object);
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

        /** Makes the steps of a list; returns how many levels the path leaves, this list included, 0 if it comes to its end. */
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
                        Place place = place(site, from, true);
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
                        Class<?> type = loaded(from, ScissionNatives.classInTree(words[at + 3]));
                        registers[words[at + 2]] = type == null ? UNKNOWN : type;
                        at += 4;
                        break;
                    }
                    case STEP_SET:
                        registers[words[at + 2]] = operand(words, at + 3, registers);
                        at += 5;
                        break;
                    case STEP_ENTER:
                        acquire(operand(words, at + 2, registers), site);
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
            int condition = FEASIBLE_ONLY ? words[at + 2] : 0;
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
                byte needed = condition == 0 ? 0 : holdsOn(words, side, isNegated) ? TRUE : FALSE;
                boolean isPossible = before == 0 || needed == before;
                if (words[list] == 0) {
                    // Nothing to tell.
                } else if (!isPossible || !applyGuard(words, guard + 1, list, registers)) {
                    infeasibleSides++;
                } else {
                    int held = this.held;
                    int unknown = this.unknown;
                    untaken(s, words, side, site);
                    if (numbers.length > 0) {
                        this.numbers = numbers.clone();
                        this.assumed = assumed.clone();
                    }
                    if (needed != 0) {
                        this.assumed[condition] = needed;
                        if (before == 0) {
                            given(s, numbers[condition], needed == TRUE, site);
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
            Place place = place(site, object.getClass(), false);
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
            Place place = place(site, from, true);
            if (place != null && place.isWatched) {
                ScissionAccesses.usesClass(s, null, site);
                report(isWrite, place, null, 0, OF_STATIC | ScissionSites.field(site), site);
            }
        }

        private void report(boolean isWrite, Place place, Object object, long first, long second, int site) {
            if (place.entry > 0) {
                ScissionFilters.mark(s, object, ScissionSites.wordOfReads(place.entry),
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
            return object != null && object != UNKNOWN && !(object instanceof Fresh) && !(object instanceof Int);
        }

        private Object load(Object object, int site) {
            if (!isReal(object)) {
                return UNKNOWN;
            }
            Place place = place(site, object.getClass(), false);
            if (place == null || place.offset < 0) {
                return UNKNOWN;
            }
            Object assigned = assigned(object, place.offset);
            return assigned != this ? assigned : place.value(object);
        }

        private Object loadStatic(int site) {
            Place place = place(site, from, true);
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
            Place place = isReal(object) ? place(site, object.getClass(), false) : null;
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

        private void acquire(Object lock, int site) {
            if (held == locks.length) {
                locks = Arrays.copyOf(locks, held * 2);
            }
            long id = 0;
            if (lock instanceof Fresh) {
                // Nobody else can take it.
                id = 0;
            } else if (!isReal(lock)) {
                unknown++;
                id = -1;
            } else {
                id = ScissionObjects.id(s, lock);
                if (holds(id)) {
                    id = 0;
                } else if (unknown == 0) {
                    emitWithoutStack(s, EVENT_WOULD_ACQUIRE, site, id, 0);
                }
            }
            locks[held++] = id;
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
                emitWithoutStack(s, EVENT_WOULD_RELEASE, site, id, 0);
            }
        }

        private void releaseTo(int held, int unknown) {
            while (this.held > held) {
                release(0);
            }
            this.unknown = unknown;
        }

        // -------------------------------------------------------------- calls

        /** Follows a call; returns what it would return. */
        private Object call(int kind, int method, Object[] arguments, int site) {
            Object receiver = kind != CALL_STATIC && arguments.length > 0 ? arguments[0] : null;
            if (method < 0) {
                operation(method, receiver, site);
                return UNKNOWN;
            }
            if (kind != CALL_STATIC && !isReal(receiver)) {
                if (receiver == null) {
                    impossible++;
                } else if (receiver == UNKNOWN) {
                    unknownSteps++;
                }
                return UNKNOWN;
            }
            if (calls == MOST_CALLS) {
                ignoredCalls++;
                return UNKNOWN;
            }
            Class<?> type;
            if (kind == CALL_STATIC || kind == CALL_SPECIAL) {
                String owner = ScissionNatives.classInTree(method);
                type = kind == CALL_STATIC ? loaded(from, owner) : above(receiver.getClass(), owner);
            } else {
                type = receiver.getClass();
            }
            int[] words = NO_TREE;
            while (type != null && words.length == 0) {
                words = method(type, method);
                if (words.length == 0) {
                    type = type.getSuperclass();
                }
            }
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
            this.numbers = NO_TREE;
            this.assumed = NOTHING_ASSUMED;
            from = type;
            calls++;
            if (words[2] != 0) {
                acquire(kind == CALL_STATIC ? type : receiver, site);
            }
            walk(words, 5, words.length, registers);
            calls--;
            from = caller;
            this.numbers = numbers;
            this.assumed = assumed;
            this.left = left;
            releaseTo(held, unknown);
            return operand(words, 3, registers);
        }

        /** What a method of the library does to its receiver. */
        private void operation(int operation, Object receiver, int site) {
            switch (operation) {
                case TREE_ACQUIRES:
                    acquire(receiver, site);
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
        }
    }
}
