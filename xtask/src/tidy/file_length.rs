//! No source file has more than 1,000 lines, unless the list below says why it is one thing.

use anyhow::Result;

use super::tree::Tree;
use super::{Exception, Problem, apply};

const MOST_LINES: usize = 1000;

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "crates/program/src/ir/lower.rs",
        reason: "one pass over one method: blocks, values and handlers are made in turns from one state",
    },
    Exception {
        path: "crates/analyses/src/execution/engine.rs",
        reason: "one interpreter loop: its steps share the state of the context that they run in",
    },
    Exception {
        path: "crates/analyses/src/execution/flow.rs",
        reason: "one translation: an exhaustive match on instructions, with what each case needs",
    },
    Exception {
        path: "crates/analyses/src/stale_value/flow.rs",
        reason: "one transfer function: an exhaustive match on instructions, with what each case needs",
    },
    Exception {
        path: "crates/checkers/src/velodrome/graph.rs",
        reason: "the graph with its tests: every method keeps the same invariant of nodes and edges",
    },
];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(apply(EXCEPTIONS, long_files(tree), "file_length.rs"))
}

fn long_files(tree: &Tree) -> Vec<Problem> {
    let is_source = |path: &str| path.ends_with(".rs") || path.ends_with(".java");
    let mut problems = Vec::new();
    for file in tree.files().iter().filter(|file| is_source(&file.path)) {
        let lines = file.text.lines().count();
        if lines > MOST_LINES {
            let sentence = format!("{lines} lines: split the file by concern, or list the reason");
            problems.push(Problem::of(&file.path, sentence));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_a_problem() {
        let (long, short) = ("\n".repeat(1001), "\n".repeat(1000));
        let tree = Tree::of(&[("crates/a/src/long.rs", &long), ("crates/a/src/short.rs", &short)]);
        let problems = long_files(&tree);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("crates/a/src/long.rs: 1001 lines"));
    }
}
