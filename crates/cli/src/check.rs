//! `scission check`: read, analyse, report.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Instant;

use analyses::Context;
use anyhow::{anyhow, bail};
use classes::is_archive;
use findings::{BaselineEntry, Gap, GapKind, Results, merge_gaps, nearest_name, rules};
use models::{Pattern, Source, Statement, statements};
use program::{Origin, Program, threads};
use report::Baseline;

use crate::Outcome;
use crate::assemble::{Assembled, InputForm, Stopwatch, assemble};
use crate::baseline_file::{read_baseline, write_baseline};
use crate::budget::BudgetMeter;
use crate::cancel::Cancel;
use crate::flags::{CheckFlags, FailOn};
use crate::output::{self, Destination, Screen, Style};
use crate::progress::Progress;
use crate::settings::CheckSettings;
use crate::triage::{open_sources, triage};
use crate::watch_list_file::{self, WatchList};

pub(crate) fn run(flags: &CheckFlags) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    // Errors in the configuration are reported before the analysis starts.
    let settings = CheckSettings::new(flags)?;
    let sources = open_sources(&settings.triage)?;
    let baseline = read_baseline(&settings.triage)?;
    let outputs = [
        flags.output.as_ref(),
        flags.presentation.html.as_ref(),
        settings.triage.write_baseline.as_ref(),
        flags.watch_list.as_ref(),
    ];
    for output in outputs.into_iter().flatten().filter(|path| *path != Path::new("-")) {
        output::refuse_unwritable(output)?;
    }
    let cancel = Cancel::on_interrupt();
    let progress = Progress::new(!flags.presentation.quiet && !flags.no_progress);
    let results = analyse(flags, &settings, baseline.as_ref(), &cancel, &progress);
    progress.finish();
    let (mut results, watch_list) = results?;
    results.gaps = merge_gaps(results.gaps);
    results.interrupted |= cancel.is_requested();

    let destination = Destination::new(flags.output.as_deref());
    let screen = Screen::standard_output(flags.presentation.color);
    let delivered =
        output::deliver(&results, &destination, &Style::new(&flags.presentation), &sources, screen);
    // The findings come first: no file may cost the user the others.
    let page = output::write_page(&flags.presentation, &results, &sources);
    let written =
        write_baseline(&results, &settings.triage, baseline.as_ref(), is_found_by_running);
    if flags.watch_list_for.is_some()
        && let Some(gap) = results.gaps.iter().find(|gap| gap.kind == GapKind::NoThread)
    {
        // Whoever starts threads there is not among what was analysed.
        bail!("{}", gap.detail);
    }
    let listed =
        flags.watch_list.as_deref().map(|path| watch_list_file::write(path, &watch_list, &results));
    if !flags.presentation.quiet && io::stderr().is_terminal() {
        anstream::eprintln!("took {:.2} s", started.elapsed().as_secs_f64());
    }
    delivered.and(page).and(written).and(listed.unwrap_or(Ok(())))?;
    if let Some(damaged) = damaged_archive(&results) {
        bail!("`{}` is damaged, so not all of it was analysed: {}", damaged.place, damaged.detail);
    }
    if flags.fail_on_gaps && !results.gaps.is_empty() {
        return Ok(Outcome::Findings);
    }
    // What was just written down as known is nothing to fail for.
    if settings.triage.write_baseline.is_some() && !results.interrupted {
        return Ok(Outcome::NothingFound);
    }
    Ok(outcome(&results, settings.triage.fail_on))
}

fn analyse(
    flags: &CheckFlags,
    settings: &CheckSettings,
    baseline: Option<&Baseline>,
    cancel: &Cancel,
    progress: &Progress,
) -> anyhow::Result<(Results, WatchList)> {
    let assembled = assemble(
        &settings.paths,
        &settings.program,
        settings.models.clone(),
        InputForm { fraction: flags.bench_fraction, is_class_path: flags.watch_list_for.is_some() },
        cancel,
        progress,
    )?;
    let Some(Assembled { mut program, graph, stats }) = assembled else {
        return Ok((Results { interrupted: true, ..Results::default() }, WatchList::default()));
    };
    let config = &settings.analysis;
    let mut results = Results { stats, ..Results::default() };
    results.gaps.append(&mut program.gaps);
    if results.stats.contains(&("classes", 0)) && !cancel.is_requested() {
        return Err(nothing_to_check(&settings.paths, &results));
    }
    if !cancel.is_requested() {
        config.entry_points.iter().try_for_each(|pattern| must_match(&program, pattern))?;
    }
    results.gaps.extend(graph.gaps.iter().cloned());
    let meter = BudgetMeter::new(&flags.budget);
    // A list of what is safe to leave unwatched must be whole, whatever that takes.
    let is_used_up = || config.watch_list.is_none() && meter.is_used_up();
    let context = Context {
        program: &program,
        graph: &graph,
        config,
        cancelled: &|| cancel.is_requested() || is_used_up(),
        exhausted: &|| meter.is_exhausted(),
    };
    let (mut found, mut watch_list) = (Vec::new(), WatchList::default());
    if config.watch_list.is_some() {
        watch_list.analysed = watch_list_file::analysed_classes(&program);
    }
    for analysis in analyses::ALL {
        let lists = config.watch_list.is_some() && analysis.makes_watch_list;
        if !lists && !analysis.rules.iter().any(|rule| config.wants(rule)) {
            continue;
        }
        if is_used_up() {
            let detail = "was not begun: the budget was used up before";
            results.gaps.push(Gap::new(GapKind::Limit, analysis.name.to_string(), detail));
            continue;
        }
        progress.phase(analysis.name);
        let stopwatch = Stopwatch::start();
        let outcome = (analysis.run)(&context);
        found.extend(outcome.findings);
        let sites = outcome.watch.iter().map(|place| program.site(place.method, place.offset));
        watch_list.accesses.extend(sites);
        results.gaps.extend(outcome.gaps);
        results.threads.extend(outcome.threads);
        if is_used_up() {
            let detail = "was cut short: the budget was used up";
            results.gaps.push(Gap::new(GapKind::Limit, analysis.name.to_string(), detail));
        }
        results.stats.push((analysis.time_counter, stopwatch.lap()));
    }
    if flags.bench_fraction.is_none() {
        // The same input gives the same report; times are for the benchmark alone.
        results.stats.retain(|(name, _)| !name.ends_with("_ms"));
    }
    let looked = (!cancel.is_requested() && !is_used_up()).then_some(settings);
    triage(found, Some(&program), &settings.triage, baseline, looked, &mut results);
    results.remarks.extend(unmatched_patterns(&program, flags));
    if !settings.has_other_paths {
        results.remarks.extend(unmatched_models(&program));
    }
    Ok((results, watch_list))
}

