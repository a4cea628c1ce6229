//! Reads text traces.

use std::sync::Arc;

use findings::{Site, did_you_mean};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::{ALL, EPOCH, FRAME, OVERLAPS, file_and_line, stem};
use crate::{
    Action, Branch, ClassEntry, ClassId, Condition, Context, Epoch, Event, FieldEntry, FieldId,
    Kind, MAX_FRAMES, ObjectId, Operand, OperandKind, Seen, SiteEntry, SiteId, StackEntry, Tables,
    ThreadEntry, ThreadId, Variable,
};

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct TextError {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
    /// What is wrong there.
    pub message: String,
}

/// A comment, kept for those who read expectations in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its line, from 1.
    pub line: u32,
    /// All of it, with the `#` or `//` that begins it.
    pub text: String,
}

/// Reads a text trace, line by line.
#[derive(Debug)]
pub struct Reader {
    text: String,
    /// Where the next line begins.
    next: usize,
    names: Names,
    comments: Vec<Comment>,
}

impl Reader {
    /// Begins to read.
    #[must_use]
    pub fn new(text: String) -> Reader {
        Reader { text, next: 0, names: Names::default(), comments: Vec::new() }
    }

    /// Takes the line of the text, in a file of this name, as the place of every event that names no
    /// other: what is reported about a trace then points into the trace itself.
    #[must_use]
    pub fn with_lines_as_sites(mut self, file: &str) -> Reader {
        self.names.own_file = Some(file.to_string());
        self
    }

