//! The names behind the numbers. They travel with every trace, so that it can be read without the
//! program.

use std::collections::BTreeMap;
use std::sync::Arc;

use findings::Site;
use rustc_hash::FxHashMap;

use crate::object_fields::{self, ObjectFields};
use crate::{Action, ClassId, Event, ObjectId, SiteId};

/// A row of the site table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteEntry {
    /// Where it is.
    pub site: Site,
    /// What it is about, as people write it: `Account.balance`, `java.util.Vector.add`, or nothing. The field that the
    /// object was read from follows it after [`SiteEntry::ORIGIN`], where that is known.
    pub subject: String,
    /// How much is seen of what the code there does.
    pub seen: Seen,
    /// Whether a call there takes something out of the collection that it is made on, whichever object that is.
    pub gives_away: bool,
}

/// How much is seen of what the code at a place does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// All of it: fields, locks, and the contents of collections.
    #[default]
    Everything,
    /// All but what its class may do to state that is not watched: elements of arrays, and objects of libraries.
    NotAllState,
    /// The order that it gives, and nothing else: it is of a library, or the user excludes it.
    Order,
}

impl SiteEntry {
    /// What stands between the subject of a place and the field that its object was read from.
    pub const ORIGIN: &'static str = " of ";

    /// What the place is about, without the field that the object was read from.
    #[must_use]
    pub fn about(&self) -> &str {
        self.subject.split_once(SiteEntry::ORIGIN).map_or(&self.subject, |(about, _)| about)
    }

    /// The field that the object was read from: `shop.Stock.items`.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        self.subject.split_once(SiteEntry::ORIGIN).map(|(_, field)| field)
    }

    /// A place of which nothing is known, as row 0 is.
    #[must_use]
    pub fn unknown() -> SiteEntry {
        let site = Site {
            class: String::new(),
            method: String::new(),
            descriptor: String::new(),
            offset: None,
            file: None,
            line: None,
        };
        SiteEntry { site, subject: String::new(), seen: Seen::Everything, gives_away: false }
    }

    /// Whether the code there gives order only.
    #[must_use]
    pub fn gives_order_only(&self) -> bool {
        self.seen == Seen::Order
    }
}

/// A row of the field table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldEntry {
    /// Binary name of the declaring class, with dots.
    pub class: String,
    /// The field.
    pub name: String,
}

/// A row of the class table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClassEntry {
    /// Binary name, with dots.
    pub name: String,
}

/// A row of the thread table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadEntry {
    /// The name the program gave it.
    pub name: String,
    /// Whether it is a virtual thread.
    pub is_virtual: bool,
}

/// What an object is called in reports: `Account#3`, the third account that was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectEntry {
    /// Its class.
    pub class: ClassId,
    /// Its number among the reported objects of that class, from 1.
    pub ordinal: u32,
}

impl ObjectEntry {
    /// Stands for an object of which nothing is known.
    const UNKNOWN: ObjectEntry = ObjectEntry { class: ClassId(u32::MAX), ordinal: 0 };
}

/// How many calls a stack names at most.
pub const MAX_FRAMES: usize = 64;

/// How many blocks a context names.
pub const CONTEXT_BLOCKS: usize = 4;

/// The innermost atomic blocks that are open, innermost first; the unknown site where there are fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context(pub [crate::SiteId; CONTEXT_BLOCKS]);

impl Context {
    /// The context in which these blocks are open, outermost first.
    pub fn of(open: impl DoubleEndedIterator<Item = crate::SiteId>) -> Context {
        let mut context = Context::default();
        for (place, block) in context.0.iter_mut().zip(open.rev()) {
            *place = block;
        }
        context
    }
}

/// A row of the stack table: how a site was reached. It is recorded the first time that something is reported
/// at a place in a context, and one the first time that the place is reached at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StackEntry {
    /// The place.
    pub site: crate::SiteId,
    /// Who was there.
    pub thread: crate::ThreadId,
    /// In which blocks.
    pub context: Context,
    /// The calls, innermost first; the first frame is the method of the place. There are at most
    /// [`MAX_FRAMES`], and many stacks share them.
    pub frames: Vec<Arc<Site>>,
}

