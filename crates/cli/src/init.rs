//! `scission init`: a configuration that fits the project, and a baseline of what is found in it now.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::flags::InitFlags;
use crate::terminal_text::say;
use crate::{Outcome, output};

const CONFIGURATION: &str = "scission.toml";
const BASELINE: &str = "scission-baseline.json";
/// How deep modules are looked for below the project.
const DEEPEST_MODULE: usize = 3;

/// What builds a project, and so where it puts classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Build {
    Maven,
    Gradle,
    Plain,
}

impl Build {
    fn of(folder: &Path) -> Option<Build> {
        let has = |name: &str| folder.join(name).is_file();
        if has("pom.xml") {
            Some(Build::Maven)
        } else if ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]
            .iter()
            .any(|name| has(name))
        {
            Some(Build::Gradle)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Build::Maven => "Maven",
            Build::Gradle => "Gradle",
            Build::Plain => "no build tool that is known here",
        }
    }

    /// Where compiled classes are, below a module.
    fn classes(self) -> &'static [&'static str] {
        match self {
            Build::Maven => &["target/classes"],
            Build::Gradle => &[
                "build/classes/java/main",
                "build/classes/kotlin/main",
                "build/classes/scala/main",
                "build/classes/groovy/main",
            ],
            Build::Plain => &["classes", "out/production", "out", "bin", "build"],
        }
    }
}

/// Where sources are, below a module.
const SOURCES: [&str; 4] =
    ["src/main/java", "src/main/kotlin", "src/main/scala", "src/main/groovy"];

/// What was found out about a project; paths are relative to it.
#[derive(Debug, PartialEq, Eq)]
struct Project {
    build: Build,
    paths: Vec<String>,
    source: Vec<String>,
    /// Whether any of the paths is there.
    is_compiled: bool,
}

pub(crate) fn run(flags: &InitFlags) -> anyhow::Result<Outcome> {
    let folder = flags.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let file = folder.join(CONFIGURATION);
    if file.exists() && !flags.force {
        bail!("`{}` is there already; `--force` writes it anew", file.display());
    }
    let project = Project::look_at(&folder)
        .with_context(|| format!("cannot read the directory `{}`", folder.display()))?;
    let has_baseline = project.is_compiled || folder.join(BASELINE).is_file();
    output::write_file(&file, |writer| writer.write_all(project.text(has_baseline).as_bytes()))?;
    say(format_args!(
        "note: wrote `{}` for a project with {}",
        file.display(),
        project.build.name()
    ));
    if !project.is_compiled {
        say(format_args!(
            "note: nothing is compiled yet; afterwards, `scission check --write-baseline {BASELINE}` writes down what is \
             found now"
        ));
        return Ok(Outcome::NothingFound);
    }
    // The command line is the interface of `check` that never changes.
    let status = Command::new(std::env::current_exe().context("this command cannot be found")?)
        .args([
            "check",
            "--quiet",
            "--no-baseline",
            "--write-baseline",
            BASELINE,
            "--output",
            "/dev/null",
        ])
        .current_dir(&folder)
        .status()
        .context("`scission check` could not be started")?;
    if !status.success() {
        bail!("`scission check` found no baseline for `{}`: {status}", file.display());
    }
    let known = fs::read_to_string(folder.join(BASELINE)).unwrap_or_default();
    let known = known.matches("\"fingerprint\"").count();
    say(format_args!(
        "note: wrote `{BASELINE}` with what is found now ({known}); `scission check` shows what is new"
    ));
    Ok(Outcome::NothingFound)
}

impl Project {
    fn look_at(folder: &Path) -> std::io::Result<Project> {
        let build = Build::of(folder).unwrap_or(Build::Plain);
        let mut modules = Vec::new();
        find_modules(folder, "", build, DEEPEST_MODULE, &mut modules)?;
        let (mut paths, mut source) = (Vec::new(), Vec::new());
        for module in &modules {
            let below = |place: &str| {
                if module.is_empty() { place.to_string() } else { format!("{module}/{place}") }
            };
            let sources: Vec<String> =
                SOURCES.iter().map(|it| below(it)).filter(|it| folder.join(it).is_dir()).collect();
            let there: Vec<String> = build
                .classes()
                .iter()
                .map(|it| below(it))
                .filter(|it| folder.join(it).is_dir())
                .collect();
            match (build, there.is_empty()) {
                (Build::Plain, _) => paths.extend(there.into_iter().take(1)),
                (Build::Maven | Build::Gradle, false) => paths.extend(there),
                // What will be compiled will be there.
                (Build::Maven | Build::Gradle, true) if !sources.is_empty() => {
                    paths.push(below(build.classes()[0]));
                }
                (Build::Maven | Build::Gradle, true) => {}
            }
            source.extend(sources);
        }
        if build == Build::Plain && source.is_empty() && folder.join("src").is_dir() {
            source.push("src".to_string());
        }
        let is_compiled = paths.iter().any(|path| folder.join(path).is_dir());
        Ok(Project { build, paths, source, is_compiled })
    }

