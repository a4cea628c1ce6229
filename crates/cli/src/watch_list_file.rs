//! The watch list: what `check` could not prove safe, for `run` to watch and nothing else.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use findings::{GapKind, Results, Site};

use crate::output;

/// Writes the list; it is either whole or not there.
pub(crate) fn write(path: &Path, sites: &[Site], results: &Results) -> anyhow::Result<()> {
    if results.interrupted {
        bail!(
            "the analysis was interrupted, so the watch list `{}` was not written",
            path.display()
        );
    }
    output::write_file(path, |writer| write_lines(sites, results, writer))
}

fn write_lines(sites: &[Site], results: &Results, writer: &mut dyn Write) -> io::Result<()> {
    writeln!(writer, "# The accesses that `scission check` could not prove safe.")?;
    writeln!(writer, "# `scission run --watch-list` watches these, and no others.")?;
    let hidden = results.gaps.iter().filter(|gap| hides_accesses(gap.kind)).count();
    if hidden > 0 {
        writeln!(
            writer,
            "# What could not be analysed ({hidden}) may hide accesses that are missing here."
        )?;
    }
    let lines: BTreeSet<String> =
        sites.iter().filter_map(agent_protocol::watch_list_line).collect();
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
        let sites = [site("withdraw", 7), site("deposit", 3), site("withdraw", 7)];
        write(&path, &sites, &Results::default()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines, ["bank.Account deposit (I)V 3", "bank.Account withdraw (I)V 7"]);
        assert_eq!(agent_protocol::read_watch_list(&text).unwrap().len(), 2);
    }

    #[test]
    fn what_could_not_be_analysed_is_said() {
        let gaps = vec![Gap::new(GapKind::Reflection, "p.A.m()V", "calls something")];
        let results = Results { gaps, ..Results::default() };
        let mut text = Vec::new();
        write_lines(&[], &results, &mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("# What could not be analysed (1)"));
    }

    #[test]
    fn half_a_list_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let results = Results { interrupted: true, ..Results::default() };
        assert!(write(&path, &[site("deposit", 3)], &results).is_err());
        assert!(!path.exists());
        let missing = folder.path().join("missing/list");
        let error = write(&missing, &[], &Results::default()).unwrap_err().to_string();
        assert!(error.contains("does not exist, create it first"), "{error}");
    }
}
