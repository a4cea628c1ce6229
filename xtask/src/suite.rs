//! `cargo xtask test`: everything the build machine runs, in the order of how fast it fails.

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
    let binary = release_binary()?;
    rule_pages::check(&binary)?;
    reference_pages::check(&binary)?;
    progress("all is well");
    Ok(())
}
