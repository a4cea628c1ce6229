//! Late reports put back into their place, judged by runs of which the truth is known.

use std::collections::{BTreeMap, BTreeSet};

use events::{
    Access, Action, Epoch, Event, FieldId, ObjectId, SiteId, ThreadId, Variable, resolve,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::random::events;

/// What a thread of a made-up run does next.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Access(Access, u32),
    Acquire,
    Release,
    Begin,
    End,
}

fn operation() -> impl Strategy<Value = (u32, Operation)> {
    let operation = prop_oneof![
        5 => (any::<bool>(), 0..5_u32).prop_map(|(is_write, variable)| {
            Operation::Access(if is_write { Access::Write } else { Access::Read }, variable)
        }),
        1 => Just(Operation::Acquire),
        1 => Just(Operation::Release),
        2 => Just(Operation::Begin),
        2 => Just(Operation::End),
    ];
    (0..3_u32, operation)
}

/// A run with filters as the run-time half has them: accesses that only their own thread conflicts with
/// are noted and reported when another thread comes, and begins wait for the first report.
#[derive(Default)]
struct Run {
    truth: Vec<Event>,
    stream: Vec<Event>,
    last_epoch: u64,
    epochs: BTreeMap<u32, u64>,
    /// Open blocks that are not reported.
    silent: BTreeMap<u32, Vec<Event>>,
    depth: BTreeMap<u32, u32>,
    noted: BTreeMap<u32, Vec<Event>>,
    last_threads: BTreeMap<u32, BTreeSet<u32>>,
}

impl Run {
    fn new(operations: &[(u32, Operation)]) -> Run {
        let mut run = Run::default();
        for (site, (thread, operation)) in (1..).zip(operations) {
            run.operation(*thread, *operation, SiteId(site));
        }
        run
    }

    fn begin_epoch(&mut self, thread: u32) {
        self.last_epoch += 1;
        self.epochs.insert(thread, self.last_epoch);
    }

    fn event(&mut self, thread: u32, site: SiteId, action: Action) -> Event {
        if !self.epochs.contains_key(&thread) {
            self.begin_epoch(thread);
        }
        let event = Event {
            thread: ThreadId(thread),
            site,
            epoch: Epoch(self.epochs[&thread]),
            action,
            overlaps: 0,
        };
        self.truth.push(event);
        event
    }

    fn report(&mut self, event: Event) {
        let silent = self.silent.entry(event.thread.0).or_default();
        self.stream.append(silent);
        self.stream.push(event);
    }

    fn operation(&mut self, thread: u32, operation: Operation, site: SiteId) {
        match operation {
            Operation::Acquire => {
                self.begin_epoch(thread);
                let event = self.event(thread, site, Action::Acquire(LOCK));
                self.report(event);
            }
            Operation::Release => {
                let event = self.event(thread, site, Action::Release(LOCK));
                self.report(event);
                // What comes after a release is told apart by sources that want it to be.
                self.begin_epoch(thread);
            }
            Operation::Begin => {
                self.begin_epoch(thread);
                let event = self.event(thread, site, Action::Begin);
                self.silent.entry(thread).or_default().push(event);
                *self.depth.entry(thread).or_default() += 1;
            }
            Operation::End => {
                let depth = self.depth.entry(thread).or_default();
                if *depth == 0 {
                    return;
                }
                *depth -= 1;
                let event = self.event(thread, site, Action::End);
                if self.silent.entry(thread).or_default().pop().is_none() {
                    self.report(event);
                }
                self.begin_epoch(thread);
            }
            Operation::Access(access, number) => {
                let variable = Variable::Static(FieldId(number));
                let action = match access {
                    Access::Read => Action::Read(variable),
                    Access::Write => Action::Write(variable),
                };
                let event = self.event(thread, site, action);
                let others = self.last_threads.entry(number).or_default();
                others.insert(thread);
                let is_shared = others.len() > 1;
                let noted = self.noted.entry(number).or_default();
                if !is_shared {
                    noted.push(event);
                    return;
                }
                for event in std::mem::take(noted) {
                    let access = match event.action {
                        Action::Write(_) => Access::Write,
                        _ => Access::Read,
                    };
                    let action = Action::earlier(access, variable);
                    // On behalf of its thread: that the block began is not said with it.
                    self.stream.push(Event { action, ..event });
                }
                self.report(event);
            }
        }
    }
}

const LOCK: ObjectId = ObjectId(1);

/// The events of each thread.
fn by_thread(events: &[Event]) -> BTreeMap<ThreadId, Vec<Event>> {
    let mut threads: BTreeMap<ThreadId, Vec<Event>> = BTreeMap::new();
    for event in events {
        threads.entry(event.thread).or_default().push(*event);
    }
    threads
}

