// Two locks in both orders.
// shows: deadlock Store.one Store.two
class BothOrders {
    static class Store {
        final Object one = new Object();
        final Object two = new Object();
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            synchronized (store.one) {
                synchronized (store.two) {
                }
            }
        });
        Thread two = new Thread(() -> {
            synchronized (store.two) {
                synchronized (store.one) {
                }
            }
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
