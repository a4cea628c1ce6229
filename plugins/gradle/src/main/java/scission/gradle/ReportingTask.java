package scission.gradle;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.gradle.api.DefaultTask;
import org.gradle.api.GradleException;
import org.gradle.language.base.plugins.LifecycleBasePlugin;
import scission.command.CommandException;
import scission.command.CommandLine;
import scission.command.NativeCommand;
import scission.command.Report;

/** A task whose result is a report. It is never up to date: what it says depends on files that nobody has declared. */
public abstract class ReportingTask extends DefaultTask {
    private ScissionExtension extension;

    ReportingTask() {
        setGroup(LifecycleBasePlugin.VERIFICATION_GROUP);
        getOutputs().upToDateWhen(task -> false);
    }

    final void use(ScissionExtension extension) {
        this.extension = extension;
        onlyIf(task -> !extension.isSkipped());
    }

    final ScissionExtension extension() {
        return extension;
    }

    /**
     * Runs a command that reports, and fails the build if there are findings that count. The sentence about findings begins
     * with {@code found}, that about a command that could not do its work with {@code failure}.
     */
    final void report(
            String name, CommandLine line, Collection<File> sources, File baseline, String found, String failure) {
        try {
            NativeCommand scission = extension.command();
            boolean isWritten = extension.isBaselineWritten();
            Report report = new Report(name, extension.outputDirectory().toPath())
                    .formats(extension.formats())
                    .sources(directories(sources))
                    .baseline(baseline.toPath(), isWritten)
                    .severities(extension.level(), extension.failOn());
            Report.Outcome outcome =
                    report.write(scission, line.words(extension.selection().words()), failure);
            for (String shown : outcome.lines) {
                if (outcome.isFound) {
                    getLogger().warn(shown);
                } else {
                    getLogger().lifecycle(shown);
                }
            }
            BuildReport.add(getProject(), report.json(), directories(sources), scission, extension.formats());
            if (isWritten) {
                getLogger().lifecycle("what was found is known from now on: {}", baseline);
            } else if (outcome.isFound) {
                throw new GradleException(found + " in `" + getProject().getName() + "`: see above and `"
                        + getProject().relativePath(report.toLookAt().toFile())
                        + "`; correct them, suppress them in scission.toml with the reason, or accept what is there today "
                        + "with -Pscission.writeBaseline");
            }
        } catch (CommandException error) {
            throw new GradleException(error.getMessage(), error);
        }
    }

    private static List<Path> directories(Collection<File> files) {
        List<Path> directories = new ArrayList<>();
        for (File file : files) {
            if (file.isDirectory()) {
                directories.add(file.toPath());
            }
        }
        return directories;
    }
}
