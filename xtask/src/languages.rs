//! Kotlin, Scala, Groovy and Clojure: the libraries that their test programs need, and the compilers that made the class
//! files in `fixtures/languages`. Both come from Maven's central repository, in fixed versions; `mvn` compares the checksums.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{debian, jdk, on_path, progress, root, run, target_directory};

/// A language, or a version of one whose class files look different.
struct Language {
    /// The folder of its programs.
    name: &'static str,
    /// What its programs need, as `group:artifact:version`.
    libraries: &'static [&'static str],
    /// What its compiler needs, likewise.
    compiler: &'static [&'static str],
    /// How the names of its sources end.
    extension: &'static str,
    command: CompilerCommand,
}

/// How a compiler is called.
enum CompilerCommand {
    /// This class with these arguments, the class path after a flag, the folder for classes after `-d`, and all sources.
    Sources {
        main_class: &'static str,
        arguments: &'static [&'static str],
        class_path: &'static str,
    },
    /// This class with the names of the sources; it reads them, and its folder for classes, from the class path.
    Names { main_class: &'static str, folder_property: &'static str },
}

const SCALA_LIBRARY: &str = "org.scala-lang:scala-library:2.13.16";

const LANGUAGES: [Language; 5] = [
    Language {
        name: "kotlin",
        libraries: &[
            "org.jetbrains.kotlin:kotlin-stdlib:2.1.20",
            "org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.10.2",
        ],
        compiler: &["org.jetbrains.kotlin:kotlin-compiler-embeddable:2.1.20"],
        extension: "kt",
        command: CompilerCommand::Sources {
            main_class: "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
            arguments: &["-no-stdlib", "-no-reflect", "-jvm-target", "11"],
            class_path: "-cp",
        },
    },
    Language {
        name: "scala2",
        libraries: &[SCALA_LIBRARY],
        compiler: &["org.scala-lang:scala-compiler:2.13.16"],
        extension: "scala",
        command: CompilerCommand::Sources {
            main_class: "scala.tools.nsc.Main",
            arguments: &["-release", "11"],
            class_path: "-cp",
        },
    },
    Language {
        name: "scala3",
        libraries: &[SCALA_LIBRARY, "org.scala-lang:scala3-library_3:3.3.6"],
        compiler: &["org.scala-lang:scala3-compiler_3:3.3.6"],
        extension: "scala",
        command: CompilerCommand::Sources {
            main_class: "dotty.tools.dotc.Main",
            arguments: &["-release", "11"],
            class_path: "-classpath",
        },
    },
    Language {
        name: "groovy",
        libraries: &["org.apache.groovy:groovy:4.0.26"],
        compiler: &["org.apache.groovy:groovy:4.0.26"],
        extension: "groovy",
        command: CompilerCommand::Sources {
            main_class: "org.codehaus.groovy.tools.FileSystemCompiler",
            arguments: &[],
            class_path: "--classpath",
        },
    },
    Language {
        name: "clojure",
        libraries: &["org.clojure:clojure:1.12.0"],
        compiler: &["org.clojure:clojure:1.12.0"],
        extension: "clj",
        command: CompilerCommand::Names {
            main_class: "clojure.lang.Compile",
            folder_property: "clojure.compile.path",
        },
    },
];

/// When the class files say that they were made: always the same, so that their jars are the same, too.
const JAR_DATE: &str = "2024-01-01T00:00:00Z";

/// Gets the libraries that are missing, and writes the class path of each language into a folder.
pub(crate) fn ensure_libraries(folder: &Path) -> Result<()> {
    for language in &LANGUAGES {
        let jars = fetch(language.name, language.libraries)?;
        fs::write(folder.join(format!("{}.classpath", language.name)), class_path(&jars)?)?;
    }
    Ok(())
}

