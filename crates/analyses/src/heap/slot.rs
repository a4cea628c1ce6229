//! What leads from one object to another, and where such ways begin.

use program::ids::{ClassId, FieldId, MethodId};

/// A variable of an object, or what stands for several of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A field; a static one belongs to the abstract object of its class.
    Field(FieldId),
    /// All elements of an array: the dissertation's `$`.
    Element,
    /// Whatever a library object keeps: the elements of a collection, the value of a reference.
    Contents,
    /// The task that a library object runs when it is run itself.
    Task,
    /// What a lambda captured, by position.
    Captured(u16),
}

/// Where a way to an object that several threads may know begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameRoot {
    /// A class: its static fields.
    Class(ClassId),
    /// The task object that this method is the body of; for the body of a lambda, the lambda.
    Task(MethodId),
    /// The receiver and the arguments that something outside the program gives to entry points, by class.
    Outside(ClassId),
    /// What library code keeps in static state, or shares with threads of its own, by the class of the method that was
    /// called.
    Library(ClassId),
    /// Far from all other roots: only the last slots that lead to an object are known.
    BeyondDepth,
}

/// A name that means the same in every method: where it begins, and a short way from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Where it begins.
    pub root: NameRoot,
    path: [Option<Slot>; LONGEST_NAME],
}

/// Slots in a name, at most. An object that is further away is known by the last ones that lead to it, wherever they
/// begin: a list and its tail are one then, and so are the parts of objects that lie deep in different structures.
pub const LONGEST_NAME: usize = 3;

impl Name {
    /// The name of a root itself.
    #[must_use]
    pub fn new(root: NameRoot) -> Name {
        Name { root, path: [None; LONGEST_NAME] }
    }

    /// The way from the root.
    pub fn path(&self) -> impl Iterator<Item = Slot> + '_ {
        self.path.iter().copied().map_while(|slot| slot)
    }

    /// The name of what a slot leads to.
    #[must_use]
    pub fn then(mut self, slot: Slot) -> Name {
        match self.path.iter_mut().find(|step| step.is_none()) {
            Some(free) => *free = Some(slot),
            None => {
                self.root = NameRoot::BeyondDepth;
                self.path.rotate_left(1);
                self.path[LONGEST_NAME - 1] = Some(slot);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use program::ids::Id;

    use super::*;

    #[test]
    fn what_is_far_away_is_known_by_the_last_slots() {
        let [one, other] = [0, 1].map(|class| Name::new(NameRoot::Class(ClassId::new(class))));
        let field = |number| Slot::Field(FieldId::new(number));
        let far = |name: Name, last: usize| {
            [1, 2, 3, last].iter().fold(name, |name, number| name.then(field(*number)))
        };
        assert_ne!(one.then(field(1)), other.then(field(1)));
        assert_eq!(far(one, 4), far(other, 4));
        assert_ne!(far(one, 4), far(one, 5));
        assert_eq!(far(one, 4).path().count(), LONGEST_NAME);
        // A list ends somewhere.
        let tail = [6; LONGEST_NAME].iter().fold(one, |name, slot| name.then(field(*slot)));
        let next = tail.then(field(6));
        assert_eq!(next.then(field(6)), next);
    }
}
