//! `cargo xtask test`: everything the build machine runs, in the order of how fast it fails.

use anyhow::{Context, Result};

use crate::builds::{self, Profile};
use crate::{
    cargo, configuration_page, jdk, progress, rule_pages, run, sizes, test_programs, tidy,
    trace_page,
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
        ("tests", &["test"], &[]),
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
    let binary = builds::command(Profile::Checked)?;
    rule_pages::check(&binary)?;
    configuration_page::check(&binary)?;
    trace_page::check()?;
    for built in [&binary, &library] {
        sizes::check(built)?;
    }
    progress("all is well");
    Ok(())
}
