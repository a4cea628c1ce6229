//! The lock-order graph as text and as a graph for `dot`, for people who want to see why.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use program::ids::Id;

use super::lock_order::LockOrder;
use crate::Outcome;
use crate::execution::{Acquisition, ExecutionFacts, Listener};
use crate::heap::{ObjectId, ThreadSet};

/// Places that are named for one edge, at most.
const MOST_PLACES: usize = 3;

/// The lock-order graph of a program, filled by the events of a listener.
#[derive(Default)]
pub struct LockOrderGraph {
    order: LockOrder,
}

impl LockOrderGraph {
    /// Learns that a lock is taken.
    pub fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        self.order.add(acquisition);
    }

    /// The locks with what is wanted while they are held, as indented text.
    #[must_use]
    pub fn describe(&self, execution: &ExecutionFacts<'_>) -> String {
        let mut text = String::new();
        let edges = self.order.edges();
        for lock in self.locks() {
            let several =
                if execution.heap.objects[lock].properties.is_unique { "" } else { ", several" };
            let _ = writeln!(text, "{} ({lock}{several})", execution.describe(lock));
            for ((from, to), ways) in edges.range((lock, ObjectId::new(0))..) {
                if *from != lock {
                    break;
                }
                let _ = writeln!(text, "  then {} ({to})", execution.describe(*to));
                let mut places = BTreeMap::new();
                for way in ways {
                    let threads: &mut ThreadSet =
                        places.entry((way.held_at, way.wanted_at)).or_default();
                    threads.extend(&execution.threads[way.context]);
                }
                let left_out = places.len().saturating_sub(MOST_PLACES);
                for ((held_at, wanted_at), threads) in places.into_iter().take(MOST_PLACES) {
                    let place = |at: crate::heap::Place| {
                        let site = execution.context.program.site(at.method, at.offset);
                        match site.line {
                            Some(line) => format!("{}:{line}", site.method_name()),
                            None => site.method_name(),
                        }
                    };
                    let threads: Vec<String> =
                        threads.iter().map(|thread| execution.describe_thread(thread)).collect();
                    let (held, wanted) = (place(held_at), place(wanted_at));
                    let _ = writeln!(text, "    {held}, then {wanted} by {}", threads.join(", "));
                }
                if left_out > 0 {
                    let _ = writeln!(text, "    and {left_out} more");
                }
            }
        }
        text
    }

    /// The same as a graph for `dot`.
    #[must_use]
    pub fn dot(&self, execution: &ExecutionFacts<'_>) -> String {
        let mut text = String::from("digraph locks {\n  node [shape=box];\n");
        for lock in self.locks() {
            let name = execution.describe(lock).replace('\\', "\\\\").replace('"', "\\\"");
            let style = if execution.heap.objects[lock].properties.is_unique {
                ""
            } else {
                ", peripheries=2"
            };
            let _ = writeln!(text, "  {lock} [label=\"{name}\"{style}];");
        }
        for ((from, to), ways) in self.order.edges() {
            let _ = writeln!(text, "  {from} -> {to} [label=\"{}\"];", ways.len());
        }
        text.push_str("}\n");
        text
    }

    fn locks(&self) -> BTreeSet<ObjectId> {
        self.order.taken.keys().copied().collect()
    }
}

/// A listener that writes the graph into a text when the execution is over.
pub struct LockOrderWriter<'a> {
    graph: LockOrderGraph,
    is_dot: bool,
    into: &'a RefCell<String>,
}

impl<'a> LockOrderWriter<'a> {
    /// Writes text, or a graph for `dot`.
    #[must_use]
    pub fn new(is_dot: bool, into: &'a RefCell<String>) -> LockOrderWriter<'a> {
        LockOrderWriter { graph: LockOrderGraph::default(), is_dot, into }
    }
}

impl Listener for LockOrderWriter<'_> {
    fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        self.graph.acquisition(acquisition);
    }

    fn finish(self: Box<Self>, execution: &ExecutionFacts<'_>) -> Outcome {
        let text =
            if self.is_dot { self.graph.dot(execution) } else { self.graph.describe(execution) };
        self.into.borrow_mut().push_str(&text);
        Outcome::default()
    }
}
