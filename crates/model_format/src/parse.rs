//! Reading a file: lines into statements, statements into facts.
//!
//! A statement ends with its line, unless the line ends with `,`, `;` or `:`. `#` begins a comment. What
//! is indented belongs to the class above it. A file is read to its end, whatever is wrong in it, so
//! that all its problems are named at once.

use std::collections::HashMap;
use std::fmt;

use findings::nearest_name;

use crate::descriptor::{NamedMethod, read_method};
use crate::effect::{Effect, effect_forms};
use crate::facts::{
    ClassFact, ClassScope, ComponentFact, ComponentRole, EntryPoint, FieldFact, Matcher,
    MethodFact, Model, ModelFile, Source, Supertypes,
};
use crate::grammar::FORMS;
use crate::keep;
use crate::vocabulary::{
    ClassProperty, EntryThread, FieldProperty, MethodProperty, Multiplicity, ReceiverSharing,
};
use crate::words::{Phrase, Problem, Word, Words};

/// What is wrong in a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub file: &'static str,
    /// The line, counted from 1.
    pub line: u32,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl std::error::Error for FileProblem {}

/// Reads a file.
///
/// # Errors
///
/// When something in it is wrong: every problem, by line.
pub fn parse(file: &str, text: &str, is_user: bool) -> Result<ModelFile, Vec<FileProblem>> {
    let mut parser = Parser {
        source: Source { file: keep(file), line: 0, is_user },
        since: 0,
        block_since: 0,
        block: Vec::new(),
        is_block_wrong: false,
        imports: Vec::new(),
        known: HashMap::new(),
        found: ModelFile::default(),
    };
    let mut problems = Vec::new();
    for statement in statements(text) {
        parser.source.line = statement.line;
        if let Err(problem) = parser.statement(&statement) {
            problems.push(FileProblem { file: parser.source.file, line: statement.line, problem });
        }
    }
    if problems.is_empty() { Ok(parser.found) } else { Err(problems) }
}

/// One statement, without its comments, on one line.
struct Statement {
    line: u32,
    is_indented: bool,
    text: String,
}

fn statements(text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut is_open = false;
    for (line, text) in (1..).zip(text.lines()) {
        let code = text.split('#').next().unwrap_or_default();
        let trimmed = code.trim();
        if trimmed.is_empty() {
            continue;
        }
        match statements.last_mut() {
            Some(statement) if is_open => {
                statement.text.push(' ');
                statement.text.push_str(trimmed);
            }
            _ => statements.push(Statement {
                line,
                is_indented: code.starts_with(char::is_whitespace),
                text: trimmed.to_owned(),
            }),
        }
        is_open = trimmed.ends_with([',', ';', ':']);
    }
    statements
}

struct Parser {
    source: Source,
    since: u8,
    /// The release and the classes of the block that indented statements belong to.
    block_since: u8,
    block: Vec<&'static str>,
    /// Whether the line that begins the block is wrong: what stands below it is not read then.
    is_block_wrong: bool,
    imports: Vec<(&'static str, &'static str)>,
    /// The line of each row, by class, method and descriptor.
    known: HashMap<(&'static str, &'static str, &'static str), u32>,
    found: ModelFile,
}

impl Parser {
    fn statement(&mut self, statement: &Statement) -> Result<(), Problem> {
        if statement.is_indented {
            return if self.is_block_wrong { Ok(()) } else { self.row(&statement.text) };
        }
        self.block.clear();
        let read = self.heading(statement);
        self.is_block_wrong = read.is_err();
        read
    }

