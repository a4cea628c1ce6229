//! Runs as text: one event a line, `t1 begin deposit`, `t1 rd balance`, `t1 acq m`.

use std::collections::BTreeMap;

use checkers::Checker;
use events::{
    Action, Epoch, Event, FieldEntry, FieldId, ObjectId, SiteEntry, SiteId, Tables, ThreadId,
    Variable,
};
use findings::{Finding, Site};

/// A run and its names.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) events: Vec<Event>,
    pub(crate) tables: Tables,
    objects: BTreeMap<String, u64>,
    fields: BTreeMap<String, u32>,
}

impl Text {
    pub(crate) fn new(text: &str) -> Text {
        let mut run = Text::default();
        run.site("unknown", 0);
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (thread, verb, name) = match words[..] {
                [] => continue,
                [thread, verb] => (thread, verb, ""),
                [thread, verb, name] => (thread, verb, name),
                _ => panic!("too many words: {line}"),
            };
            let site = run.site(name, number as u32);
            let thread = run.thread(thread);
            let action = run.action(verb, name);
            run.events.push(Event { thread, site, epoch: Epoch(0), action, overlaps: 0 });
        }
        run
    }

    /// Blocks are methods, everything else is a line of its own.
    fn site(&mut self, name: &str, line: u32) -> SiteId {
        let site = Site {
            class: "Example".to_string(),
            method: name.to_string(),
            descriptor: "()V".to_string(),
            offset: None,
            file: None,
            line: Some(line),
        };
        self.tables.sites.push(SiteEntry { site, ..SiteEntry::unknown() });
        SiteId(self.tables.sites.len() as u32 - 1)
    }

    fn thread(&mut self, name: &str) -> ThreadId {
        ThreadId(name.trim_start_matches('t').parse().expect("a thread is t and a number"))
    }

    fn object(&mut self, name: &str) -> ObjectId {
        let next = self.objects.len() as u64;
        ObjectId(*self.objects.entry(name.to_string()).or_insert(next))
    }

    fn variable(&mut self, name: &str) -> Variable {
        let next = self.fields.len() as u32;
        let number = *self.fields.entry(name.to_string()).or_insert(next);
        if number == next {
            let entry = FieldEntry { class: "Example".to_string(), name: name.to_string() };
            self.tables.fields.push(entry);
        }
        Variable::Static(FieldId(number))
    }

    fn action(&mut self, verb: &str, name: &str) -> Action {
        match verb {
            "begin" => Action::Begin,
            "end" => Action::End,
            "rd" => Action::Read(self.variable(name)),
            "wr" => Action::Write(self.variable(name)),
            "acq" => Action::Acquire(self.object(name)),
            "rel" => Action::Release(self.object(name)),
            _ => panic!("an unknown verb: {verb}"),
        }
    }

    /// The name of a place.
    pub(crate) fn name(&self, site: SiteId) -> &str {
        &self.tables.sites[site.0 as usize].site.method
    }

    /// What a checker finds.
    pub(crate) fn findings(&self, checker: &mut dyn Checker) -> Vec<Finding> {
        self.events.iter().for_each(|event| checker.event(event));
        checker.findings(&self.tables)
    }
}
