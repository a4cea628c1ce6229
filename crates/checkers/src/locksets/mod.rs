//! Which locks guard what: the part that [`crate::eraser`], [`crate::atomizer`] and [`crate::object_race`] share.
//!
//! Implements sections 2 and 3 of "Eraser: A Dynamic Data Race Detector for Multithreaded Programs": the
//! GuardSet of a variable, refined by the HeldLocks of every access from the moment a second thread uses
//! it, and the states that decide when an empty set matters. The state of one variable is a
//! [`GuardState`]; everything here is a function of the events alone.

mod bounded_table;
mod guard;
mod held;
mod reported;
mod sets;

pub(crate) use bounded_table::BoundedTable;
pub(crate) use guard::{GuardState, GuardStatus};
pub(crate) use held::{Acquisition, HeldLocksByThread};
pub(crate) use reported::ReportedAccess;
pub(crate) use sets::{SetId, Sets};
