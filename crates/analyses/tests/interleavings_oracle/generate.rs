//! Random programs, and how one that shows a disagreement is made smaller.

use crate::java::{
    Block, Form, Kind, Local, Lock, MainStep, Method, Program, Source, Statement, Test, Thread,
    ThreadBody, Variable,
};
use crate::random::{Compound, Random, smaller_blocks};

/// A program for a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    loop {
        let program = Generator::new(&mut random).program();
        let more = |step: &&MainStep| matches!(step, MainStep::StartMore(_));
        let threads = program.threads.len() + 2 * program.main.iter().filter(more).count();
        // More steps than these have too many interleavings, fewer show little.
        let wanted = if threads > 2 { 9..=17 } else { 8..=22 };
        if wanted.contains(&steps_of_threads(&program)) {
            return program;
        }
    }
}

/// How many steps that others can notice all threads take together, all branches taken: what the number of
/// interleavings depends on.
fn steps_of_threads(program: &Program) -> usize {
    let mut of_methods = vec![0; program.methods.len()];
    for (number, method) in program.methods.iter().enumerate().rev() {
        let own = usize::from(method.kind != Kind::Plain);
        of_methods[number] = own + steps(&method.body, &of_methods);
    }
    let of_threads = program.threads.iter();
    let of_threads = of_threads
        .map(|thread| steps(&program.thread_bodies[thread.body_number].body, &of_methods));
    let of_main = program.main.iter().map(|step| match step {
        MainStep::Do(statement) => steps(std::slice::from_ref(statement), &of_methods),
        MainStep::Start(_) => 0,
        MainStep::StartMore(thread) => {
            2 * steps(
                &program.thread_bodies[program.threads[*thread].body_number].body,
                &of_methods,
            )
        }
        MainStep::Join(_) | MainStep::Count { .. } => 1,
    });
    of_threads.sum::<usize>() + of_main.sum::<usize>()
}

fn steps(block: &[Statement], of_methods: &[usize]) -> usize {
    let of_one = |statement: &Statement| match statement {
        Statement::Read(..) | Statement::Write(..) | Statement::NotifyAll(_) => 1,
        Statement::ReplaceLock => 1,
        Statement::IfReady(block) | Statement::TryLocked(block) => 1 + steps(block, of_methods),
        Statement::Synchronized(Lock::Mutable, block) => 2 + steps(block, of_methods),
        Statement::ReadOwn(_) | Statement::WriteOwn(_) => 1,
        Statement::Publish { .. } | Statement::ReadCell(_) | Statement::WriteCell(_) => 2,
        Statement::Wait(_) => 2,
        Statement::If(_, block) => steps(block, of_methods),
        Statement::Synchronized(_, block) => 1 + steps(block, of_methods),
        Statement::Call { method, .. } => of_methods[*method],
    };
    block.iter().map(of_one).sum()
}

struct Generator<'a> {
    random: &'a mut Random,
    /// The locks and variables that this program is about; with few of them they meet more often.
    locks: Vec<Lock>,
    variables: Vec<Variable>,
    /// Whether most accesses are made under the first lock.
    is_disciplined: bool,
    /// Whether blocks are often nested.
    nests: bool,
    waits: bool,
    /// Whether stores refer to cells.
    publishes: bool,
    /// Whether the volatile flag decides.
    flags: bool,
    stores: usize,
}

