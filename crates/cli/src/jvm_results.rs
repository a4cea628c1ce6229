//! Reads and merges the results of all JVMs of a run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use agent_protocol::{Ending, Recording, SharedField};
use findings::{Finding, Gap, GapKind, Results, WatchedCode, merge_gaps};

/// The recordings of processes in the directory of the results.
const UNNAMED: &str = "recording.%p.trace";

/// The merged results of all JVMs, before triage.
pub(crate) struct JvmResults {
    pub(crate) findings: Vec<Finding>,
    /// Gaps, remarks and counters.
    pub(crate) results: Results,
    /// The fields that more than one thread used, in any of the JVMs; nothing if that is not known of one of them.
    pub(crate) shared_fields: Option<BTreeSet<SharedField>>,
    /// How many JVMs wrote results, readable or not.
    pub(crate) jvms: usize,
    /// Whether one of them was killed or still runs.
    pub(crate) is_unfinished: bool,
    /// Whether a run without findings is a success: each JVM was watched to its end, one at least had classes to watch,
    /// and no results are damaged.
    pub(crate) is_trustworthy: bool,
    /// Why a recording is not where it should be, or not whole: the work is not done then.
    pub(crate) not_recorded: Option<String>,
}

/// Reads and merges the results in a directory. `program` is the process that was started: of several
/// recordings, its recording gets the name that the user gave.
pub(crate) fn read_jvm_results(
    directory: &Path,
    program: Option<u32>,
    record: Option<&Path>,
) -> anyhow::Result<JvmResults> {
    let (mut all, unreadable) = agent_protocol::read_directory(directory).map_err(|error| {
        anyhow::anyhow!("cannot read the results in `{}`: {error}", directory.display())
    })?;
    // The first witness heads a finding; which JVM it comes from must not depend on process ids.
    let mut findings: Vec<Finding> =
        all.iter_mut().flat_map(|jvm| std::mem::take(&mut jvm.findings)).collect();
    findings.sort_by(|one, other| one.witnesses.cmp(&other.witnesses));

    let mut remarks = BTreeSet::new();
    let mut not_recorded = None;
    remarks.extend(unreadable.iter().map(ToString::to_string));
    for jvm in &all {
        remarks.extend(jvm.notes.iter().cloned());
        if let Some(seed) = jvm.seed {
            remarks.insert(format!(
                "threads were delayed; `--seed {seed}` repeats this as far as the JVM's scheduling allows"
            ));
        }
        if jvm.ending == Ending::Running {
            remarks.insert(format!(
                "{} left no results, or incomplete ones: it was killed or is still running",
                name(jvm)
            ));
        }
        if let Some(why) = jvm.recording.as_ref().and_then(|recording| recording.stopped.as_ref()) {
            remarks.insert(format!("the recording of {} ends early: {why}", name(jvm)));
            not_recorded = Some("the recording is not whole".to_string());
        }
    }
    if let Some(record) = record {
        let recordings =
            all.iter_mut().filter_map(|jvm| Some((jvm.process, jvm.recording.as_mut()?)));
        match name_recordings(recordings.collect(), program, record) {
            Ok(remark) => remarks.extend(remark),
            Err(why) => not_recorded = Some(why),
        }
    }
    let sum = |count: fn(&agent_protocol::Results) -> u64| {
        all.iter().map(count).fold(0, u64::saturating_add)
    };
    remarks.extend(all.iter().filter_map(slowed_down));
    remarks.extend(watched_whole(sum(|jvm| jvm.unlisted_classes), sum(|jvm| jvm.changed_classes)));
    let stats = vec![
        ("jvms", all.len() as u64),
        ("classes", sum(|jvm| jvm.classes_watched)),
        ("threads", sum(|jvm| jvm.threads)),
        ("classes_for_order", sum(|jvm| jvm.classes_for_order)),
        ("classes_seen", sum(|jvm| jvm.classes_seen)),
        ("unlisted_classes", sum(|jvm| jvm.unlisted_classes)),
        ("changed_classes", sum(|jvm| jvm.changed_classes)),
        ("methods_left_alone", sum(|jvm| jvm.methods_left_alone)),
        ("hooks", sum(|jvm| jvm.hooks)),
        ("events", sum(|jvm| jvm.events)),
        ("lost_events", sum(|jvm| jvm.lost_events)),
        ("milliseconds_waited", sum(|jvm| jvm.milliseconds_waited)),
        ("uncertain_violations", sum(|jvm| jvm.uncertain_violations)),
        ("infeasible_sides", sum(|jvm| jvm.infeasible_sides)),
        ("impossible_steps", sum(|jvm| jvm.impossible_steps)),
        ("holds", sum(|jvm| jvm.holds)),
        ("hold_slices", sum(|jvm| jvm.hold_slices)),
        ("recorded_events", sum(|jvm| jvm.recording.as_ref().map_or(0, |it| it.events))),
        ("recorded_bytes", sum(|jvm| jvm.recording.as_ref().map_or(0, |it| it.bytes))),
    ];
    let shared_fields: Option<Vec<BTreeSet<SharedField>>> =
        all.iter_mut().map(|jvm| jvm.shared_fields.take()).collect();
    let shared_fields = shared_fields.filter(|_| unreadable.is_empty());
    let shared_fields = shared_fields.map(|jvms| jvms.into_iter().flatten().collect());
    let lost = all.iter().filter_map(lost_events);
    let gaps = all.iter().flat_map(|jvm| jvm.gaps.iter().cloned()).chain(lost).collect();
    let mut watched = WatchedCode::default();
    for jvm in &all {
        watched.order_only += jvm.classes_for_order;
        for (place, classes) in &jvm.watched_places {
            *watched.places.entry(place.clone()).or_default() += classes;
        }
    }
    let results = Results {
        watched: Some(watched),
        remarks: remarks.into_iter().collect(),
        gaps: merge_gaps(gaps),
        stats,
        ..Results::default()
    };
    Ok(JvmResults {
        findings,
        results,
        shared_fields,
        jvms: all.len() + unreadable.len(),
        is_unfinished: all.iter().any(|jvm| jvm.ending == Ending::Running),
        // What a JVM that was killed did at last, or does after the command has ended, nobody has seen.
        is_trustworthy: unreadable.is_empty()
            && all.iter().all(|jvm| jvm.ending == Ending::Complete)
            && all.iter().any(|jvm| jvm.classes_watched > 0),
        not_recorded,
    })
}

