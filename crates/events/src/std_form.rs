//! The std format of other tools: `T0|acq(L3)|12`, a thread, an operation, and the number of a
//! location.
//!
//! **Reading.** Names are arbitrary. `r`, `w`, `acq`, `rel`, `fork`, `join`,
//! `begin` and `end` become events; an acquisition of a lock that the thread holds already, and its
//! release, become none; `req`, `branch`, `enter`, `exit` and `dummy` are left out and counted. Place
//! 0 is "not known".
//!
//! `begin` and `end` mean atomic blocks in some tools, and the begin and end of a thread in others; in one
//! file they mean the same. The operand decides for its line if it can: `B…` is a block, the thread
//! itself is the thread. Otherwise they mean threads if no `begin` has a location and no thread has another
//! event before its `begin`, and blocks if not. `end` does not help: some tools record operations of a
//! thread after its end. A file without locations in which every thread has a single block, at its very
//! beginning, is read as one about threads.
//!
//! **Writing.** Threads, variables and locks are numbered in the order of appearance. Other events are
//! written as operations that order the same events:
//!
//! 1. Volatile accesses and atomic updates are written between an acquisition and a release of a lock that
//!    only this variable has.
//! 2. Shared acquisitions and releases of a lock are an acquisition and a release each; so are what
//!    publishes and receives, tasks, barriers, latches and class initialisation, each with a lock of
//!    its own. All of these order more than the run did, so a race detector may miss races
//!    and reports no false ones.
//! 3. A wait is a release, and the end of a wait an acquisition.
//! 4. Notifications, begins and ends of threads, escapes, branches, and what would have happened on other sides of
//!    branches are left out and counted.
//! 5. Accesses that are reported later than they happened are written where they are reported;
//!    [`crate::resolve()`] puts them into their place first.

use std::fmt;
use std::io::{self, BufWriter, Write};

use findings::did_you_mean;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::text::{TextError, file_and_line, stem};
use crate::{
    Action, ClassId, Epoch, Event, FieldEntry, FieldId, ObjectId, Sink, SiteEntry, SiteId, Tables,
    ThreadEntry, ThreadId, Variable,
};

/// The words that become events.
const WORDS: [&str; 8] = ["r", "w", "acq", "rel", "fork", "join", "begin", "end"];

/// The words that are left out.
const LEFT_OUT: [&str; 5] = ["req", "branch", "enter", "exit", "dummy"];

/// One parsed line.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    thread: &'a str,
    word: &'a str,
    operand: &'a str,
    place: &'a str,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str, number: u32) -> Result<Line<'a>, TextError> {
        let fail = |column: usize, message: String| {
            let column = u32::try_from(column).unwrap_or(u32::MAX);
            TextError { line: number, column, message }
        };
        let Some((thread, rest)) = text.split_once('|') else {
            return Err(fail(1, "this is not like `T0|acq(L3)|12`".to_string()));
        };
        let column = thread.chars().count() + 2;
        // The operand may be anything, a `|` too; the place is what follows the last one.
        let (what, place) = match rest.rsplit_once('|') {
            Some((what, place)) if !place.contains(')') => (what.trim(), place.trim()),
            _ => (rest.trim(), ""),
        };
        let (word, operand) = match what.split_once('(') {
            None => (what, ""),
            Some((word, operand)) => match operand.strip_suffix(')') {
                Some(operand) => (word, operand),
                None => return Err(fail(column, format!("`{what}` has no `)`"))),
            },
        };
        let line = Line { thread: thread.trim(), word, operand, place };
        if line.thread.is_empty() {
            return Err(fail(1, "the thread is missing".to_string()));
        }
        if !WORDS.contains(&word) && !LEFT_OUT.contains(&word) {
            let nearest = did_you_mean(word, WORDS);
            return Err(fail(column, format!("`{word}` is not a known word{nearest}")));
        }
        if operand.is_empty() && WORDS[..6].contains(&word) {
            return Err(fail(column, format!("`{word}` needs to be done to something")));
        }
        Ok(line)
    }

    /// What `begin` or `end` means here, if the operand decides it.
    fn named_use(&self) -> Option<BeginUse> {
        if self.operand == self.thread {
            Some(BeginUse::Threads)
        } else {
            self.operand.starts_with('B').then_some(BeginUse::Blocks)
        }
    }
}

/// What `begin` and `end` are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeginUse {
    /// The life of a thread.
    Threads,
    /// Atomic blocks.
    Blocks,
}

