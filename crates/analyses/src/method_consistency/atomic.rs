//! Which methods are meant to be atomic: as the patterns say, else as the annotations say, else as it is by default.

use classes::{Annotation, access};
use program::MethodId;
use program::models::EntryThread;
use rustc_hash::FxHashSet;

use crate::Context;
use crate::heap::{Heap, ThreadKind};

/// The atomicity specification, applied to the methods of a program.
pub(super) struct Atomicity<'a> {
    context: &'a Context<'a>,
    /// The bodies of threads and tasks.
    bodies: FxHashSet<MethodId>,
}

impl<'a> Atomicity<'a> {
    /// The specification of the user, for a program with these threads.
    pub(super) fn of(context: &'a Context<'a>, heap: &Heap) -> Atomicity<'a> {
        let threads = heap.threads.iter().filter(|thread| is_made_of_bodies(thread.kind));
        let bodies = threads.flat_map(|thread| thread.entries.iter().copied()).collect();
        Atomicity { context, bodies }
    }

    /// Whether a method is meant to be all-or-nothing.
    pub(super) fn covers(&self, method: MethodId) -> bool {
        let program = self.context.program;
        let declared = &program.methods[method];
        let is_compiler_made = declared.access & (access::BRIDGE | access::SYNTHETIC) != 0;
        if declared.is_initializer() || is_compiler_made || !program.is_application(method) {
            return false;
        }
        let spec = &self.context.config.atomic;
        let name = format!("{}.{}", program.class_of(method).dotted_name(), declared.name);
        if spec.exclude.iter().any(|pattern| pattern.matches(&name)) {
            return false;
        }
        let is_body = self.bodies.contains(&method);
        if let Some(pattern) = spec.include.iter().find(|pattern| pattern.matches(&name)) {
            // Whoever includes a class means its methods as far as they can be meant.
            let names_class = pattern.matches(&program.class_of(method).dotted_name());
            return !(is_body && names_class);
        }
        let of_class = annotated(program.annotations_of_class(declared.class));
        let of_method = annotated(program.annotations_of_method(method));
        match of_method.or(of_class.filter(|says| !says)) {
            Some(says) => says,
            None if !spec.include.is_empty() || is_body => false,
            None => !declared.is_private() || declared.is_synchronized(),
        }
    }
}

/// Whether the first methods of such threads are bodies of threads and tasks, which go on by design while others work.
/// What serves a request, or what a client may call at any time, is not.
fn is_made_of_bodies(kind: ThreadKind) -> bool {
    match kind {
        ThreadKind::Main | ThreadKind::Run | ThreadKind::Init => true,
        ThreadKind::Client | ThreadKind::Public => false,
        ThreadKind::Entry(thread) => match thread {
            EntryThread::Request | EntryThread::Container => false,
            EntryThread::Main
            | EntryThread::Own
            | EntryThread::Pool
            | EntryThread::EventDispatch
            | EntryThread::Timer
            | EntryThread::Test
            | EntryThread::Coroutine
            | EntryThread::System
            | EntryThread::ClassInitialization => true,
        },
    }
}

/// What `@Atomic` and `@NotAtomic`, known by their simple names, say.
fn annotated(annotations: &[Annotation]) -> Option<bool> {
    annotations.iter().find_map(|annotation| match annotation.simple_name() {
        "Atomic" => Some(true),
        "NotAtomic" => Some(false),
        _ => None,
    })
}
