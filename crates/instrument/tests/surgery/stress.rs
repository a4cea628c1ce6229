//! Inserting something before and after every instruction.

use std::path::Path;

use classes::bytecode::{Instruction, Kind, Literal, decode_all};
use classes::{ClassFile, Code};
use instrument::surgery::{ClassEditor, MethodEdits, PoolEditor, Snippet};

/// What is inserted everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stress {
    /// A constant is pushed and popped, so that the class needs no other.
    Pushes,
    /// Also calls of `Hook`, which must be found by the class.
    Calls,
}

/// What became of the methods of some classes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) classes: u32,
    pub(crate) methods: u32,
    pub(crate) left_alone: u32,
}

/// Stresses every method of a class. Methods that get too large are left alone.
pub(crate) fn stress(bytes: &[u8], what: Stress, counts: &mut Counts) -> Vec<u8> {
    let class = ClassFile::parse(bytes.into()).unwrap();
    let mut editor = ClassEditor::new(bytes).unwrap();
    counts.classes += 1;
    for (index, method) in class.methods.iter().enumerate() {
        let Some(code) = &method.code else { continue };
        let Ok(edits) = edits(&class, code, &method.name, what, editor.pool()) else {
            counts.left_alone += 1;
            continue;
        };
        match editor.edit_method(index, &edits) {
            Ok(()) => counts.methods += 1,
            Err(_) => counts.left_alone += 1,
        }
    }
    editor.finish().unwrap()
}

/// Edits that insert something everywhere in a method.
fn edits(
    class: &ClassFile,
    code: &Code,
    method: &str,
    what: Stress,
    pool: &mut PoolEditor<'_>,
) -> Result<MethodEdits, instrument::InstrumentError> {
    let mut edits = MethodEdits::new();
    edits.extra_locals = 2;
    let local = code.max_locals;
    let mut simple = Snippet::new();
    simple.int(pool, 70_000)?.pop();
    if what == Stress::Calls {
        simple.invokestatic(pool.method_ref("Hook", "hit", "()V")?, 0, 0);
    }
    edits.entry = simple.clone();
    if method != "<init>" {
        edits.exit = Some(simple.clone());
    }
    for (offset, instruction) in decode_all(class.code_bytes(code)).unwrap() {
        edits.before(offset).append(&simple).int(pool, 300)?.store(Kind::Int, local + 1);
        // A word that stays below while the instruction runs, as hooks keep the object of a field.
        let pushed = match &instruction {
            Instruction::Load { kind, .. } => kind.words(),
            Instruction::Push(Literal::Long(_) | Literal::Double(_)) => 2,
            Instruction::Push(_) => 1,
            _ => 0,
        };
        if pushed == 1 {
            edits.before(offset).int(pool, 1)?;
            edits.after(offset).swap().pop();
        } else if pushed == 2 {
            edits.before(offset).int(pool, 1)?;
            edits.after(offset).dup2_x1().pop2().pop();
        }
        // A value in a new local variable.
        let after = edits.after(offset);
        after.append(&simple).load(Kind::Int, local + 1).pop();
    }
    Ok(edits)
}

/// Stresses every class file below a directory, in place.
pub(crate) fn stress_directory(directory: &Path, what: Stress, counts: &mut Counts) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            stress_directory(&path, what, counts);
        } else if path.extension().is_some_and(|extension| extension == "class")
            && path.file_name().is_some_and(|name| name != "Hook.class")
        {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, stress(&bytes, what, counts)).unwrap();
        }
    }
}
