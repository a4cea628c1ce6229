//! The code map of ARCHITECTURE.md has every crate and every module of one, and every file and folder that the
//! document names is there.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Problem;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

/// Files that need no row: they are what the crate's own row is about.
const ROOTS: &[&str] = &["lib.rs", "main.rs"];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let map = tree.text(MAP)?;
    let sections = sections(map);
    let mut problems = Vec::new();
    for name in tree.crate_names() {
        let root = format!("crates/{name}");
        let Some(section) = sections.iter().find(|section| section.roots.contains(&root.as_str()))
        else {
            problems
                .push(Problem::of(MAP, format!("the code map has no section `{root}`: write it")));
            continue;
        };
        for module in modules(tree, &root) {
            let is_named = section.names.iter().any(|(_, named)| {
                let named = named.trim_start_matches("src/");
                named == module || named.strip_suffix("mod.rs") == Some(&module)
            });
            if !is_named {
                let sentence =
                    format!("the code map does not name `{module}` of `{root}`: add a line");
                problems.push(Problem::at(MAP, section.line, sentence));
            }
        }
    }
    for section in &sections {
        for (line, named) in section.names.iter().filter(|(_, named)| is_path(named)) {
            // The Java half is one, whoever speaks of it.
            let is_below = |path: &str| {
                section.roots.is_empty()
                    || path.ends_with(".java")
                    || section.roots.iter().any(|root| path.starts_with(root.trim_end_matches('/')))
            };
            let is_there =
                tree.files().iter().any(|file| is_below(&file.path) && is_part(&file.path, named));
            if !is_there {
                let sentence = format!("there is no `{named}`: correct the map");
                problems.push(Problem::at(MAP, *line, sentence));
            }
        }
    }
    Ok(problems)
}

/// A part of the document, and what it names in backquotes.
struct Section<'a> {
    line: usize,
    /// The folders that its heading names; none where it may speak of everything.
    roots: Vec<&'a str>,
    names: Vec<(usize, &'a str)>,
}

fn sections(map: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { line: 1, roots: Vec::new(), names: Vec::new() }];
    let mut in_code = false;
    for (index, line) in map.lines().enumerate() {
        in_code ^= line.starts_with("```");
        let quoted = line.split('`').skip(1).step_by(2);
        if line.starts_with("## ") || line.starts_with("### ") {
            let roots = quoted.filter(|it| it.contains('/')).collect();
            sections.push(Section { line: index + 1, roots, names: Vec::new() });
        } else if !in_code && let Some(section) = sections.last_mut() {
            section.names.extend(quoted.map(|name| (index + 1, name)));
        }
    }
    sections
}

/// The modules of a crate: the files of `src`, and its folders with a `/` at the end.
fn modules(tree: &Tree, root: &str) -> BTreeSet<String> {
    let source = format!("{root}/src/");
    let inside = tree.files().iter().filter_map(|file| file.path.strip_prefix(&source));
    let module = |path: &str| match path.split_once('/') {
        Some((folder, _)) => format!("{folder}/"),
        None => path.to_string(),
    };
    inside.map(module).filter(|module| !ROOTS.contains(&module.as_str())).collect()
}

/// Whether a quoted text is the name of a file or a folder of this tree.
fn is_path(named: &str) -> bool {
    let is_plain = named.chars().all(|it| it.is_alphanumeric() || "/._-".contains(it));
    is_plain
        && !named.starts_with(['/', '.'])
        && (named.ends_with(".rs") || named.ends_with(".java") || named.ends_with('/'))
}

/// Whether a path ends in this name, or goes through this folder.
fn is_part(path: &str, named: &str) -> bool {
    let path = format!("/{path}");
    match named.ends_with('/') {
        true => path.contains(&format!("/{named}")),
        false => path.ends_with(&format!("/{named}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_and_the_tree_are_the_same() {
        let map = "# A\n\n### `crates/a`\n- `one.rs`, `gone.rs`: x.\n- `two/`: y; `three.rs` there.\n## B\n`crates/a/src/one.rs` `Type`\n";
        let tree = Tree::of(&[
            ("ARCHITECTURE.md", map),
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/lib.rs", ""),
            ("crates/a/src/one.rs", ""),
            ("crates/a/src/four.rs", ""),
            ("crates/a/src/two/three.rs", ""),
            ("crates/b/Cargo.toml", ""),
        ]);
        let mut found: Vec<String> =
            check(&tree).unwrap().iter().map(ToString::to_string).collect();
        found.sort();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("ARCHITECTURE.md: the code map has no section `crates/b`"));
        assert!(found[1].starts_with("ARCHITECTURE.md:3: the code map does not name `four.rs`"));
        assert!(found[2].starts_with("ARCHITECTURE.md:4: there is no `gone.rs`"));
    }
}
