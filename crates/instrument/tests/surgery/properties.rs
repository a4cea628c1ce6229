//! What holds for all classes and all insertions: nothing panics, and everything lands where a naive
//! reckoning puts it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use classes::bytecode::{Instruction, Literal, StackOp, decode_all};
use classes::{ClassFile, Code};
use instrument::surgery::{Around, ClassEditor, MethodEdits, Snippet};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::jdks::this_jdk;

/// A few hundred classes of `java.base`, of all sizes.
static SEEDS: LazyLock<Vec<Arc<[u8]>>> = LazyLock::new(|| {
    let image = this_jdk().open().unwrap();
    let names: Vec<_> = image.class_names(Some("java.base")).collect();
    let chosen = names.iter().step_by(names.len() / 500 + 1);
    chosen.map(|(_, name)| image.read(name).unwrap().unwrap()).collect()
});

/// A number that the code of the JDK does not push.
const MARKER: i16 = 0x5ca1;

/// A snippet of `length` markers, each of which is four bytes long.
fn markers(length: usize) -> Snippet {
    let mut snippet = Snippet::new();
    for _ in 0..length {
        let [high, low] = MARKER.to_be_bytes();
        snippet.bytes(&[0x11, high, low], 0, 1).pop();
    }
    snippet
}

/// What to insert into a method: entry, exit, and around one instruction in `every`.
#[derive(Clone, Debug)]
struct Recipe {
    entry: usize,
    exit: Option<usize>,
    every: usize,
    lengths: Vec<(usize, usize)>,
}

fn recipe() -> impl Strategy<Value = Recipe> {
    (
        0_usize..3,
        prop::option::of(0_usize..3),
        1_usize..6,
        prop::collection::vec((0_usize..4, 0_usize..4), 1..8),
    )
        .prop_map(|(entry, exit, every, lengths)| Recipe { entry, exit, every, lengths })
}

impl Recipe {
    fn edits(&self, offsets: impl Iterator<Item = u32>, is_constructor: bool) -> MethodEdits {
        let mut edits = MethodEdits::new();
        edits.entry = markers(self.entry);
        edits.exit = self.exit.filter(|_| !is_constructor).map(markers);
        for (number, offset) in offsets.step_by(self.every).enumerate() {
            let (before, after) = self.lengths[number % self.lengths.len()];
            let around = Around { before: markers(before), after: markers(after) };
            edits.at.insert(offset, around);
        }
        edits
    }
}

/// The instructions of a method, with markers counted and taken out: each with its offset, the number
/// of marker bytes before it, and itself.
fn without_markers(code: &[u8]) -> Vec<(u32, u32, Instruction)> {
    let mut found = Vec::new();
    let mut marked = 0;
    let mut instructions = decode_all(code).unwrap().into_iter().peekable();
    while let Some((offset, instruction)) = instructions.next() {
        if instruction == Instruction::Push(Literal::Int(i32::from(MARKER))) {
            let pop = instructions.next().map(|(_, instruction)| instruction);
            assert_eq!(pop, Some(Instruction::Stack(StackOp::Pop)));
            marked += 4;
        } else {
            found.push((offset, marked, instruction));
            marked = 0;
        }
    }
    found
}

/// The targets of an instruction.
fn targets(instruction: &Instruction) -> Vec<u32> {
    match instruction {
        Instruction::Branch { target, .. }
        | Instruction::Goto(target)
        | Instruction::Jsr(target) => vec![*target],
        Instruction::Switch { default, cases } => {
            let cases = cases.iter().map(|(_, target)| *target);
            std::iter::once(*default).chain(cases).collect()
        }
        _ => Vec::new(),
    }
}

