//! The whole-program rules against all interleavings of small random programs.
//!
//! A program with two to four threads is made at random, written as Java with one access a line, and
//! compiled. The oracle (`explore`) executes its method bodies in all interleavings, and knows by
//! definition what they show:
//!
//! 1. A data race: two threads are about to access one variable that is not volatile, at least one to write it.
//! 2. A deadlock: threads that wait for each other in a circle, or a thread that nobody can wake any more.
//! 3. A call that is not atomic: no execution with the same conflicts in the same order has its accesses side by
//!    side (`history`). The innermost such call counts, of methods that are not private and no thread bodies.
//!
//! Everything that some interleaving shows must be reported: a race by a finding of `data-race` on the
//! variable; a deadlock of locks by `lock-order-cycle` on these locks, another one by `critical-wait` or
//! `indefinite-wait`; a method whose calls are not atomic by `inconsistent-method` or `stale-value`, or by
//! `data-race` on one of the variables. And all accesses that take part in a race or in a call that is not
//! atomic must be on the watch list. What is known to be missed is in one table, with the reason (`gaps`).
//! How many findings no interleaving shows is printed: the rules may be wrong in this direction, since they
//! know neither values nor which paths are taken together.
//!
//! The oracle shares the method bodies with the analysis, and nothing else. It is checked in turn: on
//! programs written by hand (`by_hand`), and against going through all interleavings one by one (`naive`).
//!
//! # Running it
//!
//! ```text
//! cargo test --profile checked -p scission-analyses --test interleavings_oracle -- --nocapture
//! SCISSION_ORACLE_PROGRAMS=20000 cargo test ...           more programs (400 without)
//! SCISSION_ORACLE_SEED=1234 SCISSION_ORACLE_PROGRAMS=1    one program again
//! ```
//!
//! Each program has a seed of its own; they are numbered from `SCISSION_ORACLE_SEED` (1 without) on. A
//! failure names the seeds of programs that are judged differently, makes the smallest of them smaller
//! still, and prints it with what is missed. `SCISSION_ORACLE_SHOW=data-race` prints, for a rule, the
//! smallest programs with a finding that no interleaving shows.

#![allow(missing_docs, reason = "a test")]

mod by_hand;
mod explore;
mod gaps;
mod generate;
mod history;
mod java;
#[path = "../java_program/mod.rs"]
mod java_program;
mod machine;
mod naive;
#[path = "../random/mod.rs"]
mod random;

use std::collections::{BTreeMap, BTreeSet};

use analyses::{Config, WatchListReader, heap};
use findings::{Finding, Site, Step};
use program::{MethodId, Program};
use rayon::prelude::*;

use explore::{Deadlock, Names, NotAtomic, Race, SourceLocation, Verdict, explore};
use gaps::Gap;
use java_program::Compiled;
use machine::CodeLocation;
use random::number_from;

/// States of a program, at most; those of larger ones are not all looked at.
const MOST_STATES: usize = 40_000;

/// The rules that are judged. They are reported at every level.
const RULES: [&str; 6] = [
    "data-race",
    "lock-order-cycle",
    "critical-wait",
    "indefinite-wait",
    "inconsistent-method",
    "stale-value",
];

