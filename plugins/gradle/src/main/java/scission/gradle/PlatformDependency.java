package scission.gradle;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.gradle.api.Project;
import scission.command.CommandException;
import scission.command.NativeArchive;
import scission.command.NativeCommand;

/** The artifact with the command and the agent library for this platform, of the version of this plugin. */
final class PlatformDependency implements NativeCommand.Archive {
    private final Project project;

    PlatformDependency(Project project) {
        this.project = project;
    }

    @Override
    public NativeArchive find() throws CommandException {
        String version = version();
        String notation = "scission:scission-native:" + version + ":" + NativeArchive.classifier() + "@jar";
        try {
            // Where the plugin came from, and where the project gets what it depends on.
            Project root = project.getRootProject();
            for (Project each : new Project[] {project, root}) {
                if (each.getRepositories().isEmpty()) {
                    continue;
                }
                return new NativeArchive(
                        each.getConfigurations()
                                .detachedConfiguration(each.getDependencies().create(notation))
                                .getSingleFile()
                                .toPath(),
                        version);
            }
            return new NativeArchive(
                    root.getBuildscript()
                            .getConfigurations()
                            .detachedConfiguration(root.getBuildscript().getDependencies().create(notation))
                            .getSingleFile()
                            .toPath(),
                    version);
        } catch (RuntimeException error) {
            throw NativeArchive.missing(notation, "-Pscission.command", error);
        }
    }

    private static String version() throws CommandException {
        try (InputStream stream = PlatformDependency.class.getResourceAsStream("plugin.properties")) {
            Properties properties = new Properties();
            properties.load(stream);
            return properties.getProperty("version");
        } catch (IOException error) {
            throw new IllegalStateException("the plugin does not say which version it is", error);
        }
    }
}
