//! Abstract objects and threads in words, and as a graph, for people who want to see why.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use classes::descriptor::parse_field;
use findings::{EdgeStyle, Graph, GraphEdge, GraphItem, GraphNode, Outline};
use program::Program;
use program::ids::{ClassId, Id, TypedVec};
use program::models::Pattern;
use program::threads::RootKind;

use super::{
    AbstractObject, AbstractThread, Heap, MeantForThreads, NameRoot, ObjectId, Place, Slot,
    ThreadId, ThreadKind, ThreadSet,
};

/// The methods that a user named as entry points, of which the first line of a report has the names, at most.
const MOST_NAMED: usize = 3;

impl Heap {
    /// A name for an abstract object for people: its class, or how it is reached. Objects
    /// of one class are numbered.
    #[must_use]
    pub fn describe(&self, program: &Program, object: ObjectId) -> String {
        let kind = self.kind_of(program, object);
        match self.numbers[object] {
            Some(number) => format!("{kind}#{number}"),
            None => kind,
        }
    }

    /// The class of an abstract object, as the source would write it.
    fn kind_of(&self, program: &Program, object: ObjectId) -> String {
        let known = &self.objects[object];
        if let Some(NameRoot::Class(class)) =
            known.roots.iter().find(|root| matches!(root, NameRoot::Class(_)))
        {
            return format!("class {}", program.classes[*class].dotted_name());
        }
        if let Some(class) = known.classes.first() {
            return program.classes[*class].dotted_name();
        }
        if let Some(lambda) = known.lambdas.first() {
            let host = &program.classes[program.lambdas[*lambda].host];
            return format!("lambda of {}", host.dotted_name());
        }
        let declared = known.referred_by.iter().find_map(|(_, slot)| match slot {
            Slot::Field(field) => {
                let declared = parse_field(&program.fields[*field].descriptor);
                declared.ok().map(|declared| declared.to_string())
            }
            Slot::Element | Slot::Contents | Slot::Task | Slot::Captured(_) => None,
        });
        if let Some(declared) = declared {
            return declared;
        }
        match known.roots.first() {
            Some(NameRoot::Outside(class)) => program.classes[*class].dotted_name(),
            Some(NameRoot::Task(body)) => program.class_of(*body).dotted_name(),
            Some(NameRoot::Class(_) | NameRoot::Library(_) | NameRoot::BeyondDepth) | None => {
                match known.referred_by.first() {
                    Some((owner, slot)) if *owner != object => {
                        format!(
                            "{} of {}",
                            slot_label(program, *slot),
                            self.describe(program, *owner)
                        )
                    }
                    _ => "object".to_owned(),
                }
            }
        }
    }

    /// A few words for an abstract thread: `Philo.run`, or what calls it.
    #[must_use]
    pub fn describe_thread(&self, program: &Program, thread: ThreadId) -> String {
        let thread = &self.threads[thread];
        let entry = thread.entries.first().map(|entry| {
            format!("{}.{}", program.class_of(*entry).dotted_name(), program.methods[*entry].name)
        });
        format!("{} {}", thread.kind.label(), entry.unwrap_or_default())
    }

    /// An abstract thread in the words of findings: `thread Philo.run`.
    #[must_use]
    pub fn thread_name(&self, program: &Program, thread: ThreadId) -> String {
        let thread = &self.threads[thread];
        let entry = thread.entries.first().map(|entry| {
            format!("{}.{}", program.class_of(*entry).dotted_name(), program.methods[*entry].name)
        });
        match thread.kind {
            ThreadKind::Main => "main thread".to_owned(),
            ThreadKind::Run => format!("thread {}", entry.unwrap_or_default()),
            ThreadKind::Entry(kind) => RootKind::Entry(kind).description().to_owned(),
            ThreadKind::Client => "a client".to_owned(),
            ThreadKind::Public => "a caller".to_owned(),
            ThreadKind::Init => format!("initialiser {}", entry.unwrap_or_default()),
        }
    }

