package scission.junit;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.opentest4j.TestAbortedException;

/** What {@link Watched} does around each test; its methods {@code @BeforeEach} and {@code @AfterEach} are part of it. */
public final class WatchedExtension implements BeforeEachCallback, AfterEachCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        if (!TestWatch.begin()) {
            throw new TestAbortedException(TestWatch.NOT_WATCHED);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        String method = context.getTestMethod().map(it -> it.getName()).orElse("test");
        TestWatch.end(context.getRequiredTestClass().getName() + "." + method);
    }
}
