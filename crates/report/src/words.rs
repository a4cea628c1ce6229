//! The words of a report: templates filled in, places and signatures written out.
//!
//! Everything here is shared by the formats, so that the text, the JSON and the SARIF of one
//! finding say the same sentence. It is also where names are cleaned: a report never carries an
//! absolute path, because it is stored, diffed and sent to other machines.

use findings::{
    BenignCycle, Cycle, CycleEdge, EdgeKind, Evidence, Finding, Fingerprint, GRADE, Gap, GradeRule,
    Rule, Site, Step, WatchedCode, rules,
};
use serde::Serialize;

use crate::observed_message;

/// The rule a finding belongs to.
pub(crate) fn rule_of(finding: &Finding) -> &'static Rule {
    rules::named(finding.rule).expect("a finding's rule is one of `rules::ALL`")
}

/// The sentence that heads a finding: the rule's message with the finding's names in it.
#[must_use]
pub fn message(finding: &Finding) -> String {
    observed_message::of(finding).unwrap_or_else(|| fill(rule_of(finding).message, finding, None))
}

/// What happens at a step, in one clause.
pub(crate) fn label(finding: &Finding, step: &Step) -> String {
    fill(rule_of(finding).label_of(step.role), finding, Some(step))
}

/// Where a step is shown: the line of the blamed block from which the thread got there, if that is known and the block
/// did it.
pub(crate) fn shown_site<'a>(finding: &'a Finding, step: &'a Step) -> &'a Site {
    match step.role {
        "first" | "second" if is_of_one_block(finding) => {
            frame_in_block(finding, step).map_or(&step.site, |(_, frame)| frame)
        }
        _ => &step.site,
    }
}

/// Whether a finding shows how a block was split.
pub(crate) fn splits_block(finding: &Finding) -> bool {
    finding.witnesses.first().is_some_and(|witness| witness.cycle.is_some())
}

/// Whether the first and the second use are of one thread, in one block.
fn is_of_one_block(finding: &Finding) -> bool {
    let Some(witness) = finding.witnesses.first() else { return false };
    let thread = |role: &str| {
        witness.steps.iter().find(|step| step.role == role).and_then(|step| step.thread.as_ref())
    };
    let is_of_run = finding.evidence != Evidence::Possible;
    splits_block(finding)
        || is_of_run && thread("first").is_some_and(|it| thread("second") == Some(it))
}

/// The innermost frame of a step's stack that is in the blamed method and has a line, with its position.
pub(crate) fn frame_in_block<'a>(finding: &Finding, step: &'a Step) -> Option<(usize, &'a Site)> {
    let blame = &finding.blame;
    let is_in = |site: &Site| (&site.class, &site.method) == (&blame.class, &blame.method);
    if is_in(&step.site) {
        return Some((0, &step.site));
    }
    let frames = step.stack.as_ref()?.frames.iter().enumerate();
    frames.skip(1).find(|(_, frame)| is_in(frame) && frame.line.is_some())
}

/// What to do about a finding.
pub(crate) fn advice(finding: &Finding) -> String {
    let cycle = finding.witnesses.first().and_then(|witness| witness.cycle.as_ref());
    match cycle.and_then(|cycle| cycle.benign) {
        None => {
            let advice = advice_on_race(finding).unwrap_or_else(|| rule_of(finding).advice);
            fill(advice, finding, None)
        }
        Some(
            BenignCycle::Polling
            | BenignCycle::FailedUpdate
            | BenignCycle::OthersFailed
            | BenignCycle::DoubleChecked
            | BenignCycle::NothingChanged
            | BenignCycle::UpdatedAgain
            | BenignCycle::LookedAgain
            | BenignCycle::ClassInitialised,
        ) => "nothing need change if this is meant; mark the block as not atomic to hide it".into(),
    }
}

