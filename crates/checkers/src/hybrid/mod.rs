//! Blocks that another order of a run, or another side of its branches, could have split: rule `breakable-block`.
//!
//! Implements "HAVE: Detecting Atomicity Violations via Integrated Dynamic and Static Analysis", sections 3.3, 4 and 5:
//! hybrid trees of what units did and would have done, conflict edges between them, valid pairs and valid cycles. Where
//! the events tell nothing of sides that were not taken, it is the purely dynamic algorithm.
//!
//! Property: a block is reported iff, for some side of each branch and some interleaving that the locks and the order
//! among units allow, there is no equivalent execution in which the block is executed at once (and all others as they
//! were): what other units do depends on something the block has done, and the block then does something that depends
//! on it. Two blocks are reported together if neither can be split in this way, but they cannot both be atomic. Neither
//! sound nor complete about programs: it may report what the values of variables exclude, because branches are taken to
//! be independent of one another unless they are told to decide by one condition, and values are not looked at; it
//! misses what neither happened nor was told. The oracle in `tests/oracle/forests.rs` compares it with all interleavings of small forests.
//!
//! Deviations from the paper, with the reason:
//! 1. In the unit that is split, the end of the edge that leaves must come before the end of the edge that arrives; in
//!    all other units it must not, unless both are in a section whose lock the cycle needs elsewhere, or all of them are
//!    blocks. The paper's corollary 1 looks at neither: `t` = `rd x; rd y` and `u` = `wr y; wr x` have a valid pair, yet `t`
//!    alone is always serializable. They are reported together. With every access of `t`, and all of `u`, in sections of one
//!    lock, `t` is split.
//! 2. Whether the units of a cycle can be interleaved is decided by trying (`schedule.rs`), not by conditions 1 to 4
//!    of a valid cycle. A unit may need a lock on the way from one end to the other that is held at neither: `t` =
//!    `acq k; rd x; rd y; rel k` and `u` = `wr x; acq k; rel k; wr y` fulfil the conditions, and nothing splits `t`.
//! 3. A cycle may lead from a unit to a later one, of the same thread or one that it started. The paper wants all units
//!    of a cycle to be concurrent, and misses `t` = `rd x; rd y` against two calls that write `x` and `y`.
//! 4. The serial execution must respect locks, as in the paper. One way in which it cannot is not looked for: a block accesses
//!    something in the middle of a section of another thread and then needs its lock, or that of a third thread.
//! 5. The first and the *last* access of a kind that no lock operation lies between are kept, not the first two under one
//!    parent. For a unit that interferes the last one matters: `u` = `rd x; rd x; wr y; rd x` against `t` = `rd y; wr x`.
//!    And accesses before and after a section do not stand for each other: `u` = `wr x; acq k; rel k; wr x; wr y` splits
//!    `t` = `acq k; rd x; rd y; rel k` with its second write of `x`, not with its first.
//! 6. Locks may be held in shared mode, and need not be released in the reverse order of their acquisition.
//! 7. Volatile accesses and atomic updates are accesses; an update is one write.
//! 8. Cycles have at most four edges. Of later units, those of very many, only those that lead straight back are
//!    considered.
//! 9. Units of one thread that have equal trees are one (`forest.rs`). Units that were forgotten, searches that were
//!    ended, and accesses reported so late that their unit is forgotten are counted ([`Hybrid::bounds_reached`]).
//! 10. What hooks leave out because it repeats an access of the same epoch is one access here, too; and so are repeated
//!     accesses of one place in no block, between two operations that order their thread. Of the reads of a variable
//!     before it is written, the first and the last of each thread are known.

mod builder;
mod cycles;
mod forest;
mod late;
mod order;
mod report;
mod schedule;
mod tree;

use std::collections::{BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use events::{Action, Block, Epoch, Event, Mode, ObjectId, Tables, ThreadId, Variable};
use findings::Finding;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::cuts::CutBlocks;
use crate::{Checker, NeededAccesses, Needs, Registration, Settings};
use builder::{Builder, BuilderConfig};
use cycles::{Access, CycleSearch, Passage, Visit};
use forest::{Added, Forest, ForestConfig, UnitId};
use late::LateAccess;
use order::{Order, OrderKey};
use report::{ReportedAccess, ReportedVisit, Violation, Violations};
use schedule::Feasibility;
use tree::{AccessToken, LockToken, Token, UntakenSide};

const RULE: &str = "breakable-block";

/// Its entry in the list of checkers.
pub const CHECKER: Registration = Registration {
    name: "hybrid",
    rules: &[RULE],
    on_by_default: false,
    needs: Needs {
        accesses: NeededAccesses::SinceWritten,
        nested_blocks: false,
        order: false,
        speculation: true,
    },
    looks_into_libraries: true,
    start: |Settings { speculation, .. }| {
        Box::new(CutBlocks::new(Hybrid::new(Config { speculation, ..Config::default() })))
    },
};

/// How it works. The default is best; tests compare it with others.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Consider what would have happened on sides of branches that were not taken.
    pub speculation: bool,
    /// Equal trees are one.
    pub merge: bool,
    /// Leave out accesses that others stand for.
    pub reduce: bool,
    /// The most conflict edges of a cycle.
    pub most_edges: usize,
    /// The most units that are remembered.
    pub most_units: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { speculation: true, merge: true, reduce: true, most_edges: 4, most_units: 1 << 14 }
    }
}

