//! Interned sets: equal sets have one number, so that what is kept of a variable is a few numbers.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The number of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    /// The set without elements.
    pub(crate) const EMPTY: SetId = SetId(0);

    /// The set of everything: what guards a variable before the first access that counts.
    pub(crate) const ALL: SetId = SetId(u32::MAX);
}

/// Sets smaller than this in number are not swept.
const FIRST_SWEEP: usize = 4096;

/// All sets that are in use, and some that were.
#[derive(Debug)]
pub(crate) struct Sets<T> {
    sets: Vec<Box<[T]>>,
    numbers: FxHashMap<Box<[T]>, SetId>,
    sweep_at: usize,
}

impl<T: Clone + Eq + Hash> Default for Sets<T> {
    fn default() -> Sets<T> {
        let mut sets =
            Sets { sets: Vec::new(), numbers: FxHashMap::default(), sweep_at: FIRST_SWEEP };
        sets.intern(&[]);
        sets
    }
}

impl<T: Clone + Eq + Hash> Sets<T> {
    /// The number of a set. The caller gives equal sets in equal order.
    pub(crate) fn intern(&mut self, set: &[T]) -> SetId {
        if let Some(known) = self.numbers.get(set) {
            return *known;
        }
        let id = SetId(self.sets.len() as u32);
        self.sets.push(set.into());
        self.numbers.insert(set.into(), id);
        id
    }

    /// The elements of a set; none of the set of everything.
    pub(crate) fn get(&self, id: SetId) -> &[T] {
        self.sets.get(id.0 as usize).map_or(&[], |set| set)
    }

    /// The elements that two sets have in common.
    pub(crate) fn intersect(&mut self, set: SetId, other: SetId) -> SetId {
        if set == other || other == SetId::ALL {
            return set;
        }
        if set == SetId::ALL {
            return other;
        }
        let (mine, others) = (self.get(set), self.get(other));
        if mine.iter().all(|it| others.contains(it)) {
            return set;
        }
        let kept: Vec<T> = mine.iter().filter(|it| others.contains(it)).cloned().collect();
        self.intern(&kept)
    }

    /// Whether two sets have anything in common.
    pub(crate) fn meet(&self, set: SetId, other: SetId) -> bool {
        let others = self.get(other);
        self.get(set).iter().any(|it| others.contains(it))
    }

    /// Whether so many sets were made that it is worth looking which are still in use.
    pub(crate) fn needs_sweep(&self) -> bool {
        self.sets.len() >= self.sweep_at
    }

    /// Forgets all sets but those in use, which get new numbers.
    pub(crate) fn sweep<'a>(&mut self, in_use: impl Iterator<Item = &'a mut SetId>) {
        let before = std::mem::take(self);
        for id in in_use.filter(|id| **id != SetId::ALL) {
            *id = self.intern(before.get(*id));
        }
        self.sweep_at = (2 * self.sets.len()).max(FIRST_SWEEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_intersected() {
        let mut sets = Sets::default();
        let [few, many, others] = [&[1, 2][..], &[1, 2, 3], &[3]].map(|set| sets.intern(set));
        assert_eq!(sets.intersect(few, many), few);
        assert_eq!(sets.intersect(many, few), few);
        assert_eq!(sets.intersect(SetId::ALL, many), many);
        assert_eq!(sets.intersect(many, SetId::ALL), many);
        assert_eq!(sets.intersect(few, others), SetId::EMPTY);
        assert_eq!(sets.intersect(SetId::EMPTY, few), SetId::EMPTY);
        assert!(sets.meet(many, others) && !sets.meet(few, others));
    }

    #[test]
    fn only_sets_in_use_are_kept() {
        let mut sets = Sets::default();
        let mut kept = [sets.intern(&[7]), SetId::ALL, sets.intern(&[8, 9])];
        let mut number = 0;
        while !sets.needs_sweep() {
            number += 1;
            sets.intern(&[number, 0]);
        }
        kept[0] = sets.intern(&[number, 0]);
        sets.sweep(kept.iter_mut());
        assert!(!sets.needs_sweep());
        assert_eq!(sets.sets.len(), 3);
        assert_eq!(kept[1], SetId::ALL);
        assert_eq!(kept.map(|id| sets.get(id).to_vec()), [vec![number, 0], vec![], vec![8, 9]]);
        assert_eq!(sets.intern(&[]), SetId::EMPTY);
    }
}
