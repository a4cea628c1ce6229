// Promise: java.util.concurrent.atomic: compareAndSet has volatile effects: who pops comes after who pushed.
// Way: a lock-free stack of one's own.
// Bad twin: the popped node is still written by its maker.
import java.util.concurrent.atomic.AtomicReference;

class TreiberStack {
    static class Cell {
        int value;
    }

    static class Node {
        final Cell cell = new Cell();
        Node next;
    }

    static class Stack {
        private final AtomicReference<Node> top = new AtomicReference<>();

        void push(Node node) {
            do {
                node.next = top.get();
            } while (!top.compareAndSet(node.next, node));
        }

        Node pop() {
            while (true) {
                Node first = top.get();
                if (first == null || top.compareAndSet(first, first.next)) {
                    return first;
                }
            }
        }

        boolean isEmpty() {
            return top.get() == null;
        }
    }

    static int good() throws Exception {
        Stack stack = new Stack();
        return Pair.together(() -> {
            Node node = new Node();
            node.cell.value = 42;
            stack.push(node);
        }, () -> {
            Pair.until(() -> !stack.isEmpty());
            return stack.pop().cell.value;
        });
    }

    static int bad() throws Exception {
        Stack stack = new Stack();
        return Pair.together(() -> {
            Node node = new Node();
            stack.push(node);
            Pair.repeat(() -> node.cell.value = 42);
        }, () -> {
            Pair.until(() -> !stack.isEmpty());
            Node popped = stack.pop();
            return Pair.repeatRead(() -> popped.cell.value);
        });
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, TreiberStack::good, TreiberStack::bad);
    }
}
