//! How analyses see locks: how code names them, when two names are one lock, and what an
//! instruction does to them.

pub mod aliases;
mod confined;
mod events;
pub mod expression;
pub mod held;
mod optimistic;
mod taken;

pub use confined::{EscapingValues, is_confined, is_new, is_same_object};
pub use events::{LockEvent, implicit_lock, is_conversion, lock_events, succeeded, touches_lock};
pub use optimistic::OptimisticReads;
pub use taken::{in_caller, instruction_at, taken_at};
