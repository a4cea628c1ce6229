//! Run-time checkers: events in, findings out. No JVM in sight.
//!
//! One folder a monitor, one list. A monitor sees the events of a run one by one, inline in the
//! agent or from a trace, and keeps no more of them than it needs.

pub mod atomizer;
mod by_lane;
mod doing;
pub mod eraser;
pub mod happens_before;
mod locksets;
mod stacks;
mod subject;
mod table;
mod timeline;
pub mod velodrome;
mod verb;

use events::{Event, SiteId, Tables};
use findings::Finding;

/// A run-time checker.
pub trait Monitor {
    /// Takes the next event of the run.
    fn event(&mut self, event: &Event);

    /// What was found so far, in an order that depends on the events only. The tables give the names.
    fn findings(&self, tables: &Tables) -> Vec<Finding>;

    /// Places that became suspicious since this was last asked: an operation there could complete a
    /// violation if another thread came in between. An adversarial scheduler holds threads back there.
    fn suspects(&mut self) -> Vec<SiteId> {
        Vec::new()
    }
}

/// What a monitor must be told, beyond what all of them are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Every access to a variable that several threads have used, once for each epoch, also where the
    /// accesses before it are the thread's own: which locks are held matters at each.
    pub locksets: bool,
}

/// An entry of the list of monitors.
#[derive(Debug)]
pub struct Registration {
    /// Its name, as users type it and witnesses carry it.
    pub name: &'static str,
    /// The rules it reports.
    pub rules: &'static [&'static str],
    /// Runs unless the user chose monitors by hand.
    pub on_by_default: bool,
    /// What it must be told.
    pub needs: Needs,
    /// A monitor that has seen nothing yet.
    pub start: fn() -> Box<dyn Monitor + Send>,
}

/// Every monitor, in the order in which they are listed to users.
pub static ALL: &[Registration] =
    &[velodrome::MONITOR, happens_before::MONITOR, eraser::MONITOR, atomizer::MONITOR];

/// The monitor with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Registration> {
    ALL.iter().find(|monitor| monitor.name == name)
}