/// The same instruction without its targets.
fn bare(instruction: &Instruction) -> Instruction {
    match instruction {
        Instruction::Branch { condition, against, .. } => {
            Instruction::Branch { condition: *condition, against: *against, target: 0 }
        }
        Instruction::Goto(_) => Instruction::Goto(0),
        Instruction::Jsr(_) => Instruction::Jsr(0),
        Instruction::Switch { cases, .. } => Instruction::Switch {
            default: 0,
            cases: cases.iter().map(|(value, _)| (*value, 0)).collect(),
        },
        other => other.clone(),
    }
}

fn length(snippet: Option<&Snippet>) -> u32 {
    snippet.map_or(0, |snippet| snippet.code().len() as u32)
}

/// Compares a rewritten method with where everything must be by a naive reckoning.
fn check(old: (&ClassFile, &Code), new: (&ClassFile, &Code), edits: &MethodEdits) {
    let originals = decode_all(old.0.code_bytes(old.1)).unwrap();
    let mut rewritten = without_markers(new.0.code_bytes(new.1));
    if edits.exit.is_some() {
        let (_, marked, last) = rewritten.pop().unwrap();
        assert_eq!((marked, last), (length(edits.exit.as_ref()), Instruction::Throw));
    }
    assert_eq!(originals.len(), rewritten.len());

    // Where branches to each original instruction must go, and where each must be.
    let mut expected_targets: BTreeMap<u32, u32> = BTreeMap::new();
    let mut after = 0;
    for (number, ((offset, instruction), (place, marked, copy))) in
        originals.iter().zip(&rewritten).enumerate()
    {
        let around = edits.at.get(offset);
        let is_return = matches!(instruction, Instruction::Return(_));
        let exit = if is_return { length(edits.exit.as_ref()) } else { 0 };
        let before = length(around.map(|around| &around.before)) + exit;
        let entry = if number == 0 { length(Some(&edits.entry)) } else { 0 };
        assert_eq!(*marked, entry + after + before, "before {offset}: {instruction:?}");
        assert_eq!(bare(instruction), bare(copy));
        expected_targets.insert(*offset, place - before);
        after = match around {
            Some(around) if instruction.falls_through() => length(Some(&around.after)),
            _ => 0,
        };
    }
    let exit_code = edits.exit.as_ref().map_or(0, |exit| length(Some(exit)) + 1);
    let end = new.1.range.len() as u32 - exit_code;
    expected_targets.insert(old.1.range.len() as u32, end);

    let moved = |offset: &u32| expected_targets[offset];
    for ((_, instruction), (_, _, copy)) in originals.iter().zip(&rewritten) {
        let expected: Vec<u32> = targets(instruction).iter().map(moved).collect();
        assert_eq!(expected, targets(copy), "{instruction:?}");
    }
    let mut handlers = new.1.handlers.clone();
    if edits.exit.is_some() {
        let last = handlers.pop().unwrap();
        assert_eq!(
            (last.start, last.end, last.target),
            (edits.entry.code().len() as u32, end, end)
        );
        assert_eq!(last.catch_type, None);
    }
    assert_eq!(handlers.len(), old.1.handlers.len());
    for (old, new) in old.1.handlers.iter().zip(&handlers) {
        let expected = (moved(&old.start), moved(&old.end), moved(&old.target));
        assert_eq!(expected, (new.start, new.end, new.target));
        assert_eq!(old.catch_type, new.catch_type);
    }
    let begin = |offset: u32| if offset == 0 { 0 } else { moved(&offset) };
    let lines: Vec<(u32, u32)> = old.1.lines.iter().map(|(at, line)| (begin(*at), *line)).collect();
    assert_eq!(lines, new.1.lines);
    for (old, new) in old.1.locals.iter().zip(&new.1.locals) {
        let end = begin(old.start + old.length);
        assert_eq!((begin(old.start), end), (new.start, new.start + new.length));
        assert_eq!((&old.name, old.slot), (&new.name, new.slot));
    }
    assert!(new.1.max_stack <= old.1.max_stack + 2 && new.1.max_stack >= old.1.max_stack);
}

