//! The picture of a witness: a column for each thread and time downward. What is drawn is decided here; where, by the
//! script of the page.
//!
//! A picture shows nothing that is not known: a lock is drawn as held from one operation to another only if something
//! says that it was not released in between.

use std::collections::BTreeMap;

use findings::{Cycle, CycleEdge, EdgeKind, Evidence, Finding, Operation, Site, Step, Witness};
use serde::Serialize;

use super::shown_text::shown_within;
use super::tables::Tables;
use crate::words;

/// No text in a picture is longer; the script shortens further what does not fit.
const LONGEST_TEXT: usize = 160;

#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Picture {
    kind: Kind,
    /// What each column is about: the name of a thread.
    columns: Vec<String>,
    rows: Vec<Row>,
    /// Locks that are held.
    bars: Vec<Bar>,
    blocks: Vec<Block>,
    arrows: Vec<Arrow>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// From the first row to the last.
    #[default]
    Interleaving,
    /// Only the arrows, and what threads do, are in this order.
    Unordered,
    /// Two accesses, neither of which comes before the other.
    Race,
    /// Who holds, and who waits for, which lock.
    Deadlock,
}

/// Something that a thread does.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Row {
    column: usize,
    text: String,
    site: Option<usize>,
    stack: Option<usize>,
    /// Whether it comes in between and splits a block.
    is_intruder: bool,
    /// Whether it happened; otherwise it could happen.
    has_happened: bool,
    /// Whether it is the side of a branch that was not taken.
    is_branch: bool,
}

#[derive(Debug, PartialEq, Serialize)]
struct Bar {
    column: usize,
    lock: String,
    first: usize,
    last: usize,
    /// Whether it is held for good.
    is_open: bool,
}

/// Rows of one execution of a block.
#[derive(Debug, PartialEq, Serialize)]
struct Block {
    column: usize,
    first: usize,
    last: usize,
    name: String,
    is_blamed: bool,
}

#[derive(Debug, PartialEq, Serialize)]
struct Arrow {
    from: usize,
    to: usize,
    text: String,
    style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    /// It was observed in this order.
    Observed,
    /// It can happen in this order.
    Predicted,
    /// Nothing orders the two.
    Race,
    /// One waits for what the other holds.
    Waits,
}

/// Rules about two accesses that nothing orders.
const RACES: &[&str] =
    &["data-race", "happens-before-race", "lockset-race", "object-race", "unsafe-publication"];

/// Where other threads can come in, by rule: after the step with this role.
const OPENED_AFTER: &[(&str, &str)] = &[
    ("reacquired-lock", "first"),
    ("reacquired-lock-pair", "first"),
    ("irreducible-block", "first"),
    ("stale-value", "released"),
    ("atomic-get-then-set", "read"),
    ("map-check-then-act", "checked"),
    ("volatile-increment", "read"),
];

/// Locks that the words of a rule say are held from one step to another: rule, roles, and the name of the lock among
/// the subjects.
const HELD_BETWEEN: &[(&str, &str, &str, &str)] = &[
    ("reacquired-lock", "first", "first", "witness"),
    ("reacquired-lock", "second", "second", "witness"),
    ("reacquired-lock-pair", "first", "first", "first"),
    ("reacquired-lock-pair", "second", "second", "second"),
    ("stale-value", "read", "released", "lock"),
    ("inconsistent-method", "first", "first", "lock"),
    ("inconsistent-method", "second", "second", "lock"),
    ("lock-not-released", "acquired", "left", "lock"),
    ("critical-wait", "holds", "waits", "lock"),
];

/// Threads of which only the number is known.
const NAMELESS_THREADS: [&str; 4] =
    ["one thread", "another thread", "a third thread", "a fourth thread"];

/// The picture of a witness; none if it would only repeat one place.
pub(super) fn of(finding: &Finding, witness: &Witness, tables: &mut Tables) -> Option<Picture> {
    let mut drawing = Drawing { finding, tables, picture: Picture::default() };
    let number_of = |word: &str| witness.steps.iter().filter(|step| role(step).0 == word).count();
    if let Some(cycle) = &witness.cycle {
        drawing.cycle(witness, cycle);
    } else if number_of("holds") + number_of("wants") >= 2 {
        drawing.deadlock(&witness.steps);
    } else if RACES.contains(&finding.rule) && witness.steps.len() == 2 {
        drawing.race(&witness.steps);
    } else if witness.steps.len() >= 2 {
        drawing.sequence(&witness.steps);
    }
    (drawing.picture.rows.len() >= 2).then_some(drawing.picture)
}

