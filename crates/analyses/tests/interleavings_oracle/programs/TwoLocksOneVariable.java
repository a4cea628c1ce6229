// Two locks for one variable.
// shows: race Store.x
class TwoLocksOneVariable {
    static class Store {
        int x;
        final Object lock = new Object();
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            synchronized (store) {
                store.x = 1;
            }
        });
        Thread two = new Thread(() -> {
            synchronized (store.lock) {
                store.x = 2;
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
