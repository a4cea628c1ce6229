// A call that is not atomic does not make those around it worse.
// shows: not atomic Store.inner
class InnerCall {
    static class Store {
        int x;
        void inner() {
            int a;
            synchronized (this) {
                a = x;
            }
            synchronized (this) {
                x = a + 1;
            }
        }
        void outer() {
            inner();
        }
    }
    static class Worker extends Thread {
        final Store store;
        Worker(Store store) {
            this.store = store;
        }
        public void run() {
            store.outer();
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
