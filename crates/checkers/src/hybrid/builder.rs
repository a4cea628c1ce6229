//! Builds the tree of a unit from the events of its thread. Whatever the events are, the tree is well-formed.
//!
//! **What is left out.** Of the accesses of one kind to one variable that no lock operation lies between, on one side of
//! a branch, only the first and the last are kept. They stand for all: an access that must come before something of
//! another unit can as well be the first, one that must come after can as well be the last, and nothing in between has to
//! wait. Of parts that repeat what comes directly before them, access by access and section by section, two are kept:
//! two iterations of a loop stand for all (section 4.3 of the paper).

use std::hash::{Hash, Hasher};

use events::{Condition, Epoch, Mode, ObjectId, Variable};
use rustc_hash::{FxHashMap, FxHasher};

use super::order::Place;
use super::tree::{AccessToken, LockToken, Token, UntakenSide};

/// What is open: the tree itself, or a part of it.
#[derive(Clone, Debug)]
struct Frame {
    kind: FrameKind,
    /// The position of its first token.
    start: usize,
    /// Accesses with the same number have the same parent.
    parent: u32,
    /// The accesses, sections and choices directly in it.
    items: Vec<Item>,
}

/// An access, section or choice that is complete.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Where it begins.
    start: usize,
    hash: u64,
}

/// The most items of a loop body that is recognised as repeated.
const LONGEST_BODY: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Root,
    Section { lock: LockToken, would: bool },
    Choice,
    TakenSide,
    UntakenSide,
}

/// How trees are built.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuilderConfig {
    /// Leave out what other parts of the tree stand for.
    pub(super) reduce: bool,
    /// Beyond this many tokens the rest of the unit is left out.
    pub(super) most_tokens: usize,
}

/// A tree that has been built.
#[derive(Debug)]
pub(super) struct BuiltTree {
    pub(super) tokens: Box<[Token]>,
    /// Where the thread was, between the boundaries in the tree.
    pub(super) places: Vec<Place>,
    /// Which epochs began at which positions.
    pub(super) epochs: Vec<(Epoch, u32)>,
    /// Whether it lacks the end of the unit.
    pub(super) is_cut_off: bool,
}

/// A unit that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Builder {
    config: BuilderConfig,
    tokens: Vec<Token>,
    removed: usize,
    frames: Vec<Frame>,
    parents: u32,
    /// The last access of a kind under a parent, if it is not the first.
    kept: FxHashMap<(u32, Variable, bool), Option<usize>>,
    places: Vec<Place>,
    epochs: Vec<(Epoch, usize)>,
    /// Accesses that were reported late, and where they belong.
    late: Vec<(usize, AccessToken)>,
    /// What would have been acquired while it is held.
    reentered: Vec<(ObjectId, Mode)>,
    /// The conditions that sides need, by their numbers in the events. In the tree their positions here stand for them,
    /// so that the same code makes the same tree.
    conditions: Vec<u32>,
    is_cut_off: bool,
}

impl Builder {
    /// A unit begins, with these locks held.
    pub(super) fn new(config: BuilderConfig, held: &[LockToken]) -> Builder {
        let root = Frame { kind: FrameKind::Root, start: 0, parent: 0, items: Vec::new() };
        let mut builder = Builder {
            config,
            tokens: Vec::new(),
            removed: 0,
            frames: vec![root],
            parents: 1,
            kept: FxHashMap::default(),
            places: Vec::new(),
            epochs: Vec::new(),
            late: Vec::new(),
            reentered: Vec::new(),
            conditions: Vec::new(),
            is_cut_off: false,
        };
        for lock in held {
            builder.open_section(LockToken { is_carried: true, ..*lock }, false);
        }
        builder
    }

    /// Whether there is enough of it to end it where that is allowed. Not inside of a choice.
    pub(super) fn is_long(&self, enough: usize) -> bool {
        self.tokens.len() - self.removed >= enough
            && !self.frames.iter().any(|frame| frame.kind == FrameKind::Choice)
    }

    /// Whether the thread has neither sent nor received order since it last did something.
    pub(super) fn is_at(&self, place: &Place) -> bool {
        self.places.last().is_none_or(|last| last.is_same(place))
    }

