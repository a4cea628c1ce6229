//! `scission inspect`: a method as the program model sees it.

use std::fmt::Write;

use analyses::heap::{self, Heap};
use anyhow::bail;
use program::pattern::Pattern;
use program::{MethodId, ir};

use crate::Outcome;
use crate::assemble::{Assembled, assemble};
use crate::cancel::Cancel;
use crate::flags::InspectFlags;
use crate::output;
use crate::progress::Progress;

pub(crate) fn run(flags: &InspectFlags) -> anyhow::Result<Outcome> {
    let progress = Progress::new(true);
    let paths = std::slice::from_ref(&flags.app);
    let assembled = assemble(paths, &flags.program, None, &Cancel::on_interrupt(), &progress);
    progress.finish();
    let Some(assembled) = assembled? else { return Ok(Outcome::InterruptedWithoutFindings) };
    output::print(&describe(flags, &assembled)?)?;
    Ok(Outcome::NothingFound)
}

fn describe(flags: &InspectFlags, assembled: &Assembled) -> anyhow::Result<String> {
    let mut text = String::new();
    if flags.threads || flags.heap {
        describe_heap(&mut text, flags, assembled);
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
        text.push_str(&ir::print_dot(program, body));
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
    let heap = Heap::build(program, graph, &flags.program.entry_points, &heap::Limits::default());
    if flags.threads {
        text.push_str(&heap.threads_text(program));
    }
    if flags.heap {
        text.push_str(&if flags.dot { heap.dot(program) } else { heap.text(program) });
    }
}
