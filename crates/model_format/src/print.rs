//! Writing statements as they are read.

use crate::descriptor::method_text;
use crate::effect::Effect;
use crate::facts::{ClassScope, ComponentFact, EntryPoint, Matcher, ModelFile, Source};
use crate::words::Phrase;

/// The effects of a row, as they stand after the colon.
#[must_use]
pub fn effects_text(effects: &[Effect]) -> String {
    if effects.is_empty() {
        return "nothing".to_owned();
    }
    effects.iter().map(Phrase::text).collect::<Vec<_>>().join("; ")
}

/// One statement as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The line that is not indented: the whole statement, or the class that it is about.
    pub heading: String,
    /// The indented line below the class.
    pub line: Option<String>,
    /// The name of the class, with dots; none for what is about no class in particular.
    pub class: Option<String>,
    /// The name of the method or field.
    pub member: Option<&'static str>,
    /// Who says so.
    pub source: Source,
}

fn dotted(name: &str) -> String {
    name.trim_end_matches('/').replace('/', ".")
}

fn entry_text(entry: &EntryPoint) -> String {
    let receiver = entry.receiver.text();
    let parts = [
        "entry",
        entry.thread.word(),
        entry.multiplicity.word(),
        &receiver,
        if entry.only_without_caller { "unless-called" } else { "" },
    ];
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
}

/// Everything that a file says, statement by statement: first what is about whole classes and packages,
/// then the properties of members, then what methods do.
#[must_use]
pub fn statements(file: &ModelFile) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut of_class = |class: &str, words: String, source: Source| {
        let class = dotted(class);
        let heading = format!("class {class} {words}");
        found.push(Statement { heading, line: None, class: Some(class), member: None, source });
    };
    for row in &file.supertypes {
        let above: Vec<String> = row.supertypes.iter().map(|name| dotted(name)).collect();
        of_class(row.class, format!("extends {}", above.join(", ")), row.source);
    }
    for fact in &file.classes {
        if let ClassScope::Class(class) = fact.scope {
            of_class(class, format!("is {}", fact.property.word()), fact.source);
        }
    }
    let mut of_none = |heading: String, source: Source| {
        found.push(Statement { heading, line: None, class: None, member: None, source });
    };
    for fact in &file.classes {
        if let ClassScope::Package(package) = fact.scope {
            let heading = format!("package {} is {}", dotted(package), fact.property.word());
            of_none(heading, fact.source);
        }
    }
    for entry in &file.entry_points {
        let what = entry_text(entry);
        match entry.matcher {
            Matcher::AnyStatic => {
                let method = method_text(entry.method, entry.descriptor);
                of_none(format!("static {method} is {what}"), entry.source);
            }
            Matcher::SubtypeOfPackage(package) => {
                of_none(format!("package {} is {what}", dotted(package)), entry.source);
            }
            Matcher::MethodAnnotation(name) => {
                of_none(format!("annotation {name} is {what}"), entry.source);
            }
            Matcher::ClassAnnotation(name) => {
                of_none(format!("class-annotation {name} is {what}"), entry.source);
            }
            Matcher::Subtype(_) => {}
        }
    }
    for fact in &file.components {
        let ComponentFact { annotation, role, source } = *fact;
        of_none(format!("{} {annotation} is {}", role.heading(), role.word()), source);
    }
    let mut of_member =
        |class: &str, since: u8, member: &'static str, line: String, source: Source| {
            let class = dotted(class);
            let heading = match since {
                0 => format!("class {class}"),
                release => format!("class {class} since {release}"),
            };
            let (line, class) = (Some(line), Some(class));
            found.push(Statement { heading, line, class, member: Some(member), source });
        };
    for fact in &file.fields {
        let line = format!("field {} is {}", fact.field, fact.property.word());
        of_member(fact.class, 0, fact.field, line, fact.source);
    }
    for fact in &file.methods {
        let method = method_text(fact.method, fact.descriptor);
        let line = format!("{method} is {}", fact.property.word());
        of_member(fact.class, 0, fact.method, line, fact.source);
    }
    for entry in &file.entry_points {
        if let Matcher::Subtype(class) = entry.matcher {
            let method = method_text(entry.method, entry.descriptor);
            let line = format!("{method} is {}", entry_text(entry));
            of_member(class, 0, entry.method, line, entry.source);
        }
    }
    for row in &file.rows {
        let line =
            format!("{}: {}", method_text(row.method, row.descriptor), effects_text(row.effects));
        of_member(row.class, row.since, row.method, line, row.source);
    }
    found
}

/// Statements as the text of a file, each with a remark beside it if there is one. Statements about the
/// members of one class that follow each other stand below one heading.
pub fn print_statements(
    statements: &[Statement],
    remark: impl Fn(&Statement) -> Option<String>,
) -> String {
    let mut text = String::new();
    let mut heading: Option<&str> = None;
    for statement in statements {
        let remark = remark(statement).map_or_else(String::new, |remark| format!("  # {remark}"));
        match &statement.line {
            None => {
                text.push_str(&format!("{}{remark}\n", statement.heading));
                heading = None;
            }
            Some(line) => {
                if heading != Some(&statement.heading) {
                    text.push_str(&format!("{}\n", statement.heading));
                    heading = Some(&statement.heading);
                }
                text.push_str(&format!("  {line}{remark}\n"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn what_is_printed_reads_as_the_same() {
        let text = "class a.B is thread-safe\n\
                    class a.B is often-confined\n\
                    class a.C extends a.B, java.lang.Object\n\
                    package a.ui is user-interface\n\
                    package a.events is entry event-dispatch one shared-receiver\n\
                    annotation Hear is entry pool many\n\
                    class-annotation Serve is entry request many receiver-per-call\n\
                    static go(String[]) void is entry main one no-receiver\n\
                    class a.B\n  field lock is own-lock\n  run() void is task\n  \
                    on is entry own many unless-called\n\
                    class a.B since 21\n  lock(): acquire this exclusive; blocks\n  new: nothing\n";
        let file = parse("x.models", text, true).unwrap();
        let printed = print_statements(&statements(&file), |_| None);
        let again = parse("x.models", &printed, true).unwrap();
        let reprinted = print_statements(&statements(&again), |_| None);
        assert_eq!(printed, reprinted);
        for line in text.lines() {
            assert!(printed.contains(line), "{line} is not in\n{printed}");
        }
    }
}
