package java.lang;

import static java.lang.ScissionProtocol.*;

import java.util.Arrays;
import jdk.internal.vm.annotation.DontInline;

/**
 * The atomic blocks that are open. Their beginnings are reported with the first event inside; those of blocks inside
 * others only where somebody looks at them.
 */
final class ScissionBlocks {
    private ScissionBlocks() {}

    /** An atomic block begins. */
    static void begin(ScissionThread s, int site) {
        int depth = s.depth;
        if (depth == 0 && (s.forwardingCall != 0 || s.running == 0 && !s.isMain) && isBody(s, site)) {
            return;
        }
        if (depth == s.blocks.length) {
            moreBlocks(s);
        }
        if (depth == 0 || ScissionConfiguration.NESTED_BLOCKS && ScissionEpochs.hasThreads) {
            ScissionEpochs.splitEpoch(s);
        }
        s.blocks[depth] = s.epoch | site & SITES - 1;
        s.depth = depth + 1;
        if (depth == 0) {
            s.unit++;
            if (ScissionConfiguration.LEAVES_OUT) {
                s.isLeftOut = s.held == 0 && isLeftOut(s, site);
            }
        }
    }

    /** How often a block is executed by a thread until some executions are left out, until most are, and nearly all. */
    private static final int OFTEN = 1 << 8;
    private static final int VERY_OFTEN = 1 << 12;
    private static final int ALWAYS = 1 << 16;
    private static final int EXECUTED = 1 << 10;

    /**
     * Whether an execution of a block is left out: first seven of eight, then 63 of 64, then 1023 of 1024, in no rhythm. One
     * that is not is reported at once: what it does to its thread's own variables is reported late, when others use
     * them, and belongs to a block that is known.
     */
    @DontInline
    private static boolean isLeftOut(ScissionThread s, int site) {
        int[] executed = s.executed;
        if (executed == null) {
            s.executed = executed = new int[EXECUTED];
        }
        int count = ++executed[site & EXECUTED - 1];
        int others = count < 0 || count >= ALWAYS ? 1023 : count < VERY_OFTEN ? 7 : 63;
        boolean isLeftOut = (count < 0 || count > OFTEN) && (count * 0x9e3779b1 >>> 16 & others) != 0;
        if (isLeftOut) {
            leftOut++;
        } else if (ScissionEpochs.hasThreads) {
            ScissionEvents.reportBlocks(s);
        }
        return isLeftOut;
    }

    /** How many executions of blocks were left out; the agent reads it at the end. Threads may lose a count to each other. */
    static int leftOut;

    /** The outermost block has ended. Locks that it has left held were not reported. */
    private static void endLeavingOut(ScissionThread s, int site) {
        if (s.isLeftOut) {
            s.isLeftOut = false;
            for (int at = 0; at < s.held; at++) {
                long id = s.lockIds[at];
                ScissionEvents.emit(s, id < 0 ? EVENT_ACQUIRE_SHARED : EVENT_ACQUIRE, site, id < 0 ? ~id : id, 0);
            }
        }
    }

    /**
     * Whether what begins is the body of a task, and no block: the method that the running task does nothing but call;
     * or, where no task is known to run, one that a method reference has given to other threads.
     */
    @DontInline
    private static boolean isBody(ScissionThread s, int site) {
        int call = s.forwardingCall;
        s.forwardingCall = 0;
        ScissionEpochs.hasThreads |= s.isOfJvm;
        return call != 0 ? ScissionTasks.isCallee(call, site) : ScissionTasks.isReferenced(site);
    }

    @DontInline
    private static void moreBlocks(ScissionThread s) {
        s.blocks = Arrays.copyOf(s.blocks, s.blocks.length * 2);
    }

    /** The innermost atomic block ends. */
    static void end(ScissionThread s, int site) {
        int depth = s.depth - 1;
        int block = site & SITES - 1;
        if (depth >= s.reported && ScissionEpochs.site(s.blocks[depth]) == block) {
            s.depth = depth;
            if (depth == 0) {
                s.unit++;
                if (s.isOptimistic) {
                    ScissionEpochs.readOptimistically(s, false);
                }
                if (ScissionConfiguration.LEAVES_OUT) {
                    endLeavingOut(s, block);
                }
            }
        } else {
            endReported(s, block);
        }
    }

