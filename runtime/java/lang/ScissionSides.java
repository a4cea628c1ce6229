package java.lang;

import static java.lang.ScissionEvents.emitWithoutStack;
import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionTrees.*;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.HashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What the sides of branches would do that are not taken. A branch whose sides do something that other threads can see
 * has a tree, made by the crate {@code summary_trees}; {@link ScissionTrees} names its numbers. At the branch the
 * trees of the other sides are walked with the objects of that moment, and what is found there is reported between
 * {@code choice} and the end of the side. Nothing of the program is executed or changed: references are read
 * from memory, and what the side would assign is kept in a copy.
 *
 * <p>A value that is not known drops what would be done with it; and under a lock that is not known nothing is
 * reported at all, since it would seem unguarded.
 */
final class ScissionSides {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** How many steps a walk makes at most, and how deep it follows calls. */
    private static final int MOST_STEPS = 256;
    private static final int MOST_CALLS = 6;

    /** How often a branch is told, and decided, until it is left alone; the code is the same each time. */
    private static final int MOST_TOLD = 1000;
    private static final int MOST_DECIDED = 1 << 16;
    /** A method is retired when it is the one that a thread enters after so many others. */
    private static final int ENTRIES = 1 << 12;

    /** A value that nobody knows. */
    private static final Object UNKNOWN = new Object();

    /** A number in a register, which no reference of the program is. */
    private static final class Int {
        final int value;

        Int(int value) {
            this.value = value;
        }
    }

    /** An object that the side would make. */
    private static final class Fresh {}

    private ScissionSides() {}

    // ------------------------------------------------------------------ enough

    // An int for each site of a branch. The first branch of a method stands for the method as well.
    private static final long WORDS = ScissionNatives.configuration(WORD_TOLD_BRANCHES);
    /** Enough has been told of the branch. */
    private static final int TOLD = 1;
    /** The method is retired: its hooks do nothing, until a branch is decided of which not enough has been told. */
    private static final int RETIRED = 2;
    /** From here on, how often it was brought back. */
    private static final int RETURN = 4;

    @ForceInline
    private static int word(int site) {
        return U.getInt(WORDS + ((long) (site & SITES - 1) << 2));
    }

    /** Whether enough has been told of a branch. */
    @ForceInline
    static boolean isTold(int site) {
        return (word(site) & TOLD) != 0;
    }

    /** Whether a method is retired, by the site of its first branch. */
    @ForceInline
    static boolean isRetired(int site) {
        return (word(site) & RETIRED) != 0;
    }

    private static synchronized void set(int site, int bits) {
        U.putInt(WORDS + ((long) (site & SITES - 1) << 2), word(site) | bits);
    }

    /** Brings a method back; what began before is not mistaken for what begins now. */
    private static synchronized void bringBack(int site) {
        int word = word(site);
        if ((word & RETIRED) != 0) {
            U.putInt(WORDS + ((long) (site & SITES - 1) << 2), (word & ~RETIRED) + RETURN);
        }
    }

    /** What the frames of a method are known by, as long as it is not retired. */
    private static long key(int site) {
        return (long) site << 32 | word(site) / RETURN;
    }

    // ------------------------------------------------------------------ trees

    /** The tree of a branch. */
    static final class Branch {
        final int[] words;
        /** The first branch of its method. */
        final int method;
        final int registers;
        final int depth;
        /** The side that goes on with a loop, -1 if the branch leaves none. */
        final int iterates;
        /** Where the sides begin, and how many there are. */
        private final int[] sides;
        /** Which sides do something. */
        private final boolean[] isVisible;
        /** How often it has been told; threads that tell it at the same time may count once. */
        private int told;
        private int decided;

        Branch(int[] words) {
            this.words = words;
            method = words[0];
            registers = words[1];
            depth = words[2];
            iterates = words[3];
            int at = 4;
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
    private static final Branch NONE = new Branch(new int[] {0, 0, 0, -1, 0});

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
        private long[] keys = new long[32];
        private int frame;
        private int entries;
        /** The loops that are running: the site of the branch that can leave each, and how often it did not. */
        private int[] loops = new int[16];
        private int[] iterations = new int[16];
        private int running;
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
    }

