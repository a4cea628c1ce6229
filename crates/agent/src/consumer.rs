//! The thread that takes events from the ring and hands them on: to the recording, and to checkers.
//!
//! It is no thread of the JVM and never calls into it, so that it runs whatever the JVM does.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agent_protocol::{Recording, SharedField};
use checkers::{Checker, NeededAccesses, ObjectRaceCriterion, Settings};
use events::binary::{Header, Writer};
use events::{Event, Sink, Tables};
use findings::Finding;
use output_file::Stream;

use crate::agent_state::AgentState;
use crate::record::Record;
use crate::shared_fields::SharedFields;

/// How many events are taken before they are handed on.
const BATCH: usize = 4096;
/// How long checkers may look at events after a signal has ended the program: whoever sent it waits.
const LAST_CHECKS: Duration = Duration::from_secs(1);
/// How many events they look at before they ask whether the program has ended.
const STEP: usize = 64;
/// How long an idle consumer sleeps.
const IDLE: Duration = Duration::from_micros(200);
/// After how long without events the recording is brought to the disk.
const SETTLE: Duration = Duration::from_millis(100);
/// How often what was found so far is left behind, in case the JVM is killed; and at most one part in how many of the
/// time of the consumer is spent on it.
const LEAVE_EVERY: Duration = Duration::from_secs(1);
const LEAVE_SHARE: u32 = 50;
/// How often an idle consumer looks for the record of a ticket before it skips it, and at the end of the JVM: some
/// two seconds, and half a second. Looks are counted and not time, since a process may be stopped as a whole:
/// then nobody had the time to write.
const LOOKS: u32 = 8_000;
const LAST_LOOKS: u32 = LOOKS / 4;

/// What came of the events.
#[derive(Debug)]
pub(crate) struct Consumed {
    pub(crate) events: u64,
    /// Events that hooks reported and nobody saw.
    pub(crate) lost_events: u64,
    /// How long it took, and how long threads waited meanwhile until there was room for their events, all together.
    pub(crate) ran: Duration,
    pub(crate) waited: Duration,
    pub(crate) recording: Option<Recording>,
    pub(crate) findings: Vec<Finding>,
    /// Violations that are not reported because the order of operations is not known.
    pub(crate) uncertain_violations: u64,
    /// The fields that more than one thread used, if anybody wants to know.
    pub(crate) shared_fields: Option<BTreeSet<SharedField>>,
}

/// The running thread.
#[derive(Debug)]
pub(crate) struct Consumer {
    thread: JoinHandle<Consumed>,
    end: Arc<End>,
    questions: Sender<Question>,
}

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndedBy {
    /// Its last thread, or a call.
    Itself,
    Signal,
}

/// Whether the program ends, and how.
#[derive(Debug, Default)]
struct End(AtomicU8);

impl End {
    const BY_ITSELF: u8 = 1;
    const BY_SIGNAL: u8 = 2;

    fn set(&self, by: EndedBy) {
        let value = match by {
            EndedBy::Itself => End::BY_ITSELF,
            EndedBy::Signal => End::BY_SIGNAL,
        };
        self.0.store(value, Ordering::Release);
    }

    fn get(&self) -> Option<EndedBy> {
        match self.0.load(Ordering::Acquire) {
            End::BY_ITSELF => Some(EndedBy::Itself),
            End::BY_SIGNAL => Some(EndedBy::Signal),
            _ => None,
        }
    }
}

/// How long checkers may look at events. Times are counted from when they began.
#[derive(Debug)]
struct CheckTime {
    end: Arc<End>,
    deadline: Option<Duration>,
}

impl CheckTime {
    /// A program that ends by itself has all the time that it needs; one that was ended by a signal has a while from when that
    /// was first seen.
    fn is_over(&mut self, now: Duration) -> bool {
        self.end.get() == Some(EndedBy::Signal)
            && *self.deadline.get_or_insert(now + LAST_CHECKS) <= now
    }
}

/// Somebody wants to know how many violations were seen, once what was reported until now has been checked and what was
/// found is on the disk.
type Question = Sender<u64>;

impl Consumer {
    /// Starts the thread.
    pub(crate) fn start(agent: &'static AgentState) -> std::io::Result<Consumer> {
        let end = Arc::new(End::default());
        let (questions, asked) = mpsc::channel();
        let mut work = Work::new(agent, asked, Arc::clone(&end));
        let thread = std::thread::Builder::new().name("scission".to_owned()).spawn(move || {
            catch_unwind(AssertUnwindSafe(|| work.run())).unwrap_or_else(|defect| {
                // Threads of the program are not to wait for one that is gone.
                agent.memory.ring().end();
                resume_unwind(defect)
            })
        })?;
        Ok(Consumer { thread, end, questions })
    }

