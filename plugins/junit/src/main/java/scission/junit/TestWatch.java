package scission.junit;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * What was found before a test and after it. The agent is asked for a number that grows with each violation; only when it has
 * grown, the findings themselves are read, which takes a process.
 */
final class TestWatch {
    static final String NOT_WATCHED = "this test is not watched: run it with `mvn scission:test` or after `scission run --`";

    /** What to do with tests that are not watched: {@code fail} or {@code skip}. */
    private static final String UNWATCHED = "scission.unwatched";

    /** How many violations were seen when {@link #known} was read. */
    private static long violations;

    /** The fingerprints of the findings so far, and how often each was seen. */
    private static Map<String, Long> known = new HashMap<>();

    private TestWatch() {}

    /** Before a test. Says whether it is watched; an unwatched one fails, unless it is to be skipped. */
    static synchronized boolean begin() {
        AgentAnswer answer = AgentAnswer.ask();
        if (answer == null) {
            String action = System.getProperty(UNWATCHED, "fail");
            if (action.equals("skip")) {
                return false;
            }
            throw new AssertionError(NOT_WATCHED + "; with -D" + UNWATCHED + "=skip it is skipped otherwise");
        }
        if (answer.violations != violations) {
            // What happened outside of watched tests is not blamed on the next one.
            read(answer);
        }
        return true;
    }

    /** After a test. Fails if something was seen that had not been seen before it. */
    static synchronized void end(String test) {
        AgentAnswer answer = AgentAnswer.ask();
        if (answer == null) {
            throw new AssertionError(test + " was not watched to its end: the agent gives no answer");
        }
        if (answer.violations == violations) {
            return;
        }
        Map<String, Long> before = known;
        FindingsReport report = read(answer);
        FindingsReport found = report.without(before);
        if (!found.isEmpty()) {
            throw new AssertionError(found.text(test));
        }
    }

    private static FindingsReport read(AgentAnswer answer) {
        try {
            FindingsReport report = FindingsReport.read(answer);
            violations = answer.violations;
            known = report.counts();
            return report;
        } catch (IOException error) {
            throw new AssertionError("something was observed, and cannot be shown: " + error.getMessage(), error);
        }
    }
}