    private static Choices choices(ScissionThread s) {
        Choices choices = s.choices;
        if (choices == null) {
            s.choices = choices = new Choices();
        }
        return choices;
    }

    /** A method begins that has branches with trees. */
    static void enter(ScissionThread s, int site) {
        Choices choices = choices(s);
        if ((++choices.entries & ENTRIES - 1) == 0) {
            set(site, RETIRED);
            return;
        }
        int frame = choices.frame;
        if (frame == choices.frames.length) {
            choices.frames = Arrays.copyOf(choices.frames, frame * 2);
            choices.loopFrames = Arrays.copyOf(choices.loopFrames, frame * 2);
            choices.keys = Arrays.copyOf(choices.keys, frame * 2);
        }
        choices.keys[frame] = key(site);
        choices.frames[frame] = choices.open;
        choices.loopFrames[frame] = choices.running;
        choices.frame = frame + 1;
    }

    /**
     * Such a method ends. Frames above its own are of methods that were retired before they ended. It may have none
     * itself: then it was retired when it began, or meanwhile, and what it left open stays so until a caller ends.
     */
    static void leave(ScissionThread s, int site) {
        Choices choices = choices(s);
        long key = key(site);
        int frame = choices.frame - 1;
        while (frame >= 0 && choices.keys[frame] != key) {
            frame--;
        }
        if (frame >= 0) {
            choices.frame = frame;
            close(s, choices, choices.frames[frame], -1);
            choices.running = Math.min(choices.running, choices.loopFrames[frame]);
        }
    }

    /** Whether the method that is running has a frame; what was left above it is dropped. */
    private static boolean isInnermost(Choices choices, int site) {
        long key = key(site);
        while (choices.frame > 0 && choices.keys[choices.frame - 1] != key) {
            long top = choices.keys[choices.frame - 1];
            int other = (int) (top >>> 32);
            if (!isRetired(other) && key(other) == top) {
                return false;
            }
            choices.frame--;
        }
        return choices.frame > 0;
    }

    /** The thread has come to a place where sides meet. */
    static void rejoin(ScissionThread s, int depth, int site) {
        Choices choices = choices(s);
        if (isInnermost(choices, site) && choices.open > choices.frames[choices.frame - 1]) {
            close(s, choices, choices.frames[choices.frame - 1], depth);
        }
    }