    /// What to say of a program in which no thread begins; none of others.
    #[must_use]
    pub fn without_threads(&self) -> Option<&'static str> {
        let has_thread = self.threads.iter().any(AbstractThread::is_user_thread);
        (!has_thread).then_some(
            "no thread begins here; name the methods that threads enter with `--entry-point`",
        )
    }

    /// The classes with locks or volatile fields that no thread gets to.
    #[must_use]
    pub fn unreached_classes(&self, program: &Program) -> Vec<ClassId> {
        super::public_api::unreached_classes(program, &self.is_reached)
    }

    /// What was taken as threads, in a few words each: the user's entry points first, then what calls in from outside,
    /// then what the program starts.
    #[must_use]
    pub fn summary(&self, program: &Program, named: &[Pattern]) -> Vec<String> {
        let counted = |count: usize, one: &str, more: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {more}"),
        };
        let (mut of_main, mut of_clients) = (Vec::new(), Vec::new());
        let mut by_kind: BTreeMap<ThreadKind, usize> = BTreeMap::new();
        for thread in self.threads.iter() {
            *by_kind.entry(thread.kind).or_default() += thread.entries.len();
            if thread.kind == ThreadKind::Client {
                of_clients.extend(thread.entries.iter().map(|it| {
                    format!(
                        "`{}.{}`",
                        program.class_of(*it).dotted_name(),
                        program.methods[*it].name
                    )
                }));
            }
            if thread.kind == ThreadKind::Main {
                let classes = thread.entries.iter().map(|it| program.class_of(*it).dotted_name());
                of_main.extend(classes);
            }
        }
        let mut words = Vec::new();
        if !of_clients.is_empty() {
            let patterns: Vec<String> = named.iter().map(|it| format!("`{it}`")).collect();
            // Overloads have one name.
            of_clients.dedup();
            let more = of_clients.len().saturating_sub(MOST_NAMED);
            of_clients.truncate(MOST_NAMED);
            if more > 0 {
                of_clients.push(counted(more, "more method", "more methods"));
            }
            words.push(format!("{} named by {}", of_clients.join(", "), patterns.join(", ")));
        }
        match &of_main[..] {
            [] => {}
            [only] => words.push(format!("`{only}.main`")),
            more => words.push(format!("{} `main` methods", more.len())),
        }
        for (kind, methods) in &by_kind {
            if let ThreadKind::Entry(thread) = kind {
                let methods = counted(*methods, "method", "methods");
                words.push(format!("{methods} of {}", RootKind::Entry(*thread).description()));
            }
        }
        let mut reasons: BTreeMap<Reverse<MeantForThreads>, usize> = BTreeMap::new();
        for reason in self.entered_classes.values() {
            *reasons.entry(Reverse(*reason)).or_default() += 1;
        }
        for (Reverse(reason), classes) in reasons {
            let classes = counted(classes, "public class", "public classes");
            words.push(format!("{classes} {}", reason.words()));
        }
        if let Some(started) = by_kind.get(&ThreadKind::Run) {
            words.push(counted(*started, "started thread or task", "started threads and tasks"));
        }
        words
    }

    /// The abstract threads as text, one a line: kind, multiplicity, classes, where they begin and where they are
    /// started.
    #[must_use]
    pub fn threads_text(&self, program: &Program) -> String {
        let mut text = String::new();
        if let Some(what) = self.without_threads() {
            let _ = writeln!(text, "{what}");
        }
        for thread in self.threads.iter() {
            let times = if thread.is_unique { "unique" } else { "many" };
            let mut classes: Vec<String> =
                thread.entries.iter().map(|entry| program.class_of(*entry).dotted_name()).collect();
            classes.sort_unstable();
            classes.dedup();
            let _ =
                writeln!(text, "<{}, {times}, {{{}}}>", thread.kind.label(), classes.join(", "));
            for entry in &thread.entries {
                let _ = writeln!(text, "    begins at {}", program.method_label(*entry));
            }
            for place in &thread.started_at {
                let _ = writeln!(text, "    started at {}", place_label(program, *place));
            }
        }
        text
    }

    /// The heap shape graph as text: an object a line with its properties, then its variables.
    #[must_use]
    pub fn text(&self, program: &Program) -> String {
        let mut text = String::new();
        for (id, object) in
            self.objects.iter_with_ids().filter(|(_, object)| object.is_worth_showing())
        {
            let _ = writeln!(
                text,
                "{}{}",
                self.describe(program, id),
                self.properties_label(program, id)
            );
            for (slot, variable) in &object.variables {
                let target = match variable.target {
                    Some(target) if self.objects[target].is_worth_showing() => {
                        format!(" -> {}", self.describe(program, target))
                    }
                    _ => String::new(),
                };
                let touched: String = [("read", &variable.readers), ("written", &variable.writers)]
                    .into_iter()
                    .filter(|(_, threads)| !threads.is_empty())
                    .map(|(verb, threads)| {
                        format!(", {verb} by {}", self.threads_label(program, threads))
                    })
                    .collect();
                let _ = writeln!(text, "    .{}{target}{touched}", slot_label(program, *slot));
            }
        }
        text
    }

    /// The same as a graph.
    #[must_use]
    pub fn graph(&self, program: &Program) -> Graph {
        let mut items = Vec::new();
        for (id, object) in
            self.objects.iter_with_ids().filter(|(_, object)| object.is_worth_showing())
        {
            let label =
                format!("{}{}", self.describe(program, id), self.properties_label(program, id));
            items.push(GraphItem::Node(GraphNode {
                id: format!("o{}", id.index()),
                lines: vec![label],
                outline: Outline::Single,
            }));
            for (slot, variable) in &object.variables {
                if let Some(target) =
                    variable.target.filter(|it| self.objects[*it].is_worth_showing())
                {
                    items.push(GraphItem::Edge(GraphEdge {
                        from: format!("o{}", id.index()),
                        to: format!("o{}", target.index()),
                        lines: vec![slot_label(program, *slot)],
                        style: EdgeStyle::Solid,
                    }));
                }
            }
        }
        Graph { name: "heap".to_string(), items, ..Graph::default() }
    }

    fn properties_label(&self, program: &Program, object: ObjectId) -> String {
        let properties = &self.objects[object].properties;
        let host = properties
            .host
            .map(|host| format!("object-specific to {}", self.describe(program, host)));
        let words: Vec<String> = [
            (properties.is_thread, "thread"),
            (properties.is_shared, "shared"),
            (properties.is_unique && !properties.is_class, "unique"),
            (properties.is_thread_specific, "thread-specific"),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, word)| word.to_owned())
        .chain(host)
        .collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
    }

    fn threads_label(&self, program: &Program, threads: &ThreadSet) -> String {
        let names: Vec<String> =
            threads.iter().map(|thread| self.describe_thread(program, thread)).collect();
        names.join(" and ")
    }
}

