//! The table of the options that an agent is started with.
//!
//! Most of them are passed through from the command line of `scission run` and from the table `[run]` of
//! `scission.toml`. So a row says all of it: the field of [`Options`], its default, its name in the text that the agent
//! is started with, the flag and its help, and what the key of the configuration means. Rows without a flag are set by
//! the command line in ways of its own, such as the checkers, whose names it must know.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use crate::encoding::{decode, decode_path, encode, encode_path};

/// An option: its names, what it holds, and where its value lives.
#[derive(Debug)]
pub struct OptionRow {
    /// Its name in the text that an agent is started with, and in `[run]` of `scission.toml`.
    pub name: &'static str,
    /// What it holds.
    pub kind: ValueKind,
    /// The flag of `scission run` that sets it, where that flag only passes its value through.
    pub flag: Option<RunFlag>,
    /// What the key of `scission.toml` means; it has none when absent.
    pub key: Option<&'static str>,
    written: fn(&Options, &Options) -> Vec<String>,
    read: fn(&mut Options, &'static str, Option<&str>) -> Result<(), OptionsError>,
    set: fn(&mut Options, OptionValue) -> Result<(), OptionError>,
    clear: fn(&mut Options),
}

/// A flag of `scission run`.
#[derive(Debug)]
pub struct RunFlag {
    /// Its name, without the hyphens.
    pub name: &'static str,
    /// What it does with its value.
    pub form: FlagForm,
    /// What stands for its value in the help; empty for flags without one.
    pub value_name: &'static str,
    /// The text of the help.
    pub help: &'static str,
    /// Whether the help leaves it out: it is for measurements and tests of the agent itself.
    pub is_hidden: bool,
}

/// What a flag does to its option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagForm {
    /// It has no value, and switches the option on.
    TurnsOn,
    /// It has no value, and switches the option off.
    TurnsOff,
    /// Its value becomes that of the option.
    Value,
    /// It may be repeated; its values stand in place of those of the configuration.
    ReplacesList,
    /// It may be repeated; its values are added to those of the configuration.
    AddsToList,
}

/// What an option holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Yes or no.
    Switch,
    /// A whole number in this range.
    Number(RangeInclusive<u64>),
    /// A path.
    Path,
    /// Any text.
    Text,
    /// Any number of texts.
    Texts,
    /// Any number of patterns of classes and methods.
    Patterns,
}

/// A value for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// For [`ValueKind::Switch`].
    Switch(bool),
    /// For [`ValueKind::Number`].
    Number(u64),
    /// For [`ValueKind::Path`].
    Path(PathBuf),
    /// For [`ValueKind::Text`].
    Text(String),
    /// For [`ValueKind::Texts`] and [`ValueKind::Patterns`].
    Texts(Vec<String>),
}

/// A value that its option cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this option cannot hold such a value")]
pub struct OptionError;

impl OptionRow {
    /// Puts a value into the options; values of lists are added.
    ///
    /// # Errors
    ///
    /// Fails if the option holds another kind of value.
    pub fn set(&self, options: &mut Options, value: OptionValue) -> Result<(), OptionError> {
        (self.set)(options, value)
    }

    /// Puts the value of the option's flag into the options, over what was there.
    ///
    /// # Errors
    ///
    /// Fails if the option holds another kind of value.
    pub fn set_by_flag(
        &self,
        options: &mut Options,
        value: OptionValue,
    ) -> Result<(), OptionError> {
        if self.flag.as_ref().is_some_and(|flag| flag.form == FlagForm::ReplacesList) {
            (self.clear)(options);
        }
        (self.set)(options, value)
    }
}

macro_rules! value_kind {
    (switch) => {
        ValueKind::Switch
    };
    (number $range:expr) => {
        ValueKind::Number($range)
    };
    (path) => {
        ValueKind::Path
    };
    (text) => {
        ValueKind::Text
    };
    (texts) => {
        ValueKind::Texts
    };
    (patterns) => {
        ValueKind::Patterns
    };
}

macro_rules! run_flag {
    () => {
        None
    };
    ($visibility:ident $form:ident $flag:literal $value_name:literal $help:literal) => {
        Some(RunFlag {
            name: $flag,
            form: FlagForm::$form,
            value_name: $value_name,
            help: $help,
            is_hidden: run_flag!(@$visibility),
        })
    };
    (@shown) => {
        false
    };
    (@hidden) => {
        true
    };
}

macro_rules! key {
    () => {
        None
    };
    ($meaning:literal) => {
        Some($meaning)
    };
}

