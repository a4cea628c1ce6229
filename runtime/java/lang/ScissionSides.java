package java.lang;

import static java.lang.ScissionEvents.emitWithoutStack;
import static java.lang.ScissionProtocol.*;
import static java.lang.ScissionTrees.*;

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
 * <p>Sides that cannot be taken are dropped and counted: those of branches that decide by constants and final fields
 * alone, which go the same way whenever the objects are the same, and those whose guards do not hold for the objects
 * of the moment. Where branches of a frame decide by the same condition, the sides say what it is there: one
 * number stands for the condition as long as its value cannot have changed, so that checkers do not put sides together
 * that exclude each other.
 */
final class ScissionSides {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** How often a branch is told, and decided, until it is left alone; the code is the same each time. */
    private static final int MOST_TOLD = 1000;
    private static final int MOST_DECIDED = 1 << 16;
    /** A method is retired when it is the one that a thread enters after so many others. */
    private static final int ENTRIES = 1 << 12;

    /** How many values of a condition are told apart in one unit; two iterations of a loop stand for all. */
    private static final int MOST_ROUNDS = 2;

    /** Whether sides that cannot be taken are dropped. */
    static final boolean FEASIBLE_ONLY = ScissionNatives.configuration(WORD_ALL_BRANCHES) == 0;

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
        private int decided;

        Branch(int[] words) {
            this.words = words;
            method = words[0];
            registers = words[1];
            depth = words[2];
            iterates = words[3];
            int fields = words[4];
            if (fields >= 0 && FEASIBLE_ONLY) {
                fixedIfFinal = Arrays.copyOfRange(words, 5, 5 + fields);
            }
            int at = 5 + Math.max(fields, 0);
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
                    areFinal = ScissionPlaces.isFinal(fields[at], from);
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
    private static final Branch NONE = new Branch(new int[] {0, 0, 0, -1, -1, 0, 0, 0});

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
    static final int[] NO_TREE = {};
    /** Stands for what a class declares that was never rewritten: nobody knows. */
    static final int[] NOT_SEEN = {};

    /** The tree of a method as a class has it; {@link #NO_TREE} if the class does not declare it. */
    static int[] method(Class<?> type, int number) {
        HashMap<Integer, int[]> known = METHODS.get(type);
        synchronized (known) {
            int[] words = known.get(number);
            if (words == null) {
                long address = ScissionNatives.treeOfMethod(type.getName(), number);
                words = address == -1 ? NOT_SEEN : read(address);
                words = words == null ? NO_TREE : words;
                known.put(number, words);
            }
            return words;
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
        /** The conditions that branches of these frames decided by: numbers in the method and in events, and the unit. */
        int[] conditions = new int[16];
        int[] numbers = new int[16];
        long[] conditionUnits = new long[16];
        /** How often each had a new value in its unit, up to one more than {@link #MOST_ROUNDS}. */
        private int[] rounds = new int[16];
        int known;
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

        /** Which iteration it is of the loop that the innermost frame is in, 2 for later ones; 0 if it is in none. */
        int iteration() {
            return running > (frame > 0 ? loopFrames[frame - 1] : 0) ? iterations[running - 1] : 0;
        }

        /** The first condition of the innermost frame. */
        int firstCondition() {
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
    @DontInline
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
            choices.conditionFrames = Arrays.copyOf(choices.conditionFrames, frame * 2);
        }
        choices.keys[frame] = key(site);
        choices.frames[frame] = choices.open;
        choices.loopFrames[frame] = choices.running;
        choices.conditionFrames[frame] = choices.known;
        choices.frame = frame + 1;
    }

    /**
     * Such a method ends. Frames above its own are of methods that were retired before they ended. It may have none
     * itself: then it was retired when it began, or meanwhile, and what it left open stays so until a caller ends.
     */
    @DontInline
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
            choices.known = Math.min(choices.known, choices.conditionFrames[frame]);
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
            choices.known = Math.min(choices.known, choices.conditionFrames[choices.frame]);
        }
        return choices.frame > 0;
    }

