package scission.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.lifecycle.LifecycleExecutor;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.BuildPluginManager;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;

/** What the goals share: the parameters, the command, and how a report becomes the outcome of a build. */
abstract class ScissionMojo extends AbstractMojo {
    /** What findings mean for a build. */
    private static final int NOTHING_FOUND = 0;
    private static final int FOUND = 1;

    /** Does nothing. */
    @Parameter(property = "scission.skip", defaultValue = "false")
    private boolean skip;

    /**
     * The {@code scission} command, with the agent library beside it. Unless set, it is searched for on the path, and then
     * in the artifact of this plugin that has the name of the platform as its classifier.
     */
    @Parameter(property = "scission.command")
    private String command;

    /** Only classes and methods that match these patterns, such as {@code com.acme.**}. */
    @Parameter(property = "scission.includes")
    private List<String> includes;

    /** No classes and methods that match these patterns. */
    @Parameter(property = "scission.excludes")
    private List<String> excludes;

    /** The lowest severity to show: {@code low}, {@code medium} or {@code high}. */
    @Parameter(property = "scission.level")
    private String level;

    /** The lowest severity that fails the build: {@code low}, {@code medium}, {@code high} or {@code never}. */
    @Parameter(property = "scission.failOn")
    private String failOn;

    /** The configuration; unless set, the nearest {@code scission.toml}, from the module upwards. */
    @Parameter(property = "scission.config")
    private File config;

    /** Writes the findings to the baseline, instead of failing because of them. */
    @Parameter(property = "scission.writeBaseline", defaultValue = "false")
    private boolean writeBaseline;

    /** Where reports go. */
    @Parameter(property = "scission.outputDirectory", defaultValue = "${project.build.directory}/scission")
    private File outputDirectory;

    /** The formats to write besides JSON: {@code sarif} and {@code html}. */
    @Parameter(property = "scission.formats", defaultValue = "sarif,html")
    private List<String> formats;

    /** Further arguments of the command, as {@code scission check --help} and {@code scission run --help} list them. */
    @Parameter(property = "scission.arguments")
    private List<String> arguments;

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    MavenProject project;

    @Parameter(defaultValue = "${session}", readonly = true, required = true)
    MavenSession session;

    @Parameter(defaultValue = "${mojoExecution}", readonly = true, required = true)
    MojoExecution execution;

    @Parameter(defaultValue = "${plugin}", readonly = true, required = true)
    private PluginDescriptor plugin;

    @Component
    private RepositorySystem repositories;

    @Component
    private LifecycleExecutor lifecycle;

