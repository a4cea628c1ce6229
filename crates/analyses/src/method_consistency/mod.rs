//! Methods that take a lock twice for data that other threads access as a unit: rule `inconsistent-method`.
//!
//! Implements chapter 5 of the dissertation on the events of the symbolic execution: lock views (`views.rs`) and method
//! views (`scopes.rs`) of 5.2.1, the chain property of 5.1 (`chain.rs`), and the three phases of 5.2.2 (`checker.rs`,
//! `report.rs`).
//!
//! Property: a finding names two sections of one lock that a method can enter one after the other, and a third
//! section of the same lock that a thread which may run at the same time can enter in between; the third conflicts
//! with both, and the three do not form a chain.
//!
//! Misses methods whose sections all update the same variables (Program 5.4: `stale-value` finds it where one step
//! depends on the other), what is done in constructors, and interference by accesses without the lock, which are
//! races. May report sections that never run at the same time because of how the program is used, objects that the
//! heap analysis cannot distinguish, and methods that nobody means to be atomic.
//!
//! Deviations from the dissertation, with the reason:
//! 1. Variables are fields of abstract objects, not of classes: two maps of one program have nothing to do with each
//!    other.
//! 2. Views are related only under the same lock, and only if their conflict makes an order of whole methods
//!    impossible. The letter of 5.1 reports every method that enters one section for reading what others update,
//!    although it is atomic; and every method that touches two unrelated variables.
//! 3. The contents of arrays and collections are variables too (the dissertation leaves arrays out), and belong to the
//!    class that has them in a field.
//! 4. A lock that is held from the first section to the second, and by who could come in between, keeps them together.
//! 5. Threads that start and join keep apart do not interfere.
//! 6. Who is blamed follows the specification of what is meant to be atomic: private methods, `main`, the bodies of
//!    threads and lambdas are not, and their callers are blamed instead.
//! 7. Findings are graded; see the rule's page. Methods that wait by design, which 5.3 calls benign, are of low
//!    severity.
//! 8. Methods that enter very many sections are left out: they are applications, not operations.

mod atomic;
mod chain;
mod checker;
mod report;
mod scopes;
mod views;

use crate::execution::{Access, Acquisition, Client, ExecutionFacts, Invocation, Listener, Signal};
use crate::heap::Heap;
use crate::{Context, Outcome};
use checker::ConsistencyChecker;
use scopes::Scopes;
use views::Views;

/// Its entry in the list of clients.
pub static CLIENT: Client = Client {
    name: "method-consistency",
    rules: &[INCONSISTENT_METHOD],
    makes_watch_list: false,
    listen,
};

const INCONSISTENT_METHOD: &str = "inconsistent-method";

fn listen<'a>(context: &'a Context<'a>, _heap: &Heap) -> Box<dyn Listener + 'a> {
    let is_wanted = context.config.wants(INCONSISTENT_METHOD);
    Box::new(MethodConsistency { is_wanted, views: Views::default() })
}

struct MethodConsistency {
    is_wanted: bool,
    views: Views,
}

impl Listener for MethodConsistency {
    fn access(&mut self, access: &Access<'_>) {
        if self.is_wanted {
            self.views.access(access);
        }
    }

    fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        if self.is_wanted {
            self.views.acquisition(acquisition);
        }
    }

    fn signal(&mut self, signal: &Signal<'_>) {
        if self.is_wanted {
            self.views.signal(signal);
        }
    }

    fn invocation(&mut self, invocation: Invocation<'_>) {
        if self.is_wanted {
            self.views.invocation(invocation);
        }
    }

    fn finish(mut self: Box<Self>, execution: &ExecutionFacts<'_>) -> Outcome {
        let views = &self.views;
        let matters =
            views.updated(&|variable| checker::matters(execution, views.variables[variable]));
        self.views.propagate_to_callers(&|variable| matters[variable]);
        let views = &self.views;
        let sections = views.views(&|variable| matters[variable]);
        let scopes = Scopes::of(execution, views, sections.keys().copied());
        let checker = ConsistencyChecker::new(execution, views, &sections, &scopes);
        report::outcome(&checker, &checker.violations())
    }
}
