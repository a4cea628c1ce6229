package scission.gradle;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gradle.api.Project;
import org.gradle.api.plugins.ExtraPropertiesExtension;
import scission.command.CommandException;
import scission.command.Formats;
import scission.command.ModulesReport;
import scission.command.NativeCommand;

/** What all projects of a build have found so far, as one report in the directory of the root project. */
final class BuildReport {
    private static final String KEY = "scissionReports";

    private BuildReport() {}

    /** Adds the report of a project, and writes what there is if there is more than one project. */
    static void add(Project project, Path json, List<Path> sources, NativeCommand scission, Formats formats)
            throws CommandException {
        Project root = project.getRootProject();
        if (root.getAllprojects().size() < 2) {
            return;
        }
        // Projects may be built at the same time, and each may have loaded this class by itself.
        synchronized (root) {
            Map<Path, List<Path>> reports = reports(root);
            reports.put(json, sources);
            File directory = new File(root.getBuildDir(), "scission");
            ModulesReport.write(scission, reports, directory.toPath(), formats);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<Path, List<Path>> reports(Project root) {
        ExtraPropertiesExtension properties = root.getExtensions().getExtraProperties();
        if (!properties.has(KEY)) {
            properties.set(KEY, new TreeMap<Path, List<Path>>());
        }
        return (Map<Path, List<Path>>) properties.get(KEY);
    }
}
