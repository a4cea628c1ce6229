//! The derived summaries of library methods as text.

use std::fmt::Write;

use super::{CallBack, Called};
use crate::symbols::Program;
use models::{Pattern, Phrase};

impl Program {
    /// What the code of library methods says that they do, of those that the application calls and whose
    /// names match, in the format of models.
    #[must_use]
    pub fn summarised_models_text(&self, wanted: &Pattern) -> String {
        let mut text = String::new();
        let mut class_before = String::new();
        for method in super::called(self) {
            let class = self.class_of(method).dotted_name();
            let declared = &self.methods[method];
            let is_wanted = wanted.matches(&format!("{class}.{}", declared.name));
            if !is_wanted || self.row_of(method).is_some() || !self.derived.contains_key(&method) {
                continue;
            }
            if class != class_before {
                let _ = writeln!(text, "class {class}");
                class_before = class;
            }
            let method_text = models::method_text(&declared.name, &declared.descriptor);
            let effects = models::effects_text(self.effects_of(method));
            let _ = writeln!(text, "  {method_text}: {effects}  # summarised from its code");
        }
        text
    }

    /// What the library methods that the application calls, and whose names match, are taken to do.
    #[must_use]
    pub fn library_text(&self, wanted: &Pattern) -> String {
        let mut text = String::new();
        for method in super::called(self) {
            let name =
                format!("{}.{}", self.class_of(method).dotted_name(), self.methods[method].name);
            if !wanted.matches(&name) {
                continue;
            }
            let by = match (self.row_of(method), self.derived.contains_key(&method)) {
                (Some(row), _) if row.source.is_user => "by models of the user",
                (Some(_), _) => "by the models",
                (None, true) => "by its code",
                (None, false) if self.body(method).is_some() => "followed like the program",
                (None, false) => "unknown: the receiver keeps the arguments and gives them out",
            };
            let _ = writeln!(text, "{}: {by}", self.method_label(method));
            for effect in self.effects_of(method) {
                let _ = writeln!(text, "  {}", effect.text());
            }
            for CallBack { on, is_kept, called } in self.calls_back(method) {
                let what = match called {
                    Called::Method(method) => self.method_label(*method),
                    Called::Any(class) => {
                        format!("any method of {}", self.classes[*class].dotted_name())
                    }
                };
                let by = if *is_kept { " on what is kept by" } else { " on" };
                let _ = writeln!(text, "  calls {what}{by} {}", on.text());
            }
        }
        text
    }
}
