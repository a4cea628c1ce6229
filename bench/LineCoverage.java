import java.io.File;
import java.io.IOException;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.data.ExecutionDataStore;
import org.jacoco.core.tools.ExecFileLoader;

/**
 * Reads what JaCoCo's agent has recorded of a run, and prints how many lines of the classes that the run used it has
 * executed, at least in part, and how many they have: the file, then the folders and jars of the classes.
 */
public final class LineCoverage {
    public static void main(String[] arguments) throws IOException {
        ExecFileLoader recorded = new ExecFileLoader();
        recorded.load(new File(arguments[0]));
        ExecutionDataStore used = recorded.getExecutionDataStore();
        int[] lines = new int[2];
        Analyzer analyzer = new Analyzer(used, coverage -> count(used, coverage, lines));
        for (int number = 1; number < arguments.length; number++) {
            analyzer.analyzeAll(new File(arguments[number]));
        }
        System.out.println(lines[0] + " " + lines[1]);
    }

    private static void count(ExecutionDataStore used, IClassCoverage coverage, int[] lines) {
        if (used.get(coverage.getId()) != null) {
            lines[0] += coverage.getLineCounter().getCoveredCount();
            lines[1] += coverage.getLineCounter().getTotalCount();
        }
    }
}
