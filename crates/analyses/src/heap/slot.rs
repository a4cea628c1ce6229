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
pub enum Root {
    /// A class: its static fields.
    Class(ClassId),
    /// The task object that this method is the body of; for the body of a lambda, the lambda.
    Task(MethodId),
    /// The receiver and the arguments that something outside the program gives to entry points, by class.
    Outside(ClassId),
    /// What library code keeps in static state.
    Library,
}

/// A name that means the same in every method: where it begins, and a short way from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Where it begins.
    pub root: Root,
    path: [Option<Slot>; LONGEST_NAME],
}

/// Slots in a name, at most. An object that is further away is taken for the last one that has a name: a list
/// and its tail are one anyway.
pub const LONGEST_NAME: usize = 3;

impl Name {
    /// The name of a root itself.
    #[must_use]
    pub fn new(root: Root) -> Name {
        Name { root, path: [None; LONGEST_NAME] }
    }

    /// The way from the root.
    pub fn path(&self) -> impl Iterator<Item = Slot> + '_ {
        self.path.iter().copied().map_while(|slot| slot)
    }

    /// The name of what a slot leads to; where names end, the name itself.
    #[must_use]
    pub fn then(mut self, slot: Slot) -> Name {
        if let Some(free) = self.path.iter_mut().find(|step| step.is_none()) {
            *free = Some(slot);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use program::ids::Id;

    use super::*;

    #[test]
    fn long_names_end_somewhere() {
        let mut name = Name::new(Root::Class(ClassId::new(0)));
        for _ in 0..LONGEST_NAME + 2 {
            name = name.then(Slot::Element);
        }
        assert_eq!(name.path().count(), LONGEST_NAME);
    }
}
