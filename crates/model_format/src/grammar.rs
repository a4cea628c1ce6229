//! The statements of the format, and the page that describes it all.

use crate::effect::effect_forms;
use crate::vocabulary::{
    ClassProperty, EntryThread, FieldProperty, MethodProperty, Mode, Multiplicity, OPERANDS,
    Ordering, Outcome, RUNNERS, ReceiverSharing, Times, WaitKind,
};
use crate::words::Word;

/// One kind of statement.
#[derive(Debug)]
pub struct Form {
    /// The word that it begins with; a statement that is indented begins with a name instead.
    pub word: &'static str,
    /// The whole of it, with capital letters for what is to be filled in.
    pub shape: &'static str,
    /// What it says, in whole sentences.
    pub meaning: &'static str,
    /// An example of it.
    pub example: &'static str,
}

/// Every kind of statement that is not indented.
pub const FORMS: &[Form] = &[
    Form {
        word: "class",
        shape: "class CLASS, CLASS [since RELEASE] [is PROPERTY, PROPERTY] [extends CLASS, CLASS]",
        meaning: "Begins what is said of these classes: the indented lines below it. `is` says what \
                  they promise, `since` which Java release has the methods below, and `extends` names \
                  the supertypes of a library class that have rows, in the order in which rows are \
                  looked for.",
        example: "class com.acme.SpinLock, com.acme.TicketLock is thread-safe",
    },
    Form {
        word: "package",
        shape: "package PACKAGE is PROPERTY, PROPERTY",
        meaning: "Says something of every class of a package and of the packages below it. \
                  `is entry …` says that methods of all their subtypes are entry points.",
        example: "package com.acme.ui is user-interface",
    },
    Form {
        word: "annotation",
        shape: "annotation NAME, NAME is entry THREAD COUNT [RECEIVER]",
        meaning: "Methods with an annotation of this simple name are entry points.",
        example: "annotation Subscribe is entry pool many shared-receiver",
    },
    Form {
        word: "class-annotation",
        shape: "class-annotation NAME, NAME is entry THREAD COUNT [RECEIVER]",
        meaning: "The public methods of classes with an annotation of this simple name are entry \
                  points.",
        example: "class-annotation Endpoint is entry request many shared-receiver",
    },
    Form {
        word: "class-annotation",
        shape: "class-annotation NAME, NAME is component",
        meaning: "A container makes one object of each class with such an annotation and gives it to all \
                  who ask for its type; `component-per-use` says that everybody gets an object of their \
                  own, whatever other annotations say. A full name means the annotation of that package \
                  alone.",
        example: "class-annotation Repository, com.acme.Shared is component",
    },
    Form {
        word: "annotation",
        shape: "annotation NAME, NAME is component",
        meaning: "What a method with such an annotation returns is one object, which a container gives to \
                  all who ask for its type.",
        example: "annotation Provides is component",
    },
    Form {
        word: "field-annotation",
        shape: "field-annotation NAME, NAME is injected",
        meaning: "A container writes the component of the declared type into fields with such an \
                  annotation. Fields that constructors and setters write need no statement.",
        example: "field-annotation Wired is injected",
    },
    Form {
        word: "static",
        shape: "static METHOD is entry THREAD COUNT [RECEIVER]",
        meaning: "Static methods of this name and these parameters are entry points, in any class.",
        example: "static main(String[]) void is entry main one no-receiver",
    },
    Form {
        word: "import",
        shape: "import CLASS",
        meaning: "Lets parameters below name this class by its simple name. The classes of `java.lang` \
                  need no import; any other simple name is a class without package.",
        example: "import java.util.concurrent.TimeUnit",
    },
    Form {
        word: "since",
        shape: "since RELEASE",
        meaning: "The oldest Java release that has the methods of this file. For libraries that come \
                  with Java.",
        example: "since 17",
    },
];

