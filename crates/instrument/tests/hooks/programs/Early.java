class Early {
    static class Base {
        Base(int number) {
            System.out.println(seen());
        }

        int seen() {
            return number();
        }

        int number() {
            return -1;
        }
    }

    static class Derived extends Base {
        int early;

        Derived(int number) {
            super(number);
            early = number;
        }

        @Override
        int number() {
            return early;
        }
    }

    public static void main(String[] arguments) {
        System.out.println(new Derived(7).early);
    }
}
