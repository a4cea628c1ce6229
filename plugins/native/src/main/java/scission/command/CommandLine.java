package scission.command;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

/** The arguments of the command, as they are put together. */
public final class CommandLine {
    private final List<String> words = new ArrayList<>();

    public CommandLine(String... words) {
        Collections.addAll(this.words, words);
    }

    /** A copy, to which something else is added. */
    public CommandLine copy() {
        return new CommandLine().words(words);
    }

    /** A flag, unless its value is missing. */
    public CommandLine flag(String name, Object value) {
        String text = value == null ? "" : value.toString().trim();
        if (!text.isEmpty()) {
            words.add(name);
            words.add(text);
        }
        return this;
    }

    public CommandLine eachFlag(String name, Collection<?> values) {
        if (values != null) {
            values.forEach(value -> flag(name, value));
        }
        return this;
    }

    public CommandLine words(Collection<String> more) {
        if (more != null) {
            words.addAll(more);
        }
        return this;
    }

    public CommandLine words(String... more) {
        return words(List.of(more));
    }

    public List<String> words() {
        return Collections.unmodifiableList(words);
    }
}
