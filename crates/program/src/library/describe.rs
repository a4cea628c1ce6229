//! The derived summaries of library methods as text.

use std::fmt::Write;

use super::{CallBack, Called};
use crate::symbols::Program;
use models::Pattern;

impl Program {
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
            let by = match (self.effects[method], self.derived.contains_key(&method)) {
                (Some(_), _) => "by the models",
                (None, true) => "by its code",
                (None, false) if self.body(method).is_some() => "followed like the program",
                (None, false) => "unknown: the receiver keeps the arguments and gives them out",
            };
            let _ = writeln!(text, "{}: {by}", self.method_label(method));
            for effect in self.effects_of(method) {
                let _ = writeln!(text, "  {effect:?}");
            }
            for CallBack { on, is_kept, called } in self.calls_back(method) {
                let what = match called {
                    Called::Method(method) => self.method_label(*method),
                    Called::Any(class) => {
                        format!("any method of {}", self.classes[*class].dotted_name())
                    }
                };
                let by = if *is_kept { " on what is kept by" } else { " on" };
                let _ = writeln!(text, "  calls {what}{by} {on:?}");
            }
        }
        text
    }
}
