package programs;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs the compiler of the JDK with these arguments; the folder after the first `-d` is where the classes go. */
public final class Compilation {
    public static void main(String[] arguments) throws IOException {
        Measurement measurement = Measurement.begin();
        ToolProvider compiler = ToolProvider.findFirst("javac").orElseThrow();
        int code = compiler.run(System.err, System.err, arguments);
        if (code != 0) {
            System.exit(code);
        }
        measurement.end(checksum(Path.of(arguments[List.of(arguments).indexOf("-d") + 1])));
    }

    /** Of the names and the bytes of all files in a folder, in the order of their names. */
    private static long checksum(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> found = Files.walk(folder)) {
            files.addAll(found.filter(Files::isRegularFile).sorted().collect(Collectors.toList()));
        }
        long checksum = files.size();
        for (Path file : files) {
            String name = folder.relativize(file).toString().replace(File.separatorChar, '/');
            checksum = Measurement.mix(checksum, name.hashCode());
            for (byte part : Files.readAllBytes(file)) {
                checksum = checksum * 31 + part;
            }
        }
        return checksum;
    }
}
