//! The list of the only accesses to watch, where somebody knows which matter.
//!
//! One access a line: class, method, descriptor and bytecode offset, separated by blanks. A line `analysed CLASS DIGEST`
//! says that a class with these bytes was looked at, and that the list has all its accesses that matter; if there is
//! such a line, other classes are watched whole. Lines that begin with `#` are remarks.

use std::collections::BTreeMap;

use findings::Site;

use crate::ClassDigest;

/// What a line about a class begins with.
const ANALYSED: &str = "analysed";

/// Why a text is no watch list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} is neither `CLASS METHOD DESCRIPTOR OFFSET` nor `analysed CLASS DIGEST`: `{text}`"
)]
pub struct WatchListError {
    /// The line, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

/// What a watch list says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedAccesses {
    /// The accesses.
    pub accesses: Vec<Site>,
    /// The classes that were looked at, by name with dots; whichever there are, if this is empty.
    pub analysed: BTreeMap<String, ClassDigest>,
}

/// Reads a watch list.
///
/// # Errors
///
/// Names the first line that says nothing.
pub fn read_watch_list(text: &str) -> Result<ListedAccesses, WatchListError> {
    let mut listed = ListedAccesses::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((class, digest)) = analysed_class(line) {
            listed.analysed.insert(class, digest);
        } else if let Some(site) = access(line) {
            listed.accesses.push(site);
        } else {
            return Err(WatchListError { line: index + 1, text: line.to_owned() });
        }
    }
    Ok(listed)
}

fn access(line: &str) -> Option<Site> {
    let mut words = line.split_whitespace();
    let site = Site {
        class: words.next()?.to_owned(),
        method: words.next()?.to_owned(),
        descriptor: words.next()?.to_owned(),
        offset: Some(words.next()?.parse().ok()?),
        file: None,
        line: None,
    };
    words.next().is_none().then_some(site)
}

fn analysed_class(line: &str) -> Option<(String, ClassDigest)> {
    let mut words = line.split_whitespace();
    let is_analysed = words.next()? == ANALYSED;
    let (class, digest) = (words.next()?, words.next()?.parse().ok()?);
    (is_analysed && words.next().is_none()).then(|| (class.to_owned(), digest))
}

/// The line that names an access; none for a site that is a whole method.
#[must_use]
pub fn watch_list_line(site: &Site) -> Option<String> {
    let offset = site.offset?;
    Some(format!("{} {} {} {offset}", site.class, site.method, site.descriptor))
}

/// The line that says that a class was looked at; the name has dots.
#[must_use]
pub fn analysed_class_line(class: &str, digest: ClassDigest) -> String {
    format!("{ANALYSED} {class} {digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let digest = ClassDigest::of(b"bytes");
        let analysed = analysed_class_line("bank.Account", digest);
        let text =
            format!("# what check could not clear\nbank.Account withdraw (I)V 12\n\n{analysed}\n");
        let listed = read_watch_list(&text).unwrap();
        let lines: Vec<_> = listed.accesses.iter().filter_map(watch_list_line).collect();
        assert_eq!(lines, ["bank.Account withdraw (I)V 12"]);
        assert_eq!(listed.analysed, BTreeMap::from([("bank.Account".to_owned(), digest)]));
    }

    #[test]
    fn a_class_may_be_called_like_the_word_for_classes() {
        let listed = read_watch_list("analysed get ()I 3\n").unwrap();
        assert_eq!((listed.accesses.len(), listed.analysed.len()), (1, 0));
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        for wrong in ["a b ()V", "analysed b", "analysed b xyz", "analysed b 12 34 56"] {
            let error = read_watch_list(&format!("a b ()V 1\n{wrong}\n")).unwrap_err();
            assert_eq!(error, WatchListError { line: 2, text: wrong.to_owned() });
        }
    }
}
