//! Compares the checkers with naive oracles that keep every operation and compare every pair, on random runs:
//! complete, and through a model of the run-time filters.
//!
//! A run that has a violation keeps it, so the first operation that makes one is the verdict on every prefix.
//! The oracles themselves are compared with all orders of small runs.
//!
//! `CHECKER_RUNS` sets the number of runs, `CHECKER_SEED` the random seed. A million take some ten minutes.

mod deadlocks;
mod exhaustive;
mod filters;
mod forests;
mod locksets;
mod naive;
mod objects;
mod random;
mod short_lived;
mod trace;

use std::collections::BTreeSet;

use checkers::Checker;
use checkers::atomizer::Atomizer;
use checkers::eraser::Eraser;
use checkers::happens_before::HappensBefore;
use checkers::velodrome::{Config, Velodrome};
use events::{
    Access, Action, ClassId, Epoch, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable,
};
use filters::{Filters, Model};
use naive::Verdict;
use random::{Random, number_from};
use trace::{Names, Op, Operation, Run, Shape};

/// The verdict of a checker on a run, in the form of the oracle.
#[derive(Debug, PartialEq, Eq)]
struct CheckerVerdict {
    first_violation: Option<usize>,
    refuted: BTreeSet<u32>,
}

fn run_velodrome(run: &Run, config: Config, filters: Option<Filters>) -> CheckerVerdict {
    let mut checker = Velodrome::new(config);
    let mut model = filters.map(Model::new);
    let mut first_violation = None;
    for (number, operation) in run.0.iter().enumerate() {
        match &mut model {
            Some(model) => {
                model.operation(*operation, number);
                model.events.drain(..).for_each(|event| checker.event(&event));
            }
            None => checker.event(&operation.event(number)),
        }
        if checker.violations() > 0 && first_violation.is_none() {
            first_violation = Some(number);
        }
    }
    CheckerVerdict {
        first_violation,
        refuted: checker.refuted().iter().map(|block| block.0).collect(),
    }
}

fn run_happens_before(run: &Run, filters: Option<Filters>) -> Vec<(Variable, usize)> {
    run_checker(&mut HappensBefore::new(), run, filters)
}

/// The variables with a race, each with the operation that completes the first.
fn run_checker(
    checker: &mut HappensBefore,
    run: &Run,
    filters: Option<Filters>,
) -> Vec<(Variable, usize)> {
    let mut model = filters.map(Model::new);
    let mut found: Vec<(Variable, usize)> = Vec::new();
    let mut races = 0;
    for (number, operation) in run.0.iter().enumerate() {
        match &mut model {
            Some(model) => {
                model.operation(*operation, number);
                model.events.drain(..).for_each(|event| checker.event(&event));
            }
            None => checker.event(&operation.event(number)),
        }
        let (Op::Read(x) | Op::Write(x)) = operation.op else { continue };
        let variable = trace::variable(x);
        let is_race = checker.races() > races;
        races = checker.races();
        if is_race && !found.iter().any(|(known, _)| *known == variable) {
            assert_eq!(checker.latest_race(), Some(variable));
            found.push((variable, number));
        }
    }
    found
}

const CONFIGS: [Config; 6] = [
    Config { merge: true, collect: true, condense_above: 128, kept_intervals: 120 },
    Config { merge: true, collect: true, condense_above: 1, kept_intervals: 120 },
    Config { merge: true, collect: false, condense_above: 128, kept_intervals: 120 },
    Config { merge: false, collect: true, condense_above: 128, kept_intervals: 120 },
    Config { merge: false, collect: true, condense_above: 3, kept_intervals: 120 },
    Config { merge: false, collect: false, condense_above: 128, kept_intervals: 120 },
];

/// Why the checkers are wrong about a run, if they are.
fn mismatch(run: &Run, filters: Option<Filters>) -> Option<String> {
    disagreement(run, filters, naive::judge(run))
}

