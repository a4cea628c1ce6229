//! Who calls whom.
//!
//! Three algorithms, from fastest to most precise, all open-world unless entry points are given:
//! class hierarchy (every subtype of the static type may be the receiver), rapid types (only
//! classes that are instantiated), and variable types (only classes that flow to the receiver).
//! Lambdas and method references take part as objects of their functional interface; what is handed
//! to a library method is called from there, as the models and the summaries of the library say.
//!
//! Misses: reflective calls and native code, which are recorded as gaps, and callbacks of the library that
//! could mean very many methods.

mod callbacks;
mod cha;
mod rta;
mod vta;

use std::sync::Arc;

use classes::bytecode::InvokeKind;
use findings::{Gap, GapKind};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ClassId, Id, LambdaId, MethodId, TypedVec, ValueId};
use crate::ir::{Body, Call, DynamicTarget, Operation};
use crate::symbols::{Origin, Program};
use models::Effect;
use models::Pattern;

pub(crate) use cha::HierarchyTargets;

use callbacks::{Callbacks, TypesOf};

/// How the receivers of virtual calls are approximated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Class hierarchy analysis.
    ClassHierarchy,
    /// Rapid type analysis.
    RapidType,
    /// Variable type analysis.
    #[default]
    VariableType,
}

/// How a call graph is built.
#[derive(Clone, Debug, Default)]
pub struct CallGraphConfig {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// With patterns, only methods that match, and what they reach, are analysed, and nobody else
    /// is assumed to call in. Without, every method may be called from outside.
    pub entry_points: Vec<Pattern>,
}

/// How a call reaches its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// The arguments of the call are those of the target.
    Direct,
    /// The receiver is a lambda: what it captured comes first, then the arguments without the
    /// receiver.
    Lambda(LambdaId),
    /// The lambda is an argument of a library method that runs it; the target sees what it
    /// captured, and values that are not known here.
    Callback {
        /// The lambda.
        lambda: LambdaId,
        /// Its position among the arguments, the receiver being 0.
        argument: u16,
        /// Whether one call may run it more than once.
        repeatedly: bool,
    },
    /// A library method calls it, perhaps repeatedly, on an object that it was given; the other arguments are not
    /// known here.
    CalledBack {
        /// The position of that object among the arguments, the receiver being 0.
        argument: u16,
        /// Whether it is not the argument itself but something that the argument keeps.
        is_kept: bool,
    },
}

impl CallKind {
    /// Whether a library method calls the target, and not the call itself.
    #[must_use]
    pub fn is_by_library(self) -> bool {
        matches!(self, CallKind::Callback { .. } | CallKind::CalledBack { .. })
    }

    /// Whether one call may run the target more than once.
    #[must_use]
    pub fn may_be_repeated(self) -> bool {
        match self {
            CallKind::Direct | CallKind::Lambda(_) => false,
            CallKind::Callback { repeatedly, .. } => repeatedly,
            CallKind::CalledBack { .. } => true,
        }
    }
}

/// A method that a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The method.
    pub method: MethodId,
    /// How its arguments come about.
    pub call_kind: CallKind,
}

/// A call in a method's body, with everything it may run.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Bytecode offset of the call.
    pub offset: u32,
    /// What it may run, sorted; many sites share one list.
    pub targets: Arc<[Target]>,
}

/// The call graph.
#[derive(Debug)]
pub struct CallGraph {
    /// The call sites of each method, by offset.
    sites: TypedVec<MethodId, Vec<CallSite>>,
    /// The methods that may call each method, sorted.
    callers: TypedVec<MethodId, Vec<MethodId>>,
    reachable: Option<TypedVec<MethodId, bool>>,
    /// Calls that could not be followed.
    pub gaps: Vec<Gap>,
}

impl CallGraph {
    /// The call sites of a method.
    #[must_use]
    pub fn sites(&self, method: MethodId) -> &[CallSite] {
        &self.sites[method]
    }

    /// What the call at an offset may run; nothing when there is no call or no known target.
    #[must_use]
    pub fn targets(&self, method: MethodId, offset: u32) -> &[Target] {
        let sites = &self.sites[method];
        match sites.binary_search_by_key(&offset, |site| site.offset) {
            Ok(position) => &sites[position].targets,
            Err(_) => &[],
        }
    }

    /// The methods that a method may call, sorted.
    #[must_use]
    pub fn callees(&self, method: MethodId) -> Vec<MethodId> {
        let mut callees: Vec<MethodId> = self.sites[method]
            .iter()
            .flat_map(|site| site.targets.iter().map(|target| target.method))
            .collect();
        callees.sort_unstable();
        callees.dedup();
        callees
    }

    /// The methods that may call a method, sorted.
    #[must_use]
    pub fn callers(&self, method: MethodId) -> &[MethodId] {
        &self.callers[method]
    }

