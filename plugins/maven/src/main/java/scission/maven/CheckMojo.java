package scission.maven;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import scission.command.CommandException;
import scission.command.CommandLine;

/** Finds synchronization defects in the classes of a module, without running them. */
@Mojo(
        name = "check",
        defaultPhase = LifecyclePhase.VERIFY,
        requiresDependencyResolution = ResolutionScope.COMPILE_PLUS_RUNTIME,
        threadSafe = true)
public final class CheckMojo extends ScissionMojo {
    /** The rules to report, instead of the default ones. */
    @Parameter(property = "scission.rules")
    private List<String> rules;

    /** Methods that several threads may call, such as {@code com.acme.Server.handle*}. */
    @Parameter(property = "scission.entryPoints")
    private List<String> entryPoints;

    /** The findings that are known; the file need not be there. */
    @Parameter(property = "scission.baseline", defaultValue = "${project.basedir}/scission-baseline.json")
    private File baseline;

    @Override
    void run() throws MojoExecutionException, MojoFailureException, CommandException {
        if (isCalledByName() && !project.hasLifecyclePhase("compile")) {
            lifecycle().runThrough("process-classes");
        }
        Path classes = Path.of(project.getBuild().getOutputDirectory());
        if (!Files.isDirectory(classes)) {
            getLog().info("there are no classes to check in `" + project.getArtifactId() + "`");
            return;
        }
        String classPath = String.join(File.pathSeparator, classPath(classes));
        CommandLine line = new CommandLine("check", classes.toString(), "--no-progress")
                .flag("--class-path", classPath)
                .eachFlag("--rule", rules)
                .eachFlag("--entry-point", entryPoints);
        report(
                "check",
                line,
                sources(project.getCompileSourceRoots()),
                baseline,
                "scission check found defects",
                "the classes of `" + project.getArtifactId() + "` could not be checked");
    }

    private Set<String> classPath(Path classes) throws MojoExecutionException {
        try {
            Set<String> elements = new LinkedHashSet<>(project.getCompileClasspathElements());
            elements.addAll(project.getRuntimeClasspathElements());
            elements.removeIf(element -> Path.of(element).equals(classes) || !Files.exists(Path.of(element)));
            return elements;
        } catch (DependencyResolutionRequiredException error) {
            throw new MojoExecutionException("the class path is not known: " + error.getMessage(), error);
        }
    }
}
