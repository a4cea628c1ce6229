//! What is to be watched.

use std::collections::BTreeSet;

use agent_protocol::{ClassDigest, ListedAccesses, SharedField};
use findings::Site;
use models::{AtomicSpec, Models, Pattern, language};
use rustc_hash::FxHashMap;

use crate::class_hierarchy::ClassHierarchy;
use crate::dropped_lock::DroppedLock;

/// What is to be watched.
#[derive(Clone, Debug)]
pub struct Config {
    /// The accesses and blocks of classes and methods that match one of these alone are watched; when empty, those of the
    /// user's own code. A pattern that names classes of the platform brings them in.
    pub include: Vec<Pattern>,
    /// Classes and methods that give order only, whatever `include` says.
    pub exclude: Vec<Pattern>,
    /// Classes that get no hooks at all, so that the order they make is not seen either.
    pub unobserved: Vec<Pattern>,
    /// Whether libraries are watched as the user's own code is.
    pub whole_libraries: bool,
    /// Whether accesses to array elements are watched.
    pub arrays: bool,
    /// Whether branches are watched.
    pub branches: bool,
    /// Whether what the sides of branches would do that are not taken is told.
    pub speculation: bool,
    /// Whether atomic blocks are marked.
    pub blocks: bool,
    /// Whether the contents of unsynchronized library collections are watched.
    pub collections: bool,
    /// Whether library code reports the order that it makes, so that calls of it need not.
    pub library_order: bool,
    /// Which code is meant to be atomic.
    pub atomic: AtomicSpec,
    /// What is known of library code.
    pub models: Models,
    /// The supertypes of the classes that were seen so far.
    pub hierarchy: ClassHierarchy,
    /// The only accesses to watch, where somebody knows which matter. What synchronises is watched
    /// anyway.
    pub watch: Option<WatchList>,
    /// The only fields to watch, where somebody knows which threads share. Volatile fields are watched anyway.
    pub shared_fields: Option<FieldList>,
    /// Whether threads may be held back before what they do: every watched operation, and every call,
    /// then has a hook in front.
    pub adversarial: bool,
    /// A lock that is taken out of the program, to see whether anybody notices.
    pub dropped_lock: Option<DroppedLock>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            include: Vec::new(),
            exclude: Vec::new(),
            unobserved: Vec::new(),
            whole_libraries: false,
            arrays: false,
            branches: false,
            speculation: false,
            blocks: true,
            collections: true,
            library_order: false,
            atomic: AtomicSpec::default(),
            models: Models::built_in(),
            hierarchy: ClassHierarchy::default(),
            watch: None,
            shared_fields: None,
            adversarial: false,
            dropped_lock: None,
        }
    }
}

/// Where a class comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is the user's own.
    OwnCode,
    /// It belongs to a library.
    Library,
}

/// How much of a class that has hooks is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Accesses, atomic blocks, and what orders threads.
    Everything,
    /// What orders threads alone: volatile variables, monitors, and calls that synchronise.
    OrderOnly,
}

/// Whether a class was made by the JVM or the library while the program ran: a lambda, a proxy, or
/// another hidden class.
fn is_generated(internal: &str) -> bool {
    let simple = internal.rsplit('/').next().unwrap_or(internal);
    let is_proxy = simple
        .strip_prefix("$Proxy")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    let is_hidden = internal.contains("+0x") || simple.starts_with("0x");
    is_proxy || is_hidden || internal.contains("$$Lambda") || internal.contains("$$InjectedInvoker")
}

impl Config {
    /// Whether a class, given in internal form, gets hooks. This depends on nothing but the name, so
    /// that the code of one class knows of every other class whether it has hooks. How much of it is watched is the
    /// matter of [`Config::coverage`].
    #[must_use]
    pub fn watches(&self, internal: &str) -> bool {
        if internal.starts_with('[')
            || language::is_foundation(internal)
            || is_generated(internal)
            // A name that is not text cannot be written back.
            || internal.contains(['\\', char::REPLACEMENT_CHARACTER])
        {
            return false;
        }
        let name = classes::binary_name(internal);
        if self.unobserved.iter().any(|pattern| pattern.matches(&name)) {
            return false;
        }
        // Classes of the platform and of the runtimes of languages give their order in another way.
        let is_platform = language::is_platform(internal) || self.models.is_library(internal);
        // A pattern that begins with a star is not meant for these.
        !is_platform || self.names(internal, Pattern::names_a_root)
    }