/// The role of a step, and its number where there are several.
fn role(step: &Step) -> (&str, usize) {
    let (word, number) = step.role.split_once('.').unwrap_or((step.role, "1"));
    (word, number.parse().unwrap_or(1))
}

struct Drawing<'a> {
    finding: &'a Finding,
    tables: &'a mut Tables,
    picture: Picture,
}

impl Drawing<'_> {
    fn column(&mut self, name: &str) -> usize {
        self.picture.columns.push(shown_within(name, LONGEST_TEXT));
        self.picture.columns.len() - 1
    }

    fn push(&mut self, row: Row) -> usize {
        self.picture.rows.push(row);
        self.picture.rows.len() - 1
    }

    /// A row for a step.
    fn step(&mut self, step: &Step, column: usize) -> usize {
        let text = match &step.action {
            Some(action) => format!("{} {}", action.verb, action.subject),
            None => clause(&words::label(self.finding, step)),
        };
        let row = Row {
            column,
            text: shown_within(&text, LONGEST_TEXT),
            site: Some(self.tables.site(&step.site)),
            stack: step.stack.as_ref().map(|stack| self.tables.stack(stack)),
            is_intruder: role(step).0 == "interferes",
            has_happened: self.finding.evidence != Evidence::Possible && !would(&text),
            is_branch: role(step).0 == "branch",
        };
        self.push(row)
    }

    fn hold(&mut self, lock: &str, first: usize, last: usize, is_open: bool) {
        let column = self.picture.rows[first].column;
        let lock = shown_within(lock, LONGEST_TEXT);
        let is_known = |bar: &Bar| {
            bar.column == column && bar.lock == lock && bar.first <= first && bar.last >= last
        };
        if !self.picture.bars.iter().any(is_known) {
            self.picture.bars.push(Bar { column, lock, first, last, is_open });
        }
    }

    fn arrow(&mut self, from: usize, to: usize, text: &str, style: Style) {
        let text = shown_within(text, LONGEST_TEXT);
        self.picture.arrows.push(Arrow { from, to, text, style });
    }

    fn outline(&mut self, block: &Site, first: usize, last: usize, is_blamed: bool) {
        let column = self.picture.rows[first].column;
        let name = shown_within(&block.method_name(), LONGEST_TEXT);
        self.picture.blocks.push(Block { column, first, last, name, is_blamed });
    }

    /// Transactions, and what orders each of them before the next. The operations of the edges, one after another,
    /// are in the order of time: that makes the cycle one that has a block to blame.
    fn cycle(&mut self, witness: &Witness, cycle: &Cycle) {
        let has_blame = cycle.transactions.iter().any(|transaction| transaction.is_blamed);
        self.picture.kind = if has_blame { Kind::Interleaving } else { Kind::Unordered };
        let columns = self.transaction_columns(cycle);
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); cycle.transactions.len()];
        let mut steps_of_rows: BTreeMap<usize, &Step> = BTreeMap::new();
        let mut last_end: Option<(usize, &str, &Operation)> = None;
        // Arrows to transactions that have no row yet: where they begin, which transaction, and why.
        let mut pending: Vec<(usize, usize, &str)> = Vec::new();
        let observed = match self.finding.evidence {
            Evidence::Observed => Style::Observed,
            Evidence::Predicted | Evidence::Possible => Style::Predicted,
        };
        for (at, edge) in cycle.edges.iter().enumerate() {
            let target = words::target_of_edge(cycle, at);
            if at >= columns.len() {
                break;
            }
            if let Some(why) = words::why_without_operations(edge) {
                let from = match rows_of[at].last() {
                    Some(row) => *row,
                    None => self.unknown_operation(columns[at], &mut rows_of[at]),
                };
                // What a thread does one after another stands below each other.
                if edge.kind == EdgeKind::Omitted {
                    pending.push((from, target, why));
                }
                last_end = None;
                continue;
            }
            let mut ends = [0; 2];
            for (place, number, end) in [(0, at, &edge.from), (1, target, &edge.to)] {
                let what = Some((number, edge.subject.as_str(), end));
                ends[place] = match rows_of[number].last() {
                    Some(row) if last_end == what => *row,
                    _ => {
                        let thread = &cycle.transactions[number].thread;
                        let step = step_of(witness, thread, edge, end);
                        self.branches_before(witness, step, columns[number], &mut rows_of[number]);
                        let is_intruder = has_blame && !cycle.transactions[number].is_blamed;
                        let row = self.operation(edge, end, columns[number], is_intruder);
                        steps_of_rows.extend(step.map(|step| (row, &witness.steps[step])));
                        rows_of[number].push(row);
                        row
                    }
                };
                last_end = what;
            }
            let style = if edge.is_race { Style::Race } else { observed };
            self.arrow(ends[0], ends[1], &edge.subject, style);
        }
        for (from, target, why) in pending {
            let after = rows_of[target].iter().copied().find(|row| *row > from);
            let to = match after {
                Some(row) => row,
                None => self.unknown_operation(columns[target], &mut rows_of[target]),
            };
            self.arrow(from, to, why, observed);
        }
        for (transaction, rows) in cycle.transactions.iter().zip(&rows_of) {
            let (Some(first), Some(last)) = (rows.iter().min(), rows.iter().max()) else {
                continue;
            };
            if let Some(block) = &transaction.block {
                self.outline(block, *first, *last, transaction.is_blamed);
            }
            let begins = witness.steps.iter().find(|step| step.role == "block");
            let begins = begins.filter(|_| transaction.is_blamed);
            for row in rows {
                let held = steps_of_rows.get(row).map_or(&[][..], |step| &step.held_locks);
                for lock in held {
                    let is_held_throughout = transaction
                        .block
                        .as_ref()
                        .is_some_and(|block| is_lock_of_method(&lock.taken_at, block))
                        || begins.is_some_and(|step| step.held_locks.contains(lock));
                    let (from, to) =
                        if is_held_throughout { (*first, *last) } else { (*row, *row) };
                    self.hold(&lock.lock, from, to, false);
                }
            }
        }
    }

    /// A row for a transaction of which nothing else is shown.
    fn unknown_operation(&mut self, column: usize, rows: &mut Vec<usize>) -> usize {
        let text = "what it does is not recorded".to_string();
        let has_happened = self.finding.evidence == Evidence::Observed;
        let row = self.push(Row { column, text, has_happened, ..Row::default() });
        rows.push(row);
        row
    }

    /// A column for each thread. Two transactions of the same name that conflict are of two threads with one name.
    fn transaction_columns(&mut self, cycle: &Cycle) -> Vec<usize> {
        let mut columns: Vec<usize> = Vec::new();
        for (at, transaction) in cycle.transactions.iter().enumerate() {
            let conflicts = |other: usize| {
                let joins = |(edge, kind): (usize, EdgeKind)| {
                    let target = words::target_of_edge(cycle, edge);
                    kind == EdgeKind::Operations
                        && ((edge, target) == (at, other) || (edge, target) == (other, at))
                };
                cycle.edges.iter().map(|edge| edge.kind).enumerate().any(joins)
            };
            let same = (0..at).find(|other| {
                cycle.transactions[*other].thread == transaction.thread && !conflicts(*other)
            });
            let column = match same {
                Some(other) => columns[other],
                None => self.column(&transaction.thread),
            };
            columns.push(column);
        }
        columns
    }

    /// The branches that were not taken and lead to a step.
    fn branches_before(
        &mut self,
        witness: &Witness,
        step: Option<usize>,
        column: usize,
        rows: &mut Vec<usize>,
    ) {
        let Some(step) = step else { return };
        let before = witness.steps[..step].iter().rev();
        let branches = before.take_while(|branch| {
            branch.role == "branch" && branch.thread == witness.steps[step].thread
        });
        let branches: Vec<&Step> = branches.collect();
        for branch in branches.into_iter().rev() {
            let row = self.step(branch, column);
            self.picture.rows[row].text =
                branch.action.as_ref().map_or(String::new(), |action| action.verb.clone());
            rows.push(row);
        }
    }

    fn operation(
        &mut self,
        edge: &CycleEdge,
        operation: &Operation,
        column: usize,
        is_intruder: bool,
    ) -> usize {
        let text = shown_within(&format!("{} {}", operation.verb, edge.subject), LONGEST_TEXT);
        let row = Row {
            column,
            site: operation.site.as_ref().map(|site| self.tables.site(site)),
            stack: operation.stack.as_ref().map(|stack| self.tables.stack(stack)),
            is_intruder,
            has_happened: !would(&text),
            is_branch: false,
            text,
        };
        self.push(row)
    }

    /// Threads that hold locks and wait for those of others. All hold what they hold before any waits.
    fn deadlock(&mut self, steps: &[Step]) {
        self.picture.kind = Kind::Deadlock;
        let mut columns: BTreeMap<String, usize> = BTreeMap::new();
        // By thread, and where none is named by the number of the step.
        let mut column_of = |drawing: &mut Drawing<'_>, step: &Step| {
            let name = step.thread.clone().unwrap_or_else(|| {
                let number = if role(step).0 == "needs" { 2 } else { role(step).1 };
                NAMELESS_THREADS[(number - 1).min(NAMELESS_THREADS.len() - 1)].to_string()
            });
            *columns.entry(name.clone()).or_insert_with(|| drawing.column(&name))
        };
        let lock = |step: &Step, word: &str| {
            let of_action = step.action.as_ref().map(|action| action.subject.clone());
            let name = format!("{word}{}", role(step).1);
            of_action.or_else(|| self.finding.subjects.get(name.as_str()).cloned())
        };
        let holds: Vec<(&Step, Option<String>)> = steps
            .iter()
            .filter(|step| role(step).0 == "holds")
            .map(|step| (step, lock(step, "held")))
            .collect();
        let waits: Vec<(&Step, Option<String>)> = steps
            .iter()
            .filter(|step| ["wants", "waits", "needs"].contains(&role(step).0))
            .map(|step| (step, lock(step, "wanted")))
            .collect();
        let (mut held, mut waiting) = (Vec::new(), Vec::new());
        for (step, lock) in &holds {
            let column = column_of(self, step);
            let row = self.step(step, column);
            held.push((row, lock.clone(), role(step).1));
        }
        for (step, lock) in &waits {
            let column = column_of(self, step);
            let row = self.step(step, column);
            waiting.push((row, lock.clone(), role(step).1));
        }
        let end = self.picture.rows.len().saturating_sub(1);
        for (row, lock, _) in &held {
            self.hold(lock.as_deref().unwrap_or("the lock"), *row, end, true);
        }
        for (row, lock, number) in &waiting {
            let has_numbers = steps.iter().any(|step| step.role.contains('.'));
            let next = if *number >= held.len() { 1 } else { number + 1 };
            let holder = held.iter().find(
                |(_, held, number)| {
                    if has_numbers { *number == next } else { held == lock }
                },
            );
            // One may also wait for the end of a thread.
            let waited_for = |name: &String| {
                let column = self.picture.columns.iter().position(|column| column == name)?;
                let mut rows = waiting.iter().map(|(row, ..)| *row);
                rows.find(|row| self.picture.rows[*row].column == column)
            };
            let target =
                holder.map(|(row, ..)| *row).or_else(|| lock.as_ref().and_then(waited_for));
            if let Some(target) = target.filter(|target| target != row) {
                self.arrow(*row, target, lock.as_deref().unwrap_or(""), Style::Waits);
            }
        }
    }

    /// Two accesses of two threads.
    fn race(&mut self, steps: &[Step]) {
        self.picture.kind = Kind::Race;
        for (step, nameless) in steps.iter().zip(NAMELESS_THREADS) {
            let column = self.column(step.thread.as_deref().unwrap_or(nameless));
            let row = self.step(step, column);
            self.held_locks(step, row);
        }
        let subject = steps[0].action.as_ref().map_or(String::new(), |it| it.subject.clone());
        self.arrow(0, 1, &subject, Style::Race);
    }

    fn held_locks(&mut self, step: &Step, row: usize) {
        for lock in &step.held_locks {
            self.hold(&lock.lock, row, row, false);
        }
    }

    /// Steps of one thread, and what others can do in between.
    fn sequence(&mut self, steps: &[Step]) {
        let mut ordered: Vec<&Step> =
            steps.iter().filter(|step| !["outer", "together"].contains(&role(step).0)).collect();
        let is_intruder = |step: &Step| ["interferes", "needs"].contains(&role(step).0);
        // What interferes comes before the second use, wherever the rule lists it.
        let intruders: Vec<&Step> = ordered.iter().copied().filter(|it| is_intruder(it)).collect();
        ordered.retain(|step| !is_intruder(step));
        let at = ordered.iter().position(|step| role(step).0 == "second").unwrap_or(ordered.len());
        ordered.splice(at..at, intruders);
        let own_thread =
            steps.iter().find(|step| !is_intruder(step)).and_then(|it| it.thread.as_deref());
        let own = self.column(own_thread.unwrap_or("a thread"));
        let opened_after = OPENED_AFTER.iter().find(|(rule, _)| *rule == self.finding.rule);
        let mut others: BTreeMap<String, usize> = BTreeMap::new();
        let mut rows: Vec<(usize, &Step)> = Vec::new();
        let mut opened = None;
        for step in ordered {
            let column = if is_intruder(step) {
                let name = step.thread.clone().unwrap_or_else(|| "another thread".to_string());
                *others.entry(name.clone()).or_insert_with(|| self.column(&name))
            } else {
                own
            };
            let row = self.step(step, column);
            self.picture.rows[row].is_intruder = is_intruder(step);
            rows.push((row, step));
            if opened_after.is_some_and(|(_, after)| *after == role(step).0) && opened.is_none() {
                let column = self.column("other threads");
                let text = "can come in between".to_string();
                opened = Some(self.push(Row { column, text, is_intruder: true, ..Row::default() }));
            }
        }
        let row_of = |word: &str| rows.iter().find(|(_, step)| role(step).0 == word).map(|it| it.0);
        let last =
            rows.iter().rev().find(|(_, step)| !is_intruder(step)).map_or(0, |(row, _)| *row);
        if let Some(first) = row_of("block").or_else(|| row_of("context"))
            && first < last
        {
            let blame = self.finding.blame.clone();
            self.outline(&blame, first, last, true);
        }
        let mut held = Vec::new();
        for (rule, from, to, subject) in HELD_BETWEEN {
            if *rule == self.finding.rule
                && let (Some(from), Some(to)) = (row_of(from), row_of(to))
                && let Some(lock) = self.finding.subjects.get(subject)
                && from <= to
            {
                held.push((lock.clone(), from, to));
            }
        }
        for (row, step) in &rows {
            for lock in &step.held_locks {
                // A lock that a step acquires is held from there, by what its analysis says.
                let since = rows.iter().find(|(from, earlier)| {
                    from < row
                        && earlier.site == lock.taken_at
                        && !is_intruder(earlier)
                        && !is_intruder(step)
                });
                held.push((lock.lock.clone(), since.map_or(*row, |(from, _)| *from), *row));
            }
        }
        held.sort_by_key(|(_, from, to)| (*from, std::cmp::Reverse(*to)));
        for (lock, from, to) in held {
            self.hold(&lock, from, to, false);
        }
        let mut between: Vec<usize> = opened.into_iter().collect();
        between.extend(rows.iter().filter(|(_, step)| is_intruder(step)).map(|(row, _)| *row));
        let style = match self.finding.evidence {
            Evidence::Observed => Style::Observed,
            Evidence::Predicted | Evidence::Possible => Style::Predicted,
        };
        for row in between {
            let before = rows.iter().rev().find(|(it, step)| *it < row && !is_intruder(step));
            let after = rows.iter().find(|(it, step)| *it > row && !is_intruder(step));
            if let Some((before, _)) = before {
                self.arrow(*before, row, "", style);
            }
            if let Some((after, _)) = after {
                self.arrow(row, *after, "", style);
            }
        }
    }
}

