//! Which locks guard what: the part that [`crate::eraser`] and [`crate::atomizer`] share.
//!
//! Implements sections 2 and 3 of "Eraser: A Dynamic Data Race Detector for Multithreaded Programs": the
//! GuardSet of a variable, refined by the HeldLocks of every access from the moment a second thread uses
//! it, and the states that say from when on an empty set matters. What is known of one variable is a
//! [`Guard`]; everything here is a function of the events alone.

mod guard;
mod held;
mod sets;
mod table;

pub(crate) use guard::{Guard, Use};
pub(crate) use held::{Held, Holders};
pub(crate) use sets::{SetId, Sets};
pub(crate) use table::Table;
