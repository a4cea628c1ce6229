// Promise: java.util.concurrent.atomic and JLS 17.4.5: tickets by getAndIncrement, and a volatile number that is
// served.
// Way: a fair lock of one's own, called through an interface of one's own.
// Bad twin: a lock with one ticket machine for each thread.
import java.util.concurrent.atomic.AtomicInteger;

class ServedInTurn {
    static class Cell {
        int value;
    }

    interface Exclusion {
        int inside(Pair.Reading body) throws Exception;
    }

    static class TicketLock implements Exclusion {
        private final AtomicInteger next = new AtomicInteger();
        private volatile int served;

        @Override
        public int inside(Pair.Reading body) throws Exception {
            int ticket = next.getAndIncrement();
            Pair.until(() -> served == ticket);
            int seen = body.read();
            served = ticket + 1;
            return seen;
        }
    }

    static class PrivateLock implements Exclusion {
        private final ThreadLocal<TicketLock> own = ThreadLocal.withInitial(TicketLock::new);

        @Override
        public int inside(Pair.Reading body) throws Exception {
            return own.get().inside(body);
        }
    }

    static int good() throws Exception {
        Cell cell = new Cell();
        Exclusion lock = new TicketLock();
        return Pair.together(() -> lock.inside(() -> cell.value = 42),
                () -> Pair.poll(() -> lock.inside(() -> cell.value)));
    }

    static int bad() throws Exception {
        Cell cell = new Cell();
        Exclusion lock = new PrivateLock();
        return Pair.together(() -> Pair.repeat(() -> lock.inside(() -> cell.value = 42)),
                () -> Pair.repeatRead(() -> lock.inside(() -> cell.value)));
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, ServedInTurn::good, ServedInTurn::bad);
    }
}
