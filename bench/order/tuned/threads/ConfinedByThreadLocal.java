// Promise: ThreadLocal: each thread that asks has its own copy of the variable; JLS 17.4.5: what one thread does is
// in program order.
// Way: each thread gets a cell of its own from ThreadLocal.withInitial.
// Bad twin: the supplier of the initial value gives all threads the same cell.
class ConfinedByThreadLocal {
    static class Cell {
        int value;
    }

    static int good() throws Exception {
        ThreadLocal<Cell> local = ThreadLocal.withInitial(Cell::new);
        return Pair.together(() -> Pair.repeat(() -> local.get().value += 1), () -> {
            Pair.repeat(() -> local.get().value += 2);
            local.get().value += 32;
            return local.get().value;
        });
    }

    static int bad() throws Exception {
        Cell shared = new Cell();
        ThreadLocal<Cell> local = ThreadLocal.withInitial(() -> shared);
        return Pair.together(() -> Pair.repeat(() -> local.get().value += 1),
                () -> Pair.repeatRead(() -> local.get().value += 2));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ConfinedByThreadLocal::good, ConfinedByThreadLocal::bad);
    }
}