/// Reads a trace in this form, line by line.
#[derive(Debug)]
pub struct Reader {
    text: String,
    next: usize,
    line: u32,
    begin_use: BeginUse,
    names: Names,
    left_out: u64,
}

impl Reader {
    /// Looks through the text once to see what `begin` is about, and begins to read.
    #[must_use]
    pub fn new(text: String) -> Reader {
        let begin_use = begin_use(&text);
        Reader { text, next: 0, line: 0, begin_use, names: Names::default(), left_out: 0 }
    }

    /// What `begin` and `end` mean if their operand does not decide it.
    #[must_use]
    pub fn begin_use(&self) -> BeginUse {
        self.begin_use
    }

    /// The names so far.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.names.tables
    }

    /// Gives the names away.
    #[must_use]
    pub fn into_tables(self) -> Tables {
        self.names.tables
    }

    /// How many lines became no event.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    ///
    /// Fails at a line that is not of this form.
    pub fn next_event(&mut self) -> Result<Option<Event>, TextError> {
        while self.next < self.text.len() {
            let rest = &self.text[self.next..];
            let text = rest.split_inclusive('\n').next().unwrap_or(rest);
            self.next += text.len();
            self.line = self.line.saturating_add(1);
            if is_blank(text) {
                continue;
            }
            let line = Line::parse(text.trim_end(), self.line)?;
            if let Some(event) = self.names.event(&line, self.begin_use) {
                return Ok(Some(event));
            }
            self.left_out += 1;
        }
        Ok(None)
    }
}

fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with("//")
}

/// What `begin` and `end` are about in this text; see the head of this file.
fn begin_use(text: &str) -> BeginUse {
    let mut running: FxHashSet<&str> = FxHashSet::default();
    for line in text.lines().filter(|line| !is_blank(line)) {
        let Ok(line) = Line::parse(line.trim_end(), 0) else { continue };
        if line.word != "begin" {
            running.insert(line.thread);
        } else if line.named_use().is_none()
            && (!matches!(line.place, "" | "0") || running.contains(line.thread))
        {
            return BeginUse::Blocks;
        }
    }
    BeginUse::Threads
}

/// Everything that has a name.
#[derive(Debug, Default)]
struct Names {
    tables: Tables,
    threads: FxHashMap<String, ThreadId>,
    variables: FxHashMap<String, FieldId>,
    locks: FxHashMap<String, ObjectId>,
    sites: FxHashMap<String, SiteId>,
    /// How often a thread holds a lock.
    held: FxHashMap<(ThreadId, ObjectId), u32>,
}

impl Names {
    fn event(&mut self, line: &Line<'_>, begin_use: BeginUse) -> Option<Event> {
        if LEFT_OUT.contains(&line.word) {
            return None;
        }
        let thread = self.thread(line.thread);
        let mut site = self.site(line.place);
        let begin_use = line.named_use().unwrap_or(begin_use);
        let action = match (line.word, begin_use) {
            ("r", _) => Action::Read(self.variable(line.operand)),
            ("w", _) => Action::Write(self.variable(line.operand)),
            ("acq", _) => {
                let lock = self.lock(line.operand);
                let held = self.held.entry((thread, lock)).or_default();
                *held += 1;
                if *held > 1 {
                    return None;
                }
                Action::Acquire(lock)
            }
            ("rel", _) => {
                let lock = self.lock(line.operand);
                if let Some(held) = self.held.get_mut(&(thread, lock)) {
                    *held -= 1;
                    if *held > 0 {
                        return None;
                    }
                    self.held.remove(&(thread, lock));
                }
                Action::Release(lock)
            }
            ("fork", _) => Action::Fork(self.thread(line.operand)),
            ("join", _) => Action::Join(self.thread(line.operand)),
            ("begin", BeginUse::Threads) => Action::ThreadBegin,
            ("begin", BeginUse::Blocks) => {
                // A block without a place is known by its name; `B0` is one without either.
                if site == SiteId(0) && !matches!(line.operand, "" | "?" | "B0") {
                    site = self.site(line.operand);
                }
                Action::Begin
            }
            (_, BeginUse::Threads) => Action::ThreadEnd,
            (_, BeginUse::Blocks) => Action::End,
        };
        Some(Event { thread, site, epoch: Epoch(0), action, overlaps: 0 })
    }

    fn thread(&mut self, name: &str) -> ThreadId {
        if let Some(thread) = self.threads.get(name) {
            return *thread;
        }
        let thread = ThreadId(row(self.tables.threads.len()));
        self.tables.threads.push(ThreadEntry { name: name.to_string(), is_virtual: false });
        self.threads.insert(name.to_string(), thread);
        thread
    }