/// Beyond this many tokens, what a unit does is left out.
const MOST_TOKENS_OF_UNIT: usize = 2048;

/// The most tokens of all trees.
const MOST_TOKENS: usize = 1 << 22;

/// What lies between blocks becomes a unit when it is that long.
const LONG_UNIT: usize = 64;

/// The most steps of the search for cycles of two edges through one unit, and for longer ones.
const MOST_STEPS: u64 = 100_000;
const MOST_STEPS_OF_LONG: u64 = 50_000;

/// The most states of the search for an interleaving.
const MOST_STATES: usize = 20_000;

/// How many steps of searches there may be at the beginning, and how many more with each unit that is added: the time
/// that searches take is in proportion to that of the run. Half of the former is for cycles of two edges alone.
const FIRST_CREDIT: u64 = 20_000_000;
const CREDIT_OF_UNIT: u64 = 100;

/// How many epochs of a thread are remembered.
const MOST_EPOCHS: usize = 1 << 14;

/// Beyond this many units it is not worth finding out whether a situation is known.
const LARGE_SITUATION: usize = 256;

/// How many situations are remembered in which there is nothing new to find.
const MOST_SITUATIONS: usize = 1 << 16;

/// How often a bound was reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Units that were forgotten although others could be concurrent with them.
    pub forgotten_units: u64,
    /// Units of which the end was left out.
    pub long_units: u64,
    /// Accesses that were reported when their unit was forgotten.
    pub late_accesses: u64,
    /// Units for which not all cycles were looked for.
    pub ended_searches: u64,
    /// Cycles of which it is not known whether they can happen.
    pub undecided_cycles: u64,
    /// Violations that were not kept.
    pub violations: u64,
    /// Threads that began, without having been started by a known one, after trees had been dropped.
    pub unknown_threads: u64,
}

/// What decides which cycles lead through a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Situation {
    /// It conflicts with nothing.
    NoConflict,
    /// A number for it.
    Known(u64),
    /// Too much.
    TooLarge,
}

/// What was there in an epoch.
#[derive(Clone, Copy, Debug)]
struct EpochAt {
    epoch: Epoch,
    /// The number of the unit in its thread; 0 for what lies between units.
    number: u64,
    unit: Option<UnitId>,
    position: u32,
}

#[derive(Debug, Default)]
struct Thread {
    held: Vec<LockToken>,
    /// How many blocks are open, and the outermost one.
    depth: u32,
    block: Option<Block>,
    builder: Option<Builder>,
    /// How many units have begun.
    units: u64,
    epochs: VecDeque<EpochAt>,
}

/// The checker.
#[derive(Debug)]
pub struct Hybrid {
    config: Config,
    threads: FxHashMap<ThreadId, Thread>,
    order: Order,
    forest: Forest,
    violations: Violations,
    situations: FxHashSet<u64>,
    /// Accesses that were reported late, since the last unit ended.
    late: Vec<LateAccess>,
    /// How many steps searches may take.
    credit: u64,
    limits: Limits,
}

impl Hybrid {
    /// A checker that has seen nothing yet.
    #[must_use]
    pub fn new(config: Config) -> Hybrid {
        let forest = ForestConfig {
            merge: config.merge,
            most_units: config.most_units,
            most_tokens: MOST_TOKENS,
        };
        Hybrid {
            config,
            threads: FxHashMap::default(),
            order: Order::default(),
            forest: Forest::new(forest),
            violations: Violations::default(),
            situations: FxHashSet::default(),
            late: Vec::new(),
            credit: FIRST_CREDIT,
            limits: Limits::default(),
        }
    }

    /// The blocks that can be split.
    #[must_use]
    pub fn broken_blocks(&self) -> BTreeSet<Block> {
        let violations = self.violations_so_far();
        let alone = violations.blocks().filter(|(_, other)| other.is_none());
        alone.map(|(block, _)| block).collect()
    }

