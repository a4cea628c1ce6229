//! From alias sets under construction to the shape of a method: who started what, what is known by which name
//! everywhere, what callers can know, and what is not worth keeping.

use std::collections::VecDeque;

use program::Program;
use program::ids::{ClassId, Id, MethodId};
use program::threads::task_methods_of;
use rustc_hash::FxHashMap;

use super::alias_sets::AliasSets;
use super::method::Builder;
use super::{HeapLimits, Name, NameRoot, Node, NodeId, Shape, Slot};

pub(super) fn finish(mut builder: Builder<'_>) -> Shape {
    let program = builder.inputs.program;
    let limits = builder.inputs.limits;
    let own = own_bodies(&mut builder);
    name_tasks(program, builder.inputs.bodies, own.as_ref(), &mut builder.sets);
    builder.settle_submissions();
    spread_names(&mut builder.sets);
    let exposed_roots = exposed_roots(&mut builder);
    let exposed = reachable(&mut builder.sets, &exposed_roots, limits);
    keep(builder, exposed)
}

/// The methods that run when objects of a class are run as tasks.
pub(super) struct TaskBodies {
    of_classes: FxHashMap<ClassId, Vec<MethodId>>,
}

impl TaskBodies {
    pub(super) fn of(program: &Program) -> TaskBodies {
        let mut of_classes = FxHashMap::default();
        for (class, declared) in program.classes.iter_with_ids() {
            if !declared.is_concrete() {
                continue;
            }
            let mut bodies = task_methods_of(program, class);
            bodies.retain(|method| {
                program.body(*method).is_some() && runs_elsewhere(program, *method)
            });
            if !bodies.is_empty() {
                of_classes.insert(class, bodies);
            }
        }
        TaskBodies { of_classes }
    }

    /// Whether objects of a class are run as tasks.
    pub(super) fn is_task(&self, class: ClassId) -> bool {
        self.of_classes.contains_key(&class)
    }

    /// The classes whose objects run a method when they are run, in no order.
    pub(super) fn classes_with(&self, body: MethodId) -> impl Iterator<Item = ClassId> + '_ {
        let classes = self.of_classes.iter();
        classes.filter(move |(_, bodies)| bodies.contains(&body)).map(|(class, _)| *class)
    }

    /// The bodies of the tasks that an alias set stands for.
    fn of_node(&self, program: &Program, node: &Node) -> Vec<MethodId> {
        let of_lambdas = node
            .lambdas
            .iter()
            .map(|lambda| program.lambdas[*lambda].implementation)
            .filter(|method| program.body(*method).is_some());
        let of_classes = node.classes.iter().filter_map(|class| self.of_classes.get(class));
        let mut bodies: Vec<MethodId> = of_lambdas.chain(of_classes.flatten().copied()).collect();
        bodies.sort_unstable();
        bodies.dedup();
        bodies
    }
}

/// Whether a method can be the body of a task: what comparators and the like do is done by whoever asks them.
fn runs_elsewhere(program: &Program, method: MethodId) -> bool {
    let declared = &program.methods[method];
    program.models().all_task_methods().any(|row| {
        row.method == &*declared.name
            && row.descriptor == &*declared.descriptor
            && program.models().is_run_elsewhere(row.class)
            && program
                .class_named(row.class)
                .is_some_and(|class| program.hierarchy.is_subtype(declared.class, class))
    })
}

/// The receiver of a method, and what runs when the method starts it: `new Thread(this)`. Nobody in the program may be seen to
/// make the object, if it is one of a public class. Nothing if that depends on the class that the receiver has.
fn own_bodies(builder: &mut Builder<'_>) -> Option<(NodeId, Vec<MethodId>)> {
    let program = builder.inputs.program;
    let declared = &program.methods[builder.body.method];
    if declared.is_static() || !program.is_application(builder.body.method) {
        return None;
    }
    let this = builder.body.parameters.first()?;
    let node = builder.values[this.index()]?;
    let of_classes = &builder.inputs.bodies.of_classes;
    let mut subtypes = program.hierarchy.concrete_subtypes(declared.class);
    let bodies = of_classes.get(&subtypes.next()?)?;
    let is_same = subtypes.all(|class| of_classes.get(&class) == Some(bodies));
    (is_same && bodies.len() == 1).then(|| (builder.sets.find(node), bodies.clone()))
}

/// What is started is known to a thread: it gets the name of the task's body.
fn name_tasks(
    program: &Program,
    task_bodies: &TaskBodies,
    own: Option<&(NodeId, Vec<MethodId>)>,
    sets: &mut AliasSets,
) {
    let mut todo: Vec<NodeId> = (0..sets.len()).map(NodeId::new).collect();
    while let Some(node) = todo.pop() {
        if sets.find(node) != node || !sets.node(node).flags.is_started {
            continue;
        }
        sets.node(node).flags.escapes = true;
        let mut bodies = task_bodies.of_node(program, sets.node(node));
        if let Some((this, of_this)) = own
            && bodies.is_empty()
            && sets.find(*this) == node
        {
            bodies.clone_from(of_this);
        }
        for body in bodies {
            sets.name(node, Name::new(NameRoot::Task(body)));
        }
        if let Some(wrapped) = sets.node(node).target(Slot::Task) {
            let wrapped = sets.find(wrapped);
            if !std::mem::replace(&mut sets.node(wrapped).flags.is_started, true) {
                todo.push(wrapped);
            }
        }
    }
}

