//! `scission models`: what is known of library code, and who says so.

use std::collections::BTreeMap;

use models::{ClassScope, Models, Pattern, Source, Statement, print_statements, statements};

use crate::Outcome;
use crate::assemble::{InputForm, assemble};
use crate::cancel::Cancel;
use crate::flags::{ModelsCommand, ModelsFlags, ModelsListFlags, ModelsShowFlags};
use crate::progress::Progress;
use crate::{model_files, output};

pub(crate) fn run(flags: &ModelsFlags) -> anyhow::Result<Outcome> {
    match &flags.command {
        None => list(&ModelsListFlags::default()),
        Some(ModelsCommand::List(flags)) => list(flags),
        Some(ModelsCommand::Show(flags)) => show(flags),
    }
}

/// How many statements each file makes about each class.
fn list(flags: &ModelsListFlags) -> anyhow::Result<Outcome> {
    let models = model_files::read(&flags.models)?;
    let mut files: BTreeMap<(bool, &str), BTreeMap<String, usize>> = BTreeMap::new();
    for statement in statements(&models.everything()) {
        let Source { file, is_user, .. } = statement.source;
        // What is about no class in particular is listed by what it is about.
        let about = statement.class.unwrap_or_else(|| {
            let words = statement.heading.split_whitespace().take(2);
            words.collect::<Vec<_>>().join(" ")
        });
        *files.entry((!is_user, file)).or_default().entry(about).or_default() += 1;
    }
    let mut text = String::new();
    let mut all = 0;
    for ((is_built_in, file), classes) in &files {
        let count: usize = classes.values().sum();
        all += count;
        let whose = if *is_built_in { "built in" } else { "yours" };
        text.push_str(&format!("{file} ({whose}): {count} statements\n"));
        for (class, count) in classes {
            text.push_str(&format!("  {class} {count}\n"));
        }
    }
    text.push_str(&format!("{all} statements in {} files\n", files.len()));
    output::print(&text)?;
    Ok(Outcome::NothingFound)
}

fn show(flags: &ModelsShowFlags) -> anyhow::Result<Outcome> {
    let mut text;
    if flags.paths.is_empty() {
        let models = model_files::read(&flags.program.models)?;
        text = matching(&models, &flags.pattern);
    } else {
        let progress = Progress::new(true);
        let models = model_files::read(&flags.program.models)?;
        let cancel = Cancel::on_interrupt();
        let form = InputForm::default();
        let should_stop = || cancel.is_requested();
        let assembled =
            assemble(&flags.paths, &flags.program, models, form, &should_stop, &progress);
        progress.finish();
        let Some(assembled) = assembled? else { return Ok(Outcome::InterruptedWithoutFindings) };
        text = matching(assembled.program.models(), &flags.pattern);
        text.push_str(&assembled.program.summarised_models_text(&flags.pattern));
    }
    if text.is_empty() {
        text = format!("# nothing is said of `{}`\n", flags.pattern);
    }
    output::print(&text)?;
    Ok(Outcome::NothingFound)
}

/// What is said of matching classes and members, in the format of the files.
fn matching(models: &Models, pattern: &Pattern) -> String {
    let mut all = models.everything();
    // A package is shown where a class of it would be.
    all.classes.retain(|fact| match fact.scope {
        ClassScope::Class(_) => true,
        ClassScope::Package(package) => {
            pattern.names_member_of(package.trim_end_matches('/').replace('/', ".").as_str())
        }
    });
    let is_wanted = |statement: &Statement| match (&statement.class, statement.member) {
        (Some(class), Some(member)) => pattern.matches(&format!("{class}.{member}")),
        (Some(class), None) => pattern.matches(class) || pattern.names_member_of(class),
        (None, _) => {
            statement.heading.starts_with("package") && !statement.heading.contains(" entry ")
        }
    };
    let mut wanted: Vec<Statement> =
        statements(&all).into_iter().filter(|statement| is_wanted(statement)).collect();
    wanted.sort_by(|one, other| {
        let key = |it: &Statement| (it.class.clone(), it.member.is_some());
        key(one).cmp(&key(other))
    });
    print_statements(&wanted, |statement| {
        let Source { file, line, is_user } = statement.source;
        Some(if is_user { format!("{file}:{line}") } else { format!("built in, {file}:{line}") })
    })
}
