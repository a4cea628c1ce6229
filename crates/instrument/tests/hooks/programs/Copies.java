import java.util.ArrayList;

class Copies {
    static class Point implements Cloneable {
        @Override
        public Point clone() {
            try {
                return (Point) super.clone();
            } catch (CloneNotSupportedException impossible) {
                throw new AssertionError(impossible);
            }
        }
    }

    static class Named extends Point {
        @Override
        public Named clone() {
            return (Named) super.clone();
        }
    }

    static class Bag extends ArrayList<String> {
        Object copy() {
            return super.clone();
        }
    }

    public static void main(String[] arguments) {
        System.out.println(new Point().clone() != null);
        System.out.println(new Named().clone() != null);
        System.out.println(new Bag().clone().equals(new Bag().copy()));
        System.out.println(new int[3].clone().length);
        System.out.println(new String[2][].clone().length);
        Point nothing = null;
        try {
            nothing.clone();
        } catch (NullPointerException expected) {
            System.out.println(expected.getMessage());
        }
    }
}
