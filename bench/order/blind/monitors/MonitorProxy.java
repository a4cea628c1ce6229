// Promise: JLS 17.4.5: an unlock of a monitor happens-before every later lock of it.
// Way: a dynamic proxy locks the object that it stands for around each call.
// Bad twin: the proxy locks an object that it makes for each call.
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

class MonitorProxy {
    static class Cell {
        int value;
    }

    interface Box {
        void put(int amount);

        int get();
    }

    static class PlainBox implements Box {
        private final Cell cell = new Cell();

        @Override
        public void put(int amount) {
            cell.value = amount;
        }

        @Override
        public int get() {
            return cell.value;
        }
    }

    static Box locked(Box box, Supplier<Object> lock) {
        InvocationHandler handler = (proxy, method, values) -> {
            synchronized (lock.get()) {
                return method.invoke(box, values);
            }
        };
        return (Box) Proxy.newProxyInstance(Box.class.getClassLoader(), new Class<?>[] {Box.class}, handler);
    }

    static int good() throws Exception {
        PlainBox plain = new PlainBox();
        Box box = locked(plain, () -> plain);
        return Pair.together(() -> box.put(42), () -> Pair.poll(() -> box.get()));
    }

    static int bad() throws Exception {
        Box box = locked(new PlainBox(), () -> new Object());
        return Pair.together(() -> Pair.repeat(() -> box.put(42)), () -> Pair.repeatRead(() -> box.get()));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MonitorProxy::good, MonitorProxy::bad);
    }
}
