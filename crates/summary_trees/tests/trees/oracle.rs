//! Random methods are executed down every side of their branches; what happened there is what the tree had
//! said, and in the same order.

use std::collections::{HashMap, HashSet};

use classes::{ClassFile, MethodInfo, access};
use rayon::prelude::*;
use summary_trees::{
    BranchSummary, Config, RootKind, Step, StepKind, summarize_branches, summarize_method,
};

use crate::generator::{Random, class_source};
use crate::interpreter::{End, Event, Heap, Interpreter, State, Value, Variable, Visible};
use crate::java::Compiled;
use crate::text::{branch_text, steps_text};
use crate::walker::{WalkEnd, Walker};

const MAX_INSTRUCTIONS: usize = 3000;

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    branches: usize,
    gaps: usize,
    /// Sides that were executed and compared, and methods from their start.
    sides: usize,
    methods: usize,
    /// Methods that returned what their summary had named.
    results: usize,
    events: usize,
    /// Events that trees have left out because the object or index has no name.
    dropped: usize,
    /// Comparisons that ended early: a reference was stored where the tree could not follow.
    blurred: usize,
    /// Comparisons that ended early: the tree does not go on outside of a monitor.
    cut: usize,
}

impl Totals {
    fn add(self, other: Totals) -> Totals {
        Totals {
            branches: self.branches + other.branches,
            gaps: self.gaps + other.gaps,
            sides: self.sides + other.sides,
            methods: self.methods + other.methods,
            results: self.results + other.results,
            events: self.events + other.events,
            dropped: self.dropped + other.dropped,
            blurred: self.blurred + other.blurred,
            cut: self.cut + other.cut,
        }
    }
}

/// Five objects that refer to each other, with arrays.
fn first_heap(random: &mut Random) -> Heap {
    let mut heap = Heap { count: 5, ..Heap::default() };
    for object in 0..5 {
        for name in ["next", "other", "fixed"] {
            let value = match random.below(9) {
                0 if name != "fixed" => Value::Null,
                _ => Value::Object(random.below(5)),
            };
            heap.values.insert(Variable::Field(object, name.to_owned()), value);
        }
        for name in ["a", "b", "v", "number"] {
            let value = Value::Int(random.below(4) as i32);
            heap.values.insert(Variable::Field(object, name.to_owned()), value);
        }
        for name in ["items", "numbers"] {
            let array = heap.count;
            heap.count += 1;
            heap.values.insert(Variable::Field(object, name.to_owned()), Value::Object(array));
            for index in 0..4 {
                let value = match name {
                    "items" => Value::Object(random.below(5)),
                    _ => Value::Int(random.below(4) as i32),
                };
                heap.values.insert(Variable::Element(array, index), value);
            }
        }
    }
    heap.values.insert(Variable::Static("g".to_owned()), Value::Object(random.below(5)));
    heap.values.insert(Variable::Static("s".to_owned()), Value::Int(1));
    heap
}

/// Compares what happened with a tree. The error says what differs.
fn compare(
    steps: &[Step],
    registers: Vec<Option<Value>>,
    heap: &Heap,
    events: &[Event],
    end: End,
    dropped: &[u32],
    totals: &mut Totals,
) -> Result<(), String> {
    let mut walker = Walker::new(heap, registers, events);
    let walk_end = walker.list(steps).err();
    let mut dropped: HashSet<u32> = dropped.iter().copied().collect();
    dropped.extend(&walker.dropped);
    let mut said = walker.visible.iter().peekable();
    for event in events {
        let Event::Visible(offset, what, stores) = event else { continue };
        totals.events += 1;
        // A lock that is not known is there all the same.
        let agrees = said.peek().is_some_and(|(at, it)| match (it, what) {
            (Visible::Enter(None), Visible::Enter(_)) => true,
            (Visible::Exit(None), Visible::Exit(_)) => true,
            (Visible::Exit(it), Visible::Exit(what)) => it == what,
            (it, what) => it == what && *at == Some(*offset),
        });
        if agrees {
            said.next();
        } else if dropped.contains(offset) {
            totals.dropped += 1;
            if *stores {
                totals.blurred += 1;
                return Ok(());
            }
        } else if walk_end == Some(WalkEnd::Monitor) && said.peek().is_none() {
            totals.cut += 1;
            return Ok(());
        } else {
            return Err(format!("at {offset} {what:?} happened, the tree says {:?}", said.peek()));
        }
    }
    match said.next() {
        Some(more) if !matches!(end, End::Failed) => {
            Err(format!("the execution ended ({end:?}), the tree says {more:?}"))
        }
        _ => Ok(()),
    }
}

