//! Every path through a method, calls inlined, as the operations on locks and names that it makes.
//!
//! Nothing is joined and nothing is summarised: this is the part of the oracle that is naive.

use std::collections::{BTreeMap, BTreeSet};

use crate::java::{Block, Call, Expression, JavaProgram, Kind, Start, Statement, Value};
use crate::random::{Compound, all_statements};

/// One step of a path that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// A lock is acquired by the statement at a line; 0 for that of a synchronized method.
    Acquire(Expression, u32),
    /// The lock that the running method acquired at a line is released.
    Release(u32),
    /// A local variable gets a value.
    Set(u8, Value),
    /// Control that may have set the variable meets control that may not have.
    Merge(u8),
    Replace(Expression),
    /// A method starts, called at a line.
    Enter(Call, u32),
    /// It ends, in one way or another.
    Leave,
}

/// How a path through some statements ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Normal,
    Returned,
    Thrown,
}

type Path = (Vec<Operation>, Outcome);
type Paths = BTreeSet<Path>;

/// What may throw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exceptions {
    /// The throw statements of the program. These paths certainly exist.
    Explicit,
    /// Any statement at all, as the bytecode allows. All paths that exist are among these.
    Anywhere,
}

/// More paths than this through one method, and the program is not used.
pub(crate) const MOST_PATHS: usize = 1_000;

/// A loop runs at most so often. A path that acquires a lock in one iteration and again in a later
/// one can leave out the iterations between, so that two would be enough for every verdict; inside
/// another loop there are only two, because three times three is what makes paths explode.
const MOST_ITERATIONS: usize = 3;
const MOST_NESTED_ITERATIONS: usize = 2;

/// There are too many paths.
#[derive(Debug)]
pub(crate) struct TooMany;

/// The paths of a program's methods.
pub(crate) struct Enumeration<'a> {
    program: &'a JavaProgram,
    exceptions: Exceptions,
    known: BTreeMap<(usize, bool), Paths>,
}

/// Where statements stand.
#[derive(Clone, Copy)]
struct StatementContext {
    /// Whether what they throw is seen by a try statement, here or in a caller. Elsewhere an
    /// exception only ends the run, which shows nothing that the longer run does not.
    is_in_try: bool,
    is_in_loop: bool,
}