    /// Asks how many violations were seen. Without an answer the thread has ended.
    pub(crate) fn ask(&self) -> Option<Receiver<u64>> {
        let (question, answer) = mpsc::channel();
        self.questions.send(question).ok().map(|()| answer)
    }

    /// Takes what is left, and ends.
    pub(crate) fn finish(self, agent: &AgentState, by: EndedBy) -> Consumed {
        self.end.set(by);
        self.thread.join().unwrap_or_else(|_| {
            agent.note("a checker has a defect, and its findings are lost".to_owned());
            Consumed {
                events: 0,
                lost_events: 0,
                ran: Duration::ZERO,
                waited: Duration::ZERO,
                recording: None,
                findings: Vec::new(),
                uncertain_violations: 0,
                shared_fields: None,
            }
        })
    }
}

struct Work {
    agent: &'static AgentState,
    ring: event_ring::Consumer<'static, AtomicI64>,
    tables: Tables,
    recorder: Option<Recorder>,
    checkers: Vec<Running>,
    shared_fields: Option<SharedFields>,
    events: u64,
    /// Records that no hook can have written.
    unreadable: u64,
    began: Instant,
    time: CheckTime,
    /// How many events checkers had no time for.
    unchecked: u64,
    questions: Receiver<Question>,
    /// The question that is to be answered next, and the ticket before which everything must be checked first.
    question: Option<(i64, Question)>,
}

/// Tickets whose records are waited for.
struct Stall {
    /// Those drawn before this one were drawn before the waiting began.
    until: i64,
    /// How often the consumer has looked since.
    looks: u32,
}

/// A checker at work.
struct Running {
    registration: &'static checkers::Registration,
    checker: Box<dyn Checker + Send>,
    /// Whether it was asked for; otherwise it only says where threads are to be held back.
    is_reported: bool,
    /// What it had found when it was asked last.
    found: Vec<Finding>,
}

/// What users chose about checkers. What would have happened is reported only if it was asked for.
fn settings(agent: &AgentState) -> Settings {
    let object_race = if agent.options.object_race_by_locks {
        ObjectRaceCriterion::Lockset
    } else {
        ObjectRaceCriterion::Hybrid
    };
    Settings { object_race, ..Settings::default() }
}

impl Work {
    fn new(agent: &'static AgentState, questions: Receiver<Question>, end: Arc<End>) -> Work {
        let mut checkers = Vec::new();
        for name in agent.checkers() {
            match checkers::named(name) {
                Some(registration) => checkers.push(Running {
                    registration,
                    checker: (registration.start)(settings(agent)),
                    is_reported: agent.options.monitors.iter().any(|asked| asked == name),
                    found: Vec::new(),
                }),
                None => agent.note(format!("there is no checker `{name}`")),
            }
        }
        let recorder = match &agent.options.record {
            Some(path) => match Recorder::new(agent, path) {
                Ok(recorder) => Some(recorder),
                Err(sentence) => {
                    agent.note(sentence);
                    None
                }
            },
            None => None,
        };
        Work {
            agent,
            ring: agent.memory.ring().consumer(),
            tables: Tables::default(),
            recorder,
            checkers,
            shared_fields: agent.options.lists_shared_fields.then(SharedFields::default),
            events: 0,
            unreadable: 0,
            began: Instant::now(),
            time: CheckTime { end, deadline: None },
            unchecked: 0,
            questions,
            question: None,
        }
    }

    /// Answers the next question, if everything that had been reported before it is checked.
    fn answer(&mut self) {
        if self.question.is_none() {
            self.question =
                self.questions.try_recv().ok().map(|question| (self.ring.drawn(), question));
        }
        let position = self.ring.position();
        if let Some((_, question)) = self.question.take_if(|(until, _)| *until <= position) {
            let so_far = self.so_far();
            let violations = so_far.findings.iter().map(Finding::violations).sum();
            self.agent.leave_so_far(so_far);
            // Who has given up waiting misses nothing.
            let _ = question.send(violations);
        }
    }

