//! `cargo xtask test`: everything the build machine runs, in the order of how fast it fails.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::agent::Agent;
use crate::{
    cargo, documents, jdk, progress, reference_pages, release_binary, rule_pages, run,
    test_programs,
};

pub(crate) fn test_everything() -> Result<()> {
    documents::check()?;
    let home = jdk::ensure()?;
    test_programs::prepare()?;
    // The tests look for the library beside the binary.
    Agent::build()?;
    // One profile for all of it: nothing is built twice, and the tests that read whole libraries
    // would take minutes without optimisation.
    let steps: [(&str, &[&str]); 4] = [
        ("format", &["fmt", "--all", "--check"]),
        ("lints", &["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        ("documentation", &["doc", "--release", "--workspace", "--no-deps"]),
        ("tests", &["test", "--release", "--workspace"]),
    ];
    for (name, arguments) in steps {
        progress(name);
        let mut command = cargo();
        command.args(arguments).env("RUSTDOCFLAGS", "-D warnings").env("JAVA_HOME", &home);
        // On the build machine a test that cannot be run has failed.
        command.env("SCISSION_TEST_ALL", "1");
        run(&mut command).with_context(|| name.to_string())?;
    }
    check_memory().context("memory")?;
    let binary = release_binary()?;
    rule_pages::check(&binary)?;
    reference_pages::check(&binary)?;
    progress("all is well");
    Ok(())
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
    build.args(["test", "--release", "--workspace", "--no-run", "--message-format", "json"]);
    let output = build.output().context("cargo could not be started")?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|artefact| artefact["target"]["name"] == "scission_agent")
        .find_map(|artefact| artefact["executable"].as_str().map(PathBuf::from))
        .context("cargo did not say where the tests of the agent are")
}
