// Promise: JLS 12.4.2 and 17.4.5: everything the initialising thread did in the initialiser is seen by who uses the
// class after it, not only its fields.
// Way: the initialiser of one class fills an object of another class.
// Bad twin: the reader does not use the class whose initialiser writes.
class InitialiserSideEffect {
    static class Cell {
        int value;
    }

    static final Cell OUTSIDE = new Cell();
    static final Cell ELSEWHERE = new Cell();

    static class Effect {
        static int done;

        static {
            OUTSIDE.value = 42;
            done = 1;
        }
    }

    static class OtherEffect {
        static int done;

        static {
            for (int round = 0; round < 5; round++) {
                ELSEWHERE.value = 42;
                Pair.pause();
            }
            done = 1;
        }
    }

    static int good() throws Exception {
        return Pair.together(() -> Pair.until(() -> Effect.done == 1), () -> Effect.done * OUTSIDE.value);
    }

    static int bad() throws Exception {
        return Pair.together(() -> Pair.until(() -> OtherEffect.done == 1),
                () -> Pair.repeatRead(() -> ELSEWHERE.value));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, InitialiserSideEffect::good, InitialiserSideEffect::bad);
    }
}
