package scission.command;

/** The argument that loads the agent, from one notation to another. */
public final class AgentArgument {
    private static final String VARIABLE = "JAVA_TOOL_OPTIONS=";

    private AgentArgument() {}

    /** The argument in what {@code scission run --print-options} prints: quoted for the JVM, and that for a shell. */
    static String parse(String printed) throws CommandException {
        String line = printed.trim();
        if (!line.startsWith(VARIABLE)) {
            throw new CommandException("`scission run --print-options` printed `" + line
                    + "`, which names no agent: the command and this plugin must be of the same release");
        }
        return unquoted(unquoted(line.substring(VARIABLE.length()), true), false);
    }

    /** A text without its quotes. In a shell, a backslash outside of quotes takes the next character as it is. */
    private static String unquoted(String text, boolean isShell) {
        StringBuilder plain = new StringBuilder();
        char quote = 0;
        for (int index = 0; index < text.length(); index++) {
            char letter = text.charAt(index);
            if (quote != 0) {
                if (letter == quote) {
                    quote = 0;
                } else {
                    plain.append(letter);
                }
            } else if (letter == '\'' || letter == '"') {
                quote = letter;
            } else if (isShell && letter == '\\' && index + 1 < text.length()) {
                index++;
                plain.append(text.charAt(index));
            } else {
                plain.append(letter);
            }
        }
        return plain.toString();
    }

    /** The argument as a word of an {@code argLine}: there, quotes of one kind protect all but themselves. */
    public static String forArgLine(String argument) throws CommandException {
        boolean hasDouble = argument.indexOf('"') >= 0;
        boolean hasSingle = argument.indexOf('\'') >= 0;
        if (hasDouble && hasSingle) {
            throw new CommandException("the path of the project, or of the agent library, contains both kinds of "
                    + "quotes, which no argLine can hold: `" + argument + "`");
        }
        boolean isPlain = !hasDouble && !hasSingle && argument.chars().noneMatch(Character::isWhitespace);
        return isPlain ? argument : hasDouble ? "'" + argument + "'" : '"' + argument + '"';
    }
}
