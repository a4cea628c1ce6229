//! Every dependency has a row in ARCHITECTURE.md that says what it is for, and every row has its dependency.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Problem;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let rows = rows(tree.text(MAP)?);
    let mut used = BTreeSet::new();
    let mut in_section = false;
    for (index, line) in tree.text("Cargo.toml")?.lines().enumerate() {
        if line.starts_with('[') {
            in_section = line == "[workspace.dependencies]";
        } else if in_section
            && !line.contains("path = ")
            && !line.starts_with('#')
            && !line.is_empty()
        {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            used.insert(name);
            if !rows.iter().any(|(_, row)| row == name) {
                let sentence = format!(
                    "`{name}` has no row under \"Dependencies\" in {MAP}: say what it saves"
                );
                problems.push(Problem::at("Cargo.toml", index + 1, sentence));
            }
        }
    }
    for (line, row) in rows {
        if !used.contains(row.as_str()) {
            let sentence = format!("`{row}` is no dependency of the workspace: remove the row");
            problems.push(Problem::at(MAP, line, sentence));
        }
    }
    Ok(problems)
}

/// The names in the first column; what follows `with` is a feature.
fn rows(map: &str) -> Vec<(usize, String)> {
    let mut rows = Vec::new();
    let mut in_section = false;
    for (index, line) in map.lines().enumerate() {
        if line.starts_with("## ") {
            in_section = line == "## Dependencies";
        } else if in_section && line.starts_with("| `") {
            let column = line.split('|').nth(1).unwrap_or_default();
            let column = column.split(" with ").next().unwrap_or_default();
            let names = column.split('`').skip(1).step_by(2);
            rows.extend(names.map(|name| (index + 1, name.to_string())));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_dependencies_are_the_same() {
        let tree = Tree::of(&[
            (
                "ARCHITECTURE.md",
                "## Dependencies\n\n| crate | why |\n|---|---|\n| `a`, `b` with `c` | x |\n| `d` | y |\n",
            ),
            (
                "Cargo.toml",
                "[workspace.dependencies]\nours = { path = \"x\" }\n\na = \"1\"\nb = \"1\"\ne = { version = \"1\" }\n",
            ),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("Cargo.toml:6: `e` has no row"));
        assert!(found[1].starts_with("ARCHITECTURE.md:6: `d` is no dependency"));
    }
}
