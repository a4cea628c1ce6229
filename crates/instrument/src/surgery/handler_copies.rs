//! Handlers that cover themselves, and what HotSpot's compilers need of them when something is inserted.
//!
//! A `synchronized` block compiles to a handler that releases the monitor and throws again, and whose
//! range covers that very release, so that the handler is its own handler:
//!
//! ```text
//!      6..28 -> 31, 31..34 -> 31
//!     31: astore_2   32: aload_1   33: monitorexit   34: aload_2   35: athrow
//! ```
//!
//! HotSpot's compilers accept this as long as nothing in the self-covered part can throw: they take it
//! that `monitorexit` of a held monitor does not. A call that is inserted there can throw, and what was
//! measured on JDK 17 and 25 (`-XX:+PrintCompilation -Xlog:monitormismatch=info`) is this:
//!
//! 1. C1 gives up, "COMPILE SKIPPED: exception handler covers itself", unless it happens to inline the
//!    inserted call down to code that cannot throw. C2 does compile the method, so that it runs in the
//!    interpreter until it is hot enough for C2, and never gets a profile from C1's code.
//! 2. Taking the call out of the range does not help: a call that can throw with a monitor held and no
//!    handler for it is a "non-empty monitor stack at exceptional exit", and then neither C1 nor C2 ever
//!    compiles the method ("not compilable (unbalanced monitors)"), or inlines it.
//! 3. The same goes for a call that stands behind `monitorenter` and before the range that begins there,
//!    and for one that stands behind `monitorexit` and is still in the range: the handler is then reached
//!    with and without the monitor, a "monitor stack height merge conflict". So a range that begins
//!    right behind `monitorenter` takes in what is inserted there, and a range that ends right behind
//!    `monitorexit` does not: see [`crate::surgery::handlers`].
//!
//! The remedy for 1 is a copy of the handler: it is copied as it was, without insertions, to the place before
//! the handler. The insertions in the handler are covered by the copy, and the copy by itself, as the
//! handler was. Standing right before the handler, a copy lies in every range that covers the handler,
//! and its frame is that of the handler.
//!
//! The compilers of Kotlin and Scala do not let the handler cover its `monitorexit`, so that 2 applies to
//! what is inserted there: such a handler gets a copy too. Kotlin's range also ends before the `aload`
//! and `monitorexit` of the block itself, where 2 applies as well: it is made to end behind them, as
//! javac's does, when the verifier will take the local variables there for those of the handler.
//!
//! Handlers of `finally` blocks may cover their own first store. Nothing there can throw, so that such a
//! range says nothing; it is left out when something is inserted into it.

use classes::bytecode::Kind;

use crate::error::LeftAloneReason;
use crate::surgery::frames::HandlerFrames;
use crate::surgery::handlers::Row;
use crate::surgery::layout::{falls_through, instruction_length, opcode};
use crate::surgery::snippet::MethodEdits;

/// A handler is copied when it is no longer than this. Those of compilers take five instructions.
const LONGEST_COPY: u32 = 64;

/// Methods with more handlers than this are left to the interpreter, so that no input makes the search
/// for handlers take long.
const MOST_ROWS: usize = 4_096;

/// What is done about a handler that covers itself, or releases a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandlerChange {
    /// The handler is copied, and the copy handles what the insertions throw.
    Copy {
        /// Where the code to copy ends.
        end: u32,
        /// Where the monitor has been released, and the copy is no longer needed.
        released: u32,
        /// The local variable that holds the object whose monitor is released.
        lock: Option<u16>,
    },
    /// The part of its range that covers itself, up to this offset, is left out.
    LeaveOut {
        /// Where that part ends.
        end: u32,
    },
}

/// What is done about the handlers of one method that cover themselves, by where they begin.
#[derive(Debug, Default)]
pub(super) struct HandlerCopies {
    changes: Vec<(u32, HandlerChange)>,
    /// The rows whose ranges are made longer: their numbers, and where they end then.
    extended: Vec<(usize, u32)>,
}

