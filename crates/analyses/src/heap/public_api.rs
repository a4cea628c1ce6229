//! The classes that code outside the program calls, where nothing in the program does: the public classes of a library,
//! and the components of containers.
//!
//! A class is entered by many threads if it says that it is meant for them: it takes locks, has volatile fields, keeps
//! objects that are made for threads, is annotated `@ThreadSafe`, or is a component. One that only starts
//! threads, or is the body of one, is entered by one thread beside those. Other classes of a library say nothing
//! about threads, and whoever shares their objects must see to it.
//!
//! Misses classes that rely on the locks of their callers, and says nothing of classes that some thread of the program
//! gets to: what is known there is better.

use std::collections::{BTreeMap, BTreeSet};

use classes::access;
use program::ids::{ClassId, Id, MethodId, TypedVec};
use program::ir::Operation;
use program::models::{ClassProperty, Effect, language};
use program::{Components, Origin, Program, threads};

/// Why callers of a class are taken for threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeantForThreads {
    /// It is the body of a thread or task, and can be called besides.
    IsTask,
    /// It starts threads, or hands out tasks.
    StartsThreads,
    /// It keeps objects that are made for threads.
    KeepsConcurrentObjects,
    /// It has volatile fields.
    HasVolatileFields,
    /// It takes locks.
    TakesLocks,
    /// It is annotated `@ThreadSafe`.
    SaysThreadSafe,
    /// A container makes one object for everybody.
    IsComponent,
}

impl MeantForThreads {
    /// Whether many threads call it at a time, and not one beside those that it starts.
    #[must_use]
    pub fn is_for_many(self) -> bool {
        self > MeantForThreads::StartsThreads
    }

    /// What such classes do, after their number.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            MeantForThreads::IsTask => "run by threads",
            MeantForThreads::StartsThreads => "starting threads",
            MeantForThreads::KeepsConcurrentObjects => "with concurrent objects",
            MeantForThreads::HasVolatileFields => "with volatile fields",
            MeantForThreads::TakesLocks => "with locks",
            MeantForThreads::SaysThreadSafe => "annotated `@ThreadSafe`",
            MeantForThreads::IsComponent => "shared by containers",
        }
    }
}

/// The classes that are entered, with the reason.
pub(super) type EnteredClasses = BTreeMap<ClassId, MeantForThreads>;

/// The classes that are entered from outside, given what threads of the program get to.
pub(super) fn entered_classes(
    program: &Program,
    components: &Components,
    wired: &BTreeSet<ClassId>,
    is_reached: &TypedVec<MethodId, bool>,
) -> EnteredClasses {
    let says = classes_that_say(program);
    let mut entered = EnteredClasses::new();
    for (class, declared) in program.classes.iter_with_ids() {
        if declared.origin != Origin::Application || !declared.is_concrete() {
            continue;
        }
        let is_component = components.annotation(class).is_some() && !wired.contains(&class);
        let is_seen = declared.methods.iter().any(|method| {
            let declared = &program.methods[*method];
            is_reached[*method] && !declared.is_initializer() && !is_main(declared)
        });
        let is_left_out = is_seen || is_exempt(program, class);
        if is_component && !is_left_out {
            entered.insert(class, MeantForThreads::IsComponent);
        } else if declared.access & access::PUBLIC != 0
            && !is_left_out
            && !is_internal(&declared.name)
        {
            let superclasses = program.hierarchy.superclasses(class);
            let reason = superclasses.filter_map(|class| says[class]).max();
            entered.extend(reason.map(|reason| (class, reason)));
        }
    }
    entered
}

/// What callers of a class can call: its public methods, and those that it inherits.
pub(super) fn callable_methods(program: &Program, class: ClassId) -> Vec<MethodId> {
    let mut methods: BTreeMap<_, MethodId> = BTreeMap::new();
    for class in program.hierarchy.superclasses(class) {
        for method in &program.classes[class].methods {
            let declared = &program.methods[*method];
            if is_callable(program, *method) {
                methods.entry(declared.selector).or_insert(*method);
            }
        }
    }
    let mut methods: Vec<MethodId> = methods.into_values().collect();
    methods.sort_unstable();
    methods
}

fn is_callable(program: &Program, method: MethodId) -> bool {
    let declared = &program.methods[method];
    declared.access & access::PUBLIC != 0
        && declared.access & (access::SYNTHETIC | access::BRIDGE) == 0
        && !declared.is_initializer()
        && !is_main(declared)
        && program.is_application(method)
        && program.body(method).is_some()
}

fn is_main(method: &program::Method) -> bool {
    method.is_static() && &*method.name == "main"
}

/// Whether a class is public for other packages of its library alone, as the name of its package says.
fn is_internal(class: &str) -> bool {
    let packages = class.rsplit_once('/').map_or("", |(packages, _)| packages);
    packages.split('/').any(|package| matches!(package, "internal" | "impl" | "shaded"))
}

