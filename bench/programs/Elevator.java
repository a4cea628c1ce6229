package programs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Elevators serve the people of a building: every elevator is a thread, the floors with their queues are shared. */
public final class Elevator {
    private static final int FLOORS = 40;

    public static void main(String[] arguments) throws InterruptedException {
        int people = Measurement.size(arguments, 3_000_000);
        int threads = Measurement.threads(arguments);
        Measurement measurement = Measurement.begin();
        Building building = new Building(FLOORS);
        RandomStream random = new RandomStream(7);
        for (int i = 0; i < people; i++) {
            int from = random.nextInt(FLOORS);
            int to = (from + 1 + random.nextInt(FLOORS - 1)) % FLOORS;
            building.floor(from).arrive(new Person(i, from, to));
        }
        Runnable[] lifts = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            lifts[i] = new Lift(building, i * FLOORS / threads);
        }
        Measurement.runAll(lifts);
        if (building.delivered() != people) {
            throw new IllegalStateException("only " + building.delivered() + " have arrived");
        }
        int arrived = 0;
        for (int i = 0; i < FLOORS; i++) {
            arrived = 31 * arrived + building.floor(i).arrived();
        }
        measurement.end(building.checksum() + arrived);
    }

    private static final class Person {
        private final int number;
        private final int from;
        private final int to;
        private int patience = 1000;

        Person(int number, int from, int to) {
            this.number = number;
            this.from = from;
            this.to = to;
        }

        /** A ride costs the same patience whichever lift it is. */
        void ride(int direction) {
            patience -= direction > 0 ? 2 : 1;
        }
    }

    private static final class Floor {
        private final ArrayDeque<Person> up = new ArrayDeque<>();
        private final ArrayDeque<Person> down = new ArrayDeque<>();
        private int arrived;

        synchronized void arrive(Person person) {
            if (person.to > person.from) {
                up.addLast(person);
            } else {
                down.addLast(person);
            }
            arrived++;
        }

        /** The next one who wants to go this way, or nobody. */
        synchronized Person board(int direction) {
            return direction > 0 ? up.pollFirst() : down.pollFirst();
        }

        synchronized int arrived() {
            return arrived;
        }
    }

    private static final class Building {
        private final Floor[] floors;
        private int delivered;
        private long sum;

        Building(int floors) {
            this.floors = new Floor[floors];
            for (int i = 0; i < floors; i++) {
                this.floors[i] = new Floor();
            }
        }

        Floor floor(int number) {
            return floors[number];
        }

        int floors() {
            return floors.length;
        }

        synchronized void deliver(Person person) {
            delivered++;
            sum += Measurement.mix(person.number, person.patience);
        }

        synchronized int delivered() {
            return delivered;
        }

        synchronized long checksum() {
            return sum;
        }
    }

    private static final class Lift implements Runnable {
        private static final int PLACES = 12;
        private final Building building;
        private final List<Person> inside = new ArrayList<>();
        private int floor;
        private int direction = 1;
        private int floorsWithoutAnybody;

        Lift(Building building, int floor) {
            this.building = building;
            this.floor = floor;
        }

        @Override
        public void run() {
            // Nobody arrives any more: a lift that was empty all the way up and down is done.
            while (floorsWithoutAnybody <= 2 * building.floors()) {
                turnAtTheEnds();
                letOut();
                letIn();
                floor += direction;
                for (Person person : inside) {
                    person.ride(direction);
                }
            }
        }

        private void turnAtTheEnds() {
            if (floor == building.floors() - 1) {
                direction = -1;
            } else if (floor == 0) {
                direction = 1;
            }
        }

        private void letOut() {
            Iterator<Person> people = inside.iterator();
            while (people.hasNext()) {
                Person person = people.next();
                if (person.to == floor) {
                    people.remove();
                    building.deliver(person);
                }
            }
        }

        private void letIn() {
            Floor here = building.floor(floor);
            boolean isAnybodyLeft = true;
            while (isAnybodyLeft && inside.size() < PLACES) {
                Person person = here.board(direction);
                isAnybodyLeft = person != null;
                if (isAnybodyLeft) {
                    inside.add(person);
                }
            }
            floorsWithoutAnybody = inside.isEmpty() ? floorsWithoutAnybody + 1 : 0;
        }
    }
}