/// The step that an operation of a cycle belongs to.
fn step_of(witness: &Witness, thread: &str, edge: &CycleEdge, end: &Operation) -> Option<usize> {
    witness.steps.iter().position(|step| {
        Some(&step.site) == end.site.as_ref()
            && step.thread.as_deref() == Some(thread)
            && !["block", "branch"].contains(&step.role)
            && step
                .action
                .as_ref()
                .is_some_and(|action| action.verb == end.verb && action.subject == edge.subject)
    })
}

/// Whether a lock is that of the synchronized method that a block is: nobody releases it before the end.
fn is_lock_of_method(taken_at: &Site, block: &Site) -> bool {
    taken_at.offset.is_none()
        && block.offset.is_none()
        && (&taken_at.class, &taken_at.method, &taken_at.descriptor)
            == (&block.class, &block.method, &block.descriptor)
}

/// Whether words are about what did not happen.
fn would(text: &str) -> bool {
    text.starts_with("would ")
}

/// The first clause of a label, without what sets names apart.
fn clause(label: &str) -> String {
    let first = label.split(": ").next().unwrap_or(label);
    let first = first.split("; ").next().unwrap_or(first);
    first.replace('`', "")
}

#[cfg(test)]
mod tests {
    use findings::{HeldLock, ThreadAction};