    fn run(&mut self) -> Consumed {
        let mut batch = Vec::with_capacity(BATCH);
        let mut last = Instant::now();
        // Threads may go on while the JVM ends; what they do after the end has begun is not waited for.
        let mut end = None;
        let mut stall: Option<Stall> = None;
        let (mut next_leave, mut left) = (last + LEAVE_EVERY, self.events);
        loop {
            self.answer();
            if self.events > left && Instant::now() >= next_leave {
                let began = Instant::now();
                let so_far = self.so_far();
                self.agent.leave_so_far(so_far);
                left = self.events;
                next_leave = Instant::now() + LEAVE_EVERY.max(began.elapsed() * LEAVE_SHARE);
            }
            let is_last = self.time.end.get().is_some();
            let mut until = self.ring.drawn();
            if is_last {
                until = *end.get_or_insert(until);
            }
            // A thread between its ticket and its record is waited for; one that was stopped there by an error
            // never writes it. Tickets that were drawn later have a waiting of their own.
            let patience = if self.time.is_over(self.began.elapsed()) {
                0
            } else if is_last {
                LAST_LOOKS
            } else {
                LOOKS
            };
            let overdue = stall.as_ref().filter(|stall| stall.looks > patience);
            if self.take(&mut batch, until, overdue.map_or(0, |stall| stall.until)) {
                last = Instant::now();
                stall = None;
                continue;
            }
            if self.ring.position() < until {
                stall.get_or_insert(Stall { until, looks: 0 }).looks += 1;
            } else if is_last {
                break;
            }
            if last.elapsed() > SETTLE {
                self.flush();
            }
            std::thread::sleep(IDLE);
        }
        // Threads that still run are not to wait for room that nobody will make.
        self.agent.memory.ring().end();
        self.finish()
    }

    /// Takes what stands in the ring, up to a batch, and hands it on. Tickets before `skip_until` are not waited
    /// for. Says whether there was anything.
    fn take(&mut self, batch: &mut Vec<Event>, until: i64, skip_until: i64) -> bool {
        batch.clear();
        let before = self.ring.position();
        while batch.len() < BATCH
            && let Some(record) = self.ring.take(until, skip_until)
        {
            match Record::from(record).event() {
                Some(event) => batch.push(event),
                None => self.unreadable += 1,
            }
        }
        self.ring.give_back();
        // Rows stood in the names before the events that carry their numbers were in the ring.
        self.agent.names.move_to(&mut self.tables);
        self.events += batch.len() as u64;
        if let Some(recorder) = &mut self.recorder {
            recorder.events(batch, &self.tables, self.agent);
        }
        if !self.checkers.is_empty() {
            batch.iter().for_each(|event| self.tables.note(event));
        }
        if let Some(shared_fields) = &mut self.shared_fields {
            batch.iter().for_each(|event| shared_fields.note(event));
        }
        for events in batch.chunks(STEP) {
            self.check(events);
        }
        let is_urgent = |running: &mut Running| running.checker.has_urgent_findings();
        // Each is asked, so that none reports the same again.
        if self.checkers.iter_mut().map(is_urgent).fold(false, |any, urgent| any | urgent) {
            self.flush();
            let (urgent, sentences) = self.urgent();
            self.agent.report_urgently(urgent, &sentences);
        }
        self.ring.position() > before
    }

    /// Shows events to the checkers, if there is time.
    fn check(&mut self, events: &[Event]) {
        if self.time.is_over(self.began.elapsed()) {
            self.unchecked += events.len() as u64;
            return;
        }
        for Running { registration, checker, .. } in &mut self.checkers {
            checker.learn(&self.tables);
            for event in events.iter().filter(|event| registration.takes(event, &self.tables)) {
                checker.event(event);
            }
            if self.agent.is_adversarial() {
                for site in checker.suspects() {
                    self.agent.memory.suspect(site, self.agent.options.holds_per_site);
                }
            }
        }
    }

    /// What has come of the events up to now. A recording that goes on is not mentioned: it is not whole.
    fn so_far(&mut self) -> Consumed {
        for running in self.checkers.iter_mut().filter(|running| running.is_reported) {
            running.found = running.checker.findings(&self.tables);
        }
        let found = self.checkers.iter().flat_map(|running| running.found.iter().cloned());
        self.consumed(found.collect())
    }

    /// What users must see at once, and what was known before: to look for all that could be found would take time. And the
    /// same as sentences.
    fn urgent(&self) -> (Consumed, Vec<String>) {
        let (mut findings, mut sentences) = (Vec::new(), Vec::new());
        for running in self.checkers.iter().filter(|running| running.is_reported) {
            let urgent = running.checker.urgent_findings(&self.tables);
            let before = running.found.iter().filter(|known| !urgent.contains(known)).cloned();
            findings.extend(before);
            sentences.extend(urgent.iter().map(sentence));
            findings.extend(urgent);
        }
        (self.consumed(findings), sentences)
    }

