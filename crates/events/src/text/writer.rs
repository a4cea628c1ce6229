//! Writes text traces.

use std::io::{self, BufWriter, Write};

use findings::Site;
use rustc_hash::FxHashMap;

use super::{ALL, EPOCH, FRAME, OVERLAPS};
use crate::{
    Branch, ClassId, Condition, Epoch, Event, FieldId, Kind, MAX_FRAMES, ObjectId, Operand, Seen,
    Sink, SiteEntry, SiteId, Tables, ThreadId, Variable,
};

/// Writes a text trace that holds everything: rows of tables are defined as they come, under names
/// that people recognise.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: BufWriter<W>,
    is_open: bool,
    threads: Labels,
    classes: Labels,
    fields: Labels,
    sites: Labels,
    /// How many stacks are written.
    stacks: usize,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    pub fn new(output: W) -> Writer<W> {
        let mut sites = Labels::default();
        // `begin epoch` would be something else, and so would the block `frame` of a stack.
        sites.used.insert(EPOCH.to_string(), 1);
        sites.used.insert(OVERLAPS.to_string(), 1);
        sites.used.insert(FRAME.to_string(), 1);
        Writer {
            output: BufWriter::new(output),
            is_open: true,
            threads: Labels::default(),
            classes: Labels::default(),
            fields: Labels::default(),
            sites,
            stacks: 0,
        }
    }

    /// Does what may fail; a failure closes the writer.
    fn once(&mut self, work: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        if !self.is_open {
            return Ok(());
        }
        let done = work(self);
        self.is_open = done.is_ok();
        done
    }

    /// Defines the rows that are new.
    fn define(&mut self, tables: &Tables) -> io::Result<()> {
        let output = &mut self.output;
        for thread in tables.threads.iter_from(self.threads.labels.len()) {
            let label = self.threads.add(plain(&thread.name, true));
            let suffix = if thread.is_virtual { " virtual" } else { "" };
            writeln!(output, ".thread {label} {}{suffix}", quoted(&thread.name))?;
        }
        for class in tables.classes.iter().skip(self.classes.labels.len()) {
            let label = self.classes.add(plain(&class.name, true));
            writeln!(output, ".class {label} {}", quoted(&class.name))?;
        }
        for field in tables.fields.iter().skip(self.fields.labels.len()) {
            let mut base = plain(&field.name, false);
            if self.fields.used.contains_key(&base) {
                base = plain(&format!("{}:{base}", short(&field.class)), false);
            }
            let label = self.fields.add(base);
            writeln!(output, ".field {label} {} {}", quoted(&field.class), quoted(&field.name))?;
        }
        for entry in tables.sites.iter().skip(self.sites.labels.len()) {
            let label = self.sites.add(site_label(entry));
            write!(output, ".site {label}")?;
            place(&entry.site, output)?;
            if !entry.subject.is_empty() {
                write!(output, " about {}", quoted(&entry.subject))?;
            }
            match entry.seen {
                Seen::Everything => {}
                Seen::NotAllState => write!(output, " not-all-seen")?,
                Seen::Order => write!(output, " order-only")?,
            }
            if entry.gives_away {
                write!(output, " gives-away")?;
            }
            writeln!(output)?;
        }
        for stack in tables.stacks.iter().skip(self.stacks) {
            output.write_all(b".stack ")?;
            self.sites.write(stack.site.0, output)?;
            output.write_all(b" ")?;
            self.threads.write(stack.thread.0, output)?;
            let blocks = &stack.context.0;
            let open = blocks.iter().rposition(|block| *block != SiteId(0)).map_or(0, |at| at + 1);
            if open > 0 {
                output.write_all(b" in")?;
            }
            for block in &blocks[..open] {
                output.write_all(b" ")?;
                self.sites.write(block.0, output)?;
            }
            for frame in stack.frames.iter().take(MAX_FRAMES) {
                write!(output, " {FRAME}")?;
                place(frame, output)?;
            }
            writeln!(output)?;
            self.stacks += 1;
        }
        Ok(())
    }

    fn write(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        self.define(tables)?;
        let (kind, operand) = event.action.parts();
        self.thread(event.thread)?;
        write!(self.output, " {}", kind.word())?;
        match operand {
            Operand::None => {}
            Operand::Variable(Variable::Field(object, field)) => {
                self.object(object)?;
                self.output.write_all(b".")?;
                self.field(field)?;
            }
            Operand::Variable(Variable::Static(field)) => {
                self.output.write_all(b" ")?;
                self.field(field)?;
            }
            Operand::Variable(Variable::Element(object, index)) => {
                self.object(object)?;
                write!(self.output, "[{index}]")?;
            }
            Operand::Variable(Variable::Contents(object)) => {
                self.object(object)?;
                self.output.write_all(b".*")?;
            }
            Operand::Object(object) => self.object(object)?,
            Operand::Thread(thread) => {
                self.output.write_all(b" ")?;
                self.thread(thread)?;
            }
            Operand::Class(class) => self.class(class)?,
            Operand::ObjectOfClass(object, class) => {
                self.object(object)?;
                self.class(class)?;
            }
            Operand::Branch(Branch::Taken) => self.output.write_all(b" taken")?,
            Operand::Branch(Branch::NotTaken) => self.output.write_all(b" not-taken")?,
            Operand::Branch(Branch::Case(case)) => write!(self.output, " case {case}")?,
            Operand::Condition(Condition { number, holds }) => {
                write!(self.output, " {number} {holds}")?;
            }
        }
        if event.site != SiteId(0) {
            let sign = if matches!(kind, Kind::Begin | Kind::End) { " " } else { " @ " };
            self.output.write_all(sign.as_bytes())?;
            self.sites.write(event.site.0, &mut self.output)?;
        }
        if event.epoch != Epoch(0) {
            write!(self.output, " {EPOCH} {}", event.epoch.0)?;
        }
        match event.overlaps {
            0 => {}
            Event::OVERLAPS_ALL => write!(self.output, " {OVERLAPS} {ALL}")?,
            events => write!(self.output, " {OVERLAPS} {events}")?,
        }
        writeln!(self.output)
    }

    fn thread(&mut self, thread: ThreadId) -> io::Result<()> {
        self.threads.write(thread.0, &mut self.output)
    }

    fn class(&mut self, class: ClassId) -> io::Result<()> {
        self.output.write_all(b" ")?;
        self.classes.write(class.0, &mut self.output)
    }

    fn field(&mut self, field: FieldId) -> io::Result<()> {
        self.fields.write(field.0, &mut self.output)
    }

    fn object(&mut self, object: ObjectId) -> io::Result<()> {
        write!(self.output, " o{}", object.0)
    }
}

