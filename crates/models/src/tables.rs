//! The statements that come with Scission, as the build script has packed them, and how they are
//! searched.

use model_format::{
    ClassFact, ClassProperty, ClassScope, ComponentFact, ComponentRole, Effect, EntryPoint,
    EntryThread, FieldFact, FieldProperty, Matcher, MethodFact, MethodProperty, Mode, Model,
    Multiplicity, Operand, Ordering, Outcome, ReceiverSharing, Runner, Source, Supertypes, Times,
    WaitKind, row_hash,
};

const fn source(file: &'static str, line: u32) -> Source {
    Source { file, line, is_user: false }
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The rows of a method of exactly this class.
pub(crate) fn rows_of(class: &str, method: &str) -> &'static [Model] {
    let size = ROW_INDEX.len();
    let mut slot = row_hash(class, method) as usize % size;
    loop {
        let Some(position) = usize::from(ROW_INDEX[slot]).checked_sub(1) else { return &[] };
        let rows = &ROWS[position..];
        if rows[0].class == class && rows[0].method == method {
            let length =
                rows.iter().take_while(|row| row.class == class && row.method == method).count();
            return &rows[..length];
        }
        slot = (slot + 1) % size;
    }
}

/// What is said of the methods of exactly this class.
pub(crate) fn methods_of(class: &str) -> &'static [MethodFact] {
    let start = METHODS.partition_point(|fact| fact.class < class);
    let length = METHODS[start..].partition_point(|fact| fact.class == class);
    &METHODS[start..start + length]
}

/// What is said of exactly this class.
pub(crate) fn facts_of(class: &str) -> &'static [ClassFact] {
    let is_before = |fact: &ClassFact| match fact.scope {
        ClassScope::Class(name) => name < class,
        ClassScope::Package(_) => false,
    };
    let is_it = |fact: &&ClassFact| matches!(fact.scope, ClassScope::Class(name) if name == class);
    let start = CLASSES.partition_point(is_before);
    let length = CLASSES[start..].iter().take_while(is_it).count();
    &CLASSES[start..start + length]
}

/// What is said of packages; they come after the classes.
pub(crate) fn facts_of_packages() -> &'static [ClassFact] {
    let start = CLASSES.partition_point(|fact| matches!(fact.scope, ClassScope::Class(_)));
    &CLASSES[start..]
}
