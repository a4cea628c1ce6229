//! Static summary trees: what code would do that a run did not execute.
//!
//! Chen, Wang, Yang and Stoller, "HAVE: Detecting Atomicity Violations via Integrated Dynamic and Static
//! Analysis", sections 3.1, 3.3 and 4.3. [`summarize_branches`] gives for each branch of a method what each
//! side does until the sides meet, in terms of the local variables at the branch; [`summarize_method`] what a
//! method does in terms of its parameters, so that calls can be followed. A summary is a tree of steps
//! ([`Step`]) that a walker executes against the objects of one moment, without executing the program.
//!
//! The steps on a path of a tree are what the program would do on that path, in order. Misses: what handlers
//! of exceptions do, accesses to objects and elements that have no name (listed as `dropped`), and what
//! follows on a path that leaves a monitor which its list assumes to be held. May say too much: paths whose
//! conditions contradict each other; two iterations where the program has fewer.
//!
//! Deviations from the paper:
//! 1. Built from bytecode, not from source: sides end where control meets again, not where braces close.
//! 2. Accesses to volatile fields and to elements with a constant or a local as index are steps too.
//! 3. Calls are steps, so that a walker can follow them.
//! 4. References are computed by the steps themselves, from roots that the hook hands over: no binding
//!    tables.
//! 5. Sides say what must hold for them to be executed, as far as it is about values that cannot change; and branches
//!    say which others decide by the same condition (`conditions.rs`).

mod builder;
mod conditions;
mod encoding;
mod flow;
mod frame;
mod gap;
mod simplify;
mod structure;
mod summary;
mod tree;
mod walk;

pub use conditions::{RepeatedCondition, repeated_conditions};
pub use encoding::{Names, TreeWord, encode, encode_operand};
pub use gap::GapReason;
pub use summary::{
    BranchGap, BranchSummaries, BranchSummary, Config, FieldFacts, Fields, Landing, LandingKind,
    LoopBranch, MethodSummary, Root, RootKind, summarize_branches, summarize_method,
    summarize_some_branches,
};
pub use tree::{
    FieldRef, Guard, Index, LeaveReason, MethodRef, Operand, Register, Side, Step, StepKind, Term,
    Way, has_visible,
};
