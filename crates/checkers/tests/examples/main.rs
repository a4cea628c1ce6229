//! Examples of the papers that the comments of `fixtures/traces` cannot express, and limits on the state that
//! checkers keep.

mod text;

use checkers::Checker;
use checkers::atomizer::Atomizer;
use checkers::happens_before::{HappensBefore, Limits};
use checkers::velodrome::{Config, Velodrome};
use events::{Action, Epoch, Event, FieldId, ObjectId, SiteId, ThreadId, Variable};
use findings::Severity;
use text::Text;

/// How many violations, and the blocks that were refuted, by name.
fn velodrome(text: &str) -> (u64, Vec<String>) {
    let run = Text::new(text);
    let mut checker = Velodrome::new(Config::default());
    run.findings(&mut checker);
    let refuted = checker.refuted().into_iter().map(|block| run.name(block).to_string());
    (checker.violations(), refuted.collect())
}

#[test]
fn the_introduction_blames_a_and_not_what_is_inside() {
    let (violations, refuted) = velodrome(
        "t1 begin A
         t1 begin inner
         t1 acq m
         t1 rel m
         t1 end
         t2 begin B'
         t2 acq m
         t2 wr y
         t2 rel m
         t2 end
         t3 begin C'
         t3 rd y
         t3 wr x
         t3 end
         t1 rd x
         t1 end",
    );
    assert_eq!((violations, refuted), (1, vec!["A".to_string()]));
}

#[test]
fn nested_blocks_are_refuted_one_by_one() {
    let (violations, refuted) = velodrome(
        "t1 begin p
         t1 begin q
         t1 rd x
         t2 wr x
         t1 begin r
         t1 wr x
         t1 end
         t1 end
         t1 end",
    );
    assert_eq!((violations, refuted), (1, vec!["p".to_string(), "q".to_string()]));
}

#[test]
fn two_transactions_that_exclude_each_other_are_reported_without_blame() {
    let run = Text::new(
        "t2 begin E'
         t2 rd x
         t1 begin D'
         t1 wr y
         t1 wr x
         t1 end
         t2 rd y
         t2 end",
    );
    let mut checker = Velodrome::new(Config::default());
    let findings = run.findings(&mut checker);
    assert_eq!(checker.violations(), 1);
    assert!(checker.refuted().is_empty());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].severity, Severity::Medium);
    assert_eq!(findings[0].blame.method, "E'");
}

fn event(thread: u32, action: Action) -> Event {
    Event { thread: ThreadId(thread), site: SiteId(0), epoch: Epoch(0), action, overlaps: 0 }
}

fn updates(checker: &mut dyn Checker, thread: u32, object: u64) {
    let variable = Variable::Field(ObjectId(object), FieldId(0));
    for action in [
        Action::Begin,
        Action::Acquire(ObjectId(0)),
        Action::Read(variable),
        Action::Write(variable),
        Action::Release(ObjectId(0)),
        Action::End,
    ] {
        checker.event(&event(thread, action));
    }
}

#[test]
fn few_transactions_are_alive_however_long_the_run() {
    let mut checker = Velodrome::new(Config::default());
    for round in 0..20_000 {
        updates(&mut checker, (round * 7 % 8) as u32, round % 100);
    }
    assert_eq!(checker.violations(), 0);
    assert!(checker.statistics().most_alive <= 2, "{:?}", checker.statistics());
}

#[test]
fn one_long_transaction_does_not_keep_all_others_alive() {
    let mut checker = Velodrome::new(Config::default());
    checker.event(&event(100, Action::Begin));
    updates(&mut checker, 100, 0);
    for round in 0..20_000 {
        updates(&mut checker, (round * 7 % 8) as u32, round % 100);
    }
    assert_eq!(checker.violations(), 0);
    assert!(checker.statistics().most_alive <= 128, "{:?}", checker.statistics());
    checker.event(&event(100, Action::Acquire(ObjectId(0))));
    assert_eq!(checker.violations(), 1);
}

