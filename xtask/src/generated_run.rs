//! Synthetic runs for measuring checkers: threads that do what the programs of the Velodrome
//! paper do, interleaved by a deterministic scheduler, and reported whole or as the agent reports.
//!
//! Every run can happen: a lock has one holder, a barrier opens when all have come, a thread does nothing
//! before it is started. What the threads share is guarded by locks that are held to the end of a
//! transaction, or handed over at barriers, so that there is contention and nothing to report; but for the work that
//! is split, where many transactions are not serializable.

use events::{
    Access, Action, Branch, ClassId, Epoch, Event, FieldId, ObjectId, SiteId, ThreadId, Variable,
};

/// How much of a run is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Everything, without epochs: as other tools write traces.
    Plain,
    /// With epochs, through the filters of the agent: see the head of `event.rs` in `events`.
    Agent,
}

/// What the threads do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Critical sections, one in fifty of them in a transaction.
    FewTransactions,
    /// Critical sections, each in a transaction.
    ManyTransactions,
    /// A search: a table that all read, paths of one's own, and a best value behind a lock.
    Tsp,
    /// Small transactions over forty locks.
    Elevator,
    /// A grid, its halves written in turns, with a barrier in between.
    Sor,
    /// Particles that all read, then each thread writes its own, with barriers in between.
    MolDyn,
    /// Transactions on new objects of one thread, and a list of results.
    MonteCarlo,
    /// Nested blocks on new objects and on a warehouse, mostly one's own, with two locks.
    Jbb,
    /// Transactions that read an immutable scene, and a counter of rows.
    Mtrt,
    /// Transactions that hold the locks of two neighbouring slots.
    Multiset,
    /// Tasks that are handed to a pool, each new.
    Pool,
    /// Transactions over this many variables.
    Spread(u32),
    /// The same, each with a branch whose other side would use others of them.
    Sides(u32),
    /// As many transactions, and this many threads of the run are in one that does not end.
    Open(u32),
    /// Transactions of which this share, in percent, give their lock back in the middle, so that others come in between.
    Split(u32),
    /// The same with all of them, in threads that are in another transaction, which does not end.
    SplitInLoops,
}

/// A run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) work: Work,
    pub(crate) threads: u32,
    pub(crate) style: Style,
}

/// What a thread does next. Variables, locks and tasks are small numbers.
#[derive(Clone, Copy, Debug)]
enum Op {
    Read(u32),
    Write(u32),
    /// The variables of a record from this one on are those of a new object.
    New(u32),
    Acquire(u32),
    Release(u32),
    Arrive,
    Pass,
    Fork(u32),
    Submit(u32),
    TakeTask(u32),
    EndTask(u32),
    JoinTask(u32),
    Begin,
    End,
    /// What a thread tells of a side that it does not take.
    Tell(Told),
    /// Does nothing more.
    Rest,
}

/// A branch, and what would have happened on its other side.
#[derive(Clone, Copy, Debug)]
enum Told {
    Choice,
    Untaken,
    Read(u32),
    Write(u32),
    Acquire(u32),
    Release(u32),
    UntakenEnd,
    Rejoin,
}

/// The fields of one object, in a row.
const RECORD: u32 = 4;
/// The elements of one array, in a row.
const ARRAY: u32 = 1024;
/// The records of each thread's own.
const OWN_RECORDS: u32 = 64;
/// The elements of each thread's own.
const OWN_ELEMENTS: u32 = 256;
/// Records that threads share.
const SHARED_RECORDS: u32 = 2048;
/// The locks of transactions that are split, and the methods that they are executions of.
const SPLIT_LOCKS: u64 = 64;
const SPLIT_METHODS: u64 = 40;
/// The sites of one method.
const SITES: u32 = 16;
/// The most operations of a thread before another one has its turn.
const LONGEST_TURN: u64 = 16;
/// The most tasks that are on their way.
const MOST_TASKS: u32 = 1024;
/// The agent gives epochs to threads in blocks of so many.
const EPOCH_BLOCK: u64 = 1 << 14;

