//! `scission trace --monitor`: runs checkers on a recorded run, on a thread of their own.
//!
//! What the run did is all in the trace. What the configuration can still decide is which of its blocks are
//! not meant to be atomic: those of excluded methods are left out, and what was done in them was done in
//! the blocks around them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::bail;
use checkers::{Checker, NeededAccesses, ObjectRaceCriterion, Registration};
use events::{Action, Event, Form, SiteId, Tables, ThreadId, TraceReader};
use findings::{Finding, Gap, GapKind, Results};
use models::Pattern;
use rustc_hash::FxHashMap;

use crate::Outcome;
use crate::attended_work::attend;
use crate::cancel::Cancel;
use crate::flags::{ObjectRace, TraceFlags};
use crate::output::Screen;
use crate::progress::Progress;
use crate::run_report::{ObservedReport, OutputPaths, Verdict};
use crate::settings::TraceSettings;
use crate::trace::{Trace, input, unreadable};

/// How many events are processed between checks for cancellation.
const STEP: u64 = 1 << 12;

/// How many events are processed between updates of the progress.
const PROGRESS_STEP: u64 = 1 << 18;

/// A damaged trace may have very many notes; the others are counted.
const SHOWN_NOTES: usize = 20;

pub(crate) fn run(flags: &'static TraceFlags) -> anyhow::Result<Outcome> {
    let settings = TraceSettings::new(flags)?;
    let report = ObservedReport::prepare(
        &settings.report,
        &flags.presentation,
        OutputPaths {
            report: flags.output.as_deref(),
            learned: flags.learn_spec.as_deref(),
            learned_after: flags.learn_runs,
            graphs: flags.graphs.as_deref(),
        },
    )?;
    let mut excluded = settings.atomic_exclude.clone();
    excluded.extend(report.learned_exclusions());
    let recording = Arc::new(Recording {
        flags,
        checkers: settings.checkers.clone(),
        excluded,
        cancel: Cancel::on_interrupt(),
        progress: Progress::new(!flags.presentation.quiet && !flags.no_progress),
        so_far: Mutex::default(),
    });
    let worker = Arc::clone(&recording);
    let ended = attend(move || worker.check(), || recording.cancel.grace());
    recording.progress.finish();
    let interrupted = recording.cancel.is_requested();
    if let Some(Err(error)) = ended
        && !interrupted
    {
        return Err(error);
    }
    let SoFar { found, mut results, broken } = std::mem::take(&mut *recording.so_far());
    results.interrupted = interrupted;
    let screen = Screen::standard_output(flags.presentation.color);
    match (report.deliver(found, results, screen)?, broken) {
        (Verdict::Findings, _) => Ok(Outcome::Findings),
        (Verdict::NoFindings, _) if interrupted => Ok(Outcome::InterruptedWithoutFindings),
        (Verdict::NoFindings, Some(why)) => bail!("{why}"),
        (Verdict::NoFindings, None) => Ok(Outcome::NothingFound),
    }
}

/// A recorded run that is checked on a thread of its own. Whoever waits for it can take what was found so far.
struct Recording {
    flags: &'static TraceFlags,
    checkers: Vec<&'static str>,
    /// Methods that are not meant to be atomic.
    excluded: Vec<Pattern>,
    cancel: Cancel,
    progress: Progress,
    so_far: Mutex<SoFar>,
}

/// What is known of a recorded run.
#[derive(Default)]
struct SoFar {
    found: Vec<Finding>,
    results: Results,
    /// Why not all of it could be checked.
    broken: Option<String>,
}