impl HandlerCopies {
    /// Finds the handlers of a method that cover themselves and get something inserted there.
    pub(super) fn plan(
        rows: &[Row],
        original: &[u8],
        edits: &MethodEdits,
        frames: &HandlerFrames<'_, '_>,
    ) -> Result<HandlerCopies, LeftAloneReason> {
        let mut changes: Vec<(u32, HandlerChange)> = Vec::new();
        if rows.len() > MOST_ROWS || edits.at.is_empty() {
            return Ok(HandlerCopies::default());
        }
        let has_insertions = |start: u32, end: u32| {
            edits
                .at
                .range(start..end.max(start))
                .any(|(_, around)| !around.before.is_empty() || !around.after.is_empty())
        };
        for row in rows.iter().filter(|row| row.covers_itself() || row.catch_type == 0) {
            let handler = row.target;
            if !has_insertions(handler, row.end.max(handler + LONGEST_COPY))
                || changes.iter().any(|(known, _)| *known == handler)
            {
                continue;
            }
            let Some(change) = change(handler, rows, original)? else { continue };
            let end = match change {
                HandlerChange::Copy { released, .. } => released,
                HandlerChange::LeaveOut { end } => end,
            };
            if has_insertions(handler, end) {
                changes.push((handler, change));
            }
        }
        changes.sort_by_key(|(handler, _)| *handler);
        let mut handler_copies = HandlerCopies { changes, extended: Vec::new() };
        handler_copies.drop_those_entered_from_above(original)?;
        handler_copies.extend_ranges(rows, original, frames)?;
        Ok(handler_copies)
    }

    /// A copy stands where nothing may fall through into the handler.
    fn drop_those_entered_from_above(&mut self, original: &[u8]) -> Result<(), LeftAloneReason> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        while at < original.len() {
            let next = at + instruction_length(original, at)?;
            if falls_through(original, at)
                && let Some(HandlerChange::Copy { .. }) = self.of(next as u32)
            {
                self.changes.retain(|(handler, _)| *handler as usize != next);
            }
            at = next;
        }
        Ok(())
    }

    /// Finds the ranges that end right before the release of the block's monitor.
    fn extend_ranges(
        &mut self,
        rows: &[Row],
        original: &[u8],
        frames: &HandlerFrames<'_, '_>,
    ) -> Result<(), LeftAloneReason> {
        let mut candidates: Vec<(u32, usize, u32)> = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            if let Some(HandlerChange::Copy { lock: Some(lock), .. }) = self.of(row.target)
                && !row.covers_itself()
                && let Some((loaded, length)) = loaded_reference(original, row.end as usize)
                && loaded == lock
                && original.get(row.end as usize + length) == Some(&opcode::MONITOREXIT)
            {
                candidates.push((row.end, number, row.end + length as u32 + 1));
            }
        }
        candidates.sort_unstable();
        let mut candidates = candidates.into_iter().peekable();
        let mut at = 0;
        while at < original.len() && candidates.peek().is_some() {
            let next = at + instruction_length(original, at)?;
            while let Some((_, number, end)) =
                candidates.next_if(|(row_end, ..)| *row_end as usize <= next)
            {
                let row = &rows[number];
                if row.end as usize == next
                    && frames.fits_handler(row.target, row.end, stored_local(original, at))
                {
                    self.extended.push((number, end));
                }
            }
            at = next;
        }
        self.extended.sort_unstable();
        Ok(())
    }

    /// Where the range of a row ends: where it did, or behind the release of the monitor.
    pub(super) fn end_of_row(&self, number: usize, row: &Row) -> u32 {
        match self.extended.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(found) => self.extended.get(found).map_or(row.end, |(_, end)| *end),
            Err(_) => row.end,
        }
    }

    /// What is done about the handler that begins at an offset.
    pub(super) fn of(&self, handler: u32) -> Option<HandlerChange> {
        if self.changes.is_empty() {
            return None;
        }
        let found = self.changes.binary_search_by_key(&handler, |(handler, _)| *handler).ok()?;
        self.changes.get(found).map(|(_, change)| *change)
    }

    /// Whether the handler that begins at an offset has a copy before it.
    pub(super) fn is_copied(&self, handler: u32) -> bool {
        matches!(self.of(handler), Some(HandlerChange::Copy { .. }))
    }

    /// Emits the copy that stands before an original instruction, if there is one. It has no
    /// branches, so that its bytes are those of the handler.
    pub(super) fn emit(&self, at: usize, original: &[u8], code: &mut Vec<u8>) {
        if let Some(HandlerChange::Copy { end, .. }) = self.of(at as u32) {
            code.extend_from_slice(&original[at..end as usize]);
        }
    }
}