/// What to do about a race where it is known what the variable is. `volatile` helps where one thread sets what others see;
/// it mends neither a count nor what is in a collection, and another rule would report it there.
fn advice_on_race(finding: &Finding) -> Option<&'static str> {
    if finding.rule != "data-race" {
        return None;
    }
    let variable = finding.subjects.get("variable")?;
    if variable.starts_with("the contents of ") {
        return Some(
            "hold the same lock wherever the collection is used, or make it one for threads if each call is an operation \
             of its own",
        );
    }
    if variable.ends_with("[]") {
        return Some(
            "guard every access to `{variable}` with the same lock, or make it an atomic array",
        );
    }
    let grade = GradeRule::named(finding.subjects.get(GRADE)?)?;
    if *grade == findings::grade::COUNTER {
        return Some(
            "make `{variable}` an atomic number, or guard every access to it with the same lock",
        );
    }
    if *grade == findings::grade::ONE_WAY_FLAG {
        return Some("make `{variable}` volatile, or guard every access to it with the same lock");
    }
    None
}

/// The line a reader is sent to first: where the block breaks, which is the last step. Of a run, it is the last that is in the
/// blamed method, if one is, as far as it is known how that got there; and the blamed method for a finding without steps.
pub(crate) fn primary_site(finding: &Finding) -> &Site {
    let steps = finding.witnesses.first().map_or(&[][..], |witness| &witness.steps);
    let blame = &finding.blame;
    let is_blamed = |site: &&Site| (&site.class, &site.method) == (&blame.class, &blame.method);
    let mut shown = steps.iter().rev().map(|step| shown_site(finding, step));
    let last = shown.clone().next();
    let is_of_run = finding.evidence != Evidence::Possible;
    shown.find(|site| is_of_run && is_blamed(site)).or(last).unwrap_or(blame)
}

/// The identity of a finding; one that was never ranked counts as the first of its kind.
pub(crate) fn fingerprint(finding: &Finding) -> Fingerprint {
    finding.fingerprint.unwrap_or_else(|| Fingerprint::of(finding, 0))
}

/// What distinguishes the findings of one block: the subjects, as the source names them. For observed
/// findings, the numbers of objects are ignored.
pub(crate) fn distinguishing_subjects(finding: &Finding) -> Vec<&str> {
    let name = |(name, subject)| match finding.evidence {
        Evidence::Possible => subject,
        Evidence::Predicted | Evidence::Observed => {
            finding.stable_subjects.get(name).unwrap_or(subject)
        }
    };
    let about = finding.subjects.iter().filter(|(name, _)| **name != GRADE);
    about.map(|subject| name(subject).as_str()).collect()
}

/// Which grade rule decided how severe a finding is, and why.
pub(crate) fn grade(finding: &Finding) -> Option<String> {
    let rule = GradeRule::named(finding.subjects.get(GRADE)?)?;
    Some(format!("graded by `{}`: {}", rule.name, rule.why))
}

/// Puts the names of a finding, and of one of its steps, into a template. An unknown placeholder
/// is replaced by its name.
fn fill(template: &str, finding: &Finding, step: Option<&Step>) -> String {
    let of_step = |name: &str| -> Option<&str> {
        let step = step?;
        match name {
            "thread" => Some(step.thread.as_deref().unwrap_or("a thread")),
            "verb" => Some(step.action.as_ref().map_or("uses", |action| action.verb.as_str())),
            "subject" => Some(step.action.as_ref().map_or("it", |action| action.subject.as_str())),
            _ => None,
        }
    };
    let mut filled = String::with_capacity(template.len() + 40);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(before);
        match finding.subjects.get(name).map(String::as_str).or_else(|| of_step(name)) {
            Some(subject) => filled.push_str(subject),
            None if name == "blame" => filled.push_str(&finding.blame.method_name()),
            None => filled.push_str(name),
        }
        rest = tail;
    }
    filled.push_str(rest);
    filled
}

/// Why the transactions at the ends of an edge are ordered, where that is not because of two operations.
pub(crate) fn why_without_operations(edge: &CycleEdge) -> Option<&'static str> {
    match edge.kind {
        EdgeKind::Operations => None,
        EdgeKind::Order => Some("they run in one thread"),
        EdgeKind::Omitted => Some("through operations that were not recorded"),
    }
}

