//! Elements of arrays: the filters change no finding, and what threads hand over to each other costs no events.

use std::collections::BTreeSet;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::adversary::{AgentRun, RELEASE, assert};
use crate::setup::{Requirement, Setup};

const FLAGS: [&str; 3] = ["--arrays", "--monitor", "happens-before"];

pub(crate) fn cases() -> Vec<Case> {
    let needs = || [Requirement::Jvm(RELEASE)];
    vec![
        Case::new("elements/random-loops", needs(), the_filters_change_nothing),
        Case::new("elements/handed-over", needs(), what_is_handed_over_is_silent),
    ]
}

/// The arrays that races are on (elements of one that are raced on at the same places are one finding), every access by itself
/// without filters, against what is done by default. The places of
/// the accesses may be others: a note is of the last one of an epoch.
fn the_filters_change_nothing(setup: &Setup) -> Result<(), Failed> {
    let unfiltered = [&FLAGS[..], &["--no-filter", "ownership", "--no-filter", "epoch"]].concat();
    let elements = |run: &AgentRun| -> BTreeSet<String> {
        let findings = run.report["findings"].as_array().cloned().unwrap_or_default();
        let array = |finding: &Value| {
            let element = finding["subjects"]["variable"].as_str().unwrap_or_default();
            element.rsplit_once('[').map_or(element, |(array, _)| array).to_owned()
        };
        findings.iter().map(array).collect()
    };
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let program = ["torture.Elements", seed];
        let every = elements(&AgentRun::run(setup, &unfiltered, &program)?);
        let filtered = elements(&AgentRun::run(setup, &FLAGS, &program)?);
        assert(!every.is_empty(), || format!("seed {seed} says nothing"))?;
        assert(every == filtered, || format!("seed {seed}: {every:?}, filtered {filtered:?}"))?;
    }
    Ok(())
}

fn what_is_handed_over_is_silent(setup: &Setup) -> Result<(), Failed> {
    let run = AgentRun::run(setup, &FLAGS, &["torture.Elements", "handed-over"])?;
    assert(run.findings() == 0 && run.count("events") < 2000, || {
        format!("{} events, {} findings", run.count("events"), run.findings())
    })
}
