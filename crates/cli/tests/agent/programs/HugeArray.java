package torture;

/** An array whose elements cannot all be watched: their words would take many times the memory of the JVM. */
public class HugeArray {
    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[0]);
        byte[] huge = new byte[length];
        Thread other = new Thread(() -> {
            for (int i = 0; i < huge.length; i += 256) {
                huge[i]++;
            }
        });
        other.start();
        other.join();
        long sum = 0;
        for (int i = 0; i < huge.length; i += 64) {
            sum += huge[i];
            huge[i] = (byte) i;
        }
        byte[][] many = new byte[1_000][];
        for (int i = 0; i < many.length; i++) {
            many[i] = new byte[10_000];
            many[i][i] = 1;
        }
        System.out.println(sum + " " + huge[length - 1] + " " + many[7][7]);
    }
}
