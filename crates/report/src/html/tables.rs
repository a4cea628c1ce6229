//! Tables of what occurs often in a page, each kept once: classes, files, sites, stacks.

use std::collections::BTreeMap;

use findings::{Site, Stack};
use serde::Serialize;

use super::shown_text::shown_within;
use crate::words;

/// No name in a page is longer; class files may have names of 65,535 bytes.
pub(super) const LONGEST_NAME: usize = 300;
/// How many frames of a stack are kept, from the innermost; a stack may have thousands.
const MOST_FRAMES: usize = 64;

/// Values by number.
pub(super) struct Table<T> {
    numbers: BTreeMap<T, usize>,
    values: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { numbers: BTreeMap::new(), values: Vec::new() }
    }
}

impl<T: Ord + Clone> Table<T> {
    fn number(&mut self, value: T) -> usize {
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() - 1
        })
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }
}

/// A place: class, method, signature, file and line, the first, third and fourth by number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct PageSite(usize, String, Option<usize>, Option<u32>, Option<u32>);

impl PageSite {
    /// The file by number, and the line.
    pub(super) fn place(&self) -> Option<(usize, u32)> {
        self.2.zip(self.3)
    }
}

/// How a thread got to a place: the frames, whether they are of this very visit, and how many more there are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct PageStack {
    pub(super) frames: Vec<usize>,
    is_same_context: bool,
    left_out: usize,
}

/// Everything that findings refer to by number.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) classes: Table<String>,
    pub(super) files: Table<String>,
    pub(super) sites: Table<PageSite>,
    pub(super) stacks: Table<PageStack>,
}

impl Tables {
    pub(super) fn class(&mut self, name: &str) -> usize {
        self.classes.number(shown_within(name, LONGEST_NAME))
    }

    pub(super) fn site(&mut self, site: &Site) -> usize {
        let class = self.class(&site.class);
        let file = words::file(site).map(|file| self.files.number(file));
        let method = shown_within(&site.method, LONGEST_NAME);
        self.sites.number(PageSite(class, method, file, site.line, site.offset))
    }

    pub(super) fn stack(&mut self, stack: &Stack) -> usize {
        let frames = stack.frames.iter().take(MOST_FRAMES).map(|site| self.site(site)).collect();
        let left_out = stack.frames.len().saturating_sub(MOST_FRAMES);
        let is_same_context = stack.is_same_context;
        self.stacks.number(PageStack { frames, is_same_context, left_out })
    }
}
