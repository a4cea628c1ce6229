//! What of the papers' examples cannot be said in the comments of `fixtures/traces`, and what must not be
//! forgotten or kept too long.

mod text;

use events::{Action, Epoch, Event, FieldId, ObjectId, SiteId, ThreadId, Variable};
use findings::Severity;
use monitors::Monitor;
use monitors::atomizer::Atomizer;
use monitors::happens_before::{HappensBefore, Limits};
use monitors::velodrome::{Config, Velodrome};
use text::Text;

/// How many violations, and the blocks that were refuted, by name.
fn velodrome(text: &str) -> (u64, Vec<String>) {
    let run = Text::new(text);
    let mut monitor = Velodrome::new(Config::default());
    run.findings(&mut monitor);
    let refuted = monitor.refuted().into_iter().map(|block| run.name(block).to_string());
    (monitor.violations(), refuted.collect())
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
    let mut monitor = Velodrome::new(Config::default());
    let findings = run.findings(&mut monitor);
    assert_eq!(monitor.violations(), 1);
    assert!(monitor.refuted().is_empty());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].severity, Severity::Medium);
    assert_eq!(findings[0].blame.method, "E'");
}

fn event(thread: u32, action: Action) -> Event {
    Event { thread: ThreadId(thread), site: SiteId(0), epoch: Epoch(0), action }
}

fn updates(monitor: &mut dyn Monitor, thread: u32, object: u64) {
    let variable = Variable::Field(ObjectId(object), FieldId(0));
    for action in [
        Action::Begin,
        Action::Acquire(ObjectId(0)),
        Action::Read(variable),
        Action::Write(variable),
        Action::Release(ObjectId(0)),
        Action::End,
    ] {
        monitor.event(&event(thread, action));
    }
}

#[test]
fn few_transactions_are_alive_however_long_the_run() {
    let mut monitor = Velodrome::new(Config::default());
    for round in 0..20_000 {
        updates(&mut monitor, (round * 7 % 8) as u32, round % 100);
    }
    assert_eq!(monitor.violations(), 0);
    assert!(monitor.statistics().most_alive <= 2, "{:?}", monitor.statistics());
}

#[test]
fn one_long_transaction_does_not_keep_all_others_alive() {
    let mut monitor = Velodrome::new(Config::default());
    monitor.event(&event(100, Action::Begin));
    updates(&mut monitor, 100, 0);
    for round in 0..20_000 {
        updates(&mut monitor, (round * 7 % 8) as u32, round % 100);
    }
    assert_eq!(monitor.violations(), 0);
    assert!(monitor.statistics().most_alive <= 128, "{:?}", monitor.statistics());
    monitor.event(&event(100, Action::Acquire(ObjectId(0))));
    assert_eq!(monitor.violations(), 1);
}

#[test]
fn what_follows_a_violation_is_collected_too() {
    let mut monitor = Velodrome::new(Config::default());
    for round in 0..20_000 {
        let variable = Variable::Field(ObjectId(round), FieldId(0));
        monitor.event(&event(0, Action::Begin));
        monitor.event(&event(0, Action::Read(variable)));
        monitor.event(&event(1, Action::Begin));
        monitor.event(&event(1, Action::Write(variable)));
        monitor.event(&event(0, Action::Write(variable)));
        monitor.event(&event(0, Action::End));
        monitor.event(&event(1, Action::End));
    }
    assert_eq!(monitor.violations(), 20_000);
    assert!(monitor.statistics().most_alive <= 200, "{:?}", monitor.statistics());
}

#[test]
fn threads_that_are_gone_leave_their_place() {
    let mut monitor = Velodrome::new(Config::default());
    let mut races = HappensBefore::new();
    for thread in 1..20_000 {
        let monitors: [&mut dyn Monitor; 2] = [&mut monitor, &mut races];
        for monitor in monitors {
            monitor.event(&event(0, Action::Fork(ThreadId(thread))));
            monitor.event(&event(thread, Action::ThreadBegin));
            updates(monitor, thread, u64::from(thread));
            monitor.event(&event(thread, Action::ThreadEnd));
            monitor.event(&event(0, Action::Join(ThreadId(thread))));
        }
    }
    assert_eq!((monitor.violations(), races.races()), (0, 0));
    assert!(monitor.statistics().lanes <= 4, "{:?}", monitor.statistics());
}

/// The blocks that Atomizer fails, by name, and the lines of its suspects.
fn atomizer(text: &str) -> (Vec<String>, Vec<u32>) {
    let run = Text::new(text);
    let mut monitor = Atomizer::default();
    run.findings(&mut monitor);
    let failed = monitor.failed().iter().map(|block| run.name(*block).to_string()).collect();
    (failed, monitor.suspects().iter().map(|site| site.0 - 1).collect())
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
    let limits = Limits { variables: 10_000, relays: 1_000 };
    let mut monitor = HappensBefore::with_limits(limits);
    for thread in 1..=4 {
        monitor.event(&event(0, Action::Fork(ThreadId(thread))));
    }
    // Tasks that are handed over and never waited for: the first thread knows nothing of their end.
    for task in 0..100_000 {
        let worker = 1 + (task % 4) as u32;
        let payload = Variable::Field(ObjectId(task), FieldId(0));
        monitor.event(&event(0, Action::Write(payload)));
        monitor.event(&event(0, Action::Submit(ObjectId(task))));
        monitor.event(&event(worker, Action::TaskBegin(ObjectId(task))));
        monitor.event(&event(worker, Action::Write(payload)));
        monitor.event(&event(worker, Action::TaskEnd(ObjectId(task))));
    }
    assert_eq!(monitor.races(), 0);
    let (variables, relays) = monitor.remembered();
    assert!(variables <= 4 * limits.variables, "{variables} variables");
    assert!(relays <= 20 * limits.relays, "{relays} relays");
    // Who waits for a task that was forgotten still comes after it, and a new race is still found.
    monitor.event(&event(0, Action::TaskJoin(ObjectId(7))));
    monitor.event(&event(0, Action::Write(Variable::Field(ObjectId(7), FieldId(0)))));
    assert_eq!(monitor.races(), 0);
    monitor.event(&event(1, Action::Write(Variable::Field(ObjectId(7), FieldId(0)))));
    assert_eq!(monitor.races(), 1);
}
