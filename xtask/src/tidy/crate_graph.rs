//! Who may import whom. Data moves one way, and the static side and the run-time side do not know each other.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Problem;
use super::tree::Tree;

/// Crates that must not reach each other, through others neither.
struct Apart {
    from: &'static str,
    to: &'static [&'static str],
    why: &'static str,
}

const APART: &[Apart] = &[
    Apart {
        from: "model_format",
        to: &["classes", "models", "program", "analyses", "events", "instrument", "report"],
        why: "the format of models is needed to build them",
    },
    Apart {
        from: "classes",
        to: &[
            "program",
            "models",
            "analyses",
            "events",
            "instrument",
            "checkers",
            "agent_protocol",
            "report",
        ],
        why: "reading bytes comes first, and needs nothing that comes later",
    },
    Apart {
        from: "models",
        to: &[
            "program",
            "analyses",
            "events",
            "instrument",
            "checkers",
            "agent_protocol",
            "report",
        ],
        why: "the models are read by both sides",
    },
    Apart {
        from: "program",
        to: &["analyses", "events", "instrument", "checkers", "agent_protocol", "report"],
        why: "the program model knows no rule and no run",
    },
    Apart {
        from: "analyses",
        to: &["events", "instrument", "checkers", "agent", "agent_protocol", "report"],
        why: "the static side and the run-time side do not import each other",
    },
    Apart {
        from: "events",
        to: &[
            "classes",
            "models",
            "program",
            "analyses",
            "instrument",
            "checkers",
            "agent",
            "report",
        ],
        why: "a trace can be read without class files",
    },
    Apart {
        from: "checkers",
        to: &["classes", "models", "program", "analyses", "instrument", "agent", "report"],
        why: "a checker sees events, and cannot tell an agent from a trace",
    },
    Apart {
        from: "instrument",
        to: &["program", "analyses", "checkers", "agent", "report"],
        why: "class bytes in, class bytes out",
    },
    Apart {
        from: "agent",
        to: &["program", "analyses", "report"],
        why: "a JVM does not load the static side",
    },
    Apart {
        from: "report",
        to: &["classes", "models", "program", "analyses", "instrument", "checkers", "agent"],
        why: "words are chosen from findings alone",
    },
];

/// Crates that depend on no other of ours.
const ALONE: &[&str] = &["findings", "output_file"];

/// External crates that only some packages may use, in tests neither.
const RESERVED: &[(&str, &[&str])] = &[("anyhow", &["crates/cli/Cargo.toml", "xtask/Cargo.toml"])];

pub(crate) fn check(tree: &Tree) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let names: BTreeSet<&str> = tree.crate_names().into_iter().collect();
    let mut graph: BTreeMap<&str, Vec<Dependency<'_>>> = BTreeMap::new();
    for file in tree.files().iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let dependencies = dependencies(&file.text);
        for (reserved, users) in RESERVED {
            let is_workspace = file.path == "Cargo.toml";
            for found in dependencies.iter().filter(|found| found.name == *reserved) {
                if !is_workspace && !users.contains(&file.path.as_str()) {
                    let sentence =
                        format!("`{reserved}` is for {}: use an error type", users.join(" and "));
                    problems.push(Problem::at(&file.path, found.line, sentence));
                }
            }
        }
        if let Some(name) = file.crate_name() {
            // Tests may compare one side with the other.
            let ours =
                dependencies.into_iter().filter(|it| names.contains(it.name) && !it.is_of_tests);
            graph.insert(name, ours.collect());
        }
    }
    for name in ALONE.iter().filter(|name| names.contains(*name)) {
        for found in &graph[name] {
            let sentence =
                format!("`{name}` depends on no other crate of ours: remove `{}`", found.name);
            problems.push(Problem::at(&manifest(name), found.line, sentence));
        }
    }
    for apart in APART.iter().filter(|apart| names.contains(apart.from)) {
        for direct in &graph[apart.from] {
            let reached = reachable(&graph, direct.name);
            if let Some(to) = apart.to.iter().find(|to| reached.contains(*to)) {
                let (from, why) = (apart.from, apart.why);
                let through = if direct.name == *to {
                    String::new()
                } else {
                    format!(" through `{}`", direct.name)
                };
                let sentence = format!("`{from}` must not reach `{to}`{through}: {why}");
                problems.push(Problem::at(&manifest(from), direct.line, sentence));
            }
        }
    }
    for name in APART.iter().map(|apart| apart.from).chain(ALONE.iter().copied()) {
        if !names.contains(name) {
            let sentence = format!("there is no crate `{name}`: correct the list");
            problems.push(Problem::of("xtask/src/tidy/crate_graph.rs", sentence));
        }
    }
    Ok(problems)
}

fn manifest(name: &str) -> String {
    format!("crates/{name}/Cargo.toml")
}

fn reachable<'a>(
    graph: &BTreeMap<&'a str, Vec<Dependency<'a>>>,
    from: &'a str,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for next in graph.get(name).into_iter().flatten() {
            if reached.insert(next.name) {
                open.push(next.name);
            }
        }
    }
    reached
}

/// An entry of a manifest.
struct Dependency<'a> {
    name: &'a str,
    line: usize,
    is_of_tests: bool,
}

fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if section.ends_with("dependencies") && !line.starts_with('#') {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if !name.is_empty() {
                let is_of_tests = section.ends_with("dev-dependencies");
                found.push(Dependency { name, line: index + 1, is_of_tests });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree in which all crates are there and nobody depends on anybody, but for some.
    fn problems(changed: &[(&str, &str)]) -> Vec<String> {
        let named =
            APART.iter().flat_map(|apart| apart.to.iter().chain([&apart.from])).chain(ALONE);
        let names: BTreeSet<&str> = named.copied().collect();
        let mut files: Vec<(String, String)> =
            names.iter().map(|name| (manifest(name), "[package]\n".to_string())).collect();
        for (name, text) in changed {
            files.retain(|(path, _)| *path != manifest(name));
            files.push((manifest(name), (*text).to_string()));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        check(&Tree::of(&files)).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn crates_that_must_be_apart_are_found_through_others() {
        assert!(problems(&[]).is_empty());
        let found = problems(&[
            ("agent", "[dependencies]\ninstrument.workspace = true\n"),
            ("instrument", "[dependencies]\nprogram = { path = \"x\" }\n"),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with(
            "crates/instrument/Cargo.toml:2: `instrument` must not reach `program`: "
        ));
        assert!(found[1].contains("`agent` must not reach `program` through `instrument`"));
        let found = problems(&[(
            "findings",
            "[dependencies]\nserde.workspace = true\nclasses.workspace = true\n",
        )]);
        assert_eq!(found.len(), 1, "{found:?}");
        let found = problems(&[(
            "analyses",
            "[dev-dependencies]\nevents.workspace = true\nanyhow.workspace = true\n",
        )]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/analyses/Cargo.toml:3: `anyhow` is for"));
    }
}
