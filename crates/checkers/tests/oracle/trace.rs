//! Small runs: well-formed, random, and made smaller when they fail.

use std::fmt;

use events::{Action, Epoch, Event, FieldId, Mode, ObjectId, SiteId, ThreadId, Variable};

use crate::random::Random;

/// What a thread does. Variables, locks and objects are small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Read(u32),
    Write(u32),
    VolatileRead(u32),
    VolatileWrite(u32),
    Update(u32),
    Add(u32),
    Acquire(u32, Mode),
    Release(u32, Mode),
    Fork(u32),
    Join(u32),
    Publish(u32),
    Receive(u32),
    Begin,
    End,
    ThreadEnd,
}

/// One operation of a run. Its place in code is its number in the run, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) thread: u32,
    pub(crate) op: Op,
}

/// A run.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Run(pub(crate) Vec<Operation>);

pub(crate) fn variable(number: u32) -> Variable {
    Variable::Static(FieldId(number))
}

/// Volatile variables are other variables.
pub(crate) fn volatile(number: u32) -> Variable {
    Variable::Static(FieldId(1000 + number))
}

impl Operation {
    pub(crate) fn action(self) -> Action {
        let object = |number: u32| ObjectId(u64::from(number));
        match self.op {
            Op::Read(x) => Action::Read(variable(x)),
            Op::Write(x) => Action::Write(variable(x)),
            Op::VolatileRead(x) => Action::VolatileRead(volatile(x)),
            Op::VolatileWrite(x) => Action::VolatileWrite(volatile(x)),
            Op::Update(x) => Action::AtomicUpdate(volatile(x)),
            Op::Add(x) => Action::AtomicAdd(volatile(x)),
            Op::Acquire(m, mode) => Action::acquire(object(m), mode),
            Op::Release(m, mode) => Action::release(object(m), mode),
            Op::Fork(thread) => Action::Fork(ThreadId(thread)),
            Op::Join(thread) => Action::Join(ThreadId(thread)),
            // What is published to an object and its monitor are one to happens-before, so that these are other objects.
            Op::Publish(o) => Action::Publish(object(1000 + o)),
            Op::Receive(o) => Action::Receive(object(1000 + o)),
            Op::Begin => Action::Begin,
            Op::End => Action::End,
            Op::ThreadEnd => Action::ThreadEnd,
        }
    }

    /// The event, as a source reports it that filters nothing and counts no epochs.
    pub(crate) fn event(self, number: usize) -> Event {
        Event {
            thread: ThreadId(self.thread),
            site: SiteId(number as u32 + 1),
            epoch: Epoch(0),
            action: self.action(),
            overlaps: 0,
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, operation) in self.0.iter().enumerate() {
            writeln!(f, "{:3} t{} {:?}", number + 1, operation.thread, operation.op)?;
        }
        Ok(())
    }
}

/// How runs are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) threads: usize,
    pub(crate) length: usize,
    pub(crate) variables: usize,
    pub(crate) locks: usize,
    pub(crate) blocks: usize,
    /// Whether threads other than the first are started by others.
    pub(crate) forks: bool,
    pub(crate) synchronises: usize,
    pub(crate) burst: usize,
}

impl Shape {
    pub(crate) fn random(random: &mut Random) -> Shape {
        Shape {
            threads: 2 + random.below(5),
            length: 6 + random.below(50),
            variables: 1 + random.below(5),
            locks: 1 + random.below(3),
            blocks: 5 + random.below(20),
            forks: random.percent(40),
            synchronises: random.below(50),
            burst: random.below(90),
        }
    }

    /// Long runs with long and nested blocks around few variables that hardly anything guards: most operations close a cycle.
    pub(crate) fn contended(random: &mut Random) -> Shape {
        Shape {
            threads: 2 + random.below(5),
            length: crate::naive::MOST / 2 + random.below(crate::naive::MOST / 2),
            variables: 1 + random.below(3),
            locks: 1,
            blocks: 5 + random.below(10),
            forks: random.percent(20),
            synchronises: random.below(10),
            burst: random.below(60),
        }
    }

    /// Runs of so few operations that all their orders can be tried.
    pub(crate) fn small(random: &mut Random) -> Shape {
        Shape {
            threads: 2 + random.below(2),
            length: 6 + random.below(crate::exhaustive::MOST - 5),
            variables: 1 + random.below(2),
            locks: 1,
            blocks: 10 + random.below(25),
            ..Shape::random(random)
        }
    }
}

