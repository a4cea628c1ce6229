//! The little language of the generated programs, and how it is written down as Java.
//!
//! A program has one class `Store` with state, locks and methods, and a few threads that work on one or two
//! stores. Code names two of them: the one at hand (`this` in a method, `store` in the body of a
//! thread, `s0` in `main`) and the other one (`that`). Every access stands on a line of its own.

use std::fmt::Write;

use crate::random::{Compound, all_statements};

/// A local variable of type `int`. Both are there everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Local {
    A,
    B,
}

impl Local {
    pub(crate) const ALL: [Local; 2] = [Local::A, Local::B];

    fn name(self) -> &'static str {
        match self {
            Local::A => "a",
            Local::B => "b",
        }
    }
}

/// State that threads may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    X,
    Y,
    /// The `x` of the other store.
    ThatX,
    /// The `x` of the store that the one at hand keeps in a final field.
    PeerX,
    /// A static field.
    Total,
    /// A volatile field.
    Ready,
}

/// A lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// The store at hand.
    This,
    /// The other store.
    That,
    /// A final field.
    One,
    Two,
    /// A static final field.
    Global,
    /// The class.
    Class,
    /// A `ReentrantLock` in a final field; the others are monitors.
    Explicit,
    /// The store that the one at hand keeps in a final field.
    Peer,
    /// A field that is not final.
    Mutable,
    /// An object that is made for the occasion.
    Fresh,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Constant(u8),
    /// A local variable and a constant, added.
    Sum(Local, u8),
}

impl Source {
    fn text(self) -> String {
        match self {
            Source::Constant(number) => number.to_string(),
            Source::Sum(local, number) => format!("{} + {number}", local.name()),
        }
    }
}

/// `local < bound`, or the contrary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) local: Local,
    pub(crate) bound: u8,
    pub(crate) is_negated: bool,
}

pub(crate) type Block = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Read(Local, Variable),
    Write(Variable, Source),
    If(Test, Block),
    /// A block that is entered if the volatile flag is set.
    IfReady(Block),
    /// A block that is entered if the explicit lock is free.
    TryLocked(Block),
    /// The field that is a lock gets a new object.
    ReplaceLock,
    /// A `synchronized` block; for the explicit lock `lock()` and `unlock()` in a finally.
    Synchronized(Lock, Block),
    /// A call of a method of the store at hand, or of the other one, to which the store at hand is
    /// then the other. It gets one local variable and its result is assigned to another.
    Call {
        method: usize,
        on_that: bool,
        argument: Local,
        result: Local,
    },
    Wait(Lock),
    NotifyAll(Lock),
    /// Makes a cell with a value in it and lets the store at hand refer to it; the value may be set too late.
    Publish {
        source: Source,
        is_late: bool,
    },
    /// Reads the cell that the store at hand refers to, if there is one, and then its value.
    ReadCell(Local),
    /// The same, and writes a new value.
    WriteCell(Source),
    /// Reads a field of the thread or task object itself, in its own body.
    ReadOwn(Local),
    WriteOwn(Source),
}

impl Compound for Statement {
    fn blocks(&self) -> Vec<&Block> {
        match self {
            Statement::If(_, block)
            | Statement::IfReady(block)
            | Statement::TryLocked(block)
            | Statement::Synchronized(_, block) => vec![block],
            Statement::Read(..)
            | Statement::ReplaceLock
            | Statement::Write(..)
            | Statement::Call { .. }
            | Statement::Wait(_)
            | Statement::NotifyAll(_)
            | Statement::Publish { .. }
            | Statement::ReadCell(_)
            | Statement::WriteCell(_)
            | Statement::ReadOwn(_)
            | Statement::WriteOwn(_) => Vec::new(),
        }
    }

    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Statement::If(_, block)
            | Statement::IfReady(block)
            | Statement::TryLocked(block)
            | Statement::Synchronized(_, block) => vec![block],
            Statement::Read(..)
            | Statement::ReplaceLock
            | Statement::Write(..)
            | Statement::Call { .. }
            | Statement::Wait(_)
            | Statement::NotifyAll(_)
            | Statement::Publish { .. }
            | Statement::ReadCell(_)
            | Statement::WriteCell(_)
            | Statement::ReadOwn(_)
            | Statement::WriteOwn(_) => Vec::new(),
        }
    }
}

/// What a method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Synchronized,
    /// Static and synchronized; the store at hand is the other one.
    Static,
}

