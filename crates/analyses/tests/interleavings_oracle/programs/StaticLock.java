// A static lock and a static variable.
class StaticLock {
    static class Store {
        static int total;
        static final Object LOCK = new Object();
    }
    static class Worker extends Thread {
        final Store store;
        Worker(Store store) {
            this.store = store;
        }
        public void run() {
            synchronized (Store.LOCK) {
                int a = Store.total;
                Store.total = a + 1;
            }
        }
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Worker(store);
        Thread two = new Worker(store);
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