/// What can be done about a handler; nothing when something in the part that covers itself can throw
/// already, or when the handler is not one that releases a monitor and throws again.
fn change(
    handler: u32,
    rows: &[Row],
    original: &[u8],
) -> Result<Option<HandlerChange>, LeftAloneReason> {
    let own = || rows.iter().filter(|row| row.target == handler && row.covers_itself());
    let covered_end = own().map(|row| row.end).max().unwrap_or(handler);
    let mut at = handler as usize;
    let mut released = None;
    let (mut loaded, mut lock) = (None, None);
    let end = loop {
        let opcode = original.get(at).copied();
        let is_simple =
            opcode == Some(opcode::MONITOREXIT) || opcode.is_some() && cannot_throw(original, at);
        if !is_simple || at as u32 - handler > LONGEST_COPY {
            break at as u32;
        }
        let load = loaded_reference(original, at).map(|(slot, _)| slot);
        at += instruction_length(original, at)?;
        if opcode == Some(opcode::MONITOREXIT) {
            released = Some(at as u32);
            lock = lock.or(loaded);
        }
        loaded = load;
    };
    let Some(released) = released else {
        return Ok((handler < covered_end && covered_end <= end)
            .then_some(HandlerChange::LeaveOut { end: covered_end }));
    };
    let throws_again = original.get(end as usize) == Some(&opcode::ATHROW);
    if !throws_again || covered_end > end {
        return Ok(None);
    }
    // A copy is covered by all that covers the handler, so nothing may cover half of it; and the
    // handler must catch everything.
    let end = end + 1;
    let fits = rows.iter().all(|row| {
        if row.target == handler {
            row.catch_type == 0
        } else {
            row.end <= handler || row.start >= end || (row.start <= handler && row.end >= end)
        }
    });
    Ok(fits.then_some(HandlerChange::Copy { end, released: released.max(covered_end), lock }))
}

/// Whether an instruction is one of the simple ones that cannot throw: constants, loads, stores, and
/// what only moves words on the stack.
fn cannot_throw(code: &[u8], at: usize) -> bool {
    match code[at] {
        0x00..=0x11 | 0x15..=0x2d | 0x36..=0x4e | 0x57..=0x5f | 0x84 => true,
        opcode::WIDE => code.get(at + 1) != Some(&opcode::RET),
        _ => false,
    }
}

/// The local variable that an `aload` pushes, and how long the instruction is; nothing when the
/// instruction is another.
fn loaded_reference(code: &[u8], at: usize) -> Option<(u16, usize)> {
    match *code.get(at..)? {
        [short @ 0x2a..=0x2d, ..] => Some((u16::from(short - 0x2a), 1)),
        [0x19, slot, ..] => Some((u16::from(slot), 2)),
        [opcode::WIDE, 0x19, high, low, ..] => Some((u16::from_be_bytes([high, low]), 4)),
        _ => None,
    }
}

/// The local variable that an instruction stores into, and the kind of the value.
fn stored_local(code: &[u8], at: usize) -> Option<(u16, Kind)> {
    // Stores come in five kinds; each has one form for any variable and one for each of the first four.
    const KINDS: [Kind; 5] = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Ref];
    let (kind, slot) = match *code.get(at..)? {
        [short @ 0x3b..=0x4e, ..] => ((short - 0x3b) / 4, u16::from(short - 0x3b) % 4),
        [long @ 0x36..=0x3a, slot, ..] => (long - 0x36, u16::from(slot)),
        [opcode::WIDE, long @ 0x36..=0x3a, high, low, ..] => {
            (long - 0x36, u16::from_be_bytes([high, low]))
        }
        _ => return None,
    };
    Some((slot, *KINDS.get(usize::from(kind))?))
}