/// Where a statement is generated.
#[derive(Clone, Copy)]
struct StatementContext<'a> {
    depth: usize,
    /// The methods that may be called begin with this one, and end with the last.
    first_method: usize,
    methods: usize,
    held: &'a [Lock],
    /// Whether the code belongs to a thread or task object with a field of its own.
    has_own: bool,
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Generator<'a> {
        let stores = 1 + usize::from(random.percent(30));
        let nests = random.percent(25);
        let mut locks: Vec<Lock> = vec![Lock::This, Lock::One, Lock::Global, Lock::Explicit];
        locks.push(random.pick(&[Lock::Class, Lock::Two]));
        locks.push(random.pick(&[Lock::Peer, Lock::Mutable, Lock::Fresh, Lock::This]));
        if stores > 1 {
            locks.push(Lock::That);
            locks.push(random.pick(&[Lock::That, Lock::Peer]));
        }
        let locks = (0..1 + usize::from(nests) + random.below(2))
            .map(|_| locks.swap_remove(random.below(locks.len())))
            .collect();
        let mut variables = vec![Variable::X, Variable::Y, Variable::Total];
        let mut variables = vec![variables.swap_remove(random.below(3)), random.pick(&variables)];
        variables.push(random.pick(&[Variable::Ready, Variable::Y]));
        if stores > 1 {
            variables.insert(1, random.pick(&[Variable::ThatX, Variable::PeerX]));
        }
        variables.truncate(1 + random.below(3));
        Generator {
            locks,
            variables,
            is_disciplined: random.percent(65),
            nests,
            waits: random.percent(12),
            publishes: random.percent(12),
            flags: random.percent(15),
            stores,
            random,
        }
    }

    fn program(mut self) -> Program {
        let method_count = 1 + self.random.below(3);
        let methods = (0..method_count)
            .map(|number| {
                let mut kind = Kind::Plain;
                if self.random.percent(40) && self.locks.contains(&Lock::This) {
                    kind = Kind::Synchronized;
                } else if self.random.percent(60) && self.locks.contains(&Lock::Class) {
                    kind = Kind::Static;
                }
                let held: Vec<Lock> = kind.lock().into_iter().collect();
                let (first_method, methods, held) = (number + 1, method_count, &*held);
                let place =
                    StatementContext { depth: 0, first_method, methods, held, has_own: false };
                Method { kind, body: self.block(place, 3) }
            })
            .collect();
        let thread_count = self.random.pick(&[1, 2, 2, 2, 2, 2, 2, 3, 3, 3]);
        let mut thread_bodies: Vec<ThreadBody> = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..thread_count {
            let body_number = if !thread_bodies.is_empty() && self.random.percent(45) {
                self.random.below(thread_bodies.len())
            } else {
                let form = self.random.pick(&Form::ALL);
                let has_own = form != Form::Lambda && self.random.percent(30);
                thread_bodies
                    .push(ThreadBody { form, body: self.thread_body(method_count, has_own) });
                thread_bodies.len() - 1
            };
            let first = self.random.below(self.stores);
            let second = if self.stores > 1 && self.random.percent(80) {
                1 - first
            } else {
                self.random.below(self.stores)
            };
            threads.push(Thread { body_number, stores: [first, second] });
        }
        let is_static = self.random.percent(20);
        let with_count: Vec<bool> = threads
            .iter()
            .map(|thread| {
                thread_bodies[thread.body_number].form != Form::Lambda && self.random.percent(30)
            })
            .collect();
        let mut main = self.main(&with_count, method_count);
        let is_class = thread_bodies[threads[0].body_number].form != Form::Lambda;
        if thread_count == 1 && is_class && self.random.percent(70) {
            main.push(MainStep::StartMore(0));
        }
        let (stores, has_peer) = (self.stores, self.random.percent(50));
        let mut program =
            Program { methods, thread_bodies, threads, stores, is_static, has_peer, main };
        while let Some(uncalled) = uncalled_method(&program) {
            remove_method(&mut program, uncalled);
        }
        program
    }

    /// Calls, for the most part.
    fn thread_body(&mut self, methods: usize, has_own: bool) -> Block {
        let place = StatementContext { depth: 1, first_method: 0, methods, held: &[], has_own };
        let count = 1 + self.random.below(2);
        (0..count)
            .map(|_| match self.random.percent(if has_own { 50 } else { 75 }) {
                true => self.call(place),
                false => self.statement(place),
            })
            .collect()
    }

    /// `main`; it may touch the fields of some thread or task objects.
    fn main(&mut self, with_count: &[bool], methods: usize) -> Vec<MainStep> {
        let place =
            StatementContext { depth: 2, first_method: 0, methods, held: &[], has_own: false };
        let mut main = Vec::new();
        let threads = with_count.len();
        // With a single thread `main` itself is the other one.
        let between = if threads == 1 { 90 } else { 15 };
        main.extend(self.of_main(place, 40));
        for (thread, has_count) in with_count.iter().enumerate() {
            if *has_count && self.random.percent(50) {
                main.push(MainStep::Count { thread, is_write: true });
            }
            main.push(MainStep::Start(thread));
            main.extend(self.of_main(place, between));
            if *has_count && self.random.percent(20) {
                main.push(MainStep::Count { thread, is_write: false });
            }
            if self.random.percent(12) {
                main.push(MainStep::Join(thread));
            }
        }
        let joins = self.random.below(4);
        for (thread, has_count) in with_count.iter().enumerate() {
            let is_joined = main.contains(&MainStep::Join(thread));
            if !is_joined && (joins > 1 || joins == 1 && self.random.percent(50)) {
                main.push(MainStep::Join(thread));
            }
            if *has_count && self.random.percent(50) {
                main.push(MainStep::Count { thread, is_write: false });
            }
        }
        main.extend(self.of_main(place, 40));
        main
    }

    fn of_main(&mut self, place: StatementContext<'_>, chance: usize) -> Option<MainStep> {
        self.random.percent(chance).then(|| MainStep::Do(self.statement(place)))
    }

    fn local(&mut self) -> Local {
        self.random.pick(&Local::ALL)
    }

    fn block(&mut self, place: StatementContext<'_>, most: usize) -> Block {
        (0..1 + self.random.below(most)).map(|_| self.statement(place)).collect()
    }

    fn statement(&mut self, place: StatementContext<'_>) -> Statement {
        if place.depth >= 4 {
            return self.leaf(place);
        }
        let wants_lock = match place.held.len() {
            0 => self.is_disciplined || self.nests,
            1 => self.nests,
            _ => false,
        };
        match self.random.below(100) {
            0..14 => self.synchronized(place),
            14..60 if wants_lock => self.synchronized(place),
            60..70 => {
                let is_negated = self.random.percent(40);
                let bound = 1 + self.random.below(2) as u8;
                let test = Test { local: self.local(), bound, is_negated };
                let inner = StatementContext { depth: place.depth + 1, ..place };
                Statement::If(test, self.block(inner, 2))
            }
            70..84 if place.first_method < place.methods => self.call(place),
            _ => self.leaf(place),
        }
    }

    fn synchronized(&mut self, place: StatementContext<'_>) -> Statement {
        // Taking a lock again that is held shows little.
        let free: Vec<Lock> =
            self.locks.iter().copied().filter(|lock| !place.held.contains(lock)).collect();
        let lock = match free.first() {
            None if self.random.percent(80) => return self.leaf(place),
            None => self.random.pick(&self.locks),
            Some(first) if self.is_disciplined && self.random.percent(60) => *first,
            Some(_) => self.random.pick(&free),
        };
        let mut held = place.held.to_vec();
        held.push(lock);
        let inner = StatementContext { depth: place.depth + 1, held: &held, ..place };
        let block = self.block(inner, 2);
        match lock == Lock::Explicit && self.random.percent(25) {
            true => Statement::TryLocked(block),
            false => Statement::Synchronized(lock, block),
        }
    }

    fn call(&mut self, place: StatementContext<'_>) -> Statement {
        let callable = place.methods - place.first_method;
        let method = place.first_method + self.random.below(callable);
        let on_that = self.stores > 1 && self.random.percent(40);
        Statement::Call { method, on_that, argument: self.local(), result: self.local() }
    }

    fn source(&mut self) -> Source {
        match self.random.percent(60) {
            true => Source::Sum(self.local(), 1),
            false => Source::Constant(self.random.below(3) as u8),
        }
    }

    fn leaf(&mut self, place: StatementContext<'_>) -> Statement {
        let is_read = self.random.percent(50);
        if self.waits
            && let Some(lock) = place.held.last()
            && !matches!(lock, Lock::Explicit | Lock::Mutable | Lock::Fresh)
            && self.random.percent(25)
        {
            return if is_read { Statement::Wait(*lock) } else { Statement::NotifyAll(*lock) };
        }
        if self.flags && self.random.percent(40) {
            return match place.depth < 4 && is_read {
                true => {
                    let inner = StatementContext { depth: place.depth + 1, ..place };
                    Statement::IfReady(self.block(inner, 2))
                }
                false => {
                    Statement::Write(Variable::Ready, Source::Constant(self.random.below(2) as u8))
                }
            };
        }
        if self.locks.contains(&Lock::Mutable) && self.random.percent(12) {
            return Statement::ReplaceLock;
        }
        if self.publishes && self.random.percent(50) {
            return match self.random.below(3) {
                0 => {
                    let is_late = self.random.percent(25);
                    Statement::Publish { source: self.source(), is_late }
                }
                1 => Statement::ReadCell(self.local()),
                _ => Statement::WriteCell(self.source()),
            };
        }
        if place.has_own && self.random.percent(60) {
            return match is_read {
                true => Statement::ReadOwn(self.local()),
                false => Statement::WriteOwn(self.source()),
            };
        }
        let variable = self.random.pick(&self.variables);
        match is_read {
            true => Statement::Read(self.local(), variable),
            false => Statement::Write(variable, self.source()),
        }
    }
}

