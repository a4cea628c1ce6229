//! A table that does not grow without bounds.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The most variables that are remembered: about 100 MB.
const MOST: usize = 1 << 20;

#[derive(Debug)]
struct Row<V> {
    value: V,
    /// Whether it was used since the last sweep.
    is_recent: bool,
}

/// The state of variables or locks. No event says when an object is collected, so a full table forgets
/// what was not used since it was last full, and everything if that is not enough.
#[derive(Debug)]
pub(crate) struct BoundedTable<K, V> {
    rows: FxHashMap<K, Row<V>>,
}

impl<K, V> Default for BoundedTable<K, V> {
    fn default() -> BoundedTable<K, V> {
        BoundedTable { rows: FxHashMap::default() }
    }
}

impl<K: Eq + Hash, V> BoundedTable<K, V> {
    /// The value of a key, created by `new` if there is none.
    pub(crate) fn entry(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        if self.rows.len() >= MOST {
            self.make_room();
        }
        let row = self.rows.entry(key).or_insert_with(|| Row { value: new(), is_recent: true });
        row.is_recent = true;
        &mut row.value
    }

    /// The value of a key, if there is one.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key).map(|row| &row.value)
    }

    /// All values, in no order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.rows.values_mut().map(|row| &mut row.value)
    }

    fn make_room(&mut self) {
        self.rows.retain(|_, row| std::mem::take(&mut row.is_recent));
        if self.rows.len() > MOST / 4 * 3 {
            self.rows.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_forgets_what_was_not_used_lately() {
        let mut table: BoundedTable<usize, usize> = BoundedTable::default();
        for number in 0..MOST {
            table.entry(number, || number);
        }
        // Everything is new, and everything goes.
        table.entry(MOST, || MOST);
        assert_eq!(table.rows.len(), 1);
        for number in 0..MOST / 2 {
            table.entry(number, || number);
        }
        table.rows.values_mut().for_each(|row| row.is_recent = false);
        for number in MOST / 2..MOST {
            table.entry(number, || number);
        }
        table.entry(2 * MOST, || 0);
        assert!(table.get(&(MOST - 1)).is_some() && table.get(&(2 * MOST)).is_some());
        assert!(table.get(&0).is_none());
        assert!(table.rows.len() <= MOST / 4 * 3);
    }
}
