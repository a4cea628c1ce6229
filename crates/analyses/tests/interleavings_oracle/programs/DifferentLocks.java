// Two variables, each under a lock of its own: no order of whole calls explains all interleavings.
// shows: not atomic Store.set
// missed: NoCommonLock
class DifferentLocks {
    static class Store {
        int x;
        int y;
        final Object one = new Object();
        final Object two = new Object();
        void set(int n) {
            synchronized (one) {
                x = n;
            }
            synchronized (two) {
                y = n;
            }
        }
    }
    public static void main(String[] arguments) {
        Store store = new Store();
        Thread one = new Thread(() -> {
            store.set(1);
        });
        Thread two = new Thread(() -> {
            store.set(2);
        });
        one.start();
        two.start();
    }
}