fn disagreement(run: &Run, filters: Option<Filters>, verdict: Verdict) -> Option<String> {
    let Verdict { first_violation, refuted, races } = verdict;
    let expected = CheckerVerdict { first_violation, refuted };
    for config in CONFIGS {
        let actual = run_velodrome(run, config, filters);
        if actual != expected {
            return Some(format!("velodrome {config:?}: {actual:?} instead of {expected:?}"));
        }
    }
    let actual = run_happens_before(run, filters);
    (actual != races).then(|| format!("happens-before: {actual:?} instead of {races:?}"))
}

/// The random numbers for a run.
fn random_of_run(number: u64) -> Random {
    let seed = number_from("CHECKER_SEED", 1);
    Random::new(seed.wrapping_mul(0x0001_0000_0001).wrapping_add(number))
}

/// Runs random runs through the checkers. Returns how many were not serializable.
fn check(name: &str, filters: Option<Filters>, runs: u64) -> u64 {
    let mut violations = 0;
    for number in 0..runs {
        let mut random = random_of_run(number);
        let shape = Shape::random(&mut random);
        let run = Run::random(&mut random, shape);
        let verdict = naive::judge(&run);
        violations += u64::from(verdict.first_violation.is_some());
        if disagreement(&run, filters, verdict).is_some() {
            let small = run.shrink(shape.forks, |run| mismatch(run, filters).is_some());
            let why = mismatch(&small, filters).unwrap_or_default();
            let mut events = String::new();
            if let Some(filters) = filters {
                let mut model = Model::new(filters);
                for (number, operation) in small.0.iter().enumerate() {
                    model.operation(*operation, number);
                }
                for event in model.events {
                    events += &format!(
                        "    t{} e{} {:?} @{}\n",
                        event.thread.0, event.epoch.0, event.action, event.site.0
                    );
                }
            }
            panic!("{name}, run {number}:\n{small:?}{events}{why}");
        }
    }
    violations
}

#[test]
fn blame_is_right_after_many_violations() {
    let runs = number_from("CHECKER_RUNS", 10_000) / 10;
    let mut violations = 0;
    for number in 0..runs {
        let mut random = random_of_run(number);
        let shape = Shape::contended(&mut random);
        let run = Run::random(&mut random, shape);
        let mut checker = Velodrome::new(CONFIGS[0]);
        run.0.iter().enumerate().for_each(|(at, operation)| checker.event(&operation.event(at)));
        violations += checker.violations();
        for filters in [None, Some(filters::ALL)] {
            if let Some(why) = mismatch(&run, filters) {
                let small = run.shrink(shape.forks, |run| mismatch(run, filters).is_some());
                panic!(
                    "{filters:?}, run {number}: {why}\n{small:?}{:?}",
                    mismatch(&small, filters)
                );
            }
        }
    }
    assert!(violations > 8 * runs, "the runs say little: {violations}");
}

#[test]
fn the_checkers_agree_with_the_oracles() {
    let runs = number_from("CHECKER_RUNS", 10_000);
    let violations = check("unfiltered", None, runs);
    assert!(violations > runs / 10, "the runs say little: {violations}");
}

/// Which of the operations before it each operation may overlap: a random number of them for what is not one step with
/// its report.
fn random_overlaps(random: &mut Random, run: &Run) -> Vec<u32> {
    let most = 1 + random.below(12);
    let overlaps = |operation: &Operation| match operation.op {
        Op::VolatileRead(_) | Op::VolatileWrite(_) | Op::Update(_) | Op::Add(_) => {
            match random.below(10) {
                0..4 => 0,
                4..9 => random.below(most) as u32,
                _ => Event::OVERLAPS_ALL,
            }
        }
        _ => 0,
    };
    run.0.iter().map(overlaps).collect()
}

/// What Velodrome says of a run with overlaps, and how many violations it is not certain of.
fn run_overlapping(run: &Run, overlaps: &[u32], config: Config) -> (CheckerVerdict, u64) {
    let mut checker = Velodrome::new(config);
    let mut first_violation = None;
    for (number, operation) in run.0.iter().enumerate() {
        checker.event(&Event { overlaps: overlaps[number], ..operation.event(number) });
        if checker.violations() > 0 && first_violation.is_none() {
            first_violation = Some(number);
        }
    }
    let refuted = checker.refuted().iter().map(|block| block.0).collect();
    (CheckerVerdict { first_violation, refuted }, checker.uncertain_violations())
}

