//! The atomicity specification, as users write it. The static and the run-time side both read it.

use crate::Pattern;

/// Which code is meant to be all-or-nothing, as the user says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtomicSpec {
    /// Methods that are meant to be atomic; empty for what a tool takes by default.
    pub include: Vec<Pattern>,
    /// Methods that are not, whatever `include` says.
    pub exclude: Vec<Pattern>,
}
