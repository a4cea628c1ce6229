//! Run-time checkers: events in, findings out. No JVM in sight.
//!
//! One folder a monitor, one list. A monitor sees the events of a run one by one, inline in the
//! agent or from a trace, and keeps no more of them than it needs.

pub mod happens_before;
mod subject;
mod timeline;
pub mod velodrome;

use events::{Event, Tables};
use findings::Finding;

/// A run-time checker.
pub trait Monitor {
    /// Takes the next event of the run.
    fn event(&mut self, event: &Event);

    /// What was found so far, in an order that depends on the events only. The tables give the names.
    fn findings(&self, tables: &Tables) -> Vec<Finding>;
}

/// An entry of the list of monitors.
pub struct Registration {
    /// Its name, as users type it and witnesses carry it.
    pub name: &'static str,
    /// The rules it reports.
    pub rules: &'static [&'static str],
    /// Runs unless the user chose monitors by hand.
    pub on_by_default: bool,
    /// A monitor that has seen nothing yet.
    pub start: fn() -> Box<dyn Monitor + Send>,
}

/// Every monitor, in the order in which they are listed to users.
pub static ALL: &[Registration] = &[velodrome::MONITOR, happens_before::MONITOR];

/// The monitor with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Registration> {
    ALL.iter().find(|monitor| monitor.name == name)
}
