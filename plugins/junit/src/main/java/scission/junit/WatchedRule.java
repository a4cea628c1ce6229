package scission.junit;

import org.junit.AssumptionViolatedException;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

/**
 * The same as {@link Watched}, as a rule of JUnit 4 for all tests of a class:
 *
 * <pre>
 * &#64;Rule
 * public final WatchedRule watched = new WatchedRule();
 * </pre>
 */
public final class WatchedRule implements TestRule {
    @Override
    public Statement apply(Statement test, Description description) {
        return new Statement() {
            @Override
            public void evaluate() throws Throwable {
                if (!TestWatch.begin()) {
                    throw new AssumptionViolatedException(TestWatch.NOT_WATCHED);
                }
                String name = description.getClassName() + "." + description.getMethodName();
                try {
                    test.evaluate();
                } catch (Throwable failure) {
                    try {
                        TestWatch.end(name);
                    } catch (AssertionError found) {
                        failure.addSuppressed(found);
                    }
                    throw failure;
                }
                TestWatch.end(name);
            }
        };
    }
}
