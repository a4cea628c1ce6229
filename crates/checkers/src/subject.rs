//! What an edge or a race is about, and what it is called in findings.

use std::collections::BTreeMap;

use events::{ClassId, ObjectId, SiteEntry, SiteId, Tables, ThreadId, Variable};
use findings::Site;

/// What orders two operations, or what they race on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Subject {
    /// They are of one thread.
    Order,
    /// Operations in between that are not remembered.
    Omitted,
    /// A variable.
    Variable(Variable),
    /// A lock.
    Lock(ObjectId),
    /// A thread that begins or has ended.
    Thread(ThreadId),
    /// An object that one thread publishes to and another receives from.
    Object(ObjectId),
    /// A class and its initialisation.
    Class(ClassId),
}

impl Subject {
    /// Its name in a run: `Account#3.balance`. If the object is not known, what the site says it is
    /// about.
    pub(crate) fn name(self, tables: &Tables, site: SiteId) -> String {
        let object = |object| object_name(tables, object);
        let found_in_field = |it| name_by_field(tables, it).or_else(|| object_name(tables, it));
        let found = match self {
            Subject::Order | Subject::Omitted => None,
            Subject::Thread(thread) => {
                let name = tables.threads.get(thread.0 as usize).map(|entry| entry.name.clone());
                name.filter(|name| !name.is_empty())
            }
            Subject::Variable(Variable::Field(owner, field)) => {
                tables.fields.get(field.0 as usize).map(|entry| {
                    let owner = object(owner).unwrap_or_else(|| simple_name(&entry.class));
                    member(&owner, &entry.name)
                })
            }
            Subject::Variable(Variable::Static(field)) => tables
                .fields
                .get(field.0 as usize)
                .map(|entry| member(&simple_name(&entry.class), &entry.name)),
            // Keys of collections that are no small numbers have numbers that mean nothing to people.
            Subject::Variable(Variable::Element(array, index)) => found_in_field(array)
                .map(|array| if index >> 30 == 0 { format!("{array}[{index}]") } else { array }),
            Subject::Variable(Variable::Contents(it)) | Subject::Lock(it) | Subject::Object(it) => {
                found_in_field(it)
            }
            Subject::Class(class) => {
                tables.classes.get(class.0 as usize).map(|entry| simple_name(&entry.name))
            }
        };
        found.unwrap_or_else(|| self.stable_name(tables, site))
    }

    /// Its name in every run, without numbers of objects and names of threads.
    pub(crate) fn stable_name(self, tables: &Tables, site: SiteId) -> String {
        let entry = tables.sites.get(site.0 as usize);
        let said = entry.map_or("", SiteEntry::about);
        let or = |kind: &str| if said.is_empty() { kind.to_string() } else { said.to_string() };
        // What was called is no name of the object.
        let called_or = |kind: &str| {
            if said.is_empty() { kind.to_string() } else { format!("{said}()") }
        };
        match self {
            Subject::Order => "the thread".to_string(),
            Subject::Omitted => "other operations".to_string(),
            Subject::Thread(_) => or("a thread"),
            Subject::Variable(Variable::Field(_, field) | Variable::Static(field)) => {
                match tables.fields.get(field.0 as usize) {
                    Some(entry) => member(&entry.class, &entry.name),
                    None => or("a field"),
                }
            }
            Subject::Variable(Variable::Element(array, _)) => {
                field(tables, array, site).unwrap_or_else(|| or("an array element"))
            }
            Subject::Variable(Variable::Contents(it)) => {
                field(tables, it, site).unwrap_or_else(|| called_or("a collection"))
            }
            Subject::Lock(it) => field(tables, it, site).unwrap_or_else(|| or("a lock")),
            Subject::Object(it) => field(tables, it, site).unwrap_or_else(|| or("a shared object")),
            Subject::Class(class) => match tables.classes.get(class.0 as usize) {
                Some(entry) => entry.name.clone(),
                None => or("a class"),
            },
        }
    }
}

/// The object that a variable is a part of, in a run: `Account#3`, or `Account` for its static fields.
pub(crate) fn owner_name(tables: &Tables, variable: Variable, site: SiteId) -> String {
    let found = match variable {
        Variable::Field(object, field) => object_name(tables, object)
            .or_else(|| tables.fields.get(field.0 as usize).map(|entry| simple_name(&entry.class))),
        Variable::Static(field) => {
            tables.fields.get(field.0 as usize).map(|entry| simple_name(&entry.class))
        }
        Variable::Element(object, _) | Variable::Contents(object) => object_name(tables, object),
    };
    let found = found.filter(|name| !name.is_empty());
    found.unwrap_or_else(|| Subject::Variable(variable).name(tables, site))
}

