//! What people have judged of the methods that a checker blames, each with the reason: the format of `bench/hybrid.txt`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

/// What a blamed method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It can be split, and then does something wrong.
    Bug,
    /// It can be split, and that does no harm.
    Benign,
    /// It cannot be split.
    False,
}

/// A program, and what was judged of its methods.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct JudgedProgram {
    /// Its class below `programs`.
    pub(crate) name: String,
    /// Where it stands in the file.
    pub(crate) line: usize,
    methods: BTreeMap<String, Judgement>,
}

impl JudgedProgram {
    /// What was judged of a method, if anything.
    pub(crate) fn judgement(&self, method: &str) -> Option<Judgement> {
        self.methods.get(method).copied()
    }
}

/// Reads judgements, by program. A line is `program NAME` or `bug METHOD: REASON`, likewise with `benign` and `false`.
pub(crate) fn parse(text: &str, file: &str) -> Result<BTreeMap<String, JudgedProgram>> {
    let mut programs: BTreeMap<String, JudgedProgram> = BTreeMap::new();
    let mut current = None;
    for (number, line) in text.lines().enumerate() {
        let wrong = || format!("{file}, line {}", number + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (word, rest) = line.split_once(' ').with_context(wrong)?;
        if word == "program" {
            let name = rest.trim().to_owned();
            let program = JudgedProgram { name: name.clone(), line: number, ..Default::default() };
            if programs.insert(name.clone(), program).is_some() {
                bail!("{}: {name} stands there twice", wrong());
            }
            current = Some(name);
            continue;
        }
        let judgement = match word {
            "bug" => Judgement::Bug,
            "benign" => Judgement::Benign,
            "false" => Judgement::False,
            other => bail!("{}: `{other}` means nothing", wrong()),
        };
        let program = current.as_ref().and_then(|name| programs.get_mut(name));
        let program = program.with_context(|| format!("{}: of which program?", wrong()))?;
        let (method, reason) = rest.split_once(':').unwrap_or((rest, ""));
        if reason.trim().is_empty() {
            bail!("{}: why is {method} so judged?", wrong());
        }
        if program.methods.insert(method.trim().to_owned(), judgement).is_some() {
            bail!("{}: {method} is judged twice", wrong());
        }
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_judgement_needs_a_program_and_a_reason() {
        let text = "# why\n\nprogram Tsp\n  bug Tsp$Best.improve: compares without the lock\n";
        let programs = parse(text, "file").unwrap();
        assert_eq!(programs["Tsp"].judgement("Tsp$Best.improve"), Some(Judgement::Bug));
        assert_eq!(programs["Tsp"].judgement("Tsp$Best.length"), None);
        let problem = |text: &str| parse(text, "file").unwrap_err().to_string();
        assert!(problem("bug Tsp.improve: why").contains("line 1: of which program?"));
        assert!(problem("program Tsp\nbug Tsp.improve").contains("why is Tsp.improve"));
        assert!(problem("program Tsp\nperhaps Tsp.improve: why").contains("`perhaps`"));
        assert!(problem("program Tsp\nbug a: b\nfalse a: b").contains("twice"));
        assert!(problem("program Tsp\nprogram Tsp").contains("twice"));
    }
}
