package java.lang;

import static java.lang.ScissionEpochs.beginEpoch;
import static java.lang.ScissionEvents.emit;
import static java.lang.ScissionProtocol.*;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/** Tasks, the stages of futures, and the callbacks of streams. */
final class ScissionTasks {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The site number that stands for the body of a lambda, by the class of the lambda. */
    private static final ClassValue<long[]> LAMBDA_BODY = new LambdaBodies();

    private static final class LambdaBodies extends ClassValue<long[]> {
        @Override
        protected long[] computeValue(Class<?> type) {
            return new long[1];
        }
    }

    /** The numbers of the tasks that lambda bodies stand for, by the site of the body. */
    private static final ConcurrentHashMap<Integer, Long> BODY_TASKS = new ConcurrentHashMap<>();

    /**
     * The executor that a task was last submitted to: whoever waits for it waits for its tasks. {@link #NO_EXECUTOR} if it was
     * submitted otherwise.
     */
    private static final ConcurrentHashMap<Long, Long> EXECUTORS = new ConcurrentHashMap<>();
    private static final long NO_EXECUTOR = 0;

    /** The tasks, and the executors, that users describe: what is done to them is order, whatever their code shows. */
    private static final ConcurrentHashMap<Long, Boolean> MODELLED = new ConcurrentHashMap<>();
    /** Whether blocks are what calls name, by the sites of call and block; 0 for the call that a method reference makes. */
    private static final ConcurrentHashMap<Long, Boolean> CALLEES = new ConcurrentHashMap<>();

    /** The stages that end before a task begins, by the task. */
    private static final ConcurrentHashMap<Long, long[]> STAGES = new ConcurrentHashMap<>();

    /** The futures that a future stands for. */
    private static final ConcurrentHashMap<Long, long[]> PARTS = new ConcurrentHashMap<>();

    /** Stages of one task, or parts of one future, that are remembered; the oldest is forgotten first. */
    private static final int MOST_STAGES = 64;

    /** How deep futures that stand for futures are followed. */
    private static final int MOST_DEPTH = 4;

    /** What whoever works off a parallel stream publishes to, and what its callbacks do. */
    private static final Object STREAMS_BEGUN = new Object();
    private static final Object STREAMS_DONE = new Object();
    /** The number that callbacks of streams have as tasks. */
    private static final long OF_STREAM = Long.MAX_VALUE;

    private ScissionTasks() {}

    /** A lambda was made: all lambdas of its class have the same body. */
    @DontInline
    static void newLambda(Object lambda, int body, int site) {
        if (lambda != null) {
            LAMBDA_BODY.get(lambda.getClass())[0] = body;
            ScissionSites.setDone(site);
        }
    }

    /**
     * The body of a lambda, 0 if the object is none or its body is not known. This thread may have seen only the entry of
     * the site that made the lambda.
     */
    private static int bodyOf(Object lambda) {
        if (!lambda.getClass().isSynthetic()) {
            return 0;
        }
        U.loadFence();
        return (int) LAMBDA_BODY.get(lambda.getClass())[0];
    }

    /** The number of a task: its own, or that of its body if it is a lambda. */
    static long taskId(ScissionThread s, Object task) {
        int body = bodyOf(task);
        if (body == 0) {
            return ScissionObjects.id(s, task);
        }
        Long known = BODY_TASKS.get(body);
        if (known == null) {
            long fresh = ScissionObjects.id(s, task);
            Long raced = BODY_TASKS.putIfAbsent(body, fresh);
            known = raced == null ? Long.valueOf(fresh) : raced;
        }
        return known;
    }

    // ------------------------------------------------------------------ the life of a task

    static void submit(ScissionThread s, Object task, int site) {
        s.submitted = taskId(s, task);
        EXECUTORS.putIfAbsent(s.submitted, NO_EXECUTOR);
        emit(s, EVENT_SUBMIT, site, s.submitted, 0);
        beginEpoch(s);
    }

    /** A task is handed over as a user describes it. */
    static void submitModelled(ScissionThread s, Object task, int site) {
        long id = taskId(s, task);
        MODELLED.put(id, true);
        emit(s, EVENT_PUBLISH, site, id, 0);
        submit(s, task, site);
    }

    /** What was submitted last went to this executor. */
    static void submittedTo(ScissionThread s, Object executor) {
        if (s.submitted != 0) {
            long id = ScissionObjects.id(s, executor);
            EXECUTORS.put(s.submitted, id);
            if (MODELLED.containsKey(s.submitted)) {
                MODELLED.put(id, true);
            }
        }
    }

