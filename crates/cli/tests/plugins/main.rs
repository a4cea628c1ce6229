//! The plugins for build tools and JUnit, on the sample projects in `plugins/*/samples`, by a real Maven and a real Gradle
//! without a network. `cargo xtask prepare` builds the plugins and fetches what the samples need. Gradle takes minutes: its
//! tests are part of `cargo xtask test --all`.

mod gradle;
mod sample;

use std::fs;

use sample::{Sample, assert_says, command};

#[test]
fn classes_are_checked_and_a_baseline_accepts_what_is_there() {
    let Some(sample) = Sample::new("maven/samples/junit4") else { return };
    let build = sample.maven(&["scission:check"]);
    let sentence =
        "scission check found defects in `junit4`: see above and `target/scission/check.html`";
    assert_says(build.failure(), &[sentence, "`sample.Shop.sell` is not atomic"]);
    assert_says(&sample.text("target/scission/check.json"), &["inconsistent-method"]);
    assert_says(&sample.text("target/scission/check.sarif"), &["inconsistent-method", "2.1.0"]);
    assert_says(&sample.text("target/scission/check.html"), &["sample.Shop"]);
    // What is left out is not there, and what is known is not new.
    sample.maven(&["scission:check", "-Dscission.excludes=sample.Shop"]).success();
    sample.maven(&["scission:check", "-Dscission.failOn=never"]).success();
    sample.maven(&["scission:check", "-Dscission.writeBaseline"]).success();
    assert_says(&sample.text("scission-baseline.json"), &["sample.Shop"]);
    assert_says(sample.maven(&["scission:check"]).success(), &["nothing new"]);
}

#[test]
fn tests_of_junit_4_are_watched() {
    let Some(sample) = Sample::new("maven/samples/junit4") else { return };
    let build = sample.maven(&["scission:test"]);
    let sentence = "scission observed defects while tests ran in `junit4`";
    assert_says(build.failure(), &[sentence, "data race on `Counter#1.count`"]);
    assert_says(&sample.text("target/scission/test.sarif"), &["happens-before-race"]);
    assert_says(&sample.text("target/scission/test.html"), &["happens-before-race"]);
}

/// A test whose threads wait for each other.
const DEADLOCK: &str = "package sample;

import java.util.concurrent.CountDownLatch;
import org.junit.Test;

public class DeadlockTest {
    private final Object left = new Object();
    private final Object right = new Object();
    private final CountDownLatch both = new CountDownLatch(2);

    @Test
    public void bothWait() throws Exception {
        Thread other = new Thread(() -> nest(right, left));
        other.start();
        nest(left, right);
        other.join();
    }

    private void nest(Object outer, Object inner) {
        synchronized (outer) {
            both.countDown();
            try {
                both.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
            synchronized (inner) {
                inner.notifyAll();
            }
        }
    }
}
";

#[test]
fn a_build_with_a_deadlock_ends_and_names_the_test() {
    let Some(sample) = Sample::new("maven/samples/junit4") else { return };
    fs::write(sample.path("src/test/java/sample/DeadlockTest.java"), DEADLOCK).unwrap();
    let build = sample.maven(&["scission:test", "-Dscission.onDeadlock=exit"]);
    let (deadlock, test) = ("two threads wait for each other", "sample.DeadlockTest");
    assert_says(build.failure(), &[deadlock, test]);
}

#[test]
fn tests_of_junit_5_are_watched_and_keep_their_arguments() {
    let Some(sample) = Sample::new("maven/samples/junit5") else { return };
    let build = sample.maven(&["scission:test"]);
    assert_says(build.failure(), &["Tests run: 1, Failures: 0", "data race on `Counter#1.count`"]);
    // An argument in the pom would hide the agent from the build itself: that is said before a test runs.
    let goal = "scission:scission-maven-plugin:0.1.0:prepare";
    let build = sample.maven(&[goal, "test"]);
    assert_says(build.failure(), &["write `@{argLine} -Dsample.kept=yes` there"]);
}

#[test]
fn correct_code_passes() {
    let Some(sample) = Sample::new("maven/samples/testng") else { return };
    let build = sample.maven(&["scission:test"]);
    assert_says(build.success(), &["Tests run: 1, Failures: 0", "nothing found"]);
    let build = sample.maven(&["scission:test", "-DskipTests"]);
    assert_says(build.success(), &["the tests of `testng` are skipped: nothing was watched"]);
}

#[test]
fn tests_without_a_jvm_of_their_own_are_not_green() {
    let Some(sample) = Sample::new("maven/samples/unforked") else { return };
    let build = sample.maven(&["scission:test"]);
    assert_says(build.failure(), &["the tests of `unforked` ran in no JVM that was watched"]);
}

#[test]
fn modules_have_one_report() {
    let Some(sample) = Sample::new("maven/samples/modules") else { return };
    let build = sample.maven(&["verify"]);
    assert_says(build.success(), &["`sample.core.Shop.sell` is not atomic", "nothing found"]);
    let all = sample.text("target/scission/all.sarif");
    assert_says(&all, &["inconsistent-method", "happens-before-race"]);
    assert!(sample.path("target/scission/all.html").is_file());
    assert!(!sample.text("store/target/scission/test.json").contains("happens-before-race\""));
    // Called by name on modules that are not built, each finds the classes of the one before.
    for built in ["target", "core/target", "store/target"] {
        fs::remove_dir_all(sample.path(built)).unwrap();
    }
    let build = sample.maven(&["scission:check", "scission:test"]);
    assert_says(build.success(), &["`sample.core.Shop.sell` is not atomic", "StoreTest"]);
}

#[test]
fn forks_coverage_and_failsafe_are_watched_in_the_same_run() {
    let Some(sample) = Sample::new("maven/samples/coverage") else { return };
    let build = sample.maven(&["verify"]);
    assert_says(build.failure(), &["data race on `Ledger#1.count`", "Tests run: 2, Failures: 0"]);
    for name in ["target/jacoco.exec", "target/jacoco-it.exec"] {
        assert!(fs::metadata(sample.path(name)).unwrap().len() > 100, "{name}");
    }
    // Each class of tests had a JVM of its own.
    assert_eq!(fs::read_dir(sample.path("target/scission/results")).unwrap().count(), 3);
    assert_eq!(build.text.matches("Running sample.LedgerIT").count(), 1, "{}", build.text);
}

#[test]
fn the_command_comes_with_the_plugin() {
    let Some(sample) = Sample::new("maven/samples/junit4") else { return };
    let plugin = sample.repository.with_file_name("plugins").join("native");
    let built = format!("-Dscission.built={}", command().parent().unwrap().display());
    sample.maven_in(&plugin, &["install", "-DskipTests", &built]).success();
    // The path of the test must not have the command.
    let build = sample.bare_maven(&["scission:check"]);
    assert_says(build.failure(), &["scission check found defects in `junit4`"]);
    let cache = fs::read_dir(sample.path("cache/scission/native")).unwrap();
    let names: Vec<_> = cache.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].join("scission").is_file());
    assert_says(sample.bare_maven(&["scission:test"]).failure(), &["data race on"]);
}

