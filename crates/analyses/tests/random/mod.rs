//! What the oracles need to make random programs, and to make them smaller.

/// A small generator of random numbers (SplitMix64): the same seed gives the same programs on
/// every machine and with every version of every dependency.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Whether something of this many percent happens.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A number from the environment.
pub(crate) fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} must be a number: {text}")),
        Err(_) => default,
    }
}

/// A statement that may have blocks of statements inside.
pub(crate) trait Compound: Clone {
    fn blocks(&self) -> Vec<&Vec<Self>>;

    /// The same blocks, to be changed.
    fn blocks_mut(&mut self) -> Vec<&mut Vec<Self>>;
}

/// Every statement of a block, those inside others too.
pub(crate) fn all_statements<S: Compound>(block: &[S]) -> Vec<&S> {
    let mut found = Vec::new();
    for statement in block {
        found.push(statement);
        statement.blocks().into_iter().for_each(|block| found.extend(all_statements(block)));
    }
    found
}

/// Blocks that are one step smaller: without a statement, or with what is inside in its place.
pub(crate) fn smaller_blocks<S: Compound>(block: &[S]) -> Vec<Vec<S>> {
    let mut found = Vec::new();
    for at in 0..block.len() {
        let mut without = block.to_vec();
        let removed = without.remove(at);
        found.push(without.clone());
        for inner in removed.blocks().into_iter().filter(|inner| !inner.is_empty()) {
            let mut unwrapped = without.clone();
            unwrapped.splice(at..at, inner.iter().cloned());
            found.push(unwrapped);
        }
        for number in 0..removed.blocks().len() {
            for body in smaller_blocks(removed.blocks()[number]) {
                let mut changed = block.to_vec();
                *changed[at].blocks_mut()[number] = body;
                found.push(changed);
            }
        }
    }
    found
}
