//! Elements of arrays: the filters change no finding, and neither what threads hand over to each other nor what they read
//! again costs events.

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
        Case::new("elements/read-again/many", needs(), many_elements_are_read_again_in_silence),
        Case::new("elements/read-again/threads", needs(), many_threads_read_again_in_silence),
        Case::new("elements/read-again/arrays", needs(), arrays_that_are_gone_leave_room),
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

/// What threads read of an array that they share: how often they do that changes nothing. The numbers are those of threads, of
/// elements, and of arrays one after the other. The last number of the program's output is how many variables had notes.
fn read_again(setup: &Setup, [threads, elements, arrays]: [u64; 3]) -> Result<u64, Failed> {
    let open = "--add-opens=java.base/java.lang=ALL-UNNAMED";
    let run = |rounds: u64| {
        let numbers = [threads, elements, rounds, arrays].map(|number| number.to_string());
        let [threads, elements, rounds, arrays] = numbers.each_ref().map(String::as_str);
        let program = [open, "torture.SharedReads", threads, elements, rounds, arrays];
        AgentRun::run(setup, &FLAGS, &program)
    };
    let many = run(6)?;
    // Of each element the first read of each thread; of the first one besides, once the second comes, what it was noted to have
    // read before, and who has written the element. The rest is what threads do at the barrier.
    let most = (threads + 2) * elements * arrays + elements / 10 + threads * 2000;
    let events = many.count("events");
    assert(events <= most, || format!("{events} events, of {most}"))?;
    let last = many.process_output.output.split_whitespace().last();
    last.and_then(|it| it.parse().ok()).ok_or_else(|| "it says nothing".into())
}

/// More elements than have 20 bits.
fn many_elements_are_read_again_in_silence(setup: &Setup) -> Result<(), Failed> {
    let variables = read_again(setup, [2, 1_500_000, 1])?;
    assert(variables >= 1_500_000, || format!("{variables} variables"))
}

fn many_threads_read_again_in_silence(setup: &Setup) -> Result<(), Failed> {
    let variables = read_again(setup, [100, 2000, 1])?;
    assert(variables >= 2000, || format!("{variables} variables"))
}

/// The notes of arrays that are gone are given back. The collector may be late.
fn arrays_that_are_gone_leave_room(setup: &Setup) -> Result<(), Failed> {
    let variables = read_again(setup, [2, 20_000, 12])?;
    assert((20_000..160_000).contains(&variables), || format!("{variables} variables"))
}