/// What a named object leads to has a name as well.
fn spread_names(sets: &mut AliasSets) {
    let roots: Vec<NodeId> = (0..sets.len()).map(NodeId::new).collect();
    let mut todo: VecDeque<NodeId> = VecDeque::new();
    for node in roots {
        if sets.find(node) == node && !sets.node(node).names.is_empty() {
            todo.push_back(node);
        }
    }
    while let Some(node) = todo.pop_front() {
        sets.node(node).flags.escapes = true;
        let Some(name) = sets.node(node).names.first().copied() else { continue };
        let edges = sets.node(node).edges.clone();
        for edge in edges {
            let Some(target) = edge.target.map(|target| sets.find(target)) else { continue };
            if sets.node(target).names.is_empty() {
                sets.name(target, name.then(edge.slot));
                todo.push_back(target);
            }
        }
    }
}

/// What callers hold in their hands: parameters and the result.
fn exposed_roots(builder: &mut Builder<'_>) -> Vec<NodeId> {
    let mut exposed_roots = Vec::new();
    for parameter in &builder.body.parameters {
        exposed_roots.extend(builder.values[parameter.index()]);
    }
    exposed_roots.extend(builder.result);
    let mut found = Vec::new();
    for end in exposed_roots {
        let end = builder.sets.find(end);
        if !found.contains(&end) {
            found.push(end);
        }
    }
    found
}

/// What the ends lead to, nearest first: as far, and as much, as callers are to know.
fn reachable(sets: &mut AliasSets, exposed_roots: &[NodeId], limits: &HeapLimits) -> Vec<NodeId> {
    let mut seen = vec![false; sets.len()];
    let mut found: Vec<NodeId> = exposed_roots.to_vec();
    for end in exposed_roots {
        seen[end.index()] = true;
    }
    let mut next = 0;
    for _ in 0..limits.most_steps {
        let end = found.len();
        while next < end && found.len() < limits.most_exposed {
            let node = found[next];
            next += 1;
            // What has a name is known to callers by it; so is what it leads to.
            if !sets.node(node).names.is_empty() {
                continue;
            }
            let targets: Vec<NodeId> =
                sets.node(node).edges.iter().filter_map(|edge| edge.target).collect();
            for target in targets {
                let target = sets.find(target);
                if !std::mem::replace(&mut seen[target.index()], true) {
                    found.push(target);
                }
            }
        }
    }
    found
}

/// Keeps what callers can know, what the body itself touches if it leads to or comes from there, and what has a name;
/// numbers it anew.
fn keep(mut builder: Builder<'_>, exposed: Vec<NodeId>) -> Shape {
    let sets = &mut builder.sets;
    let mut is_kept = vec![false; sets.len()];
    for node in &exposed {
        is_kept[node.index()] = true;
    }
    let mut referred_by: Vec<Vec<u32>> = vec![Vec::new(); sets.len()];
    let mut todo = Vec::new();
    for at in 0..sets.len() {
        let node = NodeId::new(at);
        if sets.find(node) != node {
            continue;
        }
        let targets: Vec<NodeId> =
            sets.node(node).edges.iter().filter_map(|edge| edge.target).collect();
        for target in targets {
            let target = sets.find(target);
            referred_by[target.index()].push(at as u32);
        }
        if is_kept[at] || !sets.node(node).names.is_empty() {
            is_kept[at] = true;
            todo.push(at);
        }
    }
    while let Some(at) = todo.pop() {
        for owner in std::mem::take(&mut referred_by[at]) {
            if !std::mem::replace(&mut is_kept[owner as usize], true) {
                todo.push(owner as usize);
            }
        }
    }
    // What the body touches further away than callers know: whoever knows the objects on the way finds it.
    let touched: Vec<NodeId> = builder.values.iter().flatten().copied().collect();
    let mut wanted = vec![false; sets.len()];
    for node in touched {
        wanted[sets.find(node).index()] = true;
    }
    let mut todo: Vec<NodeId> = exposed.clone();
    while let Some(node) = todo.pop() {
        let targets: Vec<NodeId> =
            sets.node(node).edges.iter().filter_map(|edge| edge.target).collect();
        for target in targets {
            let target = sets.find(target);
            if wanted[target.index()] && !std::mem::replace(&mut is_kept[target.index()], true) {
                todo.push(target);
            }
        }
    }
    let mut number: Vec<Option<NodeId>> = vec![None; sets.len()];
    let mut order = exposed.clone();
    for (at, node) in exposed.iter().enumerate() {
        number[node.index()] = Some(NodeId::new(at));
    }
    for at in 0..sets.len() {
        let node = NodeId::new(at);
        if is_kept[at] && number[at].is_none() && sets.find(node) == node {
            number[at] = Some(NodeId::new(order.len()));
            order.push(node);
        }
    }
    let nodes = order.iter().map(|node| {
        let mut node = std::mem::take(sets.node(*node));
        for edge in &mut node.edges {
            edge.target = edge.target.and_then(|target| number[sets.find(target).index()]);
        }
        node
    });
    let nodes: Vec<Node> = nodes.collect();
    let mut renumber = |node: Option<NodeId>| node.and_then(|node| number[sets.find(node).index()]);
    let values: Vec<Option<NodeId>> = builder.values.iter().map(|value| renumber(*value)).collect();
    let parameters = builder.body.parameters.iter();
    Shape {
        nodes,
        exposed: exposed.len(),
        parameters: parameters.map(|parameter| values[parameter.index()]).collect(),
        result: renumber(builder.result),
        values,
    }
}
