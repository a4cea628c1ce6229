//! What a call of a method does with values: what its result carries, what becomes of its
//! arguments, and what it writes. Everything in the terms of the method's parameters.

use program::Program;
use program::ids::MethodId;
use program::models::{ContentsAccess, Removal};

use super::config::{DEEPEST_CHAIN, MOST_RETURNED, MOST_USES, MOST_WRITES};
use super::domain::{GuardRelation, Variable, contents_access, contents_of_receiver, removal};
use super::grade::StaleValue;
use crate::locks::expression::LockExpression;
use crate::locks::implicit_lock;

/// Where something happens that a summary describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventLocation {
    /// At an instruction of the method itself.
    Here(u32),
    /// Inside a call: its offset, and the method called, whose summary says more. Which entry of it
    /// is meant follows from what it is about: were it named by its place in the list, every
    /// change there would be one here.
    Call(u32, MethodId),
}

/// A lock that was held when a variable was read, and its relation to the variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ReadLock {
    /// The lock, if it can be named.
    pub lock: Option<LockExpression>,
    /// How it lies to the variable.
    pub guard: GuardRelation,
}

/// A variable that the result of a method was read from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Returned {
    /// Calls on the way to the read.
    pub depth: u8,
    /// The variable.
    pub variable: Variable,
    /// The locks that the method holds at the read, the latest last. All are given back when the
    /// method returns.
    pub locks: Vec<ReadLock>,
    /// Whether the method took the value out of the variable, or marked it as taken.
    pub is_taken: bool,
    /// Where it is read.
    pub location: EventLocation,
}

/// A write, with all that decides how it is judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WriteTarget {
    /// What is written.
    pub variable: Variable,
    /// The locks that are held.
    pub locks: Vec<Option<LockExpression>>,
    /// Variables that were read under the same locks to decide whether to write.
    pub checked: Vec<Variable>,
    /// Whether what is written was computed from the value that was there just before.
    pub is_update: bool,
    /// How something is taken out of a collection, if it is.
    pub removal: Option<Removal>,
}

/// A write that a call of a method leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Write {
    /// Calls on the way.
    pub depth: u8,
    /// The write.
    pub target: WriteTarget,
    /// Where it happens.
    pub location: EventLocation,
}

/// What becomes of an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ParameterEffect {
    /// It is written somewhere.
    Written(WriteTarget),
    /// It decides that something is written.
    Decides(WriteTarget),
    /// It decides what is done, compared with what these variables hold.
    Branches(Vec<Variable>),
    /// It is handed to code that is not known.
    Passed,
}

/// A use of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ParameterUse {
    /// Calls on the way.
    pub depth: u8,
    /// The parameter, the receiver being 0.
    pub parameter: u16,
    /// What becomes of it.
    pub effect: ParameterEffect,
    /// Where.
    pub location: EventLocation,
}

/// What a call of a method does with values.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// What the result was read from, closest first.
    pub returned: Vec<Returned>,
    /// The parameters that the result carries.
    pub passed: Vec<u16>,
    /// What becomes of the parameters, closest first.
    pub uses: Vec<ParameterUse>,
    /// What is written, closest first.
    pub writes: Vec<Write>,
    /// Stale values of the method itself.
    pub stale_values: Vec<StaleValue>,
    /// Whether the values of the method could not be followed in reasonable time; then all else is empty.
    pub is_left_out: bool,
    /// Whether there was more than callers get to know.
    pub is_cut: bool,
}

/// Callers do not see the suspicions: when only those change, nothing changes for them.
impl PartialEq for Summary {
    fn eq(&self, other: &Summary) -> bool {
        self.returned == other.returned
            && self.passed == other.passed
            && self.uses == other.uses
            && self.writes == other.writes
            && self.is_left_out == other.is_left_out
    }
}

impl Summary {
    /// The summary of a method whose values could not be followed.
    pub(super) fn left_out() -> Summary {
        Summary { is_left_out: true, ..Summary::default() }
    }

    /// Whether it is empty for callers.
    #[must_use]
    pub(super) fn is_empty(&self) -> bool {
        self.returned.is_empty()
            && self.passed.is_empty()
            && self.uses.is_empty()
            && self.writes.is_empty()
    }

    /// Keeps the closest of everything. Entries that are `n` calls away do not change any more after
    /// `n` rounds, and they come before all that are farther away; so what is kept settles.
    pub(super) fn bounded(mut self) -> Summary {
        fn closest<T: Ord>(list: &mut Vec<T>, most: usize, is_close: impl Fn(&T) -> bool) -> bool {
            list.retain(is_close);
            list.sort_unstable();
            list.dedup();
            let is_cut = list.len() > most;
            list.truncate(most);
            is_cut
        }
        let are_cut = [
            closest(&mut self.returned, MOST_RETURNED, |it| it.depth < DEEPEST_CHAIN),
            closest(&mut self.passed, usize::MAX, |_| true),
            closest(&mut self.uses, MOST_USES, |it| it.depth < DEEPEST_CHAIN),
            closest(&mut self.writes, MOST_WRITES, |it| it.depth < DEEPEST_CHAIN),
        ];
        self.is_cut = are_cut.contains(&true);
        self
    }

    /// What the models say of a library method that reads or writes the contents of its receiver.
    #[must_use]
    pub(super) fn of_library(program: &Program, method: MethodId) -> Option<Summary> {
        let mut summary = Summary::default();
        let access = contents_access(program, method)?;
        let variable = contents_of_receiver();
        let lock = implicit_lock(program, method);
        if access != ContentsAccess::Looks {
            summary.writes.push(Write {
                depth: 0,
                target: WriteTarget {
                    variable,
                    locks: lock.map(Some).into_iter().collect(),
                    checked: Vec::new(),
                    is_update: false,
                    removal: removal(program, method),
                },
                location: EventLocation::Here(0),
            });
        }
        if access != ContentsAccess::Changes {
            let guard = GuardRelation::of(&variable, lock);
            summary.returned.push(Returned {
                depth: 0,
                variable,
                locks: lock.map(|lock| ReadLock { lock: Some(lock), guard }).into_iter().collect(),
                is_taken: access == ContentsAccess::Takes,
                location: EventLocation::Here(0),
            });
        }
        Some(summary)
    }
}
