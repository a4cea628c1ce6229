//! The pages in `docs/` are a book: each page is in its table of contents, once, and none of them leads out of it by a path
//! that readers of the book do not have.

use anyhow::Result;

use super::Problem;
use super::links::local_links;
use super::tree::Tree;

const CONTENTS: &str = "docs/SUMMARY.md";
const PAGES: &str = "docs/";

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let listed: Vec<&str> =
        local_links(tree.text(CONTENTS)?).into_iter().map(|(_, link)| link).collect();
    for file in tree.files() {
        let Some(page) = file.path.strip_prefix(PAGES).filter(|page| page.ends_with(".md")) else {
            continue;
        };
        if file.path == CONTENTS {
            continue;
        }
        let count = listed.iter().filter(|link| **link == page).count();
        if count != 1 {
            let sentence = format!("the page `{page}` is listed {count} times: list it once");
            problems.push(Problem::of(CONTENTS, sentence));
        }
        let depth = page.matches('/').count();
        for (line, link) in local_links(&file.text) {
            if link.matches("../").count() > depth {
                let sentence = format!("`{link}` is not in the book: name it without a link");
                problems.push(Problem::at(&file.path, line, sentence));
            }
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_listed_once_and_leads_to_other_pages() {
        let tree = Tree::of(&[
            (CONTENTS, "- [a](a.md)\n- [x](rules/x.md)\n- [x](rules/x.md)"),
            ("docs/a.md", "[x](rules/x.md)\n[out](../README.md)"),
            ("docs/b.md", ""),
            ("docs/rules/x.md", "[a](../a.md)"),
            ("README.md", "[a](docs/a.md)"),
        ]);
        assert_eq!(
            check(&tree).unwrap(),
            [
                Problem::at(
                    "docs/a.md",
                    2,
                    "`../README.md` is not in the book: name it without a link"
                ),
                Problem::of(CONTENTS, "the page `b.md` is listed 0 times: list it once"),
                Problem::of(CONTENTS, "the page `rules/x.md` is listed 2 times: list it once"),
            ]
        );
    }
}
