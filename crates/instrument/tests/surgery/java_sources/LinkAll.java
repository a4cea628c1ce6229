import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Links, and so verifies, every class file below a directory without initialising it, and prints the
 * number of linked classes and the classes that could not be linked.
 *
 * Asking for the declared constructors of a class makes HotSpot link it (get_class_declared_methods_helper
 * in jvm.cpp calls link_class) and runs none of its code; loading it, or looking it up, does not link.
 */
public class LinkAll {
    /** Defines the classes of the directory itself, and leaves all others to the class path. */
    static final class Loader extends ClassLoader {
        final Path root;

        Loader(Path root) {
            super(LinkAll.class.getClassLoader());
            this.root = root;
        }

        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> found = findLoadedClass(name);
                if (found != null) return found;
                Path file = root.resolve(name.replace('.', '/') + ".class");
                if (!Files.exists(file)) return super.loadClass(name, resolve);
                try {
                    byte[] bytes = Files.readAllBytes(file);
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    /** Arguments: the directory, and whether its classes are patched into the modules of this JVM. */
    public static void main(String[] args) throws IOException {
        Path root = Paths.get(args[0]);
        ClassLoader loader = args[1].equals("modules") ? ClassLoader.getSystemClassLoader() : new Loader(root);
        List<String> names;
        try (Stream<Path> files = Files.walk(root)) {
            names = files.map(file -> root.relativize(file).toString())
                .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class") && !file.startsWith("META-INF"))
                .map(file -> file.substring(0, file.length() - 6).replace('/', '.'))
                .sorted()
                .collect(Collectors.toList());
        }
        int linked = 0;
        for (String name : names) {
            try {
                Class.forName(name, false, loader).getDeclaredConstructors();
                linked++;
            } catch (Throwable t) {
                String message = String.valueOf(t.getMessage());
                System.out.println(name + ": " + t.getClass().getSimpleName() + ": " + message.split("\n")[0]);
                if (t instanceof VerifyError || t instanceof ClassFormatError) System.err.println(name + ": " + message);
            }
        }
        System.out.println("linked " + linked + " of " + names.size());
    }
}
