package programs;

import java.util.ArrayList;
import java.util.List;

/** Draws spheres over a plane, with shadows and reflections; the threads take lines of the picture from a shared counter. */
public final class RayTracer {
    public static void main(String[] arguments) throws InterruptedException {
        int size = Measurement.size(arguments, 1200);
        int threads = Measurement.threads(arguments);
        Scene scene = new Scene();
        RandomStream random = new RandomStream(3);
        for (int i = 0; i < 64; i++) {
            double x = i % 8 - 3.5;
            double z = i / 8 + 4;
            Vector centre = new Vector(x * 1.5, random.nextDouble() - 0.2, z * 1.5);
            scene.add(new Sphere(centre, 0.4 + random.nextDouble() * 0.3, 0.2 + random.nextDouble() / 2));
        }
        Measurement measurement = Measurement.begin();
        Picture picture = new Picture(size);
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(scene, picture);
        }
        Measurement.runAll(workers);
        measurement.end(picture.checksum());
    }

    /** Three numbers that change in place, so that a ray makes no garbage. */
    private static final class Vector {
        private double x;
        private double y;
        private double z;

        Vector(double x, double y, double z) {
            set(x, y, z);
        }

        void set(double x, double y, double z) {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        void set(Vector other) {
            set(other.x, other.y, other.z);
        }

        void addScaled(Vector other, double factor) {
            x += other.x * factor;
            y += other.y * factor;
            z += other.z * factor;
        }

        double dot(Vector other) {
            return x * other.x + y * other.y + z * other.z;
        }

        void normalise() {
            double length = Math.sqrt(dot(this));
            x /= length;
            y /= length;
            z /= length;
        }
    }

    private static final class Ray {
        private final Vector origin = new Vector(0, 0, 0);
        private final Vector direction = new Vector(0, 0, 1);
    }

    /** What a ray met first. */
    private static final class Hit {
        private double distance;
        private Sphere sphere;
        private final Vector point = new Vector(0, 0, 0);
        private final Vector normal = new Vector(0, 1, 0);

        void clear() {
            distance = Double.POSITIVE_INFINITY;
            sphere = null;
        }
    }

    private static final class Sphere {
        private final Vector centre;
        private final double radius;
        private final double gloss;

        Sphere(Vector centre, double radius, double gloss) {
            this.centre = centre;
            this.radius = radius;
            this.gloss = gloss;
        }

        /** How far along the ray the sphere begins, or infinitely far. */
        double distanceOnRay(Ray ray) {
            double x = centre.x - ray.origin.x;
            double y = centre.y - ray.origin.y;
            double z = centre.z - ray.origin.z;
            Vector direction = ray.direction;
            double along = x * direction.x + y * direction.y + z * direction.z;
            double square = along * along - (x * x + y * y + z * z) + radius * radius;
            if (square < 0) {
                return Double.POSITIVE_INFINITY;
            }
            double distance = along - Math.sqrt(square);
            return distance > 1e-6 ? distance : Double.POSITIVE_INFINITY;
        }
    }

    /** Complete before the first ray is shot, and never changed after that. */
    private static final class Scene {
        private final List<Sphere> spheres = new ArrayList<>();
        private final Vector light = new Vector(-0.5, 0.8, -0.3);

        Scene() {
            light.normalise();
        }

        void add(Sphere sphere) {
            spheres.add(sphere);
        }

        boolean meets(Ray ray, Hit hit) {
            hit.clear();
            for (int i = 0; i < spheres.size(); i++) {
                Sphere sphere = spheres.get(i);
                double distance = sphere.distanceOnRay(ray);
                if (distance < hit.distance) {
                    hit.distance = distance;
                    hit.sphere = sphere;
                }
            }
            double toPlane = (-1 - ray.origin.y) / ray.direction.y;
            if (toPlane > 1e-6 && toPlane < hit.distance) {
                hit.distance = toPlane;
                hit.sphere = null;
            }
            return hit.distance < 1000;
        }
    }

    private static final class Picture {
        private final int size;
        private int nextLine;
        private long sum;

        Picture(int size) {
            this.size = size;
        }

        /** The next line that nobody has drawn yet, or a negative number. */
        synchronized int takeLine() {
            return nextLine < size ? nextLine++ : -1;
        }

        /** Sums are the same in any order. */
        synchronized void add(int line, long brightness) {
            sum += Measurement.mix(line, brightness);
        }

        synchronized long checksum() {
            return sum;
        }
    }

    private static final class Worker implements Runnable {
        private static final int MOST_REFLECTIONS = 4;
        private final Scene scene;
        private final Picture picture;
        private final Ray ray = new Ray();
        private final Ray shadow = new Ray();
        private final Hit hit = new Hit();
        private final Hit obstacle = new Hit();

        Worker(Scene scene, Picture picture) {
            this.scene = scene;
            this.picture = picture;
        }

        @Override
        public void run() {
            for (int line = picture.takeLine(); line >= 0; line = picture.takeLine()) {
                long brightness = 0;
                for (int column = 0; column < picture.size; column++) {
                    ray.origin.set(0, 1, -3);
                    double half = picture.size / 2.0;
                    ray.direction.set((column - half) / half, (half - line) / half - 0.2, 1.5);
                    ray.direction.normalise();
                    brightness += Math.round(255 * trace(0));
                }
                picture.add(line, brightness);
            }
        }

        private double trace(int reflections) {
            if (!scene.meets(ray, hit)) {
                return 0.3 + 0.2 * ray.direction.y;
            }
            Vector point = hit.point;
            point.set(ray.origin);
            point.addScaled(ray.direction, hit.distance);
            Sphere sphere = hit.sphere;
            double gloss = 0.1;
            if (sphere == null) {
                hit.normal.set(0, 1, 0);
            } else {
                hit.normal.set(point);
                hit.normal.addScaled(sphere.centre, -1);
                hit.normal.normalise();
                gloss = sphere.gloss;
            }
            double brightness = 0.1;
            double towardsLight = hit.normal.dot(scene.light);
            if (towardsLight > 0) {
                shadow.origin.set(point);
                shadow.direction.set(scene.light);
                if (!scene.meets(shadow, obstacle)) {
                    brightness += 0.7 * towardsLight;
                }
            }
            if (reflections == MOST_REFLECTIONS) {
                return brightness;
            }
            ray.origin.set(point);
            ray.direction.addScaled(hit.normal, -2 * ray.direction.dot(hit.normal));
            ray.direction.normalise();
            return brightness * (1 - gloss) + gloss * trace(reflections + 1);
        }
    }
}
