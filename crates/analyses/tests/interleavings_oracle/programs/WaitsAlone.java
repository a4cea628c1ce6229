// Waiting on an object that no other thread knows.
// shows: deadlock asleep
// missed: WaitsAlone
class WaitsAlone {
    public static void main(String[] arguments) throws InterruptedException {
        Object lock = new Object();
        synchronized (lock) {
            lock.wait();
        }
    }
}