/// What the analyses report for a program, whatever its severity.
#[derive(Clone, Debug, Default)]
struct Report {
    /// By variable: the two accesses that are shown.
    races: BTreeMap<String, [SourceLocation; 2]>,
    /// The locks of each cycle.
    cycles: BTreeSet<BTreeSet<String>>,
    /// By rule: the waits.
    waits: BTreeSet<(&'static str, SourceLocation)>,
    /// By rule: the methods that are to blame.
    methods: BTreeSet<(&'static str, String)>,
    /// The accesses that could not be proven safe: the watch list.
    watched: BTreeSet<SourceLocation>,
    /// The same without findings of so low a severity that users do not see them unless they ask.
    by_default: Option<Box<Report>>,
}

impl Report {
    fn of(compiled: &Compiled) -> Report {
        let rules = RULES.iter().map(|rule| (*rule).to_string()).collect();
        let config =
            Config { rules, watch_list: Some(WatchListReader::Order), ..Config::default() };
        let (mut report, mut by_default) = (Report::default(), Report::default());
        let wanted = |rules: &[&str]| rules.iter().any(|rule| RULES.contains(rule));
        for analysis in analyses::ALL.iter().filter(|analysis| wanted(analysis.rules)) {
            let outcome = (analysis.run)(&compiled.context(&config));
            let watched = outcome.watch.iter().map(|place| {
                let heap::Place { method, offset } = *place;
                Names(&compiled.program).location(CodeLocation { method, offset })
            });
            report.watched.extend(watched);
            for finding in outcome.findings {
                report.add(&compiled.program, &finding);
                let rule = findings::rules::named(finding.rule).expect("rules are listed");
                if finding.severity >= rule.default_level {
                    by_default.add(&compiled.program, &finding);
                }
            }
        }
        report.by_default = Some(Box::new(by_default));
        report
    }

    fn add(&mut self, program: &Program, finding: &Finding) {
        let names = Names(program);
        let steps = finding.witnesses.first().map_or(&[][..], |witness| &witness.steps);
        let place = |site: &Site| place_of(program, site);
        match finding.rule {
            "data-race" => {
                let [first, second] = steps else { panic!("a race has two sides: {finding:#?}") };
                let field = names.accessed(place(&first.site)).expect("a race is about a field");
                let spots = [first, second].map(|step| names.location(place(&step.site)));
                self.races.insert(names.field(field), spots);
            }
            "lock-order-cycle" => {
                let wants = steps.iter().filter(|step| step.role.starts_with("wants"));
                let lock = |step: &Step| {
                    let sites = step.call_chain.iter().rev().chain([&step.site]);
                    let mut locks = sites.filter_map(|site| names.lock(place(site)));
                    locks.next().unwrap_or_else(|| panic!("a lock is wanted: {finding:#?}"))
                };
                self.cycles.insert(wants.map(lock).collect());
            }
            "critical-wait" | "indefinite-wait" => {
                for step in steps.iter().filter(|step| step.role == "waits") {
                    let site = step.call_chain.last().unwrap_or(&step.site);
                    self.waits.insert((finding.rule, names.location(place(site))));
                }
            }
            rule => {
                // The oracle does not ask whether a thread as a whole is atomic.
                let method = place(&finding.blame).method;
                if machine::is_meant_to_be_atomic(program, method) {
                    self.methods.insert((rule, names.method(method)));
                }
            }
        }
    }

    /// Whether a deadlock is reported.
    fn has_deadlock(&self, deadlock: &Deadlock) -> bool {
        match deadlock {
            // A long cycle is not shown beside shorter ones that have all its edges.
            Deadlock::Locks { locks, .. } => self.cycles.iter().any(|it| it.is_subset(locks)),
            Deadlock::Join { .. } => false,
            Deadlock::Waiting { wait, .. } => {
                self.waits.iter().any(|(_, location)| location == wait)
            }
        }
    }

    /// Whether a method is reported.
    fn has_method(&self, found: &NotAtomic) -> bool {
        let is_blamed = self.methods.iter().any(|(_, method)| *method == found.method);
        let variables = [&found.first.variable, &found.second.variable];
        is_blamed || variables.into_iter().any(|variable| self.races.contains_key(variable))
    }
}

fn place_of(program: &Program, site: &Site) -> CodeLocation {
    let class = site.class.replace('.', "/");
    let method = program.method_named(&class, &site.method, &site.descriptor);
    let method = method.unwrap_or_else(|| panic!("{site:?} is in the program"));
    CodeLocation { method, offset: site.offset.unwrap_or_default() }
}

/// Something that an interleaving shows and that is not reported.
#[derive(Clone, Debug, PartialEq)]
enum Missed {
    Race(Race),
    Deadlock(Deadlock),
    Method(NotAtomic),
    /// An access takes part in a race, or in a call that is not atomic, and is not on the watch list.
    Watch(SourceLocation),
}

impl Missed {
    fn gap(&self, verdict: &Verdict) -> Option<Gap> {
        match self {
            Missed::Race(_) | Missed::Watch(_) => None,
            Missed::Deadlock(deadlock) => gaps::of_deadlock(deadlock),
            Missed::Method(found) => gaps::of_method(found, verdict),
        }
    }
}

fn missed(verdict: &Verdict, report: &Report) -> Vec<Missed> {
    let races = verdict.races.iter().filter(|it| !report.races.contains_key(&it.variable));
    let deadlocks = verdict.deadlocks.iter().filter(|it| !report.has_deadlock(it));
    let methods = verdict.not_atomic.iter().filter(|it| !report.has_method(it));
    let of_races = verdict.races.iter().flat_map(|race| &race.accesses);
    let of_methods =
        verdict.not_atomic.iter().flat_map(|it| [&it.first.location, &it.second.location]);
    let accesses: BTreeSet<&SourceLocation> = of_races.chain(of_methods).collect();
    let unwatched = accesses.into_iter().filter(|location| !report.watched.contains(location));
    races
        .cloned()
        .map(Missed::Race)
        .chain(deadlocks.cloned().map(Missed::Deadlock))
        .chain(methods.cloned().map(Missed::Method))
        .chain(unwatched.cloned().map(Missed::Watch))
        .collect()
}

/// How the findings of a rule compare with what the interleavings show.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    /// What interleavings show, and how much of it is reported or a known gap.
    shown: usize,
    reported: usize,
    known_gaps: usize,
    /// How much of what is reported users do not see unless they ask.
    below_level: usize,
    /// Findings, and how many of them some interleaving shows.
    findings: usize,
    confirmed: usize,
}

impl Score {
    fn shown(&mut self, is_reported: bool, is_visible: bool, gap: Option<Gap>) {
        self.shown += 1;
        self.reported += usize::from(is_reported);
        self.below_level += usize::from(is_reported && !is_visible);
        self.known_gaps += usize::from(!is_reported && gap.is_some());
    }