/// Whether the handlers of a method are rewritten only by moving them: those that release monitors are
/// tested with real virtual machines.
fn only_moves(class: &ClassFile, code: &Code) -> bool {
    let covers_itself = code.handlers.iter().any(|row| (row.start..row.end).contains(&row.target));
    let releases = decode_all(class.code_bytes(code))
        .unwrap()
        .iter()
        .any(|(_, instruction)| *instruction == Instruction::MonitorExit);
    !covers_itself && !releases
}

#[derive(Clone, Debug)]
enum Damage {
    Flip { at: Index, to: u8 },
    Number { at: Index, to: u16 },
    Cut { at: Index },
}

fn damage() -> impl Strategy<Value = Damage> {
    let number = prop_oneof![Just(0_u16), Just(1), Just(0xffff), 0_u16..400];
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, to)| Damage::Flip { at, to }),
        3 => (any::<Index>(), number).prop_map(|(at, to)| Damage::Number { at, to }),
        1 => any::<Index>().prop_map(|at| Damage::Cut { at }),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    if bytes.len() < 2 {
        return;
    }
    match damage {
        Damage::Flip { at, to } => {
            let at = at.index(bytes.len());
            bytes[at] ^= to;
        }
        Damage::Number { at, to } => {
            let at = at.index(bytes.len() - 1);
            bytes[at..at + 2].copy_from_slice(&to.to_be_bytes());
        }
        Damage::Cut { at } => bytes.truncate(at.index(bytes.len())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn everything_lands_where_a_naive_reckoning_puts_it(
        seed in any::<Index>(),
        recipe in recipe(),
    ) {
        let bytes = &SEEDS[seed.index(SEEDS.len())];
        let old = ClassFile::parse(Arc::clone(bytes)).unwrap();
        let mut editor = ClassEditor::new(bytes).unwrap();
        let mut edited = Vec::new();
        for (index, method) in old.methods.iter().enumerate() {
            let Some(code) = &method.code else { continue };
            let offsets = decode_all(old.code_bytes(code)).unwrap();
            let offsets = offsets.iter().map(|(offset, _)| *offset);
            let edits = recipe.edits(offsets, &*method.name == "<init>");
            if only_moves(&old, code) && editor.edit_method(index, &edits).is_ok() {
                edited.push((index, edits));
            }
        }
        let finished = editor.finish().unwrap();
        let new = ClassFile::parse(finished.into()).unwrap();
        prop_assert!(new.skipped.is_empty());
        for (index, edits) in edited {
            let code = |class: &ClassFile| class.methods[index].code.clone().unwrap();
            check((&old, &code(&old)), (&new, &code(&new)), &edits);
        }
    }

    #[test]
    fn damaged_classes_never_panic(
        seed in any::<Index>(),
        damages in prop::collection::vec(damage(), 1..6),
        recipe in recipe(),
        offset in 0_u32..40,
    ) {
        let mut bytes = SEEDS[seed.index(SEEDS.len())].to_vec();
        damages.iter().for_each(|damage| apply(damage, &mut bytes));
        let _ = instrument::add_field(&bytes, 0, "added", "J");
        let Ok(mut editor) = ClassEditor::new(&bytes) else { return Ok(()) };
        // With the offsets of the code where it can still be read, and with others.
        let class = ClassFile::parse(bytes.as_slice().into()).ok();
        for index in 0..=editor.method_count() {
            let code = class.as_ref().and_then(|class| {
                let code = class.methods.get(index)?.code.as_ref()?;
                decode_all(class.code_bytes(code)).ok()
            });
            let edits = match code {
                Some(code) => recipe.edits(code.iter().map(|(offset, _)| *offset), false),
                None => recipe.edits((offset..offset + 40).step_by(3), true),
            };
            let _ = editor.edit_method(index, &edits);
        }
        let _ = editor.finish();
    }
}
