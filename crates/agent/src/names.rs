//! The names behind the numbers that events carry, as they are given out.
//!
//! Numbers are given by whoever needs one first: the class hook gives sites, the Java half asks for classes,
//! fields and threads, and says where stacks are to be taken. A row stands here before any event can carry its number; the consumer moves new rows
//! to its own tables before it looks at the events of a batch.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_protocol::layout::SITES;
use events::{ClassEntry, FieldEntry, SiteEntry, SiteId, StackEntry, Tables, ThreadEntry};
use findings::Site;
use instrument::{NewSite, SiteTable, SiteTarget, TreeMethod};

use crate::memory::Memory;
use crate::suspects::Suspects;

/// All names that were given out, and those that the consumer has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Names {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By site, without the unknown one: what a hook must know to find its variable.
    targets: Vec<SiteTarget>,
    /// The sites of fields whose code gives order only.
    order_sites: HashSet<u32>,
    /// The class of each site, with dots, by the number of its name.
    classes_of_sites: Vec<u32>,
    /// Numbers for all classes of one name.
    class_names: HashMap<String, u32>,
    classes: Vec<String>,
    fields: HashMap<(u32, String), u32>,
    /// The methods that method references have given to other threads, by class and name.
    references: HashSet<(String, String)>,
    threads: u32,
    /// The trees of branches, by site, and of methods. Each begins with how many numbers follow.
    trees: HashMap<u32, &'static [i32]>,
    method_trees: HashMap<TreeMethod, &'static [i32]>,
    /// The classes of whose methods the trees are known, in internal form.
    classes_with_trees: HashSet<String>,
    /// What trees have numbers for.
    named_in_trees: Vec<TreeMethod>,
    numbers_in_trees: HashMap<TreeMethod, i32>,
    /// Rows that the consumer has not taken yet.
    fresh: Tables,
}

impl Names {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic while a row was added leaves the tables as they were before or after.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a site refers to, in words separated by blanks. A field: owner, name, descriptor, and `static` or `field`; then
    /// `order` if the site gives order only.
    /// A call, a block, a lock: the name of the method, `-` where there is none, and `block` where a lock that
    /// is acquired begins an atomic block, `referenced` where the block is a method that a method reference has given
    /// to other threads. Empty for other sites.
    pub(crate) fn target(&self, site: u32) -> String {
        let inner = self.lock();
        let and_block = |begins_block: bool| if begins_block { " block" } else { "" };
        match inner.targets.get((site as usize).wrapping_sub(1)) {
            Some(SiteTarget::Field { owner, name, descriptor, is_static }) => {
                let kind = if *is_static { "static" } else { "field" };
                let order = if inner.order_sites.contains(&site) { " order" } else { "" };
                format!("{owner} {name} {descriptor} {kind}{order}")
            }
            Some(SiteTarget::Call { name, begins_block, .. }) => {
                format!("{name}{}", and_block(*begins_block))
            }
            Some(SiteTarget::Block { class, method }) => {
                let is_referenced = inner.references.contains(&(class.clone(), method.clone()));
                format!("{method}{}", if is_referenced { " referenced" } else { "" })
            }
            Some(SiteTarget::Lock { begins_block }) => format!("-{}", and_block(*begins_block)),
            Some(SiteTarget::None | SiteTarget::Array | SiteTarget::Reference { .. }) | None => {
                String::new()
            }
        }
    }

    /// The number that stands for the name of the class that a site lies in.
    pub(crate) fn class_of_site(&self, site: u32) -> u32 {
        let site = (site as usize).wrapping_sub(1);
        self.lock().classes_of_sites.get(site).copied().unwrap_or_default()
    }

    /// The address of the tree of a branch, 0 if it has none.
    pub(crate) fn tree_of_branch(&self, site: u32) -> usize {
        self.lock().trees.get(&site).map_or(0, |tree| tree.as_ptr().addr())
    }

    /// The address of the tree of a method, as a class with this name in internal form declares it; 0 if it declares none,
    /// nothing if nobody knows what the class declares.
    pub(crate) fn tree_of_method(&self, class: String, number: usize) -> Option<usize> {
        let inner = self.lock();
        let named = inner.named_in_trees.get(number)?;
        if !inner.classes_with_trees.contains(&class) {
            return None;
        }
        let method = TreeMethod { class, ..named.clone() };
        Some(inner.method_trees.get(&method).map_or(0, |tree| tree.as_ptr().addr()))
    }

    /// The class behind a number in a tree, in internal form; for a method the one that the call names.
    pub(crate) fn class_in_tree(&self, number: usize) -> String {
        self.lock().named_in_trees.get(number).map_or_else(String::new, |named| named.class.clone())
    }

    /// A new class; classes of the same name in different loaders are different.
    pub(crate) fn add_class(&self, name: String) -> u32 {
        let mut inner = self.lock();
        let number = inner.classes.len() as u32;
        inner.fresh.classes.push(ClassEntry { name: name.clone() });
        inner.classes.push(name);
        number
    }

