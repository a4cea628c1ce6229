//! Trees as numbers, read back the way a walker reads them.

use std::collections::BTreeSet;

use summary_trees::{
    FieldRef, MethodRef, Names, RepeatedCondition, Step, StepKind, TreeWord, encode,
};

use crate::java::Compiled;

/// Numbers in the order of first use.
#[derive(Default)]
struct Table {
    names: Vec<String>,
}

impl Table {
    fn number(&mut self, name: String) -> i32 {
        let position = self.names.iter().position(|known| *known == name);
        let position = position.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        position as i32
    }
}

impl Names for Table {
    fn field(&mut self, field: &FieldRef) -> i32 {
        self.number(format!("{}.{}", field.owner, field.name))
    }

    fn method(&mut self, method: &MethodRef) -> i32 {
        self.number(format!("{}.{}{}", method.owner, method.name, method.descriptor))
    }

    fn class(&mut self, class: &str) -> i32 {
        self.number(class.to_owned())
    }

    fn site(&mut self, offset: u32) -> i32 {
        1000 + offset as i32
    }

    fn site_of_field(&mut self, field: &FieldRef) -> i32 {
        self.field(field)
    }

    fn condition(&self, _: u32) -> Option<RepeatedCondition> {
        None
    }
}

/// Reads a list as the table of words describes it; gives the steps with their sites, depth first.
struct Reader<'a> {
    words: &'a [i32],
    at: usize,
    found: Vec<(i32, i32)>,
}

impl Reader<'_> {
    fn next(&mut self) -> i32 {
        self.at += 1;
        self.words[self.at - 1]
    }

    fn skip(&mut self, count: usize) {
        self.at += count;
    }

    fn list(&mut self) {
        let end = self.next() as usize + self.at;
        self.steps(end);
    }

    fn steps(&mut self, end: usize) {
        while self.at < end {
            self.step();
        }
        assert_eq!(self.at, end, "a list ends with a step");
    }

    fn step(&mut self) {
        let opcode = self.next();
        let site = self.next();
        self.found.push((opcode, site));
        let is_step = |word: &&TreeWord| word.name().starts_with("Step");
        let mut words = TreeWord::ALL.iter().filter(is_step);
        let word = *words.find(|word| word.number() == opcode).expect("an opcode");
        match word {
            TreeWord::StepReadStatic | TreeWord::StepWriteStatic | TreeWord::StepFresh => {
                self.skip(1)
            }
            TreeWord::StepRead
            | TreeWord::StepWrite
            | TreeWord::StepLoadStatic
            | TreeWord::StepClassObject
            | TreeWord::StepEnter
            | TreeWord::StepExit
            | TreeWord::StepLeave => self.skip(2),
            TreeWord::StepReadElement
            | TreeWord::StepWriteElement
            | TreeWord::StepLoad
            | TreeWord::StepStoreStatic
            | TreeWord::StepSet => self.skip(3),
            TreeWord::StepLoadElement | TreeWord::StepStore => self.skip(4),
            TreeWord::StepStoreElement => self.skip(5),
            TreeWord::StepCall => {
                self.skip(3);
                let count = self.next() as usize;
                self.skip(2 * count);
            }
            TreeWord::StepChoice => {
                self.skip(2);
                for _ in 0..self.next() {
                    let ways = self.next() as usize;
                    self.skip(2 * ways);
                    let guard = self.next() as usize;
                    self.skip(guard);
                    self.list();
                }
            }
            TreeWord::StepTwice => self.list(),
            other => panic!("{other:?} is no step"),
        }
    }
}

fn sites(steps: &[Step], found: &mut Vec<i32>) {
    for step in steps {
        found.push(1000 + step.offset as i32);
        match &step.kind {
            StepKind::Choice { sides } => sides.iter().for_each(|side| sites(&side.steps, found)),
            StepKind::Twice { body } => sites(body, found),
            _ => {}
        }
    }
}

#[test]
fn encoded_trees_can_be_read() {
    let compiled = Compiled::new("Account.java", include_str!("Account.java"));
    let mut table = Table::default();
    let mut opcodes = BTreeSet::new();
    for method in &compiled.class("Account").methods {
        for branch in compiled.branches("Account", &method.name).branches {
            for side in &branch.sides {
                let words = encode(&side.steps, &mut table);
                let mut reader = Reader { words: &words, at: 0, found: Vec::new() };
                reader.steps(words.len());
                let mut expected = Vec::new();
                sites(&side.steps, &mut expected);
                let read: Vec<i32> = reader.found.iter().map(|(_, site)| *site).collect();
                assert_eq!(read, expected, "{}", method.name);
                opcodes.extend(reader.found.iter().map(|(opcode, _)| *opcode));
            }
        }
    }
    assert!(opcodes.len() > 12, "{opcodes:?}");
    assert!(table.names.contains(&"Account.checking".to_owned()));
}

/// The group of a word is the first part of its name.
#[test]
fn numbers_differ_within_a_group() {
    let mut seen = BTreeSet::new();
    for word in TreeWord::ALL {
        let name = word.name();
        let end = name[1..].find(|letter: char| letter.is_ascii_uppercase()).unwrap() + 1;
        assert!(seen.insert((&name[..end], word.number())), "{name}");
        assert!(word.meaning().ends_with('.'), "{name}");
    }
}
