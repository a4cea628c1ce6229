//! Programs whose verdict is known: the oracle is checked against them, and then the analyses.
//!
//! Each is a file of `programs`. Comments at its head say what it is about, what its interleavings show
//! (`shows: race Store.x`), which known gap makes the analyses miss it (`missed: Volatile`), and what they
//! report although no interleaving shows it (`made up: data-race -- why`).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A program with what its interleavings show, and what the analyses do not get right.
#[derive(Debug, Default)]
pub(crate) struct Case {
    /// The name of its class.
    pub(crate) class: String,
    pub(crate) text: String,
    /// `race Store.x`, `deadlock Store.one Store.two`, `deadlock join`, `deadlock waiting`, `not atomic
    /// Store.add`.
    pub(crate) shows: BTreeSet<String>,
    /// The gaps that it falls into.
    pub(crate) missed: BTreeSet<String>,
    /// The rules with findings that no interleaving shows.
    pub(crate) made_up: BTreeSet<String>,
}

/// All of them, by name.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interleavings_oracle/programs");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the programs are there")
        .map(|file| file.expect("the programs are listed").path())
        .collect();
    files.sort();
    files.iter().map(|file| case(file)).collect()
}

fn case(file: &Path) -> Case {
    let class = file.file_stem().and_then(|name| name.to_str()).expect("a name").to_string();
    let text = fs::read_to_string(file).expect("a program is read");
    let mut case = Case { class, ..Case::default() };
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        match line.split_once(": ") {
            Some(("shows", shown)) => case.shows.insert(shown.to_string()),
            Some(("missed", gap)) => case.missed.insert(gap.to_string()),
            Some(("made up", found)) => {
                let (rule, _) = found.split_once(" -- ").expect("a reason is given");
                case.made_up.insert(rule.to_string())
            }
            _ => continue,
        };
    }
    case.text = text;
    case
}
