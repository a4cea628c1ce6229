package scission.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/** A command that reports, with its report in all formats that a build wants, in one directory. */
public final class Report {
    /** What findings mean for a build. */
    private static final int NOTHING_FOUND = 0;

    private static final int FOUND = 1;

    private final String name;
    private final Path directory;
    private Formats formats = Formats.ALL;
    private Collection<Path> sources = List.of();
    private Path baseline;
    private boolean writesBaseline;
    private String level;
    private String failOn;

    /** The name is that of the files, without what tells their format. */
    public Report(String name, Path directory) {
        this.name = name;
        this.directory = directory;
    }

    public Report formats(Formats formats) {
        this.formats = formats;
        return this;
    }

    /** Directories with sources, to quote lines from. */
    public Report sources(Collection<Path> sources) {
        this.sources = sources;
        return this;
    }

    /** The findings that are known; the file need not be there. If it is to be written, nothing that is found counts. */
    public Report baseline(Path baseline, boolean isWritten) {
        this.baseline = baseline;
        this.writesBaseline = isWritten;
        return this;
    }

    /** The lowest severities to show, and to fail the build. */
    public Report severities(String level, String failOn) {
        this.level = level;
        this.failOn = failOn;
        return this;
    }

    public Path json() {
        return directory.resolve(name + ".json");
    }

    /** What users are told to look at. */
    public Path toLookAt() {
        return formats.hasPage ? directory.resolve(name + ".html") : json();
    }

    /** Runs the command. A sentence about one that could not do its work begins with {@code failure}. */
    public Outcome write(NativeCommand scission, CommandLine command, String failure) throws CommandException {
        createDirectory(directory);
        CommandLine line = command.copy();
        addPresentation(line).flag("--fail-on", failOn);
        if (writesBaseline) {
            line.words("--no-baseline", "--write-baseline", baseline.toString());
        } else if (Files.exists(baseline)) {
            line.flag("--baseline", baseline);
        }
        line.words("--color", "never", "--format", "json", "--output", json().toString());
        if (formats.hasPage) {
            line.flag("--html", directory.resolve(name + ".html"));
        }
        try {
            Files.deleteIfExists(json());
        } catch (IOException error) {
            throw new CommandException("the report `" + json() + "` of an earlier build cannot be removed", error);
        }
        NativeCommand.Outcome outcome = scission.run(line);
        if (outcome.code != NOTHING_FOUND && outcome.code != FOUND) {
            String why = outcome.errorSentence();
            throw new CommandException(why.isEmpty() ? failure : failure + ": " + why);
        }
        // What the baseline and the configuration hide is not in the report; they do not apply twice.
        CommandLine again = new CommandLine("report", json().toString(), "--no-config", "--fail-on", "never");
        addPresentation(again).words("--color", "never");
        String text = scission.run(again).orFail("the report `" + json() + "` cannot be shown").output;
        if (formats.hasSarif) {
            Path sarif = directory.resolve(name + ".sarif");
            again.words("--format", "sarif", "--output", sarif.toString());
            scission.run(again).orFail("the report `" + sarif + "` cannot be written");
        }
        return new Outcome(outcome.code == FOUND && !writesBaseline, text);
    }

    private CommandLine addPresentation(CommandLine line) {
        return line.flag("--level", level).eachFlag("--source", sources);
    }

    static void createDirectory(Path directory) throws CommandException {
        try {
            Files.createDirectories(directory);
        } catch (IOException error) {
            throw new CommandException("the directory `" + directory + "` for reports cannot be made", error);
        }
    }

    /** What came of it. */
    public static final class Outcome {
        /** Whether there are findings that fail a build. */
        public final boolean isFound;
        /** The report as text. */
        public final List<String> lines;

        Outcome(boolean isFound, String text) {
            this.isFound = isFound;
            this.lines = List.of(text.split("\n"));
        }
    }
}
