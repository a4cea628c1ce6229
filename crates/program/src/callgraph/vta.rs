//! Variable type analysis (Sundaresan and others): a receiver is of a class that flows to it.
//!
//! Nodes are parameters, results and fields; within a body SSA values are followed back to where
//! they come from, so locals need no nodes. All array elements share one node. A set of types that
//! grows beyond a bound, or is fed by code that is not analysed, becomes *unknown*, and calls on it
//! fall back to the class hierarchy: among the application's classes every subtype, of the
//! library's only the method that the call names. A library class, or one of very many lambdas,
//! counts as receiver only where it is seen to flow, since there are too many to assume all.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::cha::receiver_type;
use super::{CallKind, HierarchyTargets, Target, created_lambda, is_entry, is_statically_bound};
use crate::components;
use crate::ids::{ClassId, FieldId, LambdaId, MethodId, ValueId};
use crate::ir::{Body, Call, DeclaredType, Definition, DynamicTarget, Operation, Terminator};
use crate::symbols::{Origin, Program};
use models::Effect;
use models::Pattern;

/// Where an interface has at most this many lambdas, each may be the receiver of an unknown call.
const FEW_LAMBDAS: usize = 16;

/// More types than this in one place say nothing about the receiver.
const MOST_TYPES: usize = 32;
/// Phis and casts are followed back through at most this many values.
const MOST_ORIGINS: usize = 64;

/// Calls whose results are receivers of calls are followed this deep: `a.b().c().d()`.
const MOST_CALLS: usize = 3;

/// A type that can flow: a class, or a lambda.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FlowingType {
    Class(ClassId),
    Lambda(LambdaId),
}

/// The types that reach a node; `None` stands for unknown.
type TypeSet = Option<Vec<FlowingType>>;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    Parameter(MethodId, u16),
    Result(MethodId),
    Field(FieldId),
    Elements,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Source {
    Known(FlowingType),
    Node(Node),
    Unknown,
}

/// The solved types of all nodes.
pub(super) struct Types {
    sets: FxHashMap<Node, TypeSet>,
}

impl Types {
    pub(super) fn solve(
        program: &Program,
        hierarchical: &HierarchyTargets,
        entry_points: &[Pattern],
    ) -> Types {
        let methods: Vec<MethodId> = program.methods_with_bodies().collect();
        let flows: Vec<(Source, Node)> = methods
            .par_iter()
            .flat_map_iter(|method| flows_of(program, hierarchical, *method, entry_points))
            .collect();
        let injected = components::injected_fields(program).into_iter();
        let flows = flows.into_iter().chain(injected.map(|it| (Source::Unknown, Node::Field(it))));
        let mut sets: FxHashMap<Node, TypeSet> = FxHashMap::default();
        let mut edges: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
        let mut todo: FxHashSet<Node> = FxHashSet::default();
        for (source, to) in flows {
            let set = sets.entry(to).or_insert_with(|| Some(Vec::new()));
            let grew = match source {
                Source::Known(flowing) => add(set, &Some(vec![flowing])),
                Source::Unknown => add(set, &None),
                Source::Node(from) => {
                    edges.entry(from).or_default().push(to);
                    false
                }
            };
            if grew {
                todo.insert(to);
            }
        }
        // A node that nothing flows into has no types: code that reads it never runs with a value.
        let mut wave: Vec<Node> = todo.into_iter().collect();
        while !wave.is_empty() {
            wave.sort_unstable();
            let mut next: FxHashSet<Node> = FxHashSet::default();
            for from in wave {
                let Some(targets) = edges.get(&from) else { continue };
                let set = sets.get(&from).cloned().unwrap_or(Some(Vec::new()));
                for to in targets {
                    if add(sets.entry(*to).or_insert_with(|| Some(Vec::new())), &set) {
                        next.insert(*to);
                    }
                }
            }
            wave = next.into_iter().collect();
        }
        Types { sets }
    }

    /// What a call may run, given the types that flow to its receiver.
    pub(super) fn targets(
        &self,
        program: &Program,
        hierarchical: &HierarchyTargets,
        body: &Body,
        call: &Call,
    ) -> Arc<[Target]> {
        self.targets_bounded(program, hierarchical, body, call, MOST_CALLS)
    }

