package programs.mutants;

import programs.NotAtomic;

/**
 * Elevators serve a small building. People call from floors, lifts answer the calls, a porter walks around and
 * looks at everything. Floors, lifts, the panel with the calls and the books are shared.
 */
public final class ElevatorSimulation {
    private static final int FLOORS = 5;
    private static final int LIFTS = 2;
    private static final int FAMILIES = 2;
    private static final int JOURNEYS = 20_000;

    private ElevatorSimulation() {}

    public static void main(String[] arguments) throws InterruptedException {
        Building building = new Building();
        Runnable[] everybody = new Runnable[FAMILIES + LIFTS + 1];
        for (int i = 0; i < FAMILIES; i++) {
            everybody[i] = new Family(building, i);
        }
        for (int i = 0; i < LIFTS; i++) {
            everybody[FAMILIES + i] = new Engine(building, building.lifts[i]);
        }
        everybody[FAMILIES + LIFTS] = new Porter(building);
        Crew.run(everybody);
        long arrived = 0;
        for (Floor floor : building.floors) {
            arrived += floor.arrived();
        }
        Crew.expect("arrived", FAMILIES * JOURNEYS, arrived);
        Crew.expect("rides", FAMILIES * JOURNEYS, building.books.rides());
        Crew.expect("unanswered", 0, building.panel.unanswered());
    }

    private static final class Building {
        final Floor[] floors = new Floor[FLOORS];
        final Lift[] lifts = new Lift[LIFTS];
        final Panel panel = new Panel();
        final Books books = new Books();
        final Display display = new Display();
        final Gate gate = new Gate();
        final Bell bell = new Bell();

        Building() {
            for (int i = 0; i < FLOORS; i++) {
                floors[i] = new Floor(i);
            }
            for (int i = 0; i < LIFTS; i++) {
                lifts[i] = new Lift(i);
            }
        }
    }

    /** Somebody on a journey. Belongs to the queue, the lift or the thread that has it. */
    private static final class Person {
        final int ticket;
        final int from;
        final int to;
        Person next;

        Person(int ticket, int from, int to) {
            this.ticket = ticket;
            this.from = from;
            this.to = to;
        }
    }

    /** Numbers for journeys. */
    private static final class Tickets {
        private static int last;

        static synchronized int next() {
            last = last + 1;
            return last;
        }
    }

    /** A floor: who waits there, and how many came. */
    private static final class Floor {
        final int number;
        private Person first;
        private Person last;
        private int waiting;
        private int boarded;
        private int arrived;
        private long signatures;

        Floor(int number) {
            this.number = number;
        }

        synchronized void queue(Person person) {
            if (last == null) {
                first = person;
            } else {
                last.next = person;
            }
            last = person;
            waiting++;
        }

        synchronized Person board() {
            Person person = first;
            if (person != null) {
                first = person.next;
                if (first == null) {
                    last = null;
                }
                person.next = null;
                waiting--;
                boarded++;
            }
            return person;
        }

        synchronized void alight(Person person) {
            arrived++;
            signatures = signatures * 31 + person.ticket;
        }

        synchronized boolean isQuiet() {
            return waiting == 0 && first == null;
        }

        /** How many have used this floor in one way or another. */
        synchronized long traffic() {
            return (long) waiting + boarded + arrived + (signatures & 1);
        }

        /** Asked when everybody has gone home. */
        int arrived() {
            return arrived;
        }
    }

    /** The calls that were made and not yet answered, one bit a floor. */
    private static final class Panel {
        private final Object wiring = new Object();
        private int lamps;
        private int calls;
        private int answers;

        void call(int floor) {
            synchronized (wiring) {
                if ((lamps & 1 << floor) == 0) {
                    lamps |= 1 << floor;
                    calls++;
                }
            }
        }

        /** The nearest floor that called, or -1. */
        int answer(int position) {
            synchronized (wiring) {
                for (int distance = 0; distance < FLOORS; distance++) {
                    for (int floor : new int[] {position - distance, position + distance}) {
                        if (floor >= 0 && floor < FLOORS && (lamps & 1 << floor) != 0) {
                            lamps &= ~(1 << floor);
                            answers++;
                            return floor;
                        }
                    }
                }
                return -1;
            }
        }

        boolean isDark() {
            synchronized (wiring) {
                return calls == answers && lamps == 0;
            }
        }

        int unanswered() {
            return calls - answers;
        }
    }

    /** A lift: where it is and who is in it. Its engine moves it, families and the porter look at it. */
    private static final class Lift {
        private static final int CAPACITY = 8;
        final int number;
        private int position;
        private int direction;
        private int travelled;
        private int load;
        private int carried;
        private Person inside;

        Lift(int number) {
            this.number = number;
        }

        synchronized void moveTo(int floor) {
            direction = Integer.signum(floor - position);
            travelled += Math.abs(floor - position);
            position = floor;
        }

        synchronized boolean take(Person person) {
            if (load == CAPACITY) {
                return false;
            }
            person.next = inside;
            inside = person;
            load++;
            carried++;
            return true;
        }

        /** Somebody who wants to this floor, or nobody. */
        synchronized Person release(int floor) {
            Person before = null;
            for (Person person = inside; person != null; person = person.next) {
                if (person.to == floor) {
                    if (before == null) {
                        inside = person.next;
                    } else {
                        before.next = person.next;
                    }
                    person.next = null;
                    load--;
                    return person;
                }
                before = person;
            }
            return null;
        }

