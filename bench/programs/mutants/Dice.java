package programs.mutants;

/** Random numbers that are the same in every run. Each thread has its own. */
final class Dice {
    private long state;

    Dice(int seed) {
        state = seed * 0x9e3779b97f4a7c15L + 1;
    }

    /** A number from 0 to below the bound. */
    int roll(int bound) {
        long next = state;
        next ^= next << 13;
        next ^= next >>> 7;
        next ^= next << 17;
        state = next;
        return (int) ((next >>> 33) % bound);
    }
}
