// Two locks in both orders behind a third.
class GateLock {
    static class Store {
        final Object one = new Object();
        final Object two = new Object();
        static final Object GATE = new Object();
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            synchronized (Store.GATE) {
                synchronized (store.one) {
                    synchronized (store.two) {
                    }
                }
            }
        });
        Thread two = new Thread(() -> {
            synchronized (Store.GATE) {
                synchronized (store.two) {
                    synchronized (store.one) {
                    }
                }
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
