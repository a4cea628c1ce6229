// Reads alone do not race.
class OnlyReads {
    static class Store {
        int x = 3;
        int get() {
            return x;
        }
    }
    static class Worker extends Thread {
        final Store store;
        Worker(Store store) {
            this.store = store;
        }
        public void run() {
            store.get();
        }
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        Thread one = new Worker(store);
        Thread two = new Worker(store);
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
