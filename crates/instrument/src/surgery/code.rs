//! The `Code` attribute of one method: taken apart, relocated and put together again.

use std::ops::Range;

use models::language;

use crate::error::LeftAloneReason;
use crate::surgery::cursor::Cursor;
use crate::surgery::frames::{self, HandlerFrames, Slot};
use crate::surgery::handler_copies::HandlerCopies;
use crate::surgery::handlers;
use crate::surgery::layout::{Layout, Scratch};
use crate::surgery::pool::PoolEditor;
use crate::surgery::snippet::MethodEdits;
use crate::surgery::tables::TableCopy;

/// Where a method is in its class.
#[derive(Debug)]
pub(super) struct MethodPlace {
    /// Where its flags begin.
    pub(super) access_at: usize,
    pub(super) name: u16,
    pub(super) descriptor: u16,
    pub(super) is_static: bool,
    /// The content of the `Code` attribute.
    pub(super) code: Option<Range<usize>>,
}

/// The first version of class files whose code has stack maps.
const FIRST_WITH_FRAMES: u16 = 50;

/// The new content of a method's `Code` attribute.
pub(super) fn rewrite<'a>(
    bytes: &'a [u8],
    version: (u16, u16),
    this_class: u16,
    pool: &mut PoolEditor<'a>,
    method: &MethodPlace,
    edits: &MethodEdits,
    scratch: &mut Scratch,
) -> Result<Vec<u8>, LeftAloneReason> {
    let range = method.code.clone().ok_or(LeftAloneReason::NoCode)?;
    if edits.exit.is_some() && pool.text(method.name) == Some(b"<init>") {
        return Err(LeftAloneReason::ExitOfConstructor);
    }
    // Versions 45.0 to 45.2 have smaller numbers in the header.
    let is_narrow = version < (45, 3);
    let mut cursor = Cursor::new(bytes).between(range)?;
    let (max_stack, max_locals, code_length) = if is_narrow {
        (u16::from(cursor.u8()?), u16::from(cursor.u8()?), u32::from(cursor.u16()?))
    } else {
        (cursor.u16()?, cursor.u16()?, cursor.u32()?)
    };
    if code_length == 0 || code_length > 0xffff {
        return Err(cursor.fail("code of a length that is not allowed").into());
    }
    let original = cursor.take(code_length as usize)?;
    let rows = handlers::read(&mut cursor, code_length)?;

    let handler_copies = if rows.is_empty() {
        HandlerCopies::default()
    } else {
        let descriptor = pool.text(method.descriptor).unwrap_or_default();
        let this = (!method.is_static).then(|| Slot::Object(pool.class_name(this_class)));
        let frames = HandlerFrames {
            table: stack_map_table(cursor.clone(), pool)?,
            pool,
            parameters: frames::parameters(descriptor, this),
        };
        HandlerCopies::plan(&rows, original, edits, &frames)?
    };
    let layout = Layout::make(original, edits, &handler_copies, scratch)?;
    let (new_rows, moved_rows) = handlers::relocate(&rows, original, &layout, &handler_copies)?;

    let mut out = Vec::with_capacity(layout.code.len() + 64);
    let exit_stack = edits.exit.as_ref().map_or(0, |exit| exit.stack() + 1);
    let deepest =
        (i32::from(max_stack) + layout.extra_stack).max(edits.entry.stack()).max(exit_stack);
    let locals = i32::from(max_locals) + i32::from(edits.extra_locals);
    if is_narrow {
        out.push(u8::try_from(deepest).map_err(|_| LeftAloneReason::StackTooDeep)?);
        out.push(u8::try_from(locals).map_err(|_| LeftAloneReason::TooManyLocals)?);
        out.extend((layout.code.len() as u16).to_be_bytes());
    } else {
        let deepest = u16::try_from(deepest).map_err(|_| LeftAloneReason::StackTooDeep)?;
        let locals = u16::try_from(locals).map_err(|_| LeftAloneReason::TooManyLocals)?;
        out.extend(deepest.to_be_bytes());
        out.extend(locals.to_be_bytes());
        out.extend((layout.code.len() as u32).to_be_bytes());
    }
    out.extend_from_slice(&layout.code);
    handlers::write(&new_rows, &mut out)?;
    attributes(cursor, version, pool, &layout, &moved_rows, &mut out)?;
    Ok(out)
}

/// The content of the `StackMapTable`, where the cursor stands before the attributes of the code.
fn stack_map_table<'a>(
    mut cursor: Cursor<'a>,
    pool: &PoolEditor<'_>,
) -> Result<Option<Cursor<'a>>, LeftAloneReason> {
    for _ in 0..cursor.u16()? {
        let name = cursor.u16()?;
        let length = cursor.u32()?;
        let content = cursor.part(length as usize)?;
        if pool.text(name) == Some(b"StackMapTable") {
            return Ok(Some(content));
        }
    }
    Ok(None)
}

/// Copies the attributes of the code, with new offsets in those that have any.
fn attributes(
    mut cursor: Cursor<'_>,
    version: (u16, u16),
    pool: &mut PoolEditor<'_>,
    layout: &Layout<'_>,
    moved_rows: &[u16],
    out: &mut Vec<u8>,
) -> Result<(), LeftAloneReason> {
    let thrown = match layout.exit_handler {
        Some(_) if version.0 >= FIRST_WITH_FRAMES => pool.class(language::THROWABLE)?,
        _ => 0,
    };
    let count = cursor.u16()?;
    let count_at = out.len();
    out.extend(count.to_be_bytes());
    let mut has_frames = false;
    for _ in 0..count {
        let name = cursor.u16()?;
        out.extend(name.to_be_bytes());
        let length = cursor.u32()?;
        let length_at = out.len();
        out.extend(length.to_be_bytes());
        let mut content = cursor.part(length as usize)?;
        let start = out.len();
        match pool.text(name) {
            Some(b"LineNumberTable") => TableCopy::new(content, layout, out).line_numbers()?,
            Some(b"LocalVariableTable" | b"LocalVariableTypeTable") => {
                TableCopy::new(content, layout, out).local_variables()?;
            }
            Some(b"StackMapTable") => {
                has_frames = true;
                frames::relocate_table(content, layout, thrown, out)?;
            }
            Some(b"StackMap") => frames::relocate_old_table(content, layout, thrown, out)?,
            Some(b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations") => {
                TableCopy::new(content, layout, out).type_annotations(moved_rows)?;
            }
            Some(b"CharacterRangeTable") => {
                TableCopy::new(content, layout, out).character_ranges()?;
            }
            _ => out.extend_from_slice(content.rest()),
        }
        let length = (out.len() - start) as u32;
        out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
    }
    if !cursor.is_at_end() {
        return Err(cursor.fail("bytes behind the last attribute of the code").into());
    }
    if let Some(handler) = layout.exit_handler
        && version.0 >= FIRST_WITH_FRAMES
        && !has_frames
    {
        let count = count.checked_add(1).ok_or(LeftAloneReason::TableTooLong("attributes"))?;
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        out.extend(pool.utf8("StackMapTable")?.to_be_bytes());
        let mut content = Vec::with_capacity(12);
        frames::table_of_handler(handler, thrown, &mut content);
        out.extend((content.len() as u32).to_be_bytes());
        out.extend(content);
    }
    Ok(())
}
