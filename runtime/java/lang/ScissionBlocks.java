package java.lang;

import static java.lang.ScissionProtocol.*;

import java.util.Arrays;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/** The atomic blocks that are open. Their beginnings are reported with the first event inside. */
final class ScissionBlocks {
    private ScissionBlocks() {}

    /** An atomic block begins. */
    @ForceInline
    static void begin(ScissionThread s, int site) {
        int depth = s.depth;
        if (depth == s.blocks.length) {
            moreBlocks(s);
        }
        if (ScissionEpochs.hasThreads || depth == 0) {
            ScissionEpochs.beginEpoch(s);
        }
        s.blocks[depth] = s.epoch | site & SITES - 1;
        s.depth = depth + 1;
    }

    @DontInline
    private static void moreBlocks(ScissionThread s) {
        s.blocks = Arrays.copyOf(s.blocks, s.blocks.length * 2);
    }

    /** The innermost atomic block ends. */
    @ForceInline
    static void end(ScissionThread s, int site) {
        int depth = s.depth - 1;
        int block = site & SITES - 1;
        if (depth >= s.reported && ScissionEpochs.site(s.blocks[depth]) == block) {
            s.depth = depth;
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
        while (s.depth > depth) {
            if (s.reported == s.depth) {
                ScissionEvents.emit(s, EVENT_END, ScissionEpochs.site(s.blocks[s.depth - 1]), 0, 0);
                s.reported--;
            }
            s.depth--;
        }
        ScissionEpochs.beginEpoch(s);
    }

    /**
     * The blocks that are open are cut: what they did so far and what they will do are different units. Those that were
     * reported end, and all begin anew with the next event, in an epoch that begins here.
     */
    @DontInline
    static void cut(ScissionThread s) {
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
