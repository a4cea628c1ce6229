package java.lang;

/**
 * What a program may ask the agent; the extensions for test frameworks do, by reflection, since without the agent there is no
 * such class.
 */
public final class ScissionFindings {
    private ScissionFindings() {}

    /**
     * Brings what was found so far to the disk, of everything that threads have reported before this call. Returns three
     * lines: how many violations were seen so far, the file of the agent library, and the file with the results of this
     * process, which {@code scission run --results} reads in a directory of its own. The number grows with each violation that
     * is seen and is good for nothing but to be compared. Null if nobody checks, or if there is no answer in time.
     */
    public static String soFar() {
        return ScissionNatives.findingsSoFar();
    }
}
