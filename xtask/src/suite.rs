//! `cargo xtask test`: everything the build machine runs, in the order of how fast it fails.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::builds::{self, Profile};
use crate::{
    cargo, debian, fuzz, jdk, on_path, progress, reference_pages, root, rule_pages, run, sizes,
    target_directory, test_programs, tidy,
};

pub(crate) fn test_everything() -> Result<()> {
    tidy::tidy()?;
    let home = jdk::ensure()?;
    test_programs::prepare()?;
    // The tests look for the library beside the binary.
    let library = builds::library(Profile::Checked)?;
    // One profile for all of it: nothing is built twice, and the tests that read whole libraries
    // would take minutes without optimisation.
    let profile = ["--profile", Profile::Checked.name(), "--workspace"];
    let steps: [(&str, &[&str], &[&str]); 3] = [
        ("lints", &["clippy"], &["--all-targets", "--", "-D", "warnings"]),
        ("documentation", &["doc"], &["--no-deps"]),
        // All that fails in one run, not only the first program that does.
        ("tests", &["test"], &["--no-fail-fast"]),
    ];
    progress("format");
    run(cargo().args(["fmt", "--all", "--check"])).context("format")?;
    for (name, command, arguments) in steps {
        progress(name);
        let mut cargo = cargo();
        cargo.args(command).args(profile).args(arguments);
        cargo.env("RUSTDOCFLAGS", "-D warnings").env("JAVA_HOME", &home);
        // On the build machine a test that cannot be run has failed.
        cargo.env("SCISSION_TEST_ALL", "1");
        run(&mut cargo).with_context(|| name.to_string())?;
    }
    check_memory().context("memory")?;
    let binary = builds::command(Profile::Checked)?;
    rule_pages::check(&binary)?;
    reference_pages::check(&binary)?;
    for built in [&binary, &library] {
        sizes::check(built)?;
    }
    progress("all is well");
    Ok(())
}

/// How long each fuzz target runs in a night.
const FUZZ_SECONDS: u32 = 120;
/// What a build with Gradle needs, for the tests that run it.
const GRADLE_PACKAGE: &str = "gradle";

/// Makes a book of the documentation, where the program for that is installed.
fn make_book() -> Result<()> {
    if on_path("mdbook").is_none() {
        progress("the book is not made: `cargo install mdbook` installs what makes it");
        return Ok(());
    }
    progress("book");
    let output = target_directory()?.join("book");
    run(Command::new("mdbook").arg("build").arg("--dest-dir").arg(output).current_dir(root()))
        .context("book")
}

/// Runs the tests that take minutes, which cargo ignores otherwise.
pub(crate) fn test_slowly() -> Result<()> {
    make_book()?;
    if fuzz::is_possible() {
        fuzz::fuzz(FUZZ_SECONDS, &[])?;
    } else {
        progress("nothing is fuzzed: there is no nightly compiler, or no cargo-fuzz");
    }
    let home = jdk::ensure()?;
    debian::ensure(&[GRADLE_PACKAGE])?;
    test_programs::prepare()?;
    builds::library(Profile::Checked)?;
    progress("tests that take minutes");
    let mut tests = cargo();
    tests.args(["test", "--profile", Profile::Checked.name(), "--package", "scission"]);
    tests.args(["--test", "plugins", "--", "--ignored"]);
    run(tests.env("JAVA_HOME", &home).env("SCISSION_TEST_ALL", "1"))
        .context("tests that take minutes")?;
    progress("programs with a known number of defects");
    judge_reports()
}

/// Runs each program of `fixtures/reports` ten times, and prints which defects were found how often. A finding that is no
/// defect, a defect that is found twice in one run, or in none, is a failure.
pub(crate) fn judge_reports() -> Result<()> {
    let home = jdk::ensure()?;
    test_programs::prepare()?;
    builds::library(Profile::Checked)?;
    let mut tests = cargo();
    tests.args(["test", "--profile", Profile::Checked.name(), "--package", "scission"]);
    tests.args(["--test", "agent", "--", "reports/"]);
    tests.env("JAVA_HOME", &home).env("SCISSION_TEST_ALL", "1").env("SCISSION_REPORT_RUNS", "10");
    run(&mut tests)
}

/// Runs the tests of the memory that the agent shares with hooks once more, under a checker that sees every access
/// beside what was allocated.
fn check_memory() -> Result<()> {
    progress("memory");
    let mut checked = Command::new(test_programs::MEMORY_CHECKER);
    // The threads of the tests wait for each other in loops.
    checked.args(["--quiet", "--error-exitcode=9", "--fair-sched=yes"]);
    run(checked.arg(agent_tests()?).arg("memory::"))
}

/// The program of the agent's own tests, which the step before has built.
fn agent_tests() -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["test", "--profile", Profile::Checked.name(), "--workspace", "--no-run"]);
    build.args(["--message-format", "json"]);
    let output = build.output().context("cargo could not be started")?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|artefact| artefact["target"]["name"] == "scission_agent")
        .find_map(|artefact| artefact["executable"].as_str().map(PathBuf::from))
        .context("cargo did not say where the tests of the agent are")
}
