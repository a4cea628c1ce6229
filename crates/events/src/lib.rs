//! What a run did: one closed vocabulary of events, and traces of them.
//!
//! The agent makes events from a running JVM, `trace` reads them from a file, tests write them as
//! text; every checker receives the same [`Event`]s from all of them.

pub mod binary;
mod event;
mod object_fields;
mod operand;
mod resolve;
mod sink;
mod stats;
pub mod std_form;
mod tables;
pub mod text;
mod trace;

pub use agent_protocol::{EventKind as Kind, OperandKind};
pub use event::{
    Access, Action, Block, Branch, ClassId, Condition, Epoch, Event, FieldId, Mode, ObjectId,
    SiteId, ThreadId, Variable,
};
pub use operand::Operand;
pub use resolve::resolve;
pub use sink::Sink;
pub use stats::Stats;
pub use tables::{
    CONTEXT_BLOCKS, ClassEntry, Context, FieldEntry, MAX_FRAMES, ObjectEntry, ObjectTable, Seen,
    SiteEntry, StackEntry, Tables, ThreadEntry, ThreadTable,
};
pub use trace::{Form, TraceError, TraceReader};