struct Checked<'a> {
    interpreter: Interpreter<'a>,
    branches: HashMap<u32, BranchSummary>,
    landings: HashMap<u32, u32>,
}

impl Checked<'_> {
    fn side(
        &self,
        at_branch: &State,
        branch: &BranchSummary,
        side: usize,
        totals: &mut Totals,
    ) -> Result<(), String> {
        let mut state = at_branch.clone();
        self.interpreter.forget_events(&mut state);
        let way = branch.sides[side].ways[0];
        self.interpreter.decide(&mut state, Some(way));
        state.events.clear();
        // A side that begins with the header executes an iteration, in which other choices begin and end.
        let found = branch.loop_branch.filter(|it| it.iterates == side);
        let header = found.map(|it| it.header);
        let around = header.and_then(|it| self.landings.get(&it).copied()).unwrap_or(0);
        let is_iteration = header == Some(self.interpreter.offset(&state));
        let mut end = End::Failed;
        for instruction in 0..MAX_INSTRUCTIONS {
            let offset = self.interpreter.offset(&state);
            let depth = self.landings.get(&offset).copied().unwrap_or(u32::MAX);
            let stops = if is_iteration {
                let ends = [header, branch.join, found.and_then(|it| it.after)];
                instruction > 0 && (ends.contains(&Some(offset)) || depth < around)
            } else {
                depth < branch.depth
            };
            if stops {
                end = End::Stopped;
                break;
            }
            if self.interpreter.at_decision(&state) {
                self.interpreter.decide(&mut state, None);
            } else if let Err(reason) = self.interpreter.step(&mut state) {
                end = reason;
                break;
            }
        }
        let mut registers = vec![None; branch.register_count as usize];
        for (register, root) in registers.iter_mut().zip(&branch.roots) {
            let value = at_branch.locals[usize::from(root.slot)];
            assert_eq!(root.kind == RootKind::Int, matches!(value, Value::Int(_)));
            *register = Some(value);
        }
        totals.sides += 1;
        compare(
            &branch.sides[side].steps,
            registers,
            &at_branch.heap,
            &state.events,
            end,
            &branch.dropped,
            totals,
        )
        .map_err(|problem| {
            format!(
                "branch at {}, {way:?}: {problem}\njoin {:?} depth {} {:?}\n{}{:?}",
                branch.offset,
                branch.join,
                branch.depth,
                branch.loop_branch,
                branch_text(branch),
                state.events
            )
        })
    }
}

fn check_method(
    compiled: &Compiled,
    class: &ClassFile,
    method: &MethodInfo,
    seed: u64,
    change: impl Fn(&mut BranchSummary),
) -> Result<Totals, String> {
    let code = method.code.as_ref().unwrap();
    let config = Config::default();
    let mut found = summarize_branches(class, method, compiled, &config);
    found.branches.iter_mut().for_each(change);
    let mut totals = Totals {
        branches: found.branches.len() + found.without_effect,
        gaps: found.gaps.len(),
        ..Totals::default()
    };
    let checked = Checked {
        interpreter: Interpreter::new(class, code),
        branches: found.branches.into_iter().map(|branch| (branch.offset, branch)).collect(),
        landings: found.landings.iter().map(|landing| (landing.offset, landing.depth)).collect(),
    };
    let summary = summarize_method(class, method, compiled, &config);
    let mut random = Random::new(seed);
    let mut seen: HashMap<u32, usize> = HashMap::new();
    for _ in 0..6 {
        let heap = first_heap(&mut random);
        let mut locals: Vec<Value> = Vec::new();
        if !method.has_access(access::STATIC) {
            locals.push(Value::Object(random.below(5)));
        }
        locals.push(Value::Object(random.below(5)));
        locals.push(Value::Object(random.below(5)));
        locals.push(Value::Int(random.below(4) as i32));
        locals.push(Value::Int(random.below(5) as i32));
        let parameters = locals.clone();
        locals.resize(usize::from(code.max_locals), Value::Null);
        let mut state = checked.interpreter.start(heap.clone(), locals);
        let mut end = End::Failed;
        for _ in 0..MAX_INSTRUCTIONS {
            if checked.interpreter.at_decision(&state) {
                let offset = checked.interpreter.offset(&state);
                let visits = seen.entry(offset).or_default();
                *visits += 1;
                if *visits <= 6
                    && let Some(branch) = checked.branches.get(&offset)
                {
                    for side in 0..branch.sides.len() {
                        checked.side(&state, branch, side, &mut totals)?;
                    }
                }
                checked.interpreter.decide(&mut state, None);
            } else if let Err(reason) = checked.interpreter.step(&mut state) {
                end = reason;
                break;
            }
        }
        if let Ok(Some(summary)) = &summary {
            let mut registers: Vec<Option<Value>> = parameters.into_iter().map(Some).collect();
            registers.resize(summary.register_count as usize, None);
            totals.methods += 1;
            let steps = &summary.steps;
            if end == End::Return {
                let mut walker = Walker::new(&heap, registers.clone(), &state.events);
                let is_complete = walker.list(steps).is_ok();
                let named = walker.operand(summary.result).filter(|_| is_complete);
                // A reference that was stored out of sight may have changed what a field leads to.
                let is_clear = summary.dropped.is_empty() && walker.dropped.is_empty();
                if let Some(named) = named.filter(|_| is_clear) {
                    totals.results += 1;
                    let returned = checked.interpreter.result(&state);
                    if returned != Some(named) {
                        return Err(format!(
                            "returned {returned:?}, not {named:?}\n{}{:?}",
                            steps_text(steps),
                            summary.result
                        ));
                    }
                }
            }
            compare(steps, registers, &heap, &state.events, end, &summary.dropped, &mut totals)
                .map_err(|problem| {
                    format!("the method: {problem}\n{}{:?}", steps_text(steps), state.events)
                })?;
        }
    }
    Ok(totals)
}

