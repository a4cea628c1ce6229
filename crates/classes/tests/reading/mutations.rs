//! Damaged classes never panic, whatever the damage: real classes with bytes flipped, cut off, or
//! replaced by pieces of other classes.

use std::sync::{Arc, LazyLock};

use classes::{ClassFile, bytecode, descriptor};
use proptest::prelude::*;

/// A few hundred classes of `java.base`, of all sizes.
static SEEDS: LazyLock<Vec<Arc<[u8]>>> = LazyLock::new(|| {
    let image = crate::jdk::this_jdk().open().unwrap();
    let names: Vec<_> = image.class_names(Some("java.base")).collect();
    names
        .iter()
        .step_by(names.len() / 400 + 1)
        .map(|(_, name)| image.read(name).unwrap().unwrap())
        .collect()
});

#[derive(Clone, Debug)]
enum Damage {
    Flip { at: prop::sample::Index, to: u8 },
    Number { at: prop::sample::Index, to: u16 },
    Cut { at: prop::sample::Index },
    Splice { at: prop::sample::Index, from: prop::sample::Index, piece: prop::sample::Index },
}

fn damage() -> impl Strategy<Value = Damage> {
    use prop::sample::Index;
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, to)| Damage::Flip { at, to }),
        3 => (any::<Index>(), prop_oneof![Just(0_u16), Just(1), Just(0xffff), 0_u16..400])
            .prop_map(|(at, to)| Damage::Number { at, to }),
        1 => any::<Index>().prop_map(|at| Damage::Cut { at }),
        2 => (any::<Index>(), any::<Index>(), any::<Index>())
            .prop_map(|(at, from, piece)| Damage::Splice { at, from, piece }),
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
        Damage::Splice { at, from, piece } => {
            let at = at.index(bytes.len());
            let other = &SEEDS[from.index(SEEDS.len())];
            let start = piece.index(other.len());
            let length = (other.len() - start).min(bytes.len() - at).min(64);
            bytes[at..at + length].copy_from_slice(&other[start..start + length]);
        }
    }
}

/// Reads all that can be read of a class.
fn exercise(class: &ClassFile) {
    for number in 0..=u16::try_from(class.pool.count().min(0xffff)).unwrap() {
        let index = classes::PoolIndex(number);
        let _ = class.pool.get(index);
        let _ = class.pool.class_name(index);
        let _ = class.pool.member_ref(index);
        let _ = class.pool.dynamic(index);
    }
    for method in &class.methods {
        let _ = descriptor::parse_method(&method.descriptor);
        let Some(code) = &method.code else { continue };
        let bytes = class.code_bytes(code);
        assert!(!bytes.is_empty());
        assert!(code.handlers.iter().all(|handler| handler.end as usize <= bytes.len()));
        assert!(code.lines.is_sorted_by_key(|(offset, _)| *offset));
        let _ = bytecode::decode_all(bytes);
    }
    for field in &class.fields {
        let _ = descriptor::parse_field(&field.descriptor);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn damaged_classes_never_panic(
        seed in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let mut bytes = SEEDS[seed.index(SEEDS.len())].to_vec();
        damages.iter().for_each(|damage| apply(damage, &mut bytes));
        match ClassFile::parse(Arc::from(bytes.as_slice())) {
            Ok(class) => exercise(&class),
            Err(error) => prop_assert!(error.offset <= bytes.len(), "{error}"),
        }
    }

    #[test]
    fn arbitrary_code_never_panics(code in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = bytecode::decode_all(&code);
    }

    #[test]
    fn arbitrary_descriptors_never_panic(text in "[(]?[\\[LVIJ;)é/a]{0,12}") {
        let _ = descriptor::parse_method(&text);
        let _ = descriptor::parse_field(&text);
    }
}
