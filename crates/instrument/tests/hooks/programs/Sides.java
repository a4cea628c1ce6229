class Sides {
    int value;
    int[] numbers = new int[3];

    static void decide(Sides one, Sides two, Sides three, Sides four, int number) {
        if (number > 3) {
            one.value = 1;
        }
        if (number != one.value) {
            two.value = number;
        }
        if (two == null) {
            one.value = 2;
        } else {
            one.value = 3;
        }
        if (one == two) {
            one.value = two.value + three.value + four.value;
        }
        switch (number) {
            case 0:
                one.value = 5;
                break;
            case 1:
                two.value = 6;
                break;
            default:
        }
        if (number < 3) {
            one.numbers[number] = 7;
        }
    }

    static int without(int number) {
        return number > 0 ? Math.max(number, 3) : 0;
    }

    public static void main(String[] arguments) {
        Sides one = new Sides();
        decide(one, new Sides(), one, one, 1);
        System.out.println(one.value + without(1));
    }
}
