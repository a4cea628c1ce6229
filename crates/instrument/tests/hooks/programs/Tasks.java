import java.util.concurrent.*;
import java.util.function.*;

class Tasks {
    private static int done;

    static class Step implements Runnable {
        private int steps;

        @Override
        public void run() {
            synchronized (this) {
                steps++;
            }
        }
    }

    static class Sum extends RecursiveTask<Integer> {
        @Override
        protected Integer compute() {
            return 1;
        }
    }

    static class Order implements java.util.Comparator<String> {
        @Override
        public int compare(String left, String right) {
            return left.compareTo(right);
        }
    }

    void method() {
        done++;
    }

    public static void main(String[] arguments) throws Exception {
        Step step = new Step();
        Thread thread = new Thread(step, "step");
        thread.start();
        thread.join();
        Runnable lambda = () -> {
            synchronized (Tasks.class) {
                done++;
            }
        };
        for (int i = 0; i < 1; i++) { lambda.run(); }
        int captured = arguments.length;
        Supplier<Integer> supplier = () -> captured + done;
        System.out.println(supplier.get());
        Runnable reference = new Tasks()::method;
        reference.run();
        Tasks tasks = new Tasks();
        Runnable forwarding = () -> tasks.method();
        forwarding.run();
        IntBinaryOperator add = (left, right) -> left + right;
        System.out.println(add.applyAsInt(1, 2));
        System.out.println(new Sum().compute());
        System.out.println(new Order().compare("a", "a"));
        Callable<Object> failing = () -> { throw new Exception("failed"); };
        try {
            failing.call();
        } catch (Exception exception) {
            System.out.println(exception.getMessage());
        }
    }
}
