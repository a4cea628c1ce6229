//! The listeners of the symbolic execution, and what they may ask.

use program::Origin;
use program::ids::{ClassId, FieldId, MethodId, TypedVec};

use super::event::{
    Access, Acquisition, Allocation, ContextId, Invocation, Publication, Signal, ThreadControl,
};
use crate::heap::{Heap, NameRoot, ObjectId, Place, Slot, ThreadId, ThreadSet};
use crate::source_names::captured_name;
use crate::{Context, Outcome};

/// Everything that is known when the symbolic execution is over.
pub struct ExecutionFacts<'a> {
    /// The program, its call graph and what the user asked for.
    pub context: &'a Context<'a>,
    /// The heap shape graph; uniqueness is known by now.
    pub heap: &'a Heap,
    /// The method of each context.
    pub methods: &'a TypedVec<ContextId, MethodId>,
    /// The abstract threads that get to each context.
    pub threads: &'a TypedVec<ContextId, ThreadSet>,
    /// For each context one that calls it and where; none for those that threads begin with.
    pub called_from: &'a TypedVec<ContextId, Option<(ContextId, Place)>>,
    /// Methods that were not looked at in all contexts, sorted.
    pub lost_context: &'a [MethodId],
    /// Whether some locks that are held in a context are not known there, because there were too many contexts.
    pub unknown_locks: &'a TypedVec<ContextId, bool>,
}

impl ExecutionFacts<'_> {
    /// The calls that lead from the beginning of a thread to a context, outermost first: a witness, one of many.
    #[must_use]
    pub fn call_chain(&self, context: ContextId) -> Vec<Place> {
        let mut chain = Vec::new();
        let mut at = context;
        while let Some((caller, place)) = self.called_from[at] {
            chain.push(place);
            at = caller;
        }
        chain.reverse();
        chain
    }

    /// A name for an abstract object for people: its class, or how it is reached.
    #[must_use]
    pub fn describe(&self, object: ObjectId) -> String {
        self.heap.describe(self.context.program, object)
    }

    /// A name for a lock: the class, the field that holds it where the class says nothing, or what kind of object it
    /// is.
    #[must_use]
    pub fn describe_lock(&self, object: ObjectId) -> String {
        let program = self.context.program;
        let known = &self.heap.objects[object];
        let simple = |class: ClassId| {
            let name = program.classes[class].dotted_name();
            name.rsplit('.').next().unwrap_or(&name).replace('$', ".")
        };
        for root in &known.roots {
            if let NameRoot::Class(class) = root {
                return format!("{}.class", simple(*class));
            }
        }
        let is_application =
            |class: &ClassId| program.classes[*class].origin == Origin::Application;
        // Compilers make the field that leads an inner object to the one around it.
        let is_written = |field: &FieldId| !program.fields[*field].name.starts_with("this$");
        let mut holding = known.referred_by.iter().filter_map(|(_, slot)| match slot {
            Slot::Field(field) => Some(*field).filter(is_written),
            Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => None,
        });
        match holding.next() {
            Some(field) if !known.classes.iter().any(is_application) => {
                let declared = &program.fields[field];
                match captured_name(&declared.name) {
                    Some(variable) => variable.to_string(),
                    None => format!("{}.{}", simple(declared.class), declared.name),
                }
            }
            _ => self.describe(object),
        }
    }

    /// The same without what distinguishes objects of one class, so that it stays what it is when the program gets
    /// more of them.
    #[must_use]
    pub fn describe_lock_stable(&self, object: ObjectId) -> String {
        let name = self.describe_lock(object);
        match name.rsplit_once('#') {
            Some((kind, _)) => kind.to_owned(),
            None => name,
        }
    }

    /// An abstract thread in the words of findings.
    #[must_use]
    pub fn thread_name(&self, thread: ThreadId) -> String {
        self.heap.thread_name(self.context.program, thread)
    }

    /// A few words for an abstract thread.
    #[must_use]
    pub fn describe_thread(&self, thread: ThreadId) -> String {
        self.heap.describe_thread(self.context.program, thread)
    }
}

/// Receives the events of the symbolic execution. Every method does nothing unless it is implemented. What a
/// listener is told of one context is told once; a context may belong to several threads, which are known at the end.
pub trait Listener {
    /// A variable of an object that threads may share is touched.
    fn access(&mut self, _access: &Access<'_>) {}

    /// An object that threads may share is allocated.
    fn allocation(&mut self, _allocation: Allocation) {}

    /// Threads are started or joined.
    fn thread_control(&mut self, _control: &ThreadControl<'_>) {}

    /// A variable that orders threads is written.
    fn publication(&mut self, _publication: Publication) {}

    /// A lock is taken.
    fn acquisition(&mut self, _acquisition: &Acquisition<'_>) {}

    /// A thread waits, or wakes another.
    fn signal(&mut self, _signal: &Signal<'_>) {}

    /// A method calls another.
    fn invocation(&mut self, _invocation: Invocation<'_>) {}

    /// The execution is over.
    fn finish(self: Box<Self>, execution: &ExecutionFacts<'_>) -> Outcome;
}

/// A kind of listener.
pub struct Client {
    /// Its name, as witnesses carry it.
    pub name: &'static str,
    /// The rules it reports.
    pub rules: &'static [&'static str],
    /// Whether it lists the accesses that could not be proven safe, where that is asked for.
    pub makes_watch_list: bool,
    /// Makes one.
    pub listen: for<'a> fn(&'a Context<'a>, &Heap) -> Box<dyn Listener + 'a>,
}
