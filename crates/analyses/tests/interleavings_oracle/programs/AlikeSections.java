// Two sections that update one variable alike, with nothing passed from the first to the second.
// shows: not atomic Store.twice
// missed: ViewsFormChain
class AlikeSections {
    static class Store {
        int x;
        synchronized void add(int n) {
            int a = x;
            x = a + n;
        }
        void twice() {
            add(1);
            add(2);
        }
    }
    public static void main(String[] arguments) {
        Store store = new Store();
        Thread one = new Thread(() -> {
            store.twice();
        });
        Thread two = new Thread(() -> {
            store.twice();
        });
        one.start();
        two.start();
    }
}
