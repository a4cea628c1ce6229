//! The lines of source that a page contains: some around each place, and no line twice.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::shown_text::shown;
use super::tables::Tables;
use crate::Sources;

/// How many lines are shown before and after the line of a step.
const AROUND_STEP: u32 = 6;
/// The same for other places, such as frames of stacks.
const AROUND_OTHERS: u32 = 2;
/// Generated code has lines of any length; nobody reads the rest of them.
const LONGEST_LINE: usize = 240;
/// How many bytes of source a page has at most; the places of steps come first.
const MOST_BYTES: usize = 4 << 20;

/// Consecutive lines of one file.
#[derive(Serialize)]
pub(super) struct Excerpt {
    /// The number of the first line.
    first: u32,
    lines: Vec<String>,
}

/// The excerpts of each file, by the number of the file. `steps` are the numbers of the sites that findings are
/// about; all other sites are shown with fewer lines around them.
pub(super) fn excerpts(
    tables: &Tables,
    steps: &BTreeSet<usize>,
    sources: &Sources,
) -> BTreeMap<usize, Vec<Excerpt>> {
    let mut wanted: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    let mut bytes = 0;
    let (important, others): (Vec<usize>, Vec<usize>) =
        (0..tables.sites.values().len()).partition(|site| steps.contains(site));
    let around = important.into_iter().map(|site| (site, AROUND_STEP));
    for (site, around) in around.chain(others.into_iter().map(|site| (site, AROUND_OTHERS))) {
        let Some((file, line)) = tables.sites.values()[site].place() else { continue };
        let Some(text) = sources.text_of(&tables.files.values()[file]) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        if line == 0 || lines.get(line as usize - 1).is_none_or(|line| line.trim().is_empty()) {
            // These sources are not the ones that were compiled.
            continue;
        }
        let of_file = wanted.entry(file).or_default();
        let last = line.saturating_add(around).min(lines.len() as u32);
        for number in line.saturating_sub(around).max(1)..=last {
            let length = lines[number as usize - 1].len().min(LONGEST_LINE);
            if bytes + length <= MOST_BYTES && of_file.insert(number) {
                bytes += length + 4;
            }
        }
    }
    let mut excerpts = BTreeMap::new();
    for (file, numbers) in wanted {
        let Some(text) = sources.text_of(&tables.files.values()[file]) else { continue };
        excerpts.insert(file, consecutive(&text, &numbers));
    }
    excerpts
}

fn consecutive(text: &str, numbers: &BTreeSet<u32>) -> Vec<Excerpt> {
    let mut excerpts: Vec<Excerpt> = Vec::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        if !numbers.contains(&number) {
            continue;
        }
        let line = cut(line);
        match excerpts.last_mut() {
            Some(last) if last.first + last.lines.len() as u32 == number => last.lines.push(line),
            _ => excerpts.push(Excerpt { first: number, lines: vec![line] }),
        }
    }
    excerpts
}

/// A line as it is shown: tabs as spaces, and not longer than anybody reads.
fn cut(line: &str) -> String {
    let line = line.replace('\t', "    ");
    let mut cut: String = line.chars().take(LONGEST_LINE).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    shown(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn each_line_is_there_once() {
        let text: String = (1..=100).map(|number| format!("line {number};\n")).collect();
        let sources = Sources::in_memory([("p/A.java", text.as_str())]);
        let mut tables = Tables::default();
        let steps = [30, 34, 90]
            .map(|line| tables.site(&samples::site("p.A", "m", "()V", line, "p/A.java", line)));
        tables.site(&samples::site("p.A", "n", "()V", 1, "p/A.java", 1));
        tables.site(&samples::site("p.A", "n", "()V", 1, "p/A.java", 101));
        tables.site(&samples::site("p.B", "n", "()V", 1, "p/B.java", 1));
        let excerpts = excerpts(&tables, &BTreeSet::from(steps), &sources);
        let shown: Vec<_> =
            excerpts[&0].iter().map(|excerpt| (excerpt.first, excerpt.lines.len())).collect();
        assert_eq!(shown, [(1, 3), (24, 17), (84, 13)]);
        assert_eq!(excerpts[&0][0].lines[0], "line 1;");
        assert_eq!(excerpts.len(), 1);
    }

    #[test]
    fn long_lines_are_cut_and_tabs_are_spaces() {
        assert_eq!(cut("\ta\u{1b}"), "    a\u{fffd}");
        assert_eq!(cut(&"ä".repeat(1000)).chars().count(), LONGEST_LINE + 1);
    }
}
