//! `report` is the only crate that knows JSON, SARIF and DOT, and only commands print. `agent_protocol` has a JSON file
//! of its own, which the agent leaves for the command line and nobody else reads.

use anyhow::Result;

use super::Problem;
use super::rust_source::{RustSource, has_word};
use super::tree::Tree;

/// Who may write JSON, by the crate that does it.
const JSON: &[&str] = &["report", "agent_protocol"];
/// Who may write graphs for `dot`.
const DOT: &[&str] = &["report"];
/// Who may print: the command; and the agent, which has one sentence for standard error.
const PRINT: &[&str] = &["cli", "agent"];

const PRINTING: &[&str] = &["println!", "print!", "eprintln!", "eprint!", "dbg!"];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(formats(tree))
}

fn formats(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in
        tree.rust_files().filter(|file| !file.is_test() && !file.path.ends_with("/build.rs"))
    {
        let Some(name) = file.crate_name() else { continue };
        let source = RustSource::new(&file.text);
        let mut problem = |line: usize, sentence: &str| {
            if !source.is_in_tests(line) {
                problems.push(Problem::at(&file.path, line, sentence));
            }
        };
        for (line, code) in source.lines() {
            if has_word(code, "serde_json") && !JSON.contains(&name) {
                problem(line, "JSON is written and read in `report`: move this there");
            }
            if PRINTING.iter().any(|word| has_word(code, word)) && !PRINT.contains(&name) {
                problem(line, "only commands print: return what is to be said");
            }
        }
        for (line, text) in &source.strings {
            if text.contains("digraph") && !DOT.contains(&name) {
                problem(*line, "graphs for `dot` are written in `report`: move this there");
            }
            if (text.contains("\\x1b[") || text.contains("\\u{1b}["))
                && name != "report"
                && name != "cli"
            {
                problem(*line, "only `report` knows colours: move this there");
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_outside_report() {
        let bad = "use serde_json::Value;\nlet a = \"digraph x {\";\neprintln!(\"b\");\nlet c = \"\\x1b[1m\";\n\
                   #[cfg(test)]\nmod tests { fn f() { println!(\"digraph\"); } }\n";
        let tree = Tree::of(&[
            ("crates/analyses/src/a.rs", bad),
            ("crates/analyses/tests/t.rs", bad),
            ("crates/report/src/json.rs", "use serde_json::Value;\nlet a = \"digraph x {\";"),
            ("crates/cli/src/main.rs", "println!(\"a\");"),
        ]);
        let lines: Vec<Option<usize>> =
            formats(&tree).into_iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [Some(1), Some(3), Some(2), Some(4)]);
    }
}
