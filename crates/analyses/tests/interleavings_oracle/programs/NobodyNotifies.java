// Waiting for what nobody says.
// shows: deadlock asleep
class NobodyNotifies {
    static class Store {
        final Object lock = new Object();
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            synchronized (store.lock) {
                try {
                    store.lock.wait();
                } catch (InterruptedException e) {
                }
            }
        });
        Thread two = new Thread(() -> {
            synchronized (store.lock) {
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