/// Numbers of objects: locks and the like lie apart from those that have fields.
const LOCKS: u64 = 1 << 40;
const TASKS: u64 = 1 << 41;
const ARRAYS: u64 = 1 << 42;
const BARRIER: ObjectId = ObjectId(1 << 43);

#[derive(Debug, Default)]
struct Worker {
    operations: Vec<Op>,
    at: usize,
    /// The site of its first operation, less one.
    first_site: u32,
    rounds: u64,
    is_started: bool,
    /// The opening of the barrier that it waits for.
    waits_for: u64,
    epoch: u64,
    /// The last epoch of its block.
    last_epoch: u64,
    /// The blocks it is in: the site, the epoch, and whether that was reported.
    open: Vec<(SiteId, u64, bool)>,
}

/// An access as the agent notes it beside a variable.
#[derive(Clone, Copy, Debug)]
struct Note {
    thread: u32,
    site: SiteId,
    epoch: u64,
}

#[derive(Clone, Debug, Default)]
struct Notes {
    write: Option<Note>,
    is_write_reported: bool,
    /// The reads since, one of each thread, in their order.
    reads: Vec<Note>,
}

/// Makes the events of a run.
pub(crate) struct GeneratedRun {
    shape: Shape,
    random: Random,
    workers: Vec<Worker>,
    current: usize,
    turn_left: u64,
    holders: Vec<Option<u32>>,
    /// How often the barrier has opened, and who has come since.
    opened: u64,
    arrived: u32,
    /// The object of each record.
    objects: Vec<u64>,
    next_object: u64,
    /// How many tasks were made, handed over, taken and waited for.
    made: u32,
    submitted: u32,
    taken: u32,
    joined: u32,
    /// Tasks that have ended and were not waited for yet, by their last bits.
    ended: Vec<bool>,
    notes: Vec<Notes>,
    next_epoch: u64,
}

impl GeneratedRun {
    pub(crate) fn new(shape: Shape) -> GeneratedRun {
        let records = match shape.work {
            Work::Spread(variables) | Work::Sides(variables) => {
                variables.div_ceil(RECORD) + shape.threads * OWN_RECORDS
            }
            _ => SHARED_RECORDS + shape.threads * OWN_RECORDS,
        };
        let elements = shape.threads * OWN_ELEMENTS + 2 * ARRAY;
        let notes = match shape.style {
            Style::Plain => 0,
            Style::Agent => (records * RECORD + elements) as usize,
        };
        let mut workers: Vec<Worker> = (0..shape.threads).map(|_| Worker::default()).collect();
        workers[0].is_started = true;
        GeneratedRun {
            shape,
            random: Random(0x5EED),
            workers,
            current: 0,
            turn_left: 0,
            holders: vec![None; 4096],
            opened: 0,
            arrived: 0,
            objects: (0..u64::from(records)).collect(),
            next_object: u64::from(records),
            made: 0,
            submitted: 0,
            taken: 0,
            joined: 0,
            ended: vec![false; MOST_TASKS as usize],
            notes: vec![Notes::default(); notes],
            next_epoch: 0,
        }
    }

    /// The next events of the run, about as many as there is room for.
    pub(crate) fn fill(&mut self, events: &mut Vec<Event>, room: usize) {
        while events.len() < room {
            if self.turn_left == 0 {
                self.current = self.random.below(u64::from(self.shape.threads)) as usize;
                self.turn_left = 1 + self.random.below(LONGEST_TURN);
            }
            self.turn_left -= 1;
            if !self.step(self.current as u32, events) {
                self.turn_left = 0;
            }
        }
    }

