package own;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * An event bus of the program's own, which hands over one event at a time. It stands for one whose hand-over no code
 * shows: it uses modes that order nothing, as memory outside the heap or a device would.
 */
final class Bus {
    private static final VarHandle EVENT;

    static {
        try {
            EVENT = MethodHandles.lookup().findVarHandle(Bus.class, "event", Object.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private Object event;

    void post(Object posted) {
        while (!EVENT.weakCompareAndSetPlain(this, null, posted)) {
            Thread.onSpinWait();
        }
    }

    Object take() {
        while (true) {
            Object taken = EVENT.getOpaque(this);
            if (taken != null) {
                EVENT.setOpaque(this, null);
                return taken;
            }
            Thread.onSpinWait();
        }
    }

    static final class Price {
        int posted;
        int changed;
    }

    public static void main(String[] arguments) throws Exception {
        Bus bus = new Bus();
        int[] sum = new int[1];
        Thread listener = new Thread(() -> {
            Price price = (Price) bus.take();
            sum[0] = price.posted + price.changed;
        });
        listener.start();
        Price price = new Price();
        price.posted = 42;
        bus.post(price);
        // Too late: the listener may have looked.
        price.changed = 1;
        listener.join();
        System.out.println(sum[0] >= 42);
    }
}