/// Programs that are one step smaller.
pub(crate) fn smaller(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    let mut changed = |change: &dyn Fn(&mut Program)| {
        let mut smaller = program.clone();
        change(&mut smaller);
        found.push(smaller);
    };
    for number in 0..program.threads.len() {
        changed(&|program| remove_thread(program, number));
    }
    for number in 0..program.main.len() {
        if !matches!(program.main[number], MainStep::Start(_)) {
            changed(&|program| {
                program.main.remove(number);
            });
        }
        if let MainStep::Do(statement) = &program.main[number] {
            for block in smaller_blocks(std::slice::from_ref(statement)) {
                changed(&|program| {
                    let steps = block.iter().cloned().map(MainStep::Do);
                    program.main.splice(number..=number, steps);
                });
            }
        }
    }
    for (number, method) in program.methods.iter().enumerate() {
        for body in smaller_blocks(&method.body) {
            changed(&|program| program.methods[number].body = body.clone());
        }
        if method.kind != Kind::Plain {
            changed(&|program| program.methods[number].kind = Kind::Plain);
        }
    }
    for (number, thread_body) in program.thread_bodies.iter().enumerate() {
        for body in smaller_blocks(&thread_body.body) {
            changed(&|program| program.thread_bodies[number].body = body.clone());
        }
        if thread_body.form != Form::Subclass {
            changed(&|program| program.thread_bodies[number].form = Form::Subclass);
        }
    }
    if program.is_static {
        changed(&|program| program.is_static = false);
    }
    if program.has_peer {
        changed(&|program| program.has_peer = false);
    }
    if program.stores > 1 {
        changed(&|program| {
            program.stores = 1;
            program.threads.iter_mut().for_each(|thread| thread.stores = [0, 0]);
        });
    }
    if let Some(uncalled) = uncalled_method(program) {
        changed(&|program| remove_method(program, uncalled));
    }
    found.retain(waits_for_held_locks);
    found
}