    /// How much of a class that gets hooks is watched; its name is given in internal form.
    #[must_use]
    pub fn coverage(&self, internal: &str, origin: Origin) -> Coverage {
        let is_watched = if self.include.is_empty() {
            let name = classes::binary_name(internal);
            (origin == Origin::OwnCode || self.whole_libraries)
                && !self.exclude.iter().any(|pattern| pattern.matches(&name))
        } else {
            self.names(internal, |_| true)
        };
        if is_watched { Coverage::Everything } else { Coverage::OrderOnly }
    }

    /// Whether a pattern of a certain kind names a class or members of it, and no other excludes the class.
    fn names(&self, internal: &str, is_meant: impl Fn(&Pattern) -> bool) -> bool {
        let name = classes::binary_name(internal);
        let names = |pattern: &Pattern| {
            is_meant(pattern) && (pattern.matches(&name) || pattern.names_member_of(&name))
        };
        self.include.iter().any(names) && !self.exclude.iter().any(|it| it.matches(&name))
    }

    /// Whether the accesses of a method of a watched class are watched; the name is that of the class
    /// and the method, with dots.
    pub(crate) fn watches_method(&self, name: &str) -> bool {
        (self.include.is_empty() || self.include.iter().any(|pattern| pattern.matches(name)))
            && !self.exclude.iter().any(|pattern| pattern.matches(name))
    }
}

/// A list of accesses, by method and bytecode offset.
#[derive(Clone, Debug, Default)]
pub struct WatchList {
    methods: FxHashMap<(String, String, String), BTreeSet<u32>>,
    /// The classes that the list knows, by name with dots; it is taken to know all if this is empty.
    analysed: FxHashMap<String, ClassDigest>,
}

/// What a watch list says of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedAs {
    /// It was looked at: only accesses that are listed matter.
    Analysed,
    /// Another class of this name was looked at.
    Changed,
    /// Nobody has looked at it.
    Unknown,
}

impl WatchList {
    /// Adds an access. A site without an offset stands for no access and is ignored.
    pub fn insert(&mut self, site: &Site) {
        let Some(offset) = site.offset else { return };
        let method = (site.class.clone(), site.method.clone(), site.descriptor.clone());
        self.methods.entry(method).or_default().insert(offset);
    }

    /// What the list says of a class, which is named with dots and has these bytes.
    #[must_use]
    pub fn listed_as(&self, class: &str, bytes: &[u8]) -> ListedAs {
        match self.analysed.get(class) {
            Some(digest) if *digest == ClassDigest::of(bytes) => ListedAs::Analysed,
            Some(_) => ListedAs::Changed,
            None if self.analysed.is_empty() => ListedAs::Analysed,
            None => ListedAs::Unknown,
        }
    }

    /// Whether a class of this name was looked at; it is named with dots.
    pub(crate) fn knows_name(&self, class: &str) -> bool {
        self.analysed.is_empty() || self.analysed.contains_key(class)
    }

    /// The offsets of the accesses in a method; the class is named with dots.
    pub(crate) fn offsets(
        &self,
        class: &str,
        method: &str,
        descriptor: &str,
    ) -> Option<&BTreeSet<u32>> {
        self.methods.get(&(class.to_owned(), method.to_owned(), descriptor.to_owned()))
    }
}

impl<'a> FromIterator<&'a Site> for WatchList {
    fn from_iter<T: IntoIterator<Item = &'a Site>>(sites: T) -> WatchList {
        let mut list = WatchList::default();
        for site in sites {
            list.insert(site);
        }
        list
    }
}

impl From<ListedAccesses> for WatchList {
    fn from(listed: ListedAccesses) -> WatchList {
        let analysed = listed.analysed.into_iter().collect();
        WatchList { analysed, ..listed.accesses.iter().collect() }
    }
}

/// A list of fields.
#[derive(Clone, Debug, Default)]
pub struct FieldList {
    /// The classes that declare a field with a name, with dots.
    classes: FxHashMap<String, BTreeSet<String>>,
}

impl FieldList {
    /// Whether a field of a class that declares it is listed; the class is named with dots.
    pub(crate) fn contains(&self, class: &str, name: &str) -> bool {
        self.classes.get(name).is_some_and(|classes| classes.contains(class))
    }

