//! Text that may reach a terminal, which obeys control characters wherever they come from.

/// The text, with each control character but the end of a line and the tabulator replaced.
#[must_use]
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' | '\t' => character,
            other if other.is_control() => char::REPLACEMENT_CHARACTER,
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_no_control_characters() {
        assert_eq!(harmless("a\u{1b}[31m\u{9b}\r\n\tb"), "a\u{fffd}[31m\u{fffd}\u{fffd}\n\tb");
    }
}
