// Promise: JLS 17.4.5 with 8.4.3.6: a synchronized method locks the monitor of its object, and an unlock happens-
// before every later lock of it.
// Way: direct, synchronized instance methods of one object.
// Bad twin: the getter is not synchronized.
class MonitorMethod {
    static class Cell {
        int value;
    }

    static class Account {
        final Cell cell = new Cell();

        synchronized void put(int amount) {
            cell.value = amount;
        }

        synchronized int get() {
            return cell.value;
        }

        int getUnlocked() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Account account = new Account();
        return Pair.together(() -> account.put(42), () -> Pair.poll(() -> account.get()));
    }

    static int bad() throws Exception {
        Account account = new Account();
        return Pair.together(() -> Pair.repeat(() -> account.put(42)),
                () -> Pair.repeatRead(() -> account.getUnlocked()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorMethod::good, MonitorMethod::bad);
    }
}
