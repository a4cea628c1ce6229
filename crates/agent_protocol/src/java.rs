//! The tables of this crate as constants of the Java half.

use crate::layout::LAYOUT;
use crate::{
    ClassFact, ConfigurationWord, EventKind, Op, OrderMode, TreeOperation, VariableForm, layout,
};

/// A name of a table as Java writes constants: `EarlierRead` is `EARLIER_READ`.
#[must_use]
pub fn constant_name(name: &str) -> String {
    let mut constant = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !constant.is_empty() {
            constant.push('_');
        }
        constant.push(character.to_ascii_uppercase());
    }
    constant
}

/// The source of `java.lang.ScissionProtocol`, which holds nothing but constants. The compiler puts their values
/// where they are used, so that the class is not there at run time.
#[must_use]
pub fn java_constants() -> String {
    let mut rows = Vec::new();
    let mut row = |meaning: &str, declaration: String| {
        // A comment ends with `*/`; references of Rust mean nothing in Java.
        let meaning = meaning.replace("*/", "").replace("[`", "`").replace("`]", "`");
        rows.push(format!("    /** {meaning} */\n    static final {declaration};\n"));
    };
    for (name, value, meaning) in LAYOUT {
        row(meaning, format!("int {name} = {value}"));
    }
    for kind in EventKind::ALL {
        let (name, number) = (constant_name(kind.name()), kind.record_number());
        row(kind.meaning(), format!("int EVENT_{name} = {number}"));
    }
    for op in Op::ALL {
        let meaning = format!("`Op::{}`.", op.name());
        row(&meaning, format!("int OP_{} = {}", constant_name(op.name()), op.number()));
    }
    for word in ConfigurationWord::ALL {
        let name = constant_name(word.name());
        row(word.meaning(), format!("int WORD_{name} = {}", *word as i32));
    }
    for form in VariableForm::ALL {
        let (name, number) = (constant_name(form.name()), *form as i64);
        row(form.meaning(), format!("long OF_{name} = {number}L << {}", layout::FORM_SHIFT));
    }
    for mode in OrderMode::ALL {
        let name = constant_name(mode.name());
        row(mode.meaning(), format!("int ORDER_{name} = {}", *mode as i32));
    }
    for operation in TreeOperation::ALL {
        let name = constant_name(operation.name());
        row(operation.meaning(), format!("int TREE_{name} = {}", operation.in_tree()));
    }
    for fact in ClassFact::ALL {
        let name = constant_name(fact.name());
        row(fact.meaning(), format!("int FACT_{name} = {}", fact.bit()));
    }
    format!(
        "package java.lang;\n\n\
         /** What both halves of the agent must agree on. Generated from the tables of the crate `agent_protocol`. */\n\
         final class ScissionProtocol {{\n    private ScissionProtocol() {{}}\n\n{}}}\n",
        rows.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_constants() {
        assert_eq!(constant_name("Read"), "READ");
        assert_eq!(constant_name("EarlierRead"), "EARLIER_READ");
    }

    #[test]
    fn every_table_is_there() {
        let source = java_constants();
        for constant in [
            "static final int SITE_BITS = 24;",
            "static final int EVENT_READ = 1;",
            "static final int OP_GATHER = 29;",
            "static final int WORD_RING = 0;",
            "static final long OF_ELEMENT = 2L << 32;",
            "static final int FACT_SHARED_LOCK = 8;",
        ] {
            assert!(source.contains(constant), "{constant} is missing");
        }
        assert_eq!(source.matches("EVENT_").count(), EventKind::ALL.len());
    }
}
