//! The known name that a misspelled one probably means.

/// Edits after which a name is no longer recognised, whatever its length.
const MOST_EDITS: usize = 3;

/// The known name that is nearest to a word: at most three insertions, deletions, changes or swaps of
/// neighbours away, and at most half its length; or the word is its beginning. Of names that are equally near
/// the alphabetically first one.
#[must_use]
pub fn nearest_name<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_near = |distance: usize, name: &str| {
        distance <= name.len().max(word.len()).div_ceil(2).min(MOST_EDITS)
            || (!word.is_empty() && name.starts_with(word))
    };
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(word, name), name))
        .filter(|(distance, name)| is_near(*distance, name))
        .min()
        .map(|(_, name)| name)
}

/// The nearest known name as the end of a sentence: "; did you mean `exclude`?". Empty when none is near.
#[must_use]
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest_name(word, known).map_or(String::new(), |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_nearest_by_few_edits_or_as_a_beginning() {
        let known = ["include", "exclude", "rd", "wr", "ownership-filter", "arrays"];
        let nearest = |word| nearest_name(word, known);
        assert_eq!(nearest("exlude"), Some("exclude"));
        assert_eq!(nearest("raed"), Some("rd"));
        assert_eq!(nearest("ownership"), Some("ownership-filter"));
        assert_eq!(nearest("array"), Some("arrays"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest(""), None);
        assert_eq!(did_you_mean("exlude", known), "; did you mean `exclude`?");
        assert_eq!(did_you_mean("colour", known), "");
    }

    #[test]
    fn the_alphabetically_first_of_equally_near_names_is_taken() {
        assert_eq!(nearest_name("cat", ["car", "bat", "cap"]), Some("bat"));
    }
}
