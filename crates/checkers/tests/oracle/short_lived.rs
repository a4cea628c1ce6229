//! Runs of many threads that live shortly, so that most of them have the slot of one that has ended: who joins, reports or
//! races with such a thread later must meet that thread and not the one that has its slot.

use checkers::Checker;
use checkers::happens_before::HappensBefore;
use events::{Mode, SiteEntry, Tables, ThreadEntry};

use crate::filters::{self, Filters};
use crate::naive;
use crate::random::{Random, number_from};
use crate::trace::{Op, Operation, Run};

/// How many threads a run has at most.
const MOST_THREADS: u32 = 40;

/// A random run in which few threads are alive at a time.
fn random_run(random: &mut Random) -> Run {
    let most_alive = 2 + random.below(3);
    let variables = 1 + random.below(3);
    let length = 40 + random.below(naive::MOST - 40);
    let joins_often = random.percent(50);
    let mut alive = vec![0];
    let mut ended: Vec<u32> = Vec::new();
    let mut holder = None;
    let mut next = 1;
    let mut run = Vec::new();
    while run.len() < length {
        let at = random.below(alive.len());
        let thread = alive[at];
        let op = match random.below(12) {
            0 | 1 if alive.len() < most_alive && next < MOST_THREADS => {
                next += 1;
                alive.push(next - 1);
                Op::Fork(next - 1)
            }
            2 | 3 if thread != 0 && holder != Some(thread) => {
                ended.push(alive.remove(at));
                Op::ThreadEnd
            }
            4 | 5 if !ended.is_empty() && (joins_often || random.percent(30)) => {
                // Mostly one of the last; the others have lost their slots for longer.
                let recent = if random.percent(60) { ended.len().min(3) } else { ended.len() };
                Op::Join(ended[ended.len() - 1 - random.below(recent)])
            }
            6 if holder.is_none() => {
                holder = Some(thread);
                Op::Acquire(0, Mode::Exclusive)
            }
            6 | 7 if holder == Some(thread) => {
                holder = None;
                Op::Release(0, Mode::Exclusive)
            }
            8 if random.percent(20) => Op::VolatileWrite(0),
            9 if random.percent(20) => Op::VolatileRead(0),
            _ => {
                let variable = random.below(variables) as u32;
                if random.percent(60) { Op::Read(variable) } else { Op::Write(variable) }
            }
        };
        run.push(Operation { thread, op });
    }
    Run(run)
}

/// Tables in which the name of a thread is its number, and the line of a site the place of its operation in the run.
fn tables() -> Tables {
    let mut tables = Tables::default();
    for number in 0..MOST_THREADS {
        tables.threads.push(ThreadEntry { name: format!("t{number}"), is_virtual: false });
    }
    tables.sites.clear();
    for number in 0..=naive::MOST as u32 {
        let mut entry = SiteEntry::unknown();
        entry.site.line = Some(number);
        tables.sites.push(entry);
    }
    tables
}

/// Why the checker is wrong about a run, if it is.
fn mismatch(run: &Run, filters: Option<Filters>, tables: &Tables) -> Option<String> {
    let mut checker = HappensBefore::new();
    let (actual, expected) = (crate::run_checker(&mut checker, run, filters), naive::races(run));
    if actual != expected {
        return Some(format!("{actual:?} instead of {expected:?}"));
    }
    let pairs = naive::racing_pairs(run);
    for finding in checker.findings(tables) {
        let steps = &finding.witnesses[0].steps;
        let places: Vec<usize> =
            steps.iter().map(|step| step.site.line.map_or(0, |line| line as usize - 1)).collect();
        if !pairs.contains(&(places[0], places[1])) {
            return Some(format!("{} and {} do not race", places[0] + 1, places[1] + 1));
        }
        for (step, place) in steps.iter().zip(places) {
            let expected = format!("t{}", run.0[place].thread);
            if step.thread.as_ref() != Some(&expected) {
                return Some(format!("{}: {:?} instead of {expected}", place + 1, step.thread));
            }
        }
    }
    None
}

fn check(filters: Option<Filters>) {
    let tables = tables();
    let (mut races, mut threads) = (0, 0);
    let runs = number_from("CHECKER_RUNS", 20_000) / 2;
    for number in 0..runs {
        let run = random_run(&mut crate::random_of_run(number));
        races += u64::from(!naive::races(&run).is_empty());
        threads += run.0.iter().filter(|it| matches!(it.op, Op::Fork(_))).count() as u64;
        if mismatch(&run, filters, &tables).is_some() {
            let small = run.shrink(true, |run| mismatch(run, filters, &tables).is_some());
            panic!("run {number}:\n{small:?}{:?}", mismatch(&small, filters, &tables));
        }
    }
    assert!(races > runs / 2 && threads > 5 * runs, "the runs say little: {races}, {threads}");
}

#[test]
fn threads_that_have_ended_are_joined_and_named() {
    check(None);
}

#[test]
fn what_threads_did_that_have_ended_is_reported_late() {
    check(Some(filters::ALL));
}