    /// Whether a field with a name is listed, of whatever class.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.classes.contains_key(name)
    }
}

impl<'a> FromIterator<&'a SharedField> for FieldList {
    fn from_iter<T: IntoIterator<Item = &'a SharedField>>(fields: T) -> FieldList {
        let mut list = FieldList::default();
        for SharedField { class, name } in fields {
            list.classes.entry(name.clone()).or_default().insert(class.clone());
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(include: &[&str], exclude: &[&str]) -> Config {
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(text)).collect();
        Config { include: patterns(include), exclude: patterns(exclude), ..Config::default() }
    }

    #[test]
    fn the_platform_is_left_out_unless_it_is_named() {
        let default = config(&[], &[]);
        assert!(default.watches("com/acme/Main"));
        assert!(default.watches("Main"));
        assert!(!default.watches("java/util/Vector"));
        assert!(!default.watches("com/sun/tools/javac/Main"));
        assert!(!default.watches("com/acme/$Proxy12"));
        assert!(!default.watches("com/acme/Main$$Lambda$14/0x0000000800c03000"));
        assert!(default.watches("com/acme/$ProxyFactory"));
        let javac = config(&["com.sun.tools.javac"], &[]);
        assert!(javac.watches("com/sun/tools/javac/Main"));
        assert!(javac.watches("com/acme/Main"));
        assert_eq!(javac.coverage("com/acme/Main", Origin::OwnCode), Coverage::OrderOnly);
        assert!(
            !config(&["com.sun.tools.javac"], &["com.sun.tools"])
                .watches("com/sun/tools/javac/Main")
        );
        assert!(!config(&["java.util"], &[]).watches("java/util/Vector"));
        assert!(!config(&["**"], &[]).watches("javax/swing/JFrame"));
    }

    #[test]
    fn so_are_the_runtimes_of_languages() {
        let default = config(&[], &[]);
        assert!(!default.watches("kotlin/collections/ArrayDeque"));
        assert!(default.watches("kotlin/jvm/internal/Ref$IntRef"));
        assert!(!config(&["**"], &[]).watches("scala/concurrent/Future"));
        assert!(config(&["scala.concurrent"], &[]).watches("scala/concurrent/Future"));
    }

    #[test]
    fn patterns_of_methods_watch_their_classes() {
        let one = config(&["com.acme.Cache.get*"], &["com.acme.Cache.getAll"]);
        let covers = |config: &Config, class| {
            config.coverage(class, Origin::OwnCode) == Coverage::Everything
        };
        assert!(covers(&one, "com/acme/Cache"));
        assert!(!covers(&one, "com/acme/Other"));
        assert!(!covers(&one, "com/acme/sub/Other"));
        assert!(one.watches_method("com.acme.Cache.get"));
        assert!(!one.watches_method("com.acme.Cache.getAll"));
        assert!(!one.watches_method("com.acme.Cache.put"));
        assert!(covers(&config(&["com.acme.**.Cache.get*"], &[]), "com/acme/a/b/Cache"));
        assert!(!covers(&config(&[], &["com.acme"]), "com/acme/Cache"));
    }

    #[test]
    fn libraries_and_excluded_classes_give_order_only() {
        let default = config(&[], &[]);
        let all = Config { whole_libraries: true, ..config(&[], &["com.acme.Log"]) };
        let named = config(&["org.cache"], &["org.cache.Log"]);
        let library = |config: &Config, class| config.coverage(class, Origin::Library);
        assert_eq!(library(&default, "org/cache/Cache"), Coverage::OrderOnly);
        assert_eq!(default.coverage("com/acme/Main", Origin::OwnCode), Coverage::Everything);
        assert_eq!(library(&all, "org/cache/Cache"), Coverage::Everything);
        assert_eq!(library(&all, "com/acme/Log"), Coverage::OrderOnly);
        assert_eq!(library(&named, "org/cache/Cache"), Coverage::Everything);
        assert_eq!(library(&named, "org/cache/Log"), Coverage::OrderOnly);
        // Order is seen in all of them.
        for config in [&default, &all, &named] {
            assert!(config.watches("org/cache/Log") && config.watches("com/acme/Log"));
        }
        let unobserved = Config { unobserved: vec![Pattern::new("Turn")], ..Config::default() };
        assert!(!unobserved.watches("Turn") && unobserved.watches("Turns"));
    }
}
