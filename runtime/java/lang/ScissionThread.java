package java.lang;

/**
 * What the runtime knows of one thread. It hangs on the thread's own object, in a field that the agent
 * adds to {@link Thread}, and dies with it. Only that thread touches it, with four exceptions: the thread
 * that starts it creates it, and reads its number; the adversary looks who else is held; and the watchdog reads the epoch and
 * the locks of threads that have not moved for long. Starting and joining
 * order the first two with what the thread itself does, and the number is final; what the adversary reads is volatile,
 * or was stored before the thread was put into a concurrent set; the watchdog trusts only what it sees unchanged.
 */
final class ScissionThread {
    /** The number that events carry. */
    final int number;

    /** How many methods are under way that run code of the program again until nothing disturbs it. */
    int muted;
    /** Whether it is the thread that runs {@code main}. */
    final boolean isMain;
    /** Whether it is a thread of the JVM itself, such as the one that runs finalizers. */
    boolean isOfJvm;

    /** Which thread started it, and the epoch of that one after the start; an epoch of 0 if nobody is known to have. */
    int starter;
    long started;

    /**
     * The threads that are known to have come before it, by start and join, and the epochs before which that is so; the one
     * that starts it and the one that joins it look at them, too.
     */
    private int[] pastThreads = NO_THREADS;
    private long[] pastEpochs;
    private int past;

    /** The current epoch, shifted to where the words of variables have it. */
    long epoch;

    /** What the notes of reads are compared with: the epoch, or what no note holds while reads are not noted. */
    long readEpoch;
    /** Whether it reads without a lock now, and asks afterwards whether it may rely on what it has read. */
    boolean isOptimistic;

    /** The epoch that began with the last operation that orders it with others. */
    long stretch;

    /** The atomic blocks that are open: the epoch each began with, and its site. */
    long[] blocks = new long[16];
    /** How many atomic blocks are open. */
    int depth;
    /** How many of them have been reported. */
    int reported;
    /** How many units there were: outermost blocks, what they were cut into, and what lies between them. */
    long unit;
    /** Whether the outermost block is left out: of what lies in it only what orders threads is reported. */
    boolean isLeftOut;
    /** How often blocks were executed, by the low bits of their sites; null as long as nobody asks. */
    int[] executed;
    /** The branches whose sides have not met again; null if there were none. */
    ScissionSides.Choices choices;
    /** The number of the lock whose acquisition began the outermost block; 0 if it began otherwise. */
    long regionLock;

    /** The locks that are held, outermost first. */
    Object[] locks = new Object[8];
    /** Their numbers; a read lock has the number of its owner, complemented. */
    long[] lockIds = new long[8];
    /** How often each is held. */
    int[] holds = new int[8];
    /** Where each was acquired. */
    int[] lockSites = new int[8];
    /** How many locks are held. */
    int held;

    /** The numbers of the locks of synchronized methods that are running, innermost last, 0 if that is not known. */
    long[] methodLocks = new long[8];
    /** The sites of their beginnings. */
    int[] methodSites = new int[8];
    int methods;

    /** The object whose monitor is about to be entered, and its number. */
    Object prepared;
    long preparedId;

    /** The number of the lock that is given up to wait, 0 when the thread does not wait. */
    long waiting;
    int waitingSite;

    /** The tasks that this thread runs, innermost last; complemented for lambdas, 0 if not submitted. */
    long[] tasks = new long[4];
    /** The sites of their beginnings. */
    int[] taskSites = new int[4];
    /** How many atomic blocks were open when they began; complemented if the program itself made the call. */
    int[] taskDepths = new int[4];
    int running;
    /** The blocks that are suspended while they run; null if none are. */
    ScissionBlocks.Suspended[] suspended = new ScissionBlocks.Suspended[4];
    /** Whether the program itself is about to call what may be the body of a task; and whether it does so in a loop. */
    boolean callsTask;
    boolean callsTasks;
    /** The only call that the task makes which has just begun; 0 if that is not known. */
    int forwardingCall;
    /** The task that this thread submitted last. */
    long submitted;

    /** How many parallel streams this thread works off; one that ended with an exception counts on. */
    int parallelStreams;

    /** The futures that the next result will stand for. */
    Object[] gathered;

    /** The site of the read that is about to happen, and the word of its volatile variable; 0 if there is none. */
    int readSite;
    long readWord;
    /** The site of the write that is under way, the object of its volatile variable and where its word is; 0 if none is. */
    int writeSite;
    Object writtenObject;
    long writtenWord;

    /** How many tickets had been drawn before the call that is reported; less, if that is not known. */
    long since;
    /** The site of the call whose key is known, and the number of the key. */
    int keySite;
    long key;

    /** Classes whose initialisation this thread has seen, by number, one bit each. */
    long[] seenClasses = new long[4];

    /** What is known of the arrays whose elements were accessed last, by site; it does not keep them alive. */
    ScissionObjects.Entry[] arrays = NO_ARRAYS;

    /** What is known of the class of the object that was last asked for its number. */
    ScissionShapes.Shape lastShape;

    /** What is known of classes whose objects it used not long ago, by hash. */
    ScissionShapes.Shape[] shapes = ScissionShapes.NONE_REMEMBERED;

    /** Where the library object has its words whose contents were accessed last. */
    ScissionContents.Layout lastLayout = ScissionContents.none();