    fn variable(&mut self, name: &str) -> Variable {
        if let Some(field) = self.variables.get(name) {
            return Variable::Static(*field);
        }
        let field = FieldId(row(self.tables.fields.len()));
        self.tables.fields.push(FieldEntry { class: String::new(), name: name.to_string() });
        self.variables.insert(name.to_string(), field);
        Variable::Static(field)
    }

    fn lock(&mut self, name: &str) -> ObjectId {
        if let Some(lock) = self.locks.get(name) {
            return *lock;
        }
        let lock = ObjectId(self.locks.len() as u64 + 1);
        self.locks.insert(name.to_string(), lock);
        self.tables.objects.name(lock, name);
        lock
    }

    fn site(&mut self, place: &str) -> SiteId {
        if place.is_empty() || place == "0" {
            return SiteId(0);
        }
        if let Some(site) = self.sites.get(place) {
            return *site;
        }
        let mut entry = SiteEntry::unknown();
        if let Ok(line) = place.parse() {
            entry.site.line = Some(line);
        } else if let Some((file, line)) = file_and_line(place) {
            entry.site.class = stem(file).to_string();
            entry.site.file = Some(file.to_string());
            entry.site.line = Some(line);
        } else {
            entry.site.method = place.to_string();
        }
        if self.tables.sites.is_empty() {
            self.tables.sites.push(SiteEntry::unknown());
        }
        let site = SiteId(row(self.tables.sites.len()));
        self.tables.sites.push(entry);
        self.sites.insert(place.to_string(), site);
        site
    }
}