    /// A field of a class, which is known by its number.
    pub(crate) fn field(&self, class: u32, name: String) -> u32 {
        let mut inner = self.lock();
        let number = inner.fields.len() as u32;
        let key = (class, name.clone());
        if let Some(known) = inner.fields.get(&key) {
            return *known;
        }
        inner.fields.insert(key, number);
        let class = inner.classes.get(class as usize).cloned().unwrap_or_default();
        inner.fresh.fields.push(FieldEntry { class, name });
        number
    }

    /// A new thread.
    pub(crate) fn add_thread(&self, name: String, is_virtual: bool) -> u32 {
        let mut inner = self.lock();
        let number = inner.threads;
        inner.threads += 1;
        inner.fresh.threads.push(ThreadEntry { name, is_virtual });
        number
    }

    /// How a place was reached.
    pub(crate) fn add_stack(&self, stack: StackEntry) {
        self.lock().fresh.stacks.push(stack);
    }

    /// A place that no hook has a number for.
    pub(crate) fn add_place(&self, site: Site) -> Option<SiteId> {
        let mut inner = self.lock();
        if inner.targets.len() + 1 >= SITES {
            return None;
        }
        if inner.targets.is_empty() {
            inner.fresh.sites.push(SiteEntry::unknown());
        }
        inner.classes_of_sites.push(0);
        inner.targets.push(SiteTarget::None);
        inner.fresh.sites.push(SiteEntry { site, ..SiteEntry::unknown() });
        Some(SiteId(inner.targets.len() as u32))
    }

    /// How many threads there were.
    pub(crate) fn threads(&self) -> u32 {
        self.lock().threads
    }

    /// Moves the rows that were added since the last time to the end of these tables.
    pub(crate) fn move_to(&self, tables: &mut Tables) {
        let mut inner = self.lock();
        tables.sites.append(&mut inner.fresh.sites);
        tables.fields.append(&mut inner.fresh.fields);
        tables.classes.append(&mut inner.fresh.classes);
        tables.threads.append(&mut inner.fresh.threads);
        tables.stacks.append(&mut inner.fresh.stacks);
    }
}

/// Gives sites their numbers. One is made for each class that is rewritten.
pub(crate) struct Sites<'a> {
    pub(crate) names: &'a Names,
    pub(crate) suspects: &'a Suspects,
    pub(crate) memory: &'a Memory,
    /// How often threads are held back at a site that is suspected.
    pub(crate) holds_per_site: i8,
}

impl SiteTable for Sites<'_> {
    fn add(&mut self, site: NewSite) -> Option<SiteId> {
        let mut inner = self.names.lock();
        if inner.targets.len() + 1 >= SITES {
            return None;
        }
        if inner.targets.is_empty() {
            inner.fresh.sites.push(SiteEntry::unknown());
        }
        let next = inner.class_names.len() as u32;
        let class = match inner.class_names.get(&site.entry.site.class) {
            Some(number) => *number,
            None => {
                inner.class_names.insert(site.entry.site.class.clone(), next);
                next
            }
        };
        inner.classes_of_sites.push(class);
        if let SiteTarget::Reference { owner, name } = &site.target {
            inner.references.insert((owner.clone(), name.clone()));
        }
        if site.entry.gives_order_only() && matches!(site.target, SiteTarget::Field { .. }) {
            let number = inner.targets.len() as u32 + 1;
            inner.order_sites.insert(number);
        }
        let is_suspect = self.suspects.contains(&site.entry.site, &site.target);
        inner.targets.push(site.target);
        inner.fresh.sites.push(site.entry);
        let number = SiteId(inner.targets.len() as u32);
        if is_suspect {
            self.memory.suspect(number, self.holds_per_site);
        }
        Some(number)
    }

    fn keep_branch(&mut self, site: SiteId, tree: Vec<i32>) {
        self.names.lock().trees.insert(site.0, counted(tree));
    }

    fn keep_class(&mut self, class: &str) {
        self.names.lock().classes_with_trees.insert(class.to_owned());
    }

    fn keep_method(&mut self, method: TreeMethod, tree: Vec<i32>) {
        self.names.lock().method_trees.insert(method, counted(tree));
    }

    fn number_in_tree(&mut self, named: TreeMethod) -> i32 {
        let mut inner = self.names.lock();
        if let Some(known) = inner.numbers_in_trees.get(&named) {
            return *known;
        }
        let number = i32::try_from(inner.named_in_trees.len()).unwrap_or(i32::MAX);
        inner.named_in_trees.push(named.clone());
        inner.numbers_in_trees.insert(named, number);
        number
    }
}

/// A tree with its length in front. It stays as long as the JVM, in which hooks read it.
fn counted(tree: Vec<i32>) -> &'static [i32] {
    let length = i32::try_from(tree.len()).unwrap_or(0);
    let mut counted = Vec::with_capacity(tree.len() + 1);
    counted.push(length);
    counted.extend(tree);
    counted.leak()
}