impl<'a> Enumeration<'a> {
    pub(crate) fn new(program: &'a JavaProgram, exceptions: Exceptions) -> Enumeration<'a> {
        Enumeration { program, exceptions, known: BTreeMap::new() }
    }

    /// All paths through a method that nobody calls.
    pub(crate) fn of_method(&mut self, method: usize) -> Result<Vec<Vec<Operation>>, TooMany> {
        let paths = self.method(method, false)?;
        let distinct: BTreeSet<Vec<Operation>> = paths.into_iter().map(|(path, _)| path).collect();
        Ok(distinct.into_iter().collect())
    }

    fn method(&mut self, method: usize, is_in_try: bool) -> Result<Paths, TooMany> {
        if let Some(known) = self.known.get(&(method, is_in_try)) {
            return Ok(known.clone());
        }
        let program = self.program;
        let declared = &program.methods[method];
        let mut paths =
            self.block(&declared.body, StatementContext { is_in_try, is_in_loop: false })?;
        if declared.is_synchronized {
            let start = if declared.is_static { Start::Class } else { Start::This };
            paths = surrounded(paths, Expression::new(start), 0);
        }
        self.known.insert((method, is_in_try), paths.clone());
        Ok(paths)
    }

    fn block(&mut self, block: &Block, place: StatementContext) -> Result<Paths, TooMany> {
        let mut paths = nothing();
        for statement in block {
            paths = one_after_the_other(&paths, &self.statement(statement, place)?)?;
        }
        Ok(paths)
    }

    fn statement(
        &mut self,
        statement: &Statement,
        place: StatementContext,
    ) -> Result<Paths, TooMany> {
        let line = statement.line;
        let mut paths = match &statement.kind {
            Kind::Synchronized(lock, block) => surrounded(self.block(block, place)?, *lock, line),
            Kind::Locked(lock, block) => {
                surrounded(self.block(block, place)?, Expression::global(*lock), line)
            }
            Kind::TryLocked(lock, block) => {
                let mut paths =
                    surrounded(self.block(block, place)?, Expression::global(*lock), line);
                paths.extend(nothing());
                one_after_the_other(&paths, &merged(statement))?
            }
            Kind::HandOver(first, second, [alone, both, rest]) => {
                let acquire =
                    |lock, line| only(vec![Operation::Acquire(Expression::global(lock), line)]);
                let mut paths = acquire(*first, line);
                for next in [
                    self.block(alone, place)?,
                    acquire(*second, statement.second_line),
                    self.block(both, place)?,
                    only(vec![Operation::Release(line)]),
                    self.block(rest, place)?,
                    only(vec![Operation::Release(statement.second_line)]),
                ] {
                    paths = one_after_the_other(&paths, &next)?;
                }
                paths
            }
            Kind::If(then, otherwise) => {
                let mut paths = self.block(then, place)?;
                paths.extend(self.block(otherwise, place)?);
                one_after_the_other(&paths, &merged(statement))?
            }
            Kind::While(block) => {
                let most = if place.is_in_loop { MOST_NESTED_ITERATIONS } else { MOST_ITERATIONS };
                let body = self.block(block, StatementContext { is_in_loop: true, ..place })?;
                let again = one_after_the_other(&body, &merged(statement))?;
                let mut iterated = merged(statement);
                let mut paths = iterated.clone();
                for _ in 0..most {
                    iterated = one_after_the_other(&iterated, &again)?;
                    paths.extend(iterated.iter().cloned());
                }
                paths
            }
            Kind::TryFinally(block, last) => {
                let tried = self.tried(block, place)?;
                let last = one_after_the_other(&merged(statement), &self.block(last, place)?)?;
                let mut paths = Paths::new();
                for (one, outcome) in &tried {
                    for (other, at_last) in &last {
                        // A finally block that ends abruptly takes the place of what happened.
                        let outcome = if *at_last == Outcome::Normal { *outcome } else { *at_last };
                        paths.insert(([one.as_slice(), other].concat(), outcome));
                    }
                    limited(&paths)?;
                }
                one_after_the_other(&paths, &merged(statement))?
            }
            Kind::TryCatch(block, handler) => {
                let tried = self.tried(block, place)?;
                let handler =
                    one_after_the_other(&merged(statement), &self.block(handler, place)?)?;
                let mut paths = Paths::new();
                for (one, outcome) in tried {
                    if outcome != Outcome::Thrown {
                        paths.insert((one, outcome));
                        continue;
                    }
                    for (other, outcome) in &handler {
                        paths.insert(([one.as_slice(), other].concat(), *outcome));
                    }
                    limited(&paths)?;
                }
                one_after_the_other(&paths, &merged(statement))?
            }
            Kind::Let(local, value, block) => one_after_the_other(
                &only(vec![Operation::Set(*local, *value)]),
                &self.block(block, place)?,
            )?,
            Kind::SetLocal(local, value) => only(vec![Operation::Set(*local, *value)]),
            Kind::Replace(field) => only(vec![Operation::Replace(*field)]),
            Kind::Call(call) => self
                .method(call.callee, place.is_in_try)?
                .into_iter()
                .map(|(path, outcome)| {
                    let path = [&[Operation::Enter(*call, line)], path.as_slice()].concat();
                    let outcome = match outcome {
                        Outcome::Normal | Outcome::Returned => Outcome::Normal,
                        Outcome::Thrown => Outcome::Thrown,
                    };
                    ([path.as_slice(), &[Operation::Leave]].concat(), outcome)
                })
                .collect(),
            Kind::Return => {
                Paths::from([(Vec::new(), Outcome::Normal), (Vec::new(), Outcome::Returned)])
            }
            Kind::Throw => {
                Paths::from([(Vec::new(), Outcome::Normal), (Vec::new(), Outcome::Thrown)])
            }
        };
        if self.exceptions == Exceptions::Anywhere && place.is_in_try {
            paths.insert((Vec::new(), Outcome::Thrown));
        }
        limited(&paths)?;
        Ok(paths)
    }

    /// The block of a try statement.
    fn tried(&mut self, block: &Block, place: StatementContext) -> Result<Paths, TooMany> {
        let mut paths = self.block(block, StatementContext { is_in_try: true, ..place })?;
        if self.exceptions == Exceptions::Anywhere {
            // Each statement throws before it does something; the last one may also throw after.
            let complete: Vec<Path> = paths
                .iter()
                .filter(|(_, outcome)| *outcome == Outcome::Normal)
                .map(|(path, _)| (path.clone(), Outcome::Thrown))
                .collect();
            paths.extend(complete);
        }
        limited(&paths)?;
        Ok(paths)
    }
}

fn only(path: Vec<Operation>) -> Paths {
    Paths::from([(path, Outcome::Normal)])
}

fn nothing() -> Paths {
    only(Vec::new())
}

/// The variables that a statement may set, at the place where it no longer matters how.
fn merged(statement: &Statement) -> Paths {
    let mut set = BTreeSet::new();
    for block in statement.blocks() {
        for inner in all_statements(block) {
            if let Kind::SetLocal(local, _) = inner.kind {
                set.insert(Operation::Merge(local));
            }
        }
    }
    only(set.into_iter().collect())
}

/// A lock is acquired before and released after, whatever happens between.
fn surrounded(paths: Paths, lock: Expression, line: u32) -> Paths {
    let (acquire, release) = (Operation::Acquire(lock, line), Operation::Release(line));
    paths
        .into_iter()
        .map(|(path, outcome)| ([&[acquire], path.as_slice(), &[release]].concat(), outcome))
        .collect()
}

/// What follows only happens where the first part ends normally.
fn one_after_the_other(first: &Paths, second: &Paths) -> Result<Paths, TooMany> {
    let mut paths = Paths::new();
    for (one, outcome) in first {
        if *outcome == Outcome::Normal {
            paths.extend(
                second.iter().map(|(other, outcome)| ([one.as_slice(), other].concat(), *outcome)),
            );
        } else {
            paths.insert((one.clone(), *outcome));
        }
        limited(&paths)?;
    }
    Ok(paths)
}

fn limited(paths: &Paths) -> Result<(), TooMany> {
    if paths.len() > MOST_PATHS { Err(TooMany) } else { Ok(()) }
}
