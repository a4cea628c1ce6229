//! Blocks that need not be atomic: rule `irreducible-block`.
//!
//! Implements "Atomizer: A Dynamic Atomicity Checker for Multithreaded Programs", sections 3 to 5: Lipton's
//! reduction over the GuardSets of Eraser, for every block that is open.
//!
//! Property: a block is reported iff what it did, in the observed run, is not right movers, at most one
//! operation that moves neither way, and left movers, with operations that move both ways anywhere.
//! Neither sound nor complete: it may report blocks that nothing can split, because GuardSets know locks
//! and nothing else (a variable that is transferred through a flag looks unguarded); it misses blocks whose
//! variables and locks had met too few threads when they ran. What fits the pattern in a run whose
//! variables are classified rightly is serializable in every order of that run.
//!
//! What moves which way:
//!
//! | operation | moves |
//! |---|---|
//! | access to a variable that is one thread's own, only read, or guarded | both ways |
//! | read under a lock that is held at every write | both ways |
//! | other access, volatile or atomic ones too | neither way |
//! | acquisition, end of a wait | right |
//! | release, begin of a wait | left |
//! | acquisition and release of a lock that one thread alone uses, or that is acquired under another lock only | both ways |
//! | joining, passing a barrier or a latch, begin of a task | right |
//! | starting, arriving at a barrier, counting down, end of a task | left |
//! | publishing, receiving, notifying, initialising and using a class | both ways |
//!
//! Deviations from the paper, with the reason:
//! 1. The paper checks the outermost block. Here each open block has its own phase, so that the innermost
//!    block that fails is known, which is the one to change; those around it fail with it.
//! 2. What a lock is guarded by is found like that of a variable: an acquisition is a write of the lock,
//!    or a read if the lock is shared. That covers the paper's thread-local and protected locks, and
//!    locks that are only ever shared.
//! 3. Volatile variables are classified like others: one that is always used under a lock moves both ways.
//! 4. An access that repeats one of the same thread, with no synchronisation in between, is the same operation:
//!    compilers may make one of them, and the hooks report one of them. A read also repeats a
//!    write. A volatile read synchronises, and is repeated by another one of the same variable only.
//! 5. Class initialisation happens once, and is left out: it would make every block fail the first time.
//! 6. Publishing and receiving are left out: one call of a concurrent collection publishes, changes and
//!    receives, and the change represents all of it.
//! 7. A block that fails is reported once for each time it runs, for the first operation that does not
//!    fit.
//! 8. Where a thread starts another or waits for one, its blocks are cut (`cuts.rs`).

mod report;

use std::collections::BTreeSet;

use events::{
    Access, Action, Block, Context, Event, Mode, ObjectId, SiteId, Tables, ThreadId, Variable,
};
use findings::Finding;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cuts::CutBlocks;
use crate::locksets::{
    Acquisition, BoundedTable, GuardState, GuardStatus, HeldLocksByThread, Sets,
};
use crate::subject::Subject;
use crate::verb::Verb;
use crate::{Checker, NeededAccesses, Needs, Registration};
use report::{Failure, Failures};

const RULE: &str = "irreducible-block";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "atomizer",
    rules: &[RULE],
    on_by_default: false,
    needs: Needs {
        accesses: NeededAccesses::All,
        nested_blocks: true,
        order: false,
        speculation: false,
    },
    looks_into_libraries: true,
    start: |_| Box::new(CutBlocks::new(Atomizer::default())),
};

/// How many different variables a thread may use between two synchronisations before those that it used
/// first are forgotten, and count as new when they are used again.
const MOST_REPEATED: usize = 4096;

/// Which way an operation can be moved past those of other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoverKind {
    Both,
    Right,
    Left,
    Neither,
}

/// Something that a thread did in a block.
#[derive(Clone, Copy, Debug)]
struct Operation {
    site: SiteId,
    verb: Verb,
    subject: Subject,
    /// The blocks that were open.
    context: Context,
}

/// How far a block has come in the pattern.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Whatever comes still fits.
    Growing,
    /// This operation was the first that moves left, or neither way: only what moves left may follow.
    Committed(Operation),
    /// Something did not fit.
    Failed,
}

/// An atomic block that has begun and not ended.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: Block,
    /// When it began.
    begin: u64,
    phase: Phase,
}

/// When a thread last used a variable; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
struct LastUse {
    read: u64,
    write: u64,
}

#[derive(Debug, Default)]
struct Thread {
    /// Counts what the thread did.
    now: u64,
    /// Outermost first.
    open: Vec<OpenBlock>,
    /// The variables that were used in blocks since the thread last synchronised.
    used: FxHashMap<Variable, LastUse>,
}

impl Thread {
    /// An access happens. When the same was last done since the thread synchronised, or 0.
    fn repeats(&mut self, variable: Variable, access: Access) -> u64 {
        if self.open.is_empty() {
            return 0;
        }
        if self.used.len() >= MOST_REPEATED {
            self.used.clear();
        }
        let last = self.used.entry(variable).or_default();
        match access {
            Access::Read => std::mem::replace(&mut last.read, self.now).max(last.write),
            Access::Write => std::mem::replace(&mut last.write, self.now),
        }
    }
}

