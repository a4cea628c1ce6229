//! The objects that containers make and wire: components, of which there is one for everybody, and the fields that a
//! container writes them into.
//!
//! Which annotations say so is a matter of the models.
//!
//! Misses components that a program registers by calls, and those that are asked for by name. May take two components
//! of one type, of which a qualifier chooses, for both.

use std::collections::BTreeSet;

use classes::{Annotation, AnnotationValue};
use models::{ComponentFact, ComponentRole};

use crate::ids::{ClassId, FieldId, MethodId};
use crate::ir::Operation;
use crate::symbols::{Origin, Program};

/// Components of one declared type, at most, to be taken for what a field of that type refers to.
const MOST_OF_ONE_TYPE: usize = 4;

/// What containers call the scope in which there is one object of a class.
const SINGLETON_SCOPE: &str = "singleton";

/// The components of a program.
#[derive(Debug, Default)]
pub struct Components {
    /// The classes of which a container makes one object, each with the annotation that says so.
    shared: Vec<(ClassId, &'static str)>,
}

impl Components {
    /// The components among the application's classes.
    #[must_use]
    pub fn of(program: &Program) -> Components {
        let facts: Vec<&ComponentFact> = program.models().components().collect();
        let with_role = |role: ComponentRole| facts.iter().filter(move |fact| fact.role == role);
        let mut shared: Vec<(ClassId, &'static str)> = Vec::new();
        for (class, declared) in program.classes.iter_with_ids() {
            if declared.origin != Origin::Application {
                continue;
            }
            if declared.is_concrete() {
                let of_class = with_role(ComponentRole::SharedClass)
                    .find(|fact| has_annotation(program, class, fact.annotation));
                shared.extend(of_class.map(|fact| (class, fact.annotation)));
            }
            for method in &declared.methods {
                let annotations = program.annotations_of_method(*method);
                let produced = with_role(ComponentRole::Produced)
                    .find(|fact| annotations.iter().any(|it| it.is_named(fact.annotation)));
                // One with a scope of its own is not for everybody.
                let is_per_use = with_role(ComponentRole::ClassPerUse)
                    .any(|fact| says_per_use(annotations, fact.annotation));
                if let Some(fact) = produced.filter(|_| !is_per_use) {
                    let made = made_by(program, *method).into_iter();
                    shared.extend(made.map(|class| (class, fact.annotation)));
                }
            }
        }
        shared.retain(|(class, _)| {
            !with_role(ComponentRole::ClassPerUse)
                .any(|fact| says_per_use(program.annotations_of_class(*class), fact.annotation))
        });
        shared.sort_unstable();
        shared.dedup_by_key(|(class, _)| *class);
        Components { shared }
    }

    /// The classes of components, each with the annotation that makes it one.
    pub fn shared(&self) -> impl Iterator<Item = (ClassId, &'static str)> + '_ {
        self.shared.iter().copied()
    }

    /// The annotation that makes a class a component.
    #[must_use]
    pub fn annotation(&self, class: ClassId) -> Option<&'static str> {
        let found = self.shared.binary_search_by_key(&class, |(class, _)| *class).ok()?;
        Some(self.shared[found].1)
    }

    /// Whether everybody who asks for an object of a class gets one of their own.
    #[must_use]
    pub fn is_per_use(program: &Program, class: ClassId) -> bool {
        let mut facts = program.models().components();
        facts.any(|fact| {
            fact.role == ComponentRole::ClassPerUse
                && says_per_use(program.annotations_of_class(class), fact.annotation)
        })
    }

    /// The components that a field of a component, or of what a framework calls, refers to: those of its type.
    #[must_use]
    pub fn in_field(&self, program: &Program, field: FieldId) -> Vec<ClassId> {
        let Some(declared) = program.class_of_field(field) else { return Vec::new() };
        if self.shared.is_empty() || program.classes[declared].origin != Origin::Application {
            return Vec::new();
        }
        let fitting = self.shared.iter().map(|(class, _)| *class);
        let fitting: Vec<ClassId> =
            fitting.filter(|class| program.hierarchy.is_subtype(*class, declared)).collect();
        if fitting.len() > MOST_OF_ONE_TYPE { Vec::new() } else { fitting }
    }

    /// The components that objects of these classes refer to, and those that these refer to.
    #[must_use]
    pub fn wired_from(&self, program: &Program, classes: Vec<ClassId>) -> BTreeSet<ClassId> {
        let mut wired = BTreeSet::new();
        let mut seen: BTreeSet<ClassId> = BTreeSet::new();
        let mut todo = classes;
        while let Some(class) = todo.pop() {
            if !seen.insert(class) {
                continue;
            }
            for field in program.instance_fields(class) {
                for component in self.in_field(program, field) {
                    wired.insert(component);
                    todo.push(component);
                }
            }
        }
        wired
    }

    /// Whether something in the program carries the annotation of a statement.
    pub(crate) fn is_used(&self, program: &Program, fact: &ComponentFact) -> bool {
        let application = program.classes.iter_with_ids();
        let mut application = application.filter(|(_, class)| class.origin == Origin::Application);
        application.any(|(id, class)| match fact.role {
            ComponentRole::SharedClass | ComponentRole::ClassPerUse => {
                has_annotation(program, id, fact.annotation)
            }
            ComponentRole::Produced => class.methods.iter().any(|method| {
                let annotations = program.annotations_of_method(*method);
                annotations.iter().any(|it| it.is_named(fact.annotation))
            }),
            ComponentRole::Injected => class
                .fields
                .iter()
                .any(|field| is_annotated_field(program, *field, fact.annotation)),
        })
    }
}

impl Program {
    /// The fields that objects of a class have, also those that it inherits.
    #[must_use]
    pub fn instance_fields(&self, class: ClassId) -> Vec<FieldId> {
        let classes = self.hierarchy.superclasses(class);
        let fields = classes.flat_map(|class| self.classes[class].fields.iter().copied());
        fields.filter(|field| !self.fields[*field].is_static()).collect()
    }
}

/// The fields that a container writes, without any code that shows it.
pub(crate) fn injected_fields(program: &Program) -> Vec<FieldId> {
    let names: Vec<&str> = program
        .models()
        .components()
        .filter(|fact| fact.role == ComponentRole::Injected)
        .map(|fact| fact.annotation)
        .collect();
    let classes = program.classes.iter().filter(|class| class.origin == Origin::Application);
    let fields = classes.flat_map(|class| class.fields.iter().copied());
    fields
        .filter(|field| names.iter().any(|name| is_annotated_field(program, *field, name)))
        .collect()
}

fn is_annotated_field(program: &Program, field: FieldId, name: &str) -> bool {
    program.annotations_of_field(field).iter().any(|annotation| annotation.is_named(name))
}

/// Whether one of these annotations says that everybody gets an object of their own. An annotation that takes the name of
/// a scope can as well say that there is one object, as if it were not there.
fn says_per_use(annotations: &[Annotation], name: &str) -> bool {
    let is_singleton = |annotation: &Annotation| {
        annotation.elements.iter().any(|(_, value)| match value {
            AnnotationValue::String(scope) => &**scope == SINGLETON_SCOPE,
            _ => false,
        })
    };
    annotations.iter().any(|annotation| annotation.is_named(name) && !is_singleton(annotation))
}

fn has_annotation(program: &Program, class: ClassId, name: &str) -> bool {
    program.annotations_of_class(class).iter().any(|annotation| annotation.is_named(name))
}

/// The application's classes that a method makes objects of to return them.
fn made_by(program: &Program, method: MethodId) -> Vec<ClassId> {
    let descriptor = &program.methods[method].descriptor;
    let returned = descriptor.rsplit(')').next().and_then(|it| program.class_of_descriptor(it));
    let (Some(returned), Some(body)) = (returned, program.body(method)) else { return Vec::new() };
    let made = body.instructions().filter_map(|instruction| match &instruction.operation {
        Operation::New(class) => Some(*class),
        _ => None,
    });
    made.filter(|class| {
        program.classes[*class].origin == Origin::Application
            && program.hierarchy.is_subtype(*class, returned)
    })
    .collect()
}
