//! Small programs, and the hooks that they must call.
//!
//! The calls of hooks that a program must make stand in the file `.hooks` beside it, thread by thread:
//! the hook, its operands, and the line of its site. With `BLESS=1` in the environment the files are
//! rewritten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use agent_protocol::{Hook, Op, constant_name};
use findings::Site;
use instrument::{Config, Coverage, Outcome, SiteTarget, WatchList, instrument};
use models::{AtomicSpec, Models, Pattern};

use crate::running::{CalledHooks, Program, Sites, compare, names_an_operation};

/// Runs a program of `programs/` and compares the hooks it calls with what is expected.
fn check(name: &str, config: &Config) -> CalledHooks {
    let called_hooks = compare(&Program::compile(name, &[]), name, config);
    expect(name, &called_hooks);
    called_hooks
}

fn expect(name: &str, called_hooks: &CalledHooks) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hooks/programs")
        .join(format!("{name}.hooks"));
    let mut called = String::new();
    for thread in called_hooks.threads() {
        called.push_str(&format!("{thread}:\n"));
        for hook in called_hooks.of(thread) {
            called.push_str(&format!("  {hook}\n"));
        }
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &called).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(called, expected, "{name}");
}

#[test]
fn fields_of_all_kinds() {
    let called_hooks = check("Fields", &Config { blocks: false, ..Config::default() });
    assert!(called_hooks.output.contains("because \"nothing\" is null"), "{}", called_hooks.output);
}

#[test]
fn copies_of_objects() {
    let called_hooks = check("Copies", &Config { blocks: false, ..Config::default() });
    assert!(called_hooks.output.contains("because \"nothing\" is null"), "{}", called_hooks.output);
}

#[test]
fn elements_of_arrays() {
    let called_hooks =
        check("Elements", &Config { arrays: true, blocks: false, ..Config::default() });
    assert!(
        called_hooks.output.contains("because \"outer[1]\" is null"),
        "{}",
        called_hooks.output
    );
}

#[test]
fn monitors() {
    let called_hooks = check("Monitors", &Config::default());
    assert!(called_hooks.output.contains("because \"nothing\" is null"), "{}", called_hooks.output);
}

#[test]
fn atomic_blocks() {
    let atomic = AtomicSpec { include: Vec::new(), exclude: vec![Pattern::new("Blocks.excluded")] };
    check("Blocks", &Config { atomic, ..Config::default() });
}

#[test]
fn calls_of_the_library() {
    let called_hooks = check("Calls", &Config { blocks: false, ..Config::default() });
    assert!(called_hooks.output.contains("because \"none\" is null"), "{}", called_hooks.output);
    assert!(called_hooks.output.contains("because \"nobody\" is null"), "{}", called_hooks.output);
}

#[test]
fn what_users_describe() {
    let text = "class Modelled$Gate\n  \
                  enter: acquire this exclusive\n  \
                  tryEnter: acquire this exclusive if true\n  \
                  leave: release this exclusive\n\
                class Modelled$Workers\n  hand(Runnable): submit arg0 to executor this\n  \
                awaitAll: join this\n\
                class Modelled$Settings is confined\n";
    let models = Models::with(&[models::parse("x.models", text, true).unwrap()]);
    check("Modelled", &Config { models, ..Config::default() });
}

#[test]
fn stages_and_streams() {
    check("Pipelines", &Config { blocks: false, ..Config::default() });
}

#[test]
fn tasks_and_lambdas() {
    check("Tasks", &Config::default());
}

#[test]
fn sides_that_are_not_taken() {
    let config = Config { speculation: true, arrays: true, blocks: false, ..Config::default() };
    check("Sides", &config);
}

#[test]
fn branches() {
    check("Branches", &Config { branches: true, blocks: false, ..Config::default() });
}

#[test]
fn constructors() {
    check("Construction", &Config { arrays: true, branches: true, ..Config::default() });
}

#[test]
fn new_objects() {
    check("NewObjects", &Config::default());
}

#[test]
fn collections() {
    check("Contents", &Config { collections: true, blocks: false, ..Config::default() });
}

#[test]
fn many_locals() {
    check("ManyLocals", &Config { arrays: true, ..Config::default() });
}

#[test]
fn reflection_and_serialisation() {
    let program = Program::compile("Shape", &[]);
    compare(&program, "Shape", &Config::default());
}

