//! Text for people, laid out as rustc lays out its diagnostics.
//!
//! The first line says what was taken as entry points and threads. Each finding is one diagnostic. A step whose source was found is a labelled line of the
//! excerpt; a step without source is a note with its place. Call chains, locks held from outside
//! and the advice follow as notes. After the findings come how many more there are, the gaps, by kind, what the user should
//! know of the configuration, and one line that sums up.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};
use findings::{
    Evidence, Finding, Gap, HeldLock, Results, Severity, Site, Step, Suppressed, Witness,
};

use crate::other_notes::{
    also_notes, other_ways_note, other_witness_note, similar_findings_note, similar_variables_note,
};
use crate::words::{self, with_separators};
use crate::{Detail, Options, Sources, dot, observed};

/// How many gaps are listed when not all are.
const GAPS_SHOWN: usize = 10;

pub(crate) fn render(
    results: &Results,
    options: &Options<'_>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let renderer = if options.colored { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(options.width);
    if options.detail != Detail::Quiet && !results.threads.is_empty() {
        // Names come from class files, which may hold anything.
        let threads = results.threads.join(", ");
        writeln!(writer, "threads: {}\n", normalize_untrusted_str(&threads))?;
    }
    let groups = groups(&results.findings, options.detail);
    for group in groups.iter().take(options.most_findings) {
        let diagnostic = diagnostic(group[0], &group[1..], options);
        writeln!(writer, "{}\n", renderer.render(&[diagnostic]))?;
    }
    write_how_many_more(groups.len().saturating_sub(options.most_findings), &renderer, writer)?;
    if options.detail != Detail::Quiet {
        write_gaps(&results.gaps, options.detail, &renderer, writer)?;
        if options.detail == Detail::Verbose {
            write_not_shown(results, &renderer, writer)?;
        }
        write_remarks(&results.remarks, &renderer, writer)?;
        write_summary(results, options.detail, writer)?;
    }
    Ok(())
}

/// Whatever the detail is: nothing that was found disappears without being counted.
fn write_how_many_more(
    number: usize,
    renderer: &Renderer,
    writer: &mut dyn Write,
) -> io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    let title = match number {
        1 => "1 more finding is not shown".to_string(),
        _ => format!("{} more findings are not shown", with_separators(number as u64)),
    };
    let group = Group::with_title(Level::NOTE.primary_title(title));
    let help = "`--max-findings 0` shows all of them here; `--format json` and `--html` have all";
    let group = group.element(Level::HELP.message(help));
    writeln!(writer, "{}\n", renderer.render(&[group]))
}

/// Findings about the same locks in the same block are reported as one, with the further places in a
/// note, because one fix covers them all. Verbose text reports each by itself.
fn groups(findings: &[Finding], detail: Detail) -> Vec<Vec<&Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    let mut positions: BTreeMap<_, usize> = BTreeMap::new();
    for finding in findings {
        let key = (finding.rule, &finding.blame, words::distinguishing_subjects(finding));
        let position = *positions.entry(key).or_insert(groups.len());
        match groups.get_mut(position) {
            Some(group) if detail != Detail::Verbose => group.push(finding),
            _ => groups.push(vec![finding]),
        }
    }
    groups
}

fn diagnostic<'a>(finding: &'a Finding, alike: &[&Finding], options: &Options<'_>) -> Group<'a> {
    let title = level(finding.severity).primary_title(words::message(finding));
    let mut group = Group::with_title(title.id(finding.rule));
    let (witness, others) = match finding.witnesses.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    let steps = witness.map_or(&[][..], |witness| &witness.steps[..]);

    let primary = words::primary_site(finding);
    let excerpts = excerpts(finding, steps, options.sources);
    let shown = |site: &Site| excerpts.iter().any(|excerpt| excerpt.shows(site));
    let mut notes = Vec::new();
    if !shown(primary) {
        group = group.element(origin(primary));
        notes.push(format!("in `{}`", words::signature(&finding.blame)));
    }
    for step in steps.iter().filter(|step| !shown(words::shown_site(finding, step))) {
        notes.push(format!("{}: {}", step_place(step, finding), words::label(finding, step)));
    }
    group = group.elements(excerpts.into_iter().map(|excerpt| excerpt.into_snippet(primary)));

    if let Some(witness) = witness {
        notes.extend(chain_notes(witness));
        notes.extend(held_lock_notes(witness, options.detail));
        notes.extend(observed::notes(witness, options.detail));
    }
    if let (Some(directory), Some(name)) = (options.graphs, dot::graph_name(finding)) {
        notes.push(format!("graph: {}", directory.join(name).display()));
    }
    let other_analyses =
        others.iter().filter(|it| Some(it.analysis) != witness.map(|it| it.analysis));
    notes.extend(other_analyses.map(other_witness_note));
    notes.extend(other_ways_note(finding, options.detail));
    notes.extend(also_notes(finding, options.detail));
    // Verbose text names each place of what the same change mends.
    let is_similar =
        |also: &&Finding| also.rule == finding.rule && options.detail != Detail::Verbose;
    let similar = finding.also.iter().filter(is_similar);
    let similar: Vec<&Finding> = alike.iter().copied().chain(similar).collect();
    notes.extend(similar_variables_note(finding, &similar));
    notes.extend(similar_findings_note(primary, &similar));
    notes.extend(words::grade(finding));
    if finding.evidence == Evidence::Predicted || options.detail == Detail::Verbose {
        notes.push(format!("evidence: {}", words::name(finding.evidence)));
    }
    if options.detail == Detail::Verbose {
        notes.push(format!("severity: {}", words::name(finding.severity)));
        notes.push(format!("fingerprint: {}", words::fingerprint(finding)));
    }
    // Names come from class files, which may hold anything, terminal escapes included.
    let notes = notes.iter().map(|note| Level::NOTE.message(normalize_untrusted_str(note)));
    let advice = Level::HELP.message(normalize_untrusted_str(&words::advice(finding)));
    group.elements(notes).element(advice)
}