    fn consumed(&self, findings: Vec<Finding>) -> Consumed {
        let reported = self.checkers.iter().filter(|running| running.is_reported);
        Consumed {
            events: self.events,
            lost_events: self.ring.lost() + self.unreadable,
            ran: self.began.elapsed(),
            waited: self.agent.memory.time_waited(),
            recording: None,
            findings,
            uncertain_violations: reported
                .map(|running| running.checker.uncertain_violations())
                .sum(),
            shared_fields: None,
        }
    }

    fn flush(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush(&self.tables, self.agent);
        }
    }

    fn finish(&mut self) -> Consumed {
        let recording = self.recorder.take().map(|recorder| recorder.finish(&self.tables));
        for running in self.checkers.iter().filter(|running| running.is_reported) {
            for (detail, count) in running.checker.limits() {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                self.agent.missed(running.registration.name, detail, count);
            }
        }
        if !self.checkers.is_empty() {
            let unchecked = u32::try_from(self.unchecked).unwrap_or(u32::MAX);
            let why = "a signal ended the program, and there was no time to look at them";
            self.agent.missed("the last events", why, unchecked);
        }
        let shared_fields = self.shared_fields.take().map(|fields| fields.named(&self.tables));
        Consumed { recording, shared_fields, ..self.so_far() }
    }
}

/// What happened and where, in one line.
fn sentence(finding: &Finding) -> String {
    let cause = finding.subjects.get("cause").map_or("", String::as_str);
    format!("{} in `{}`: {cause}", finding.rule, finding.blame.method_name())
}

/// Writes the events to a file, as long as that works.
struct Recorder {
    writer: Writer<Stream>,
    file: PathBuf,
    stopped: Option<String>,
    is_flushed: bool,
}

impl Recorder {
    fn new(agent: &AgentState, path: &std::path::Path) -> Result<Recorder, String> {
        let file =
            PathBuf::from(path.to_string_lossy().replace("%p", &std::process::id().to_string()));
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut header = Header::default()
            .with("tool", concat!("scission ", env!("CARGO_PKG_VERSION")))
            .with("java", &agent.java_version());
        match agent.accesses() {
            NeededAccesses::InOrder => {}
            NeededAccesses::SinceWritten => header = header.with("accesses", "since-written"),
            NeededAccesses::All => header = header.with("accesses", "all"),
        }
        let writer = output_file::open(&file)
            .and_then(|output| Writer::new(output, &header))
            .map_err(|error| format!("`{name}` cannot be recorded to: {error}"))?;
        Ok(Recorder { writer, file, stopped: None, is_flushed: true })
    }

    fn events(&mut self, batch: &[Event], tables: &Tables, agent: &AgentState) {
        if !batch.is_empty() {
            self.is_flushed = false;
            let result = self.writer.events(batch, tables);
            self.keep(result, agent);
        }
    }

    fn flush(&mut self, tables: &Tables, agent: &AgentState) {
        if !self.is_flushed {
            self.is_flushed = true;
            let result = self.writer.flush(tables);
            self.keep(result, agent);
        }
    }

    fn keep(&mut self, result: std::io::Result<()>, agent: &AgentState) {
        if let Err(error) = result {
            self.stop(error);
            agent.note(format!(
                "recording has stopped after {} events, and the program goes on: {}",
                self.writer.events_written(),
                self.stopped.as_deref().unwrap_or_default()
            ));
        }
    }

    fn stop(&mut self, error: std::io::Error) {
        self.stopped.get_or_insert_with(|| error.to_string());
    }

    fn finish(mut self, tables: &Tables) -> Recording {
        if let Err(error) = self.writer.finish(tables) {
            self.stop(error);
        }
        Recording {
            file: self.file,
            events: self.writer.events_written(),
            bytes: self.writer.bytes_written(),
            stopped: self.stopped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_signal_ends_the_checks() {
        let seen = Duration::from_secs(9);
        let time = |ended: Option<EndedBy>| {
            let mut time = CheckTime { end: Arc::default(), deadline: None };
            ended.into_iter().for_each(|by| time.end.set(by));
            [seen, seen + LAST_CHECKS / 2, seen + LAST_CHECKS].map(|now| time.is_over(now))
        };
        assert_eq!(time(None), [false, false, false]);
        assert_eq!(time(Some(EndedBy::Itself)), [false, false, false]);
        assert_eq!(time(Some(EndedBy::Signal)), [false, false, true]);
    }
}
