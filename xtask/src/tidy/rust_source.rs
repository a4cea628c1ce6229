//! Rust as text: what is code, what is a comment and what is a literal, as far as checks need it.

/// A source file, taken apart.
pub(crate) struct RustSource {
    /// The text with comments and the contents of literals blanked out; every byte is where it was.
    pub(crate) code: String,
    /// The literals of strings, with the line on which each begins.
    pub(crate) strings: Vec<(usize, String)>,
    /// The line of the first `#[cfg(test)]` that begins a line: from there on, there are tests.
    pub(crate) tests_from: Option<usize>,
}

impl RustSource {
    pub(crate) fn new(text: &str) -> RustSource {
        let (code, strings) = split(text);
        let lines: Vec<&str> = code.lines().collect();
        // A module in another file ends on its line, and what follows is no test.
        let has_body = |at: usize| {
            let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["));
            item.is_some_and(|item| !item.trim_end().ends_with(';'))
        };
        let is_test = |at: &usize| is_test_attribute(lines[*at]) && has_body(*at);
        let tests_from = (0..lines.len()).find(is_test).map(|at| at + 1);
        RustSource { code, strings, tests_from }
    }

    /// Lines of code, numbered from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    pub(crate) fn is_in_tests(&self, line: usize) -> bool {
        self.tests_from.is_some_and(|from| line >= from)
    }
}

/// Whether a line says that the next item is for tests only.
fn is_test_attribute(line: &str) -> bool {
    line.starts_with("#[cfg(") && has_word(line, "test") && !line.contains("not(")
}

/// The modules in other files that are for tests only.
pub(crate) fn test_modules(text: &str) -> Vec<&str> {
    let mut lines = text.lines();
    let mut modules = Vec::new();
    while let Some(line) = lines.next() {
        if is_test_attribute(line)
            && let Some(item) = lines.next().and_then(|item| item.strip_suffix(';'))
            && let Some((_, name)) = item.split_once("mod ")
        {
            modules.push(name);
        }
    }
    modules
}

/// Whether a line of code has a word, and not only as a part of a longer one.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_part)
            && !line[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

fn split(text: &str) -> (String, Vec<(usize, String)>) {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut strings = Vec::new();
    let mut at = 0;
    let blank = |code: &mut [u8], from: usize, to: usize| {
        for byte in &mut code[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            let end = at + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            blank(&mut code, at, end);
            at = end;
        } else if rest.starts_with(b"/*") {
            let end = end_of_comment(bytes, at);
            blank(&mut code, at, end);
            at = end;
        } else if let Some((from, to, end)) = string_at(bytes, at) {
            let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
            strings.push((line, String::from_utf8_lossy(&bytes[from..to]).into_owned()));
            blank(&mut code, from, to);
            at = end;
        } else if rest[0] == b'\'' {
            // A character, or a lifetime, which has no second quote.
            let end = match rest.get(1) {
                Some(b'\\') => {
                    rest[2..].iter().skip(1).position(|&byte| byte == b'\'').map(|it| it + 4)
                }
                Some(_) => {
                    let width = text[at + 1..].chars().next().map_or(1, char::len_utf8);
                    (rest.get(1 + width) == Some(&b'\'')).then_some(width + 2)
                }
                None => None,
            };
            if let Some(length) = end {
                blank(&mut code, at + 1, at + length - 1);
            }
            at += end.unwrap_or(1);
        } else {
            at += 1;
        }
    }
    (String::from_utf8_lossy(&code).into_owned(), strings)
}

/// Where a comment ends that may hold others.
fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// A string literal that begins here: where its contents begin and end, and where it ends itself.
fn string_at(bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut open = at;
    if matches!(bytes[at], b'r' | b'b' | b'c') {
        if at > 0 && is_part(bytes[at - 1]) {
            return None;
        }
        while matches!(bytes.get(open), Some(b'r' | b'b' | b'c')) && open < at + 2 {
            open += 1;
        }
        let hashes = bytes[open..].iter().take_while(|&&byte| byte == b'#').count();
        let is_raw = bytes[at..open].contains(&b'r');
        if bytes.get(open + hashes) != Some(&b'"') || (hashes > 0 && !is_raw) {
            return None;
        }
        if is_raw {
            let from = open + hashes + 1;
            let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
            let length = bytes[from..].windows(close.len()).position(|window| window == close)?;
            return Some((from, from + length, from + length + close.len()));
        }
    }
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let from = open + 1;
    let mut to = from;
    while to < bytes.len() && bytes[to] != b'"' {
        to += if bytes[to] == b'\\' { 2 } else { 1 };
    }
    let to = to.min(bytes.len());
    Some((from, to, (to + 1).min(bytes.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_code() {
        let text = "let a = \"x // \\\" y\"; // unsafe\nlet b = r#\"a \"quoted\" b\"#; /* /* c */ */ let c = '\"';\n\
                    fn f<'a>(s: &'a str) -> char { '\\'' } let d = b\"e\";\n#[cfg(test)]\nmod tests {}\n";
        let source = RustSource::new(text);
        let strings: Vec<(usize, &str)> =
            source.strings.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(strings, [(1, "x // \\\" y"), (2, "a \"quoted\" b"), (3, "e")]);
        assert_eq!(source.code.len(), text.len());
        assert!(!source.code.contains("unsafe") && !source.code.contains("quoted"));
        assert!(
            source.code.contains("let c = ' ';") && source.code.contains("fn f<'a>(s: &'a str)")
        );
        assert_eq!(source.tests_from, Some(4));
        assert!(!source.is_in_tests(3) && source.is_in_tests(5));
    }

    #[test]
    fn a_module_in_another_file_does_not_make_the_rest_a_test() {
        let text = "mod a;\n#[cfg(test)]\nmod oracle;\nfn f() {}\n#[cfg(all(test, unix))]\nmod tests {\n}\n";
        assert_eq!(RustSource::new(text).tests_from, Some(5));
        assert_eq!(test_modules(text), ["oracle"]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("x.sleep(y)", "sleep") && has_word("sleep", "sleep"));
        assert!(!has_word("asleep", "sleep") && !has_word("sleep_well", "sleep"));
    }
}
