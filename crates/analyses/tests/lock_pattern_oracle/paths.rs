//! Every path through a method, calls inlined, as the operations on locks and names that it makes.
//!
//! Nothing is joined and nothing is summarised: this is the part of the oracle that is naive.

use std::collections::{BTreeMap, BTreeSet};

use crate::java::{Block, Call, Expression, JavaProgram, Kind, Statement, Value, all_statements};

/// One step of a path that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// A lock is acquired by the statement at a line; 0 for that of a synchronized method.
    Acquire(Expression, u32),
    /// The lock acquired last but so many is released.
    Release(usize),
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
pub(crate) const MOST_PATHS: usize = 20_000;

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
struct Surroundings {
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
        let mut paths = self.block(&declared.body, Surroundings { is_in_try, is_in_loop: false })?;
        if declared.is_synchronized {
            let start = if declared.is_static {
                crate::java::Start::Class
            } else {
                crate::java::Start::This
            };
            paths = surrounded(paths, Operation::Acquire(Expression::new(start), 0));
        }
        self.known.insert((method, is_in_try), paths.clone());
        Ok(paths)
    }

    fn block(&mut self, block: &Block, place: Surroundings) -> Result<Paths, TooMany> {
        let mut paths = nothing();
        for statement in block {
            paths = self.then(&paths, &self.statement(statement, place)?)?;
        }
        Ok(paths)
    }

    /// One path after the other, where the first ends normally.
    fn then(&self, first: &Paths, second: &Paths) -> Result<Paths, TooMany> {
        let mut paths = Paths::new();
        for (one, outcome) in first {
            if *outcome != Outcome::Normal {
                paths.insert((one.clone(), *outcome));
                continue;
            }
            for (other, outcome) in second {
                paths.insert(([one.as_slice(), other].concat(), *outcome));
                if paths.len() > MOST_PATHS {
                    return Err(TooMany);
                }
            }
        }
        Ok(paths)
    }
}