    /// The pairs of blocks that can split each other.
    #[must_use]
    pub fn broken_together(&self) -> BTreeSet<(Block, Block)> {
        let violations = self.violations_so_far();
        violations.blocks().filter_map(|(block, other)| other.map(|other| (block, other))).collect()
    }

    /// The violations, also those of units that have not ended.
    fn violations_so_far(&self) -> Violations {
        let mut running: Vec<(ThreadId, &Thread)> =
            self.threads.iter().map(|(id, thread)| (*id, thread)).collect();
        running.retain(|(_, thread)| thread.builder.is_some());
        running.sort_unstable_by_key(|(id, _)| *id);
        let mut ended = Hybrid::new(self.config);
        ended.forest = self.forest.clone();
        ended.violations = self.violations.clone();
        ended.late.clone_from(&self.late);
        ended.insert_late_accesses();
        for (_, thread) in running {
            let Some(builder) = thread.builder.clone() else { continue };
            let built = builder.finish();
            if !built.tokens.is_empty() {
                let forest = &mut ended.forest;
                let added = forest.add(thread.block, built.tokens, thread.units, built.places);
                ended.analyse(added);
            }
        }
        ended.violations
    }

    /// How often a bound was reached.
    #[must_use]
    pub fn bounds_reached(&self) -> Limits {
        Limits {
            forgotten_units: self.forest.forgotten,
            violations: self.violations.left_out,
            ..self.limits
        }
    }

    /// How many trees are remembered, and the most that were.
    #[must_use]
    pub fn live_trees(&self) -> (usize, usize) {
        (self.forest.len(), self.forest.most_live)
    }

    /// The unit that the thread is in. What lies between blocks ends where the thread sends or receives order, or where
    /// there is enough of it: what follows is a later unit, which comes to the same.
    fn unit(&mut self, event: &Event) -> &mut Builder {
        if self.forest.dropped > 0 && !self.order.knows(event.thread) {
            self.limits.unknown_threads += 1;
        }
        let place = self.order.place(event.thread);
        let thread = self.threads.entry(event.thread).or_default();
        let may_end = thread.depth == 0
            && thread
                .builder
                .as_ref()
                .is_some_and(|builder| !builder.is_at(&place) || builder.is_long(LONG_UNIT));
        if may_end {
            self.end_unit(event.thread);
        }
        let thread = self.threads.entry(event.thread).or_default();
        let config = BuilderConfig { reduce: self.config.reduce, most_tokens: MOST_TOKENS_OF_UNIT };
        let builder = thread.builder.get_or_insert_with(|| {
            thread.units += 1;
            Builder::new(config, &thread.held)
        });
        builder.at_place(&place);
        builder
    }

    fn access(&mut self, event: &Event, variable: Variable, is_write: bool, is_volatile: bool) {
        if let (true, Variable::Field(_, field) | Variable::Static(field)) = (is_volatile, variable)
        {
            self.violations.volatile_fields.insert(field);
        }
        let access = AccessToken { variable, is_write, is_volatile, site: event.site };
        let builder = self.unit(event);
        builder.at_epoch(event.epoch);
        builder.access(access, false);
    }

    fn would_access(&mut self, event: &Event, variable: Variable, is_write: bool) {
        if self.config.speculation {
            let access = AccessToken { variable, is_write, is_volatile: false, site: event.site };
            self.unit(event).access(access, true);
        }
    }

    fn acquire(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        let lock = LockToken { lock, mode, site: event.site, is_carried: false };
        let builder = self.unit(event);
        builder.acquire(lock, false);
        builder.at_epoch(event.epoch);
        let held = &mut self.threads.entry(event.thread).or_default().held;
        if !held.iter().any(|it| (it.lock, it.mode) == (lock.lock, mode)) {
            held.push(lock);
        }
    }

    fn release(&mut self, event: &Event, lock: ObjectId, mode: Mode) {
        let lock = LockToken { lock, mode, site: event.site, is_carried: false };
        let builder = self.unit(event);
        builder.at_epoch(event.epoch);
        builder.release(lock, false);
        let held = &mut self.threads.entry(event.thread).or_default().held;
        if let Some(at) = held.iter().rposition(|it| (it.lock, it.mode) == (lock.lock, mode)) {
            held.remove(at);
        }
    }

    fn would_lock(&mut self, event: &Event, lock: ObjectId, mode: Mode, acquires: bool) {
        if !self.config.speculation {
            return;
        }
        let lock = LockToken { lock, mode, site: event.site, is_carried: false };
        let builder = self.unit(event);
        if acquires { builder.acquire(lock, true) } else { builder.release(lock, true) }
    }

    fn branch(&mut self, event: &Event, change: impl FnOnce(&mut Builder)) {
        if self.config.speculation {
            let builder = self.unit(event);
            change(builder);
            builder.at_epoch(event.epoch);
        }
    }

