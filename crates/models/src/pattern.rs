//! Patterns for classes and methods, as users write them: `java.util.*`, `com.acme.**.Cache.get*`.

use std::fmt;

/// A pattern over dotted names. `*` stands for any characters but a dot, `**` for any characters
/// at all. A pattern matches a name as a whole, or everything below it: `java.util` matches
/// `java.util.Vector` and `java.util.Vector.add`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern with this text; slashes count as dots.
    #[must_use]
    pub fn new(text: &str) -> Pattern {
        Pattern(text.replace('/', "."))
    }

    /// Whether it matches a dotted name, or something that contains it.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        matches(self.0.as_bytes(), name.as_bytes())
    }
}

impl Pattern {
    /// Whether it names something inside this class: a method of it.
    #[must_use]
    pub fn is_below(&self, class: &str) -> bool {
        self.0.strip_prefix(class).is_some_and(|rest| rest.starts_with('.'))
    }

    /// Whether it may match a member of this class: its last part is a name, or stars, and what stands
    /// before matches the class as a whole.
    #[must_use]
    pub fn names_member_of(&self, class: &str) -> bool {
        self.0
            .rsplit_once('.')
            .is_some_and(|(before, _)| covers(before.as_bytes(), class.as_bytes()))
    }

    /// Whether it begins with the name of a package or class, and not with a star.
    #[must_use]
    pub fn names_a_root(&self) -> bool {
        !self.0.starts_with('*')
    }
}

/// Whether a pattern matches a name as a whole, and not something around it.
pub(crate) fn covers(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|skip| covers(rest, &name[skip..])),
        [b'*', rest @ ..] => {
            let longest = name.iter().position(|byte| *byte == b'.').unwrap_or(name.len());
            (0..=longest).any(|skip| covers(rest, &name[skip..]))
        }
        [first, rest @ ..] => {
            name.split_first().is_some_and(|(byte, name)| byte == first && covers(rest, name))
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty() || name[0] == b'.' || name[0] == b'$',
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
        [b'*', rest @ ..] => {
            let longest = name.iter().position(|byte| *byte == b'.').unwrap_or(name.len());
            (0..=longest).any(|skip| matches(rest, &name[skip..]))
        }
        [first, rest @ ..] => {
            name.split_first().is_some_and(|(byte, name)| byte == first && matches(rest, name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn stars_stop_at_dots_and_double_stars_do_not() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(matches("java.util.*", "java.util.Vector"));
        assert!(matches("java.util.*", "java.util.Vector.add"));
        assert!(!matches("*.Vector", "java.util.Vector"));
        assert!(matches("**.Vector", "java.util.Vector"));
        assert!(matches("java.util", "java.util.Vector"));
        assert!(!matches("java.util.Vec", "java.util.Vector"));
        assert!(matches("java.util.Vec*.add*", "java.util.Vector.addAll"));
        assert!(matches("java/util/Map", "java.util.Map$Entry"));
    }

    #[test]
    fn a_pattern_of_methods_names_its_class() {
        let names = |pattern: &str, class: &str| Pattern::new(pattern).names_member_of(class);
        assert!(names("java.util.Vec*.add*", "java.util.Vector"));
        assert!(names("**.get", "java.util.Vector"));
        assert!(!names("java.util.Vector", "java.util.Vector"));
        assert!(!names("java.util.Vector", "java.util.sub.Vector"));
    }
}
