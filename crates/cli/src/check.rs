//! `scission check`: read, analyse, report.

use std::fs;
use std::io::{self, ErrorKind, IsTerminal};
use std::time::Instant;

use analyses::Context;
use anyhow::{Context as _, anyhow, bail};
use findings::{Results, merge_gaps};
use report::{Baseline, Detail, Sources};

use crate::Outcome;
use crate::assemble::{Assembled, Stopwatch, assemble};
use crate::cancel::Cancel;
use crate::config::why_unreadable;
use crate::flags::{CheckFlags, FailOn, Format};
use crate::output::{self, Destination, Screen, Style};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::triage::triage;

pub(crate) fn run(flags: &CheckFlags) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    // Before the long work: what is wrong with the configuration is better said at once.
    let settings = Settings::new(flags)?;
    if let Some(file) = settings.config_file.as_ref().filter(|_| flags.verbose) {
        anstream::eprintln!("configuration: {}", file.display());
    }
    let sources = open_sources(&settings)?;
    let baseline = read_baseline(&settings, flags)?;
    let cancel = Cancel::on_interrupt();
    let progress = Progress::new(!flags.quiet && !flags.no_progress);
    let results = analyse(flags, &settings, baseline.as_ref(), &cancel, &progress);
    progress.finish();
    let mut results = results?;
    results.gaps = merge_gaps(results.gaps);
    results.interrupted |= cancel.is_requested();

    let destination = Destination::new(flags.output.as_deref());
    let screen = Screen::standard_output(flags.color);
    let delivered = output::deliver(&results, &destination, &style(flags), &sources, screen);
    // The findings come first: neither file may cost the user the other.
    let written = write_baseline(&results, flags);
    if !flags.quiet && io::stderr().is_terminal() {
        anstream::eprintln!("took {:.2} s", started.elapsed().as_secs_f64());
    }
    delivered.and(written)?;
    Ok(outcome(&results, settings.fail_on))
}

fn analyse(
    flags: &CheckFlags,
    settings: &Settings,
    baseline: Option<&Baseline>,
    cancel: &Cancel,
    progress: &Progress,
) -> anyhow::Result<Results> {
    let assembled =
        assemble(&settings.paths, &settings.program, flags.bench_fraction, cancel, progress)?;
    let Some(Assembled { mut program, graph, stats }) = assembled else {
        return Ok(Results { interrupted: true, ..Results::default() });
    };
    let config = &settings.analysis;
    let mut results = Results { stats, ..Results::default() };
    results.gaps.append(&mut program.gaps);
    results.gaps.extend(graph.gaps.iter().cloned());
    let context =
        Context { program: &program, graph: &graph, config, cancelled: &|| cancel.is_requested() };
    let mut found = Vec::new();
    for analysis in analyses::ALL {
        if !analysis.rules.iter().any(|rule| config.wants(rule)) {
            continue;
        }
        progress.phase(analysis.name);
        let stopwatch = Stopwatch::start();
        let outcome = (analysis.run)(&context);
        found.extend(outcome.findings);
        results.gaps.extend(outcome.gaps);
        results.stats.push((analysis.time_counter, stopwatch.lap()));
    }
    if flags.bench_fraction.is_none() {
        // The same input gives the same report; times are for the benchmark alone.
        results.stats.retain(|(name, _)| !name.ends_with("_ms"));
    }
    let is_complete = !cancel.is_requested();
    triage(found, &program, settings, baseline, is_complete, &mut results);
    Ok(results)
}

fn open_sources(settings: &Settings) -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    for path in &settings.source {
        sources.add(path).with_context(|| {
            let path = path.display();
            format!("cannot read sources from `{path}`, which must be a directory or a zip archive")
        })?;
    }
    Ok(sources)
}

/// The baseline to compare with. One that this run is about to write need not be there yet.
fn read_baseline(settings: &Settings, flags: &CheckFlags) -> anyhow::Result<Option<Baseline>> {
    let Some(path) = &settings.baseline else { return Ok(None) };
    let refused = |why: String| anyhow!("cannot use the baseline `{}`: {why}", path.display());
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if flags.write_baseline.as_ref() == Some(path) {
                return Ok(Some(Baseline::default()));
            }
            return Err(refused("there is no such file; `--write-baseline` makes it".to_string()));
        }
        Err(error) => return Err(refused(why_unreadable(&error))),
    };
    Baseline::read(&text).map(Some).map_err(|error| refused(error.to_string()))
}

/// Writes what this run shows, and what it would show without a baseline.
fn write_baseline(results: &Results, flags: &CheckFlags) -> anyhow::Result<()> {
    let Some(path) = &flags.write_baseline else { return Ok(()) };
    if results.interrupted {
        bail!("the work was cut short, so the baseline `{}` was not written", path.display());
    }
    let known = results.baseline.iter().flat_map(|baseline| &baseline.known);
    let baseline = Baseline::of(results.findings.iter().chain(known));
    output::write_file(path, |writer| baseline.write(writer))
}

fn style(flags: &CheckFlags) -> Style {
    Style {
        format: match flags.format {
            Format::Text => report::Format::Text,
            Format::Json => report::Format::Json,
            Format::Sarif => report::Format::Sarif,
        },
        detail: match (flags.quiet, flags.verbose) {
            (true, _) => Detail::Quiet,
            (false, false) => Detail::Normal,
            (false, true) => Detail::Verbose,
        },
        color: flags.color,
    }
}

fn outcome(results: &Results, fail_on: FailOn) -> Outcome {
    let counts = results.findings.iter().any(|finding| fail_on.includes(finding.severity));
    match (counts, results.interrupted) {
        (true, _) => Outcome::Findings,
        (false, false) => Outcome::NothingFound,
        (false, true) => Outcome::InterruptedWithoutFindings,
    }
}