/// Objects by number, as far as they are remembered: the first ones of a run. Filled from
/// [`crate::Action::Escape`] by whoever hands events on, with [`Tables::note`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectTable {
    by_number: Vec<ObjectEntry>,
    /// How many objects of each class there were.
    counts: FxHashMap<ClassId, u32>,
    /// How many objects there were.
    count: usize,
    /// What a text calls its objects.
    names: BTreeMap<ObjectId, String>,
    /// The fields that objects were read from.
    fields: ObjectFields,
}

/// How many objects are remembered.
const REMEMBERED_OBJECTS: usize = 1 << 20;

/// How far the numbers of objects may be ahead of their count at the beginning.
const ROOM_FOR_NUMBERS: usize = 4096;

impl ObjectTable {
    /// Notes an object when it is met for the first time.
    pub fn add(&mut self, object: ObjectId, class: ClassId) {
        self.count += 1;
        let ordinal = self.counts.entry(class).or_insert(0);
        *ordinal = ordinal.saturating_add(1);
        // Objects are numbered from 1 in about the order in which they are met. A number that is far from
        // that comes from a trace that was tampered with, and is to cost no memory.
        let limit = REMEMBERED_OBJECTS.min(4 * self.count + ROOM_FOR_NUMBERS);
        let Some(at) = usize::try_from(object.0).ok().filter(|at| *at < limit) else { return };
        if self.by_number.len() <= at {
            self.by_number.resize(at + 1, ObjectEntry::UNKNOWN);
        }
        self.by_number[at] = ObjectEntry { class, ordinal: *ordinal };
    }

    /// Notes what a text calls an object.
    pub(crate) fn name(&mut self, object: ObjectId, name: &str) {
        self.names.insert(object, name.to_string());
    }

    /// What a text calls an object.
    #[must_use]
    pub fn named(&self, object: ObjectId) -> Option<&str> {
        self.names.get(&object).map(String::as_str)
    }

    /// Notes the field that an object was read from at a place, if it is remembered.
    #[inline]
    fn note_field(&mut self, object: ObjectId, site: SiteId, sites: &[SiteEntry]) {
        if self.get(object).is_some() {
            self.fields.note(object, site, sites);
        }
    }

    /// The field that an object is called after, the least of those that it was read from: `shop.Stock.lock`. With a number
    /// if several objects are called after this field.
    #[must_use]
    pub fn field(&self, object: ObjectId) -> Option<(&str, Option<u32>)> {
        self.fields.get(object)
    }

    /// The class and the number of an object, if it is remembered.
    #[must_use]
    pub fn get(&self, object: ObjectId) -> Option<ObjectEntry> {
        let entry = *self.by_number.get(usize::try_from(object.0).ok()?)?;
        (entry != ObjectEntry::UNKNOWN).then_some(entry)
    }
}

/// All names of a run. Rows are added during the run and never change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// By [`crate::SiteId`]; row 0 is the unknown site and stands for itself.
    pub sites: Vec<SiteEntry>,
    /// By [`crate::FieldId`].
    pub fields: Vec<FieldEntry>,
    /// By [`crate::ClassId`].
    pub classes: Vec<ClassEntry>,
    /// By [`crate::ThreadId`].
    pub threads: ThreadTable,
    /// In the order in which they were recorded.
    pub stacks: Vec<StackEntry>,
    /// By [`crate::ObjectId`]. No rows of a trace: the events have it.
    pub objects: ObjectTable,
}

impl Tables {
    /// Notes the names that an event gives to objects. Must be called for every event of a run, in order.
    #[inline]
    pub fn note(&mut self, event: &Event) {
        if let Action::Escape(object, class) = event.action {
            self.objects.add(object, class);
        } else if let Some(object) = object_fields::used_object(event) {
            self.objects.note_field(object, event.site, &self.sites);
        }
    }
}

/// Threads by number. A run of threads that are all alike takes the room of one: a program may have
/// millions of virtual threads without a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadTable {
    /// The first row of each run, and what all its rows are.
    runs: Vec<(usize, ThreadEntry)>,
    rows: usize,
}

