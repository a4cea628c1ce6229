//! `docs/trace-format.md`: its table of events is that of `agent_protocol`.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::configuration_page::with_table;
use crate::{progress, root};

/// Writes the table.
pub(crate) fn write() -> Result<()> {
    fs::write(file(), page()?).context("docs/trace-format.md cannot be written")?;
    progress("the events in docs/trace-format.md");
    Ok(())
}

/// Fails when the table is not that of the events there are.
pub(crate) fn check() -> Result<()> {
    progress("trace page");
    if page()? != fs::read_to_string(file())? {
        bail!("docs/trace-format.md lacks events: `cargo xtask docs` writes them anew");
    }
    Ok(())
}

fn file() -> PathBuf {
    root().join("docs/trace-format.md")
}

/// The page as it should be.
fn page() -> Result<String> {
    let page = fs::read_to_string(file()).context("docs/trace-format.md")?;
    let table = agent_protocol::event_documentation();
    with_table(&page, &table).context("docs/trace-format.md has no place for the table")
}