/// An entry point that is not there is an error: without it, nothing would be found and all would seem well.
fn must_match(program: &Program, pattern: &Pattern) -> anyhow::Result<()> {
    if !threads::named_methods(program, pattern).is_empty() {
        return Ok(());
    }
    let application = || program.classes.iter().filter(|class| class.origin == Origin::Application);
    let mut names: Vec<String> = application().map(program::Class::dotted_name).collect();
    for class in application() {
        let methods = class.methods.iter().map(|method| &program.methods[*method]);
        let callable = methods.filter(|it| !it.is_private() && !it.is_initializer());
        names.extend(callable.map(|it| format!("{}.{}", class.dotted_name(), it.name)));
    }
    let text = pattern.to_string();
    let nearest = nearest_name(text.trim_end_matches(".*"), names.iter().map(String::as_str));
    let help = nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    bail!("the entry point `{text}` matches no method that other code can call{help}")
}

/// Patterns of the command line that match no class and no method, each as a sentence: a misspelled one silences
/// everything, or nothing.
fn unmatched_patterns(program: &Program, flags: &CheckFlags) -> Vec<String> {
    let given = [("include", &flags.include), ("exclude", &flags.exclude)];
    let mut sentences = Vec::new();
    for (flag, patterns) in given {
        for pattern in patterns {
            let matches = program.classes.iter().any(|class| {
                let name = class.dotted_name();
                pattern.matches(&name)
                    || class.methods.iter().any(|method| {
                        let method = &program.methods[*method];
                        pattern.matches(&format!("{name}.{}", method.name))
                    })
            });
            if !matches {
                sentences.push(format!("`--{flag} {pattern}` matches no class and no method"));
            }
        }
    }
    sentences
}

/// Why there is no class to check, and what to name instead.
fn nothing_to_check(paths: &[PathBuf], results: &Results) -> anyhow::Error {
    if let Some(damaged) = damaged_archive(results) {
        return anyhow!("cannot read `{}`: {}", damaged.place, damaged.detail);
    }
    let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    anyhow!(
        "there are no class files in {}: name a jar, or a directory of compiled classes such as `target/classes`; \
         sources must be compiled first",
        names.join(", ")
    )
}

/// An archive that the user has named and that could be read in part only. What lies in archives is named after them.
fn damaged_archive(results: &Results) -> Option<&Gap> {
    results.gaps.iter().find(|gap| {
        let is_outermost = !gap.place.contains("!/");
        gap.kind == GapKind::Unreadable && is_outermost && is_archive(Path::new(&gap.place))
    })
}

/// What users say of code that is not there: a name that is wrong, or a row that is no longer needed.
fn unmatched_models(program: &Program) -> Vec<String> {
    let unmatched = program.unmatched_models();
    let remark = |statement: &Statement| {
        let text = statement.line.as_ref().unwrap_or(&statement.heading);
        let of = match (&statement.line, &statement.class) {
            (Some(_), Some(class)) => format!(" of `{class}`"),
            _ => String::new(),
        };
        let Source { file, line, .. } = statement.source;
        format!("`{text}`{of} at {file}:{line} matches nothing in the program")
    };
    statements(&unmatched).iter().map(remark).collect()
}

/// Whether only `scission run` can find this again.
fn is_found_by_running(recorded: &BaselineEntry) -> bool {
    rules::named(&recorded.rule).is_some_and(|rule| !analyses::reports(rule.name))
}

pub(crate) fn outcome(results: &Results, fail_on: FailOn) -> Outcome {
    let counts = results.findings.iter().any(|finding| fail_on.includes(finding.severity));
    match (counts, results.interrupted) {
        (true, _) => Outcome::Findings,
        (false, false) => Outcome::NothingFound,
        (false, true) => Outcome::InterruptedWithoutFindings,
    }
}
