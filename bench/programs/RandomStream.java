package programs;

/** Random numbers that depend on the seed alone. Belongs to one thread. */
final class RandomStream {
    private long state;

    RandomStream(long seed) {
        state = seed * 0x5851F42D4C957F2DL + 0x14057B7EF767814FL;
    }

    long nextLong() {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        return state * 0x2545F4914F6CDD1DL;
    }

    /** From 0 to below the limit. */
    int nextInt(int limit) {
        return (int) ((nextLong() >>> 33) % limit);
    }

    /** From 0 to below 1. */
    double nextDouble() {
        return (nextLong() >>> 11) * 0x1.0p-53;
    }

    /** Of the normal distribution with mean 0 and variance 1. */
    double nextGaussian() {
        double radius = Math.sqrt(-2 * Math.log(1 - nextDouble()));
        return radius * Math.cos(2 * Math.PI * nextDouble());
    }
}