impl Recording {
    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> anyhow::Result<()> {
        let Recording { flags, cancel, .. } = self;
        let name = flags.file.file_name().unwrap_or(flags.file.as_os_str()).to_string_lossy();
        let mut trace = TraceReader::with_lines_as_sites(input(&flags.file, cancel)?, &name)
            .map_err(|error| unreadable(&flags.file, &error))?;
        let checker_settings = checkers::Settings {
            speculation: !flags.no_speculation,
            object_race: match flags.object_race {
                ObjectRace::Lockset => ObjectRaceCriterion::Lockset,
                ObjectRace::Hybrid => ObjectRaceCriterion::Hybrid,
            },
        };
        let blocks = Blocks::new(self.excluded.clone());
        let mut checker_run = CheckerRun::new(&self.checkers, checker_settings, blocks);
        let completed = checker_run.process(&mut trace, cancel, &self.progress);

        let mut remarks = notes(&trace, &checker_run.registrations);
        let file = flags.file.display();
        // Findings in the part that can be read are reported.
        let broken = match completed {
            Ok(()) => trace.is_damaged().then(|| {
                format!(
                    "the trace `{file}` is damaged, and nothing was found in what is left of it"
                )
            }),
            Err(error) => {
                remarks.push(format!("only the events before it were checked: {error}"));
                Some(unreadable(&flags.file, &error).to_string())
            }
        };
        let tables = trace.tables();
        let uncertain = checker_run.checkers.iter().map(|checker| checker.uncertain_violations());
        let stats = vec![
            ("threads", tables.threads.len() as u64),
            ("events", checker_run.events),
            ("uncertain_violations", uncertain.sum()),
        ];
        {
            let mut so_far = self.so_far();
            so_far.results = Results { remarks, stats, ..Results::default() };
            so_far.broken = broken;
        }
        // Some checkers look for other orders of the run only now.
        for checker in &checker_run.checkers {
            let found = checker.findings(tables);
            self.so_far().found.extend(found);
        }
        let gaps = checker_run.gaps(&name);
        self.so_far().results.gaps = gaps;
        Ok(())
    }
}

/// What is missing from the trace, also for a checker that needs more events.
fn notes(trace: &Trace, checkers: &[&Registration]) -> Vec<String> {
    let mut notes = trace.notes();
    if let Some(more @ 1..) = notes.len().checked_sub(SHOWN_NOTES) {
        notes.truncate(SHOWN_NOTES);
        notes.push(format!("{more} more notes like these"));
    }
    let recorded = match (trace.form(), trace.header().get("accesses")) {
        (Form::Binary, None) => NeededAccesses::InOrder,
        (Form::Binary, Some("since-written")) => NeededAccesses::SinceWritten,
        _ => NeededAccesses::All,
    };
    for checker in checkers.iter().filter(|checker| checker.needs.accesses > recorded) {
        notes.push(format!(
            "`{name}` may miss findings: record with `--monitor {name}` to include all accesses it needs",
            name = checker.name
        ));
    }
    notes
}

/// Checkers that process a trace.
struct CheckerRun {
    registrations: Vec<&'static Registration>,
    checkers: Vec<Box<dyn Checker + Send>>,
    blocks: Blocks,
    events: u64,
    /// How often the trace says that hooks could not report something.
    missed: u32,
}

