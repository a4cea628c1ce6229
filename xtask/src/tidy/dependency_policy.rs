//! What `cargo deny check licenses bans sources` decides by `deny.toml`, from the same file and `cargo metadata`. The
//! tool itself takes longer to build than all of this project, so the suite asks the three questions that matter
//! here: is every licence allowed, is every crate there once, and does every crate come from the registry.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::Problem;
use super::tree::Tree;
use crate::cargo;

const POLICY: &str = "deny.toml";

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let policy = Policy::read(tree.text(POLICY)?)?;
    // All targets and features: what is not built here is built by somebody.
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .output()
        .context("`cargo metadata` could not be started")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    Ok(policy.problems(&packages(&metadata)?))
}

/// A crate that the workspace is built from.
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Nothing for crates of the workspace.
    source: Option<String>,
}

fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` names no packages")?;
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_string);
    Ok(packages
        .iter()
        .map(|package| Package {
            name: text(package, "name").unwrap_or_default(),
            version: text(package, "version").unwrap_or_default(),
            license: text(package, "license"),
            source: text(package, "source"),
        })
        .collect())
}

fn text_of<'a>(table: &'a DeTable<'_>, key: &str) -> Option<&'a str> {
    table.get(key).and_then(|value| value.get_ref().as_str())
}

/// The parts of the policy that are asked for here.
struct Policy {
    licenses: Vec<String>,
    /// Crates that may be there in more than one version.
    skipped: Vec<String>,
}

impl Policy {
    fn read(text: &str) -> Result<Policy> {
        let policy = DeTable::parse(text).map_err(|error| anyhow!("{POLICY}: {error}"))?;
        let section =
            |name: &str| policy.get_ref().get(name).and_then(|it| it.get_ref().as_table());
        let licenses = section("licenses").context("deny.toml has no `[licenses]`")?;
        let bans = section("bans").context("deny.toml has no `[bans]`")?;
        let sources = section("sources").context("deny.toml has no `[sources]`")?;
        let denies = |table: &DeTable<'_>, key: &str| text_of(table, key) == Some("deny");
        if !denies(bans, "multiple-versions")
            || !denies(sources, "unknown-registry")
            || !denies(sources, "unknown-git")
        {
            bail!(
                "deny.toml must deny multiple versions, unknown registries and git: this check knows nothing else"
            );
        }
        let list = |table: &DeTable<'_>, key: &str| -> Vec<String> {
            let items = table.get(key).and_then(|it| it.get_ref().as_array());
            let name = |item: &DeValue<'_>| match item.as_table() {
                Some(table) => text_of(table, "name").map(str::to_string),
                None => item.as_str().map(str::to_string),
            };
            items
                .into_iter()
                .flat_map(|items| items.iter())
                .filter_map(|it| name(it.get_ref()))
                .collect()
        };
        Ok(Policy { licenses: list(licenses, "allow"), skipped: list(bans, "skip") })
    }

    fn problems(&self, packages: &[Package]) -> Vec<Problem> {
        let is_registry =
            |source: &str| source.starts_with("registry+") && source.ends_with("/crates.io-index");
        let mut problems = Vec::new();
        let mut problem = |sentence: String| problems.push(Problem::of(POLICY, sentence));
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut used: Vec<&str> = Vec::new();
        for Package { name, version, license, source } in packages {
            let Some(source) = source else { continue };
            if !is_registry(source) {
                problem(format!(
                    "{name} {version} does not come from the registry: depend on a published version"
                ));
            }
            versions.entry(name).or_default().push(version);
            let license = license.as_deref().unwrap_or_default();
            match self.allowed(license) {
                Some(mut allowed) => used.append(&mut allowed),
                None => problem(format!(
                    "the licence `{license}` of {name} {version} is not allowed: choose another crate, or allow it"
                )),
            }
        }
        for (name, versions) in versions {
            let is_skipped = self.skipped.iter().any(|skipped| skipped == name);
            if versions.len() > 1 && !is_skipped {
                problem(format!(
                    "{name} is there in versions {}: bring them together, or skip it",
                    versions.join(", ")
                ));
            }
            if versions.len() == 1 && is_skipped {
                problem(format!("{name} is there in one version: remove it from `skip`"));
            }
        }
        for license in self.licenses.iter().filter(|license| !used.contains(&license.as_str())) {
            problem(format!("no crate has the licence `{license}` and no other: remove it"));
        }
        problems
    }

    /// Whether an expression of licences can be met with the allowed ones, and with which. `/` is how old crates say
    /// `OR`; of `A OR (B AND C)`, all that is asked is that one alternative is allowed as a whole.
    fn allowed<'a>(&'a self, expression: &str) -> Option<Vec<&'a str>> {
        let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut at = 0;
        let allowed = self.alternatives(&words, &mut at);
        allowed.filter(|_| at == words.len())
    }

    fn alternatives<'a>(&'a self, words: &[&str], at: &mut usize) -> Option<Vec<&'a str>> {
        let mut allowed = self.conjunction(words, at);
        while words.get(*at) == Some(&"OR") {
            *at += 1;
            let other = self.conjunction(words, at);
            allowed = allowed.or(other);
        }
        allowed
    }

    fn conjunction<'a>(&'a self, words: &[&str], at: &mut usize) -> Option<Vec<&'a str>> {
        let mut allowed = self.license(words, at);
        while words.get(*at) == Some(&"AND") {
            *at += 1;
            let other = self.license(words, at);
            allowed = allowed.zip(other).map(|(one, other)| [one, other].concat());
        }
        allowed
    }

    fn license<'a>(&'a self, words: &[&str], at: &mut usize) -> Option<Vec<&'a str>> {
        let word = words.get(*at)?;
        *at += 1;
        if *word == "(" {
            let inner = self.alternatives(words, at);
            *at += 1;
            return inner;
        }
        if words.get(*at) == Some(&"WITH") {
            *at += 2;
        }
        self.licenses.iter().find(|license| license == word).map(|license| vec![license.as_str()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWING: &str = "[licenses]\nallow = [\"MIT\", \"Unicode-3.0\"]\n[bans]\nmultiple-versions = \"deny\"\n\
                            skip = [{ name = \"twice\" }]\n[sources]\nunknown-registry = \"deny\"\nunknown-git = \"deny\"\n";

    fn package(name: &str, version: &str, license: &str, source: &str) -> Package {
        let source = (!source.is_empty()).then(|| source.to_string());
        Package {
            name: name.into(),
            version: version.into(),
            license: Some(license.into()),
            source,
        }
    }

    #[test]
    fn expressions_are_met_or_not() {
        let policy = Policy::read(ALLOWING).unwrap();
        for (expression, is_allowed) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("Apache-2.0/MIT", true),
            ("GPL-3.0", false),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR MIT", true),
            ("GPL-2.0 OR (MIT AND GPL-3.0)", false),
            ("", false),
        ] {
            assert_eq!(policy.allowed(expression).is_some(), is_allowed, "{expression}");
        }
    }

    #[test]
    fn licences_sources_and_second_versions_are_found() {
        let registry = "registry+https://example.org/crates.io-index";
        let policy = Policy::read(ALLOWING).unwrap();
        let problems = policy.problems(&[
            package("ours", "1.0.0", "", ""),
            package("a", "1.0.0", "MIT", registry),
            package("a", "2.0.0", "Unicode-3.0", registry),
            package("twice", "1.0.0", "MIT", registry),
            package("b", "1.0.0", "GPL-3.0", registry),
            package("c", "1.0.0", "MIT", "git+https://example.org/c"),
        ]);
        let sentences: Vec<&str> =
            problems.iter().map(|problem| problem.sentence.as_str()).collect();
        assert_eq!(sentences.len(), 4, "{sentences:?}");
        assert!(sentences[0].starts_with("the licence `GPL-3.0` of b"));
        assert!(sentences[1].starts_with("c 1.0.0 does not come from the registry"));
        assert!(sentences[2].starts_with("a is there in versions 1.0.0, 2.0.0"));
        assert!(sentences[3].starts_with("twice is there in one version"));
        assert!(Policy::read("[licenses]\nallow = []\n[bans]\n[sources]\n").is_err());
    }
}