    /// The thread does its next operation, if that is possible now.
    fn step(&mut self, me: u32, events: &mut Vec<Event>) -> bool {
        let worker = &mut self.workers[me as usize];
        if !worker.is_started {
            return false;
        }
        if worker.at == worker.operations.len() {
            let mut operations = std::mem::take(&mut worker.operations);
            operations.clear();
            let round = worker.rounds;
            worker.rounds += 1;
            self.write_operations(me, round, &mut operations);
            let worker = &mut self.workers[me as usize];
            worker.operations = operations;
            worker.at = 0;
        }
        let worker = &mut self.workers[me as usize];
        let op = worker.operations[worker.at];
        match op {
            Op::Acquire(lock) => {
                let holder = &mut self.holders[lock as usize];
                if holder.is_some() {
                    return false;
                }
                *holder = Some(me);
            }
            Op::Release(lock) => self.holders[lock as usize] = None,
            Op::Arrive => {
                worker.waits_for = self.opened + 1;
                self.arrived += 1;
                if self.arrived == self.shape.threads {
                    self.arrived = 0;
                    self.opened += 1;
                }
            }
            Op::Pass if self.opened < worker.waits_for => return false,
            Op::Fork(child) => self.workers[child as usize].is_started = true,
            Op::Rest => return false,
            Op::New(variable) => {
                self.objects[(variable / RECORD) as usize] = self.next_object;
                self.next_object += 1;
                if self.shape.style == Style::Agent {
                    let notes = variable as usize..(variable + RECORD) as usize;
                    self.notes[notes].fill(Notes::default());
                }
            }
            Op::Pass
            | Op::Read(_)
            | Op::Write(_)
            | Op::TakeTask(_)
            | Op::Begin
            | Op::End
            | Op::Tell(_) => {}
            Op::Submit(_) => self.submitted += 1,
            Op::EndTask(task) => self.ended[(task % MOST_TASKS) as usize] = true,
            Op::JoinTask(task) => {
                let ended = &mut self.ended[(task % MOST_TASKS) as usize];
                if !std::mem::take(ended) {
                    return false;
                }
            }
        }
        let worker = &mut self.workers[me as usize];
        let site = SiteId(worker.first_site + (worker.at as u32 % 500) + 1);
        worker.at += 1;
        match self.shape.style {
            Style::Plain => {
                if let Some(action) = self.action(op) {
                    events.push(Event {
                        thread: ThreadId(me),
                        site,
                        epoch: Epoch(0),
                        action,
                        overlaps: 0,
                    });
                }
            }
            Style::Agent => self.report(me, site, op, events),
        }
        true
    }

    fn variable(&self, number: u32) -> Variable {
        match self.objects.get((number / RECORD) as usize) {
            Some(object) => Variable::Field(ObjectId(*object), FieldId(number % RECORD)),
            None => {
                let element = number - self.objects.len() as u32 * RECORD;
                let array = ObjectId(ARRAYS + u64::from(element / ARRAY));
                Variable::Element(array, element % ARRAY)
            }
        }
    }

    fn action(&self, op: Op) -> Option<Action> {
        let lock = |number: u32| ObjectId(LOCKS + u64::from(number));
        let task = |number: u32| ObjectId(TASKS + u64::from(number));
        Some(match op {
            Op::Read(variable) => Action::Read(self.variable(variable)),
            Op::Write(variable) => Action::Write(self.variable(variable)),
            Op::New(variable) => {
                let object = self.objects[(variable / RECORD) as usize];
                Action::Escape(ObjectId(object), ClassId(0))
            }
            Op::Acquire(number) => Action::Acquire(lock(number)),
            Op::Release(number) => Action::Release(lock(number)),
            Op::Arrive => Action::BarrierArrive(BARRIER),
            Op::Pass => Action::BarrierPass(BARRIER),
            Op::Fork(child) => Action::Fork(ThreadId(child)),
            Op::Submit(number) => Action::Submit(task(number)),
            Op::TakeTask(number) => Action::TaskBegin(task(number)),
            Op::EndTask(number) => Action::TaskEnd(task(number)),
            Op::JoinTask(number) => Action::TaskJoin(task(number)),
            Op::Begin => Action::Begin,
            Op::End => Action::End,
            Op::Tell(Told::Choice) => Action::Choice,
            Op::Tell(Told::Untaken) => Action::Untaken(Branch::Taken),
            Op::Tell(Told::Read(variable)) => Action::WouldRead(self.variable(variable)),
            Op::Tell(Told::Write(variable)) => Action::WouldWrite(self.variable(variable)),
            Op::Tell(Told::Acquire(number)) => Action::WouldAcquire(lock(number)),
            Op::Tell(Told::Release(number)) => Action::WouldRelease(lock(number)),
            Op::Tell(Told::UntakenEnd) => Action::UntakenEnd,
            Op::Tell(Told::Rejoin) => Action::Rejoin,
            Op::Rest => return None,
        })
    }

