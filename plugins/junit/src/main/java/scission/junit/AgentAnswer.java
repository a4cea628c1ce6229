package scission.junit;

import java.nio.file.Path;

/** What the agent says when it is asked for the findings so far; {@code java.lang.ScissionFindings} describes it. */
final class AgentAnswer {
    /** How many violations were seen. */
    final long violations;
    final Path library;
    /** The results of this process. */
    final Path results;

    private AgentAnswer(String text) {
        String[] lines = text.split("\n");
        violations = Long.parseLong(lines[0]);
        library = Path.of(lines[1]);
        results = Path.of(lines[2]);
    }

    /** Asks. Null if there is no agent, or it checks nothing. */
    static AgentAnswer ask() {
        try {
            Object text = Class.forName("java.lang.ScissionFindings").getMethod("soFar").invoke(null);
            return text == null ? null : new AgentAnswer((String) text);
        } catch (ReflectiveOperationException notThere) {
            return null;
        }
    }
}