    fn targets_bounded(
        &self,
        program: &Program,
        hierarchical: &HierarchyTargets,
        body: &Body,
        call: &Call,
        depth: usize,
    ) -> Arc<[Target]> {
        let by_hierarchy = hierarchical.receivers(program, body, call);
        if by_hierarchy.len() < 2 || is_statically_bound(program, call) {
            return by_hierarchy;
        }
        let Some(receiver) = call.arguments.first() else { return by_hierarchy };
        match self.types_of(program, hierarchical, body, *receiver, depth) {
            Some(types) => {
                let targets = dispatch_all(program, hierarchical, body, call, &types);
                // Nothing flows here as far as we can see: the call is dead, or we missed how.
                if targets.is_empty() {
                    visible(program, body.method, call, &by_hierarchy)
                } else {
                    targets
                }
            }
            None => visible(program, body.method, call, &by_hierarchy),
        }
    }

    /// The types that flow to a value; none if that is not known.
    pub(super) fn flowing(
        &self,
        program: &Program,
        hierarchical: &HierarchyTargets,
        body: &Body,
        value: ValueId,
    ) -> TypeSet {
        let types = self.types_of(program, hierarchical, body, value, MOST_CALLS)?;
        // Nothing flows here as far as we can see: we missed how.
        (!types.is_empty()).then_some(types)
    }

    fn types_of(
        &self,
        program: &Program,
        hierarchical: &HierarchyTargets,
        body: &Body,
        value: ValueId,
        depth: usize,
    ) -> TypeSet {
        let mut types: TypeSet = Some(Vec::new());
        // While solving, calls were taken to run whatever the hierarchy allows. Now that the types
        // are known, the calls a value comes from can be followed by them, a few levels deep.
        let resolve = |call: &Call| match depth.checked_sub(1) {
            Some(depth) => self.targets_bounded(program, hierarchical, body, call, depth),
            None => hierarchical.receivers(program, body, call),
        };
        for source in sources(program, &resolve, body, value) {
            match source {
                Source::Known(flowing) => add(&mut types, &Some(vec![flowing])),
                Source::Unknown => return None,
                Source::Node(node) => match self.sets.get(&node) {
                    Some(set) => add(&mut types, set),
                    None => false,
                },
            };
        }
        types
    }
}

/// The type of a value that is created in the same body; none for others.
pub(super) fn created(body: &Body, value: ValueId) -> TypeSet {
    if let Some(lambda) = created_lambda(body, value) {
        return Some(vec![FlowingType::Lambda(lambda)]);
    }
    match body.defining_instruction(body.without_casts(value))?.operation {
        Operation::New(class) => Some(vec![FlowingType::Class(class)]),
        _ => None,
    }
}

/// Adds types to a set; says whether it grew.
fn add(set: &mut TypeSet, from: &TypeSet) -> bool {
    let Some(known) = set else { return false };
    let Some(from) = from else {
        *set = None;
        return true;
    };
    let before = known.len();
    for flowing in from {
        if let Err(position) = known.binary_search(flowing) {
            known.insert(position, *flowing);
        }
    }
    if known.len() > MOST_TYPES {
        *set = None;
        return true;
    }
    known.len() != before
}

/// Of the targets by hierarchy, those that are assumed without seeing a type flow: methods of the
/// application, the method that the call names, and lambdas of the same source file or, where an
/// interface has only a few lambdas, all of them.
fn visible(
    program: &Program,
    caller: MethodId,
    call: &Call,
    by_hierarchy: &Arc<[Target]>,
) -> Arc<[Target]> {
    let lambdas = by_hierarchy.iter().filter(|target| target.call_kind != CallKind::Direct).count();
    let is_visible = |target: &Target| match target.call_kind {
        CallKind::Lambda(lambda) => {
            let host = &program.classes[program.lambdas[lambda].host].name;
            lambdas <= FEW_LAMBDAS || outermost(host) == outermost(&program.class_of(caller).name)
        }
        CallKind::Direct | CallKind::Callback { .. } | CallKind::CalledBack { .. } => {
            target.method == call.method || program.is_application(target.method)
        }
    };
    if by_hierarchy.iter().all(is_visible) {
        return by_hierarchy.clone();
    }
    let mut kept: Vec<Target> = by_hierarchy.iter().copied().filter(is_visible).collect();
    if kept.is_empty() {
        kept.push(Target { method: call.method, call_kind: CallKind::Direct });
    }
    Arc::from(kept)
}