fn level<'a>(severity: Severity) -> Level<'a> {
    match severity {
        Severity::Low => Level::NOTE,
        Severity::Medium => Level::WARNING,
        Severity::High => Level::ERROR,
    }
}

/// The lines of one file that are shown, with their labels.
struct Excerpt {
    file: String,
    text: Rc<str>,
    labels: Vec<LabelledLine>,
}

struct LabelledLine {
    line: u32,
    label: String,
}

/// Gathers the steps by file: first the file that the reader is sent to, then the others as they
/// are met. Steps on one line share its label: a second underline would only repeat the first.
fn excerpts(finding: &Finding, steps: &[Step], sources: &Sources) -> Vec<Excerpt> {
    let mut excerpts: Vec<Excerpt> = Vec::new();
    for step in steps {
        let site = words::shown_site(finding, step);
        let (Some(file), Some(line)) = (words::file(site), site.line) else { continue };
        let Some(text) = sources.text_of(&file) else { continue };
        if line == 0
            || text.lines().nth(line as usize - 1).is_none_or(|line| line.trim().is_empty())
        {
            // These sources are not the ones that were compiled.
            continue;
        }
        let at = excerpts.iter().position(|excerpt| excerpt.file == file).unwrap_or_else(|| {
            excerpts.push(Excerpt { file, text, labels: Vec::new() });
            excerpts.len() - 1
        });
        let mut label = words::label(finding, step);
        if site != &step.site {
            label = format!("{label}, in `{}`", words::short_method(&step.site));
        }
        let labels = &mut excerpts[at].labels;
        match labels.iter_mut().find(|labelled| labelled.line == line) {
            Some(labelled) => labelled.label = format!("{}; {label}", labelled.label),
            None => labels.push(LabelledLine { line, label }),
        }
    }
    let primary = words::file(words::primary_site(finding));
    excerpts.sort_by_key(|excerpt| primary.as_ref() != Some(&excerpt.file));
    excerpts
}

impl Excerpt {
    fn shows(&self, site: &Site) -> bool {
        words::file(site).as_deref() == Some(&self.file)
            && self.labels.iter().any(|labelled| Some(labelled.line) == site.line)
    }

    /// Only the lines between the first and the last label go to the renderer: it looks at all it
    /// is given, and source files are long.
    fn into_snippet<'a>(self, primary: &Site) -> Snippet<'a, Annotation<'a>> {
        let first = self.labels.iter().map(|labelled| labelled.line).min().unwrap_or(1);
        let last = self.labels.iter().map(|labelled| labelled.line).max().unwrap_or(1);
        let is_primary_file = words::file(primary).as_deref() == Some(&self.file);
        let mut source = String::new();
        let mut annotations = Vec::new();
        let window = self.text.lines().skip(first as usize - 1).take((last - first) as usize + 1);
        for (line, text) in (first..).zip(window) {
            if let Some(at) = self.labels.iter().position(|labelled| labelled.line == line) {
                let kind = if is_primary_file && primary.line == Some(line) {
                    AnnotationKind::Primary
                } else {
                    AnnotationKind::Context
                };
                let code = code_of_line(text);
                let start = source.len() + code.start;
                let end = source.len() + code.end;
                annotations.push(kind.span(start..end).label(self.labels[at].label.clone()));
            }
            source.push_str(text);
            source.push('\n');
        }
        Snippet::source(source).line_start(first as usize).path(self.file).annotations(annotations)
    }
}