#[test]
fn what_follows_a_violation_is_collected_too() {
    let mut checker = Velodrome::new(Config::default());
    for round in 0..20_000 {
        let variable = Variable::Field(ObjectId(round), FieldId(0));
        checker.event(&event(0, Action::Begin));
        checker.event(&event(0, Action::Read(variable)));
        checker.event(&event(1, Action::Begin));
        checker.event(&event(1, Action::Write(variable)));
        checker.event(&event(0, Action::Write(variable)));
        checker.event(&event(0, Action::End));
        checker.event(&event(1, Action::End));
    }
    assert_eq!(checker.violations(), 20_000);
    assert!(checker.statistics().most_alive <= 200, "{:?}", checker.statistics());
}

/// A block of one thread that is split by a write of another, so often.
fn splits(checker: &mut Velodrome, block: u32, times: u32) {
    let variable = Variable::Field(ObjectId(1), FieldId(1));
    for _ in 0..times {
        let at = |thread: u32, site: u32, action: Action| Event {
            site: SiteId(site),
            ..event(thread, action)
        };
        checker.event(&at(1, block, Action::Begin));
        checker.event(&at(1, block + 1, Action::Write(variable)));
        checker.event(&at(2, block + 2, Action::Write(variable)));
        checker.event(&at(1, block + 3, Action::Write(variable)));
        checker.event(&at(1, block, Action::End));
    }
}

#[test]
fn a_block_that_was_refuted_often_is_counted_and_others_still_found() {
    let mut checker = Velodrome::new(Config::default());
    splits(&mut checker, 10, 1000);
    assert_eq!((checker.violations(), checker.limits().len()), (1000, 0));
    splits(&mut checker, 10, 500);
    let [(_, not_searched)] = checker.limits()[..] else { panic!("{:?}", checker.limits()) };
    assert_eq!((checker.violations(), not_searched), (1500, 500));
    splits(&mut checker, 20, 1);
    assert_eq!(checker.refuted().into_iter().collect::<Vec<_>>(), [SiteId(10), SiteId(20)]);
    assert_eq!(checker.shapes().map(|(_, count)| count).sum::<u64>(), 1001);
}

#[test]
fn cycles_that_an_inner_block_only_closes_are_counted_once_the_outer_one_was_refuted_often() {
    let mut checker = Velodrome::new(Config::default());
    let variable = Variable::Field(ObjectId(1), FieldId(1));
    let at = |thread: u32, site: u32, action: Action| Event {
        site: SiteId(site),
        ..event(thread, action)
    };
    checker.event(&at(1, 5, Action::Begin));
    for _ in 0..1501 {
        checker.event(&at(1, 30, Action::Begin));
        checker.event(&at(1, 31, Action::Write(variable)));
        checker.event(&at(1, 30, Action::End));
        checker.event(&at(2, 32, Action::Write(variable)));
    }
    let [(_, not_searched)] = checker.limits()[..] else { panic!("{:?}", checker.limits()) };
    assert_eq!((checker.violations(), not_searched), (1500, 500));
    assert_eq!(checker.refuted().into_iter().collect::<Vec<_>>(), [SiteId(5)]);
    splits(&mut checker, 10, 1);
    assert_eq!(checker.refuted().into_iter().collect::<Vec<_>>(), [SiteId(5), SiteId(10)]);
}

#[test]
fn threads_that_are_gone_leave_their_place() {
    let mut checker = Velodrome::new(Config::default());
    let mut races = HappensBefore::new();
    for thread in 1..20_000 {
        let checkers: [&mut dyn Checker; 2] = [&mut checker, &mut races];
        for checker in checkers {
            checker.event(&event(0, Action::Fork(ThreadId(thread))));
            checker.event(&event(thread, Action::ThreadBegin));
            updates(checker, thread, u64::from(thread));
            checker.event(&event(thread, Action::ThreadEnd));
            checker.event(&event(0, Action::Join(ThreadId(thread))));
        }
    }
    assert_eq!((checker.violations(), races.races()), (0, 0));
    assert!(checker.statistics().slots <= 4, "{:?}", checker.statistics());
}

