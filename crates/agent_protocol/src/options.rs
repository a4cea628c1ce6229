//! The options that an agent is started with.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::encoding::{decode, decode_path, encode, encode_path};

/// How an agent watches its JVM.
///
/// As text it is one word, `key=value,key=value`, with the values percent-encoded; see
/// [`Options::from_str`]. Only what differs from the default is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The file to record all events to. `%p` in it stands for the id of the process.
    pub record: Option<PathBuf>,
    /// The directory to leave results in, one file a process; none are left when absent.
    pub results: Option<PathBuf>,
    /// Patterns of the classes and methods to watch; all that is not of the platform when empty.
    pub include: Vec<String>,
    /// Patterns of the classes and methods not to watch, whatever `include` says.
    pub exclude: Vec<String>,
    /// Patterns of the methods that are meant to be atomic.
    pub atomic_include: Vec<String>,
    /// Patterns of the methods that are not, whatever `atomic_include` says.
    pub atomic_exclude: Vec<String>,
    /// Whether array elements are watched.
    pub arrays: bool,
    /// Whether branches are reported, which only some monitors need.
    pub branches: bool,
    /// Whether the contents of unsynchronized collections are watched at their calls.
    pub collections: bool,
    /// Whether atomic blocks are reported.
    pub blocks: bool,
    /// Whether accesses that only their owner can see are held back.
    pub ownership_filter: bool,
    /// Whether accesses that repeat one of the same epoch are dropped.
    pub epoch_filter: bool,
    /// The monitors to run, by name; none when empty.
    pub monitors: Vec<String>,
    /// Files that say what methods and classes do, by absolute path.
    pub models: Vec<String>,
    /// A file that lists the only sites to watch.
    pub watch_list: Option<PathBuf>,
    /// Whether the JVM may not run unwatched: an agent that cannot do its work ends it.
    pub require_agent: bool,
    /// Whether JVMs that this one starts are watched too.
    pub children: bool,
    /// Whether events are thrown away as soon as they are made, to measure what the hooks cost.
    pub hooks_only: bool,
    /// Whether threads are held back where a monitor suspects something.
    pub adversarial: bool,
    /// What the adversary throws its dice from.
    pub seed: u64,
    /// How long a thread is held back at most, in milliseconds.
    pub hold_for: u32,
    /// How often threads are held back at one place.
    pub holds_per_site: i8,
    /// How long threads are held back in all, in seconds, added up.
    pub hold_budget: u32,
    /// A lock that is taken out of the program, to see whether anybody notices.
    pub drop_lock: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            record: None,
            results: None,
            include: Vec::new(),
            exclude: Vec::new(),
            atomic_include: Vec::new(),
            atomic_exclude: Vec::new(),
            arrays: false,
            branches: false,
            collections: false,
            blocks: true,
            ownership_filter: true,
            epoch_filter: true,
            monitors: Vec::new(),
            models: Vec::new(),
            watch_list: None,
            require_agent: false,
            children: true,
            hooks_only: false,
            adversarial: false,
            seed: 0,
            hold_for: 100,
            holds_per_site: 10,
            hold_budget: 30,
            drop_lock: None,
        }
    }
}

/// An option: what it is called in the text, and where its value lives.
struct Key {
    name: &'static str,
    holds: Holds,
}

enum Holds {
    Flag {
        get: fn(&Options) -> bool,
        set: fn(&mut Options, bool),
    },
    Path {
        get: fn(&Options) -> &Option<PathBuf>,
        set: fn(&mut Options, PathBuf),
    },
    Text {
        get: fn(&Options) -> &Option<String>,
        set: fn(&mut Options, String),
    },
    Number {
        get: fn(&Options) -> u64,
        /// Says whether the number is one that the option can have.
        set: fn(&mut Options, u64) -> bool,
    },
    /// A key that may be repeated, once for each value.
    Texts {
        get: fn(&Options) -> &Vec<String>,
        add: fn(&mut Options, String),
    },
}

macro_rules! key {
    ($name:literal, flag $field:ident) => {
        Key {
            name: $name,
            holds: Holds::Flag {
                get: |options| options.$field,
                set: |options, value| options.$field = value,
            },
        }
    };
    ($name:literal, path $field:ident) => {
        Key {
            name: $name,
            holds: Holds::Path {
                get: |options| &options.$field,
                set: |options, value| options.$field = Some(value),
            },
        }
    };
    ($name:literal, text $field:ident) => {
        Key {
            name: $name,
            holds: Holds::Text {
                get: |options| &options.$field,
                set: |options, value| options.$field = Some(value),
            },
        }
    };
    ($name:literal, number $field:ident) => {
        Key {
            name: $name,
            holds: Holds::Number {
                get: |options| u64::try_from(options.$field).unwrap_or_default(),
                set: |options, value| value.try_into().map(|value| options.$field = value).is_ok(),
            },
        }
    };
    ($name:literal, texts $field:ident) => {
        Key {
            name: $name,
            holds: Holds::Texts {
                get: |options| &options.$field,
                add: |options, value| options.$field.push(value),
            },
        }
    };
}

