package programs;

/** The first coefficients of the Fourier series of (x + 1) to the power of x, by trapezoids. */
public final class Series {
    private static final int TRAPEZOIDS = 1000;

    public static void main(String[] arguments) throws InterruptedException {
        int terms = Measurement.size(arguments, 60_000);
        int threads = Measurement.threads(arguments);
        Measurement measurement = Measurement.begin();
        Coefficients coefficients = new Coefficients(terms);
        Runnable[] workers = new Runnable[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(coefficients, i, threads);
        }
        Measurement.runAll(workers);
        measurement.end(coefficients.checksum());
    }

    private static final class Coefficients {
        private final double[] cosines;
        private final double[] sines;

        Coefficients(int terms) {
            cosines = new double[terms];
            sines = new double[terms];
        }

        void set(int term, double cosine, double sine) {
            cosines[term] = cosine;
            sines[term] = sine;
        }

        int terms() {
            return cosines.length;
        }

        long checksum() {
            long checksum = 0;
            for (int i = 0; i < cosines.length; i++) {
                checksum = Measurement.mix(checksum, cosines[i]);
                checksum = Measurement.mix(checksum, sines[i]);
            }
            return checksum;
        }
    }

    /** What stands under the integral. */
    private interface Integrand {
        double at(double x, double power);
    }

    /** One integral over the interval from 0 to 2, and where it has come to. */
    private static final class Integration {
        private final Integrand integrand;
        private double x;
        private double power;
        private double sum;

        Integration(Integrand integrand) {
            this.integrand = integrand;
        }

        double integrate(double[] powers) {
            double width = 2.0 / TRAPEZOIDS;
            x = 0;
            sum = integrand.at(0, powers[0]) / 2;
            for (int i = 1; i < TRAPEZOIDS; i++) {
                x += width;
                power = powers[i];
                sum += integrand.at(x, power);
            }
            sum += integrand.at(2, powers[TRAPEZOIDS]) / 2;
            return sum * width;
        }
    }

    private static final class Worker implements Runnable {
        private final Coefficients coefficients;
        private final int first;
        private final int stride;

        Worker(Coefficients coefficients, int first, int stride) {
            this.coefficients = coefficients;
            this.first = first;
            this.stride = stride;
        }

        @Override
        public void run() {
            double[] powers = new double[TRAPEZOIDS + 1];
            for (int i = 0; i <= TRAPEZOIDS; i++) {
                double x = 2.0 * i / TRAPEZOIDS;
                powers[i] = Math.pow(x + 1, x);
            }
            for (int term = first; term < coefficients.terms(); term += stride) {
                double frequency = Math.PI * term;
                Integration cosine = new Integration((x, power) -> power * Math.cos(frequency * x));
                Integration sine = new Integration((x, power) -> power * Math.sin(frequency * x));
                coefficients.set(term, cosine.integrate(powers), sine.integrate(powers));
            }
        }
    }
}
