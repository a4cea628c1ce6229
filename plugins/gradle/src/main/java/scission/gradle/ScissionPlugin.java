package scission.gradle;

import java.util.List;
import java.util.concurrent.Callable;
import org.gradle.api.Action;
import org.gradle.api.Plugin;
import org.gradle.api.Project;
import org.gradle.api.Task;
import org.gradle.api.execution.TaskExecutionGraph;
import org.gradle.api.plugins.JavaPlugin;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.SourceSetContainer;
import org.gradle.api.tasks.testing.Test;
import org.gradle.language.base.plugins.LifecycleBasePlugin;

/**
 * Adds tasks to a project with Java, Kotlin, Scala or Groovy: {@code scissionCheck} checks its classes and belongs to
 * {@code check}; {@code scissionTest} has all its tests watched, and reports what was observed.
 */
public final class ScissionPlugin implements Plugin<Project> {
    static final String EXTENSION = "scission";
    static final String CHECK = "scissionCheck";
    static final String TEST = "scissionTest";

    @Override
    public void apply(Project project) {
        ScissionExtension extension =
                project.getExtensions().create(EXTENSION, ScissionExtension.class, project);
        project.getPlugins().withType(JavaPlugin.class, plugin -> addTasks(project, extension));
    }

    private static void addTasks(Project project, ScissionExtension extension) {
        // The one way to it that all versions have.
        SourceSetContainer sourceSets = (SourceSetContainer) project.property("sourceSets");
        SourceSet main = sourceSets.getByName(SourceSet.MAIN_SOURCE_SET_NAME);

        CheckTask check = project.getTasks().create(CHECK, CheckTask.class);
        check.setDescription("Finds synchronization defects in the classes of this project.");
        check.use(extension, main);
        check.dependsOn(main.getOutput(), main.getRuntimeClasspath(), main.getCompileClasspath());
        project.getTasks().getByName(LifecycleBasePlugin.CHECK_TASK_NAME).dependsOn(check);

        Task test = project.getTasks().create(TEST);
        test.setGroup(LifecycleBasePlugin.VERIFICATION_GROUP);
        test.setDescription("Runs the tests, watched, and reports the synchronization defects that were observed.");
        project.getTasks().withType(Test.class).all(watched -> {
            String name = TestReportTask.nameFor(watched.getName());
            TestReportTask report = project.getTasks().create(name, TestReportTask.class);
            report.setDescription("Reports what was observed while the tests of " + watched.getName() + " ran.");
            report.use(extension, watched, sourceSets);
            // What a failed test has shown is reported too: no dependency, which a failure would cut.
            report.mustRunAfter(watched);
            watched.finalizedBy(report);
            test.dependsOn(watched, report);
        });
        project.getGradle().getTaskGraph().whenReady(new Action<TaskExecutionGraph>() {
            @Override
            public void execute(TaskExecutionGraph graph) {
                boolean isWatched = graph.getAllTasks().contains(test) || extension.isWatched();
                if (isWatched && !extension.isSkipped()) {
                    project.getTasks().withType(TestReportTask.class).all(report -> report.watch(graph));
                }
            }
        });
        // `check` of a project whose tests are always watched is not green before what they showed was read.
        project.getTasks().getByName(LifecycleBasePlugin.CHECK_TASK_NAME).dependsOn((Callable<Object>)
                () -> extension.isWatched() ? test : List.of());
    }
}