/// The part of a line worth underlining: no indentation, no opening brace or comment at its end. Class files know
/// lines and not columns, so no smaller part can be meant.
fn code_of_line(line: &str) -> std::ops::Range<usize> {
    let start = line.len() - line.trim_start().len();
    let code = match line.find("//") {
        // A slash pair inside a string literal is not a comment.
        Some(comment)
            if comment > start && line[..comment].matches('"').count().is_multiple_of(2) =>
        {
            &line[..comment]
        }
        _ => line,
    };
    let code = code.trim_end();
    let code = code.strip_suffix('{').map_or(code, str::trim_end);
    start..code.len().max(start + 1)
}

fn origin<'a>(site: &Site) -> Origin<'a> {
    match (words::file(site), site.line) {
        (Some(file), Some(line)) => Origin::path(file).line(line as usize),
        _ => Origin::path(words::place(site)),
    }
}

/// The place of a step, with its method unless that is the blamed one, which the title names.
fn step_place(step: &Step, finding: &Finding) -> String {
    let place = words::place(&step.site);
    let names_method = words::file(&step.site).is_none() || step.site.line.is_none();
    // A trace of another tool knows lines and no methods.
    let has_none = step.site.method.is_empty();
    if names_method || has_none || same_method(&step.site, &finding.blame) {
        place
    } else {
        format!("{place} in `{}`", step.site.method_name())
    }
}

fn same_method(one: &Site, other: &Site) -> bool {
    (&one.class, &one.method, &one.descriptor) == (&other.class, &other.method, &other.descriptor)
}

/// One note for each different call chain, naming the steps that go through it.
fn chain_notes(witness: &Witness) -> Vec<String> {
    let chains = witness.steps.iter().map(|step| (step.role, step.call_chain.iter().collect()));
    roles_by_value(chains)
        .into_iter()
        .map(|(roles, chain)| {
            let calls: Vec<String> = chain.into_iter().map(observed::call).collect();
            format!("{roles}: via {}", calls.join("\n  then "))
        })
        .collect()
}

/// One note for each different set of held locks. A lock whose taking is itself a step is on the
/// screen already.
fn held_lock_notes(witness: &Witness, detail: Detail) -> Vec<String> {
    let is_step = |held: &HeldLock| witness.steps.iter().any(|step| step.site == held.taken_at);
    let worth_saying = |held: &&HeldLock| detail == Detail::Verbose || !is_step(held);
    let locks = witness
        .steps
        .iter()
        .map(|step| (step.role, step.held_locks.iter().filter(worth_saying).collect()));
    roles_by_value(locks)
        .into_iter()
        .map(|(roles, locks)| {
            let locks: Vec<String> = locks
                .into_iter()
                .map(|held| {
                    format!("`{}` (acquired at {})", held.lock, words::place(&held.taken_at))
                })
                .collect();
            format!("{roles}: holding {}", locks.join(", "))
        })
        .collect()
}

/// Roles that have the same (not empty) list are named together: `first and second`.
fn roles_by_value<'a, T: PartialEq>(
    values: impl Iterator<Item = (&'static str, Vec<&'a T>)>,
) -> Vec<(String, Vec<&'a T>)> {
    let mut groups: Vec<(Vec<&str>, Vec<&T>)> = Vec::new();
    for (role, value) in values.filter(|(_, value)| !value.is_empty()) {
        match groups.iter_mut().find(|(_, known)| *known == value) {
            Some((roles, _)) => roles.push(role),
            None => groups.push((vec![role], value)),
        }
    }
    groups.into_iter().map(|(roles, value)| (list(&roles), value)).collect()
}

/// `context, first and second`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_string(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

/// The gaps by kind. Each kind is named with its count however short the list is kept, and gets
/// its fair share of the lines.
fn write_gaps(
    gaps: &[Gap],
    detail: Detail,
    renderer: &Renderer,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let kinds: Vec<&[Gap]> = gaps.chunk_by(|one, next| one.kind == next.kind).collect();
    if kinds.is_empty() {
        return Ok(());
    }
    let share = match detail {
        Detail::Verbose => usize::MAX,
        Detail::Normal | Detail::Quiet => (GAPS_SHOWN / kinds.len()).max(1),
    };
    let mut left_out = 0;
    let title = format!("{} could not be analysed", count(gaps.len(), "place"));
    let mut group = Group::with_title(Level::NOTE.primary_title(title));
    writeln!(writer, "{}", renderer.render(&[group.clone()]))?;
    for kind in kinds {
        let mut kind: Vec<&Gap> = kind.iter().collect();
        kind.sort_by_key(|gap| Reverse(gap.count));
        let name = words::name(kind[0].kind);
        writeln!(writer, "  {name} ({}): may hide {}", kind.len(), kind[0].kind.may_hide())?;
        for gap in kind.iter().take(share) {
            let times =
                if gap.count > 1 { format!(" ({} times)", gap.count) } else { String::new() };
            let line = format!("{}: {}{times}", words::gap_place(gap), words::gap_detail(gap));
            writeln!(writer, "    {}", normalize_untrusted_str(&line).replace('\n', " "))?;
        }
        if let Some(more) = kind.len().checked_sub(share).filter(|more| *more > 0) {
            writeln!(writer, "    and {more} more")?;
            left_out += more;
        }
    }
    if left_out > 0 {
        group = Group::with_title(Level::HELP.primary_title("`--verbose` lists all of them"));
        writeln!(writer, "{}", renderer.render(&[group]))?;
    }
    writeln!(writer)
}

