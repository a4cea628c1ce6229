//! How analyses see locks: how code names them, when two names are one lock, and what an
//! instruction does to them.

pub mod aliases;
mod confined;
mod events;
pub mod expression;
pub mod held;
mod taken;

pub use confined::{EscapingValues, is_confined, is_new};
pub use events::{LockEvent, implicit_lock, lock_events, succeeded, touches_lock};
pub use taken::{in_caller, instruction_at, taken_at};