    /// An element of an array; elements are numbered after the records.
    fn element(&self, number: u32) -> u32 {
        self.objects.len() as u32 * RECORD + number
    }

    /// A record of a thread's own.
    fn own_record(&self, me: u32, number: u32) -> u32 {
        let own = self.shape.threads * OWN_RECORDS;
        (self.objects.len() as u32 - own + me * OWN_RECORDS + number % OWN_RECORDS) * RECORD
    }

    fn shared_record(number: u32) -> u32 {
        number % SHARED_RECORDS * RECORD
    }

    /// What a thread does in a round of its work.
    fn write_operations(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        if me == 0 && round == 0 {
            self.write_beginning(operations);
            return;
        }
        match self.shape.work {
            Work::FewTransactions => {
                self.write_own_work(me, round, 6, operations);
                self.write_section(round.is_multiple_of(50), 16, operations);
            }
            Work::ManyTransactions => self.write_section(true, 64, operations),
            Work::Tsp => self.write_search(me, round, operations),
            Work::Elevator => {
                self.write_section(true, 40, operations);
                self.write_own_work(me, round, 3, operations);
            }
            Work::Sor => self.write_grid(me, round, operations),
            Work::MolDyn => self.write_particles(me, round, operations),
            Work::MonteCarlo => self.write_prices(me, round, operations),
            Work::Jbb => self.write_orders(me, round, operations),
            Work::Mtrt => self.write_rays(me, round, operations),
            Work::Multiset => self.write_slots(operations),
            Work::Pool => self.write_task(me, round, operations),
            Work::Spread(variables) => self.write_spread(variables, operations),
            Work::Sides(variables) => self.write_sides(variables, operations),
            Work::Split(percent) => self.write_split(me, percent, operations),
            // The first round of a thread has its first transaction alone.
            Work::SplitInLoops if round == u64::from(me == 0) => operations.push(Op::Begin),
            Work::SplitInLoops => self.write_split(me, 100, operations),
            Work::Open(open) => {
                // They are the last threads of the run, and each has a lock and a record of its own
                // that the others use too.
                if me + open >= self.shape.threads {
                    let number = self.shape.threads - 1 - me;
                    let record = Self::shared_record(number);
                    operations.extend([Op::Begin, Op::Acquire(number), Op::Write(record)]);
                    operations.extend([Op::Release(number), Op::Rest]);
                } else {
                    self.write_section(true, 64, operations);
                }
            }
        }
    }

    /// The first thread makes what all share, and starts the others.
    fn write_beginning(&mut self, operations: &mut Vec<Op>) {
        match self.shape.work {
            Work::Tsp | Work::Sor | Work::MolDyn => {
                let elements = self.shape.threads * OWN_ELEMENTS;
                operations.extend((0..elements).map(|number| Op::Write(self.element(number))));
            }
            Work::Spread(_) | Work::Sides(_) => {}
            _ => {
                let variables = SHARED_RECORDS * RECORD;
                operations.extend((0..variables).map(Op::Write));
            }
        }
        operations.extend((1..self.shape.threads).map(Op::Fork));
    }

