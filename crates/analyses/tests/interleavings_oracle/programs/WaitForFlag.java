// Waiting until a flag is set.
class WaitForFlag {
    static class Store {
        int x;
        final Object lock = new Object();
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            synchronized (store.lock) {
                if (store.x == 0) {
                    try {
                        store.lock.wait();
                    } catch (InterruptedException e) {
                    }
                }
                int a = store.x;
            }
        });
        Thread two = new Thread(() -> {
            synchronized (store.lock) {
                store.x = 1;
                store.lock.notifyAll();
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
