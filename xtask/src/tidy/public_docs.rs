//! Every public item is documented: the compiler warns of those that are not (`missing_docs`), and the suite turns
//! warnings of clippy into failures. This check sees to nobody switching the warning off.

use anyhow::Result;

use super::rust_source::{RustSource, has_word};
use super::tree::Tree;
use super::{Exception, Problem, apply};

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "crates/classes/src/bytecode.rs",
        reason: "the names of the variants are the operations of the JVM",
    },
    Exception {
        path: "crates/model_format/src/effect.rs",
        reason: "the sentence of each effect says what its fields are",
    },
];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(apply(EXCEPTIONS, undocumented(tree)?, "public_docs.rs"))
}

fn undocumented(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| !file.is_test()) {
        let source = RustSource::new(&file.text);
        for (line, code) in source.lines() {
            if has_word(code, "missing_docs") && !source.is_in_tests(line) {
                let sentence = "the lint is about every public item: document them instead";
                problems.push(Problem::at(&file.path, line, sentence));
            }
        }
    }
    for manifest in ["Cargo.toml", "crates/agent/Cargo.toml"] {
        if !tree.text(manifest)?.contains("missing_docs = \"warn\"") {
            let sentence = "public items may go undocumented: restore `missing_docs = \"warn\"`";
            problems.push(Problem::of(manifest, sentence));
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lint_that_is_switched_off_is_a_problem() {
        let warns = "missing_docs = \"warn\"";
        let tree = Tree::of(&[
            ("Cargo.toml", warns),
            ("crates/agent/Cargo.toml", ""),
            ("crates/a/src/lib.rs", "\n#![allow(missing_docs)]\n"),
            ("crates/a/tests/t.rs", "#![allow(missing_docs)]\n"),
        ]);
        let problems = undocumented(&tree).unwrap();
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert_eq!((problems[0].file.as_str(), problems[0].line), ("crates/a/src/lib.rs", Some(2)));
        assert_eq!(problems[1].file, "crates/agent/Cargo.toml");
    }
}