    fn finding(&mut self, is_confirmed: bool) {
        self.findings += 1;
        self.confirmed += usize::from(is_confirmed);
    }
}

/// The scores of all rules. What counts as one: a variable, a set of locks, a wait, a method; each for one
/// program.
#[derive(Debug, Default)]
struct Scores {
    rules: BTreeMap<&'static str, Score>,
    /// What interleavings show of each kind, whichever rule reports it.
    kinds: BTreeMap<&'static str, Score>,
    gaps: BTreeMap<Gap, usize>,
}

impl Scores {
    /// Adds a program; says of which rules it has findings that no interleaving shows, among those that
    /// users see.
    fn add(&mut self, verdict: &Verdict, report: &Report) -> BTreeSet<&'static str> {
        let by_default = report.by_default.as_deref().unwrap_or(report);
        let mut unconfirmed = BTreeSet::new();
        let mut finding = |rule: &'static str, is_confirmed: bool| {
            self.rules.entry(rule).or_default().finding(is_confirmed);
            if !is_confirmed {
                unconfirmed.insert(rule);
            }
        };
        let raced: BTreeSet<&String> = verdict.races.iter().map(|race| &race.variable).collect();
        for (variable, spots) in &by_default.races {
            finding("data-race", raced.contains(variable));
            let mut accesses = spots.clone();
            accesses.sort();
            let is_shown = verdict.races.iter().any(|race| race.accesses == accesses);
            finding("data-race, the pair shown", is_shown);
        }
        for cycle in &by_default.cycles {
            let is_shown = verdict.deadlocks.iter().any(|deadlock| match deadlock {
                Deadlock::Locks { locks, .. } => locks == cycle,
                Deadlock::Join { .. } | Deadlock::Waiting { .. } => false,
            });
            finding("lock-order-cycle", is_shown);
        }
        for (rule, wait) in &by_default.waits {
            let is_shown = verdict.deadlocks.iter().any(|deadlock| match deadlock {
                Deadlock::Waiting { wait: shown, .. } => shown == wait,
                Deadlock::Locks { .. } | Deadlock::Join { .. } => false,
            });
            finding(rule, is_shown);
        }
        for (rule, method) in &by_default.methods {
            finding(rule, verdict.not_atomic.iter().any(|found| found.method == *method));
        }

        let mut shown = |kind: &'static str, is_in: &dyn Fn(&Report) -> bool, gap: Option<Gap>| {
            let score = self.kinds.entry(kind).or_default();
            score.shown(is_in(report), is_in(by_default), gap);
        };
        for variable in raced {
            shown("race", &|report| report.races.contains_key(variable), None);
        }
        for deadlock in &verdict.deadlocks {
            let name = match deadlock {
                Deadlock::Locks { .. } => "deadlock of locks",
                Deadlock::Join { .. } => "deadlock with a join",
                Deadlock::Waiting { .. } => "thread that is never woken",
            };
            shown(name, &|report| report.has_deadlock(deadlock), gaps::of_deadlock(deadlock));
        }
        let mut seen = BTreeSet::new();
        for found in &verdict.not_atomic {
            let gap = gaps::of_method(found, verdict);
            if !seen.insert((&found.method, &found.first, &found.second)) {
                continue;
            }
            shown("call that is not atomic", &|report| report.has_method(found), gap);
        }
        for gap in missed(verdict, report).iter().filter_map(|missed| missed.gap(verdict)) {
            *self.gaps.entry(gap).or_default() += 1;
        }
        unconfirmed
    }

    fn print(&self) {
        println!("{:40} shown, reported (below the level), known gaps", "by interleavings");
        for (kind, score) in &self.kinds {
            let Score { shown, reported, below_level, known_gaps, .. } = score;
            println!("{kind:40} {shown:6} {reported:6} ({below_level}) {known_gaps:6}");
        }
        println!("{:40} all, confirmed by some interleaving", "findings");
        for (rule, score) in &self.rules {
            let Score { findings, confirmed, .. } = score;
            let percent = 100.0 * *confirmed as f64 / *findings as f64;
            println!("{rule:40} {findings:6} {confirmed:6}  {percent:5.1} %");
        }
        for (gap, count) in &self.gaps {
            println!("known gap {gap:?}, {count} times: {}", gap.reason());
        }
    }
}