    /** Whether a thread is on a side of a branch that was told. */
    @ForceInline
    static boolean hasOpenChoices(ScissionThread s) {
        Choices choices = s.choices;
        return choices != null && choices.open > 0;
    }

    /** The thread has come to a place where sides meet. */
    @DontInline
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
    @DontInline
    static void root(ScissionThread s, Object value, int register) {
        if (register >= 0 && register < 64) {
            Choices choices = choices(s);
            choices.roots[register] = value;
            choices.hasRoots = true;
        }
    }

    static Object number(int value) {
        return new ScissionWalk.Int(value, false);
    }

    // ------------------------------------------------------------------ branches

    /** A branch is decided: the way that it goes, and the roots in the order of their registers. */
    @DontInline
    static void decide(
            ScissionThread s, int way, int value, Class<?> from, Object first, Object second, Object third, int site) {
        Branch branch = branch(site);
        Object[] roots = s.choices == null ? null : s.choices.takeRoots();
        if (s.isLeftOut) {
            return;
        }
        boolean isSilent = branch.told >= MOST_TOLD || ++branch.decided >= MOST_DECIDED || branch == NONE;
        if (branch.decided == MOST_DECIDED && branch.told < MOST_TOLD) {
            silentBranches++;
        }
        if (isSilent && branch.condition == 0) {
            set(site, TOLD);
            return;
        }
        Choices choices = choices(s);
        if (!isInnermost(choices, branch.method)) {
            if (!isSilent) {
                bringBack(branch.method);
            }
            return;
        }
        int condition = 0;
        int round = 0;
        if (branch.condition != 0) {
            int known = choices.conditionOf(branch.condition, branch.isRenewed, s.unit);
            condition = choices.numbers[known];
            round = choices.rounds[known];
        }
        if (isSilent) {
            // It may decide by something new all the same, which other branches of the method have to know.
            return;
        }
        int taken = branch.sideOf(way, value);
        if (taken < 0) {
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
            if (condition != 0 && round <= MOST_ROUNDS) {
                restrict(s, choices, branch, taken, condition, from, site);
            }
            return;
        }
        long key = (site * 0x9e3779b97f4a7c15L + taken) * 0xbf58476d1ce4e5b9L + s.unit * 0x94d049bb133111ebL
            + System.identityHashCode(first) * 0xd6e8feb86659fd93L
            + System.identityHashCode(second) * 0xa0761d6478bd642fL
            + System.identityHashCode(third) * 0xe7037ed1a0b428dbL + Math.min(round, MOST_ROUNDS) * 0x8ebc6af09c88c6e3L
            + (branch.iterates >= 0 ? 0 : choices.iteration()) * 0x589965cc75374cc3L;
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
        ScissionEpochs.splitEpoch(s);
        emitWithoutStack(s, EVENT_CHOICE, site, 0, 0);
        boolean isLoop = branch.iterates >= 0 && taken != branch.iterates;
        for (int side = 0; side < branch.sides.length; side++) {
            if (side == taken || !branch.isVisible(side)) {
                continue;
            }
            ScissionWalk walk = new ScissionWalk(s, choices, from);
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
        ScissionEpochs.splitEpoch(s);
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
            ScissionEpochs.splitEpoch(s);
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

    static void given(ScissionThread s, int condition, boolean holds, int site) {
        emitWithoutStack(s, EVENT_GIVEN, site, condition, holds ? 1 : 0);
    }

    /** Whether the condition of a branch holds on a side of it. */
    static boolean holdsOn(int[] words, int side, boolean isNegated) {
        boolean jumps = words[side] > 0 && words[side + 1] == WAY_TAKEN;
        return jumps != isNegated;
    }

    /** A side begins that is not taken. */
    static void untaken(ScissionThread s, int[] words, int side, int site) {
        int way = words[side] == 0 ? WAY_NOT_TAKEN : words[side + 1];
        long kind = way == WAY_TAKEN ? 1 : way == WAY_CASE ? 2 : 0;
        emitWithoutStack(s, EVENT_UNTAKEN, site, kind, kind == 2 ? words[side + 2] : 0);
    }
}
