//! The places that hooks report, and where they get their numbers from.

use events::{SiteEntry, SiteId};

/// A place that needs a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSite {
    /// What people are shown.
    pub entry: SiteEntry,
    /// What the runtime must know.
    pub target: SiteTarget,
}

/// What the hooks at a place are about, as far as it is not among their operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteTarget {
    /// Nothing: a branch, a task, a lambda, the end of a class initialiser.
    None,
    /// An access to a field. What the field is in the end, final, volatile or ordinary, only the JVM
    /// can resolve.
    Field {
        /// The class that the code names, in internal form; a superclass may declare the field.
        owner: String,
        /// The name of the field.
        name: String,
        /// Its type.
        descriptor: String,
        /// Whether it is a field of the class itself.
        is_static: bool,
    },
    /// A call of a library method, or of a method that may be inherited from the library.
    Call {
        /// The class that the code names, in internal form.
        owner: String,
        /// The name of the method.
        name: String,
        /// Its parameters and result.
        descriptor: String,
        /// How the two objects are related that [`agent_protocol::Hook::Alias`] reports here.
        relation: Option<Relation>,
        /// Whether a lock that is acquired here begins an atomic block if none is open.
        begins_block: bool,
    },
    /// A reference to a method of another class, which other threads may run.
    Reference {
        /// The class that the code names, in internal form.
        owner: String,
        /// The name of the method.
        name: String,
    },
    /// The beginning of an atomic block.
    Block {
        /// The class that it lies in, in internal form.
        class: String,
        /// The method that it is, or lies in.
        method: String,
    },
    /// A monitor that is entered or left.
    Lock {
        /// As for calls.
        begins_block: bool,
    },
    /// An access to an array element.
    Array,
}

/// How one object is a view of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// Locking the first locks the second, in whichever mode.
    LockView,
    /// Locking the first locks the second exclusively.
    ExclusiveView,
    /// Locking the first locks the second shared.
    SharedView,
    /// The first is a condition of the lock that is the second.
    Condition,
    /// Joining the first joins the task that is the second.
    Handle,
    /// The first runs the second when it is run.
    Wraps,
}

/// Gives numbers to places.
pub trait SiteTable {
    /// The number of a new place, from 1 to 2^24; nothing when the table is full: the hook is then left
    /// out, and counted.
    fn add(&mut self, site: NewSite) -> Option<SiteId>;

    /// Keeps the tree of the sides of a branch.
    fn keep_branch(&mut self, _site: SiteId, _tree: Vec<i32>) {}

    /// Trees are kept for the methods of this class, given in internal form.
    fn keep_class(&mut self, _class: &str) {}

    /// Keeps the tree of a method of a class.
    fn keep_method(&mut self, _method: TreeMethod, _tree: Vec<i32>) {}

    /// The number that trees have for a method, or for a class.
    fn number_in_tree(&mut self, _named: TreeMethod) -> i32 {
        0
    }
}

/// What trees name by a number: a method, as a call or a class has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeMethod {
    /// The class, in internal form.
    pub class: String,
    /// The name of the method; empty for the class itself.
    pub name: String,
    /// Its parameters and result.
    pub descriptor: String,
}
