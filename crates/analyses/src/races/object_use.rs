//! The object use graph of an abstract object (dissertation, 4.1): what happens to it, who does it, and why that is
//! safe, for people who want to see why.
//!
//! Deviation: the dissertation's graph has the control flow between events; here what follows from control flow is a
//! fact of each event, and the edges that are left are those between threads.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write;

use findings::{
    Description, DescriptionForm, EdgeStyle, Graph, GraphEdge, GraphItem, GraphNode, Outline, Site,
};

use super::conflict::{AcceptedReasons, SafetyReason, Verdict};
use super::facts::ComputedConflictFacts;
use super::listener::{Recorder, Records, WantedAccesses};
use super::report;
use super::variable::{Event, RaceFacts, Variable};
use crate::execution::{AccessKind, ExecutionFacts, Listener};
use crate::heap::{AbstractObject, ObjectId, Place, ThreadId, ThreadSet};
use crate::{Context, Outcome};

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UseKind {
    /// It is allocated.
    New,
    /// A variable of it is read.
    Get,
    /// A variable of it is written.
    Put,
    /// A reference to it is read from another object.
    Load,
    /// A reference to it is stored where other threads may find it.
    Escape,
    /// The threads that begin with it are started.
    Start,
    /// The end of the threads that begin with it is waited for.
    Join,
}

impl UseKind {
    /// The dissertation's name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            UseKind::New => "NEW",
            UseKind::Get => "GET",
            UseKind::Put => "PUT",
            UseKind::Load => "LOAD",
            UseKind::Escape => "ESCAPE",
            UseKind::Start => "START",
            UseKind::Join => "JOIN",
        }
    }
}

/// An abstract event.
#[derive(Clone, Debug)]
pub struct UseEvent {
    /// What happens.
    pub kind: UseKind,
    /// The variable of the object, or where the reference is read or stored.
    pub variable: Option<String>,
    /// Where.
    pub place: Place,
    /// Who does it.
    pub threads: ThreadSet,
    /// The locks that are held.
    pub locks: Vec<String>,
    /// Why it cannot conflict; none if it does.
    pub safe: Option<Vec<SafetyReason>>,
    /// Positions of the events that it conflicts with.
    pub conflicts: Vec<usize>,
}

/// Everything that happens to one abstract object.
#[derive(Clone, Debug)]
pub struct ObjectUse {
    /// The object.
    pub object: ObjectId,
    /// The events: creation and thread control first, then by variable.
    pub events: Vec<UseEvent>,
}

/// A listener that describes the graphs of all wanted objects when the execution is over.
#[must_use]
pub fn listen<'a>(
    context: &'a Context<'a>,
    is_wanted: impl Fn(&ExecutionFacts<'_>, ObjectId) -> bool + 'a,
    form: DescriptionForm,
    into: &'a RefCell<Vec<Description>>,
) -> Box<dyn Listener + 'a> {
    let finish = move |records: Records, execution: &ExecutionFacts<'_>| {
        let facts = ComputedConflictFacts::new(execution, &records);
        let race_facts = RaceFacts::new(execution, &records, &facts);
        let variables = race_facts.variables();
        let mut descriptions = into.borrow_mut();
        for object in execution.heap.objects.ids().filter(|object| is_wanted(execution, *object)) {
            let graph = ObjectUse::of(&race_facts, &variables, object);
            descriptions.push(match form {
                DescriptionForm::Text => Description::Text(describe(execution, &graph)),
                DescriptionForm::Graph => Description::Graph(self::graph(execution, &graph)),
            });
        }
        Outcome::default()
    };
    Box::new(Recorder::new(context, WantedAccesses::Everything, Box::new(finish)))
}

impl ObjectUse {
    fn of(race_facts: &RaceFacts<'_>, variables: &[Variable], object: ObjectId) -> ObjectUse {
        let RaceFacts { execution, records, .. } = race_facts;
        let mut events = Vec::new();
        let mut allocations: Vec<_> =
            records.allocations.iter().filter(|(of, ..)| *of == object).collect();
        allocations.sort_unstable();
        for (_, place, context) in allocations {
            let threads = execution.threads[*context].clone();
            push(&mut events, plain(UseKind::New, None, *place, threads));
        }
        let mut controls: Vec<_> =
            records.controls.iter().filter(|control| control.object == Some(object)).collect();
        controls.sort_by_key(|control| (!control.is_start, control.place, control.context));
        for control in controls {
            let kind = if control.is_start { UseKind::Start } else { UseKind::Join };
            let threads = execution.threads[control.context].clone();
            push(&mut events, plain(kind, None, control.place, threads));
        }
        for variable in variables {
            let holds = |event: &&Event| event.value == Some(object);
            for event in variable.events.iter().filter(holds) {
                let kind = match event.kind {
                    AccessKind::Read => UseKind::Load,
                    AccessKind::Write => UseKind::Escape,
                };
                let name = Some(report::name_of(race_facts, variable));
                push(&mut events, plain(kind, name, event.place, event.threads.clone()));
            }
        }
        for variable in variables.iter().filter(|variable| variable.object == object) {
            let first = events.len();
            events.extend(
                variable.events.iter().map(|event| access(race_facts, variable, event, first)),
            );
        }
        ObjectUse { object, events }
    }
}

/// Adds an event, or the threads of one that is there already.
fn push(events: &mut Vec<UseEvent>, event: UseEvent) {
    let is_it = |known: &&mut UseEvent| {
        (known.kind, known.place, &known.variable) == (event.kind, event.place, &event.variable)
    };
    match events.iter_mut().find(is_it) {
        Some(known) => {
            known.threads.extend(&event.threads);
        }
        None => events.push(event),
    }
}