    use super::*;
    use crate::samples;

    fn picture(finding: &Finding) -> Picture {
        of(finding, &finding.witnesses[0], &mut Tables::default()).unwrap()
    }

    /// Each row as `column: text`, with a mark for what did not happen and for what comes in between.
    fn rows(picture: &Picture) -> Vec<String> {
        let row = |row: &Row| {
            let mark = match (row.is_intruder, row.has_happened) {
                (true, true) => "!",
                (true, false) => "!?",
                (false, true) => "",
                (false, false) => "?",
            };
            format!("{}: {}{mark}", picture.columns[row.column], row.text)
        };
        picture.rows.iter().map(row).collect()
    }

    fn arrows(picture: &Picture) -> Vec<(usize, usize, Style)> {
        picture.arrows.iter().map(|arrow| (arrow.from, arrow.to, arrow.style)).collect()
    }

    #[test]
    fn a_cycle_is_drawn_in_the_order_of_time() {
        let picture = picture(&samples::account_deposit());
        assert_eq!(
            rows(&picture),
            [
                "worker-1: reads Account#3.balance",
                "main: writes Account#3.balance!",
                "worker-1: writes Account#3.balance",
            ]
        );
        assert_eq!(arrows(&picture), [(0, 1, Style::Observed), (1, 2, Style::Observed)]);
        assert_eq!(picture.blocks.len(), 1);
        let block = &picture.blocks[0];
        assert_eq!((block.column, block.first, block.last, block.is_blamed), (0, 0, 2, true));
        assert_eq!(picture.kind, Kind::Interleaving);
    }

