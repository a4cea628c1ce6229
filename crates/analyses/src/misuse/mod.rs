//! Constructs for concurrency that are used in ways which are known to be wrong: what users know from SpotBugs, Error
//! Prone and Sonar, asked of the program model and so across calls.
//!
//! There is no paper behind these rules. Each check is one file with the property in its head; each has its own
//! rules, and `CHECKS` is the list of them. What library code does (which call waits, which class is a concurrent
//! map) they learn from the models alone.
//!
//! Soundness: every check misses what its head says. A check may report code that only one thread executes in a way
//! that the call graph does not show.
//!
//! Shared by all: `ProgramFacts` and `MethodFacts` (`facts.rs`) say which locks are held where, whether a method is
//! entered without a lock, and which methods one thread alone executes.

mod atomic_get_then_set;
mod blocking_under_lock;
mod collection_check_then_act;
mod double_checked_locking;
mod facts;
mod inconsistent_synchronization;
mod lock_choice;
mod lock_pairing;
mod map_check_then_act;
mod shared_formatter;
mod thread_in_constructor;
mod thread_local_leak;
mod volatile_increment;
mod wait_and_notify;

use findings::Finding;
use program::ids::MethodId;
use rayon::prelude::*;

use crate::{Analysis, Context, Outcome, Scope};
use facts::{MethodFacts, ProgramFacts};

/// What is registered.
pub const ANALYSIS: Analysis = Analysis {
    name: "misuse",
    time_counter: "misuse_ms",
    rules: &[
        "volatile-increment",
        "atomic-get-then-set",
        "map-check-then-act",
        "collection-check-then-act",
        "lock-not-released",
        "unlock-without-lock",
        "wait-outside-loop",
        "notify-without-change",
        "blocking-under-lock",
        "callback-under-lock",
        "lock-on-changing-field",
        "lock-on-shared-value",
        "lock-on-get-class",
        "lock-on-wrong-object",
        "thread-local-leak",
        "double-checked-locking",
        "thread-in-constructor",
        "shared-formatter",
        "inconsistent-synchronization",
    ],
    makes_watch_list: false,
    run,
};

/// One check: it looks at one method at a time, or at all of them together.
enum Check {
    InMethod(fn(&MethodFacts<'_>, &mut Vec<Finding>)),
    InProgram(fn(&ProgramFacts<'_>, &mut Vec<Finding>)),
}

/// Every check.
static CHECKS: &[Check] = &[
    Check::InMethod(volatile_increment::search),
    Check::InMethod(atomic_get_then_set::search),
    Check::InMethod(map_check_then_act::search),
    Check::InMethod(lock_pairing::search),
    Check::InMethod(wait_and_notify::search),
    Check::InMethod(blocking_under_lock::search),
    Check::InMethod(lock_choice::search),
    Check::InMethod(double_checked_locking::search),
    Check::InMethod(thread_in_constructor::search),
    Check::InMethod(shared_formatter::search),
    Check::InProgram(collection_check_then_act::search),
    Check::InProgram(thread_local_leak::search),
    Check::InProgram(inconsistent_synchronization::search),
];

fn run(context: &Context<'_>) -> Outcome {
    let facts = ProgramFacts::of(context);
    let methods: Vec<MethodId> = facts.methods().collect();
    let mut findings: Vec<Finding> = methods
        .par_iter()
        .flat_map_iter(|method| {
            let mut findings = Vec::new();
            if !(context.cancelled)() {
                facts.with_method(*method, |method| {
                    for check in CHECKS {
                        if let Check::InMethod(search) = check {
                            search(method, &mut findings);
                        }
                    }
                });
            }
            findings
        })
        .collect();
    for check in CHECKS {
        if let Check::InProgram(search) = check {
            search(&facts, &mut findings);
        }
    }
    let scope = Scope::of(context);
    findings.retain(|finding| {
        context.config.wants(finding.rule) && scope.covers(&finding.blame.method_name())
    });
    Outcome { findings, ..Outcome::default() }
}
