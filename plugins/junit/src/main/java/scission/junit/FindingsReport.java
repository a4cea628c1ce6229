package scission.junit;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The findings of this process so far, as {@code scission run} reports them: what the project's {@code scission.toml} and its
 * baseline hide is not there.
 */
final class FindingsReport {
    private static final String FINDINGS = "findings";
    private static final List<String> SOURCES = List.of("src/main/java", "src/test/java");

    private final Path command;
    /** The members of the report in JSON, each as it is written. */
    private final Map<String, String> members;
    /** Those findings of it that are meant. */
    private final List<String> findings;

    private FindingsReport(Path command, Map<String, String> members, List<String> findings) {
        this.command = command;
        this.members = members;
        this.findings = findings;
    }

    /** Has the command read what the agent has brought to the disk. */
    static FindingsReport read(AgentAnswer answer) throws IOException {
        Path command = command(answer.library);
        Path directory = Files.createTempDirectory("scission-");
        try {
            Files.copy(answer.results, directory.resolve(answer.results.getFileName()));
            Path json = directory.resolve("report");
            List<String> words = new ArrayList<>(List.of("run", "--results", directory.toString()));
            words.addAll(List.of("--fail-on", "never", "--format", "json", "--output", json.toString()));
            // A process that goes on is not a success yet, so the exit code says nothing.
            String said = run(command, words, directory);
            if (!Files.isRegularFile(json)) {
                throw new IOException("`scission run --results` wrote no report: " + said.trim());
            }
            Map<String, String> members = Json.members(Files.readString(json));
            return new FindingsReport(command, members, Json.elements(members.getOrDefault(FINDINGS, "[]")));
        } finally {
            delete(directory);
        }
    }

    /** The command beside the agent library, else the one on the path; the property {@code scission.command} names another. */
    private static Path command(Path library) throws IOException {
        String named = System.getProperty("scission.command");
        if (named != null) {
            return Path.of(named);
        }
        Path beside = library.resolveSibling("scission");
        if (Files.isExecutable(beside)) {
            return beside;
        }
        String path = System.getenv("PATH");
        for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
            Path file = Path.of(folder, "scission");
            if (Files.isExecutable(file)) {
                return file;
            }
        }
        throw new IOException("there is no command `scission` beside the agent library `" + library
                + "` and none on the path; -Dscission.command names one");
    }

    /** Runs the command with some arguments, and returns what it says. */
    private static String run(Path command, List<String> arguments, Path directory) throws IOException {
        List<String> words = new ArrayList<>(List.of(command.toString()));
        words.addAll(arguments);
        for (String source : SOURCES) {
            if (Files.isDirectory(Path.of(source))) {
                words.addAll(List.of("--source", source));
            }
        }
        words.addAll(List.of("--color", "never"));
        Path said = directory.resolve("said");
        ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(said.toFile());
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while `" + command + "` was running", interrupted);
        }
        return Files.readString(said);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    boolean isEmpty() {
        return findings.isEmpty();
    }

    /** How often each finding was seen, by fingerprint. */
    Map<String, Long> counts() {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (String finding : findings) {
            Map<String, String> parts = Json.members(finding);
            counts.merge(Json.text(parts.get("fingerprint")), count(parts), Long::sum);
        }
        return counts;
    }

    private static long count(Map<String, String> finding) {
        String cycle = finding.getOrDefault("cycle", "null");
        long count = cycle.equals("null") ? 1 : Long.parseLong(Json.members(cycle).getOrDefault("count", "1"));
        for (String other : Json.elements(finding.getOrDefault("other_witnesses", "[]"))) {
            String number = Json.members(other).getOrDefault("count", "1");
            count += number.equals("null") ? 1 : Long.parseLong(number);
        }
        return count;
    }

    /** Those findings that were seen more often than these counts say. */
    FindingsReport without(Map<String, Long> before) {
        List<String> left = findings.stream()
                .filter(finding -> {
                    Map<String, String> parts = Json.members(finding);
                    return count(parts) > before.getOrDefault(Json.text(parts.get("fingerprint")), 0L);
                })
                .collect(Collectors.toList());
        return new FindingsReport(command, members, left);
    }

    /** What was found, for people, with a page beside the reports of the tests. */
    String text(String test) {
        String found = test + ": scission observed " + (findings.size() == 1 ? "a defect" : findings.size() + " defects");
        try {
            Path directory = Files.createTempDirectory("scission-");
            try {
                Path json = directory.resolve("test.json");
                Files.write(json, json().getBytes(StandardCharsets.UTF_8));
                List<String> words = new ArrayList<>(List.of("report", json.toString(), "--no-config", "--quiet"));
                Path page = page(test);
                if (page != null) {
                    words.addAll(List.of("--html", page.toString()));
                }
                String text = run(command, words, directory);
                String where = page == null ? "" : "page: " + page + "\n";
                return found + "\n\n" + text + where;
            } finally {
                delete(directory);
            }
        } catch (IOException error) {
            String messages = findings.stream()
                    .map(finding -> Json.text(Json.members(finding).get("message")))
                    .collect(Collectors.joining("\n"));
            return found + "\n\n" + messages;
        }
    }

    /** The report with these findings alone. */
    private String json() {
        Map<String, String> changed = new LinkedHashMap<>(members);
        changed.put(FINDINGS, findings.stream().collect(Collectors.joining(",", "[", "]")));
        return changed.entrySet().stream()
                .map(member -> '"' + member.getKey() + "\":" + member.getValue())
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** Where the page of a test goes: into the build directory of Maven or Gradle, if there is one. */
    private static Path page(String test) throws IOException {
        for (String build : List.of("target", "build")) {
            if (Files.isDirectory(Path.of(build))) {
                Path directory = Files.createDirectories(Path.of(build, "scission", "tests"));
                return directory.resolve(test.replaceAll("[^A-Za-z0-9_.$-]", "_") + ".html");
            }
        }
        return null;
    }
}
