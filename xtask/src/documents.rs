//! Checks that the documents still speak of this tree: links that lead somewhere, and a map that
//! has every room on it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{progress, root};

pub(crate) fn check() -> Result<()> {
    progress("documents");
    let root = root();
    let mut problems = Vec::new();
    for document in markdown_files(&root)? {
        let text = fs::read_to_string(&document)?;
        let folder = document.parent().unwrap_or(&root);
        for link in local_links(&text) {
            if !folder.join(link).exists() {
                let document = document.strip_prefix(&root).unwrap_or(&document);
                problems.push(format!("{}: `{link}` leads nowhere", document.display()));
            }
        }
    }
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    for entry in fs::read_dir(root.join("crates"))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !map.contains(&format!("`{name}`")) && !map.contains(&format!("crates/{name}")) {
            problems.push(format!("ARCHITECTURE.md does not mention the crate `{name}`"));
        }
    }
    problems.sort();
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}

/// The documents at the top, and all those below `docs/` and `bench/`.
fn markdown_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for path in entries(root)? {
        if path.ends_with("docs") || path.ends_with("bench") {
            folders.push(path);
        } else {
            files.push(path);
        }
    }
    while let Some(folder) = folders.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// The targets of links that point into the repository, anchors cut off. Code is left out: what
/// stands between backquotes is no link.
fn local_links(markdown: &str) -> Vec<&str> {
    let mut links = Vec::new();
    let mut in_code_block = false;
    for line in markdown.lines() {
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
                links.push(target);
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::local_links;

    #[test]
    fn only_links_into_the_repository_are_followed() {
        let text = "[a](docs/a.md#part) and [b](https://x.org/y) `[c](d)` [e](#top)\n\
                    ```\n[f](g)\n```\n[h](../h.md) [i](i.md)";
        assert_eq!(local_links(text), ["docs/a.md", "../h.md", "i.md"]);
    }
}