#[test]
fn a_cycle_is_reported_iff_its_edges_are_certain() {
    let runs = number_from("CHECKER_RUNS", 10_000);
    let (mut violations, mut prevented, mut uncertain) = (0, 0, 0);
    for number in 0..runs {
        let mut random = random_of_run(number);
        let shape = Shape::random(&mut random);
        let mut run = Run::random(&mut random, shape);
        if random.percent(80) {
            run.0.iter_mut().for_each(|operation| match operation.op {
                Op::Read(x) => operation.op = Op::VolatileRead(x),
                Op::Write(x) => operation.op = Op::VolatileWrite(x),
                _ => {}
            });
        }
        let overlaps = random_overlaps(&mut random, &run);
        let verdict = naive::judge_overlapping(&run, &overlaps);
        let exact = naive::judge(&run).first_violation;
        violations += u64::from(verdict.first_violation.is_some());
        prevented += u64::from(exact.is_some() && verdict.first_violation.is_none());
        let expected =
            CheckerVerdict { first_violation: verdict.first_violation, refuted: verdict.refuted };
        for config in CONFIGS {
            let (actual, counted) = run_overlapping(&run, &overlaps, config);
            assert_eq!(actual, expected, "run {number}, {config:?}:\n{run:?}{overlaps:?}");
            uncertain += counted;
        }
        // With less memory it misses some, and makes none up.
        let config = Config { kept_intervals: 1, ..Config::default() };
        let (actual, _) = run_overlapping(&run, &overlaps, config);
        assert!(actual.refuted.is_subset(&expected.refuted), "run {number}:\n{run:?}{overlaps:?}");
    }
    assert!(violations > runs / 20, "the runs say little: {violations}");
    assert!(prevented > runs / 50, "the overlaps say little: {prevented}");
    assert!(uncertain > prevented, "what is not certain is counted: {uncertain}");
}

#[test]
fn the_filters_change_nothing() {
    check("filtered", Some(filters::ALL), number_from("CHECKER_RUNS", 10_000));
}

#[test]
fn each_filter_changes_nothing() {
    let runs = number_from("CHECKER_RUNS", 8000) / 4;
    let eager = Filters { lazy_blocks: false, ..filters::ALL };
    check("blocks at once", Some(eager), runs);
    check("no ownership", Some(Filters { ownership: false, ..filters::ALL }), runs);
    check("no epochs", Some(Filters { epoch: false, ..filters::ALL }), runs);
    check("none", Some(Filters { ownership: false, epoch: false, ..eager }), runs);
}

#[test]
fn the_blamed_block_is_broken_in_every_order() {
    let mut refuted = 0;
    for number in 0..number_from("CHECKER_RUNS", 30_000) / 10 {
        let mut random = random_of_run(number);
        let shape = Shape::small(&mut random);
        let run = Run::random(&mut random, shape);
        let actual = run_velodrome(&run, Config::default(), None);
        let is_serializable = exhaustive::is_serializable(&run);
        assert_eq!(actual.first_violation.is_none(), is_serializable, "run {number}:\n{run:?}");
        for (at, operation) in run.0.iter().enumerate() {
            if operation.op == Op::Begin {
                let is_refuted = actual.refuted.contains(&(at as u32 + 1));
                let is_sound = exhaustive::is_self_serializable(&run, at);
                assert_eq!(is_refuted, !is_sound, "run {number}, block {}:\n{run:?}", at + 1);
                refuted += u64::from(is_refuted);
            }
        }
    }
    assert!(refuted > 100, "the runs say little: {refuted}");
}

/// All verdicts on a run: its violation, if any, its refuted blocks and its races.
fn all_verdicts(run: &Run, filters: Option<Filters>) -> (CheckerVerdict, Vec<(Variable, usize)>) {
    (run_velodrome(run, Config::default(), filters), run_happens_before(run, filters))
}

