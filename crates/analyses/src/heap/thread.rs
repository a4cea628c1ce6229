//! Abstract threads (dissertation, 3.2).

use program::ids::{FieldId, MethodId};
use program::models::EntryThread;
use program::summaries;

use super::{ObjectId, Place, TaskSharing};

/// What kind of control flow an abstract thread stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadKind {
    /// The initial thread of the program.
    Main,
    /// A started thread, or a task that is run by another one.
    Run,
    /// Something outside the program calls in, on such a thread.
    Entry(EntryThread),
    /// Clients of the methods that the user named as entry points.
    Client,
    /// Callers of the public methods of a library, and of the components of a container.
    Public,
    /// A class initialiser. It runs in whatever thread comes first; what it does is ordered before all uses of the
    /// class, so it takes part in no conflict.
    Init,
}

impl ThreadKind {
    /// The dissertation's word, or ours where it has none.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            ThreadKind::Main => "MAIN",
            ThreadKind::Run => "RUN",
            ThreadKind::Entry(_) => "ENTRY",
            ThreadKind::Client => "CLIENT",
            ThreadKind::Public => "PUBLIC",
            ThreadKind::Init => "INIT",
        }
    }
}

/// What makes threads run one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SerializedBy {
    /// The executor with a single worker, or the timer, in this field.
    Field(FieldId),
    /// The event dispatch thread of the user interface.
    EventDispatch,
}

/// Potentially concurrent control flows that the analysis does not distinguish.
#[derive(Clone, Debug)]
pub struct AbstractThread {
    /// What kind of control flow.
    pub kind: ThreadKind,
    /// Whether at most one of them exists at a time.
    pub is_unique: bool,
    /// The methods it begins with, sorted.
    pub entries: Vec<MethodId>,
    /// The object that it runs: what `this` is in its first method, or the lambda. None for static methods.
    pub root: Option<ObjectId>,
    /// Whether other threads run the same object.
    pub root_sharing: TaskSharing,
    /// Where the program starts or submits it.
    pub started_at: Vec<Place>,
    /// What makes the thread run one after the other with others: of those with the same value, one runs at a time.
    pub serialized_by: Option<SerializedBy>,
    /// Whether whoever starts it waits for its end in the same call: steps of a parallel stream, `invokeAll`.
    pub is_scoped: bool,
}

impl AbstractThread {
    /// Whether it is a thread of its own, and can conflict with others.
    #[must_use]
    pub fn is_user_thread(&self) -> bool {
        self.kind != ThreadKind::Init
    }
}

program::typed_ids! {
    /// An abstract thread.
    ThreadId "thread";
}

/// A set of abstract threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadSet {
    /// Bits; no zero words at the end, so that equal sets are equal values.
    words: Vec<u64>,
}

impl ThreadSet {
    /// The set of one thread.
    #[must_use]
    pub fn of(thread: ThreadId) -> ThreadSet {
        let mut set = ThreadSet::default();
        set.insert(thread);
        set
    }

    /// Adds a thread; says whether it is new.
    pub fn insert(&mut self, thread: ThreadId) -> bool {
        use program::ids::Id;
        let (word, bit) = (thread.index() / 64, 1 << (thread.index() % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Adds all threads of another set; says whether any is new.
    pub fn extend(&mut self, other: &ThreadSet) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut grew = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            grew |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        grew
    }

    /// Keeps the threads that another set has too.
    pub fn intersect(&mut self, other: &ThreadSet) {
        self.words.truncate(other.words.len());
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= theirs;
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    /// Whether it has this thread.
    #[must_use]
    pub fn contains(&self, thread: ThreadId) -> bool {
        use program::ids::Id;
        self.words
            .get(thread.index() / 64)
            .is_some_and(|word| word >> (thread.index() % 64) & 1 == 1)
    }

    /// Whether it has no thread.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The threads, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        use program::ids::Id;
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| ThreadId::new(at * 64 + bit))
        })
    }
}

impl FromIterator<ThreadId> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> ThreadSet {
        let mut set = ThreadSet::default();
        for thread in threads {
            set.insert(thread);
        }
        set
    }
}

/// The threads that get to each node of a graph of calls, from those that begin there: callers before what they call,
/// those that call each other together.
pub(crate) fn propagate_thread_sets(
    callees: &[Vec<usize>],
    mut threads: Vec<ThreadSet>,
) -> Vec<ThreadSet> {
    for component in summaries::components(callees).iter().rev() {
        let mut all = ThreadSet::default();
        for node in component {
            all.extend(&threads[*node]);
        }
        if all.is_empty() {
            continue;
        }
        for node in component {
            threads[*node].extend(&all);
            for callee in &callees[*node] {
                threads[*callee].extend(&all);
            }
        }
    }
    threads
}

#[cfg(test)]
mod tests {
    use program::ids::Id;

    use super::*;
    use crate::random::Random;

    /// Follows every thread by itself.
    fn one_by_one(callees: &[Vec<usize>], begin: &[ThreadSet]) -> Vec<ThreadSet> {
        let mut reached = vec![ThreadSet::default(); callees.len()];
        for (start, threads) in begin.iter().enumerate() {
            for thread in threads.iter() {
                let mut todo = vec![start];
                while let Some(node) = todo.pop() {
                    if reached[node].insert(thread) {
                        todo.extend(&callees[node]);
                    }
                }
            }
        }
        reached
    }

    #[test]
    fn threads_get_wherever_calls_lead() {
        let mut random = Random::new(7);
        let mut below = |limit| random.below(limit);
        for _ in 0..500 {
            let nodes = 1 + below(12);
            let callees: Vec<Vec<usize>> =
                (0..nodes).map(|_| (0..below(4)).map(|_| below(nodes)).collect()).collect();
            let mut begin = vec![ThreadSet::default(); nodes];
            for thread in 0..below(4) {
                begin[below(nodes)].insert(ThreadId::new(thread * 40));
            }
            let expected = one_by_one(&callees, &begin);
            let found = propagate_thread_sets(&callees, begin);
            let members = |sets: &[ThreadSet]| -> Vec<Vec<ThreadId>> {
                sets.iter().map(|set| set.iter().collect()).collect()
            };
            assert_eq!(members(&found), members(&expected), "{callees:?}");
        }
    }
}