fn remove_thread(program: &mut Program, number: usize) {
    let body_number = program.threads.remove(number).body_number;
    program.main.retain(|step| match step {
        MainStep::Start(thread)
        | MainStep::StartMore(thread)
        | MainStep::Join(thread)
        | MainStep::Count { thread, .. } => *thread != number,
        MainStep::Do(_) => true,
    });
    for step in &mut program.main {
        if let MainStep::Start(thread) | MainStep::Join(thread) | MainStep::Count { thread, .. } =
            step
            && *thread > number
        {
            *thread -= 1;
        }
    }
    if program.threads.iter().all(|thread| thread.body_number != body_number) {
        program.thread_bodies.remove(body_number);
        for thread in &mut program.threads {
            thread.body_number -= usize::from(thread.body_number > body_number);
        }
    }
}

fn uncalled_method(program: &Program) -> Option<usize> {
    let statements = program.statements();
    (0..program.methods.len()).find(|number| {
        !statements
            .iter()
            .any(|it| matches!(it, Statement::Call { method, .. } if method == number))
    })
}

fn remove_method(program: &mut Program, number: usize) {
    fn renumber(block: &mut Block, removed: usize) {
        for statement in block {
            if let Statement::Call { method, .. } = statement {
                *method -= usize::from(*method > removed);
            }
            statement.blocks_mut().into_iter().for_each(|block| renumber(block, removed));
        }
    }
    program.methods.remove(number);
    program.methods.iter_mut().for_each(|method| renumber(&mut method.body, number));
    program.thread_bodies.iter_mut().for_each(|it| renumber(&mut it.body, number));
    for step in &mut program.main {
        if let MainStep::Do(statement) = step {
            let mut block = vec![statement.clone()];
            renumber(&mut block, number);
            *statement = block.remove(0);
        }
    }
}

/// Who waits or wakes others must hold the lock.
fn waits_for_held_locks(program: &Program) -> bool {
    fn is_sound(block: &[Statement], held: &[Lock]) -> bool {
        block.iter().all(|statement| match statement {
            Statement::Wait(lock) | Statement::NotifyAll(lock) => held.contains(lock),
            Statement::Synchronized(lock, block) => {
                let mut held = held.to_vec();
                held.push(*lock);
                is_sound(block, &held)
            }
            Statement::If(_, block) | Statement::IfReady(block) => is_sound(block, held),
            Statement::TryLocked(block) => is_sound(block, held),
            Statement::Read(..)
            | Statement::Write(..)
            | Statement::Call { .. }
            | Statement::ReplaceLock
            | Statement::Publish { .. }
            | Statement::ReadCell(_)
            | Statement::WriteCell(_)
            | Statement::ReadOwn(_)
            | Statement::WriteOwn(_) => true,
        })
    }
    let methods = program.methods.iter().all(|method| {
        let held: Vec<Lock> = method.kind.lock().into_iter().collect();
        is_sound(&method.body, &held)
    });
    let thread_bodies = program.thread_bodies.iter().all(|it| is_sound(&it.body, &[]));
    let main = program.main.iter().all(|step| match step {
        MainStep::Do(statement) => is_sound(std::slice::from_ref(statement), &[]),
        MainStep::Start(_)
        | MainStep::StartMore(_)
        | MainStep::Join(_)
        | MainStep::Count { .. } => true,
    });
    methods && thread_bodies && main
}
