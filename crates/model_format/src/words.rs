//! Words: how a statement is cut into them, and how a wrong one is answered.

use std::fmt;

use findings::nearest_name;

/// One word of the format that stands for a value.
#[derive(Debug)]
pub struct Word<T: 'static> {
    /// The word itself; it may consist of two, as `if true` does.
    pub word: &'static str,
    /// What it stands for.
    pub value: T,
    /// What that means, in whole sentences.
    pub meaning: &'static str,
}

/// A part of a statement that is read from words and written as words.
pub trait Phrase: Sized {
    /// How the part is shown where the format of a statement is described.
    const SHAPE: &'static str;

    /// Reads it from the front of the remaining words.
    ///
    /// # Errors
    ///
    /// When the words say something else.
    fn read(words: &mut Words<'_>) -> Result<Self, Problem>;

    /// Its words; empty when it is what is meant without any.
    fn text(&self) -> String;
}

/// How a field of an effect is shown where the effect is described.
pub(crate) trait Shape {
    /// What is shown; nothing for truth values, whose words stand for themselves.
    const SHAPE: &'static str;
}

impl<T: Phrase> Shape for T {
    const SHAPE: &'static str = <T as Phrase>::SHAPE;
}

impl Shape for bool {
    const SHAPE: &'static str = "";
}

/// A value that can be written as a constant expression of Rust.
pub trait InRust {
    /// The expression, for a module that imports the vocabulary.
    fn rust(&self) -> String;
}

impl InRust for bool {
    fn rust(&self) -> String {
        self.to_string()
    }
}

impl InRust for &'static str {
    fn rust(&self) -> String {
        format!("{self:?}")
    }
}

/// What is wrong with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What may have been meant.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without advice.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: None }
    }

    /// A problem with advice.
    #[must_use]
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: Some(help.into()) }
    }

    /// A word that is none of those that may stand here.
    #[must_use]
    pub fn unknown(what: &str, found: Option<&str>, known: &[&str]) -> Problem {
        let Some(found) = found else {
            return Problem::with_help(
                format!("{what} is missing at the end"),
                format!("one of {}", list(known)),
            );
        };
        let message = format!("`{found}` is no {what}");
        match nearest_name(found, known.iter().copied()) {
            Some(word) => Problem::with_help(message, format!("did you mean `{word}`?")),
            None => Problem::with_help(message, format!("one of {}", list(known))),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The words of one statement that are still to be read.
#[derive(Clone, Debug)]
pub struct Words<'t> {
    rest: Vec<&'t str>,
    at: usize,
}

impl<'t> Words<'t> {
    /// The words of a text, which white space separates.
    #[must_use]
    pub fn new(text: &'t str) -> Words<'t> {
        Words { rest: text.split_whitespace().collect(), at: 0 }
    }

    /// The next word, which stays.
    #[must_use]
    pub fn peek(&self) -> Option<&'t str> {
        self.rest.get(self.at).copied()
    }

    /// Takes the next word.
    pub fn take(&mut self) -> Option<&'t str> {
        let word = self.peek()?;
        self.at += 1;
        Some(word)
    }

    /// Takes these words if they come next.
    pub fn take_if(&mut self, wanted: &str) -> bool {
        let mut at = self.at;
        for word in wanted.split(' ') {
            if self.rest.get(at) != Some(&word) {
                return false;
            }
            at += 1;
        }
        self.at = at;
        true
    }

    /// Takes these words, which must come next.
    ///
    /// # Errors
    ///
    /// When something else comes next.
    pub fn expect(&mut self, wanted: &str) -> Result<(), Problem> {
        if self.take_if(wanted) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(found) => Problem::new(format!("`{wanted}` is expected before `{found}`")),
            None => Problem::new(format!("`{wanted}` is missing at the end")),
        })
    }

    /// Takes one of the words of a table.
    pub fn take_of<T: Copy>(&mut self, table: &[Word<T>]) -> Option<T> {
        table.iter().find(|word| self.take_if(word.word)).map(|word| word.value)
    }

    /// Takes one of the words of a table, which must come next.
    ///
    /// # Errors
    ///
    /// When another word comes next: the problem names the one that is nearest to it.
    pub fn expect_of<T: Copy>(&mut self, what: &str, table: &[Word<T>]) -> Result<T, Problem> {
        self.take_of(table).ok_or_else(|| {
            let known: Vec<&str> = table.iter().map(|word| word.word).collect();
            Problem::unknown(what, self.peek(), &known)
        })
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    ///
    /// When something is: the problem names the nearest of the words that could have stood here.
    pub fn finish(&self, known: &[&str]) -> Result<(), Problem> {
        let Some(found) = self.peek() else { return Ok(()) };
        let message = format!("`{found}` is one word too many");
        let rest = self.rest[self.at..].join(" ");
        Err(match nearest_name(&rest, known.iter().copied()) {
            Some(word) => Problem::with_help(message, format!("did you mean `{word}`?")),
            None => Problem::new(message),
        })
    }
}

/// Makes an enumeration without data whose values are words of the format. A value that is marked as
/// the default may be left out.
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $name:ident is $what:literal shape $shape:literal $(default $default:ident)? {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $doc])+ $variant),+
        }

        impl $name {
            /// The words for it, in the order in which they are described.
            pub const WORDS: &'static [$crate::words::Word<$name>] = &[
                $($crate::words::Word {
                    word: $word,
                    value: $name::$variant,
                    meaning: concat!($($doc),+),
                }),+
            ];

            /// What is meant when no word is given.
            pub const DEFAULT: Option<$name> = {
                #[allow(unused_mut, unused_assignments)]
                let mut default = None;
                $(default = Some($name::$default);)?
                default
            };

            /// Its word.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word),+
                }
            }
        }

        impl $crate::words::Phrase for $name {
            const SHAPE: &'static str = $shape;

            fn read(words: &mut $crate::words::Words<'_>) -> Result<$name, $crate::words::Problem> {
                match $name::DEFAULT {
                    Some(default) => Ok(words.take_of($name::WORDS).unwrap_or(default)),
                    None => words.expect_of($what, $name::WORDS),
                }
            }

            fn text(&self) -> String {
                if $name::DEFAULT == Some(*self) { String::new() } else { self.word().to_owned() }
            }
        }

        impl $crate::words::InRust for $name {
            fn rust(&self) -> String {
                format!(concat!(stringify!($name), "::{:?}"), self)
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_named_and_nothing_is_made_up() {
        assert_eq!(nearest_name("aquire", ["acquire", "release"]), Some("acquire"));
        assert_eq!(nearest_name("zzz", ["acquire", "release"]), None);
        let problem = Problem::unknown("mode", Some("exclusiv"), &["exclusive", "shared"]);
        assert_eq!(problem.to_string(), "`exclusiv` is no mode; did you mean `exclusive`?");
    }
}
