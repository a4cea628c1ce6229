// Promise: Method.invoke calls the method as a call in the source would; JLS 8.4.3.6: a synchronized method locks
// its object.
// Way: synchronized methods called by reflection.
// Bad twin: the methods called by reflection are not synchronized.
import java.lang.reflect.Method;

class MonitorReflection {
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

        void putUnlocked(int amount) {
            cell.value = amount;
        }

        int getUnlocked() {
            return cell.value;
        }
    }

    static int good() throws Exception {
        Account account = new Account();
        Method put = Account.class.getDeclaredMethod("put", int.class);
        Method get = Account.class.getDeclaredMethod("get");
        return Pair.together(() -> put.invoke(account, 42), () -> Pair.poll(() -> (int) get.invoke(account)));
    }

    static int bad() throws Exception {
        Account account = new Account();
        Method put = Account.class.getDeclaredMethod("putUnlocked", int.class);
        Method get = Account.class.getDeclaredMethod("getUnlocked");
        return Pair.together(() -> Pair.repeat(() -> put.invoke(account, 42)),
                () -> Pair.repeatRead(() -> (int) get.invoke(account)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorReflection::good, MonitorReflection::bad);
    }
}
