package scission.command;

/** Why the command could not do its work, in a sentence for the user of a build. */
public final class CommandException extends Exception {
    private static final long serialVersionUID = 1;

    CommandException(String sentence) {
        super(sentence);
    }

    CommandException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