/// What must hold for the next operation to be possible.
#[derive(Default)]
struct Threads {
    depth: Vec<usize>,
    held: Vec<Vec<(u32, Mode)>>,
    /// Locks that were acquired again while they were held, once for each time.
    held_again: Vec<Vec<u32>>,
    is_started: Vec<bool>,
    has_ended: Vec<bool>,
}

impl Threads {
    fn new(count: usize, forks: bool) -> Threads {
        Threads {
            depth: vec![0; count],
            held: vec![Vec::new(); count],
            held_again: vec![Vec::new(); count],
            is_started: (0..count).map(|thread| thread == 0 || !forks).collect(),
            has_ended: vec![false; count],
        }
    }

    /// Whether an operation acquires a lock again that is held, or gives it back but not for the last
    /// time. It is done then, and nobody sees it.
    fn is_invisible(&mut self, operation: Operation) -> bool {
        let me = operation.thread as usize;
        match operation.op {
            Op::Acquire(lock, Mode::Exclusive) => {
                let is_mine = self.held[me].contains(&(lock, Mode::Exclusive));
                if is_mine {
                    self.held_again[me].push(lock);
                }
                is_mine
            }
            Op::Release(lock, _) => {
                let again = self.held_again[me].iter().rposition(|held| *held == lock);
                again.map(|at| self.held_again[me].remove(at)).is_some()
            }
            _ => false,
        }
    }

    /// Does an operation, if it is possible.
    fn accept(&mut self, operation: Operation) -> bool {
        let me = operation.thread as usize;
        if !self.is_started[me] || self.has_ended[me] {
            return false;
        }
        match operation.op {
            Op::Read(_)
            | Op::Write(_)
            | Op::VolatileRead(_)
            | Op::VolatileWrite(_)
            | Op::Update(_)
            | Op::Add(_)
            | Op::Publish(_)
            | Op::Receive(_) => true,
            Op::Acquire(lock, mode) => {
                let mut held = self.held.iter().flatten();
                let is_free = held.all(|(other, how)| {
                    *other != lock || (mode == Mode::Shared && *how == Mode::Shared)
                });
                let is_mine = self.held[me].iter().any(|(other, _)| *other == lock);
                if is_free && !is_mine {
                    self.held[me].push((lock, mode));
                }
                is_free && !is_mine
            }
            Op::Release(lock, mode) => {
                let at = self.held[me].iter().position(|held| *held == (lock, mode));
                at.map(|at| self.held[me].remove(at)).is_some()
            }
            Op::Fork(other) => {
                let is_new = !self.is_started[other as usize];
                self.is_started[other as usize] = true;
                is_new
            }
            Op::Join(other) => self.has_ended[other as usize],
            Op::Begin => {
                self.depth[me] += 1;
                true
            }
            Op::End => {
                let is_open = self.depth[me] > 0;
                self.depth[me] -= usize::from(is_open);
                is_open
            }
            Op::ThreadEnd => {
                let is_idle = self.depth[me] == 0 && self.held[me].is_empty();
                self.has_ended[me] = is_idle;
                is_idle
            }
        }
    }
}

/// Other names for what a run is about.
pub(crate) struct Names {
    pub(crate) threads: Vec<u32>,
    pub(crate) variables: Vec<u32>,
    pub(crate) locks: Vec<u32>,
    /// Of volatile variables and of objects that are published to.
    pub(crate) others: Vec<u32>,
}

impl Names {
    pub(crate) fn random(random: &mut Random) -> Names {
        let mut shuffled = |count: u32| {
            let mut names: Vec<u32> = (0..count).collect();
            for at in (1..names.len()).rev() {
                names.swap(at, random.below(at + 1));
            }
            names
        };
        Names {
            threads: shuffled(6),
            variables: shuffled(5),
            locks: shuffled(3),
            others: shuffled(2),
        }
    }

