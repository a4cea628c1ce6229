package bank;

/** Two tellers and two branches at work at the same time. */
public final class Main {
    public static void main(String[] arguments) throws InterruptedException {
        Directory directory = new Directory();
        Branch north = new Branch(directory);
        Branch south = new Branch(directory);
        north.open("ada", 10_000);
        south.openFixed("bob", 10_000);
        Thread one = new Thread(() -> work(directory, north), "north");
        Thread other = new Thread(() -> work(directory, south), "south");
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println(north.statistics() + "; " + south.statistics());
    }

    private static void work(Directory directory, Branch branch) {
        for (int i = 0; i < 1_000; i++) {
            branch.open("client " + i, 0);
        }
        move(directory.find("ada"), directory.find("bob"));
    }

    private static void move(Account ada, Account bob) {
        Teller teller = new Teller();
        for (int i = 0; i < 1_000; i++) {
            teller.transfer(ada, bob, 3);
            teller.transferFixed(bob, ada, 2);
            teller.audit(ada);
        }
    }
}
