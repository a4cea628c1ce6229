//! `scission report`: the reports of several commands as one.

use std::fs;
use std::path::Path;

use anyhow::anyhow;
use findings::Results;

use crate::Outcome;
use crate::baseline_file::{read_baseline, write_baseline};
use crate::check::outcome;
use crate::config::why_unreadable;
use crate::flags::ReportFlags;
use crate::output::{self, Destination, Screen, Style};
use crate::settings::TriageSettings;
use crate::triage::{open_sources, triage};

pub(crate) fn run(flags: &ReportFlags) -> anyhow::Result<Outcome> {
    let settings = TriageSettings::new(&flags.triage, &flags.presentation)?;
    let sources = open_sources(&settings)?;
    let baseline = read_baseline(&settings)?;
    let all = flags.files.iter().map(|path| read(path)).collect::<anyhow::Result<_>>()?;
    let mut results = report::combined(all);
    let mut found = std::mem::take(&mut results.findings);
    let compared = results.baseline.take();
    if baseline.is_some() {
        // The baseline that is given now decides about all of them.
        found.extend(compared.iter().flat_map(|it| it.known.iter().cloned()));
    }
    triage(found, None, &settings, baseline.as_ref(), None, &mut results);
    if baseline.is_none() {
        results.baseline = compared;
    }
    let destination = Destination::new(flags.output.as_deref());
    let screen = Screen::standard_output(flags.presentation.color);
    let style = Style::new(&flags.presentation);
    let delivered = output::deliver(&results, &destination, &style, &sources, screen);
    let page = output::write_page(&flags.presentation, &results, &sources);
    let written = write_baseline(&results, &settings, baseline.as_ref(), |_| true);
    delivered.and(page).and(written)?;
    Ok(outcome(&results, settings.fail_on))
}

fn read(path: &Path) -> anyhow::Result<Results> {
    let refused = |why: String| anyhow!("cannot use the report `{}`: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| refused(why_unreadable(&error)))?;
    report::read_results(&text).map_err(|error| refused(error.to_string()))
}
