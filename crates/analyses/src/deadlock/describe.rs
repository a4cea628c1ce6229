//! The lock-order graph as text and as a graph for `dot`, for people who want to see why.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use program::ids::Id;

use super::lock_order::LockOrder;
use crate::Outcome;
use crate::execution::{Acquisition, Listener, World};
use crate::heap::{ObjectId, ThreadSet};

/// Places that are named for one edge, at most.
const MOST_PLACES: usize = 3;

/// The lock-order graph of a program, filled by what a listener hears.
#[derive(Default)]
pub struct LockOrderGraph {
    order: LockOrder,
}

impl LockOrderGraph {
    /// Learns that a lock is taken.
    pub fn acquisition(&mut self, acquisition: &Acquisition<'_>) {
        self.order.learn(acquisition);
    }

    /// The locks with what is wanted while they are held, as indented text.
    #[must_use]
    pub fn describe(&self, world: &World<'_>) -> String {
        let mut text = String::new();
        let edges = self.order.edges();
        for lock in self.locks() {
            let several = if world.heap.objects[lock].marks.is_unique { "" } else { ", several" };
            let _ = writeln!(text, "{} ({lock}{several})", world.describe(lock));
            for ((from, to), ways) in edges.range((lock, ObjectId::new(0))..) {
                if *from != lock {
                    break;
                }
                let _ = writeln!(text, "  then {} ({to})", world.describe(*to));
                let mut places = BTreeMap::new();
                for way in ways {
                    let threads: &mut ThreadSet =
                        places.entry((way.held_at, way.wanted_at)).or_default();
                    threads.extend(&world.threads[way.context]);
                }
                let left_out = places.len().saturating_sub(MOST_PLACES);
                for ((held_at, wanted_at), threads) in places.into_iter().take(MOST_PLACES) {
                    let place = |at: crate::heap::Place| {
                        let site = world.context.program.site(at.method, at.offset);
                        match site.line {
                            Some(line) => format!("{}:{line}", site.method_name()),
                            None => site.method_name(),
                        }
                    };
                    let threads: Vec<String> =
                        threads.iter().map(|thread| world.describe_thread(thread)).collect();
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
    pub fn dot(&self, world: &World<'_>) -> String {
        let mut text = String::from("digraph locks {\n  node [shape=box];\n");
        for lock in self.locks() {
            let name = world.describe(lock).replace('\\', "\\\\").replace('"', "\\\"");
            let style =
                if world.heap.objects[lock].marks.is_unique { "" } else { ", peripheries=2" };
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

    fn finish(self: Box<Self>, world: &World<'_>) -> Outcome {
        let text = if self.is_dot { self.graph.dot(world) } else { self.graph.describe(world) };
        self.into.borrow_mut().push_str(&text);
        Outcome::default()
    }
}
