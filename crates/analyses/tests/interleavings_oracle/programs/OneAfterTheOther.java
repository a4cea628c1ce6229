// Two locks in both orders, one thread after the other.
// made up: lock-order-cycle -- what a thread waited for before it started another is not asked for locks
class OneAfterTheOther {
    static final Object ONE = new Object();
    static final Object TWO = new Object();
    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            synchronized (ONE) {
                synchronized (TWO) {
                }
            }
        });
        Thread two = new Thread(() -> {
            synchronized (TWO) {
                synchronized (ONE) {
                }
            }
        });
        one.start();
        one.join();
        two.start();
    }
}
