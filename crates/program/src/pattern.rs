//! Patterns for classes and methods, as users write them: `java.util.*`, `com.acme.**.Cache.get*`.

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
}
