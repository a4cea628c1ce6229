package scission.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** JVMs that the agent is loaded into, and the directory in which each leaves what it found. */
public final class WatchedJvms {
    private final Path results;

    public WatchedJvms(Path results) {
        this.results = results;
    }

    public Path results() {
        return results;
    }

    /** Removes what an earlier build found. */
    public void forget() throws CommandException {
        Report.createDirectory(results.toAbsolutePath().getParent());
        if (!Files.exists(results)) {
            return;
        }
        try (Stream<Path> files = Files.walk(results)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) {
                Files.delete(file);
            }
        } catch (IOException error) {
            throw new CommandException("the results of an earlier build in `" + results + "` cannot be removed", error);
        }
    }

    /** The argument of a JVM that loads the agent. The line has the flags of {@code scission run} that say how to watch. */
    public String agentArgument(NativeCommand scission, CommandLine flags, String failure) throws CommandException {
        CommandLine line = new CommandLine("run", "--print-options", "--results", results.toString());
        return AgentArgument.parse(scission.run(line.words(flags.words())).orFail(failure).output);
    }

    /** How many have left results. */
    public long count() throws CommandException {
        if (!Files.isDirectory(results)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(results)) {
            return files.filter(file -> file.toString().endsWith(".json")).count();
        } catch (IOException error) {
            throw new CommandException("the results in `" + results + "` cannot be read", error);
        }
    }

    /** The command that reports what they found. */
    public CommandLine report() {
        return new CommandLine().words(List.of("run", "--results", results.toString()));
    }
}
