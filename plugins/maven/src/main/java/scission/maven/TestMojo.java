package scission.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluationException;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import scission.command.CommandException;

/**
 * Finds synchronization defects while the tests of a module run, those of Surefire and those of Failsafe. Called by its
 * name, it runs all phases that the tests need. In a phase, it runs the tests once more, watched, or, after
 * {@code prepare}, reports what was found when they ran.
 */
@Mojo(
        name = "test",
        defaultPhase = LifecyclePhase.VERIFY,
        requiresDependencyResolution = ResolutionScope.TEST,
        threadSafe = true)
public final class TestMojo extends WatchingMojo {
    private static final String ARG_LINE = "argLine";

    /** What must be there while tests of Failsafe run. */
    private static final Set<String> INTEGRATION_PHASES =
            Set.of("pre-integration-test", "integration-test", "post-integration-test");

    /** The findings that are known; the file need not be there. */
    @Parameter(property = "scission.testBaseline", defaultValue = "${project.basedir}/scission-test-baseline.json")
    private File testBaseline;

    @Override
    void run() throws MojoExecutionException, MojoFailureException, CommandException {
        MojoFailureException failed = null;
        if (project.getContextValue(PREPARED) == null) {
            String agent = prepareAgent();
            ProjectLifecycle lifecycle = lifecycle();
            for (MojoExecution execution : toExecute(lifecycle.plan("verify"))) {
                // After a failed test nothing is executed but what stops servers.
                boolean isCleanup = "post-integration-test".equals(execution.getLifecyclePhase());
                if (failed != null && !isCleanup) {
                    continue;
                }
                try {
                    if (runsTests(execution)) {
                        watch(lifecycle, execution, agent);
                    } else {
                        lifecycle.execute(execution);
                    }
                } catch (MojoFailureException error) {
                    failed = error;
                }
            }
        }
        if (jvms().count() == 0) {
            if (failed != null) {
                throw failed;
            }
            requireNoTests();
            return;
        }
        List<Path> sources = sources(project.getCompileSourceRoots());
        sources.addAll(sources(project.getTestCompileSourceRoots()));
        try {
            report(
                    "test",
                    jvms().report(),
                    sources,
                    testBaseline,
                    "scission observed defects while tests ran",
                    "no class of `" + project.getArtifactId() + "` was watched to the end of its tests, so nobody knows "
                            + "what they would show");
        } catch (MojoFailureException found) {
            if (failed != null) {
                found.addSuppressed(failed);
                throw new MojoFailureException(failed.getMessage() + "\nAnd " + found.getMessage(), found);
            }
            throw found;
        }
        if (failed != null) {
            throw failed;
        }
    }

    /** What is to be executed so that all tests run: everything up to the last ones, or in a phase only what they need. */
    private List<MojoExecution> toExecute(List<MojoExecution> plan) {
        int last = -1;
        boolean hasFailsafe = false;
        for (int index = 0; index < plan.size(); index++) {
            MojoExecution execution = plan.get(index);
            if (runsTests(execution) || isFailsafe(execution)) {
                last = index;
                hasFailsafe |= isFailsafe(execution);
            }
        }
        List<MojoExecution> executed = new ArrayList<>();
        for (MojoExecution execution : plan.subList(0, last + 1)) {
            boolean isNeeded = runsTests(execution)
                    || isFailsafe(execution)
                    || hasFailsafe && INTEGRATION_PHASES.contains(execution.getLifecyclePhase());
            if (isNeeded || isCalledByName()) {
                executed.add(execution);
            }
        }
        return executed;
    }

