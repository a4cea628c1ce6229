//! Accesses that nothing orders: rules `data-race` and `unsafe-publication`, and the list of what runs have to watch.
//!
//! Implements chapter 4 of the dissertation. The symbolic execution reports every access to objects that threads may
//! share (`listener.rs`). For each variable the accesses are compared, two at a time: there is a reason why they
//! cannot come at the same time (`conflict.rs`, with what it must know in `facts.rs`), or they conflict
//! (`variable.rs`). Conflicts are sorted into the categories of 4.5.1 and graded (`category.rs`, `idiom.rs`,
//! `sharing.rs`, `harm.rs`); `report.rs` makes one finding of each variable. `publication.rs` is the orderly escape of 4.6,
//! `object_use.rs` the graph of one object for people, and `watch.rs` the list.
//!
//! Property: two accesses of different threads to one variable, one of them a write, are reported unless one of the
//! reasons in [`SafetyReason`] holds for every pair of threads that can make them.
//!
//! Misses accesses in code that reflection, native methods or missing classes hide, and in finalizers; what class
//! initialisers do (4.7.1); threads that leave a latch or barrier although not all others have arrived, because its
//! count is not compared with the number of threads; threads that go on although a loop that joins them was cut
//! short; and objects whose constructor hands them to another thread and then goes on writing. May report threads that
//! cannot be there at the same time for reasons that no lock and no order shows: semaphores made by hand, objects
//! that are borrowed from a pool, values that decide who does what.
//!
//! Deviations from the dissertation, with the reason:
//! 1. Accesses are compared in pairs, not the set of accesses to a field as a whole: one access that is safe against
//!    each other for a different reason is safe, and a finding needs a pair to show anyway.
//! 2. START- and JOIN-safety are facts of each access, carried by the execution, instead of reachability in a graph of
//!    one object: all that is needed is who may run already, and who has ended. A thread that is started after
//!    another one has been waited for comes after it too.
//! 3. Threads are also ordered by what one publishes and the other has received (volatile fields, latches, queues),
//!    locks can be shared (read locks), and lock fields that nobody writes after initialisation count as final: Java of
//!    today has these.
//! 4. A latch or barrier waits for everybody who publishes to it; any other variable orders only after its single
//!    publisher. A variable beside the data, in the same object, is taken to be the one of that very object.
//! 5. Constructors count as initialisation even where the object may be known already, unless it is a thread, which
//!    its constructor may have started. Strict mode does not accept these reasons.
//! 6. Elements of arrays are reported in strict mode only, or when both accesses name the same element by a constant, or by
//!    an index that is counted in the same way by every thread:
//!    threads that share the work on an array are the rule (4.5). What is in collections that are not made for
//!    threads is reported.
//! 7. Where the dissertation counts conflicts, severity distinguishes them (`category.rs`), and recognised idioms
//!    lower it. So does doubt whether threads share the object at all (`sharing.rs`): the dissertation's programs
//!    are small enough to be distinguished, today's are not.
//! 8. An object that does not escape orderly is reported once, by the variable through which it escapes, and only that
//!    object, not all that it leads to: one mistake, one finding.

mod category;
mod conflict;
#[cfg(test)]
mod conflict_oracle;
mod elements;
mod facts;
mod harm;
mod idiom;
mod listener;
mod locking;
pub mod object_use;
mod publication;
mod report;
mod sharing;
mod variable;
mod watch;

pub use category::Category;
pub use conflict::SafetyReason;

use crate::execution::{Client, ExecutionFacts, Listener};
use crate::heap::Heap;
use crate::{Context, Outcome};
use facts::ComputedConflictFacts;
use listener::{Recorder, Records, WantedAccesses};
use variable::RaceFacts;

/// Its entry in the list of clients.
pub static CLIENT: Client = Client {
    name: "races",
    rules: &[DATA_RACE, UNSAFE_PUBLICATION],
    makes_watch_list: true,
    listen,
};

const DATA_RACE: &str = "data-race";
const UNSAFE_PUBLICATION: &str = "unsafe-publication";

fn listen<'a>(context: &'a Context<'a>, heap: &Heap) -> Box<dyn Listener + 'a> {
    Box::new(Recorder::new(context, WantedAccesses::conflicting(heap), Box::new(outcome)))
}

fn outcome(records: Records, execution: &ExecutionFacts<'_>) -> Outcome {
    let config = execution.context.config;
    let facts = ComputedConflictFacts::new(execution, &records);
    let race_facts = RaceFacts::new(execution, &records, &facts);
    let variables = race_facts.variables();
    let (graded, gaps) = report::graded(&race_facts, &variables);
    let mut outcome = Outcome { gaps, ..Outcome::default() };
    if config.wants(DATA_RACE) {
        outcome.findings.extend(report::findings(&race_facts, &graded));
    }
    if config.wants(UNSAFE_PUBLICATION) {
        outcome.findings.extend(publication::findings(&race_facts, &variables, &graded));
    }
    if let Some(reader) = config.watch_list {
        let unsafely_published = publication::unsafely_published(&race_facts, &graded);
        outcome.watch = watch::places(&race_facts, &variables, &unsafely_published, reader);
    }
    outcome
}
