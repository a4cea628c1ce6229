class Blocks {
    @interface Atomic { }
    @interface NotAtomic { }

    private int first;
    private int second;

    int getter() {
        return first;
    }

    void leaf() {
        first = second;
    }

    void caller() {
        first = helper();
    }

    private int helper() {
        first = second;
        return 1;
    }

    private synchronized void lockedPrivate() {
        first++;
    }

    @Atomic
    private void annotated() {
        first = second;
    }

    @NotAtomic
    void unannotated() {
        first = second;
    }

    void excluded() {
        first = second;
    }

    void pure() {
        second = Math.max(first, 1);
    }

    int fails() {
        first = second;
        throw new IllegalStateException();
    }

    public static void main(String[] arguments) {
        Blocks blocks = new Blocks();
        blocks.getter();
        blocks.leaf();
        blocks.caller();
        blocks.lockedPrivate();
        blocks.annotated();
        blocks.unannotated();
        blocks.excluded();
        blocks.pure();
        try {
            blocks.fails();
        } catch (IllegalStateException exception) {
            System.out.println("failed");
        }
    }
}
