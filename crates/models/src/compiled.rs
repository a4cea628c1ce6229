//! What compilers make of other languages: bodies under names of their own, and fields that are no
//! variables of the program.
//!
//! These statements are about classes of programs, which have no fixed names: they count for the subtypes of
//! a class, and a `*` stands for any characters of a name.

use std::iter;

use crate::pattern::covers;
use crate::{ClassProperty, FieldProperty, MethodProperty, Models, contents, language};

/// What is known of a class of the program when questions about its members are asked.
#[derive(Clone, Copy, Debug)]
pub struct ClassContext<'a> {
    /// Its internal name.
    pub name: &'a str,
    /// The supertypes that it names itself, as far as they are known.
    pub supertypes: &'a [&'a str],
}

impl ClassContext<'_> {
    /// Whether a statement about a class counts here. The root of all classes stands for any.
    fn is_meant_by(&self, models: &Models, pattern: &str) -> bool {
        let inherited = self.supertypes.iter().flat_map(|name| models.supertypes(name));
        pattern == language::OBJECT
            || iter::once(&self.name)
                .chain(self.supertypes)
                .chain(inherited)
                .any(|name| is_covered(pattern, name))
    }
}

fn is_covered(pattern: &str, name: &str) -> bool {
    // Names in the form of class files have no dots, at which a star would end.
    covers(pattern.as_bytes(), name.as_bytes())
}

/// Whether a method beside a field shows that the field is a lazy value of Scala 2, which the compiler makes once, under
/// a lock, and publishes by a bit in a volatile field.
#[must_use]
pub fn is_made_lazily(field: &str, method: &str) -> bool {
    method.strip_suffix("$lzycompute").is_some_and(|name| name == field)
}

impl Models {
    /// Whether a class is part of a library that is watched only where somebody names it.
    #[must_use]
    pub fn is_library(&self, class: &str) -> bool {
        self.is(class, ClassProperty::Library) && !self.is(class, ClassProperty::HoldsVariables)
    }

    /// Whether a method of a class of the program is the body of something, and no atomic block by itself.
    #[must_use]
    pub fn is_body(&self, class: ClassContext<'_>, method: &str, descriptor: &str) -> bool {
        self.methods_that_are(MethodProperty::Body).any(|fact| {
            is_covered(fact.method, method)
                && contents::descriptor_fits(fact.descriptor, descriptor)
                && class.is_meant_by(self, fact.class)
        })
    }

    /// Whether a field of a class of the program is one that the compiler made for itself.
    #[must_use]
    pub fn is_compiler_made(
        &self,
        class: ClassContext<'_>,
        field: &str,
        is_volatile: bool,
    ) -> bool {
        self.all_fields().any(|fact| {
            let counts = match fact.property {
                FieldProperty::CompilerMade => true,
                FieldProperty::MadeOnce => is_volatile,
                FieldProperty::OwnLock | FieldProperty::Viewed | FieldProperty::Ordering => false,
            };
            counts && is_covered(fact.field, field) && class.is_meant_by(self, fact.class)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MODELS: Models = Models::built_in();

    fn class<'a>(name: &'a str, supertypes: &'a [&'a str]) -> ClassContext<'a> {
        ClassContext { name, supertypes }
    }

    #[test]
    fn closures_are_bodies_and_functions_are_not() {
        let function = ["clojure/lang/AFunction"];
        let closure = class("bank$_main$fn__12", &function);
        assert!(MODELS.is_body(closure, "invoke", "()Ljava/lang/Object;"));
        let named = class("bank$transfer", &function);
        assert!(!MODELS.is_body(named, "invokeStatic", "()Ljava/lang/Object;"));
        let script = class("Script", &["groovy/lang/Script"]);
        assert!(MODELS.is_body(script, "run", "()Ljava/lang/Object;"));
        assert!(!MODELS.is_body(script, "transfer", "()Ljava/lang/Object;"));
    }

    #[test]
    fn the_state_of_a_coroutine_is_no_variable() {
        let supertypes = ["kotlin/coroutines/jvm/internal/ContinuationImpl"];
        let state = class("bank/Bank$transfer$1", &supertypes);
        assert!(MODELS.is_compiler_made(state, "label", false));
        assert!(MODELS.is_compiler_made(state, "L$0", false));
        assert!(!MODELS.is_compiler_made(class("bank/Bank", &[]), "label", false));
    }

    #[test]
    fn a_value_that_is_made_once_counts_when_it_is_not_volatile() {
        let shop = class("Shop", &["groovy/lang/GroovyObject"]);
        assert!(MODELS.is_compiler_made(shop, "$catalogue", true));
        assert!(!MODELS.is_compiler_made(shop, "$catalogue", false));
    }

    #[test]
    fn captured_variables_belong_to_the_program() {
        assert!(MODELS.is_library("kotlin/collections/ArrayDeque"));
        assert!(!MODELS.is_library("kotlin/jvm/internal/Ref$IntRef"));
        assert!(!MODELS.is_library("kotlinfans/Main"));
    }
}