/// Compiles all programs once more.
pub(crate) fn compile() -> Result<()> {
    let home = jdk::ensure()?;
    for language in &LANGUAGES {
        progress(&format!("compile the programs in {}", language.name));
        let libraries = fetch(language.name, language.libraries)?;
        let mut compiler = fetch(&format!("{}-compiler", language.name), language.compiler)?;
        let folder = root().join("fixtures/languages").join(language.name);
        let sources = sources(&folder, language.extension)?;
        let classes = storage()?.join(format!("{}-classes", language.name));
        if classes.exists() {
            fs::remove_dir_all(&classes)?;
        }
        fs::create_dir_all(&classes)?;
        let mut command = Command::new(home.join("bin/java"));
        match language.command {
            CompilerCommand::Sources { main_class, arguments, class_path: flag } => {
                command.arg("-cp").arg(class_path(&compiler)?).arg(main_class).args(arguments);
                command.arg(flag).arg(class_path(&libraries)?).arg("-d").arg(&classes);
                command.args(&sources);
            }
            CompilerCommand::Names { main_class, folder_property } => {
                compiler.extend([folder, classes.clone()]);
                command.arg("-cp").arg(class_path(&compiler)?);
                command.arg(format!("-D{folder_property}={}", classes.display())).arg(main_class);
                command.args(sources.iter().filter_map(|source| source.file_stem()));
            }
        }
        run(&mut command)?;
        pack(&home, &classes, &root().join("fixtures/languages").join(language.name))?;
    }
    Ok(())
}

/// Puts the class files, and nothing else that a compiler wrote, into one jar.
fn pack(home: &Path, classes: &Path, folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    class_files(classes, classes, &mut files)?;
    files.sort();
    let list = classes.join("files");
    let quoted: Vec<String> =
        files.iter().map(|file| format!("\"{}\"\n", file.display())).collect();
    fs::write(&list, quoted.concat())?;
    let mut jar = Command::new(home.join("bin/jar"));
    jar.current_dir(classes).args(["--create", "--no-manifest", "--date", JAR_DATE, "--file"]);
    jar.arg(folder.join("classes.jar")).arg("@files");
    run(&mut jar)
}

/// The class files below a folder, by their paths from the top.
fn class_files(folder: &Path, top: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            class_files(&path, top, found)?;
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.push(path.strip_prefix(top)?.to_path_buf());
        }
    }
    Ok(())
}

fn sources(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut sources: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    sources.retain(|file| file.extension().is_some_and(|it| it == extension));
    sources.sort();
    Ok(sources)
}

fn storage() -> Result<PathBuf> {
    Ok(target_directory()?.join("test-programs/languages"))
}

/// The jars of some artifacts and of all that they need, fetched where they are not there yet.
pub(crate) fn fetch(name: &str, artifacts: &[&str]) -> Result<Vec<PathBuf>> {
    let folder = storage()?.join(name);
    let project = project(name, artifacts)?;
    let is_there = fs::read_to_string(folder.join("pom.xml")).is_ok_and(|old| old == project);
    if !is_there {
        progress(&format!("fetch {}", artifacts.join(", ")));
        if on_path("mvn").is_none() {
            debian::install(&["maven"]).context("there is no `mvn`: install maven")?;
        }
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        // The description of the project is in place only when everything that it names is.
        let description = folder.join("new-pom.xml");
        fs::write(&description, &project)?;
        let mut maven = Command::new("mvn");
        maven.args(["--quiet", "--batch-mode", "--file"]).arg(&description);
        run(maven.args(["dependency:copy-dependencies", "-DoutputDirectory=jars"]))?;
        fs::rename(&description, folder.join("pom.xml"))?;
    }
    let mut jars = sources(&folder.join("jars"), "jar")?;
    jars.sort();
    Ok(jars)
}

/// A project that depends on some artifacts, and does nothing else.
fn project(name: &str, artifacts: &[&str]) -> Result<String> {
    let mut dependencies = String::new();
    for artifact in artifacts {
        let [group, artifact, version] = artifact.split(':').collect::<Vec<_>>()[..] else {
            bail!("`{artifact}` is no artifact");
        };
        dependencies.push_str(&format!(
            "    <dependency>\n      <groupId>{group}</groupId>\n      <artifactId>{artifact}</artifactId>\n      \
             <version>{version}</version>\n    </dependency>\n"
        ));
    }
    Ok(format!(
        "<project>\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>scission.test</groupId>\n  \
         <artifactId>{name}</artifactId>\n  <version>1</version>\n  <dependencies>\n{dependencies}  \
         </dependencies>\n</project>\n"
    ))
}

pub(crate) fn class_path(entries: &[PathBuf]) -> Result<String> {
    std::env::join_paths(entries)?.into_string().ok().context("a path is no Unicode")
}
