//! A model of the filters of the run-time half: what it notes, what it leaves out, what it reports
//! late. See the head of `event.rs` in `events`.

use std::collections::BTreeMap;

use events::{Access, Action, Epoch, Event, SiteId, ThreadId};

use crate::trace::{Op, Operation, variable};

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
};

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

#[derive(Clone, Debug, Default)]
struct Thread {
    epoch: u64,
    /// Open blocks with their epochs, and whether they were reported.
    open: Vec<(SiteId, u64, bool)>,
}

/// The run-time half.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    filters: Filters,
    epochs: u64,
    threads: BTreeMap<u32, Thread>,
    words: BTreeMap<u32, Words>,
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
        self.events.push(Event { thread: ThreadId(thread), site, epoch: Epoch(epoch), action });
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
                }
                return;
            }
            Op::VolatileRead(_) | Op::Acquire(..) | Op::Join(_) | Op::Receive(_) => (true, false),
            Op::VolatileWrite(_) => (self.filters.epochs_begin_at_volatile_writes, true),
            Op::Update(_) => (true, true),
            Op::Release(..) | Op::Fork(_) | Op::Publish(_) | Op::ThreadEnd => (false, true),
        };
        self.report_blocks(thread);
        let epoch = if receives { self.next_epoch(thread) } else { epoch };
        self.push(thread, site, epoch, operation.action());
        if sends && self.filters.epochs_end_at_sends {
            self.next_epoch(thread);
        }
    }

    fn read(&mut self, thread: u32, x: u32, site: SiteId) {
        let epoch = self.epoch(thread);
        let words = self.words.get(&x).copied().unwrap_or_default();
        let is_now = |word: Option<Word>| word.is_some_and(|word| word.epoch == epoch);
        if self.filters.epoch && (is_now(words.read) || is_now(words.write)) {
            return;
        }
        let is_mine = |word: Option<Word>| word.is_some_and(|word| word.thread == thread);
        let is_not_other = |word: Option<Word>| word.is_none_or(|word| word.thread == thread);
        let is_silent =
            is_mine(words.read) || (is_not_other(words.read) && is_not_other(words.write));
        let epoch = if self.filters.ownership && is_silent {
            epoch
        } else {
            self.report(thread, x, words, Action::Read(variable(x)), site)
        };
        let is_shared = words.is_shared || !is_not_other(words.read);
        let read = Some(Word { thread, epoch, site });
        self.words.insert(x, Words { read, write: words.write, is_shared });
    }

    fn write(&mut self, thread: u32, x: u32, site: SiteId) {
        let epoch = self.epoch(thread);
        let words = self.words.get(&x).copied().unwrap_or_default();
        let is_not_other = |word: Option<Word>| word.is_none_or(|word| word.thread == thread);
        let is_shared = words.is_shared && self.filters.reads_remember_sharing;
        let others_read = is_shared || !is_not_other(words.read);
        let is_now = words.write.is_some_and(|word| word.epoch == epoch);
        if self.filters.epoch && is_now && !others_read {
            return;
        }
        let epoch = if self.filters.ownership && is_not_other(words.write) && !others_read {
            epoch
        } else {
            self.report(thread, x, words, Action::Write(variable(x)), site)
        };
        let write = Some(Word { thread, epoch, site });
        self.words.insert(x, Words { read: None, write, is_shared: false });
    }

    /// Reports an access after what the words hold of other threads; the epoch of the access.
    fn report(&mut self, thread: u32, x: u32, words: Words, action: Action, site: SiteId) -> u64 {
        if self.filters.ownership {
            for (access, word) in [(Access::Write, words.write), (Access::Read, words.read)] {
                if let Some(word) = word.filter(|word| word.thread != thread) {
                    let action = Action::Earlier(access, variable(x));
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
