// What comes between the start and the join is not.
// shows: race Store.x
class BetweenStartAndJoin {
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
        int a = store.x;
        one.join();
    }
}