/// Newer compilers write fields before they call `super()`. The two statements of the constructor are
/// exchanged here, which older ones do not allow.
#[test]
fn a_field_that_is_written_before_the_call_of_super() {
    let program = Program::compile("Early", &[]);
    let mut exchanged = 0;
    program.patch(|bytes| {
        // `aload_0`, `iload_1`, `invokespecial`; `aload_0`, `iload_1`, `putfield`; `return`.
        let at = bytes.windows(11).position(|code| {
            matches!(code, [0x2a, 0x1b, 0xb7, _, _, 0x2a, 0x1b, 0xb5, _, _, 0xb1])
        });
        if let Some(at) = at {
            bytes[at..at + 10].rotate_left(5);
            exchanged += 1;
        }
    });
    assert_eq!(exchanged, 1);
    let called_hooks = compare(&program, "Early", &Config::default());
    assert_eq!(called_hooks.output, "7\n7\n");
    expect("Early", &called_hooks);
}

/// Class files that cannot name classes as constants, and have no stack maps.
#[test]
fn old_class_files() {
    for version in [48, 46, 45] {
        let program = Program::compile("Old", &["--release", "8"]);
        program.patch(|bytes| {
            let minor = if version == 45 { 3 } else { 0 };
            bytes[4..8].copy_from_slice(&[0, minor, 0, version]);
        });
        let called_hooks = compare(&program, "Old", &Config::default());
        expect("Old", &called_hooks);
    }
}

/// Both compilers of HotSpot take all methods that they took without hooks.
#[test]
fn hooks_keep_no_method_from_being_compiled() {
    let program = Program::compile("Hot", &[]);
    program.instrument(&Config { arrays: true, ..Config::default() });
    let plain = String::from_utf8(program.run_plain("Hot", &[]).stdout).unwrap();
    for compiler in ["-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation"] {
        let flags = ["-Dscission.quiet=true", "-XX:+PrintCompilation", "-Xbatch", compiler];
        let output = program.run_hooked("Hot", &flags);
        let output = String::from_utf8(output.stdout).unwrap();
        assert!(output.ends_with(&plain), "{output}");
        for refused in ["COMPILE SKIPPED", "not compilable"] {
            assert!(!output.contains(refused), "{output}");
        }
        for method in ["block", "guarded", "method", "staticMethod", "locked", "fill"] {
            let compiled = output.lines().any(|line| line.contains(&format!("Hot::{method} (")));
            assert!(compiled, "{method} is not compiled with {compiler}:\n{output}");
        }
    }
}

/// Whatever a thread may be held back for has a hook in front, and the objects stay where they are.
#[test]
fn what_threads_can_be_held_back_for() {
    let config = Config { adversarial: true, arrays: true, ..Config::default() };
    let called_hooks = check("Held", &config);
    assert!(
        called_hooks.output.contains("because \"<local1>.other\" is null")
            || called_hooks.output.contains("because \"held.other\" is null"),
        "{}",
        called_hooks.output
    );
}

/// A lock that is taken out of a program is gone for the JVM and for the hooks, and nothing else is.
#[test]
fn locks_can_be_taken_out() {
    let of_monitor = |called_hooks: &CalledHooks| {
        let is_of_monitor = |hook: &&str| {
            ["enter", "leave", "prepare", "exit"].iter().any(|it| hook.starts_with(it))
        };
        called_hooks
            .of("main")
            .into_iter()
            .filter(is_of_monitor)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let program = Program::compile("Monitors", &[]);
    let plain = compare(&program, "Monitors", &Config::default());
    let blocks = program.instrument(&Config::default());
    let block = blocks.rows.iter().find(|row| {
        matches!(row.target, SiteTarget::Lock { .. })
            && row.entry.site.method == "blocks"
            && row.entry.site.line == Some(22)
    });
    let offset = block.and_then(|row| row.entry.site.offset).unwrap();
    for (lock, lines) in [
        ("Monitors.locked(I)I".to_owned(), vec!["@6"]),
        ("Monitors.lockedStatic()J".to_owned(), vec!["@14"]),
        (format!("Monitors.blocks(I)I@{offset}"), vec!["@22", "@24"]),
    ] {
        let dropped_lock = Some(lock.parse().unwrap());
        let called_hooks =
            compare(&program, "Monitors", &Config { dropped_lock, ..Config::default() });
        let left: Vec<String> = of_monitor(&called_hooks);
        let had = of_monitor(&plain);
        let is_dropped = |hook: &String| lines.iter().any(|line| hook.ends_with(line));
        assert!(had.iter().any(is_dropped), "{lock}: {had:?}");
        assert!(!left.iter().any(is_dropped), "{lock}: {left:?}");
        assert!(left.len() + 2 <= had.len() && !left.is_empty(), "{lock}: {left:?}");
    }
    for bytes in program.classes() {
        let dropped_lock = Some("Monitors.blocks(I)I@1".parse().unwrap());
        let config = Config { dropped_lock, ..Config::default() };
        let Ok(Outcome::Rewritten(rewritten)) =
            instrument(&bytes, &config, Coverage::Everything, &mut Sites::default())
        else {
            panic!("the class has hooks");
        };
        assert!(!rewritten.has_dropped_lock, "there is no lock at that place");
    }
}

#[test]
fn every_hook_is_called() {
    let mut called = BTreeSet::new();
    let mut ops = BTreeSet::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/programs");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hooks") {
            for line in fs::read_to_string(path).unwrap().lines() {
                let mut words = line.split_whitespace();
                let Some(hook) = words.next() else { continue };
                called.insert(hook.to_owned());
                if names_an_operation(hook) {
                    ops.extend(words.next().map(str::to_owned));
                }
            }
        }
    }
    for hook in Hook::ALL {
        assert!(called.contains(hook.name()), "nothing calls {}", hook.name());
    }
    for op in Op::ALL {
        let name = constant_name(op.name());
        assert!(ops.contains(&name), "nothing does {name}");
    }
}

