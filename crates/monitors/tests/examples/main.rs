//! The examples of the papers, and what must not be forgotten or kept too long.

mod text;

use events::{Action, Epoch, Event, FieldId, Mode, ObjectId, SiteId, ThreadId, Variable};
use findings::{Evidence, Severity};
use monitors::Monitor;
use monitors::happens_before::HappensBefore;
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

fn races(text: &str) -> usize {
    Text::new(text).findings(&mut HappensBefore::new()).len()
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
fn adding_to_a_set_is_not_atomic_although_its_vector_is_locked() {
    let run = Text::new(
        "t1 begin Set.add
         t1 acq elems
         t1 rel elems
         t2 begin Set.add
         t2 acq elems
         t2 rel elems
         t2 acq elems
         t2 rel elems
         t2 end
         t1 acq elems
         t1 rel elems
         t1 end",
    );
    let findings = run.findings(&mut Velodrome::new(Config::default()));
    assert_eq!(findings.len(), 1);
    let finding = &findings[0];
    assert_eq!(finding.rule, "not-serializable");
    assert_eq!(finding.evidence, Evidence::Observed);
    assert_eq!(finding.severity, Severity::High);
    assert_eq!(finding.blame.line, Some(0));
    let steps = finding.witnesses[0].steps.iter();
    let steps: Vec<_> = steps.map(|step| (step.role, step.site.line.unwrap_or(0))).collect();
    let expected =
        [("block", 0), ("first", 2), ("interferes", 4), ("interferes", 7), ("second", 9)];
    assert_eq!(steps, expected);
}

#[test]
fn a_write_in_the_middle_of_an_update_is_reported() {
    let text = "t1 begin inc
                t1 rd x
                t2 wr x
                t1 wr x
                t1 end";
    assert_eq!(velodrome(text), (1, vec!["inc".to_string()]));
    assert_eq!(races(text), 2);
}

#[test]
fn handing_over_by_a_volatile_flag_is_silent() {
    let round = "t1 vrd b
                 t1 begin first
                 t1 rd x
                 t1 wr x
                 t1 vwr b
                 t1 end
                 t2 vrd b
                 t2 begin second
                 t2 rd x
                 t2 wr x
                 t2 vwr b
                 t2 end\n";
    let text = round.repeat(3);
    assert_eq!(velodrome(&text), (0, vec![]));
    assert_eq!(races(&text), 0);
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

#[test]
fn what_happens_outside_is_not_merged_into_a_running_transaction() {
    let text = "t1 begin A
                t1 wr x
                t2 rd x
                t2 wr y
                t1 rd y
                t1 end";
    assert_eq!(velodrome(text), (1, vec!["A".to_string()]));
}

#[test]
fn a_block_that_waits_is_a_note() {
    let run = Text::new(
        "t1 begin take
         t1 acq m
         t1 rd count
         t1 wait m
         t2 begin put
         t2 acq m
         t2 wr count
         t2 rel m
         t2 end
         t1 woken m
         t1 rd count
         t1 rel m
         t1 end",
    );
    let findings = run.findings(&mut Velodrome::new(Config::default()));
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|finding| finding.severity == Severity::Low));
}

#[test]
fn waiting_for_a_task_in_a_block_splits_it() {
    let text = "t1 begin invoke
                t1 submit task
                t2 taskbegin task
                t2 wr x
                t2 taskend task
                t1 taskjoin task
                t1 rd x
                t1 end";
    assert_eq!(velodrome(text), (1, vec!["invoke".to_string()]));
    assert_eq!(races(text), 0);
}

#[test]
fn a_fast_thread_does_not_leave_the_barrier_twice() {
    // The arrival of t1 for the next round does not come before t2 leaves the first.
    let text = "t1 wr x
                t1 arrive b
                t2 wr y
                t2 arrive b
                t1 pass b
                t1 rd y
                t1 wr z
                t1 arrive b
                t2 pass b
                t2 rd x
                t2 rd z";
    assert_eq!(races(text), 1);
}

#[test]
fn starting_and_joining_orders() {
    let text = "t0 wr x
                t0 fork t1
                t1 rd x
                t1 wr x
                t1 finish
                t0 join t1
                t0 wr x";
    assert_eq!(races(text), 0);
    assert_eq!(races("t0 fork t1\nt1 wr x\nt0 wr x"), 1);
}

fn event(thread: u32, action: Action) -> Event {
    Event { thread: ThreadId(thread), site: SiteId(0), epoch: Epoch(0), action }
}

fn updates(monitor: &mut dyn Monitor, thread: u32, object: u64) {
    let variable = Variable::Field(ObjectId(object), FieldId(0));
    for action in [
        Action::Begin,
        Action::Acquire(ObjectId(0), Mode::Exclusive),
        Action::Read(variable),
        Action::Write(variable),
        Action::Release(ObjectId(0), Mode::Exclusive),
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
    monitor.event(&event(100, Action::Acquire(ObjectId(0), Mode::Exclusive)));
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