    fn begin(&mut self, event: &Event) {
        let thread = self.threads.entry(event.thread).or_default();
        if thread.depth == 0 {
            self.end_unit(event.thread);
            let thread = self.threads.entry(event.thread).or_default();
            thread.depth = 1;
            thread.block = Some(event.site);
            self.unit(event).at_epoch(event.epoch);
        } else {
            thread.depth += 1;
        }
    }

    fn end(&mut self, event: &Event) {
        let thread = self.threads.entry(event.thread).or_default();
        if thread.depth == 1 {
            self.end_unit(event.thread);
            // What comes in later epochs is in no unit that is known, until one begins.
            if event.epoch != Epoch(0) {
                let thread = self.threads.entry(event.thread).or_default();
                let epoch = Epoch(event.epoch.0 + 1);
                let end = EpochAt { epoch, number: 0, unit: None, position: 0 };
                thread.epochs.push_back(end);
            }
        }
        let thread = self.threads.entry(event.thread).or_default();
        thread.depth = thread.depth.saturating_sub(1);
        if thread.depth == 0 {
            thread.block = None;
        }
    }

    fn end_unit(&mut self, id: ThreadId) {
        self.insert_late_accesses();
        let Some(thread) = self.threads.get_mut(&id) else { return };
        let Some(builder) = thread.builder.take() else { return };
        let number = thread.units;
        let block = thread.block;
        let built = builder.finish();
        self.limits.long_units += u64::from(built.is_cut_off);
        self.credit = self.credit.saturating_add(CREDIT_OF_UNIT);
        // Nothing may be known of a block but that it was executed: what it did is reported late.
        let added = if built.tokens.is_empty() && block.is_none() {
            None
        } else {
            self.forest.add(block, built.tokens, number, built.places)
        };
        let unit = added.map(|added| added.unit);
        for (epoch, position) in built.epochs {
            // A block that was cut goes on in the epoch in which its first part ended.
            while thread.epochs.back().is_some_and(|it| it.unit.is_none() && it.epoch >= epoch) {
                thread.epochs.pop_back();
            }
            thread.epochs.push_back(EpochAt { epoch, number, unit, position });
        }
        while thread.epochs.len() > MOST_EPOCHS {
            thread.epochs.pop_front();
        }
        self.analyse(added);
        self.forest.sweep(&self.order);
    }

    /// Looks for cycles through a unit that was added.
    fn analyse(&mut self, added: Option<Added>) {
        let Some(Added { unit, is_news: true }) = added else { return };
        let is_new = match self.situation(unit) {
            Situation::NoConflict => false,
            Situation::Known(situation) => {
                if self.situations.len() >= MOST_SITUATIONS {
                    self.situations.clear();
                }
                self.situations.insert(situation)
            }
            Situation::TooLarge => true,
        };
        if is_new {
            self.look_for_cycles(unit);
        }
    }

    fn look_for_cycles(&mut self, unit: UnitId) {
        let (forest, violations, limits) = (&self.forest, &mut self.violations, &mut self.limits);
        for edges in 2..=self.config.most_edges {
            let most_steps = if edges == 2 {
                MOST_STEPS.min(self.credit)
            } else {
                MOST_STEPS_OF_LONG.min(self.credit.saturating_sub(FIRST_CREDIT / 2))
            };
            let mut states = 0;
            let steps = CycleSearch::run(forest, unit, edges, most_steps, |visits| {
                let Some(mut violation) = violation(forest, visits) else { return };
                if !violations.is_better(&violation) {
                    return;
                }
                let (feasibility, looked_at) = cycles::is_feasible(forest, visits, MOST_STATES);
                states += looked_at as u64;
                match feasibility {
                    Feasibility::Possible => {
                        violation.deadlock = cyclic_lock(forest, visits);
                        violations.add(violation);
                    }
                    Feasibility::Impossible => {}
                    Feasibility::Unknown => limits.undecided_cycles += 1,
                }
            });
            limits.ended_searches += u64::from(steps > most_steps);
            self.credit = self.credit.saturating_sub(steps + states);
        }
    }

