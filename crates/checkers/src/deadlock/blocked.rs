//! Threads that the agent has found blocked, the cycles among them, and those that wait while nobody is left to wake them.

use events::{ClassId, ObjectId, SiteId, ThreadId};
use findings::Evidence;
use rustc_hash::FxHashMap;

use super::{Deadlock, Grade, Waiter, Wanted};

/// What blocked threads hold and want.
#[derive(Debug, Default)]
pub(super) struct BlockedThreads {
    /// Who holds a lock, and where it was acquired.
    holders: FxHashMap<ObjectId, Vec<(ThreadId, SiteId)>>,
    wants: FxHashMap<ThreadId, (Wanted, SiteId)>,
    deadlocks: Vec<Deadlock>,
    /// Threads that wait without a limit, of which the next event says what that means.
    stalled: Vec<Stalled>,
    standstills: Vec<Standstill>,
    has_new: bool,
}

/// A thread that waits without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stalled {
    pub(super) thread: ThreadId,
    pub(super) site: SiteId,
    /// What it waits for, if that is known.
    pub(super) object: Option<ObjectId>,
    /// The method that it waits in.
    pub(super) call: ClassId,
}

/// Threads that wait without a limit, and nobody can wake them.
#[derive(Debug)]
pub(super) struct Standstill {
    /// The pools in which the tasks are queued that they wait for; none if they are all threads of the program.
    pub(super) pools: Vec<ObjectId>,
    /// Whether there are others among them than the threads of the first pool.
    pub(super) has_others: bool,
    pub(super) stalled: Vec<Stalled>,
    /// What they hold, and where they have acquired it.
    pub(super) held: Vec<(ThreadId, ObjectId, SiteId)>,
}

impl BlockedThreads {
    pub(super) fn holds(&mut self, thread: ThreadId, lock: ObjectId, site: SiteId) {
        let holders = self.holders.entry(lock).or_default();
        if !holders.iter().any(|(known, _)| *known == thread) {
            holders.push((thread, site));
        }
    }

    pub(super) fn waits(&mut self, thread: ThreadId, wanted: Wanted, site: SiteId) {
        self.wants.insert(thread, (wanted, site));
        let first = Waiter { thread, held: None, wanted, wanted_at: site };
        if let Some(mut waiters) = self.cycle(vec![first]) {
            // The first one holds what the last one wants.
            let wanted = waiters.last().map(|last| last.wanted);
            waiters[0].held = wanted.and_then(|wanted| self.held_by(thread, wanted));
            self.deadlocks.push(Deadlock {
                evidence: Evidence::Observed,
                grade: Grade::Proven,
                waiters,
            });
            self.has_new = true;
        }
    }

    /// Continues a chain of threads, each of which waits for the next, until it comes back to the first. Whoever is reported
    /// to be blocked waits for all who hold what it wants, so that any way back will do.
    fn cycle(&self, chain: Vec<Waiter>) -> Option<Vec<Waiter>> {
        let mut open = vec![chain];
        let mut seen: Vec<ThreadId> = Vec::new();
        while let Some(chain) = open.pop() {
            let wanted = chain.last()?.wanted;
            for next in self.waited_for(wanted) {
                if next == chain[0].thread {
                    return Some(chain);
                }
                let Some((wants, site)) = self.wants.get(&next) else { continue };
                if seen.contains(&next) {
                    continue;
                }
                seen.push(next);
                let held = self.held_by(next, wanted);
                let waiter = Waiter { thread: next, held, wanted: *wants, wanted_at: *site };
                open.push(chain.iter().copied().chain([waiter]).collect());
            }
        }
        None
    }

    fn waited_for(&self, wanted: Wanted) -> Vec<ThreadId> {
        match wanted {
            Wanted::Lock(lock) => {
                let holders = self.holders.get(&lock).into_iter().flatten();
                holders.map(|(thread, _)| *thread).collect()
            }
            Wanted::End(thread) => vec![thread],
        }
    }

    fn held_by(&self, thread: ThreadId, wanted: Wanted) -> Option<(ObjectId, SiteId)> {
        let Wanted::Lock(lock) = wanted else { return None };
        let mut holders = self.holders.get(&lock).into_iter().flatten();
        holders.find(|(holder, _)| *holder == thread).map(|(_, site)| (lock, *site))
    }

    pub(super) fn stalls(
        &mut self,
        thread: ThreadId,
        site: SiteId,
        object: ObjectId,
        call: ClassId,
    ) {
        let object = (object.0 != 0).then_some(object);
        self.stalled.push(Stalled { thread, site, object, call });
    }

    /// The threads that were last said to be stalled are all threads of a pool, or of the program. If nothing was said since the last
    /// pool, this is one more of the same threads, or the same one, which are not all its own then.
    pub(super) fn stands_still(&mut self, pool: Option<ObjectId>) {
        if let (true, Some(pool), Some(last)) =
            (self.stalled.is_empty(), pool, self.standstills.last_mut())
        {
            last.has_others = true;
            if !last.pools.contains(&pool) {
                last.pools.push(pool);
            }
            return;
        }
        let stalled = std::mem::take(&mut self.stalled);
        let is_stalled = |thread: ThreadId| stalled.iter().any(|it| it.thread == thread);
        let mut held: Vec<(ThreadId, ObjectId, SiteId)> = Vec::new();
        for (lock, holders) in &self.holders {
            let holders = holders.iter().filter(|(thread, _)| is_stalled(*thread));
            held.extend(holders.map(|(thread, site)| (*thread, *lock, *site)));
        }
        held.sort_unstable();
        if !stalled.is_empty() {
            let pools = pool.into_iter().collect();
            self.standstills.push(Standstill { pools, has_others: false, stalled, held });
            self.has_new = true;
        }
    }

    pub(super) fn standstills(&self) -> &[Standstill] {
        &self.standstills
    }

    pub(super) fn deadlocks(&self) -> &[Deadlock] {
        &self.deadlocks
    }

    /// Whether there is a deadlock that nobody has asked about yet.
    pub(super) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.has_new)
    }
}
