package java.lang;


import java.util.ArrayList;
import jdk.internal.misc.Unsafe;

/**
 * What copies of objects must forget. {@code Object.clone} copies the number and the words of the original. The copy is
 * another object that nobody has used yet.
 */
final class ScissionCopies extends ClassValue<long[]> {
    private static final Unsafe U = Unsafe.getUnsafe();

    private static final ScissionCopies ADDED_FIELDS = new ScissionCopies();

    private ScissionCopies() {}

    /** Where the objects of a class have the fields that the agent added to it and to the classes above it. */
    @Override
    protected long[] computeValue(Class<?> type) {
        ArrayList<Long> found = new ArrayList<>();
        for (Class<?> declaring = type; declaring != null; declaring = declaring.getSuperclass()) {
            for (String name : ScissionShapes.of(declaring).fields.keySet()) {
                if (name.startsWith("$scission$")) {
                    found.add(U.objectFieldOffset(declaring, name));
                }
            }
        }
        long[] offsets = new long[found.size()];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = found.get(i);
        }
        return offsets;
    }

    /** A copy that was just made, which only this thread knows. */
    static void clear(Object copy) {
        for (long offset : ADDED_FIELDS.get(copy.getClass())) {
            U.putLong(copy, offset, 0);
        }
    }

    /**
     * The result of a method {@code clone}, which need not be a copy, nor a new object. Only what it has in common with
     * the original is cleared: two objects have different numbers, and a word is an epoch and a site, or the index of
     * notes of one variable. The same thread may have accessed both in one epoch at one site; to forget that of
     * the result can hide a race and cannot report a false one.
     */
    static void clearCopied(Object of, Object copy) {
        for (long offset : ADDED_FIELDS.get(copy.getClass())) {
            long word = U.getLong(copy, offset);
            if (word != 0 && word == U.getLong(of, offset)) {
                U.putLong(copy, offset, 0);
            }
        }
    }
}
