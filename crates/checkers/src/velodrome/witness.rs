//! The whole cycle of a violation: whose transactions, and why each comes before the next.
//!
//! The graph keeps less than what happened: operations outside of transactions become part of other nodes,
//! transactions that are over become one, paths become edges. What was done at the ends of edges is kept
//! whole, so the cycle is told from there: where an edge leads to one thread and the next one leaves from
//! another, what is in between was not kept, and is said to be left out.

use events::{Block, SiteId, ThreadId};

use super::blame::Path;
use super::graph::{End, Graph, Label, NodeId};
use crate::doing::{ContextId, Contexts};
use crate::subject::Subject;
use crate::timeline::{Lanes, Step};

/// A transaction of a cycle, or what a thread did outside of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Actor {
    pub(super) thread: ThreadId,
    /// The outermost block; none where it is not known, the unknown site outside of blocks.
    pub(super) block: Option<Block>,
}

/// A cycle. Each edge leads from the transaction with its number to the next, and the last one to the first.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) actors: Vec<Actor>,
    pub(super) edges: Vec<Label>,
}

/// What a chain is made from.
pub(super) struct Chains<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lanes: &'a Lanes,
    pub(super) contexts: &'a Contexts,
}

/// An edge of the cycle with the nodes that it connects.
struct Link {
    label: Label,
    source: Option<NodeId>,
    target: Option<NodeId>,
}

impl Chains<'_> {
    /// The cycle that an edge from `source` into `node` closes, along a path the other way. The path leaves
    /// `node` in the blocks of `first`.
    pub(super) fn chain(
        &self,
        node: NodeId,
        path: &Path,
        source: Step,
        closing: Label,
        first: ContextId,
    ) -> Chain {
        let mut links: Vec<Link> = Vec::with_capacity(path.edges.len() + 1);
        for edge in &path.edges {
            let leaves = self.graph.node_of(edge.source);
            if let Some(before) = links.last_mut() {
                before.target = leaves;
            }
            links.push(Link { label: edge.label, source: leaves, target: None });
        }
        let leaves = self.graph.node_of(source);
        if let Some(before) = links.last_mut() {
            before.target = leaves;
        }
        links.push(Link { label: closing, source: leaves, target: Some(node) });
        // The first operation may have been reported before the beginning of its block was.
        let root = &mut links[0].label.from;
        if root.doing.context() == ContextId::UNKNOWN && path.is_increasing {
            root.doing = root.doing.in_context(first);
        }

        let closer = Actor {
            thread: closing.to.thread,
            block: self.contexts.outermost(closing.to.doing.context()),
        };
        let mut chain = Chain { actors: vec![closer], edges: Vec::with_capacity(links.len()) };
        for at in 0..links.len() {
            chain.edges.push(links[at].label);
            let Some(next) = links.get(at + 1) else { break };
            let (Some(entered), Some(left)) = (self.entered_by(&links[at]), self.left_by(next))
            else {
                continue;
            };
            match joined(entered, left) {
                Some(one) => chain.actors.push(one),
                None => {
                    let is_one_thread = entered.thread == left.thread;
                    let between = if is_one_thread { Subject::Order } else { Subject::Omitted };
                    chain.actors.push(entered);
                    chain.edges.push(Label::of_nodes(between));
                    chain.actors.push(left);
                }
            }
        }
        chain
    }

    /// Whose transaction an edge leads to.
    fn entered_by(&self, link: &Link) -> Option<Actor> {
        if link.label.has_ends() {
            Some(self.actor(&link.label.to, link.target))
        } else {
            link.target.map(|node| self.actor_of_node(node))
        }
    }

    /// Whose transaction an edge leaves from.
    fn left_by(&self, link: &Link) -> Option<Actor> {
        match link.label.subject {
            Subject::Omitted => link.source.map(|node| self.actor_of_node(node)),
            Subject::Order => {
                // What the thread did before may be part of another thread's node.
                let thread = self.lanes.thread(self.graph.lane_of(link.target?));
                let source = self.actor_of_node(link.source?);
                let is_own = source.thread == thread;
                Some(Actor { thread, block: source.block.filter(|_| is_own) })
            }
            Subject::Variable(_)
            | Subject::Lock(_)
            | Subject::Thread(_)
            | Subject::Object(_)
            | Subject::Class(_) => Some(self.actor(&link.label.from, link.source)),
        }
    }

    fn actor(&self, end: &End, node: Option<NodeId>) -> Actor {
        let thread = end.thread;
        let block = self.contexts.outermost(end.doing.context()).or_else(|| {
            let of_node = self.actor_of_node(node?);
            of_node.block.filter(|_| of_node.thread == thread)
        });
        Actor { thread, block }
    }

    fn actor_of_node(&self, node: NodeId) -> Actor {
        let thread = self.lanes.thread(self.graph.lane_of(node));
        let block = self.graph.block_of(node);
        Actor { thread, block: (block != SiteId(0)).then_some(block) }
    }
}

/// One transaction that is entered as the first and left as the second, if that is possible.
fn joined(entered: Actor, left: Actor) -> Option<Actor> {
    let may_be_one = match (entered.block, left.block) {
        (Some(entered), Some(left)) => entered == left,
        (None, _) | (_, None) => true,
    };
    let thread = entered.thread;
    (thread == left.thread && may_be_one)
        .then_some(Actor { thread, block: entered.block.or(left.block) })
}
