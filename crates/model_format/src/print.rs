//! Writing statements as they are read.

use crate::descriptor::method_text;
use crate::effect::Effect;
use crate::facts::{ClassScope, EntryPoint, Matcher, ModelFile};
use crate::words::Phrase;

/// The effects of a row, as they stand after the colon.
#[must_use]
pub fn effects_text(effects: &[Effect]) -> String {
    if effects.is_empty() {
        return "nothing".to_owned();
    }
    effects.iter().map(Phrase::text).collect::<Vec<_>>().join("; ")
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

/// Everything that a file says, one statement a line, in the order in which it is held. Reading the
/// text gives the same statements.
#[must_use]
pub fn print_file(file: &ModelFile) -> String {
    let mut text = String::new();
    let mut line = |indented: bool, statement: String| {
        text.push_str(if indented { "  " } else { "" });
        text.push_str(&statement);
        text.push('\n');
    };
    for row in &file.supertypes {
        let above: Vec<String> = row.supertypes.iter().map(|name| dotted(name)).collect();
        line(false, format!("class {} extends {}", dotted(row.class), above.join(", ")));
    }
    for fact in &file.classes {
        match fact.scope {
            ClassScope::Class(class) => {
                line(false, format!("class {} is {}", dotted(class), fact.property.word()));
            }
            ClassScope::Package(package) => {
                line(false, format!("package {} is {}", dotted(package), fact.property.word()));
            }
        }
    }
    for fact in &file.fields {
        line(false, format!("class {}", dotted(fact.class)));
        line(true, format!("field {} is {}", fact.field, fact.property.word()));
    }
    for fact in &file.methods {
        line(false, format!("class {}", dotted(fact.class)));
        let method = method_text(fact.method, fact.descriptor);
        line(true, format!("{method} is {}", fact.property.word()));
    }
    for entry in &file.entry_points {
        let what = entry_text(entry);
        let method = method_text(entry.method, entry.descriptor);
        match entry.matcher {
            Matcher::AnyStatic => line(false, format!("static {method} is {what}")),
            Matcher::Subtype(class) => {
                line(false, format!("class {}", dotted(class)));
                line(true, format!("{method} is {what}"));
            }
            Matcher::SubtypeOfPackage(package) => {
                line(false, format!("package {} is {what}", dotted(package)));
            }
            Matcher::MethodAnnotation(name) => line(false, format!("annotation {name} is {what}")),
            Matcher::ClassAnnotation(name) => {
                line(false, format!("class-annotation {name} is {what}"));
            }
        }
    }
    let mut before = None;
    for row in &file.rows {
        if before != Some((row.class, row.since)) {
            let since = match row.since {
                0 => String::new(),
                release => format!(" since {release}"),
            };
            line(false, format!("class {}{since}", dotted(row.class)));
            before = Some((row.class, row.since));
        }
        let method = method_text(row.method, row.descriptor);
        line(true, format!("{method}: {}", effects_text(row.effects)));
    }
    text
}
