package scission.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Parameter;

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

    static boolean runsTests(MojoExecution execution) {
        return execution.getGroupId().equals("org.apache.maven.plugins")
                && TEST_GOALS.contains(execution.getArtifactId() + ":" + execution.getGoal());
    }

    static boolean isFailsafe(MojoExecution execution) {
        return execution.getArtifactId().equals("maven-failsafe-plugin");
    }

    /** Where JVMs leave what they found. */
    final Path results() {
        return outputDirectory().resolve("results");
    }

    /** Removes what an earlier build found, and returns the word for {@code argLine} that loads the agent. */
    final String prepareAgent() throws MojoExecutionException {
        Path results = results();
        createDirectory(outputDirectory());
        try {
            if (Files.exists(results)) {
                try (Stream<Path> files = Files.walk(results)) {
                    for (Path file : files.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) {
                        Files.delete(file);
                    }
                }
            }
        } catch (IOException error) {
            throw new MojoExecutionException("the results of an earlier build in `" + results + "` cannot be removed", error);
        }
        List<String> words = new ArrayList<>(List.of("run", "--print-options", "--results", results.toString()));
        // Failsafe puts the archive of the module on the class path, and not its classes.
        Path target = Path.of(project.getBuild().getDirectory());
        add(words, "--own-code", target.resolve(project.getBuild().getFinalName() + ".jar").toString());
        addEach(words, "--monitor", monitors);
        if (adversarial) {
            words.add("--adversarial");
        }
        words.addAll(selection());
        String printed = command().run(words).orFail("the tests of `" + project.getArtifactId() + "` cannot be watched").output;
        return AgentArgument.forArgLine(AgentArgument.parse(printed));
    }

    /** How many JVMs have left results. */
    final long watchedJvms() throws MojoExecutionException {
        Path results = results();
        if (!Files.isDirectory(results)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(results)) {
            return files.filter(file -> file.toString().endsWith(".json")).count();
        } catch (IOException error) {
            throw new MojoExecutionException("the results in `" + results + "` cannot be read", error);
        }
    }
}