fn plain(kind: UseKind, variable: Option<String>, place: Place, threads: ThreadSet) -> UseEvent {
    let (locks, conflicts) = (Vec::new(), Vec::new());
    UseEvent { kind, variable, place, threads, locks, safe: Some(Vec::new()), conflicts }
}

/// An access; `first` is the position of the first one to its variable.
fn access(
    race_facts: &RaceFacts<'_>,
    variable: &Variable,
    event: &Event,
    first: usize,
) -> UseEvent {
    let execution = race_facts.execution;
    let accepted = AcceptedReasons::all(execution.context.config.strict);
    let is_conflict = |other: &Event| {
        let verdict = race_facts.decide(accepted, variable.object, event, other);
        matches!(verdict, Verdict::Conflict(..))
    };
    let others = variable.events.iter().enumerate();
    UseEvent {
        kind: match event.kind {
            AccessKind::Read => UseKind::Get,
            AccessKind::Write => UseKind::Put,
        },
        variable: Some(report::name_of(race_facts, variable)),
        place: event.place,
        threads: event.threads.clone(),
        locks: race_facts
            .guards(event)
            .iter()
            .map(|guard| {
                guard.object.map_or("its own".to_string(), |lock| execution.describe(lock))
            })
            .collect(),
        safe: race_facts.reasons(variable, event),
        conflicts: others
            .filter(|(_, other)| is_conflict(other))
            .map(|(at, _)| first + at)
            .collect(),
    }
}

/// The graph as text: one line an event.
#[must_use]
pub fn describe(execution: &ExecutionFacts<'_>, graph: &ObjectUse) -> String {
    let mut text = String::new();
    let object = &execution.heap.objects[graph.object];
    let _ = writeln!(
        text,
        "{} {}: {}",
        graph.object,
        execution.describe(graph.object),
        properties(object)
    );
    for event in &graph.events {
        let _ = writeln!(text, "  {}", line(execution, event));
    }
    text
}

/// What is known of an object, in words.
fn properties(object: &AbstractObject) -> String {
    let properties = object.properties;
    let known = [
        (properties.is_class, "class"),
        (properties.is_thread, "thread"),
        (properties.is_shared, "shared"),
        (properties.is_unique, "unique"),
        (properties.host.is_some(), "object-specific"),
        (properties.is_thread_specific, "thread-specific"),
    ];
    let words: Vec<&str> =
        known.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word).collect();
    if words.is_empty() { "nothing known".to_string() } else { words.join(", ") }
}

/// `PUT Table.numSnacks in Table.<init>:12 by main: START-safe`.
fn line(execution: &ExecutionFacts<'_>, event: &UseEvent) -> String {
    let mut text = event.kind.label().to_string();
    if let Some(variable) = &event.variable {
        let _ = write!(text, " {variable}");
    }
    let program = execution.context.program;
    let site = program.site(event.place.method, event.place.offset);
    let threads: Vec<String> =
        event.threads.iter().map(|thread| execution.describe_thread(thread)).collect();
    let _ = write!(text, " in {} by {}", short(&site), threads.join(", "));
    if !event.locks.is_empty() {
        let _ = write!(text, " holding {}", event.locks.join(", "));
    }
    match &event.safe {
        None => text.push_str(": conflict"),
        Some(reasons) if reasons.is_empty() => {}
        Some(reasons) => {
            let words: Vec<&str> = reasons.iter().map(|reason| reason.words()).collect();
            let _ = write!(text, ": {}", words.join(", "));
        }
    }
    text
}

fn short(site: &Site) -> String {
    match site.line {
        Some(line) => format!("{}:{line}", site.method_name()),
        None => site.method_name(),
    }
}

/// The graph: the events of each thread together, conflicts in red, and what starting and joining orders.
#[must_use]
pub fn graph(execution: &ExecutionFacts<'_>, object_use: &ObjectUse) -> Graph {
    let mut items = Vec::new();
    let node_id = |thread: ThreadId, number: usize| format!("{thread}.{number}");
    let threads: BTreeSet<ThreadId> =
        object_use.events.iter().flat_map(|event| event.threads.iter()).collect();
    for thread in threads {
        let events = object_use.events.iter().enumerate();
        let nodes =
            events.filter(|(_, event)| event.threads.contains(thread)).map(|(number, event)| {
                GraphNode {
                    id: node_id(thread, number),
                    lines: vec![line(execution, event)],
                    outline: Outline::Single,
                }
            });
        items.push(GraphItem::Group {
            id: thread.to_string(),
            label: execution.describe_thread(thread),
            nodes: nodes.collect(),
        });
    }
    let is_root_of =
        |thread: ThreadId| execution.heap.threads[thread].root == Some(object_use.object);
    for (number, event) in object_use.events.iter().enumerate() {
        for thread in event.threads.iter() {
            for (other, next) in object_use.events.iter().enumerate() {
                for of_other in next.threads.iter() {
                    let here = node_id(thread, number);
                    let there = node_id(of_other, other);
                    let (from, to, style) = match event.kind {
                        UseKind::Start if is_root_of(of_other) => (here, there, EdgeStyle::Solid),
                        UseKind::Join if is_root_of(of_other) => (there, here, EdgeStyle::Solid),
                        UseKind::Put if event.conflicts.contains(&other) => {
                            (here, there, EdgeStyle::Conflict)
                        }
                        UseKind::New
                        | UseKind::Get
                        | UseKind::Put
                        | UseKind::Load
                        | UseKind::Escape
                        | UseKind::Start
                        | UseKind::Join => continue,
                    };
                    let lines = Vec::new();
                    items.push(GraphItem::Edge(GraphEdge { from, to, lines, style }));
                }
            }
        }
    }
    let name = format!("{} {}", object_use.object, execution.describe(object_use.object));
    Graph { name, items, ..Graph::default() }
}