    #[test]
    fn what_did_not_happen_is_told_apart() {
        let mut finding = samples::predicted_deposit();
        let witness = &mut finding.witnesses[0];
        witness.steps[2].action.as_mut().unwrap().verb = "would write".into();
        let mut branch = Step::at(
            "branch",
            samples::site("bank.Account", "close", "()V", 0, "bank/Account.java", 13),
        );
        branch.thread = Some("main".into());
        branch.action =
            Some(ThreadAction { verb: "went the other way".into(), subject: "x".into() });
        witness.steps.insert(2, branch);
        let cycle = witness.cycle.as_mut().unwrap();
        cycle.edges[0].to.verb = "would write".into();
        cycle.edges[1].from.verb = "would write".into();
        let picture = picture(&finding);
        assert_eq!(
            rows(&picture),
            [
                "worker-1: reads Account#3.balance",
                "main: went the other way",
                "main: would write Account#3.balance!?",
                "worker-1: writes Account#3.balance",
            ]
        );
        assert!(picture.rows[1].is_branch);
        assert_eq!(arrows(&picture), [(0, 2, Style::Predicted), (2, 3, Style::Predicted)]);
    }

    #[test]
    fn a_lock_is_held_between_operations_only_if_that_is_known() {
        let lock = |taken_at: Site| HeldLock { lock: "Account#3".into(), taken_at };
        let block = samples::account_deposit().blame;
        let elsewhere = samples::site("bank.Account", "get", "()V", 3, "bank/Account.java", 3);
        for (taken_at, expected) in [(block, vec![(0, 2)]), (elsewhere, vec![(0, 0), (2, 2)])] {
            let mut finding = samples::account_deposit();
            for step in [1, 3] {
                finding.witnesses[0].steps[step].held_locks = vec![lock(taken_at.clone())];
            }
            let picture = picture(&finding);
            let bars: Vec<_> = picture.bars.iter().map(|bar| (bar.first, bar.last)).collect();
            assert_eq!(bars, expected);
        }
    }