    /** Ends the innermost choices: those deeper than this, and not more than leave so many open. */
    private static void close(ScissionThread s, Choices choices, int least, int depth) {
        while (choices.open > least && choices.depths[choices.open - 1] > depth) {
            choices.open--;
            if (choices.units[choices.open] == s.unit) {
                emitWithoutStack(s, EVENT_REJOIN, 0, 0, 0);
                ScissionEpochs.splitEpoch(s);
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
        return new Int(value);
    }

    // ------------------------------------------------------------------ branches

    /** A branch is decided: the way that it goes, and the roots in the order of their registers. */
    static void decide(
            ScissionThread s, int way, int value, Class<?> from, Object first, Object second, Object third, int site) {
        Branch branch = branch(site);
        Object[] roots = s.choices == null ? null : s.choices.takeRoots();
        if (s.isLeftOut) {
            return;
        }
        if (branch.told >= MOST_TOLD || ++branch.decided >= MOST_DECIDED || branch == NONE) {
            set(site, TOLD);
            return;
        }
        int taken = branch.sideOf(way, value);
        if (taken < 0) {
            return;
        }
        Choices choices = choices(s);
        if (!isInnermost(choices, branch.method)) {
            bringBack(branch.method);
            return;
        }
        int copies = 1;
        if (branch.iterates >= 0) {
            copies = 2 - iterationsOf(choices, site, taken == branch.iterates);
            if (taken != branch.iterates && copies <= 0) {
                return;
            }
        }
        if (!branch.hasOther(taken)) {
            return;
        }
        long key = (site * 0x9e3779b97f4a7c15L + taken) * 0xbf58476d1ce4e5b9L + s.unit * 0x94d049bb133111ebL
            + System.identityHashCode(first) * 0xd6e8feb86659fd93L
            + System.identityHashCode(second) * 0xa0761d6478bd642fL
            + System.identityHashCode(third) * 0xe7037ed1a0b428dbL;
        int at = (int) (key >>> 54);
        if (choices.spoken[at] == key) {
            return;
        }
        choices.spoken[at] = key;
        branch.told++;
        Object[] registers = new Object[Math.max(branch.registers, 3)];
        if (roots != null) {
            System.arraycopy(roots, 0, registers, 0, Math.min(roots.length, registers.length));
        }
        registers[0] = first != null ? first : registers[0];
        registers[1] = second != null ? second : registers[1];
        registers[2] = third != null ? third : registers[2];
        speculate(s, choices, branch, taken, copies, from, registers, site);
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
            ScissionThread s, Choices choices, Branch branch, int taken, int copies, Class<?> from, Object[] registers,
            int site) {
        ScissionEpochs.splitEpoch(s);
        emitWithoutStack(s, EVENT_CHOICE, site, 0, 0);
        boolean isLoop = branch.iterates >= 0 && taken != branch.iterates;
        for (int side = 0; side < branch.sides.length; side++) {
            if (side == taken || !branch.isVisible(side)) {
                continue;
            }
            Walk walk = new Walk(s, from);
            untaken(s, branch.words, branch.sides[side], site);
            walk.side(branch.words, branch.guard(side), registers.clone(), isLoop && side == branch.iterates ? copies : 1);
            emitWithoutStack(s, EVENT_UNTAKEN_END, site, 0, 0);
        }
        ScissionEpochs.splitEpoch(s);
        if (isLoop || !branch.isVisible(taken)) {
            // Nothing on this side excludes what would have been done on the others.
            emitWithoutStack(s, EVENT_REJOIN, site, 0, 0);
            return;
        }
        int open = choices.open;
        if (open == choices.depths.length) {
            choices.depths = Arrays.copyOf(choices.depths, open * 2);
            choices.units = Arrays.copyOf(choices.units, open * 2);
        }
        choices.depths[open] = branch.depth;
        choices.units[open] = s.unit;
        choices.open = open + 1;
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

        Walk(ScissionThread s, Class<?> from) {
            this.s = s;
            this.from = from;
        }

        /** A side from its guard on. */
        void side(int[] words, int guard, Object[] registers, int copies) {
            if (!applyGuard(words, guard + 1, guard + 1 + words[guard], registers)) {
                return;
            }
            int list = guard + 1 + words[guard];
            for (int copy = 0; copy < copies; copy++) {
                walk(words, list + 1, list + 1 + words[list], registers);
                releaseTo(0, 0);
            }
        }

        /** Whether a side can be taken with objects as they are; what it says of registers holds in them afterwards. */
        private boolean applyGuard(int[] words, int at, int end, Object[] registers) {
            if (at >= end) {
                return true;
            }
            int kind = words[at];
            boolean isOfType = kind == GUARD_INSTANCE_OF || kind == GUARD_NOT_INSTANCE_OF;
            int term = isOfType ? at + 2 : at + 1;
            boolean isAboutRegister = kind == GUARD_IS_NULL || kind == GUARD_NOT_NULL || isOfType;
            if (!isAboutRegister || words[term] != TERM_REGISTER) {
                return true;
            }
            Object value = registers[words[term + 1]];
            if (value == UNKNOWN || value instanceof Fresh) {
                return true;
            }
            if (kind == GUARD_IS_NULL) {
                registers[words[term + 1]] = null;
                return true;
            }
            if (kind == GUARD_NOT_NULL) {
                return value != null;
            }
            Class<?> type = loaded(from, ScissionNatives.classInTree(words[at + 1]));
            boolean isInstance = type != null && type.isInstance(value);
            return type == null || isInstance == (kind == GUARD_INSTANCE_OF);
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
                case OPERAND_INT: return new Int(words[at + 1]);
                default: return UNKNOWN;
            }
        }

        /** Makes the steps of a list; returns how many levels the path leaves, this list not counted. */
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
                        int leaves = 0;
                        for (int round = 0; round < 2 && leaves == 0; round++) {
                            // The iteration is one level, and the loop another.
                            leaves = Math.max(walk(words, list + 1, list + 1 + words[list], registers) - 1, 0);
                        }
                        if (leaves > 0) {
                            releaseTo(held, unknown);
                            return leaves - 1;
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

        /** A choice inside the side: all of its sides are told. Returns where the next step is. */
        private int choice(int[] words, int at, int site, Object[] registers) {
            int count = words[at + 2];
            int side = at + 3;
            emitWithoutStack(s, EVENT_CHOICE, site, 0, 0);
            int stored = this.stored;
            for (int number = 0; number < count; number++) {
                int guard = side + 1 + 2 * words[side];
                int list = guard + 1 + words[guard];
                int register = isNullOn(words, guard);
                Object before = register < 0 ? null : registers[register];
                if (words[list] > 0 && applyGuard(words, guard + 1, list, registers)) {
                    int held = this.held;
                    int unknown = this.unknown;
                    untaken(s, words, side, site);
                    // What a side assigns is read behind the choice only if no other one comes there.
                    walk(words, list + 1, list + 1 + words[list], registers);
                    releaseTo(held, unknown);
                    emitWithoutStack(s, EVENT_UNTAKEN_END, site, 0, 0);
                    // Whether it was assigned depends on the side.
                    Arrays.fill(values, stored, this.stored, UNKNOWN);
                }
                if (register >= 0) {
                    registers[register] = before;
                }
                side = list + 1 + words[list];
            }
            emitWithoutStack(s, EVENT_REJOIN, site, 0, 0);
            return side;
        }

        // -------------------------------------------------------------- accesses

        private void access(boolean isWrite, Object object, int site) {
            if (unknown > 0 || !isReal(object)) {
                return;
            }
            Place place = place(site, object.getClass(), false);
            if (place != null && place.isWatched) {
                report(isWrite, place, object, ScissionObjects.id(s, object), OF_FIELD | ScissionSites.field(site), site);
            }
        }

        private void accessStatic(boolean isWrite, int site) {
            Place place = unknown > 0 ? null : place(site, from, true);
            if (place != null && place.isWatched) {
                ScissionAccesses.usesClass(s, null, site);
                report(isWrite, place, null, 0, OF_STATIC | ScissionSites.field(site), site);
            }
        }

        private void report(boolean isWrite, Place place, Object object, long first, long second, int site) {
            if (place.entry > 0) {
                ScissionFilters.mark(s, isWrite, object, ScissionSites.wordOfReads(place.entry),
                    ScissionSites.wordOfWrites(place.entry), first, second);
            }
            emitWithoutStack(s, isWrite ? EVENT_WOULD_WRITE : EVENT_WOULD_READ, site, first, second);
        }

        private void element(boolean isWrite, Object array, Object index, int site) {
            if (unknown == 0 && isElement(array, index)) {
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
            if (kind != CALL_STATIC && !isReal(receiver) || calls == MOST_CALLS) {
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
                return UNKNOWN;
            }
            Object[] registers = new Object[Math.max(words[0], arguments.length)];
            System.arraycopy(arguments, 0, registers, 0, arguments.length);
            int held = this.held;
            int unknown = this.unknown;
            Class<?> caller = from;
            from = type;
            calls++;
            if (words[2] != 0) {
                acquire(kind == CALL_STATIC ? type : receiver, site);
            }
            walk(words, 5, words.length, registers);
            calls--;
            from = caller;
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
                    if (unknown == 0 && isReal(receiver)) {
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