#[test]
fn other_names_change_nothing() {
    for number in 0..number_from("CHECKER_RUNS", 20_000) / 10 {
        let mut random = random_of_run(number);
        let shape = Shape::random(&mut random);
        let run = Run::random(&mut random, shape);
        let names = Names::random(&mut random);
        let renamed = run.renamed(&names);
        for filters in [None, Some(filters::ALL)] {
            let (expected, races) = all_verdicts(&run, filters);
            let rename = |(variable, at): (Variable, usize)| match variable {
                Variable::Static(field) => (trace::variable(names.variables[field.0 as usize]), at),
                other => (other, at),
            };
            let races: Vec<_> = races.into_iter().map(rename).collect();
            let actual = all_verdicts(&renamed, filters);
            assert_eq!(actual, (expected, races), "run {number}:\n{run:?}{renamed:?}");
        }
    }
}

#[test]
fn swapping_independent_neighbours_changes_nothing() {
    let mut swapped = 0;
    for number in 0..number_from("CHECKER_RUNS", 20_000) / 10 {
        let mut random = random_of_run(number);
        let shape = Shape::random(&mut random);
        let run = Run::random(&mut random, shape);
        let mut other = run.clone();
        // Where each operation was in the run, by its new place.
        let mut places: Vec<usize> = (0..run.0.len()).collect();
        for _ in 0..run.0.len() {
            let at = random.below(run.0.len().max(2) - 1);
            let (Some(&one), Some(&next)) = (other.0.get(at), other.0.get(at + 1)) else {
                continue;
            };
            if !naive::conflict(one, next) && !naive::conflict(next, one) {
                other.0.swap(at, at + 1);
                places.swap(at, at + 1);
                swapped += 1;
            }
        }
        for filters in [None, Some(filters::ALL)] {
            let verdict = |run: &Run, places: &[usize]| {
                let (actual, races) = all_verdicts(run, filters);
                let refuted = actual.refuted.iter().map(|block| places[*block as usize - 1]);
                let refuted: BTreeSet<usize> = refuted.collect();
                let racy: BTreeSet<Variable> = races.into_iter().map(|(it, _)| it).collect();
                (actual.first_violation.is_some(), refuted, racy)
            };
            let same: Vec<usize> = (0..run.0.len()).collect();
            let (before, after) = (verdict(&run, &same), verdict(&other, &places));
            assert_eq!(before, after, "run {number}:\n{run:?}{other:?}");
        }
    }
    assert!(swapped > 1000, "the runs say little: {swapped}");
}

/// A rule of the filters that is left out, and the smallest run that is judged wrongly then.
struct Broken {
    rule: &'static str,
    filters: Filters,
    run: &'static [(u32, Op)],
}

const BROKEN: [Broken; 8] = [
    Broken {
        rule: "an epoch ends when something is sent: the second write is not ordered by the lock",
        filters: Filters { epochs_end_at_sends: false, ..filters::ALL },
        run: &[
            (0, Op::Acquire(0, Mode::Exclusive)),
            (0, Op::Write(0)),
            (0, Op::Release(0, Mode::Exclusive)),
            (0, Op::Write(0)),
            (1, Op::Acquire(0, Mode::Exclusive)),
            (1, Op::Read(0)),
        ],
    },
    Broken {
        rule: "the last read says whether others have read too: the write comes after both reads",
        filters: Filters { reads_remember_sharing: false, ..filters::ALL },
        run: &[(1, Op::Read(0)), (0, Op::Read(0)), (0, Op::Write(0))],
    },
    Broken {
        rule: "an epoch begins with a nested block: the read inside it is another root",
        filters: Filters { epochs_begin_at_nested_blocks: false, ..filters::ALL },
        run: &[
            (1, Op::Begin),
            (1, Op::Read(0)),
            (0, Op::Write(0)),
            (1, Op::Begin),
            (1, Op::Read(0)),
        ],
    },
    Broken {
        rule: "an epoch begins with a volatile write: what was done before it comes after nothing",
        filters: Filters { epochs_begin_at_volatile_writes: false, ..filters::ALL },
        run: &[
            (0, Op::Begin),
            (0, Op::Update(1)),
            (1, Op::Write(4)),
            (1, Op::VolatileWrite(1)),
            (0, Op::Write(4)),
        ],
    },
    Broken {
        rule: "a volatile write reports the reads that were noted: the second read is in the block",
        filters: Filters { volatile_writes_report_notes: false, ..filters::ALL },
        run: &[
            (0, Op::VolatileRead(1)),
            (0, Op::Begin),
            (0, Op::VolatileRead(1)),
            (1, Op::VolatileWrite(1)),
            (0, Op::VolatileWrite(1)),
        ],
    },
    Broken {
        rule: "an access that is reported is the first of its epoch",
        filters: Filters { epochs_begin_with_the_access: false, ..filters::ALL },
        run: &[
            (2, Op::Read(0)),
            (1, Op::Begin),
            (1, Op::Write(0)),
            (2, Op::Write(0)),
            (1, Op::Read(0)),
        ],
    },
    Broken {
        rule: "the past of a thread ends where it was started: the write comes later",
        filters: Filters { past_ends_at_start: false, ..filters::ALL },
        run: &[(0, Op::Fork(1)), (0, Op::Write(0)), (1, Op::Read(0))],
    },
    Broken {
        rule: "a write forgets the reads that are past: their thread has not seen it",
        filters: Filters { writes_forget_past_reads: false, ..filters::ALL },
        run: &[(0, Op::Read(0)), (0, Op::Fork(1)), (1, Op::Write(0)), (0, Op::Read(0))],
    },
];

