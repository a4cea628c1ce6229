//! Names of abstract objects and threads, for people.

use program::Program;

use super::{Heap, ObjectId, ThreadId};

impl Heap {
    /// A name for an abstract object that tells people which one is meant: its class, or how it is reached.
    #[must_use]
    pub fn describe(&self, program: &Program, object: ObjectId) -> String {
        let object = &self.objects[object];
        match object.classes.first() {
            Some(class) => program.classes[*class].dotted_name(),
            None => format!("{:?}", object.roots),
        }
    }

    /// A few words for an abstract thread.
    #[must_use]
    pub fn describe_thread(&self, program: &Program, thread: ThreadId) -> String {
        let thread = &self.threads[thread];
        let entry = thread.entries.first().map(|entry| program.method_label(*entry));
        format!("{} {}", thread.kind.label(), entry.unwrap_or_default())
    }
}
