//! `scission inspect`: a method as the program model sees it.

use std::cell::RefCell;
use std::fmt::Write;

use analyses::deadlock::LockOrderWriter;
use analyses::execution::{ExecutionFacts, Listener};
use analyses::heap::{NameRoot, ObjectId};
use analyses::races::object_use;
use analyses::{Config, Context, whole_program};
use anyhow::bail;
use findings::{Description, DescriptionForm};
use models::Pattern;
use program::{MethodId, ir};

use crate::Outcome;
use crate::assemble::{Assembled, InputForm, assemble};
use crate::attended_work::attend;
use crate::cancel::Cancel;
use crate::flags::InspectFlags;
use crate::model_files;
use crate::output;
use crate::progress::Progress;

pub(crate) fn run(flags: &'static InspectFlags) -> anyhow::Result<Outcome> {
    let progress = Progress::new(true);
    let models = model_files::read(&flags.program.models)?;
    let cancel = Cancel::on_interrupt();
    let described = {
        let (progress, cancel) = (progress.clone(), cancel.clone());
        move || {
            let should_stop = || cancel.is_requested();
            let assembled = assemble(
                std::slice::from_ref(&flags.app),
                &flags.program,
                models,
                InputForm::default(),
                &should_stop,
                &progress,
            )?;
            // What a description leaves out cannot be seen in it, so that half of one is none.
            assembled.map(|assembled| describe(flags, &assembled)).transpose()
        }
    };
    let described = attend(described, || cancel.grace());
    progress.finish();
    let Some(text) = described.transpose()?.flatten().filter(|_| !cancel.is_requested()) else {
        return Ok(Outcome::InterruptedWithoutFindings);
    };
    output::print(&text)?;
    Ok(Outcome::NothingFound)
}

fn describe(flags: &InspectFlags, assembled: &Assembled) -> anyhow::Result<String> {
    let mut text = String::new();
    if flags.threads || flags.heap || flags.object_use.is_some() || flags.lock_order {
        describe_heap(&mut text, flags, assembled);
    }
    if let Some(wanted) = &flags.library_methods {
        text.push_str(&assembled.program.library_text(wanted));
    }
    let Some(wanted) = &flags.method else { return Ok(text) };
    let found = methods_named(wanted, assembled);
    if found.is_empty() {
        bail!(
            "`{}` has no method `{wanted}` with code; name it as `pkg.Class.method`, with a \
             descriptor to choose among overloads",
            flags.app.display()
        );
    }
    for method in found {
        describe_method(&mut text, flags, assembled, method);
    }
    Ok(text)
}

/// The methods with a body that a user means by `pkg.Class.method`, perhaps with a descriptor.
fn methods_named(wanted: &str, assembled: &Assembled) -> Vec<MethodId> {
    let program = &assembled.program;
    let (name, descriptor) = match wanted.find('(') {
        Some(at) => (&wanted[..at], Some(&wanted[at..])),
        None => (wanted, None),
    };
    let pattern = Pattern::new(name);
    program
        .methods_with_bodies()
        .filter(|method| {
            let declared = &program.methods[*method];
            let full = format!("{}.{}", program.class_of(*method).dotted_name(), declared.name);
            (full == name || (name.contains('*') && pattern.matches(&full)))
                && descriptor.is_none_or(|wanted| *declared.descriptor == *wanted)
        })
        .collect()
}

fn describe_method(
    text: &mut String,
    flags: &InspectFlags,
    assembled: &Assembled,
    method: MethodId,
) {
    let Assembled { program, graph, .. } = assembled;
    let Some(body) = program.body(method) else { return };
    if flags.dot {
        text.push_str(&report::dot(&ir::control_flow_graph(program, body)));
        return;
    }
    let everything = !flags.callers && !flags.callees;
    if everything {
        text.push_str(&ir::print_body(program, body));
    }
    let mut list = |title: &str, methods: &[MethodId]| {
        let _ = writeln!(text, "{title} of {}: {}", program.method_label(method), methods.len());
        for method in methods {
            let _ = writeln!(text, "  {}", program.method_label(*method));
        }
    };
    if flags.callers || everything {
        list("callers", graph.callers(method));
    }
    if flags.callees || everything {
        list("callees", &graph.callees(method));
    }
}

fn describe_heap(text: &mut String, flags: &InspectFlags, assembled: &Assembled) {
    let Assembled { program, graph, .. } = assembled;
    let config = Config { entry_points: flags.program.entry_points.clone(), ..Config::default() };
    let context =
        Context { program, graph, config: &config, cancelled: &|| false, exhausted: &|| false };
    let form = if flags.dot { DescriptionForm::Graph } else { DescriptionForm::Text };
    let (object_use, lock_order) = (RefCell::default(), RefCell::default());
    let (analysed, _) = whole_program::analyse(&context, |_| {
        let mut listeners: Vec<Box<dyn Listener + '_>> = Vec::new();
        if let Some(wanted) = &flags.object_use {
            let is_wanted =
                |execution: &ExecutionFacts<'_>, object| is_of_class(execution, object, wanted);
            listeners.push(object_use::listen(&context, is_wanted, form, &object_use));
        }
        if flags.lock_order {
            listeners.push(Box::new(LockOrderWriter::new(form, &lock_order)));
        }
        listeners
    });
    if flags.threads {
        text.push_str(&analysed.heap.threads_text(program));
    }
    if flags.heap {
        let heap = &analysed.heap;
        text.push_str(&match form {
            DescriptionForm::Text => heap.text(program),
            DescriptionForm::Graph => report::dot(&heap.graph(program)),
        });
    }
    for description in object_use.into_inner().into_iter().chain(lock_order.into_inner()) {
        text.push_str(&match description {
            Description::Text(description) => description,
            Description::Graph(graph) => report::dot(&graph),
        });
    }
}

/// Whether an abstract object has a class that the pattern matches.
fn is_of_class(execution: &ExecutionFacts<'_>, object: ObjectId, wanted: &Pattern) -> bool {
    let program = execution.context.program;
    let object = &execution.heap.objects[object];
    let of_roots = object.roots.iter().filter_map(|root| match root {
        NameRoot::Class(class) | NameRoot::Outside(class) => Some(*class),
        NameRoot::Task(body) => Some(program.methods[*body].class),
        NameRoot::Library(_) | NameRoot::BeyondDepth => None,
    });
    let mut classes = object.classes.iter().copied().chain(of_roots);
    classes.any(|class| wanted.matches(&program.classes[class].dotted_name()))
}
