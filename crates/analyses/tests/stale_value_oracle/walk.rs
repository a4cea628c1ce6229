//! The rule of the paper, by its definition: a method is walked on all its paths, calls inlined, and
//! every value remembers where it was read and in which block.
//!
//! Nothing is joined and nothing is summarised: where paths meet, each goes on by itself. Only
//! paths that have come to be in the same state, in every respect, are walked on as one, and that
//! is why a loop can be walked as often as it makes a difference.

use std::collections::{BTreeMap, BTreeSet};

use crate::java::{
    Block, End, Helper, Kind, Local, Lock, Method, Operand, Statement, Value, Variable,
};

/// A stale value, by the lines of the judged method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stale {
    /// Where the method reads the value, or calls what reads it.
    pub(crate) read: u32,
    /// Where the block of that read ends.
    pub(crate) released: u32,
    /// Where the value is used after that; any such use, not the first only.
    pub(crate) used: u32,
}

/// What may throw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exceptions {
    /// The throw statements of the method. These paths certainly exist.
    Explicit,
    /// Anything at all, as the bytecode allows. All paths that exist are among these.
    Anywhere,
}

/// More states than this after one statement, and the method is not used.
const MOST_STATES: usize = 2_000;

/// There are too many states.
#[derive(Debug)]
pub(crate) struct TooMany;

/// All stale values of a method.
pub(crate) fn stale_values(
    method: &Method,
    exceptions: Exceptions,
) -> Result<BTreeSet<Stale>, TooMany> {
    let helpers = Helper::ALL.into_iter().map(|helper| (helper, helper.method())).collect();
    let mut walk = Walk { exceptions, helpers, is_in_try: false, found: BTreeSet::new() };
    let start = State { held: Vec::new(), frames: vec![Frame::default()] };
    walk.method(method, start)?;
    Ok(walk.found)
}

/// The block that an acquisition opens: how many blocks were open before. Two open blocks never have
/// the same number; when a number is given again, no value is left that belongs to the block that
/// had it before, because each became [`ValueState::Over`] when that block ended.
type BlockNumber = usize;

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ValueState {
    /// The block it was read in is open.
    Current(BlockNumber),
    /// The block ended at a line of the method that holds the value.
    Over(u32),
}

/// A read that a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    /// The method that holds the value: its position among those that run.
    holder: usize,
    /// The line in that method.
    line: u32,
    state_of_value: ValueState,
}

/// The reads that a value comes from; none if it is not shared.
type Origins = BTreeSet<Origin>;

/// A method that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    /// The line that is being executed.
    line: u32,
    /// Variables in the order of [`Local::ALL`].
    locals: [Origins; 4],
    /// What is about to be returned, from the evaluation of the expression on.
    result: Origins,
}

/// Where a path has got to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// The locks that are held, in the order in which they were taken. Each is in here once,
    /// because a re-entrant acquisition changes nothing; its position is the number of its block.
    held: Vec<Lock>,
    /// The outermost method first, which is the judged one.
    frames: Vec<Frame>,
}

/// How a path through some statements ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Normal,
    Returned {
        /// The line of the return statement.
        line: u32,
        /// The line to which the compiler attributes the next `monitorexit` on the way out: that of
        /// the return statement, until an `unlock()` on the way has a line of its own.
        leaving: u32,
    },
    Thrown,
}

type Outcomes = BTreeSet<(State, Outcome)>;

impl State {
    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a method runs")
    }

    fn local(&mut self, local: Local) -> &mut Origins {
        &mut self.frame().locals[local as usize]
    }

    fn at(mut self, line: u32) -> State {
        self.frame().line = line;
        self
    }

    /// Takes a lock; says whether it was held already.
    fn acquire(&mut self, lock: Lock) -> bool {
        let is_reentrant = self.held.contains(&lock);
        if !is_reentrant {
            self.held.push(lock);
        }
        is_reentrant
    }

    fn release(&mut self) {
        self.held.pop().expect("a lock is held");
        self.end_block(self.held.len());
    }

    /// What was read in the block is from now on stale.
    fn end_block(&mut self, block: BlockNumber) {
        let lines: Vec<u32> = self.frames.iter().map(|frame| frame.line).collect();
        let ended = |origins: &Origins| -> Origins {
            let ended = |origin: &Origin| match origin.state_of_value {
                ValueState::Current(number) if number == block => {
                    Origin { state_of_value: ValueState::Over(lines[origin.holder]), ..*origin }
                }
                _ => *origin,
            };
            origins.iter().map(ended).collect()
        };
        for frame in &mut self.frames {
            for origins in frame.locals.iter_mut().chain([&mut frame.result]) {
                *origins = ended(origins);
            }
        }
    }

    /// The value that a read gives here.
    fn read(&self) -> Origins {
        let holder = self.frames.len() - 1;
        let line = self.frames[holder].line;
        let current = self.held.len().checked_sub(1).map(ValueState::Current);
        current.map(|state_of_value| Origin { holder, line, state_of_value }).into_iter().collect()
    }
}

