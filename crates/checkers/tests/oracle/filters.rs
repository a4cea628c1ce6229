//! A model of the filters of the run-time half: what it notes, what it leaves out, what it reports
//! late. See the head of `event.rs` in `events`.

use std::collections::BTreeMap;

use events::{Access, Action, Epoch, Event, SiteId, ThreadId};

use crate::trace::{Op, Operation, variable, volatile};

/// Which filters are on, and which of their rules hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filters {
    /// Accesses that are repeated in one epoch are dropped.
    pub(crate) epoch: bool,
    /// Accesses that can receive no edge are noted and reported late.
    pub(crate) ownership: bool,
    /// Blocks are reported when something in them is.
    pub(crate) lazy_blocks: bool,
    /// An epoch ends when others can come to know of what was done in it.
    pub(crate) epochs_end_at_sends: bool,
    /// The word of the last read says whether other threads have read too.
    pub(crate) reads_remember_sharing: bool,
    /// An epoch begins with every nested block, too.
    pub(crate) epochs_begin_at_nested_blocks: bool,
    /// An epoch begins with a volatile write: it comes after the reads before.
    pub(crate) epochs_begin_at_volatile_writes: bool,
    /// An access that is reported is the first of its epoch, not the last of the one before.
    pub(crate) epochs_begin_with_the_access: bool,
    /// A write of a volatile variable reports the reads that were only noted.
    pub(crate) volatile_writes_report_notes: bool,
    /// What came before the start of a thread, or of one that it has joined, is as if it were its own.
    pub(crate) knows_past: bool,
    /// Only what a thread did before it started another is past to that one, not what it does then.
    pub(crate) past_ends_at_start: bool,
    /// A write after reads that are past forgets them.
    pub(crate) writes_forget_past_reads: bool,
    /// Once a second thread has used a variable, all its accesses are reported once in each epoch.
    pub(crate) locksets: bool,
}

pub(crate) const ALL: Filters = Filters {
    epoch: true,
    ownership: true,
    lazy_blocks: true,
    epochs_end_at_sends: true,
    reads_remember_sharing: true,
    epochs_begin_at_nested_blocks: true,
    epochs_begin_at_volatile_writes: true,
    epochs_begin_with_the_access: true,
    volatile_writes_report_notes: true,
    knows_past: true,
    past_ends_at_start: true,
    writes_forget_past_reads: true,
    locksets: false,
};

/// The filters if a checker needs the locks that are held.
pub(crate) const LOCKSETS: Filters = Filters { locksets: true, knows_past: false, ..ALL };

/// An access as the words beside a variable hold it.
#[derive(Clone, Copy, Debug)]
struct Word {
    thread: u32,
    epoch: u64,
    site: SiteId,
}

#[derive(Clone, Copy, Debug, Default)]
struct Words {
    read: Option<Word>,
    write: Option<Word>,
    /// More than one thread has read since the last write.
    is_shared: bool,
}

/// What is kept instead of a variable that several threads have used, for locksets.
#[derive(Clone, Debug, Default)]
struct SharedWords {
    /// The last read of each thread since the last write.
    reads: BTreeMap<u32, Word>,
    write: Option<Word>,
    /// Another thread has read since.
    is_seen: bool,
    /// What it holds is what the only thread noted, which is reported whatever comes.
    is_new: bool,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    epoch: u64,
    /// Open blocks with their epochs, and whether they were reported.
    open: Vec<(SiteId, u64, bool)>,
    /// The threads whose operations came before, up to this epoch.
    past: BTreeMap<u32, u64>,
}

/// The run-time half.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    filters: Filters,
    epochs: u64,
    threads: BTreeMap<u32, Thread>,
    words: BTreeMap<u32, Words>,
    /// The last read of each volatile variable by each thread since it was last written, and whether the thread has
    /// reported it.
    notes: BTreeMap<(u32, u32), (Word, bool)>,
    shared: BTreeMap<u32, SharedWords>,
    /// What was reported.
    pub(crate) events: Vec<Event>,
}

