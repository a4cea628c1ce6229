package java.lang;

import static java.lang.ScissionNatives.configuration;
import static java.lang.ScissionProtocol.*;

/** What the agent decided, constant for the run: compiled code has the values in it. */
final class ScissionConfiguration {
    /** Whether events go anywhere. */
    static final boolean EMITS = configuration(WORD_EMITS) != 0;
    static final boolean OWNERSHIP = configuration(WORD_OWNERSHIP_FILTER) != 0;
    static final boolean EPOCHS = configuration(WORD_EPOCH_FILTER) != 0;
    /** Whether a checker looks at every access to variables that several threads use, once they have been written. */
    static final boolean LOCKSETS = configuration(WORD_ACCESSES) != 0;
    /** Whether it looks at the reads before that, too. */
    static final boolean READS_BEFORE_WRITES = configuration(WORD_ACCESSES) > 1;
    /** Whether blocks inside other blocks matter, and in which order conflicting accesses came. */
    static final boolean NESTED_BLOCKS = configuration(WORD_NESTED_BLOCKS) != 0;
    /** Whether blocks that are executed very often are left out now and then: where only matters what blocks do. */
    static final boolean LEAVES_OUT = OWNERSHIP && LOCKSETS && !READS_BEFORE_WRITES && !NESTED_BLOCKS;
    /** Whether an access need not be reported that comes after others by starts and joins of threads alone. */
    static final boolean KNOWS_PAST = OWNERSHIP && !LOCKSETS;
    /** Whether reads of volatile variables are noted; each of them matters to checkers that look at locks. */
    static final boolean VOLATILE_NOTES = EPOCHS && OWNERSHIP && !LOCKSETS;

    /** The region of notes of a thread that has none yet; reads of it find nothing. */
    static final long NO_NOTES = configuration(WORD_NO_NOTES);

    private ScissionConfiguration() {}
}
