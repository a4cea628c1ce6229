// Two locks in both orders, one thread after the other.
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
