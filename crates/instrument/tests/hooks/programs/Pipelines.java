import java.util.Hashtable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

class Pipelines {
    public static void main(String[] arguments) {
        CompletableFuture<Integer> one = CompletableFuture.completedFuture(1);
        CompletableFuture<Integer> two = one.thenApply(number -> number + 1);
        CompletableFuture.allOf(one, two).join();
        System.out.println(two.join());
        System.out.println(IntStream.range(0, 3).map(number -> number * 2).sum());
        Hashtable<String, Integer> table = new Hashtable<>();
        table.put("one", 1);
        System.out.println(table.toString());
    }
}
