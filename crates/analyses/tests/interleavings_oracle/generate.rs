//! Random programs, and how one that shows a disagreement is made smaller.

use crate::java::{
    Block, Form, Local, Lock, MainStep, Method, Program, Script, Source, Statement, Test, Thread,
    Variable,
};
use crate::random::{Compound, Random, smaller_blocks};

/// A program for a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    loop {
        let program = Generator::new(&mut random).program();
        let threads = program.threads.len();
        let most = if threads > 2 { 18 } else { 26 };
        let steps = steps_of_threads(&program);
        if steps <= most
            && program.threads.iter().any(|it| !program.scripts[it.script].body.is_empty())
        {
            return program;
        }
    }
}

/// How many steps that others can notice all threads take together, all branches taken: what the number of
/// interleavings depends on.
fn steps_of_threads(program: &Program) -> usize {
    let mut of_methods = vec![0; program.methods.len()];
    for (number, method) in program.methods.iter().enumerate().rev() {
        let own = usize::from(method.is_synchronized);
        of_methods[number] = own + steps(&method.body, &of_methods);
    }
    let of_threads = program.threads.iter();
    let of_threads =
        of_threads.map(|thread| steps(&program.scripts[thread.script].body, &of_methods));
    let of_main = program.main.iter().map(|step| match step {
        MainStep::Do(statement) => steps(std::slice::from_ref(statement), &of_methods),
        MainStep::Start(_) => 0,
        MainStep::Join(_) => 1,
    });
    of_threads.sum::<usize>() + of_main.sum::<usize>()
}

fn steps(block: &[Statement], of_methods: &[usize]) -> usize {
    let of_one = |statement: &Statement| match statement {
        Statement::Read(..) | Statement::Write(..) | Statement::NotifyAll(_) => 1,
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
    waits: bool,
    stores: usize,
}

/// Where a statement is generated.
#[derive(Clone, Copy)]
struct Place<'a> {
    depth: usize,
    /// The methods that may be called begin with this one, and end with the last.
    first_method: usize,
    methods: usize,
    held: &'a [Lock],
}

impl<'a> Generator<'a> {
    fn new(random: &'a mut Random) -> Generator<'a> {
        let stores = 1 + usize::from(random.percent(30));
        let mut locks: Vec<Lock> = vec![Lock::This, Lock::One, Lock::Global, Lock::Explicit];
        locks.push(random.pick(&[Lock::Class, Lock::Two, Lock::This]));
        if stores > 1 {
            locks.push(Lock::That);
            locks.push(Lock::That);
        }
        let locks = (0..1 + random.below(2))
            .map(|_| locks.swap_remove(random.below(locks.len())))
            .collect();
        let mut variables = vec![Variable::X, Variable::X, Variable::Y, Variable::Total];
        variables.push(random.pick(&[Variable::Ready, Variable::Y]));
        if stores > 1 {
            variables.push(Variable::ThatX);
        }
        let variables = (0..1 + random.below(3))
            .map(|_| variables.swap_remove(random.below(variables.len())))
            .collect();
        let (is_disciplined, waits) = (random.percent(60), random.percent(12));
        Generator { random, locks, variables, is_disciplined, waits, stores }
    }

    fn program(mut self) -> Program {
        let method_count = 1 + self.random.below(3);
        let methods = (0..method_count)
            .map(|number| {
                let is_synchronized = self.random.percent(30) && self.locks.contains(&Lock::This);
                let held: &[Lock] = if is_synchronized { &[Lock::This] } else { &[] };
                let place =
                    Place { depth: 0, first_method: number + 1, methods: method_count, held };
                Method { is_synchronized, body: self.block(place, 3) }
            })
            .collect();
        let thread_count = if self.random.percent(70) { 2 } else { 1 + 2 * self.random.below(2) };
        let mut scripts: Vec<Script> = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..thread_count {
            let script = if !scripts.is_empty() && self.random.percent(45) {
                self.random.below(scripts.len())
            } else {
                let form = self.random.pick(&Form::ALL);
                scripts.push(Script { form, body: self.script(method_count) });
                scripts.len() - 1
            };
            let first = self.random.below(self.stores);
            let second = if self.stores > 1 && self.random.percent(80) {
                1 - first
            } else {
                self.random.below(self.stores)
            };
            threads.push(Thread { script, stores: [first, second] });
        }
        let is_static = self.random.percent(20);
        let main = self.main(thread_count, method_count);
        Program { methods, scripts, threads, stores: self.stores, is_static, main }
    }

    /// Calls, for the most part.
    fn script(&mut self, methods: usize) -> Block {
        let place = Place { depth: 1, first_method: 0, methods, held: &[] };
        let count = 1 + self.random.below(2);
        (0..count)
            .map(|_| if self.random.percent(75) { self.call(place) } else { self.statement(place) })
            .collect()
    }

    fn main(&mut self, threads: usize, methods: usize) -> Vec<MainStep> {
        let place = Place { depth: 2, first_method: 0, methods, held: &[] };
        let mut main = Vec::new();
        let some = |generator: &mut Generator<'_>, chance| {
            let is_wanted = generator.random.percent(chance);
            is_wanted.then(|| MainStep::Do(generator.statement(place)))
        };
        main.extend(some(self, 40));
        for thread in 0..threads {
            main.push(MainStep::Start(thread));
            main.extend(some(self, 15));
            if self.random.percent(12) {
                main.push(MainStep::Join(thread));
            }
        }
        let joins = self.random.below(4);
        if joins > 0 {
            for thread in 0..threads {
                let is_joined = main.contains(&MainStep::Join(thread));
                if !is_joined && (joins > 1 || self.random.percent(50)) {
                    main.push(MainStep::Join(thread));
                }
            }
        }
        main.extend(some(self, 40));
        main
    }