/// The checker.
#[derive(Debug, Default)]
pub struct Atomizer {
    held_locks: HeldLocksByThread,
    sets: Sets<ObjectId>,
    variables: BoundedTable<Variable, GuardState>,
    locks: BoundedTable<ObjectId, GuardState>,
    threads: FxHashMap<ThreadId, Thread>,
    failures: Failures,
    suspects: Vec<SiteId>,
    suspected: FxHashSet<SiteId>,
}

impl Atomizer {
    /// How many blocks failed, each time they ran.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.count
    }

    /// The blocks that failed: those to blame, and those around them.
    #[must_use]
    pub fn failed(&self) -> &BTreeSet<Block> {
        &self.failures.blocks
    }

    fn thread(&mut self, event: &Event) -> &mut Thread {
        let thread = self.threads.entry(event.thread).or_default();
        thread.now += 1;
        thread
    }

    /// Whether an access is guarded.
    fn classify_access(
        &mut self,
        event: &Event,
        access: Access,
        variable: Variable,
    ) -> GuardStatus {
        self.sweep();
        let held = self.held_locks.of(event.thread);
        let guard = self.variables.entry(variable, || GuardState::new(event.thread));
        guard.access(event.thread, access, held, &mut self.sets)
    }

    fn access(&mut self, event: &Event, access: Access, variable: Variable) {
        let status = self.classify_access(event, access, variable);
        let thread = self.thread(event);
        if status == GuardStatus::ThreadLocal {
            // Accesses are not reported while one thread uses the variable, so this repeats none.
            return;
        }
        let repeats = thread.repeats(variable, access);
        if status == GuardStatus::Unguarded {
            self.operation(event, MoverKind::Neither, Subject::Variable(variable), repeats);
        }
    }

    /// An access that is reported late says only who has used the variable.
    fn earlier(&mut self, event: &Event, access: Access, variable: Variable) {
        let guard = self.variables.entry(variable, || GuardState::new(event.thread));
        guard.earlier(event.thread, access);
    }

    /// An access that synchronises; but a read that is repeated with no synchronisation in between does
    /// not do so again.
    fn volatile(&mut self, event: &Event, access: Access, variable: Variable) {
        let mover = match self.classify_access(event, access, variable) {
            GuardStatus::ThreadLocal | GuardStatus::Guarded | GuardStatus::GuardedFromWrites => {
                MoverKind::Both
            }
            GuardStatus::Unguarded => MoverKind::Neither,
        };
        let thread = self.thread(event);
        let is_repeated = access == Access::Read && thread.used.contains_key(&variable);
        if !is_repeated {
            thread.used.clear();
        }
        let repeats = match access {
            Access::Read => thread.repeats(variable, access),
            Access::Write => 0,
        };
        self.operation(event, mover, Subject::Variable(variable), repeats);
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.sweep();
        let access = match mode {
            Mode::Exclusive => Access::Write,
            Mode::Shared => Access::Read,
        };
        let held = self.held_locks.of(event.thread);
        let guard = self.locks.entry(lock, || GuardState::new(event.thread));
        let mover = match guard.access(event.thread, access, held, &mut self.sets) {
            GuardStatus::ThreadLocal | GuardStatus::Guarded | GuardStatus::GuardedFromWrites => {
                MoverKind::Both
            }
            GuardStatus::Unguarded => MoverKind::Right,
        };
        self.held_locks.acquire(event.thread, Acquisition { lock, mode, site: event.site });
        self.synchronise(event, mover, Subject::Lock(lock));
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        self.held_locks.release(event.thread, lock, mode);
        let is_guarded = self.locks.get(&lock).is_none_or(GuardState::is_guarded);
        let mover = if is_guarded { MoverKind::Both } else { MoverKind::Left };
        self.synchronise(event, mover, Subject::Lock(lock));
    }

    fn synchronise(&mut self, event: &Event, mover: MoverKind, subject: Subject) {
        self.thread(event).used.clear();
        self.operation(event, mover, subject, 0);
    }

    /// Something happens in all open blocks; but those that had begun at the time `repeats` have it
    /// already.
    fn operation(&mut self, event: &Event, mover: MoverKind, subject: Subject, repeats: u64) {
        let (does_commit, must_come_first) = match mover {
            MoverKind::Both => return,
            MoverKind::Right => (false, true),
            MoverKind::Left => (true, false),
            MoverKind::Neither => (true, true),
        };
        let Some(thread) = self.threads.get_mut(&event.thread) else { return };
        let operation = Operation {
            site: event.site,
            verb: Verb::of(event.action),
            subject,
            context: Context::of(thread.open.iter().map(|block| block.block)),
        };
        // The innermost block that fails now, and the operation that it had committed to.
        let mut failed = None;
        let mut is_misplaced = false;
        for (depth, block) in thread.open.iter_mut().enumerate() {
            if block.begin <= repeats {
                continue;
            }
            match block.phase {
                Phase::Growing if does_commit => block.phase = Phase::Committed(operation),
                Phase::Growing => {}
                Phase::Committed(first) if must_come_first => {
                    block.phase = Phase::Failed;
                    self.failures.blocks.insert(block.block);
                    failed = Some((depth, first));
                    is_misplaced = true;
                }
                Phase::Committed(_) => {}
                Phase::Failed => is_misplaced |= must_come_first,
            }
        }
        if let Some((depth, first)) = failed {
            let around = &thread.open[..depth];
            let around = around.iter().filter(|block| matches!(block.phase, Phase::Failed));
            self.failures.add(Failure {
                thread: event.thread,
                block: thread.open[depth].block,
                around: around.map(|block| block.block).collect(),
                first,
                second: operation,
            });
        }
        let can_be_held_back = matches!(
            subject,
            Subject::Variable(_) | Subject::Lock(_) if event.site != SiteId(0)
        );
        if is_misplaced && can_be_held_back && self.suspected.insert(event.site) {
            self.suspects.push(event.site);
        }
    }

    fn begin(&mut self, event: &Event) {
        let thread = self.thread(event);
        let begin = thread.now;
        thread.open.push(OpenBlock { block: event.site, begin, phase: Phase::Growing });
    }

    fn end(&mut self, event: &Event) {
        let thread = self.thread(event);
        thread.open.pop();
        if thread.open.is_empty() {
            thread.used.clear();
        }
    }

    /// Forgets the sets that nothing is guarded by any more.
    fn sweep(&mut self) {
        if self.sets.needs_sweep() {
            let guards = self.variables.values_mut().chain(self.locks.values_mut());
            let in_use = guards.flat_map(GuardState::set_ids).chain(self.held_locks.set_ids());
            self.sets.sweep(in_use);
        }
    }
}

