package java.lang;

/** The native methods, which `natives.rs` of the agent implements. None of them throws. */
final class ScissionNatives {
    private ScissionNatives() {}

    /** What the agent decided, by the number of the word, {@code WORD_...} of {@link ScissionProtocol}. */
    static native long configuration(int word);

    /**
     * What a site refers to, in words separated by blanks. A field: owner, name, descriptor, and {@code static} or
     * {@code field}. A call, a block, a lock: the name of the method, {@code -} where there is none, and {@code block}
     * where a lock that is acquired begins an atomic block, {@code referenced} where the block is a method that a method
     * reference has given to other threads. Empty for other sites.
     */
    static native String target(int site);

    static native int classNumber(String name);

    /** Where the memory of the agent has the tree of a branch: how many numbers it is, and the numbers. 0 if there is none. */
    static native long treeOfBranch(int site);

    /** The same for a method, by the name of a class and a number that trees have for methods. */
    static native long treeOfMethod(String className, int method);

    /** The class of a number that trees have for methods and classes. */
    static native String classInTree(int number);

    /** What is true of the objects of a class because of its name, as bits {@code FACT_...}. */
    static native int classFacts(String name);

    /** The field in which a class of the library has the collection that it is a view of; null if it is no view. */
    static native String wrappedField(String className);

    /** Whether a class itself declares a method that accesses the contents of objects of a class of the library. */
    static native boolean redefinesContents(Class<?> type, String ofLibrary);

    /** The class and the name of a field of a library class, by the number that hooks have for it. */
    static native String libraryField(int number);

    /** The number that stands for all classes of the name that a site lies in. */
    static native int classOfSite(int site);

    static native int fieldNumber(int classNumber, String name);

    static native int threadNumber(String name, boolean isVirtual);

    /** Notes how this thread has reached a site inside its innermost blocks. */
    static native void addStack(int thread, int site, int first, int second, int third, int fourth);

    /** The address of a region of notes, by its number; 0 if there is no room for it. */
    static native long notes(int region);

    /** Makes a part of a region of notes writable, by its number there; whether that was possible. */
    static native boolean openNotes(int region, int step);

    /** Lets some time pass until the ring has room, the longer the more often the thread has waited already. It is counted. */
    static native void waitForRoom(int waits);

    /** Whether a thread runs, or will do so by itself after some time. Its class may override {@code getState}. */
    static native boolean canRun(Thread thread);

    /** What the JVM says of a thread, as bits; 0 if it says nothing. */
    static native int threadState(Thread thread);

    /** Lets one slice of a hold pass. */
    static native void slice();

    /** Lets the time between two looks of the watchdog pass. */
    static native void pauseWatchdog();

    /** The object whose monitor a thread waits to enter, or waits on; null if there is none. */
    static native Object contendedMonitor(Thread thread);

    /** Who owns the monitor of an object; null if nobody does, or a virtual thread. */
    static native Thread monitorOwner(Object object);

    /** A number for the place in the program where a thread is, with how it got there. */
    static native int currentSite(Thread thread, int number);

    /** How many milliseconds lie between two looks of the watchdog. */
    static native int lookInterval();

    /**
     * The class that the current instruction of a thread needs to be initialised; null if it needs none. A thread stays at such
     * an instruction as long as another one initialises the class.
     */
    static native String awaitedClass(Thread thread);

    /** The class of the method with that instruction. */
    static native Class<?> innermostClass(Thread thread);

    /** Whether a thread waits on an object to be notified. */
    static native boolean waitsOn(Thread thread, Object object);

    /**
     * The methods that a thread is in, innermost first, each with its class, separated by blanks. Those that are watched have
     * a {@code +} before them.
     */
    static native String calls(Thread thread);

    /** Whether what the watchdog found has been brought to the disk. */
    static native boolean isReported();

    /** See {@link ScissionFindings#soFar}. */
    static native String findingsSoFar();

    /**
     * The fields that a class declares, those that the agent added included: each name and modifiers. Null when the
     * class is not prepared yet.
     */
    static native String declaredFields(Class<?> type);
}
