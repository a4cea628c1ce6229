//! Only the agent uses `unsafe`. Every other package takes the lints of the workspace, which deny it; this check sees
//! to that, and to nobody allowing it again.

use anyhow::Result;

use super::Problem;
use super::rust_source::{RustSource, has_word};
use super::tree::Tree;

/// The packages that may.
const MAY_USE: &[&str] = &["crates/agent/"];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in tree.files() {
        if MAY_USE.iter().any(|folder| file.path.starts_with(folder))
            || file.path.starts_with("fuzz/")
        {
            continue;
        }
        if file.is_rust() {
            for (line, code) in RustSource::new(&file.text).lines() {
                if has_word(code, "unsafe")
                    || code.contains("allow(unsafe_code")
                    || code.contains("expect(unsafe_code")
                {
                    let sentence =
                        "`unsafe` belongs into the agent: find a safe way, or move it there";
                    problems.push(Problem::at(&file.path, line, sentence));
                }
            }
        }
        let is_package = file.path.ends_with("/Cargo.toml") && file.text.contains("[package]");
        if is_package && !file.text.contains("[lints]\nworkspace = true") {
            let sentence =
                "the package has lints of its own: add `[lints]` with `workspace = true`";
            problems.push(Problem::of(&file.path, sentence));
        }
    }
    if !tree.text("Cargo.toml")?.contains("unsafe_code = \"deny\"") {
        problems.push(Problem::of(
            "Cargo.toml",
            "the workspace does not deny `unsafe_code`: restore the lint",
        ));
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_is_found_outside_the_agent_only() {
        let lints = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n";
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"deny\"\n"),
            ("crates/agent/Cargo.toml", "[package]\n"),
            ("crates/agent/src/lib.rs", "unsafe { f() }"),
            ("crates/a/Cargo.toml", lints),
            (
                "crates/a/src/lib.rs",
                "// unsafe\nlet a = \"unsafe\";\nunsafe { f() }\n#![allow(unsafe_code)]\n",
            ),
            ("crates/b/Cargo.toml", "[package]\n"),
        ]);
        let found: Vec<String> = check(&tree).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/lib.rs:3: `unsafe`"));
        assert!(found[2].starts_with("crates/b/Cargo.toml: the package has lints of its own"));
    }
}
