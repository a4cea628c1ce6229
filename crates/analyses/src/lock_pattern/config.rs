//! The bounds of the analysis, each with its reason.

/// A call with more targets than this is a guess at which of them runs.
pub(super) const MANY_TARGETS: usize = 1;

/// Guesses on the way to one acquisition, at most. The locking expression remembers what was
/// guessed (the class of the receiver, the lambda), so that the two acquisitions of a finding
/// never rest on guesses that contradict each other; but a tower of guesses convinces nobody.
pub(super) const MOST_GUESSES: u8 = 1;

/// Locks that a method is remembered to acquire, at most; the closest ones are kept.
pub(super) const MOST_ACQUIRED: usize = 64;

/// Calls between a call site and the acquisition it leads to, at most. Beyond this the chain of
/// approximated calls is a guess, and nobody reads it.
pub(super) const DEEPEST_CHAIN: u16 = 3;

/// Potential witnesses that a method hands on to its callers, at most; the closest ones are kept.
pub(super) const MOST_REACQUISITIONS: usize = 32;

/// Locks that were released before, with which an acquisition makes pairs in the variant with two witnesses, at most; a
/// method that takes more of them one after the other is told so by these.
pub(super) const MOST_PAIRED: usize = 8;

/// Lists of targets longer than this are looked through once for all call sites that share them.
pub(super) const FEW_TARGETS: usize = 4;