    /** Runs tests with the agent, and makes sure that it was there. */
    private void watch(ProjectLifecycle lifecycle, MojoExecution execution, String agent)
            throws MojoExecutionException, MojoFailureException, CommandException {
        Xpp3Dom configuration = execution.getConfiguration();
        Xpp3Dom argLine = configuration.getChild(ARG_LINE);
        if (argLine == null) {
            argLine = new Xpp3Dom(ARG_LINE);
            configuration.addChild(argLine);
        }
        // Only now: plugins such as those for coverage have set the property in the meantime.
        String present = evaluated(execution, ARG_LINE);
        argLine.setValue(present.isBlank() ? agent : agent + " " + present);
        long jvms = jvms().count();
        Map<Path, Long> before = testReports(execution);
        try {
            lifecycle.execute(execution);
        } catch (MojoExecutionException ended) {
            // A JVM that ended among its tests, after a deadlock say, has left what was found.
            if (jvms().count() > jvms) {
                throw new MojoFailureException(ended.getMessage(), ended);
            }
            throw ended;
        } finally {
            boolean ran = !testReports(execution).equals(before);
            if (ran && jvms().count() == jvms) {
                String why = "the tests of `" + project.getArtifactId() + "` ran in no JVM that was watched ("
                        + execution.getArtifactId() + ", execution " + execution.getExecutionId()
                        + "): they need a JVM of their own, so <forkCount> must not be 0, and <jvm> must be Java 11 or newer";
                throw new MojoExecutionException(why);
            }
        }
    }

    /** The value of a parameter as the plugin will see it; empty if it has none. */
    private String evaluated(MojoExecution execution, String name) throws MojoExecutionException {
        Xpp3Dom parameter = execution.getConfiguration().getChild(name);
        if (parameter == null) {
            return "";
        }
        String text = parameter.getValue() != null ? parameter.getValue() : parameter.getAttribute("default-value");
        if (text == null) {
            return "";
        }
        try {
            Object value = new PluginParameterExpressionEvaluator(session, execution).evaluate(text, String.class);
            if (value == null) {
                String otherwise = parameter.getAttribute("default-value");
                value = otherwise == null
                        ? ""
                        : new PluginParameterExpressionEvaluator(session, execution).evaluate(otherwise, String.class);
            }
            // What has no value is not replaced.
            return value == null ? "" : value.toString().replace("${" + name + "}", "");
        } catch (ExpressionEvaluationException error) {
            throw new MojoExecutionException("the parameter `" + name + "` of " + execution.getArtifactId()
                    + " cannot be read: " + error.getMessage(), error);
        }
    }

    /** The reports of tests that there are, and when they were written. */
    private Map<Path, Long> testReports(MojoExecution execution) throws MojoExecutionException {
        String named = evaluated(execution, "reportsDirectory");
        Path directory = project.getBasedir().toPath().resolve(named);
        Map<Path, Long> reports = new TreeMap<>();
        if (named.isEmpty() || !Files.isDirectory(directory)) {
            return reports;
        }
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.collect(Collectors.toList())) {
                if (Files.isRegularFile(file)) {
                    reports.put(file, Files.getLastModifiedTime(file).toMillis());
                }
            }
            return reports;
        } catch (IOException error) {
            throw new MojoExecutionException("the reports of tests in `" + directory + "` cannot be read", error);
        }
    }

    /** Nobody was watched: that is right only if there was nobody. */
    private void requireNoTests() throws MojoExecutionException {
        String module = project.getArtifactId();
        if (isSet("skipTests") || isSet("maven.test.skip")) {
            getLog().warn("the tests of `" + module + "` are skipped: nothing was watched");
            return;
        }
        boolean wasPrepared = project.getContextValue(PREPARED) != null;
        Path target = Path.of(project.getBuild().getDirectory());
        if (wasPrepared && (hasReports(target.resolve("surefire-reports")) || hasReports(target.resolve("failsafe-reports")))) {
            throw new MojoExecutionException("the tests of `" + module + "` ran in no JVM that was watched: they need a JVM of "
                    + "their own, so <forkCount> of Surefire must not be 0, and its <argLine> must contain `@{argLine}`");
        }
        getLog().info("no tests of `" + module + "` ran: there is nothing to report");
    }

    private boolean isSet(String property) {
        String value = session.getUserProperties().getProperty(property, project.getProperties().getProperty(property));
        return value != null && !value.equals("false");
    }

    private static boolean hasReports(Path directory) {
        String[] names = directory.toFile().list();
        return names != null && names.length > 0;
    }
}