    /// A statement that is not indented.
    fn heading(&mut self, statement: &Statement) -> Result<(), Problem> {
        let (first, rest) =
            statement.text.split_once(char::is_whitespace).unwrap_or((&statement.text, ""));
        match first {
            "class" => self.class(rest),
            "import" => self.import(rest),
            "since" => {
                self.since = release(rest)?;
                Ok(())
            }
            "package" => self.package(rest),
            "annotation" => self.annotation(first, rest, Matcher::MethodAnnotation),
            "class-annotation" => self.annotation(first, rest, Matcher::ClassAnnotation),
            "field-annotation" => self.component(first, rest),
            "static" => self.any_static(rest),
            _ => {
                let known: Vec<&str> = FORMS.iter().map(|form| form.word).collect();
                let mut problem = Problem::unknown("statement", Some(first), &known);
                if statement.text.contains(':') && problem.help.is_none() {
                    problem.help = Some("what methods do is indented below their class".into());
                }
                Err(problem)
            }
        }
    }

    fn import(&mut self, rest: &str) -> Result<(), Problem> {
        let name = one_name(rest)?;
        let simple = name.rsplit(['.', '$']).next().unwrap_or(name);
        self.imports.push((keep(simple), keep(&name.replace('.', "/"))));
        Ok(())
    }

    fn class(&mut self, rest: &str) -> Result<(), Problem> {
        let (names, clauses) = cut_clauses(rest, &["since", "is", "extends"]);
        let classes = internal_names(names)?;
        self.block_since = self.since;
        for (clause, text) in clauses {
            match clause {
                "since" => self.block_since = release(text)?,
                "is" => {
                    for property in list_of(text, "property of a class", ClassProperty::WORDS)? {
                        for class in &classes {
                            let scope = ClassScope::Class(class);
                            self.found.classes.push(ClassFact {
                                scope,
                                property,
                                source: self.source,
                            });
                        }
                    }
                }
                _ => {
                    let supertypes: &'static [&'static str] =
                        Box::leak(internal_names(text)?.into());
                    for class in &classes {
                        self.found.supertypes.push(Supertypes {
                            class,
                            supertypes,
                            source: self.source,
                        });
                    }
                }
            }
        }
        self.block = classes;
        Ok(())
    }

    fn package(&mut self, rest: &str) -> Result<(), Problem> {
        let (names, clauses) = cut_clauses(rest, &["is"]);
        let packages: Vec<&'static str> =
            internal_names(names)?.iter().map(|name| keep(&format!("{name}/"))).collect();
        let [(_, text)] = clauses[..] else {
            return Err(Problem::new("`is` is missing after the name of the package"));
        };
        if let Some(entry) = strip_word(text, "entry") {
            for package in packages {
                self.entry(Matcher::SubtypeOfPackage(package), "*", "*", entry)?;
            }
            return Ok(());
        }
        for property in list_of(text, "property of a package", ClassProperty::WORDS)? {
            for package in &packages {
                let scope = ClassScope::Package(package);
                self.found.classes.push(ClassFact { scope, property, source: self.source });
            }
        }
        Ok(())
    }

