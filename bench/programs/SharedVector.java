package programs;

/**
 * A vector of the kind that Java had at first: each method has a lock of its own, and what needs two of them, or another
 * vector, is not atomic. One thread uses two vectors, of which another fills and empties the second in its own turns:
 * it is always empty when the first thread looks, so that no loop over it is entered.
 */
public final class SharedVector {
    public static void main(String[] arguments) throws InterruptedException {
        int times = Measurement.size(arguments, 10);
        OldVector own = new OldVector();
        own.add("north");
        own.add("south");
        OldVector other = new OldVector();
        long[] sums = new long[1];
        Measurement measurement = Measurement.begin();
        Alternation.run(times, () -> sums[0] = Measurement.mix(sums[0], use(own, other)), () -> {
            other.add("east");
            other.add("west");
            other.remove("east");
            other.clear();
        });
        measurement.end(sums[0]);
    }

    private static int use(OldVector own, OldVector other) {
        int sum = own.addAll(other) ? 1 : 0;
        sum = 2 * sum + (own.containsAll(other) ? 1 : 0);
        sum = 2 * sum + (own.removeAll(other) ? 1 : 0);
        sum = 2 * sum + (own.sameAs(other) ? 1 : 0);
        sum = 2 * sum + (other.firstOrNull() == null ? 1 : 0);
        sum = 2 * sum + other.lastIndexOf("west");
        sum = 2 * sum + OldVector.copyOf(other).size();
        return 2 * sum + (own.addIfAbsent("south") ? 1 : 0);
    }

    /** Elements in their order, in an array that grows. */
    static class OldVector {
        private Object[] elements = new Object[4];
        private int count;

        synchronized int size() {
            return count;
        }

        synchronized boolean isEmpty() {
            return count == 0;
        }

        synchronized Object elementAt(int index) {
            if (index >= count) {
                throw new ArrayIndexOutOfBoundsException(index + " of " + count);
            }
            return elements[index];
        }

        synchronized void add(Object element) {
            makeRoom(count + 1);
            elements[count++] = element;
        }

        private void makeRoom(int wanted) {
            if (wanted > elements.length) {
                Object[] larger = new Object[Math.max(wanted, 2 * elements.length)];
                System.arraycopy(elements, 0, larger, 0, count);
                elements = larger;
            }
        }

        synchronized boolean remove(Object element) {
            int index = indexOf(element);
            if (index < 0) {
                return false;
            }
            removeAt(index);
            return true;
        }

        synchronized Object removeAt(int index) {
            Object removed = elementAt(index);
            System.arraycopy(elements, index + 1, elements, index, count - index - 1);
            elements[--count] = null;
            return removed;
        }

        synchronized void clear() {
            while (count > 0) {
                elements[--count] = null;
            }
        }

        synchronized int indexOf(Object element) {
            for (int index = 0; index < count; index++) {
                if (elements[index].equals(element)) {
                    return index;
                }
            }
            return -1;
        }

        synchronized boolean contains(Object element) {
            return indexOf(element) >= 0;
        }

        /** The length is read without the lock: it may be too large when the search begins. */
        int lastIndexOf(Object element) {
            return lastIndexOf(element, count - 1);
        }

        synchronized int lastIndexOf(Object element, int from) {
            if (from >= count) {
                throw new IndexOutOfBoundsException(from + " of " + count);
            }
            for (int index = from; index >= 0; index--) {
                if (elements[index].equals(element)) {
                    return index;
                }
            }
            return -1;
        }

        synchronized void copyInto(Object[] target) {
            System.arraycopy(elements, 0, target, 0, count);
        }

        /** The other vector may grow between the two calls, and then does not fit. */
        static OldVector copyOf(OldVector other) {
            OldVector copy = new OldVector();
            int length = other.size();
            if (length > 0) {
                copy.elements = new Object[length];
                other.copyInto(copy.elements);
                copy.count = length;
            }
            return copy;
        }

        /** The lock of this vector alone is held: the other may lose elements in the middle. */
        synchronized boolean addAll(OldVector other) {
            int more = other.size();
            makeRoom(count + more);
            for (int index = 0; index < more; index++) {
                elements[count++] = other.elementAt(index);
            }
            return more > 0;
        }

        synchronized boolean containsAll(OldVector other) {
            for (int index = 0; index < other.size(); index++) {
                if (!contains(other.elementAt(index))) {
                    return false;
                }
            }
            return true;
        }

        /** Each element is looked for in the other vector as that is at the time. */
        synchronized boolean removeAll(OldVector other) {
            boolean isChanged = false;
            for (int index = count - 1; index >= 0; index--) {
                if (other.contains(elements[index])) {
                    removeAt(index);
                    isChanged = true;
                }
            }
            return isChanged;
        }

        synchronized boolean sameAs(OldVector other) {
            if (other.size() != count) {
                return false;
            }
            for (int index = 0; index < count; index++) {
                if (!elements[index].equals(other.elementAt(index))) {
                    return false;
                }
            }
            return true;
        }

        Object firstOrNull() {
            if (isEmpty()) {
                return null;
            }
            return elementAt(0);
        }

        boolean addIfAbsent(Object element) {
            if (contains(element)) {
                return false;
            }
            add(element);
            return true;
        }
    }
}
