//! The bounds of the analysis, each with its reason.

/// Calls between the blamed method and what happens in its callees, at most: what is farther away
/// than this many calls is not part of summaries. Beyond this the chain of approximated calls is a
/// guess, and nobody reads it.
pub(super) const DEEPEST_CHAIN: u8 = 3;

/// Values that a method's result is remembered to carry, at most; the closest ones are kept.
pub(super) const MOST_RETURNED: usize = 6;

/// Uses of parameters that a method is remembered for, at most; the closest ones are kept.
pub(super) const MOST_USES: usize = 8;

/// Writes that a method is remembered for, at most; the closest ones are kept.
pub(super) const MOST_WRITES: usize = 8;

/// Variables that a write is remembered to be checked against, at most.
pub(super) const MOST_CHECKED: usize = 4;

/// A call with more targets than this may do anything: only what the named method says counts.
pub(super) const MANY_TARGETS: usize = 2;

/// Bodies with more values than this are generated tables or parsers; following every value through
/// every path costs more than it finds.
pub(super) const LARGEST_BODY: usize = 20_000;

/// Facts that are compared while one body is solved, at most, which takes about a second. Interpreters and state machines with
/// very many paths between their locks would take hours.
pub(super) const MOST_COMPARED: usize = 1 << 27;

/// A change of an object marks the objects it belongs to, up to this many fields away: `entry` for
/// `entry.users.increment()`.
pub(super) const DEEPEST_MARK: usize = 3;