    /// Reads and writes of the thread's own data.
    fn write_own_work(&mut self, me: u32, round: u64, accesses: u32, operations: &mut Vec<Op>) {
        for number in 0..accesses {
            let record = self.own_record(me, round as u32 + number / 2);
            let variable = record + number % RECORD;
            operations.push(Op::Read(variable));
            operations.push(Op::Write(variable));
        }
    }

    /// A critical section under one of so many locks.
    fn write_section(&mut self, is_transaction: bool, locks: u32, operations: &mut Vec<Op>) {
        let lock = self.random.below(u64::from(locks)) as u32;
        let record = Self::shared_record(lock + locks * (self.random.below(4) as u32));
        if is_transaction {
            operations.push(Op::Begin);
        }
        operations.push(Op::Acquire(lock));
        operations.extend([Op::Read(record), Op::Write(record), Op::Read(record + 1)]);
        if self.random.below(4) == 0 {
            operations.push(Op::Write(record + 1));
        }
        operations.push(Op::Release(lock));
        if is_transaction {
            operations.push(Op::End);
        }
    }

    fn write_search(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        for step in 0..40 {
            let distance = self.random.below(u64::from(ARRAY.min(OWN_ELEMENTS))) as u32;
            operations.push(Op::Read(self.element(distance)));
            operations.push(Op::Write(self.own_record(me, round as u32 + step) + step % RECORD));
        }
        let best = Self::shared_record(0);
        let is_transaction = round.is_multiple_of(8);
        if is_transaction {
            operations.push(Op::Begin);
        }
        operations.extend([Op::Acquire(0), Op::Read(best)]);
        if self.random.below(16) == 0 {
            operations.push(Op::Write(best));
        }
        operations.push(Op::Release(0));
        if is_transaction {
            operations.push(Op::End);
        }
    }

    /// Even and odd elements are written in turns, from their neighbours.
    fn write_grid(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        let all = self.shape.threads * OWN_ELEMENTS;
        let from = me * OWN_ELEMENTS;
        for number in (from..from + OWN_ELEMENTS).filter(|it| u64::from(it % 2) == round % 2) {
            let before = self.element((number + all - 1) % all);
            let after = self.element((number + 1) % all);
            let here = self.element(number);
            operations.extend([Op::Read(before), Op::Read(after), Op::Read(here), Op::Write(here)]);
        }
        operations.extend([Op::Arrive, Op::Pass]);
    }

    fn write_particles(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        let all = u64::from(self.shape.threads * OWN_ELEMENTS);
        for _ in 0..4 * OWN_ELEMENTS {
            let other = self.random.below(all) as u32;
            operations.push(Op::Read(self.element(other)));
        }
        self.write_own_work(me, round, OWN_ELEMENTS, operations);
        operations.extend([Op::Begin, Op::Acquire(0)]);
        operations.extend([Op::Read(Self::shared_record(0)), Op::Write(Self::shared_record(0))]);
        operations.extend([Op::Release(0), Op::End, Op::Arrive, Op::Pass]);
        for number in me * OWN_ELEMENTS..(me + 1) * OWN_ELEMENTS {
            let here = self.element(number);
            operations.extend([Op::Read(here), Op::Write(here)]);
        }
        operations.extend([Op::Arrive, Op::Pass]);
    }

    fn write_prices(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        let path = self.own_record(me, round as u32);
        operations.extend([Op::New(path), Op::Begin]);
        for step in 0..4 {
            operations.extend([Op::Begin, Op::Write(path + step), Op::Read(path + step), Op::End]);
            operations.extend([Op::Read(path), Op::Write(path)]);
        }
        operations.push(Op::End);
        if round.is_multiple_of(8) {
            let results = Self::shared_record(0);
            operations.extend([Op::Begin, Op::Acquire(0), Op::Read(results), Op::Write(results)]);
            operations.extend([Op::Read(path), Op::Release(0), Op::End]);
        }
    }

