//! The trees that units of other threads may still be concurrent with.
//!
//! Equal trees are one: a loop that calls a method a million times leaves one tree, with the first and the last time it
//! was executed. Executions of a thread in different places of the order are kept apart up to [`MOST_PLACES`]; beyond
//! that a later one replaces the one before, because whatever is still to come and concurrent with the earlier is
//! concurrent with the later.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use events::{SiteId, ThreadId, Variable};
use rustc_hash::{FxHashMap, FxHasher};

use super::order::{Order, Place};
use super::tree::{Leaf, Token, Tree};

/// A unit that is stored, or a number of equal ones. Numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UnitId(u64);

/// How many executions of one tree by one thread are kept that differ in nothing but their place in the order.
const MOST_PLACES: usize = 4;

/// Units of one thread that have equal trees.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) tree: Arc<Tree>,
    pub(super) thread: ThreadId,
    /// Where its thread was, between the boundaries of the tree.
    pub(super) places: Vec<Place>,
    /// The numbers of the first and the last of them, among the units of the thread.
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Unit {
    /// The stretch of its thread in which it ended.
    fn last_stretch(&self) -> u32 {
        self.places.last().map_or(0, |place| place.stretch)
    }

    /// Where the thread was at an access.
    pub(super) fn place(&self, leaf: &Leaf) -> Option<&Place> {
        self.places.get(leaf.boundaries as usize)
    }
}

/// Bounds of what is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForestConfig {
    /// Equal trees are one.
    pub(super) merge: bool,
    pub(super) most_units: usize,
    pub(super) most_tokens: usize,
}

/// What became of a unit that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Added {
    pub(super) unit: UnitId,
    /// Whether it says something that was not known.
    pub(super) is_news: bool,
}

/// The units of a thread that access one variable.
#[derive(Clone, Debug)]
struct UnitsOfThread {
    thread: ThreadId,
    /// By the stretch of the thread in which they ended.
    units: Vec<AccessingUnit>,
}

#[derive(Clone, Copy, Debug)]
struct AccessingUnit {
    stretch: u32,
    id: UnitId,
    writes: bool,
}

/// All trees that matter.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    config: ForestConfig,
    units: FxHashMap<UnitId, Unit>,
    next: u64,
    next_tree: u64,
    /// In the order in which they were added.
    age: VecDeque<UnitId>,
    trees: FxHashMap<u64, Vec<Arc<Tree>>>,
    by_thread: FxHashMap<ThreadId, Vec<UnitId>>,
    /// The units of a thread that have one tree, by the number of the tree.
    equal: FxHashMap<(ThreadId, u64), Vec<UnitId>>,
    by_variable: FxHashMap<Variable, Vec<UnitsOfThread>>,
    tokens: usize,
    sweep_at: usize,
    /// The most units that there were.
    pub(super) most_live: usize,
    /// How many were forgotten although others could be concurrent with them.
    pub(super) forgotten: u64,
    /// How many were dropped because nothing can be concurrent with them any more.
    pub(super) dropped: u64,
}

/// No sweep before there are so many units.
const FIRST_SWEEP: usize = 256;

impl Forest {
    pub(super) fn new(config: ForestConfig) -> Forest {
        Forest {
            config,
            units: FxHashMap::default(),
            next: 0,
            next_tree: 0,
            age: VecDeque::new(),
            trees: FxHashMap::default(),
            by_thread: FxHashMap::default(),
            equal: FxHashMap::default(),
            by_variable: FxHashMap::default(),
            tokens: 0,
            sweep_at: FIRST_SWEEP,
            most_live: 0,
            forgotten: 0,
            dropped: 0,
        }
    }

    pub(super) fn get(&self, unit: UnitId) -> Option<&Unit> {
        self.units.get(&unit)
    }