    /// Whether a method can run at all, as far as the entry points show.
    #[must_use]
    pub fn is_reachable(&self, method: MethodId) -> bool {
        self.reachable.as_ref().is_none_or(|reachable| reachable[method])
    }

    /// Number of edges from call sites to targets.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.sites.iter().flatten().map(|site| site.targets.len()).sum()
    }
}

/// Builds the call graph of all methods with bodies.
#[must_use]
pub fn build(program: &Program, config: &CallGraphConfig) -> CallGraph {
    let hierarchical = HierarchyTargets::new(program);
    let created = |body: &Body, value: ValueId| vta::created(body, value);
    let sites = match config.algorithm {
        Algorithm::ClassHierarchy => {
            sites_of_all(program, &hierarchical, &created, &|body, call| {
                hierarchical.receivers(program, body, call)
            })
        }
        Algorithm::RapidType => {
            let instantiated = rta::instantiated(program, &hierarchical, &config.entry_points);
            sites_of_all(program, &hierarchical, &created, &|body, call| {
                let targets = hierarchical.receivers(program, body, call);
                instantiated.keep(program, body, call, &targets)
            })
        }
        Algorithm::VariableType => {
            let types = vta::Types::solve(program, &hierarchical, &config.entry_points);
            let flowing =
                |body: &Body, value: ValueId| types.flowing(program, &hierarchical, body, value);
            sites_of_all(program, &hierarchical, &flowing, &|body, call| {
                types.targets(program, &hierarchical, body, call)
            })
        }
    };
    let mut callers: TypedVec<MethodId, Vec<MethodId>> =
        TypedVec::filled(Vec::new(), program.methods.len());
    for (caller, sites) in sites.iter_with_ids() {
        for target in sites.iter().flat_map(|site| site.targets.iter()) {
            if callers[target.method].last() != Some(&caller) {
                callers[target.method].push(caller);
            }
        }
    }
    let reachable = (!config.entry_points.is_empty())
        .then(|| reachable(program, &hierarchical, &sites, &config.entry_points));
    CallGraph { gaps: unfollowed_calls(program), sites, callers, reachable }
}

type Resolve<'a> = dyn Fn(&Body, &Call) -> Arc<[Target]> + Sync + 'a;

fn sites_of_all(
    program: &Program,
    hierarchical: &HierarchyTargets,
    types_of: &TypesOf<'_>,
    resolve: &Resolve<'_>,
) -> TypedVec<MethodId, Vec<CallSite>> {
    let callbacks = Callbacks::of(program);
    let sites: Vec<Vec<CallSite>> = (0..program.methods.len())
        .into_par_iter()
        .map(|method| {
            let method = MethodId::new(method);
            let Some(body) = program.body(method) else { return Vec::new() };
            let mut sites = Vec::new();
            for instruction in body.instructions() {
                let Operation::Call(call) = &instruction.operation else { continue };
                let mut targets = resolve(body, call);
                let called = callbacks.targets(program, hierarchical, types_of, body, call);
                if !called.is_empty() {
                    targets = targets.iter().copied().chain(called).collect();
                }
                if !targets.is_empty() {
                    sites.push(CallSite { offset: instruction.offset, targets });
                }
            }
            // A subroutine that was expanded has its calls more than once.
            sites.sort_by_key(|site| site.offset);
            sites.dedup_by(|copy, kept| {
                let same = copy.offset == kept.offset;
                if same && copy.targets != kept.targets {
                    let mut all = [&*kept.targets, &*copy.targets].concat();
                    all.sort_unstable();
                    all.dedup();
                    kept.targets = Arc::from(all);
                }
                same
            });
            sites
        })
        .collect();
    TypedVec::from(sites)
}

/// The lambda that a value is, when it is created in this very body.
#[must_use]
pub fn created_lambda(body: &Body, value: ValueId) -> Option<LambdaId> {
    let instruction = body.defining_instruction(body.without_casts(value))?;
    match &instruction.operation {
        Operation::DynamicCall(call) => match call.target {
            DynamicTarget::Lambda(lambda) => Some(lambda),
            DynamicTarget::StringConcatenation
            | DynamicTarget::RecordMethod
            | DynamicTarget::PatternSwitch
            | DynamicTarget::Unknown(_) => None,
        },
        _ => None,
    }
}

/// Methods of the application that match an entry point, or are reachable from one.
fn reachable(
    program: &Program,
    hierarchical: &HierarchyTargets,
    sites: &TypedVec<MethodId, Vec<CallSite>>,
    entry_points: &[Pattern],
) -> TypedVec<MethodId, bool> {
    let mut reachable = TypedVec::filled(false, program.methods.len());
    let mut seen = FxHashSet::default();
    let mut todo: Vec<MethodId> =
        program.methods.ids().filter(|method| is_entry(program, *method, entry_points)).collect();
    while let Some(method) = todo.pop() {
        if std::mem::replace(&mut reachable[method], true) {
            continue;
        }
        todo.extend(
            sites[method].iter().flat_map(|site| site.targets.iter().map(|target| target.method)),
        );
        if let Some(body) = program.body(method) {
            for instruction in body.instructions() {
                runs_besides(program, hierarchical, &instruction.operation, &mut seen, &mut todo);
            }
        }
    }
    reachable
}