/// Which findings are suppressed, and which the baseline has or had, one line each.
fn write_not_shown(
    results: &Results,
    renderer: &Renderer,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let suppressed = results.suppressed.iter().map(|suppressed| {
        let Suppressed { finding, reason, .. } = suppressed;
        format!("{}; reason: {reason}", titled(finding))
    });
    write_list("suppressed", suppressed.collect(), renderer, writer)?;
    let Some(baseline) = &results.baseline else { return Ok(()) };
    write_list("in the baseline", baseline.known.iter().map(titled).collect(), renderer, writer)?;
    let gone = baseline
        .gone
        .iter()
        .map(|gone| format!("{}: [{}] {}", gone.blame, gone.rule, gone.message));
    write_list("of the baseline no longer found", gone.collect(), renderer, writer)
}

/// `p/A.java:12: [reacquired-lock] p.A.m gives …`.
fn titled(finding: &Finding) -> String {
    let place = words::place(words::primary_site(finding));
    format!("{place}: [{}] {}", finding.rule, words::message(finding))
}

fn write_list(
    state: &str,
    lines: Vec<String>,
    renderer: &Renderer,
    writer: &mut dyn Write,
) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let title = format!("{} {state}", count(lines.len(), "finding"));
    let group = Group::with_title(Level::NOTE.primary_title(title));
    writeln!(writer, "{}", renderer.render(&[group]))?;
    for line in lines {
        writeln!(writer, "  {}", normalize_untrusted_str(&line).replace('\n', " "))?;
    }
    writeln!(writer)
}

/// What the user should know of the configuration.
fn write_remarks(
    remarks: &[String],
    renderer: &Renderer,
    writer: &mut dyn Write,
) -> io::Result<()> {
    for remark in remarks {
        let group = Group::with_title(Level::WARNING.primary_title(remark));
        writeln!(writer, "{}", renderer.render(&[group]))?;
    }
    if remarks.is_empty() { Ok(()) } else { writeln!(writer) }
}

/// `2 findings (1 high, 1 medium), 3 suppressed, 13 gaps in 6,412 classes, 54,321 methods`.
fn write_summary(results: &Results, detail: Detail, writer: &mut dyn Write) -> io::Result<()> {
    let mut parts = vec![match results.findings.len() {
        0 if results.stats.contains(&("classes", 0)) => "nothing was watched".to_string(),
        0 => "nothing found".to_string(),
        _ => {
            let shown: Vec<&Finding> =
                groups(&results.findings, detail).iter().map(|group| group[0]).collect();
            format!("{} ({})", count(shown.len(), "finding"), kinds(&shown))
        }
    }];
    if !results.suppressed.is_empty() {
        parts.push(format!("{} suppressed", with_separators(results.suppressed.len() as u64)));
    }
    if let Some(baseline) = &results.baseline {
        if results.findings.is_empty() {
            parts[0] = "nothing new".to_string();
        }
        parts.push(format!("{} in the baseline", with_separators(baseline.known.len() as u64)));
        if !baseline.gone.is_empty() {
            parts.push(format!("{} no longer found", with_separators(baseline.gone.len() as u64)));
        }
    }
    for (severity, number) in results.below_level.iter().rev() {
        let severity = words::name(severity);
        parts.push(format!("{} of {severity} severity not shown", with_separators(*number as u64)));
    }
    parts.push(count(results.gaps.len(), "gap"));
    let mut line = parts.join(", ");
    let sizes: Vec<String> = results
        .stats
        .iter()
        .filter_map(|(name, number)| match *name {
            "classes" if *number == 1 => Some("1 class".to_string()),
            "methods" if *number == 1 => Some("1 method".to_string()),
            "threads" if *number == 1 => Some("1 thread".to_string()),
            "classes" | "methods" | "threads" => {
                Some(format!("{} {name}", with_separators(*number)))
            }
            _ => None,
        })
        .collect();
    if !sizes.is_empty() {
        line.push_str(&format!(" in {}", sizes.join(", ")));
    }
    if results.interrupted {
        line.push_str("; interrupted: the analysis did not finish");
    }
    writeln!(writer, "{line}")?;
    if let Some(watched) = results.watched.as_ref().filter(|watched| watched.order_only > 0) {
        writeln!(writer, "{}", words::what_was_watched(watched))?;
    }
    if let Some((lowest, _)) = results.below_level.first_key_value() {
        writeln!(writer, "`--level {}` shows everything", words::name(lowest))?;
    }
    if detail == Detail::Verbose {
        for (name, number) in &results.stats {
            writeln!(writer, "  {name}: {number}")?;
        }
    }
    Ok(())
}