fn main_method(program: &Program) -> MethodId {
    let mut methods = program.methods_with_bodies();
    methods.find(|method| &*program.methods[*method].name == "main").expect("a program has a main")
}

fn class_name(number: usize) -> String {
    format!("P{number}")
}

/// Compiles programs, all in one go.
fn compile(programs: &[java::Program]) -> Vec<Compiled> {
    let sources = programs.iter().enumerate().map(|(number, program)| {
        let class = class_name(number);
        let text = program.write(&class);
        (class, text)
    });
    Compiled::each(&sources.collect::<Vec<_>>())
}

/// What the interleavings show, and what the analyses report; nothing for programs with too many states.
fn judge(programs: &[java::Program]) -> Vec<Option<(Verdict, Report)>> {
    let of_one = |compiled: &Compiled| {
        let main = main_method(&compiled.program);
        let verdict = explore(&compiled.program, main, MOST_STATES).ok()?;
        Some((verdict, Report::of(compiled)))
    };
    compile(programs).par_iter().map(of_one).collect()
}

/// Makes a program smaller as long as something is wrong with it.
fn shrunk<T>(
    program: &java::Program,
    is_wrong: impl Fn(&Verdict, &Report) -> Option<T>,
) -> (java::Program, T) {
    let wrong = |candidates: Vec<java::Program>| {
        let judged = judge(&candidates);
        candidates.into_iter().zip(judged).find_map(|(candidate, judged)| {
            let (verdict, report) = judged?;
            is_wrong(&verdict, &report).map(|found| (candidate, found))
        })
    };
    let mut best = wrong(vec![program.clone()]).expect("something is wrong with the program");
    while let Some(smaller) = wrong(generate::smaller(&best.0)) {
        best = smaller;
    }
    best
}

/// What is missed and is no known gap.
fn unknown(verdict: &Verdict, report: &Report) -> Option<Vec<Missed>> {
    let mut found = missed(verdict, report);
    found.retain(|missed| missed.gap(verdict).is_none());
    (!found.is_empty()).then_some(found)
}

/// The program with its lines numbered.
fn listing(program: &java::Program) -> String {
    let text = program.write(&class_name(0));
    text.lines().zip(1..).map(|(text, number)| format!("{number:4} {text}\n")).collect()
}

/// Programs that are compiled at once.
const BATCH: u64 = 1_000;

/// Seeds that a failure lists.
const MOST_SEEDS: usize = 30;

/// Programs with a finding that no interleaving shows, if they are to be printed.
const MOST_SHOWN: usize = 4;

/// Programs that a failure makes smaller and prints, at most.
const MOST_SHRUNK: usize = 4;

