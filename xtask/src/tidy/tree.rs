//! The text files of the repository.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::rust_source::test_modules;

/// Folders that hold what is made, not what is written.
const SKIPPED: &[&str] = &["target", ".git", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

/// One text file.
#[derive(Clone, Debug)]
pub(crate) struct TextFile {
    /// Relative to the top, with `/` on every system.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Whether the file is a module that only tests have.
    is_test_module: bool,
}

impl TextFile {
    /// The name of the crate in `crates/` that the file belongs to.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the whole file is a test, an example or part of one.
    pub(crate) fn is_test(&self) -> bool {
        if self.is_test_module {
            return true;
        }
        let inside =
            self.crate_name().and_then(|name| self.path.get("crates/".len() + name.len()..));
        inside
            .is_some_and(|inside| inside.starts_with("/tests/") || inside.starts_with("/examples/"))
    }
}

/// All of them, in the order of their paths.
#[derive(Debug)]
pub(crate) struct Tree {
    files: Vec<TextFile>,
}

impl Tree {
    /// Reads what is below a folder. What is no text is left out.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let mut files = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(root.join(&folder)).with_context(|| folder.clone())?;
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                if SKIPPED.contains(&path.as_str()) {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = fs::read_to_string(entry.path()) {
                    files.push(TextFile { path, text, is_test_module: false });
                }
            }
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Tree::new(files))
    }

    fn new(mut files: Vec<TextFile>) -> Tree {
        let mut modules = Vec::new();
        for file in files.iter().filter(|file| file.is_rust()) {
            let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            let below = match name {
                "mod.rs" | "lib.rs" | "main.rs" => folder.to_string(),
                name => format!("{folder}/{}", name.trim_end_matches(".rs")),
            };
            let tests = test_modules(&file.text).into_iter();
            modules.extend(tests.map(|module| format!("{below}/{module}")));
        }
        for file in &mut files {
            file.is_test_module = modules.iter().any(|module| {
                let rest = file.path.strip_prefix(module.as_str());
                rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            });
        }
        Tree { files }
    }

    pub(crate) fn files(&self) -> &[TextFile] {
        &self.files
    }

    /// The Rust files of the crates and of `xtask`.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// The text of a file that must be there.
    pub(crate) fn text(&self, path: &str) -> Result<&str> {
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.text.as_str()).with_context(|| format!("there is no {path}"))
    }

    /// Whether there is a file of this path, or files below it.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    }

    /// The names of the crates in `crates/`.
    pub(crate) fn crate_names(&self) -> Vec<&str> {
        let manifests = self.files.iter().filter(|file| file.path.ends_with("/Cargo.toml"));
        manifests.filter_map(TextFile::crate_name).collect()
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| TextFile {
            path: (*path).to_string(),
            text: (*text).to_string(),
            is_test_module: false,
        };
        Tree::new(files.iter().map(file).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_tests_are_tests() {
        let tree = Tree::of(&[
            ("crates/a/src/races/mod.rs", "mod facts;\n#[cfg(test)]\nmod oracle;\n"),
            ("crates/a/src/races/facts.rs", ""),
            ("crates/a/src/races/oracle.rs", ""),
            ("crates/a/src/races/oracle/more.rs", ""),
            ("crates/a/tests/t.rs", ""),
        ]);
        let tests: Vec<bool> = tree.files().iter().map(TextFile::is_test).collect();
        assert_eq!(tests, [false, false, true, true, true]);
    }
}
