//! The list of the fields that more than one thread used, which one run writes and the next one reads.
//!
//! One field a line: the class that declares it, with dots, and its name. Lines that begin with `#` are remarks. Blanks
//! in names, which class files may have, are written as `%20`, as in a URL.

use std::collections::BTreeSet;
use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// The characters that are encoded.
const ENCODED: AsciiSet = CONTROLS.add(b' ').add(b'%').add(b'#');

const HEAD: &str = "\
# Fields that more than one thread used, written by `scission run --shared-fields`.
# Runs that are given this file watch these fields, and no others. Delete it when the program has changed.
";

/// A field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SharedField {
    /// The class that declares it, with dots.
    pub class: String,
    /// Its name.
    pub name: String,
}

/// As a line of the list.
impl fmt::Display for SharedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoded = |text| utf8_percent_encode(text, &ENCODED);
        write!(f, "{}.{}", encoded(&self.class), encoded(&self.name))
    }
}

/// Why a text is no list of shared fields.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SharedFieldsError {
    /// A line that is no field.
    #[error("line {line} is not `CLASS.FIELD`: `{text}`")]
    NotAField {
        /// The line, from 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// Neither fields nor the remark that heads every list.
    #[error("it is empty; delete it, and the next run writes it")]
    Empty,
}

/// The fields that a list names.
///
/// # Errors
///
/// Names the first line that is none. A list without fields has at least the remark at the top.
pub fn read_shared_fields(text: &str) -> Result<BTreeSet<SharedField>, SharedFieldsError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let fields: BTreeSet<SharedField> = lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, text)| {
            let error = || SharedFieldsError::NotAField { line, text: text.to_owned() };
            parse(text).ok_or_else(error)
        })
        .collect::<Result<_, _>>()?;
    if fields.is_empty() && !text.starts_with('#') {
        return Err(SharedFieldsError::Empty);
    }
    Ok(fields)
}

fn parse(line: &str) -> Option<SharedField> {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.contains(|it: char| it.is_whitespace() || "/;[(){}\"':,<>".contains(it))
    };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().ok().map(String::from);
    let (class, name) = line.rsplit_once('.')?;
    let are_names = class.split('.').all(is_name) && is_name(name);
    are_names.then_some(())?;
    Some(SharedField { class: decoded(class)?, name: decoded(name)? })
}

/// The text of a list; the same fields give the same text.
#[must_use]
pub fn shared_fields_text(fields: &BTreeSet<SharedField>) -> String {
    let lines: BTreeSet<String> = fields.iter().map(|field| format!("{field}\n")).collect();
    [HEAD.to_owned()].into_iter().chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(class: &str, name: &str) -> SharedField {
        SharedField { class: class.to_owned(), name: name.to_owned() }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let fields = BTreeSet::from([
            field("bank.Account$Entry", "count"),
            field("Main", "total"),
            field("bank.Account", "100 % odd"),
        ]);
        let text = shared_fields_text(&fields);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            ["Main.total", "bank.Account$Entry.count", "bank.Account.100%20%25%20odd"]
        );
        assert_eq!(read_shared_fields(&text), Ok(fields));
        let none = shared_fields_text(&BTreeSet::new());
        assert_eq!(read_shared_fields(&none), Ok(BTreeSet::new()));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (text, said) in [
            ("", "it is empty"),
            ("\n\n", "it is empty"),
            ("a.B.c\nbank.Account deposit (I)V 12", "line 2 is not `CLASS.FIELD`"),
            ("{ \"a\": 1.5 }", "line 1 is not"),
            ("balance", "line 1 is not `CLASS.FIELD`: `balance`"),
            ("a..b", "line 1 is not"),
        ] {
            let error = read_shared_fields(text).unwrap_err().to_string();
            assert!(error.contains(said), "{error} does not say {said}");
        }
    }
}