    /// The thread is at this place when it does what comes next.
    pub(super) fn at_place(&mut self, place: &Place) {
        match self.places.last() {
            None => self.places.push(place.clone()),
            Some(last) if last.is_same(place) => {}
            Some(_) if self.is_cut_off => {}
            Some(_) => {
                self.tokens.push(Token::Boundary);
                self.places.push(place.clone());
                // What comes before a boundary and what comes after it do not stand for each other.
                self.renew_parents(0);
            }
        }
    }

    /// What comes next happens in this epoch, or a later one.
    pub(super) fn at_epoch(&mut self, epoch: Epoch) {
        if epoch != Epoch(0) && self.epochs.last().is_none_or(|(last, _)| *last < epoch) {
            self.epochs.push((epoch, self.tokens.len()));
        }
    }

    /// Where in the tree an epoch is, if it began in this unit.
    pub(super) fn position_of(&self, epoch: Epoch) -> Option<usize> {
        let after = self.epochs.partition_point(|(began, _)| *began <= epoch);
        after.checked_sub(1).map(|at| self.epochs[at].1)
    }

    /// An access that happened at an earlier position.
    pub(super) fn late_access(&mut self, position: usize, access: AccessToken) {
        if !self.late.contains(&(position, access)) {
            self.late.push((position, access));
        }
    }

    fn renew_parents(&mut self, from: usize) {
        for frame in &mut self.frames[from..] {
            frame.parent = self.parents;
            frame.items.clear();
            self.parents += 1;
        }
    }

    fn top(&self) -> FrameKind {
        self.frames.last().map_or(FrameKind::Root, |frame| frame.kind)
    }

    fn innermost(&self, is_it: impl Fn(FrameKind) -> bool) -> Option<usize> {
        self.frames.iter().rposition(|frame| is_it(frame.kind))
    }

    /// Whether the thread tells what it would do.
    fn is_untaken(&self) -> bool {
        self.innermost(|kind| kind == FrameKind::UntakenSide).is_some()
    }

    /// Whether another token has no room.
    fn is_full(&mut self) -> bool {
        self.is_cut_off |= self.tokens.len() - self.removed >= self.config.most_tokens;
        self.is_cut_off
    }

    fn open(&mut self, kind: FrameKind, token: Token) {
        let start = self.tokens.len();
        self.tokens.push(token);
        self.frames.push(Frame { kind, start, parent: self.parents, items: Vec::new() });
        self.parents += 1;
    }

    /// What happens next is real: sides that were not taken are over, and one was taken where a choice was just made.
    fn prepare(&mut self, would: bool) {
        if !would {
            while let Some(side) = self.innermost(|kind| kind == FrameKind::UntakenSide) {
                self.close_from(side);
            }
        }
        if self.top() == FrameKind::Choice {
            self.open(FrameKind::TakenSide, Token::Side(None));
        }
    }

    /// A variable is accessed, or would be.
    pub(super) fn access(&mut self, access: AccessToken, would: bool) {
        if would && !self.is_untaken() {
            return;
        }
        self.prepare(would);
        let parent = self.frames.last().map_or(0, |frame| frame.parent);
        let key = (parent, access.variable, access.is_write);
        if self.config.reduce
            && !self.is_cut_off
            && let Some(last) = self.kept.get_mut(&key)
        {
            if let Some(last) = last.replace(self.tokens.len()) {
                self.tokens[last] = Token::Removed;
                self.removed += 1;
                if let Some(frame) = self.frames.last_mut()
                    && let Some(at) = frame.items.iter().rposition(|item| item.start == last)
                {
                    frame.items.remove(at);
                }
            }
            self.push_access(access);
            if self.removed > 64 && self.removed > self.tokens.len() / 2 {
                self.compact();
            }
        } else if !self.is_full() {
            self.kept.insert(key, None);
            self.push_access(access);
        }
    }

    fn push_access(&mut self, access: AccessToken) {
        let start = self.tokens.len();
        self.tokens.push(Token::Access(access));
        self.complete_item(start);
    }

