// An explicit lock.
import java.util.concurrent.locks.ReentrantLock;

class ExplicitLock {
    static class Store {
        int x;
        final ReentrantLock lock = new ReentrantLock();
        void add() {
            lock.lock();
            try {
                int a = x;
                x = a + 1;
            } finally {
                lock.unlock();
            }
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
