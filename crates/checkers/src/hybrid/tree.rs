//! Hybrid trees: what a unit did, and what it would have done on the sides of branches that it did not take.
//!
//! A tree is a list of tokens, like the events it was built from: locks are held from an acquisition to the release of
//! the same lock, a choice has sides that exclude each other. Locks need not be released in the reverse order of their
//! acquisition, so their sections are intervals and not always nested.

use events::{Branch, Condition, Mode, ObjectId, SiteId, Variable};

/// A side of a branch that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UntakenSide {
    /// The branch.
    pub(super) site: SiteId,
    pub(super) way: Branch,
}

impl LockToken {
    /// Whether one cannot be held while another thread holds the other.
    pub(super) fn excludes(&self, other: &LockToken) -> bool {
        self.lock == other.lock && (self.mode, other.mode) != (Mode::Shared, Mode::Shared)
    }
}

/// What an access is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AccessToken {
    pub(super) variable: Variable,
    pub(super) is_write: bool,
    /// Whether the variable was accessed in a way that synchronises.
    pub(super) is_volatile: bool,
    pub(super) site: SiteId,
}

/// An acquisition or a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LockToken {
    pub(super) lock: ObjectId,
    pub(super) mode: Mode,
    pub(super) site: SiteId,
    /// The lock was held when the unit began, or still is when it ends.
    pub(super) is_carried: bool,
}

/// A part of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Access(AccessToken),
    Acquire(LockToken),
    Release(LockToken),
    /// A choice begins. If it happened, there is a side that was taken, though nothing may be on it.
    Choice {
        happened: bool,
    },
    /// A side begins: one that was not taken, or the one that was.
    Side(Option<UntakenSide>),
    SideEnd,
    /// The innermost side needs a condition. Numbers count the conditions of the tree from 0.
    Given(Condition),
    Rejoin,
    /// The thread sent or received order in the middle of the unit.
    Boundary,
    /// Left out when the tree is complete.
    Removed,
}

/// Which side of which choice, by the position of the choice and the number of the side in it; 0 is the side that was
/// taken.
pub(super) type SideNumber = (u32, u32);

/// An access in a tree, with what surrounds it.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Its position.
    pub(super) position: u32,
    pub(super) access: AccessToken,
    /// The positions of the acquisitions of the locks that are held, outermost first.
    pub(super) sections: Box<[u32]>,
    /// The sides of choices that it is on, outermost first.
    pub(super) sides: Box<[SideNumber]>,
    /// The innermost side that was not taken, if it is on one.
    pub(super) untaken: Option<UntakenSide>,
    /// What these sides need.
    pub(super) conditions: Box<[Condition]>,
    /// How many boundaries come before it.
    pub(super) boundaries: u32,
}

impl Leaf {
    /// Whether both can be in one execution.
    pub(super) fn is_compatible(&self, other: &Leaf) -> bool {
        self.sides.iter().all(|(choice, side)| {
            other.sides.iter().all(|(others, it)| choice != others || side == it)
        }) && !self.conditions.iter().any(|it| contradicts(*it, &other.conditions))
    }

    /// Whether the accesses are to the same variable, and one of them is a write.
    pub(super) fn conflicts(&self, other: &Leaf) -> bool {
        self.access.variable == other.access.variable
            && (self.access.is_write || other.access.is_write)
    }
}

/// Whether a condition cannot be so when these are.
pub(super) fn contradicts(condition: Condition, others: &[Condition]) -> bool {
    others.iter().any(|it| it.number == condition.number && it.holds != condition.holds)
}

/// A complete tree.
#[derive(Debug)]
pub(super) struct Tree {
    /// Different trees have different numbers, also those that are dropped.
    pub(super) number: u64,
    /// The outermost atomic block; none for what lies between blocks.
    pub(super) block: Option<SiteId>,
    pub(super) tokens: Box<[Token]>,
    /// In the order of their positions.
    pub(super) leaves: Vec<Leaf>,
    /// What is accessed, each once, and whether it is written.
    variables: Box<[(Variable, bool)]>,
    pub(super) has_locks: bool,
}

