//! What library methods without a model do with the references that they are given, read from their code.
//!
//! On demand: only the methods that the application calls are summarised, with what they call themselves, up to a
//! depth. The classes of a JDK that this takes are linked to a program of their own, which is dropped again, so that
//! the rules never see its bodies. What is left of each method is a row in the words of the models: what keeps what,
//! what the result is, what gets into static fields or other threads; and which methods of the application it calls
//! back.
//!
//! What is approximate.
//! 1. Callers know what a callee does up to a distance from its parameters and result, and a row of the models has
//!    one variable for an object: what it keeps.
//! 2. Calls beyond the depth, native methods and abstract methods without an implementation among the classes that were
//!    read do what any unknown call does: the receiver keeps the arguments, and the result is something that it
//!    keeps. So do calls with very many targets, beside what the method that is named does itself.
//! 3. Accesses, locks and happens-before edges inside the library are not summarised. Library objects that
//!    are not made for threads are described by the models; what the others do inside does not matter.
//! 4. Calls of the methods of `Object` on what the application hands in (`hashCode`, `equals`, `toString`) are left
//!    out: nearly everything would be called from nearly everywhere.

#[cfg(test)]
mod against_models;
mod collect;
mod describe;
mod flow;
mod rows;

use classes::JdkImage;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callgraph::{self, Algorithm, CallGraphConfig};
use crate::ids::{ClassId, MethodId};
use crate::references::Immutables;
use crate::symbols::{Link, Method, Origin, Program};
use crate::{ir, summaries};
use models::{Effect, Operand};

/// How often the methods of a recursion are gone through.
const MOST_ROUNDS: usize = 3;

/// What the code of a library method says that it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DerivedSummary {
    /// In the words of the models.
    pub(crate) effects: Vec<Effect>,
    /// The methods of the application that it calls.
    pub(crate) calls: Vec<CallBack>,
}

/// A call of something that the application handed to the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallBack {
    /// The receiver or argument that the object was handed in by.
    pub(crate) on: Operand,
    /// Whether the object is one that the operand keeps, rather than the operand itself.
    pub(crate) is_kept: bool,
    /// What is called.
    pub(crate) called: Called,
}

/// What the library calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Called {
    /// A method that the library declares and the application overrides.
    Method(MethodId),
    /// Perhaps any method of this type.
    Any(ClassId),
}

/// What of the library the application extends: only there can the library call back. In a program of library classes.
struct ExtensionPoints {
    methods: FxHashSet<MethodId>,
    types: FxHashSet<ClassId>,
}

/// Summarises the library methods that the application calls and that no model knows.
pub(crate) fn derive(
    program: &Program,
    jdk: Option<&JdkImage>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> FxHashMap<MethodId, DerivedSummary> {
    let mut wanted = called(program);
    wanted.retain(|method| !program.is_known(*method) && !program.methods[*method].is_abstract());
    summarise(program, jdk, &wanted, cancelled)
}

/// Summarises library methods.
fn summarise(
    program: &Program,
    jdk: Option<&JdkImage>,
    wanted: &[MethodId],
    cancelled: &(dyn Fn() -> bool + Sync),
) -> FxHashMap<MethodId, DerivedSummary> {
    let collected = collect::collect(program, jdk, wanted, cancelled);
    let library = collected.link(program.models());
    let methods: Vec<MethodId> = collected
        .bodies
        .iter()
        .filter_map(|(class, position)| {
            let class = library.class_named(class)?;
            library.classes[class].methods.get(*position).copied()
        })
        .collect();
    methods.par_iter().filter(|_| !cancelled()).for_each(|method| {
        // A body that cannot be lowered is unknown, and so is the effect of calling it.
        if let Ok(Some(body)) = ir::lower(&library, *method) {
            let _ = library.bodies[*method].set(body);
        }
    });
    let config =
        CallGraphConfig { algorithm: Algorithm::ClassHierarchy, ..CallGraphConfig::default() };
    let graph = callgraph::build(&library, &config);
    let immutables = Immutables::of(&library);
    let extension_points = extension_points(program, &library);
    let inputs = flow::SummaryInputs {
        program: &library,
        graph: &graph,
        immutables: &immutables,
        extension_points: &extension_points,
    };
    let known =
        summaries::solve_in_rounds(&graph, library.methods.len(), MOST_ROUNDS, |method, known| {
            match library.body(method) {
                Some(body) if !cancelled() => flow::summary(inputs, body, known),
                _ => flow::Summary::default(),
            }
        });
    let translate = |called: Called| match called {
        Called::Method(method) => counterpart(&library, program, method).map(Called::Method),
        Called::Any(class) => program.class_named(&library.classes[class].name).map(Called::Any),
    };
    let rows = wanted.par_iter().filter_map(|method| {
        let there = counterpart(program, &library, *method)?;
        let mut derived = rows::row(&library, &known, there)?;
        derived.calls = derived
            .calls
            .into_iter()
            .filter_map(|call| Some(CallBack { called: translate(call.called)?, ..call }))
            .collect();
        Some((*method, derived))
    });
    rows.collect()
}

/// The library methods that the application names.
fn called(program: &Program) -> Vec<MethodId> {
    let mut called: Vec<MethodId> = program
        .classes
        .iter()
        .filter(|class| class.origin == Origin::Application)
        .flat_map(|class| &class.links)
        .filter_map(|link| match link {
            Link::Method(_, method) => Some(*method),
            Link::None | Link::Class(_) | Link::Field(_) | Link::Lambda(_) => None,
        })
        .filter(|method| program.class_of(*method).origin == Origin::Library)
        .collect();
    called.sort_unstable();
    called.dedup();
    called
}

/// A method of one program in another.
fn counterpart(from: &Program, to: &Program, method: MethodId) -> Option<MethodId> {
    let Method { name, descriptor, .. } = &from.methods[method];
    to.method_named(&from.class_of(method).name, name, descriptor)
}

/// The methods and types of the library that the application implements or extends.
fn extension_points(program: &Program, library: &Program) -> ExtensionPoints {
    let mut extension_points =
        ExtensionPoints { methods: FxHashSet::default(), types: FxHashSet::default() };
    let classes = program.classes.iter_with_ids();
    let own = classes.filter(|(_, class)| class.origin == Origin::Application);
    let mut extended: Vec<(ClassId, Vec<MethodId>)> =
        own.map(|(id, class)| (id, class.methods.clone())).collect();
    extended.extend(program.lambdas.iter().map(|lambda| (lambda.interface, Vec::new())));
    for (class, overriding) in extended {
        for supertype in program.hierarchy.supertypes(class) {
            let declared = &program.classes[supertype];
            if declared.origin != Origin::Library
                || program.hierarchy.superclass(supertype).is_none()
            {
                continue;
            }
            let Some(there) = library.class_named(&declared.name) else { continue };
            extension_points.types.insert(there);
            let selectors = overriding.iter().map(|method| &program.methods[*method]);
            for Method { name, descriptor, .. } in selectors.filter(|it| !it.is_initializer()) {
                extension_points.methods.extend(library.method_named(
                    &declared.name,
                    name,
                    descriptor,
                ));
            }
        }
    }
    for lambda in program.lambdas.iter() {
        for supertype in program.hierarchy.supertypes(lambda.interface) {
            if let Some(declared) = program.hierarchy.declared(supertype, lambda.selector) {
                extension_points.methods.extend(counterpart(program, library, declared));
            }
        }
    }
    extension_points
}
