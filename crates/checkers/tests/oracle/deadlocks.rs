//! Predicted deadlocks, compared with all sync-preserving correct reorderings of small random runs.
//!
//! The oracle executes the threads of a run in every order in which reads see what they saw and the critical sections of
//! each lock come in the order of the run, and looks for threads that wait for each other in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use checkers::Checker;
use checkers::deadlock::Deadlocks;
use events::std_form::Reader;
use events::{Action, Epoch, Event, FieldId, ObjectId, SiteId, ThreadId, Variable};

use super::random::{Random, number_from};

const LOCKS: usize = 4;
const VARIABLES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Acquire(usize),
    Release(usize),
    Read(usize),
    Write(usize),
}

/// What is done by whom, in the order of the run.
type Run = Vec<(usize, Step)>;

/// An acquisition as patterns know it: thread, lock and the locks that are held.
type Abstract = (usize, usize, Vec<usize>);

fn random_run(random: &mut Random, threads: usize) -> Run {
    let mut held: Vec<Vec<usize>> = vec![Vec::new(); threads];
    let mut run = Run::new();
    let length = 6 + random.below(13);
    while run.len() < length {
        let thread = random.below(threads);
        let step = match random.below(10) {
            0..=4 => {
                let lock = random.below(LOCKS);
                if held.iter().flatten().any(|it| *it == lock) || held[thread].len() == 3 {
                    continue;
                }
                held[thread].push(lock);
                Step::Acquire(lock)
            }
            5..=7 => match held[thread].pop() {
                Some(lock) => Step::Release(lock),
                None => continue,
            },
            8 => Step::Read(random.below(VARIABLES)),
            _ => Step::Write(random.below(VARIABLES)),
        };
        run.push((thread, step));
    }
    run
}

fn predicted(run: &Run) -> Vec<Vec<usize>> {
    let mut checker = Deadlocks::default();
    for (number, (thread, step)) in run.iter().enumerate() {
        let variable = |it: usize| Variable::Static(FieldId(it as u32));
        let action = match *step {
            Step::Acquire(lock) => Action::Acquire(ObjectId(lock as u64)),
            Step::Release(lock) => Action::Release(ObjectId(lock as u64)),
            Step::Read(it) => Action::Read(variable(it)),
            Step::Write(it) => Action::Write(variable(it)),
        };
        checker.event(&Event {
            thread: ThreadId(*thread as u32),
            site: SiteId(number as u32),
            epoch: Epoch(number as u64),
            action,
            overlaps: 0,
        });
    }
    let places = |cycle: Vec<(ThreadId, SiteId)>| {
        cycle.into_iter().map(|(_, site)| site.0 as usize).collect::<Vec<_>>()
    };
    checker.predicted_acquisitions().into_iter().map(places).collect()
}

/// The same from the run as a text that is read as a trace.
fn predicted_offline(run: &Run) -> Vec<Vec<usize>> {
    let mut text = String::new();
    for (number, (thread, step)) in run.iter().enumerate() {
        let operation = match *step {
            Step::Acquire(lock) => format!("acq(L{lock})"),
            Step::Release(lock) => format!("rel(L{lock})"),
            Step::Read(variable) => format!("r(V{variable})"),
            Step::Write(variable) => format!("w(V{variable})"),
        };
        text.push_str(&format!("T{thread}|{operation}|{number}\n"));
    }
    let mut acquisitions = (0..run.len()).filter(|it| matches!(run[*it].1, Step::Acquire(_)));
    let mut number_of: BTreeMap<SiteId, usize> = BTreeMap::new();
    let mut checker = Deadlocks::default();
    let mut reader = Reader::new(text);
    while let Some(event) = reader.next_event().expect("the trace is well-formed") {
        if matches!(event.action, Action::Acquire(_)) {
            number_of.insert(event.site, acquisitions.next().expect("as many as were written"));
        }
        checker.event(&event);
    }
    let numbers = |cycle: Vec<(ThreadId, SiteId)>| {
        cycle.into_iter().map(|(_, site)| number_of[&site]).collect::<Vec<_>>()
    };
    checker.predicted_acquisitions().into_iter().map(numbers).collect()
}

/// How far each thread is, and who wrote each variable last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    done: Vec<usize>,
    written: [Option<usize>; VARIABLES],
    /// The last acquisition of each lock, and who holds it.
    acquired: [Option<usize>; LOCKS],
    holder: [Option<usize>; LOCKS],
}

struct Oracle<'a> {
    run: &'a Run,
    by_thread: Vec<Vec<usize>>,
    seen_write: BTreeMap<usize, Option<usize>>,
    states: BTreeSet<State>,
    cycles: BTreeSet<BTreeSet<usize>>,
}

