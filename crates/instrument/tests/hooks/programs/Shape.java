import java.io.*;
import java.lang.reflect.*;
import java.util.*;

class Shape implements Serializable {
    int number = 4;
    private Object object = "text";
    transient long skipped;
    protected static int shared;

    synchronized int get() {
        return number;
    }

    private static void fail(Shape shape) {
        shape.get();
        throw new IllegalStateException(String.valueOf(shape.number));
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(ObjectStreamClass.lookup(Shape.class).getSerialVersionUID());
        for (Method method : sorted(Shape.class.getDeclaredMethods())) {
            System.out.println(method.toGenericString() + " " + method.getModifiers());
        }
        System.out.println(Shape.class.getModifiers());
        System.out.println(Arrays.toString(Shape.class.getInterfaces()));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Shape());
        }
        System.out.println(Arrays.hashCode(bytes.toByteArray()) + " " + bytes.size());
        Shape copy = (Shape) new ObjectInputStream(
            new ByteArrayInputStream(bytes.toByteArray())).readObject();
        System.out.println(copy.number + " " + copy.object);
        try {
            fail(copy);
        } catch (IllegalStateException exception) {
            for (StackTraceElement element : exception.getStackTrace()) {
                System.out.println(element);
            }
        }
    }

    private static Method[] sorted(Method[] methods) {
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        return methods;
    }
}