    /// What decides which cycles lead through a unit: its tree, those that it conflicts with, and those of its thread.
    fn situation(&self, id: UnitId) -> Situation {
        let Some(unit) = self.forest.get(id) else { return Situation::NoConflict };
        let own = self.forest.of_thread(unit.thread);
        let Some(start) = unit.places.first() else { return Situation::NoConflict };
        let mut concurrent: Vec<UnitId> = Vec::new();
        for (variable, writes) in unit.tree.variables() {
            for id in self.forest.conflicting(variable, writes, start) {
                let Some(other) = self.forest.get(id) else { continue };
                let is_concurrent = unit
                    .places
                    .iter()
                    .any(|place| other.places.iter().any(|it| it.is_concurrent(place)));
                if is_concurrent {
                    concurrent.push(id);
                }
                if concurrent.len() > LARGE_SITUATION {
                    return Situation::TooLarge;
                }
            }
        }
        if concurrent.is_empty() {
            return Situation::NoConflict;
        }
        if own.len() > LARGE_SITUATION {
            return Situation::TooLarge;
        }
        concurrent.sort_unstable();
        concurrent.dedup();
        let others = concurrent.iter().chain(own).filter_map(|id| self.forest.get(*id));
        let mut others: Vec<(u64, ThreadId, bool)> =
            others.map(|it| (it.tree.number, it.thread, it.first < it.last)).collect();
        others.sort_unstable();
        // More than two equal ones make no difference.
        let mut before = [None; 2];
        others.retain(|it| {
            let is_third = before == [Some(*it); 2];
            before = [before[1], Some(*it)];
            !is_third
        });
        let mut hasher = FxHasher::default();
        (unit.tree.number, unit.first < unit.last, others).hash(&mut hasher);
        Situation::Known(hasher.finish())
    }

    /// What lies between blocks is a unit that ends where the thread sends order: it is known before what follows it.
    fn end_outside(&mut self, id: ThreadId) {
        if self.threads.get(&id).is_some_and(|thread| thread.depth == 0) {
            self.end_unit(id);
        }
    }

    fn send(&mut self, thread: ThreadId, key: OrderKey) {
        self.end_outside(thread);
        self.order.send(thread, key);
    }

    fn end_thread(&mut self, thread: ThreadId) {
        self.end_unit(thread);
        self.order.end(thread);
        if let Some(thread) = self.threads.get_mut(&thread) {
            // What it held and where it was does not matter any more, but accesses may still be reported late.
            *thread = Thread { epochs: std::mem::take(&mut thread.epochs), ..Thread::default() };
        }
    }
}

/// What is reported of a cycle.
fn violation(forest: &Forest, visits: &[Visit]) -> Option<Violation> {
    let blocks = cycles::split_blocks(forest, visits);
    let (block, start) = *blocks.first()?;
    let access = |access: Access| {
        let unit = forest.get(access.unit)?;
        let leaf = unit.tree.leaves.get(access.leaf)?;
        let is_before = |it: &tree::Leaf| {
            it.position < leaf.position
                && !it.access.is_write
                && it.access.variable == leaf.access.variable
                && !leaf.sections.is_empty()
                && it.sections.starts_with(&leaf.sections)
        };
        Some(ReportedAccess {
            thread: unit.thread,
            block: unit.tree.block,
            access: leaf.access,
            untaken: leaf.untaken,
            held: unit.tree.held(leaf).collect(),
            is_reread: unit.tree.leaves.iter().any(is_before),
        })
    };
    let mut reported = Vec::with_capacity(visits.len());
    for at in 0..visits.len() {
        let visit = &visits[(start + at) % visits.len()];
        reported.push(ReportedVisit {
            arrives: access(visit.arrives)?,
            leaves: access(visit.leaves)?,
            is_later: visit.passage == Passage::Later,
        });
    }
    Some(Violation {
        block,
        together_with: blocks.get(1).map(|(other, _)| *other),
        visits: reported,
        deadlock: None,
    })
}

/// With more pairs of locks than this it is not said whether units may deadlock.
const MOST_LOCK_PAIRS: usize = 512;

/// An acquisition that is part of a cycle in the order in which the units of a cycle acquire locks.
fn cyclic_lock(forest: &Forest, visits: &[Visit]) -> Option<(ThreadId, LockToken)> {
    let mut units: Vec<UnitId> = Vec::new();
    for unit in visits.iter().flat_map(|visit| [visit.arrives.unit, visit.leaves.unit]) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let mut edges: Vec<(ObjectId, ThreadId, LockToken)> = Vec::new();
    for id in units {
        let unit = forest.get(id)?;
        let mut held: Vec<LockToken> = Vec::new();
        for token in &unit.tree.tokens {
            match token {
                Token::Acquire(lock) => {
                    for around in held.iter().filter(|it| it.lock != lock.lock) {
                        let is_it = |it: &(ObjectId, ThreadId, LockToken)| {
                            (it.0, it.2.lock) == (around.lock, lock.lock)
                        };
                        if !edges.iter().any(is_it) {
                            edges.push((around.lock, unit.thread, *lock));
                        }
                    }
                    if edges.len() > MOST_LOCK_PAIRS {
                        return None;
                    }
                    held.push(*lock);
                }
                Token::Release(lock) => {
                    let is_it = |it: &LockToken| (it.lock, it.mode) == (lock.lock, lock.mode);
                    if let Some(at) = held.iter().rposition(is_it) {
                        held.remove(at);
                    }
                }
                Token::Access(_)
                | Token::Choice { .. }
                | Token::Side(_)
                | Token::SideEnd
                | Token::Given(_)
                | Token::Rejoin
                | Token::Boundary
                | Token::Removed => {}
            }
        }
    }
    let leads_to = |from: ObjectId, target: ObjectId| {
        let mut open = vec![from];
        let mut seen = BTreeSet::from([from]);
        while let Some(lock) = open.pop() {
            if lock == target {
                return true;
            }
            let next = edges.iter().filter(|(held, _, _)| *held == lock);
            open.extend(next.map(|(_, _, lock)| lock.lock).filter(|lock| seen.insert(*lock)));
        }
        false
    };
    let found = edges.iter().find(|(held, _, lock)| leads_to(lock.lock, *held));
    found.map(|(_, thread, lock)| (*thread, *lock))
}

