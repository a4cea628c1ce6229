// Two objects of one class, each locked inside the other by code of its own.
// shows: deadlock Store
class TwoWaysToLockTwo {
    static class Store {
        void touch(Store that) {
            synchronized (that) {
            }
        }
    }
    static class Worker extends Thread {
        final Store store;
        final Store that;
        Worker(Store store, Store that) {
            this.store = store;
            this.that = that;
        }
        public void run() {
            synchronized (that) {
                that.touch(store);
            }
        }
    }
    public static void main(String[] arguments) {
        Store one = new Store();
        Store two = new Store();
        Thread worker = new Worker(two, one);
        worker.start();
        synchronized (two) {
            two.touch(one);
        }
    }
}