    /// A lock is acquired, or would be.
    pub(super) fn acquire(&mut self, lock: LockToken, would: bool) {
        if would && !self.is_untaken() {
            return;
        }
        self.prepare(would);
        let is_held = self.frames.iter().any(|frame| {
            matches!(frame.kind, FrameKind::Section { lock: held, .. }
                if held.lock == lock.lock && (held.mode == lock.mode || held.mode == Mode::Exclusive))
        });
        if is_held {
            if would {
                self.reentered.push((lock.lock, lock.mode));
            }
        } else if !self.is_full() {
            self.open_section(lock, would);
        }
    }

    fn open_section(&mut self, lock: LockToken, would: bool) {
        self.open(FrameKind::Section { lock, would }, Token::Acquire(lock));
    }

    /// A lock is released, or would be.
    pub(super) fn release(&mut self, lock: LockToken, would: bool) {
        if would {
            if !self.is_untaken() {
                return;
            }
            let is_it = |held: &(ObjectId, Mode)| *held == (lock.lock, lock.mode);
            if let Some(at) = self.reentered.iter().rposition(is_it) {
                self.reentered.remove(at);
                return;
            }
        }
        self.prepare(would);
        let section = self.innermost(|kind| {
            matches!(kind, FrameKind::Section { lock: held, would: it }
                if it == would && (held.lock, held.mode) == (lock.lock, lock.mode))
        });
        let Some(section) = section else { return };
        if section + 1 == self.frames.len() {
            self.tokens.push(Token::Release(lock));
            self.close_top();
        } else {
            // Not in the reverse order of the acquisitions, or on a side only.
            self.tokens.push(Token::Release(lock));
            self.frames.remove(section);
            self.renew_parents(section - 1);
        }
    }

    /// A branch was decided, or would be.
    pub(super) fn choice(&mut self) {
        if self.is_full() {
            return;
        }
        let would = self.is_untaken();
        self.prepare(would);
        self.open(FrameKind::Choice, Token::Choice { happened: !would });
    }

    /// A side that was not taken begins.
    pub(super) fn untaken(&mut self, side: UntakenSide) {
        if self.top() == FrameKind::TakenSide {
            let last = self.frames.len() - 1;
            self.close_from(last);
        }
        if self.top() == FrameKind::Choice {
            self.open(FrameKind::UntakenSide, Token::Side(Some(side)));
        }
    }

    /// The side that is told, or the one that is taken, needs a condition.
    pub(super) fn given(&mut self, condition: Condition) {
        if self.is_full() {
            return;
        }
        if self.top() == FrameKind::Choice && !self.is_untaken() {
            self.prepare(false);
        }
        if matches!(self.top(), FrameKind::TakenSide | FrameKind::UntakenSide) {
            let known = self.conditions.iter().position(|it| *it == condition.number);
            let number = known.unwrap_or_else(|| {
                self.conditions.push(condition.number);
                self.conditions.len() - 1
            });
            self.tokens.push(Token::Given(Condition { number: number as u32, ..condition }));
        }
    }

    /// The innermost side that was not taken ends.
    pub(super) fn untaken_end(&mut self) {
        if let Some(side) = self.innermost(|kind| kind == FrameKind::UntakenSide) {
            self.close_from(side);
        }
    }

    /// The innermost choice is over. A lock that was acquired on the side that was taken, and is still held, keeps it
    /// open: what follows is known to come after that side only.
    pub(super) fn rejoin(&mut self) {
        let Some(choice) = self.innermost(|kind| kind == FrameKind::Choice) else { return };
        let is_left_open = self.frames[choice..].iter().any(|frame| {
            matches!(frame.kind, FrameKind::Section { would: false, .. } | FrameKind::UntakenSide)
        });
        if !is_left_open {
            self.close_from(choice);
        }
    }

    /// Closes a frame and all in it.
    fn close_from(&mut self, frame: usize) {
        while self.frames.len() > frame {
            match self.top() {
                FrameKind::Section { lock, would } => {
                    self.tokens.push(Token::Release(LockToken { is_carried: !would, ..lock }));
                }
                FrameKind::TakenSide => self.tokens.push(Token::SideEnd),
                FrameKind::UntakenSide => {
                    self.tokens.push(Token::SideEnd);
                    self.reentered.clear();
                }
                FrameKind::Choice => self.tokens.push(Token::Rejoin),
                FrameKind::Root => {}
            }
            self.close_top();
        }
    }