    fn write_orders(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        let order = self.own_record(me, round as u32);
        let is_remote = self.random.below(10) == 0;
        let warehouse =
            if is_remote { self.random.below(u64::from(self.shape.threads)) as u32 } else { me };
        let district = self.shape.threads + warehouse * 10 + self.random.below(10) as u32;
        let (stock, sold) = (Self::shared_record(warehouse), Self::shared_record(district));
        operations.extend([Op::New(order), Op::Begin, Op::Begin]);
        operations.extend((0..RECORD).map(|field| Op::Write(order + field)));
        operations.extend([Op::End, Op::Begin, Op::Acquire(warehouse)]);
        for field in 0..RECORD {
            operations.extend([Op::Read(stock + field), Op::Write(stock + field)]);
        }
        operations.extend([Op::Begin, Op::Acquire(district), Op::Read(order), Op::Read(sold)]);
        operations.extend([
            Op::Write(sold),
            Op::End,
            Op::Release(district),
            Op::Release(warehouse),
        ]);
        operations.extend([Op::End, Op::Read(order + 1), Op::Write(order + 2), Op::End]);
    }

    fn write_rays(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        let ray = self.own_record(me, round as u32);
        operations.extend([Op::New(ray), Op::Begin]);
        operations.extend((0..RECORD).map(|field| Op::Write(ray + field)));
        for _ in 0..4 {
            let shape = 1 + self.random.below(u64::from(SHARED_RECORDS) - 1) as u32;
            let shape = Self::shared_record(shape);
            operations.push(Op::Begin);
            operations.extend((0..RECORD).map(|field| Op::Read(shape + field)));
            operations.extend([Op::Read(ray), Op::End]);
        }
        operations.push(Op::End);
        let row = Self::shared_record(0);
        operations.extend([Op::Begin, Op::Acquire(0), Op::Read(row + 1), Op::Write(row + 1)]);
        operations.extend([Op::Release(0), Op::End]);
    }

    fn write_slots(&mut self, operations: &mut Vec<Op>) {
        let slot = self.random.below(255) as u32;
        let (one, other) = (Self::shared_record(slot), Self::shared_record(slot + 1));
        operations.extend([Op::Begin, Op::Acquire(slot), Op::Read(one), Op::Acquire(slot + 1)]);
        operations.extend([Op::Read(other), Op::Write(other), Op::Read(one + 1), Op::Write(one)]);
        operations.extend([Op::Release(slot + 1), Op::Release(slot), Op::End]);
    }

    /// The first thread hands out tasks, a few ahead of the others, and waits for them in turn.
    fn write_task(&mut self, me: u32, round: u64, operations: &mut Vec<Op>) {
        let ahead = (8 * self.shape.threads).min(MOST_TASKS / 2);
        if me == 0 && self.made - self.joined < ahead {
            let payload = Self::shared_record(self.made);
            operations.extend([Op::New(payload), Op::Write(payload), Op::Write(payload + 1)]);
            operations.push(Op::Submit(self.made));
            self.made += 1;
        } else if me == 0 {
            operations
                .extend([Op::JoinTask(self.joined), Op::Read(Self::shared_record(self.joined))]);
            self.joined += 1;
        } else if self.taken < self.submitted {
            let payload = Self::shared_record(self.taken);
            operations.extend([Op::TakeTask(self.taken), Op::Begin, Op::Read(payload)]);
            operations.extend([Op::Read(payload + 1), Op::Write(payload), Op::End]);
            operations.push(Op::EndTask(self.taken));
            self.taken += 1;
        } else {
            self.write_own_work(me, round, 2, operations);
        }
    }

    /// Each of 64 locks guards the records that leave its number when divided by 64.
    fn write_spread(&mut self, variables: u32, operations: &mut Vec<Op>) {
        let lock = self.any_lock(variables);
        operations.extend([Op::Begin, Op::Acquire(lock)]);
        for _ in 0..4 {
            let record = self.any_record(variables, lock);
            operations.extend([Op::Read(record), Op::Write(record + 1)]);
        }
        operations.extend([Op::Release(lock), Op::End]);
    }

