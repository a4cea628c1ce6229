//! Matches on events, effects, hooks and operations name every case: a new one makes every reader of them answer. The
//! compiler holds that as long as no arm takes the rest, so this check looks for `_ =>` and `name =>` beside arms that
//! name one of these enums. A match that asks for a few effects, as the accesses, is a question and may leave the
//! others out; one that names more of them interprets them, and must answer for all.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Problem;
use super::rust_source::RustSource;
use super::tree::Tree;

/// The closed vocabularies: what a run does, what library code does, what hooks report.
const ENUMS: &[&str] = &["Action", "Effect", "EventKind", "Hook", "Op"];

/// How many effects a match may name and leave the others out: the five kinds of accesses.
const MOST_EFFECTS_ASKED_FOR: usize = 5;

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    Ok(wildcards(tree))
}

fn wildcards(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| !file.is_test() && file.path.starts_with("crates/"))
    {
        let source = RustSource::new(&file.text);
        for found in matches(&source.code) {
            let of_ours = found.arms.iter().find_map(|arm| named_enum(arm.pattern));
            let Some(name) = of_ours else { continue };
            if name == "Effect" && found.named_effects() <= MOST_EFFECTS_ASKED_FOR {
                continue;
            }
            for arm in found.arms.iter().filter(|arm| takes_the_rest(arm.pattern)) {
                let line = 1 + source.code[..arm.at].matches('\n').count();
                if !source.is_in_tests(line) {
                    let sentence = format!(
                        "an arm takes the rest of `{name}`: name every case, so that a new one asks for an answer"
                    );
                    problems.push(Problem::at(&file.path, line, sentence));
                }
            }
        }
    }
    problems
}

/// One of the enums that the pattern itself is about; what stands in parentheses is about its parts.
fn named_enum(pattern: &str) -> Option<&'static str> {
    let outer =
        pattern.split(['(', '{']).next().unwrap_or(pattern).trim_start_matches(['|', ' ', '\n']);
    let path: Vec<&str> = outer.split("::").collect();
    let name = path.len().checked_sub(2).map(|at| path[at].trim())?;
    ENUMS.iter().find(|known| **known == name).copied()
}

/// `_`, or a name, both without a condition.
fn takes_the_rest(pattern: &str) -> bool {
    let pattern = pattern.trim();
    pattern == "_"
        || (!pattern.is_empty() && pattern.chars().all(|it| it.is_ascii_lowercase() || it == '_'))
}

struct Match<'a> {
    arms: Vec<Arm<'a>>,
}

impl Match<'_> {
    fn named_effects(&self) -> usize {
        let named = self.arms.iter().flat_map(|arm| arm.pattern.split("Effect::").skip(1));
        let variant = |rest: &str| rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        named.map(variant).collect::<BTreeSet<String>>().len()
    }
}

struct Arm<'a> {
    pattern: &'a str,
    at: usize,
}

/// All matches of a file, those inside others included.
fn matches(code: &str) -> Vec<Match<'_>> {
    let bytes = code.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    code.match_indices("match ")
        .filter(|(at, _)| *at == 0 || !is_part(bytes[at - 1]))
        .filter_map(|(at, _)| {
            let open = opening_brace(code, at + "match ".len())?;
            Some(Match { arms: arms(code, open + 1) })
        })
        .collect()
}

/// The brace that opens the arms: the first outside of parentheses.
fn opening_brace(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (offset, byte) in code[from..].bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'{' if depth == 0 => return Some(from + offset),
            b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The arms up to the brace that closes the match.
fn arms(code: &str, from: usize) -> Vec<Arm<'_>> {
    let bytes = code.as_bytes();
    let mut arms = Vec::new();
    let (mut depth, mut at, mut start) = (0i32, from, from);
    let mut in_pattern = true;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth -= 1,
            b'}' => {
                depth -= 1;
                if depth < 0 {
                    break;
                }
                // A block ends its arm.
                if depth == 0 && !in_pattern {
                    let follows = code[at + 1..].trim_start();
                    if !follows.starts_with('.')
                        && !follows.starts_with('?')
                        && !follows.starts_with(',')
                    {
                        (in_pattern, start) = (true, at + 1);
                    }
                }
            }
            b',' if depth == 0 && !in_pattern => (in_pattern, start) = (true, at + 1),
            b'=' if depth == 0 && in_pattern && bytes.get(at + 1) == Some(&b'>') => {
                let pattern = &code[start..at];
                let blank = pattern.len() - pattern.trim_start().len();
                arms.push(Arm { pattern, at: start + blank });
                in_pattern = false;
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    arms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Option<usize>> {
        let tree = Tree::of(&[("crates/a/src/lib.rs", text)]);
        wildcards(&tree).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn an_arm_for_the_rest_is_a_problem() {
        let text = "\
fn f(event: Event) -> bool {
    match event.action {
        Action::Begin { site } => { g(site) }
        Action::End(_) | events::Action::Read => match x {
            Some(_) => true,
            _ => false,
        },
        _ => false,
    }
}
";
        assert_eq!(lines(text), [Some(8)]);
        assert_eq!(lines("match e { EventKind::A => 1,\n other => 2 }"), [Some(2)]);
        let interprets = "match e {\nEffect::A { .. } | Effect::B | Effect::C => 1, Effect::D => 2,\nEffect::E => 3, Effect::F => 4,\n_ => 5 }";
        assert_eq!(lines(interprets), [Some(4)]);
    }

    #[test]
    fn other_matches_are_left_alone() {
        assert!(lines("match e { Some(Action::Begin) => 1, _ => 2 }").is_empty());
        assert!(
            lines("match e { Action::Begin => 1, Action::End if x => 2, Action::End => 3 }")
                .is_empty()
        );
        assert!(lines("match e { Effect::A | Effect::B => 1, Effect::C => 2, _ => 3 }").is_empty());
        assert!(lines("match e { GapKind::Limit => 1, _ => 2 }").is_empty());
        assert!(
            lines("#[cfg(test)]\nmod tests { fn f() { match e { Op::A => 1, _ => 2 } } }")
                .is_empty()
        );
    }
}
