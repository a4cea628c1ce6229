package scission.gradle;

import java.io.File;
import java.util.LinkedHashSet;
import java.util.Set;
import org.gradle.api.GradleException;
import org.gradle.api.execution.TaskExecutionGraph;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.TaskAction;
import org.gradle.api.tasks.testing.Test;
import scission.command.CommandException;
import scission.command.WatchedJvms;

/** Reports what was observed in the tests of one task, if they are watched in this build. */
public class TestReportTask extends ReportingTask {
    private Test test;
    private SourceSetContainer sourceSets;
    private boolean isWatched;

    /** {@code scissionTestReport} for {@code test}. */
    static String nameFor(String task) {
        return "scission" + task.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + task.substring(1) + "Report";
    }

    final void use(ScissionExtension extension, Test test, SourceSetContainer sourceSets) {
        use(extension);
        this.test = test;
        this.sourceSets = sourceSets;
        onlyIf(task -> isWatched);
    }

    /** Has the tests watched. */
    final void watch(TaskExecutionGraph graph) {
        isWatched = true;
        if (graph.hasTask(test)) {
            WatchedTest.prepare(test, extension());
        }
    }

    /** Reports, and makes sure that what ran was watched. */
    @TaskAction
    public void reportWatched() {
        String project = getProject().getName();
        WatchedJvms jvms = WatchedTest.jvms(test, extension());
        boolean isInBuild = getProject().getGradle().getTaskGraph().hasTask(test);
        try {
            if (!isInBuild || jvms.count() == 0) {
                if (isInBuild && test.getDidWork()) {
                    throw new GradleException("the tests of `" + project + "` (" + test.getPath()
                            + ") ran in no JVM that was watched: their JVM must be Java 11 or newer, and nothing may set its "
                            + "arguments while they run");
                }
                getLogger().warn("no tests of `{}` ({}) ran: nothing was watched", project, test.getPath());
                return;
            }
        } catch (CommandException error) {
            throw new GradleException(error.getMessage(), error);
        }
        Set<File> sources = new LinkedHashSet<>();
        sourceSets.forEach(set -> sources.addAll(set.getAllSource().getSrcDirs()));
        report(
                test.getName(),
                jvms.report(),
                sources,
                extension().testBaseline(test.getName()),
                "scission observed defects while tests ran",
                "no class of `" + project + "` was watched to the end of its tests, so nobody knows what they would show");
    }
}
