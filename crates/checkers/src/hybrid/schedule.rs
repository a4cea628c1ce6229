//! Whether units can be interleaved in a given way, as far as locks, sides of branches and the order among units go.
//!
//! Each thread that takes part becomes a program of acquisitions, releases and the accesses that matter. All
//! interleavings of the programs are searched, up to a bound. That decides exactly what the conditions of the paper
//! approximate: that ends of edges are not in one section, that the locks of others are not held, that all units are
//! concurrent; and what they leave out: a lock that a unit only needs on its way from one end to the other.

use events::{Condition, Mode, ObjectId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::order::Place;
use super::tree::{LockToken, Token, Tree, contradicts};

/// A part of a program: one unit of its thread.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) tree: &'a Tree,
    pub(super) places: &'a [Place],
    /// The positions of the accesses that matter, ascending, with their numbers.
    pub(super) accesses: Vec<(u32, usize)>,
}

/// What one thread does.
#[derive(Debug)]
pub(super) struct ThreadParts<'a> {
    pub(super) thread: ThreadId,
    /// In their order.
    pub(super) parts: Vec<Part<'a>>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feasibility {
    Possible,
    Impossible,
    /// The bound was reached.
    Unknown,
}

/// Beyond this many locks that several threads use, and conditions of one thread, the answer is unknown.
const MOST_LOCKS: usize = 64;
const MOST_CONDITIONS: usize = 32;

#[derive(Clone, Debug)]
enum Operation {
    Acquire {
        lock: usize,
        mode: Mode,
    },
    Release,
    /// The access with this number.
    Access(usize),
    /// Continues at any of these positions.
    Branch(Vec<usize>),
    Jump(usize),
    /// The side that begins needs a condition of the thread, which may not be the opposite already.
    Given {
        condition: usize,
        holds: bool,
    },
    /// A place begins: other programs must have come this far.
    Begin {
        required: Vec<usize>,
    },
}

#[derive(Debug, Default)]
struct Program {
    operations: Vec<Operation>,
    /// The places in it, with the positions where they begin and end.
    places: Vec<(Place, usize, usize)>,
    /// What is held before each operation: exclusively, and in shared mode.
    held: Vec<(u64, u64)>,
    /// The positions of the accesses, by number.
    accesses: Vec<(usize, usize)>,
    /// The conditions that sides need: which part, and the number there.
    conditions: Vec<(usize, u32)>,
    /// What the accesses that matter need, by condition.
    needed: KnownConditions,
}

/// Conditions of a thread, as sets of bits: those that hold, and those that do not.
#[derive(Clone, Copy, Debug, Default)]
struct KnownConditions {
    holding: u32,
    failing: u32,
}

impl KnownConditions {
    /// With one more; nothing if it is the opposite of what is known.
    fn with(self, condition: usize, holds: bool) -> Option<KnownConditions> {
        let bit = 1 << condition;
        let KnownConditions { mut holding, mut failing } = self;
        if holds {
            holding |= bit;
        } else {
            failing |= bit;
        }
        (holding & failing == 0).then_some(KnownConditions { holding, failing })
    }
}