fn check(count: u64, first_seed: u64) {
    let mut scores = Scores::default();
    let (mut explored, mut states) = (0, 0);
    let mut failures: Vec<(u64, java::Program)> = Vec::new();
    let mut unconfirmed: BTreeMap<&'static str, Vec<java::Program>> = BTreeMap::new();
    let end = first_seed + count;
    for start in (first_seed..end).step_by(BATCH as usize) {
        let seeds = start..end.min(start + BATCH);
        let programs: Vec<java::Program> =
            seeds.clone().into_par_iter().map(generate::program).collect();
        let judged = judge(&programs);
        for (seed, (program, judged)) in seeds.zip(programs.into_iter().zip(judged)) {
            let Some((verdict, report)) = judged else { continue };
            explored += 1;
            states += verdict.states;
            for rule in scores.add(&verdict, &report) {
                unconfirmed.entry(rule).or_default().push(program.clone());
            }
            if unknown(&verdict, &report).is_some() {
                failures.push((seed, program));
            }
        }
    }
    println!("{explored} of {count} programs from seed {first_seed} on have {states} states");
    scores.print();
    if let Ok(rule) = std::env::var("SCISSION_ORACLE_SHOW") {
        let mut programs = unconfirmed.remove(rule.as_str()).unwrap_or_default();
        programs.sort_by_key(|program| listing(program).len());
        for program in programs.iter().take(MOST_SHOWN) {
            let (smaller, report) = shrunk(program, |verdict, report| {
                let rules = Scores::default().add(verdict, report);
                rules.contains(rule.as_str()).then(|| report.clone())
            });
            println!("{report:#?}\n{}", listing(&smaller));
        }
    }
    if failures.is_empty() {
        return;
    }
    let seeds: Vec<u64> = failures.iter().map(|(seed, _)| *seed).take(MOST_SEEDS).collect();
    failures.sort_by_key(|(_, program)| listing(program).len());
    for (seed, program) in failures.iter().take(MOST_SHRUNK) {
        let (smaller, missed) = shrunk(program, unknown);
        println!("Seed {seed} made smaller shows {missed:#?}\n{}", listing(&smaller));
    }
    panic!(
        "Something is missed in {} of {explored} programs, seeds {seeds:?} (the first {MOST_SEEDS})",
        failures.len()
    );
}

/// The programs written by hand, compiled.
fn cases() -> Vec<(by_hand::Case, Compiled)> {
    let cases = by_hand::cases();
    let sources: Vec<(String, String)> =
        cases.iter().map(|case| (case.class.clone(), case.text.clone())).collect();
    cases.into_iter().zip(Compiled::each(&sources)).collect()
}

fn verdict_of(compiled: &Compiled) -> Verdict {
    explore(&compiled.program, main_method(&compiled.program), MOST_STATES).expect("few states")
}

#[test]
fn the_oracle_judges_programs_written_by_hand_as_known() {
    for (case, compiled) in cases() {
        let verdict = verdict_of(&compiled);
        let races = verdict.races.iter().map(|race| format!("race {}", race.variable));
        let deadlocks = verdict.deadlocks.iter().map(|deadlock| match deadlock {
            Deadlock::Locks { locks, .. } => {
                let locks: Vec<&str> = locks.iter().map(String::as_str).collect();
                format!("deadlock {}", locks.join(" "))
            }
            Deadlock::Join { .. } => "deadlock join".to_string(),
            Deadlock::Waiting { .. } => "deadlock asleep".to_string(),
        });
        let methods = verdict.not_atomic.iter().map(|found| format!("not atomic {}", found.method));
        let shown: BTreeSet<String> = races.chain(deadlocks).chain(methods).collect();
        assert_eq!(shown, case.shows, "{}", case.class);
    }
}

