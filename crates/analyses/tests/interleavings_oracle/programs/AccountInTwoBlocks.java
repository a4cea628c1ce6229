// An account that is read and written in two blocks.
// shows: not atomic Store.update
class AccountInTwoBlocks {
    static class Store {
        int x;
        synchronized int get() {
            return x;
        }
        void update(int n) {
            int a = get();
            synchronized (this) {
                x = a + n;
            }
        }
    }
    static class Worker extends Thread {
        final Store store;
        Worker(Store store) {
            this.store = store;
        }
        public void run() {
            store.update(5);
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
