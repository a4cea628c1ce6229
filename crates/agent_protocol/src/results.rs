//! What an agent leaves behind: one file a process, in the directory that its options name.
//!
//! The file is there from the moment the agent begins its work, and is written anew at the end. A process
//! that was killed leaves the first one, so that whoever reads the directory knows that it has been there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use findings::{Finding, Gap};
use serde::{Deserialize, Serialize};

use crate::SharedField;

/// What the file says it is.
const FORMAT: &str = "scission-results";

/// Grows whenever an older reader would misunderstand the file.
const VERSION: u64 = 1;

/// How far an agent had come when it wrote its results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The JVM was running: unless a later file replaced this one, it was killed.
    #[default]
    Running,
    /// The agent saw the JVM end, and everything is here.
    Complete,
    /// The agent gave up its work before the JVM ended; the notes say why.
    Abandoned,
}

/// The events that a process recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The file, with the id of the process put in.
    #[serde(with = "crate::encoding::path")]
    pub file: PathBuf,
    /// How many events are in it.
    pub events: u64,
    /// How long it is.
    pub bytes: u64,
    /// Why it ends before the program does, in one clause; absent when it does not.
    pub stopped: Option<String>,
}

/// What one process left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// The id of the process, which is the name of the file too.
    pub process: u32,
    /// How far the agent had come.
    pub ending: Ending,
    /// The version that the JVM says it has: `17.0.11`.
    pub java_version: String,
    /// The name of the main class or of the jar, without arguments and directories.
    pub command: String,
    /// Classes that were loaded.
    pub classes_seen: u64,
    /// Classes of the program that are watched, whether they have anything to report or not.
    pub classes_watched: u64,
    /// Classes that were watched whole although there is a watch list, because nobody had analysed them.
    #[serde(default)]
    pub unlisted_classes: u64,
    /// Classes that were watched whole because another class of their name had been analysed.
    #[serde(default)]
    pub changed_classes: u64,
    /// Classes of libraries, and excluded ones, that give order only.
    #[serde(default)]
    pub classes_for_order: u64,
    /// How many classes are watched, by the name of the directory or archive that they come from; empty for those that
    /// were made while the program ran.
    #[serde(default)]
    pub watched_places: BTreeMap<String, u64>,
    /// Methods that could not be given hooks.
    pub methods_left_alone: u64,
    /// Hooks that were put in.
    pub hooks: u64,
    /// Threads that were seen.
    pub threads: u64,
    /// Events that the monitors and the recording saw.
    pub events: u64,
    /// Events that threads reported and that neither saw: a thread was stopped while it reported one.
    pub lost_events: u64,
    /// For how long there were events.
    #[serde(default)]
    pub milliseconds: u64,
    /// How long threads waited meanwhile until there was room for their events, all together.
    #[serde(default)]
    pub milliseconds_waited: u64,
    /// Violations that the monitors may have seen and do not report: the order of operations that overlapped is not
    /// known.
    #[serde(default)]
    pub uncertain_violations: u64,
    /// Sides of branches that were left out because they cannot be taken.
    #[serde(default)]
    pub infeasible_sides: u64,
    /// What would be done on sides of branches and was left out because it cannot be done: a reference is null there.
    #[serde(default)]
    pub impossible_steps: u64,
    /// The seed by which threads were held back, where they were.
    pub seed: Option<u64>,
    /// How often threads were held back.
    pub holds: u64,
    /// How long, in slices of a millisecond; a hold that ends early has few.
    pub hold_slices: u64,
    /// The fields that more than one thread used, where they were asked for and are known to the end.
    #[serde(default)]
    pub shared_fields: Option<BTreeSet<SharedField>>,
    /// What was recorded, where that was asked for.
    pub recording: Option<Recording>,
    /// What the user should know, one sentence each, without the directories of this machine.
    pub notes: Vec<String>,
    /// What could not be watched.
    pub gaps: Vec<Gap>,
    /// What the monitors found.
    #[serde(deserialize_with = "crate::finding::read_all")]
    pub findings: Vec<Finding>,
}

/// What tells a file of results from other JSON, and one version from the next.
#[derive(Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<serde_json::Value>,
}

