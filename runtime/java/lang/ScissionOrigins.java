package java.lang;

import static java.lang.ScissionProtocol.ORDER_QUIET;

import java.net.URL;
import java.security.CodeSource;
import java.security.ProtectionDomain;

/** Where classes come from, for the agent, which asks while a class is loaded. */
final class ScissionOrigins {
    private ScissionOrigins() {}

    /** The location of the code source of a class; null where there is none. */
    static String location(ProtectionDomain domain) {
        // A thread without state has reported nothing yet that this could be confused with.
        ScissionThread s = Thread.currentThread().$scission;
        if (s != null) {
            ScissionOrder.enterMode(s, ORDER_QUIET);
        }
        try {
            CodeSource source = domain.getCodeSource();
            URL location = source == null ? null : source.getLocation();
            return location == null ? null : location.toString();
        } catch (Throwable cannotBeTold) {
            // The handler of the location is code of the program. Nothing may come out of the loading of a class.
            return null;
        } finally {
            if (s != null) {
                ScissionOrder.leaveMode(s);
            }
        }
    }
}
