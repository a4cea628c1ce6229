//! Counts what is in a trace.

use std::io;

use rustc_hash::FxHashSet;

use crate::{Event, Kind, ObjectId, Operand, Sink, SiteId, Tables, ThreadId, Variable};

/// Counts events, and the different things they are about.
#[derive(Clone, Debug)]
pub struct Stats {
    /// By the number of the kind.
    by_kind: Vec<u64>,
    threads: FxHashSet<ThreadId>,
    objects: FxHashSet<ObjectId>,
    locks: FxHashSet<ObjectId>,
    variables: FxHashSet<Variable>,
    sites: FxHashSet<SiteId>,
    blocks: FxHashSet<SiteId>,
}

impl Default for Stats {
    fn default() -> Stats {
        Stats {
            by_kind: vec![0; Kind::ALL.len()],
            threads: FxHashSet::default(),
            objects: FxHashSet::default(),
            locks: FxHashSet::default(),
            variables: FxHashSet::default(),
            sites: FxHashSet::default(),
            blocks: FxHashSet::default(),
        }
    }
}

impl Stats {
    /// Counts an event.
    pub fn add(&mut self, event: &Event) {
        let (kind, operand) = event.action.parts();
        if let Some(count) = self.by_kind.get_mut(kind as usize) {
            *count += 1;
        }
        self.threads.insert(event.thread);
        if event.site != SiteId(0) {
            self.sites.insert(event.site);
        }
        if kind == Kind::Begin {
            self.blocks.insert(event.site);
        }
        match operand {
            Operand::None
            | Operand::Thread(_)
            | Operand::Class(_)
            | Operand::Branch(_)
            | Operand::Condition(_) => {}
            Operand::Object(object) => {
                self.objects.insert(object);
                if matches!(kind, Kind::Acquire | Kind::AcquireShared) {
                    self.locks.insert(object);
                }
            }
            Operand::ObjectOfClass(object, _) => {
                self.objects.insert(object);
            }
            Operand::Variable(variable) => {
                self.variables.insert(variable);
                match variable {
                    Variable::Static(_) => {}
                    Variable::Field(object, _)
                    | Variable::Element(object, _)
                    | Variable::Contents(object) => {
                        self.objects.insert(object);
                    }
                }
            }
        }
    }

    /// How many events there are.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.by_kind.iter().sum()
    }

    /// How many events of a kind there are.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> u64 {
        self.by_kind.get(kind as usize).copied().unwrap_or(0)
    }

    /// How many different things the events are about, each with its name in the plural: threads
    /// that did something, objects, objects that were acquired, variables, known sites, and atomic
    /// blocks by the site that begins them.
    #[must_use]
    pub fn distinct_counts(&self) -> [(&'static str, u64); 6] {
        [
            ("threads", self.threads.len() as u64),
            ("objects", self.objects.len() as u64),
            ("locks", self.locks.len() as u64),
            ("variables", self.variables.len() as u64),
            ("sites", self.sites.len() as u64),
            ("blocks", self.blocks.len() as u64),
        ]
    }
}

impl Sink for Stats {
    fn event(&mut self, event: &Event, _: &Tables) -> io::Result<()> {
        self.add(event);
        Ok(())
    }

    fn finish(&mut self, _: &Tables) -> io::Result<()> {
        Ok(())
    }
}
