//! An operation in eight bytes: its site, its kind, and the atomic blocks that were open.
//!
//! Checkers keep one with every thread time they store, because each of them may become part of a finding.
//! Sets of open blocks are interned: the same blocks, entered in the same way, have the same number.

use events::{Block, Context, SiteId};
use rustc_hash::FxHashMap;

use crate::verb::Verb;

/// The number of a context; 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ContextId(u32);

impl ContextId {
    /// No block is open.
    pub(crate) const OUTSIDE: ContextId = ContextId(0);
    /// Which blocks were open is not known: the operation was reported late, or there are too many
    /// contexts.
    pub(crate) const UNKNOWN: ContextId = ContextId(MOST_CONTEXTS);
}

/// Beyond this many contexts, new ones are unknown.
const MOST_CONTEXTS: u32 = 1 << 20;

const VERB_BITS: u32 = 8;

/// An operation: its kind, its site and the blocks that were open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperationAt {
    pub(crate) site: SiteId,
    /// The number of the context, and below it that of the verb.
    how: u32,
}

impl OperationAt {
    #[inline]
    pub(crate) fn new(verb: Verb, site: SiteId, context: ContextId) -> OperationAt {
        OperationAt { site, how: context.0 << VERB_BITS | u32::from(verb.number()) }
    }

    /// An operation of which only the kind is known.
    pub(crate) fn somewhere(verb: Verb) -> OperationAt {
        OperationAt::new(verb, SiteId(0), ContextId::UNKNOWN)
    }

    pub(crate) fn verb(self) -> Verb {
        Verb::numbered(self.how as u8)
    }

    pub(crate) fn context(self) -> ContextId {
        ContextId(self.how >> VERB_BITS)
    }

    /// The same, in these blocks.
    pub(crate) fn in_context(self, context: ContextId) -> OperationAt {
        OperationAt::new(self.verb(), self.site, context)
    }
}

/// The blocks of a context number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Blocks {
    innermost: Context,
    /// The unknown site outside of blocks.
    outermost: Block,
}

/// Numbers for contexts.
#[derive(Debug)]
pub(crate) struct Contexts {
    by_number: Vec<Blocks>,
    numbers: FxHashMap<Blocks, ContextId>,
    /// A cache: the context after entering a block.
    entered: FxHashMap<(ContextId, Block), ContextId>,
}

impl Default for Contexts {
    fn default() -> Contexts {
        let outside = Blocks::default();
        Contexts {
            by_number: vec![outside],
            numbers: FxHashMap::from_iter([(outside, ContextId::OUTSIDE)]),
            entered: FxHashMap::default(),
        }
    }
}

impl Contexts {
    /// The context inside a block that begins in another context.
    #[inline]
    pub(crate) fn enter(&mut self, around: ContextId, block: Block) -> ContextId {
        if let Some(known) = self.entered.get(&(around, block)) {
            return *known;
        }
        self.add(around, block)
    }

    #[cold]
    fn add(&mut self, around: ContextId, block: Block) -> ContextId {
        let Some(outer) = self.by_number.get(around.0 as usize) else { return ContextId::UNKNOWN };
        let mut inside = *outer;
        inside.innermost.0.rotate_right(1);
        inside.innermost.0[0] = block;
        if around == ContextId::OUTSIDE {
            inside.outermost = block;
        }
        let next = ContextId(self.by_number.len() as u32);
        let number = match self.numbers.get(&inside) {
            Some(known) => *known,
            None if next == ContextId::UNKNOWN => return next,
            None => {
                self.by_number.push(inside);
                self.numbers.insert(inside, next);
                next
            }
        };
        self.entered.insert((around, block), number);
        number
    }

    /// The innermost blocks, if they are known.
    pub(crate) fn innermost(&self, context: ContextId) -> Option<Context> {
        self.by_number.get(context.0 as usize).map(|blocks| blocks.innermost)
    }

    /// The outermost block, if it is known; the unknown site outside of blocks.
    pub(crate) fn outermost(&self, context: ContextId) -> Option<Block> {
        self.by_number.get(context.0 as usize).map(|blocks| blocks.outermost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::Kind;

    #[test]
    fn the_same_blocks_have_the_same_number() {
        let mut contexts = Contexts::default();
        let enter = |contexts: &mut Contexts, blocks: &[u32]| {
            blocks
                .iter()
                .fold(ContextId::OUTSIDE, |around, block| contexts.enter(around, SiteId(*block)))
        };
        let one = enter(&mut contexts, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(one, enter(&mut contexts, &[1, 9, 3, 4, 5, 6]));
        assert_ne!(one, enter(&mut contexts, &[2, 2, 3, 4, 5, 6]));
        let expected = Context::of([3, 4, 5, 6].map(SiteId).into_iter());
        assert_eq!(contexts.innermost(one), Some(expected));
        assert_eq!(contexts.outermost(one), Some(SiteId(1)));
        assert_eq!(contexts.outermost(ContextId::OUTSIDE), Some(SiteId(0)));
        assert_eq!(contexts.innermost(ContextId::UNKNOWN), None);
        assert_eq!(contexts.enter(ContextId::UNKNOWN, SiteId(1)), ContextId::UNKNOWN);
    }

    #[test]
    fn what_is_done_where_survives_being_packed() {
        let operation_at =
            OperationAt::new(Verb::of_kind(Kind::Acquire), SiteId(u32::MAX), ContextId::UNKNOWN);
        assert_eq!(
            (operation_at.verb(), operation_at.context()),
            (Verb::of_kind(Kind::Acquire), ContextId::UNKNOWN)
        );
        let operation_at = operation_at.in_context(ContextId(77));
        assert_eq!(
            (operation_at.verb(), operation_at.context()),
            (Verb::of_kind(Kind::Acquire), ContextId(77))
        );
        assert_eq!(size_of::<OperationAt>(), 8);
    }
}
