// Waiting while a lock is held that the other thread needs first.
// shows: deadlock asleep
class WaitUnderLock {
    static class Store {
        int x;
        final Object lock = new Object();
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            synchronized (store) {
                synchronized (store.lock) {
                    if (store.x == 0) {
                        try {
                            store.lock.wait();
                        } catch (InterruptedException e) {
                        }
                    }
                }
            }
        });
        Thread two = new Thread(() -> {
            synchronized (store) {
                synchronized (store.lock) {
                    store.x = 1;
                    store.lock.notify();
                }
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