    /// The innermost frame is over. Accesses before it and after it do not stand for each other: one may have to wait for
    /// its locks in between.
    fn close_top(&mut self) {
        let Some(Frame { start, kind, .. }) = self.frames.pop() else { return };
        if let Some(around) = self.frames.last_mut() {
            around.parent = self.parents;
            self.parents += 1;
        }
        if matches!(kind, FrameKind::Section { .. } | FrameKind::Choice) {
            self.complete_item(start);
        }
    }

    /// An item of the innermost frame is complete. Leaves out the last items if they repeat those before, and these
    /// those before them.
    fn complete_item(&mut self, start: usize) {
        let Builder { tokens, frames, late, epochs, removed, .. } = self;
        let Some(Frame { items, .. }) = frames.last_mut() else { return };
        if !self.config.reduce {
            return;
        }
        let mut hasher = FxHasher::default();
        tokens[start..]
            .iter()
            .filter(|it| **it != Token::Removed)
            .for_each(|it| it.hash(&mut hasher));
        items.push(Item { start, hash: hasher.finish() });
        let count = items.len();
        let body = (1..=LONGEST_BODY.min(count / 3)).find(|body| {
            (count - body..count).rev().all(|at| {
                items[at].hash == items[at - body].hash
                    && items[at].hash == items[at - 2 * body].hash
            })
        });
        let Some(body) = body else { return };
        let [first, second] = [items[count - 2 * body].start, items[count - body].start];
        let last = &tokens[second..];
        if last.contains(&Token::Boundary)
            || last != &tokens[first..second]
            || late.iter().any(|(position, _)| *position >= first)
        {
            return;
        }
        let length = second - first;
        *removed -= last.iter().filter(|it| **it == Token::Removed).count();
        tokens.truncate(second);
        items.truncate(count - body);
        for (_, position) in epochs.iter_mut().rev().take_while(|it| it.1 > second) {
            *position -= length;
        }
        // Nothing that was in the part can be continued.
        let parent = self.parents;
        self.parents += 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.parent = parent;
        }
    }

    /// Leaves out the tokens that were removed.
    fn compact(&mut self) {
        let mut moved = Vec::with_capacity(self.tokens.len() + 1);
        let mut count = 0;
        for token in &self.tokens {
            moved.push(count);
            count += usize::from(*token != Token::Removed);
        }
        moved.push(count);
        self.tokens.retain(|token| *token != Token::Removed);
        self.removed = 0;
        for frame in &mut self.frames {
            frame.start = moved[frame.start];
            frame.items.iter_mut().for_each(|item| item.start = moved[item.start]);
        }
        let length = moved.len() - 1;
        // What is known of parts that were left out again is of no use.
        self.kept.retain(|_, last| last.is_none_or(|last| last < length));
        self.kept.values_mut().flatten().for_each(|last| *last = moved[*last]);
        self.epochs.iter_mut().for_each(|(_, position)| *position = moved[*position]);
        self.late.iter_mut().for_each(|(position, _)| *position = moved[*position]);
    }

    /// The unit ends.
    pub(super) fn finish(mut self) -> BuiltTree {
        self.close_from(1);
        self.compact();
        self.late.sort_by_key(|(position, access)| (*position, access.site));
        let tokens = with_accesses(&self.tokens, &self.late);
        let moved = |position: usize| {
            position + self.late.iter().filter(|(late, _)| *late < position).count()
        };
        let epochs = self.epochs.iter().map(|(epoch, at)| (*epoch, moved(*at) as u32)).collect();
        BuiltTree {
            tokens: tokens.into(),
            places: self.places,
            epochs,
            is_cut_off: self.is_cut_off,
        }
    }
}

/// The tokens, with accesses before those that are at their positions now. Accesses are in the order of positions.
pub(super) fn with_accesses(tokens: &[Token], accesses: &[(usize, AccessToken)]) -> Vec<Token> {
    let mut all = Vec::with_capacity(tokens.len() + accesses.len());
    let mut rest = accesses.iter().peekable();
    for (position, token) in tokens.iter().enumerate() {
        while let Some((_, access)) = rest.next_if(|(at, _)| *at <= position) {
            all.push(Token::Access(*access));
        }
        all.push(*token);
    }
    all.extend(rest.map(|(_, access)| Token::Access(*access)));
    all
}