/// The file as it is written.
#[derive(Serialize)]
struct File<'a> {
    format: &'static str,
    version: u64,
    #[serde(flatten)]
    results: &'a Results,
}

/// Why a file is not the results of a process.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It could not be read.
    #[error("the results `{name}` cannot be read: {error}")]
    Unreadable {
        /// The name of the file.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// No JSON, or not of the expected shape.
    #[error("the results `{name}` are damaged: {error}")]
    Damaged {
        /// The name of the file.
        name: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// Results of another version, or another file.
    #[error(
        "the results `{name}` have version {found}, and this scission reads version {VERSION}: the \
         agent library must be of the same release"
    )]
    OtherVersion {
        /// The name of the file.
        name: String,
        /// The version it has.
        found: String,
    },
}

impl Results {
    /// Writes the results into a directory that is there, as a file that is whole or not there. A file
    /// that this process wrote before is replaced.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let file = File { format: FORMAT, version: VERSION, results: self };
        let text = serde_json::to_vec(&file)?;
        output_file::write_private(&directory.join(self.file_name()), &text)
    }

    /// `4711.json`.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.json", self.process)
    }

    /// Reads what [`Results::write`] wrote.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is of another version.
    pub fn read(path: &Path) -> Result<Results, ReadError> {
        let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let damaged = |error| ReadError::Damaged { name: name(), error };
        let text = fs::read(path).map_err(|error| ReadError::Unreadable { name: name(), error })?;
        let header: Header = serde_json::from_slice(&text).map_err(damaged)?;
        let is_ours = header.format.as_deref() == Some(FORMAT);
        match header.version {
            Some(version) if is_ours && version.as_u64() == Some(VERSION) => {}
            version => {
                let found = version.map_or("none".to_string(), |version| version.to_string());
                return Err(ReadError::OtherVersion { name: name(), found });
            }
        }
        serde_json::from_slice(&text).map_err(damaged)
    }
}

/// The end of the name of a file with what users are told at once.
const URGENT: &str = "urgent";

/// Leaves what users are to be told while a process runs, which may never end: one sentence a line, beside its results.
///
/// # Errors
/// Those of the file system.
pub fn write_urgent(directory: &Path, process: u32, sentences: &[String]) -> io::Result<()> {
    let path = directory.join(format!("{process}.{URGENT}"));
    output_file::write_private(&path, sentences.join("\n").as_bytes())
}

/// What all processes that left something in a directory want users to be told; nothing where it cannot be read.
#[must_use]
pub fn read_urgent(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension() == Some(OsStr::new(URGENT)));
    paths.sort();
    let texts = paths.iter().filter_map(|path| fs::read_to_string(path).ok());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Reads the results of all processes that left some in a directory, in the order of the process ids,
