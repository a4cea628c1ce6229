//! Links in the documents lead somewhere.

use anyhow::Result;

use super::Problem;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in tree.files().iter().filter(|file| file.path.ends_with(".md")) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, link) in local_links(&file.text) {
            if !tree.has(&joined(folder, link)) {
                let sentence = format!("`{link}` leads nowhere: correct the link");
                problems.push(Problem::at(&file.path, line, sentence));
            }
        }
    }
    Ok(problems)
}

/// A relative path, seen from a folder.
fn joined(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The targets of links that point into the repository, anchors cut off. Code is left out: what
/// stands between backquotes is no link.
pub(super) fn local_links(markdown: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code_block = false;
    for (index, line) in markdown.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code_block = !in_code_block;
            continue;
        }
        if in_code_block {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let inside_code = line[..at].matches('`').count() % 2 == 1;
            let Some(length) = line[at + 2..].find(')') else { continue };
            let target = &line[at + 2..at + 2 + length];
            let target = target.split('#').next().unwrap_or_default();
            if !inside_code && !target.is_empty() && !target.contains("://") {
                links.push((index + 1, target));
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_into_the_repository_are_followed() {
        let text = "[a](docs/a.md#part) and [b](https://x.org/y) `[c](d)` [e](#top)\n\
                    ```\n[f](g)\n```\n[h](../h.md) [i](i.md)";
        assert_eq!(local_links(text), [(1, "docs/a.md"), (5, "../h.md"), (5, "i.md")]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_a_problem() {
        let tree = Tree::of(&[
            ("docs/a.md", "[b](../b.md)\n[c](c.md) [rules](rules/)"),
            ("b.md", ""),
            ("docs/rules/x.md", ""),
        ]);
        let problems = check(&tree).unwrap();
        assert_eq!(
            problems,
            [Problem::at("docs/a.md", 2, "`c.md` leads nowhere: correct the link")]
        );
    }
}