/// `1 high, 2 medium`, and evidence that is more than a possibility: `1 high; 1 observed`.
fn kinds(findings: &[&Finding]) -> String {
    let number = |number: usize, name: String| (number > 0).then(|| format!("{number} {name}"));
    let by_severity: Vec<String> = [Severity::High, Severity::Medium, Severity::Low]
        .into_iter()
        .filter_map(|severity| {
            let of_this = findings.iter().filter(|finding| finding.severity == severity);
            number(of_this.count(), words::name(severity))
        })
        .collect();
    let by_evidence: Vec<String> = [Evidence::Observed, Evidence::Predicted]
        .into_iter()
        .filter_map(|evidence| {
            let of_this = findings.iter().filter(|finding| finding.evidence == evidence);
            number(of_this.count(), words::name(evidence))
        })
        .collect();
    let kinds = [by_severity, by_evidence].map(|kind| kind.join(", "));
    kinds.into_iter().filter(|kind| !kind.is_empty()).collect::<Vec<_>>().join("; ")
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", with_separators(number as u64))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::samples;
    use findings::{CycleEdge, EdgeKind};

    fn text(results: &Results, options: &Options<'_>) -> String {
        let mut bytes = Vec::new();
        render(results, options, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn only(finding: Finding) -> Results {
        Results { findings: vec![finding], ..Results::default() }
    }

    #[test]
    fn a_finding_with_sources() {
        let sources = Sources::in_memory([("geometry/Line.java", samples::LINE_JAVA)]);
        let text = text(&only(samples::line_contains()), &Options::new(&sources));
        assert_eq!(
            text,
            r"warning[reacquired-lock]: `geometry.Line.contains` releases `point` too early: it is acquired twice while `this` is held
 --> geometry/Line.java:8:9
  |
6 |     synchronized boolean contains(Location point) {
  |     --------------------------------------------- `this` is held from here: the block is meant to be atomic
7 |         double toStart = point.distanceTo(start);   // locks point, and gives it back
  |         ----------------------------------------- `point` is acquired and released here
8 |         double toEnd = point.distanceTo(end);
  |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `point` is acquired again here: what it guards may have changed in between
  |
  = note: first and second: via `geometry.Location.distanceTo` (geometry/Location.java:12)
  = help: hold `point` across both uses, or release `this` between them if the block need not be atomic

1 finding (1 medium), 0 gaps
"
        );
    }

    #[test]
    fn a_finding_without_sources_and_the_gaps() {
        let sources = Sources::default();
        let mut results = samples::results();
        results.findings.truncate(1);
        assert_eq!(
            text(&results, &Options::new(&sources)),
            r"error[reacquired-lock]: `java.util.Vector.addAll` releases `c` too early: it is acquired twice while `this` is held
--> java/util/Vector.java:903
 = note: in `java.util.Vector.addAll(java.util.Collection)`
 = note: java/util/Vector.java:900: `this` is held from here: the block is meant to be atomic
 = note: java/util/Vector.java:901: `c` is acquired and released here
 = note: java/util/Vector.java:903: `c` is acquired again here: what it guards may have changed in between
 = note: first: via `java.util.Vector.toArray` (java/util/Vector.java:700)
           then `java.util.Arrays.copyOf` (java/util/Arrays.java:3480)
 = note: second: via `java.util.Vector.toArray` (java/util/Vector.java:710)
           then `java.util.Arrays.copyOf` (java/util/Arrays.java:3480)
 = note: context, first and second: holding `Config.class` (acquired at p/Config.java:40)
 = note: also found by velodrome: context at java/util/Vector.java:900, first at java/util/Vector.java:901, second at java/util/Vector.java:903
 = help: hold `c` across both uses, or release `this` between them if the block need not be atomic

note: 13 places could not be analysed
  malformed-class (1): may hide every finding in this class
    app.jar!/p/Broken.class: constant #17 at byte 96 has unknown tag 99
  missing-class (12): may hide calls and locks that go through this class
    org.lib.C03: not found on the class path (41 times)
    org.lib.C00: not found on the class path
    org.lib.C01: not found on the class path
    org.lib.C02: not found on the class path
    org.lib.C04: not found on the class path
    and 7 more
help: `--verbose` lists all of them

1 finding (1 high; 1 observed), 13 gaps in 6,412 classes, 54,321 methods
"
        );
    }

    #[test]
    fn steps_on_one_line_share_a_label_and_lines_may_be_missing() {
        let sources = Sources::in_memory([("geometry/Line.java", samples::LINE_JAVA)]);
        let mut finding = samples::line_contains();
        let steps = &mut finding.witnesses[0].steps;
        steps[0].site.file = None;
        steps[1].site.line = Some(8);
        let text = text(&only(finding), &Options::new(&sources));
        assert!(
            text.contains(
                "^ `point` is acquired and released here; `point` is acquired again here"
            )
        );
        assert!(
            text.contains(
                "note: geometry.Line.contains, bytecode offset 0: `this` is held from here"
            )
        );
    }

    #[test]
    fn findings_about_the_same_locks_are_told_once() {
        let place = |line| {
            let mut finding = samples::line_contains();
            for step in &mut finding.witnesses[0].steps {
                if step.role == "second" {
                    step.site.line = Some(line);
                }
            }
            finding
        };
        let results =
            Results { findings: vec![place(7), place(8), place(9)], ..Results::default() };
        let sources = Sources::default();
        let told = text(&results, &Options::new(&sources));
        assert_eq!(told.matches("warning[").count(), 1);
        assert!(told.contains("also at"), "{told}");
        let verbose = Options { detail: Detail::Verbose, ..Options::new(&sources) };
        assert_eq!(text(&results, &verbose).matches("warning[").count(), 3);
    }

    #[test]
    fn the_best_of_many_findings_are_shown_and_the_others_are_counted() {
        let numbered = |number: u32| {
            let mut finding = samples::line_contains();
            finding.blame.method = format!("contains{number}");
            finding
        };
        let results = Results { findings: (0..3000).map(numbered).collect(), ..Results::default() };
        let sources = Sources::default();
        let shown = |detail, most_findings| {
            let options = Options { detail, most_findings, ..Options::new(&sources) };
            text(&results, &options)
        };
        for detail in [Detail::Quiet, Detail::Normal, Detail::Verbose] {
            let best = shown(detail, 50);
            assert_eq!(best.matches("warning[").count(), 50);
            assert!(best.contains("contains49`") && !best.contains("contains50`"), "{best}");
            assert!(best.contains("note: 2,950 more findings are not shown"), "{best}");
            assert_eq!(best.contains("3,000 findings ("), detail != Detail::Quiet);
        }
        assert!(shown(Detail::Normal, 2999).contains("note: 1 more finding is not shown"));
        assert!(!shown(Detail::Normal, 3000).contains("not shown"));
        for other in [crate::Format::Json, crate::Format::Sarif] {
            let mut all = Vec::new();
            let options = Options { most_findings: 50, ..Options::new(&sources) };
            crate::render(other, &results, &options, &mut all).unwrap();
            assert!(String::from_utf8(all).unwrap().contains("contains2999"));
        }
    }

    #[test]
    fn a_cycle_is_told_edge_by_edge() {
        let sources = Sources::in_memory([("bank/Account.java", samples::ACCOUNT_JAVA)]);
        let mut options = Options::new(&sources);
        options.graphs = Some(Path::new("graphs"));
        assert_eq!(
            text(&only(samples::account_deposit()), &options),
            r#"error[not-serializable]: `bank.Account.deposit` is not atomic: between its read of `Account#3.balance` (Account.java:10) and its write of `Account#3.balance` (Account.java:11) in `worker-1`, `main` wrote it (Account.java:14)
  --> bank/Account.java:11:9
   |
 9 |     void deposit(int amount) {
   |     ------------------------ this block is meant to be atomic
10 |         int before = balance;
   |         --------------------- first, `worker-1` reads `Account#3.balance` here
11 |         balance = before + amount;
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^ last, `worker-1` writes `Account#3.balance` here
...
14 |         balance = 0;
   |         ------------ then `main` writes `Account#3.balance` here
   |
   = note: T1 "worker-1" in `bank.Account.deposit` comes before T2 "main":
           T1 reads `Account#3.balance` at bank.Account.deposit (bank/Account.java:10)
             called by Bank.run (Bank.java:30), Bank.run (Bank.java:31)
           T2 writes `Account#3.balance` at bank.Account.close (bank/Account.java:14)
             called, at another visit, by Bank.run (Bank.java:30), Bank.run (Bank.java:31), Bank.run (Bank.java:32), Bank.run (Bank.java:33), …
   = note: T2 "main" comes before T1 "worker-1" in `bank.Account.deposit`, which closes the cycle:
           T2 writes `Account#3.balance` at bank/Account.java:14, as above
           T1 writes `Account#3.balance` at bank.Account.deposit (bank/Account.java:11)
             called by Bank.run (Bank.java:30), Bank.run (Bank.java:31)
   = note: enclosing blocks were split too: `bank.Bank.run` (bank/Bank.java:28)
   = note: observed 1,200 times
   = note: graph: graphs/not-serializable-1b08c5846f554d4b.dot
   = help: hold one lock from the first use to the second, or mark the block as not atomic if it need not be

1 finding (1 high; 1 observed), 0 gaps
"#
        );
    }

    #[test]
    fn what_another_rule_says_of_the_same_defect_stands_below() {
        let sources = Sources::default();
        let mut options = Options::new(&sources);
        let found = vec![samples::predicted_deposit(), samples::account_deposit()];
        let results = Results { findings: findings::merge_and_rank(found), ..Results::default() };
        let told = text(&results, &options);
        assert!(told.starts_with("error[not-serializable]: "), "{told}");
        assert!(
            told.contains(
                "note: also `breakable-block`, predicted by hybrid: block at bank/Account.java:9, \
                 first at bank/Account.java:10, interferes at bank/Account.java:14, second at \
                 bank/Account.java:11\n"
            ),
            "{told}"
        );
        assert!(told.ends_with("1 finding (1 high; 1 observed), 0 gaps\n"), "{told}");
        options.detail = Detail::Verbose;
        let verbose = text(&results, &options);
        assert!(verbose.contains("predicted by hybrid, fingerprint "), "{verbose}");
    }

    #[test]
    fn verbose_text_has_whole_stacks() {
        let sources = Sources::default();
        let mut options = Options::new(&sources);
        let finding = samples::account_deposit();
        assert!(text(&only(finding.clone()), &options).contains("(Bank.java:33), …\n"));
        options.detail = Detail::Verbose;
        let verbose = text(&only(finding), &options);
        assert!(!verbose.contains("…") && verbose.contains("bank/Bank.java:41"), "{verbose}");
        assert!(verbose.contains("at java.lang.Thread.run"), "{verbose}");
    }

    #[test]
    fn who_races_is_told_with_the_way_there() {
        let sources = Sources::default();
        let cyclic = samples::account_deposit();
        let mut steps = cyclic.witnesses[0].steps[2..].to_vec();
        steps[0].role = "first";
        let race = Finding {
            rule: "happens-before-race",
            subjects: BTreeMap::from([("variable", "Account#3.balance".to_string())]),
            witnesses: vec![Witness::new("happens-before", steps)],
            ..cyclic
        };
        let told = text(&only(race), &Options::new(&sources));
        for said in [
            "bank/Account.java:14 in `bank.Account.close`: `main` writes `Account#3.balance` here\n",
            "bank/Account.java:11: `worker-1` writes it here, and nothing orders this after the first access\n",
            "note: `main` writes `Account#3.balance` at bank.Account.close (bank/Account.java:14)\n           called, at another visit, by Bank.run (Bank.java:30), ",
            "note: `worker-1` writes `Account#3.balance` at bank.Account.deposit (bank/Account.java:11)\n           called by Bank.run (Bank.java:30), Bank.run (Bank.java:31)\n",
        ] {
            assert!(told.contains(said), "{said} is missing from\n{told}");
        }
    }

    #[test]
    fn a_cycle_without_blame_says_so() {
        let mut finding = samples::account_deposit();
        let cycle = finding.witnesses[0].cycle.as_mut().unwrap();
        cycle.transactions[0].is_blamed = false;
        cycle.edges[0].kind = EdgeKind::Order;
        cycle.edges[1].kind = EdgeKind::Omitted;
        cycle.edges.insert(0, CycleEdge { is_race: true, ..cycle.edges[0].clone() });
        cycle.edges[0].kind = EdgeKind::Operations;
        cycle.transactions.insert(0, cycle.transactions[0].clone());
        let told = text(&only(finding), &Options::new(&Sources::default()));
        for said in [
            "the two race: they were observed in this order, and nothing enforces it",
            "T2 \"worker-1\" in `bank.Account.deposit` comes before T3 \"main\": they run in one thread\n",
            "which closes the cycle: through operations that were not recorded\n",
            "no single block is to blame",
        ] {
            assert!(told.contains(said), "{said} is missing from\n{told}");
        }
    }

    #[test]
    fn steps_in_two_files_are_two_excerpts() {
        let sources = Sources::in_memory([
            ("geometry/Line.java", samples::LINE_JAVA),
            (
                "app/Main.java",
                "class Main {\n  // the lock of all lines\n  synchronized (lines) {\n",
            ),
        ]);
        let mut finding = samples::line_contains();
        finding.witnesses[0].steps[0].site =
            samples::site("app.Main", "main", "()V", 0, "app/Main.java", 3);
        let text = text(&only(finding), &Options::new(&sources));
        let primary = text.find(" --> geometry/Line.java:8:9").unwrap();
        let other = text.find(" ::: app/Main.java:3:3").unwrap();
        assert!(primary < other, "{text}");
        assert!(
            text.contains(
                "3 |   synchronized (lines) {\n  |   -------------------- `this` is held"
            )
        );
    }

    #[test]
    fn sources_of_another_version_are_not_quoted() {
        let sources = Sources::in_memory([("geometry/Line.java", "class Line {}\n\n")]);
        let text = text(&only(samples::line_contains()), &Options::new(&sources));
        assert!(text.contains("--> geometry/Line.java:8\n"));
        assert!(!text.contains("class Line {}"));
    }

    #[test]
    fn quiet_is_findings_alone_and_verbose_is_everything() {
        let sources = Sources::default();
        let mut options = Options::new(&sources);
        options.detail = Detail::Quiet;
        let quiet = text(&samples::results(), &options);
        assert!(quiet.contains("= help: hold `point`") && !quiet.contains("gap"));
        assert_eq!(text(&Results::default(), &options), "");
        options.detail = Detail::Verbose;
        let verbose = text(&samples::results(), &options);
        for said in ["org.lib.C11", "severity: high", "fingerprint: ", "call_edges: 200000"] {
            assert!(verbose.contains(said), "{said} is missing from\n{verbose}");
        }
        assert!(
            verbose.contains("first and second: holding `this` (acquired at geometry/Line.java:6)")
        );
    }

    #[test]
    fn the_title_tells_the_severity() {
        let sources = Sources::default();
        for (severity, title) in
            [(Severity::Low, "note["), (Severity::Medium, "warning["), (Severity::High, "error[")]
        {
            let finding = Finding { severity, ..samples::line_contains() };
            assert!(text(&only(finding), &Options::new(&sources)).starts_with(title));
        }
    }

    #[test]
    fn what_is_not_shown_is_counted_and_listed_on_demand() {
        let sources = Sources::default();
        let mut options = Options::new(&sources);
        assert_eq!(
            text(&samples::triaged(), &options),
            "\
warning: the suppression of `p.Dead` at scission.toml:3 matches nothing

nothing new, 1 suppressed, 1 in the baseline, 1 no longer found, 12 of low severity not shown, 0 gaps in 1 class, 1,034 methods
`--level low` shows everything
"
        );
        options.detail = Detail::Verbose;
        let verbose = text(&samples::triaged(), &options);
        for said in [
            "note: 1 finding suppressed\n  geometry/Line.java:8: [reacquired-lock] `geometry.Line.contains` releases",
            "; reason: callers hold the lock\n",
            "note: 1 finding in the baseline\n  java/util/Vector.java:903: [reacquired-lock] `java.util.Vector.addAll` releases",
            "note: 1 finding of the baseline no longer found\n  p.Old.gone(): [reacquired-lock] `p.Old.gone` releases",
        ] {
            assert!(verbose.contains(said), "{said} is missing from\n{verbose}");
        }
        options.detail = Detail::Quiet;
        assert_eq!(text(&samples::triaged(), &options), "");
    }

    #[test]
    fn colours_only_when_asked_for() {
        let sources = Sources::default();
        let mut options = Options::new(&sources);
        assert!(!text(&samples::results(), &options).contains('\u{1b}'));
        options.colored = true;
        assert!(text(&samples::results(), &options).contains('\u{1b}'));
    }

    #[test]
    fn names_cannot_draw_on_the_terminal() {
        let sources = Sources::default();
        let mut results = samples::results();
        results.findings[0].subjects.insert("witness", "\u{1b}[2Jgone".into());
        results.findings[0].blame.class = "p.\u{1b}[31m".into();
        results.gaps[0].place = "a\u{1b}[2J\nb".into();
        let text = text(&results, &Options::new(&sources));
        assert!(!text.contains('\u{1b}'));
        assert!(text.contains("a␛[2J b: constant"));
    }

    #[test]
    fn an_interrupted_run_says_so() {
        let sources = Sources::default();
        let results = Results { interrupted: true, ..Results::default() };
        assert_eq!(
            text(&results, &Options::new(&sources)),
            "nothing found, 0 gaps; interrupted: the analysis did not finish\n"
        );
    }
}