impl Checker for Atomizer {
    fn event(&mut self, event: &Event) {
        match event.action {
            Action::Read(variable) => self.access(event, Access::Read, variable),
            Action::Write(variable) => self.access(event, Access::Write, variable),
            Action::EarlierRead(variable) => self.earlier(event, Access::Read, variable),
            Action::EarlierWrite(variable) => self.earlier(event, Access::Write, variable),
            Action::VolatileRead(variable) => self.volatile(event, Access::Read, variable),
            Action::VolatileWrite(variable)
            | Action::AtomicUpdate(variable)
            | Action::AtomicAdd(variable)
            | Action::AtomicSwap(variable) => {
                self.volatile(event, Access::Write, variable);
            }
            Action::Acquire(lock) | Action::Woken(lock) => {
                self.acquire(event, lock, Mode::Exclusive);
            }
            Action::AcquireShared(lock) => self.acquire(event, lock, Mode::Shared),
            Action::Release(lock) => self.release(event, lock, Mode::Exclusive),
            Action::ReleaseShared(lock) => self.release(event, lock, Mode::Shared),
            Action::Wait(lock) => self.release(event, lock, Mode::Exclusive),
            Action::Join(child) => {
                self.synchronise(event, MoverKind::Right, Subject::Thread(child))
            }
            Action::TaskBegin(object)
            | Action::TaskJoin(object)
            | Action::BarrierPass(object)
            | Action::LatchPass(object) => {
                self.synchronise(event, MoverKind::Right, Subject::Object(object));
            }
            Action::Fork(child) => self.synchronise(event, MoverKind::Left, Subject::Thread(child)),
            Action::Submit(object)
            | Action::TaskEnd(object)
            | Action::BarrierArrive(object)
            | Action::LatchDown(object) => {
                self.synchronise(event, MoverKind::Left, Subject::Object(object));
            }
            Action::Publish(object)
            | Action::Receive(object)
            | Action::Notify(object)
            | Action::NotifyAll(object) => {
                self.synchronise(event, MoverKind::Both, Subject::Object(object));
            }
            Action::ClassInitialised(class) | Action::ClassUsed(class) => {
                self.synchronise(event, MoverKind::Both, Subject::Class(class));
            }
            Action::ThreadBegin => {}
            Action::ThreadEnd => {
                self.held_locks.end(event.thread);
                self.threads.remove(&event.thread);
            }
            Action::Begin => self.begin(event),
            Action::End => self.end(event),
            Action::Escape(..)
            | Action::Branch(_)
            | Action::OrderRelease(_)
            | Action::OrderAcquire(_)
            | Action::EarlierOrderRelease(_)
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
            | Action::Missed => {}
        }
    }

    fn findings(&self, tables: &Tables) -> Vec<Finding> {
        self.failures.findings(tables)
    }

    fn suspects(&mut self) -> Vec<SiteId> {
        std::mem::take(&mut self.suspects)
    }
}