    /// The names so far.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.names.tables
    }

    /// Gives the names away.
    #[must_use]
    pub fn into_tables(self) -> Tables {
        self.names.tables
    }

    /// The comments so far.
    #[must_use]
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// What an object is called in the text, where it has a name.
    #[must_use]
    pub fn object_name(&self, object: ObjectId) -> Option<&str> {
        self.names.tables.objects.named(object)
    }

    /// The next event; none at the end.
    ///
    /// # Errors
    ///
    /// Fails at a line that is neither an event nor a definition.
    pub fn next_event(&mut self) -> Result<Option<Event>, TextError> {
        while self.next < self.text.len() {
            let rest = &self.text[self.next..];
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            self.next += line.len();
            self.names.line += 1;
            let (tokens, comment) = tokens(line, self.names.line)?;
            if let Some(text) = comment {
                let text = text.trim_end().to_string();
                self.comments.push(Comment { line: self.names.line, text });
            }
            if tokens.is_empty() {
                continue;
            }
            let mut line = Line { tokens: &tokens, next: 0, number: self.names.line };
            if tokens[0].text.starts_with('.') && !tokens[0].is_quoted {
                self.names.define(&mut line)?;
            } else {
                let event = self.names.event(&mut line, &self.text)?;
                self.names.tables.note(&event);
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

/// A word of a line, or a text in quotes.
#[derive(Debug)]
struct Token {
    text: String,
    is_quoted: bool,
    column: u32,
}

/// The tokens of a line, and the comment at its end.
fn tokens(line: &str, number: u32) -> Result<(Vec<Token>, Option<&str>), TextError> {
    let mut tokens = Vec::new();
    let mut characters = line.char_indices().zip(1..).peekable();
    while let Some(&((at, first), column)) = characters.peek() {
        if first.is_whitespace() {
            characters.next();
            continue;
        }
        if first == '#' || line[at..].starts_with("//") {
            return Ok((tokens, Some(&line[at..])));
        }
        let fail = |message: &str| TextError { line: number, column, message: message.to_string() };
        let mut text = String::new();
        if first == '"' {
            characters.next();
            loop {
                let Some(((_, character), _)) = characters.next() else {
                    return Err(fail("this text in quotes does not end in its line"));
                };
                match character {
                    '"' => break,
                    '\\' => {
                        let wrong = || fail("this text has a `\\` that means nothing");
                        let ((_, escaped), _) = characters.next().ok_or_else(wrong)?;
                        text.push(match escaped {
                            '"' | '\\' => escaped,
                            'u' => {
                                // `\u{a}`, as in Rust.
                                let digits: String = characters
                                    .by_ref()
                                    .map(|((_, character), _)| character)
                                    .take_while(|character| *character != '}')
                                    .skip_while(|character| *character == '{')
                                    .collect();
                                u32::from_str_radix(&digits, 16)
                                    .ok()
                                    .and_then(char::from_u32)
                                    .ok_or_else(wrong)?
                            }
                            _ => return Err(wrong()),
                        });
                    }
                    '\n' => return Err(fail("this text in quotes does not end in its line")),
                    other => text.push(other),
                }
            }
            tokens.push(Token { text, is_quoted: true, column });
        } else {
            while let Some(((_, character), _)) =
                characters.next_if(|((_, character), _)| !character.is_whitespace())
            {
                text.push(character);
            }
            tokens.push(Token { text, is_quoted: false, column });
        }
    }
    Ok((tokens, None))
}

/// A line that is being read.
struct Line<'a> {
    tokens: &'a [Token],
    next: usize,
    number: u32,
}

impl<'a> Line<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self, what: &str) -> Result<&'a Token, TextError> {
        let token = self.peek().ok_or_else(|| {
            let last = self.tokens.last();
            let column = last.map_or(1, |last| last.column + last.text.chars().count() as u32);
            self.fail_at(column, format!("{what} is missing"))
        })?;
        self.next += 1;
        Ok(token)
    }

    fn fail_at(&self, column: u32, message: String) -> TextError {
        TextError { line: self.number, column, message }
    }

    fn fail(&self, token: &Token, message: String) -> TextError {
        self.fail_at(token.column, message)
    }

    fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, TextError> {
        let token = self.take(what)?;
        token.text.parse().map_err(|_| self.fail(token, format!("`{}` is not {what}", token.text)))
    }

    fn end(&self) -> Result<(), TextError> {
        match self.peek() {
            None => Ok(()),
            Some(token) => Err(self.fail(token, format!("`{}` is too much here", token.text))),
        }
    }
}

/// The names of one table.
#[derive(Debug, Default)]
struct Labels(FxHashMap<String, u32>);

impl Labels {
    /// The row that a label stands for. `%7` is row 7 of any table.
    fn get(&self, label: &str) -> Option<u32> {
        let by_number = || label.strip_prefix('%').and_then(|number| number.parse().ok());
        self.0.get(label).copied().or_else(by_number)
    }
}

/// Everything that has a name.
#[derive(Debug, Default)]
struct Names {
    tables: Tables,
    line: u32,
    own_file: Option<String>,
    threads: Labels,
    classes: Labels,
    fields: Labels,
    sites: Labels,
    objects: FxHashMap<String, ObjectId>,
    /// Object numbers that the text names itself; looked for when the first name needs a number.
    numbered: Option<FxHashSet<u64>>,
    /// The frames of stacks, each once.
    frames: FxHashSet<Arc<Site>>,
    last_object: u64,
}

const TABLES: [&str; 5] = [".thread", ".class", ".field", ".site", STACK];

/// The table whose rows have no names.
const STACK: &str = ".stack";

impl Names {
    /// A line that defines a row.
    fn define(&mut self, line: &mut Line<'_>) -> Result<(), TextError> {
        let table = line.take("the table")?;
        if table.text == STACK {
            return self.define_stack(line);
        }
        let label = match TABLES.contains(&table.text.as_str()) {
            true => line.take("a name for the row")?,
            false => {
                let nearest = did_you_mean(&table.text, TABLES);
                let message = format!("there is no table `{}`{nearest}", table.text);
                return Err(line.fail(table, message));
            }
        };
        let (labels, row) = match table.text.as_str() {
            ".thread" => {
                let name = line.take("the name of the thread")?.text.clone();
                let is_virtual = line.peek().is_some_and(|token| token.text == "virtual");
                line.next += usize::from(is_virtual);
                self.tables.threads.push(ThreadEntry { name, is_virtual });
                (&mut self.threads, self.tables.threads.len())
            }
            ".class" => {
                let name = line.take("the name of the class")?.text.clone();
                self.tables.classes.push(ClassEntry { name });
                (&mut self.classes, self.tables.classes.len())
            }
            ".field" => {
                let class = line.take("the class of the field")?.text.clone();
                let name = line.take("the name of the field")?.text.clone();
                self.tables.fields.push(FieldEntry { class, name });
                (&mut self.fields, self.tables.fields.len())
            }
            _ => {
                let parts =
                    ["offset", "file", "line", "about", "order-only", "not-all-seen", "gives-away"];
                self.tables.sites.push(site_entry(line, &parts)?);
                (&mut self.sites, self.tables.sites.len())
            }
        };
        line.end()?;
        let row = row_number(row - 1, line)?;
        if labels.0.insert(label.text.clone(), row).is_some() {
            let message = format!("`{}` has a meaning already", label.text);
            return Err(line.fail(label, message));
        }
        Ok(())
    }

    /// The rest of a line that tells how a place was reached.
    fn define_stack(&mut self, line: &mut Line<'_>) -> Result<(), TextError> {
        let place = line.take("the place")?;
        let site = self.site(None, Some(&place.text), line)?;
        let thread = self.thread(line)?;
        let mut context = Context::default();
        if line.peek().is_some_and(|token| token.text == "in") {
            line.next += 1;
            for block in &mut context.0 {
                let Some(token) = line.peek().filter(|token| token.text != FRAME) else { break };
                line.next += 1;
                *block = self.site(None, Some(&token.text), line)?;
            }
        }
        let mut frames = Vec::new();
        while line.peek().is_some_and(|token| token.text == FRAME) && frames.len() < MAX_FRAMES {
            line.next += 1;
            let frame = site_entry(line, &["offset", "file", "line"])?.site;
            let frame = self.frames.get(&frame).cloned().unwrap_or_else(|| Arc::new(frame));
            self.frames.insert(Arc::clone(&frame));
            frames.push(frame);
        }
        line.end()?;
        self.tables.stacks.push(StackEntry { site, thread, context, frames });
        Ok(())
    }

    fn event(&mut self, line: &mut Line<'_>, text: &str) -> Result<Event, TextError> {
        let thread = self.thread(line)?;
        let word = line.take("what the thread did")?;
        let Some(kind) = Kind::ALL.iter().copied().find(|kind| kind.word() == word.text) else {
            let nearest = did_you_mean(&word.text, Kind::ALL.iter().map(|kind| kind.word()));
            let message = format!("`{}` is not a known word{nearest}", word.text);
            return Err(line.fail(word, message));
        };
        let operand = match kind.operand() {
            OperandKind::None => Operand::None,
            OperandKind::Variable => Operand::Variable(self.variable(line, text)?),
            OperandKind::Object => Operand::Object(self.object(line, text)?),
            OperandKind::Thread => Operand::Thread(self.thread(line)?),
            OperandKind::Class => Operand::Class(self.class(line)?),
            OperandKind::ObjectOfClass => {
                let object = self.object(line, text)?;
                Operand::ObjectOfClass(object, self.class(line)?)
            }
            OperandKind::Branch => Operand::Branch(branch(line)?),
            OperandKind::Condition => Operand::Condition(condition(line)?),
        };
        // Blocks are named by their sites: `begin deposit` is `begin @ deposit`.
        let may_be_named = matches!(kind, Kind::Begin | Kind::End);
        let block = line.peek().filter(|token| {
            may_be_named
                && ![EPOCH, OVERLAPS].contains(&token.text.as_str())
                && !token.text.starts_with('@')
        });
        line.next += usize::from(block.is_some());
        let mut place = None;
        let mut epoch = None;
        let mut overlaps = None;
        while let Some(token) = line.peek() {
            line.next += 1;
            if token.text == EPOCH && epoch.is_none() {
                epoch = Some(line.number("the number of an epoch")?);
            } else if token.text == OVERLAPS && overlaps.is_none() {
                overlaps = Some(if line.peek().is_some_and(|token| token.text == ALL) {
                    line.next += 1;
                    Event::OVERLAPS_ALL
                } else {
                    line.number("how many events it overlaps")?
                });
            } else if token.text == "@" && place.is_none() {
                place = Some(line.take("the place")?.text.as_str());
            } else if let Some(label) = token.text.strip_prefix('@').filter(|_| place.is_none()) {
                place = Some(label);
            } else {
                let message = format!("`{}` is too much here", token.text);
                return Err(line.fail(token, message));
            }
        }
        let site = self.site(block.map(|token| token.text.as_str()), place, line)?;
        let action = Action::of_kind(kind, operand).ok_or_else(|| {
            line.fail(word, format!("`{}` is not done to such a thing", word.text))
        })?;
        Ok(Event {
            thread,
            site,
            epoch: Epoch(epoch.unwrap_or_default()),
            action,
            overlaps: overlaps.unwrap_or_default(),
        })
    }

    fn thread(&mut self, line: &mut Line<'_>) -> Result<ThreadId, TextError> {
        let label = &line.take("a thread, such as `t1`,")?.text;
        if let Some(row) = self.threads.get(label) {
            return Ok(ThreadId(row));
        }
        let row = row_number(self.tables.threads.len(), line)?;
        self.tables.threads.push(ThreadEntry { name: label.clone(), is_virtual: false });
        self.threads.0.insert(label.clone(), row);
        Ok(ThreadId(row))
    }

    fn class(&mut self, line: &mut Line<'_>) -> Result<ClassId, TextError> {
        let label = &line.take("a class")?.text;
        if let Some(row) = self.classes.get(label) {
            return Ok(ClassId(row));
        }
        let row = row_number(self.tables.classes.len(), line)?;
        self.tables.classes.push(ClassEntry { name: label.clone() });
        self.classes.0.insert(label.clone(), row);
        Ok(ClassId(row))
    }

    fn field(&mut self, label: &str, line: &Line<'_>) -> Result<FieldId, TextError> {
        if let Some(row) = self.fields.get(label) {
            return Ok(FieldId(row));
        }
        let row = row_number(self.tables.fields.len(), line)?;
        self.tables.fields.push(FieldEntry { class: String::new(), name: label.to_string() });
        self.fields.0.insert(label.to_string(), row);
        Ok(FieldId(row))
    }

    /// `acc.balance`, `count`, `array[3]`, `queue.*`.
    fn variable(&mut self, line: &mut Line<'_>, text: &str) -> Result<Variable, TextError> {
        let token = line.take("a variable, such as `acc.balance`,")?;
        let variable = token.text.as_str();
        if let Some(array) = variable.strip_suffix(']') {
            let (object, index) = array
                .rsplit_once('[')
                .and_then(|(object, index)| Some((object, index.parse().ok()?)))
                .filter(|(object, _)| !object.is_empty())
                .ok_or_else(|| line.fail(token, format!("`{variable}` is not like `array[3]`")))?;
            return Ok(Variable::Element(self.object_named(object, text), index));
        }
        match variable.split_once('.') {
            None => Ok(Variable::Static(self.field(variable, line)?)),
            Some((object, field)) if object.is_empty() || field.is_empty() => {
                Err(line.fail(token, format!("`{variable}` is not like `acc.balance`")))
            }
            Some((object, "*")) => Ok(Variable::Contents(self.object_named(object, text))),
            Some((object, field)) => {
                let object = self.object_named(object, text);
                Ok(Variable::Field(object, self.field(field, line)?))
            }
        }
    }

    fn object(&mut self, line: &mut Line<'_>, text: &str) -> Result<ObjectId, TextError> {
        let token = line.take("an object, such as `m`,")?;
        Ok(self.object_named(&token.text, text))
    }

    /// `o7` is object 7; other names get the numbers that are not taken like this, from 1.
    fn object_named(&mut self, name: &str, text: &str) -> ObjectId {
        if let Some(number) = object_number(name) {
            return ObjectId(number);
        }
        if let Some(object) = self.objects.get(name) {
            return *object;
        }
        let numbered = self.numbered.get_or_insert_with(|| {
            let words = text.split_whitespace();
            words
                .filter_map(|word| object_number(word.split(['.', '[']).next().unwrap_or(word)))
                .collect()
        });
        self.last_object += 1;
        while numbered.contains(&self.last_object) {
            self.last_object += 1;
        }
        let object = ObjectId(self.last_object);
        self.objects.insert(name.to_string(), object);
        self.tables.objects.name(object, name);
        object
    }

    /// The site of an event with this name of a block and this place.
    fn site(
        &mut self,
        block: Option<&str>,
        place: Option<&str>,
        line: &Line<'_>,
    ) -> Result<SiteId, TextError> {
        if let Some(row) = place.and_then(|place| self.sites.get(place)) {
            return Ok(SiteId(row));
        }
        let own_line = self.own_file.as_ref().map(|_| format!("@{}", self.line));
        // Blocks of the same name are the same block, wherever they begin.
        let label = match (block, place) {
            (Some(block), Some(place)) => format!("{block} @ {place}"),
            (Some(label), None) | (None, Some(label)) => label.to_string(),
            (None, None) => match own_line {
                Some(label) => label,
                None => return Ok(SiteId(0)),
            },
        };
        if let Some(row) = self.sites.get(&label) {
            return Ok(SiteId(row));
        }
        let mut entry = SiteEntry::unknown();
        let site = &mut entry.site;
        if let Some(file) = &self.own_file {
            site.class = stem(file).to_string();
            site.file = Some(file.clone());
            site.line = Some(self.line);
        }
        for name in [block, place].into_iter().flatten() {
            match (file_and_line(name), name.rsplit_once('.')) {
                (Some((file, line)), _) => {
                    site.class = stem(file).to_string();
                    site.file = Some(file.to_string());
                    site.line = Some(line);
                }
                (None, Some((class, method))) if !class.is_empty() && !method.is_empty() => {
                    site.class = class.to_string();
                    site.method = method.to_string();
                }
                (None, _) => site.method = name.to_string(),
            }
        }
        if self.tables.sites.is_empty() {
            self.tables.sites.push(SiteEntry::unknown());
        }
        let row = row_number(self.tables.sites.len(), line)?;
        self.tables.sites.push(entry);
        self.sites.0.insert(label, row);
        Ok(SiteId(row))
    }
}

fn row_number(row: usize, line: &Line<'_>) -> Result<u32, TextError> {
    u32::try_from(row).map_err(|_| line.fail_at(1, "there are too many names".to_string()))
}

/// The number in `o7`.
fn object_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('o')?;
    let is_plain = digits == "0" || digits.starts_with(|first: char| matches!(first, '1'..='9'));
    digits.parse().ok().filter(|_| is_plain)
}

