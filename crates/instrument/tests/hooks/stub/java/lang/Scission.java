package java.lang;

/** A runtime that only says which hooks are called: thread, hook, objects, and last the site. */
public final class Scission {
    private static final boolean QUIET = Boolean.getBoolean("scission.quiet");

    private Scission() { }

    private static void say(String hook, Object... operands) {
        if (QUIET) {
            return;
        }
        StringBuilder line = new StringBuilder("#\t").append(Thread.currentThread().getName());
        line.append('\t').append(hook);
        for (Object operand : operands) {
            line.append('\t').append(name(operand));
        }
        synchronized (System.err) {
            System.err.println(line);
        }
    }

    private static String name(Object operand) {
        if (operand == null) {
            return "null";
        }
        if (operand instanceof Integer) {
            return operand.toString();
        }
        if (operand instanceof Class<?> named) {
            return "class:" + named.getName();
        }
        String name = operand.getClass().getName();
        int lambda = name.indexOf("$$Lambda");
        return lambda >= 0 ? name.substring(0, lambda) + ":lambda" : name;
    }

    public static void read(Object object, int site) { say("read", object, site); }
    public static void write(Object object, int site) { say("write", object, site); }
    public static void readStatic(Class<?> owner, int site) { say("readStatic", owner, site); }
    public static void writeStatic(Class<?> owner, int site) { say("writeStatic", owner, site); }
    public static void readStatic(int site) { say("readStatic", site); }
    public static void writeStatic(int site) { say("writeStatic", site); }
    public static void readElement(Object array, int index, int site) { say("readElement", array, index, site); }
    public static void writeElement(Object array, int index, int site) { say("writeElement", array, index, site); }
    public static void prepare(Object object) { say("prepare", object, 0); }
    public static void entered(int site) { say("entered", site); }
    public static void exit(Object object, int site) { say("exit", object, site); }
    public static void enterMethod(Object object, int site) { say("enterMethod", object, site); }
    public static void enterMethod(int site) { say("enterMethod", site); }
    public static void leaveMethod(int site) { say("leaveMethod", site); }
    public static void begin(int site) { say("begin", site); }
    public static void end(int site) { say("end", site); }
    public static void taskBegin(Object task, int site) { say("taskBegin", task, site); }
    public static void taskEnd(int site) { say("taskEnd", site); }
    public static void lambdaBegin(int key, int site) { say("lambdaBegin", site); }
    public static void lambda(Object object, int key, int site) { say("lambda", object, site); }
    public static void initialised(Class<?> type, int site) { say("initialised", site); }
    public static void call(Object operand, int op, int site) { say("call", operand, op, site); }
    public static void callIf(int result, Object operand, int op, int site) {
        if (result != 0) { say("callIf", operand, op, site); }
    }
    public static void callIfNot(int result, Object operand, int op, int site) {
        if (result == 0) { say("callIfNot", operand, op, site); }
    }
    public static void callIfSome(Object result, Object operand, int op, int site) {
        if (result != null) { say("callIfSome", operand, op, site); }
    }
    public static void alias(Object face, Object of, int site) { say("alias", face, of, site); }
    public static void approach(Object object, int site) { say("approach", object, site); }
    public static void approachStatic(int site) { say("approachStatic", site); }
    public static void approachCall(int site) { say("approachCall", site); }
    public static void branch(int operand, int opcode, int site) { say("branch", operand, opcode, site); }
    public static void branch(Object operand, int opcode, int site) { say("branch", operand, opcode, site); }
    public static void branch(int first, int second, int opcode, int site) { say("branch", first, second, opcode, site); }
    public static void branch(Object first, Object second, int opcode, int site) { say("branch", first, second, opcode, site); }
}
