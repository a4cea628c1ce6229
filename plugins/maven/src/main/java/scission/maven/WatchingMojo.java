package scission.maven;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugins.annotations.Parameter;
import scission.command.AgentArgument;
import scission.command.CommandException;
import scission.command.CommandLine;
import scission.command.WatchedJvms;

/** What the goals share that have tests watched. */
abstract class WatchingMojo extends ScissionMojo {
    /** Set on a project whose tests the agent is prepared for. */
    static final String PREPARED = "scission.prepared";

    /** The goals that start the JVMs of tests. */
    private static final Set<String> TEST_GOALS =
            Set.of("maven-surefire-plugin:test", "maven-failsafe-plugin:integration-test");

    /** The checkers to run, instead of the default ones. */
    @Parameter(property = "scission.monitors")
    private List<String> monitors;

    /** Delays threads where they could complete a violation: finds more, and takes longer. */
    @Parameter(property = "scission.adversarial", defaultValue = "false")
    private boolean adversarial;

    /** {@code exit} ends a JVM of tests once a deadlock or hang in it is reported, so that the build does not wait for ever. */
    @Parameter(property = "scission.onDeadlock")
    private String onDeadlock;

    /** After how many seconds in which no thread has moved a JVM is looked at for a hang. */
    @Parameter(property = "scission.hangAfter")
    private String hangAfter;

    static boolean runsTests(MojoExecution execution) {
        return execution.getGroupId().equals("org.apache.maven.plugins")
                && TEST_GOALS.contains(execution.getArtifactId() + ":" + execution.getGoal());
    }

    static boolean isFailsafe(MojoExecution execution) {
        return execution.getArtifactId().equals("maven-failsafe-plugin");
    }

    /** The JVMs of the tests of this module. */
    final WatchedJvms jvms() {
        return new WatchedJvms(outputDirectory().resolve("results"));
    }

    /** Removes what an earlier build found, and returns the word for {@code argLine} that loads the agent. */
    final String prepareAgent() throws CommandException {
        jvms().forget();
        // Failsafe puts the archive of the module on the class path, and not its classes.
        Path target = Path.of(project.getBuild().getDirectory());
        CommandLine flags = new CommandLine()
                .flag("--own-code", target.resolve(project.getBuild().getFinalName() + ".jar"))
                .eachFlag("--monitor", monitors)
                .words(adversarial ? List.of("--adversarial") : List.of())
                .flag("--on-deadlock", onDeadlock)
                .flag("--hang-after", hangAfter)
                .words(selection().words());
        String failure = "the tests of `" + project.getArtifactId() + "` cannot be watched";
        return AgentArgument.forArgLine(jvms().agentArgument(command(), flags, failure));
    }
}