/// Why a cycle does no harm.
pub(crate) fn why_benign(benign: BenignCycle, cycle: &Cycle) -> String {
    let read = cycle.edges.first().map_or("the variable", |edge| &edge.subject);
    match benign {
        BenignCycle::Polling => format!(
            "T1 reads `{read}` again at the same place, and so waits until another thread has changed it"
        ),
        BenignCycle::FailedUpdate => format!(
            "T1 only tries to update `{read}` here, which fails if another thread has changed it, and does not write it \
             otherwise"
        ),
        BenignCycle::OthersFailed => format!(
            "T2 only tries to update `{read}` here, which fails because T1 has changed it, as with a lock that is held"
        ),
        BenignCycle::DoubleChecked => format!(
            "T1 reads `{read}` again under the lock, and leaves it as the other thread has initialised it in the same method"
        ),
        BenignCycle::NothingChanged => {
            "nothing that T1 used afterwards had to do with what others did while they held the lock".to_string()
        }
        BenignCycle::UpdatedAgain => {
            "T1 only updates what it had updated before, by what it finds there when it has the lock again: what others did \
             meanwhile is neither lost nor overlooked".to_string()
        }
        BenignCycle::LookedAgain => {
            "T1 looks for the same again when it has the lock, before it changes anything".to_string()
        }
        BenignCycle::ClassInitialised => {
            "a class is initialised once, by the thread that comes first".to_string()
        }
    }
}

/// The transaction that an edge leads to: the next one, and the first from the last.
pub(crate) fn target_of_edge(cycle: &Cycle, edge: usize) -> usize {
    (edge + 1) % cycle.transactions.len().max(1)
}

/// `watched 12 classes in target/classes; 240 library classes for order only`, and how to watch these too.
pub(crate) fn what_was_watched(watched: &WatchedCode) -> String {
    let classes = |number: u64, kind: &str| match number {
        1 => format!("1 {kind}class"),
        number => format!("{} {kind}classes", with_separators(number)),
    };
    let places: Vec<String> = watched
        .places
        .iter()
        .map(|(place, number)| match place.as_str() {
            "" => format!("{} made at run time", classes(*number, "")),
            place => format!("{} in {place}", classes(*number, "")),
        })
        .collect();
    let places = if places.is_empty() { "no class".to_string() } else { places.join(", ") };
    let order_only = classes(watched.order_only, "library ");
    format!(
        "watched {places}; {order_only} for order only (`--include PATTERN` or `--libraries full` watches more)"
    )
}

/// A number with its thousands set apart: `54,321`.
pub(crate) fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut with_separators = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            with_separators.push(',');
        }
        with_separators.push(digit);
    }
    with_separators
}

/// The name a plain-data enum has in JSON, so that every format spells it the same way.
pub(crate) fn name(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => unreachable!("kinds, evidence and severity serialise as strings"),
    }
}

/// `p/A.java:12`; without a line the method follows, without a file it stands alone.
pub(crate) fn place(site: &Site) -> String {
    match (file(site), site.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => format!("{file} ({})", method_place(site)),
        (None, _) => method_place(site),
    }
}

/// `A.java:12`: enough in a sentence that names the class.
pub(crate) fn short_place(site: &Site) -> String {
    let place = place(site);
    place.rsplit('/').next().map_or(place.clone(), str::to_string)
}

/// `A.m`: a method without its package.
pub(crate) fn short_method(site: &Site) -> String {
    let class = site.class.rsplit('.').next().unwrap_or(&site.class);
    if class.is_empty() { site.method.clone() } else { format!("{class}.{}", site.method) }
}

/// Whether a frame is of neither the platform nor what runs tests: threads begin in `Thread.run`, and tasks in a worker of a
/// pool, which says nothing about the program.
pub(crate) fn is_of_program(site: &Site) -> bool {
    !NOT_OF_PROGRAMS.iter().any(|package| site.class.starts_with(package))
}