    @Component
    private BuildPluginManager plugins;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            getLog().info("scission is skipped");
        } else {
            run();
        }
    }

    /** The work of a goal that is not skipped. */
    abstract void run() throws MojoExecutionException, MojoFailureException;

    /** The command, wherever it is. */
    final NativeCommand command() throws MojoExecutionException {
        String named = command == null || command.isBlank() ? null : command.trim();
        PlatformArtifact artifact = new PlatformArtifact(plugin, repositories, session, project);
        return NativeCommand.find(named, artifact, project.getBasedir().toPath());
    }

    /** The phases of this project. */
    final ProjectLifecycle lifecycle() {
        return new ProjectLifecycle(lifecycle, plugins, session, project, plugin, getLog());
    }

    /** Whether the goal was called by its name, and no phase has led to it. */
    final boolean isCalledByName() {
        return execution.getLifecyclePhase() == null;
    }

    final Path outputDirectory() {
        return outputDirectory.toPath();
    }

    /** What selects classes, and what users add. */
    final List<String> selection() {
        List<String> words = new ArrayList<>();
        addEach(words, "--include", includes);
        addEach(words, "--exclude", excludes);
        if (config != null) {
            add(words, "--config", config.getPath());
        }
        if (arguments != null) {
            words.addAll(arguments);
        }
        return words;
    }

    static void add(List<String> words, String flag, String value) {
        if (value != null && !value.isBlank()) {
            words.add(flag);
            words.add(value.trim());
        }
    }

    static void addEach(List<String> words, String flag, List<String> values) {
        if (values != null) {
            values.forEach(value -> add(words, flag, value));
        }
    }

    /**
     * Runs a command that reports, writes its report in all formats, and fails the build if there are findings that count.
     * Returns the exit code of a command that could not do its work, if {@code mayFail} says that the caller handles that.
     */
    final void report(Report report) throws MojoExecutionException, MojoFailureException {
        NativeCommand scission = command();
        Path directory = outputDirectory();
        createDirectory(directory);
        Path json = directory.resolve(report.name + ".json");
        List<String> words = new ArrayList<>(report.command);
        words.addAll(selection());
        add(words, "--level", level);
        add(words, "--fail-on", failOn);
        for (Path source : report.sources) {
            add(words, "--source", source.toString());
        }
        if (writeBaseline) {
            words.addAll(List.of("--no-baseline", "--write-baseline", report.baseline.toString()));
        } else if (Files.exists(report.baseline)) {
            add(words, "--baseline", report.baseline.toString());
        }
        words.addAll(List.of("--color", "never", "--format", "json", "--output", json.toString()));
        Path page = directory.resolve(report.name + ".html");
        boolean hasPage = hasFormat("html");
        if (hasPage) {
            add(words, "--html", page.toString());
        }
        remove(json);
        NativeCommand.Outcome outcome = scission.run(words);
        if (outcome.code != NOTHING_FOUND && outcome.code != FOUND) {
            String why = outcome.errorSentence();
            throw new MojoExecutionException(why.isEmpty() ? report.failure : report.failure + ": " + why);
        }
        remember(json, report.sources);
        // What the baseline and the configuration hide is not in the report; they do not apply twice.
        List<String> again = new ArrayList<>(List.of("report", json.toString(), "--no-config", "--fail-on", "never"));
        add(again, "--level", level);
        for (Path source : report.sources) {
            add(again, "--source", source.toString());
        }
        again.addAll(List.of("--color", "never"));
        NativeCommand.Outcome text = scission.run(again).orFail("the report `" + json + "` cannot be shown");
        boolean isFound = outcome.code == FOUND && !writeBaseline;
        for (String line : text.output.split("\n")) {
            if (isFound) {
                getLog().warn(line);
            } else {
                getLog().info(line);
            }
        }
        if (hasFormat("sarif")) {
            Path sarif = directory.resolve(report.name + ".sarif");
            again.addAll(List.of("--format", "sarif", "--output", sarif.toString()));
            scission.run(again).orFail("the report `" + sarif + "` cannot be written");
        }
        ReactorReport.write(session, scission, hasPage, hasFormat("sarif"));
        if (writeBaseline) {
            getLog().info("what was found is known from now on: " + report.baseline);
        } else if (isFound) {
            throw new MojoFailureException(report.found + " in `" + project.getArtifactId() + "`: see above and `"
                    + relative(hasPage ? page : json) + "`; correct them, suppress them in scission.toml with the reason, or "
                    + "accept what is there today with -Dscission.writeBaseline");
        }
    }

    private boolean hasFormat(String name) throws MojoExecutionException {
        for (String format : formats) {
            if (!List.of("sarif", "html", "json").contains(format.trim())) {
                throw new MojoExecutionException("there is no format `" + format.trim()
                        + "`: <formats> of the plugin scission takes `sarif`, `html` and `json`");
            }
        }
        return formats.stream().anyMatch(format -> format.trim().equals(name));
    }

    private void remember(Path json, List<Path> sources) {
        ReactorReport.add(session, json, sources);
    }

    /** A path as users of the module write it. */
    final String relative(Path path) {
        Path base = project.getBasedir().toPath();
        return path.startsWith(base) ? base.relativize(path).toString() : path.toString();
    }

    static void createDirectory(Path directory) throws MojoExecutionException {
        try {
            Files.createDirectories(directory);
        } catch (IOException error) {
            throw new MojoExecutionException("the directory `" + directory + "` for reports cannot be made", error);
        }
    }

    private static void remove(Path file) throws MojoExecutionException {
        try {
            Files.deleteIfExists(file);
        } catch (IOException error) {
            throw new MojoExecutionException("the report `" + file + "` of an earlier build cannot be removed", error);
        }
    }

    /** What distinguishes the report of one goal from that of another. */
    static final class Report {
        /** Of the files. */
        final String name;
        /** The command with its own arguments. */
        final List<String> command;
        final List<Path> sources;
        final Path baseline;
        /** The beginning of the sentence for a build that fails because of findings. */
        final String found;
        /** The beginning of the sentence for a command that could not do its work. */
        final String failure;

        Report(String name, List<String> command, List<Path> sources, Path baseline, String found, String failure) {
            this.name = name;
            this.command = command;
            this.sources = sources;
            this.baseline = baseline;
            this.found = found;
            this.failure = failure;
        }
    }

    /** The directories with sources that are there. */
    final List<Path> sources(List<String> roots) {
        List<Path> sources = new ArrayList<>();
        for (String root : roots) {
            Path path = Path.of(root);
            if (Files.isDirectory(path)) {
                sources.add(path);
            }
        }
        return sources;
    }
}
