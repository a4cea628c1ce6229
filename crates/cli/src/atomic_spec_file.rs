//! The file of `--learn-spec`: methods that runs have shown not to be atomic.
//!
//! Most code that is split was never meant to be atomic, and few programs say what is. So each run excludes
//! what earlier runs have refuted, until a run has no findings: the rest is a specification that the
//! program satisfies. The experiments of the paper (Velodrome, section 5) start with such a list.
//!
//! Only blocks that a run refuted are learned: those of findings `not-serializable` of high severity, the
//! blamed block and the blocks around it that the same cycle refutes. A cycle without a single block to
//! blame refutes none, and a block that waits releases its lock on purpose.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use findings::{Cycle, Finding, Severity, Site};
use models::Pattern;

use crate::config::{parse_exclusions, why_unreadable};
use crate::output;

/// The rule whose findings refute blocks.
const RULE: &str = "not-serializable";

const HEAD: &str = "\
# Methods that are not atomic, learned from runs by `scission --learn-spec`.
# Runs that are given this file do not report them, and add what several of them find.
# Delete an entry when its method has been mended: the next run looks at it again.
";

/// The entries of a file, and those that runs have added.
#[derive(Debug)]
pub(crate) struct LearnedSpec {
    path: PathBuf,
    /// What was read; nothing when the file is not there yet.
    text: Option<String>,
    /// The lines of the comment above each method.
    methods: BTreeMap<String, Vec<String>>,
    /// Methods that too few runs have found not to be atomic: how many, and what they found.
    candidates: BTreeMap<String, (u32, String)>,
}

/// A method that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Learned {
    pub(crate) method: String,
    /// The sentence of the finding that runs with the file do not report.
    pub(crate) hides: String,
}

impl LearnedSpec {
    /// Reads a specification; one that is not there is empty.
    pub(crate) fn read(path: &Path) -> anyhow::Result<LearnedSpec> {
        let refused = |why: String| {
            anyhow!("cannot use the learned specification `{}`: {why}", path.display())
        };
        // Devices and pipes are written to; reading them may never end.
        let is_read = output_file::is_regular_or_new(path);
        let text = match is_read.then(|| fs::read_to_string(path)).transpose() {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(refused(why_unreadable(&error))),
        };
        let mut methods = BTreeMap::new();
        let candidates = text.as_deref().map_or_else(BTreeMap::new, candidates);
        if let Some(text) = &text {
            let excluded =
                parse_exclusions(text, path).map_err(|error| refused(format!("{error:#}")))?;
            let mut comments = comments(text);
            for pattern in excluded {
                let pattern = pattern.to_string();
                let comment = comments.remove(&pattern).unwrap_or_default();
                methods.insert(pattern, comment);
            }
        }
        Ok(LearnedSpec { path: path.to_path_buf(), text, methods, candidates })
    }

    /// The methods that are not atomic.
    pub(crate) fn exclusions(&self) -> Vec<Pattern> {
        self.methods.keys().map(|method| Pattern::new(method)).collect()
    }

