//! Whether somebody has thought of threads where a variable is accessed: most accesses hold a lock that was taken for it.

use std::collections::BTreeSet;

use program::{ClassId, Program};

use super::variable::{RaceFacts, Variable};
use crate::execution::{HeldLock, Relation};
use crate::heap::Slot;

/// Of the places that access a variable, so many in three must hold a lock that was taken for it.
const LOCKED_OF_THREE: usize = 2;

/// Whether most places that access a variable hold a lock that was taken for it: the one of the object or of what it
/// keeps, or one that is taken in the source file of the variable. What a distant caller holds was not taken for this
/// variable, unless it is the lock of an object that keeps this one, as far as that is certain.
pub(super) fn is_mostly_locked(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    may_be_around: bool,
) -> bool {
    let program = race_facts.execution.context.program;
    let declared = match variable.slot {
        Slot::Field(field) => Some(field),
        Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => {
            race_facts.holder(variable.object)
        }
    };
    let source = declared.map(|field| top_level(program, program.fields[field].class));
    let is_taken_for = |(held, relation): &(HeldLock, Relation)| {
        let taken_in = || top_level(program, program.methods[held.taken_at.method].class);
        let is_related = match relation {
            Relation::Inside(_) => true,
            Relation::Around(_) => may_be_around,
            Relation::Apart | Relation::Unknown => false,
        };
        is_related || source.is_some_and(|it| it == taken_in())
    };
    let (mut locked, mut bare) = (BTreeSet::new(), BTreeSet::new());
    for event in variable.events.iter().filter(|it| !it.is_in_constructor && !it.base.is_fresh) {
        let is_locked = race_facts.records.locks[event.locks].iter().any(is_taken_for);
        if is_locked { &mut locked } else { &mut bare }.insert(event.place);
    }
    locked.len() * (3 - LOCKED_OF_THREE) >= bare.len() * LOCKED_OF_THREE && !locked.is_empty()
}

/// The name of the class that a class is nested in, or its own.
pub(super) fn top_level(program: &Program, class: ClassId) -> &str {
    let name = &*program.classes[class].name;
    name.split('$').next().unwrap_or(name)
}
