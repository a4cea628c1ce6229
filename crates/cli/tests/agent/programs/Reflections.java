package torture;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.ObjectStreamField;
import java.io.Serializable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** What a program can see of its own classes. */
public class Reflections {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        String value() default "none";

        int[] numbers() default {};
    }

    @Mark("class")
    static class Account implements Serializable, Comparable<Account> {
        private int balance;
        protected long limit = 100;
        public volatile boolean open;
        transient String cache;
        static int accounts;
        private final String owner;
        Account parent;

        Account(String owner, int balance) {
            this.owner = owner;
            this.balance = balance;
            accounts++;
        }

        @Mark(numbers = {1, 2})
        synchronized void deposit(int amount) {
            balance += amount;
        }

        private static synchronized int count() {
            return accounts;
        }

        @Override
        public int compareTo(Account other) {
            return balance - other.balance;
        }
    }

    static class Savings extends Account {
        double rate = 0.5;
        private List<String> notes = new ArrayList<>();

        Savings(String owner) {
            super(owner, 7);
            notes.add("first");
        }

        @Override
        synchronized void deposit(int amount) {
            super.deposit(amount * 2);
        }
    }

    static class Versioned implements Serializable {
        private static final long serialVersionUID = 42;
        int value = 3;

        private void writeObject(java.io.ObjectOutputStream stream) throws IOException {
            stream.defaultWriteObject();
            stream.writeInt(value * 2);
        }

        private void readObject(ObjectInputStream stream) throws IOException, ClassNotFoundException {
            stream.defaultReadObject();
            value = stream.readInt();
        }
    }

    static class WithInitialiser implements Serializable {
        static int made = Integer.parseInt("5");
        int value = made++;
    }

    public static class External implements Externalizable {
        int value;

        @Override
        public void writeExternal(ObjectOutput output) throws IOException {
            output.writeInt(value);
        }

        @Override
        public void readExternal(ObjectInput input) throws IOException {
            value = input.readInt() + 1;
        }
    }

    enum Kind implements Serializable {
        ONE, TWO {
            int extra = 1;
        };

        int state;
    }

    interface SerializableFunction extends Function<String, String>, Serializable {
    }

    public static void main(String[] arguments) throws Exception {
        Class<?>[] classes = {Account.class, Savings.class, Versioned.class, WithInitialiser.class, External.class, Kind.class};
        for (Class<?> type : classes) {
            describe(type);
        }
        for (Class<?> type : classes) {
            ObjectStreamClass stream = ObjectStreamClass.lookup(type);
            System.out.println(type.getSimpleName() + " version " + stream.getSerialVersionUID());
            for (ObjectStreamField field : stream.getFields()) {
                System.out.println("  " + field);
            }
        }
        roundTrips();
        members();
        handles();
        proxies();
    }

    static void describe(Class<?> type) {
        System.out.println(type.toGenericString() + " " + Arrays.toString(type.getInterfaces()) + type.getSuperclass()
                + Modifier.toString(type.getModifiers()) + Arrays.toString(type.getAnnotations()));
        print(type.getDeclaredFields());
        print(type.getFields());
        print(type.getDeclaredMethods());
        print(type.getDeclaredConstructors());
        System.out.println("  " + names(type.getDeclaredClasses()) + type.getNestHost().getSimpleName() + type.getEnclosingClass());
    }

    static void print(Member[] members) {
        Arrays.stream(members).map(member -> "  " + member + " " + member.getModifiers() + " " + member.isSynthetic())
                .sorted().forEach(System.out::println);
    }

    static List<String> names(Class<?>[] classes) {
        List<String> names = new ArrayList<>();
        for (Class<?> type : classes) {
            names.add(type.getSimpleName());
        }
        names.sort(null);
        return names;
    }

    static byte[] write(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
            stream.writeObject(object);
        }
        return bytes.toByteArray();
    }

    static Object read(byte[] bytes) throws Exception {
        try (ObjectInputStream stream = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return stream.readObject();
        }
    }

    static void roundTrips() throws Exception {
        Savings savings = new Savings("me");
        savings.cache = "gone";
        savings.parent = new Account("parent", 12);
        savings.deposit(5);
        External external = new External();
        external.value = 8;
        SerializableFunction function = text -> text + savings.limit;
        Object[] objects = {savings, new Versioned(), new WithInitialiser(), external, Kind.TWO};
        for (Object object : objects) {
            byte[] bytes = write(object);
            System.out.println(object.getClass().getSimpleName() + " " + bytes.length + " bytes " + Arrays.hashCode(bytes));
            write(read(bytes));
        }
        Savings back = (Savings) read(write(savings));
        System.out.println(back.parent.parent + " " + back.notes + back.rate + back.cache + back.limit);
        System.out.println(((Account) back).balance + " " + back.parent.balance + " " + back.compareTo(savings));
        System.out.println(((Versioned) read(write(new Versioned()))).value + " " + ((External) read(write(external))).value);
        System.out.println(read(write(Kind.TWO)) == Kind.TWO);
        System.out.println(((SerializableFunction) read(write(function))).apply("function "));
    }

    static void members() throws Exception {
        Account account = new Account("reflected", 1);
        for (String name : new String[] {"balance", "limit", "open", "cache", "owner"}) {
            Field field = Account.class.getDeclaredField(name);
            field.setAccessible(true);
            System.out.println(field.getName() + " " + field.get(account) + " " + field.toGenericString());
        }
        Field balance = Account.class.getDeclaredField("balance");
        balance.setAccessible(true);
        balance.setInt(account, 55);
        Method deposit = Account.class.getDeclaredMethod("deposit", int.class);
        deposit.invoke(account, 5);
        System.out.println(account.balance + " " + deposit.getAnnotation(Mark.class).numbers().length + Modifier.toString(deposit.getModifiers()));
        try {
            Account.class.getDeclaredField("$scission$id");
            System.out.println("a foreign field");
        } catch (NoSuchFieldException exception) {
            System.out.println("no foreign field");
        }
        Constructor<?> constructor = Account.class.getDeclaredConstructor(String.class, int.class);
        System.out.println(((Account) constructor.newInstance("made", 3)).owner);
        try {
            deposit.invoke(null, 5);
        } catch (NullPointerException | InvocationTargetException exception) {
            System.out.println(exception.getClass());
        }
    }

    static void handles() throws Exception {
        Account account = new Account("handled", 2);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        try {
            MethodHandle deposit = lookup.findVirtual(Account.class, "deposit", MethodType.methodType(void.class, int.class));
            deposit.invoke(account, 10);
            MethodHandle getter = lookup.findGetter(Account.class, "balance", int.class);
            MethodHandle count = lookup.findStatic(Account.class, "count", MethodType.methodType(int.class));
            System.out.println((int) getter.invoke(account) + " " + ((int) count.invoke() > 0));
        } catch (Throwable error) {
            throw new IllegalStateException(error);
        }
    }

    static void proxies() {
        @SuppressWarnings("unchecked")
        Comparable<String> proxy = (Comparable<String>) Proxy.newProxyInstance(Reflections.class.getClassLoader(),
                new Class<?>[] {Comparable.class}, (self, method, values) -> {
                    if (method.getName().equals("compareTo")) {
                        return values[0].toString().length();
                    }
                    return "proxy";
                });
        System.out.println(proxy.compareTo("four") + " " + proxy);
    }
}
