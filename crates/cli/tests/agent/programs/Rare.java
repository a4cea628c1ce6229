package torture;

/**
 * Blocks that each thread executes once, one long after the other: by itself no run splits them, and when a checker has
 * seen that they could be split it is too late.
 */
public class Rare {
    private int value;
    private int reserve = 5;

    synchronized int value() {
        return value;
    }

    synchronized void setValue(int next) {
        value = next;
    }

    synchronized int reserve() {
        return reserve;
    }

    synchronized void setReserve(int next) {
        reserve = next;
    }

    /** Always writes what it has read. */
    void add(int amount) {
        int before = value();
        setValue(before + amount);
    }

    /** Writes only if there is enough. */
    void take(int amount) {
        int before = reserve();
        if (before >= amount) {
            setReserve(before - amount);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Rare rare = new Rare();
        int amount = Integer.parseInt(arguments[1]);
        boolean adds = arguments[0].equals("add");
        Runnable task = () -> {
            if (adds) {
                rare.add(amount);
            } else {
                rare.take(amount);
            }
        };
        Thread first = new Thread(task, "first");
        Thread second = new Thread(() -> {
            try {
                Thread.sleep(200);
            } catch (InterruptedException interrupted) {
                return;
            }
            task.run();
        }, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        // What the program writes to is what another thread has left; either is right.
        rare.setReserve(5);
        System.out.println("done");
    }
}