/// The numbers of objects among those of the same class, from 1; none for an object that is the only one of its class,
/// or whose class is not known.
pub(super) fn numbers(
    objects: &TypedVec<ObjectId, AbstractObject>,
) -> TypedVec<ObjectId, Option<usize>> {
    let mut alike: BTreeMap<ClassId, Vec<ObjectId>> = BTreeMap::new();
    for (id, object) in objects.iter_with_ids() {
        if let Some(class) = object.classes.first() {
            alike.entry(*class).or_default().push(id);
        }
    }
    let mut numbers = TypedVec::filled(None, objects.len());
    for alike in alike.values().filter(|alike| alike.len() > 1) {
        for (number, object) in (1..).zip(alike) {
            numbers[*object] = Some(number);
        }
    }
    numbers
}

impl AbstractObject {
    /// Classes whose static fields nobody touches say nothing.
    fn is_worth_showing(&self) -> bool {
        !self.properties.is_class
            || self.variables.values().any(|it| !it.readers.is_empty() || it.target.is_some())
    }
}

/// A slot as the source would write it.
#[must_use]
pub fn slot_label(program: &Program, slot: Slot) -> String {
    match slot {
        Slot::Field(field) => program.fields[field].name.to_string(),
        Slot::Element => "[]".to_owned(),
        Slot::Contents => "contents".to_owned(),
        Slot::Task => "task".to_owned(),
        Slot::Captured(number) => format!("captured {number}"),
    }
}

fn place_label(program: &Program, place: Place) -> String {
    let site = program.site(place.method, place.offset);
    let line = site.line.map_or(String::new(), |line| format!(":{line}"));
    format!("{}{line}", site.method_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_one_class_are_numbered_and_others_are_not() {
        let of_class = |classes: &[usize]| AbstractObject {
            classes: classes.iter().map(|class| ClassId::new(*class)).collect(),
            ..AbstractObject::default()
        };
        let objects: TypedVec<ObjectId, AbstractObject> =
            [&[3][..], &[], &[5], &[3, 5], &[], &[3]].into_iter().map(of_class).collect();
        let numbers = numbers(&objects);
        assert_eq!(numbers.as_slice(), [Some(1), None, None, Some(2), None, Some(3)]);
    }
}