        /** Where the first one inside wants to, or -1. */
        synchronized int destination() {
            return load == 0 || inside == null ? -1 : inside.to;
        }

        /** How long somebody would have to wait for this lift. */
        synchronized int distanceTo(int floor) {
            int wrongWay = direction != 0 && direction != Integer.signum(floor - position) ? FLOORS : 0;
            return Math.abs(floor - position) + wrongWay + load;
        }

        /** How worn the lift is. */
        synchronized int wear() {
            return travelled + 2 * carried + load;
        }
    }

    /** What was done in this building. */
    private static final class Books {
        private int rides;
        private long distance;
        private int longest;

        synchronized void ride(int floors) {
            rides++;
            distance += floors;
            if (floors > longest) {
                longest = floors;
            }
        }

        synchronized long mean() {
            return rides == 0 ? longest : distance / rides;
        }

        int rides() {
            return rides;
        }
    }

    /** The sign in the hall: which lift was last seen where. */
    private static final class Display {
        private int lift;
        private int floor;
        private int changes;

        void show(int newLift, int newFloor) {
            synchronized (this) {
                lift = newLift;
                floor = newFloor;
                changes++;
            }
        }

        int glance() {
            synchronized (this) {
                return changes == 0 ? -1 : lift * FLOORS + floor;
            }
        }
    }

    /** The building opens once; then people come and go. */
    private static final class Gate {
        private boolean isOpen;
        private int entered;
        private int left;

        @NotAtomic
        synchronized void enter() throws InterruptedException {
            while (!isOpen) {
                wait();
            }
            entered++;
        }

        synchronized void leave() {
            left++;
        }

        synchronized void open() {
            isOpen = true;
            notifyAll();
        }

        synchronized int visitors() {
            return entered - left;
        }
    }

    /** Wakes lifts that have nothing to do, and knows how many journeys are still to come. */
    private static final class Bell {
        private int rings;
        private int journeys = FAMILIES * JOURNEYS;

        synchronized void ring() {
            rings++;
            journeys--;
            notifyAll();
        }

        @NotAtomic
        synchronized void listen() throws InterruptedException {
            if (journeys > 0) {
                wait(1);
            }
        }

        synchronized boolean isOver() {
            return rings > 0 && journeys == 0;
        }
    }

    /** People who ride all day. */
    private static final class Family implements Runnable {
        private final Building building;
        private final Dice dice;
        private long patience;

        Family(Building building, int number) {
            this.building = building;
            this.dice = new Dice(number + 1);
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < JOURNEYS; i++) {
                    building.gate.enter();
                    travel();
                    building.gate.leave();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void travel() {
            int from = dice.roll(FLOORS);
            int to = (from + 1 + dice.roll(FLOORS - 1)) % FLOORS;
            building.floors[from].queue(new Person(Tickets.next(), from, to));
            building.panel.call(from);
            for (Lift lift : building.lifts) {
                patience -= lift.distanceTo(from);
            }
            patience += building.display.glance();
            building.bell.ring();
        }
    }

    /** Drives a lift until everybody has gone and nobody waits. */
    private static final class Engine implements Runnable {
        private final Building building;
        private final Lift lift;
        private int position;

        Engine(Building building, Lift lift) {
            this.building = building;
            this.lift = lift;
        }

        @Override
        public void run() {
            try {
                while (true) {
                    boolean isOver = building.bell.isOver();
                    int floor = lift.destination();
                    if (floor < 0) {
                        floor = building.panel.answer(position);
                    }
                    if (floor < 0) {
                        floor = someWaiting();
                    }
                    if (floor >= 0) {
                        serve(floor);
                    } else if (isOver) {
                        return;
                    } else {
                        building.bell.listen();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private int someWaiting() {
            for (Floor floor : building.floors) {
                if (!floor.isQuiet()) {
                    return floor.number;
                }
            }
            return -1;
        }

        private void serve(int floor) {
            lift.moveTo(floor);
            position = floor;
            building.display.show(lift.number, floor);
            Person person = lift.release(floor);
            while (person != null) {
                building.floors[floor].alight(person);
                building.books.ride(Math.abs(person.to - person.from));
                person = lift.release(floor);
            }
            person = building.floors[floor].board();
            while (person != null) {
                if (!lift.take(person)) {
                    building.floors[floor].queue(person);
                    building.panel.call(floor);
                    return;
                }
                person = building.floors[floor].board();
            }
        }
    }

    /** Walks around as long as there is somebody to see. */
    private static final class Porter implements Runnable {
        private final Building building;
        private long seen;

        Porter(Building building) {
            this.building = building;
        }

        @Override
        public void run() {
            building.gate.open();
            while (!building.panel.isDark() || !building.bell.isOver()) {
                for (Floor floor : building.floors) {
                    seen += floor.traffic();
                }
                for (Lift lift : building.lifts) {
                    seen += lift.wear() + lift.destination();
                }
                seen += building.books.mean() + building.display.glance() + building.gate.visitors();
            }
            System.out.println(seen > 0 ? "the porter goes home" : "the porter has seen nothing");
        }
    }
}
