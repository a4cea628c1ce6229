class Elements {
    public static void main(String[] arguments) {
        int[] ints = new int[2];
        ints[1] = 5;
        ints[0] += 1;
        long[] longs = { 7L };
        longs[0]++;
        double[] doubles = new double[1];
        doubles[0] = 1.5;
        Object[] objects = new Object[1];
        objects[0] = "text";
        byte[] bytes = new byte[1];
        bytes[0] = 3;
        boolean[][] grid = new boolean[1][1];
        grid[0][0] = true;
        System.out.println(ints[0] + " " + longs[0] + " " + doubles[0] + objects[0] + bytes[0] + grid[0][0]);
        int[] none = null;
        try {
            none[3] = 1;
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
        double[][] outer = new double[2][];
        try {
            outer[1][0] = 2;
        } catch (NullPointerException exception) {
            System.out.println(exception.getMessage());
        }
        try {
            System.out.println(ints[2]);
        } catch (ArrayIndexOutOfBoundsException exception) {
            System.out.println(exception.getMessage());
        }
        try {
            Object[] strings = new String[1];
            strings[0] = 5;
        } catch (ArrayStoreException exception) {
            System.out.println(exception.getMessage());
        }
    }
}
