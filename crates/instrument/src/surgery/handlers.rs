//! The exception table of a method.

use crate::error::LeftAloneReason;
use crate::surgery::cursor::Cursor;
use crate::surgery::handler_copies::{HandlerChange, HandlerCopies};
use crate::surgery::layout::{Layout, invalid, opcode};

/// One row of an exception table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The first offset that is covered.
    pub(super) start: u32,
    /// The first offset that is not covered any more.
    pub(super) end: u32,
    /// Where the handler begins.
    pub(super) target: u32,
    /// The class of what is caught; 0 when everything is.
    pub(super) catch_type: u16,
}

/// Reads the exception table of a method.
pub(super) fn read(cursor: &mut Cursor<'_>, code_length: u32) -> Result<Vec<Row>, LeftAloneReason> {
    let count = cursor.u16()?;
    let mut rows = Vec::new();
    for _ in 0..count {
        let [start, end, target] = [cursor.u16()?, cursor.u16()?, cursor.u16()?].map(u32::from);
        if start >= end || end > code_length || target >= code_length {
            return Err(cursor.fail("an exception handler outside the code").into());
        }
        rows.push(Row { start, end, target, catch_type: cursor.u16()? });
    }
    Ok(rows)
}

/// Writes an exception table.
pub(super) fn write(rows: &[Row], out: &mut Vec<u8>) -> Result<(), LeftAloneReason> {
    let count =
        u16::try_from(rows.len()).map_err(|_| LeftAloneReason::TableTooLong("exception table"))?;
    out.extend(count.to_be_bytes());
    for row in rows {
        // Offsets of the new code fit into 16 bits: longer code has been refused.
        for number in [row.start, row.end, row.target] {
            out.extend((number as u16).to_be_bytes());
        }
        out.extend(row.catch_type.to_be_bytes());
    }
    Ok(())
}

impl Row {
    /// Whether the first instruction of the handler is in the range that the handler is for.
    pub(super) fn covers_itself(&self) -> bool {
        (self.start..self.end).contains(&self.target)
    }
}

/// The rows for the new code, and where each original row has gone among them.
pub(super) fn relocate(
    rows: &[Row],
    original: &[u8],
    layout: &Layout<'_>,
    handler_copies: &HandlerCopies,
) -> Result<(Vec<Row>, Vec<u16>), LeftAloneReason> {
    let ranges = Ranges { original, layout, handler_copies };
    let mut new_rows = Vec::with_capacity(rows.len() + 1);
    let mut moved = Vec::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        moved.push(u16::try_from(new_rows.len()).unwrap_or(u16::MAX));
        ranges.relocate(number, row, &mut new_rows).ok_or_else(|| {
            let what = "an exception handler that begins or ends inside an instruction";
            invalid(row.start as usize, what)
        })?;
    }
    if let Some(handler) = layout.exit_handler {
        new_rows.push(Row { start: layout.body, end: handler, target: handler, catch_type: 0 });
    }
    Ok((new_rows, moved))
}

/// How ranges of the original code become ranges of the new code.
struct Ranges<'r> {
    original: &'r [u8],
    layout: &'r Layout<'r>,
    handler_copies: &'r HandlerCopies,
}

impl Ranges<'_> {
    /// Adds what becomes of a row; nothing when it names places inside instructions.
    fn relocate(&self, number: usize, row: &Row, new_rows: &mut Vec<Row>) -> Option<()> {
        let &Row { start, end, target, catch_type } = row;
        let new_target = self.layout.target(target)?;
        let Some(change) = self.handler_copies.of(target) else {
            let start = if self.handler_copies.is_copied(start) {
                self.layout.end_before(start)?
            } else {
                self.start(start)?
            };
            new_rows.push(Row { start, end: self.end(end)?, target: new_target, catch_type });
            return Some(());
        };
        let outside = if row.covers_itself() {
            start..target
        } else {
            start..self.handler_copies.end_of_row(number, row)
        };
        if !outside.is_empty() {
            let (start, end) = (self.start(outside.start)?, self.end(outside.end)?);
            new_rows.push(Row { start, end, target: new_target, catch_type });
        }
        if let HandlerChange::Copy { released, .. } = change {
            let handler_copy = self.layout.end_before(target)?;
            if !new_rows.iter().any(|row| row.target == handler_copy) {
                let end = self.end(released)?;
                new_rows.push(Row { start: new_target, end, target: handler_copy, catch_type });
            }
            if row.covers_itself() {
                let end = handler_copy + (end - target);
                new_rows.push(Row { start: handler_copy, end, target: handler_copy, catch_type });
            }
        }
        Some(())
    }

    /// Where a range begins. What is inserted behind `monitorenter` already runs with the monitor
    /// held, and must be in the range that releases it.
    fn start(&self, offset: u32) -> Option<u32> {
        if self.is_behind(opcode::MONITORENTER, offset) {
            self.layout.end_before(offset)
        } else {
            self.layout.target(offset)
        }
    }

    /// Where a range ends. What is inserted behind `monitorexit` runs without the monitor, and must not
    /// be in the range that releases it. A copy belongs to the handler behind it.
    fn end(&self, offset: u32) -> Option<u32> {
        if self.is_behind(opcode::MONITOREXIT, offset) || self.handler_copies.is_copied(offset) {
            self.layout.end_before(offset)
        } else {
            self.layout.target(offset)
        }
    }

    /// Whether an instruction of one byte stands right before an offset.
    fn is_behind(&self, opcode: u8, offset: u32) -> bool {
        offset.checked_sub(1).is_some_and(|before| {
            self.original.get(before as usize) == Some(&opcode)
                && self.layout.target(before).is_some()
        })
    }
}