#[test]
fn mistakes_are_explained() {
    let Some(sample) = Sample::new("maven/samples/junit4") else { return };
    let build = sample.bare_maven(&["scission:check", "-Dscission.command=no/such"]);
    assert_says(build.failure(), &["there is no command `no/such`"]);
    let build = sample.maven(&["scission:check", "-Dscission.formats=pdf"]);
    assert_says(build.failure(), &["there is no format `pdf`"]);
    let build = sample.maven(&["scission:check", "-Dscission.rules=stale-valu"]);
    assert_says(build.failure(), &["the classes of `junit4` could not be checked", "stale-value"]);
    assert_says(sample.maven(&["scission:check", "-Dscission.skip"]).success(), &["skipped"]);
}

/// The tests in a report of Surefire, each with the text of its failure.
fn tests(report: &str) -> Vec<(String, Option<String>)> {
    let cases = report.split("<testcase ").skip(1).map(|case| {
        let case = case.split("</testcase>").next().unwrap();
        let name = case.split("name=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let is_failed = case.contains("<failure") || case.contains("<error");
        (name.to_string(), is_failed.then(|| case.to_string()))
    });
    cases.collect()
}

fn the_test_with_a_defect_fails(sample: &str) {
    let Some(sample) = Sample::new(sample) else { return };
    let build = sample.maven(&["scission:test"]);
    assert_says(build.failure(), &["Tests run: 4, Failures: 2"]);
    let report = sample.text("target/surefire-reports/TEST-sample.CountersTest.xml");
    let tests = tests(&report);
    let failed = |name: &str| {
        let test = tests.iter().find(|(test, _)| test == name);
        test.unwrap_or_else(|| panic!("{name} is not in {report}")).1.as_deref()
    };
    let (first, second) = (failed("aFirstDefect").unwrap(), failed("cSecondDefect").unwrap());
    assert_says(first, &["scission observed a defect", "Counters.countFirst", "Counters.java"]);
    assert_says(second, &["scission observed a defect", "Counters.countSecond"]);
    assert!(!first.contains("countSecond") && !second.contains("countFirst"), "{report}");
    assert_eq!((failed("bIsRight"), failed("dIsRightToo")), (None, None));
    let page = sample.text("target/scission/tests/sample.CountersTest.aFirstDefect.html");
    assert_says(&page, &["countFirst"]);
    // Without the agent nobody knows what the tests would show.
    let build = sample.maven(&["test"]);
    assert_says(build.failure(), &["this test is not watched"]);
}

#[test]
fn the_extension_of_junit_5_fails_the_very_test() {
    the_test_with_a_defect_fails("junit/samples/jupiter");
}

#[test]
fn the_rule_of_junit_4_fails_the_very_test() {
    the_test_with_a_defect_fails("junit/samples/rule");
}
