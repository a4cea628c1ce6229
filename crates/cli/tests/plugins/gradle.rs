//! The plugin for Gradle, on its samples, by a real Gradle.

use std::fs;
use std::process::Command;

use crate::sample::{Build, Sample, assert_says, command};

/// Where Gradle keeps what it downloads, and its daemons, of which each test has its own.
const HOME: &str = "gradle home";

impl Sample {
    /// Runs Gradle in one process, with the command that is tested.
    fn gradle(&self, arguments: &[&str]) -> Build {
        self.gradle_with(&["--no-daemon", &named_command()], arguments)
    }

    fn gradle_with(&self, flags: &[&str], arguments: &[&str]) -> Build {
        self.build(self.gradle_command().args(flags).args(arguments))
    }

    /// The command to which arguments of Gradle can be added.
    fn gradle_command(&self) -> Command {
        let mut gradle = Command::new("gradle");
        gradle.current_dir(self.path(".")).env("GRADLE_USER_HOME", self.path(HOME));
        gradle.args(["--offline", "--console=plain"]);
        gradle.arg(format!("-Dmaven.repo.local={}", self.repository.display()));
        gradle
    }

    /// The results that the JVMs of a task have left.
    fn results(&self, task: &str) -> usize {
        fs::read_dir(self.path("build/scission/results").join(task)).unwrap().count()
    }
}

fn named_command() -> String {
    format!("-Pscission.command={}", command().display())
}

/// A daemon that ends with the test.
struct Daemon<'a>(&'a Sample);

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // Only those that have this home.
        let _ = self.0.gradle_command().arg("--stop").output();
    }
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --all`"]
fn classes_are_checked_and_a_baseline_accepts_what_is_there() {
    let Some(sample) = Sample::new("gradle/samples/junit4") else { return };
    let _daemon = Daemon(&sample);
    let named = named_command();
    let gradle = |arguments: &[&str]| sample.gradle_with(&["--daemon", &named], arguments);
    let build = gradle(&["check"]);
    let sentence =
        "scission check found defects in `junit4`: see above and `build/scission/check.html`";
    // The sample has the name of its folder.
    let sentence = sentence.replace("junit4", &sample.name());
    assert_says(build.failure(), &[&sentence, "`sample.Shop.sell` is not atomic"]);
    assert_says(&sample.text("build/scission/check.json"), &["inconsistent-method"]);
    assert_says(&sample.text("build/scission/check.sarif"), &["inconsistent-method", "2.1.0"]);
    assert_says(&sample.text("build/scission/check.html"), &["sample.Shop"]);
    gradle(&["scissionCheck", "-Pscission.failOn=never"]).success();
    gradle(&["scissionCheck", "-Pscission.writeBaseline"]).success();
    assert_says(&sample.text("scission-baseline.json"), &["sample.Shop"]);
    assert_says(gradle(&["scissionCheck"]).success(), &["nothing new"]);
    // Mistakes are explained.
    let build = gradle(&["scissionCheck", "-Pscission.formats=pdf"]);
    assert_says(build.failure(), &["there is no format `pdf`"]);
    gradle(&["scissionCheck", "-Pscission.skip"]).success();
    let build = sample.gradle_with(&["--daemon", "-Pscission.command=no/such"], &["scissionCheck"]);
    assert_says(build.failure(), &["there is no command `no/such`"]);
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --all`"]
fn tests_are_watched_by_a_daemon_that_has_seen_them_before() {
    let Some(sample) = Sample::new("gradle/samples/junit4") else { return };
    let _daemon = Daemon(&sample);
    let named = named_command();
    let gradle = |arguments: &[&str]| sample.gradle_with(&["--daemon", &named], arguments);
    // Nobody has asked for it: the build is as before, and its tests are up to date.
    let build = gradle(&["test"]);
    assert_says(build.success(), &[":scissionTestReport SKIPPED"]);
    assert!(!sample.path("build/scission").exists());
    // What ran unwatched runs again, in the same daemon.
    let race = "data race on `Counter#1.count`";
    let sentence = "scission observed defects while tests ran";
    let build = gradle(&["scissionTest"]);
    assert_says(build.failure(), &[sentence, race]);
    assert!(!build.text.contains(":test UP-TO-DATE"), "{}", build.text);
    // What is up to date is not watched again, and no less found.
    let build = gradle(&["scissionTest"]);
    assert_says(build.failure(), &[sentence, race, ":test UP-TO-DATE"]);
    assert_says(&sample.text("build/scission/test.sarif"), &["happens-before-race"]);
    // A test that fails does not hide what was observed.
    let test = sample.path("src/test/java/sample/CounterTest.java");
    let text = fs::read_to_string(&test).unwrap();
    fs::write(&test, text.replace("counter.count() > 0", "counter.count() < 0")).unwrap();
    let build = gradle(&["scissionTest"]);
    assert_says(build.failure(), &["There were failing tests", sentence, race]);
    // Once corrected, all is well.
    fs::write(&test, text).unwrap();
    let counter = sample.path("src/main/java/sample/Counter.java");
    let text = fs::read_to_string(&counter).unwrap();
    fs::write(
        &counter,
        text.replace("public ", "public synchronized ").replace("synchronized class", "class"),
    )
    .unwrap();
    assert_says(gradle(&["scissionTest"]).success(), &["nothing found"]);
    // Without tests nothing was watched, and that is said.
    fs::remove_dir_all(sample.path("src/test")).unwrap();
    assert_says(gradle(&["scissionTest"]).success(), &["nothing was watched"]);
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --all`"]
fn projects_have_one_report() {
    let Some(sample) = Sample::new("gradle/samples/modules") else { return };
    let build = sample.gradle(&["--parallel", "check"]);
    assert_says(build.success(), &["`sample.core.Shop.sell` is not atomic", "nothing found"]);
    let all = sample.text("build/scission/all.sarif");
    assert_says(&all, &["inconsistent-method", "happens-before-race"]);
    assert!(sample.path("build/scission/all.html").is_file());
    assert!(!sample.text("store/build/scission/test.json").contains("happens-before-race\""));
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --all`"]
fn every_worker_is_watched_beside_its_own_agent() {
    let Some(sample) = Sample::new("gradle/samples/coverage") else { return };
    let build = sample.gradle(&["--continue", "scissionTest"]);
    assert_says(build.failure(), &["data race on `Ledger#1.count`", "nothing found"]);
    assert_eq!((sample.results("test"), sample.results("integrationTest")), (2, 1));
    assert!(fs::metadata(sample.path("build/coverage.exec")).unwrap().len() > 100);
}

#[test]
#[ignore = "takes minutes: `cargo xtask test --all`"]
fn the_command_comes_with_the_plugin() {
    let Some(sample) = Sample::new("gradle/samples/junit4") else { return };
    let plugin = sample.repository.with_file_name("plugins").join("native");
    let built = format!("-Dscission.built={}", command().parent().unwrap().display());
    sample.maven_in(&plugin, &["install", "-DskipTests", &built]).success();
    // The path of the test must not have the command.
    let build = sample.gradle_with(&["--no-daemon"], &["scissionTest"]);
    assert_says(build.failure(), &["data race on `Counter#1.count`"]);
    let unpacked = fs::read_dir(sample.path("cache/scission/native")).unwrap().count();
    assert_eq!(unpacked, 1);
}
