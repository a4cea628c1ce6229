//! An access and its locks, as a step of a finding.

use events::{Access, Kind, SiteId, Tables, ThreadId, Variable};
use findings::{HeldLock, Step, ThreadAction};

use super::held::Acquisition;
use crate::stacks::Stacks;
use crate::subject::{Subject, ThreadNames, site_of};
use crate::verb::Verb;

/// An access that is reported.
#[derive(Clone, Debug)]
pub(crate) struct ReportedAccess {
    pub(crate) access: Access,
    pub(crate) thread: ThreadId,
    pub(crate) site: SiteId,
    /// Empty also when the locks are not known.
    pub(crate) held: Vec<Acquisition>,
}

impl ReportedAccess {
    /// The step of a finding that the access is.
    pub(crate) fn step(
        &self,
        role: &'static str,
        variable: Variable,
        tables: &Tables,
        threads: &ThreadNames<'_>,
        stacks: &Stacks<'_>,
    ) -> Step {
        let held = self.held.iter().map(|held| HeldLock {
            lock: Subject::Lock(held.lock).name(tables, held.site),
            taken_at: site_of(tables, held.site),
        });
        let verb = match self.access {
            Access::Read => Verb::of_kind(Kind::Read),
            Access::Write => Verb::of_kind(Kind::Write),
        };
        Step {
            held_locks: held.collect(),
            thread: Some(threads.name(self.thread)),
            action: Some(ThreadAction {
                verb: verb.words().to_string(),
                subject: Subject::Variable(variable).name(tables, self.site),
            }),
            stack: stacks.find(self.site, self.thread, None, None),
            ..Step::at(role, site_of(tables, self.site))
        }
    }
}
