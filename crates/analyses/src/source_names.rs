//! Names of classes and fields as the source has them, whatever compilers made of them.

use program::Program;
use program::ids::{ClassId, FieldId};

/// The name of a class without its package: `Outer.Inner`. Compilers of Scala and Kotlin put a `$` behind the name of an
/// object, which is no part of it.
pub(crate) fn class_name(program: &Program, class: ClassId) -> String {
    let name = &*program.classes[class].name;
    let simple = name.rsplit('/').next().unwrap_or(name);
    simple.trim_end_matches('$').replace('$', ".")
}

/// The last part of the name of a class: `Inner`; an anonymous class is named with the class around it, as `Outer$1`.
fn innermost_name(program: &Program, class: ClassId) -> String {
    let name = &*program.classes[class].name;
    let simple = name.rsplit('/').next().unwrap_or(name).trim_end_matches('$');
    match simple.rsplit_once('$') {
        Some((_, inner)) if !inner.starts_with(|it: char| it.is_ascii_digit()) => inner.to_string(),
        Some((outer, number)) => {
            let outer = outer.rsplit('$').next().unwrap_or(outer);
            format!("{outer}${number}")
        }
        None => simple.to_string(),
    }
}

/// A field as the source names it: `Account.balance`, and `key` for a local variable that a class has captured.
pub(crate) fn field_name(program: &Program, field: FieldId) -> String {
    let declared = &program.fields[field];
    match captured_name(&declared.name) {
        Some(variable) => variable.to_string(),
        None => format!("{}.{}", innermost_name(program, declared.class), declared.name),
    }
}

/// The local variable that a field of a local or anonymous class holds.
pub(crate) fn captured_name(field: &str) -> Option<&str> {
    field.strip_prefix("val$").filter(|name| !name.is_empty())
}
