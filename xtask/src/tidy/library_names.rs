//! No class of a library is known by name outside the models: what an analysis, the instrumentation or the Java half
//! asks of one is a row or a property of a class there. `java/lang/` is the language itself.

use anyhow::Result;

use super::rust_source::RustSource;
use super::tree::Tree;
use super::{Exception, Problem, apply};

/// How names of library classes begin, in the form of class files; with dots they are names for people.
const LIBRARIES: &[&str] = &[
    "java/util/",
    "java/io/",
    "java/nio/",
    "java/net/",
    "java/text/",
    "java/time/",
    "java/awt/",
    "java/sql/",
    "java/security/",
    "java/lang/invoke/VarHandle",
    "javax/",
    "jakarta/",
    "kotlin/",
    "kotlinx/",
    "scala/",
    "com/google/",
    "com/sun/",
    "org/",
    "io/netty/",
    "sun/misc/",
    "jdk/internal/",
];

/// The crates that are about other things than class files, or about nothing else than the names.
const NOT_LOOKED_AT: &[&str] = &["models", "model_format", "report", "findings"];

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "crates/agent/src/library_facts.rs",
        reason: "how private classes of the JDK are laid out, which is no contract that a model could state",
    },
    Exception {
        path: "crates/agent/src/natives.rs",
        reason: "the signature of a field of the JDK's reflection, which hides added fields",
    },
];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(apply(EXCEPTIONS, names(tree), "library_names.rs"))
}

fn names(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in
        tree.rust_files().filter(|file| !file.is_test() && !file.path.ends_with("/build.rs"))
    {
        if file.crate_name().is_none_or(|name| NOT_LOOKED_AT.contains(&name)) {
            continue;
        }
        let source = RustSource::new(&file.text);
        for (line, text) in &source.strings {
            let found = LIBRARIES.iter().find(|library| names_class(text, library));
            if let Some(library) = found.filter(|_| !source.is_in_tests(*line)) {
                let sentence = format!(
                    "a class of a library (`{library}…`) is known by name: make it a row or a property in the models"
                );
                problems.push(Problem::at(&file.path, *line, sentence));
            }
        }
    }
    problems
}

/// Whether a literal is a name of the library, or a descriptor with one; not a path or a sentence with it.
fn names_class(text: &str, library: &str) -> bool {
    text.match_indices(library).any(|(at, _)| {
        at == 0 || text[..at].ends_with(['L', '[']) && !text[..at].contains([' ', ':'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_library_classes_are_found_outside_the_models() {
        let bad = "let a = \"java/util/Vector\";\nlet b = \"(Lkotlin/Unit;)V\";\nlet c = \"java/lang/Object\";\n\
                   let d = \"https://example.org/x\";\n#[cfg(test)]\nmod tests { const E: &str = \"java/util/Map\"; }\n";
        let tree = Tree::of(&[
            ("crates/analyses/src/a.rs", bad),
            ("crates/models/src/a.rs", bad),
            ("crates/analyses/tests/t.rs", bad),
        ]);
        let lines: Vec<Option<usize>> =
            names(&tree).into_iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(1), Some(2)]);
    }
}
