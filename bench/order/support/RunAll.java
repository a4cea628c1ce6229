import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * Runs many programs of this suite in one JVM, without any tool: `java RunAll ROUNDS NAME...`. Programs that end their JVM
 * must not be among them. Prints the good versions that do not give 42, and every version that fails.
 */
final class RunAll {
    private RunAll() {
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        int failures = 0;
        int skipped = 0;
        for (int index = 1; index < arguments.length; index++) {
            for (int round = 0; round < rounds; round++) {
                for (String version : new String[] {"good", "bad"}) {
                    long begun = System.nanoTime();
                    String problem = run(arguments[index], version);
                    long milliseconds = (System.nanoTime() - begun) / 1_000_000;
                    if (problem.equals("skipped")) {
                        skipped++;
                    } else if (!problem.isEmpty() || milliseconds > 1_000) {
                        failures++;
                        System.out.println(arguments[index] + " " + version + " " + milliseconds + " ms " + problem);
                    }
                }
            }
        }
        System.out.println((arguments.length - 1) + " programs, " + rounds + " rounds: " + failures
                + " failures, " + skipped + " skipped");
        System.exit(failures == 0 ? 0 : 1);
    }

    private static String run(String name, String version) throws ReflectiveOperationException {
        Method method = Class.forName(name).getDeclaredMethod(version);
        method.setAccessible(true);
        try {
            int value = (int) method.invoke(null);
            return version.equals("good") && value != 42 ? "gave " + value : "";
        } catch (InvocationTargetException failure) {
            return failure.getCause() instanceof UnsupportedOperationException ? "skipped" : "" + failure.getCause();
        }
    }
}