    /** Where this thread notes its reads of shared variables, and which region that is. */
    long notes = ScissionConfiguration.NO_NOTES;
    int region;

    /** Which variables without notes were read last: object, field, the write that was seen, epoch. */
    long[] readCache;

    /** How order inside library code counts, innermost in the low bits. */
    long orderModes;
    /** Whether it has come to a fence after which others may see what it did before. */
    boolean hasFenced;
    /** The place whose acquisition was withheld last. */
    long withheld;
    /** The monitors of the synchronized methods of library code that are running, innermost last. */
    Object[] monitors = NO_MONITORS;
    int libraryMonitors;
    /** What words of places held when this thread acquired from them, by place, mixed with the place. */
    private long[] acquired = NONE_ACQUIRED;

    private static final Object[] NO_MONITORS = new Object[0];
    private static final ScissionObjects.Entry[] NO_ARRAYS = new ScissionObjects.Entry[1];
    private static final long[] NONE_ACQUIRED = new long[1];
    private static final int[] NO_THREADS = new int[0];
    /** How many threads are known at most to have come before one; of others it is not known, and nothing is lost. */
    private static final int MOST_PAST = 32;
    /** How many words a thread remembers at most. */
    private static final int MOST_ACQUIRED = 1 << 14;

    // The next is for the watchdog, and written by its thread alone.

    /** The thread itself; also for the adversary. */
    java.lang.ref.WeakReference<Thread> thread;
    /** Where the list of threads has it. */
    int listed = -1;
    /** What is known of it as long as it does not move; null if it moved since the last look. */
    ScissionWatchdog.Stuck stuck;
    /** In how many looks, one after the other, it ran without having moved. */
    int runningLooks;
    /** The last look of the watchdog that found that it had moved, if it is a daemon that may do so while the program hangs. */
    int movedLook;
    /** The epoch in which it was seen last. */
    long seenEpoch;

    // The rest is for the adversary, and only there when it is at work.

    /** The state of its generator of random numbers. */
    long random;
    /** The last call that it was about to make, by site. */
    int lastCall;
    /** When it was held back, among all holds; 0 when it is not. Other threads read it. */
    volatile long heldSince;

    ScissionThread(int number, boolean isMain) {
        this.number = number;
        this.isMain = isMain;
    }

    /** Whether what a word holds was done by a thread of the past, before it became past. */
    boolean follows(long word, int owner) {
        for (int i = 0; i < past; i++) {
            if (pastThreads[i] == owner) {
                return word << 1 >>> 1 < pastEpochs[i] && !ScissionEpochs.hasRepeated;
            }
        }
        return false;
    }

    /** What another thread did before this epoch of it, and what that one follows, is past. */
    void follow(ScissionThread other, long epoch) {
        for (int i = 0; i < other.past; i++) {
            follow(other.pastThreads[i], other.pastEpochs[i]);
        }
        follow(other.number, epoch);
    }

    private void follow(int thread, long epoch) {
        int i = 0;
        while (i < past && pastThreads[i] != thread) {
            i++;
        }
        if (i < past) {
            pastEpochs[i] = Math.max(pastEpochs[i], epoch);
        } else if (i < MOST_PAST && thread != number) {
            if (i == pastThreads.length) {
                pastThreads = i == 0 ? new int[4] : java.util.Arrays.copyOf(pastThreads, i * 2);
                pastEpochs = i == 0 ? new long[4] : java.util.Arrays.copyOf(pastEpochs, i * 2);
            }
            pastThreads[i] = thread;
            pastEpochs[i] = epoch;
            past++;
        }
    }

    /** Whether the thread has acquired from a place since its word got this value. */
    boolean hasAcquired(long key, long word) {
        long[] known = acquired;
        return known[(int) key & known.length - 1] == (word ^ key * 0x9e3779b97f4a7c15L);
    }

    /** The thread acquires from a place. */
    void acquired(long key, long word) {
        long[] known = acquired;
        int at = (int) key & known.length - 1;
        if (known.length == 1 || known[at] != 0 && known.length < MOST_ACQUIRED) {
            // Few threads acquire from many places: a table of some hundred bytes for every thread would be too much.
            acquired = known = known.length == 1 ? new long[16] : new long[known.length * 4];
            at = (int) key & known.length - 1;
        }
        known[at] = word ^ key * 0x9e3779b97f4a7c15L;
    }

    /** The thread has all that was released to a place, if the word there is this one. Notes it if there is room. */
    void ownsReleased(long key, long word) {
        long[] known = acquired;
        if (known.length > 1) {
            known[(int) key & known.length - 1] = word ^ key * 0x9e3779b97f4a7c15L;
        }
    }

    /** Whether the thread has seen the initialisation of a class. */
    boolean sees(int classNumber) {
        long[] seen = seenClasses;
        int index = classNumber >>> 6;
        return index < seen.length && (seen[index] & 1L << classNumber) != 0;
    }

    /** The thread has seen the initialisation of a class. */
    void see(int classNumber) {
        int index = classNumber >>> 6;
        if (index >= seenClasses.length) {
            seenClasses = java.util.Arrays.copyOf(seenClasses, index + (index >>> 1) + 1);
        }
        seenClasses[index] |= 1L << classNumber;
    }
}