macro_rules! options {
    ($(
        $(#[$doc:meta])+
        $field:ident: $type:ty = $default:expr,
            $name:literal holds $kind:ident $(in $range:expr)?
            $(, $visibility:ident flag $form:ident $flag:literal $value_name:literal $help:literal)?
            $(, key $meaning:literal)?;
    )+) => {
        /// How an agent watches its JVM.
        ///
        /// As text it is one word, `key=value,key=value`, with the values percent-encoded; see
        /// [`Options::from_str`]. Only what differs from the default is written.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Options {
            $($(#[$doc])+ pub $field: $type,)+
        }

        impl Default for Options {
            fn default() -> Options {
                Options { $($field: $default,)+ }
            }
        }

        impl Options {
            /// Every option, in the order in which they are written.
            pub const ALL: &'static [OptionRow] = &[$(OptionRow {
                name: $name,
                kind: value_kind!($kind $($range)?),
                flag: run_flag!($($visibility $form $flag $value_name $help)?),
                key: key!($($meaning)?),
                written: |options, default| options.$field.written(&default.$field),
                read: |options, name, text| options.$field.read(name, text),
                set: |options, value| options.$field.set(value),
                clear: |options| options.$field = Options::default().$field,
            },)+];
        }
    };
}

options! {
    /// The directory to leave results in, one file a process; none are left when absent.
    results: Option<PathBuf> = None, "results" holds path;

    /// The file to record all events to. `%p` in it stands for the id of the process.
    record: Option<PathBuf> = None, "record" holds path;

    /// The checkers to run, by name; none when empty.
    monitors: Vec<String> = Vec::new(), "monitor" holds texts;

    /// Patterns of the classes and methods to watch; the user's own code when empty.
    include: Vec<String> = Vec::new(), "include" holds patterns,
        shown flag ReplacesList "include" "PATTERN" "Watch only classes and methods that match, such as `com.acme.*` or `org.library.*` (default: your own code, which is in directories and in the jar that is started); all others still give order; may be repeated",
        key "watch only classes and methods that match, instead of your own code; all others still give order";

    /// Patterns of the classes and methods that give order only, whatever `include` says.
    exclude: Vec<String> = Vec::new(), "exclude" holds patterns,
        shown flag AddsToList "exclude" "PATTERN" "Do not watch classes and methods that match, in addition to those that scission.toml excludes; they still give order; may be repeated",
        key "do not watch classes and methods that match; they still give order";

    /// Patterns of the classes that get no hooks, so that the order that they make is not seen.
    unobserved: Vec<String> = Vec::new(), "unobserved" holds patterns,
        hidden flag AddsToList "unobserved" "PATTERN" "Do not see what classes that match do, not even the order that they make: they force an interleaving in tests";

    /// Directories and archives, by absolute path, whose classes are the user's own: also archives below such a directory.
    own_code: Vec<String> = Vec::new(), "own-code" holds texts,
        shown flag AddsToList "own-code" "PATH" "Watch this archive, or all archives below this directory, as your own code (default: directories, and the jar that is started); may be repeated";

    /// Whether libraries are watched as the user's own code is.
    whole_libraries: bool = false, "whole-libraries" holds switch;

    /// Patterns of the methods that are meant to be atomic.
    atomic_include: Vec<String> = Vec::new(), "atomic-include" holds patterns,
        shown flag ReplacesList "atomic" "PATTERN" "Only methods that match are meant to be atomic, such as `com.acme.**.update*`, private ones too, instead of those that scission.toml includes (default: all but private ones, and what is done under locks); may be repeated";

    /// Patterns of the methods that are not, whatever `atomic_include` says.
    atomic_exclude: Vec<String> = Vec::new(), "atomic-exclude" holds patterns,
        shown flag AddsToList "not-atomic" "PATTERN" "Methods that match are not meant to be atomic, in addition to those that scission.toml excludes; may be repeated";

    /// Files that say what methods and classes do, by absolute path.
    models: Vec<String> = Vec::new(), "models" holds texts;

    /// A file that lists the only sites to watch.
    watch_list: Option<PathBuf> = None, "watch-list" holds path,
        shown flag Value "watch-list" "FILE" "Watch only the accesses that this file lists; `scission check --watch-list` writes it";

    /// A file that lists the only fields to watch.
    shared_fields: Option<PathBuf> = None, "shared-fields" holds path,
        shown flag Value "shared-fields" "FILE" "Watch only the fields that this file lists; if there is no such file, write those to it that more than one thread used in this run";

    /// Whether the fields that more than one thread uses are listed in the results.
    lists_shared_fields: bool = false, "list-shared-fields" holds switch;

    /// Whether array elements are watched.
    arrays: bool = false, "arrays" holds switch,
        shown flag TurnsOn "arrays" "" "Also watch the elements of arrays",
        key "also watch the elements of arrays";

    /// Whether branches are reported, which only some checkers need.
    branches: bool = false, "branches" holds switch,
        shown flag TurnsOn "branches" "" "Record which way branches go too, for tools that read traces; no checker needs it",
        key "record which way branches go too";

    /// Whether checkers that can are told what the sides of branches would do that are not taken.
    speculation: bool = true, "speculation" holds switch,
        shown flag TurnsOff "no-speculation" "" "With `--monitor hybrid`: consider only what happened, and not what would have happened on the other sides of branches",
        key "with the checker `hybrid`: consider what would have happened on the other sides of branches";

    /// Whether sides of branches are told that cannot be taken.
    all_branches: bool = false, "all-branches" holds switch,
        shown flag TurnsOn "all-branches" "" "With `--monitor hybrid`: also consider sides of branches that final fields, constants, types and earlier branches rule out",
        key "with the checker `hybrid`: also consider sides of branches that cannot be taken";

    /// Whether locks are all that keeps the checker of object races from a report.
    object_race_by_locks: bool = false, "object-race-by-locks" holds switch;

    /// Whether the contents of unsynchronized collections are watched at their calls.
    collections: bool = true, "collections" holds switch,
        shown flag TurnsOff "no-collections" "" "Do not watch the contents of objects that lock nothing, such as ArrayList, HashMap, StringBuilder and SimpleDateFormat",
        key "watch the contents of objects that lock nothing, such as ArrayList, HashMap, StringBuilder and SimpleDateFormat";

    /// Whether the order that library code makes is observed where it arises.
    library_order: bool = true, "library-order" holds switch,
        hidden flag TurnsOff "no-library-order" "" "Know only the order that models describe, to measure what observing it in the library costs";

    /// Whether atomic blocks are reported.
    blocks: bool = true, "blocks" holds switch;

    /// Whether accesses that only their owner can see are held back.
    ownership_filter: bool = true, "ownership-filter" holds switch;

    /// Whether accesses that repeat one of the same epoch are dropped.
    epoch_filter: bool = true, "epoch-filter" holds switch;

    /// Whether the JVM may not run unwatched: an agent that cannot do its work ends it.
    require_agent: bool = false, "require-agent" holds switch,
        shown flag TurnsOn "require-agent" "" "Fail instead of running the program without the agent";

    /// Whether JVMs that this one starts are watched too.
    children: bool = true, "children" holds switch,
        shown flag TurnsOff "no-children" "" "Do not watch the JVMs that a watched JVM starts";

    /// Whether events are thrown away as soon as they are made, to measure what the hooks cost.
    hooks_only: bool = false, "hooks-only" holds switch,
        hidden flag TurnsOn "hooks-only" "" "Throw away every event, to measure what the hooks cost";

    /// Whether threads are held back where a checker suspects something.
    adversarial: bool = false, "adversarial" holds switch,
        shown flag TurnsOn "adversarial" "" "Delay threads where they could complete a violation, so that other threads can interleave; finds more, takes longer, and still reports only what happened",
        key "delay threads where they could complete a violation";

    /// A file that lists places where something is suspected before the run begins.
    suspects: Option<PathBuf> = None, "suspects" holds path;

    /// What decides by chance whom to hold back.
    seed: u64 = 0, "seed" holds number in 0..=u64::MAX,
        shown flag Value "seed" "N" "Repeat the delays of an earlier run, which reported this seed (default: a new one for each run)";

    /// How long a thread is held back at most, in milliseconds.
    hold_for: u32 = 100, "hold-for" holds number in 1..=60_000,
        shown flag Value "hold-for" "MS" "Longest delay of a thread, in milliseconds (default: 100)",
        key "longest delay of a thread, in milliseconds; 100 unless set";

    /// How often threads are held back at one place.
    holds_per_site: i8 = 10, "holds-per-site" holds number in 1..=127,
        shown flag Value "holds-per-site" "N" "How often threads are delayed at one place (default: 10)",
        key "how often threads are delayed at one place; 10 unless set";

    /// How long threads are held back in all, in seconds, added up.
    hold_budget: u32 = 30, "hold-budget" holds number in 0..=86_400,
        shown flag Value "hold-budget" "SECONDS" "Sum of all delays in each JVM, in seconds (default: 30)",
        key "sum of all delays in each JVM, in seconds; 30 unless set";

    /// Whether the JVM ends when threads are found that wait for each other for good.
    exits_on_deadlock: bool = false, "exit-on-deadlock" holds switch;

    /// After how many seconds without progress of any thread a program that cannot go on is reported; 0 for what is usual.
    hang_after: u32 = 0, "hang-after" holds number in 0..=86_400,
        shown flag Value "hang-after" "SECONDS" "Report a program all of whose threads wait without a limit after so many seconds (default: 30). If given, shutdown hooks and signals do not count as what could end the wait",
        key "after how many seconds without progress a program whose threads all wait is reported; 30 unless set";

    /// A lock that is taken out of the program, to see whether anybody notices.
    drop_lock: Option<String> = None, "drop-lock" holds text,
        hidden flag Value "drop-lock" "LOCK" "Remove a lock from the program, `pkg.Class.method(I)V` or `pkg.Class.method(I)V@OFFSET`, to test whether the defect is found";
}