impl ThreadTable {
    /// How many threads there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a thread.
    pub fn push(&mut self, thread: ThreadEntry) {
        if self.runs.last().is_none_or(|(_, last)| *last != thread) {
            self.runs.push((self.rows, thread));
        }
        self.rows += 1;
    }

    /// Moves all threads of another table to the end of this one.
    pub fn append(&mut self, other: &mut ThreadTable) {
        let mut ends = other.runs.iter().skip(1).map(|(start, _)| *start).collect::<Vec<_>>();
        ends.push(other.rows);
        for ((start, thread), end) in std::mem::take(&mut other.runs).into_iter().zip(ends) {
            self.push(thread);
            self.rows += end - start - 1;
        }
        other.rows = 0;
    }

    /// Keeps the first rows only.
    pub fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        self.runs.retain(|(start, _)| *start < rows);
    }

    /// The thread of a row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&ThreadEntry> {
        let run = self.runs.partition_point(|(start, _)| *start <= row).checked_sub(1)?;
        (row < self.rows).then(|| &self.runs[run].1)
    }

    /// The threads from a row on.
    pub fn iter_from(&self, row: usize) -> impl Iterator<Item = &ThreadEntry> {
        (row..self.rows).filter_map(|row| self.get(row))
    }
}

impl std::ops::Index<usize> for ThreadTable {
    type Output = ThreadEntry;

    fn index(&self, row: usize) -> &ThreadEntry {
        self.get(row).expect("the row is in the table")
    }
}

impl FromIterator<ThreadEntry> for ThreadTable {
    fn from_iter<T: IntoIterator<Item = ThreadEntry>>(threads: T) -> ThreadTable {
        let mut table = ThreadTable::default();
        threads.into_iter().for_each(|thread| table.push(thread));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(name: &str) -> ThreadEntry {
        ThreadEntry { name: name.to_owned(), is_virtual: name.is_empty() }
    }

    #[test]
    fn objects_are_counted_by_class_and_the_first_are_remembered() {
        let mut objects = ObjectTable::default();
        let far = ObjectId(2 * ROOM_FOR_NUMBERS as u64);
        for (object, class) in [(ObjectId(5), 1), (far, 1), (ObjectId(2), 0), (ObjectId(9), 1)] {
            objects.add(object, ClassId(class));
        }
        let entry = |class, ordinal| Some(ObjectEntry { class: ClassId(class), ordinal });
        assert_eq!(objects.get(ObjectId(5)), entry(1, 1));
        assert_eq!(objects.get(ObjectId(9)), entry(1, 3));
        assert_eq!(objects.get(ObjectId(2)), entry(0, 1));
        assert_eq!((objects.get(far), objects.get(ObjectId(3))), (None, None));
        assert_eq!(objects.named(ObjectId(5)), None);
    }

    #[test]
    fn threads_that_are_alike_take_the_room_of_one() {
        let names = ["main", "", "", "", "worker", "", ""];
        let table: ThreadTable = names.iter().map(|name| thread(name)).collect();
        assert_eq!(table.len(), 7);
        assert_eq!(table.runs.len(), 4);
        assert!(table.iter_from(0).map(|thread| &*thread.name).eq(names));
        assert!(table.iter_from(5).map(|thread| &*thread.name).eq(["", ""]));
        assert_eq!(table.get(7), None);
    }

    #[test]
    fn tables_are_joined_and_cut_row_by_row() {
        let first: Vec<_> = ["a", "", ""].iter().map(|name| thread(name)).collect();
        let second: Vec<_> = ["", "", "b", "b", ""].iter().map(|name| thread(name)).collect();
        let mut table: ThreadTable = first.iter().cloned().collect();
        table.append(&mut second.iter().cloned().collect());
        let all: ThreadTable = first.into_iter().chain(second).collect();
        assert_eq!(table, all);
        for rows in 0..=8 {
            let mut cut = all.clone();
            cut.truncate(rows);
            let expected: ThreadTable = all.iter_from(0).take(rows).cloned().collect();
            assert_eq!(cut, expected);
        }
    }
}