    /// How many units are remembered.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    /// The units of a thread, in their order.
    pub(super) fn of_thread(&self, thread: ThreadId) -> &[UnitId] {
        self.by_thread.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// The units of other threads that conflict with an access to a variable and have not ended before this place; of
    /// each thread, the last ones first.
    pub(super) fn conflicting<'a>(
        &'a self,
        variable: Variable,
        is_write: bool,
        place: &'a Place,
    ) -> impl Iterator<Item = UnitId> + 'a {
        let threads = self.by_variable.get(&variable).map_or(&[][..], Vec::as_slice);
        let others = threads.iter().filter(|it| it.thread != place.thread);
        others.flat_map(move |it| {
            let known = place.clock.of(it.thread);
            let later = it.units.iter().rev().take_while(move |unit| unit.stretch > known);
            later.filter(move |unit| is_write || unit.writes).map(|unit| unit.id)
        })
    }

    /// The units of a thread that access a variable, the last ones first.
    pub(super) fn of_variable(
        &self,
        variable: Variable,
        thread: ThreadId,
    ) -> impl Iterator<Item = UnitId> + '_ {
        let threads = self.by_variable.get(&variable).map_or(&[][..], Vec::as_slice);
        let units = threads.iter().filter(move |it| it.thread == thread);
        units.flat_map(|it| it.units.iter().rev()).map(|unit| unit.id)
    }

    /// Enters a unit under the variables of its tree.
    fn enter(&mut self, id: UnitId, unit: &Unit) {
        let (thread, stretch) = (unit.thread, unit.last_stretch());
        for (variable, writes) in unit.tree.variables() {
            let threads = self.by_variable.entry(variable).or_default();
            let at = threads.iter().position(|it| it.thread == thread).unwrap_or_else(|| {
                threads.push(UnitsOfThread { thread, units: Vec::new() });
                threads.len() - 1
            });
            let units = &mut threads[at].units;
            let after = units.partition_point(|it| it.stretch <= stretch);
            units.insert(after, AccessingUnit { stretch, id, writes });
        }
    }

    /// All units, in the order in which they were added.
    pub(super) fn all(&self) -> impl Iterator<Item = (UnitId, &Unit)> {
        self.age.iter().filter_map(|id| self.units.get(id).map(|unit| (*id, unit)))
    }

    /// Adds a unit: its tree, its number in its thread, and where it was.
    pub(super) fn add(
        &mut self,
        block: Option<SiteId>,
        tokens: Box<[Token]>,
        number: u64,
        places: Vec<Place>,
    ) -> Option<Added> {
        let thread = places.first()?.thread;
        let tree = self.intern(block, tokens);
        if self.config.merge {
            let mut equal = self.equal.get(&(thread, tree.number)).cloned().unwrap_or_default();
            for id in &equal {
                let Some(unit) = self.units.get_mut(id) else { continue };
                let is_same = unit.places.len() == places.len()
                    && unit.places.iter().zip(&places).all(|(place, it)| place.is_same(it));
                if is_same {
                    // Once more is news, since the first may then come before something and the last after it.
                    let is_news = unit.first == unit.last && number != unit.last;
                    unit.last = unit.last.max(number);
                    unit.first = unit.first.min(number);
                    return Some(Added { unit: *id, is_news });
                }
            }
            if equal.len() >= MOST_PLACES
                && let Some(last) = equal.pop()
            {
                self.remove(last);
            }
        }
        let id = UnitId(self.next);
        self.next += 1;
        self.tokens += tree.tokens.len();
        let unit = Unit { tree, thread, places, first: number, last: number };
        self.enter(id, &unit);
        self.by_thread.entry(thread).or_default().push(id);
        self.equal.entry((thread, unit.tree.number)).or_default().push(id);
        self.age.push_back(id);
        self.units.insert(id, unit);
        self.most_live = self.most_live.max(self.units.len());
        Some(Added { unit: id, is_news: true })
    }

    fn intern(&mut self, block: Option<SiteId>, tokens: Box<[Token]>) -> Arc<Tree> {
        let mut hasher = FxHasher::default();
        (block, &tokens).hash(&mut hasher);
        let known = self.trees.entry(hasher.finish()).or_default();
        let is_it = |tree: &&Arc<Tree>| tree.block == block && tree.tokens == tokens;
        if let Some(tree) = known.iter().find(is_it) {
            return Arc::clone(tree);
        }
        self.next_tree += 1;
        let tree = Arc::new(Tree::new(self.next_tree, block, tokens));
        known.push(Arc::clone(&tree));
        tree
    }

    /// Removes a unit.
    pub(super) fn remove(&mut self, id: UnitId) {
        let Some(unit) = self.forget(id) else { return };
        remove_from(&mut self.by_thread, unit.thread, id);
        remove_from(&mut self.equal, (unit.thread, unit.tree.number), id);
        let stretch = unit.last_stretch();
        for (variable, _) in unit.tree.variables() {
            let Some(threads) = self.by_variable.get_mut(&variable) else { continue };
            for it in threads.iter_mut().filter(|it| it.thread == unit.thread) {
                let from = it.units.partition_point(|unit| unit.stretch < stretch);
                if let Some(at) = it.units[from..].iter().position(|unit| unit.id == id) {
                    it.units.remove(from + at);
                }
            }
        }
    }

    /// Removes a unit, but not from where it can be found.
    fn forget(&mut self, id: UnitId) -> Option<Unit> {
        let unit = self.units.remove(&id)?;
        self.tokens -= unit.tree.tokens.len();
        Some(unit)
    }

    /// Drops what nothing can be concurrent with any more, if it is time to look; then what there is no room for.
    pub(super) fn sweep(&mut self, order: &Order) {
        let is_over =
            self.units.len() > self.config.most_units || self.tokens > self.config.most_tokens;
        if self.units.len() < self.sweep_at && !is_over {
            return;
        }
        let is_past = |unit: &Unit| {
            unit.places.last().is_some_and(|place| order.is_past(place.thread, place.stretch))
        };
        let past: Vec<UnitId> =
            self.all().filter(|(_, unit)| is_past(unit)).map(|(id, _)| id).collect();
        self.dropped += past.len() as u64;
        for id in past {
            self.forget(id);
        }
        let (most_units, most_tokens) = (self.config.most_units / 2, self.config.most_tokens / 2);
        if is_over {
            while (self.units.len() > most_units || self.tokens > most_tokens)
                && let Some(oldest) = self.age.pop_front()
            {
                self.forgotten += u64::from(self.units.contains_key(&oldest));
                self.forget(oldest);
            }
        }
        let units = &self.units;
        self.age.retain(|id| units.contains_key(id));
        keep_known(&mut self.by_thread, units);
        keep_known(&mut self.equal, units);
        self.by_variable.retain(|_, threads| {
            threads.retain_mut(|it| {
                it.units.retain(|unit| units.contains_key(&unit.id));
                !it.units.is_empty()
            });
            !threads.is_empty()
        });
        for trees in self.trees.values_mut() {
            trees.retain(|tree| Arc::strong_count(tree) > 1);
        }
        self.trees.retain(|_, trees| !trees.is_empty());
        self.sweep_at = (2 * self.units.len()).max(FIRST_SWEEP);
    }
}

/// Removes a unit from a list. Units are entered in the order of their numbers.
fn remove_from<K: Eq + Hash>(units: &mut FxHashMap<K, Vec<UnitId>>, key: K, id: UnitId) {
    if let Some(known) = units.get_mut(&key) {
        if let Ok(at) = known.binary_search(&id) {
            known.remove(at);
        }
        if known.is_empty() {
            units.remove(&key);
        }
    }
}

/// Leaves out the units that are not there any more.
fn keep_known<K: Eq + Hash>(
    lists: &mut FxHashMap<K, Vec<UnitId>>,
    units: &FxHashMap<UnitId, Unit>,
) {
    lists.retain(|_, list| {
        list.retain(|id| units.contains_key(id));
        !list.is_empty()
    });
}