/// Every option, in the order in which they are written.
static KEYS: &[Key] = &[
    key!("results", path results),
    key!("record", path record),
    key!("monitor", texts monitors),
    key!("include", texts include),
    key!("exclude", texts exclude),
    key!("atomic-include", texts atomic_include),
    key!("atomic-exclude", texts atomic_exclude),
    key!("models", texts models),
    key!("watch-list", path watch_list),
    key!("arrays", flag arrays),
    key!("branches", flag branches),
    key!("collections", flag collections),
    key!("blocks", flag blocks),
    key!("ownership-filter", flag ownership_filter),
    key!("epoch-filter", flag epoch_filter),
    key!("require-agent", flag require_agent),
    key!("children", flag children),
    key!("hooks-only", flag hooks_only),
    key!("adversarial", flag adversarial),
    key!("seed", number seed),
    key!("hold-for", number hold_for),
    key!("holds-per-site", number holds_per_site),
    key!("hold-budget", number hold_budget),
    key!("drop-lock", text drop_lock),
];

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let default = Options::default();
        let mut written: Vec<String> = Vec::new();
        for Key { name, holds } in KEYS {
            match holds {
                Holds::Flag { get, .. } => {
                    let value = get(self);
                    let is_other = value != get(&default);
                    written.extend(is_other.then(|| format!("{name}={value}")));
                }
                Holds::Path { get, .. } => {
                    let path = get(self).as_deref();
                    written.extend(path.map(|path| format!("{name}={}", encode_path(path))));
                }
                Holds::Text { get, .. } => {
                    let text = get(self).as_deref();
                    written.extend(text.map(|text| format!("{name}={}", encode(text.as_bytes()))));
                }
                Holds::Number { get, .. } => {
                    let value = get(self);
                    let is_other = value != get(&default);
                    written.extend(is_other.then(|| format!("{name}={value}")));
                }
                Holds::Texts { get, .. } => {
                    let values = get(self).iter();
                    written
                        .extend(values.map(|text| format!("{name}={}", encode(text.as_bytes()))));
                }
            }
        }
        f.write_str(&written.join(","))
    }
}

/// Why a text is not the options of an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// A name that is no option's.
    #[error("unknown option `{name}`; did you mean `{nearest}`?")]
    Unknown {
        /// What was written.
        name: String,
        /// The option whose name is nearest.
        nearest: &'static str,
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

    /// Reads options as [`Options`] are written. A flag without a value is meant to be true, an empty
    /// item is passed over, and of options that hold one value the last one counts.
    fn from_str(text: &str) -> Result<Options, OptionsError> {
        let mut options = Options::default();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            let (name, value) = match item.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (item, None),
            };
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                return Err(OptionsError::Unknown { name: name.into(), nearest: nearest(name) });
            };
            key.take(value, &mut options)?;
        }
        Ok(options)
    }
}

impl Key {
    fn take(&self, value: Option<&str>, options: &mut Options) -> Result<(), OptionsError> {
        let name = self.name;
        let given = || value.ok_or(OptionsError::NoValue { name });
        let malformed = |value: &str| OptionsError::Encoding { name, value: value.into() };
        let text = || {
            let value = given()?;
            let bytes = decode(value).map_err(|_| malformed(value))?;
            String::from_utf8(bytes).map_err(|_| malformed(value))
        };
        match &self.holds {
            Holds::Flag { set, .. } => match value {
                None | Some("true") => set(options, true),
                Some("false") => set(options, false),
                Some(value) => return Err(OptionsError::NotAFlag { name, value: value.into() }),
            },
            Holds::Path { set, .. } => {
                let value = given()?;
                set(options, decode_path(value).map_err(|_| malformed(value))?);
            }
            Holds::Text { set, .. } => set(options, text()?),
            Holds::Number { set, .. } => {
                let value = given()?;
                if !value.parse().is_ok_and(|number| set(options, number)) {
                    return Err(OptionsError::NotANumber { name, value: value.into() });
                }
            }
            Holds::Texts { add, .. } => add(options, text()?),
        }
        Ok(())
    }
}

/// The option whose name is most like this one; the first of the list when none is.
fn nearest(name: &str) -> &'static str {
    let mut best = (f64::MIN, "");
    for key in KEYS {
        let likeness = strsim::jaro_winkler(name, key.name);
        if likeness > best.0 {
            best = (likeness, key.name);
        }
    }
    best.1
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

    fn path() -> impl Strategy<Value = Option<PathBuf>> {
        #[cfg(unix)]
        fn of_bytes(bytes: Vec<u8>) -> PathBuf {
            use std::os::unix::ffi::OsStringExt;
            std::ffi::OsString::from_vec(bytes).into()
        }
        #[cfg(not(unix))]
        fn of_bytes(bytes: Vec<u8>) -> PathBuf {
            String::from_utf8_lossy(&bytes).into_owned().into()
        }
        proptest::option::of(proptest::collection::vec(any::<u8>(), 0..12).prop_map(of_bytes))
    }

    fn texts() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec(any::<String>(), 0..3)
    }

    prop_compose! {
        fn options()(
            (record, results, watch_list) in (path(), path(), path()),
            (include, exclude, monitors) in (texts(), texts(), texts()),
            (atomic_include, atomic_exclude, models) in (texts(), texts(), texts()),
            flags in any::<[bool; 10]>(),
            (seed, hold_for, hold_budget) in any::<(u64, u32, u32)>(),
            holds_per_site in 0..=i8::MAX,
            drop_lock in any::<Option<String>>(),
        ) -> Options {
            let [arrays, branches, collections, blocks, ownership_filter, epoch_filter, require_agent,
                children, hooks_only, adversarial] = flags;
            Options {
                record, results, include, exclude, atomic_include, atomic_exclude, arrays, branches,
                collections, blocks, ownership_filter, epoch_filter, monitors, models, watch_list,
                require_agent, children, hooks_only, adversarial, seed, hold_for, holds_per_site,
                hold_budget, drop_lock,
            }
        }
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