    fn local(&mut self) -> Local {
        self.random.pick(&Local::ALL)
    }

    fn block(&mut self, place: Place<'_>, most: usize) -> Block {
        (0..1 + self.random.below(most)).map(|_| self.statement(place)).collect()
    }

    fn statement(&mut self, place: Place<'_>) -> Statement {
        if place.depth >= 4 {
            return self.leaf(place);
        }
        let wants_lock = place.held.is_empty() && self.is_disciplined;
        match self.random.below(100) {
            0..28 => self.synchronized(place),
            28..60 if wants_lock => self.synchronized(place),
            60..70 => {
                let is_negated = self.random.percent(40);
                let bound = 1 + self.random.below(2) as u8;
                let test = Test { local: self.local(), bound, is_negated };
                let inner = Place { depth: place.depth + 1, ..place };
                Statement::If(test, self.block(inner, 2))
            }
            70..80 if place.first_method < place.methods => self.call(place),
            _ => self.leaf(place),
        }
    }

    fn synchronized(&mut self, place: Place<'_>) -> Statement {
        let lock = match self.is_disciplined && self.random.percent(70) {
            true => self.locks[0],
            false => self.random.pick(&self.locks),
        };
        let mut held = place.held.to_vec();
        held.push(lock);
        let inner = Place { depth: place.depth + 1, held: &held, ..place };
        Statement::Synchronized(lock, self.block(inner, 3))
    }

    fn call(&mut self, place: Place<'_>) -> Statement {
        let callable = place.methods - place.first_method;
        let method = place.first_method + self.random.below(callable);
        let on_that = self.stores > 1 && self.random.percent(40);
        Statement::Call { method, on_that, argument: self.local(), result: self.local() }
    }

    fn leaf(&mut self, place: Place<'_>) -> Statement {
        let variable = self.random.pick(&self.variables);
        if self.waits
            && let Some(lock) = place.held.last()
            && *lock != Lock::Explicit
            && self.random.percent(25)
        {
            return match self.random.percent(50) {
                true => Statement::Wait(*lock),
                false => Statement::NotifyAll(*lock),
            };
        }
        if self.random.percent(50) {
            return Statement::Read(self.local(), variable);
        }
        let source = match self.random.percent(60) {
            true => Source::Sum(self.local(), 1),
            false => Source::Constant(self.random.below(3) as u8),
        };
        Statement::Write(variable, source)
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
        if matches!(program.main[number], MainStep::Do(_) | MainStep::Join(_)) {
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
        if method.is_synchronized {
            changed(&|program| program.methods[number].is_synchronized = false);
        }
    }
    for (number, script) in program.scripts.iter().enumerate() {
        for body in smaller_blocks(&script.body) {
            changed(&|program| program.scripts[number].body = body.clone());
        }
        if script.form != Form::Subclass {
            changed(&|program| program.scripts[number].form = Form::Subclass);
        }
    }
    if program.is_static {
        changed(&|program| program.is_static = false);
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
    let script = program.threads.remove(number).script;
    program.main.retain(|step| match step {
        MainStep::Start(thread) | MainStep::Join(thread) => *thread != number,
        MainStep::Do(_) => true,
    });
    for step in &mut program.main {
        if let MainStep::Start(thread) | MainStep::Join(thread) = step
            && *thread > number
        {
            *thread -= 1;
        }
    }
    if program.threads.iter().all(|thread| thread.script != script) {
        program.scripts.remove(script);
        for thread in &mut program.threads {
            thread.script -= usize::from(thread.script > script);
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
    program.scripts.iter_mut().for_each(|script| renumber(&mut script.body, number));
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
            Statement::If(_, block) => is_sound(block, held),
            Statement::Read(..) | Statement::Write(..) | Statement::Call { .. } => true,
        })
    }
    let methods = program.methods.iter().all(|method| {
        let held: &[Lock] = if method.is_synchronized { &[Lock::This] } else { &[] };
        is_sound(&method.body, held)
    });
    let scripts = program.scripts.iter().all(|script| is_sound(&script.body, &[]));
    let main = program.main.iter().all(|step| match step {
        MainStep::Do(statement) => is_sound(std::slice::from_ref(statement), &[]),
        MainStep::Start(_) | MainStep::Join(_) => true,
    });
    methods && scripts && main
}
