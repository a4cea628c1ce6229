package scission.junit;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.opentest4j.TestAbortedException;

/** What {@link Watched} does around each test; its methods {@code @BeforeEach} and {@code @AfterEach} are part of it. */
public final class WatchedExtension implements BeforeEachCallback, AfterEachCallback {
    private static final Namespace OURS = Namespace.create(WatchedExtension.class);
    private static final String BEGUN = "begun";

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!TestWatch.begin()) {
            throw new TestAbortedException(TestWatch.NOT_WATCHED);
        }
        context.getStore(OURS).put(BEGUN, Boolean.TRUE);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        // JUnit also gets here if the test was never begun.
        if (context.getStore(OURS).get(BEGUN) == null) {
            return;
        }
        String method = context.getTestMethod().map(it -> it.getName()).orElse("test");
        TestWatch.end(context.getRequiredTestClass().getName() + "." + method);
    }
}