/// A number from the environment, so that a night can run more than a minute does.
fn class_count() -> usize {
    match std::env::var("SCISSION_TREE_CLASSES") {
        Ok(text) => text.parse().expect("SCISSION_TREE_CLASSES is a number"),
        Err(_) => 4,
    }
}

#[test]
fn trees_say_what_happens() {
    let totals = (0..class_count())
        .into_par_iter()
        .map(|number| {
            let mut random = Random::new(number as u64);
            let source = class_source(&mut random, 250);
            let compiled = Compiled::new("Node.java", &source);
            let class = compiled.class("Node");
            let mut totals = Totals::default();
            for method in class.methods.iter().filter(|method| method.name.starts_with('m')) {
                match check_method(&compiled, class, method, number as u64, |_| {}) {
                    Ok(found) => totals = totals.add(found),
                    Err(problem) => {
                        let start = source.find(&format!("Node {}(", method.name)).unwrap();
                        let text = &source[start..];
                        let length = text.find("\n  }\n").unwrap();
                        panic!("class {number}: {}\n{problem}", &text[..length]);
                    }
                }
            }
            totals
        })
        .reduce(Totals::default, Totals::add);
    println!("{totals:?}");
    assert!(totals.sides > 1000 && totals.results > 100 && totals.events > 10_000);
    // Generated code uses results of calls, and values that differ where paths meet, more than people do.
    assert!(totals.dropped * 10 < totals.events, "{totals:?}");
    assert!(totals.blurred * 10 < totals.sides + totals.methods, "{totals:?}");
    assert!(totals.cut * 50 < totals.sides + totals.methods, "{totals:?}");
    assert!(totals.gaps * 20 < totals.branches, "{totals:?}");
}

fn is_access(step: &Step) -> bool {
    matches!(
        step.kind,
        StepKind::Read { .. }
            | StepKind::Write { .. }
            | StepKind::ReadStatic { .. }
            | StepKind::WriteStatic { .. }
    )
}

/// An oracle that agrees with everything would pass the test above, so it is shown wrong trees too.
#[test]
fn wrong_trees_are_noticed() {
    let mut random = Random::new(1000);
    let source = class_source(&mut random, 60);
    let compiled = Compiled::new("Node.java", &source);
    let class = compiled.class("Node");
    let noticed = |change: &dyn Fn(&mut BranchSummary)| {
        let methods = class.methods.iter().filter(|method| method.name.starts_with('m'));
        methods.filter(|method| check_method(&compiled, class, method, 1, change).is_err()).count()
    };
    assert_eq!(noticed(&|_| {}), 0);
    let swapped = noticed(&|branch| {
        let ways: Vec<_> = branch.sides.iter().rev().map(|side| side.ways.clone()).collect();
        branch.sides.iter_mut().zip(ways).for_each(|(side, ways)| side.ways = ways);
    });
    let shortened = noticed(&|branch| {
        for side in &mut branch.sides {
            if let Some(last) = side.steps.iter().rposition(is_access) {
                side.steps.remove(last);
            }
        }
    });
    let other_roots = noticed(&|branch| {
        branch.roots.iter_mut().for_each(|root| {
            if root.kind == RootKind::Reference {
                root.slot = 1;
            }
        })
    });
    println!(
        "of 60 methods: sides swapped {swapped}, shortened {shortened}, other roots {other_roots}"
    );
    assert!(swapped > 25 && shortened > 25 && other_roots > 20);
}
