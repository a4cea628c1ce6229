// What comes before the start and after the join is ordered.
class StartAndJoin {
    static class Store {
        int x;
    }
    public static void main(String[] arguments) throws InterruptedException {
        Store store = new Store();
        store.x = 1;
        Thread one = new Thread(() -> {
            int a = store.x;
            store.x = a + 1;
        });
        one.start();
        one.join();
        int a = store.x;
    }
}
