//! The shapes that code has, one method for each.

use std::fmt::Write;

use classes::ClassFile;
use summary_trees::{
    BranchSummaries, BranchSummary, Config, LandingKind, Operand, Register, summarize_method,
    summarize_some_branches,
};

use crate::java::{Compiled, method_named};
use crate::text::{branch_text, steps_text};

const SOURCE: &str = include_str!("Account.java");

fn account() -> Compiled {
    Compiled::new("Account.java", SOURCE)
}

/// Each branch with its depth and how it leaves a loop, and its sides.
fn described(found: &BranchSummaries) -> String {
    assert!(found.gaps.is_empty(), "{:?}", found.gaps);
    let mut text = String::new();
    for branch in &found.branches {
        let meets = if branch.join.is_some() { "" } else { ", until the end" };
        let iterates = branch.loop_branch.map_or(String::new(), |it| {
            let whole = if it.is_whole_iteration { "" } else { " partly" };
            format!(", side {} iterates{whole}", it.iterates)
        });
        writeln!(text, "depth {}{meets}{iterates}; {}", branch.depth, branch_text(branch)).unwrap();
    }
    text
}

#[test]
fn every_shape_has_its_tree() {
    let compiled = account();
    let mut text = String::new();
    for method in compiled.class("Account").methods.iter().filter(|it| &*it.name != "<init>") {
        let found = compiled.branches("Account", &method.name);
        writeln!(text, "== {}\n{}", method.name, described(&found)).unwrap();
    }
    let expected = include_str!("shapes.txt");
    assert!(text.trim_end() == expected.trim_end(), "expected:\n{expected}\nfound:\n{text}");
}

fn summary_text(class: &ClassFile, compiled: &Compiled, method: &str) -> String {
    let method = method_named(class, method);
    let summary = summarize_method(class, method, compiled, &Config::default()).unwrap().unwrap();
    steps_text(&summary.steps)
}

/// A variable of a loop is set for the second iteration, and unknown behind it.
#[test]
fn loops_are_executed_twice() {
    let compiled = account();
    let class = compiled.class("Account");
    let expected = "r3 = r1\n\
                    twice\n  choice\n    taken:\n    not taken:\n      read r3.checking\n      \
                    write r3.checking\n      read r3.next\n      r4 = r3.next\n      r3 = r4\n      \
                    leave 2 jump\n  leave 2 jump\n";
    assert_eq!(summary_text(class, &compiled, "whileLoop"), expected);
    let method = method_named(class, "whileLoop");
    let summary = summarize_method(class, method, &compiled, &Config::default()).unwrap().unwrap();
    assert_eq!(summary.dropped.len(), 1, "`a` behind the loop depends on the iterations");
    assert_eq!((summary.parameter_count, summary.register_count), (3, 5));
}

/// A getter is followed through.
#[test]
fn results_are_named() {
    let compiled = account();
    let class = compiled.class("Account");
    let summary = |method: &str| {
        let method = method_named(class, method);
        summarize_method(class, method, &compiled, &Config::default()).unwrap().unwrap()
    };
    let next = summary("getNext");
    assert_eq!(steps_text(&next.steps), "read r0.next\nr1 = r0.next\n");
    assert_eq!(next.result, Operand::Register(Register(1)));
    let lock = summary("getLock");
    assert_eq!(steps_text(&lock.steps), "r1 = r0.lock\n");
    assert_eq!(lock.result, Operand::Register(Register(1)));
    assert_eq!(summary("itself").result, Operand::Register(Register(0)));
    assert_eq!(summary("oneOfTwo").result, Operand::Unknown);
}

/// The monitor that was entered is left with the list, and what follows is there.
#[test]
fn a_return_leaves_the_monitor() {
    let compiled = account();
    let expected = "r2 = r0.lock\nenter r2\nchoice\n  taken if r1 Eq 0:\n    write r0.checking\n  not taken \
                    if r1 Ne 0:\n    leave 2 return\nexit r2\nread r0.saving\n";
    assert_eq!(summary_text(compiled.class("Account"), &compiled, "returnInLock"), expected);
}

/// A choice ends at the first landing of smaller depth.
#[test]
fn choices_end_at_landings() {
    let compiled = account();
    let ends = |branch: &BranchSummary, found: &BranchSummaries, kind: LandingKind| {
        found.landings.iter().any(|it| it.kind == kind && it.depth < branch.depth)
    };
    let found = compiled.branches("Account", "nestedLoops");
    let depths: Vec<u32> = found.branches.iter().map(|branch| branch.depth).collect();
    assert_eq!(depths, [1, 2]);
    let headers: Vec<u32> = found
        .landings
        .iter()
        .filter(|landing| landing.kind == LandingKind::LoopHeader)
        .map(|landing| landing.depth)
        .collect();
    assert_eq!(headers, [0, 1], "the inner loop begins within a side of the outer one");
    let found = compiled.branches("Account", "tryFinally");
    assert!(ends(&found.branches[0], &found, LandingKind::Join));
    assert!(ends(&found.branches[0], &found, LandingKind::Handler));
    for found in ["withdraw", "both"].map(|method| compiled.branches("Account", method)) {
        let [one, other] = &found.branches[..] else { panic!("two branches") };
        assert_eq!((one.join, one.depth), (other.join, other.depth), "they share a place");
    }
}

#[test]
fn bounds_leave_gaps() {
    let compiled = account();
    let class = compiled.class("Account");
    let method = method_named(class, "withdraw");
    let gaps = |config: Config| {
        let found = summary_trees::summarize_branches(class, method, &compiled, &config);
        found.gaps.iter().map(|gap| gap.reason).collect::<Vec<_>>()
    };
    use summary_trees::GapReason::{TooDeep, TooManySteps};
    assert_eq!(gaps(Config { max_steps: 3, ..Config::default() }), [TooManySteps]);
    assert_eq!(gaps(Config { max_levels: 1, ..Config::default() }), [TooDeep]);
    assert_eq!(gaps(Config::default()), []);
}

/// A loop whose branch nobody wants to hear of is not stopped in each iteration; the choice around it ends behind it.
#[test]
fn only_choices_that_begin_are_ended() {
    let source = "class Rows {\n\
        int sum;\n\
        void add(boolean wanted, int[] row) {\n\
            if (wanted) { for (int i = 0; i < row.length; i++) { row[i]++; } sum++; }\n\
        }\n\
    }\n";
    let compiled = Compiled::new("Rows.java", source);
    let class = compiled.class("Rows");
    let method = method_named(class, "add");
    let config = Config::default();
    let kinds = |is_wanted: &dyn Fn(&BranchSummary) -> bool| -> Vec<LandingKind> {
        let found = summarize_some_branches(class, method, &compiled, &config, &mut |branch| {
            is_wanted(branch)
        });
        found.landings.iter().map(|landing| landing.kind).collect()
    };
    assert_eq!(kinds(&|_| true), [LandingKind::LoopHeader, LandingKind::Join, LandingKind::Join]);
    assert_eq!(kinds(&|branch| branch.loop_branch.is_none()), [LandingKind::Join]);
    assert_eq!(kinds(&|_| false), []);
}
