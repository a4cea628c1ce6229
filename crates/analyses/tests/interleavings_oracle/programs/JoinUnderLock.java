// Waiting for the end of a thread that wants a lock that one holds.
// shows: deadlock join
// missed: JoinUnderLock
class JoinUnderLock {
    static final Object LOCK = new Object();
    public static void main(String[] arguments) throws InterruptedException {
        Thread one = new Thread(() -> {
            synchronized (LOCK) {
            }
        });
        synchronized (LOCK) {
            one.start();
            one.join();
        }
    }
}
