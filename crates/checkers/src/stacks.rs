//! Chooses the recorded stack that shows best how a thread reached a site.

use events::{Context, SiteId, StackEntry, Tables, ThreadId};
use findings::{Site, Stack};
use rustc_hash::FxHashMap;

/// The stacks of a run, by place.
#[derive(Debug)]
pub(crate) struct Stacks<'a> {
    by_site: FxHashMap<SiteId, Vec<&'a StackEntry>>,
}

impl<'a> Stacks<'a> {
    pub(crate) fn new(tables: &'a Tables) -> Stacks<'a> {
        let mut by_site: FxHashMap<SiteId, Vec<&StackEntry>> = FxHashMap::default();
        for entry in &tables.stacks {
            by_site.entry(entry.site).or_default().push(entry);
        }
        Stacks { by_site }
    }

    /// The stack that the thread itself had there in these blocks; else one of another thread in the
    /// same blocks; else one of the thread; else one that goes through the method of a block; else any.
    pub(crate) fn find(
        &self,
        site: SiteId,
        thread: ThreadId,
        context: Option<Context>,
        through: Option<&Site>,
    ) -> Option<Stack> {
        let taken = self.by_site.get(&site)?;
        let is_through = |entry: &StackEntry| {
            through.is_some_and(|block| entry.frames.iter().any(|frame| is_same(frame, block)))
        };
        // Of equally good ones, the first that was recorded.
        let best = taken.iter().rev().max_by_key(|entry| {
            let in_context = context == Some(entry.context);
            (in_context, entry.thread == thread, is_through(entry))
        })?;
        Some(Stack {
            frames: best.frames.iter().map(|frame| (**frame).clone()).collect(),
            is_same_context: best.thread == thread && context == Some(best.context),
        })
    }
}

/// Stacks do not have the parameter types of methods.
fn is_same(frame: &Site, block: &Site) -> bool {
    (&frame.class, &frame.method) == (&block.class, &block.method)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use events::SiteEntry;

    #[test]
    fn the_nearest_stack_is_taken() {
        let frame = |method: &str| Site { method: method.to_string(), ..SiteEntry::unknown().site };
        let context = |block| Context::of([SiteId(block)].into_iter());
        let mut tables = Tables::default();
        for (thread, block, method) in
            [(1, 1, "first"), (1, 2, "own"), (2, 2, "other"), (3, 3, "through")]
        {
            tables.stacks.push(StackEntry {
                site: SiteId(5),
                thread: ThreadId(thread),
                context: context(block),
                frames: vec![Arc::new(frame(method))],
            });
        }
        let stacks = Stacks::new(&tables);
        let find = |thread, block: Option<u32>, through: &str| {
            let through = frame(through);
            let found =
                stacks.find(SiteId(5), ThreadId(thread), block.map(context), Some(&through));
            found.map(|stack| (stack.frames[0].method.clone(), stack.is_same_context))
        };
        let some = |method: &str, same| Some((method.to_string(), same));
        assert_eq!(find(1, Some(2), ""), some("own", true));
        assert_eq!(find(2, Some(2), ""), some("other", true));
        assert_eq!(find(9, Some(2), ""), some("own", false));
        assert_eq!(find(2, Some(8), ""), some("other", false));
        assert_eq!(find(9, None, "through"), some("through", false));
        assert_eq!(find(9, None, ""), some("first", false));
        assert!(stacks.find(SiteId(6), ThreadId(1), None, None).is_none());
    }
}