/// Whether the threads can execute the accesses such that the first of each pair of `order` comes before the second, and
/// how many states were looked at.
pub(super) fn feasibility(
    threads: &[ThreadParts<'_>],
    order: &[(usize, usize)],
    most_states: usize,
) -> (Feasibility, usize) {
    let Some(locks) = shared_locks(threads) else { return (Feasibility::Unknown, 0) };
    let mut programs: Vec<Program> =
        threads.iter().map(|thread| Compiler::new(&locks).program(thread)).collect();
    if programs.iter().any(|program| program.conditions.len() > MOST_CONDITIONS) {
        return (Feasibility::Unknown, 0);
    }
    resolve_places(&mut programs, threads);
    let mut search = Search::new(&programs, order, most_states);
    (search.run(), search.seen.len())
}

/// Numbers for the locks that more than one of the threads use.
fn shared_locks(threads: &[ThreadParts<'_>]) -> Option<FxHashMap<ObjectId, usize>> {
    let mut used: FxHashMap<ObjectId, usize> = FxHashMap::default();
    let mut shared: FxHashMap<ObjectId, usize> = FxHashMap::default();
    for (number, thread) in threads.iter().enumerate() {
        for token in thread.parts.iter().flat_map(|part| &part.tree.tokens) {
            let Token::Acquire(lock) = token else { continue };
            if *used.entry(lock.lock).or_insert(number) != number {
                let next = shared.len();
                shared.entry(lock.lock).or_insert(next);
            }
        }
    }
    (shared.len() <= MOST_LOCKS).then_some(shared)
}

struct Compiler<'a> {
    locks: &'a FxHashMap<ObjectId, usize>,
    program: Program,
    held: Vec<(usize, Mode)>,
}

impl<'a> Compiler<'a> {
    fn new(locks: &'a FxHashMap<ObjectId, usize>) -> Compiler<'a> {
        Compiler { locks, program: Program::default(), held: Vec::new() }
    }

    fn push(&mut self, operation: Operation) {
        let mut held = (0, 0);
        for (lock, mode) in &self.held {
            match mode {
                Mode::Exclusive => held.0 |= 1 << lock,
                Mode::Shared => held.1 |= 1 << lock,
            }
        }
        self.program.held.push(held);
        self.program.operations.push(operation);
    }

    fn here(&self) -> usize {
        self.program.operations.len()
    }

    fn program(mut self, thread: &ThreadParts<'_>) -> Program {
        for (number, part) in thread.parts.iter().enumerate() {
            let next = thread.parts.get(number + 1).map(|part| part.tree);
            self.part(number, part, next);
        }
        let end = self.here();
        if let Some(last) = self.program.places.last_mut() {
            last.2 = end;
        }
        // Where the program has ended it holds nothing.
        self.program.held.push((0, 0));
        self.program
    }

    fn begin_place(&mut self, place: &Place) {
        let here = self.here();
        if let Some(last) = self.program.places.last_mut() {
            last.2 = here;
        }
        self.program.places.push((place.clone(), here, here));
        self.push(Operation::Begin { required: Vec::new() });
    }

    fn part(&mut self, number: usize, part: &Part<'_>, next: Option<&Tree>) {
        let mut places = part.places.iter();
        if let Some(place) = places.next() {
            self.begin_place(place);
        }
        let tokens = &part.tree.tokens;
        let conditions = conditions_of(part);
        for needed in &conditions {
            let known = self.program.needed;
            let condition = self.condition(number, needed.number);
            if condition < MOST_CONDITIONS {
                self.program.needed = known.with(condition, needed.holds).unwrap_or(known);
            }
        }
        let mut wanted = part.accesses.iter().peekable();
        let mut choices: Vec<OpenChoice> = Vec::new();
        let mut position = 0;
        while position < tokens.len() {
            match tokens[position] {
                Token::Access(_) => {
                    while let Some((_, access)) = wanted.next_if(|(at, _)| *at as usize <= position)
                    {
                        let here = self.here();
                        self.program.accesses.push((*access, here));
                        self.push(Operation::Access(*access));
                    }
                }
                Token::Acquire(lock) => self.acquire(lock),
                Token::Release(lock) => {
                    if !(lock.is_carried && next.is_some_and(|next| carries(next, lock))) {
                        self.release(lock);
                    }
                }
                Token::Choice { happened } => {
                    let end = rejoin_of(tokens, position);
                    let has_wanted = part
                        .accesses
                        .iter()
                        .any(|(at, _)| (position..end).contains(&(*at as usize)));
                    let has_locks = tokens[position..end]
                        .iter()
                        .any(|token| matches!(token, Token::Acquire(_) | Token::Release(_)));
                    let has_boundary = tokens[position..end].contains(&Token::Boundary);
                    if !has_wanted && !has_locks && !has_boundary {
                        position = end;
                        continue;
                    }
                    let here = self.here();
                    self.push(Operation::Branch(Vec::new()));
                    choices.push(OpenChoice {
                        at: here,
                        has_wanted,
                        needs_empty: happened,
                        needs: None,
                        jumps: Vec::new(),
                    });
                }
                Token::Side(untaken) => {
                    let end = side_end_of(tokens, position);
                    let here = self.here();
                    if let Some(choice) = choices.last_mut() {
                        choice.needs_empty &= untaken.is_some();
                        let is_wanted = part
                            .accesses
                            .iter()
                            .any(|(at, _)| (position..end).contains(&(*at as usize)));
                        let is_excluded = conditions_after(tokens, position)
                            .any(|condition| contradicts(condition, &conditions));
                        if (choice.has_wanted && !is_wanted) || is_excluded {
                            position = end;
                            continue;
                        }
                        choice.needs = conditions_after(tokens, position).next();
                        if let Operation::Branch(targets) = &mut self.program.operations[choice.at]
                        {
                            targets.push(here);
                        }
                    }
                }
                Token::SideEnd => {
                    let here = self.here();
                    self.push(Operation::Jump(here + 1));
                    if let Some(choice) = choices.last_mut() {
                        choice.jumps.push(here);
                    }
                }
                Token::Rejoin => {
                    if let Some(choice) = choices.pop() {
                        let empty = self.here();
                        let may_pass = choice.needs_empty && !choice.has_wanted;
                        // Where nothing is done the condition is the opposite of what the other side needs.
                        if let Some(condition) = choice.needs.filter(|_| may_pass) {
                            self.given(number, Condition { holds: !condition.holds, ..condition });
                        }
                        let here = self.here();
                        for jump in &choice.jumps {
                            self.program.operations[*jump] = Operation::Jump(here);
                        }
                        if let Operation::Branch(targets) = &mut self.program.operations[choice.at]
                            && (may_pass || targets.is_empty())
                        {
                            targets.push(if may_pass { empty } else { here });
                        }
                    }
                }
                Token::Boundary => {
                    if let Some(place) = places.next() {
                        self.begin_place(place);
                    }
                }
                Token::Given(condition) => self.given(number, condition),
                Token::Removed => {}
            }
            position += 1;
        }
    }

    /// The number of a condition of a part.
    fn condition(&mut self, part: usize, number: u32) -> usize {
        let conditions = &mut self.program.conditions;
        let known = conditions.iter().position(|it| *it == (part, number));
        known.unwrap_or_else(|| {
            conditions.push((part, number));
            conditions.len() - 1
        })
    }

    fn given(&mut self, part: usize, Condition { number, holds }: Condition) {
        let condition = self.condition(part, number);
        self.push(Operation::Given { condition, holds });
    }

    fn acquire(&mut self, lock: LockToken) {
        let Some(number) = self.locks.get(&lock.lock).copied() else { return };
        // A lock that is carried over from the part before is held already.
        if !self.held.contains(&(number, lock.mode)) {
            self.push(Operation::Acquire { lock: number, mode: lock.mode });
            self.held.push((number, lock.mode));
        }
    }

    fn release(&mut self, lock: LockToken) {
        let Some(number) = self.locks.get(&lock.lock).copied() else { return };
        if let Some(at) = self.held.iter().rposition(|held| *held == (number, lock.mode)) {
            self.push(Operation::Release);
            self.held.remove(at);
        }
    }
}

/// What must hold for the accesses that matter to be executed.
fn conditions_of(part: &Part<'_>) -> Vec<Condition> {
    let leaves = &part.tree.leaves;
    let wanted = part.accesses.iter().filter_map(|(position, _)| {
        let at = leaves.binary_search_by_key(position, |leaf| leaf.position).ok()?;
        Some(&leaves[at].conditions)
    });
    wanted.flatten().copied().collect()
}

/// What a side needs that begins at this position.
fn conditions_after(tokens: &[Token], side: usize) -> impl Iterator<Item = Condition> + '_ {
    tokens[side + 1..].iter().map_while(|token| match token {
        Token::Given(condition) => Some(*condition),
        _ => None,
    })
}

/// A choice whose sides are being compiled.
struct OpenChoice {
    at: usize,
    /// Whether an access that matters is on one of its sides.
    has_wanted: bool,
    /// Whether one can pass it without doing anything.
    needs_empty: bool,
    /// What the last of its sides needs.
    needs: Option<Condition>,
    jumps: Vec<usize>,
}

/// Whether a lock that was held at the end of one unit is held at the beginning of the next.
fn carries(next: &Tree, lock: LockToken) -> bool {
    next.tokens
        .iter()
        .map_while(|token| match token {
            Token::Acquire(held) if held.is_carried => Some(held),
            _ => None,
        })
        .any(|held| (held.lock, held.mode) == (lock.lock, lock.mode))
}

/// The position after the end of a choice.
fn rejoin_of(tokens: &[Token], choice: usize) -> usize {
    end_of(tokens, choice, |token| {
        i32::from(matches!(token, Token::Choice { .. })) - i32::from(*token == Token::Rejoin)
    })
}

/// The position after the end of a side.
fn side_end_of(tokens: &[Token], side: usize) -> usize {
    end_of(tokens, side, |token| {
        i32::from(matches!(token, Token::Side(_))) - i32::from(*token == Token::SideEnd)
    })
}

fn end_of(tokens: &[Token], start: usize, change: impl Fn(&Token) -> i32) -> usize {
    let mut depth = 0;
    for (position, token) in tokens.iter().enumerate().skip(start) {
        depth += change(token);
        if depth == 0 {
            return position + 1;
        }
    }
    tokens.len()
}

/// Says how far the other programs must have come before a place begins.
fn resolve_places(programs: &mut [Program], threads: &[ThreadParts<'_>]) {
    let ends: Vec<Vec<(u32, usize)>> = programs
        .iter()
        .map(|program| program.places.iter().map(|(place, _, end)| (place.stretch, *end)).collect())
        .collect();
    for program in programs.iter_mut() {
        for (place, begin, _) in &program.places {
            let required = threads.iter().zip(&ends).map(|(thread, ends)| {
                if thread.thread == place.thread {
                    return 0;
                }
                let known = place.clock.of(thread.thread);
                let before = ends.iter().filter(|(stretch, _)| *stretch <= known);
                before.map(|(_, end)| *end).max().unwrap_or(0)
            });
            let required = required.collect();
            program.operations[*begin] = Operation::Begin { required };
        }
    }
}

struct Search<'a> {
    programs: &'a [Program],
    /// For each access, where it is and which ones must come before.
    location: FxHashMap<usize, (usize, usize)>,
    order: &'a [(usize, usize)],
    most_states: usize,
    seen: FxHashSet<State>,
}

/// The positions of all programs, and then the conditions that are known of each.
type State = Box<[u32]>;

impl<'a> Search<'a> {
    fn new(programs: &'a [Program], order: &'a [(usize, usize)], most_states: usize) -> Search<'a> {
        let mut location = FxHashMap::default();
        for (number, program) in programs.iter().enumerate() {
            for (access, at) in &program.accesses {
                location.insert(*access, (number, *at));
            }
        }
        Search { programs, location, order, most_states, seen: FxHashSet::default() }
    }

    fn is_done(&self, access: usize, positions: &[u32]) -> bool {
        self.location.get(&access).is_some_and(|(program, at)| positions[*program] as usize > *at)
    }

    fn run(&mut self) -> Feasibility {
        let mut first = vec![0; self.programs.len()];
        for Program { needed, .. } in self.programs {
            first.extend([needed.holding, needed.failing]);
        }
        let mut open: Vec<State> = vec![first.into()];
        while let Some(mut positions) = open.pop() {
            self.settle(&mut positions);
            if self.order.iter().all(|(_, second)| self.is_done(*second, &positions)) {
                return Feasibility::Possible;
            }
            if self.seen.len() >= self.most_states {
                return Feasibility::Unknown;
            }
            if !self.seen.insert(positions.clone()) {
                continue;
            }
            for program in 0..self.programs.len() {
                self.moves(program, &positions, |next, known| {
                    let mut after = positions.clone();
                    after[program] = next as u32;
                    if let Some(KnownConditions { holding, failing }) = known {
                        let at = self.programs.len() + 2 * program;
                        after[at..at + 2].copy_from_slice(&[holding, failing]);
                    }
                    open.push(after);
                });
            }
        }
        Feasibility::Impossible
    }

    /// Does what is always possible and never in the way of others.
    fn settle(&self, positions: &mut [u32]) {
        for (program, position) in self.programs.iter().zip(positions) {
            loop {
                match program.operations.get(*position as usize) {
                    Some(Operation::Release) => *position += 1,
                    Some(Operation::Jump(target)) => *position = *target as u32,
                    _ => break,
                }
            }
        }
    }

    fn known(&self, program: usize, state: &[u32]) -> KnownConditions {
        let at = self.programs.len() + 2 * program;
        KnownConditions { holding: state[at], failing: state[at + 1] }
    }

    /// Where a program can go from here, and what it then knows if that is more than before.
    fn moves(
        &self,
        program: usize,
        positions: &[u32],
        mut push: impl FnMut(usize, Option<KnownConditions>),
    ) {
        let at = positions[program] as usize;
        let Some(operation) = self.programs[program].operations.get(at) else { return };
        let is_possible = match operation {
            Operation::Acquire { lock, mode } => {
                let lock = 1 << lock;
                self.programs.iter().enumerate().all(|(other, it)| {
                    let (exclusive, shared) = it.held[positions[other] as usize];
                    other == program
                        || (exclusive & lock == 0 && (*mode == Mode::Shared || shared & lock == 0))
                })
            }
            Operation::Access(access) => self
                .order
                .iter()
                .all(|(first, second)| second != access || self.is_done(*first, positions)),
            Operation::Begin { required } => {
                required.iter().zip(positions).all(|(required, at)| *at as usize >= *required)
            }
            Operation::Branch(targets) => {
                targets.iter().for_each(|target| push(*target, None));
                false
            }
            Operation::Given { condition, holds } => {
                if let Some(known) = self.known(program, positions).with(*condition, *holds) {
                    push(at + 1, Some(known));
                }
                false
            }
            Operation::Release | Operation::Jump(_) => true,
        };
        if is_possible {
            push(at + 1, None);
        }
    }
}
