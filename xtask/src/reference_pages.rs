//! Pages of `docs/` with a reference in them that is generated: the keys of the configuration, the format of models, the
//! events of traces, and the grade rules.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use findings::{GRADE_RULES, GradeRule};

use crate::{progress, root};

const BEGIN: &str = "<!-- What follows is written by `cargo xtask docs`. -->\n";
const END: &str = "<!-- end of what is written -->";

/// A page, and where its reference comes from.
struct Page {
    name: &'static str,
    reference: Reference,
}

enum Reference {
    /// What `scission explain` prints with this flag.
    Printed(&'static str),
    /// The table of events of `agent_protocol`.
    Events,
    /// The table of grade rules of `findings`.
    Grades,
}

const PAGES: [Page; 4] = [
    Page { name: "docs/configuration.md", reference: Reference::Printed("--configuration") },
    Page { name: "docs/models.md", reference: Reference::Printed("--models") },
    Page { name: "docs/trace-format.md", reference: Reference::Events },
    Page { name: "docs/real-programs.md", reference: Reference::Grades },
];

/// Writes the references.
pub(crate) fn write(binary: &Path) -> Result<()> {
    for page in PAGES {
        let text = page.text(binary)?;
        fs::write(page.file(), text).with_context(|| format!("{} cannot be written", page.name))?;
        progress(&format!("the reference in {}", page.name));
    }
    Ok(())
}

/// Fails when a reference is not what the command says today.
pub(crate) fn check(binary: &Path) -> Result<()> {
    progress("reference pages");
    for page in PAGES {
        if page.text(binary)? != fs::read_to_string(page.file())? {
            bail!("{} is not what Scission says: `cargo xtask docs` writes it anew", page.name);
        }
    }
    Ok(())
}

impl Page {
    fn file(&self) -> PathBuf {
        root().join(self.name)
    }

    /// The page as it should be.
    fn text(&self, binary: &Path) -> Result<String> {
        let reference = match self.reference {
            Reference::Printed(flag) => explain(binary, flag)?,
            Reference::Events => agent_protocol::event_documentation(),
            Reference::Grades => grades(),
        };
        let page = fs::read_to_string(self.file()).context(self.name)?;
        with_reference(&page, &reference)
            .with_context(|| format!("{} has no place for the reference", self.name))
    }
}

/// The grade rules, those that allow most first.
fn grades() -> String {
    let mut rules: Vec<&GradeRule> = GRADE_RULES.iter().collect();
    rules.sort_by_key(|rule| (Reverse(rule.at_most), rule.name));
    let row = |rule: &&GradeRule| {
        let severity = format!("{:?}", rule.at_most).to_lowercase();
        format!("| `{}` | `{severity}` | {} |\n", rule.name, rule.why)
    };
    let rows: String = rules.iter().map(row).collect();
    format!("| grade rule | at most | what is the case |\n|---|---|---|\n{rows}")
}

/// What `scission explain` prints with a flag.
fn explain(binary: &Path, flag: &str) -> Result<String> {
    let output = Command::new(binary).args(["explain", flag]).output();
    let output = output.context("scission could not be started")?;
    if !output.status.success() {
        bail!("`scission explain` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("`scission explain` printed no text")
}

/// The page with another reference between the marks.
fn with_reference(page: &str, reference: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{reference}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_reference_is_replaced() {
        let page = format!("above\n{BEGIN}| old |\n{END}\nbelow\n");
        let expected = format!("above\n{BEGIN}| new |\n{END}\nbelow\n");
        assert_eq!(with_reference(&page, "| new |\n"), Some(expected));
        assert_eq!(with_reference("no marks", "| new |\n"), None);
    }
}
