// Threads that work on stores of their own.
class StoresOfTheirOwn {
    static class Store {
        int x;
        void add() {
            int a = x;
            x = a + 1;
        }
    }
    public static void main(String[] arguments) {
        Store s0 = new Store();
        Store s1 = new Store();
        Thread one = new Thread(() -> {
            s0.add();
        });
        Thread two = new Thread(() -> {
            s1.add();
        });
        one.start();
        two.start();
    }
}