    fn write_sides(&mut self, variables: u32, operations: &mut Vec<Op>) {
        let (lock, other) = (self.any_lock(variables), self.any_lock(variables));
        operations.extend([Op::Begin, Op::Tell(Told::Choice)]);
        operations.extend([Told::Untaken, Told::Acquire(other)].map(Op::Tell));
        for _ in 0..2 {
            let record = self.any_record(variables, other);
            operations.extend([Told::Read(record), Told::Write(record + 1)].map(Op::Tell));
        }
        operations.extend([Told::Release(other), Told::UntakenEnd].map(Op::Tell));
        operations.push(Op::Acquire(lock));
        for _ in 0..2 {
            let record = self.any_record(variables, lock);
            operations.extend([Op::Read(record), Op::Write(record + 1)]);
        }
        operations.extend([Op::Release(lock), Op::Tell(Told::Rejoin), Op::End]);
    }

    /// A transaction that reads a record and then writes it, under the lock of the record, which it holds all the time or
    /// once for each.
    fn write_split(&mut self, me: u32, percent: u32, operations: &mut Vec<Op>) {
        let lock = self.random.below(SPLIT_LOCKS) as u32;
        let record = Self::shared_record(lock);
        let is_split = self.random.below(100) < u64::from(percent);
        let method = self.random.below(SPLIT_METHODS) as u32;
        self.workers[me as usize].first_site = SITES * (2 * method + u32::from(is_split));
        operations.extend([Op::Begin, Op::Acquire(lock), Op::Read(record)]);
        operations.push(Op::Read(record + 1));
        if is_split {
            operations.extend([Op::Release(lock), Op::Acquire(lock)]);
        }
        operations.extend([Op::Write(record), Op::Write(record + 1)]);
        operations.extend([Op::Release(lock), Op::End]);
    }

    /// One of 64 locks, or of as many as there are records.
    fn any_lock(&mut self, variables: u32) -> u32 {
        self.random.below(u64::from(variables.div_ceil(RECORD).min(64))) as u32
    }

    /// A record that a lock guards.
    fn any_record(&mut self, variables: u32, lock: u32) -> u32 {
        let records = variables.div_ceil(RECORD);
        let row = self.random.below(u64::from((records - lock).div_ceil(64))) as u32;
        (lock + 64 * row) * RECORD
    }
}

/// The filters of the agent.
impl GeneratedRun {
    fn begin_epoch(&mut self, me: u32) -> u64 {
        let worker = &mut self.workers[me as usize];
        if worker.epoch == worker.last_epoch {
            worker.epoch = self.next_epoch;
            worker.last_epoch = self.next_epoch + EPOCH_BLOCK - 1;
            self.next_epoch += EPOCH_BLOCK;
        }
        worker.epoch += 1;
        worker.epoch
    }

    fn emit(&mut self, me: u32, site: SiteId, action: Action, events: &mut Vec<Event>) {
        let worker = &mut self.workers[me as usize];
        let thread = ThreadId(me);
        for (site, epoch, is_reported) in &mut worker.open {
            if !*is_reported {
                *is_reported = true;
                let epoch = Epoch(*epoch);
                events.push(Event {
                    thread,
                    site: *site,
                    epoch,
                    action: Action::Begin,
                    overlaps: 0,
                });
            }
        }
        events.push(Event { thread, site, epoch: Epoch(worker.epoch), action, overlaps: 0 });
    }

    fn emit_op(&mut self, me: u32, site: SiteId, op: Op, events: &mut Vec<Event>) {
        if let Some(action) = self.action(op) {
            self.emit(me, site, action, events);
        }
    }

