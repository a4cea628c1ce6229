//! The bounds of the analysis, each with its reason.

/// A call with more targets than this says little about which of them runs.
pub(super) const MANY_TARGETS: usize = 8;

/// Locks that a method is remembered to acquire, at most; the closest ones are kept.
pub(super) const MOST_ACQUIRED: usize = 128;

/// Calls between a call site and the acquisition it leads to, at most. Beyond this the chain of
/// approximated calls is a guess, and nobody reads it.
pub(super) const DEEPEST_CHAIN: u16 = 6;

/// A getter worth looking through is short.
pub(super) const GETTER_BLOCKS: usize = 8;
