package scission.gradle;

import java.io.File;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.gradle.api.tasks.SourceSet;
import org.gradle.api.tasks.TaskAction;
import scission.command.CommandLine;

/** Finds synchronization defects in the classes of a project, without running them. */
public class CheckTask extends ReportingTask {
    private SourceSet main;

    final void use(ScissionExtension extension, SourceSet main) {
        use(extension);
        this.main = main;
    }

    /** Checks the classes of all languages, with the class path that they were compiled with and that they run with. */
    @TaskAction
    public void check() {
        Set<File> classes = present(main.getOutput().getClassesDirs());
        if (classes.isEmpty()) {
            getLogger().lifecycle("there are no classes to check in `{}`", getProject().getName());
            return;
        }
        Set<File> classPath = present(main.getCompileClasspath());
        classPath.addAll(present(main.getRuntimeClasspath()));
        classPath.removeAll(classes);
        CommandLine line = new CommandLine("check");
        classes.forEach(directory -> line.words(directory.getPath()));
        line.words("--no-progress")
                .flag("--class-path", classPath.stream().map(File::getPath).collect(Collectors.joining(File.pathSeparator)))
                .words(extension().forCheck().words());
        report(
                "check",
                line,
                main.getAllSource().getSrcDirs(),
                extension().baseline(),
                "scission check found defects",
                "the classes of `" + getProject().getName() + "` could not be checked");
    }

    private static Set<File> present(Iterable<File> files) {
        Set<File> present = new LinkedHashSet<>();
        files.forEach(file -> {
            if (file.exists()) {
                present.add(file);
            }
        });
        return present;
    }
}
