//! Disjoint sets of numbers that can be united.

/// Sets of the numbers from 0 on; each has one member that represents it.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// The parent of each member; a member that is its own parent represents its set.
    parents: Vec<u32>,
}

impl UnionFind {
    /// The sets that have one member each, of the numbers below `count`.
    #[must_use]
    pub fn of_singletons(count: u32) -> UnionFind {
        UnionFind { parents: (0..count).collect() }
    }

    /// Adds a set with one member, the next number.
    pub fn add(&mut self) -> u32 {
        let member = self.parents.len() as u32;
        self.parents.push(member);
        member
    }

    /// The member that represents the set of another.
    pub fn find(&mut self, member: u32) -> u32 {
        let mut at = member;
        while self.parents[at as usize] != at {
            let parent = self.parents[at as usize];
            // Path halving keeps the path short for the next search.
            self.parents[at as usize] = self.parents[parent as usize];
            at = self.parents[at as usize];
        }
        at
    }

    /// Unites the sets of two members; the first one's keeps its representative.
    pub fn unite(&mut self, kept: u32, gone: u32) {
        let (kept, gone) = (self.find(kept), self.find(gone));
        self.parents[gone as usize] = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn united_members_have_the_representative_of_the_first() {
        let mut sets = UnionFind::of_singletons(3);
        assert_eq!(sets.add(), 3);
        sets.unite(2, 0);
        sets.unite(3, 0);
        assert_eq!([0, 1, 2, 3].map(|member| sets.find(member)), [3, 1, 3, 3]);
        sets.unite(3, 2);
        assert_eq!(sets.find(3), 3);
    }
}