/// Whether a class says that it is not for threads, or is of a kind that threads do not share.
fn is_exempt(program: &Program, class: ClassId) -> bool {
    let annotations = program.annotations_of_class(class);
    let is_said =
        annotations.iter().any(|it| matches!(it.simple_name(), "NotThreadSafe" | "ThreadConfined"));
    let throwable = program.class_named(language::THROWABLE);
    is_said || throwable.is_some_and(|it| program.hierarchy.is_subtype(class, it))
}

/// What each class says itself.
fn classes_that_say(program: &Program) -> TypedVec<ClassId, Option<MeantForThreads>> {
    let mut says: TypedVec<ClassId, Option<MeantForThreads>> =
        TypedVec::filled(None, program.classes.len());
    for (class, declared) in program.classes.iter_with_ids() {
        if declared.origin == Origin::Application {
            says[class] = by_declarations(program, class);
        }
    }
    for method in program.methods_with_bodies().filter(|method| program.is_application(*method)) {
        let class = program.methods[method].class;
        if let Some(reason) = by_code(program, method) {
            says[class] = says[class].max(Some(reason));
        }
    }
    says
}

fn by_declarations(program: &Program, class: ClassId) -> Option<MeantForThreads> {
    let declared = &program.classes[class];
    let annotations = program.annotations_of_class(class);
    if annotations.iter().any(|it| it.simple_name() == "ThreadSafe") {
        return Some(MeantForThreads::SaysThreadSafe);
    }
    if declared.methods.iter().any(|method| program.methods[*method].is_synchronized()) {
        return Some(MeantForThreads::TakesLocks);
    }
    let fields = || declared.fields.iter().map(|field| (*field, &program.fields[*field]));
    if fields().any(|(_, field)| field.access & access::VOLATILE != 0) {
        return Some(MeantForThreads::HasVolatileFields);
    }
    let is_for_threads = |class: ClassId| {
        program.models().is(&program.classes[class].name, ClassProperty::MeantForThreads)
    };
    // What a class keeps for all of its objects says nothing of a single one.
    let keeps = |(field, declared): (program::FieldId, &program::Field)| {
        !declared.is_static() && program.class_of_field(field).is_some_and(is_for_threads)
    };
    if fields().any(keeps) {
        return Some(MeantForThreads::KeepsConcurrentObjects);
    }
    // The closures of other languages are tasks as well, and nobody but their runtime calls them.
    let mut above = program.hierarchy.superclasses(class);
    let library = above.find(|class| program.classes[*class].origin != Origin::Application);
    let is_plain = library.is_some_and(|class| {
        matches!(&*program.classes[class].name, language::OBJECT | language::THREAD)
    });
    let is_task = is_plain && !threads::task_methods_of(program, class).is_empty();
    is_task.then_some(MeantForThreads::IsTask)
}

fn by_code(program: &Program, method: MethodId) -> Option<MeantForThreads> {
    let body = program.body(method)?;
    let mut reason = None;
    for instruction in body.instructions() {
        match &instruction.operation {
            // The lock of what was passed in belongs to others.
            Operation::MonitorEnter(value)
                if !program.methods[method].is_static() && is_own_lock(program, body, *value) =>
            {
                return Some(MeantForThreads::TakesLocks);
            }
            Operation::Call(call) => {
                let starts = program
                    .effects_of(call.method)
                    .iter()
                    .any(|effect| matches!(effect, Effect::Fork { .. } | Effect::Submit { .. }));
                if starts {
                    reason = reason.max(Some(MeantForThreads::StartsThreads));
                }
            }
            _ => {}
        }
    }
    reason
}

/// Whether a lock is the object itself, or what a field of it refers to.
fn is_own_lock(program: &Program, body: &program::ir::Body, value: program::ValueId) -> bool {
    if body.is_receiver(program, value) {
        return true;
    }
    let value = body.without_casts(value);
    match body.defining_instruction(value).map(|it| &it.operation) {
        Some(Operation::GetField { object, .. }) => body.is_receiver(program, *object),
        _ => false,
    }
}

/// The classes among the application's whose code takes locks or has volatile fields, and of which no method is known
/// to be run by any thread.
pub(super) fn unreached_classes(
    program: &Program,
    is_reached: &TypedVec<MethodId, bool>,
) -> Vec<ClassId> {
    let says = classes_that_say(program);
    let mut found: Vec<ClassId> = Vec::new();
    for (class, declared) in program.classes.iter_with_ids() {
        let has_code = || {
            let mut methods = declared.methods.iter();
            methods.any(|method| program.body(*method).is_some())
        };
        let is_seen = || declared.methods.iter().any(|method| is_reached[*method]);
        let says = says[class].is_some_and(MeantForThreads::is_for_many);
        if says && declared.origin == Origin::Application && has_code() && !is_seen() {
            found.push(class);
        }
    }
    found.sort_by_key(|class| class.index());
    found
}
