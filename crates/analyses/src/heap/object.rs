//! Abstract objects: the nodes of the heap shape graph (dissertation, 3.3.1).

use std::collections::BTreeMap;

use program::ids::{ClassId, LambdaId, MethodId};

use super::{NameRoot, Place, Slot, ThreadSet};

program::typed_ids! {
    /// An abstract object of the heap shape graph.
    ObjectId "object";
}

/// A variable of an abstract object: where it leads, and which abstract threads touch it, initialisation included.
#[derive(Clone, Debug, Default)]
pub struct Variable {
    /// What it refers to, when it holds references.
    pub target: Option<ObjectId>,
    /// Who reads it.
    pub readers: ThreadSet,
    /// Who writes it.
    pub writers: ThreadSet,
}

/// What is known of an abstract object: the masks of the dissertation. All objects of the graph are `global`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "the properties are independent, and the dissertation's"
)]
pub struct ObjectProperties {
    /// It stands for a class.
    pub is_class: bool,
    /// An abstract thread begins with it.
    pub is_thread: bool,
    /// Several threads at run time may touch it, one of them writing.
    pub is_shared: bool,
    /// It may be known outside of the method that allocates it.
    pub escapes: bool,
    /// The object that it belongs to: it is only ever touched by methods of that object.
    pub host: Option<ObjectId>,
    /// It belongs to one thread: touched while the thread is made, and then by the thread itself.
    pub is_thread_specific: bool,
    /// It would be thread-specific if no other thread runs the object that its thread was started with, which is not
    /// known.
    pub is_perhaps_thread_specific: bool,
    /// Threads synchronise through it: it is locked, waited on, notified, or passes on what was published to it.
    pub is_locked: bool,
    /// A reference to it is used outside of the methods of the object that keeps it.
    pub escapes_object: bool,
    /// It stands for one object at run time. Known after the symbolic execution.
    pub is_unique: bool,
}

/// A set of objects at run time that the analysis does not distinguish.
#[derive(Clone, Debug, Default)]
pub struct AbstractObject {
    /// Where a way to it begins, when it is a root itself.
    pub roots: Vec<NameRoot>,
    /// The classes that its allocation sites name, sorted.
    pub classes: Vec<ClassId>,
    /// The lambdas among its objects, sorted.
    pub lambdas: Vec<LambdaId>,
    /// The bodies of tasks that it was given to run, if it is an executor; sorted.
    pub runs: Vec<MethodId>,
    /// Its variables.
    pub variables: BTreeMap<Slot, Variable>,
    /// The variables that refer to it, sorted.
    pub referred_by: Vec<(ObjectId, Slot)>,
    /// What is known of it.
    pub properties: ObjectProperties,
    /// The threads that allocate it.
    pub creators: ThreadSet,
    /// Where it is allocated, sorted; filled by the symbolic execution.
    pub allocated_at: Vec<Place>,
}

/// Classes of an abstract object that is still precise, at most.
const MOST_CLASSES: usize = 16;

impl AbstractObject {
    /// Whether it stands for too many different objects to say anything precise of it. One with dozens of classes is
    /// the sum of everything that the program passes through some registry or interface: every thread touches it, its
    /// locks are taken in every order with all others, and next to nothing of that is true of any object at run time.
    #[must_use]
    pub fn is_imprecise(&self) -> bool {
        self.classes.len() > MOST_CLASSES
    }
}