impl<W: Write> Sink for Writer<W> {
    fn event(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        self.once(|writer| writer.write(event, tables))
    }

    fn flush(&mut self, tables: &Tables) -> io::Result<()> {
        self.once(|writer| {
            writer.define(tables)?;
            writer.output.flush()
        })
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.flush(tables)?;
        self.is_open = false;
        Ok(())
    }
}

/// The names of the rows of one table.
#[derive(Debug, Default)]
struct Labels {
    labels: Vec<String>,
    /// How many labels were made of each name.
    used: FxHashMap<String, u32>,
}

impl Labels {
    /// Makes a label that is not used yet. Names have no `~`, so what is made with one is new.
    fn add(&mut self, base: String) -> &str {
        let count = self.used.entry(base.clone()).or_default();
        *count += 1;
        let label = if *count == 1 { base } else { format!("{base}~{count}") };
        self.labels.push(label);
        self.labels.last().map_or("", String::as_str)
    }

    /// Rows that are not there are written as their numbers.
    fn write(&self, row: u32, output: &mut impl Write) -> io::Result<()> {
        match self.labels.get(row as usize) {
            Some(label) => output.write_all(label.as_bytes()),
            None => write!(output, "%{row}"),
        }
    }
}

/// The words of a place.
fn place(site: &Site, output: &mut impl Write) -> io::Result<()> {
    write!(output, " {}", quoted(&site.class))?;
    write!(output, " {} {}", quoted(&site.method), quoted(&site.descriptor))?;
    if let Some(offset) = site.offset {
        write!(output, " offset {offset}")?;
    }
    if let Some(file) = &site.file {
        write!(output, " file {}", quoted(file))?;
    }
    if let Some(line) = site.line {
        write!(output, " line {line}")?;
    }
    Ok(())
}

/// A name as one word without any sign that means something.
fn plain(name: &str, may_have_points: bool) -> String {
    let is_plain = |character: char| {
        character.is_alphanumeric()
            || "_$<>-:+".contains(character)
            || may_have_points && character == '.'
    };
    let mut plain: String =
        name.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    if plain.is_empty() || plain.starts_with('.') {
        plain.insert(0, '_');
    }
    plain
}

/// A class without its package.
fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// What people call a place: its line, or its method where it is one.
fn site_label(entry: &SiteEntry) -> String {
    let site = &entry.site;
    let class = short(&site.class);
    let method =
        if class.is_empty() { site.method.clone() } else { format!("{class}.{}", site.method) };
    let label = match (&site.file, site.line) {
        (Some(file), Some(line)) if site.offset.is_some() || site.method.is_empty() => {
            format!("{}:{line}", file.rsplit('/').next().unwrap_or(file))
        }
        _ if site.offset.is_some() => format!("{method}+{}", site.offset.unwrap_or_default()),
        _ => method,
    };
    plain(&label, true)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            // Line ends above all; others would not be seen.
            _ if character.is_control() => quoted.extend(character.escape_unicode()),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