    #[test]
    fn threads_of_one_name_that_conflict_are_two() {
        let mut finding = samples::account_deposit();
        for transaction in &mut finding.witnesses[0].cycle.as_mut().unwrap().transactions {
            transaction.thread = "worker".into();
        }
        let columns: Vec<_> = picture(&finding).rows.iter().map(|row| row.column).collect();
        assert_eq!(columns, [0, 1, 0]);
    }

    #[test]
    fn what_a_thread_does_one_after_another_needs_no_arrow() {
        let mut finding = samples::account_deposit();
        let cycle = finding.witnesses[0].cycle.as_mut().unwrap();
        let between = CycleEdge { kind: EdgeKind::Order, ..cycle.edges[0].clone() };
        cycle.edges.insert(1, between);
        cycle.transactions.push(cycle.transactions[1].clone());
        let drawn = picture(&finding);
        assert_eq!(drawn.columns.len(), 2);
        assert_eq!(drawn.rows.iter().map(|row| row.column).collect::<Vec<_>>(), [0, 1, 1, 0]);
        assert_eq!(arrows(&drawn), [(0, 1, Style::Observed), (2, 3, Style::Observed)]);
        finding.witnesses[0].cycle.as_mut().unwrap().edges[1].kind = EdgeKind::Omitted;
        assert_eq!(arrows(&picture(&finding)).len(), 3);
    }