    /// What the user calls the file.
    pub(crate) fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// How many methods were found not to be atomic by too few runs.
    pub(crate) fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// Counts the methods that the findings of one run refute, and adds those that this many runs have refuted.
    pub(crate) fn learn<'a>(
        &mut self,
        findings: impl Iterator<Item = &'a Finding>,
        after: u32,
    ) -> Vec<Learned> {
        let mut refuted: BTreeMap<String, &Finding> = BTreeMap::new();
        for finding in findings.filter(|finding| refutes(finding)) {
            let cycles = finding.witnesses.iter().filter_map(|witness| witness.cycle.as_ref());
            let outer = cycles.flat_map(|cycle| &cycle.outer_blocks);
            for block in std::iter::once(&finding.blame).chain(outer) {
                let method = block.method_name();
                if !block.method.is_empty() && !is_of_platform(block) && !self.is_excluded(&method)
                {
                    refuted.entry(method).or_insert(finding);
                }
            }
        }
        let mut added = Vec::new();
        for (method, finding) in refuted {
            let hides = single_line(&report::message(finding));
            let runs = self.candidates.get(&method).map_or(0, |(runs, _)| *runs) + 1;
            if runs < after {
                self.candidates.insert(method, (runs, hides));
            } else {
                self.candidates.remove(&method);
                let comment = vec![evidence(finding), format!("# hides: {hides}")];
                self.methods.insert(method.clone(), comment);
                added.push(Learned { method, hides });
            }
        }
        added
    }

    fn is_excluded(&self, method: &str) -> bool {
        self.methods.keys().any(|known| Pattern::new(known).matches(method))
    }

    /// Writes the file atomically, unless it is up to date.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        self.render(&mut text)?;
        if self.text.as_ref().is_some_and(|known| known.as_bytes() == text) {
            return Ok(());
        }
        output::write_file(&self.path, |writer| writer.write_all(&text))
    }

    fn render(&self, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(writer, "{HEAD}\n[atomic]\nexclude = [")?;
        for (method, comment) in &self.methods {
            for line in comment {
                writeln!(writer, "    {line}")?;
            }
            writeln!(writer, "    {},", quoted(method))?;
        }
        writeln!(writer, "]")?;
        for (method, (runs, hides)) in &self.candidates {
            writeln!(writer, "{CANDIDATE}{runs} {method}: {hides}")?;
        }
        Ok(())
    }
}

/// What stands in front of the number of runs that have found a method not to be atomic, while they are too few.
const CANDIDATE: &str = "# not yet excluded, found in runs: ";

fn candidates(text: &str) -> BTreeMap<String, (u32, String)> {
    let candidate = |line: &str| {
        let (runs, rest) = line.strip_prefix(CANDIDATE)?.split_once(' ')?;
        let (method, hides) = rest.split_once(": ")?;
        Some((method.to_string(), (runs.parse().ok()?, hides.to_string())))
    };
    text.lines().filter_map(candidate).collect()
}

/// Whether a block is in a class of the platform, which nobody who learns a specification can mend.
fn is_of_platform(block: &Site) -> bool {
    models::language::is_platform(&block.class.replace('.', "/"))
}

