//! Atomic blocks are cut where their thread starts another or waits for one.
//!
//! What a block does before it starts a thread, or waits for one, and what it does after are two units: the other
//! thread is meant to run in between (HAVE, section 3.2). For a checker the open blocks end there, innermost first, and
//! begin anew. So checkers need not know of it, and a trace that was written by hand gets the verdicts of a run,
//! in which the runtime cuts blocks by itself, also where no event shows that the thread waited.
//!
//! - A start, a submission and a wait belong to the unit before: their edges lead to other threads.
//! - A join, and passing a barrier or a latch, belong to the unit after: their edges come from other threads.
//! - The blocks begin anew with the next event of their thread, and end for good if that is their end.
//!
//! A task that was submitted is no part of the blocks around it, whoever runs it: they are suspended while it runs. They end before
//! it begins, and begin anew with the first event after its end. So the loop of a worker is not one unit with all that it ever runs.

use events::{Action, Epoch, Event, ObjectId, SiteId, Tables, ThreadId};
use findings::Finding;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Checker;

/// What an event means to the open blocks of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockChange {
    /// One more begins.
    Begins,
    /// The innermost one ends.
    Ends,
    /// All end, with their thread.
    ThreadEnds,
    /// All are cut; the event belongs to the unit after.
    CutBefore,
    /// All are cut; the event belongs to the unit before.
    CutAfter,
    /// All are suspended, if the task was submitted; the event belongs to what comes then.
    TaskBegins(ObjectId),
    /// Those around the task may begin anew; the event belongs to what was before.
    TaskEnds(ObjectId),
    /// None; the event may belong to a unit that is over.
    ReportedLate,
    /// None.
    Unchanged,
}

impl BlockChange {
    fn of(action: Action) -> BlockChange {
        match action {
            Action::Begin => BlockChange::Begins,
            Action::End => BlockChange::Ends,
            Action::ThreadEnd => BlockChange::ThreadEnds,
            Action::Join(_)
            | Action::TaskJoin(_)
            | Action::BarrierPass(_)
            | Action::LatchPass(_) => BlockChange::CutBefore,
            Action::TaskBegin(task) => BlockChange::TaskBegins(task),
            Action::TaskEnd(task) => BlockChange::TaskEnds(task),
            Action::Fork(_) | Action::Submit(_) | Action::Wait(_) => BlockChange::CutAfter,
            Action::EarlierRead(_) | Action::EarlierWrite(_) | Action::EarlierOrderRelease(_) => {
                BlockChange::ReportedLate
            }
            Action::Read(_)
            | Action::Write(_)
            | Action::VolatileRead(_)
            | Action::VolatileWrite(_)
            | Action::AtomicUpdate(_)
            | Action::AtomicAdd(_)
            | Action::AtomicSwap(_)
            | Action::Acquire(_)
            | Action::AcquireShared(_)
            | Action::Release(_)
            | Action::ReleaseShared(_)
            | Action::Woken(_)
            | Action::Notify(_)
            | Action::NotifyAll(_)
            | Action::ThreadBegin
            | Action::Publish(_)
            | Action::Receive(_)
            | Action::BarrierArrive(_)
            | Action::LatchDown(_)
            | Action::Escape(..)
            | Action::ClassInitialised(_)
            | Action::ClassUsed(_)
            | Action::Branch(_)
            | Action::OrderRelease(_)
            | Action::OrderAcquire(_)
            | Action::OrderAcquireAll
            | Action::LibraryOrder
            | Action::Choice
            | Action::Untaken(_)
            | Action::UntakenEnd
            | Action::Rejoin
            | Action::WouldRead(_)
            | Action::WouldWrite(_)
            | Action::WouldAcquire(_)
            | Action::WouldAcquireShared(_)
            | Action::WouldRelease(_)
            | Action::WouldReleaseShared(_)
            | Action::Given(_)
            | Action::Tried(_)
            | Action::Holds(_)
            | Action::Blocked(_)
            | Action::BlockedByThread(_)
            | Action::Stalled(..)
            | Action::Hung
            | Action::Starved(_)
            | Action::Missed => BlockChange::Unchanged,
        }
    }
}

/// The open blocks of a thread.
#[derive(Debug, Default)]
struct OpenBlocks {
    /// Outermost first.
    blocks: Vec<SiteId>,
    /// Whether they were cut and have not begun anew.
    are_cut: bool,
    /// The tasks that suspend blocks, outermost first, each with how many there were.
    tasks: Vec<(ObjectId, usize)>,
}

impl OpenBlocks {
    /// How many of the blocks are suspended.
    fn suspended(&self) -> usize {
        self.tasks.last().map_or(0, |(_, blocks)| *blocks)
    }
}

/// How many tasks are known that were submitted and have not ended. Blocks around others are left alone.
const MOST_TASKS: usize = 1 << 16;

/// A checker that hears of cut blocks as of several.
#[derive(Debug)]
pub(crate) struct CutBlocks<C> {
    checker: C,
    threads: FxHashMap<ThreadId, OpenBlocks>,
    /// How many threads have blocks that were cut and have not begun anew.
    cut_threads: usize,
    /// The tasks that were submitted and have not ended.
    submitted: FxHashSet<ObjectId>,
}

/// A begin or end that is not in the stream. It takes no place there, by which other events say what they overlap.
fn inserted(thread: ThreadId, epoch: Epoch, site: SiteId, action: Action) -> Event {
    Event { thread, epoch, site, action, overlaps: Event::OVERLAPS_ALL }
}

