//! What summaries say of library methods, against what the methods do: random methods are run in a JVM with objects
//! of their own, and whatever can be reached from whatever afterwards must be in the summary. And against the models,
//! which were written by hand from the documentation.

mod java_program;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use classes::{LoadConfig, load};
use java_program::{JavaProgram, this_jdk};
use program::models::{Effect, Operand, Pattern, Phrase};
use program::{BuildConfig, Program};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

/// Reads a program of which one part is a library.
fn read(application: &JavaProgram, library: Option<&JavaProgram>) -> Program {
    let jdk = this_jdk();
    let image = jdk.open().unwrap();
    let config = LoadConfig {
        libraries: library.map(JavaProgram::classes).into_iter().collect(),
        jdk: Some(jdk),
        ..LoadConfig::default()
    };
    let loaded = load(&[application.classes()], &config, &()).unwrap();
    let mut program = program::build(loaded, Some(&image), &BuildConfig::default());
    program.summarise_library(Some(&image), &|| false);
    program.lower_bodies(&|| false);
    program
}

/// The locals of a random method: the parameters first, the receiver among them.
const LOCALS: usize = 6;
const METHODS: usize = 60;

/// One statement of a random method.
#[derive(Clone, Debug)]
enum Statement {
    Copy(usize, usize),
    New(usize),
    Load(usize, usize, usize),
    Store(usize, usize, usize),
    Find(usize, usize),
    Share(usize, usize),
    Call(usize, usize, [usize; 3]),
}

fn statement() -> impl Strategy<Value = (bool, Statement)> {
    let local = || 0..LOCALS;
    let slot = || 0..FIELDS.len();
    let what = prop_oneof![
        3 => (local(), local()).prop_map(|(to, from)| Statement::Copy(to, from)),
        1 => local().prop_map(Statement::New),
        4 => (local(), local(), slot()).prop_map(|(to, of, at)| Statement::Load(to, of, at)),
        4 => (local(), slot(), local()).prop_map(|(of, at, from)| Statement::Store(of, at, from)),
        1 => (local(), 0..2usize).prop_map(|(to, at)| Statement::Find(to, at)),
        1 => (0..2usize, local()).prop_map(|(at, from)| Statement::Share(at, from)),
        3 => (local(), 0..METHODS, [local(), local(), local()])
            .prop_map(|(to, method, given)| Statement::Call(to, method, given)),
    ];
    (any::<bool>(), what)
}

/// The variables of an object, as expressions of Java.
const FIELDS: [&str; 4] = ["left", "right", "items[0]", "list.get(0)"];

/// A random method: whether it is static, its statements, and the local that it returns.
type Method = (bool, Vec<(bool, Statement)>, usize);

fn library() -> impl Strategy<Value = Vec<Method>> {
    let method = (any::<bool>(), prop::collection::vec(statement(), 1..7), 0..LOCALS);
    prop::collection::vec(method, METHODS)
}

