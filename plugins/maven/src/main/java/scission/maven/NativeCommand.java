package scission.maven;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;

/** The {@code scission} command. */
final class NativeCommand {
    private final Path file;
    /** Where it runs: it finds {@code scission.toml} from there upwards. */
    private final Path directory;

    private NativeCommand(Path file, Path directory) {
        this.file = file;
        this.directory = directory;
    }

    /** The command that the configuration names, else the one on the path, else that of the artifact for the platform. */
    static NativeCommand find(String named, PlatformArtifact artifact, Path directory) throws MojoExecutionException {
        if (named != null) {
            Path file = named.contains("/") ? directory.resolve(named) : onPath(named);
            if (file == null || !Files.isExecutable(file)) {
                throw new MojoExecutionException("there is no command `" + named
                        + "`, which <command> of the plugin scission or -Dscission.command names: correct it, or leave it "
                        + "out to use the one on the path or the one that belongs to the plugin");
            }
            return new NativeCommand(file, directory);
        }
        Path file = onPath("scission");
        return new NativeCommand(file != null ? file : artifact.command(), directory);
    }

    private static Path onPath(String name) {
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            Path file = Path.of(folder.isEmpty() ? "." : folder, name);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return file.toAbsolutePath();
            }
        }
        return null;
    }

    /** Runs it to its end. */
    Outcome run(List<String> arguments) throws MojoExecutionException {
        List<String> words = new ArrayList<>();
        words.add(file.toString());
        words.addAll(arguments);
        Path errors = null;
        try {
            errors = Files.createTempFile("scission-", ".err");
            ProcessBuilder builder = new ProcessBuilder(words).directory(directory.toFile());
            builder.redirectError(errors.toFile());
            Process process = builder.start();
            process.getOutputStream().close();
            String output;
            try (InputStream stream = process.getInputStream()) {
                output = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            }
            int code = process.waitFor();
            return new Outcome(code, output, Files.readString(errors));
        } catch (IOException error) {
            throw new MojoExecutionException("the command `" + file + "` cannot be run: " + error.getMessage(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted while `" + file + "` was running", error);
        } finally {
            if (errors != null) {
                errors.toFile().delete();
            }
        }
    }

    /** What came of a run. */
    static final class Outcome {
        final int code;
        final String output;
        final String errors;

        Outcome(int code, String output, String errors) {
            this.code = code;
            this.output = output;
            this.errors = errors;
        }

        /** The sentence that says why the command could not do its work; empty if it said nothing. */
        String errorSentence() {
            List<String> sentences = new ArrayList<>();
            for (String line : errors.split("\n")) {
                String said = line.trim();
                if (said.startsWith("error: ") || said.startsWith("warning: ") || said.startsWith("tip: ")) {
                    sentences.add(said.substring(said.indexOf(' ') + 1));
                }
            }
            return sentences.isEmpty() ? errors.trim() : String.join("; ", sentences);
        }

        Outcome orFail(String sentence) throws MojoExecutionException {
            if (code != 0) {
                throw new MojoExecutionException(sentence + ": " + errorSentence());
            }
            return this;
        }
    }
}
