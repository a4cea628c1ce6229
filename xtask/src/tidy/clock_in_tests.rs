//! No test depends on the clock: what waits for a time fails on a machine that is busy. Tests that look at a clock are
//! listed with the reason why a slow machine cannot make them fail.

use anyhow::Result;

use super::rust_source::{RustSource, has_word};
use super::tree::Tree;
use super::{Exception, Problem, apply};

/// Words that mean the clock of the machine.
const CLOCKS: &[&str] = &["Instant", "SystemTime", "sleep", "recv_timeout", "wait_timeout"];

const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "crates/cli/tests/agent/",
        reason: "a JVM that hangs is ended after minutes, killed at moments that may be any, and a server is asked \
                 until it answers",
    },
    Exception {
        path: "crates/cli/tests/interrupt.rs",
        reason: "commands end within two seconds of Ctrl-C, which is promised, and are given ten; it does not matter when \
                 they are interrupted",
    },
    Exception {
        path: "crates/instrument/tests/hooks/real.rs",
        reason: "prints how long classes take, and decides nothing by it",
    },
    Exception {
        path: "crates/instrument/tests/surgery/identity.rs",
        reason: "prints how long classes take, and decides nothing by it",
    },
];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(apply(EXCEPTIONS, clocks(tree), "clock_in_tests.rs"))
}

fn clocks(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| !file.path.contains("/examples/")) {
        let source = RustSource::new(&file.text);
        for (line, code) in source.lines() {
            let is_test = file.is_test() || source.is_in_tests(line);
            if is_test && let Some(clock) = CLOCKS.iter().find(|clock| has_word(code, clock)) {
                let sentence = format!(
                    "a test that asks the clock (`{clock}`): wait for the event itself, or list the reason"
                );
                problems.push(Problem::at(&file.path, line, sentence));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_found_in_tests_only() {
        let tree = Tree::of(&[
            (
                "crates/a/src/lib.rs",
                "fn f() { sleep(1); }\n#[cfg(test)]\nmod tests { Instant::now(); }\n",
            ),
            ("crates/a/tests/t.rs", "// sleep\nthread::sleep(d);\nasleep();\n"),
            ("crates/a/examples/e.rs", "Instant::now();"),
        ]);
        let places: Vec<(String, Option<usize>)> =
            clocks(&tree).into_iter().map(|problem| (problem.file, problem.line)).collect();
        let expected = [
            ("crates/a/src/lib.rs".to_string(), Some(3)),
            ("crates/a/tests/t.rs".to_string(), Some(2)),
        ];
        assert_eq!(places, expected);
    }
}
