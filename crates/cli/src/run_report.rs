//! From the findings of run-time checkers to a report: shared by `run` and `trace`.

use std::path::{Path, PathBuf};

use classes::LoadConfig;
use findings::{Finding, Results};
use models::{Models, Pattern};
use program::{BuildConfig, Program};
use report::{Baseline, Sources};

use crate::atomic_spec_file::{Learned, LearnedSpec};
use crate::baseline_file::{read_baseline, write_baseline};
use crate::flags::PresentationFlags;
use crate::graphs;
use crate::output::{self, Destination, Screen, Style};
use crate::settings::ReportSettings;
use crate::terminal_text::say;
use crate::triage::{open_sources, triage};

/// Everything a report needs besides the findings.
pub(crate) struct ObservedReport<'a> {
    settings: &'a ReportSettings,
    presentation: &'a PresentationFlags,
    output_paths: OutputPaths<'a>,
    sources: Sources,
    baseline: Option<Baseline>,
    learned: Option<LearnedSpec>,
}

/// The output files of a command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputPaths<'a> {
    /// The report; to the screen if there is no file.
    pub(crate) report: Option<&'a Path>,
    /// The methods that were found not to be atomic.
    pub(crate) learned: Option<&'a Path>,
    /// How many runs must find a method not to be atomic before it is learned.
    pub(crate) learned_after: u32,
    /// The directory for graphs of cycles.
    pub(crate) graphs: Option<&'a Path>,
}

/// Whether findings determine the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    NoFindings,
    Findings,
}

impl<'a> ObservedReport<'a> {
    /// Reads everything a report needs before the program runs, so that errors are reported early.
    pub(crate) fn prepare(
        settings: &'a ReportSettings,
        presentation: &'a PresentationFlags,
        output_paths: OutputPaths<'a>,
    ) -> anyhow::Result<ObservedReport<'a>> {
        Ok(ObservedReport {
            settings,
            presentation,
            output_paths,
            sources: open_sources(&settings.triage)?,
            baseline: read_baseline(&settings.triage)?,
            learned: output_paths.learned.map(LearnedSpec::read).transpose()?,
        })
    }

    /// Methods that earlier runs have shown not to be atomic.
    pub(crate) fn learned_exclusions(&self) -> Vec<Pattern> {
        self.learned.as_ref().map_or(Vec::new(), LearnedSpec::exclusions)
    }

    /// Triages the findings and writes the report to its file or to this screen. Graphs, baseline and learned
    /// specification are written even if writing the report fails.
    pub(crate) fn deliver(
        mut self,
        mut findings: Vec<Finding>,
        mut results: Results,
        screen: Screen,
    ) -> anyhow::Result<Verdict> {
        findings.retain(|finding| self.settings.covers(finding.rule, &finding.blame.method_name()));
        let program = annotated_program(&self.settings.paths, &findings, &mut results);
        let baseline = self.baseline.as_ref();
        let settings = &self.settings.triage;
        triage(findings, program.as_ref(), settings, baseline, None, &mut results);

        let destination = Destination::new(self.output_paths.report);
        let graphs = self.output_paths.graphs;
        let drawn = graphs.map_or(Ok(()), |directory| graphs::write(&results, directory));
        let style = Style::new(self.presentation).with_graphs(graphs);
        let delivered = output::deliver(&results, &destination, &style, &self.sources, screen);
        let page = output::write_page(self.presentation, &results, &self.sources);
        // What did not happen in this run may happen in the next.
        let baseline_written = write_baseline(&results, settings, baseline, |_| true);
        let learned = self.learned.as_mut().map_or(Ok(()), |learned| {
            let known = results.baseline.iter().flat_map(|baseline| &baseline.known);
            let findings = results.findings.iter().chain(known);
            let after = self.output_paths.learned_after;
            let added = learned.learn(findings, after);
            learned.write()?;
            if !self.presentation.quiet {
                say_what_was_learned(learned, &added, after);
            }
            Ok(())
        });
        delivered.and(page).and(drawn).and(baseline_written).and(learned)?;
        let counts = |finding: &Finding| settings.fail_on.includes(finding.severity);
        Ok(if results.findings.iter().any(counts) {
            Verdict::Findings
        } else {
            Verdict::NoFindings
        })
    }
}

/// Which methods later runs exclude, each with the finding that it hides.
fn say_what_was_learned(learned: &LearnedSpec, added: &[Learned], after: u32) {
    let file = learned.name();
    for Learned { method, hides } in added {
        say(format_args!("note: runs with `{file}` exclude `{method}`, and so hide: {hides}"));
    }
    match learned.candidates() {
        0 => {}
        1 => {
            say(format_args!("note: 1 method is excluded once {after} runs have found it split"));
        }
        count => say(format_args!(
            "note: {count} methods are excluded once {after} runs have found them split"
        )),
    }
}

/// The classes that the configuration names, for their annotations. They are read only if there are
/// findings that an annotation may suppress.
fn annotated_program(
    paths: &[PathBuf],
    findings: &[Finding],
    results: &mut Results,
) -> Option<Program> {
    if paths.is_empty() || findings.is_empty() {
        return None;
    }
    match classes::load(paths, &LoadConfig::default(), &()) {
        Ok(loaded) => {
            let config =
                BuildConfig { library: program::Library::Model, models: Models::built_in() };
            Some(program::build(loaded, None, &config))
        }
        Err(error) => {
            let remark = format!("annotations in the code were not read: {error}");
            results.remarks.push(remark);
            None
        }
    }
}
