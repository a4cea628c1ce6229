//! Summaries over the call graph: callees before callers, recursion until nothing changes.
//!
//! The call graph is cut into strongly connected components. Components that do not depend on each
//! other are solved in parallel. A component is gone through again and again, callees before callers
//! as far as recursion allows: level by level, the members of a level that may have changed together.
//! Nothing depends on how many cores there are.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::callgraph::CallGraph;
use crate::ids::{Id, MethodId, TypedVec};

/// A component never goes round more often than this; summaries must have a bounded height, and
/// this bound is only met when one does not.
const MOST_ROUNDS: usize = 1_000;

/// What a summary is computed from: the finished summaries of callees, and for members of the same
/// component those of the round before.
pub struct Summaries<'a, S> {
    finished: &'a TypedVec<MethodId, S>,
    current: &'a FxHashMap<MethodId, S>,
}

impl<S> Summaries<'_, S> {
    /// The summary of a method.
    #[must_use]
    pub fn of(&self, method: MethodId) -> &S {
        self.current.get(&method).unwrap_or(&self.finished[method])
    }
}

/// Computes the summary of every method, bottom-up. `S::default()` is the least summary.
pub fn solve<S, F>(graph: &CallGraph, methods: usize, compute: F) -> TypedVec<MethodId, S>
where
    S: Clone + Default + PartialEq + Send + Sync,
    F: Fn(MethodId, &Summaries<'_, S>) -> S + Sync,
{
    solve_in_rounds(graph, methods, MOST_ROUNDS, compute)
}

/// The same, for summaries whose height is not bounded: a recursion is gone through a given number of times.
pub fn solve_in_rounds<S, F>(
    graph: &CallGraph,
    methods: usize,
    rounds: usize,
    compute: F,
) -> TypedVec<MethodId, S>
where
    S: Clone + Default + PartialEq + Send + Sync,
    F: Fn(MethodId, &Summaries<'_, S>) -> S + Sync,
{
    let mut finished: TypedVec<MethodId, S> = (0..methods).map(|_| S::default()).collect();
    for level in levels(graph, methods) {
        let solved: Vec<Vec<(MethodId, S)>> = level
            .par_iter()
            .map(|component| solve_component(graph, component, &finished, rounds, &compute))
            .collect();
        for (method, summary) in solved.into_iter().flatten() {
            finished[method] = summary;
        }
    }
    finished
}

fn solve_component<S, F>(
    graph: &CallGraph,
    component: &[MethodId],
    finished: &TypedVec<MethodId, S>,
    rounds: usize,
    compute: &F,
) -> Vec<(MethodId, S)>
where
    S: Clone + Default + PartialEq + Send + Sync,
    F: Fn(MethodId, &Summaries<'_, S>) -> S + Sync,
{
    let mut current: FxHashMap<MethodId, S> = FxHashMap::default();
    let is_recursive = component.len() > 1
        || component.iter().any(|method| graph.callers(*method).contains(method));
    if !is_recursive {
        let summaries = Summaries { finished, current: &current };
        return component.iter().map(|method| (*method, compute(*method, &summaries))).collect();
    }
    for method in component {
        current.insert(*method, S::default());
    }
    let mut dirty: FxHashSet<MethodId> = component.iter().copied().collect();
    let levels = levels_inside(graph, component);
    for _ in 0..rounds {
        if dirty.is_empty() {
            break;
        }
        for level in &levels {
            let todo: Vec<MethodId> =
                level.iter().copied().filter(|method| dirty.remove(method)).collect();
            let summaries = Summaries { finished, current: &current };
            let computed: Vec<S> =
                todo.par_iter().map(|method| compute(*method, &summaries)).collect();
            for (method, summary) in todo.into_iter().zip(computed) {
                if current[&method] != summary {
                    current.insert(method, summary);
                    let callers = graph.callers(method).iter();
                    dirty.extend(callers.filter(|caller| current.contains_key(caller)));
                }
            }
        }
    }
    let mut solved: Vec<(MethodId, S)> = current.into_iter().collect();
    solved.sort_unstable_by_key(|(method, _)| *method);
    solved
}

/// The members of a component in levels: but for the calls that lead back, a member only calls into
/// earlier levels.
fn levels_inside(graph: &CallGraph, component: &[MethodId]) -> Vec<Vec<MethodId>> {
    let members: FxHashSet<MethodId> = component.iter().copied().collect();
    let callees = |method: MethodId| -> Vec<MethodId> {
        graph.callees(method).into_iter().filter(|callee| members.contains(callee)).collect()
    };
    let mut level_of: FxHashMap<MethodId, usize> = FxHashMap::default();
    let mut seen: FxHashSet<MethodId> = FxHashSet::default();
    let mut levels: Vec<Vec<MethodId>> = Vec::new();
    for root in component {
        if !seen.insert(*root) {
            continue;
        }
        let mut work = vec![(*root, callees(*root), 0)];
        while let Some((method, inner, next)) = work.last_mut() {
            if let Some(callee) = inner.get(*next).copied() {
                *next += 1;
                if seen.insert(callee) {
                    work.push((callee, callees(callee), 0));
                }
                continue;
            }
            // Callees without a level are on the way here: those calls lead back.
            let below = inner.iter().filter_map(|callee| level_of.get(callee));
            let level = below.max().map_or(0, |level| level + 1);
            level_of.insert(*method, level);
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(*method);
            work.pop();
        }
    }
    levels.iter_mut().for_each(|level| level.sort_unstable());
    levels
}

/// The components of the call graph, grouped so that a component only calls into earlier groups.
#[must_use]
pub fn levels(graph: &CallGraph, methods: usize) -> Vec<Vec<Vec<MethodId>>> {
    let callees: Vec<Vec<usize>> = (0..methods)
        .into_par_iter()
        .map(|method| graph.callees(MethodId::new(method)).into_iter().map(Id::index).collect())
        .collect();
    let components = components(&callees);
    let mut component_of = vec![0; methods];
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|method| component_of[*method] = number);
    }
    let mut levels: Vec<Vec<Vec<MethodId>>> = Vec::new();
    let mut level_of = vec![0; components.len()];
    for (number, component) in components.into_iter().enumerate() {
        let level = component
            .iter()
            .flat_map(|method| &callees[*method])
            .map(|callee| component_of[*callee])
            .filter(|callee| *callee != number)
            .map(|callee| level_of[callee] + 1)
            .max()
            .unwrap_or(0);
        level_of[number] = level;
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(component.into_iter().map(MethodId::new).collect());
    }
    levels
}

/// Strongly connected components (Tarjan) of any graph, successors first, members sorted. Iterative:
/// call chains are deeper than stacks.
#[must_use]
pub fn components(callees: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; callees.len()];
    let mut lowest = vec![UNSEEN; callees.len()];
    let mut on_stack = vec![false; callees.len()];
    let mut stack = Vec::new();
    let mut counter = 0;
    let mut found = Vec::new();
    for root in 0..callees.len() {
        if order[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, next)) = work.last_mut() {
            let node = *node;
            if *next == 0 {
                order[node] = counter;
                lowest[node] = counter;
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(callee) = callees[node].get(*next) {
                *next += 1;
                if order[*callee] == UNSEEN {
                    work.push((*callee, 0));
                } else if on_stack[*callee] {
                    lowest[node] = lowest[node].min(order[*callee]);
                }
                continue;
            }
            if *next == 0 {
                *next = 1;
            }
            work.pop();
            if let Some((caller, _)) = work.last() {
                lowest[*caller] = lowest[*caller].min(lowest[node]);
            }
            if lowest[node] == order[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::components;

    /// Which nodes reach which, by brute force.
    fn reaches(edges: &[Vec<usize>]) -> Vec<Vec<bool>> {
        let mut reaches = vec![vec![false; edges.len()]; edges.len()];
        for start in 0..edges.len() {
            let mut todo = vec![start];
            while let Some(node) = todo.pop() {
                if !std::mem::replace(&mut reaches[start][node], true) {
                    todo.extend(&edges[node]);
                }
            }
        }
        reaches
    }

    #[test]
    fn a_chain_of_a_million_calls_does_not_exhaust_the_stack() {
        let length = 1_000_000;
        let chain: Vec<Vec<usize>> =
            (0..length).map(|method| (method + 1..length).take(1).collect()).collect();
        let found = components(&chain);
        assert_eq!(found.len(), length);
        assert_eq!((&found[0][..], &found[length - 1][..]), (&[length - 1][..], &[0][..]));
    }

    proptest! {
        #[test]
        fn components_are_mutual_reachability_in_bottom_up_order(
            edges in prop::collection::vec(prop::collection::vec(0usize..12, 0..4), 12)
        ) {
            let found = components(&edges);
            let reaches = reaches(&edges);
            let mut component_of = vec![0; edges.len()];
            for (number, component) in found.iter().enumerate() {
                for member in component {
                    component_of[*member] = number;
                }
            }
            for a in 0..edges.len() {
                for b in 0..edges.len() {
                    let together = reaches[a][b] && reaches[b][a];
                    prop_assert_eq!(component_of[a] == component_of[b], together);
                    if reaches[a][b] && !together {
                        prop_assert!(component_of[b] < component_of[a]);
                    }
                }
            }
        }
    }
}
