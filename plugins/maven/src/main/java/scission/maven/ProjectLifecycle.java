package scission.maven;

import java.util.List;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.lifecycle.LifecycleExecutor;
import org.apache.maven.plugin.BuildPluginManager;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.logging.Log;
import org.apache.maven.project.MavenProject;

/**
 * The phases of a project, executed by us. A lifecycle that Maven forks has its configuration fixed before anybody can add
 * the agent to it: an {@code <argLine>} in the pom would hide the agent.
 */
final class ProjectLifecycle {
    private final LifecycleExecutor lifecycle;
    private final BuildPluginManager plugins;
    private final MavenSession session;
    private final MavenProject project;
    private final PluginDescriptor own;
    private final Log log;

    ProjectLifecycle(
            LifecycleExecutor lifecycle,
            BuildPluginManager plugins,
            MavenSession session,
            MavenProject project,
            PluginDescriptor own,
            Log log) {
        this.lifecycle = lifecycle;
        this.plugins = plugins;
        this.session = session;
        this.project = project;
        this.own = own;
        this.log = log;
    }

    /** Everything that is bound to the phases up to this one, in order, without what this plugin does itself. */
    List<MojoExecution> plan(String phase) throws MojoExecutionException {
        try {
            List<MojoExecution> plan = lifecycle.calculateExecutionPlan(session, phase).getMojoExecutions();
            plan.removeIf(execution -> execution.getGroupId().equals(own.getGroupId())
                    && execution.getArtifactId().equals(own.getArtifactId()));
            return plan;
        } catch (Exception error) {
            throw new MojoExecutionException(
                    "the phases of `" + project.getArtifactId() + "` cannot be planned: " + error.getMessage(), error);
        }
    }

    /** Executes everything up to a phase. */
    void runThrough(String phase) throws MojoExecutionException, MojoFailureException {
        for (MojoExecution execution : plan(phase)) {
            execute(execution);
        }
    }

    void execute(MojoExecution execution) throws MojoExecutionException, MojoFailureException {
        log.info("> " + execution.getArtifactId() + ":" + execution.getVersion() + ":" + execution.getGoal() + " ("
                + execution.getExecutionId() + ")");
        try {
            plugins.executeMojo(session, execution);
        } catch (MojoFailureException | MojoExecutionException error) {
            throw error;
        } catch (Exception error) {
            throw new MojoExecutionException(
                    "`" + execution.getArtifactId() + ":" + execution.getGoal() + "` failed: " + error.getMessage(), error);
        }
        // Other modules ask for it: what was compiled here is their class path.
        if (execution.getLifecyclePhase() != null) {
            project.addLifecyclePhase(execution.getLifecyclePhase());
        }
    }
}
