//! What a `java` command runs: the class path, as the launcher will find it.
//!
//! The order in which the launcher looks: options of `JDK_JAVA_OPTIONS`, then those of the command, each with its argument
//! files; `-jar` replaces every class path; without any, `CLASSPATH`, else the current directory.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// Options of the launcher whose value is the next word. All others have theirs in the same word, or none.
const WITH_NEXT_WORD: &[&str] = &[
    "--add-exports",
    "--add-modules",
    "--add-opens",
    "--add-reads",
    "--describe-module",
    "--enable-native-access",
    "--limit-modules",
    "--patch-module",
    "--source",
    "--upgrade-module-path",
    "-d",
];

const CLASS_PATH: &[&str] = &["-cp", "-classpath", "--class-path"];
const MODULE_PATH: &[&str] = &["-p", "--module-path"];
const MODULE: &[&str] = &["-m", "--module"];

/// Argument files cannot name others, and a command line has an end; whoever needs more is not understood.
const MOST_WORDS: usize = 100_000;

/// The variables of the environment that the launcher reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct LauncherEnvironment {
    /// `JDK_JAVA_OPTIONS`.
    pub(crate) options: Option<OsString>,
    /// `CLASSPATH`.
    pub(crate) class_path: Option<OsString>,
}

impl LauncherEnvironment {
    /// That of this process, which the program inherits.
    pub(crate) fn inherited() -> LauncherEnvironment {
        LauncherEnvironment {
            options: env::var_os("JDK_JAVA_OPTIONS"),
            class_path: env::var_os("CLASSPATH"),
        }
    }
}

/// The files and directories on the class path and the module path of a `java` command, in the order in which they are
/// searched, with what manifests name; those that do not exist are left out, as the JVM does. If it cannot be known,
/// returns why, as a clause.
pub(crate) fn class_path(
    arguments: &[OsString],
    environment: &LauncherEnvironment,
) -> Result<Vec<PathBuf>, String> {
    let mut words = Vec::new();
    let not_text = || "its command line is no text".to_string();
    if let Some(options) = &environment.options {
        words.extend(split(options.to_str().ok_or_else(not_text)?));
    }
    for argument in arguments {
        words.push(argument.to_str().ok_or_else(not_text)?.to_string());
    }
    let words = with_argument_files(words)?;
    let given = Given::new(&words)?;
    let mut entries = Vec::new();
    for modules in given.module_path.iter().flat_map(|path| env::split_paths(path)) {
        entries.extend(modules_at(&modules));
    }
    let class_path = match (given.jar, given.class_path, &environment.class_path) {
        (Some(jar), _, _) => OsString::from(jar),
        (None, Some(path), _) => OsString::from(path),
        (None, None, Some(path)) if !path.is_empty() => path.clone(),
        // A program that is a module has no class path of its own accord.
        (None, None, _) if given.is_module => OsString::new(),
        (None, None, _) => ".".into(),
    };
    if !class_path.is_empty() {
        entries.extend(env::split_paths(&class_path).flat_map(|entry| entries_of(&entry)));
    }
    entries.retain(|entry| entry.exists());
    let entries = classes::with_manifest_class_paths(&entries);
    match entries.is_empty() {
        true => Err("there is nothing on its class path".to_string()),
        false => Ok(entries),
    }
}

/// What the options say of where classes are.
#[derive(Debug, Default)]
struct Given<'a> {
    class_path: Option<&'a str>,
    module_path: Option<&'a str>,
    jar: Option<&'a str>,
    is_module: bool,
}

impl<'a> Given<'a> {
    fn new(words: &'a [String]) -> Result<Given<'a>, String> {
        let mut given = Given::default();
        let mut is_jar = false;
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (word, None),
            };
            if word.starts_with("-Djava.class.path=") || name == "--source" {
                return Err(format!("`{name}` decides which classes it has"));
            } else if CLASS_PATH.contains(&name) {
                given.class_path = value.or_else(|| words.next());
            } else if MODULE_PATH.contains(&name) {
                given.module_path = value.or_else(|| words.next());
            } else if MODULE.contains(&name) {
                given.is_module = true;
                return Ok(given);
            } else if word == "-jar" {
                is_jar = true;
            } else if WITH_NEXT_WORD.contains(&name) {
                if value.is_none() {
                    words.next();
                }
            } else if !word.starts_with('-') {
                if is_jar {
                    given.jar = Some(word);
                } else if word.ends_with(".java") {
                    return Err("it is compiled when it starts".to_string());
                }
                return Ok(given);
            }
        }
        Err("it names no program".to_string())
    }
}