/// The methods that may run because of an operation, beside the targets of a call: the body of a
/// lambda, class initialisers, and what the library calls on a created object by a type of its own.
/// `seen` remembers the classes that were created or initialised before.
pub(crate) fn runs_besides(
    program: &Program,
    hierarchical: &HierarchyTargets,
    operation: &Operation,
    seen: &mut FxHashSet<(ClassId, bool)>,
    found: &mut Vec<MethodId>,
) {
    let (class, is_created) = match operation {
        Operation::DynamicCall(call) => {
            if let DynamicTarget::Lambda(lambda) = call.target {
                let targets = hierarchical.lambda_targets(program, lambda);
                found.extend(targets.into_iter().map(|target| target.method));
            }
            return;
        }
        Operation::New(class) => (*class, true),
        Operation::GetStatic(field) | Operation::PutStatic { field, .. } => {
            (program.fields[*field].class, false)
        }
        Operation::Call(call) if call.kind == InvokeKind::Static => {
            (program.methods[call.method].class, false)
        }
        _ => return,
    };
    if !seen.insert((class, is_created)) {
        return;
    }
    let initialiser = program.selector("<clinit>", "()V");
    for supertype in program.hierarchy.supertypes(class) {
        found.extend(
            initialiser.and_then(|selector| program.hierarchy.declared(supertype, selector)),
        );
        if is_created && program.classes[supertype].origin != Origin::Application {
            let known_there = program.classes[supertype].methods.iter();
            found.extend(known_there.filter_map(|method| {
                program.hierarchy.dispatch(class, program.methods[*method].selector)
            }));
        }
    }
}

/// Whether a method matches one of the entry points; without any, whether code outside can call it.
pub(crate) fn is_entry(program: &Program, method: MethodId, entry_points: &[Pattern]) -> bool {
    if entry_points.is_empty() {
        return !program.methods[method].is_private();
    }
    let name =
        format!("{}.{}", program.class_of(method).dotted_name(), program.methods[method].name);
    entry_points.iter().any(|pattern| pattern.matches(&name))
}

/// Whether a library type declares the method too, so that library code may call it.
fn overrides_library(program: &Program, method: MethodId) -> bool {
    let declared = &program.methods[method];
    program.hierarchy.supertypes(declared.class).into_iter().skip(1).any(|class| {
        program.classes[class].origin != Origin::Application
            && program.hierarchy.declared(class, declared.selector).is_some()
    })
}

/// Whether a call has exactly one target, whatever the receiver.
pub(crate) fn is_statically_bound(program: &Program, call: &Call) -> bool {
    matches!(call.kind, InvokeKind::Static | InvokeKind::Special)
        || program.methods[call.method].is_private()
        || program.methods[call.method].is_static()
}

/// Calls that no algorithm can follow, counted by what they call.
fn unfollowed_calls(program: &Program) -> Vec<Gap> {
    let methods: Vec<MethodId> = program.methods_with_bodies().collect();
    let found: Vec<(GapKind, String)> = methods
        .par_iter()
        .filter(|method| program.is_application(**method))
        .flat_map_iter(|method| {
            let body = program.body(*method).into_iter();
            body.flat_map(Body::instructions).filter_map(|instruction| {
                match &instruction.operation {
                    Operation::Call(call) => {
                        program.effects_of(call.method).contains(&Effect::Reflective).then(|| {
                            let class = program.class_of(call.method).dotted_name();
                            let name = &program.methods[call.method].name;
                            (GapKind::Reflection, format!("{class}.{name}"))
                        })
                    }
                    Operation::DynamicCall(call) => match &call.target {
                        DynamicTarget::Unknown(name) => {
                            Some((GapKind::DynamicCall, name.to_string()))
                        }
                        DynamicTarget::Lambda(_)
                        | DynamicTarget::StringConcatenation
                        | DynamicTarget::RecordMethod
                        | DynamicTarget::PatternSwitch => None,
                    },
                    _ => None,
                }
            })
        })
        .collect();
    let mut counts: FxHashMap<(GapKind, String), u32> = FxHashMap::default();
    for key in found {
        *counts.entry(key).or_insert(0) += 1;
    }
    let mut gaps: Vec<Gap> = counts
        .into_iter()
        .map(|((kind, place), count)| Gap {
            kind,
            place,
            detail: "what is called here is decided at run time".to_string(),
            count,
        })
        .collect();
    gaps.sort();
    gaps
}
