//! The stale value analysis against a naive oracle, on random methods.
//!
//! A method is made at random, written as Java with one statement a line, and compiled. The oracle
//! walks it on all its paths, calls inlined, and applies the rule of the paper by its definition
//! (`walk`); it knows nothing of bytecode, and shares nothing with the analysis. For every method,
//! in strict mode:
//!
//! 1. Nothing is missed: a read whose value is used after its block ended is reported.
//! 2. Nothing is made up: on some path the reported read ends up in the reported use after the lock
//!    was given back in the reported place.
//! 3. A read is reported once.
//!
//! And by default no read is reported that strict mode does not report.
//!
//! Any instruction may throw as far as bytecode shows, but only a `throw` certainly does. What must
//! be reported are therefore the reads that the throw statements alone make stale, and what may be
//! reported those that exceptions anywhere inside a `try` make stale. Without a `catch` these are
//! the same, since an exception that leaves the method leads to no use.
//!
//! What the oracle takes the rule to mean, beyond its letter:
//!
//! - A value belongs to the innermost block that is open when it is read, and is current as long as
//!   that very block is open, whatever other blocks begin or end.
//! - A wait ends the block of that lock only, and the new block takes its place: a lock that was
//!   taken later is still the inner one.
//! - `return x;` inside a `synchronized` block gives the lock back, then uses `x`: that is what the
//!   compiler makes of it. A synchronized method gives its lock back after that use.
//! - An array element does not come from the index that it was found with.
//! - What a callee obtains and returns, its caller obtains at the line of the call. A use of it inside
//!   the callee is a finding of the callee; only values that the judged method holds count here.
//!
//! # Running it
//!
//! ```text
//! cargo test --profile checked -p scission-analyses --test stale_value_oracle
//! SCISSION_ORACLE_PROGRAMS=20000 cargo test ...           more methods (400 without)
//! SCISSION_ORACLE_SEED=1234 SCISSION_ORACLE_PROGRAMS=1    one method again
//! ```
//!
//! Each method has a seed of its own; they are numbered from `SCISSION_ORACLE_SEED` (1 without) on. A
//! failure names the seeds of methods that are judged differently, makes the smallest of them smaller
//! still, and prints it with the lines of the disagreements. What the analysis is
//! known to judge differently can be left out of the methods: `generate::Features`.

#![allow(missing_docs, reason = "a test")]

mod by_hand;
mod generate;
mod java;
#[path = "../java_program/mod.rs"]
mod java_program;
#[path = "../random/mod.rs"]
mod random;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use analyses::{Config, stale_value};
use findings::Finding;
use rayon::prelude::*;

use generate::Features;
use java::{Kind, Method, Statement, method_name, shared_classes, write_class};
use java_program::Compiled;
use random::{all_statements, number_from};
use walk::Stale;

/// What the paths of a method show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    /// All stale values, exceptions being thrown anywhere.
    possible: BTreeSet<Stale>,
    /// The reads that must be reported, exceptions being thrown only where the method says so.
    demanded: BTreeSet<u32>,
}

/// What the analysis reports for a method, lines being counted from its header.
#[derive(Clone, Debug, Default, PartialEq)]
struct Report {
    /// The findings in strict mode.
    strict: Vec<Stale>,
    /// The reads of the findings by default.
    by_default: BTreeSet<u32>,
}

/// Where the analysis and the oracle differ. Numbers are lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disagreement {
    /// The value read there is used when it is stale, and not reported.
    Missed { read: u32 },
    /// Reported, and on no path is the value read there used when it is stale.
    MadeUp(Stale),
    /// The value read there is used when it is stale, but on no path in this way.
    Misplaced(Stale),
    /// Reported more than once.
    Repeated { read: u32 },
    /// Reported by default, but not in strict mode.
    ByDefaultOnly { read: u32 },
}

fn disagreements(verdict: &Verdict, report: &Report) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let reported: BTreeSet<u32> = report.strict.iter().map(|stale| stale.read).collect();
    for read in verdict.demanded.difference(&reported) {
        found.push(Disagreement::Missed { read: *read });
    }
    let mut reads = BTreeSet::new();
    for stale in &report.strict {
        if !reads.insert(stale.read) {
            found.push(Disagreement::Repeated { read: stale.read });
        }
        if verdict.possible.contains(stale) {
            continue;
        }
        let is_stale = verdict.possible.iter().any(|possible| possible.read == stale.read);
        found.push(match is_stale {
            true => Disagreement::Misplaced(*stale),
            false => Disagreement::MadeUp(*stale),
        });
    }
    for read in report.by_default.difference(&reported) {
        found.push(Disagreement::ByDefaultOnly { read: *read });
    }
    found
}

