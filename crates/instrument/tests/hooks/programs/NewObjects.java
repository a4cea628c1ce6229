/** Objects that nobody else knows, or that nobody else knows yet. */
class NewObjects {
    static Pair shared;

    int x;
    NewObjects next;

    static final class Pair {
        int left;
        int right;
        volatile int flag;

        Pair(int left, int right) {
            this.left = left;
            this.right = right;
            this.left++;
        }

        /** Others know the object before it is complete. */
        Pair(int left) {
            this.left = left;
            shared = this;
            this.right = left;
        }

        /** A volatile field orders whoever gets the object, however that happens. */
        Pair() {
            flag = 1;
        }

        int sum() {
            return left + right;
        }

        Pair self() {
            return this;
        }
    }

    /** Its objects are finalized by another thread. */
    static final class Finalized {
        int number;

        Finalized(int number) {
            this.number = number;
        }

        @Override
        protected void finalize() {}
    }

    static int confined() {
        NewObjects mine = new NewObjects();
        mine.x = 1;
        for (int i = 0; i < 2; i++) {
            NewObjects other = new NewObjects();
            other.x = mine.x;
            mine = other;
        }
        return mine.x;
    }

    static NewObjects returned() {
        NewObjects mine = new NewObjects();
        mine.x = 2;
        return mine;
    }

    static int stored(NewObjects list) {
        NewObjects mine = new NewObjects();
        mine.x = 3;
        list.next = mine;
        return mine.x;
    }

    static int keptByCall() {
        Pair pair = new Pair(1, 2);
        pair.left = 3;
        pair.self();
        return pair.left + pair.sum();
    }

    static int usedByCall() {
        Pair pair = new Pair(1, 2);
        pair.left = 4;
        return pair.sum();
    }

    static int leaked() {
        Pair pair = new Pair(5);
        return pair.left;
    }

    static int ordered() {
        Pair pair = new Pair();
        return pair.flag;
    }

    static int finalized() {
        Finalized made = new Finalized(6);
        return made.number;
    }

    private static int locked() {
        NewObjects mine = new NewObjects();
        mine.x = 7;
        synchronized (mine) {
            return mine.x;
        }
    }

    /** No block: all that it does concerns an object that is new. */
    static Pair made() {
        return new Pair(8, 9);
    }

    private static int twice(int number) {
        return number * 2;
    }

    /** No block: what it calls does nothing that could be seen. */
    static int calculated(int number) {
        return twice(twice(number));
    }

    /** A block: besides what is new it uses what others know. */
    static Pair madeAndStored() {
        Pair pair = new Pair(8, 9);
        shared = pair;
        return pair;
    }

    public static void main(String[] arguments) {
        // From here on the class is seen before those that use it.
        Pair first = new Pair(0, 0);
        Users.main(first);
    }

    /** A class that is loaded after the others. */
    static class Users {
        static void main(Pair first) {
            Pair mine = new Pair(1, 1);
            mine.left = first.sum();
            System.out.println(mine.left + confined() + returned().x + stored(new NewObjects()));
            System.out.println(keptByCall() + usedByCall() + leaked() + ordered() + finalized());
            System.out.println(locked() + made().left + calculated(3) + madeAndStored().right);
            Pair older = null;
            for (int i = 0; i < 3; i++) {
                Pair made = new Pair(i, i);
                if (older != null) {
                    made.left += older.left;
                }
                older = made;
            }
            System.out.println(older.left);
        }
    }
}
