//! No text in this tree names a place of the machine it was written on. Paths that every Unix system has are written
//! with a directory that is nobody's.

use anyhow::Result;

use super::rust_source::RustSource;
use super::tree::Tree;
use super::{Exception, Problem, apply};

/// How the paths of people and of their machines begin.
const PRIVATE: &[&str] = &["/home/", "/root/", "/Users/", "/tmp/", "/work/", "/mnt/"];

/// Whom examples and samples belong to.
const NOBODY: &str = "/home/ada";

const EXCEPTIONS: &[Exception] =
    &[Exception { path: "xtask/src/tidy/absolute_paths.rs", reason: "this list" }];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(apply(EXCEPTIONS, paths(tree), "absolute_paths.rs"))
}

fn paths(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.files() {
        let tests_from = file.is_rust().then(|| RustSource::new(&file.text).tests_from).flatten();
        for (index, line) in file.text.lines().enumerate() {
            let is_test = file.is_test() || tests_from.is_some_and(|from| index + 1 >= from);
            let found = PRIVATE.iter().find(|private| is_absolute(line, private));
            // Tests may name files that are nowhere.
            if let Some(found) = found.filter(|found| !is_test || **found != "/tmp/") {
                let sentence =
                    format!("`{found}…` is a place on some machine: write a relative path");
                problems.push(Problem::at(&file.path, index + 1, sentence));
            }
        }
    }
    problems
}

/// Whether a path begins here, and not a part of one: `docs/home/x` is relative, `…/work/` is too.
fn is_absolute(line: &str, private: &str) -> bool {
    let continues = |character: char| character.is_alphanumeric() || "._-/*}…".contains(character);
    line.match_indices(private).any(|(at, _)| {
        let is_nobodys = line[at..].starts_with(NOBODY);
        !is_nobodys && !line[..at].chars().next_back().is_some_and(continues)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_are_found() {
        let tree = Tree::of(&[
            ("README.md", "see docs/home/a\nsee /home/bob/b\nsee /home/ada/b\n"),
            ("crates/a/src/lib.rs", "let a = \"/tmp/x\"; let b = \"a/tmp/b\";"),
        ]);
        let places: Vec<(String, Option<usize>)> =
            paths(&tree).into_iter().map(|problem| (problem.file, problem.line)).collect();
        let expected =
            [("README.md".to_string(), Some(2)), ("crates/a/src/lib.rs".to_string(), Some(1))];
        assert_eq!(places, expected);
    }
}
