// Promise: CompletionStage: each stage runs after the one it depends on.
// Way: the actions of the chain are method references of an object, each may run in another thread.
// Bad twin: the object's methods are run by two chains.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class MethodReferenceChain {
    static class Cell {
        int value;
    }

    static class Work {
        final Cell cell = new Cell();

        void add() {
            for (int round = 0; round < 7; round++) {
                cell.value += 3;
                Pair.pause();
            }
        }
    }

    static int good() throws Exception {
        Work work = new Work();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture.runAsync(work::add, pool).thenRunAsync(work::add, pool).join();
        pool.shutdown();
        return work.cell.value;
    }

    static int bad() throws Exception {
        Work work = new Work();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CompletableFuture<Void> first = CompletableFuture.runAsync(work::add, pool);
        CompletableFuture<Void> second = CompletableFuture.runAsync(work::add, pool);
        first.join();
        second.join();
        pool.shutdown();
        return work.cell.value;
    }

    public static void main(String[] arguments) throws Exception {
        Pair.main(arguments, MethodReferenceChain::good, MethodReferenceChain::bad);
    }
}