    /** Ends a block that was reported; and blocks inside it that an error has cut short. */
    @DontInline
    private static void endReported(ScissionThread s, int site) {
        int depth = s.depth - 1;
        while (depth >= 0 && ScissionEpochs.site(s.blocks[depth]) != site) {
            depth--;
        }
        if (depth < 0) {
            return;
        }
        endInside(s, depth);
    }

    /** Ends all blocks but the outer ones, of which there are as many as is said. */
    static void endInside(ScissionThread s, int outer) {
        if (s.depth <= outer) {
            return;
        }
        while (s.depth > outer) {
            if (s.reported == s.depth) {
                ScissionEvents.emit(s, EVENT_END, ScissionEpochs.site(s.blocks[s.depth - 1]), 0, 0);
                s.reported--;
            }
            s.depth--;
        }
        if (outer == 0) {
            s.isOptimistic = false;
            s.regionLock = 0;
            s.unit++;
            if (ScissionConfiguration.LEAVES_OUT) {
                endLeavingOut(s, ScissionEpochs.site(s.blocks[0]));
            }
        }
        ScissionEpochs.splitEpoch(s);
    }

    /** A lock is acquired where no block is open: one begins, until the lock is given back. */
    static void beginRegion(ScissionThread s, long lock, int site) {
        begin(s, site);
        s.regionLock = lock;
        if (ScissionConfiguration.LEAVES_OUT) {
            s.isLeftOut = s.depth == 1 && s.held == 1 && isLeftOut(s, site);
        }
    }

    /** A lock was given back: the block ends that its acquisition began, if it did. */
    static void endRegion(ScissionThread s, long lock) {
        if (s.regionLock != lock) {
            return;
        }
        s.regionLock = 0;
        if (s.depth > 1) {
            // Blocks inside go on without it.
            cut(s);
            s.depth--;
            System.arraycopy(s.blocks, 1, s.blocks, 0, s.depth);
        } else {
            endInside(s, 0);
        }
    }

    /** Blocks around a task, which are not open while it runs. */
    static final class Suspended {
        private final long[] blocks;
        private final long regionLock;

        private Suspended(long[] blocks, long regionLock) {
            this.blocks = blocks;
            this.regionLock = regionLock;
        }
    }

    /** A task begins in the blocks that are open: they are cut, and none of them is open until it has ended. */
    static Suspended suspend(ScissionThread s) {
        cut(s);
        Suspended suspended = new Suspended(Arrays.copyOf(s.blocks, s.depth), s.regionLock);
        s.depth = 0;
        s.regionLock = 0;
        if (ScissionConfiguration.LEAVES_OUT) {
            endLeavingOut(s, ScissionEpochs.site(suspended.blocks[0]));
        }
        return suspended;
    }

    /** The task has ended, and no block is open: those around it begin anew with the next event. */
    static void resume(ScissionThread s, Suspended suspended) {
        s.unit++;
        ScissionEpochs.beginEpoch(s);
        int depth = suspended.blocks.length;
        while (s.blocks.length < depth) {
            moreBlocks(s);
        }
        for (int at = 0; at < depth; at++) {
            s.blocks[at] = s.epoch | ScissionEpochs.site(suspended.blocks[at]);
        }
        s.depth = depth;
        s.regionLock = suspended.regionLock;
    }

    /**
     * The blocks that are open are cut: what they did so far and what they will do are different units. Those that were
     * reported end, and all begin anew with the next event, in an epoch that begins here.
     */
    @DontInline
    static void cut(ScissionThread s) {
        s.unit++;
        while (s.reported > 0) {
            ScissionEvents.endOfUnit(s, ScissionEpochs.site(s.blocks[s.reported - 1]));
            s.reported--;
        }
        ScissionEpochs.beginEpoch(s);
        for (int at = 0; at < s.depth; at++) {
            s.blocks[at] = s.epoch | ScissionEpochs.site(s.blocks[at]);
        }
    }
}