impl Kind {
    /// The lock that a call takes.
    pub(crate) fn lock(self) -> Option<Lock> {
        match self {
            Kind::Plain => None,
            Kind::Synchronized => Some(Lock::This),
            Kind::Static => Some(Lock::Class),
        }
    }
}

/// A method of the store. It gets the other store and `a`, and returns `a`. It calls only methods after it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Method {
    pub(crate) kind: Kind,
    pub(crate) body: Block,
}

/// How the body of a thread is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A subclass of `Thread` with the stores in final fields.
    Subclass,
    /// The same as a `Runnable` that is given to a `Thread`.
    Task,
    /// A lambda that captures the stores.
    Lambda,
}

impl Form {
    pub(crate) const ALL: [Form; 3] = [Form::Subclass, Form::Task, Form::Lambda];
}

/// The body of a thread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ThreadBody {
    pub(crate) form: Form,
    pub(crate) body: Block,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Which of the bodies it runs.
    pub(crate) body_number: usize,
    /// The store at hand, and the other one.
    pub(crate) stores: [usize; 2],
}

/// What `main` does, once the stores and threads are made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MainStep {
    Do(Statement),
    Start(usize),
    /// Starts two threads, one after the other, that do what this thread does.
    StartMore(usize),
    Join(usize),
    /// Reads or writes the field of a thread or task object that belongs to its body.
    Count {
        thread: usize,
        is_write: bool,
    },
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    pub(crate) methods: Vec<Method>,
    pub(crate) thread_bodies: Vec<ThreadBody>,
    pub(crate) threads: Vec<Thread>,
    /// How many stores `main` makes.
    pub(crate) stores: usize,
    /// The first store is kept in a static final field.
    pub(crate) is_static: bool,
    /// The second store keeps the first one; otherwise each keeps itself.
    pub(crate) has_peer: bool,
    pub(crate) main: Vec<MainStep>,
}

/// How code names the two stores.
#[derive(Clone, Copy)]
struct Scope<'a> {
    /// The store at hand, as a receiver: empty or with a dot; and as a value.
    receiver: &'a str,
    this: &'a str,
    that: &'a str,
}

impl Scope<'_> {
    fn variable(&self, variable: Variable) -> String {
        match variable {
            Variable::X => format!("{}x", self.receiver),
            Variable::Y => format!("{}y", self.receiver),
            Variable::ThatX => format!("{}.x", self.that),
            Variable::PeerX => format!("{}peer.x", self.receiver),
            Variable::Total => "Store.total".to_string(),
            Variable::Ready => format!("{}ready", self.receiver),
        }
    }

    fn lock(&self, lock: Lock) -> String {
        match lock {
            Lock::This => self.this.to_string(),
            Lock::That => self.that.to_string(),
            Lock::One => format!("{}one", self.receiver),
            Lock::Two => format!("{}two", self.receiver),
            Lock::Global => "Store.GLOBAL".to_string(),
            Lock::Class => "Store.class".to_string(),
            Lock::Explicit => format!("{}explicit", self.receiver),
            Lock::Peer => format!("{}peer", self.receiver),
            Lock::Mutable => format!("{}mutable", self.receiver),
            Lock::Fresh => "new Object()".to_string(),
        }
    }
}

