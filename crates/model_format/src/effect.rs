//! What a call does: the effects, and the table of how each is written.
//!
//! One table makes the enumeration, its parser, its printer, its Rust source and its description.

use crate::vocabulary::{Mode, Operand, Ordering, Outcome, Runner, Times, WaitKind};
use crate::words::{InRust, Phrase, Problem, Shape, Words};

/// How one kind of effect is written.
#[derive(Debug)]
pub struct EffectForm {
    /// The words that it begins with.
    pub verb: &'static str,
    /// The whole of it, with capital letters for what is to be filled in.
    pub shape: String,
    /// What it means, in whole sentences.
    pub meaning: &'static str,
    /// An example of it.
    pub example: &'static str,
}

/// Makes the effects. After the fields of an effect stands how it is written: literal words; the name
/// of a field; `(flag FIELD "word")` for a truth value whose word says yes, `(unless FIELD "word")` for
/// one whose word says no; `(maybe "word" FIELD)` for an operand that is the receiver if it is not named.
macro_rules! effects {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $({ $($field:ident: $type:ty),+ })? = [$verb:literal $($part:tt)*]
        $example:literal
    )+) => {
        /// One thing that a call does.
        #[allow(missing_docs, reason = "the sentence of each variant says what its fields are")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Effect {
            $($(#[doc = $doc])+ $name $({ $($field: $type),+ })?),+
        }

        /// Every kind of effect and how it is written, in the order in which they are described.
        #[must_use]
        pub fn effect_forms() -> Vec<EffectForm> {
            vec![$({
                #[allow(unused_variables, reason = "some effects have no operands")]
                let shape_of = |field: &str| -> &'static str {
                    $($(if field == stringify!($field) { return <$type as Shape>::SHAPE; })+)?
                    ""
                };
                #[allow(unused_mut, reason = "some effects are one word")]
                let mut shape = String::from($verb);
                $(shape_part!(shape, shape_of, $part);)*
                EffectForm { verb: $verb, shape, meaning: concat!($($doc),+), example: $example }
            }),+]
        }

        impl Phrase for Effect {
            const SHAPE: &'static str = "EFFECT";

            fn read(words: &mut Words<'_>) -> Result<Effect, Problem> {
                $(if words.take_if($verb) {
                    $(read_part!(words, $part);)*
                    return Ok(Effect::$name $({ $($field),+ })?);
                })+
                // A verb of two words may have been begun.
                let first = words.peek().unwrap_or_default();
                let verbs = [$($verb),+];
                if let Some(begun) = verbs.iter().find(|verb| verb.split(' ').next() == Some(first)) {
                    let mut after = words.clone();
                    after.take();
                    let second: Vec<&str> = verbs
                        .iter()
                        .filter_map(|verb| verb.strip_prefix(first)?.strip_prefix(' '))
                        .collect();
                    return Err(Problem::unknown(
                        &format!("word after `{}`", begun.split(' ').next().unwrap_or_default()),
                        after.peek(),
                        &second,
                    ));
                }
                Err(Problem::unknown("effect", words.peek(), &verbs))
            }

            fn text(&self) -> String {
                match self {
                    $(Effect::$name $({ $($field),+ })? => {
                        #[allow(unused_mut, reason = "some effects are one word")]
                        let mut text = String::from($verb);
                        $(text_part!(text, $part);)*
                        text
                    })+
                }
            }
        }

        impl InRust for Effect {
            fn rust(&self) -> String {
                match self {
                    $(Effect::$name $({ $($field),+ })? => {
                        #[allow(unused_mut, reason = "some effects have no operands")]
                        let mut fields: Vec<String> = Vec::new();
                        $($(fields.push(format!("{}: {}", stringify!($field), $field.rust()));)+)?
                        if fields.is_empty() {
                            format!("Effect::{}", stringify!($name))
                        } else {
                            format!("Effect::{} {{ {} }}", stringify!($name), fields.join(", "))
                        }
                    })+
                }
            }
        }
    };
}

macro_rules! shape_part {
    ($shape:ident, $of:ident, $word:literal) => {
        $shape.push_str(concat!(" ", $word));
    };
    ($shape:ident, $of:ident, $field:ident) => {
        $shape.push_str(&format!(" {}", $of(stringify!($field))));
    };
    ($shape:ident, $of:ident, (flag $field:ident $word:literal)) => {
        $shape.push_str(concat!(" [", $word, "]"));
    };
    ($shape:ident, $of:ident, (unless $field:ident $word:literal)) => {
        $shape.push_str(concat!(" [", $word, "]"));
    };
    ($shape:ident, $of:ident, (maybe $word:literal $field:ident)) => {
        $shape.push_str(&format!(" [{} {}]", $word, $of(stringify!($field))));
    };
}