    /** What was submitted last begins only after this stage. */
    static void submittedAfter(ScissionThread s, Object stage) {
        if (s.submitted != 0) {
            remember(STAGES, s.submitted, ScissionObjects.id(s, stage));
        }
    }

    /** The body of a task begins. */
    static void begin(ScissionThread s, Object task, int site) {
        push(s, task == null ? 0 : ScissionObjects.idIfAny(task), site);
    }

    /** The body of a lambda begins. */
    static void beginLambda(ScissionThread s, int body, int site) {
        Long id = BODY_TASKS.isEmpty() ? null : BODY_TASKS.get(body);
        if (id == null || id != OF_STREAM) {
            push(s, id == null ? 0 : ~id, site);
            return;
        }
        push(s, 0, site);
        if (s.parallelStreams > 0) {
            ScissionBlocks.cut(s);
        }
        // The thread that works off a stream knows itself what it does in between.
        if (ScissionShapes.of(Thread.currentThread().getClass()).has(FACT_STREAM_WORKER)) {
            s.tasks[s.running - 1] = OF_STREAM;
            if (!ScissionOrder.isOn) {
                ScissionCalls.receive(s, EVENT_RECEIVE, STREAMS_BEGUN, site);
            }
        }
    }

    private static void push(ScissionThread s, long id, int site) {
        int index = s.running;
        if (index == s.tasks.length) {
            int[] sites = Arrays.copyOf(s.taskSites, index * 2);
            int[] depths = Arrays.copyOf(s.taskDepths, index * 2);
            ScissionBlocks.Suspended[] suspended = Arrays.copyOf(s.suspended, index * 2);
            s.tasks = Arrays.copyOf(s.tasks, index * 2);
            s.taskSites = sites;
            s.taskDepths = depths;
            s.suspended = suspended;
        }
        s.suspended[index] = s.depth > 0 && isApart(s, id) ? ScissionBlocks.suspend(s) : null;
        s.tasks[index] = id;
        s.taskSites[index] = site;
        s.taskDepths[index] = s.callsTask ? ~s.depth : s.depth;
        s.callsTask = false;
        s.callsTasks = false;
        s.running = index + 1;
        if (id != 0) {
            long task = id < 0 ? ~id : id;
            beginEpoch(s);
            long[] stages = STAGES.isEmpty() ? null : STAGES.get(task);
            if (stages != null) {
                for (long stage : stages) {
                    joinStage(s, stage, MOST_DEPTH, site);
                }
            }
            if (!MODELLED.isEmpty() && MODELLED.containsKey(task)) {
                emit(s, EVENT_RECEIVE, site, task, 0);
            }
            emit(s, EVENT_TASK_BEGIN, site, task, 0);
        }
    }

    /**
     * Whether the blocks around a task that begins are not around what it does: somebody has submitted it, so that it may
     * have been run by any thread at any time; or it is called in a loop that holds no lock, as the workers of a pool call
     * one task after the other. What else is called in the middle of a block is a part of it.
     */
    private static boolean isApart(ScissionThread s, long id) {
        return s.callsTasks && s.held == 0 || id != 0 && EXECUTORS.containsKey(id < 0 ? ~id : id);
    }

    /** The task that began at this site ends, and those inside it that an error has cut short. */
    static void end(ScissionThread s, int site) {
        int index = s.running - 1;
        while (index >= 0 && s.taskSites[index] != site) {
            index--;
        }
        s.callsTask = false;
        s.callsTasks = false;
        s.forwardingCall = 0;
        while (index >= 0 && s.running > index) {
            int last = s.running - 1;
            int depth = s.taskDepths[last];
            // A lock may be given back by another thread, or never.
            ScissionBlocks.endInside(s, depth < 0 ? ~depth : depth);
            s.running = last;
            ended(s, s.tasks[last], site);
            ScissionBlocks.Suspended suspended = s.suspended[last];
            if (suspended != null) {
                s.suspended[last] = null;
                ScissionBlocks.resume(s, suspended);
            }
        }
    }

    /** Whether the innermost task was called by a thread, an executor or other code of the library. */
    static boolean isBody(ScissionThread s) {
        return s.running > 0 && s.taskDepths[s.running - 1] >= 0;
    }

    /** Whether a block is the method that a call names. The call is known by its site, and so is the block. */
    static boolean isCallee(int call, int block) {
        long key = (long) call << 32 | block;
        Boolean known = CALLEES.get(key);
        if (known == null) {
            String[] name = ScissionNatives.target(call).split(" ");
            known = name[0].equals(ScissionNatives.target(block).split(" ")[0]);
            CALLEES.put(key, known);
        }
        return known;
    }

