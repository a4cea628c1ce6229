//! `--shared-fields`: one run writes which fields threads share, the next watches nothing else and finds the same.

use std::fs;

use libtest_mimic::Failed;

use crate::Case;
use crate::adversary::{AgentRun, RELEASE, assert};
use crate::setup::{Requirement, Setup};

/// What the program `Sharing` shares: a field of its own, one that a superclass declares, a static one, and one that only a
/// side of a branch would use that is not taken.
const SHARED: [&str; 4] = [
    "torture.Sharing$Base.inherited",
    "torture.Sharing.balance",
    "torture.Sharing.spare",
    "torture.Sharing.total",
];

pub(crate) fn cases() -> Vec<Case> {
    let needs = [Requirement::Jvm(RELEASE)];
    vec![Case::new("sharing/written-and-read", needs, what_is_written_is_enough)]
}

fn what_is_written_is_enough(setup: &Setup) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("shared.txt");
    let flags = ["--monitor", "hybrid", "--shared-fields", &file.to_string_lossy()];
    let program = ["torture.Sharing"];
    let first = AgentRun::run(setup, &flags, &program)?;
    let list = fs::read_to_string(&file)?;
    let (remarks, fields): (Vec<&str>, Vec<&str>) =
        list.lines().partition(|line| line.starts_with('#'));
    assert(
        remarks.first().is_some_and(|it| it.starts_with("# Fields that more than one")),
        || list.clone(),
    )?;
    assert(fields == SHARED, || list.clone())?;

    let second = AgentRun::run(setup, &flags, &program)?;
    assert(
        second.remarks().contains("only the 4 fields that `shared.txt` lists were watched"),
        || second.remarks(),
    )?;
    assert(second.count("hooks") < first.count("hooks"), || {
        format!("{} hooks, and {} before", second.count("hooks"), first.count("hooks"))
    })?;
    let fingerprints = |run: &AgentRun| -> Vec<String> {
        let findings = run.report["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().map(|finding| finding["fingerprint"].to_string()).collect()
    };
    assert(first.findings() > 0 && fingerprints(&first) == fingerprints(&second), || {
        format!("first {}, then {}", first.report, second.report)
    })?;
    assert(fs::read_to_string(&file)? == list, || "the list was written again".to_string())
}
