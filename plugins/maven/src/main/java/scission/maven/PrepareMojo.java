package scission.maven;

import org.apache.maven.model.ConfigurationContainer;
import org.apache.maven.model.Plugin;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import scission.command.CommandException;

/**
 * Has the tests of this very build watched: puts the agent into the property {@code argLine}, which Surefire and Failsafe
 * read. The goal {@code test}, later in the build, then reports what was found and does not run the tests again.
 */
@Mojo(name = "prepare", defaultPhase = LifecyclePhase.INITIALIZE, threadSafe = true)
public final class PrepareMojo extends WatchingMojo {
    /** The property with the arguments of the JVMs of tests. */
    @Parameter(property = "scission.propertyName", defaultValue = "argLine")
    private String propertyName;

    @Override
    void run() throws MojoExecutionException, CommandException {
        for (String name : new String[] {"maven-surefire-plugin", "maven-failsafe-plugin"}) {
            Plugin plugin = project.getPlugin("org.apache.maven.plugins:" + name);
            if (plugin != null) {
                refuseOtherArgLine(plugin, name);
                for (ConfigurationContainer execution : plugin.getExecutions()) {
                    refuseOtherArgLine(execution, name);
                }
            }
        }
        String agent = prepareAgent();
        // What the command line sets comes before what the project has.
        if (session.getUserProperties().containsKey(propertyName)) {
            throw new MojoExecutionException("-D" + propertyName + " on the command line hides the agent: set it in the pom, or "
                    + "call scission:test without scission:prepare");
        }
        String present = project.getProperties().getProperty(propertyName);
        String value = present == null || present.isBlank() ? agent : agent + " " + present;
        project.getProperties().setProperty(propertyName, value);
        project.setContextValue(PREPARED, Boolean.TRUE);
        getLog().info(propertyName + " set to " + value);
    }

    private void refuseOtherArgLine(ConfigurationContainer container, String name) throws MojoExecutionException {
        if (!(container.getConfiguration() instanceof Xpp3Dom)) {
            return;
        }
        Xpp3Dom argLine = ((Xpp3Dom) container.getConfiguration()).getChild("argLine");
        String value = argLine == null ? null : argLine.getValue();
        if (value != null && !value.contains("@{" + propertyName + "}") && !value.contains("${" + propertyName + "}")) {
            throw new MojoExecutionException("the <argLine> of " + name + " in the pom of `" + project.getArtifactId()
                    + "` hides the agent: write `@{" + propertyName + "} " + value
                    + "` there, or call scission:test without scission:prepare");
        }
    }
}