impl Model {
    pub(crate) fn new(filters: Filters) -> Model {
        Model {
            filters,
            epochs: 0,
            threads: BTreeMap::new(),
            words: BTreeMap::new(),
            notes: BTreeMap::new(),
            shared: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    fn next_epoch(&mut self, thread: u32) -> u64 {
        self.epochs += 1;
        self.threads.entry(thread).or_default().epoch = self.epochs;
        self.epochs
    }

    fn epoch(&mut self, thread: u32) -> u64 {
        let epoch = self.threads.entry(thread).or_default().epoch;
        if epoch == 0 {
            let begun = self.next_epoch(thread);
            self.push(thread, SiteId(0), begun, Action::ThreadBegin);
            // The thread that was started receives an edge.
            return self.next_epoch(thread);
        }
        epoch
    }

    fn push(&mut self, thread: u32, site: SiteId, epoch: u64, action: Action) {
        self.events.push(Event {
            thread: ThreadId(thread),
            site,
            epoch: Epoch(epoch),
            action,
            overlaps: 0,
        });
    }

    /// Reports the blocks that the thread is in.
    fn report_blocks(&mut self, thread: u32) {
        let mut open = std::mem::take(&mut self.threads.entry(thread).or_default().open);
        for (site, epoch, is_reported) in &mut open {
            if !*is_reported {
                self.push(thread, *site, *epoch, Action::Begin);
                *is_reported = true;
            }
        }
        self.threads.entry(thread).or_default().open = open;
    }

    pub(crate) fn operation(&mut self, operation: Operation, number: usize) {
        let thread = operation.thread;
        let site = SiteId(number as u32 + 1);
        let epoch = self.epoch(thread);
        let (receives, sends) = match operation.op {
            Op::Read(x) => return self.read(thread, x, site),
            Op::Write(x) => return self.write(thread, x, site),
            Op::Begin => {
                let is_nested = !self.threads.entry(thread).or_default().open.is_empty();
                let epoch = if is_nested && !self.filters.epochs_begin_at_nested_blocks {
                    epoch
                } else {
                    self.next_epoch(thread)
                };
                self.threads.entry(thread).or_default().open.push((site, epoch, false));
                if !self.filters.lazy_blocks {
                    self.report_blocks(thread);
                }
                return;
            }
            Op::End => {
                let popped = self.threads.entry(thread).or_default().open.pop();
                if let Some((_, _, true)) = popped {
                    self.push(thread, site, epoch, Action::End);
                    self.next_epoch(thread);
                }
                return;
            }
            Op::VolatileRead(x) => return self.volatile_read(thread, x, site),
            Op::Acquire(..) | Op::Join(_) | Op::Receive(_) => (true, false),
            Op::VolatileWrite(_) => (self.filters.epochs_begin_at_volatile_writes, true),
            Op::Update(_) | Op::Add(_) => (true, true),
            Op::Release(..) | Op::Fork(_) | Op::Publish(_) | Op::ThreadEnd => (false, true),
        };
        if let Op::VolatileWrite(x) | Op::Update(x) | Op::Add(x) = operation.op {
            self.report_notes(thread, x);
        }
        self.report_blocks(thread);
        let epoch = if receives { self.next_epoch(thread) } else { epoch };
        self.push(thread, site, epoch, operation.action());
        if sends && self.filters.epochs_end_at_sends {
            self.next_epoch(thread);
        }
        match operation.op {
            Op::Fork(other) => {
                let now = self.threads.entry(thread).or_default().epoch;
                let ends = if self.filters.past_ends_at_start { now } else { u64::MAX };
                self.follow(other, thread, ends);
            }
            Op::Join(other) => self.follow(thread, other, u64::MAX),
            _ => {}
        }
    }

    /// What a thread did before an epoch, and what came before it, comes before what another does now.
    fn follow(&mut self, thread: u32, other: u32, epoch: u64) {
        let mut past = self.threads.entry(other).or_default().past.clone();
        past.insert(other, epoch);
        let known = &mut self.threads.entry(thread).or_default().past;
        for (other, epoch) in past {
            let ends = known.entry(other).or_default();
            *ends = epoch.max(*ends);
        }
    }

    /// Whether a word holds nothing, what the thread did itself, or what is past.
    fn is_known(&self, thread: u32, word: Option<Word>) -> bool {
        let past = self.threads.get(&thread).map(|thread| &thread.past);
        word.is_none_or(|word| {
            let ends = past.and_then(|past| past.get(&word.thread));
            word.thread == thread
                || self.filters.knows_past && ends.is_some_and(|ends| word.epoch < *ends)
        })
    }

    /// A thread that has read a volatile variable since the last write receives nothing new.
    fn volatile_read(&mut self, thread: u32, x: u32, site: SiteId) {
        if self.filters.ownership
            && self.filters.epoch
            && let Some((note, is_reported)) = self.notes.get_mut(&(x, thread))
        {
            let epoch = self.threads.entry(thread).or_default().epoch;
            if note.epoch == epoch {
                return;
            }
            if !self.filters.locksets {
                *note = Word { thread, epoch, site };
                *is_reported = false;
                return;
            }
        }
        self.report_blocks(thread);
        let epoch = self.next_epoch(thread);
        self.notes.insert((x, thread), (Word { thread, epoch, site }, true));
        self.push(thread, site, epoch, Action::VolatileRead(volatile(x)));
    }

    /// Reports and forgets the reads of a volatile variable that is about to be written.
    fn report_notes(&mut self, writer: u32, x: u32) {
        let noted: Vec<_> =
            self.notes.range((x, 0)..=(x, u32::MAX)).map(|(key, note)| (*key, *note)).collect();
        for (key, (note, was_reported)) in noted {
            self.notes.remove(&key);
            let is_reported = self.filters.volatile_writes_report_notes
                && self.filters.ownership
                && self.filters.epoch;
            if is_reported && !was_reported && note.thread != writer {
                let action = Action::EarlierRead(volatile(x));
                self.push(note.thread, note.site, note.epoch, action);
            }
        }
    }

    fn read(&mut self, thread: u32, x: u32, site: SiteId) {
        let epoch = self.epoch(thread);
        if self.is_used_by_several(thread, x) {
            return self.read_shared(thread, x, site);
        }
        let words = self.words.get(&x).copied().unwrap_or_default();
        let is_now = |word: Option<Word>| word.is_some_and(|word| word.epoch == epoch);
        if self.filters.epoch && (is_now(words.read) || is_now(words.write)) {
            return;
        }
        let is_mine = |word: Option<Word>| word.is_some_and(|word| word.thread == thread);
        let is_not_other = |word: Option<Word>| word.is_none_or(|word| word.thread == thread);
        let is_past = !words.is_shared
            && self.is_known(thread, words.read)
            && self.is_known(thread, words.write);
        let is_silent = is_mine(words.read)
            || (is_not_other(words.read) && is_not_other(words.write))
            || is_past;
        let epoch = if self.filters.ownership && is_silent {
            epoch
        } else {
            self.report(thread, x, words, Action::Read(variable(x)), site)
        };
        let is_told = !self.filters.ownership || !is_past;
        let is_shared = words.is_shared || (!is_not_other(words.read) && is_told);
        let read = Some(Word { thread, epoch, site });
        self.words.insert(x, Words { read, write: words.write, is_shared });
    }

    fn write(&mut self, thread: u32, x: u32, site: SiteId) {
        let epoch = self.epoch(thread);
        if self.is_used_by_several(thread, x) {
            return self.write_shared(thread, x, site);
        }
        let words = self.words.get(&x).copied().unwrap_or_default();
        let is_not_other = |word: Option<Word>| word.is_none_or(|word| word.thread == thread);
        let is_shared = words.is_shared && self.filters.reads_remember_sharing;
        let others_read = is_shared || !is_not_other(words.read);
        let is_now = words.write.is_some_and(|word| word.epoch == epoch);
        if self.filters.epoch && is_now && !others_read {
            return;
        }
        let is_past =
            !is_shared && self.is_known(thread, words.read) && self.is_known(thread, words.write);
        let is_silent = (is_not_other(words.write) && !others_read) || is_past;
        let epoch = if self.filters.ownership && is_silent {
            epoch
        } else {
            self.report(thread, x, words, Action::Write(variable(x)), site)
        };
        let write = Some(Word { thread, epoch, site });
        let forgets = self.filters.writes_forget_past_reads;
        let read = words.read.filter(|_| self.filters.ownership && is_silent && !forgets);
        self.words.insert(x, Words { read, write, is_shared: false });
    }

    /// Whether the thread is not the only one that has used a variable, as far as that matters. What the
    /// only one has noted is then looked at for the last time.
    fn is_used_by_several(&mut self, thread: u32, x: u32) -> bool {
        if self.filters.locksets && !self.shared.contains_key(&x) {
            let words = self.words.get(&x).copied().unwrap_or_default();
            let is_other = |word: Option<Word>| word.is_some_and(|word| word.thread != thread);
            if is_other(words.read) || is_other(words.write) {
                let reads = words.read.map(|read| (read.thread, read)).into_iter().collect();
                let shared =
                    SharedWords { reads, write: words.write, is_seen: false, is_new: true };
                self.shared.insert(x, shared);
            }
        }
        self.shared.contains_key(&x)
    }

    fn read_shared(&mut self, thread: u32, x: u32, site: SiteId) {
        let epoch = self.epoch(thread);
        let mut words = self.shared.get(&x).cloned().unwrap_or_default();
        let is_now = |word: Option<&Word>| word.is_some_and(|word| word.epoch == epoch);
        let noted = if words.is_new { std::mem::take(&mut words.reads) } else { BTreeMap::new() };
        let mine = words.reads.get(&thread);
        let is_written_now = is_now(words.write.as_ref()) && !words.is_seen;
        if self.filters.epoch && (is_now(mine) || is_written_now) {
            return;
        }
        let receives = words.write.filter(|write| write.thread != thread);
        if let Some(write) = words.write.filter(|_| !words.is_seen && self.filters.ownership) {
            let action = Action::EarlierWrite(variable(x));
            self.push(write.thread, write.site, write.epoch, action);
        }
        let is_told = self.filters.ownership;
        for read in noted.into_values().filter(|_| is_told) {
            let action = Action::EarlierRead(variable(x));
            self.push(read.thread, read.site, read.epoch, action);
        }
        self.report_blocks(thread);
        let is_new = receives.is_some() && mine.is_none();
        let epoch = if is_new { self.next_epoch(thread) } else { epoch };
        self.push(thread, site, epoch, Action::Read(variable(x)));
        words.reads.insert(thread, Word { thread, epoch, site });
        let is_seen = words.is_seen || receives.is_some();
        self.shared.insert(x, SharedWords { is_seen, is_new: false, ..words });
    }

    fn write_shared(&mut self, thread: u32, x: u32, site: SiteId) {
        let epoch = self.epoch(thread);
        let words = self.shared.get(&x).cloned().unwrap_or_default();
        let is_now = words.write.is_some_and(|word| word.epoch == epoch);
        if self.filters.epoch && is_now && !words.is_seen {
            return;
        }
        if self.filters.ownership {
            let write = words.write.filter(|_| !words.is_seen);
            let write = write.map(|write| (Access::Write, write));
            let reads = words.reads.into_values().map(|read| (Access::Read, read));
            for (access, word) in write.into_iter().chain(reads) {
                if word.thread != thread {
                    let action = Action::earlier(access, variable(x));
                    self.push(word.thread, word.site, word.epoch, action);
                }
            }
        }
        self.report_blocks(thread);
        let epoch = self.next_epoch(thread);
        self.push(thread, site, epoch, Action::Write(variable(x)));
        let write = Some(Word { thread, epoch, site });
        self.shared.insert(x, SharedWords { write, ..SharedWords::default() });
    }

    /// Reports an access after what the words hold of other threads; the epoch of the access.
    fn report(&mut self, thread: u32, x: u32, words: Words, action: Action, site: SiteId) -> u64 {
        if self.filters.ownership {
            for (access, word) in [(Access::Write, words.write), (Access::Read, words.read)] {
                if let Some(word) = word.filter(|word| word.thread != thread) {
                    let action = Action::earlier(access, variable(x));
                    self.push(word.thread, word.site, word.epoch, action);
                }
            }
        }
        self.report_blocks(thread);
        let before = self.epoch(thread);
        let after = self.next_epoch(thread);
        let epoch = if self.filters.epochs_begin_with_the_access { after } else { before };
        self.push(thread, site, epoch, action);
        epoch
    }
}
