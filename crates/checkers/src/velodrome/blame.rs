//! Who is to blame for a cycle (section 4.3).
//!
//! A transaction that closes a cycle is not self-serializable iff an operation of it happens before an
//! operation of another thread that happens before the one that closes the cycle. Along a path of edges
//! this holds iff the path is increasing: it leaves each node no earlier than it enters it. Of all such
//! paths the one with the latest root is chosen, because it refutes the most blocks: those that were
//! open at the root and still are.

use super::graph::{Edge, Graph, NodeId};
use crate::timeline::{ThreadSlot, ThreadTime};

/// A path from a node to a thread time.
#[derive(Debug)]
pub(super) struct Path {
    /// The edges, first one first; the last one leads to the node of the thread time.
    pub(super) edges: Vec<Edge>,
    /// Whether each node is left no earlier than entered.
    pub(super) is_increasing: bool,
}

/// A node on the way back, to be left no later than at `until`.
#[derive(Debug)]
struct Visit {
    node: NodeId,
    until: u64,
    /// The visit that this one leads to, and by which edge.
    next: Option<(usize, Edge)>,
}

/// Which thread times a search has visited, with the memory of earlier searches.
///
/// What comes before an operation comes before all later ones of its thread. So of the edges from one thread into a node the
/// newest that is not too late is enough: these edges are in the order of both ends. And a thread time need not be visited
/// if a later one of the same thread is: the search goes on from there to the nodes before it in the thread, by the edge that
/// leads from each to the next, or, where nodes were condensed, finds the edges into them at the later one.
#[derive(Debug, Default)]
struct Visited {
    /// For each slot the latest time that is visited from another thread, and in which search.
    latest: Vec<(u32, u64)>,
    /// For each node, by number, until when it is visited, and in which search.
    until: Vec<(u32, u64)>,
    /// For each slot the visit that has tried an edge from it.
    tried: Vec<u32>,
    search: u32,
    visit: u32,
}

impl Visited {
    fn next_search(&mut self, graph: &Graph) {
        self.latest.resize(graph.slots(), (0, 0));
        self.tried.resize(graph.slots(), 0);
        self.until.resize(graph.numbers(), (0, 0));
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.latest.fill((0, 0));
            self.until.fill((0, 0));
            self.search = 1;
        }
    }

    fn next_visit(&mut self) {
        self.visit = self.visit.wrapping_add(1);
        if self.visit == 0 {
            self.tried.fill(0);
            self.visit = 1;
        }
    }

    /// Whether this visit has not tried an edge from this slot yet.
    fn is_newest(&mut self, slot: ThreadSlot) -> bool {
        std::mem::replace(&mut self.tried[slot.index()], self.visit) != self.visit
    }

    /// Whether a thread time of a node is to be visited by way of an edge into a node of this slot.
    fn is_new(&mut self, node: NodeId, time: ThreadTime, into: ThreadSlot) -> bool {
        let (slot, time) = (time.slot(), time.time());
        let is_known = |(search, known): (u32, u64)| search == self.search && known >= time;
        if is_known(self.until[node.number() as usize])
            || (slot != into && is_known(self.latest[slot.index()]))
        {
            return false;
        }
        self.until[node.number() as usize] = (self.search, time);
        if slot != into {
            self.latest[slot.index()] = (self.search, time);
        }
        true
    }

    /// Whether a node is to be visited, at whatever time.
    fn is_new_node(&mut self, node: NodeId) -> bool {
        let until = &mut self.until[node.number() as usize];
        std::mem::replace(until, (self.search, u64::MAX)).0 != self.search
    }
}

/// Searches for paths, back from the thread time that closes a cycle. Only nodes that the path can lead to are visited; the
/// graph knows which these are.
#[derive(Debug, Default)]
pub(super) struct PathSearch {
    visits: Vec<Visit>,
    visited: Visited,
}

impl PathSearch {
    /// The increasing path with the latest root; or any path, if there is no increasing one.
    pub(super) fn path(&mut self, graph: &Graph, from: NodeId, to: ThreadTime) -> Path {
        let (edges, is_increasing) = match self.increasing(graph, from, to) {
            Some(edges) => (edges, true),
            None => (self.any(graph, from, to).unwrap_or_default(), false),
        };
        Path { edges, is_increasing }
    }

