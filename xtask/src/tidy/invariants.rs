//! Every invariant in ARCHITECTURE.md names what holds it: a check of `tidy`, a test, or a lint. One that nothing
//! holds is a wish, and has no place in that list.

use anyhow::Result;

use super::Problem;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";
const HELD_BY: &str = "(held by ";

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let lints = tree.text("Cargo.toml")?;
    for (line, text) in invariants(tree.text(MAP)?) {
        let Some((_, holders)) = text.split_once(HELD_BY) else {
            let sentence =
                "the invariant names nothing that holds it: add `(held by …)`, or remove it";
            problems.push(Problem::at(MAP, line, sentence));
            continue;
        };
        let holders: Vec<&str> = holders.split('`').skip(1).step_by(2).collect();
        if holders.is_empty() {
            problems.push(Problem::at(
                MAP,
                line,
                "what holds the invariant is named in backquotes",
            ));
        }
        for holder in holders {
            let is_file = tree.files().iter().any(|file| {
                file.path == holder
                    || file.path.starts_with(&format!("{}/", holder.trim_end_matches('/')))
                    || file.path == format!("xtask/src/{holder}")
            });
            let is_lint = lints.contains(&format!("\n{holder} = "));
            if !is_file && !is_lint {
                let sentence =
                    format!("there is no check, test or lint `{holder}`: correct the name");
                problems.push(Problem::at(MAP, line, sentence));
            }
        }
    }
    Ok(problems)
}

/// The items of the list, each with its first line.
fn invariants(map: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut in_section = false;
    for (index, line) in map.lines().enumerate() {
        if line.starts_with("## ") {
            in_section = line == "## Invariants";
        } else if in_section && line.starts_with("- ") {
            items.push((index + 1, line.to_string()));
        } else if in_section
            && line.starts_with("  ")
            && let Some((_, item)) = items.last_mut()
        {
            item.push(' ');
            item.push_str(line.trim());
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invariant_that_nothing_holds_is_a_problem() {
        let map = "## Invariants\n\n- One (held by `tidy/one.rs`,\n  `crates/a/tests/` and the lint `missing_docs`).\n- Two.\n\
                   - Three (held by `tidy/gone.rs`).\n- Four (held by care).\n\n## Next\n\n- Five.\n";
        let tree = Tree::of(&[
            ("ARCHITECTURE.md", map),
            ("Cargo.toml", "[workspace.lints.rust]\nmissing_docs = \"warn\"\n"),
            ("crates/a/tests/t.rs", ""),
            ("xtask/src/tidy/one.rs", ""),
        ]);
        let lines: Vec<Option<usize>> = check(&tree).unwrap().iter().map(|it| it.line).collect();
        assert_eq!(lines, [Some(5), Some(6), Some(7)]);
    }
}