impl Checker for Hybrid {
    fn event(&mut self, event: &Event) {
        let thread = event.thread;
        match event.action {
            Action::Read(variable) => self.access(event, variable, false, false),
            Action::Write(variable) => self.access(event, variable, true, false),
            Action::VolatileRead(variable) => self.access(event, variable, false, true),
            Action::VolatileWrite(variable)
            | Action::AtomicUpdate(variable)
            | Action::AtomicAdd(variable)
            | Action::AtomicSwap(variable) => {
                self.access(event, variable, true, true);
            }
            Action::EarlierRead(variable) => self.earlier(event, variable, false),
            Action::EarlierWrite(variable) => self.earlier(event, variable, true),
            Action::Acquire(lock) | Action::Woken(lock) => {
                self.acquire(event, lock, Mode::Exclusive);
            }
            Action::AcquireShared(lock) => self.acquire(event, lock, Mode::Shared),
            Action::Release(lock) | Action::Wait(lock) => {
                self.release(event, lock, Mode::Exclusive);
            }
            Action::ReleaseShared(lock) => self.release(event, lock, Mode::Shared),
            Action::Begin => self.begin(event),
            Action::End => self.end(event),
            Action::Choice => self.branch(event, Builder::choice),
            Action::Untaken(way) => {
                let side = UntakenSide { site: event.site, way };
                self.branch(event, |builder| builder.untaken(side));
            }
            Action::Given(condition) => self.branch(event, |builder| builder.given(condition)),
            Action::UntakenEnd => self.branch(event, Builder::untaken_end),
            Action::Rejoin => self.branch(event, Builder::rejoin),
            Action::WouldRead(variable) => self.would_access(event, variable, false),
            Action::WouldWrite(variable) => self.would_access(event, variable, true),
            Action::WouldAcquire(lock) => self.would_lock(event, lock, Mode::Exclusive, true),
            Action::WouldAcquireShared(lock) => self.would_lock(event, lock, Mode::Shared, true),
            Action::WouldRelease(lock) => self.would_lock(event, lock, Mode::Exclusive, false),
            Action::WouldReleaseShared(lock) => self.would_lock(event, lock, Mode::Shared, false),
            Action::ThreadEnd => self.end_thread(thread),
            Action::Fork(child) => self.send(thread, OrderKey::Started(child)),
            Action::Join(child) => {
                // It has ended, though that may not be reported.
                self.end_unit(child);
                self.order.join(thread, child);
            }
            Action::Submit(task) => self.send(thread, OrderKey::Submitted(task)),
            Action::TaskBegin(task) => self.order.receive(thread, OrderKey::Submitted(task)),
            Action::TaskEnd(task) => self.send(thread, OrderKey::EndOf(task)),
            Action::TaskJoin(task) => self.order.receive(thread, OrderKey::EndOf(task)),
            Action::BarrierArrive(barrier) => {
                self.end_outside(thread);
                self.order.arrive(thread, barrier);
            }
            Action::BarrierPass(barrier) => self.order.pass(thread, barrier),
            Action::LatchDown(latch) => self.send(thread, OrderKey::Latch(latch)),
            Action::LatchPass(latch) => self.order.receive(thread, OrderKey::Latch(latch)),
            Action::ClassInitialised(class) => self.send(thread, OrderKey::Class(class)),
            Action::ClassUsed(class) => self.order.receive(thread, OrderKey::Class(class)),
            // These may come in another order in another run, or are no order at all.
            Action::ThreadBegin
            | Action::Notify(_)
            | Action::NotifyAll(_)
            | Action::Publish(_)
            | Action::Receive(_)
            | Action::Escape(..)
            | Action::Branch(_)
            | Action::OrderRelease(_)
            | Action::OrderAcquire(_)
            | Action::EarlierOrderRelease(_)
            | Action::OrderAcquireAll
            | Action::LibraryOrder
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
        self.violations_so_far().findings(tables)
    }

    fn limits(&self) -> Vec<(&'static str, u64)> {
        let Limits {
            forgotten_units,
            long_units,
            late_accesses,
            ended_searches,
            undecided_cycles,
            violations,
            unknown_threads,
        } = self.bounds_reached();
        let all = [
            (
                "what blocks did was forgotten before all others had been compared with it",
                forgotten_units,
            ),
            ("blocks were too long, and their ends were left out", long_units),
            (
                "accesses were reported after the block they belong to had been forgotten",
                late_accesses,
            ),
            ("not all cycles through a block were looked for", ended_searches),
            ("whether an order can happen was not decided", undecided_cycles),
            ("findings of the same rule were left out", violations),
            ("threads that nobody started began after others had been forgotten", unknown_threads),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::{FieldId, Kind, Operand, SiteId};

    fn event(thread: u32, epoch: u64, action: Action) -> Event {
        let (thread, epoch) = (ThreadId(thread), Epoch(epoch));
        Event { thread, site: SiteId(7), epoch, action, overlaps: 0 }
    }

    fn variable(number: u32) -> Variable {
        Variable::Static(FieldId(number))
    }

    fn run(events: &[Event]) -> Hybrid {
        let mut checker = Hybrid::new(Config::default());
        events.iter().for_each(|event| checker.event(event));
        checker
    }

    /// A block that reads x under a lock and is to write it, late, in an epoch; and another that writes x.
    fn with_late_write(epoch: u64) -> Hybrid {
        let lock = ObjectId(1);
        run(&[
            event(1, 1, Action::Begin),
            event(1, 2, Action::Acquire(lock)),
            event(1, 2, Action::Read(variable(0))),
            event(1, 2, Action::Release(lock)),
            event(1, 4, Action::Acquire(lock)),
            event(1, 4, Action::Release(lock)),
            event(1, 5, Action::End),
            event(2, 10, Action::Acquire(lock)),
            event(1, epoch, Action::EarlierWrite(variable(0))),
            event(2, 10, Action::Write(variable(0))),
            event(2, 10, Action::Release(lock)),
        ])
    }

    #[test]
    fn an_access_that_is_reported_late_is_in_the_section_of_its_epoch() {
        assert!(with_late_write(2).broken_blocks().is_empty());
        assert_eq!(with_late_write(4).broken_blocks(), BTreeSet::from([SiteId(7)]));
        assert_eq!(with_late_write(4).bounds_reached(), Limits::default());
        // Before anything that is known of the thread.
        assert_eq!(with_late_write(0).bounds_reached().late_accesses, 0);
        let early = run(&[event(1, 3, Action::EarlierWrite(variable(0)))]);
        assert_eq!(early.bounds_reached().late_accesses, 1);
    }

    #[test]
    fn an_access_that_is_reported_late_is_on_the_side_of_its_epoch() {
        let side = |epoch| {
            run(&[
                event(1, 1, Action::Begin),
                event(1, 2, Action::Choice),
                event(1, 2, Action::Untaken(events::Branch::Taken)),
                event(1, 2, Action::WouldWrite(variable(0))),
                event(1, 2, Action::UntakenEnd),
                event(1, 3, Action::Rejoin),
                event(2, 9, Action::Begin),
                event(1, epoch, Action::EarlierRead(variable(0))),
                event(2, 9, Action::Write(variable(0))),
            ])
        };
        // On the side that was taken the write is excluded; before and after the choice it is not.
        assert!(side(2).broken_blocks().is_empty());
        assert_eq!(side(1).broken_blocks().len(), 1);
        assert_eq!(side(3).broken_blocks().len(), 1);
    }

    #[test]
    fn accesses_of_the_thread_that_interferes_may_be_reported_late() {
        let lock = ObjectId(1);
        let checker = run(&[
            event(1, 11, Action::Begin),
            event(1, 12, Action::Acquire(lock)),
            event(1, 12, Action::Release(lock)),
            event(1, 16, Action::End),
            event(2, 107, Action::Begin),
            event(2, 108, Action::Acquire(lock)),
            event(1, 12, Action::EarlierWrite(variable(0))),
            event(2, 109, Action::Read(variable(0))),
            event(2, 110, Action::Release(lock)),
            event(2, 111, Action::Acquire(lock)),
            event(1, 12, Action::EarlierWrite(variable(1))),
            event(2, 112, Action::Read(variable(1))),
            event(2, 113, Action::Release(lock)),
            event(2, 114, Action::End),
        ]);
        assert_eq!(checker.broken_blocks().len(), 1, "{:?}", checker.bounds_reached());
    }

    #[test]
    fn an_access_that_is_reported_late_may_be_in_no_unit() {
        let checker = run(&[
            event(1, 11, Action::Begin),
            event(1, 12, Action::Acquire(ObjectId(1))),
            event(1, 12, Action::Release(ObjectId(1))),
            event(1, 13, Action::End),
            event(1, 16, Action::Begin),
            event(1, 16, Action::Write(variable(2))),
            event(2, 100, Action::Begin),
            event(1, 12, Action::EarlierRead(variable(1))),
            // After the first block, and before the second one.
            event(1, 14, Action::EarlierRead(variable(0))),
        ]);
        assert_eq!(checker.bounds_reached().late_accesses, 1);
    }

    #[test]
    fn a_block_of_which_nothing_was_known_is_split_by_what_is_reported_late() {
        let run = |end| {
            run(&[
                event(1, 11, Action::Begin),
                event(1, end, Action::End),
                event(2, 100, Action::Begin),
                event(1, 11, Action::EarlierRead(variable(0))),
                event(2, 101, Action::Write(variable(0))),
                event(1, 11, Action::EarlierWrite(variable(0))),
                event(2, 102, Action::Write(variable(0))),
                event(2, 103, Action::End),
            ])
        };
        for end in [11, 12] {
            assert_eq!(run(end).broken_blocks().len(), 1);
            assert_eq!(run(end).bounds_reached(), Limits::default());
        }
    }

    #[test]
    fn an_access_that_is_reported_late_is_not_the_one_that_would_have_come_next() {
        let lock = ObjectId(1);
        let checker = run(&[
            event(1, 11, Action::Begin),
            event(1, 12, Action::Acquire(lock)),
            event(1, 12, Action::Release(lock)),
            event(1, 13, Action::Choice),
            event(1, 13, Action::Untaken(events::Branch::NotTaken)),
            event(1, 13, Action::WouldAcquire(lock)),
            event(1, 13, Action::WouldRead(variable(0))),
            event(1, 13, Action::WouldRelease(lock)),
            event(1, 13, Action::UntakenEnd),
            event(1, 14, Action::Rejoin),
            event(1, 16, Action::End),
            event(2, 108, Action::Acquire(lock)),
            event(1, 12, Action::EarlierRead(variable(0))),
            event(2, 109, Action::Write(variable(0))),
            event(2, 110, Action::Release(lock)),
        ]);
        assert_eq!(checker.broken_blocks().len(), 1);
    }

    #[test]
    fn equal_trees_are_one_and_different_ones_are_bounded() {
        let mut checker = Hybrid::new(Config { most_units: 100, ..Config::default() });
        for number in 0..20_000 {
            let thread = 1 + number % 2;
            let different = if number < 10_000 { 0 } else { number };
            for action in [
                Action::Begin,
                Action::Acquire(ObjectId(1)),
                Action::Write(variable(different)),
                Action::Release(ObjectId(1)),
                Action::End,
            ] {
                checker.event(&event(thread, 0, action));
            }
            if number == 9_999 {
                assert_eq!(checker.live_trees().0, 2);
            }
        }
        assert!(checker.live_trees().1 <= 102);
        assert!(checker.bounds_reached().forgotten_units > 9_000);
        assert!(!checker.limits().is_empty() && checker.broken_blocks().is_empty());
    }

    #[test]
    fn whatever_the_events_are_there_is_a_verdict() {
        let mut state: u64 = 1;
        let mut below = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let mut checker = Hybrid::new(Config::default());
        let mut most_trees = 0;
        for number in 0..20_000_u64 {
            let kind = Kind::ALL[below(Kind::ALL.len() as u64) as usize];
            let object = ObjectId(below(4));
            let operands = [
                Operand::None,
                Operand::Variable(variable(below(5) as u32)),
                Operand::Object(object),
                Operand::Thread(ThreadId(below(5) as u32)),
                Operand::Class(events::ClassId(below(2) as u32)),
                Operand::ObjectOfClass(object, events::ClassId(0)),
                Operand::Branch(events::Branch::Taken),
            ];
            let action = operands.iter().find_map(|operand| Action::of_kind(kind, *operand));
            let epoch = number.saturating_sub(below(50));
            if let Some(action) = action {
                checker.event(&event(below(5) as u32, epoch, action));
            }
            most_trees = most_trees.max(checker.live_trees().0);
        }
        assert!(most_trees > 0);
        drop(checker.findings(&Tables::default()));
    }
}