/// Methods that are written into one class.
const METHODS_PER_CLASS: usize = 10;

/// Compiles methods, all in one go, and runs the analysis on them.
fn analyse(methods: &mut [Method]) -> Vec<Report> {
    let mut sources = shared_classes();
    // By class and method: its number, and the lines before it.
    let mut places = BTreeMap::new();
    for (number, methods) in methods.chunks_mut(METHODS_PER_CLASS).enumerate() {
        let class = format!("P{number}");
        let (text, lines_before) = write_class(methods, &class);
        for (position, lines) in lines_before.into_iter().enumerate() {
            let method = number * METHODS_PER_CLASS + position;
            places.insert((class.clone(), method_name(position)), (method, lines));
        }
        sources.push((class, text));
    }
    let compiled = Compiled::new(&sources);
    let findings = |strict| {
        let rules = stale_value::ANALYSIS.rules.iter().map(|rule| (*rule).to_string()).collect();
        let config = Config { rules, strict, ..Config::default() };
        (stale_value::ANALYSIS.run)(&compiled.context(&config)).findings
    };
    let mut reports = vec![Report::default(); methods.len()];
    for finding in findings(true) {
        if let Some((method, lines)) = places.get(&blamed(&finding)) {
            let line = |role| line_of(&finding, role) - lines;
            let (read, released, used) = (line("read"), line("released"), line("used"));
            reports[*method].strict.push(Stale { read, released, used });
        }
    }
    for finding in findings(false) {
        if let Some((method, lines)) = places.get(&blamed(&finding)) {
            reports[*method].by_default.insert(line_of(&finding, "read") - lines);
        }
    }
    reports
}

/// The class and the method that are to blame.
fn blamed(finding: &Finding) -> (String, String) {
    (finding.blame.class.clone(), finding.blame.method.clone())
}

/// The line of a step, which must be in the method that is to blame.
fn line_of(finding: &Finding, role: &str) -> u32 {
    let steps = finding.witnesses.first().map_or(&[][..], |witness| &witness.steps);
    let sites = steps.iter().filter(|step| step.role == role).map(|step| &step.site);
    let found: Vec<u32> = sites
        .filter(|site| (&site.class, &site.method) == (&finding.blame.class, &finding.blame.method))
        .filter_map(|site| site.line)
        .collect();
    match found[..] {
        [line] => line,
        _ => panic!("one step `{role}` with a line in the blamed method: {finding:#?}"),
    }
}

/// Makes a method smaller as long as it shows a disagreement.
fn shrunk(method: &Method) -> (Method, Verdict, Vec<Disagreement>) {
    let differences = |candidates: &mut Vec<Method>| {
        let reports = analyse(candidates);
        candidates.iter_mut().zip(reports).find_map(|(candidate, report)| {
            let verdict = generate::verdict(candidate).ok()?;
            let found = disagreements(&verdict, &report);
            (!found.is_empty()).then(|| (candidate.clone(), verdict, found))
        })
    };
    let mut best =
        differences(&mut vec![method.clone()]).expect("the method is judged differently");
    while let Some(smaller) = differences(&mut generate::smaller(&best.0)) {
        best = smaller;
    }
    best
}

/// The method with its lines numbered.
fn listing(method: &Method) -> String {
    let text = method.clone().write(&method_name(0), "P");
    text.lines().zip(1..).map(|(text, number)| format!("{number:4} {text}\n")).collect()
}

/// Methods that are compiled at once.
const BATCH: u64 = 2_000;

/// Seeds that a failure lists.
const MOST_SEEDS: usize = 30;

/// Checks all properties on as many methods as asked for.
fn check(features: Features, count: u64, first_seed: u64) {
    let (mut reported, mut demanded, mut with_stale_values) = (0, 0, 0);
    let mut failures: Vec<(u64, Method)> = Vec::new();
    let end = first_seed + count;
    for start in (first_seed..end).step_by(BATCH as usize) {
        let seeds = start..end.min(start + BATCH);
        let (mut methods, verdicts): (Vec<Method>, Vec<Verdict>) =
            seeds.clone().into_par_iter().map(|seed| generate::method(seed, features)).unzip();
        let reports = analyse(&mut methods);
        for (seed, ((method, verdict), report)) in
            seeds.zip(methods.into_iter().zip(&verdicts).zip(&reports))
        {
            reported += report.strict.len();
            demanded += verdict.demanded.len();
            with_stale_values += usize::from(!verdict.demanded.is_empty());
            if !disagreements(verdict, report).is_empty() {
                failures.push((seed, method));
            }
        }
    }
    println!(
        "{count} methods from seed {first_seed} on, {with_stale_values} with stale values: \
         {demanded} reads demanded, {reported} reported"
    );
    let smallest = failures.iter().min_by_key(|(_, method)| listing(method).len());
    if let Some((seed, method)) = smallest {
        let (smaller, verdict, found) = shrunk(method);
        panic!(
            "{} of {count} methods are judged differently, seeds {:?} (the first {MOST_SEEDS}).\n\
             Seed {seed} made smaller shows {found:#?}\n{}\
             What the paths show: {:#?}\n",
            failures.len(),
            failures.iter().map(|(seed, _)| seed).take(MOST_SEEDS).collect::<Vec<_>>(),
            listing(&smaller),
            verdict,
        );
    }
}

