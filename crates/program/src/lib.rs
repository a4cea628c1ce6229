//! The whole-program model that every static analysis reads.
//!
//! Classes and their hierarchy ([`Program`]), method bodies as register code in SSA form ([`ir`]),
//! who calls whom ([`callgraph`]), where threads begin ([`threads`]), what is known of library code
//! ([`Program::models`]), and the two engines analyses are built from: forward
//! data flow over one body ([`dataflow`]) and summaries over the call graph ([`summaries`]).

mod annotations;
mod build;
pub mod callgraph;
mod components;
pub mod dataflow;
pub mod hierarchy;
pub mod ids;
pub mod interner;
pub mod ir;
mod library;
mod references;
pub mod summaries;
mod symbols;
pub mod threads;
pub mod union_find;
mod unmatched;

pub use build::{BuildConfig, Library, build};
pub use components::Components;
pub use ids::{BlockId, ClassId, FieldId, LambdaId, MethodId, SelectorId, TypedVec, ValueId};
pub use models;
pub use references::Immutables;
pub use symbols::{Class, Field, Lambda, LambdaKind, Method, Origin, Program};
