//! Texts of programs as readers may see them.

/// The text, with a replacement character for each character that no reader would see or that changes how others
/// are shown: control characters, and those that change the direction of text.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .map(|character| if is_hidden(character) { '\u{fffd}' } else { character })
        .collect()
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

/// The same, shortened in its middle, because the beginning and the end of a name tell it from others.
pub(super) fn shown_within(text: &str, characters: usize) -> String {
    let shown = shown(text);
    let length = shown.chars().count();
    if length <= characters {
        return shown;
    }
    let end = characters / 2;
    let beginning: String = shown.chars().take(characters - end - 1).collect();
    let rest: String = shown.chars().skip(length - end).collect();
    format!("{beginning}…{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_is_replaced() {
        assert_eq!(shown("a\u{1b}[31m\u{7f}\u{9b}b\nc"), "a\u{fffd}[31m\u{fffd}\u{fffd}b\u{fffd}c");
        assert_eq!(shown("nimda\u{202e}admin"), "nimda\u{fffd}admin");
        assert_eq!(shown("Größe<T>&"), "Größe<T>&");
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shown_within("abcdefghij", 10), "abcdefghij");
        assert_eq!(shown_within("abcdefghijk", 7), "abc…ijk");
    }
}