/// The words of a command, with those of its argument files in their places.
fn with_argument_files(words: Vec<String>) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut expands = true;
    let mut is_value = false;
    for word in words {
        let is_value_of_option = std::mem::replace(&mut is_value, false);
        match word.strip_prefix('@') {
            Some(file) if expands && !is_value_of_option && !file.starts_with('@') => {
                let text = fs::read_to_string(file)
                    .map_err(|_| format!("its argument file `{file}` cannot be read"))?;
                all.extend(split(&text));
            }
            Some(escaped) if expands && !is_value_of_option => all.push(escaped.to_string()),
            _ => {
                // Behind the program, words belong to it.
                let name = word.as_str();
                is_value = CLASS_PATH.contains(&name)
                    || MODULE_PATH.contains(&name)
                    || MODULE.contains(&name)
                    || WITH_NEXT_WORD.contains(&name);
                expands &=
                    word != "--disable-@files" && (is_value_of_option || word.starts_with('-'));
                all.push(word);
            }
        }
        if all.len() > MOST_WORDS {
            return Err("its command line is too long".to_string());
        }
    }
    Ok(all)
}

/// The words of an argument file, or of `JDK_JAVA_OPTIONS`: white space parts them, quotes join them, a backslash escapes
/// inside of quotes, and `#` begins a remark.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => match characters.next() {
                // A line that goes on in the next one, behind its blanks.
                Some('\n' | '\r') => {
                    while characters.next_if(|next| next.is_whitespace()).is_some() {}
                }
                Some('n') => word.get_or_insert_default().push('\n'),
                Some('r') => word.get_or_insert_default().push('\r'),
                Some('t') => word.get_or_insert_default().push('\t'),
                Some('f') => word.get_or_insert_default().push('\u{c}'),
                Some(other) => word.get_or_insert_default().push(other),
                None => {}
            },
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// The entries that one part of a class path stands for: `lib/*` is every jar of a directory, and nothing is the current
/// directory.
fn entries_of(part: &Path) -> Vec<PathBuf> {
    if part.as_os_str().is_empty() {
        return vec![PathBuf::from(".")];
    }
    if part.file_name() != Some(OsStr::new("*")) || part.exists() {
        return vec![part.to_path_buf()];
    }
    files_in(part.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")))
        .into_iter()
        .filter(|file| is_jar(file) && file.is_file())
        .collect()
}

/// The modules that one part of a module path stands for: itself, or those in it.
fn modules_at(part: &Path) -> Vec<PathBuf> {
    let is_module = |path: &Path| path.join("module-info.class").is_file();
    if !part.is_dir() || is_module(part) {
        return vec![part.to_path_buf()];
    }
    files_in(part).into_iter().filter(|path| is_jar(path) || is_module(path)).collect()
}

fn is_jar(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar"))
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with `classes`, `lib/a.jar`, `lib/b.jar` and `app.jar`, which are empty.
    fn project() -> tempfile::TempDir {
        let project = tempfile::tempdir().unwrap();
        for directory in ["classes", "lib", "module"] {
            fs::create_dir(project.path().join(directory)).unwrap();
        }
        for file in
            ["lib/a.jar", "lib/b.jar", "lib/notes.txt", "app.jar", "module/module-info.class"]
        {
            fs::write(project.path().join(file), "").unwrap();
        }
        project
    }

    /// The class path of a command in which `%` stands for the project, relative to it.
    fn found(
        project: &Path,
        line: &str,
        class_path_variable: Option<&str>,
    ) -> Result<Vec<String>, String> {
        let here = |text: &str| OsString::from(text.replace('%', &project.to_string_lossy()));
        let arguments: Vec<OsString> = line.split_whitespace().map(here).collect();
        let environment =
            LauncherEnvironment { options: None, class_path: class_path_variable.map(here) };
        let relative = |path: PathBuf| {
            path.strip_prefix(project).unwrap_or(&path).to_string_lossy().into_owned()
        };
        class_path(&arguments, &environment).map(|paths| paths.into_iter().map(relative).collect())
    }

    #[test]
    fn class_paths_are_found_as_the_launcher_finds_them() {
        let project = project();
        let classes = ["classes"];
        let all = ["classes", "lib/a.jar", "lib/b.jar"];
        let cases: &[(&str, Option<&str>, &[&str])] = &[
            ("-cp %/classes p.Main -cp other", None, &classes),
            ("-classpath %/classes:%/missing.jar p.Main", None, &classes),
            ("-Xmx1g --class-path %/classes:%/lib/* p.Main", None, &all),
            ("--class-path=%/classes -ea p.Main @file", None, &classes),
            ("-cp %/lib/a.jar -cp %/classes p.Main", None, &classes),
            ("--add-opens java.base/java.lang=ALL-UNNAMED -cp %/classes p.Main", None, &classes),
            ("-jar %/app.jar -cp %/classes", Some("%/lib/a.jar"), &["app.jar"]),
            ("-cp %/classes -jar -Xmx1g %/app.jar", None, &["app.jar"]),
            ("p.Main", Some("%/lib/b.jar:%/classes"), &["lib/b.jar", "classes"]),
            (
                "-p %/lib:%/module -m some.module/p.Main",
                None,
                &["lib/a.jar", "lib/b.jar", "module"],
            ),
            ("-p %/module -cp %/classes -m some.module", None, &["module", "classes"]),
            ("p.Main", None, &["."]),
            ("-cp : p.Main", None, &["."]),
        ];
        for (line, variable, expected) in cases {
            let found = found(project.path(), line, *variable).unwrap();
            assert_eq!(found[..expected.len().min(found.len())], **expected, "{line}");
            // An empty part is the current directory, however often.
            assert!(found.iter().all(|it| expected.contains(&it.as_str())), "{line}: {found:?}");
        }
    }

    #[test]
    fn argument_files_and_the_variable_of_the_launcher_are_read() {
        let project = project();
        let file = project.path().join("arguments");
        let classes = project.path().join("classes");
        let text = format!("# the class path\n-ea -cp\t\"{}\"\n", classes.display());
        fs::write(&file, &text).unwrap();
        assert_eq!(found(project.path(), "@%/arguments p.Main", None).unwrap(), ["classes"]);
        let missing = found(project.path(), "@%/none p.Main", None).unwrap_err();
        assert!(missing.starts_with("its argument file `"), "{missing}");
        assert!(found(project.path(), "--disable-@files @%/arguments", None).is_ok());
        let environment = LauncherEnvironment { options: Some(text.into()), class_path: None };
        assert_eq!(class_path(&["p.Main".into()], &environment), Ok(vec![classes]));
    }

    #[test]
    fn words_are_parted_as_the_launcher_parts_them() {
        assert_eq!(split("a  b\n# no\nc#d"), ["a", "b", "c#d"]);
        assert_eq!(split("'a b'c \"d\\\\e\\tf\" ''"), ["a bc", "d\\e\tf", ""]);
        assert_eq!(split("\"one \\\n   two\""), ["one two"]);
        assert_eq!(split("c:\\plain"), ["c:\\plain"]);
    }

    #[test]
    fn what_cannot_be_known_is_said() {
        let project = project();
        for (line, expected) in [
            ("-version", "it names no program"),
            ("Main.java", "it is compiled when it starts"),
            ("--source 17 Main", "`--source` decides which classes it has"),
            ("-cp %/missing p.Main", "there is nothing on its class path"),
            ("-m some.module/p.Main", "there is nothing on its class path"),
        ] {
            assert_eq!(found(project.path(), line, None).unwrap_err(), expected, "{line}");
        }
    }
}
