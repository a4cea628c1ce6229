package java.lang;

import static java.lang.ScissionProtocol.*;

import java.util.HashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;

/** What is known of classes. */
final class ScissionShapes extends ClassValue<ScissionShapes.Shape> {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final ScissionShapes SHAPES = new ScissionShapes();

    /** What is known of a class: its number, and where its instances have theirs. */
    static final class Shape {
        final Class<?> type;
        final int number;
        final long idOffset;
        /** The modifiers of the fields that the class declares, by name. */
        final HashMap<String, Integer> fields;
        /** Whether the class, or one above it, has a final field that code of the program declares. */
        final boolean hasFinalFields;
        /** Whether library code has accessed static fields of the class by their place in memory. */
        volatile boolean hasStaticPlaces;
        /** What is known of the contents of its objects; null until somebody asks. */
        ScissionContents.Layout contents;
        /** What is true of its objects; -1 until somebody asks. Whoever asks at the same time finds the same. */
        private int facts = -1;

        Shape(Class<?> type, int number, long idOffset, HashMap<String, Integer> fields, boolean hasFinalFields) {
            this.type = type;
            this.number = number;
            this.fields = fields;
            this.idOffset = idOffset;
            this.hasFinalFields = hasFinalFields;
        }

        /** Whether something is true of its objects, {@code FACT_...}. */
        boolean has(int fact) {
            int known = facts;
            if (known == -1) {
                facts = known = factsOf(type);
            }
            return (known & fact) != 0;
        }
    }

    private ScissionShapes() {}

    /** How many classes a thread remembers. */
    private static final int REMEMBERED = 64;
    static final Shape[] NONE_REMEMBERED = new Shape[1];

    /** What is known of a class. */
    static Shape of(Class<?> type) {
        ScissionThread s = Thread.currentThread().$scission;
        if (s == null) {
            return SHAPES.get(type);
        }
        Shape[] shapes = s.shapes;
        Shape shape = shapes[System.identityHashCode(type) & shapes.length - 1];
        return shape != null && shape.type == type ? shape : lookUp(s, type);
    }

    @DontInline
    private static Shape lookUp(ScissionThread s, Class<?> type) {
        Shape shape = quietly(s, type);
        if (s.shapes == NONE_REMEMBERED) {
            s.shapes = new Shape[REMEMBERED];
        }
        return s.shapes[System.identityHashCode(type) & REMEMBERED - 1] = shape;
    }

    private static Shape quietly(ScissionThread s, Class<?> type) {
        // The table rests on classes of the library, whose order is not the program's.
        ScissionOrder.enterMode(s, ORDER_QUIET);
        try {
            return SHAPES.get(type);
        } finally {
            ScissionOrder.leaveMode(s);
        }
    }

    @Override
    protected Shape computeValue(Class<?> type) {
        HashMap<String, Integer> fields = new HashMap<>();
        String declared = ScissionNatives.declaredFields(type);
        if (declared == null) {
            link(type);
            declared = ScissionNatives.declaredFields(type);
        }
        String[] words = declared == null ? new String[0] : declared.split(" ");
        for (int i = 0; i + 1 < words.length; i += 2) {
            fields.put(words[i], Integer.valueOf(words[i + 1]));
        }
        long offset = 0;
        if (fields.containsKey("$scission$id")) {
            offset = U.objectFieldOffset(type, "$scission$id");
        } else if (type.getSuperclass() != null) {
            offset = get(type.getSuperclass()).idOffset;
        }
        // The fields of lambdas, which are hidden classes, are final only in this implementation.
        boolean hasFinalFields = false;
        if (type.getClassLoader0() != null && !type.isSynthetic()) {
            for (int modifiers : fields.values()) {
                hasFinalFields |= (modifiers & 0x18) == 0x10;
            }
            hasFinalFields |= type.getSuperclass() != null && get(type.getSuperclass()).hasFinalFields;
        }
        int number = ScissionNatives.classNumber(type.getName());
        return new Shape(type, number, offset, fields, hasFinalFields);
    }

    /**
     * Links a class whose first use is still to come, so that it tells its fields. Asking for its
     * constructors does that without initialising it; of an interface nobody asks the virtual machine for
     * constructors, but for methods. What goes wrong will go wrong again at the use.
     */
    private static void link(Class<?> type) {
        try {
            if (type.isInterface()) {
                type.getDeclaredMethods();
            } else {
                type.getDeclaredConstructors();
            }
        } catch (LinkageError | RuntimeException ignored) {
            // Said where the program uses the class.
        }
    }

    /**
     * What is true of the objects of a class, as bits. That they are locks, streams and threads that work off
     * streams follows from any supertype. Whether they hold their elements themselves is known of a class alone, since a
     * subclass may override anything. Whether others must order their calls, or they are concurrent collections, is known
     * of classes of the library, and of those that extend one.
     */
    private static int factsOf(Class<?> type) {
        int own = ScissionNatives.classFacts(type.getName());
        int facts = own & FACT_HOLDS_ELEMENTS | inherited(type);
        Class<?> ofLibrary = type;
        while (ofLibrary != null && ofLibrary.getClassLoader() != null) {
            ofLibrary = ofLibrary.getSuperclass();
        }
        if (ofLibrary != null) {
            facts |= ScissionNatives.classFacts(ofLibrary.getName()) & (FACT_UNORDERED | FACT_CONCURRENT);
        }
        return facts;
    }

    private static int inherited(Class<?> type) {
        int facts = ScissionNatives.classFacts(type.getName())
            & (FACT_LOCK | FACT_SHARED_LOCK | FACT_STREAM | FACT_STREAM_WORKER);
        for (Class<?> above : type.getInterfaces()) {
            facts |= inherited(above);
        }
        return type.getSuperclass() == null ? facts : facts | inherited(type.getSuperclass());
    }
}
