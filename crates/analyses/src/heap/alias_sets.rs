//! Alias sets under construction: union-find, with variables that are unified along (dissertation, Figure 3.2).

use program::ids::{ClassId, Id, LambdaId};
use program::union_find::UnionFind;

use super::{Edge, Name, Node, NodeId, Slot};
use crate::sorted::{insert, unite};

/// Alias sets of one method, or of the whole program, while they are being made.
#[derive(Default)]
pub(super) struct AliasSets {
    sets: UnionFind,
    /// What is known of each set, at the position of its representative; empty at the others.
    nodes: Vec<Node>,
}

impl AliasSets {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn create(&mut self) -> NodeId {
        self.add(Node::default())
    }

    pub(super) fn add(&mut self, node: Node) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        self.sets.add();
        self.nodes.push(node);
        id
    }

    /// The set that a set has become part of.
    pub(super) fn find(&mut self, node: NodeId) -> NodeId {
        NodeId::new(self.sets.find(node.index() as u32) as usize)
    }

    /// What is known of a set.
    pub(super) fn node(&mut self, node: NodeId) -> &mut Node {
        let root = self.find(node);
        &mut self.nodes[root.index()]
    }

    /// Makes two sets one, and what their variables refer to as well.
    pub(super) fn unify(&mut self, one: NodeId, other: NodeId) {
        let mut todo = vec![(one, other)];
        while let Some((one, other)) = todo.pop() {
            let (one, other) = (self.find(one), self.find(other));
            if one == other {
                continue;
            }
            // The fewer variables move to the others.
            let is_smaller =
                self.nodes[one.index()].edges.len() < self.nodes[other.index()].edges.len();
            let (kept, gone) = if is_smaller { (other, one) } else { (one, other) };
            self.sets.unite(kept.index() as u32, gone.index() as u32);
            let gone = std::mem::take(&mut self.nodes[gone.index()]);
            let node = &mut self.nodes[kept.index()];
            for edge in gone.edges {
                merge_edge(node, edge, &mut todo);
            }
            unite(&mut node.names, &gone.names);
            unite(&mut node.classes, &gone.classes);
            unite(&mut node.lambdas, &gone.lambdas);
            unite(&mut node.runs, &gone.runs);
            node.flags.add(gone.flags);
        }
    }

    /// What a variable refers to; a new set if nothing is known of it.
    pub(super) fn target(&mut self, node: NodeId, slot: Slot) -> NodeId {
        let root = self.find(node).index();
        match self.nodes[root].edges.binary_search_by_key(&slot, |edge| edge.slot) {
            Ok(at) => match self.nodes[root].edges[at].target {
                Some(target) => self.find(target),
                None => {
                    let target = self.create();
                    self.nodes[root].edges[at].target = Some(target);
                    target
                }
            },
            Err(at) => {
                let target = self.create();
                let edge = Edge { slot, target: Some(target), is_read: false, is_written: false };
                self.nodes[root].edges.insert(at, edge);
                target
            }
        }
    }

    /// Everything that some variable refers to, sorted.
    pub(super) fn targets(&mut self) -> Vec<NodeId> {
        let edges = self.nodes.iter().flat_map(|node| &node.edges);
        let mut targets: Vec<NodeId> = edges.filter_map(|edge| edge.target).collect();
        targets.iter_mut().for_each(|target| *target = self.find(*target));
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// Notes that a variable is read or written, or merely exists.
    pub(super) fn touch(&mut self, node: NodeId, slot: Slot, is_read: bool, is_written: bool) {
        let node = self.node(node);
        let edge = Edge { slot, target: None, is_read, is_written };
        merge_edge(node, edge, &mut Vec::new());
    }

    pub(super) fn name(&mut self, node: NodeId, name: Name) {
        insert(&mut self.node(node).names, name);
    }

    pub(super) fn class(&mut self, node: NodeId, class: ClassId) {
        insert(&mut self.node(node).classes, class);
    }

    pub(super) fn lambda(&mut self, node: NodeId, lambda: LambdaId) {
        insert(&mut self.node(node).lambdas, lambda);
    }
}

fn merge_edge(node: &mut Node, edge: Edge, todo: &mut Vec<(NodeId, NodeId)>) {
    match node.edges.binary_search_by_key(&edge.slot, |known| known.slot) {
        Ok(at) => {
            let known = &mut node.edges[at];
            known.is_read |= edge.is_read;
            known.is_written |= edge.is_written;
            match (known.target, edge.target) {
                (Some(one), Some(other)) => todo.push((one, other)),
                (None, target) => known.target = target,
                (Some(_), None) => {}
            }
        }
        Err(at) => node.edges.insert(at, edge),
    }
}
