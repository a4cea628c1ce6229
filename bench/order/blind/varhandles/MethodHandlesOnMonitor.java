// Promise: a method handle calls its method with the memory effects of a call in the source (MethodHandle's class
// comment); JLS 17.4.5 for the monitor.
// Way: method handles of synchronized methods.
// Bad twin: the method handle is of a method that is not synchronized.
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

class MethodHandlesOnMonitor {
    static class Cell {
        int value;
    }

    static class Account {
        final Cell cell = new Cell();

        synchronized int put(int amount) {
            cell.value = amount;
            return amount;
        }

        synchronized int get() {
            return cell.value;
        }

        int peek() {
            return cell.value;
        }
    }

    static int call(MethodHandle handle, Object... values) {
        try {
            return (int) handle.invokeWithArguments(values);
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    static MethodHandle find(String name, Class<?>... types) throws Exception {
        return MethodHandles.lookup().findVirtual(Account.class, name, MethodType.methodType(int.class, types));
    }

    static int good() throws Exception {
        Account account = new Account();
        MethodHandle put = find("put", int.class);
        MethodHandle get = find("get");
        return Pair.together(() -> call(put, account, 42), () -> Pair.poll(() -> call(get, account)));
    }

    static int bad() throws Exception {
        Account account = new Account();
        MethodHandle put = find("put", int.class);
        MethodHandle peek = find("peek");
        return Pair.together(() -> Pair.repeat(() -> call(put, account, 42)),
                () -> Pair.repeatRead(() -> call(peek, account)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MethodHandlesOnMonitor::good, MethodHandlesOnMonitor::bad);
    }
}