/// A file would need four thousand million names, and their bytes, to get to the limit.
fn row(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What is written as a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lock {
    Monitor(ObjectId),
    OfVariable(Variable),
    OfTask(ObjectId),
    OfPublication(ObjectId),
    OfBarrier(ObjectId),
    OfLatch(ObjectId),
    OfClass(ClassId),
}

/// Writes a trace in this form.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: BufWriter<W>,
    is_open: bool,
    threads: FxHashMap<ThreadId, usize>,
    variables: FxHashMap<Variable, usize>,
    locks: FxHashMap<Lock, usize>,
    left_out: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    pub fn new(output: W) -> Writer<W> {
        Writer {
            output: BufWriter::new(output),
            is_open: true,
            threads: FxHashMap::default(),
            variables: FxHashMap::default(),
            locks: FxHashMap::default(),
            left_out: 0,
        }
    }

    /// How many events were left out because the form has no word for them.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    fn once(&mut self, work: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if !self.is_open {
            return Ok(());
        }
        let done = work(self);
        self.is_open = done.is_ok();
        done
    }

    fn write(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        if matches!(
            event.action,
            Action::Notify(_)
                | Action::NotifyAll(_)
                | Action::ThreadBegin
                | Action::ThreadEnd
                | Action::Escape(..)
                | Action::Branch(_)
                | Action::OrderAcquireAll
                | Action::LibraryOrder
                | Action::Choice
                | Action::Untaken(_)
                | Action::UntakenEnd
                | Action::Rejoin
                | Action::WouldRead(_)
                | Action::WouldWrite(_)
                | Action::WouldAcquire(_)
                | Action::WouldAcquireShared(_)
                | Action::WouldRelease(_)
                | Action::WouldReleaseShared(_)
                | Action::Given(_)
                | Action::Tried(_)
                | Action::Holds(_)
                | Action::Blocked(_)
                | Action::BlockedByThread(_)
                | Action::Stalled(..)
                | Action::Hung
                | Action::Starved(_)
                | Action::Missed
        ) {
            self.left_out += 1;
            return Ok(());
        }
        let place = place(event.site, tables);
        let thread = number_of_thread(&mut self.threads, event.thread);
        let mut line = Lines { output: &mut self.output, thread, place };
        let mut number_of_lock = |lock| {
            let next = self.locks.len();
            *self.locks.entry(lock).or_insert(next)
        };
        let mut number_of_variable = |variable| {
            let next = self.variables.len();
            *self.variables.entry(variable).or_insert(next)
        };
        let touched = match event.action {
            Action::Read(variable) | Action::EarlierRead(variable) => {
                return line.put("r", 'V', number_of_variable(variable));
            }
            Action::Write(variable) | Action::EarlierWrite(variable) => {
                return line.put("w", 'V', number_of_variable(variable));
            }
            Action::VolatileRead(variable)
            | Action::VolatileWrite(variable)
            | Action::AtomicUpdate(variable)
            | Action::AtomicAdd(variable)
            | Action::AtomicSwap(variable) => {
                let lock = number_of_lock(Lock::OfVariable(variable));
                let number = number_of_variable(variable);
                line.put("acq", 'L', lock)?;
                if !matches!(event.action, Action::VolatileWrite(_)) {
                    line.put("r", 'V', number)?;
                }
                if !matches!(event.action, Action::VolatileRead(_)) {
                    line.put("w", 'V', number)?;
                }
                return line.put("rel", 'L', lock);
            }
            Action::Acquire(lock) | Action::Woken(lock) => {
                return line.put("acq", 'L', number_of_lock(Lock::Monitor(lock)));
            }
            Action::Release(lock) | Action::Wait(lock) => {
                return line.put("rel", 'L', number_of_lock(Lock::Monitor(lock)));
            }
            Action::Fork(other) => {
                let other = number_of_thread(&mut self.threads, other);
                return line.put("fork", 'T', other);
            }
            Action::Join(other) => {
                let other = number_of_thread(&mut self.threads, other);
                return line.put("join", 'T', other);
            }
            Action::Begin => return line.put("begin", 'B', line.place as usize),
            Action::End => return line.put("end", 'B', line.place as usize),
            Action::AcquireShared(lock) | Action::ReleaseShared(lock) => Lock::Monitor(lock),
            Action::Submit(task)
            | Action::TaskBegin(task)
            | Action::TaskEnd(task)
            | Action::TaskJoin(task) => Lock::OfTask(task),
            Action::Publish(object)
            | Action::Receive(object)
            | Action::OrderRelease(object)
            | Action::OrderAcquire(object)
            | Action::EarlierOrderRelease(object) => Lock::OfPublication(object),
            Action::BarrierArrive(barrier) | Action::BarrierPass(barrier) => {
                Lock::OfBarrier(barrier)
            }
            Action::LatchDown(latch) | Action::LatchPass(latch) => Lock::OfLatch(latch),
            Action::ClassInitialised(class) | Action::ClassUsed(class) => Lock::OfClass(class),
            Action::Notify(_)
            | Action::NotifyAll(_)
            | Action::ThreadBegin
            | Action::ThreadEnd
            | Action::Escape(..)
            | Action::Branch(_)
            | Action::OrderAcquireAll
            | Action::LibraryOrder
            | Action::Choice
            | Action::Untaken(_)
            | Action::UntakenEnd
            | Action::Rejoin
            | Action::WouldRead(_)
            | Action::WouldWrite(_)
            | Action::WouldAcquire(_)
            | Action::WouldAcquireShared(_)
            | Action::WouldRelease(_)
            | Action::WouldReleaseShared(_)
            | Action::Given(_)
            | Action::Tried(_)
            | Action::Holds(_)
            | Action::Blocked(_)
            | Action::BlockedByThread(_)
            | Action::Stalled(..)
            | Action::Hung
            | Action::Starved(_)
            | Action::Missed => return Ok(()),
        };
        let lock = number_of_lock(touched);
        line.put("acq", 'L', lock)?;
        line.put("rel", 'L', lock)
    }
}

fn number_of_thread(threads: &mut FxHashMap<ThreadId, usize>, thread: ThreadId) -> usize {
    let next = threads.len();
    *threads.entry(thread).or_insert(next)
}

/// The lines of one event.
struct Lines<'a, W: Write> {
    output: &'a mut W,
    thread: usize,
    place: u32,
}

impl<W: Write> Lines<'_, W> {
    fn put(&mut self, word: &str, letter: char, operand: impl fmt::Display) -> io::Result<()> {
        writeln!(self.output, "T{}|{word}({letter}{operand})|{}", self.thread, self.place)
    }
}

/// The number of a place: a site that is nothing but a line comes from this form, and is that line
/// again; otherwise the row of the site.
fn place(site: SiteId, tables: &Tables) -> u32 {
    let line = tables.sites.get(site.0 as usize).and_then(|entry| {
        let of_line = SiteEntry {
            site: findings::Site { line: entry.site.line, ..SiteEntry::unknown().site },
            ..SiteEntry::unknown()
        };
        entry.site.line.filter(|_| *entry == of_line)
    });
    line.unwrap_or(site.0)
}

impl<W: Write> Sink for Writer<W> {
    fn event(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        self.once(|writer| writer.write(event, tables))
    }

    fn flush(&mut self, _: &Tables) -> io::Result<()> {
        self.once(|writer| writer.output.flush())
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.flush(tables)?;
        self.is_open = false;
        Ok(())
    }
}