/// The packages of the platform, and of what runs tests.
const NOT_OF_PROGRAMS: &[&str] = &[
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "org.junit.",
    "junit.",
    "org.testng.",
    "org.apache.maven.",
    "org.gradle.",
];

/// `p.A.m`, with the bytecode offset where there is one: the best there is without a line.
pub(crate) fn method_place(site: &Site) -> String {
    match site.offset {
        Some(offset) => format!("{}, bytecode offset {offset}", site.method_name()),
        None => site.method_name(),
    }
}

/// `p.A.m(java.lang.String, int)`: tells overloads apart, which the short name does not.
pub(crate) fn signature(site: &Site) -> String {
    format!("{}({})", site.method_name(), parameters(&site.descriptor).join(", "))
}

/// The parameter types of a method descriptor as a Java programmer writes them. A descriptor that
/// makes no sense gives the types read until then.
fn parameters(descriptor: &str) -> Vec<String> {
    let mut types = Vec::new();
    let mut rest = descriptor.strip_prefix('(').unwrap_or("");
    while !rest.is_empty() && !rest.starts_with(')') {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let (name, tail) = match element.as_bytes().first() {
            Some(b'B') => ("byte", &element[1..]),
            Some(b'C') => ("char", &element[1..]),
            Some(b'D') => ("double", &element[1..]),
            Some(b'F') => ("float", &element[1..]),
            Some(b'I') => ("int", &element[1..]),
            Some(b'J') => ("long", &element[1..]),
            Some(b'S') => ("short", &element[1..]),
            Some(b'Z') => ("boolean", &element[1..]),
            Some(b'L') => element[1..].split_once(';').unwrap_or((&element[1..], "")),
            _ => break,
        };
        types.push(name.replace('/', ".") + &"[]".repeat(dimensions));
        rest = tail;
    }
    types
}

/// The source file of a site as a path relative to a source root, with forward slashes.
///
/// The name comes from the class file, where a compiler may have put anything, an absolute path of
/// the build machine included. Whatever is not plainly relative is cut down to its last component,
/// which also keeps a hostile class from pointing a source lookup outside its root.
pub(crate) fn file(site: &Site) -> Option<String> {
    let file = site.file.as_deref()?.replace('\\', "/");
    let plainly_relative = file
        .split('/')
        .all(|component| !matches!(component, "" | "." | "..") && !component.contains(':'));
    let file = if plainly_relative {
        file
    } else {
        file.rsplit(['/', ':']).next().filter(|last| !matches!(*last, "." | ".."))?.to_string()
    };
    (!file.is_empty()).then_some(file)
}

/// Where a gap is, without directories of this machine.
pub(crate) fn gap_place(gap: &Gap) -> String {
    without_host_paths(&gap.place)
}

/// What a gap is about, without directories of this machine.
pub(crate) fn gap_detail(gap: &Gap) -> String {
    without_host_paths(&gap.detail)
}

/// Cuts every absolute path in a text down to its file name: `/home/ada/app.jar!/p/A.class` becomes
/// `app.jar!/p/A.class`. Readers of input are expected to name things relative to what the user
/// typed; this is the last line of defence.
fn without_host_paths(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    let mut at_boundary = true;
    while let Some(first) = rest.chars().next() {
        if at_boundary && starts_absolute_path(rest) {
            let end = rest.find(ends_path).unwrap_or(rest.len());
            let (path, tail) = rest.split_at(end);
            // What follows `!/` is a name inside an archive, not on this machine.
            let outer = path.split("!/").next().unwrap_or(path);
            let directory = outer.trim_end_matches(['/', '\\']).rfind(['/', '\\']);
            cleaned.push_str(&path[directory.map_or(0, |separator| separator + 1)..]);
            rest = tail;
        } else {
            cleaned.push(first);
            rest = &rest[first.len_utf8()..];
        }
        at_boundary = cleaned.ends_with(|last| ends_path(last) || matches!(last, ':' | '='));
    }
    cleaned
}