impl Oracle<'_> {
    fn cycles(run: &Run, threads: usize) -> BTreeSet<BTreeSet<usize>> {
        let mut by_thread = vec![Vec::new(); threads];
        let mut seen_write = BTreeMap::new();
        let mut written = [None; VARIABLES];
        for (number, (thread, step)) in run.iter().enumerate() {
            by_thread[*thread].push(number);
            match step {
                Step::Read(variable) => {
                    seen_write.insert(number, written[*variable]);
                }
                Step::Write(variable) => written[*variable] = Some(number),
                Step::Acquire(_) | Step::Release(_) => {}
            }
        }
        let start = State {
            done: vec![0; threads],
            written: [None; VARIABLES],
            acquired: [None; LOCKS],
            holder: [None; LOCKS],
        };
        let (states, cycles) = (BTreeSet::new(), BTreeSet::new());
        let mut oracle = Oracle { run, by_thread, seen_write, states, cycles };
        oracle.explore(start);
        oracle.cycles
    }

    fn next(&self, state: &State, thread: usize) -> Option<usize> {
        self.by_thread[thread].get(state.done[thread]).copied()
    }

    fn explore(&mut self, state: State) {
        if !self.states.insert(state.clone()) {
            return;
        }
        self.look_for_cycles(&state);
        for thread in 0..self.by_thread.len() {
            let Some(number) = self.next(&state, thread) else { continue };
            let mut after = state.clone();
            after.done[thread] += 1;
            let is_possible = match self.run[number].1 {
                Step::Acquire(lock) => {
                    after.acquired[lock] = Some(number);
                    after.holder[lock] = Some(thread);
                    state.holder[lock].is_none() && state.acquired[lock] < Some(number)
                }
                Step::Release(lock) => {
                    after.holder[lock] = None;
                    true
                }
                Step::Read(variable) => self.seen_write[&number] == state.written[variable],
                Step::Write(variable) => {
                    after.written[variable] = Some(number);
                    true
                }
            };
            if is_possible {
                self.explore(after);
            }
        }
    }

    fn look_for_cycles(&mut self, state: &State) {
        // Everybody waits for one lock at most, so that there is one way to go on.
        let waits = |thread: usize| {
            let number = self.next(state, thread)?;
            let Step::Acquire(lock) = self.run[number].1 else { return None };
            Some((number, state.holder[lock]?))
        };
        let mut found = Vec::new();
        for start in 0..self.by_thread.len() {
            let (mut thread, mut cycle) = (start, BTreeSet::new());
            while let Some((number, holder)) = waits(thread)
                && cycle.insert(number)
            {
                thread = holder;
                if thread == start {
                    found.push(cycle);
                    break;
                }
            }
        }
        self.cycles.extend(found);
    }
}

/// The patterns of cycles of acquisitions.
fn patterns<'a>(
    run: &Run,
    cycles: impl Iterator<Item = &'a BTreeSet<usize>>,
) -> BTreeSet<Vec<Abstract>> {
    let mut held: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut of_acquisition: BTreeMap<usize, Abstract> = BTreeMap::new();
    for (number, (thread, step)) in run.iter().enumerate() {
        let held = held.entry(*thread).or_default();
        match step {
            Step::Acquire(lock) => {
                let mut locks = held.clone();
                locks.sort_unstable();
                of_acquisition.insert(number, (*thread, *lock, locks));
                held.push(*lock);
            }
            Step::Release(lock) => held.retain(|it| it != lock),
            Step::Read(_) | Step::Write(_) => {}
        }
    }
    let pattern = |cycle: &BTreeSet<usize>| {
        let mut pattern: Vec<Abstract> =
            cycle.iter().map(|number| of_acquisition[number].clone()).collect();
        pattern.sort();
        pattern
    };
    cycles.map(pattern).collect()
}

#[test]
fn predicted_deadlocks_are_those_of_all_sync_preserving_orders() {
    let mut random = Random::new(number_from("CHECKER_SEED", 1));
    let (mut patterns_seen, mut longest) = (0, 0);
    for number in 0..number_from("CHECKER_RUNS", 100_000) {
        let threads = 2 + random.below(2);
        let run = random_run(&mut random, threads);
        let possible = Oracle::cycles(&run, threads);
        let predicted: Vec<BTreeSet<usize>> =
            predicted(&run).into_iter().map(|cycle| cycle.into_iter().collect()).collect();
        let offline: BTreeSet<BTreeSet<usize>> =
            predicted_offline(&run).into_iter().map(|cycle| cycle.into_iter().collect()).collect();
        assert_eq!(predicted.iter().cloned().collect::<BTreeSet<_>>(), offline, "run {number}");
        for cycle in &predicted {
            assert!(possible.contains(cycle), "run {number}: {cycle:?} cannot happen in {run:?}");
        }
        let (predicted, possible) =
            (patterns(&run, predicted.iter()), patterns(&run, possible.iter()));
        assert_eq!(predicted, possible, "run {number}: {run:?}");
        patterns_seen += possible.len();
        longest = possible.iter().map(Vec::len).max().unwrap_or(0).max(longest);
    }
    // Runs without deadlocks would show nothing.
    assert!(patterns_seen > 100 && longest > 2, "{patterns_seen} patterns, {longest} threads");
}