#[test]
fn every_rule_of_the_filters_is_needed() {
    for Broken { rule, filters, run } in BROKEN {
        let run =
            Run(run.iter().map(|(thread, op)| Operation { thread: *thread, op: *op }).collect());
        assert_eq!(mismatch(&run, Some(filters::ALL)), None, "{rule}");
        assert!(mismatch(&run, Some(filters)).is_some(), "{rule}");
    }
}

/// An event that need not make sense after those before.
fn any_event(random: &mut Random) -> Event {
    let object = ObjectId(random.below(3) as u64);
    let variable = trace::variable(random.below(3) as u32);
    let thread = ThreadId(random.below(4) as u32);
    let class = ClassId(random.below(2) as u32);
    let access = if random.percent(50) { Access::Read } else { Access::Write };
    let mode = if random.percent(50) { Mode::Shared } else { Mode::Exclusive };
    let actions = [
        Action::Read(variable),
        Action::Write(variable),
        Action::earlier(access, variable),
        Action::earlier(access, variable),
        Action::VolatileRead(variable),
        Action::AtomicUpdate(variable),
        Action::AtomicAdd(variable),
        Action::acquire(object, mode),
        Action::release(object, mode),
        Action::Wait(object),
        Action::Woken(object),
        Action::ThreadBegin,
        Action::ThreadEnd,
        Action::Fork(thread),
        Action::Join(thread),
        Action::Submit(object),
        Action::TaskBegin(object),
        Action::Publish(object),
        Action::Receive(object),
        Action::BarrierArrive(object),
        Action::BarrierPass(object),
        Action::LatchDown(object),
        Action::LatchPass(object),
        Action::Begin,
        Action::Begin,
        Action::End,
        Action::ClassInitialised(class),
        Action::ClassUsed(class),
    ];
    let epoch = match random.below(10) {
        0 => 0,
        1 => u64::MAX - random.below(3) as u64,
        _ => random.below(30) as u64,
    };
    Event {
        thread: ThreadId(random.below(4) as u32),
        site: SiteId(random.below(9) as u32),
        epoch: Epoch(epoch),
        action: actions[random.below(actions.len())],
        overlaps: 0,
    }
}

#[test]
fn no_events_make_a_checker_panic() {
    for seed in 0..number_from("CHECKER_RUNS", 2000) {
        let mut random = Random::new(seed);
        let condense_above = 1 + random.below(8);
        let mut velodrome = Velodrome::new(Config { condense_above, ..Config::default() });
        let (mut races, mut eraser) = (HappensBefore::new(), Eraser::default());
        let mut atomizer = Atomizer::default();
        let checkers: [&mut dyn Checker; 4] =
            [&mut velodrome, &mut races, &mut eraser, &mut atomizer];
        let events: Vec<Event> = (0..random.below(300)).map(|_| any_event(&mut random)).collect();
        for checker in checkers {
            events.iter().for_each(|event| checker.event(event));
            checker.findings(&Tables::default());
        }
    }
}
