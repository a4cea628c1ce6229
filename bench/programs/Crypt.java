package programs;

/** Enciphers and deciphers a text with the block cipher IDEA; every thread has its slice of the text. */
public final class Crypt {
    private static final int ROUNDS = 8;
    private static final int KEYS = ROUNDS * 6 + 4;

    public static void main(String[] arguments) throws InterruptedException {
        int megabytes = Measurement.size(arguments, 24);
        int threads = Measurement.threads(arguments);
        byte[] plain = new byte[megabytes << 20];
        RandomStream random = new RandomStream(17);
        for (int i = 0; i < plain.length; i++) {
            plain[i] = (byte) random.nextLong();
        }
        byte[] enciphered = new byte[plain.length];
        byte[] deciphered = new byte[plain.length];
        Measurement measurement = Measurement.begin();
        long checksum = 0;
        for (int message = 0; message < 3; message++) {
            KeySchedule schedule = new KeySchedule(random);
            process(plain, enciphered, schedule.encryption(), threads);
            process(enciphered, deciphered, schedule.decryption(), threads);
            for (int i = 0; i < plain.length; i += 61) {
                if (plain[i] != deciphered[i]) {
                    throw new IllegalStateException("byte " + i + " did not survive");
                }
                checksum = Measurement.mix(checksum, enciphered[i]);
            }
        }
        measurement.end(checksum);
    }

    private static void process(byte[] from, byte[] to, int[] keys, int threads) throws InterruptedException {
        Runnable[] slices = new Runnable[threads];
        int blocks = from.length / 8;
        for (int i = 0; i < threads; i++) {
            int start = (int) ((long) blocks * i / threads);
            int end = (int) ((long) blocks * (i + 1) / threads);
            slices[i] = new Slice(from, to, start * 8, end * 8, keys);
        }
        Measurement.runAll(slices);
    }

    /** The keys of all rounds, in both directions. */
    private static final class KeySchedule {
        private final int[] user = new int[8];
        private int[] forward;

        KeySchedule(RandomStream random) {
            for (int i = 0; i < user.length; i++) {
                user[i] = random.nextInt(1 << 16);
            }
        }

        int[] encryption() {
            if (forward == null) {
                int[] keys = new int[KEYS];
                System.arraycopy(user, 0, keys, 0, user.length);
                // Each group of eight keys is the group before, rotated by 25 bits.
                for (int i = 8; i < KEYS; i++) {
                    int group = i / 8 * 8 - 8;
                    int one = keys[group + (i + 1) % 8];
                    int next = keys[group + (i + 2) % 8];
                    keys[i] = (one << 9 | next >>> 7) & 0xFFFF;
                }
                forward = keys;
            }
            return forward;
        }

        int[] decryption() {
            int[] keys = encryption();
            int[] inverse = new int[KEYS];
            for (int round = 0; round <= ROUNDS; round++) {
                int from = (ROUNDS - round) * 6;
                int to = round * 6;
                boolean swapped = round > 0 && round < ROUNDS;
                inverse[to] = multiplicativeInverse(keys[from]);
                inverse[to + 1] = -keys[from + (swapped ? 2 : 1)] & 0xFFFF;
                inverse[to + 2] = -keys[from + (swapped ? 1 : 2)] & 0xFFFF;
                inverse[to + 3] = multiplicativeInverse(keys[from + 3]);
                if (round < ROUNDS) {
                    inverse[to + 4] = keys[from - 2];
                    inverse[to + 5] = keys[from - 1];
                }
            }
            return inverse;
        }

        /** In the field of 65537 elements, where 0 stands for 65536: a to the power of 65535. */
        private static int multiplicativeInverse(int a) {
            int result = 1;
            int power = a;
            for (int bits = 65535; bits != 0; bits >>= 1) {
                if ((bits & 1) != 0) {
                    result = multiply(result, power);
                }
                power = multiply(power, power);
            }
            return result;
        }
    }

    static int multiply(int a, int b) {
        if (a == 0) {
            return (0x10001 - b) & 0xFFFF;
        }
        if (b == 0) {
            return (0x10001 - a) & 0xFFFF;
        }
        long product = (long) a * b;
        int low = (int) (product & 0xFFFF);
        int high = (int) (product >>> 16);
        return (low - high + (low < high ? 1 : 0)) & 0xFFFF;
    }

    /** One thread's part of the text, and the block it works on. */
    private static final class Slice implements Runnable {
        private final byte[] from;
        private final byte[] to;
        private final int start;
        private final int end;
        private final int[] keys;
        private int a;
        private int b;
        private int c;
        private int d;

        Slice(byte[] from, byte[] to, int start, int end, int[] keys) {
            this.from = from;
            this.to = to;
            this.start = start;
            this.end = end;
            this.keys = keys;
        }

        @Override
        public void run() {
            for (int at = start; at < end; at += 8) {
                a = word(at);
                b = word(at + 2);
                c = word(at + 4);
                d = word(at + 6);
                for (int round = 0; round < ROUNDS; round++) {
                    turn(round * 6);
                }
                int last = ROUNDS * 6;
                put(at, multiply(a, keys[last]));
                put(at + 2, c + keys[last + 1]);
                put(at + 4, b + keys[last + 2]);
                put(at + 6, multiply(d, keys[last + 3]));
            }
        }

        private void turn(int key) {
            int p = multiply(a, keys[key]);
            int q = (b + keys[key + 1]) & 0xFFFF;
            int r = (c + keys[key + 2]) & 0xFFFF;
            int s = multiply(d, keys[key + 3]);
            int t = multiply(p ^ r, keys[key + 4]);
            int u = multiply((t + (q ^ s)) & 0xFFFF, keys[key + 5]);
            t = (t + u) & 0xFFFF;
            a = p ^ u;
            b = r ^ u;
            c = q ^ t;
            d = s ^ t;
        }

        private int word(int at) {
            return (from[at] & 0xFF) | (from[at + 1] & 0xFF) << 8;
        }

        private void put(int at, int word) {
            to[at] = (byte) word;
            to[at + 1] = (byte) (word >>> 8);
        }
    }
}
