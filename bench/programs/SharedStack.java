package programs;

import programs.SharedVector.OldVector;

/**
 * A stack on top of the old vector. One thread asks an empty stack for elements, and moves none from another; the other
 * thread pushes elements to both and pops them in its own turns.
 */
public final class SharedStack {
    public static void main(String[] arguments) throws InterruptedException {
        int times = Measurement.size(arguments, 10);
        OldStack stack = new OldStack();
        OldStack source = new OldStack();
        OldStack own = new OldStack();
        own.push("plate");
        long[] sums = new long[1];
        Measurement measurement = Measurement.begin();
        Alternation.run(times, () -> sums[0] = Measurement.mix(sums[0], use(own, stack, source)), () -> {
            stack.push("cup");
            source.push("glass");
            stack.pop();
            source.pop();
        });
        measurement.end(sums[0]);
    }

    private static int use(OldStack own, OldStack stack, OldStack source) {
        int sum = stack.popOrNull() == null ? 1 : 0;
        sum = 2 * sum + (stack.peekOrNull() == null ? 1 : 0);
        sum = 2 * sum + (stack.swapTop() ? 1 : 0);
        sum = 2 * sum + stack.depthOf("cup");
        sum = 2 * sum + stack.search("cup");
        sum = 2 * sum + own.takeAll(source);
        return 2 * sum + (stack.replaceTop("bowl") ? 1 : 0);
    }

    /** The last element that was added is the first to leave. */
    static final class OldStack extends OldVector {
        void push(Object element) {
            add(element);
        }

        synchronized Object pop() {
            Object top = peek();
            removeAt(size() - 1);
            return top;
        }

        synchronized Object peek() {
            int depth = size();
            if (depth == 0) {
                throw new IllegalStateException("the stack is empty");
            }
            return elementAt(depth - 1);
        }

        boolean empty() {
            return size() == 0;
        }

        /** Somebody else may pop in between. */
        Object popOrNull() {
            if (empty()) {
                return null;
            }
            return pop();
        }

        Object peekOrNull() {
            return empty() ? null : peek();
        }

        /** Two elements leave and come back one by one. */
        boolean swapTop() {
            if (size() < 2) {
                return false;
            }
            Object top = pop();
            Object second = pop();
            push(top);
            push(second);
            return true;
        }

        synchronized boolean replaceTop(Object element) {
            if (empty()) {
                return false;
            }
            pop();
            push(element);
            return true;
        }

        synchronized int search(Object element) {
            int index = lastIndexOf(element);
            return index >= 0 ? size() - index : -1;
        }

        /** The same without the lock: the depth may not be that of the search. */
        int depthOf(Object element) {
            int index = indexOf(element);
            if (index >= 0) {
                return size() - index;
            }
            return -1;
        }

        /** The lock of this stack alone is held: somebody may pop what the other was seen to have. */
        synchronized int takeAll(OldStack other) {
            int moved = 0;
            while (!other.empty()) {
                push(other.pop());
                moved++;
            }
            return moved;
        }
    }
}
