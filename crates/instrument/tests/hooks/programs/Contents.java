import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.StampedLock;

class Contents {
    static class Own extends ArrayList<Object> {
        @Override
        public boolean add(Object element) {
            return super.add(element) && super.size() > 0;
        }
    }

    public static void main(String[] arguments) throws Exception {
        ArrayList<Object> list = new ArrayList<>();
        list.add("one");
        System.out.println(list.size());
        HashMap<Object, Object> map = new HashMap<>();
        map.put("key", "value");
        System.out.println(map.get("key"));
        ConcurrentMap<Object, Object> shared = new ConcurrentHashMap<>();
        shared.put("key", "value");
        System.out.println(shared.get("key"));
        StringBuffer buffer = new StringBuffer();
        buffer.append(1.5).append(2L);
        System.out.println(buffer.length());
        StampedLock stamped = new StampedLock();
        stamped.unlockRead(stamped.readLock());
        AtomicLong plain = new AtomicLong();
        plain.setPlain(4L);
        System.out.println(plain.getPlain());
        Throwable failed = new Exception("failed");
        System.out.println(failed.getCause());
        Map<Object, Object> hidden = new TreeMap<>();
        hidden.put("key", "value");
        hidden.put("key", "another");
        System.out.println(hidden.get("key"));
        List<Object> own = new Own();
        own.add("one");
        for (Object each : own) {
            System.out.println(each);
        }
        System.out.println(new HashSet<>(own).add("two"));
        own.stream().forEach(System.out::println);
        Object nothing = null;
        try {
            ((List<?>) nothing).size();
        } catch (NullPointerException expected) {
            System.out.println(expected.getMessage());
        }
    }
}
