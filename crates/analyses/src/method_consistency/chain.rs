//! Views, and when they form a chain (dissertation, 5.1).

use std::collections::BTreeMap;

use super::views::VariableId;

/// The variables that are touched in some scope, each with whether it is updated or only read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Sorted by variable.
    entries: BTreeMap<VariableId, bool>,
}

impl View {
    /// Adds a variable; an update overrides a read.
    pub(super) fn touch(&mut self, variable: VariableId, is_update: bool) {
        *self.entries.entry(variable).or_default() |= is_update;
    }

    /// Adds all variables of another view.
    pub(super) fn extend(&mut self, other: &View) {
        for (variable, is_update) in &other.entries {
            self.touch(*variable, *is_update);
        }
    }

    /// Whether a variable is updated; none if it is not touched.
    pub(super) fn updates(&self, variable: VariableId) -> Option<bool> {
        self.entries.get(&variable).copied()
    }

    /// The variables, with whether they are updated.
    pub(super) fn iter(&self) -> impl Iterator<Item = (VariableId, bool)> + '_ {
        self.entries.iter().map(|(variable, is_update)| (*variable, *is_update))
    }

    /// Whether the part of this view that a method's view overlaps lies inside of the same part of another: the method
    /// view has both a read and an update of each of its variables.
    fn is_inside(&self, other: &View, method: &View) -> bool {
        let mut overlap = self.iter().filter(|(variable, _)| method.updates(*variable).is_some());
        overlap.all(|(variable, is_update)| other.updates(variable) == Some(is_update))
    }

    /// Whether two views nest, as far as a method's view overlaps them. What does not overlap nests with everything.
    pub(super) fn nests(&self, other: &View, method: &View) -> bool {
        self.is_inside(other, method) || other.is_inside(self, method)
    }

    /// The variables that both touch and one of them updates.
    pub(super) fn conflicts<'a>(
        &'a self,
        other: &'a View,
    ) -> impl Iterator<Item = VariableId> + 'a {
        self.iter().filter_map(|(variable, is_update)| {
            other.updates(variable).is_some_and(|its| its || is_update).then_some(variable)
        })
    }
}

/// Two views that break the chain property with respect to a method's view: they do not nest, and one of them is of a thread
/// that is concurrent to the method's. Each view comes with whether it is.
pub(super) fn break_in_chain<'a>(
    method: &View,
    views: &[(&'a View, bool)],
) -> Option<(&'a View, &'a View)> {
    for (at, (one, one_is_concurrent)) in views.iter().enumerate() {
        for (other, other_is_concurrent) in &views[at + 1..] {
            if (*one_is_concurrent || *other_is_concurrent) && !one.nests(other, method) {
                return Some((one, other));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use program::ids::Id;

    use super::*;
    use crate::random::Random;

    fn view(entries: &[(usize, bool)]) -> View {
        let mut view = View::default();
        for (variable, is_update) in entries {
            view.touch(VariableId::new(*variable), *is_update);
        }
        view
    }

    /// The definition, with sets of pairs of a variable and a kind of access.
    fn is_chain_by_definition(method: &View, views: &[(&View, bool)]) -> bool {
        let both = method.iter().flat_map(|(variable, _)| [(variable, false), (variable, true)]);
        let both: BTreeSet<(VariableId, bool)> = both.collect();
        let overlap = |view: &View| -> BTreeSet<(VariableId, bool)> {
            view.iter().collect::<BTreeSet<_>>().intersection(&both).copied().collect()
        };
        views.iter().enumerate().all(|(at, (one, one_is_concurrent))| {
            views.iter().enumerate().all(|(other_at, (other, other_is_concurrent))| {
                let (one, other) = (overlap(one), overlap(other));
                at == other_at
                    || one.is_empty()
                    || other.is_empty()
                    || !(*one_is_concurrent || *other_is_concurrent)
                    || one.is_subset(&other)
                    || other.is_subset(&one)
            })
        })
    }

    #[test]
    fn the_chain_property_is_its_definition() {
        let mut random = Random::new(3);
        let mut below = |bound| random.below(bound);
        let mut chains = 0;
        for _ in 0..20_000 {
            let mut random_view = || {
                let entries: Vec<(usize, bool)> =
                    (0..below(4)).map(|_| (below(4), below(3) == 0)).collect();
                view(&entries)
            };
            let method = random_view();
            let views: Vec<View> = (0..3).map(|_| random_view()).collect();
            let views: Vec<(&View, bool)> =
                views.iter().map(|view| (view, below(2) == 0)).collect();
            let is_chain = break_in_chain(&method, &views).is_none();
            assert_eq!(is_chain, is_chain_by_definition(&method, &views), "{method:?} {views:?}");
            chains += usize::from(is_chain);
        }
        assert!((2_000..18_000).contains(&chains), "too few of one kind: {chains}");
    }

    #[test]
    fn the_account_breaks_the_chain_and_the_counter_does_not() {
        // Program 5.1: `read` only reads the balance, the block in `update` updates it.
        let (read, update) = (view(&[(0, false)]), view(&[(0, true)]));
        let method = view(&[(0, true)]);
        let views = [(&read, true), (&update, true)];
        assert!(break_in_chain(&method, &views).is_some());
        // Program 5.4: the only view is that of `inc`.
        assert!(break_in_chain(&method, &[(&update, true), (&update, true)]).is_none());
        // One thread alone cannot interfere with itself.
        assert!(break_in_chain(&method, &[(&read, false), (&update, false)]).is_none());
    }

    #[test]
    fn a_pair_read_in_halves_breaks_the_chain() {
        let (x, y, both) =
            (view(&[(0, false)]), view(&[(1, false)]), view(&[(0, true), (1, true)]));
        let method = view(&[(0, false), (1, false)]);
        assert!(break_in_chain(&method, &[(&x, false), (&y, false), (&both, true)]).is_some());
        // What the method does not touch does not count.
        let only_x = view(&[(0, true)]);
        let wide = view(&[(0, true), (5, true)]);
        assert!(break_in_chain(&only_x, &[(&only_x, true), (&wide, true)]).is_none());
    }
}
