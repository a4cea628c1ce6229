package scission.maven;

import java.io.File;
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
import scission.command.CommandException;
import scission.command.CommandLine;
import scission.command.Formats;
import scission.command.NativeCommand;
import scission.command.Report;

/** What the goals share: the parameters, the command, and how a report becomes the outcome of a build. */
abstract class ScissionMojo extends AbstractMojo {
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
            return;
        }
        try {
            run();
        } catch (CommandException error) {
            throw new MojoExecutionException(error.getMessage(), error);
        }
    }

    /** The work of a goal that is not skipped. */
    abstract void run() throws MojoExecutionException, MojoFailureException, CommandException;

    /** The command, wherever it is. */
    final NativeCommand command() throws CommandException {
        PlatformArtifact artifact = new PlatformArtifact(plugin, repositories, session, project);
        String howNamed = "<command> of the plugin scission or -Dscission.command";
        return NativeCommand.find(command, howNamed, artifact, project.getBasedir().toPath());
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
    final CommandLine selection() {
        return new CommandLine()
                .eachFlag("--include", includes)
                .eachFlag("--exclude", excludes)
                .flag("--config", config)
                .words(arguments);
    }

    /**
     * Runs a command that reports, writes its report in all formats, and fails the build if there are findings that count.
     * The sentence about findings begins with {@code found}, that about a command that could not do its work with
     * {@code failure}.
     */
    final void report(
            String name, CommandLine line, List<Path> sources, File baseline, String found, String failure)
            throws CommandException, MojoFailureException {
        NativeCommand scission = command();
        Formats written = Formats.parse(formats);
        Report report = new Report(name, outputDirectory())
                .formats(written)
                .sources(sources)
                .baseline(baseline.toPath(), writeBaseline)
                .severities(level, failOn);
        Report.Outcome outcome = report.write(scission, line.words(selection().words()), failure);
        ReactorReport.add(session, report.json(), sources);
        for (String shown : outcome.lines) {
            if (outcome.isFound) {
                getLog().warn(shown);
            } else {
                getLog().info(shown);
            }
        }
        ReactorReport.write(session, scission, written);
        if (writeBaseline) {
            getLog().info("what was found is known from now on: " + baseline);
        } else if (outcome.isFound) {
            throw new MojoFailureException(found + " in `" + project.getArtifactId() + "`: see above and `"
                    + relative(report.toLookAt()) + "`; correct them, suppress them in scission.toml with the reason, or "
                    + "accept what is there today with -Dscission.writeBaseline");
        }
    }

    /** A path as users of the module write it. */
    final String relative(Path path) {
        Path base = project.getBasedir().toPath();
        return path.startsWith(base) ? base.relativize(path).toString() : path.toString();
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