/// Which classes were watched whole although there was a watch list, in one sentence.
fn watched_whole(unlisted: u64, changed: u64) -> Option<String> {
    let unlisted = match unlisted {
        0 => None,
        1 => Some("1 class that was not there to be analysed".to_string()),
        count => Some(format!("{count} classes that were not there to be analysed")),
    };
    let changed = match changed {
        0 => None,
        1 => Some("1 class that has changed since it was analysed".to_string()),
        count => Some(format!("{count} classes that have changed since they were analysed")),
    };
    let both: Vec<String> = unlisted.into_iter().chain(changed).collect();
    (!both.is_empty()).then(|| format!("watched whole: {}", both.join(", and ")))
}

/// By how much a JVM was slowed down because its threads had to wait for the checkers, if that is worth a word: more than a
/// tenth of a second, and of a hundredth of the time.
fn slowed_down(jvm: &agent_protocol::Results) -> Option<String> {
    let (ran, waited) = (jvm.milliseconds, jvm.milliseconds_waited);
    let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
    (waited > 100 && waited > ran / 100).then(|| {
        format!(
            "the checkers could not keep up with {}: its threads waited {:.1} s for them altogether, while it ran for {:.1} s",
            name(jvm),
            seconds(waited),
            seconds(ran)
        )
    })
}

/// What the events that a JVM lost may hide.
fn lost_events(jvm: &agent_protocol::Results) -> Option<Gap> {
    let count = match jvm.lost_events {
        0 => return None,
        1 => "1 event was lost: a thread was".to_owned(),
        lost => format!("{lost} events were lost: threads were"),
    };
    let detail = format!("{count} stopped for seconds, or for good, while reporting");
    Some(Gap::new(GapKind::LostEvents, name(jvm), detail))
}

/// "`p.Main` (Java 17.0.11)".
fn name(jvm: &agent_protocol::Results) -> String {
    let command =
        if jvm.command.is_empty() { "a JVM".into() } else { format!("`{}`", jvm.command) };
    match jvm.java_version.as_str() {
        "" => command,
        version => format!("{command} (Java {version})"),
    }
}

/// The name that agents record to if there may be several: the user's name, with the process
/// id in it. For a pipe, a socket or a descriptor, which accepts one recording only, agents record into the
/// directory of the results, if there is one. A device accepts all of them.
pub(crate) fn name_for_each_process(record: &Path, results: Option<&Path>) -> PathBuf {
    if has_process_id(record) || output_file::is_device(record) {
        return record.to_path_buf();
    }
    if !output_file::is_regular_or_new(record) {
        return results.map_or(record.to_path_buf(), |directory| directory.join(UNNAMED));
    }
    let mut name = OsString::from(record.file_stem().unwrap_or_default());
    name.push(".%p");
    if let Some(extension) = record.extension() {
        name.push(".");
        name.push(extension);
    }
    record.with_file_name(name)
}