struct Walk {
    exceptions: Exceptions,
    helpers: BTreeMap<Helper, Method>,
    /// Whether what is thrown now is caught by the judged method. Elsewhere an exception only ends
    /// the path, which shows nothing that the longer path does not.
    is_in_try: bool,
    found: BTreeSet<Stale>,
}

impl Walk {
    /// Runs the innermost method from its first line; its frame is still there at the end.
    fn method(&mut self, method: &Method, mut state: State) -> Result<BTreeSet<State>, TooMany> {
        let is_reentrant = method.own_lock().is_none_or(|lock| state.acquire(lock));
        let mut after = BTreeSet::new();
        for (mut state, outcome) in self.block(&method.body, state)? {
            match (outcome, method.end) {
                (Outcome::Normal, End::Returns(local)) => {
                    state.frame().line = method.end_line;
                    state.frame().result = state.local(local).clone();
                }
                (Outcome::Returned { line, .. }, _) => state.frame().line = line,
                (Outcome::Normal, End::ReturnsZero | End::Never | End::Void)
                | (Outcome::Thrown, _) => {}
            }
            // A return is a use like any other. The lock of a synchronized method is given back after
            // it, while that of a block has been given back before.
            let result = state.frame().result.clone();
            self.used(&state, &result);
            if !is_reentrant {
                state.release();
            }
            after.insert(state);
        }
        Ok(after)
    }

    fn block(&mut self, block: &Block, state: State) -> Result<Outcomes, TooMany> {
        let mut outcomes = Outcomes::from([(state, Outcome::Normal)]);
        for statement in block {
            let mut next = Outcomes::new();
            for (state, outcome) in outcomes {
                if outcome == Outcome::Normal {
                    next.extend(self.statement(statement, state)?);
                } else {
                    next.insert((state, outcome));
                }
                if next.len() > MOST_STATES {
                    return Err(TooMany);
                }
            }
            outcomes = next;
        }
        Ok(outcomes)
    }

    fn statement(&mut self, statement: &Statement, state: State) -> Result<Outcomes, TooMany> {
        let before = state.at(statement.line);
        let mut outcomes = self.effect(statement, before.clone())?;
        if self.exceptions == Exceptions::Anywhere && self.is_in_try && before.frames.len() == 1 {
            let thrown = outcomes.iter().map(|(state, _)| (state.clone(), Outcome::Thrown));
            outcomes.extend(thrown.collect::<Outcomes>());
            outcomes.insert((before, Outcome::Thrown));
        }
        // Where inside the statement a path has been makes no difference from here on.
        Ok(outcomes.into_iter().map(|(state, to)| (state.at(statement.line), to)).collect())
    }

    fn effect(&mut self, statement: &Statement, mut state: State) -> Result<Outcomes, TooMany> {
        let normal = |state| Outcomes::from([(state, Outcome::Normal)]);
        Ok(match &statement.kind {
            Kind::Set(local, value) => {
                let with_values = self.evaluate(value, state)?.into_iter();
                with_values
                    .map(|(mut state, origins)| {
                        *state.local(*local) = origins;
                        (state, Outcome::Normal)
                    })
                    .collect()
            }
            Kind::Write(variable, local) => {
                self.index_used(&mut state, *variable);
                self.local_used(&mut state, *local);
                normal(state)
            }
            Kind::Use(local) => {
                self.local_used(&mut state, *local);
                normal(state)
            }
            Kind::Call(helper, arguments) => {
                let returned = self.call(*helper, arguments, state)?.into_iter();
                returned.map(|(state, _)| (state, Outcome::Normal)).collect()
            }
            Kind::If(test, then, otherwise) => {
                self.local_used(&mut state, test.local);
                let mut outcomes = self.block(then, state.clone())?;
                outcomes.extend(self.block(otherwise, state)?);
                outcomes
            }
            Kind::While(test, block) => {
                let mut outcomes = Outcomes::new();
                let mut seen = BTreeSet::new();
                let mut todo = vec![state];
                while let Some(state) = todo.pop() {
                    let mut state = state.at(statement.line);
                    if !seen.insert(state.clone()) {
                        continue;
                    }
                    if seen.len() > MOST_STATES {
                        return Err(TooMany);
                    }
                    self.local_used(&mut state, test.local);
                    for (state, outcome) in self.block(block, state.clone())? {
                        if outcome == Outcome::Normal {
                            todo.push(state);
                        } else {
                            outcomes.insert((state, outcome));
                        }
                    }
                    outcomes.insert((state, Outcome::Normal));
                }
                outcomes
            }
            Kind::Synchronized(lock, block) => self.locked(statement, *lock, block, state)?,
            Kind::Locked(block) => self.locked(statement, Lock::Explicit, block, state)?,
            Kind::TryLocked(block) => {
                let mut outcomes = self.locked(statement, Lock::Explicit, block, state.clone())?;
                outcomes.insert((state, Outcome::Normal));
                outcomes
            }
            Kind::Wait(lock) => {
                // However often the lock was taken. When the wait is over a new block begins in
                // the place of the old one: a lock that was taken later is still the inner one.
                if let Some(block) = state.held.iter().position(|held| held == lock) {
                    state.end_block(block);
                }
                normal(state)
            }
            Kind::TryCatch(block, handler) => {
                let outside = std::mem::replace(&mut self.is_in_try, true);
                let tried = self.block(block, state);
                self.is_in_try = outside;
                let (thrown, mut outcomes): (Outcomes, Outcomes) =
                    tried?.into_iter().partition(|(_, outcome)| *outcome == Outcome::Thrown);
                for (mut state, _) in thrown {
                    // An exception on the way out takes the place of what was to be returned.
                    state.frame().result.clear();
                    outcomes.extend(self.block(handler, state)?);
                }
                outcomes
            }
            Kind::ReturnIf(test, local) => {
                self.local_used(&mut state, test.local);
                let mut outcomes = normal(state.clone());
                outcomes.insert(returned(state, *local));
                outcomes
            }
            Kind::Return(local) => Outcomes::from([returned(state, *local)]),
            Kind::ThrowIf(test) => {
                self.local_used(&mut state, test.local);
                Outcomes::from([(state.clone(), Outcome::Normal), (state, Outcome::Thrown)])
            }
        })
    }

