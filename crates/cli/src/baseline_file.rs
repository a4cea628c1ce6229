//! The baseline: reading the one to compare with, and writing what was found.

use std::fs;
use std::io::ErrorKind;

use anyhow::{anyhow, bail};
use findings::{BaselineEntry, Results};
use report::Baseline;

use crate::config::why_unreadable;
use crate::output;
use crate::settings::TriageSettings;

/// The baseline to compare with. One that this run is about to write need not be there yet.
pub(crate) fn read_baseline(settings: &TriageSettings) -> anyhow::Result<Option<Baseline>> {
    let Some(path) = &settings.baseline else { return Ok(None) };
    let refused = |why: String| anyhow!("cannot use the baseline `{}`: {why}", path.display());
    if settings.write_baseline.as_ref() == Some(path) && !output_file::is_regular_or_new(path) {
        // Devices and pipes are written to; reading them may never end.
        return Ok(Some(Baseline::default()));
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if settings.write_baseline.as_ref() == Some(path) {
                return Ok(Some(Baseline::default()));
            }
            return Err(refused("there is no such file; `--write-baseline` makes it".to_string()));
        }
        Err(error) => return Err(refused(why_unreadable(&error))),
    };
    Baseline::read(&text).map(Some).map_err(|error| refused(error.to_string()))
}

/// Writes what this run shows, and what it would show without a baseline. Of what the baseline has and
/// this run did not find, `is_kept` is kept: what this run could not have found.
pub(crate) fn write_baseline(
    results: &Results,
    settings: &TriageSettings,
    compared_with: Option<&Baseline>,
    is_kept: impl Fn(&BaselineEntry) -> bool,
) -> anyhow::Result<()> {
    let Some(path) = &settings.write_baseline else { return Ok(()) };
    if results.interrupted {
        bail!("the analysis was interrupted, so the baseline `{}` was not written", path.display());
    }
    let known = results.baseline.iter().flat_map(|baseline| &baseline.known);
    let found: Vec<_> = results.findings.iter().chain(known).cloned().collect();
    let mut kept = compared_with.map_or(Vec::new(), |baseline| baseline.missing_from(&found));
    kept.retain(is_kept);
    let baseline = Baseline::of(&found).with(kept);
    output::write_file(path, |writer| baseline.write(writer))
}