    fn report(&mut self, me: u32, site: SiteId, op: Op, events: &mut Vec<Event>) {
        if self.workers[me as usize].epoch == 0 {
            self.begin_epoch(me);
            self.emit(me, SiteId(0), Action::ThreadBegin, events);
            self.begin_epoch(me);
        }
        match op {
            Op::Read(variable) => self.read(me, site, variable, events),
            Op::Write(variable) => self.write(me, site, variable, events),
            Op::Begin => {
                let epoch = self.begin_epoch(me);
                self.workers[me as usize].open.push((site, epoch, false));
            }
            Op::End => {
                let worker = &mut self.workers[me as usize];
                if let Some((_, _, true)) = worker.open.pop() {
                    let (thread, epoch) = (ThreadId(me), Epoch(worker.epoch));
                    events.push(Event { thread, site, epoch, action: Action::End, overlaps: 0 });
                }
            }
            // An object is met when something of it is reported.
            Op::New(_) | Op::Rest => {}
            Op::Tell(_) => self.emit_op(me, site, op, events),
            Op::Acquire(_) | Op::Pass | Op::TakeTask(_) | Op::JoinTask(_) => {
                self.begin_epoch(me);
                self.emit_op(me, site, op, events);
            }
            Op::Release(_) | Op::Arrive | Op::Fork(_) | Op::Submit(_) | Op::EndTask(_) => {
                self.emit_op(me, site, op, events);
                self.begin_epoch(me);
            }
        }
    }

    fn read(&mut self, me: u32, site: SiteId, number: u32, events: &mut Vec<Event>) {
        let epoch = self.workers[me as usize].epoch;
        let notes = &mut self.notes[number as usize];
        if notes.reads.get(me as usize).is_some_and(|note| note.thread == me) {
            notes.reads[me as usize] = Note { thread: me, site, epoch };
            return;
        }
        let place = match notes.reads.binary_search_by_key(&me, |note| note.thread) {
            Ok(known) => {
                notes.reads[known] = Note { thread: me, site, epoch };
                return;
            }
            Err(place) => place,
        };
        let Some(write) = notes.write.filter(|write| write.thread != me) else {
            notes.reads.insert(place, Note { thread: me, site, epoch });
            return;
        };
        let is_write_reported = std::mem::replace(&mut notes.is_write_reported, true);
        let variable = self.variable(number);
        if !is_write_reported {
            events.push(write.event(Access::Write, variable));
        }
        let epoch = self.begin_epoch(me);
        self.notes[number as usize].reads.insert(place, Note { thread: me, site, epoch });
        self.emit(me, site, Action::Read(variable), events);
    }

    fn write(&mut self, me: u32, site: SiteId, number: u32, events: &mut Vec<Event>) {
        let epoch = self.workers[me as usize].epoch;
        let variable = self.variable(number);
        let notes = &mut self.notes[number as usize];
        let is_own = notes.write.is_none_or(|write| write.thread == me)
            && notes.reads.iter().all(|read| read.thread == me);
        let mut write = Note { thread: me, site, epoch };
        if !is_own {
            if let Some(other) = notes.write.filter(|write| write.thread != me)
                && !notes.is_write_reported
            {
                events.push(other.event(Access::Write, variable));
            }
            let others = notes.reads.iter().filter(|read| read.thread != me);
            events.extend(others.map(|read| read.event(Access::Read, variable)));
            write.epoch = self.begin_epoch(me);
            self.emit(me, site, Action::Write(variable), events);
        }
        let notes = &mut self.notes[number as usize];
        notes.reads.clear();
        notes.is_write_reported = false;
        notes.write = Some(write);
    }
}

impl Note {
    fn event(self, access: Access, variable: Variable) -> Event {
        Event {
            thread: ThreadId(self.thread),
            site: self.site,
            epoch: Epoch(self.epoch),
            action: Action::earlier(access, variable),
            overlaps: 0,
        }
    }
}

/// Random numbers (SplitMix64): the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * u128::from(bound)) >> 64) as u64
    }
}
