//! The lock-order graph as text and as a graph, for people who want to see why.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use findings::{
    Description, DescriptionForm, EdgeStyle, Graph, GraphEdge, GraphItem, GraphNode, Outline,
};
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
    /// Adds an acquisition.
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

    /// The same as a graph: locks with two outlines stand for several.
    #[must_use]
    pub fn graph(&self, execution: &ExecutionFacts<'_>) -> Graph {
        let mut items: Vec<GraphItem> = Vec::new();
        for lock in self.locks() {
            let outline = match execution.heap.objects[lock].properties.is_unique {
                true => Outline::Single,
                false => Outline::Double,
            };
            let lines = vec![execution.describe(lock)];
            items.push(GraphItem::Node(GraphNode { id: lock.to_string(), lines, outline }));
        }
        for ((from, to), ways) in self.order.edges() {
            items.push(GraphItem::Edge(GraphEdge {
                from: from.to_string(),
                to: to.to_string(),
                lines: vec![ways.len().to_string()],
                style: EdgeStyle::Solid,
            }));
        }
        Graph { name: "locks".to_string(), items, ..Graph::default() }
    }

    fn locks(&self) -> BTreeSet<ObjectId> {
        self.order.taken.keys().copied().collect()
    }
}

/// A listener that describes the graph when the execution is over.
pub struct LockOrderWriter<'a> {
    graph: LockOrderGraph,
    form: DescriptionForm,
    into: &'a RefCell<Vec<Description>>,
}

impl<'a> LockOrderWriter<'a> {
    /// Adds a description of this form.
    #[must_use]
    pub fn new(form: DescriptionForm, into: &'a RefCell<Vec<Description>>) -> LockOrderWriter<'a> {
        LockOrderWriter { graph: LockOrderGraph::default(), form, into }
    }
}

impl Listener for LockOrderWriter<'_> {
    fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        self.graph.acquisition(acquisition);
    }

    fn finish(self: Box<Self>, execution: &ExecutionFacts<'_>) -> Outcome {
        self.into.borrow_mut().push(match self.form {
            DescriptionForm::Text => Description::Text(self.graph.describe(execution)),
            DescriptionForm::Graph => Description::Graph(self.graph.graph(execution)),
        });
        Outcome::default()
    }
}
