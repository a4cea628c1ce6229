//! What the oracles need to make random programs, and to make them smaller.

mod generator;

pub(crate) use generator::Random;

impl Random {
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
