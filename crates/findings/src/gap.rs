//! What could not be analysed, and what that may hide.

use serde::{Deserialize, Serialize};

/// The kinds of gap, from input that could not be read to code that cannot be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapKind {
    /// A file or archive entry that could not be read at all.
    Unreadable,
    /// A class file whose bytes do not make sense.
    MalformedClass,
    /// A class-file version newer than this build knows; read on a best-effort basis.
    UnknownVersion,
    /// The same class found more than once; the first one counts.
    DuplicateClass,
    /// A class that is referred to but was not found.
    MissingClass,
    /// A method body that could not be turned into IR.
    UnreadableMethod,
    /// Locks that are not released in the block structure in which they were acquired.
    UnstructuredLocking,
    /// A native method: its effects are unknown.
    NativeMethod,
    /// A reflective call: its target is unknown.
    Reflection,
    /// An `invokedynamic` whose bootstrap method is not known.
    DynamicCall,
    /// No thread is seen to begin in the program.
    NoThread,
    /// Code that no thread of the program is seen to get to.
    UnreachedCode,
    /// Events of a run that threads reported and nobody saw.
    LostEvents,
    /// A limit of the analysis was reached, and its result is incomplete.
    Limit,
}

impl GapKind {
    /// What a gap of this kind may hide, in one clause.
    #[must_use]
    pub fn may_hide(self) -> &'static str {
        match self {
            GapKind::Unreadable | GapKind::MalformedClass => "every finding in this class",
            GapKind::UnknownVersion => {
                "findings that depend on features of this class-file version"
            }
            GapKind::DuplicateClass => "findings in the copies that were not analysed",
            GapKind::MissingClass => "calls and locks that go through this class",
            GapKind::UnreadableMethod => "every finding that passes through this method",
            GapKind::UnstructuredLocking => "findings that depend on which locks are held here",
            GapKind::NativeMethod => "locks and callbacks inside native code",
            GapKind::Reflection => "the methods that are called reflectively",
            GapKind::DynamicCall => "the methods that this call may reach",
            GapKind::NoThread => "races and deadlocks between threads that other code starts",
            GapKind::UnreachedCode => "races and deadlocks of whoever calls this code",
            GapKind::LostEvents => {
                "violations that involve these operations, and the order that they made: without it, a \
                 finding of this run may be wrong"
            }
            GapKind::Limit => "findings beyond the limit",
        }
    }
}

/// One thing that could not be analysed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gap {
    /// What kind of gap it is.
    pub kind: GapKind,
    /// Where: a file, `app.jar!/p/A.class`, or a method `p.A.m()V`.
    pub place: String,
    /// One sentence: what is wrong, with byte offset and context where there is one.
    pub detail: String,
    /// How many times this gap was met (for call sites of the same target); at least 1.
    pub count: u32,
}

impl Gap {
    /// A gap met once.
    #[must_use]
    pub fn new(kind: GapKind, place: impl Into<String>, detail: impl Into<String>) -> Gap {
        Gap { kind, place: place.into(), detail: detail.into(), count: 1 }
    }
}

/// Adds up gaps that say the same of the same place, and sorts them by kind, then place.
#[must_use]
pub fn merge_gaps(mut gaps: Vec<Gap>) -> Vec<Gap> {
    gaps.sort();
    gaps.dedup_by(|next, kept| {
        let same = (next.kind, &next.place, &next.detail) == (kept.kind, &kept.place, &kept.detail);
        if same {
            kept.count = kept.count.saturating_add(next.count);
        }
        same
    });
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_gap_is_counted_not_repeated() {
        let missing = |place: &str| Gap::new(GapKind::MissingClass, place, "not found");
        let malformed = Gap::new(GapKind::MalformedClass, "z", "bad magic");
        let merged = merge_gaps(vec![missing("b"), missing("a"), missing("b"), malformed.clone()]);
        let twice = Gap { count: 2, ..missing("b") };
        assert_eq!(merged, vec![malformed, missing("a"), twice]);
    }
}
