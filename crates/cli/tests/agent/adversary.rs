//! Delayed threads: defects that only they reveal, and what must not change.

use std::fs;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::jvm::{ProcessOutput, Run, torture_classes};
use crate::setup::{Requirement, Setup};

/// Any release will do; the torture tests hold threads back on all of them.
pub(crate) const RELEASE: u32 = 17;

/// Blocks of the program `Windows` that can be split.
const SPLITTABLE: [&str; 5] =
    ["read-modify-write", "static", "synchronized-methods", "synchronized-blocks", "library-calls"];
/// Blocks of it that cannot.
const SOLID: [&str; 2] = ["locked", "handed-over"];

/// Longer than the patience of the class `Turns`, even when halved by chance.
const ADVERSARIAL: [&str; 5] = ["--adversarial", "--seed", "7", "--hold-for", "800"];
/// How often a program is run until a window is hit.
const MOST_TRIES: usize = 5;
/// A few are enough, and more take their time.
const FEW: [&str; 2] = ["--holds-per-site", "3"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, body: fn(&Setup, &str) -> Result<(), Failed>, argument| {
        cases.push(Case::new(
            format!("adversary/{name}"),
            [Requirement::Jvm(RELEASE)],
            move |setup| body(setup, argument),
        ));
    };
    for window in SPLITTABLE {
        add(window.to_string(), only_the_adversary_splits_it, window);
    }
    for window in SOLID {
        add(window.to_string(), nothing_splits_it, window);
    }
    add("alone".to_string(), holds_end_when_nothing_else_can_run, "");
    add("interrupted".to_string(), interrupts_are_left_alone, "");
    add("budgets".to_string(), budgets_are_kept, "");
    add("predicted/taken".to_string(), what_was_predicted_is_aimed_at, "add 1 1");
    add("predicted/untaken".to_string(), what_was_predicted_is_aimed_at, "take 9 1");
    cases
}

/// The output of a watched run, and its report.
pub(crate) struct AgentRun {
    pub(crate) process_output: ProcessOutput,
    pub(crate) report: Value,
}

impl AgentRun {
    /// Runs a program under `scission run`, with Velodrome, and with what flags add.
    pub(crate) fn run(setup: &Setup, flags: &[&str], program: &[&str]) -> Result<AgentRun, Failed> {
        let run = Run::new(env!("CARGO_BIN_EXE_scission").into())?;
        let file = run.folder.path().join("report.json");
        let run = run
            .arguments(["run", "--no-config", "--require-agent", "--monitor", "velodrome"])
            .arguments(["--unobserved", "torture.Turns", "--fail-on", "never"])
            .argument("--agent")
            .argument(setup.agent())
            .arguments(["--format", "json", "--output"])
            .argument(&file)
            .arguments(flags)
            .argument("--")
            .argument(setup.jvm(RELEASE).join("bin/java"))
            .argument("-cp")
            .argument(torture_classes()?)
            .arguments(program);
        let process_output = run.finish()?;
        if process_output.code != Some(0) {
            return Err(format!(
                "it ended with {:?}: {}",
                process_output.code, process_output.error
            )
            .into());
        }
        let report = serde_json::from_slice(&fs::read(file)?)?;
        Ok(AgentRun { process_output, report })
    }

    /// How many blocks were split.
    pub(crate) fn findings(&self) -> usize {
        self.report["findings"].as_array().map_or(0, Vec::len)
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.report["stats"][name].as_u64().unwrap_or_default()
    }

    pub(crate) fn remarks(&self) -> String {
        self.report["remarks"].to_string()
    }
}

pub(crate) fn assert(is_so: bool, what: impl Fn() -> String) -> Result<(), Failed> {
    if is_so { Ok(()) } else { Err(what().into()) }
}

fn only_the_adversary_splits_it(setup: &Setup, window: &str) -> Result<(), Failed> {
    let program = ["torture.Windows", window];
    let plain = AgentRun::run(setup, &[], &program)?;
    assert(plain.findings() == 0, || format!("split without help: {}", plain.report))?;
    assert(plain.count("holds") == 0, || "somebody was held back".to_string())?;
    // Suspicions arrive while the program runs; on a machine that is busy with other things all turns can
    // be over by then.
    let mut split = AgentRun::run(setup, &[&ADVERSARIAL[..], &FEW].concat(), &program)?;
    for _ in 1..MOST_TRIES {
        if split.findings() == 0 {
            split = AgentRun::run(setup, &[&ADVERSARIAL[..], &FEW].concat(), &program)?;
        }
    }
    assert(split.findings() > 0, || {
        format!("not split, with {} holds: {}", split.count("holds"), split.report)
    })?;
    assert(split.report["findings"][0]["rule"] == "not-serializable", || split.report.to_string())?;
    assert(split.remarks().contains("`--seed 7`"), || split.remarks())
}

