//! What kind of conflict a variable has, and how much it matters (dissertation, 4.5.1).
//!
//! The dissertation counts conflicts by category and says which of them were mostly real. Severity follows that, and
//! beyond it idioms that are in the code on purpose or do little harm ([`idiom`]); strict mode knows no idioms.

use classes::access;
use findings::{GradeRule, grade};
use program::Program;
use program::models::{self, ClassContext};

use super::idiom::Idiom;
use super::variable::{Event, RaceFacts, Variable};
use crate::execution::{AccessKind, LockMode, Relation};
use crate::heap::{ObjectId, Slot};

/// The kinds of conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// All accesses in conflict are writes.
    NoRead,
    /// All hold one abstract lock, which may be several at run time.
    LockNotUnique,
    /// All writes hold one abstract lock, and some read does not.
    AllWritesLocked,
    /// Anything else: there is no common lock.
    Other,
}

impl Category {
    /// The dissertation's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Category::NoRead => "no-read",
            Category::LockNotUnique => "lock-not-unique",
            Category::AllWritesLocked => "all-writes-locked",
            Category::Other => "other",
        }
    }

    /// Why it is a conflict, in a clause.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Category::NoRead => "nothing orders the writes",
            Category::LockNotUnique => "the locks that are held may be different objects",
            Category::AllWritesLocked => "the writes hold a lock that the read does not hold",
            Category::Other => "no lock is held at both accesses",
        }
    }

    /// The category of accesses that are in conflict with some other. A write is protected by what it holds exclusively
    /// only.
    pub(super) fn of(race_facts: &RaceFacts<'_>, slot: Slot, conflicting: &[&Event]) -> Category {
        let writes = || conflicting.iter().filter(|event| event.kind == AccessKind::Write);
        // Whoever changes what is in a collection looks into it first.
        if slot != Slot::Contents && writes().count() == conflicting.len() {
            Category::NoRead
        } else if has_common_lock(race_facts, conflicting.iter().copied()) {
            Category::LockNotUnique
        } else if has_common_lock(race_facts, writes().copied()) {
            Category::AllWritesLocked
        } else {
            Category::Other
        }
    }
}

/// The abstract locks that all events hold.
fn common_locks<'e>(
    race_facts: &RaceFacts<'_>,
    mut events: impl Iterator<Item = &'e Event>,
) -> Vec<ObjectId> {
    let held = |event: &Event| -> Vec<ObjectId> {
        let guards = race_facts.guards(event).iter();
        guards
            .filter(|guard| event.kind == AccessKind::Read || guard.mode == LockMode::Exclusive)
            .filter_map(|guard| guard.object)
            .collect()
    };
    let Some(first) = events.next() else { return Vec::new() };
    let mut common = held(first);
    for event in events {
        let other = held(event);
        common.retain(|lock| other.contains(lock));
    }
    common
}

fn has_common_lock<'e>(
    race_facts: &RaceFacts<'_>,
    events: impl Iterator<Item = &'e Event>,
) -> bool {
    !common_locks(race_facts, events).is_empty()
}

/// How much the conflicts of a variable matter.
pub(super) fn grade(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicting: &[&Event],
    category: Category,
    idiom: Option<Idiom>,
) -> GradeRule {
    let by_category = match category {
        // What is read at the end, when all is over, is read all the same.
        Category::NoRead if is_read(variable) => grade::WRITES_ALONE,
        Category::NoRead => grade::NEVER_READ,
        Category::LockNotUnique => of_lock_not_unique(race_facts, variable, conflicting),
        Category::AllWritesLocked => grade::ALL_WRITES_LOCKED,
        Category::Other => grade::NO_COMMON_LOCK,
    };
    match idiom {
        Some(idiom) => by_category.or_lower(idiom.grade()),
        None => by_category,
    }
}

fn is_read(variable: &Variable) -> bool {
    variable.events.iter().any(|event| event.kind == AccessKind::Read)
}

/// Most of these are data that has a lock of its own beside it, which the analysis cannot see (4.5.1): then data and
/// lock are equally many. One variable that is guarded by one lock out of many is a mistake that people make; and
/// when the lock is the thread's own, no two threads ever hold the same.
fn of_lock_not_unique(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    conflicting: &[&Event],
) -> GradeRule {
    let is_one_variable = race_facts.conflict_facts.is_unique_object(variable.object);
    let common = common_locks(race_facts, conflicting.iter().copied());
    let is_own = |lock: &ObjectId| {
        let is_unrelated = |event: &&Event| {
            let mut guards = race_facts.guards(event).iter();
            guards.any(|guard| {
                guard.object == Some(*lock)
                    && matches!(guard.relation, Relation::Apart | Relation::Unknown)
            })
        };
        (race_facts.conflict_facts.is_thread(*lock)
            || race_facts.conflict_facts.is_thread_specific(*lock))
            && conflicting.iter().all(is_unrelated)
    };
    match (is_one_variable, common.iter().all(is_own)) {
        (true, true) => grade::OWN_LOCKS,
        (true, false) => grade::ONE_OF_SEVERAL_LOCKS,
        (false, _) => grade::LOCK_BESIDE_DATA,
    }
}

/// Whether a variable belongs to code that the compiler made, and is none of the program: the state of a coroutine.
pub(super) fn is_compiler_made(program: &Program, slot: Slot) -> bool {
    let Slot::Field(field) = slot else { return false };
    let declared = &program.fields[field];
    let supertypes = program.hierarchy.supertypes(declared.class).into_iter().skip(1);
    let supertypes: Vec<&str> = supertypes.map(|class| &*program.classes[class].name).collect();
    let class =
        ClassContext { name: &program.classes[declared.class].name, supertypes: &supertypes };
    let is_volatile = declared.access & access::VOLATILE != 0;
    let methods = program.classes[declared.class].methods.iter();
    let mut names = methods.map(|method| &*program.methods[*method].name);
    let is_lazy = names.any(|method| models::is_made_lazily(&declared.name, method));
    is_lazy || program.models().is_compiler_made(class, &declared.name, is_volatile)
}

/// Whether conflicts of a variable are reported at all: elements of arrays are one variable for the analysis, and
/// threads that work on different parts of an array are common (4.5). They are reported in strict mode.
pub(super) fn is_reported(slot: Slot, is_strict: bool) -> bool {
    match slot {
        Slot::Field(_) | Slot::Contents => true,
        Slot::Element => is_strict,
        Slot::Task | Slot::Captured(_) => false,
    }
}
