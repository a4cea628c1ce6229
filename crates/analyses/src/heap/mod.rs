//! The heap shape graph and the abstract threads (dissertation, chapter 3): a model of all objects that more than one
//! thread may come to know, and of all threads.
//!
//! Property: if two variables of the program may refer to one object at run time, and several threads may know that
//! object, then both refer to one abstract object.

mod object;
mod shape;
mod slot;
mod thread;

use program::ids::{MethodId, TypedVec};
use rustc_hash::FxHashMap;

pub use object::{AbstractObject, Marks, ObjectId, Variable};
pub use shape::{Edge, Happenings, Node, NodeId, Shape};
pub use slot::{LONGEST_NAME, Name, Root, Slot};
pub use thread::{AbstractThread, ThreadId, ThreadKind, ThreadSet};

/// A place in the code: a method and a bytecode offset. [`program::Program::site`] makes it one for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The method.
    pub method: MethodId,
    /// The bytecode offset.
    pub offset: u32,
}

/// The heap shape graph, and what it was made from.
pub struct Heap {
    /// The abstract objects.
    pub objects: TypedVec<ObjectId, AbstractObject>,
    /// The abstract threads.
    pub threads: TypedVec<ThreadId, AbstractThread>,
    /// The shape of every method with a body; empty shapes for the others.
    pub shapes: TypedVec<MethodId, Shape>,
    names: FxHashMap<Name, ObjectId>,
}

impl Heap {
    /// The object with this name, if the program has one.
    #[must_use]
    pub fn named(&self, name: &Name) -> Option<ObjectId> {
        self.names.get(name).copied()
    }

    /// The object that a node of a method's shape is in every context; none if that depends on the caller, or if only
    /// the method knows it.
    #[must_use]
    pub fn fixed(&self, node: &Node) -> Option<ObjectId> {
        node.names.first().and_then(|name| self.named(name))
    }

    /// What a variable of an object refers to.
    #[must_use]
    pub fn target(&self, object: ObjectId, slot: Slot) -> Option<ObjectId> {
        self.objects[object].variables.get(&slot)?.target
    }

    /// Whether two threads at run time that belong to these abstract threads can be different ones, so that what they
    /// do can interleave.
    #[must_use]
    pub fn can_interleave(&self, one: ThreadId, other: ThreadId) -> bool {
        let (first, second) = (&self.threads[one], &self.threads[other]);
        first.is_user_thread() && second.is_user_thread() && (one != other || !first.is_unique)
    }

    /// Whether several threads at run time can be behind this set.
    #[must_use]
    pub fn is_several(&self, threads: &ThreadSet) -> bool {
        let mut user = threads.iter().filter(|thread| self.threads[*thread].is_user_thread());
        let Some(first) = user.next() else { return false };
        !self.threads[first].is_unique || user.next().is_some()
    }
}

mod describe;