fn has_process_id(record: &Path) -> bool {
    record.as_os_str().as_encoded_bytes().windows(2).any(|pair| pair == b"%p")
}

/// Gives the recording of the program, or else the one of the lowest process id, the name that the user
/// gave; the others keep their process ids. What cannot be renamed keeps its name, and the error says so.
/// Where there is only room for one, a remark says that the others are not there.
fn name_recordings(
    mut recordings: Vec<(u32, &mut Recording)>,
    program: Option<u32>,
    record: &Path,
) -> Result<Option<String>, String> {
    if has_process_id(record) || output_file::is_device(record) {
        return Ok(None);
    }
    recordings.sort_by_key(|(process, _)| (Some(*process) != program, *process));
    let others = recordings.len().saturating_sub(1);
    let Some((_, first)) = recordings.into_iter().next() else { return Ok(None) };
    let has_neighbours = output_file::is_regular_or_new(record);
    if let Err(error) = output_file::put_in_place(&first.file, record) {
        let why = output_file::reason(&error, record);
        let name = first.file.file_name().unwrap_or_default().to_string_lossy();
        let left = if has_neighbours { format!("; it is called `{name}`") } else { String::new() };
        return Err(format!("cannot write the recording `{}`: {why}{left}", record.display()));
    }
    first.file = record.to_path_buf();
    Ok((!has_neighbours && others > 0).then(|| {
        let record = record.display();
        format!("`{record}` takes one recording: those of {others} other JVMs are not kept")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;

    fn finding(lock: &str) -> Finding {
        let site = |offset| findings::Site {
            class: "p.A".into(),
            method: "m".into(),
            descriptor: "()V".into(),
            offset: Some(offset),
            file: None,
            line: None,
        };
        let held = findings::HeldLock { lock: lock.into(), taken_at: site(1) };
        let step = |role| findings::Step {
            held_locks: vec![held.clone()],
            ..findings::Step::at(role, site(2))
        };
        Finding {
            rule: "reacquired-lock",
            evidence: findings::Evidence::Observed,
            severity: findings::Severity::High,
            blame: site(0),
            subjects: BTreeMap::new(),
            stable_subjects: BTreeMap::new(),
            witnesses: vec![findings::Witness::new("m", vec![step("first")])],
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        }
    }

    fn jvm(process: u32, lock: &str) -> agent_protocol::Results {
        agent_protocol::Results {
            process,
            ending: Ending::Complete,
            java_version: "17".into(),
            command: "p.Main".into(),
            classes_watched: 2,
            events: 10,
            notes: vec!["the disk is full".into()],
            gaps: vec![Gap::new(GapKind::Limit, "p.A.m()V", "too large")],
            findings: vec![finding(lock)],
            shared_fields: Some(BTreeSet::from([SharedField {
                class: "p.A".into(),
                name: lock.into(),
            }])),
            ..agent_protocol::Results::default()
        }
    }

    #[test]
    fn jvms_add_up_whatever_their_numbers() {
        let jvm_results = |processes: [u32; 2]| {
            let directory = tempfile::tempdir().unwrap();
            jvm(processes[0], "one").write(directory.path()).unwrap();
            jvm(processes[1], "other").write(directory.path()).unwrap();
            read_jvm_results(directory.path(), None, None).unwrap()
        };
        let (one, other) = (jvm_results([1, 2]), jvm_results([2, 1]));
        assert_eq!(one.findings, other.findings);
        assert_eq!(one.jvms, 2);
        assert_eq!(one.shared_fields.unwrap().len(), 2);
        assert_eq!(one.results.remarks, ["the disk is full"]);
        assert_eq!(one.results.gaps[0].count, 2);
        assert!(one.results.stats.contains(&("classes", 4)));
        assert!(one.results.stats.contains(&("events", 20)));
        let merged = findings::merge_and_rank(one.findings);
        assert_eq!((merged.len(), merged[0].witnesses.len()), (1, 2));
    }

    #[test]
    fn a_jvm_that_was_killed_is_mentioned() {
        let directory = tempfile::tempdir().unwrap();
        let killed = agent_protocol::Results { ending: Ending::Running, ..jvm(1, "one") };
        killed.write(directory.path()).unwrap();
        fs::write(directory.path().join("2.json"), "{").unwrap();
        let jvm_results = read_jvm_results(directory.path(), None, None).unwrap();
        assert_eq!(jvm_results.shared_fields, None);
        assert!(!jvm_results.is_trustworthy);
        let remarks = jvm_results.results.remarks;
        assert!(remarks.iter().any(|it| it.starts_with("`p.Main` (Java 17) left no results")));
        assert!(remarks.iter().any(|it| it.contains("`2.json` are damaged")));
    }

    #[test]
    fn every_jvm_must_have_been_watched_to_its_end() {
        for (other, is_trustworthy) in
            [(Ending::Complete, true), (Ending::Running, false), (Ending::Abandoned, false)]
        {
            let directory = tempfile::tempdir().unwrap();
            jvm(1, "one").write(directory.path()).unwrap();
            let other = agent_protocol::Results { ending: other, ..jvm(2, "other") };
            other.write(directory.path()).unwrap();
            let jvm_results = read_jvm_results(directory.path(), None, None).unwrap();
            assert_eq!(jvm_results.is_trustworthy, is_trustworthy, "{:?}", other.ending);
        }
    }

    #[test]
    fn what_a_watch_list_does_not_know_is_counted() {
        assert_eq!(watched_whole(0, 0), None);
        let sentence = watched_whole(1, 0).unwrap();
        assert_eq!(sentence, "watched whole: 1 class that was not there to be analysed");
        let sentence = watched_whole(2, 3).unwrap();
        assert_eq!(
            sentence,
            "watched whole: 2 classes that were not there to be analysed, and 3 classes that have \
             changed since they were analysed"
        );
    }

    #[test]
    fn how_long_threads_waited_is_said_if_it_was_long() {
        let sentence = |milliseconds, milliseconds_waited| {
            slowed_down(&agent_protocol::Results {
                milliseconds,
                milliseconds_waited,
                ..jvm(1, "one")
            })
        };
        assert_eq!(sentence(1000, 100), None);
        assert_eq!(sentence(20_000, 200), None);
        assert_eq!(
            sentence(20_000, 31_540).unwrap(),
            "the checkers could not keep up with `p.Main` (Java 17): its threads waited 31.5 s for them altogether, while it \
             ran for 20.0 s"
        );
    }

    #[test]
    fn lost_events_are_a_gap_of_their_jvm() {
        let directory = tempfile::tempdir().unwrap();
        for (process, lost_events) in [(1, 0), (2, 1), (3, 70)] {
            let results =
                agent_protocol::Results { lost_events, gaps: Vec::new(), ..jvm(process, "one") };
            results.write(directory.path()).unwrap();
        }
        let results = read_jvm_results(directory.path(), None, None).unwrap().results;
        let gaps: Vec<&str> = results.gaps.iter().map(|gap| gap.detail.as_str()).collect();
        assert_eq!(
            gaps,
            [
                "1 event was lost: a thread was stopped for seconds, or for good, while reporting",
                "70 events were lost: threads were stopped for seconds, or for good, while reporting",
            ]
        );
        assert!(results.gaps.iter().all(|gap| gap.kind == GapKind::LostEvents));
        assert!(results.stats.contains(&("lost_events", 71)));
    }

    #[test]
    fn the_program_itself_records_to_the_name_that_was_given() {
        let each = |name: &str| name_for_each_process(Path::new(name), None).display().to_string();
        assert_eq!(each("/a/app.trace"), "/a/app.%p.trace");
        assert_eq!(each("app"), "app.%p");
        assert_eq!(each("app-%p.trace"), "app-%p.trace");
        for (program, expected) in [(Some(9), "nine"), (None, "seven"), (Some(3), "seven")] {
            let directory = tempfile::tempdir().unwrap();
            for (process, text) in [(7, "seven"), (9, "nine")] {
                let file = directory.path().join(format!("app.{process}.trace"));
                fs::write(&file, text).unwrap();
                let recording = Some(Recording { file, ..Recording::default() });
                agent_protocol::Results { recording, ..jvm(process, "x") }
                    .write(directory.path())
                    .unwrap();
            }
            let record = directory.path().join("app.trace");
            let jvm_results = read_jvm_results(directory.path(), program, Some(&record)).unwrap();
            assert_eq!(jvm_results.results.remarks, ["the disk is full"]);
            assert_eq!(fs::read_to_string(&record).unwrap(), expected);
        }
    }
}