#[test]
fn the_analyses_judge_programs_written_by_hand_as_known() {
    let mut wrong = String::new();
    for (case, compiled) in cases() {
        let (verdict, report) = (verdict_of(&compiled), Report::of(&compiled));
        let missed = missed(&verdict, &report);
        let gaps: BTreeSet<String> = missed
            .iter()
            .map(|missed| {
                missed.gap(&verdict).map_or(format!("{missed:?}"), |gap| format!("{gap:?}"))
            })
            .collect();
        let unconfirmed = Scores::default().add(&verdict, &report);
        let made_up: BTreeSet<String> =
            unconfirmed.iter().map(|rule| (*rule).to_string()).collect();
        if gaps != case.missed || made_up != case.made_up {
            wrong += &format!("{}: missed {gaps:?}, made up {made_up:?}\n", case.class);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A table of excuses that nobody needs any more is none.
#[test]
fn every_known_gap_is_shown_by_a_program_written_by_hand() {
    let shown: BTreeSet<String> = by_hand::cases().into_iter().flat_map(|it| it.missed).collect();
    let known: BTreeSet<String> = Gap::ALL.iter().map(|gap| format!("{gap:?}")).collect();
    assert_eq!(shown, known);
}

/// An oracle that agrees with everything is none: every report that is taken away must be noticed, and
/// every one that is made up.
#[test]
fn wrong_reports_are_noticed() {
    for (case, compiled) in cases() {
        let verdict = verdict_of(&compiled);
        let mut right = Report::default();
        for race in &verdict.races {
            right.races.insert(race.variable.clone(), race.accesses.clone());
            right.watched.extend(race.accesses.clone());
        }
        for deadlock in &verdict.deadlocks {
            match deadlock {
                Deadlock::Locks { locks, .. } => {
                    right.cycles.insert(locks.clone());
                }
                Deadlock::Waiting { wait, .. } => {
                    right.waits.insert(("indefinite-wait", wait.clone()));
                }
                Deadlock::Join { .. } => {}
            }
        }
        for found in &verdict.not_atomic {
            right.methods.insert(("inconsistent-method", found.method.clone()));
            right.watched.extend([found.first.location.clone(), found.second.location.clone()]);
        }
        let joins = |missed: &Missed| matches!(missed, Missed::Deadlock(Deadlock::Join { .. }));
        assert!(missed(&verdict, &right).iter().all(joins), "{}", case.class);
        assert!(Scores::default().add(&verdict, &right).is_empty(), "{}", case.class);

        let watched = right.watched.clone();
        let silent = missed(&verdict, &Report { watched, ..Report::default() });
        let shown = verdict.races.len() + verdict.deadlocks.len() + verdict.not_atomic.len();
        assert_eq!(silent.len(), shown, "{}", case.class);
        let unwatched = Report { watched: BTreeSet::new(), ..right.clone() };
        let missed_accesses = missed(&verdict, &unwatched);
        let is_watch = |missed: &&Missed| matches!(missed, Missed::Watch(_));
        let missed_accesses = missed_accesses.iter().filter(is_watch).count();
        assert_eq!(missed_accesses, right.watched.len(), "{}", case.class);

        let location = SourceLocation { method: "Store.none".to_string(), line: 1 };
        right.races.insert("Store.none".to_string(), [location.clone(), location.clone()]);
        right.cycles.insert(BTreeSet::from(["Store.none".to_string()]));
        right.waits.insert(("critical-wait", location));
        right.methods.insert(("stale-value", "Store.none".to_string()));
        let noticed = Scores::default().add(&verdict, &right);
        let made_up = [
            "critical-wait",
            "data-race",
            "data-race, the pair shown",
            "lock-order-cycle",
            "stale-value",
        ];
        assert_eq!(noticed, BTreeSet::from(made_up), "{}", case.class);
    }
}

/// Interleavings of a program that are gone through one by one, at most.
const MOST_INTERLEAVINGS: usize = 1_000;

/// What is found with states that are taken for one and with clocks is what is found one by one.
#[test]
fn the_oracle_agrees_with_going_through_all_interleavings() {
    let programs: Vec<java::Program> = (1..80).map(generate::program).collect();
    let smaller: Vec<java::Program> =
        programs.iter().flat_map(|it| generate::smaller(it).into_iter().step_by(7)).collect();
    let all: Vec<java::Program> = programs.into_iter().chain(smaller).collect();
    let compared: usize = compile(&all)
        .par_iter()
        .zip(&all)
        .map(|(compiled, program)| {
            let program_of = &compiled.program;
            let main = main_method(program_of);
            let Ok(shown) = naive::judge(program_of, main, MOST_INTERLEAVINGS) else { return 0 };
            let verdict = verdict_of(compiled);
            let names = Names(program_of);
            let methods: BTreeSet<String> =
                verdict.not_atomic.iter().map(|found| found.method.clone()).collect();
            let naive = shown.not_atomic.iter().map(|method| names.method(*method)).collect();
            assert_eq!(methods, naive, "{}", listing(program));
            // Races are noticed before the accesses are made; here by their being side by side.
            let races: BTreeSet<[SourceLocation; 2]> =
                verdict.races.iter().map(|race| race.accesses.clone()).collect();
            let naive: BTreeSet<[SourceLocation; 2]> = shown
                .races()
                .filter(|places| names.accessed(places[0]).is_some_and(|it| !names.is_volatile(it)))
                .map(|places| {
                    let mut spots = places.map(|place| names.location(place));
                    spots.sort();
                    spots
                })
                .collect();
            assert_eq!(races, naive, "{}", listing(program));
            // A circle of locks may leave a thread that can go on.
            assert!(verdict.deadlocks.is_empty() != shown.is_stuck, "{}", listing(program));
            1
        })
        .sum();
    println!("{compared} of {} programs compared", all.len());
    assert!(compared > 100, "{compared} of {} programs compared", all.len());
}

#[test]
fn random_programs_are_judged_as_their_interleavings_show() {
    let count = number_from("SCISSION_ORACLE_PROGRAMS", 400);
    let seed = number_from("SCISSION_ORACLE_SEED", 1);
    check(count, seed);
}
