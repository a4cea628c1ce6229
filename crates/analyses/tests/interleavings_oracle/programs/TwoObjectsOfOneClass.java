// Two objects of one class, each locked inside the other.
// shows: deadlock Store
class TwoObjectsOfOneClass {
    static class Store {
        int x;
        synchronized void take(Store that) {
            synchronized (that) {
                int a = that.x;
                x = a;
            }
        }
    }
    public static void main(String[] arguments) {
        Store s0 = new Store();
        Store s1 = new Store();
        Thread one = new Thread(() -> {
            s0.take(s1);
        });
        Thread two = new Thread(() -> {
            s1.take(s0);
        });
        one.start();
        two.start();
    }
}