fn variable(event: &Event) -> Option<(Variable, bool)> {
    match event.action {
        Action::Read(variable) => Some((variable, false)),
        Action::Write(variable) => Some((variable, true)),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_run_is_put_back_as_it_was(operations in vec(operation(), 0..80)) {
        let run = Run::new(&operations);
        let resolved = resolve(&run.stream);
        prop_assert_eq!(resolved.len(), run.stream.len());
        let kept: BTreeSet<Event> = resolved.iter().copied().collect();
        let truth: Vec<Event> =
            run.truth.iter().copied().filter(|event| kept.contains(event)).collect();
        for (thread, events) in by_thread(&resolved) {
            prop_assert!(events.is_sorted_by_key(|event| event.epoch), "{events:#?}");
            // Every thread did exactly this, but for the order within an epoch.
            let in_epochs = |events: &[Event]| {
                let mut sorted = events.to_vec();
                let rank = |event: &Event| match event.action {
                    Action::Begin | Action::Acquire(..) => 0,
                    Action::Release(..) | Action::End => 2,
                    _ => 1,
                };
                sorted.sort_by_key(|event| (event.epoch, rank(event), *event));
                sorted
            };
            let true_events = by_thread(&truth).remove(&thread).unwrap_or_default();
            prop_assert_eq!(in_epochs(&events), in_epochs(&true_events));
            prop_assert!(is_ranked(&events), "{events:#?}");
        }
        // Accesses that conflict are in their true order, and so are operations on the lock.
        let conflicts = |events: &[Event]| {
            let mut pairs = BTreeSet::new();
            for (place, second) in events.iter().enumerate() {
                for first in &events[..place] {
                    let do_conflict = match (variable(first), variable(second)) {
                        (Some((one, writes)), Some((other, also_writes))) => {
                            one == other && (writes || also_writes)
                        }
                        (None, None) => {
                            let is_lock = |event: &Event| !matches!(event.action, Action::Begin | Action::End);
                            is_lock(first) && is_lock(second)
                        }
                        _ => false,
                    };
                    if do_conflict && first.thread != second.thread {
                        pairs.insert((*first, *second));
                    }
                }
            }
            pairs
        };
        prop_assert_eq!(conflicts(&resolved), conflicts(&truth));
    }

    #[test]
    fn nothing_is_invented_or_left_late(events in events(60)) {
        let resolved = resolve(&events);
        prop_assert!(resolved.len() <= events.len());
        prop_assert!(!resolved.iter().any(|event| event.action.is_earlier()));
        prop_assert_eq!(resolve(&resolved), resolved);
    }
}

/// Whether in each epoch what begins it comes first, and releases and ends last.
fn is_ranked(events: &[Event]) -> bool {
    events.windows(2).all(|pair| {
        let [first, second] = pair else { return true };
        let begins = matches!(second.action, Action::Begin | Action::Acquire(..));
        let ends = matches!(first.action, Action::Release(..) | Action::End);
        first.epoch != second.epoch || !(begins || ends && variable(second).is_some())
    })
}

fn event(thread: u32, epoch: u64, action: Action) -> Event {
    Event { thread: ThreadId(thread), site: SiteId(0), epoch: Epoch(epoch), action, overlaps: 0 }
}

#[test]
fn a_volatile_read_that_is_reported_late_is_one_again() {
    let variable = Variable::Static(FieldId(0));
    let stream = [
        event(0, 1, Action::VolatileRead(variable)),
        event(0, 4, Action::EarlierRead(variable)),
        event(1, 3, Action::VolatileWrite(variable)),
    ];
    let expected = [
        event(0, 1, Action::VolatileRead(variable)),
        event(0, 4, Action::VolatileRead(variable)),
        event(1, 3, Action::VolatileWrite(variable)),
    ];
    assert_eq!(resolve(&stream), expected);
}

#[test]
fn a_block_that_is_reported_late_begins_before_its_accesses() {
    let variable = Variable::Static(FieldId(0));
    let other = Variable::Static(FieldId(1));
    let stream = [
        event(0, 1, Action::Fork(ThreadId(1))),
        event(0, 3, Action::EarlierWrite(variable)),
        event(1, 2, Action::Read(variable)),
        event(1, 2, Action::Write(other)),
        event(0, 3, Action::Begin),
        event(0, 3, Action::Read(other)),
        event(0, 3, Action::EarlierWrite(variable)),
        event(0, 3, Action::End),
    ];
    let expected = [
        event(0, 1, Action::Fork(ThreadId(1))),
        event(0, 3, Action::Begin),
        event(0, 3, Action::Write(variable)),
        event(1, 2, Action::Read(variable)),
        event(1, 2, Action::Write(other)),
        event(0, 3, Action::Read(other)),
        event(0, 3, Action::End),
    ];
    assert_eq!(resolve(&stream), expected);
}
