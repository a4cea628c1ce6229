//! The watch list: what `check` could not prove safe, for `run` to watch and nothing else of the classes that were analysed.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use agent_protocol::ClassDigest;
use anyhow::bail;
use classes::access;
use findings::{GapKind, Results, Site};
use program::{Class, Origin, Program};

use crate::output;

/// What a list is made of.
#[derive(Debug, Default)]
pub(crate) struct WatchList {
    /// The accesses that could not be proven safe.
    pub(crate) accesses: Vec<Site>,
    /// The classes that were looked at whole, by name with dots.
    pub(crate) analysed: Vec<(String, ClassDigest)>,
}

/// The classes of the program of which every method was looked at, with what tells them from others of these names.
pub(crate) fn analysed_classes(program: &Program) -> Vec<(String, ClassDigest)> {
    let is_whole = |class: &Class| {
        class.methods.iter().all(|method| {
            let has_no_code = access::ABSTRACT | access::NATIVE;
            program.methods[*method].access & has_no_code != 0 || program.body(*method).is_some()
        })
    };
    let classes = program.classes.iter().filter(|class| class.origin == Origin::Application);
    classes
        .filter(|class| is_whole(class))
        .filter_map(|class| {
            let file = class.file.as_ref()?;
            Some((classes::binary_name(&class.name), ClassDigest::of(&file.bytes)))
        })
        .collect()
}

/// Writes the list; it is either whole or not there.
pub(crate) fn write(path: &Path, list: &WatchList, results: &Results) -> anyhow::Result<()> {
    if results.interrupted {
        bail!(
            "the analysis was interrupted, so the watch list `{}` was not written",
            path.display()
        );
    }
    output::write_file(path, |writer| write_lines(list, results, writer))
}

fn write_lines(list: &WatchList, results: &Results, writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "# The accesses that `scission check` could not prove safe.")?;
    writeln!(
        writer,
        "# `scission run --watch-list` watches these, and no others of the classes that were analysed."
    )?;
    let hidden = results.gaps.iter().filter(|gap| hides_accesses(gap.kind)).count();
    if hidden > 0 {
        writeln!(
            writer,
            "# What could not be analysed ({hidden}) may hide accesses that are missing here."
        )?;
    }
    let lines: BTreeSet<String> =
        list.accesses.iter().filter_map(agent_protocol::watch_list_line).collect();
    lines.into_iter().try_for_each(|line| writeln!(writer, "{line}"))?;
    let analysed = list.analysed.iter();
    let lines: BTreeSet<String> = analysed
        .map(|(class, digest)| agent_protocol::analysed_class_line(class, *digest))
        .collect();
    lines.into_iter().try_for_each(|line| writeln!(writer, "{line}"))
}

/// Whether a gap may hide accesses to variables, or that threads share them.
fn hides_accesses(kind: GapKind) -> bool {
    match kind {
        GapKind::Unreadable
        | GapKind::MalformedClass
        | GapKind::MissingClass
        | GapKind::UnreadableMethod
        | GapKind::NativeMethod
        | GapKind::Reflection
        | GapKind::DynamicCall
        | GapKind::NoThread
        | GapKind::UnreachedCode
        | GapKind::LostEvents
        | GapKind::Limit => true,
        GapKind::UnknownVersion | GapKind::DuplicateClass | GapKind::UnstructuredLocking => false,
    }
}

#[cfg(test)]
mod tests {
    use findings::Gap;

    use super::*;

    fn site(method: &str, offset: u32) -> Site {
        Site {
            class: "bank.Account".into(),
            method: method.into(),
            descriptor: "(I)V".into(),
            offset: Some(offset),
            file: None,
            line: None,
        }
    }

    #[test]
    fn lines_are_sorted_and_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let accesses = vec![site("withdraw", 7), site("deposit", 3), site("withdraw", 7)];
        let digest = ClassDigest::of(b"bytes");
        let analysed = vec![("bank.Account".to_string(), digest)];
        write(&path, &WatchList { accesses, analysed }, &Results::default()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let class = format!("analysed bank.Account {digest}");
        assert_eq!(lines, ["bank.Account deposit (I)V 3", "bank.Account withdraw (I)V 7", &class]);
        assert_eq!(agent_protocol::read_watch_list(&text).unwrap().accesses.len(), 2);
    }

    #[test]
    fn what_could_not_be_analysed_is_said() {
        let gaps = vec![Gap::new(GapKind::Reflection, "p.A.m()V", "calls something")];
        let results = Results { gaps, ..Results::default() };
        let mut text = Vec::new();
        write_lines(&WatchList::default(), &results, &mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("# What could not be analysed (1)"));
    }

    #[test]
    fn half_a_list_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let results = Results { interrupted: true, ..Results::default() };
        assert!(write(&path, &WatchList::default(), &results).is_err());
        assert!(!path.exists());
        let missing = folder.path().join("missing/list");
        let error =
            write(&missing, &WatchList::default(), &Results::default()).unwrap_err().to_string();
        assert!(error.contains("does not exist, create it first"), "{error}");
    }
}