macro_rules! read_part {
    ($words:ident, $word:literal) => {
        $words.expect($word)?;
    };
    ($words:ident, $field:ident) => {
        let $field = Phrase::read($words)?;
    };
    ($words:ident, (flag $field:ident $word:literal)) => {
        let $field = $words.take_if($word);
    };
    ($words:ident, (unless $field:ident $word:literal)) => {
        let $field = !$words.take_if($word);
    };
    ($words:ident, (maybe $word:literal $field:ident)) => {
        let $field = if $words.take_if($word) { Phrase::read($words)? } else { Operand::Receiver };
    };
}

macro_rules! text_part {
    ($text:ident, $word:literal) => {
        $text.push_str(concat!(" ", $word));
    };
    ($text:ident, $field:ident) => {
        let part = Phrase::text($field);
        if !part.is_empty() {
            $text.push(' ');
            $text.push_str(&part);
        }
    };
    ($text:ident, (flag $field:ident $word:literal)) => {
        if *$field {
            $text.push_str(concat!(" ", $word));
        }
    };
    ($text:ident, (unless $field:ident $word:literal)) => {
        if !*$field {
            $text.push_str(concat!(" ", $word));
        }
    };
    ($text:ident, (maybe $word:literal $field:ident)) => {
        if *$field != Operand::Receiver {
            $text.push_str(&format!(" {} {}", $word, Phrase::text($field)));
        }
    };
}

