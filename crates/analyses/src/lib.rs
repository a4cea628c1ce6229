//! The static analyses: one folder each, and one list.
//!
//! An analysis reads the program model and the call graph and returns findings. It formats no text
//! and reads no file.

mod alone;
pub mod annotations;
pub mod deadlock;
pub mod execution;
pub mod heap;
pub mod lock_pattern;
pub mod locks;
pub mod method_consistency;
pub mod misuse;
pub mod races;
#[cfg(test)]
#[path = "../tests/random/generator.rs"]
mod random;
mod sorted;
mod source_names;
pub mod stale_value;
pub mod whole_program;

use findings::{Finding, Gap};
use program::callgraph::CallGraph;
use program::models::AtomicSpec;
use program::models::Pattern;
use program::{Origin, Program};

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
    /// Whether the time or the memory that the user grants is used up; an analysis then goes on with less context.
    pub exhausted: &'a (dyn Fn() -> bool + Sync),
}

/// Who reads a list of accesses that could not be proven safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchListReader {
    /// Checkers that look for accesses which nothing orders, or which alternate. What is ordered by creation, start or
    /// end is safe for them.
    Order,
    /// Checkers that ask which locks guard a variable, also where its accesses are ordered otherwise.
    Locksets,
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
    /// Report what the papers' algorithms report, without recognising idioms that make it harmless.
    pub strict: bool,
    /// Which code is meant to be atomic. The run-time monitors ask; the static analyses take a held
    /// lock for the intent.
    pub atomic: AtomicSpec,
    /// Methods that clients outside the program call, from many threads.
    pub entry_points: Vec<Pattern>,
    /// Who wants the accesses that could not be proven safe, if somebody does.
    pub watch_list: Option<WatchListReader>,
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
}

/// Where findings may be, as the user says.
pub(crate) struct Scope<'a> {
    /// The patterns in `include` that name code of the application; the others bring back lock
    /// classes, and restrict nothing.
    restrictions: Vec<&'a Pattern>,
    exclude: &'a [Pattern],
}

impl<'a> Scope<'a> {
    pub(crate) fn of(context: &Context<'a>) -> Scope<'a> {
        let classes = context.program.classes.iter();
        let names: Vec<String> = classes
            .filter(|class| class.origin == Origin::Application)
            .map(program::Class::dotted_name)
            .collect();
        let names_code = |pattern: &&Pattern| {
            names.iter().any(|name| pattern.matches(name) || pattern.is_below(name))
        };
        Scope {
            restrictions: context.config.include.iter().filter(names_code).collect(),
            exclude: &context.config.exclude,
        }
    }

    /// Whether findings blamed on this dotted name (class and method) are to be reported.
    pub(crate) fn covers(&self, name: &str) -> bool {
        let is_included = self.restrictions.is_empty()
            || self.restrictions.iter().any(|pattern| pattern.matches(name));
        is_included && !self.exclude.iter().any(|pattern| pattern.matches(name))
    }
}

/// What an analysis found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The findings, in any order.
    pub findings: Vec<Finding>,
    /// What it could not look at.
    pub gaps: Vec<Gap>,
    /// The accesses that it could not prove safe, where that was asked for.
    pub watch: Vec<heap::Place>,
    /// What was taken as threads, in a few words each.
    pub threads: Vec<String>,
}

/// One analysis.
pub struct Analysis {
    /// Its name, as witnesses carry it.
    pub name: &'static str,
    /// Name of the counter for the time it takes, in milliseconds.
    pub time_counter: &'static str,
    /// The rules it reports.
    pub rules: &'static [&'static str],
    /// Whether it lists the accesses that could not be proven safe, where that is asked for.
    pub makes_watch_list: bool,
    /// Runs it.
    pub run: fn(&Context<'_>) -> Outcome,
}

/// Every analysis, in the order in which they run.
pub static ALL: &[Analysis] =
    &[lock_pattern::ANALYSIS, stale_value::ANALYSIS, whole_program::ANALYSIS, misuse::ANALYSIS];

/// Whether some analysis reports this rule; the others are found only while a program runs.
#[must_use]
pub fn reports(rule: &str) -> bool {
    ALL.iter().any(|analysis| analysis.rules.contains(&rule))
}