/// Every kind of statement that is indented.
const ROW_FORMS: &[Form] = &[
    Form {
        word: "METHOD",
        shape: "METHOD, METHOD: EFFECT; EFFECT",
        meaning: "What a call does. `nothing` says that the method was looked at and does nothing that \
                  matters here.",
        example: "lock, lockInterruptibly: acquire this exclusive; blocks",
    },
    Form {
        word: "METHOD",
        shape: "METHOD, METHOD is PROPERTY, PROPERTY",
        meaning: "What else is known about a method.",
        example: "onMessage(String) void is task",
    },
    Form {
        word: "METHOD",
        shape: "METHOD, METHOD is entry THREAD COUNT [RECEIVER] [unless-called]",
        meaning: "Code outside the program calls the method, on this class and its subtypes. \
                  `unless-called` is for methods that are reached through a call that another row \
                  describes, and are entry points only where no such call is found. `*` is any method.",
        example: "onMessage is entry pool many shared-receiver",
    },
    Form {
        word: "field",
        shape: "field NAME is PROPERTY",
        meaning: "What is known about a field.",
        example: "field mutex is own-lock",
    },
];

/// The description of the whole format, in Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = String::new();
    let forms = |page: &mut String, forms: &[Form]| {
        for form in forms {
            page.push_str(&format!(
                "- `{}`\n\n  {} Example: `{}`\n\n",
                form.shape, form.meaning, form.example
            ));
        }
    };
    page.push_str("### Statements\n\n");
    forms(&mut page, FORMS);
    page.push_str("### Lines below a class\n\n");
    forms(&mut page, ROW_FORMS);
    page.push_str("### Effects\n\n| Effect | What it means | Example |\n|---|---|---|\n");
    for form in effect_forms() {
        page.push_str(&format!(
            "| `{}` | {} | `{}` |\n",
            form.shape,
            form.meaning.trim(),
            form.example
        ));
    }
    let pairs = |page: &mut String, title: &str, rows: &[(&str, &str)]| {
        page.push_str(&format!("\n### {title}\n\n| Word | What it means |\n|---|---|\n"));
        for (word, meaning) in rows {
            page.push_str(&format!("| `{word}` | {} |\n", meaning.trim()));
        }
    };
    fn rows<T>(table: &'static [Word<T>]) -> Vec<(&'static str, &'static str)> {
        table.iter().map(|word| (word.word, word.meaning)).collect()
    }
    pairs(&mut page, "Operands (OPERAND)", OPERANDS);
    pairs(&mut page, "Modes of locks (MODE)", &rows(Mode::WORDS));
    pairs(&mut page, "Outcomes (OUTCOME); without one, always", &rows(Outcome::WORDS));
    pairs(&mut page, "Kinds of waiting (KIND)", &rows(WaitKind::WORDS));
    pairs(&mut page, "Memory orderings (ORDERING); without one, volatile", &rows(Ordering::WORDS));
    pairs(&mut page, "Runners (RUNNER)", RUNNERS);
    pairs(&mut page, "Numbers of runs (TIMES); without one, once", &rows(Times::WORDS));
    pairs(&mut page, "Properties of classes", &rows(ClassProperty::WORDS));
    pairs(&mut page, "Properties of methods", &rows(MethodProperty::WORDS));
    pairs(&mut page, "Properties of fields", &rows(FieldProperty::WORDS));
    pairs(&mut page, "Threads of entry points (THREAD)", &rows(EntryThread::WORDS));
    pairs(&mut page, "Numbers of calls at a time (COUNT)", &rows(Multiplicity::WORDS));
    pairs(
        &mut page,
        "Receivers of entry points (RECEIVER); without one, any",
        &rows(ReceiverSharing::WORDS),
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn every_example_of_a_statement_is_right() {
        for form in FORMS {
            assert!(form.example.starts_with(form.word), "{}", form.example);
            parse("example", form.example, true).unwrap_or_else(|problems| panic!("{problems:?}"));
        }
        for form in ROW_FORMS {
            let text = format!("class a.B\n  {}", form.example);
            parse("example", &text, true).unwrap_or_else(|problems| panic!("{problems:?}"));
        }
    }
}
