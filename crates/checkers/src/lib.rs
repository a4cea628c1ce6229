//! Run-time checkers: events in, findings out. Nothing here depends on a JVM.
//!
//! Each checker has a folder and an entry in [`ALL`]. It receives the events of a run one by one, in the
//! agent or from a trace, and keeps only the state it needs.

pub mod atomizer;
mod cuts;
pub mod deadlock;
pub mod eraser;
pub mod happens_before;
pub mod hybrid;
mod latest_by_thread;
mod locksets;
pub mod object_consistency;
pub mod object_race;
mod operation_at;
mod self_accesses;
mod stacks;
mod subject;
mod table;
mod timeline;
pub mod velodrome;
mod verb;

use events::{Action, Event, SiteId, Tables};
use findings::Finding;

/// A run-time checker.
pub trait Checker {
    /// Processes the next event of the run.
    fn event(&mut self, event: &Event);

    /// Processes the next events of the run; the same as giving them one by one.
    fn events(&mut self, events: &[Event]) {
        for event in events {
            self.event(event);
        }
    }

    /// Learns the names behind the numbers of the events to come. Called whenever there are new ones; a checker whose
    /// verdicts depend on none ignores them.
    fn learn(&mut self, _tables: &Tables) {}

    /// What was found so far, in an order that depends on the events only. The tables give the names.
    fn findings(&self, tables: &Tables) -> Vec<Finding>;

    /// How many violations it may have seen and does not report, because the order of operations that
    /// overlapped is not known.
    fn uncertain_violations(&self) -> u64 {
        0
    }

    /// Which bounds were reached, as clauses about what was left out, each with how often. What that hides is not
    /// reported.
    fn limits(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Whether something was found since the last call that users must see even if the run never ends.
    fn has_urgent_findings(&mut self) -> bool {
        false
    }

    /// Those of the findings that users must see at once, without what takes long to find.
    fn urgent_findings(&self, _tables: &Tables) -> Vec<Finding> {
        Vec::new()
    }

    /// Sites that became suspicious since the last call: an operation there could complete a violation
    /// if another thread ran in between. An adversarial scheduler delays threads there.
    fn suspects(&mut self) -> Vec<SiteId> {
        Vec::new()
    }
}

/// Which accesses to a variable that several threads have used a checker needs. Later ones include earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeededAccesses {
    /// Those that an order between two threads can begin or end at.
    #[default]
    InOrder,
    /// All, once for each epoch, from when it is written after a second thread has used it; before that, the first and
    /// the last read of each thread.
    SinceWritten,
    /// All, once for each epoch: which locks are held matters at each.
    All,
}

/// Which events a checker needs beyond those that every checker gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Which accesses to variables that several threads have used.
    pub accesses: NeededAccesses,
    /// The blocks inside other blocks, which accesses lie in them, and in which order conflicting accesses came.
    pub nested_blocks: bool,
    /// The order that library code makes, where it makes it.
    pub order: bool,
    /// What the sides of branches would do that are not taken.
    pub speculation: bool,
}

/// An entry of the list of checkers.
#[derive(Debug)]
pub struct Registration {
    /// Its name, as users type it and witnesses carry it.
    pub name: &'static str,
    /// The rules it reports.
    pub rules: &'static [&'static str],
    /// Runs unless the user chose checkers by hand.
    pub on_by_default: bool,
    /// Which additional events it needs.
    pub needs: Needs,
    /// Whether two operations on a lock or volatile variable conflict also where the code gives order only. To a checker
    /// of blocks, what a library locks for itself is no reason why a block was split.
    pub looks_into_libraries: bool,
    /// A checker that has seen nothing yet.
    pub start: fn(Settings) -> Box<dyn Checker + Send>,
}

impl Registration {
    /// Whether an event is for this checker.
    #[must_use]
    pub fn takes(&self, event: &Event, tables: &Tables) -> bool {
        let is_in_library = || {
            let site = tables.sites.get(event.site.0 as usize);
            site.is_some_and(|entry| entry.gives_order_only())
        };
        self.looks_into_libraries || !is_conflict(event.action) || !is_in_library()
    }

    /// Gives a checker those of some events that are for it.
    pub fn give(&self, mut events: &[Event], tables: &Tables, checker: &mut dyn Checker) {
        if self.looks_into_libraries {
            return checker.events(events);
        }
        while !events.is_empty() {
            let not_taken = events.iter().position(|event| !self.takes(event, tables));
            let (taken, rest) = events.split_at(not_taken.unwrap_or(events.len()));
            checker.events(taken);
            events = rest.get(1..).unwrap_or_default();
        }
    }
}

/// Whether an action is one that conflicts with others on the same lock or variable.
fn is_conflict(action: Action) -> bool {
    matches!(
        action,
        Action::VolatileRead(_)
            | Action::VolatileWrite(_)
            | Action::AtomicUpdate(_)
            | Action::AtomicAdd(_)
            | Action::AtomicSwap(_)
            | Action::Acquire(_)
            | Action::AcquireShared(_)
            | Action::Release(_)
            | Action::ReleaseShared(_)
    )
}

/// What users can choose about checkers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Consider what would have happened on sides of branches that were not taken.
    pub speculation: bool,
    /// What makes an object race.
    pub object_race: ObjectRaceCriterion,
}

/// What makes an object race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectRaceCriterion {
    /// No common lock, as in the paper.
    Lockset,
    /// No common lock, and two accesses that nothing orders.
    #[default]
    Hybrid,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { speculation: true, object_race: ObjectRaceCriterion::default() }
    }
}

/// Every checker, in the order in which they are listed to users.
pub static ALL: &[Registration] = &[
    velodrome::CHECKER,
    happens_before::CHECKER,
    eraser::CHECKER,
    atomizer::CHECKER,
    hybrid::CHECKER,
    object_race::CHECKER,
    object_consistency::CHECKER,
    deadlock::CHECKER,
];

/// The checker with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Registration> {
    ALL.iter().find(|checker| checker.name == name)
}
