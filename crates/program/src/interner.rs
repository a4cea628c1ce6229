//! Values that occur many times, each kept once and known by a small id.

use std::borrow::Borrow;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Index;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::ids::Id;

/// A set of values that gives each an id, in the order in which they came.
#[derive(Clone, Debug)]
pub struct Interner<I, T> {
    values: IndexSet<T, FxBuildHasher>,
    marker: PhantomData<fn(I)>,
}

impl<I: Id, T: Eq + Hash> Interner<I, T> {
    /// The id of a value. Of values that are equal the first one is kept.
    pub fn intern(&mut self, value: T) -> I {
        I::new(self.values.insert_full(value).0)
    }

    /// The id of a value, which is copied if it is new.
    pub fn intern_copy<Q>(&mut self, value: &Q) -> I
    where
        T: Borrow<Q>,
        Q: ?Sized + Eq + Hash + ToOwned<Owned = T>,
    {
        match self.find(value) {
            Some(known) => known,
            None => self.intern(value.to_owned()),
        }
    }

    /// The id of a value that was interned before.
    #[must_use]
    pub fn find<Q>(&self, value: &Q) -> Option<I>
    where
        T: Borrow<Q>,
        Q: ?Sized + Eq + Hash,
    {
        self.values.get_index_of(value).map(I::new)
    }

    /// Number of different values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All ids.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.values.len()).map(I::new)
    }

    /// The values in the order of their ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.values.iter()
    }
}

impl<I, T> Default for Interner<I, T> {
    fn default() -> Self {
        Interner { values: IndexSet::default(), marker: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Interner<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.values[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ValueId;

    #[test]
    fn equal_values_have_one_id_and_ids_count_up() {
        let mut interner: Interner<ValueId, Vec<u32>> = Interner::default();
        let first = interner.intern(vec![1, 2]);
        let second = interner.intern_copy(&[3][..]);
        assert_eq!(interner.intern_copy(&[1, 2][..]), first);
        assert_eq!(interner.find(&[3][..]), Some(second));
        assert_eq!(interner.find(&[4][..]), None);
        assert_eq!(interner.ids().collect::<Vec<_>>(), [first, second]);
        assert_eq!(interner[second], [3]);
        assert_eq!(interner.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert!(interner.len() == 2 && !interner.is_empty());
    }
}