/// The blocks that Atomizer fails, by name, and the lines of its suspects.
fn atomizer(text: &str) -> (Vec<String>, Vec<u32>) {
    let run = Text::new(text);
    let mut checker = Atomizer::default();
    run.findings(&mut checker);
    let failed = checker.failed().iter().map(|block| run.name(*block).to_string()).collect();
    (failed, checker.suspects().iter().map(|site| site.0 - 1).collect())
}

#[test]
fn taking_a_lock_again_is_suspicious_once_others_take_it_too() {
    let text = "t1 begin get
                t1 acq m
                t1 rel m
                t1 acq m
                t1 rel m
                t1 end
                t2 begin swap
                t2 acq m
                t2 rel m
                t2 acq m
                t2 rel m
                t2 end";
    assert_eq!(atomizer(text), (vec!["swap".to_string()], vec![9]));
}

#[test]
fn a_racy_update_is_suspicious_where_it_writes() {
    let inc = |thread: u32| {
        format!("t{thread} begin inc\nt{thread} rd x\nt{thread} wr x\nt{thread} end\n")
    };
    let text = [inc(1), inc(2), inc(1)].concat();
    assert_eq!(atomizer(&text), (vec!["inc".to_string()], vec![10]));
}

#[test]
fn what_nobody_comes_back_to_is_forgotten_beyond_the_limits() {
    let limits = Limits { variables: 10_000, sync_objects: 1_000 };
    let mut checker = HappensBefore::with_limits(limits);
    for thread in 1..=4 {
        checker.event(&event(0, Action::Fork(ThreadId(thread))));
    }
    // Tasks that are handed over and never waited for: the first thread knows nothing of their end.
    for task in 0..100_000 {
        let worker = 1 + (task % 4) as u32;
        let payload = Variable::Field(ObjectId(task), FieldId(0));
        checker.event(&event(0, Action::Write(payload)));
        checker.event(&event(0, Action::Submit(ObjectId(task))));
        checker.event(&event(worker, Action::TaskBegin(ObjectId(task))));
        checker.event(&event(worker, Action::Write(payload)));
        checker.event(&event(worker, Action::TaskEnd(ObjectId(task))));
    }
    assert_eq!(checker.races(), 0);
    let (variables, sync_objects) = checker.remembered();
    assert!(variables <= 4 * limits.variables, "{variables} variables");
    assert!(sync_objects <= 20 * limits.sync_objects, "{sync_objects} sync_objects");
    // Who waits for a task that was forgotten still comes after it, and a new race is still found.
    checker.event(&event(0, Action::TaskJoin(ObjectId(7))));
    checker.event(&event(0, Action::Write(Variable::Field(ObjectId(7), FieldId(0)))));
    assert_eq!(checker.races(), 0);
    checker.event(&event(1, Action::Write(Variable::Field(ObjectId(7), FieldId(0)))));
    assert_eq!(checker.races(), 1);
}

/// What `hybrid` finds in a fixture, with and without what would have happened.
fn hybrid(fixture: &str) -> [usize; 2] {
    let path = format!("{}/../../fixtures/traces/{fixture}.trace", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    [true, false].map(|speculation| {
        let mut reader = events::text::Reader::new(text.clone());
        let mut checker = (checkers::hybrid::CHECKER.start)(checkers::Settings {
            speculation,
            ..checkers::Settings::default()
        });
        while let Some(event) = reader.next_event().unwrap() {
            checker.event(&event);
        }
        checker.findings(reader.tables()).len()
    })
}

#[test]
fn what_needs_a_side_that_was_not_taken_is_found_by_speculation_alone() {
    assert_eq!(hybrid("HybridWithdraw"), [1, 0]);
    assert_eq!(hybrid("HybridBothAccounts"), [2, 0]);
    assert_eq!(hybrid("HybridTour"), [1, 0]);
    assert_eq!(hybrid("HybridLoops"), [2, 0]);
    assert_eq!(hybrid("HybridTwoSections"), [1, 1]);
    assert_eq!(hybrid("HybridThreeTrees"), [1, 1]);
    assert_eq!(hybrid("HybridWithdrawOk"), [0, 0]);
}
