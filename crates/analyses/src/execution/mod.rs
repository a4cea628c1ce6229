//! The symbolic execution of abstract threads over abstract objects (dissertation, 3.4): every method in every context
//! that differs in what the parameters are, which locks are held and what has happened before. It tells registered
//! listeners what is done to objects that threads may share.

mod binding;
mod context;
mod engine;
mod event;
mod faces;
mod flow;
mod fresh;
mod listener;
mod loops;
mod order;
mod setting;
mod unique;

pub use engine::{Counters, Executed, Limits, execute};
pub use event::{
    Access, AccessKind, Acquisition, Allocation, Base, ContextId, HeldLock, Invocation, LockMode,
    Order, Publication, Published, Relation, Signal, SignalKind, SyncVariable, ThreadControl,
};
pub use listener::{Client, Listener, World};