/// A type that a field of [`Options`] can have.
trait Stored {
    /// The values to be written, percent-encoded; none for what is the default.
    fn written(&self, default: &Self) -> Vec<String>;

    /// Takes what was written after the name of the option; nothing where there was only the name.
    fn read(&mut self, name: &'static str, text: Option<&str>) -> Result<(), OptionsError>;

    /// Takes a value.
    fn set(&mut self, value: OptionValue) -> Result<(), OptionError>;
}

impl Stored for bool {
    fn written(&self, default: &bool) -> Vec<String> {
        if self == default { Vec::new() } else { vec![self.to_string()] }
    }

    fn read(&mut self, name: &'static str, text: Option<&str>) -> Result<(), OptionsError> {
        *self = match text {
            None | Some("true") => true,
            Some("false") => false,
            Some(value) => return Err(OptionsError::NotAFlag { name, value: value.into() }),
        };
        Ok(())
    }

    fn set(&mut self, value: OptionValue) -> Result<(), OptionError> {
        let OptionValue::Switch(value) = value else { return Err(OptionError) };
        *self = value;
        Ok(())
    }
}

macro_rules! stored_number {
    ($type:ty) => {
        impl Stored for $type {
            fn written(&self, default: &$type) -> Vec<String> {
                if self == default { Vec::new() } else { vec![self.to_string()] }
            }

            fn read(&mut self, name: &'static str, text: Option<&str>) -> Result<(), OptionsError> {
                let text = given(name, text)?;
                let number = text.parse::<u64>().ok().map(OptionValue::Number);
                match number.map(|number| self.set(number)) {
                    Some(Ok(())) => Ok(()),
                    _ => Err(OptionsError::NotANumber { name, value: text.into() }),
                }
            }

            fn set(&mut self, value: OptionValue) -> Result<(), OptionError> {
                let OptionValue::Number(number) = value else { return Err(OptionError) };
                *self = number.try_into().map_err(|_| OptionError)?;
                Ok(())
            }
        }
    };
}

stored_number!(u64);
stored_number!(u32);
stored_number!(i8);

impl Stored for Option<PathBuf> {
    fn written(&self, _: &Option<PathBuf>) -> Vec<String> {
        self.iter().map(|path| encode_path(path)).collect()
    }

