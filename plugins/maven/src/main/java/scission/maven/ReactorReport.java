package scission.maven;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.project.MavenProject;
import scission.command.CommandException;
import scission.command.Formats;
import scission.command.ModulesReport;
import scission.command.NativeCommand;

/** What all modules of a build have found so far, as one report in the directory of the top module. */
final class ReactorReport {
    private static final String KEY = "scission.reports";

    private ReactorReport() {}

    /** Notes that a module has written a report. */
    static synchronized void add(MavenSession session, Path json, List<Path> sources) {
        reports(session).put(json, sources);
    }

    /** Writes what there is, if there is more than one module. */
    static synchronized void write(MavenSession session, NativeCommand scission, Formats formats)
            throws CommandException {
        if (session.getProjects().size() > 1) {
            Path directory = Path.of(session.getTopLevelProject().getBuild().getDirectory(), "scission");
            ModulesReport.write(scission, reports(session), directory, formats);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<Path, List<Path>> reports(MavenSession session) {
        MavenProject top = session.getTopLevelProject();
        Object present = top.getContextValue(KEY);
        if (present == null) {
            present = new LinkedHashMap<Path, List<Path>>();
            top.setContextValue(KEY, present);
        }
        return (Map<Path, List<Path>>) present;
    }
}
