// Promise: InheritableThreadLocal: a child gets its parent's values when it is made; JLS 17.4.4: the parent's
// actions before the start come first.
// Way: the parent fills the inherited object before it starts the child.
// Bad twin: the parent goes on changing the inherited object.
class InheritedThreadLocal {
    static class Cell {
        int value;
    }

    static int run(boolean late) throws Exception {
        InheritableThreadLocal<Cell> local = new InheritableThreadLocal<>();
        local.set(new Cell());
        local.get().value = 42;
        Cell result = new Cell();
        Thread child = new Thread(() -> {
            for (int round = 0; round < 5; round++) {
                result.value = local.get().value;
                Pair.pause();
            }
        });
        child.start();
        if (late) {
            Pair.repeat(() -> local.get().value++);
        }
        child.join();
        return result.value;
    }

    static int good() throws Exception {
        return run(false);
    }

    static int bad() throws Exception {
        return run(true);
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InheritedThreadLocal::good, InheritedThreadLocal::bad);
    }
}
