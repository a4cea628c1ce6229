//! `cargo xtask tidy`: what ARCHITECTURE.md promises of the text of this tree, checked. One file a check, one list. A
//! check reads text and knows nothing of types; what the compiler or a lint can hold, they hold.

mod absolute_paths;
mod book;
mod clock_in_tests;
mod code_map;
mod crate_graph;
mod dependency_policy;
mod dependency_table;
mod file_length;
mod formats;
mod invariants;
mod library_names;
mod links;
mod public_docs;
mod rule_tables;
mod rust_source;
mod tree;
mod unsafe_code;
mod wildcard_arms;

use anyhow::{Result, bail};

use crate::{progress, root};
use tree::Tree;

/// One check.
pub(crate) struct Check {
    /// What ARCHITECTURE.md calls it.
    name: &'static str,
    run: fn(&Tree) -> Result<Vec<Problem>>,
}

/// All checks, in the order in which they run.
const CHECKS: &[Check] = &[
    Check { name: "links", run: links::check },
    Check { name: "book", run: book::check },
    Check { name: "code_map", run: code_map::check },
    Check { name: "invariants", run: invariants::check },
    Check { name: "crate_graph", run: crate_graph::check },
    Check { name: "dependency_table", run: dependency_table::check },
    Check { name: "dependency_policy", run: dependency_policy::check },
    Check { name: "rule_tables", run: rule_tables::check },
    Check { name: "formats", run: formats::check },
    Check { name: "library_names", run: library_names::check },
    Check { name: "unsafe_code", run: unsafe_code::check },
    Check { name: "public_docs", run: public_docs::check },
    Check { name: "wildcard_arms", run: wildcard_arms::check },
    Check { name: "clock_in_tests", run: clock_in_tests::check },
    Check { name: "absolute_paths", run: absolute_paths::check },
    Check { name: "file_length", run: file_length::check },
];

/// Something that a check does not allow, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Relative to the top of the repository.
    file: String,
    /// From 1; nothing for the file as a whole.
    line: Option<usize>,
    sentence: String,
}

impl Problem {
    fn at(file: &str, line: usize, sentence: impl Into<String>) -> Problem {
        Problem { file: file.to_string(), line: Some(line), sentence: sentence.into() }
    }

    fn of(file: &str, sentence: impl Into<String>) -> Problem {
        Problem { file: file.to_string(), line: None, sentence: sentence.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.file, self.sentence),
            None => write!(formatter, "{}: {}", self.file, self.sentence),
        }
    }
}

/// A file that a check lets pass, and why. One that needs no exception any more is a problem itself.
struct Exception {
    /// The file, or the folder when it ends in `/`.
    path: &'static str,
    reason: &'static str,
}

/// Takes out the problems that are excepted, and adds the exceptions that nobody needs. `list` is the file that has
/// the exceptions.
fn apply(exceptions: &[Exception], problems: Vec<Problem>, list: &str) -> Vec<Problem> {
    let covers = |exception: &Exception, problem: &Problem| {
        problem.file == exception.path
            || (exception.path.ends_with('/') && problem.file.starts_with(exception.path))
    };
    let mut left: Vec<Problem> = problems
        .iter()
        .filter(|problem| !exceptions.iter().any(|exception| covers(exception, problem)))
        .cloned()
        .collect();
    for exception in exceptions {
        if !problems.iter().any(|problem| covers(exception, problem)) {
            let Exception { path, reason } = exception;
            left.push(Problem::of(
                &format!("xtask/src/tidy/{list}"),
                format!("`{path}` needs no exception any more ({reason}): remove it"),
            ));
        }
    }
    left
}

/// Runs all checks, and fails with all that they found.
pub(crate) fn tidy() -> Result<()> {
    progress("tidy");
    let tree = Tree::read(&root())?;
    let mut lines = Vec::new();
    for check in CHECKS {
        let mut problems = (check.run)(&tree)?;
        problems.sort();
        lines.extend(problems.iter().map(|problem| format!("{problem} [{}]", check.name)));
    }
    if !lines.is_empty() {
        let count = lines.len();
        bail!("not tidy, {count} times:\n{}", lines.join("\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_counts_as_long_as_it_is_needed() {
        let problems = || vec![Problem::at("a/b.rs", 3, "bad"), Problem::of("c.rs", "bad")];
        let exception = |path| Exception { path, reason: "it is old" };
        assert_eq!(apply(&[exception("a/")], problems(), "x.rs"), [Problem::of("c.rs", "bad")]);
        let left =
            apply(&[exception("a/b.rs"), exception("c.rs"), exception("d.rs")], problems(), "x.rs");
        let [problem] = &left[..] else { panic!("{left:?}") };
        assert!(problem.to_string().starts_with("xtask/src/tidy/x.rs: `d.rs` needs no exception"));
    }

    #[test]
    fn a_problem_says_where() {
        assert_eq!(Problem::at("a.rs", 3, "do b").to_string(), "a.rs:3: do b");
    }
}