    #[test]
    fn without_a_block_to_blame_only_arrows_are_order() {
        let mut finding = samples::account_deposit();
        for transaction in &mut finding.witnesses[0].cycle.as_mut().unwrap().transactions {
            transaction.is_blamed = false;
        }
        let picture = picture(&finding);
        assert_eq!(picture.kind, Kind::Unordered);
        assert!(picture.rows.iter().all(|row| !row.is_intruder));
    }

    fn deadlock(steps: &[(&'static str, Option<&str>, &str)]) -> Finding {
        let mut finding = samples::line_contains();
        finding.rule = "deadlock";
        finding.evidence = Evidence::Observed;
        let site = |line| samples::site("p.A", "m", "()V", line, "p/A.java", line);
        let steps = steps.iter().zip(1..).map(|((role, thread, subject), line)| Step {
            thread: thread.map(str::to_string),
            action: Some(ThreadAction { verb: role.to_string(), subject: subject.to_string() }),
            ..Step::at(role, site(line))
        });
        finding.witnesses = vec![Witness::new("deadlock", steps.collect())];
        finding
    }

    #[test]
    fn a_deadlock_shows_who_holds_and_who_wants() {
        let picture = picture(&deadlock(&[
            ("holds", Some("first"), "A#1"),
            ("wants", Some("first"), "A#2"),
            ("holds", Some("second"), "A#2"),
            ("wants", Some("second"), "A#1"),
        ]));
        assert_eq!(
            rows(&picture),
            ["first: holds A#1", "second: holds A#2", "first: wants A#2", "second: wants A#1"]
        );
        let bars: Vec<_> = picture
            .bars
            .iter()
            .map(|bar| (bar.lock.as_str(), bar.first, bar.last, bar.is_open))
            .collect();
        assert_eq!(bars, [("A#1", 0, 3, true), ("A#2", 1, 3, true)]);
        assert_eq!(arrows(&picture), [(2, 1, Style::Waits), (3, 0, Style::Waits)]);
    }

    #[test]
    fn a_thread_can_wait_for_the_end_of_another() {
        let picture = picture(&deadlock(&[
            ("holds", Some("main"), "S#2"),
            ("wants", Some("main"), "worker"),
            ("wants", Some("worker"), "S#2"),
        ]));
        assert_eq!(arrows(&picture), [(1, 2, Style::Waits), (2, 0, Style::Waits)]);
    }

    #[test]
    fn a_block_that_acquires_a_lock_twice_has_a_gap_for_others() {
        let picture = picture(&samples::line_contains());
        assert_eq!(
            rows(&picture),
            [
                "a thread: this is held from here?",
                "a thread: point is acquired and released here?",
                "other threads: can come in between!?",
                "a thread: point is acquired again here?",
            ]
        );
        let bars: Vec<_> =
            picture.bars.iter().map(|bar| (bar.lock.as_str(), bar.first, bar.last)).collect();
        assert_eq!(bars, [("this", 0, 3), ("point", 1, 1), ("point", 3, 3)]);
        assert_eq!(arrows(&picture), [(1, 2, Style::Predicted), (2, 3, Style::Predicted)]);
    }

    #[test]
    fn two_accesses_that_race_have_no_order() {
        let mut finding =
            deadlock(&[("first", Some("a"), "A#1.x"), ("second", Some("b"), "A#1.x")]);
        finding.rule = "happens-before-race";
        let picture = picture(&finding);
        assert_eq!(picture.kind, Kind::Race);
        assert_eq!(picture.columns, ["a", "b"]);
        assert_eq!(arrows(&picture), [(0, 1, Style::Race)]);
    }
}
