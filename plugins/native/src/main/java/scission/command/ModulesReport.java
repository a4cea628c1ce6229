package scission.command;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What all modules of a build have found so far, as one report. It is written again after each module, since nobody knows
 * which one is the last: a build may end at any of them.
 */
public final class ModulesReport {
    private ModulesReport() {}

    /** Puts reports together, which are given with the directories of their sources. */
    public static void write(
            NativeCommand scission, Map<Path, ? extends Collection<Path>> reports, Path directory, Formats formats)
            throws CommandException {
        if (!formats.hasPage && !formats.hasSarif) {
            return;
        }
        Report.createDirectory(directory);
        TreeSet<Path> sources = new TreeSet<>();
        reports.values().forEach(sources::addAll);
        CommandLine line = new CommandLine("report");
        new TreeMap<>(reports).keySet().forEach(json -> line.words(json.toString()));
        line.eachFlag("--source", sources).words("--no-config", "--fail-on", "never", "--color", "never");
        if (formats.hasPage) {
            line.flag("--html", directory.resolve("all.html"));
        }
        if (formats.hasSarif) {
            line.words("--format", "sarif", "--output", directory.resolve("all.sarif").toString());
        }
        scission.run(line).orFail("the report of all modules cannot be written");
    }
}