#[test]
fn a_watch_list_limits_accesses_only() {
    let program = Program::compile("Monitors", &[]);
    let everything = program.instrument(&Config { blocks: false, ..Config::default() });
    let is_access = |target: &SiteTarget| matches!(target, SiteTarget::Field { .. });
    let accesses: Vec<&Site> = everything
        .rows
        .iter()
        .filter(|row| is_access(&row.target))
        .map(|row| &row.entry.site)
        .collect();
    assert!(accesses.len() > 3);
    let list: WatchList = accesses.iter().copied().skip(1).take(1).collect();
    let config = Config { watch: Some(list), blocks: false, ..Config::default() };
    let some = program.instrument(&config);
    let kept: Vec<&Site> =
        some.rows.iter().filter(|row| is_access(&row.target)).map(|row| &row.entry.site).collect();
    assert_eq!(kept, accesses[1..2]);
    assert_eq!(some.rows.len() + accesses.len() - 1, everything.rows.len());
}

#[test]
fn nothing_watched_is_nothing_changed() {
    let program = Program::compile("Monitors", &[]);
    let config = Config { unobserved: vec![Pattern::new("**")], ..Config::default() };
    for bytes in program.classes() {
        let mut sites = Sites::default();
        assert_eq!(
            instrument(&bytes, &config, Coverage::Everything, &mut sites),
            Ok(Outcome::Unchanged)
        );
        assert!(sites.rows.is_empty());
    }
}

#[test]
fn a_full_table_leaves_hooks_out() {
    struct Full;
    impl instrument::SiteTable for Full {
        fn add(&mut self, _: instrument::NewSite) -> Option<events::SiteId> {
            None
        }
    }
    for bytes in Program::compile("Calls", &[]).classes() {
        match instrument(&bytes, &Config::default(), Coverage::Everything, &mut Full).unwrap() {
            Outcome::Rewritten(rewritten) => {
                // What names no place needs no number.
                assert!(rewritten.hooks <= 1);
                assert_eq!(rewritten.left_alone, []);
            }
            Outcome::Unchanged => {}
        }
    }
}

#[test]
fn the_same_class_gives_the_same_bytes() {
    for bytes in Program::compile("Calls", &[]).classes() {
        let once =
            instrument(&bytes, &Config::default(), Coverage::Everything, &mut Sites::default());
        assert_eq!(
            once,
            instrument(&bytes, &Config::default(), Coverage::Everything, &mut Sites::default())
        );
    }
}

/// Whatever the bytes, instrumentation ends with a result.
#[test]
fn damaged_classes_are_refused_or_left_alone() {
    let config = Config { arrays: true, branches: true, collections: true, ..Config::default() };
    for name in ["Calls", "Construction", "Monitors"] {
        for bytes in Program::compile(name, &[]).classes() {
            for at in 0..bytes.len() {
                for damage in [0, 1, 0x7f, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] = damage;
                    let _ =
                        instrument(&damaged, &config, Coverage::Everything, &mut Sites::default());
                }
            }
        }
    }
}
