//! `scission check`: read, analyse, report. The analysis has a thread of its own, so that what was found so far is reported in
//! time when the user asks to stop, or the budget is used up.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use analyses::Context;
use anyhow::{anyhow, bail};
use classes::is_archive;
use findings::{BaselineEntry, Finding, Gap, GapKind, Results, merge_gaps, nearest_name, rules};
use models::{Pattern, Source, Statement, statements};
use program::{Origin, Program, threads};
use report::Baseline;

use crate::Outcome;
use crate::assemble::{Assembled, InputForm, Stopwatch, assemble};
use crate::attended_work::attend;
use crate::baseline_file::{read_baseline, write_baseline};
use crate::budget::BudgetMeter;
use crate::cancel::Cancel;
use crate::flags::{CheckFlags, FailOn};
use crate::output::{self, Destination, Screen, Style};
use crate::progress::Progress;
use crate::settings::CheckSettings;
use crate::triage::{open_sources, triage};
use crate::watch_list_file::{self, WatchList};

pub(crate) fn run(flags: &'static CheckFlags) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let meter = BudgetMeter::new(&flags.budget);
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
    let analysis = Arc::new(Analysis {
        flags,
        settings,
        meter,
        cancel: Cancel::on_interrupt(),
        progress: Progress::new(!flags.presentation.quiet && !flags.no_progress),
        assembled: OnceLock::new(),
        so_far: Mutex::default(),
    });
    let worker = Arc::clone(&analysis);
    let ended = attend(move || worker.run(), || analysis.grace());
    analysis.progress.finish();
    let has_stopped = ended.transpose()?.is_some();
    let (mut results, watch_list) = analysis.results(has_stopped, baseline.as_ref());
    let Analysis { settings, .. } = &*analysis;

    let destination = Destination::new(flags.output.as_deref());
    let screen = Screen::standard_output(flags.presentation.color);
    results.gaps = merge_gaps(results.gaps);
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
    if analysis.assembled.get().is_none() && !results.interrupted {
        bail!("the budget was used up before anything was analysed; `--budget` grants more");
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

/// The analysis of a program, on a thread of its own. Whoever waits for it can take what it has found so far.
struct Analysis {
    flags: &'static CheckFlags,
    settings: CheckSettings,
    meter: BudgetMeter,
    cancel: Cancel,
    progress: Progress,
    /// The program, once it is linked.
    assembled: OnceLock<Assembled>,
    so_far: Mutex<SoFar>,
}

/// What is known of a program, before triage.
#[derive(Default)]
struct SoFar {
    found: Vec<Finding>,
    results: Results,
    watch_list: WatchList,
}

impl Analysis {
    /// How long it may go on, if it should stop.
    fn grace(&self) -> Option<Duration> {
        let of_budget = || if self.needs_all() { None } else { self.meter.grace() };
        self.cancel.grace().or_else(of_budget)
    }

    /// A list of what is safe to leave unwatched must be whole, whatever that takes.
    fn needs_all(&self) -> bool {
        self.settings.analysis.watch_list.is_some()
    }

    fn is_used_up(&self) -> bool {
        !self.needs_all() && self.meter.is_used_up()
    }

    fn should_stop(&self) -> bool {
        self.cancel.is_requested() || self.is_used_up()
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an analysis did not look at.
    fn note_limit(&self, what: &str, detail: &str) {
        self.so_far().results.gaps.push(Gap::new(GapKind::Limit, what.to_string(), detail));
    }

    fn run(&self) -> anyhow::Result<()> {
        let Analysis { flags, settings, progress, .. } = self;
        let assembled = assemble(
            &settings.paths,
            &settings.program,
            settings.models.clone(),
            InputForm {
                fraction: flags.bench_fraction,
                is_class_path: flags.watch_list_for.is_some(),
            },
            &|| self.should_stop(),
            progress,
        )?;
        let Some(mut assembled) = assembled else {
            if !self.cancel.is_requested() {
                self.note_limit(progress.current(), CUT_SHORT);
            }
            return Ok(());
        };
        let config = &settings.analysis;
        {
            let results = &mut self.so_far().results;
            results.stats = std::mem::take(&mut assembled.stats);
            results.gaps.append(&mut assembled.program.gaps);
            if results.stats.contains(&("classes", 0)) && !self.cancel.is_requested() {
                return Err(nothing_to_check(&settings.paths, results));
            }
            results.gaps.extend(assembled.graph.gaps.iter().cloned());
        }
        let Assembled { program, graph, .. } = self.assembled.get_or_init(|| assembled);
        if !self.cancel.is_requested() {
            config.entry_points.iter().try_for_each(|pattern| must_match(program, pattern))?;
        }
        let context = Context {
            program,
            graph,
            config,
            cancelled: &|| self.should_stop(),
            exhausted: &|| self.meter.is_exhausted(),
        };
        if config.watch_list.is_some() {
            self.so_far().watch_list.analysed = watch_list_file::analysed_classes(program);
        }
        for analysis in analyses::ALL {
            let lists = config.watch_list.is_some() && analysis.makes_watch_list;
            if !lists && !analysis.rules.iter().any(|rule| config.wants(rule)) {
                continue;
            }
            if self.is_used_up() {
                self.note_limit(analysis.name, "was not begun: the budget was used up before");
                continue;
            }
            progress.phase(analysis.name);
            let stopwatch = Stopwatch::start();
            let outcome = (analysis.run)(&context);
            let is_used_up = self.is_used_up();
            let so_far = &mut *self.so_far();
            so_far.found.extend(outcome.findings);
            let sites = outcome.watch.iter().map(|place| program.site(place.method, place.offset));
            so_far.watch_list.accesses.extend(sites);
            so_far.results.gaps.extend(outcome.gaps);
            so_far.results.threads.extend(outcome.threads);
            if is_used_up {
                let gap = Gap::new(GapKind::Limit, analysis.name.to_string(), CUT_SHORT);
                so_far.results.gaps.push(gap);
            }
            so_far.results.stats.push((analysis.time_counter, stopwatch.lap()));
        }
        Ok(())
    }

    /// What was found until now, after triage. An analysis that has not stopped goes on, and nobody waits for it.
    fn results(&self, has_stopped: bool, baseline: Option<&Baseline>) -> (Results, WatchList) {
        let SoFar { found, mut results, watch_list } = std::mem::take(&mut *self.so_far());
        let Analysis { flags, settings, .. } = self;
        if !has_stopped && !self.cancel.is_requested() {
            let gap = Gap::new(GapKind::Limit, self.progress.current().to_string(), CUT_SHORT);
            results.gaps.push(gap);
        }
        if flags.bench_fraction.is_none() {
            // The same input gives the same report; times are for the benchmark alone.
            results.stats.retain(|(name, _)| !name.ends_with("_ms"));
        }
        results.interrupted = self.cancel.is_requested();
        let program = self.assembled.get().map(|assembled| &assembled.program);
        let is_whole = has_stopped && program.is_some() && !self.should_stop();
        let looked = is_whole.then_some(settings);
        triage(found, program, &settings.triage, baseline, looked, &mut results);
        if let Some(program) = program {
            results.remarks.extend(unmatched_patterns(program, flags));
            if !settings.has_other_paths {
                results.remarks.extend(unmatched_models(program));
            }
        }
        (results, watch_list)
    }
}

/// What a gap says of work that the budget has ended.
const CUT_SHORT: &str = "was cut short: the budget was used up";

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
