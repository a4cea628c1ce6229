//! Who is to blame for a cycle (section 4.3).
//!
//! A transaction that closes a cycle is not self-serializable iff an operation of it happens before an
//! operation of another thread that happens before the one that closes the cycle. Along a path of edges
//! this holds iff the path is increasing: it leaves each node no earlier than it enters it. Of all such
//! paths the one with the latest root is chosen, because it refutes the most blocks: those that were
//! open at the root and still are.

use rustc_hash::FxHashMap;

use super::graph::{Edge, Graph, NodeId};
use crate::timeline::ThreadTime;

/// A path from a node to a thread time.
#[derive(Debug)]
pub(super) struct Path {
    /// The edges, first one first; the last one leads to the node of the thread time.
    pub(super) edges: Vec<Edge>,
    /// Whether each node is left no earlier than entered.
    pub(super) is_increasing: bool,
}

/// The increasing path with the latest root; or any path, if there is no increasing one.
pub(super) fn path(graph: &Graph, from: NodeId, to: ThreadTime) -> Path {
    match search(graph, from, to, true) {
        Some(edges) => Path { edges, is_increasing: true },
        None => {
            let edges = search(graph, from, to, false).unwrap_or_default();
            Path { edges, is_increasing: false }
        }
    }
}

/// A node on the way back, to be left no later than at `until`.
struct Visit {
    node: NodeId,
    until: u64,
    /// The visit that this one leads to, and by which edge.
    next: Option<(usize, Edge)>,
}

fn search(graph: &Graph, from: NodeId, to: ThreadTime, increasing: bool) -> Option<Vec<Edge>> {
    let mut visits = vec![Visit { node: graph.node_of(to)?, until: to.time(), next: None }];
    let mut latest: FxHashMap<u64, u64> = FxHashMap::default();
    let mut best: Option<(usize, Edge)> = None;
    let mut at = 0;
    while at < visits.len() {
        let Visit { node, until, .. } = visits[at];
        for edge in graph.incoming(node) {
            if increasing && edge.at > until {
                continue;
            }
            let Some(source) = graph.node_of(edge.source) else { continue };
            if source == from {
                if best.is_none_or(|(_, known)| edge.source.time() > known.source.time()) {
                    best = Some((at, *edge));
                }
                continue;
            }
            let time = if increasing { edge.source.time() } else { u64::MAX };
            let known = latest.entry(source.number()).or_insert(0);
            if time > *known {
                *known = time;
                visits.push(Visit { node: source, until: time, next: Some((at, *edge)) });
            }
        }
        at += 1;
    }
    let (mut at, edge) = best?;
    let mut edges = vec![edge];
    while let Some((next, edge)) = visits[at].next {
        edges.push(edge);
        at = next;
    }
    Some(edges)
}

/// The edges by which the transactions that are not over reach a thread time, each with its latest root: along
/// increasing paths, or along any. `last` is the edge that leads on from the thread time.
pub(super) fn roots(graph: &Graph, to: ThreadTime, last: &Edge, increasing: bool) -> Vec<Edge> {
    let Some(node) = graph.node_of(to) else { return Vec::new() };
    if !graph.is_over(node) {
        return vec![*last];
    }
    let mut found: Vec<(NodeId, Edge)> = Vec::new();
    let mut visits = vec![(node, to.time())];
    let mut latest: FxHashMap<u64, u64> = FxHashMap::default();
    let mut at = 0;
    while at < visits.len() {
        let (node, until) = visits[at];
        for edge in graph.incoming(node) {
            if increasing && edge.at > until {
                continue;
            }
            let Some(source) = graph.node_of(edge.source) else { continue };
            if !graph.is_over(source) {
                match found.iter_mut().find(|(known, _)| *known == source) {
                    Some((_, known)) => {
                        if known.source.time() < edge.source.time() {
                            *known = *edge;
                        }
                    }
                    None => found.push((source, *edge)),
                }
                continue;
            }
            let time = if increasing { edge.source.time() } else { u64::MAX };
            let known = latest.entry(source.number()).or_insert(0);
            if time > *known {
                *known = time;
                visits.push((source, time));
            }
        }
        at += 1;
    }
    found.into_iter().map(|(_, edge)| edge).collect()
}