/// and what is wrong with those that could not be read, in the order of their names.
///
/// # Errors
/// When the directory cannot be read.
pub fn read_directory(directory: &Path) -> io::Result<(Vec<Results>, Vec<ReadError>)> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("json")) {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match Results::read(&path) {
            Ok(results) => all.push(results),
            Err(error) => errors.push(error),
        }
    }
    all.sort_by_key(|results| results.process);
    Ok((all, errors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{Evidence, GapKind, HeldLock, Severity, Site, Step, Witness, merge_and_rank};

    fn site(offset: u32) -> Site {
        Site {
            class: "p.A".into(),
            method: "m".into(),
            descriptor: "()V".into(),
            offset: Some(offset),
            file: Some("p/A.java".into()),
            line: None,
        }
    }

    fn results(process: u32) -> Results {
        let step = Step {
            call_chain: vec![site(4)],
            held_locks: vec![HeldLock { lock: "this".into(), taken_at: site(1) }],
            ..Step::at("first", site(3))
        };
        let finding = Finding {
            rule: "reacquired-lock",
            evidence: Evidence::Observed,
            severity: Severity::High,
            blame: site(0),
            subjects: BTreeMap::from([("witness", "point".to_string())]),
            stable_subjects: BTreeMap::from([("witness", "parameter 1".to_string())]),
            witnesses: vec![Witness::new("velodrome", vec![step])],
            distance: 2,
            fingerprint: None,
            also: Vec::new(),
        };
        Results {
            process,
            ending: Ending::Complete,
            java_version: "17.0.11".into(),
            command: "p.Main".into(),
            classes_seen: 500,
            classes_watched: 12,
            unlisted_classes: 2,
            changed_classes: 1,
            classes_for_order: 240,
            watched_places: BTreeMap::from([("target/classes".to_string(), 12)]),
            methods_left_alone: 1,
            hooks: 99,
            threads: 3,
            events: u64::MAX,
            lost_events: 2,
            milliseconds: 900,
            milliseconds_waited: 120,
            uncertain_violations: 3,
            infeasible_sides: 6,
            impossible_steps: 8,
            seed: Some(7),
            holds: 4,
            hold_slices: 80,
            shared_fields: Some(BTreeSet::from([SharedField {
                class: "p.A".into(),
                name: "x".into(),
            }])),
            recording: Some(Recording {
                file: "t.trace".into(),
                events: 5,
                ..Recording::default()
            }),
            notes: vec!["the disk is full".into()],
            gaps: vec![Gap::new(GapKind::Limit, "p.A.huge()V", "too large")],
            findings: merge_and_rank(vec![finding]),
        }
    }

    #[test]
    fn what_is_written_is_read_again_in_the_order_of_processes() {
        let directory = tempfile::tempdir().unwrap();
        for process in [100, 9, 20] {
            results(process).write(directory.path()).unwrap();
        }
        fs::write(directory.path().join("7.tmp"), "{").unwrap();
        let (all, errors) = read_directory(directory.path()).unwrap();
        assert_eq!(all, [results(9), results(20), results(100)]);
        assert!(errors.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_of_the_same_name_is_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (link, elsewhere) =
            (directory.path().join("7.json"), directory.path().join("elsewhere"));
        fs::write(&elsewhere, "of somebody").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        results(7).write(directory.path()).unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "of somebody");
        assert_eq!(Results::read(&link).unwrap(), results(7));
        assert_eq!(fs::symlink_metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_recording_may_have_any_name() {
        use std::os::unix::ffi::OsStringExt;
        let file = std::ffi::OsString::from_vec(b"a\xffb.trace".to_vec()).into();
        let recording = Some(Recording { file, ..Recording::default() });
        let results = Results { recording, ..results(1) };
        let directory = tempfile::tempdir().unwrap();
        results.write(directory.path()).unwrap();
        assert_eq!(Results::read(&directory.path().join("1.json")).unwrap(), results);
    }

    #[test]
    fn the_last_file_of_a_process_counts() {
        let directory = tempfile::tempdir().unwrap();
        let begun = Results { process: 7, ..Results::default() };
        begun.write(directory.path()).unwrap();
        let (all, _) = read_directory(directory.path()).unwrap();
        assert_eq!(all, [begun]);
        results(7).write(directory.path()).unwrap();
        let (all, _) = read_directory(directory.path()).unwrap();
        assert_eq!(all, [results(7)]);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn everything_else_is_refused_in_one_sentence() {
        let directory = tempfile::tempdir().unwrap();
        results(1).write(directory.path()).unwrap();
        let whole = fs::read_to_string(directory.path().join("1.json")).unwrap();
        for (text, said) in [
            (String::new(), "`2.json` are damaged"),
            (whole[..whole.len() / 2].to_string(), "damaged"),
            (whole.replace("reacquired-lock", "reacquired-key"), "rule `reacquired-key`"),
            (whole.replace("\"version\":1", "\"version\":2"), "have version 2"),
            (whole.replace("\"version\":1,", ""), "have version none"),
            (whole.replace("scission-results", "other"), "have version 1"),
        ] {
            fs::write(directory.path().join("2.json"), text).unwrap();
            let (all, errors) = read_directory(directory.path()).unwrap();
            assert_eq!(all.len(), 1);
            let error = errors[0].to_string();
            assert!(error.contains(said), "{error} does not say {said}");
            assert!(!error.contains(&*directory.path().to_string_lossy()), "{error}");
        }
        assert!(read_directory(&directory.path().join("missing")).is_err());
        assert!(results(1).write(&directory.path().join("missing")).is_err());
    }
}