/// The same in every run: the class.
pub(crate) fn stable_owner_name(tables: &Tables, variable: Variable, site: SiteId) -> String {
    match variable {
        Variable::Field(_, field) | Variable::Static(field) => tables
            .fields
            .get(field.0 as usize)
            .map(|entry| entry.class.clone())
            .filter(|class| !class.is_empty()),
        Variable::Element(..) | Variable::Contents(_) => None,
    }
    .unwrap_or_else(|| Subject::Variable(variable).stable_name(tables, site))
}

/// What the variables that threads were seen to use are called in every run. A collection or array that no field names is
/// known by its class and one of the methods that use it, which is the same wherever it is used: the least.
#[derive(Debug)]
pub(crate) struct StableNames<'a> {
    tables: &'a Tables,
    /// By object.
    nameless: BTreeMap<ObjectId, String>,
}

impl<'a> StableNames<'a> {
    /// The names of variables, with all places where each is used.
    pub(crate) fn new(
        tables: &'a Tables,
        uses: impl Iterator<Item = (Variable, SiteId)>,
    ) -> StableNames<'a> {
        let mut nameless: BTreeMap<ObjectId, String> = BTreeMap::new();
        for (variable, site) in uses {
            let (Variable::Element(object, _) | Variable::Contents(object)) = variable else {
                continue;
            };
            if field(tables, object, site).is_some() || tables.objects.named(object).is_some() {
                continue;
            }
            let Some(class) = class_name(tables, object) else { continue };
            let name = format!("{class} in {}", site_of(tables, site).method_name());
            let known = nameless.entry(object).or_insert_with(|| name.clone());
            if name < *known {
                *known = name;
            }
        }
        StableNames { tables, nameless }
    }

    pub(crate) fn of(&self, variable: Variable, site: SiteId) -> String {
        let nameless = match variable {
            Variable::Element(object, _) | Variable::Contents(object) => self.nameless.get(&object),
            Variable::Field(..) | Variable::Static(_) => None,
        };
        let stable_name = || Subject::Variable(variable).stable_name(self.tables, site);
        nameless.cloned().unwrap_or_else(stable_name)
    }
}

/// `java.util.HashMap`, `int[]`.
fn class_name(tables: &Tables, object: ObjectId) -> Option<String> {
    let entry = tables.objects.get(object)?;
    let name = &tables.classes.get(entry.class.0 as usize)?.name;
    Some(if name.starts_with('[') { simple_name(name) } else { name.clone() })
}

/// `Account.balance`; traces of other tools know no classes.
fn member(owner: &str, name: &str) -> String {
    if owner.is_empty() { name.to_string() } else { format!("{owner}.{name}") }
}

/// The field that an object is called after: `shop.Stock.lock`. Of an object that is not remembered, the one that the site
/// read it from.
fn field(tables: &Tables, object: ObjectId, site: SiteId) -> Option<String> {
    if let Some((field, _)) = tables.objects.field(object) {
        return Some(field.to_string());
    }
    tables.sites.get(site.0 as usize)?.origin().map(str::to_string)
}

/// `Stock.lock` instead of `Object#1`: what an object of the platform is called that was read from a field, wherever it is
/// used; `Stock.lock#2` if there are several. Objects of the program's own classes are known by these.
fn name_by_field(tables: &Tables, object: ObjectId) -> Option<String> {
    let (field, number) = tables.objects.field(object)?;
    let entry = tables.objects.get(object)?;
    let class = &tables.classes.get(entry.class.0 as usize)?.name;
    let is_platform = ["java.", "javax.", "jdk.", "sun."].iter().any(|it| class.starts_with(it));
    if !is_platform && !class.starts_with('[') {
        return None;
    }
    let (owner, name) = field.rsplit_once('.')?;
    let name = member(&simple_name(owner), name);
    Some(match number {
        Some(number) => format!("{name}#{number}"),
        None => name,
    })
}