/// The name of the top-level class that a class is nested in.
fn outermost(class: &str) -> &str {
    let package = class.rfind('/').map_or(0, |at| at + 1);
    class[package..].find('$').filter(|at| *at > 0).map_or(class, |at| &class[..package + at])
}

fn dispatch_all(
    program: &Program,
    hierarchical: &HierarchyTargets,
    body: &Body,
    call: &Call,
    types: &[FlowingType],
) -> Arc<[Target]> {
    let DeclaredType::Class(declared) = receiver_type(program, body, call) else {
        return hierarchical.single_target(call.method);
    };
    let selector = program.methods[call.method].selector;
    let mut targets = Vec::new();
    for flowing in types {
        match flowing {
            FlowingType::Class(class) => {
                if program.hierarchy.is_subtype(*class, declared) {
                    let found = program.hierarchy.dispatch(*class, selector);
                    targets
                        .extend(found.map(|method| Target { method, call_kind: CallKind::Direct }));
                }
            }
            FlowingType::Lambda(lambda) => {
                let known = &program.lambdas[*lambda];
                if known.selector == selector
                    && program.hierarchy.is_subtype(known.interface, declared)
                {
                    targets.extend(hierarchical.lambda_targets(program, *lambda));
                }
            }
        }
    }
    targets.sort_unstable();
    targets.dedup();
    if let [Target { method, call_kind: CallKind::Direct }] = targets.as_slice() {
        return hierarchical.single_target(*method);
    }
    Arc::from(targets)
}