    fn text(&self, has_baseline: bool) -> String {
        let list = |values: &[String]| {
            let quote = |value: &String| value.replace('\\', "\\\\").replace('"', "\\\"");
            let quoted: Vec<String> =
                values.iter().map(|value| format!("\"{}\"", quote(value))).collect();
            format!("[{}]", quoted.join(", "))
        };
        let commented = |is_set: bool| if is_set { "" } else { "# " };
        format!(
            "# What `scission check` and `scission run` do in this project. `scission explain --configuration` lists all keys.\n\
             \n\
             # The compiled classes to check, without tests and libraries.\n\
             {}paths = {}\n\
             # Where excerpts in reports come from.\n\
             {}source = {}\n\
             # What was found when this began; only what is new is reported.\n\
             # `scission check --write-baseline {BASELINE}` writes it anew.\n\
             {}baseline = \"{BASELINE}\"\n",
            commented(!self.paths.is_empty()),
            list(&self.paths),
            commented(!self.source.is_empty()),
            list(&self.source),
            commented(has_baseline),
        )
    }
}

/// The project itself and the folders below it that are built in the same manner, in the order of their names. Each is
/// named by its path from the project.
fn find_modules(
    folder: &Path,
    name: &str,
    build: Build,
    depth: usize,
    modules: &mut Vec<String>,
) -> std::io::Result<()> {
    modules.push(name.to_string());
    if depth == 0 || build == Build::Plain {
        return Ok(());
    }
    let mut folders: Vec<String> = fs::read_dir(folder.join(name))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|it| {
            !it.contains(char::is_control)
                && !it.starts_with('.')
                && !["target", "build", "src", "node_modules"].contains(&it.as_str())
        })
        .collect();
    folders.sort();
    for below in folders {
        let below = if name.is_empty() { below } else { format!("{name}/{below}") };
        if Build::of(&folder.join(&below)) == Some(build) {
            find_modules(folder, &below, build, depth - 1, modules)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[&str]) -> Project {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        Project::look_at(folder.path()).unwrap()
    }

    #[test]
    fn modules_of_maven_are_found() {
        let found = project(&[
            "pom.xml",
            "core/pom.xml",
            "core/src/main/java/p/A.java",
            "web/pom.xml",
            "web/src/main/kotlin/p/B.kt",
            "web/target/classes/p/B.class",
            "docs/readme.md",
        ]);
        assert_eq!(found.build, Build::Maven);
        assert_eq!(found.paths, ["core/target/classes", "web/target/classes"]);
        assert_eq!(found.source, ["core/src/main/java", "web/src/main/kotlin"]);
        assert!(found.is_compiled);
        assert!(
            found
                .text(true)
                .contains("\npaths = [\"core/target/classes\", \"web/target/classes\"]\n")
        );
    }

    #[test]
    fn gradle_has_classes_by_language() {
        let found = project(&[
            "settings.gradle.kts",
            "app/build.gradle.kts",
            "app/src/main/java/A.java",
            "app/build/classes/java/main/A.class",
            "app/build/classes/kotlin/main/B.class",
        ]);
        assert_eq!(found.build, Build::Gradle);
        assert_eq!(found.paths, ["app/build/classes/java/main", "app/build/classes/kotlin/main"]);
    }

    #[test]
    fn anything_else_is_looked_at() {
        let found = project(&["src/p/A.java", "out/p/A.class"]);
        assert_eq!((found.build, &found.paths[..]), (Build::Plain, &["out".to_string()][..]));
        assert_eq!(found.source, ["src"]);
        let nothing = project(&["README.md"]);
        assert!(nothing.paths.is_empty() && !nothing.is_compiled);
        assert!(nothing.text(false).contains("\n# paths = []\n# "));
    }
}
