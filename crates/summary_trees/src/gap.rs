//! What could not be summarised, and why.

use thiserror::Error;

/// Why there is no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum GapReason {
    /// The method has subroutines, as compilers before Java 6 wrote them for `finally`.
    #[error("subroutines (`jsr`)")]
    Subroutine,
    /// A loop of the method can be entered at two places.
    #[error("a loop with two entries")]
    Irreducible,
    /// The code goes on into an exception handler without an exception.
    #[error("an exception handler that is jumped to")]
    HandlerInFlow,
    /// A monitor is entered on one path and left on another.
    #[error("monitors that are not left where they were entered")]
    UnbalancedMonitors,
    /// Whether the choice is still open depends on the path.
    #[error("paths that meet at different nesting depths")]
    UnclearNesting,
    /// One side has more steps than are allowed.
    #[error("more steps than are followed")]
    TooManySteps,
    /// The lists nest deeper than is allowed.
    #[error("nested deeper than is followed")]
    TooDeep,
    /// No JVM would execute the code.
    #[error("code that makes no sense")]
    Malformed,
}

impl GapReason {
    /// Every reason.
    pub const ALL: [GapReason; 8] = [
        GapReason::Subroutine,
        GapReason::Irreducible,
        GapReason::HandlerInFlow,
        GapReason::UnbalancedMonitors,
        GapReason::UnclearNesting,
        GapReason::TooManySteps,
        GapReason::TooDeep,
        GapReason::Malformed,
    ];
}
