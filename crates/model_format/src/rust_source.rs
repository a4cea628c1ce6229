//! Rows as Rust source: what the build script of the built-in models writes.

use std::fmt::Write;

use crate::facts::{ClassScope, Matcher, ModelFile, Source};
use crate::words::InRust;

fn source(source: Source) -> String {
    format!("source({:?}, {})", source.file, source.line)
}

/// The tables of a file, or of several, as constants. Rows are sorted by class, method and descriptor,
/// the properties by what they are about; entry points keep their order.
#[must_use]
pub fn rust_source(file: &ModelFile) -> String {
    let mut text = String::new();
    let mut table = |name: &str, of: &str, rows: Vec<String>| {
        let _ = writeln!(text, "pub(crate) static {name}: &[{of}] = &[");
        for row in rows {
            let _ = writeln!(text, "    {row},");
        }
        text.push_str("];\n");
    };

    let mut rows = file.rows.clone();
    rows.sort_by_key(|row| (row.class, row.method, row.descriptor));
    let rows = rows.iter().map(|row| {
        let effects: Vec<String> = row.effects.iter().map(InRust::rust).collect();
        format!(
            "Model {{ class: {:?}, method: {:?}, descriptor: {:?}, effects: &[{}], since: {}, source: {} }}",
            row.class,
            row.method,
            row.descriptor,
            effects.join(", "),
            row.since,
            source(row.source)
        )
    });
    table("ROWS", "Model", rows.collect());

    let mut classes = file.classes.clone();
    classes.sort_by_key(|fact| (fact.scope, fact.property));
    let classes = classes.iter().map(|fact| {
        let scope = match fact.scope {
            ClassScope::Class(name) => format!("ClassScope::Class({name:?})"),
            ClassScope::Package(name) => format!("ClassScope::Package({name:?})"),
        };
        format!(
            "ClassFact {{ scope: {scope}, property: {}, source: {} }}",
            fact.property.rust(),
            source(fact.source)
        )
    });
    table("CLASSES", "ClassFact", classes.collect());

    let mut methods = file.methods.clone();
    methods.sort_by_key(|fact| (fact.class, fact.method, fact.descriptor, fact.property));
    let methods = methods.iter().map(|fact| {
        format!(
            "MethodFact {{ class: {:?}, method: {:?}, descriptor: {:?}, property: {}, source: {} }}",
            fact.class,
            fact.method,
            fact.descriptor,
            fact.property.rust(),
            source(fact.source)
        )
    });
    table("METHODS", "MethodFact", methods.collect());

    let mut fields = file.fields.clone();
    fields.sort_by_key(|fact| (fact.class, fact.field, fact.property));
    let fields = fields.iter().map(|fact| {
        format!(
            "FieldFact {{ class: {:?}, field: {:?}, property: {}, source: {} }}",
            fact.class,
            fact.field,
            fact.property.rust(),
            source(fact.source)
        )
    });
    table("FIELDS", "FieldFact", fields.collect());

    let entries = file.entry_points.iter().map(|entry| {
        let matcher = match entry.matcher {
            Matcher::AnyStatic => "Matcher::AnyStatic".to_owned(),
            Matcher::Subtype(name) => format!("Matcher::Subtype({name:?})"),
            Matcher::SubtypeOfPackage(name) => format!("Matcher::SubtypeOfPackage({name:?})"),
            Matcher::MethodAnnotation(name) => format!("Matcher::MethodAnnotation({name:?})"),
            Matcher::ClassAnnotation(name) => format!("Matcher::ClassAnnotation({name:?})"),
        };
        format!(
            "EntryPoint {{ matcher: {matcher}, method: {:?}, descriptor: {:?}, thread: {}, \
             multiplicity: {}, receiver: {}, only_without_caller: {}, source: {} }}",
            entry.method,
            entry.descriptor,
            entry.thread.rust(),
            entry.multiplicity.rust(),
            entry.receiver.rust(),
            entry.only_without_caller,
            source(entry.source)
        )
    });
    table("ENTRY_POINTS", "EntryPoint", entries.collect());

    let components = file.components.iter().map(|fact| {
        format!(
            "ComponentFact {{ annotation: {:?}, role: ComponentRole::{:?}, source: {} }}",
            fact.annotation,
            fact.role,
            source(fact.source)
        )
    });
    table("COMPONENTS", "ComponentFact", components.collect());

    let mut supertypes = file.supertypes.clone();
    supertypes.sort_by_key(|row| row.class);
    let supertypes = supertypes.iter().map(|row| {
        format!(
            "Supertypes {{ class: {:?}, supertypes: &{:?}, source: {} }}",
            row.class,
            row.supertypes,
            source(row.source)
        )
    });
    table("SUPERTYPES", "Supertypes", supertypes.collect());
    text
}
