//! The rules stand in README.md with the sentence that `scission explain` has for them, each has its page, and the
//! description of the JSON format knows every kind of gap.

use anyhow::Result;
use findings::rules::{self, Rule};

use super::Problem;
use super::tree::Tree;

const README: &str = "README.md";
const GAPS: &str = "crates/findings/src/gap.rs";
const DESCRIPTIONS: [&str; 2] = ["docs/json-format.md", "docs/results.schema.json"];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = table(tree, rules::ALL)?;
    problems.extend(gaps(tree)?);
    Ok(problems)
}

fn table(tree: &Tree, rules: &[&Rule]) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let readme = tree.text(README)?;
    for rule in rules {
        let (name, summary) = (rule.name, rule.summary);
        let page = format!("docs/rules/{name}.md");
        if !tree.has(&page) {
            problems.push(Problem::of(&page, "the rule has no page: `cargo xtask docs` writes it"));
        }
        let (link, column) = (format!("| [`{name}`]({page}) |"), format!("| {summary} |"));
        let is_row = |line: &str| line.starts_with(&link) && line.contains(&column);
        if !readme.lines().any(is_row) {
            let default = if rule.on_by_default { "on" } else { "off" };
            let sentence =
                format!("the table of rules lacks `{link} {summary} | {default} |`: add the row");
            problems.push(Problem::of(README, sentence));
        }
    }
    for (index, line) in readme.lines().enumerate() {
        let named = line.strip_prefix("| [`").and_then(|rest| rest.split('`').next());
        let is_rule = |name: &str| rules.iter().any(|rule| rule.name == name);
        if let Some(name) = named.filter(|name| line.contains("docs/rules/") && !is_rule(name)) {
            problems.push(Problem::at(
                README,
                index + 1,
                format!("there is no rule `{name}`: remove the row"),
            ));
        }
    }
    Ok(problems)
}

fn gaps(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for kind in kinds_of_gaps(tree.text(GAPS)?) {
        for description in DESCRIPTIONS {
            let text = tree.text(description)?;
            if !text.contains(&format!("`{kind}`")) && !text.contains(&format!("\"{kind}\"")) {
                problems.push(Problem::of(
                    description,
                    format!("the kind of gap `{kind}` is missing: add it"),
                ));
            }
        }
    }
    Ok(problems)
}

/// The variants of the enum, as they are written in JSON.
fn kinds_of_gaps(source: &str) -> Vec<String> {
    let variants =
        source.split("pub enum GapKind {").nth(1).and_then(|rest| rest.split('}').next());
    let names =
        variants.unwrap_or_default().lines().map(str::trim).filter(|line| !line.starts_with("///"));
    let kebab = |name: &str| {
        let mut text = String::new();
        for (index, character) in name.trim_end_matches(',').chars().enumerate() {
            if character.is_uppercase() && index > 0 {
                text.push('-');
            }
            text.extend(character.to_lowercase());
        }
        text
    };
    names.filter(|name| !name.is_empty()).map(kebab).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_row_and_a_row_of_no_rule_are_problems() {
        let rule = rules::ALL[0];
        let row = format!("| [`{0}`](docs/rules/{0}.md) | {1} | on |\n", rule.name, rule.summary);
        let page = format!("docs/rules/{}.md", rule.name);
        let tree = |readme: &str| Tree::of(&[(README, readme), (&page, "")]);
        assert!(table(&tree(&row), &[rule]).unwrap().is_empty());
        assert_eq!(
            table(&tree(&row.replace(" | on", " and more | on")), &[rule]).unwrap().len(),
            1
        );
        let other = "| [`gone`](docs/rules/gone.md) | x | on |\n";
        let problems = table(&tree(&format!("{row}{other}")), &[rule]).unwrap();
        assert_eq!(problems, [Problem::at(README, 2, "there is no rule `gone`: remove the row")]);
        assert_eq!(table(&Tree::of(&[(README, &row)]), &[rule]).unwrap().len(), 1);
    }

    #[test]
    fn a_kind_of_gap_that_is_not_described_is_a_problem() {
        let source =
            "pub enum GapKind {\n    /// A.\n    Unreadable,\n    /// B.\n    NoThread,\n}\n";
        assert_eq!(kinds_of_gaps(source), ["unreadable", "no-thread"]);
        let tree = Tree::of(&[
            (GAPS, source),
            (DESCRIPTIONS[0], "`unreadable`, `no-thread`"),
            (DESCRIPTIONS[1], "[\"unreadable\"]"),
        ]);
        let problems = gaps(&tree).unwrap();
        assert_eq!(
            problems,
            [Problem::of(DESCRIPTIONS[1], "the kind of gap `no-thread` is missing: add it")]
        );
    }
}
