package scission.command;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The {@code scission} command. */
public final class NativeCommand {
    private final Path file;
    /** Where it runs: it finds {@code scission.toml} from there upwards. */
    private final Path directory;

    private NativeCommand(Path file, Path directory) {
        this.file = file;
        this.directory = directory;
    }

    /**
     * The command that the configuration names, else the one on the path, else that of the archive for the platform.
     * {@code howNamed} is where users name it.
     */
    public static NativeCommand find(String named, String howNamed, Archive archive, Path directory)
            throws CommandException {
        if (named != null && !named.isBlank()) {
            String name = named.trim();
            Path file = name.contains("/") ? directory.resolve(name) : onPath(name);
            if (file == null || !Files.isExecutable(file)) {
                throw new CommandException("there is no command `" + name + "`, which " + howNamed
                        + " names: correct it, or leave it out to use the one on the path or the one that belongs to the "
                        + "plugin");
            }
            return new NativeCommand(file, directory);
        }
        Path file = onPath("scission");
        return new NativeCommand(file != null ? file : NativeArchive.unpacked(archive), directory);
    }

    /** Finds the archive with the command for this platform, if it is needed. */
    public interface Archive {
        /** The archive, and the version that it has. */
        NativeArchive find() throws CommandException;
    }

    /** Which command it is: another one has another name, time or size. */
    public String identity() {
        return file + " " + file.toFile().lastModified() + " " + file.toFile().length();
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
    public Outcome run(CommandLine line) throws CommandException {
        List<String> words = new ArrayList<>();
        words.add(file.toString());
        words.addAll(line.words());
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
            throw new CommandException("the command `" + file + "` cannot be run: " + error.getMessage(), error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted while `" + file + "` was running", error);
        } finally {
            if (errors != null) {
                errors.toFile().delete();
            }
        }
    }

    /** What came of a run. */
    public static final class Outcome {
        public final int code;
        public final String output;
        private final String errors;

        Outcome(int code, String output, String errors) {
            this.code = code;
            this.output = output;
            this.errors = errors;
        }

        /** The sentence that says why the command could not do its work; empty if it said nothing. */
        public String errorSentence() {
            List<String> sentences = new ArrayList<>();
            for (String line : errors.split("\n")) {
                String said = line.trim();
                if (said.startsWith("error: ") || said.startsWith("warning: ") || said.startsWith("tip: ")) {
                    sentences.add(said.substring(said.indexOf(' ') + 1));
                }
            }
            return sentences.isEmpty() ? errors.trim() : String.join("; ", sentences);
        }

        public Outcome orFail(String sentence) throws CommandException {
            if (code != 0) {
                throw new CommandException(sentence + ": " + errorSentence());
            }
            return this;
        }
    }
}
