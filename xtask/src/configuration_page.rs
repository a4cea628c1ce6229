//! `docs/configuration.md`: its table of keys is what `scission explain --configuration` prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{progress, root};

const BEGIN: &str = "<!-- The table is written by `cargo xtask docs`. -->\n";
const END: &str = "<!-- end of the table -->";

/// Writes the table.
pub(crate) fn write(binary: &Path) -> Result<()> {
    fs::write(file(), page(binary)?).context("docs/configuration.md cannot be written")?;
    progress("the keys in docs/configuration.md");
    Ok(())
}

/// Fails if the table is out of date.
pub(crate) fn check(binary: &Path) -> Result<()> {
    progress("configuration page");
    if page(binary)? != fs::read_to_string(file())? {
        bail!("docs/configuration.md lacks keys: `cargo xtask docs` writes them anew");
    }
    Ok(())
}

fn file() -> PathBuf {
    root().join("docs/configuration.md")
}

/// The page as it should be.
fn page(binary: &Path) -> Result<String> {
    let output = Command::new(binary).args(["explain", "--configuration"]).output();
    let output = output.context("scission could not be started")?;
    if !output.status.success() {
        bail!("`scission explain` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let table = String::from_utf8(output.stdout).context("`scission explain` printed no text")?;
    let page = fs::read_to_string(file()).context("docs/configuration.md")?;
    with_table(&page, &table).context("docs/configuration.md has no place for the table")
}

/// The page with another table between the marks.
pub(crate) fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_is_replaced() {
        let page = format!("above\n{BEGIN}| old |\n{END}\nbelow\n");
        let expected = format!("above\n{BEGIN}| new |\n{END}\nbelow\n");
        assert_eq!(with_table(&page, "| new |\n"), Some(expected));
        assert_eq!(with_table("no marks", "| new |\n"), None);
    }
}
