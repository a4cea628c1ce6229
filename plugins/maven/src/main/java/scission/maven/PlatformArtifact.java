package scission.maven;

import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import scission.command.CommandException;
import scission.command.NativeArchive;
import scission.command.NativeCommand;

/** The artifact with the command and the agent library for this platform, of the version of this plugin. */
final class PlatformArtifact implements NativeCommand.Archive {
    private final PluginDescriptor plugin;
    private final RepositorySystem repositories;
    private final MavenSession session;
    private final MavenProject project;

    PlatformArtifact(
            PluginDescriptor plugin, RepositorySystem repositories, MavenSession session, MavenProject project) {
        this.plugin = plugin;
        this.repositories = repositories;
        this.session = session;
        this.project = project;
    }

    @Override
    public NativeArchive find() throws CommandException {
        DefaultArtifact artifact = new DefaultArtifact(
                plugin.getGroupId(), "scission-native", NativeArchive.classifier(), "jar", plugin.getVersion());
        try {
            ArtifactRequest request = new ArtifactRequest(artifact, project.getRemotePluginRepositories(), null);
            return new NativeArchive(
                    repositories.resolveArtifact(session.getRepositorySession(), request)
                            .getArtifact()
                            .getFile()
                            .toPath(),
                    plugin.getVersion());
        } catch (ArtifactResolutionException error) {
            throw NativeArchive.missing(artifact.toString(), "-Dscission.command", error);
        }
    }
}