fn condition(line: &mut Line<'_>) -> Result<Condition, TextError> {
    let number = line.number("the number of a condition")?;
    let token = line.take("whether the condition holds")?;
    match token.text.as_str() {
        "true" => Ok(Condition { number, holds: true }),
        "false" => Ok(Condition { number, holds: false }),
        other => {
            let nearest = did_you_mean(other, ["true", "false"]);
            let message = format!("`{other}` is neither `true` nor `false`{nearest}");
            Err(line.fail(token, message))
        }
    }
}

fn branch(line: &mut Line<'_>) -> Result<Branch, TextError> {
    const WAYS: [&str; 3] = ["taken", "not-taken", "case"];
    let token = line.take("which way the branch went")?;
    match token.text.as_str() {
        "taken" => Ok(Branch::Taken),
        "not-taken" => Ok(Branch::NotTaken),
        "case" => Ok(Branch::Case(line.number("the value of a case")?)),
        other => {
            let nearest = did_you_mean(other, WAYS);
            let message = format!("`{other}` is not a way of a branch{nearest}");
            Err(line.fail(token, message))
        }
    }
}

/// A place in full, with these parts where they are known, and what it is about. It ends with the line or
/// before a frame.
fn site_entry(line: &mut Line<'_>, parts: &[&str]) -> Result<SiteEntry, TextError> {
    let SiteEntry { site, mut subject, mut seen, mut gives_away } = SiteEntry::unknown();
    let mut site = Site {
        class: line.take("the class")?.text.clone(),
        method: line.take("the method")?.text.clone(),
        descriptor: line.take("the descriptor")?.text.clone(),
        ..site
    };
    while let Some(part) = line.peek().filter(|part| part.text != FRAME) {
        line.next += 1;
        match part.text.as_str() {
            "offset" => site.offset = Some(line.number("an offset")?),
            "file" => site.file = Some(line.take("the name of the file")?.text.clone()),
            "line" => site.line = Some(line.number("the number of a line")?),
            "about" if parts.contains(&"about") => {
                subject = line.take("what it is about")?.text.clone();
            }
            "order-only" if parts.contains(&"order-only") => seen = Seen::Order,
            "not-all-seen" if parts.contains(&"not-all-seen") => seen = Seen::NotAllState,
            "gives-away" if parts.contains(&"gives-away") => gives_away = true,
            other => {
                let nearest = did_you_mean(other, parts.iter().copied());
                let message = format!("`{other}` is no part of a place{nearest}");
                return Err(line.fail(part, message));
            }
        }
    }
    Ok(SiteEntry { site, subject, seen, gives_away })
}