/// The methods as Java. Calls go to methods before, so that every run ends.
fn library_source(methods: &[Method]) -> String {
    let mut text = String::from(
        "package lib;\n\
         public class Thing {\n\
           public Thing left, right; public Thing[] items = new Thing[1];\n\
           public java.util.ArrayList<Thing> list = new java.util.ArrayList<>();\n\
           public static Thing first, second;\n\
           public Thing() { list.add(null); }\n",
    );
    for (number, (is_static, statements, result)) in methods.iter().enumerate() {
        let (modifier, this) = if *is_static { ("static ", "p") } else { ("", "this") };
        let receiver = if *is_static { "Thing p, " } else { "" };
        let _ = writeln!(
            text,
            "public {modifier}Thing m{number}({receiver}Thing q, Thing r, int way) {{\n\
               Thing v0 = {this}, v1 = q, v2 = r, v3 = null, v4 = null, v5 = null;"
        );
        for (at, (is_guarded, statement)) in statements.iter().enumerate() {
            if *is_guarded {
                let _ = write!(text, "if ((way & {}) != 0) ", 1 << (at % 4));
            }
            let _ = match statement {
                Statement::Copy(to, from) => writeln!(text, "v{to} = v{from};"),
                Statement::New(to) => writeln!(text, "v{to} = new Thing();"),
                Statement::Load(to, of, at) => {
                    writeln!(text, "if (v{of} != null) v{to} = v{of}.{};", FIELDS[*at])
                }
                Statement::Store(of, at, from) => match FIELDS[*at] {
                    "list.get(0)" => {
                        writeln!(text, "if (v{of} != null) v{of}.list.set(0, v{from});")
                    }
                    field => writeln!(text, "if (v{of} != null) v{of}.{field} = v{from};"),
                },
                Statement::Find(to, at) => {
                    writeln!(text, "v{to} = {};", ["first", "second"][*at])
                }
                Statement::Share(at, from) => {
                    writeln!(text, "{} = v{from};", ["first", "second"][*at])
                }
                Statement::Call(to, method, [one, two, three]) => {
                    match method.checked_rem(number).map(|callee| (callee, methods[callee].0)) {
                        None => writeln!(text, ";"),
                        Some((callee, true)) => {
                            writeln!(text, "v{to} = m{callee}(v{one}, v{two}, v{three}, way);")
                        }
                        Some((callee, false)) => writeln!(
                            text,
                            "if (v{one} != null) v{to} = v{one}.m{callee}(v{two}, v{three}, way);"
                        ),
                    }
                }
            };
        }
        let _ = writeln!(text, "return v{result};\n}}");
    }
    text.push_str("}\n");
    text
}

/// Runs every method in all ways, and prints which of its arguments and result can be reached from which others, in one
/// or two steps, and from static fields.
fn application_source(methods: &[Method]) -> String {
    let mut text = String::from(
        "import lib.Thing;\n\
         public class Main {\n\
           static boolean reaches(Thing from, Thing to, int steps) {\n\
             if (from == null || to == null) return false;\n\
             for (Thing next : new Thing[] { from.left, from.right, from.items[0], from.list.get(0) })\n\
               if (next != null && (next == to || steps > 1 && reaches(next, to, steps - 1))) return true;\n\
             return false;\n\
           }\n\
           static void tell(int method, Thing[] of, Thing result) {\n\
             for (int i = 0; i < 3; i++) {\n\
               for (int j = 0; j < 3; j++)\n\
                 if (i != j && reaches(of[i], of[j], 2)) System.out.println(method + \" keeps \" + i + \" \" + j);\n\
               if (result == of[i]) System.out.println(method + \" is \" + i);\n\
               if (reaches(of[i], result, 2)) System.out.println(method + \" gives \" + i);\n\
               if (reaches(result, of[i], 2)) System.out.println(method + \" holds \" + i);\n\
               for (Thing shared : new Thing[] { Thing.first, Thing.second })\n\
                 if (shared == of[i] || reaches(shared, of[i], 2)) System.out.println(method + \" shares \" + i);\n\
             }\n\
             for (Thing shared : new Thing[] { Thing.first, Thing.second })\n\
               if (result != null && (shared == result || reaches(shared, result, 2)))\n\
                 System.out.println(method + \" found\");\n\
           }\n\
           public static void main(String[] arguments) {\n\
             for (int way = 0; way < 16; way++) {\n",
    );
    for (number, (is_static, ..)) in methods.iter().enumerate() {
        let call = match is_static {
            true => format!("Thing.m{number}(of[0], of[1], of[2], way)"),
            false => format!("of[0].m{number}(of[1], of[2], way)"),
        };
        let _ = writeln!(
            text,
            "{{ Thing[] of = {{ new Thing(), new Thing(), new Thing() }};\n\
               Thing.first = new Thing(); Thing.second = new Thing(); Thing.second.left = new Thing();\n\
               for (Thing one : of) {{ one.left = new Thing(); one.items[0] = new Thing(); one.list.set(0, new Thing()); }}\n\
               tell({number}, of, {call}); }}"
        );
    }
    text.push_str("} } }\n");
    text
}