    /** Whether a method reference to the method of a block was made, which other threads may run. */
    static boolean isReferenced(int block) {
        if (!ScissionSites.isSite(block)) {
            return false;
        }
        // A class that is loaded later may refer to it, so that only what is true is remembered.
        long key = block;
        boolean known = CALLEES.containsKey(key);
        if (!known && ScissionNatives.target(block).endsWith(" referenced")) {
            CALLEES.put(key, true);
            known = true;
        }
        return known;
    }

    private static void ended(ScissionThread s, long id, int site) {
        if (id == 0) {
            return;
        }
        if (id == OF_STREAM) {
            if (!ScissionOrder.isOn) {
                ScissionCalls.publish(s, EVENT_PUBLISH, STREAMS_DONE, site);
            }
            return;
        }
        // Bodies of lambdas are tasks again and again; other tasks rarely are.
        Long executor = id < 0 ? EXECUTORS.get(~id) : EXECUTORS.remove(id);
        emit(s, EVENT_TASK_END, site, id < 0 ? ~id : id, 0);
        if (executor != null && executor != NO_EXECUTOR) {
            emit(s, EVENT_TASK_END, site, executor, 0);
            if (MODELLED.containsKey(executor)) {
                emit(s, EVENT_PUBLISH, site, executor, 0);
            }
        }
        beginEpoch(s);
    }

    /** Tasks have ended. */
    static void join(ScissionThread s, Object[] tasks, int site) {
        beginEpoch(s);
        for (Object task : tasks) {
            long joined = taskId(s, task);
            emit(s, EVENT_TASK_JOIN, site, joined, 0);
            joinParts(s, joined, MOST_DEPTH, site);
        }
    }

    // ------------------------------------------------------------------ stages

    /** Adds a number to those that are known for another. */
    private static synchronized void remember(ConcurrentHashMap<Long, long[]> known, long of, long number) {
        long[] before = known.get(of);
        if (before == null) {
            before = new long[0];
        }
        for (long one : before) {
            if (one == number) {
                return;
            }
        }
        int from = before.length < MOST_STAGES ? 0 : 1;
        long[] all = Arrays.copyOfRange(before, from, before.length + 1);
        all[all.length - 1] = number;
        known.put(of, all);
    }

    /** A stage has ended, by its task or by hand; so has everything that it stands for. */
    private static void joinStage(ScissionThread s, long stage, int depth, int site) {
        emit(s, EVENT_TASK_JOIN, site, stage, 0);
        emit(s, EVENT_RECEIVE, site, stage, 0);
        joinParts(s, stage, depth, site);
    }

    private static void joinParts(ScissionThread s, long stage, int depth, int site) {
        long[] parts = depth == 0 || PARTS.isEmpty() ? null : PARTS.get(stage);
        if (parts != null) {
            for (long part : parts) {
                joinStage(s, part, depth - 1, site);
            }
        }
    }

    /** The result of a call stands for the futures that were gathered before it. */
    static void gathered(ScissionThread s, Object all) {
        Object[] parts = s.gathered;
        s.gathered = null;
        if (parts != null) {
            long id = ScissionObjects.id(s, all);
            for (Object part : parts) {
                remember(PARTS, id, taskId(s, part));
            }
        }
    }

    // ------------------------------------------------------------------ streams

    /** Notes that a body is one of a callback of a stream. */
    static void streamStep(Object callback) {
        int body = bodyOf(callback);
        if (body != 0) {
            BODY_TASKS.putIfAbsent(body, OF_STREAM);
        }
    }

    /** A stream is about to be worked off. */
    static void streamBegin(ScissionThread s, Object stream, int site) {
        if (isParallel(stream)) {
            if (!ScissionOrder.isOn) {
                ScissionCalls.publish(s, EVENT_PUBLISH, STREAMS_BEGUN, site);
            }
            // Whoever works off a parallel stream waits for those that help, and is one of them meanwhile.
            ScissionBlocks.cut(s);
            s.parallelStreams++;
        }
    }

    /** A stream has been worked off. */
    static void streamEnd(ScissionThread s, Object stream, int site) {
        if (isParallel(stream)) {
            s.parallelStreams = Math.max(0, s.parallelStreams - 1);
            ScissionBlocks.cut(s);
            if (!ScissionOrder.isOn) {
                ScissionCalls.receive(s, EVENT_RECEIVE, STREAMS_DONE, site);
            }
        }
    }

    /** Whether a stream of the library is parallel; what a class of the program says is not asked. */
    private static boolean isParallel(Object stream) {
        return stream.getClass().getClassLoader() == null
            && ScissionShapes.of(stream.getClass()).has(FACT_STREAM)
            && ((java.util.stream.BaseStream<?, ?>) stream).isParallel();
    }
}
