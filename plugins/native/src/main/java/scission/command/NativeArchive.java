package scission.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The archive with the command and the agent library for one platform. */
public final class NativeArchive {
    private static final String COMMAND = "scission";
    private static final String[] FILES = {COMMAND, "libscission_agent.so"};

    private final Path jar;
    private final String version;

    public NativeArchive(Path jar, String version) {
        this.jar = jar;
        this.version = version;
    }

    /** The name of this platform. */
    public static String classifier() {
        return classifier(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    /** What users are told if there is none. */
    public static CommandException missing(String artifact, String flag, Throwable cause) {
        return new CommandException("there is no command `scission` on the path, and no artifact `" + artifact
                + "` in the repositories of this build: install scission, or name the command with " + flag, cause);
    }

    /** The command, unpacked in the user's cache with the library beside it. */
    static Path unpacked(NativeCommand.Archive archive) throws CommandException {
        NativeArchive found = archive.find();
        try {
            return found.unpack();
        } catch (IOException error) {
            throw new CommandException("the command in `" + found.jar + "` cannot be unpacked: " + error.getMessage(), error);
        }
    }

    /** {@code linux-x86_64}. */
    static String classifier(String system, String processor) {
        String name = processor.equals("amd64") ? "x86_64" : processor;
        return system.toLowerCase(Locale.ROOT).split(" ")[0] + "-" + name;
    }

    /** Unpacks to a directory that has the digest of the jar in its name: what lies there is whole, and never changes. */
    private Path unpack() throws IOException {
        Path cache = cache().resolve("scission").resolve("native");
        Path home = cache.resolve(version + "-" + digest(jar));
        if (!Files.isExecutable(home.resolve(COMMAND))) {
            Files.createDirectories(cache);
            Path work = Files.createTempDirectory(cache, "new-");
            try {
                try (ZipFile zip = new ZipFile(jar.toFile())) {
                    for (String name : FILES) {
                        copy(zip, name, work.resolve(name));
                    }
                }
                Files.setPosixFilePermissions(work.resolve(COMMAND), PosixFilePermissions.fromString("rwxr-xr-x"));
                Files.move(work, home, StandardCopyOption.ATOMIC_MOVE);
            } catch (FileAlreadyExistsException | java.nio.file.DirectoryNotEmptyException another) {
                // Another build was faster.
                delete(work);
            } catch (IOException error) {
                delete(work);
                throw error;
            }
        }
        return home.resolve(COMMAND);
    }

    private static void copy(ZipFile zip, String name, Path target) throws IOException {
        ZipEntry entry = zip.getEntry(name);
        if (entry == null) {
            throw new IOException("it has no `" + name + "`");
        }
        try (InputStream stream = zip.getInputStream(entry)) {
            Files.copy(stream, target);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    private static Path cache() {
        String named = System.getenv("XDG_CACHE_HOME");
        return named != null && named.startsWith("/")
                ? Path.of(named)
                : Path.of(System.getProperty("user.home"), ".cache");
    }

    private static String digest(Path file) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            try (InputStream stream = Files.newInputStream(file)) {
                for (int length = stream.read(buffer); length >= 0; length = stream.read(buffer)) {
                    digest.update(buffer, 0, length);
                }
            }
            byte[] bytes = digest.digest();
            StringBuilder text = new StringBuilder();
            for (int index = 0; index < 8; index++) {
                text.append(String.format("%02x", bytes[index]));
            }
            return text.toString();
        } catch (NoSuchAlgorithmException error) {
            throw new IOException("this JVM has no SHA-256", error);
        }
    }
}