/// What `hybrid` predicts of a block that each thread executes once is observed if threads are held where it says. The
/// words are the block, and what it is called with when it is predicted and when it is observed: with 9, a side of
/// a branch is not taken.
fn what_was_predicted_is_aimed_at(setup: &Setup, words: &str) -> Result<(), Failed> {
    let words: Vec<&str> = words.split(' ').collect();
    let (before, program) =
        (["torture.Rare", words[0], words[1]], ["torture.Rare", words[0], words[2]]);
    let predicted = AgentRun::run(setup, &["--monitor", "hybrid"], &before)?;
    assert(predicted.findings() == 1, || format!("predicted: {}", predicted.report))?;
    let finding = &predicted.report["findings"][0];
    assert(finding["rule"] == "breakable-block", || finding.to_string())?;
    let would = finding["witness"].to_string().contains("would write");
    assert(would == (words[1] != words[2]), || finding.to_string())?;

    let folder = tempfile::tempdir()?;
    let report = folder.path().join("predicted.json");
    fs::write(&report, predicted.report.to_string())?;
    let aimed = ["--suspicions", &report.to_string_lossy()];
    // Nobody is held without `--adversarial`, and without the prediction nobody knows in time where.
    let plain = AgentRun::run(setup, &aimed, &program)?;
    assert(plain.findings() == 0 && plain.count("holds") == 0, || plain.report.to_string())?;
    assert(plain.remarks().contains("was not observed in this run"), || plain.remarks())?;
    let unaimed = AgentRun::run(setup, &ADVERSARIAL, &program)?;
    assert(unaimed.findings() == 0, || format!("split without help: {}", unaimed.report))?;

    let split = AgentRun::run(setup, &[&ADVERSARIAL[..], &aimed].concat(), &program)?;
    let observed = &split.report["findings"][0];
    assert(observed["rule"] == "not-serializable", || {
        format!("not split, with {} holds: {}", split.count("holds"), split.report)
    })?;
    // It is one finding with what was predicted.
    assert(observed["also"][0]["fingerprint"] == finding["fingerprint"], || observed.to_string())?;
    assert(
        split.remarks().contains("the suspicion in `predicted.json` was observed in this run"),
        || split.remarks(),
    )
}

fn nothing_splits_it(setup: &Setup, window: &str) -> Result<(), Failed> {
    let program = ["torture.Windows", window];
    let plain = AgentRun::run(setup, &[], &program)?;
    let held = AgentRun::run(setup, &[&ADVERSARIAL[..], &FEW].concat(), &program)?;
    assert(held.findings() == 0, || format!("a correct block is blamed: {}", held.report))?;
    assert(plain.process_output == held.process_output, || {
        "the program says something else".to_string()
    })
}

/// Every hold ends after the two looks that it takes to see that nothing else can run.
fn holds_end_when_nothing_else_can_run(setup: &Setup, _: &str) -> Result<(), Failed> {
    let plain = AgentRun::run(setup, &[], &["torture.Alone"])?;
    let held = AgentRun::run(setup, &ADVERSARIAL, &["torture.Alone"])?;
    let (holds, slices) = (held.count("holds"), held.count("hold_slices"));
    assert(holds > 0 && slices <= 2 * holds, || format!("{holds} holds took {slices} slices"))?;
    assert(plain.process_output == held.process_output, || {
        "the program says something else".to_string()
    })
}

fn interrupts_are_left_alone(setup: &Setup, _: &str) -> Result<(), Failed> {
    let flags = [&ADVERSARIAL[..], &["--holds-per-site", "127"]].concat();
    let held = AgentRun::run(setup, &flags, &["torture.Alone", "interrupt"])?;
    assert(held.count("holds") > 10, || format!("only {} holds", held.count("holds")))?;
    let output = &held.process_output.output;
    assert(output.starts_with("interrupted\n"), || output.clone())
}

fn budgets_are_kept(setup: &Setup, _: &str) -> Result<(), Failed> {
    let program = ["torture.Windows", "synchronized-blocks"];
    let holds = |flags: &[&str]| -> Result<u64, Failed> {
        let flags = [&ADVERSARIAL[..], flags].concat();
        Ok(AgentRun::run(setup, &flags, &program)?.count("holds"))
    };
    // One place is suspicious, the second block.
    let few = holds(&["--holds-per-site", "2"])?;
    assert(few == 2, || format!("{few} holds at one place, and not 2"))?;
    let none = holds(&["--hold-budget", "0"])?;
    assert(none == 0, || format!("{none} holds without a budget"))
}
