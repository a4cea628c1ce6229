//! The protocol of the agent: what its Rust half, its Java half, instrumented code and the command line must agree
//! on, each written down once.
//!
//! | table | generated from it |
//! |---|---|
//! | events, [`for_each_event!`] | [`EventKind`], `events::Action`, opcodes and words of traces, verbs of findings, documentation, constants in Java |
//! | hooks and operations, `hooks.rs` | [`Hook`], [`Op`], the stub runtime of tests, the test with hostile operands, constants in Java |
//! | order hooks and memory operations, `order_hooks.rs`, `memory_operations.rs` | what rewritten library code calls, the class `ScissionUnsafe`, constants in Java |
//! | layout, configuration, facts of classes, `layout.rs` | constants of both halves |
//! | options, `options.rs` | [`Options`], its text form, the flags of `scission run`, the keys of `[run]` in `scission.toml` |
//!
//! Options travel as one word of a command line or an environment variable; results as one file a process, in
//! a directory that the options name.

mod agent_version;
mod class_digest;
mod encoding;
mod events;
mod finding;
mod hooks;
mod java;
pub mod layout;
mod memory_operations;
mod options;
mod order_hooks;
mod results;
mod shared_fields;
mod suspect_list;
mod watch_list;

pub use agent_version::agent_version;
pub use class_digest::ClassDigest;
pub use encoding::path_of_location;
pub use events::{EventKind, OperandKind, event_documentation};
pub use hooks::{Hook, Op, Parameter, RUNTIME_CLASS};
pub use java::{constant_name, java_constants};
pub use layout::{ClassFact, ConfigurationWord, TreeOperation, VariableForm};
pub use memory_operations::{
    MEMORY_OPERATIONS_CLASS, MemoryOperation, Orders, java_memory_operations, memory_operations,
};
pub use options::{
    FlagForm, OptionError, OptionRow, OptionValue, Options, OptionsError, RunFlag, ValueKind,
};
pub use order_hooks::{ORDER_CLASS, OrderHook, OrderMode};
pub use results::{
    Ending, ReadError, Recording, Results, read_directory, read_urgent, write_urgent,
};
pub use shared_fields::{SharedField, SharedFieldsError, read_shared_fields, shared_fields_text};
pub use suspect_list::{SuspectPart, SuspectPlace, read_suspect_list};
pub use watch_list::{
    ListedAccesses, WatchListError, analysed_class_line, read_watch_list, watch_list_line,
};
