//! The static analyses: one folder each, and one list.
//!
//! An analysis reads the program model and the call graph and returns findings. It formats no text
//! and reads no file.

pub mod lock_pattern;

use findings::{Finding, Gap};
use program::Program;
use program::callgraph::CallGraph;
use program::pattern::Pattern;

/// What an analysis is given.
pub struct Context<'a> {
    /// The program.
    pub program: &'a Program,
    /// Who calls whom.
    pub graph: &'a CallGraph,
    /// What the user asked for.
    pub config: &'a Config,
    /// Whether the user asked to stop; an analysis then returns what it has.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Names of the rules to report; empty for those that are on by default.
    pub rules: Vec<String>,
    /// Only findings blamed on a matching class or method; also brings back matching lock classes
    /// that an analysis leaves out by default.
    pub include: Vec<Pattern>,
    /// No findings blamed on a matching class or method.
    pub exclude: Vec<Pattern>,
}

impl Config {
    /// Whether a rule is to be reported.
    #[must_use]
    pub fn wants(&self, rule: &str) -> bool {
        if self.rules.is_empty() {
            findings::rules::named(rule).is_some_and(|rule| rule.on_by_default)
        } else {
            self.rules.iter().any(|wanted| wanted == rule)
        }
    }

    /// Whether findings blamed on this dotted name (class and method) are to be reported. Patterns
    /// in `include` that name library lock classes do not restrict where findings may be.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        !self.exclude.iter().any(|pattern| pattern.matches(name))
    }
}

/// What an analysis found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The findings, in any order.
    pub findings: Vec<Finding>,
    /// What it could not look at.
    pub gaps: Vec<Gap>,
}

/// One analysis.
pub struct Analysis {
    /// Its name, as witnesses carry it.
    pub name: &'static str,
    /// Name of the counter for the time it takes, in milliseconds.
    pub time_counter: &'static str,
    /// The rules it reports.
    pub rules: &'static [&'static str],
    /// Runs it.
    pub run: fn(&Context<'_>) -> Outcome,
}

/// Every analysis, in the order in which they run.
pub static ALL: &[Analysis] = &[lock_pattern::ANALYSIS];
