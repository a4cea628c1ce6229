// Check, then act.
// shows: not atomic Store.once
class CheckThenAct {
    static class Store {
        int x;
        synchronized int get() {
            return x;
        }
        synchronized void set(int n) {
            x = n;
        }
        void once() {
            if (get() == 0) {
                set(1);
            }
        }
    }
    static class Worker extends Thread {
        final Store store;
        Worker(Store store) {
            this.store = store;
        }
        public void run() {
            store.once();
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
