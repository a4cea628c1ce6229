// Promise: JLS 17.1 with 17.4.5: a thread may lock a monitor several times; it is released by the last unlock,
// which happens-before the next lock.
// Way: a synchronized method calls another one of the same object, and writes after that call.
// Bad twin: the outer method is not synchronized, so that its write follows the only unlock.
class MonitorReentrant {
    static class Cell {
        int value;
    }

    static class Account {
        final Cell cell = new Cell();
        int calls;

        synchronized void count() {
            calls++;
        }

        synchronized void put() {
            count();
            cell.value = 42;
        }

        void putUnlocked() {
            count();
            cell.value = 42;
        }

        synchronized int get() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Account account = new Account();
        return Pair.together(account::put, () -> Pair.poll(account::get));
    }

    static int bad() throws Exception {
        Account account = new Account();
        return Pair.together(() -> Pair.repeat(() -> account.putUnlocked()),
                () -> Pair.repeatRead(() -> account.get()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorReentrant::good, MonitorReentrant::bad);
    }
}