    fn start(&mut self, graph: &Graph, to: ThreadTime) -> Option<()> {
        self.visited.next_search(graph);
        self.visits.clear();
        self.visits.push(Visit { node: graph.node_of(to)?, until: to.time(), next: None });
        Some(())
    }

    fn increasing(&mut self, graph: &Graph, from: NodeId, to: ThreadTime) -> Option<Vec<Edge>> {
        self.start(graph, to)?;
        let mut best: Option<(usize, Edge)> = None;
        let mut at = 0;
        while at < self.visits.len() {
            let Visit { node, until, .. } = self.visits[at];
            let slot = graph.slot_of(node);
            self.visited.next_visit();
            for edge in graph.incoming(node).iter().rev() {
                if edge.at > until || !self.visited.is_newest(edge.source.slot()) {
                    continue;
                }
                let Some(source) = graph.node_of(edge.source) else { continue };
                let time = edge.source.time();
                if source == from {
                    if best.is_none_or(|(_, known)| time > known.source.time()) {
                        best = Some((at, *edge));
                    }
                } else if graph.is_reached(source, from)
                    && self.visited.is_new(source, edge.source, slot)
                {
                    self.visits.push(Visit { node: source, until: time, next: Some((at, *edge)) });
                }
            }
            at += 1;
        }
        best.map(|(at, edge)| self.edges(at, edge))
    }

    /// A path with the fewest edges.
    fn any(&mut self, graph: &Graph, from: NodeId, to: ThreadTime) -> Option<Vec<Edge>> {
        self.start(graph, to)?;
        let mut at = 0;
        while at < self.visits.len() {
            for edge in graph.incoming(self.visits[at].node).iter().rev() {
                let Some(source) = graph.node_of(edge.source) else { continue };
                if source == from {
                    return Some(self.edges(at, *edge));
                }
                if graph.is_reached(source, from) && self.visited.is_new_node(source) {
                    let until = edge.source.time();
                    self.visits.push(Visit { node: source, until, next: Some((at, *edge)) });
                }
            }
            at += 1;
        }
        None
    }

    /// The edges from the root to where the search began, by way of a visit.
    fn edges(&self, mut at: usize, first: Edge) -> Vec<Edge> {
        let mut edges = vec![first];
        while let Some((next, edge)) = self.visits[at].next {
            edges.push(edge);
            at = next;
        }
        edges
    }
}

/// Searches for the edges by which transactions that are not over reach a thread time along increasing paths, each with its
/// latest root. It is kept as short as the search for one path.
#[derive(Debug, Default)]
pub(super) struct RootSearch {
    found: Vec<(NodeId, Edge)>,
    visits: Vec<(NodeId, u64)>,
    visited: Visited,
}

impl RootSearch {
    /// The transactions, and the edges that leave them, which the last search has found.
    pub(super) fn found(&self) -> &[(NodeId, Edge)] {
        &self.found
    }

    /// Searches from a thread time of a node that is over.
    pub(super) fn search(&mut self, graph: &Graph, to: ThreadTime) {
        self.found.clear();
        self.visits.clear();
        let Some(node) = graph.node_of(to) else { return };
        self.visited.next_search(graph);
        self.visits.push((node, to.time()));
        let mut at = 0;
        while at < self.visits.len() {
            let (node, until) = self.visits[at];
            let slot = graph.slot_of(node);
            self.visited.next_visit();
            for edge in graph.incoming(node).iter().rev() {
                if edge.at > until || !self.visited.is_newest(edge.source.slot()) {
                    continue;
                }
                let Some(source) = graph.node_of(edge.source) else { continue };
                let time = edge.source.time();
                if graph.is_over(source) {
                    if self.visited.is_new(source, edge.source, slot) {
                        self.visits.push((source, time));
                    }
                    continue;
                }
                match self.found.iter_mut().find(|(known, _)| *known == source) {
                    Some((_, known)) if known.source.time() >= time => {}
                    Some((_, known)) => *known = *edge,
                    None => self.found.push((source, *edge)),
                }
            }
            at += 1;
        }
    }
}