    fn read(&mut self, name: &'static str, text: Option<&str>) -> Result<(), OptionsError> {
        let text = given(name, text)?;
        let malformed = |_| OptionsError::Encoding { name, value: text.into() };
        *self = Some(decode_path(text).map_err(malformed)?);
        Ok(())
    }

    fn set(&mut self, value: OptionValue) -> Result<(), OptionError> {
        let OptionValue::Path(path) = value else { return Err(OptionError) };
        *self = Some(path);
        Ok(())
    }
}

impl Stored for Option<String> {
    fn written(&self, _: &Option<String>) -> Vec<String> {
        self.iter().map(|text| encode(text.as_bytes())).collect()
    }

    fn read(&mut self, name: &'static str, text: Option<&str>) -> Result<(), OptionsError> {
        *self = Some(decoded(name, text)?);
        Ok(())
    }

    fn set(&mut self, value: OptionValue) -> Result<(), OptionError> {
        let OptionValue::Text(text) = value else { return Err(OptionError) };
        *self = Some(text);
        Ok(())
    }
}

impl Stored for Vec<String> {
    fn written(&self, _: &Vec<String>) -> Vec<String> {
        self.iter().map(|text| encode(text.as_bytes())).collect()
    }

    fn read(&mut self, name: &'static str, text: Option<&str>) -> Result<(), OptionsError> {
        self.push(decoded(name, text)?);
        Ok(())
    }