    /// A statement about annotations that begins with `heading`: entry points, or what a container makes.
    fn annotation(
        &mut self,
        heading: &str,
        rest: &str,
        matcher: fn(&'static str) -> Matcher,
    ) -> Result<(), Problem> {
        let (_, clauses) = cut_clauses(rest, &["is"]);
        match clauses[..] {
            [(_, text)] if text.trim_start().starts_with("component") => {
                self.component(heading, rest)
            }
            _ => self.entry_of(rest, matcher),
        }
    }

    /// What a container does with what carries an annotation.
    fn component(&mut self, heading: &str, rest: &str) -> Result<(), Problem> {
        let (names, clauses) = cut_clauses(rest, &["is"]);
        let [(_, text)] = clauses[..] else {
            return Err(Problem::new("`is` is missing after the names of annotations"));
        };
        let roles = ComponentRole::ALL.into_iter().filter(|role| role.heading() == heading);
        let roles: Vec<ComponentRole> = roles.collect();
        let Some(role) = roles.iter().copied().find(|role| role.word() == text.trim()) else {
            let known: Vec<&str> = roles.iter().map(|role| role.word()).collect();
            return Err(Problem::unknown("property of an annotation", Some(text.trim()), &known));
        };
        for name in names.split(',') {
            let annotation = keep(one_name(name)?);
            self.found.components.push(ComponentFact { annotation, role, source: self.source });
        }
        Ok(())
    }

    fn entry_of(
        &mut self,
        rest: &str,
        matcher: fn(&'static str) -> Matcher,
    ) -> Result<(), Problem> {
        let (names, clauses) = cut_clauses(rest, &["is"]);
        let [(_, text)] = clauses[..] else {
            return Err(Problem::new("`is entry` is missing after the names of annotations"));
        };
        let entry = strip_word(text, "entry").ok_or_else(|| entry_is_missing(text))?;
        for name in names.split(',') {
            self.entry(matcher(keep(one_name(name)?)), "*", "*", entry)?;
        }
        Ok(())
    }

    fn any_static(&mut self, rest: &str) -> Result<(), Problem> {
        let (methods, clauses) = cut_clauses(rest, &["is"]);
        let [(_, text)] = clauses[..] else {
            return Err(Problem::new("`is entry` is missing after the method"));
        };
        let entry = strip_word(text, "entry").ok_or_else(|| entry_is_missing(text))?;
        for method in self.methods(methods)? {
            self.entry(Matcher::AnyStatic, method.name, method.descriptor, entry)?;
        }
        Ok(())
    }

    /// What is said of methods or fields of the classes of this block.
    fn row(&mut self, text: &str) -> Result<(), Problem> {
        if self.block.is_empty() {
            return Err(Problem::with_help(
                "an indented line belongs to a class, and none stands above it",
                "begin with `class NAME`, not indented",
            ));
        }
        if let Some(rest) = strip_word(text, "field") {
            return self.field(rest);
        }
        if let Some((methods, effects)) = split_outside(text, ':') {
            return self.effects(methods, effects);
        }
        let (methods, clauses) = cut_clauses(text, &["is"]);
        match clauses[..] {
            [(_, properties)] => self.properties(methods, properties),
            _ => Err(Problem::with_help(
                format!("nothing is said of `{methods}`"),
                "write `METHOD: EFFECT; EFFECT` or `METHOD is PROPERTY`",
            )),
        }
    }

    fn field(&mut self, rest: &str) -> Result<(), Problem> {
        let (name, clauses) = cut_clauses(rest, &["is"]);
        let [(_, text)] = clauses[..] else {
            return Err(Problem::new("`is` is missing after the name of the field"));
        };
        let field = keep(one_name(name)?);
        for property in list_of(text, "property of a field", FieldProperty::WORDS)? {
            for class in &self.block {
                self.found.fields.push(FieldFact { class, field, property, source: self.source });
            }
        }
        Ok(())
    }

    fn effects(&mut self, methods: &str, text: &str) -> Result<(), Problem> {
        let methods = self.methods(methods)?;
        let effects: &'static [Effect] = Box::leak(read_effects(text)?.into());
        for class in self.block.clone() {
            for method in &methods {
                let key = (class, method.name, method.descriptor);
                if let Some(line) = self.known.insert(key, self.source.line) {
                    let class = class.replace('/', ".");
                    return Err(Problem::new(format!(
                        "this method of `{class}` has a row in line {line} already"
                    )));
                }
                self.found.rows.push(Model {
                    class,
                    method: method.name,
                    descriptor: method.descriptor,
                    effects,
                    since: self.block_since,
                    source: self.source,
                });
            }
        }
        Ok(())
    }

    fn properties(&mut self, methods: &str, text: &str) -> Result<(), Problem> {
        let methods = self.methods(methods)?;
        if let Some(entry) = strip_word(text, "entry") {
            for class in self.block.clone() {
                for method in &methods {
                    let matcher = Matcher::Subtype(class);
                    self.entry(matcher, method.name, method.descriptor, entry)?;
                }
            }
            return Ok(());
        }
        let known = MethodProperty::WORDS;
        let properties = list_of(text, "property of a method", known).map_err(|mut problem| {
            let first = text.split_whitespace().next().unwrap_or_default();
            if nearest_name(first, ["entry"]).is_some() {
                problem.help = Some("did you mean `entry`?".into());
            }
            problem
        })?;
        for property in properties {
            for class in &self.block {
                for method in &methods {
                    self.found.methods.push(MethodFact {
                        class,
                        method: method.name,
                        descriptor: method.descriptor,
                        property,
                        source: self.source,
                    });
                }
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        matcher: Matcher,
        method: &'static str,
        descriptor: &'static str,
        text: &str,
    ) -> Result<(), Problem> {
        let mut words = Words::new(text);
        let thread = EntryThread::read(&mut words)?;
        let multiplicity = Multiplicity::read(&mut words)?;
        let receiver = ReceiverSharing::read(&mut words)?;
        let only_without_caller = words.take_if("unless-called");
        let known: Vec<&str> =
            ReceiverSharing::WORDS.iter().map(|word| word.word).chain(["unless-called"]).collect();
        words.finish(&known)?;
        self.found.entry_points.push(EntryPoint {
            matcher,
            method,
            descriptor,
            thread,
            multiplicity,
            receiver,
            only_without_caller,
            source: self.source,
        });
        Ok(())
    }

    fn methods(&self, text: &str) -> Result<Vec<NamedMethod>, Problem> {
        let mut methods = Vec::new();
        let mut rest = text;
        while let Some((method, after)) = split_outside(rest, ',') {
            methods.push(read_method(method, &self.imports)?);
            rest = after;
        }
        methods.push(read_method(rest, &self.imports)?);
        Ok(methods)
    }
}

/// Reads the effects after the colon.
fn read_effects(text: &str) -> Result<Vec<Effect>, Problem> {
    if text.trim() == "nothing" {
        return Ok(Vec::new());
    }
    let mut effects = Vec::new();
    for clause in text.split(';') {
        let mut words = Words::new(clause);
        if words.peek().is_none() {
            return Err(Problem::with_help(
                "an effect is missing",
                "a method that does nothing of interest is written with `nothing`",
            ));
        }
        effects.push(Effect::read(&mut words)?);
        // What may follow is listed in the form of the effect.
        let verb = effect_forms().into_iter().find(|form| clause.trim().starts_with(form.verb));
        let help = verb.map(|form| format!("it is written `{}`", form.shape));
        words
            .finish(&["if true", "if false", "if nonzero", "if nonnull", "perhaps", "timed"])
            .map_err(|mut problem| {
                problem.help = problem.help.or(help);
                problem
            })?;
    }
    Ok(effects)
}

fn entry_is_missing(text: &str) -> Problem {
    Problem::unknown("property that can stand here", text.split_whitespace().next(), &["entry"])
}

fn release(text: &str) -> Result<u8, Problem> {
    text.trim().parse().map_err(|_| Problem::new(format!("`{}` is no Java release", text.trim())))
}

fn one_name(text: &str) -> Result<&str, Problem> {
    let name = text.trim();
    match name {
        "" => Err(Problem::new("a name is missing")),
        _ if name.contains(|c: char| c.is_whitespace() || "(),;:".contains(c)) => {
            Err(Problem::new(format!("`{name}` is no name")))
        }
        _ => Ok(name),
    }
}

fn internal_names(text: &str) -> Result<Vec<&'static str>, Problem> {
    text.split(',').map(|name| Ok(keep(&one_name(name)?.replace('.', "/")))).collect()
}

/// The words of a table in a list with commas.
fn list_of<T: Copy>(text: &str, what: &str, table: &[Word<T>]) -> Result<Vec<T>, Problem> {
    text.split(',')
        .map(|item| {
            let mut words = Words::new(item);
            let value = words.expect_of(what, table)?;
            words.finish(&[])?;
            Ok(value)
        })
        .collect()
}

/// What follows a word that must be the first.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.trim_start().strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// Cuts a text before the first of its clauses, and into the clauses.
fn cut_clauses<'t>(
    text: &'t str,
    clauses: &[&'static str],
) -> (&'t str, Vec<(&'static str, &'t str)>) {
    let mut cuts: Vec<(usize, &'static str)> = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        if let Some(clause) = clauses.iter().find(|clause| **clause == word.trim()) {
            cuts.push((at, clause));
        }
        at += word.len();
    }
    let first = cuts.first().map_or(text.len(), |(at, _)| *at);
    let ends = cuts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    let found = cuts
        .iter()
        .zip(ends)
        .map(|((at, clause), end)| (*clause, text[at + clause.len()..end].trim()))
        .collect();
    (text[..first].trim(), found)
}

/// Cuts a text at the first such character that is in no parentheses.
fn split_outside(text: &str, at: char) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (position, found) in text.char_indices() {
        match found {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if found == at && depth == 0 => {
                return Some((&text[..position], &text[position + at.len_utf8()..]));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Mode, Operand, Outcome};

    fn problems(text: &str) -> Vec<String> {
        match parse("x.models", text, true) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn a_lock_is_read() {
        let file = parse(
            "x.models",
            "import java.util.concurrent.TimeUnit\n\
             class a.Lock, a.b.Other is thread-safe since 21 # both\n  \
               tryLock(long, TimeUnit), tryLock(): acquire this exclusive if true;\n     blocks timed\n  \
               unlock: nothing\n  \
               run() void is task\n  \
               field mutex is own-lock\n  \
               onEvent is entry request many shared-receiver\n",
            true,
        )
        .unwrap();
        let row = file.rows[0];
        assert_eq!(row.class, "a/Lock");
        assert_eq!(row.descriptor, "(JLjava/util/concurrent/TimeUnit;)*");
        assert_eq!(
            row.effects[0],
            Effect::Acquire {
                lock: Operand::Receiver,
                mode: Mode::Exclusive,
                outcome: Outcome::IfTrue
            }
        );
        assert_eq!((row.since, row.source.line, row.effects.len()), (21, 3, 2));
        assert_eq!(file.rows.len(), 6);
        assert_eq!(file.classes.len(), 2);
        assert_eq!(file.methods.len(), 2);
        assert_eq!(file.fields.len(), 2);
        assert_eq!(file.entry_points[1].matcher, Matcher::Subtype("a/b/Other"));
    }

    #[test]
    fn every_problem_is_named_with_its_line_and_the_nearest_word() {
        let text = "class a.Lock is thread-save\n  lock: what follows a wrong line is not read\n\
                    class a.Lock\n  \
                      a: aquire this exclusive\n  \
                      b: acquire thsi any\n  \
                      c: acquire this exclusiv\n  \
                      d: acquire this any if tru\n  \
                      e: atomic red this\n  \
                      f: nothing\n  \
                      f: blocks\n  \
                      g\n  \
                      h is enty pool many\n\
                    clas b\n";
        assert_eq!(
            problems(text),
            [
                "x.models:1: `thread-save` is no property of a class; did you mean `thread-safe`?",
                "x.models:4: `aquire` is no effect; did you mean `acquire`?",
                "x.models:5: `thsi` is no operand; did you mean `this`?",
                "x.models:6: `exclusiv` is no lock mode; did you mean `exclusive`?",
                "x.models:7: `if` is one word too many; did you mean `if true`?",
                "x.models:8: `red` is no word after `atomic`; did you mean `read`?",
                "x.models:10: this method of `a.Lock` has a row in line 9 already",
                "x.models:11: nothing is said of `g`; \
                 write `METHOD: EFFECT; EFFECT` or `METHOD is PROPERTY`",
                "x.models:12: `enty` is no property of a method; did you mean `entry`?",
                "x.models:13: `clas` is no statement; did you mean `class`?",
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "([a-z*$é#]{0,6}|[ \n(),;:.\\[\\]]| is | class |\n  |arg0|acquire this){0,30}") {
            let _ = parse("x.models", &text, true);
        }
    }
}