/// `Account#3`, or what a text calls it, if the object is remembered.
fn object_name(tables: &Tables, object: ObjectId) -> Option<String> {
    if let Some(name) = tables.objects.named(object) {
        return Some(name.to_string());
    }
    let entry = tables.objects.get(object)?;
    let class = tables.classes.get(entry.class.0 as usize)?;
    Some(format!("{}#{}", simple_name(&class.name), entry.ordinal))
}

/// The name of a class as in the source, without package and enclosing classes. Array types are
/// written as in Java.
fn simple_name(class: &str) -> String {
    let element = class.trim_start_matches('[');
    let dimensions = class.len() - element.len();
    let element = match element {
        _ if dimensions == 0 => element,
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        object => object.strip_suffix(';').and_then(|it| it.strip_prefix('L')).unwrap_or(object),
    };
    // What follows the slash of a hidden class is an address.
    let element = element.split('/').next().unwrap_or(element);
    let name = element.rsplit('.').next().unwrap_or(element);
    let inner = name.rsplit('$').next().unwrap_or(name);
    // Classes without a name are identified by their enclosing class.
    let has_name = inner.chars().next().is_some_and(|first| !first.is_ascii_digit());
    let is_lambda = name.contains("$$");
    let name = if has_name && !is_lambda { inner } else { name };
    format!("{name}{}", "[]".repeat(dimensions))
}

/// The names of the threads of a finding. Threads with the same name are distinguished by their
/// numbers.
#[derive(Debug)]
pub(crate) struct ThreadNames<'a> {
    tables: &'a Tables,
    /// Those of the finding, each once.
    threads: Vec<ThreadId>,
}

impl<'a> ThreadNames<'a> {
    pub(crate) fn new(
        tables: &'a Tables,
        threads: impl Iterator<Item = ThreadId>,
    ) -> ThreadNames<'a> {
        let mut threads: Vec<ThreadId> = threads.collect();
        threads.sort_unstable();
        threads.dedup();
        ThreadNames { tables, threads }
    }

    pub(crate) fn name(&self, thread: ThreadId) -> String {
        let given = |thread: ThreadId| {
            let entry = self.tables.threads.get(thread.0 as usize);
            entry.map_or("", |entry| entry.name.as_str())
        };
        let name = given(thread);
        let is_virtual = self.tables.threads.get(thread.0 as usize).is_some_and(|it| it.is_virtual);
        match name {
            "" if is_virtual => format!("virtual thread {}", thread.0),
            "" => format!("thread {}", thread.0),
            name if self.threads.iter().filter(|other| given(**other) == name).count() > 1 => {
                format!("{name} #{}", thread.0)
            }
            name => name.to_string(),
        }
    }
}