    fn set(&mut self, value: OptionValue) -> Result<(), OptionError> {
        let OptionValue::Texts(texts) = value else { return Err(OptionError) };
        self.extend(texts);
        Ok(())
    }
}

fn given<'a>(name: &'static str, text: Option<&'a str>) -> Result<&'a str, OptionsError> {
    text.ok_or(OptionsError::NoValue { name })
}

fn decoded(name: &'static str, text: Option<&str>) -> Result<String, OptionsError> {
    let text = given(name, text)?;
    let bytes = decode(text).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| OptionsError::Encoding { name, value: text.into() })
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = Options::default();
        let mut written: Vec<String> = Vec::new();
        for row in Options::ALL {
            let values = (row.written)(self, &default);
            written.extend(values.iter().map(|value| format!("{}={value}", row.name)));
        }
        f.write_str(&written.join(","))
    }
}

/// Why a text is not the options of an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// A name that is no option's.
    #[error("unknown option `{name}`{suggestion}")]
    Unknown {
        /// What was written.
        name: String,
        /// The option whose name is nearest, as the end of the sentence; empty when none is near.
        suggestion: String,
    },
    /// A value that says neither yes nor no.
    #[error("option `{name}` is `true` or `false`, and not `{value}`")]
    NotAFlag {
        /// The option.
        name: &'static str,
        /// What was written.
        value: String,
    },
    /// A value that is no number, or none that the option can have.
    #[error("option `{name}` is a number, and cannot be `{value}`")]
    NotANumber {
        /// The option.
        name: &'static str,
        /// What was written.
        value: String,
    },
    /// An option that means nothing without a value.
    #[error("option `{name}` needs a value: `{name}=VALUE`")]
    NoValue {
        /// The option.
        name: &'static str,
    },
    /// A value whose percent-encoding is wrong, or encodes no text.
    #[error(
        "the value `{value}` of option `{name}` is not percent-encoded text: write `%25` for `%`"
    )]
    Encoding {
        /// The option.
        name: &'static str,
        /// What was written.
        value: String,
    },
}

impl FromStr for Options {
    type Err = OptionsError;

    /// Reads options as [`Options`] are written. A switch without a value is meant to be true, an empty
    /// item is passed over, and of options that hold one value the last one counts.
    fn from_str(text: &str) -> Result<Options, OptionsError> {
        let mut options = Options::default();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            let (name, value) = match item.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (item, None),
            };
            let Some(row) = Options::ALL.iter().find(|row| row.name == name) else {
                let names = Options::ALL.iter().map(|row| row.name);
                let suggestion = findings::did_you_mean(name, names);
                return Err(OptionsError::Unknown { name: name.into(), suggestion });
            };
            (row.read)(&mut options, row.name, value)?;
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_defaults_are_no_words_at_all() {
        assert_eq!(Options::default().to_string(), "");
        assert_eq!("".parse(), Ok(Options::default()));
    }

    #[test]
    fn only_what_differs_is_written() {
        let options = Options {
            record: Some("/tmp/my trace.%p".into()),
            include: vec!["com.acme.*".into(), "a.B$C".into()],
            arrays: true,
            epoch_filter: false,
            ..Options::default()
        };
        let text = "record=/tmp/my%20trace.%25p,include=com.acme.*,include=a.B%24C,arrays=true,\
                    epoch-filter=false";
        assert_eq!(options.to_string(), text);
        assert_eq!(text.parse(), Ok(options));
    }

    #[test]
    fn what_is_written_by_hand_may_be_shorter() {
        let options: Options = "arrays,,include=a.B$C,results=/one,results=/two,".parse().unwrap();
        assert!(options.arrays);
        assert_eq!(options.include, ["a.B$C"]);
        assert_eq!(options.results, Some("/two".into()));
    }

