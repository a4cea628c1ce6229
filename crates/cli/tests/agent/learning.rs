//! `--learn-spec`: runs settle on what is not atomic.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::Case;
use crate::defects::{findings, scission};
use crate::jvm::{beside, javac};
use crate::setup::Setup;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new("learning/settles", [], settles)]
}

/// The program of three methods inside one another, compiled to a folder of its own.
pub(crate) fn nested_classes(folder: &str) -> Result<PathBuf, Failed> {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&classes)?;
    javac(&[beside("learning/Nested.java")], &classes, None)?;
    Ok(classes)
}

/// Until a run is silent, each run finds something new, and what one run has learned no later one reports.
fn settles(setup: &Setup) -> Result<(), Failed> {
    let classes = nested_classes("learning")?;
    let folder = tempfile::tempdir()?;
    let learned = folder.path().join("learned.toml");
    let run = || {
        let mut command = scission(&["--monitor", "velodrome", "--unobserved", "learning.Turn"]);
        command
            .arg("--learn-spec")
            .arg(&learned)
            .args(["--learn-runs", "1", "--"])
            .arg(setup.jdk_program("java"));
        command.arg("-cp").arg(&classes).arg("learning.Nested");
        findings(command)
    };
    let mut history = Vec::new();
    for _ in 0..6 {
        let found = run()?;
        let excluded = exclusions(&learned)?;
        history.push((found.iter().map(ToString::to_string).collect::<Vec<_>>(), excluded.clone()));
        for finding in &found {
            if !excluded.contains(&finding.blame) {
                return Err(format!("{finding} was not learned: {history:#?}").into());
            }
        }
        if found.is_empty() {
            break;
        }
    }
    let expected = ["learning.Nested.inner", "learning.Nested.middle", "learning.Nested.outer"];
    match history.as_slice() {
        [(first, _), .., (last, learned)]
            if !first.is_empty() && last.is_empty() && learned == &expected => {}
        _ => return Err(format!("it does not settle: {history:#?}").into()),
    }
    let settled = fs::read_to_string(&learned)?;
    if !run()?.is_empty() || fs::read_to_string(&learned)? != settled {
        return Err("what has settled does not stay".into());
    }
    Ok(())
}

/// The methods in a learned specification, in their order.
fn exclusions(learned: &Path) -> Result<Vec<String>, Failed> {
    let text = fs::read_to_string(learned)?;
    let entries = text.lines().filter_map(|line| line.trim().strip_prefix('"'));
    Ok(entries.map(|line| line.trim_end_matches("\",").to_string()).collect())
}
