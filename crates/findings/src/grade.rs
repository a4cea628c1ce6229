//! The rules that decide how severe a finding is: one table.
//!
//! A severity is meant as a probability: of the findings of severity `high` at least three in four should ask for a change,
//! of those of `medium` two in five. `docs/real-programs.md` says from which findings the rules were made, and how many of
//! those that they leave ask for a change: on jars that nobody had looked at, fewer than are meant to. An analysis that
//! grades a finding puts the name of the grade rule among its subjects, as [`GRADE`]; reports say it.

use std::collections::BTreeMap;

use crate::Severity;

/// The subject that holds the name of a grade rule. It is no part of what a finding is about: fingerprints leave it out.
pub const GRADE: &str = "grade";

/// Why a finding has the severity that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GradeRule {
    /// Its name, as in reports and in the documentation.
    pub name: &'static str,
    /// What a finding that it applies to is graded at most.
    pub at_most: Severity,
    /// What is the case, in a clause.
    pub why: &'static str,
}

/// A table of grade rules, with one constant for each.
macro_rules! grade_rules {
    ($($constant:ident = $name:literal, $at_most:ident, $why:literal;)*) => {
        $(
            #[doc = concat!("Grade rule `", $name, "`: ", $why, ".")]
            pub const $constant: GradeRule =
                GradeRule { name: $name, at_most: Severity::$at_most, why: $why };
        )*

        /// All grade rules.
        pub const GRADE_RULES: &[GradeRule] = &[$($constant),*];
    };
}

grade_rules! {
    NO_COMMON_LOCK = "no-common-lock", High,
        "threads certainly share the variable, and no lock is held at both accesses";
    OWN_LOCKS = "own-locks", High, "every thread holds a lock of its own";
    ALL_WRITES_LOCKED = "all-writes-locked", Medium, "all writes hold a lock that some read does not hold";
    WRITES_ALONE = "writes-alone", Medium, "only writes conflict, and it is read when they are over";
    NEVER_READ = "never-read", Low, "nobody reads what is written";
    LOCK_BESIDE_DATA = "lock-beside-data", Low, "there may be one lock for each of the variables";
    ONE_OF_SEVERAL_LOCKS = "one-of-several-locks", Medium, "the locks that are held may be one";
    RACY_CACHE = "racy-cache", Low, "whoever comes first fills a cache, always with the same";
    ONE_WAY_FLAG = "one-way-flag", Medium, "a flag only ever goes one way";
    COUNTER = "counter", Medium, "it is only counted, and nothing is decided by it";
    UNKNOWN_LOCKS = "unknown-locks", Low, "not all locks that are held here are known";
    OWN_TASK = "own-task", Low, "each thread may run an object of its own";
    HANDED_OVER = "handed-over", Low, "whoever uses the object has taken it out of a collection first, and has it alone";
    LENT = "lent", Medium, "the object goes through a collection, from which one thread at a time takes it";
    CURSOR = "cursor", Low, "an iterator belongs to the loop that made it";
    OWN_OBJECTS = "own-objects", Medium, "each thread may have an object of its own";
    BEFORE_START = "before-start", Medium, "one access comes before the start of the thread that makes the other";
    BARRIER_PHASES = "barrier-phases", Medium, "the threads meet at a barrier, which may separate the accesses";
    BARRIER_ACTION = "barrier-action", Low, "it is done for all threads of a barrier, while they wait there";
    TURNS = "turns", Low, "the threads wait for their turn first, and pass it on afterwards";
    PERHAPS_BEFORE = "perhaps-before", Low, "it is not known where the other thread is started, and this may come before";
    CALLERS_OF_LIBRARY = "callers-of-library", Medium, "whether several threads call the library at a time is up to its callers";
    SEEN_LATE = "seen-late", Medium,
        "at worst one thread sees late what another sets, if they run at the same time at all";
    SET_UP = "set-up", Low, "it looks like what is set once, before an object is used";
    SELDOM_SHARED = "seldom-shared", Low, "that threads share the object is not seen";
    STALE_WRITE = "stale-write", High, "what others wrote meanwhile is overwritten under the same lock";
    STALE_ELEMENT = "stale-element", Medium, "an object was taken from a collection, and is put into it again";
    OWNED_OBJECT = "owned-object", Medium, "only its owner knows the object, and the owner does without locks";
    STREAM = "stream", Medium, "what is written to a stream in pieces is rarely meant to be atomic";
    LOCK_AROUND = "lock-around", Medium, "another lock is held all the way";
    TOLERANT_REMOVAL = "tolerant-removal", Medium, "at worst it is gone already";
    AFTER_FAILURE = "after-failure", Medium, "it is done where something has failed";
    SAFE_COLLECTION = "safe-collection", Medium, "each call of a concurrent collection is a step of its own";
    LIBRARY_LOCK = "library-lock", Medium, "the lock is one that a class of the library takes by itself";
    VOLATILE_VALUE = "volatile-value", Medium, "others read it without the lock as well";
    OTHER_ELEMENT = "other-element", Medium, "it may be another element";
    FILLED_TWICE = "filled-twice", Medium, "at worst the same is put there twice";
    ONE_WAY_VALUE = "one-way-value", Medium, "nobody ever writes anything else";
    COUNTED_ON = "counted-on", Medium, "what is there by then is counted on, after a fresh look";
    STALE_DECISION = "stale-decision", Medium, "it decides about a write of something else, or far away";
    SNAPSHOT_PASSED = "snapshot-passed", Medium, "the copy is handed to code that is not known";
    SNAPSHOT_OBJECT = "snapshot-object", Low, "an object that was looked up is used; what it refers to has locks of its own";
    LOCK_GIVEN_BACK = "lock-given-back", Medium,
        "other threads can come in where the lock is given back, if the block is meant to be atomic";
    FAR_LOCKS = "far-locks", Low, "many calls lie between the block and the locks";
    GUESSED_TARGET = "guessed-target", Low, "it rests on a guess at what a call runs";
    TWO_LOCKS = "two-locks", Low, "two locks that are taken one after the other are rarely meant as one";
    SNAPSHOT_USED = "snapshot-used", Low, "the copy is used, and nothing is written because of it";
}

impl GradeRule {
    /// The grade rule with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static GradeRule> {
        GRADE_RULES.iter().find(|rule| rule.name == name)
    }

    /// The more careful one of two: the one that allows less, of those alike the first.
    #[must_use]
    pub fn or_lower(self, other: GradeRule) -> GradeRule {
        if other.at_most < self.at_most { other } else { self }
    }

    /// Notes among the subjects of a finding that this rule graded it.
    pub fn note_in(self, subjects: &mut BTreeMap<&'static str, String>) {
        subjects.insert(GRADE, self.name.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for rule in GRADE_RULES {
            assert_eq!(GradeRule::named(rule.name), Some(rule));
            assert_eq!(GRADE_RULES.iter().filter(|it| it.name == rule.name).count(), 1);
        }
    }

    #[test]
    fn the_lower_grade_wins() {
        assert_eq!(NO_COMMON_LOCK.or_lower(OWN_OBJECTS), OWN_OBJECTS);
        assert_eq!(RACY_CACHE.or_lower(OWN_OBJECTS), RACY_CACHE);
        assert_eq!(COUNTER.or_lower(OWN_OBJECTS), COUNTER);
    }
}