impl Tree {
    pub(super) fn new(number: u64, block: Option<SiteId>, tokens: Box<[Token]>) -> Tree {
        let (leaves, has_locks) = leaves_of(&tokens);
        let accesses = leaves.iter().map(|leaf| (leaf.access.variable, leaf.access.is_write));
        let mut variables: Vec<(Variable, bool)> = accesses.collect();
        // Writes first.
        variables.sort_unstable_by_key(|(variable, is_write)| (*variable, !is_write));
        variables.dedup_by_key(|(variable, _)| *variable);
        Tree { number, block, tokens, leaves, variables: variables.into(), has_locks }
    }

    /// What is accessed, each once, and whether it is written.
    pub(super) fn variables(&self) -> impl Iterator<Item = (Variable, bool)> + '_ {
        self.variables.iter().copied()
    }

    /// The locks held at an access.
    pub(super) fn held<'a>(&'a self, leaf: &'a Leaf) -> impl Iterator<Item = LockToken> + 'a {
        leaf.sections.iter().filter_map(|at| self.lock_at(*at))
    }

    /// The lock that is acquired at a position.
    pub(super) fn lock_at(&self, position: u32) -> Option<LockToken> {
        match self.tokens.get(position as usize) {
            Some(Token::Acquire(lock)) => Some(*lock),
            _ => None,
        }
    }
}

struct OpenChoice {
    position: u32,
    sides: u32,
    side: u32,
    untaken: Option<UntakenSide>,
    /// How many conditions hold outside of it.
    conditions: usize,
}

fn leaves_of(tokens: &[Token]) -> (Vec<Leaf>, bool) {
    let mut leaves = Vec::new();
    let mut sections: Vec<(LockToken, u32)> = Vec::new();
    let mut choices: Vec<OpenChoice> = Vec::new();
    let mut conditions: Vec<Condition> = Vec::new();
    let (mut boundaries, mut has_locks) = (0, false);
    for (position, token) in (0..).zip(tokens) {
        match *token {
            // Nobody comes to a side whose conditions exclude each other.
            Token::Access(_) if conditions.iter().any(|it| contradicts(*it, &conditions)) => {}
            Token::Access(access) => leaves.push(Leaf {
                position,
                access,
                sections: sections.iter().map(|(_, at)| *at).collect(),
                sides: choices.iter().map(|choice| (choice.position, choice.side)).collect(),
                untaken: choices.iter().rev().find_map(|choice| choice.untaken),
                conditions: conditions.as_slice().into(),
                boundaries,
            }),
            Token::Acquire(lock) => {
                has_locks = true;
                sections.push((lock, position));
            }
            Token::Release(lock) => {
                let is_it =
                    |(held, _): &(LockToken, u32)| (held.lock, held.mode) == (lock.lock, lock.mode);
                if let Some(at) = sections.iter().rposition(is_it) {
                    sections.remove(at);
                }
            }
            Token::Choice { .. } => {
                let conditions = conditions.len();
                choices.push(OpenChoice { position, sides: 0, side: 0, untaken: None, conditions });
            }
            Token::Side(untaken) => {
                if let Some(choice) = choices.last_mut() {
                    choice.sides += u32::from(untaken.is_some());
                    choice.side = if untaken.is_some() { choice.sides } else { 0 };
                    choice.untaken = untaken;
                }
            }
            Token::SideEnd => {
                if let Some(choice) = choices.last_mut() {
                    choice.untaken = None;
                    conditions.truncate(choice.conditions);
                }
            }
            Token::Given(condition) => conditions.push(condition),
            Token::Rejoin => {
                choices.pop();
            }
            Token::Boundary => boundaries += 1,
            Token::Removed => {}
        }
    }
    (leaves, has_locks)
}
