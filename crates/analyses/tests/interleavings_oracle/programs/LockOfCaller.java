// Three threads take one lock, two of them before a call; only one comes between the two sections.
// shows: not atomic Store.set
class LockOfCaller {
    static class Store {
        int y;
        void touch() {
            synchronized (Store.class) {
            }
        }
        int set() {
            synchronized (Store.class) {
                y = 1;
            }
            synchronized (Store.class) {
                return y;
            }
        }
    }
    static class W0 extends Thread {
        final Store store;
        W0(Store store) {
            this.store = store;
        }
        public void run() {
            store.set();
        }
    }
    static class W1 extends Thread {
        final Store store;
        W1(Store store) {
            this.store = store;
        }
        public void run() {
            synchronized (Store.class) {
                store.set();
            }
        }
    }
    public static void main(String[] arguments) {
        Store store = new Store();
        Thread one = new W0(store);
        Thread two = new W1(store);
        synchronized (Store.class) {
            store.touch();
        }
        one.start();
        two.start();
    }
}
