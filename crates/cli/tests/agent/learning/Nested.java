package learning;

/** Three methods, each inside the next, each split by another thread in a way of its own. */
public class Nested {
    int first;
    int second;
    int third;

    int inner() {
        int seen = first;
        Turn.passTo(1);
        Turn.awaitEven();
        first = seen + 1;
        return first;
    }

    int middle() {
        int seen = second;
        int result = inner();
        Turn.passTo(3);
        Turn.awaitEven();
        second = seen + result;
        return second;
    }

    int outer() {
        int seen = third;
        int result = middle();
        Turn.passTo(5);
        Turn.awaitEven();
        third = seen + result;
        return third;
    }

    public static void main(String[] arguments) throws Exception {
        Nested nested = new Nested();
        Thread other = new Thread(() -> {
            Turn.await(1);
            nested.first = 10;
            Turn.passTo(2);
            Turn.await(3);
            nested.second = 20;
            Turn.passTo(4);
            Turn.await(5);
            nested.third = 30;
            Turn.passTo(6);
        });
        other.start();
        nested.outer();
        other.join();
    }
}

/** Makes the threads take turns; it is not watched. */
final class Turn {
    private static int current;

    private Turn() {
    }

    static synchronized void passTo(int turn) {
        current = turn;
        Turn.class.notifyAll();
    }

    static synchronized void await(int turn) {
        while (current != turn) {
            pause();
        }
    }

    static synchronized void awaitEven() {
        while (current % 2 != 0) {
            pause();
        }
    }

    private static void pause() {
        try {
            Turn.class.wait(100);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
