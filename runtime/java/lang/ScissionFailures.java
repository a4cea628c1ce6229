package java.lang;

/**
 * What hooks could not do.
 *
 * <p>Hooks throw nothing. Where one runs out of memory or stack, or gets operands that no compiler makes, it leaves its
 * work undone and counts that here; the agent reports the counts as gaps. Whoever catches an error of that kind may
 * have no stack left for a call, so that the fields are counted up where it is caught. Counts that two threads lose
 * to each other do not matter.
 */
final class ScissionFailures {
    /** How often a hook was cut short. */
    static int hooks;
    /** How often an element of an array was not watched, because there was no memory for its words. */
    static int elements;

    private ScissionFailures() {}
}
