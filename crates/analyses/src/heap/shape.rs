//! Method shapes: the summary of one method in the reference analysis (dissertation, 3.3.2).

use program::ids::{ClassId, LambdaId, MethodId, ValueId};

use super::{Name, Slot};

program::typed_ids! {
    /// A node of one method's shape: an alias set.
    NodeId "node";
}

/// A variable of the objects of an alias set, in the scope of one method and all it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which variable.
    pub slot: Slot,
    /// What it refers to, when it holds references.
    pub target: Option<NodeId>,
    /// Whether it is read.
    pub is_read: bool,
    /// Whether it is written.
    pub is_written: bool,
}

/// What happens to the objects of an alias set, in the scope of one method and all it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct NodeFlags {
    /// Some are allocated.
    pub is_allocated: bool,
    /// Threads synchronise through some: they are locked, waited on, notified, or pass on what was published to them.
    pub is_locked: bool,
    /// Some are started, or handed to others to run.
    pub is_started: bool,
    /// Another thread may come to know them through something that callers do not see: a static field, a started
    /// thread, unknown code. Storing one parameter into another is no escape, it is part of the shape.
    pub escapes: bool,
    /// Some are executors with a single worker.
    pub is_single_worker: bool,
    /// A reference is used outside of the methods of an object that keeps it in a field (3.3.6).
    pub escapes_object: bool,
}

impl NodeFlags {
    /// Whatever happens to other objects of the same set as well.
    pub fn add(&mut self, other: NodeFlags) {
        self.is_allocated |= other.is_allocated;
        self.is_locked |= other.is_locked;
        self.is_started |= other.is_started;
        self.escapes |= other.escapes;
        self.escapes_object |= other.escapes_object;
        self.is_single_worker |= other.is_single_worker;
    }
}

/// An alias set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its variables, sorted by slot.
    pub edges: Vec<Edge>,
    /// The names it has everywhere; a node with a name is global. Sorted.
    pub names: Vec<Name>,
    /// The classes that are allocated, sorted.
    pub classes: Vec<ClassId>,
    /// The lambdas that are created, sorted.
    pub lambdas: Vec<LambdaId>,
    /// The bodies of tasks that it was given to run, if it is an executor; sorted.
    pub runs: Vec<MethodId>,
    /// What happens to it.
    pub flags: NodeFlags,
}

impl Node {
    /// Where a variable leads.
    #[must_use]
    pub fn target(&self, slot: Slot) -> Option<NodeId> {
        let at = self.edges.binary_search_by_key(&slot, |edge| edge.slot).ok()?;
        self.edges[at].target
    }
}

/// What a method does to references, whoever calls it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The alias sets. The first `exposed` of them can be known to callers: those that parameters and the
    /// result lead to.
    pub nodes: Vec<Node>,
    /// How many nodes can be known to callers.
    pub exposed: usize,
    /// The parameters that are references, the receiver first.
    pub parameters: Vec<Option<NodeId>>,
    /// The result, if it is a reference.
    pub result: Option<NodeId>,
    /// The node of every value of the body that is a reference.
    pub values: Vec<Option<NodeId>>,
}

impl Shape {
    /// The node of a value; none for numbers, strings and other values that nobody can change.
    #[must_use]
    pub fn node_of(&self, value: ValueId) -> Option<NodeId> {
        use program::ids::Id;
        *self.values.get(value.index())?
    }
}

impl std::ops::Index<NodeId> for Shape {
    type Output = Node;

    fn index(&self, node: NodeId) -> &Node {
        use program::ids::Id;
        &self.nodes[node.index()]
    }
}
