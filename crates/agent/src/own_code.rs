//! Which classes are the user's own, and which belong to libraries.
//!
//! The place that a class was loaded from decides. Directories hold the classes of the program that is built and of its
//! tests, and so do the archive that was started and those that the options name. Every other archive is a library. Classes that were loaded
//! from no place, or from one that is neither, were compiled while the program ran, as scripts are: they are the user's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use instrument::Origin;

/// Directories of archives that hold the classes of the program beside the libraries that it uses.
const PROGRAM_DIRECTORIES: [&str; 2] = ["BOOT-INF/classes", "WEB-INF/classes"];

/// How the names of archives end.
const ARCHIVES: [&str; 5] = [".jar", ".war", ".ear", ".zip", ".jmod"];

/// What was started, and what was loaded from where.
#[derive(Debug, Default)]
pub(crate) struct OwnCode {
    /// The archives, and directories of archives, that the options name.
    named: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The first word of the command that the JVM was started with: a class, a module with a class, or an archive.
    command: Option<String>,
    /// The archive that holds the main class, once it is loaded.
    main_archive: Option<String>,
    /// How many classes were watched, by the place that they come from.
    watched: BTreeMap<String, u64>,
}

impl OwnCode {
    /// Counts what lies at or below these paths as the user's.
    pub(crate) fn new(named: &[String]) -> OwnCode {
        OwnCode { named: named.iter().map(PathBuf::from).collect(), ..OwnCode::default() }
    }

    /// Where a class comes from. `location` is that of its code source, empty if there is none; `command` says how the JVM
    /// was started; `is_launcher` whether the main class only starts the user's code, as test runners do.
    pub(crate) fn origin(
        &self,
        class: &str,
        location: &str,
        command: impl FnOnce() -> String,
        is_launcher: impl Fn(&str) -> bool,
    ) -> Origin {
        let place = place(location);
        if place.is_empty() && class.contains("$$") {
            // What is generated beside the classes of a program belongs to what was started.
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let command = state.command.get_or_insert_with(command);
            let is_of_tool = !is_archive(command) && is_launcher(&main_class(command));
            return if is_of_tool { Origin::Library } else { Origin::OwnCode };
        }
        if !is_archive(place) || is_program_directory(place) || self.is_named(place) {
            return Origin::OwnCode;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let command = state.command.get_or_insert_with(command).clone();
        if is_archive(&command) {
            let is_started = file_name(place) == file_name(&command) && !place.contains('!');
            return if is_started && !is_launcher(class) {
                Origin::OwnCode
            } else {
                Origin::Library
            };
        }
        if main_class(&command) == class && !is_launcher(class) {
            state.main_archive = Some(place.to_owned());
        }
        if state.main_archive.as_deref() == Some(place) { Origin::OwnCode } else { Origin::Library }
    }

    /// Whether the options name an archive, or a directory that it lies in.
    fn is_named(&self, place: &str) -> bool {
        if self.named.is_empty() {
            return false;
        }
        let path = agent_protocol::path_of_location(place);
        path.is_some_and(|path| self.named.iter().any(|named| path.starts_with(named)))
    }

    /// Counts a class that is watched.
    pub(crate) fn count_watched(&self, location: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state.watched.entry(name_of(location)).or_default() += 1;
    }

    /// How many classes were watched, by the names of the places that they come from.
    pub(crate) fn watched(&self) -> BTreeMap<String, u64> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).watched.clone()
    }
}

/// The place without what marks it as one inside an archive.
fn place(location: &str) -> &str {
    location.strip_suffix("!/").unwrap_or(location)
}

/// The internal name of the main class that a JVM was started with, which a module may stand before.
fn main_class(command: &str) -> String {
    command.rsplit('/').next().unwrap_or(command).replace('.', "/")
}

fn is_archive(place: &str) -> bool {
    ARCHIVES.iter().any(|ending| place.ends_with(ending))
}

fn is_program_directory(place: &str) -> bool {
    PROGRAM_DIRECTORIES.iter().any(|directory| place.contains(directory))
}

fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What people call a place: the last two directories of one, or the name of an archive.
fn name_of(location: &str) -> String {
    let place = place(location).trim_end_matches('/');
    let name = file_name(place);
    if place.is_empty() {
        return String::new();
    }
    if is_archive(place) {
        return name.to_owned();
    }
    match place.strip_suffix(name).map(file_name) {
        Some(above) if !above.is_empty() && !above.ends_with(':') => format!("{above}/{name}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(code: &OwnCode, class: &str, location: &str, command: &str) -> Origin {
        let is_runner = |class: &str| class.starts_with("org/junit/");
        code.origin(class, location, || command.to_owned(), is_runner)
    }

    #[test]
    fn archives_that_the_options_name_are_own_code() {
        let code = OwnCode::new(&["/my app/target".to_owned(), "/lib/core.jar".to_owned()]);
        let origin = |location: &str| origin(&code, "a/B", location, "org.junit.Runner");
        assert_eq!(origin("file:/my%20app/target/app-1.jar"), Origin::OwnCode);
        assert_eq!(origin("file:/lib/core.jar"), Origin::OwnCode);
        assert_eq!(origin("file:/my%20app/target-old/app.jar"), Origin::Library);
        assert_eq!(origin("file:/lib/other.jar"), Origin::Library);
        assert_eq!(origin("jar:file:/my%20app/target/app-1.jar!/lib/x.jar"), Origin::Library);
    }

    #[test]
    fn directories_are_own_code_and_archives_are_libraries() {
        let code = OwnCode::default();
        let of = |class, location| origin(&code, class, location, "com.acme.Main");
        assert_eq!(of("com/acme/Main", "file:/srv/target/classes/"), Origin::OwnCode);
        assert_eq!(of("org/cache/Cache", "file:/opt/me/.m2/cache-1.0.jar"), Origin::Library);
        assert_eq!(of("Script1", "/groovy/script"), Origin::OwnCode);
        assert_eq!(of("user$eval1", ""), Origin::OwnCode);
        assert_eq!(of("com/acme/Web", "file:/srv/shop/WEB-INF/classes/"), Origin::OwnCode);
        assert_eq!(of("org/cache/C", "file:/srv/shop/WEB-INF/lib/cache.jar"), Origin::Library);
        let boot = "jar:file:/srv/shop.jar!/BOOT-INF/classes!/";
        assert_eq!(of("com/acme/Web", boot), Origin::OwnCode);
        let nested = "jar:nested:/srv/shop.jar/!BOOT-INF/lib/cache.jar!/";
        assert_eq!(of("org/cache/Cache", nested), Origin::Library);
    }

    #[test]
    fn the_archive_that_was_started_is_own_code() {
        let code = OwnCode::default();
        let of = |class, location| origin(&code, class, location, "lib/shop.jar");
        assert_eq!(of("com/acme/Main", "file:/srv/lib/shop.jar"), Origin::OwnCode);
        assert_eq!(of("org/cache/Cache", "file:/srv/lib/cache.jar"), Origin::Library);
        let code = OwnCode::default();
        let of = |class, location| origin(&code, class, location, "shop/com.acme.Main");
        assert_eq!(of("com/acme/Main", "file:/srv/lib/shop.jar"), Origin::OwnCode);
        assert_eq!(of("com/acme/Other", "file:/srv/lib/shop.jar"), Origin::OwnCode);
        assert_eq!(of("org/cache/Cache", "file:/srv/lib/cache.jar"), Origin::Library);
    }

    #[test]
    fn what_only_starts_tests_is_a_library() {
        let code = OwnCode::default();
        let of = |class, location| origin(&code, class, location, "org.junit.Runner");
        assert_eq!(of("org/junit/Runner", "file:/srv/lib/junit.jar"), Origin::Library);
        assert_eq!(of("org/hamcrest/Is", "file:/srv/lib/junit.jar"), Origin::Library);
        assert_eq!(of("com/acme/ShopTest", "file:/srv/target/test-classes/"), Origin::OwnCode);
        assert_eq!(of("org/junit/Runner$$FastClass$$1", ""), Origin::Library);
        assert_eq!(of("Script1", ""), Origin::OwnCode);
        let code = OwnCode::default();
        assert_eq!(origin(&code, "shop/Item$$Proxy", "", "shop.Main"), Origin::OwnCode);
    }

    #[test]
    fn places_have_short_names() {
        for (location, name) in [
            ("file:/srv/shop/target/classes/", "target/classes"),
            ("file:/srv/lib/shop.jar", "shop.jar"),
            ("jar:file:/srv/shop.jar!/BOOT-INF/classes!/", "BOOT-INF/classes"),
            ("file:/classes/", "classes"),
            ("", ""),
        ] {
            assert_eq!(name_of(location), name);
        }
    }
}
