import java.util.concurrent.Callable;

/** Shapes of locking that the compilers of the JVM must not refuse. */
public class Jit {
    static final Object LOCK = new Object();
    static final Object OTHER = new Object();
    int field;

    static int shapeReturn(int x) {
        synchronized (LOCK) {
            return x + 1;
        }
    }

    static int shapeThrow(int x) {
        synchronized (LOCK) {
            if (x % 7 == 0) throw new IllegalStateException("seven");
            x++;
        }
        return x;
    }

    static int shapeNested(int x) {
        synchronized (LOCK) {
            x++;
            synchronized (OTHER) {
                if (x % 3 == 0) return x;
                x = helper(x);
                synchronized (LOCK) {
                    x++;
                }
            }
        }
        return x;
    }

    static int shapeFinally(int x) {
        try {
            synchronized (LOCK) {
                x = helper(x);
            }
        } catch (IllegalStateException e) {
            synchronized (OTHER) {
                x -= 5;
            }
        } finally {
            synchronized (LOCK) {
                x++;
            }
        }
        return x;
    }

    static int shapeFinallyInside(int x) {
        synchronized (LOCK) {
            try {
                x = helper(x);
                if (x > 40) return -x;
            } catch (IllegalStateException e) {
                return 0;
            } finally {
                x += helper(1);
            }
        }
        return x;
    }

    static int shapeLoop(int x) {
        for (int i = 0; i < 4; i++) {
            synchronized (LOCK) {
                if (i == x % 4) continue;
                if (i == x % 9) break;
                x += i;
            }
        }
        return x;
    }

    synchronized int shapeMethod(int x) {
        synchronized (this) {
            field += x;
        }
        return field;
    }

    static synchronized int shapeStaticMethod(int x) {
        if (x % 11 == 0) throw new IllegalStateException("eleven");
        return x;
    }

    static long shapeWide(long a, double b) {
        synchronized (LOCK) {
            return a > 3 ? a + (long) b : -a;
        }
    }

    static long shapeStored(int x) {
        int first;
        long second;
        synchronized (LOCK) {
            first = helper(x);
        }
        synchronized (OTHER) {
            second = helper(first);
        }
        return first + second;
    }

    static int helper(int x) {
        if (x % 13 == 0) throw new IllegalStateException("thirteen");
        return x + 2;
    }

    static long tried(Callable<? extends Number> shape) {
        try {
            return shape.call().longValue();
        } catch (Exception e) {
            return -1;
        }
    }

    public static void main(String[] args) {
        long sum = 0;
        Jit jit = new Jit();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            int x = i % 50;
            sum += tried(() -> shapeReturn(x)) + tried(() -> shapeThrow(x)) + tried(() -> shapeNested(x));
            sum += tried(() -> shapeFinally(x)) + tried(() -> shapeFinallyInside(x)) + tried(() -> shapeLoop(x));
            sum += tried(() -> shapeStored(x));
            sum += tried(() -> jit.shapeMethod(x)) + tried(() -> shapeStaticMethod(x)) + tried(() -> shapeWide(x, x));
        }
        System.out.println(sum + " " + Thread.holdsLock(LOCK) + Thread.holdsLock(OTHER) + Thread.holdsLock(jit));
    }
}
