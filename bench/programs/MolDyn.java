package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** Molecules of a liquid in a box with periodic walls: pairwise forces by Lennard-Jones, steps by Verlet. */
public final class MolDyn {
    private static final double CUT_OFF = 2.5;
    private static final double TIME_STEP = 0.002;

    public static void main(String[] arguments) throws InterruptedException {
        int edge = Measurement.size(arguments, 11);
        int threads = Measurement.threads(arguments);
        int steps = 600;
        Box box = new Box(edge, new RandomStream(5));
        Measurement measurement = Measurement.begin();
        CyclicBarrier barrier = new CyclicBarrier(threads);
        Forces[] forces = new Forces[threads];
        for (int i = 0; i < threads; i++) {
            forces[i] = new Forces(box.particles.size());
        }
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(box, forces, i, steps, barrier);
        }
        Measurement.runAll(workers);
        long checksum = 0;
        for (Particle particle : box.particles) {
            checksum = Measurement.mix(checksum, particle.x + particle.y + particle.z);
        }
        checksum = Measurement.mix(checksum, box.kineticEnergy());
        measurement.end(checksum);
    }

    /** One molecule. */
    private static final class Particle {
        private double x;
        private double y;
        private double z;
        private double speedX;
        private double speedY;
        private double speedZ;
        private double forceX;
        private double forceY;
        private double forceZ;

        Particle(double x, double y, double z, RandomStream random) {
            this.x = x;
            this.y = y;
            this.z = z;
            speedX = random.nextGaussian() * 0.5;
            speedY = random.nextGaussian() * 0.5;
            speedZ = random.nextGaussian() * 0.5;
        }

        void move(double side) {
            speedX += forceX * TIME_STEP;
            speedY += forceY * TIME_STEP;
            speedZ += forceZ * TIME_STEP;
            x = inside(x + speedX * TIME_STEP, side);
            y = inside(y + speedY * TIME_STEP, side);
            z = inside(z + speedZ * TIME_STEP, side);
            forceX = 0;
            forceY = 0;
            forceZ = 0;
        }

        void push(double dx, double dy, double dz) {
            forceX += dx;
            forceY += dy;
            forceZ += dz;
        }

        double kineticEnergy() {
            return (speedX * speedX + speedY * speedY + speedZ * speedZ) / 2;
        }

        private static double inside(double position, double side) {
            if (position < 0) {
                return position + side;
            }
            return position >= side ? position - side : position;
        }
    }

    /** All molecules. */
    private static final class Box {
        private final double side;
        private final List<Particle> particles = new ArrayList<>();

        Box(int edge, RandomStream random) {
            double distance = 1.2;
            side = edge * distance;
            for (int i = 0; i < edge * edge * edge; i++) {
                double x = (i % edge + 0.5) * distance;
                double y = (i / edge % edge + 0.5) * distance;
                double z = (i / edge / edge + 0.5) * distance;
                particles.add(new Particle(x, y, z, random));
            }
        }

        double kineticEnergy() {
            double energy = 0;
            for (Particle particle : particles) {
                energy += particle.kineticEnergy();
            }
            return energy;
        }
    }

    /** The forces that one thread found, for all molecules; added up in the order of the threads. */
    private static final class Forces {
        private final double[] x;
        private final double[] y;
        private final double[] z;

        Forces(int particles) {
            x = new double[particles];
            y = new double[particles];
            z = new double[particles];
        }

        void add(int one, int other, double dx, double dy, double dz) {
            x[one] += dx;
            y[one] += dy;
            z[one] += dz;
            x[other] -= dx;
            y[other] -= dy;
            z[other] -= dz;
        }

        void give(int index, Particle particle) {
            particle.push(x[index], y[index], z[index]);
            x[index] = 0;
            y[index] = 0;
            z[index] = 0;
        }
    }

    private static final class Worker implements Runnable {
        private final Box box;
        private final Forces[] forces;
        private final int number;
        private final int steps;
        private final CyclicBarrier barrier;

        Worker(Box box, Forces[] forces, int number, int steps, CyclicBarrier barrier) {
            this.box = box;
            this.forces = forces;
            this.number = number;
            this.steps = steps;
            this.barrier = barrier;
        }

        @Override
        public void run() {
            int particles = box.particles.size();
            int threads = forces.length;
            int start = particles * number / threads;
            int end = particles * (number + 1) / threads;
            try {
                for (int step = 0; step < steps; step++) {
                    for (int i = number; i < particles; i += threads) {
                        interact(i);
                    }
                    barrier.await();
                    for (int i = start; i < end; i++) {
                        for (Forces part : forces) {
                            part.give(i, box.particles.get(i));
                        }
                        box.particles.get(i).move(box.side);
                    }
                    barrier.await();
                }
            } catch (InterruptedException | BrokenBarrierException exception) {
                throw new IllegalStateException(exception);
            }
        }

        /** The molecule with all that come after it. */
        private void interact(int index) {
            Forces found = forces[number];
            Particle one = box.particles.get(index);
            double half = box.side / 2;
            for (int i = index + 1; i < box.particles.size(); i++) {
                Particle other = box.particles.get(i);
                double dx = nearest(one.x - other.x, half);
                double dy = nearest(one.y - other.y, half);
                double dz = nearest(one.z - other.z, half);
                double square = dx * dx + dy * dy + dz * dz;
                if (square < CUT_OFF * CUT_OFF) {
                    double inverse = 1 / square;
                    double sixth = inverse * inverse * inverse;
                    double strength = 48 * inverse * sixth * (sixth - 0.5);
                    found.add(index, i, dx * strength, dy * strength, dz * strength);
                }
            }
        }

        private double nearest(double distance, double half) {
            if (distance > half) {
                return distance - box.side;
            }
            return distance < -half ? distance + box.side : distance;
        }
    }
}
