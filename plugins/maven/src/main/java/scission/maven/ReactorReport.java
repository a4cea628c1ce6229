package scission.maven;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.project.MavenProject;

/**
 * What all modules of a build have found so far, as one report in the directory of the top module. It is written again after
 * each module, since nobody knows which one is the last: a build may end at any of them.
 */
final class ReactorReport {
    private static final String KEY = "scission.reports";

    private ReactorReport() {}

    /** Notes that a module has written a report. */
    static synchronized void add(MavenSession session, Path json, List<Path> sources) {
        reports(session).put(json, sources);
    }

    /** Writes what there is, if there is more than one module. */
    static synchronized void write(MavenSession session, NativeCommand scission, boolean hasPage, boolean hasSarif)
            throws MojoExecutionException {
        Map<Path, List<Path>> reports = reports(session);
        if (session.getProjects().size() < 2 || !(hasPage || hasSarif)) {
            return;
        }
        MavenProject top = session.getTopLevelProject();
        Path directory = Path.of(top.getBuild().getDirectory(), "scission");
        ScissionMojo.createDirectory(directory);
        List<String> words = new ArrayList<>(List.of("report"));
        new TreeMap<>(reports).keySet().forEach(json -> words.add(json.toString()));
        TreeSet<Path> sources = new TreeSet<>();
        reports.values().forEach(sources::addAll);
        sources.forEach(source -> ScissionMojo.add(words, "--source", source.toString()));
        words.addAll(List.of("--no-config", "--fail-on", "never", "--color", "never"));
        if (hasPage) {
            ScissionMojo.add(words, "--html", directory.resolve("all.html").toString());
        }
        if (hasSarif) {
            words.addAll(List.of("--format", "sarif", "--output", directory.resolve("all.sarif").toString()));
        }
        scission.run(words).orFail("the report of all modules cannot be written");
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