fn starts_absolute_path(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes {
        [b'/', next, ..] => !ends_path(char::from(*next)),
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        [b'\\', b'\\', ..] => true,
        _ => false,
    }
}

fn ends_path(character: char) -> bool {
    character.is_whitespace() || matches!(character, '`' | '\'' | '"' | '(' | ')' | ',' | ';')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use findings::GapKind;

    #[test]
    fn templates_take_their_names_from_the_finding() {
        let finding = samples::line_contains();
        assert_eq!(
            message(&finding),
            "`geometry.Line.contains` releases `point` too early: it is acquired twice while `this` is held"
        );
        assert_eq!(fill("{nobody} and {unclosed", &finding, None), "nobody and unclosed");
        let step = &finding.witnesses[0].steps[0];
        assert_eq!(fill("{thread} {verb} {subject}", &finding, Some(step)), "a thread uses it");
        let finding = samples::account_deposit();
        let step = &finding.witnesses[0].steps[1];
        assert_eq!(label(&finding, step), "first, `worker-1` reads `Account#3.balance` here");
    }

    #[test]
    fn volatile_is_advised_where_it_helps() {
        use findings::grade::{COUNTER, NO_COMMON_LOCK, ONE_WAY_FLAG};
        let advice = |variable: &str, grade: GradeRule| {
            let mut finding = samples::line_contains();
            finding.rule = "data-race";
            finding.subjects.insert("variable", variable.to_string());
            grade.note_in(&mut finding.subjects);
            super::advice(&finding)
        };
        for (variable, grade) in [
            ("the contents of Cache.entries", NO_COMMON_LOCK),
            ("Table.cells[]", NO_COMMON_LOCK),
            ("Counter.hits", COUNTER),
        ] {
            let advice = advice(variable, grade);
            assert!(!advice.contains("volatile"), "{advice}");
        }
        assert!(advice("Counter.hits", COUNTER).contains("make `Counter.hits` an atomic number"));
        assert!(advice("Job.stopped", ONE_WAY_FLAG).starts_with("make `Job.stopped` volatile"));
        // Of other fields it is not known whether what is written depends on what was read.
        assert!(advice("Job.state", NO_COMMON_LOCK).contains("volatile if nothing"));
    }

    #[test]
    fn large_numbers_are_readable() {
        assert_eq!(
            [0, 999, 1000, 54321, 1_234_567].map(with_separators),
            ["0", "999", "1,000", "54,321", "1,234,567"]
        );
    }

    #[test]
    fn signatures_are_written_as_in_java() {
        let mut site = samples::line_contains().blame;
        site.descriptor = "([[Ljava/lang/String;IJ)V".into();
        assert_eq!(signature(&site), "geometry.Line.contains(java.lang.String[][], int, long)");
        site.descriptor = "(Q".into();
        assert_eq!(signature(&site), "geometry.Line.contains()");
    }

    #[test]
    fn source_files_stay_inside_their_root() {
        let mut site = samples::line_contains().blame;
        for (named, expected) in [
            ("p/A.java", Some("p/A.java")),
            ("p//home/ada/A.java", Some("A.java")),
            ("/home/ada/A.java", Some("A.java")),
            ("p/C:\\build\\A.java", Some("A.java")),
            ("p/../../etc/passwd", Some("passwd")),
            ("p/..", None),
            ("", None),
        ] {
            site.file = Some(named.into());
            assert_eq!(file(&site).as_deref(), expected, "{named}");
        }
    }

    #[test]
    fn gaps_lose_the_directories_of_this_machine() {
        let gap = Gap::new(
            GapKind::Unreadable,
            "/home/ada/lib/app.jar!/p/A.class",
            "cannot open `/home/ada/lib/app.jar` (from C:\\Users\\ada\\x.jar): p/A.m(Lp/B;)V and/or /",
        );
        assert_eq!(gap_place(&gap), "app.jar!/p/A.class");
        assert_eq!(gap_detail(&gap), "cannot open `app.jar` (from x.jar): p/A.m(Lp/B;)V and/or /");
    }
}
