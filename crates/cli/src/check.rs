//! `scission check`: read, analyse, report.

use analyses::{Config, Context};
use anyhow::Context as _;
use findings::{Results, merge_and_rank, merge_gaps};
use program::pattern::Pattern;
use report::{Detail, Sources};

use crate::Outcome;
use crate::assemble::{Assembled, Stopwatch, assemble};
use crate::cancel::Cancel;
use crate::flags::{CheckFlags, Format};
use crate::output::{self, Destination, Screen, Style};
use crate::progress::Progress;

pub(crate) fn run(flags: &CheckFlags) -> anyhow::Result<Outcome> {
    // Before the long work: a wrong source directory is better said at once.
    let sources = open_sources(flags)?;
    let cancel = Cancel::on_interrupt();
    let progress = Progress::new(!flags.quiet && !flags.no_progress);
    let results = analyse(flags, &cancel, &progress);
    progress.finish();
    let mut results = results?;
    results.gaps = merge_gaps(results.gaps);
    results.interrupted |= cancel.is_requested();

    let destination = Destination::new(flags.output.as_deref());
    let screen = Screen::standard_output(flags.color);
    output::deliver(&results, &destination, &style(flags), &sources, screen)?;
    Ok(outcome(&results))
}

fn analyse(flags: &CheckFlags, cancel: &Cancel, progress: &Progress) -> anyhow::Result<Results> {
    let assembled = assemble(&flags.paths, &flags.program, flags.bench_fraction, cancel, progress)?;
    let Some(Assembled { mut program, graph, stats }) = assembled else {
        return Ok(Results { interrupted: true, ..Results::default() });
    };
    let config = Config {
        rules: flags.chosen_rules().iter().map(|rule| rule.name.to_string()).collect(),
        include: flags.include.iter().map(|text| Pattern::new(text)).collect(),
        exclude: flags.exclude.iter().map(|text| Pattern::new(text)).collect(),
    };
    let mut results = Results { stats, ..Results::default() };
    results.gaps.append(&mut program.gaps);
    results.gaps.extend(graph.gaps.iter().cloned());
    let context = Context {
        program: &program,
        graph: &graph,
        config: &config,
        cancelled: &|| cancel.is_requested(),
    };
    for analysis in analyses::ALL {
        if !analysis.rules.iter().any(|rule| config.wants(rule)) {
            continue;
        }
        progress.phase(analysis.name);
        let stopwatch = Stopwatch::start();
        let outcome = (analysis.run)(&context);
        results.findings.extend(outcome.findings);
        results.gaps.extend(outcome.gaps);
        results.stats.push((analysis.time_counter, stopwatch.lap()));
    }
    if flags.bench_fraction.is_none() {
        // The same input gives the same report; times are for the benchmark alone.
        results.stats.retain(|(name, _)| !name.ends_with("_ms"));
    }
    results.findings = merge_and_rank(results.findings);
    Ok(results)
}

fn open_sources(flags: &CheckFlags) -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    for path in &flags.source {
        sources.add(path).with_context(|| {
            let path = path.display();
            format!("cannot read sources from `{path}`, which must be a directory or a zip archive")
        })?;
    }
    Ok(sources)
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

fn outcome(results: &Results) -> Outcome {
    match (results.findings.is_empty(), results.interrupted) {
        (false, _) => Outcome::Findings,
        (true, false) => Outcome::NothingFound,
        (true, true) => Outcome::InterruptedWithoutFindings,
    }
}