/// Everything that flows from one body to nodes.
fn flows_of(
    program: &Program,
    hierarchical: &HierarchyTargets,
    method: MethodId,
    entry_points: &[Pattern],
) -> Vec<(Source, Node)> {
    let Some(body) = program.body(method) else { return Vec::new() };
    let mut flows = Vec::new();
    let by_hierarchy = |call: &Call| hierarchical.receivers(program, body, call);
    let from = |value: ValueId| sources(program, &by_hierarchy, body, value);
    if is_entry(program, method, entry_points) || super::overrides_library(program, method) {
        for number in 0..body.parameters.len() {
            flows.push((Source::Unknown, Node::Parameter(method, number as u16)));
        }
    }
    let is_reference = |descriptor: &str| descriptor.starts_with(['L', '[']);
    for block in body.blocks.iter() {
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::PutField { field, value, .. }
                | Operation::PutStatic { field, value }
                    if is_reference(&program.fields[*field].descriptor) =>
                {
                    let to = Node::Field(*field);
                    flows.extend(from(*value).into_iter().map(|source| (source, to)));
                }
                Operation::ArrayStore { value, .. } => {
                    let sources = from(*value).into_iter();
                    flows.extend(sources.map(|source| (source, Node::Elements)));
                }
                Operation::Call(call) => {
                    let targets = hierarchical.receivers(program, body, call);
                    // Private and final targets only: parameters of methods that others can call
                    // are unknown anyway.
                    for target in targets.iter() {
                        let open = is_entry(program, target.method, entry_points);
                        if open || program.body(target.method).is_none() {
                            continue;
                        }
                        if target.call_kind == CallKind::Direct {
                            for (number, argument) in call.arguments.iter().enumerate() {
                                let to = Node::Parameter(target.method, number as u16);
                                let sources = from(*argument).into_iter();
                                flows.extend(sources.map(|source| (source, to)));
                            }
                        } else {
                            unknown_parameters(program, target.method, &mut flows);
                        }
                    }
                }
                Operation::DynamicCall(call) => {
                    if let DynamicTarget::Lambda(lambda) = call.target {
                        let known = &program.lambdas[lambda];
                        // What is dispatched to may be handed anything by whoever calls the lambda.
                        for target in hierarchical.lambda_targets(program, lambda) {
                            if target.method != known.implementation {
                                unknown_parameters(program, target.method, &mut flows);
                            }
                        }
                        let count = program
                            .body(known.implementation)
                            .map_or(0, |body| body.parameters.len());
                        for number in 0..count {
                            let to = Node::Parameter(known.implementation, number as u16);
                            match call.arguments.get(number) {
                                Some(captured) => {
                                    let sources = from(*captured).into_iter();
                                    flows.extend(sources.map(|source| (source, to)));
                                }
                                None => flows.push((Source::Unknown, to)),
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        if let Terminator::Return(Some(value)) = &block.terminator {
            let to = Node::Result(method);
            flows.extend(from(*value).into_iter().map(|source| (source, to)));
        }
    }
    flows.sort_unstable();
    flows.dedup();
    flows
}

fn unknown_parameters(program: &Program, method: MethodId, flows: &mut Vec<(Source, Node)>) {
    let count = program.body(method).map_or(0, |body| body.parameters.len());
    for number in 0..count {
        flows.push((Source::Unknown, Node::Parameter(method, number as u16)));
    }
}

/// Where a value comes from, through phis and casts; `resolve` says what the calls among its origins
/// may run.
fn sources(
    program: &Program,
    resolve: &dyn Fn(&Call) -> Arc<[Target]>,
    body: &Body,
    value: ValueId,
) -> Vec<Source> {
    let mut found = Vec::new();
    let mut seen = vec![value];
    let mut next = 0;
    while next < seen.len() {
        if seen.len() > MOST_ORIGINS {
            return vec![Source::Unknown];
        }
        let value = seen[next];
        next += 1;
        match body.definitions[value] {
            Definition::Parameter(0) if !program.methods[body.method].is_static() => {
                found.push(Source::Unknown);
            }
            Definition::Parameter(number) => {
                found.push(Source::Node(Node::Parameter(body.method, number)));
            }
            Definition::Caught(_) | Definition::Removed => found.push(Source::Unknown),
            Definition::Phi(block) => {
                let phis = &body.blocks[block].phis;
                let inputs = phis.iter().find(|phi| phi.result == value);
                for input in inputs.into_iter().flat_map(|phi| phi.inputs.iter().flatten()) {
                    if !seen.contains(input) {
                        seen.push(*input);
                    }
                }
            }
            Definition::Instruction(..) => {
                let Some(instruction) = body.defining_instruction(value) else { continue };
                match &instruction.operation {
                    Operation::Cast { value, .. } if !seen.contains(value) => {
                        seen.push(*value);
                    }
                    Operation::New(class) => found.push(Source::Known(FlowingType::Class(*class))),
                    Operation::GetField { field, .. } | Operation::GetStatic(field) => {
                        let declared = program.fields[*field].class;
                        if program.classes[declared].origin == Origin::Application {
                            found.push(Source::Node(Node::Field(*field)));
                        } else {
                            found.push(Source::Unknown);
                        }
                    }
                    Operation::ArrayLoad { .. } => found.push(Source::Node(Node::Elements)),
                    Operation::DynamicCall(_) => match created_lambda(body, value) {
                        Some(lambda) => found.push(Source::Known(FlowingType::Lambda(lambda))),
                        None => found.push(Source::Unknown),
                    },
                    Operation::Call(call) => {
                        results(program, resolve, call, &mut found);
                    }
                    // Constants: null has no type, and strings and class literals lock nothing.
                    _ => {}
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What a call may return.
fn results(
    program: &Program,
    resolve: &dyn Fn(&Call) -> Arc<[Target]>,
    call: &Call,
    found: &mut Vec<Source>,
) {
    for effect in program.effects_of(call.method) {
        if let Effect::ReturnsType { class: name } = effect
            && let Some(class) = program.class_named(name)
        {
            found.push(Source::Known(FlowingType::Class(class)));
            return;
        }
    }
    let targets = resolve(call);
    if targets.len() > MOST_TYPES {
        found.push(Source::Unknown);
        return;
    }
    for target in targets.iter() {
        if program.methods[target.method].is_initializer() {
            // A reference to a constructor, `Node::new`, gives the object.
            let class = program.methods[target.method].class;
            found.push(Source::Known(FlowingType::Class(class)));
            continue;
        }
        match program.body(target.method) {
            Some(_) => found.push(Source::Node(Node::Result(target.method))),
            None if program.methods[target.method].is_abstract() => {}
            None => found.push(Source::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id;

    #[test]
    fn unknown_absorbs_and_bounds_hold() {
        let class = |n| FlowingType::Class(ClassId::new(n));
        let mut set: TypeSet = Some(vec![]);
        assert!(add(&mut set, &Some(vec![class(1)])));
        assert!(!add(&mut set, &Some(vec![class(1)])));
        for n in 0..MOST_TYPES + 1 {
            add(&mut set, &Some(vec![class(n)]));
        }
        assert_eq!(set, None);
        assert!(!add(&mut set, &Some(vec![class(1)])));
    }
}
