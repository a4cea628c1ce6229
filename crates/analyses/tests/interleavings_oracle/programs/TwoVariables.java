// Two variables that are read one after the other.
// shows: not atomic Store.sum
class TwoVariables {
    static class Store {
        int x;
        int y;
        synchronized int getX() {
            return x;
        }
        synchronized int getY() {
            return y;
        }
        int sum() {
            int a = getX();
            return a + getY();
        }
        synchronized void set(int n) {
            x = n;
            y = n;
        }
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Thread(() -> {
            store.sum();
        });
        Thread two = new Thread(() -> {
            store.set(1);
        });
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