    fn operation(&self, Operation { thread, op }: Operation) -> Operation {
        let name = |names: &[u32], number: u32| names[number as usize];
        let op = match op {
            Op::Read(x) => Op::Read(name(&self.variables, x)),
            Op::Write(x) => Op::Write(name(&self.variables, x)),
            Op::VolatileRead(x) => Op::VolatileRead(name(&self.others, x)),
            Op::VolatileWrite(x) => Op::VolatileWrite(name(&self.others, x)),
            Op::Update(x) => Op::Update(name(&self.others, x)),
            Op::Add(x) => Op::Add(name(&self.others, x)),
            Op::Acquire(m, mode) => Op::Acquire(name(&self.locks, m), mode),
            Op::Release(m, mode) => Op::Release(name(&self.locks, m), mode),
            Op::Fork(thread) => Op::Fork(name(&self.threads, thread)),
            Op::Join(thread) => Op::Join(name(&self.threads, thread)),
            Op::Publish(o) => Op::Publish(name(&self.others, o)),
            Op::Receive(o) => Op::Receive(name(&self.others, o)),
            Op::Begin | Op::End | Op::ThreadEnd => op,
        };
        Operation { thread: name(&self.threads, thread), op }
    }
}

impl Run {
    /// The same run of other threads on other things.
    pub(crate) fn renamed(&self, names: &Names) -> Run {
        Run(self.0.iter().map(|operation| names.operation(*operation)).collect())
    }

    pub(crate) fn random(random: &mut Random, shape: Shape) -> Run {
        let mut threads = Threads::new(shape.threads, shape.forks);
        let mut run = Vec::new();
        let mut thread = 0;
        let mut tries = 0;
        while run.len() < shape.length && tries < 20 * shape.length {
            tries += 1;
            if !random.percent(shape.burst) {
                thread = random.below(shape.threads);
            }
            let op = Run::random_op(random, shape, &threads, thread);
            let operation = Operation { thread: thread as u32, op };
            if !threads.is_invisible(operation) && threads.accept(operation) {
                run.push(operation);
            }
        }
        Run(run)
    }

    fn random_op(random: &mut Random, shape: Shape, threads: &Threads, me: usize) -> Op {
        let depth = threads.depth[me];
        if random.percent(shape.blocks) {
            return if depth > 0 && random.percent(55 + 5 * depth) { Op::End } else { Op::Begin };
        }
        let thread = random.below(shape.threads) as u32;
        let small = random.below(2) as u32;
        if random.percent(shape.synchronises) {
            return match random.below(13) {
                0 => Op::VolatileRead(small),
                1 => Op::VolatileWrite(small),
                2 => Op::Update(small),
                3 => Op::Publish(small),
                4 => Op::Receive(small),
                5 => Op::Fork(thread),
                6 => Op::Join(thread),
                7 => Op::ThreadEnd,
                8 => Op::Add(small),
                _ => match threads.held[me].last() {
                    Some((lock, mode)) if random.percent(70) => Op::Release(*lock, *mode),
                    _ => {
                        let mode = if random.percent(20) { Mode::Shared } else { Mode::Exclusive };
                        Op::Acquire(random.below(shape.locks) as u32, mode)
                    }
                },
            };
        }
        let variable = random.below(shape.variables) as u32;
        if random.percent(50) { Op::Read(variable) } else { Op::Write(variable) }
    }

    /// Whether it can happen.
    fn is_well_formed(&self, forks: bool) -> bool {
        let count = self.0.iter().map(|operation| operation.thread + 1).max().unwrap_or(0);
        let named = |operation: &Operation| match operation.op {
            Op::Fork(thread) | Op::Join(thread) => thread + 1,
            _ => 0,
        };
        let count = count.max(self.0.iter().map(named).max().unwrap_or(0));
        let mut threads = Threads::new(count as usize, forks);
        self.0.iter().all(|operation| threads.accept(*operation))
    }

    /// The smallest run that still fails.
    pub(crate) fn shrink(mut self, forks: bool, fails: impl Fn(&Run) -> bool) -> Run {
        'again: loop {
            for size in [4, 2, 1] {
                for at in 0..self.0.len().saturating_sub(size - 1) {
                    let mut smaller = self.clone();
                    smaller.0.drain(at..at + size);
                    if smaller.is_well_formed(forks) && fails(&smaller) {
                        self = smaller;
                        continue 'again;
                    }
                }
            }
            for first in 0..self.0.len() {
                for second in first + 1..self.0.len() {
                    let mut smaller = self.clone();
                    smaller.0.remove(second);
                    smaller.0.remove(first);
                    if smaller.is_well_formed(forks) && fails(&smaller) {
                        self = smaller;
                        continue 'again;
                    }
                }
            }
            return self;
        }
    }
}