/// Whether an event is one that a cut has inserted.
pub(crate) fn is_inserted(event: &Event) -> bool {
    matches!(event.action, Action::Begin | Action::End) && event.overlaps == Event::OVERLAPS_ALL
}

impl<C: Checker> CutBlocks<C> {
    pub(crate) fn new(checker: C) -> CutBlocks<C> {
        CutBlocks {
            checker,
            threads: FxHashMap::default(),
            cut_threads: 0,
            submitted: FxHashSet::default(),
        }
    }

    /// The open blocks of a thread end, until it does something.
    fn cut(&mut self, thread: ThreadId, epoch: Epoch) {
        let Some(open) = self.threads.get_mut(&thread) else { return };
        if open.are_cut || open.blocks.is_empty() {
            return;
        }
        open.are_cut = true;
        self.cut_threads += 1;
        for site in open.blocks[open.suspended()..].iter().rev() {
            self.checker.event(&inserted(thread, epoch, *site, Action::End));
        }
    }

    /// The blocks of a thread that were cut begin anew.
    fn begin_anew(&mut self, thread: ThreadId, epoch: Epoch) {
        let Some(open) = self.threads.get_mut(&thread) else { return };
        if open.are_cut {
            open.are_cut = false;
            self.cut_threads -= 1;
            for site in &open.blocks[open.suspended()..] {
                self.checker.event(&inserted(thread, epoch, *site, Action::Begin));
            }
        }
    }

    /// A submitted task begins: the blocks of its thread end, until it has ended.
    fn suspend(&mut self, thread: ThreadId, epoch: Epoch, task: ObjectId) {
        let has_blocks = self.threads.get(&thread).is_some_and(|open| !open.blocks.is_empty());
        if !has_blocks || !self.submitted.contains(&task) {
            return;
        }
        self.cut(thread, epoch);
        let Some(open) = self.threads.get_mut(&thread) else { return };
        // None of those that are open from here on has been cut.
        open.are_cut = false;
        self.cut_threads -= 1;
        open.tasks.push((task, open.blocks.len()));
    }

    /// A task has ended, and with it the blocks inside it: those around it begin anew with the next event.
    fn resume(&mut self, thread: ThreadId, epoch: Epoch, task: ObjectId) {
        self.submitted.remove(&task);
        let Some(open) = self.threads.get(&thread) else { return };
        let Some(at) = open.tasks.iter().rposition(|(suspending, _)| *suspending == task) else {
            return;
        };
        self.cut(thread, epoch);
        let Some(open) = self.threads.get_mut(&thread) else { return };
        open.blocks.truncate(open.tasks[at].1);
        open.tasks.truncate(at);
    }

    /// A block ends; whether it has ended before, by a cut. The entry of its thread, and the room in it, is for the
    /// blocks that follow.
    fn end(&mut self, thread: ThreadId) -> bool {
        let Some(open) = self.threads.get_mut(&thread) else { return false };
        if !open.tasks.is_empty() && open.blocks.len() == open.suspended() && !open.are_cut {
            // It ends around a task that has not ended: it is over since the task began.
            open.are_cut = true;
            self.cut_threads += 1;
        }
        open.blocks.pop();
        let left = open.blocks.len();
        open.tasks.retain(|(_, blocks)| *blocks <= left);
        let is_over = open.are_cut;
        if open.blocks.is_empty() {
            self.cut_threads -= usize::from(open.are_cut);
            open.are_cut = false;
        }
        is_over
    }
}

impl<C: Checker> Checker for CutBlocks<C> {
    fn event(&mut self, event: &Event) {
        let Event { thread, epoch, site, action, overlaps: _ } = *event;
        let change = BlockChange::of(action);
        match change {
            BlockChange::ReportedLate => {}
            BlockChange::Ends => {
                if self.end(thread) {
                    return;
                }
            }
            BlockChange::ThreadEnds => {
                if let Some(open) = self.threads.remove(&thread) {
                    self.cut_threads -= usize::from(open.are_cut);
                }
            }
            BlockChange::CutBefore => {
                self.cut(thread, epoch);
                self.begin_anew(thread, epoch);
            }
            BlockChange::TaskBegins(task) => self.suspend(thread, epoch, task),
            BlockChange::Begins
            | BlockChange::CutAfter
            | BlockChange::TaskEnds(_)
            | BlockChange::Unchanged => {
                if self.cut_threads > 0 {
                    self.begin_anew(thread, epoch);
                }
            }
        }
        self.checker.event(event);
        match change {
            BlockChange::Begins => self.threads.entry(thread).or_default().blocks.push(site),
            BlockChange::CutAfter => {
                self.cut(thread, epoch);
                if let Action::Submit(task) = action {
                    if self.submitted.len() == MOST_TASKS {
                        self.submitted.clear();
                    }
                    self.submitted.insert(task);
                }
            }
            BlockChange::TaskEnds(task) => self.resume(thread, epoch, task),
            BlockChange::Ends
            | BlockChange::ThreadEnds
            | BlockChange::CutBefore
            | BlockChange::TaskBegins(_)
            | BlockChange::ReportedLate
            | BlockChange::Unchanged => {}
        }
    }

    fn learn(&mut self, tables: &Tables) {
        self.checker.learn(tables);
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.checker.findings(tables)
    }

    fn uncertain_violations(&self) -> u64 {
        self.checker.uncertain_violations()
    }

    fn limits(&self) -> Vec<(&'static str, u64)> {
        self.checker.limits()
    }

    fn suspects(&mut self) -> Vec<SiteId> {
        self.checker.suspects()
    }
}
