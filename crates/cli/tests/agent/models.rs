//! Users' models of a lock and a queue, on all JVMs: without them what the lock guards looks unguarded, with
//! them only what somebody forgot to guard is reported.

use std::fs;
use std::process::Command;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::jvm::{beside, javac};
use crate::setup::{Requirement, Setup};

const RELEASES: [u32; 4] = [11, 17, 21, 25];

pub(crate) fn cases() -> Vec<Case> {
    let case = |release: u32| {
        Case::new(
            format!("java{release}/users-models"),
            [Requirement::Jvm(release)],
            move |setup| judge(setup, release),
        )
    };
    RELEASES.into_iter().map(case).collect()
}

fn judge(setup: &Setup, release: u32) -> Result<(), Failed> {
    let classes = tempfile::tempdir()?;
    fs::create_dir_all(classes.path())?;
    javac(&[beside("models/Own.java")], classes.path(), None)?;
    let models = beside("models/own.models");
    let models = models.to_string_lossy();
    let without = raced(setup, release, classes.path(), &[])?;
    if !without.contains(&"guarded".to_string()) {
        return Err(format!("without models only {without:?} is reported").into());
    }
    let with = raced(setup, release, classes.path(), &["--models", &models])?;
    if with != ["forgotten"] {
        return Err(format!("with models {with:?} is reported").into());
    }
    Ok(())
}

/// The fields that the lockset and happens-before checkers name, sorted.
fn raced(
    setup: &Setup,
    release: u32,
    classes: &std::path::Path,
    flags: &[&str],
) -> Result<Vec<String>, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_scission"))
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("JDK_JAVA_OPTIONS")
        .args(["run", "--no-config", "--require-agent", "--fail-on", "never", "--output", "-"])
        .args(["--format", "json", "--monitor", "eraser", "--level", "low"])
        .args(flags)
        .arg("--agent")
        .arg(setup.agent())
        .arg("--")
        .arg(setup.jvm(release).join("bin/java"))
        .arg("-Xverify:all")
        .arg("-cp")
        .arg(classes)
        .arg("own.Own")
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("it ended with {}: {said}", output.status).into());
    }
    let json = printed.find('{').map(|at| &printed[at..]).unwrap_or_default();
    let report: Value =
        serde_json::from_str(json).map_err(|error| format!("{error}: {printed}"))?;
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    let fields = ["guarded", "forgotten", "input", "output", "next", "handed", "done"];
    let mut named: Vec<String> = fields
        .into_iter()
        .filter(|field| {
            findings.iter().any(|finding| finding.to_string().contains(&format!(".{field}")))
        })
        .map(str::to_string)
        .collect();
    named.sort();
    Ok(named)
}