    /// A block under a lock, which is given back whatever happens inside.
    fn locked(
        &mut self,
        statement: &Statement,
        lock: Lock,
        block: &Block,
        mut state: State,
    ) -> Result<Outcomes, TooMany> {
        let is_reentrant = state.acquire(lock);
        let release = |(mut state, mut outcome): (State, Outcome)| {
            state.frame().line = statement.release_line;
            if let Outcome::Returned { leaving, .. } = &mut outcome {
                if lock == Lock::Explicit {
                    *leaving = statement.release_line;
                }
                state.frame().line = *leaving;
            }
            if !is_reentrant {
                state.release();
            }
            (state, outcome)
        };
        Ok(self.block(block, state)?.into_iter().map(release).collect())
    }

    /// The value of an expression, and the state after it: a call may have several.
    fn evaluate(
        &mut self,
        value: &Value,
        mut state: State,
    ) -> Result<BTreeSet<(State, Origins)>, TooMany> {
        let origins = match value {
            Value::Read(variable) => {
                self.index_used(&mut state, *variable);
                state.read()
            }
            Value::Fixed(_) => Origins::new(),
            Value::Copy(local) => state.local(*local).clone(),
            Value::Arithmetic(left, _, right) => {
                let mut origins = self.local_used(&mut state, *left);
                if let Operand::Local(right) = right {
                    origins.extend(self.local_used(&mut state, *right));
                }
                origins
            }
            Value::Call(helper, arguments) => return self.call(*helper, arguments, state),
        };
        Ok(BTreeSet::from([(state, origins)]))
    }

    /// Runs a method that the innermost one calls. What it obtained and hands out, the caller obtains
    /// by the call.
    fn call(
        &mut self,
        helper: Helper,
        arguments: &[Local],
        mut state: State,
    ) -> Result<BTreeSet<(State, Origins)>, TooMany> {
        let caller = state.frames.len() - 1;
        let line = state.frames[caller].line;
        let method = self.helpers[&helper].clone();
        let mut frame = Frame::default();
        for (parameter, argument) in method.parameters.iter().zip(arguments) {
            frame.locals[*parameter as usize] = self.local_used(&mut state, *argument);
        }
        state.frames.push(frame);
        let obtained = |origin: Origin| match (origin.holder > caller, origin.state_of_value) {
            (false, _) => origin,
            (true, ValueState::Current(_)) => Origin { holder: caller, line, ..origin },
            (true, ValueState::Over(_)) => {
                Origin { holder: caller, line, state_of_value: ValueState::Over(line) }
            }
        };
        let returned = self.method(&method, state)?.into_iter().map(|mut state| {
            let frame = state.frames.pop().expect("the callee ran");
            (state, frame.result.into_iter().map(obtained).collect())
        });
        Ok(returned.collect())
    }

    fn index_used(&mut self, state: &mut State, variable: Variable) {
        if let Variable::Cell(index) = variable {
            self.local_used(state, index);
        }
    }

    fn local_used(&mut self, state: &mut State, local: Local) -> Origins {
        let origins = state.local(local).clone();
        self.used(state, &origins);
        origins
    }

    /// The consistency check of the paper (section 3), for the values that the judged method holds.
    fn used(&mut self, state: &State, origins: &Origins) {
        for origin in origins.iter().filter(|origin| origin.holder == 0) {
            if let ValueState::Over(released) = origin.state_of_value {
                let used = state.frames[0].line;
                self.found.insert(Stale { read: origin.line, released, used });
            }
        }
    }
}

/// The expression of a return statement is evaluated, and locks are given back only then.
fn returned(mut state: State, local: Local) -> (State, Outcome) {
    let line = state.frame().line;
    state.frame().result = state.local(local).clone();
    (state, Outcome::Returned { line, leaving: line })
}
