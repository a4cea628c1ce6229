// Whoever waits may come after the notification, and nothing tells it so.
// shows: deadlock asleep
// missed: LostNotification
class LostNotification {
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
                store.lock.notifyAll();
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
