class Monitors {
    private int value;
    private final Object lock = new Object();

    synchronized int locked(int add) {
        if (add < 0) {
            throw new IllegalArgumentException("negative");
        }
        value += add;
        return value;
    }

    static synchronized long lockedStatic() {
        return 5L;
    }

    private int blocks(int way) {
        synchronized (lock) {
            if (way == 0) {
                return value;
            }
            synchronized (this) {
                value++;
            }
            if (way == 1) {
                throw new IllegalStateException("way 1");
            }
        }
        for (int i = 0; i < 2; i++) {
            synchronized (Monitors.class) {
                if (i == 1) {
                    break;
                }
            }
        }
        return -1;
    }

    public static void main(String[] arguments) throws Exception {
        Monitors monitors = new Monitors();
        System.out.println(monitors.locked(1));
        try {
            monitors.locked(-1);
        } catch (IllegalArgumentException exception) {
            System.out.println(exception.getMessage());
        }
        System.out.println(lockedStatic());
        System.out.println(monitors.blocks(0));
        try {
            monitors.blocks(1);
        } catch (IllegalStateException exception) {
            System.out.println(exception.getMessage());
        }
        System.out.println(monitors.blocks(2));
        Object nothing = null;
        try {
            synchronized (nothing) {
                System.out.println("never");
            }
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
    }
}
