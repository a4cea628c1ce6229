//! What users say of code that is not there.

use models::{ClassScope, Matcher, Model, ModelFile};

use crate::components::Components;
use crate::symbols::Program;
use crate::threads;

impl Program {
    /// The statements of users that are about no class or method of the program.
    #[must_use]
    pub fn unmatched_models(&self) -> ModelFile {
        let has_class = |name: &str| self.class_named(name).is_some();
        let has_method = |class: &str, method: &str| {
            self.class_named(class).is_some_and(|class| {
                self.classes[class].methods.iter().any(|it| *self.methods[*it].name == *method)
            })
        };
        let is_used = |row: &Model| {
            self.rows.iter().any(|used| used.is_some_and(|used| std::ptr::eq(used, row)))
        };
        let mut unmatched = self.models().said_by_users();
        let users = self.models().user_rows();
        unmatched.rows = users.iter().filter(|row| !is_used(row)).map(|row| **row).collect();
        unmatched.classes.retain(|fact| match fact.scope {
            ClassScope::Class(name) => !has_class(name),
            ClassScope::Package(prefix) => {
                !self.classes.iter().any(|class| class.name.starts_with(prefix))
            }
        });
        unmatched.methods.retain(|fact| !has_method(fact.class, fact.method));
        unmatched.fields.retain(|fact| {
            self.class_named(fact.class).is_none_or(|class| {
                !self.classes[class]
                    .fields
                    .iter()
                    .any(|field| *self.fields[*field].name == *fact.field)
            })
        });
        unmatched.entry_points.retain(|entry| match entry.matcher {
            Matcher::Subtype(name) if !has_class(name) => true,
            Matcher::AnyStatic
            | Matcher::Subtype(_)
            | Matcher::SubtypeOfPackage(_)
            | Matcher::MethodAnnotation(_)
            | Matcher::ClassAnnotation(_) => {
                !self.methods.ids().any(|method| threads::matches(self, method, entry))
            }
        });
        let components = Components::of(self);
        unmatched.components.retain(|fact| !components.is_used(self, fact));
        unmatched.supertypes.retain(|row| !has_class(row.class));
        unmatched
    }
}
