class Branches {
    static int decide(int number, Object object, String text) {
        if (number > 3) {
            return 1;
        }
        if (number != text.length()) {
            return 2;
        }
        if (object == null) {
            return 3;
        }
        if (object == text) {
            return 4;
        }
        switch (number) {
            case 0: return 5;
            case 1: return 6;
            default:
        }
        switch (text.charAt(0)) {
            case 'x': return 7;
            case 'a': return 8;
            default: return 9;
        }
    }

    public static void main(String[] arguments) {
        System.out.println(decide(4, null, ""));
        System.out.println(decide(3, null, ""));
        System.out.println(decide(0, null, ""));
        String text = "ab";
        System.out.println(decide(2, text, text));
        System.out.println(decide(2, 5, text));
    }
}
