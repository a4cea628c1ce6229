//! The list of the only accesses to watch, where somebody knows which matter.
//!
//! One access a line: class, method, descriptor and bytecode offset, separated by blanks. Lines that begin
//! with `#` are remarks.

use findings::Site;

/// Why a text is no watch list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not `CLASS METHOD DESCRIPTOR OFFSET`: `{text}`")]
pub struct WatchListError {
    /// The line, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

/// The accesses that a watch list names.
///
/// # Errors
///
/// Names the first line that is none.
pub fn read_watch_list(text: &str) -> Result<Vec<Site>, WatchListError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, text)| {
            parse(text).ok_or_else(|| WatchListError { line, text: text.to_owned() })
        })
        .collect()
}

fn parse(line: &str) -> Option<Site> {
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

/// The line that names an access; none for a site that is a whole method.
#[must_use]
pub fn watch_list_line(site: &Site) -> Option<String> {
    let offset = site.offset?;
    Some(format!("{} {} {} {offset}", site.class, site.method, site.descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let text = "# what check could not clear\nbank.Account withdraw (I)V 12\n\n";
        let sites = read_watch_list(text).unwrap();
        assert_eq!(sites.len(), 1);
        assert_eq!(watch_list_line(&sites[0]).as_deref(), Some("bank.Account withdraw (I)V 12"));
    }

    #[test]
    fn a_line_that_names_no_access_is_named() {
        let error = read_watch_list("a b ()V 1\na b ()V\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2 is not `CLASS METHOD DESCRIPTOR OFFSET`: `a b ()V`");
    }
}
