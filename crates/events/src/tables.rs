//! The names behind the numbers. They travel with every trace, so that it can be read without the
//! program.

use findings::Site;

/// A row of the site table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteEntry {
    /// Where it is.
    pub site: Site,
    /// What it is about, as people write it: `Account.balance`, `java.util.Vector.add`, or nothing.
    pub subject: String,
}

impl SiteEntry {
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
        SiteEntry { site, subject: String::new() }
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
    pub class: crate::ClassId,
    /// Its number among the reported objects of that class, from 1.
    pub ordinal: u32,
}

/// All names of a run. Rows are added while the run goes on and never change.
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
