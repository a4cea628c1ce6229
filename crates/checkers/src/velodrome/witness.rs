//! The whole cycle of a violation: whose transactions, and why each comes before the next.
//!
//! The graph keeps less than what happened: operations outside of transactions become part of other nodes,
//! transactions that are over become one, paths become edges. What was done at the ends of edges is kept
//! whole, so the cycle is described from there: where an edge leads to one thread and the next one leaves
//! from another, what is in between was not kept, and the cycle says so.

use events::{Block, SiteId, ThreadId};

use super::blame::Path;
use super::graph::{Endpoint, Graph, Label, NodeId};
use crate::operation_at::{ContextId, Contexts};
use crate::subject::Subject;
use crate::timeline::{ThreadSlots, ThreadTime};

/// A transaction of a cycle, or what a thread did outside of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CycleTransaction {
    pub(super) thread: ThreadId,
    /// The outermost block; none where it is not known, the unknown site outside of blocks.
    pub(super) block: Option<Block>,
}

/// A cycle. Each edge leads from the transaction with its number to the next, and the last one to the first.
#[derive(Clone, Debug)]
pub(super) struct TransactionCycle {
    pub(super) transactions: Vec<CycleTransaction>,
    pub(super) edges: Vec<Label>,
}

/// Builds the cycle of a violation.
pub(super) struct CycleBuilder<'a> {
    pub(super) graph: &'a Graph,
    pub(super) slots: &'a ThreadSlots,
    pub(super) contexts: &'a Contexts,
}

/// An edge of the cycle with the nodes that it connects.
struct CycleLink {
    label: Label,
    source: Option<NodeId>,
    target: Option<NodeId>,
}

impl CycleBuilder<'_> {
    /// The cycle that an edge from `source` into `node` closes, along a path the other way. The path leaves
    /// `node` in the blocks of `first`.
    pub(super) fn cycle(
        &self,
        node: NodeId,
        path: &Path,
        source: ThreadTime,
        closing: Label,
        first: ContextId,
    ) -> TransactionCycle {
        let mut links: Vec<CycleLink> = Vec::with_capacity(path.edges.len() + 1);
        for edge in &path.edges {
            let leaves = self.graph.node_of(edge.source);
            if let Some(before) = links.last_mut() {
                before.target = leaves;
            }
            links.push(CycleLink { label: edge.label, source: leaves, target: None });
        }
        let leaves = self.graph.node_of(source);
        if let Some(before) = links.last_mut() {
            before.target = leaves;
        }
        links.push(CycleLink { label: closing, source: leaves, target: Some(node) });
        // The first operation may have been reported before the beginning of its block was.
        let root = &mut links[0].label.from;
        if root.operation_at.context() == ContextId::UNKNOWN && path.is_increasing {
            root.operation_at = root.operation_at.in_context(first);
        }

        let closer = CycleTransaction {
            thread: closing.to.thread,
            block: self.contexts.outermost(closing.to.operation_at.context()),
        };
        let mut cycle =
            TransactionCycle { transactions: vec![closer], edges: Vec::with_capacity(links.len()) };
        for at in 0..links.len() {
            cycle.edges.push(links[at].label);
            let Some(next) = links.get(at + 1) else { break };
            let (Some(entered), Some(left)) = (self.entered_by(&links[at]), self.left_by(next))
            else {
                continue;
            };
            match merged(entered, left) {
                Some(one) => cycle.transactions.push(one),
                None => {
                    let is_one_thread = entered.thread == left.thread;
                    let between = if is_one_thread { Subject::Order } else { Subject::Omitted };
                    cycle.transactions.push(entered);
                    cycle.edges.push(Label::of_nodes(between));
                    cycle.transactions.push(left);
                }
            }
        }
        cycle
    }

    /// Whose transaction an edge leads to.
    fn entered_by(&self, link: &CycleLink) -> Option<CycleTransaction> {
        if link.label.has_endpoints() {
            Some(self.transaction(&link.label.to, link.target))
        } else {
            link.target.map(|node| self.transaction_of_node(node))
        }
    }

    /// Whose transaction an edge leaves from.
    fn left_by(&self, link: &CycleLink) -> Option<CycleTransaction> {
        match link.label.subject {
            Subject::Omitted => link.source.map(|node| self.transaction_of_node(node)),
            Subject::Order => {
                // What the thread did before may be part of another thread's node.
                let thread = self.slots.thread(self.graph.slot_of(link.target?));
                let source = self.transaction_of_node(link.source?);
                let is_own = source.thread == thread;
                Some(CycleTransaction { thread, block: source.block.filter(|_| is_own) })
            }
            Subject::Variable(_)
            | Subject::Lock(_)
            | Subject::Thread(_)
            | Subject::Object(_)
            | Subject::Class(_) => Some(self.transaction(&link.label.from, link.source)),
        }
    }

    fn transaction(&self, end: &Endpoint, node: Option<NodeId>) -> CycleTransaction {
        let thread = end.thread;
        let block = self.contexts.outermost(end.operation_at.context()).or_else(|| {
            let of_node = self.transaction_of_node(node?);
            of_node.block.filter(|_| of_node.thread == thread)
        });
        CycleTransaction { thread, block }
    }

    fn transaction_of_node(&self, node: NodeId) -> CycleTransaction {
        let thread = self.slots.thread(self.graph.slot_of(node));
        let block = self.graph.block_of(node);
        CycleTransaction { thread, block: (block != SiteId(0)).then_some(block) }
    }
}

/// One transaction that is entered as the first and left as the second, if that is possible.
fn merged(entered: CycleTransaction, left: CycleTransaction) -> Option<CycleTransaction> {
    let may_be_one = match (entered.block, left.block) {
        (Some(entered), Some(left)) => entered == left,
        (None, _) | (_, None) => true,
    };
    let thread = entered.thread;
    (thread == left.thread && may_be_one)
        .then_some(CycleTransaction { thread, block: entered.block.or(left.block) })
}