    #[test]
    fn mistakes_are_refused_in_one_sentence() {
        for (text, said) in [
            ("exlude=a", "unknown option `exlude`; did you mean `exclude`?"),
            ("array", "did you mean `arrays`?"),
            ("ownership=false", "did you mean `ownership-filter`?"),
            ("arrays=yes", "option `arrays` is `true` or `false`, and not `yes`"),
            ("record", "option `record` needs a value"),
            ("record=%p", "write `%25` for `%`"),
            ("include=%ff", "is not percent-encoded text"),
            ("seed=one", "option `seed` is a number, and cannot be `one`"),
            ("holds-per-site=128", "cannot be `128`"),
        ] {
            let error = text.parse::<Options>().unwrap_err().to_string();
            assert!(error.contains(said), "{error} does not say {said}");
        }
    }

    fn path() -> impl Strategy<Value = PathBuf> {
        #[cfg(unix)]
        fn of_bytes(bytes: Vec<u8>) -> PathBuf {
            use std::os::unix::ffi::OsStringExt;
            std::ffi::OsString::from_vec(bytes).into()
        }
        #[cfg(not(unix))]
        fn of_bytes(bytes: Vec<u8>) -> PathBuf {
            String::from_utf8_lossy(&bytes).into_owned().into()
        }
        proptest::collection::vec(any::<u8>(), 0..12).prop_map(of_bytes)
    }

    /// A value for an option that holds this.
    fn value(kind: &ValueKind) -> BoxedStrategy<OptionValue> {
        match kind {
            ValueKind::Switch => any::<bool>().prop_map(OptionValue::Switch).boxed(),
            ValueKind::Number(range) => range.clone().prop_map(OptionValue::Number).boxed(),
            ValueKind::Path => path().prop_map(OptionValue::Path).boxed(),
            ValueKind::Text => any::<String>().prop_map(OptionValue::Text).boxed(),
            ValueKind::Texts | ValueKind::Patterns => {
                proptest::collection::vec(any::<String>(), 0..3)
                    .prop_map(OptionValue::Texts)
                    .boxed()
            }
        }
    }

    /// Options of which any number have a value.
    fn options() -> impl Strategy<Value = Options> {
        let values: Vec<_> =
            Options::ALL.iter().map(|row| proptest::option::of(value(&row.kind))).collect();
        values.prop_map(|values| {
            let mut options = Options::default();
            for (row, value) in Options::ALL.iter().zip(values) {
                if let Some(value) = value {
                    row.set(&mut options, value).unwrap();
                }
            }
            options
        })
    }

    #[test]
    fn a_row_takes_only_values_of_its_kind() {
        let values = [
            OptionValue::Switch(false),
            OptionValue::Number(1),
            OptionValue::Path("a".into()),
            OptionValue::Text("a".into()),
            OptionValue::Texts(vec!["a".into()]),
        ];
        for row in Options::ALL {
            let taken: Vec<_> = values
                .iter()
                .filter(|value| row.set(&mut Options::default(), (*value).clone()).is_ok())
                .collect();
            assert_eq!(taken.len(), 1, "{}: {taken:?}", row.name);
        }
    }

    #[test]
    fn flags_fit_what_their_options_hold() {
        for row in Options::ALL {
            let Some(flag) = &row.flag else { continue };
            let fits = match flag.form {
                FlagForm::TurnsOn | FlagForm::TurnsOff => {
                    row.kind == ValueKind::Switch && flag.value_name.is_empty()
                }
                FlagForm::Value => {
                    matches!(row.kind, ValueKind::Number(_) | ValueKind::Path | ValueKind::Text)
                }
                FlagForm::ReplacesList | FlagForm::AddsToList => {
                    matches!(row.kind, ValueKind::Texts | ValueKind::Patterns)
                }
            };
            assert!(fits, "--{}", flag.name);
        }
    }

    #[test]
    fn values_of_flags_replace_lists_or_are_added() {
        let mut options =
            Options { include: vec!["a".into()], exclude: vec!["b".into()], ..Options::default() };
        for name in ["include", "exclude"] {
            let row = Options::ALL.iter().find(|row| row.name == name).unwrap();
            row.set_by_flag(&mut options, OptionValue::Texts(vec!["c".into()])).unwrap();
        }
        assert_eq!(
            (options.include, options.exclude),
            (vec!["c".into()], vec!["b".into(), "c".into()])
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(options in options()) {
            let text = options.to_string();
            prop_assert_eq!(text.parse::<Options>(), Ok(options));
            let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"'\"$\\`;&|<>()".contains(&byte);
            prop_assert!(text.bytes().all(is_plain), "{}", text);
        }

        #[test]
        fn nothing_makes_the_reader_panic(text in "[a-z%=,\\-é0-9]{0,40}") {
            let _ = text.parse::<Options>();
        }
    }
}