fn single_line(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

fn refutes(finding: &Finding) -> bool {
    // What stands under a finding may have raised its severity, and was not observed.
    let mut cycles = finding.witnesses.iter().filter_map(|witness| witness.cycle.as_ref());
    let is_blamed = |cycle: &Cycle| {
        cycle.benign.is_none() && cycle.transactions.iter().any(|transaction| transaction.is_blamed)
    };
    finding.rule == RULE
        && finding.severity == Severity::High
        && (finding.also.is_empty() || cycles.any(is_blamed))
}

/// What a run has shown: where the block was split.
fn evidence(finding: &Finding) -> String {
    let steps = finding.witnesses.iter().flat_map(|witness| &witness.steps);
    let places = ["first", "second"].into_iter().filter_map(|role| {
        let mut steps = steps.clone();
        steps.find(|step| step.role == role).map(|step| place(&step.site))
    });
    format!("# {RULE}: {}", places.collect::<Vec<_>>().join(", then "))
}

/// `Account.java:12`, else the method.
fn place(site: &Site) -> String {
    let text = match (&site.file, site.line) {
        (Some(file), Some(line)) => {
            format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
        }
        _ => site.method_name(),
    };
    text.chars().filter(|character| !character.is_control()).collect()
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(character)));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The comments right above the entries of a file that was written here, and perhaps edited since.
fn comments(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut above: Vec<String> = Vec::new();
    let mut comments = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') {
            above.push(line.to_string());
            continue;
        }
        let entry = line.trim_end_matches(',');
        if let Some(name) = entry.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            comments.insert(name.to_string(), std::mem::take(&mut above));
        }
        above.clear();
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{Evidence, Step, Witness};

    fn site(method: &str, line: u32) -> Site {
        Site {
            class: "p.Account".into(),
            method: method.into(),
            descriptor: "()V".into(),
            offset: None,
            file: Some("p/Account.java".into()),
            line: Some(line),
        }
    }

    fn finding(method: &str, severity: Severity, outer: &[&str]) -> Finding {
        let cycle = Cycle {
            transactions: Vec::new(),
            edges: Vec::new(),
            outer_blocks: outer.iter().map(|method| site(method, 1)).collect(),
            count: 1,
            benign: None,
        };
        let steps = vec![Step::at("first", site(method, 12)), Step::at("second", site(method, 14))];
        Finding {
            rule: RULE,
            evidence: Evidence::Observed,
            severity,
            blame: site(method, 11),
            subjects: BTreeMap::new(),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![Witness { analysis: "velodrome", steps, cycle: Some(cycle) }],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    #[test]
    fn what_is_learned_is_read_again_with_its_evidence() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("learned.toml");
        let mut spec = LearnedSpec::read(&path).unwrap();
        assert!(spec.exclusions().is_empty());
        let found = [
            finding("withdraw", Severity::High, &["transfer"]),
            finding("cycle", Severity::Medium, &[]),
            finding("waits", Severity::Low, &[]),
        ];
        let raised = Finding { also: vec![finding("x", Severity::High, &[])], ..found[0].clone() };
        assert_eq!(spec.learn([raised].iter(), 1), []);
        assert_eq!(spec.learn(found.iter(), 2), []);
        spec.write().unwrap();
        let mut spec = LearnedSpec::read(&path).unwrap();
        assert_eq!((spec.exclusions().len(), spec.candidates()), (0, 2));
        let added = spec.learn(found.iter(), 2);
        let methods: Vec<&str> = added.iter().map(|it| it.method.as_str()).collect();
        assert_eq!(methods, ["p.Account.transfer", "p.Account.withdraw"]);
        assert!(added[0].hides.starts_with("`p.Account.withdraw` is not atomic"), "{added:?}");
        assert_eq!(spec.candidates(), 0);
        spec.write().unwrap();
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.starts_with(HEAD));
        assert!(written.ends_with(
            "[atomic]
exclude = [
    # not-serializable: Account.java:12, then Account.java:14
    # hides: `p.Account.withdraw` is not atomic: another thread ran between its use of `first` and its use of `second`
    \"p.Account.transfer\",
    # not-serializable: Account.java:12, then Account.java:14
    # hides: `p.Account.withdraw` is not atomic: another thread ran between its use of `first` and its use of `second`
    \"p.Account.withdraw\",
]
"
        ));
        // What people add stays, and what is known is not learned twice.
        let edited = written.replace(
            "    # not-serializable: Account.java:12, then Account.java:14\n    # hides: `p.Account.withdraw` is not atomic: another thread ran between its use of `first` and its use of `second`\n    \"p.Account.t",
            "    # Of the old days.\n    \"p.Old\",\n    # We know.\n    \"p.Account.t",
        );
        fs::write(&path, &edited).unwrap();
        let mut spec = LearnedSpec::read(&path).unwrap();
        let excluded: Vec<String> = spec.exclusions().iter().map(ToString::to_string).collect();
        assert_eq!(excluded, ["p.Account.transfer", "p.Account.withdraw", "p.Old"]);
        assert_eq!(spec.learn(found.iter(), 1), []);
        spec.write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("    # We know.\n    \"p.Account.transfer\",\n"), "{text}");
        assert!(text.contains("    # Of the old days.\n    \"p.Old\",\n]"), "{text}");
    }

    #[test]
    fn a_file_that_says_more_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scission.toml");
        for (text, why) in [
            ("paths = []", "unknown key `paths`"),
            ("[atomic]\ninclude = [\"a\"]", "unknown key `include`"),
            ("[atomic", "is not TOML"),
            ("[atomic]\nexclude = [\"a b\"]", "is not a pattern"),
        ] {
            fs::write(&path, text).unwrap();
            let error = LearnedSpec::read(&path).unwrap_err().to_string();
            assert!(error.starts_with("cannot use the learned specification `"), "{error}");
            assert!(error.contains(why), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let error = LearnedSpec::read(directory.path()).unwrap_err().to_string();
        assert!(error.ends_with("it is a directory"), "{error}");
    }
}
