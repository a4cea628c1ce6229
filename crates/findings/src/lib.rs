//! The plain data every part of Scission agrees on: rules, findings with their evidence and
//! witnesses, the gaps that say what could not be analysed, and graphs for people.
//!
//! Nothing here computes a verdict and nothing here formats a report. Static analyses and run-time
//! checkers fill these types in; the `report` crate chooses the words.

mod alike;
mod finding;
mod fingerprint;
mod gap;
pub mod grade;
mod graph;
mod kept_name;
mod nearest;
mod observed_defect;
pub mod rules;
mod same_defect;
mod site;

pub use alike::gather_alike;
pub use finding::{
    BaselineEntry, BenignCycle, Comparison, Cycle, CycleEdge, EdgeKind, Evidence, Finding,
    HeldLock, Operation, Results, Severity, Stack, Step, Suppressed, Suppressor, ThreadAction,
    Transaction, WatchedCode, Witness, merge_and_rank,
};
pub use fingerprint::Fingerprint;
pub use gap::{Gap, GapKind, merge_gaps};
pub use grade::{GRADE, GRADE_RULES, GradeRule};
pub use graph::{
    Description, DescriptionForm, EdgeStyle, Graph, GraphEdge, GraphFont, GraphItem, GraphNode,
    Outline,
};
pub use kept_name::kept_name;
pub use nearest::{did_you_mean, nearest_name};
pub use rules::Rule;
pub use same_defect::{put_under, without_numbers};
pub use site::Site;