impl CheckerRun {
    fn new(names: &[&'static str], settings: checkers::Settings, blocks: Blocks) -> CheckerRun {
        let registrations: Vec<_> = names.iter().filter_map(|name| checkers::named(name)).collect();
        let checkers = registrations.iter().map(|checker| (checker.start)(settings)).collect();
        CheckerRun { registrations, checkers, blocks, events: 0, missed: 0 }
    }

    /// Passes the events of a trace to the checkers until it ends or the user cancels.
    fn process(
        &mut self,
        trace: &mut Trace,
        cancel: &Cancel,
        progress: &Progress,
    ) -> Result<(), events::TraceError> {
        let mut known_rows = 0;
        let (mut next_look, mut next_count) = (STEP, 0);
        loop {
            let (events, tables) = trace.next_batch()?;
            if events.is_empty() {
                return Ok(());
            }
            // Rows stand before the events that carry their numbers.
            let rows = tables.sites.len() + tables.fields.len();
            if rows != known_rows {
                known_rows = rows;
                self.checkers.iter_mut().for_each(|checker| checker.learn(tables));
            }
            // The first events are looked at in any case: whoever interrupts a pipe wants to know of what has come.
            if self.events >= next_look {
                next_look = self.events + STEP;
                if cancel.is_requested() {
                    return Ok(());
                }
            }
            if self.events >= next_count {
                next_count = self.events + PROGRESS_STEP;
                progress.count(format!("{:.1} million events", self.events as f64 / 1e6));
            }
            self.give(events, tables);
        }
    }

    fn give(&mut self, events: &[Event], tables: &Tables) {
        self.events += events.len() as u64;
        let missed = events.iter().filter(|event| event.action == Action::Missed).count();
        self.missed += missed as u32;
        let events = self.blocks.kept(events, tables);
        for (registration, checker) in self.registrations.iter().zip(&mut self.checkers) {
            registration.give(events, tables, &mut **checker);
        }
    }

    /// What the trace says that it lacks, and what checkers left out.
    fn gaps(&self, trace: &str) -> Vec<Gap> {
        let detail = "hooks had no memory or stack left to report what happened";
        let gap = Gap::new(GapKind::LostEvents, trace, detail);
        let missed = (self.missed > 0).then_some(Gap { count: self.missed, ..gap });
        let limits = self.checkers.iter().flat_map(|checker| checker.limits());
        let limits = limits.map(|(detail, count)| Gap {
            count: u32::try_from(count).unwrap_or(u32::MAX),
            ..Gap::new(GapKind::Limit, trace, detail)
        });
        missed.into_iter().chain(limits).collect()
    }
}

/// Which blocks of the trace are meant to be atomic.
struct Blocks {
    excluded: Vec<Pattern>,
    /// Whether the block of a site is excluded, for the sites seen so far.
    left_out: FxHashMap<SiteId, bool>,
    /// The blocks that are open in each thread, and whether they are left out.
    open: FxHashMap<ThreadId, Vec<(SiteId, bool)>>,
    /// Those of the latest events that checkers receive.
    kept: Vec<Event>,
}

impl Blocks {
    fn new(excluded: Vec<Pattern>) -> Blocks {
        let (left_out, open) = (FxHashMap::default(), FxHashMap::default());
        Blocks { excluded, left_out, open, kept: Vec::new() }
    }

    /// Those of some events that checkers receive: all but the begins and ends of excluded blocks.
    fn kept<'a>(&'a mut self, events: &'a [Event], tables: &Tables) -> &'a [Event] {
        if self.excluded.is_empty() {
            return events;
        }
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        kept.extend(events.iter().filter(|event| self.keep(event, tables)));
        self.kept = kept;
        &self.kept
    }

    fn keep(&mut self, event: &Event, tables: &Tables) -> bool {
        if event.action == Action::Begin {
            let excluded = &self.excluded;
            let is_left_out = *self.left_out.entry(event.site).or_insert_with(|| {
                tables.sites.get(event.site.0 as usize).is_some_and(|entry| {
                    let name = entry.site.method_name();
                    excluded.iter().any(|pattern| pattern.matches(&name))
                })
            });
            self.open.entry(event.thread).or_default().push((event.site, is_left_out));
            !is_left_out
        } else if event.action == Action::End {
            let open = self.open.entry(event.thread).or_default();
            // An end names its block, except in traces that people write.
            let ended = open.iter().rposition(|(site, _)| *site == event.site);
            let ended = ended.or(open.len().checked_sub(1));
            ended.is_none_or(|process| {
                let (_, is_left_out) = open[process];
                open.truncate(process);
                !is_left_out
            })
        } else {
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_excluded_methods_are_not_seen() {
        let text = "\
t1 begin A.outer
t1 begin A.inner
t1 rd x
t1 end
t1 begin A.other
t1 end A.other
t1 end A.outer
t2 end
";
        let mut reader = TraceReader::new(text.as_bytes()).unwrap();
        let mut blocks = Blocks::new(vec![Pattern::new("A.inner"), Pattern::new("A.outer")]);
        let mut seen = Vec::new();
        for line in 1.. {
            let (events, tables) = reader.next_batch().unwrap();
            if events.is_empty() {
                break;
            }
            seen.extend(blocks.kept(events, tables).iter().map(|_| line));
        }
        assert_eq!(seen, [3, 5, 6, 8]);
    }
}