effects! {
    /// The lock is held afterwards. Receives what its releases have published.
    Acquire { lock: Operand, mode: Mode, outcome: Outcome } = ["acquire" lock mode outcome]
    "acquire this exclusive if true"
    /// The lock is given back. Publishes.
    Release { lock: Operand, mode: Mode, outcome: Outcome } = ["release" lock mode outcome]
    "release this exclusive"
    /// The callee takes this monitor at its start and gives it back at its end; everything else in
    /// the row, callbacks included, happens while it is held.
    Synchronized { lock: Operand } = ["synchronized" lock]
    "synchronized this.mutex"
    /// The result is another view of the operand's lock. Whatever mode the rows of the result's type
    /// name, it locks the operand in this one.
    LockView { of: Operand, mode: Mode } = ["lock-view" "of" of mode]
    "lock-view of this shared"
    /// The result is a condition of the operand's lock.
    ConditionOf { lock: Operand } = ["condition" "of" lock]
    "condition of this"
    /// The caller waits, after giving back the lock that belongs to the operand, and holds that
    /// lock again afterwards.
    Wait { on: Operand, kind: WaitKind, timed: bool } = ["wait" on kind (flag timed "timed")]
    "wait this condition timed"
    /// One waiter may go on, or with the word all of them.
    Notify { on: Operand, all: bool } = ["notify" on (flag all "all")]
    "notify this all"

    /// The result is a view: its locking and its contents are those of the operand.
    View { of: Operand } = ["view" "of" of]
    "view of this"
    /// The receiver, or the named operand, keeps a reference to the value and may hand it out later.
    Store { value: Operand, into: Operand } = ["keeps" value (maybe "in" into)]
    "keeps arg0"
    /// The result is something that the receiver, or the named operand, keeps, or refers to such
    /// things.
    Load { from: Operand } = ["gives" (maybe "from" from)]
    "gives from arg0"
    /// The receiver, or the named operand, keeps the task and runs it whenever it is run itself: the
    /// `Runnable` of a `Thread`, the `Callable` of a `FutureTask`, the functions of a `Collector`.
    Wraps { task: Operand, by: Operand } = ["wraps" task (maybe "in" by)]
    "wraps arg0 in result"
    /// The reference parameters of the task receive what the receiver, or the named operand, keeps.
    Feeds { task: Operand, from: Operand } = ["feeds" task (maybe "from" from)]
    "feeds callbacks"

    /// A new thread runs the operand. What the caller did before happens before its run.
    Fork { task: Operand } = ["fork" task]
    "fork this"
    /// The task has ended: a thread, the task behind a future, or all tasks of an executor. All it
    /// did happens before the return. A timed call may give up or merely look.
    Join { task: Operand, timed: bool, outcome: Outcome } = ["join" task (flag timed "timed") outcome]
    "join this timed if true"
    /// Another thread runs the task, now or later. What the caller did before happens before it.
    Submit { task: Operand, to: Runner, times: Times } = ["submit" task "to" to times]
    "submit arg0 to executor this"
    /// The result, or the elements of the result, are handles of the task: joining them joins it.
    Handle { of: Operand } = ["handle" "of" of]
    "handle of arg0"
    /// The task runs only after this stage or phase has completed, and sees what it did.
    After { task: Operand, stage: Operand } = ["order" task "after" stage]
    "order arg0 after this"
    /// The caller itself runs the task before the call returns; on a lazy stream, before the
    /// terminal operation returns.
    RunsTask { task: Operand, times: Times } = ["runs" task times]
    "runs callbacks repeatedly"
    /// The interrupt flag of the thread, or of the threads that work for the operand, is set.
    Interrupt { thread: Operand } = ["interrupt" thread]
    "interrupt this"
    /// The caller learns that the thread was interrupted, and what the interrupting thread did
    /// before is visible.
    ObservesInterrupt { thread: Operand, outcome: Outcome } = ["observes-interrupt" "of" thread outcome]
    "observes-interrupt of this if true"
    /// The thread is stopped, suspended or resumed from outside, at any point, whatever locks it
    /// holds.
    Controls { thread: Operand } = ["controls" thread]
    "controls this"
    /// The virtual machine ends; the call does not return.
    Terminates = ["terminates"]
    "terminates"

    /// What the caller did before is visible to whoever receives from the operand later.
    Publish { to: Operand } = ["publish" "to" to]
    "publish to this"
    /// What was published to the operand is visible to the caller afterwards.
    Receive { from: Operand, outcome: Outcome } = ["receive" "from" from outcome]
    "receive from this if nonnull"
    /// An atomic read of the operand, taken as one variable.
    AtomicRead { of: Operand, ordering: Ordering } = ["atomic read" of ordering]
    "atomic read this"
    /// An atomic write of the operand, taken as one variable.
    AtomicWrite { of: Operand, ordering: Ordering } = ["atomic write" of ordering]
    "atomic write this release"
    /// An atomic read and write. When the outcome is not reached it is only a read.
    AtomicUpdate { of: Operand, ordering: Ordering, outcome: Outcome } = ["atomic update" of ordering outcome]
    "atomic update this opaque if true"
    /// Orders the caller's accesses before against those after, without any variable.
    Fence { ordering: Ordering } = ["fence" ordering]
    "fence acquire"
    /// Reads the operand's contents as ordinary memory: it can race. An argument's contents are read
    /// by its own methods, so that a synchronized collection is read under its own lock.
    Read { of: Operand } = ["read" of]
    "read arg0"
    /// Writes the operand's contents as ordinary memory: it can race. Of an argument, by its own
    /// methods, as for `read`.
    Write { of: Operand } = ["write" of]
    "write this"
    /// Touches the copy of the operand that belongs to the calling thread alone.
    ThreadLocalAccess { of: Operand } = ["thread-local" of]
    "thread-local this"

    /// The call may block until another thread acts.
    Blocks { timed: bool, interruptible: bool } = ["blocks" (flag timed "timed") (unless interruptible "uninterruptibly")]
    "blocks timed uninterruptibly"
    /// The call blocks for some time, whatever other threads do.
    Sleeps = ["sleeps"]
    "sleeps"
    /// The call runs code that cannot be told from the call site.
    Reflective = ["reflective"]
    "reflective"
    /// The result is a new object that no other thread knows yet.
    ReturnsFresh = ["returns new"]
    "returns new"
    /// The concrete class of the result.
    ReturnsType { class: &'static str } = ["returns type" class]
    "returns type java.util.ArrayList"
    /// The result is an executor with a single worker: its tasks run one after the other, each
    /// ordered after the one before.
    SingleWorker = ["returns single-worker"]
    "returns single-worker"
    /// Callbacks given to the result run concurrently, on the workers of a fork-join pool.
    Parallel = ["returns parallel"]
    "returns parallel"
    /// Callbacks given to the result run one after the other, in the thread of the terminal call.
    Sequential = ["returns sequential"]
    "returns sequential"
    /// The operand becomes reachable from static state or from threads that are not seen here.
    Escapes { operand: Operand } = ["escapes" operand]
    "escapes arg0"
}

impl Effect {
    /// The operand that later receivers must name to see what the caller did before, if this effect
    /// publishes anything.
    #[must_use]
    pub fn publishes_to(self) -> Option<Operand> {
        match self {
            Effect::Release { lock, .. } | Effect::Synchronized { lock } => Some(lock),
            Effect::Wait { on, kind: WaitKind::Monitor | WaitKind::Condition, .. } => Some(on),
            Effect::Publish { to } => Some(to),
            Effect::AtomicWrite { of, ordering: Ordering::Release | Ordering::Volatile }
            | Effect::AtomicUpdate {
                of, ordering: Ordering::Release | Ordering::Volatile, ..
            } => Some(of),
            Effect::Fork { task } | Effect::Submit { task, .. } => Some(task),
            Effect::Interrupt { thread } => Some(thread),
            Effect::Acquire { .. }
            | Effect::LockView { .. }
            | Effect::ConditionOf { .. }
            | Effect::Wait { kind: WaitKind::Park, .. }
            | Effect::Notify { .. }
            | Effect::View { .. }
            | Effect::Store { .. }
            | Effect::Load { .. }
            | Effect::Wraps { .. }
            | Effect::Feeds { .. }
            | Effect::Join { .. }
            | Effect::Handle { .. }
            | Effect::After { .. }
            | Effect::RunsTask { .. }
            | Effect::ObservesInterrupt { .. }
            | Effect::Controls { .. }
            | Effect::Terminates
            | Effect::Receive { .. }
            | Effect::AtomicRead { .. }
            | Effect::AtomicWrite { .. }
            | Effect::AtomicUpdate { .. }
            | Effect::Fence { .. }
            | Effect::Read { .. }
            | Effect::Write { .. }
            | Effect::ThreadLocalAccess { .. }
            | Effect::Blocks { .. }
            | Effect::Sleeps
            | Effect::Reflective
            | Effect::ReturnsFresh
            | Effect::ReturnsType { .. }
            | Effect::SingleWorker
            | Effect::Parallel
            | Effect::Sequential
            | Effect::Escapes { .. } => None,
        }
    }

    /// The operand whose publications the caller sees afterwards, with the outcome that tells
    /// whether it does, if this effect receives anything.
    #[must_use]
    pub fn receives_from(self) -> Option<(Operand, Outcome)> {
        match self {
            Effect::Acquire { lock, outcome, .. } => Some((lock, outcome)),
            Effect::Synchronized { lock } => Some((lock, Outcome::Always)),
            Effect::Wait { on, kind: WaitKind::Monitor | WaitKind::Condition, .. } => {
                Some((on, Outcome::Always))
            }
            Effect::Receive { from, outcome } => Some((from, outcome)),
            Effect::AtomicRead { of, ordering: Ordering::Acquire | Ordering::Volatile }
            | Effect::AtomicUpdate {
                of, ordering: Ordering::Acquire | Ordering::Volatile, ..
            } => Some((of, Outcome::Always)),
            Effect::Join { task, outcome, .. } => Some((task, outcome)),
            Effect::ObservesInterrupt { thread, outcome } => Some((thread, outcome)),
            Effect::Release { .. }
            | Effect::LockView { .. }
            | Effect::ConditionOf { .. }
            | Effect::Wait { kind: WaitKind::Park, .. }
            | Effect::Notify { .. }
            | Effect::View { .. }
            | Effect::Store { .. }
            | Effect::Load { .. }
            | Effect::Wraps { .. }
            | Effect::Feeds { .. }
            | Effect::Fork { .. }
            | Effect::Submit { .. }
            | Effect::Handle { .. }
            | Effect::After { .. }
            | Effect::RunsTask { .. }
            | Effect::Interrupt { .. }
            | Effect::Controls { .. }
            | Effect::Terminates
            | Effect::Publish { .. }
            | Effect::AtomicRead { .. }
            | Effect::AtomicWrite { .. }
            | Effect::AtomicUpdate { .. }
            | Effect::Fence { .. }
            | Effect::Read { .. }
            | Effect::Write { .. }
            | Effect::ThreadLocalAccess { .. }
            | Effect::Blocks { .. }
            | Effect::Sleeps
            | Effect::Reflective
            | Effect::ReturnsFresh
            | Effect::ReturnsType { .. }
            | Effect::SingleWorker
            | Effect::Parallel
            | Effect::Sequential
            | Effect::Escapes { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_reads_and_writes_back_as_it_is() {
        for form in effect_forms() {
            let mut words = Words::new(form.example);
            let effect = Effect::read(&mut words)
                .unwrap_or_else(|problem| panic!("{}: {problem}", form.example));
            assert_eq!(words.finish(&[]), Ok(()), "{}", form.example);
            assert_eq!(effect.text(), form.example);
            assert!(form.example.starts_with(form.verb), "{}", form.example);
        }
    }
}
