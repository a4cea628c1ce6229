//! What is called observed has happened: programs that count in their own data how often a block was split, against how
//! often it is reported.

use std::collections::BTreeMap;
use std::fs;

use agent_protocol::Ending;
use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{Run, torture_classes};
use crate::setup::{Requirement, Setup};

const RELEASES: [u32; 4] = [11, 17, 21, 25];

const OPTIONS: [(&str, &str); 2] = [
    ("filters", "monitor=velodrome"),
    ("no-filters", "monitor=velodrome,ownership-filter=false,epoch-filter=false"),
];

/// How often each block is executed.
const ROUNDS: &str = "10000";

/// A block that is split so often must be found: not all of its operations overlap others.
const OFTEN: u64 = 300;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for release in RELEASES {
        for (name, options) in OPTIONS {
            let name = format!("java{release}/splits/{name}");
            cases.push(Case::new(name, [Requirement::Jvm(release)], move |setup: &Setup| {
                reported_is_within_observed(setup, release, options)
            }));
        }
    }
    cases
}

fn reported_is_within_observed(setup: &Setup, release: u32, options: &str) -> Result<(), Failed> {
    let run = Run::new(setup.jvm(release).join("bin/java"))?;
    let results = run.folder.path().join("results");
    fs::create_dir(&results)?;
    let options = format!("results={},{options}", results.display());
    let run = run.watched("", &options).argument("-cp").argument(torture_classes()?);
    let run = run.argument("torture.Splits").argument(ROUNDS);
    let seen = run.finish()?;

    let mut happened: BTreeMap<String, u64> = BTreeMap::new();
    for line in seen.output.lines() {
        let count =
            line.split_once(' ').and_then(|(name, count)| Some((name, count.parse().ok()?)));
        let (name, count) = count.ok_or_else(|| format!("it failed: {seen:?}"))?;
        happened.insert(name.to_owned(), count);
    }
    let (all, errors) = agent_protocol::read_directory(&results)?;
    let [jvm] = all.as_slice() else { return Err(format!("{all:?}, {errors:?}").into()) };
    if jvm.ending != Ending::Complete || happened.is_empty() {
        return Err(format!("it did not come to its end: {seen:?}").into());
    }
    let mut reported: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in &jvm.findings {
        let cycles = finding.witnesses.iter().filter_map(|witness| witness.cycle.as_ref());
        // Classes inherit blocks that others split in their own way.
        *reported.entry(&finding.blame.class).or_default() +=
            cycles.map(|it| it.count).sum::<u64>();
    }
    println!("{} violations are not certain", jvm.uncertain_violations);
    let mut wrong = Vec::new();
    for (name, happened) in &happened {
        let reported = reported.remove(name.as_str()).unwrap_or_default();
        println!("{name}: split {happened} times, reported {reported} times");
        if reported > *happened || (*happened >= OFTEN && reported == 0) {
            wrong.push(format!("{name} was split {happened} times and reported {reported} times"));
        }
    }
    wrong.extend(reported.keys().map(|name| format!("{name} is blamed and counts nothing")));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
