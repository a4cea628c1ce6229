package scission.command;

import java.util.Collection;
import java.util.List;

/** What is written besides JSON. */
public final class Formats {
    static final Formats ALL = new Formats(true, true);

    final boolean hasPage;
    final boolean hasSarif;

    private Formats(boolean hasPage, boolean hasSarif) {
        this.hasPage = hasPage;
        this.hasSarif = hasSarif;
    }

    public static Formats parse(Collection<String> names) throws CommandException {
        boolean hasPage = false;
        boolean hasSarif = false;
        for (String name : names) {
            if (!List.of("sarif", "html", "json").contains(name.trim())) {
                throw new CommandException("there is no format `" + name.trim()
                        + "`: `formats` of the plugin scission takes `sarif`, `html` and `json`");
            }
            hasPage |= name.trim().equals("html");
            hasSarif |= name.trim().equals("sarif");
        }
        return new Formats(hasPage, hasSarif);
    }
}
