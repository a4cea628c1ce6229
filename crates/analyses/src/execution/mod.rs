//! The symbolic execution of abstract threads over abstract objects (dissertation, 3.4): every method in every context
//! that differs in what the parameters are, which locks are held and what has happened before. It notifies registered
//! listeners what is done to objects that threads may share.

mod binding;
mod context;
mod engine;
mod event;
mod flow;
mod fresh;
mod listener;
mod lock_views;
mod loops;
mod order;
mod program_facts;
mod unique;

pub use engine::{Counters, ExecutionLimits, ExecutionResult, execute};
pub use event::{
    Access, AccessKind, Acquisition, Allocation, BaseReference, ContextId, HeldLock, Invocation,
    LockMode, Order, Publication, Published, Relation, Signal, SignalKind, SyncVariable,
    ThreadControl,
};
pub use listener::{Client, ExecutionFacts, Listener};
