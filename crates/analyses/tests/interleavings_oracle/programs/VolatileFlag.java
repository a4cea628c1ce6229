// A value is handed over by a volatile flag.
class VolatileFlag {
    static class Store {
        int x;
        volatile int ready;
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            store.x = 1;
            store.ready = 1;
        });
        Thread two = new Thread(() -> {
            if (store.ready == 1) {
                int a = store.x;
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
