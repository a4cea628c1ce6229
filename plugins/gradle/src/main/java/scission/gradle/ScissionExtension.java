package scission.gradle;

import java.io.File;
import java.util.ArrayList;
import java.util.List;
import org.gradle.api.Project;
import scission.command.CommandException;
import scission.command.CommandLine;
import scission.command.Formats;
import scission.command.NativeCommand;

/**
 * The block {@code scission { … }} of a build script. Single values can be set for one build as well, with
 * {@code -Pscission.NAME=VALUE}, which comes before what the script says.
 */
public class ScissionExtension {
    private final Project project;
    private boolean skip;
    private String command;
    private List<String> includes = new ArrayList<>();
    private List<String> excludes = new ArrayList<>();
    private String level;
    private String failOn;
    private Object config;
    private List<String> arguments = new ArrayList<>();
    private Object outputDirectory;
    private List<String> formats = List.of("sarif", "html");
    private boolean writeBaseline;
    private List<String> rules = new ArrayList<>();
    private List<String> entryPoints = new ArrayList<>();
    private Object baseline = "scission-baseline.json";
    private List<String> monitors = new ArrayList<>();
    private boolean adversarial;
    private String onDeadlock;
    private String hangAfter;
    private boolean watch;

    public ScissionExtension(Project project) {
        this.project = project;
    }

    /** Does nothing. */
    public void setSkip(boolean skip) {
        this.skip = skip;
    }

    /** The command, with the agent library beside it. */
    public void setCommand(String command) {
        this.command = command;
    }

    /** Only classes and methods that match these patterns. */
    public void setIncludes(List<String> includes) {
        this.includes = includes;
    }

    /** No classes and methods that match these patterns. */
    public void setExcludes(List<String> excludes) {
        this.excludes = excludes;
    }

    /** The lowest severity to show. */
    public void setLevel(String level) {
        this.level = level;
    }

    /** The lowest severity that fails the build, or {@code never}. */
    public void setFailOn(String failOn) {
        this.failOn = failOn;
    }

    /** The configuration, instead of the nearest {@code scission.toml}. */
    public void setConfig(Object config) {
        this.config = config;
    }

    /** Further arguments of the command. */
    public void setArguments(List<String> arguments) {
        this.arguments = arguments;
    }

    /** Where reports go. */
    public void setOutputDirectory(Object outputDirectory) {
        this.outputDirectory = outputDirectory;
    }

    /** What is written besides JSON. */
    public void setFormats(List<String> formats) {
        this.formats = formats;
    }

    /** Accepts what is found. */
    public void setWriteBaseline(boolean writeBaseline) {
        this.writeBaseline = writeBaseline;
    }

    /** The rules to report. */
    public void setRules(List<String> rules) {
        this.rules = rules;
    }

    /** Methods that several threads may call. */
    public void setEntryPoints(List<String> entryPoints) {
        this.entryPoints = entryPoints;
    }

    /** The findings of {@code scissionCheck} that are known. */
    public void setBaseline(Object baseline) {
        this.baseline = baseline;
    }

    /** The checkers to run. */
    public void setMonitors(List<String> monitors) {
        this.monitors = monitors;
    }

    /** Delays threads where they could complete a violation. */
    public void setAdversarial(boolean adversarial) {
        this.adversarial = adversarial;
    }

    /** {@code exit} ends a JVM of tests once a deadlock or hang in it is reported. */
    public void setOnDeadlock(String onDeadlock) {
        this.onDeadlock = onDeadlock;
    }

    /** After how many seconds in which no thread has moved a JVM is looked at for a hang. */
    public void setHangAfter(Object hangAfter) {
        this.hangAfter = hangAfter.toString();
    }

    /** Has the tests watched whenever they run, and not for {@code scissionTest} alone. */
    public void setWatch(boolean watch) {
        this.watch = watch;
    }

    boolean isSkipped() {
        return flag("skip", skip);
    }

    boolean isWatched() {
        return flag("watch", watch);
    }

    boolean isBaselineWritten() {
        return flag("writeBaseline", writeBaseline);
    }

    String level() {
        return text("level", level);
    }

    String failOn() {
        return text("failOn", failOn);
    }

    File outputDirectory() {
        return outputDirectory == null ? new File(project.getBuildDir(), "scission") : project.file(outputDirectory);
    }

    File baseline() {
        return project.file(baseline);
    }

    /** The findings of a task with tests that are known. */
    File testBaseline(String task) {
        return project.file("scission-" + task + "-baseline.json");
    }

    Formats formats() throws CommandException {
        String named = text("formats", null);
        return Formats.parse(named == null ? formats : List.of(named.split(",")));
    }

    NativeCommand command() throws CommandException {
        String howNamed = "`command` of the plugin scission or -Pscission.command";
        PlatformDependency dependency = new PlatformDependency(project);
        return NativeCommand.find(text("command", command), howNamed, dependency, project.getProjectDir().toPath());
    }

    /** What selects classes, and what users add. */
    CommandLine selection() {
        return new CommandLine()
                .eachFlag("--include", includes)
                .eachFlag("--exclude", excludes)
                .flag("--config", config == null ? null : project.file(config))
                .words(arguments);
    }

    CommandLine forCheck() {
        return new CommandLine().eachFlag("--rule", rules).eachFlag("--entry-point", entryPoints);
    }

    /** How the JVMs of tests are watched. */
    CommandLine forWatching() {
        CommandLine flags = new CommandLine().eachFlag("--monitor", monitors);
        if (flag("adversarial", adversarial)) {
            flags.words("--adversarial");
        }
        flags.flag("--on-deadlock", text("onDeadlock", onDeadlock)).flag("--hang-after", text("hangAfter", hangAfter));
        return flags.words(selection().words());
    }

    private boolean flag(String name, boolean otherwise) {
        String text = text(name, null);
        return text == null ? otherwise : !text.equals("false");
    }

    private String text(String name, String otherwise) {
        Object value = project.findProperty("scission." + name);
        return value == null ? otherwise : value.toString();
    }
}
