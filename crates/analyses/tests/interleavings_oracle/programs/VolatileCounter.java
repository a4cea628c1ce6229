// A volatile variable does not race, and adding to it is not atomic.
// shows: not atomic Store.add
// missed: Volatile
class VolatileCounter {
    static class Store {
        volatile int x;
        void add() {
            int a = x;
            x = a + 1;
        }
    }
    static class Worker extends Thread {
        final Store store;
        Worker(Store store) {
            this.store = store;
        }
        public void run() {
            store.add();
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