/// What a summary must say, given what was seen.
fn is_summarised(effects: &BTreeSet<String>, seen: &str, is_static: bool) -> bool {
    let mut words = seen.split(' ').skip(1);
    let what = words.next().unwrap();
    let operands: Vec<Operand> = words
        .map(|number| match (number.parse::<u8>().unwrap(), is_static) {
            (0, false) => Operand::Receiver,
            (number, is_static) => Operand::Argument(number - u8::from(!is_static)),
        })
        .collect();
    let has = |effect: Effect| effects.contains(&effect.text());
    let is_shared = |operand: Operand| has(Effect::Escapes { operand });
    match (what, operands.as_slice()) {
        ("keeps", [into, value]) => {
            has(Effect::Store { value: *value, into: *into })
                || is_shared(*value) && is_shared(*into)
        }
        ("is", [of]) => has(Effect::View { of: *of }),
        ("gives", [from]) => {
            has(Effect::Load { from: *from })
                || has(Effect::View { of: *from })
                || is_shared(*from) && is_shared(Operand::Result)
        }
        ("holds", [value]) => {
            has(Effect::Store { value: *value, into: Operand::Result })
                || has(Effect::View { of: *value })
                || has(Effect::Load { from: *value })
                || is_shared(*value) && is_shared(Operand::Result)
        }
        ("shares", [operand]) => is_shared(*operand),
        ("found", []) => is_shared(Operand::Result),
        _ => panic!("the program printed `{seen}`"),
    }
}

/// The effects in the summary of each method, by name.
fn summarised(program: &Program, pattern: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut summarised: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in program.library_text(&Pattern::new(pattern)).lines() {
        match line.strip_prefix("  ") {
            Some(effect) => {
                summarised.entry(name.clone()).or_default().insert(effect.to_owned());
            }
            None => {
                assert!(line.ends_with(": by its code"), "not summarised: {line}");
                name = line.split_once('(').unwrap().0.rsplit('.').next().unwrap().to_owned();
                summarised.entry(name.clone()).or_default();
            }
        }
    }
    summarised
}

#[test]
fn every_effect_of_a_method_on_references_is_summarised() {
    let rounds = std::env::var("LIBRARY_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(4);
    let mut runner = TestRunner::new_with_rng(
        Config { cases: rounds, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let (mut seen, mut claims) = (0, 0);
    for _ in 0..rounds {
        let methods = library().new_tree(&mut runner).unwrap().current();
        let library = JavaProgram::compile(&[("lib/Thing.java", &library_source(&methods))]);
        let both = JavaProgram::compile(&[
            ("lib/Thing.java", &library_source(&methods)),
            ("Main.java", &application_source(&methods)),
        ]);
        let output = both.run("Main");
        std::fs::remove_dir_all(both.classes().join("lib")).unwrap();
        let program = read(&both, Some(&library));
        let summarised = summarised(&program, "lib.Thing.m*");
        claims += summarised.values().map(BTreeSet::len).sum::<usize>();
        let observed: BTreeSet<&str> = output.lines().collect();
        seen += observed.len();
        for fact in observed {
            let number: usize = fact.split(' ').next().unwrap().parse().unwrap();
            let effects = &summarised[&format!("m{number}")];
            assert!(
                is_summarised(effects, fact, methods[number].0),
                "`{fact}` was seen, and this was told: {effects:?}\n{}",
                library_source(&methods)
            );
        }
    }
    // Unification claims more than one run shows; but a summary that claims everything would be of no use.
    println!("{seen} relations seen, {claims} claimed");
    assert!(seen > 20 * rounds as usize, "the methods do next to nothing");
}