/// The site with this number; a site called `unknown` if it is not in the table.
pub(crate) fn site_of(tables: &Tables, site: SiteId) -> Site {
    match tables.sites.get(site.0 as usize) {
        Some(entry) => entry.site.clone(),
        None => Site {
            class: "unknown".to_string(),
            method: "unknown".to_string(),
            descriptor: "()V".to_string(),
            offset: Some(site.0),
            file: None,
            line: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::{Action, ClassEntry, Epoch, Event, FieldEntry, FieldId, SiteEntry, ThreadEntry};

    #[test]
    fn classes_are_named_as_in_the_source() {
        for (class, expected) in [
            ("p.Account", "Account"),
            ("Account", "Account"),
            ("p.Shop$Account", "Account"),
            ("p.Shop$1", "Shop$1"),
            ("p.Shop$1Local", "Shop$1Local"),
            ("p.Shop$$Lambda$14/0x0000000800c03000", "Shop$$Lambda$14"),
            ("[I", "int[]"),
            ("[[Lp.Shop$Account;", "Account[][]"),
            ("", ""),
            ("$", "$"),
        ] {
            assert_eq!(simple_name(class), expected, "{class}");
        }
    }

    #[test]
    fn what_is_remembered_has_a_number_and_the_rest_what_the_place_says() {
        let mut tables = Tables::default();
        tables.classes.push(ClassEntry { name: "p.Account".to_string() });
        tables.classes.push(ClassEntry { name: "[I".to_string() });
        tables.fields.push(FieldEntry { class: "p.Account".into(), name: "balance".into() });
        tables.sites.push(SiteEntry { subject: "p.Bank.all".into(), ..SiteEntry::unknown() });
        tables.threads.push(ThreadEntry { name: "worker".to_string(), is_virtual: false });
        for number in 4..7 {
            tables.objects.add(ObjectId(number), ClassId(0));
        }
        tables.objects.add(ObjectId(7), ClassId(1));
        let names = |subject: Subject| {
            (subject.name(&tables, SiteId(0)), subject.stable_name(&tables, SiteId(0)))
        };
        let (field, unknown) = (FieldId(0), ObjectId(99));
        for (subject, name, stable) in [
            (
                Subject::Variable(Variable::Field(ObjectId(6), field)),
                "Account#3.balance",
                "p.Account.balance",
            ),
            (
                Subject::Variable(Variable::Field(unknown, field)),
                "Account.balance",
                "p.Account.balance",
            ),
            (Subject::Variable(Variable::Static(field)), "Account.balance", "p.Account.balance"),
            (Subject::Variable(Variable::Element(ObjectId(7), 5)), "int[]#1[5]", "p.Bank.all"),
            (Subject::Variable(Variable::Element(unknown, 5)), "p.Bank.all", "p.Bank.all"),
            (Subject::Lock(ObjectId(4)), "Account#1", "p.Bank.all"),
            (Subject::Lock(unknown), "p.Bank.all", "p.Bank.all"),
            (Subject::Thread(ThreadId(0)), "worker", "p.Bank.all"),
            (Subject::Class(ClassId(0)), "Account", "p.Account"),
        ] {
            assert_eq!(names(subject), (name.to_string(), stable.to_string()));
        }
    }

    #[test]
    fn objects_of_the_platform_are_called_after_the_field_they_were_read_from() {
        let mut tables = Tables::default();
        for (number, class) in
            ["java.lang.Object", "shop.Item", "java.util.HashMap"].iter().enumerate()
        {
            tables.classes.push(ClassEntry { name: (*class).to_string() });
            tables.objects.add(ObjectId(number as u64 + 4), ClassId(number as u32));
        }
        for subject in
            [" of shop.Stock.lock", "java.util.Map.get of shop.Stock.items", "java.util.Map.get"]
        {
            tables.sites.push(SiteEntry { subject: subject.into(), ..SiteEntry::unknown() });
        }
        tables.classes.push(ClassEntry { name: "java.util.ArrayList".to_string() });
        tables.objects.add(ObjectId(7), ClassId(3));
        for (object, site) in [(4, 0), (5, 0), (6, 1)] {
            let action = Action::Acquire(ObjectId(object));
            let (thread, epoch) = (ThreadId(0), Epoch(0));
            tables.note(&Event { thread, site: SiteId(site), epoch, action, overlaps: 0 });
        }
        let names = |subject: Subject, site| {
            (subject.name(&tables, SiteId(site)), subject.stable_name(&tables, SiteId(site)))
        };
        let contents = |object| Subject::Variable(Variable::Contents(ObjectId(object)));
        for (subject, site, name, stable) in [
            (Subject::Lock(ObjectId(4)), 0, "Stock.lock#1", "shop.Stock.lock"),
            (Subject::Lock(ObjectId(4)), 2, "Stock.lock#1", "shop.Stock.lock"),
            (Subject::Lock(ObjectId(5)), 0, "Item#1", "shop.Stock.lock"),
            (contents(6), 1, "Stock.items", "shop.Stock.items"),
            (contents(6), 2, "Stock.items", "shop.Stock.items"),
            (contents(7), 2, "ArrayList#1", "java.util.Map.get()"),
        ] {
            assert_eq!(names(subject, site), (name.to_string(), stable.to_string()));
        }
    }

    #[test]
    fn threads_of_one_name_are_told_apart() {
        let mut tables = Tables::default();
        for (name, is_virtual) in [("a", false), ("b", false), ("a", false), ("", true)] {
            tables.threads.push(ThreadEntry { name: name.to_string(), is_virtual });
        }
        let names = |threads: &[u32]| -> Vec<String> {
            let threads = threads.iter().copied().map(ThreadId);
            let names = ThreadNames::new(&tables, threads.clone());
            threads.map(|thread| names.name(thread)).collect()
        };
        assert_eq!(names(&[0, 1, 0]), ["a", "b", "a"]);
        assert_eq!(names(&[0, 1, 2]), ["a #0", "b", "a #2"]);
        assert_eq!(names(&[3, 7]), ["virtual thread 3", "thread 7"]);
    }
}
