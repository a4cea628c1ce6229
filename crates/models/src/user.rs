//! The statements of users' files, laid over those that come with Scission.

use rustc_hash::FxHashMap;

use model_format::{
    ClassFact, ComponentFact, EntryPoint, FieldFact, MethodFact, Model, ModelFile, Supertypes,
};

/// What users say. Of two statements about the same thing the later file's counts.
#[derive(Debug, Default)]
pub(crate) struct UserModels {
    /// Sorted by class, method and descriptor.
    pub(crate) rows: Vec<&'static Model>,
    /// The rows of a method, by class and name, as positions in `rows`.
    index: FxHashMap<(&'static str, &'static str), (usize, usize)>,
    pub(crate) classes: Vec<&'static ClassFact>,
    pub(crate) methods: Vec<&'static MethodFact>,
    pub(crate) fields: Vec<&'static FieldFact>,
    pub(crate) entry_points: Vec<&'static EntryPoint>,
    pub(crate) components: Vec<&'static ComponentFact>,
    supertypes: FxHashMap<&'static str, &'static Supertypes>,
}

/// Statements live until the process ends, as their texts do.
fn keep<T>(statements: &[T]) -> &'static [T]
where
    T: Copy,
{
    Box::leak(statements.into())
}

impl UserModels {
    pub(crate) fn new(files: &[ModelFile]) -> UserModels {
        let mut all = UserModels::default();
        // Later files first, so that what is found first is what counts.
        for file in files.iter().rev() {
            for row in keep(&file.rows) {
                let is_same = |other: &&Model| {
                    (other.class, other.method, other.descriptor)
                        == (row.class, row.method, row.descriptor)
                };
                if !all.rows.iter().any(is_same) {
                    all.rows.push(row);
                }
            }
            all.classes.extend(keep(&file.classes));
            all.methods.extend(keep(&file.methods));
            all.fields.extend(keep(&file.fields));
            all.entry_points.extend(keep(&file.entry_points));
            all.components.extend(keep(&file.components));
            for row in keep(&file.supertypes) {
                all.supertypes.entry(row.class).or_insert(row);
            }
        }
        all.rows.sort_by_key(|row| (row.class, row.method, row.descriptor));
        for (position, row) in all.rows.iter().enumerate() {
            let (_, end) = all.index.entry((row.class, row.method)).or_insert((position, position));
            *end = position + 1;
        }
        all
    }

    /// Everything that is said.
    pub(crate) fn all(&self) -> ModelFile {
        fn copied<T: Copy>(statements: &[&'static T]) -> Vec<T> {
            statements.iter().map(|statement| **statement).collect()
        }
        let mut supertypes: Vec<Supertypes> = self.supertypes.values().map(|row| **row).collect();
        supertypes.sort_by_key(|row| row.class);
        ModelFile {
            rows: copied(&self.rows),
            classes: copied(&self.classes),
            methods: copied(&self.methods),
            fields: copied(&self.fields),
            entry_points: copied(&self.entry_points),
            components: copied(&self.components),
            supertypes,
        }
    }

    /// The rows of a method of exactly this class.
    pub(crate) fn rows_of(
        &self,
        class: &str,
        method: &str,
    ) -> impl Iterator<Item = &'static Model> + Clone {
        let (start, end) = self.index.get(&(class, method)).copied().unwrap_or_default();
        self.rows[start..end].iter().copied()
    }

    /// Whether there is a row for exactly this pattern.
    pub(crate) fn row(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.rows_of(class, method).any(|row| row.descriptor == descriptor)
    }

    pub(crate) fn supertypes(&self, class: &str) -> Option<&'static [&'static str]> {
        self.supertypes.get(class).map(|row| row.supertypes)
    }
}