struct Writer {
    text: String,
    indent: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 4 * self.indent);
    }

    fn open(&mut self, text: &str) {
        self.line(format!("{text} {{").trim_start());
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    fn block(&mut self, block: &Block, scope: Scope<'_>) {
        block.iter().for_each(|statement| self.statement(statement, scope));
    }

    fn statement(&mut self, statement: &Statement, scope: Scope<'_>) {
        match statement {
            Statement::Read(local, variable) => {
                self.line(&format!("{} = {};", local.name(), scope.variable(*variable)));
            }
            Statement::Write(variable, source) => {
                self.line(&format!("{} = {};", scope.variable(*variable), source.text()));
            }
            Statement::If(test, block) => {
                let operator = if test.is_negated { ">=" } else { "<" };
                self.open(&format!("if ({} {operator} {})", test.local.name(), test.bound));
                self.block(block, scope);
                self.close();
            }
            Statement::IfReady(block) => {
                self.open(&format!("if ({} != 0)", scope.variable(Variable::Ready)));
                self.block(block, scope);
                self.close();
            }
            Statement::Synchronized(Lock::Explicit, block) => {
                self.line(&format!("{}.lock();", scope.lock(Lock::Explicit)));
                self.unlocked_finally(block, scope);
            }
            Statement::TryLocked(block) => {
                self.open(&format!("if ({}.tryLock())", scope.lock(Lock::Explicit)));
                self.unlocked_finally(block, scope);
                self.close();
            }
            Statement::ReplaceLock => {
                self.line(&format!("{} = new Object();", scope.lock(Lock::Mutable)));
            }
            Statement::Synchronized(lock, block) => {
                self.open(&format!("synchronized ({})", scope.lock(*lock)));
                self.block(block, scope);
                self.close();
            }
            Statement::Call { method, on_that, argument, result } => {
                let (result, argument) = (result.name(), argument.name());
                let Scope { receiver, this, that, .. } = scope;
                self.line(&match on_that {
                    true => format!("{result} = {that}.m{method}({this}, {argument});"),
                    false => format!("{result} = {receiver}m{method}({that}, {argument});"),
                });
            }
            Statement::Wait(lock) => {
                self.open("try");
                self.line(&format!("{}.wait();", scope.lock(*lock)));
                self.close();
                self.open("catch (InterruptedException interrupted)");
                self.close();
            }
            Statement::NotifyAll(lock) => {
                self.line(&format!("{}.notifyAll();", scope.lock(*lock)));
            }
            Statement::Publish { source, is_late } => {
                self.open("");
                self.line("Cell made = new Cell();");
                let set = format!("made.value = {};", source.text());
                let publish = format!("{}cell = made;", scope.receiver);
                let lines = if *is_late { [publish, set] } else { [set, publish] };
                lines.iter().for_each(|line| self.line(line));
                self.close();
            }
            Statement::ReadCell(local) => {
                self.use_cell(scope, &format!("{} = found.value;", local.name()));
            }
            Statement::WriteCell(source) => {
                self.use_cell(scope, &format!("found.value = {};", source.text()));
            }
            Statement::ReadOwn(local) => self.line(&format!("{} = count;", local.name())),
            Statement::WriteOwn(source) => self.line(&format!("count = {};", source.text())),
        }
    }

    fn unlocked_finally(&mut self, block: &Block, scope: Scope<'_>) {
        self.open("try");
        self.block(block, scope);
        self.close();
        self.open("finally");
        self.line(&format!("{}.unlock();", scope.lock(Lock::Explicit)));
        self.close();
    }

    fn use_cell(&mut self, scope: Scope<'_>, text: &str) {
        self.open("");
        self.line(&format!("Cell found = {}cell;", scope.receiver));
        self.open("if (found != null)");
        self.line(text);
        self.close();
        self.close();
    }

    fn store(&mut self, program: &Program) {
        self.open("static class Store");
        self.line("int x;");
        self.line("int y;");
        self.line("static int total;");
        self.line("volatile int ready;");
        self.line("Cell cell;");
        self.line("final Object one = new Object();");
        self.line("final Object two = new Object();");
        self.line("static final Object GLOBAL = new Object();");
        self.line("final ReentrantLock explicit = new ReentrantLock();");
        self.line("Object mutable = new Object();");
        self.line("final Store peer;");
        self.open("Store(Store peer)");
        self.line("this.peer = peer == null ? this : peer;");
        self.close();
        for (number, method) in program.methods.iter().enumerate() {
            let modifier = match method.kind {
                Kind::Plain => "",
                Kind::Synchronized => "synchronized ",
                Kind::Static => "static synchronized ",
            };
            self.open(&format!("{modifier}int m{number}(Store that, int a)"));
            self.line("int b = 0;");
            let scope = match method.kind {
                Kind::Plain | Kind::Synchronized => {
                    Scope { receiver: "", this: "this", that: "that" }
                }
                Kind::Static => Scope { receiver: "that.", this: "that", that: "that" },
            };
            self.block(&method.body, scope);
            self.line("return a;");
            self.close();
        }
        self.close();
    }

    fn thread_class(&mut self, thread_body: &ThreadBody, number: usize) {
        let super_type = match thread_body.form {
            Form::Subclass => "extends Thread",
            Form::Task => "implements Runnable",
            Form::Lambda => return,
        };
        self.open(&format!("static class W{number} {super_type}"));
        self.line("final Store store;");
        self.line("final Store that;");
        self.line("int count;");
        self.open(&format!("W{number}(Store store, Store that)"));
        self.line("this.store = store;");
        self.line("this.that = that;");
        self.close();
        self.open("public void run()");
        self.thread_body(thread_body, Scope { receiver: "store.", this: "store", that: "that" });
        self.close();
        self.close();
    }

    fn thread_body(&mut self, thread_body: &ThreadBody, scope: Scope<'_>) {
        self.line("int a = 0;");
        self.line("int b = 0;");
        self.block(&thread_body.body, scope);
    }

    fn main(&mut self, program: &Program) {
        self.open("public static void main(String[] arguments) throws InterruptedException");
        for store in 0..program.stores {
            let made = match store {
                0 if program.is_static => "SHARED".to_string(),
                0 => "new Store(null)".to_string(),
                _ => format!("new Store({})", if program.has_peer { "s0" } else { "null" }),
            };
            self.line(&format!("final Store s{store} = {made};"));
        }
        for (number, thread) in program.threads.iter().enumerate() {
            let [this, that] = thread.stores.map(|store| format!("s{store}"));
            let thread_body = &program.thread_bodies[thread.body_number];
            let made = format!("new W{}({this}, {that})", thread.body_number);
            let class = thread.body_number;
            match thread_body.form {
                Form::Subclass => {
                    self.line(&format!("W{class} w{number} = {made};"));
                    self.line(&format!("Thread t{number} = w{number};"));
                }
                Form::Task => {
                    self.line(&format!("W{class} w{number} = {made};"));
                    self.line(&format!("Thread t{number} = new Thread(w{number});"));
                }
                Form::Lambda => {
                    self.line(&format!("Thread t{number} = new Thread(() -> {{"));
                    self.indent += 1;
                    let receiver = format!("{this}.");
                    let scope = Scope { receiver: &receiver, this: &this, that: &that };
                    self.thread_body(thread_body, scope);
                    self.indent -= 1;
                    self.line("});");
                }
            }
        }
        self.line("int a = 0;");
        self.line("int b = 0;");
        let that = format!("s{}", program.stores - 1);
        let scope = Scope { receiver: "s0.", this: "s0", that: &that };
        for step in &program.main {
            match step {
                MainStep::Do(statement) => self.statement(statement, scope),
                MainStep::Start(thread) => self.line(&format!("t{thread}.start();")),
                MainStep::StartMore(thread) => {
                    let thread = &program.threads[*thread];
                    let [this, that] = thread.stores.map(|store| format!("s{store}"));
                    let made = format!("new W{}({this}, {that})", thread.body_number);
                    self.open("for (int i = 0; i < 2; i++)");
                    match program.thread_bodies[thread.body_number].form {
                        Form::Subclass => self.line(&format!("{made}.start();")),
                        Form::Task => self.line(&format!("new Thread({made}).start();")),
                        Form::Lambda => {}
                    }
                    self.close();
                }
                MainStep::Join(thread) => self.line(&format!("t{thread}.join();")),
                MainStep::Count { thread, is_write: true } => {
                    self.line(&format!("w{thread}.count = 2;"));
                }
                MainStep::Count { thread, is_write: false } => {
                    self.line(&format!("a = w{thread}.count;"));
                }
            }
        }
        self.close();
    }
}

impl Program {
    /// The program as one class with this name, everything else nested in it.
    pub(crate) fn write(&self, class: &str) -> String {
        let mut writer = Writer { text: String::new(), indent: 0 };
        writer.line("import java.util.concurrent.locks.ReentrantLock;");
        writer.open(&format!("class {class}"));
        if self.is_static {
            writer.line("static final Store SHARED = new Store(null);");
        }
        writer.open("static class Cell");
        writer.line("int value;");
        writer.close();
        writer.store(self);
        for (number, thread_body) in self.thread_bodies.iter().enumerate() {
            writer.thread_class(thread_body, number);
        }
        writer.main(self);
        writer.close();
        writer.text
    }

    /// Every block of statements outside of `main`.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Block> {
        let methods = self.methods.iter().map(|method| &method.body);
        methods.chain(self.thread_bodies.iter().map(|it| &it.body))
    }

    /// Every statement.
    pub(crate) fn statements(&self) -> Vec<&Statement> {
        let mut found: Vec<&Statement> =
            self.bodies().flat_map(|body| all_statements(body)).collect();
        for step in &self.main {
            if let MainStep::Do(statement) = step {
                found.extend(all_statements(std::slice::from_ref(statement)));
            }
        }
        found
    }
}