#[test]
fn the_oracle_judges_methods_written_by_hand_as_known() {
    for case in by_hand::cases() {
        let mut method = case.method;
        let verdict = generate::verdict(&mut method).expect("few states");
        let known: BTreeSet<Stale> = case
            .stale
            .iter()
            .map(|[read, released, used]| Stale { read: *read, released: *released, used: *used })
            .collect();
        let reads = known.iter().map(|stale| stale.read).collect();
        let listing = listing(&method);
        assert_eq!(verdict.possible, known, "{}\n{listing}", case.title);
        assert_eq!(verdict.demanded, reads, "{}\n{listing}", case.title);
    }
}

#[test]
fn the_analysis_judges_methods_written_by_hand_as_known() {
    let cases = by_hand::cases();
    let mut methods: Vec<Method> = cases.iter().map(|case| case.method.clone()).collect();
    let reports = analyse(&mut methods);
    let mut wrong = String::new();
    for (number, case) in cases.iter().enumerate() {
        let verdict = generate::verdict(&mut methods[number]).expect("few states");
        let found = disagreements(&verdict, &reports[number]);
        if !found.is_empty() {
            wrong += &format!("{}: {found:?}\n{}", case.title, listing(&methods[number]));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// An oracle that agrees with everything is none: every report that is taken away, that is made up,
/// moved or repeated must be noticed.
#[test]
fn wrong_reports_are_noticed() {
    for case in by_hand::cases() {
        let mut method = case.method;
        let verdict = generate::verdict(&mut method).expect("few states");
        let right: BTreeMap<u32, Stale> =
            verdict.possible.iter().map(|stale| (stale.read, *stale)).collect();
        let report = |strict: Vec<Stale>| Report {
            by_default: strict.iter().map(|stale| stale.read).collect(),
            strict,
        };
        let all: Vec<Stale> = right.values().copied().collect();
        assert_eq!(disagreements(&verdict, &report(all.clone())), [], "{}", case.title);
        for (number, stale) in all.iter().enumerate() {
            let read = stale.read;
            let mut silent = all.clone();
            silent.remove(number);
            let silent = report(silent);
            assert_eq!(disagreements(&verdict, &silent), [Disagreement::Missed { read }]);
            let by_default = BTreeSet::from([read]);
            let by_default_only = Report { by_default, ..silent };
            let differences = disagreements(&verdict, &by_default_only);
            assert!(differences.contains(&Disagreement::ByDefaultOnly { read }));

            let mut moved = all.clone();
            moved[number].used = 99;
            let misplaced = Disagreement::Misplaced(moved[number]);
            assert_eq!(disagreements(&verdict, &report(moved)), [misplaced]);

            let mut repeated = all.clone();
            repeated.push(*stale);
            let repeated = report(repeated);
            assert_eq!(disagreements(&verdict, &repeated), [Disagreement::Repeated { read }]);
        }
        let invention = Stale { read: 97, released: 98, used: 99 };
        let mut made_up = all;
        made_up.push(invention);
        let differences = disagreements(&verdict, &report(made_up));
        assert_eq!(differences, [Disagreement::MadeUp(invention)], "{}", case.title);
    }
}

/// Exceptions that nobody catches lead to no use: without a `catch` the verdict is exact.
#[test]
fn without_a_catch_all_that_is_possible_is_demanded() {
    let is_catch = |statement: &&Statement| matches!(statement.kind, Kind::TryCatch(..));
    for seed in 1..200 {
        let (method, verdict) = generate::method(seed, Features::default());
        let possible: BTreeSet<u32> = verdict.possible.iter().map(|stale| stale.read).collect();
        assert!(verdict.demanded.is_subset(&possible), "seed {seed}");
        if !all_statements(&method.body).iter().any(is_catch) {
            assert_eq!(verdict.demanded, possible, "seed {seed}");
        }
    }
}

#[test]
fn random_methods_are_judged_as_their_paths_show() {
    let count = number_from("SCISSION_ORACLE_PROGRAMS", 400);
    let seed = number_from("SCISSION_ORACLE_SEED", 1);
    check(Features::default(), count, seed);
}
