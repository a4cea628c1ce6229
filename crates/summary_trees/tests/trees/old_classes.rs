//! Code that no compiler of today writes.

use std::sync::Arc;

use classes::ClassFile;
use summary_trees::{Config, GapReason, summarize_branches, summarize_method};

/// Opcodes, by their names in the specification.
mod op {
    pub(crate) const ACONST_NULL: u8 = 0x01;
    pub(crate) const ICONST_1: u8 = 0x04;
    pub(crate) const ILOAD_0: u8 = 0x1a;
    pub(crate) const ALOAD_0: u8 = 0x2a;
    pub(crate) const ASTORE_1: u8 = 0x4c;
    pub(crate) const POP: u8 = 0x57;
    pub(crate) const IFEQ: u8 = 0x99;
    pub(crate) const GOTO: u8 = 0xa7;
    pub(crate) const JSR: u8 = 0xa8;
    pub(crate) const RET: u8 = 0xa9;
    pub(crate) const RETURN: u8 = 0xb1;
    pub(crate) const PUTSTATIC: u8 = 0xb3;
    pub(crate) const MONITORENTER: u8 = 0xc2;
    pub(crate) const MONITOREXIT: u8 = 0xc3;
}

/// A class with one static method `run` and the static field `count`, constant #6.
fn class(descriptor: &str, code: &[u8], handlers: &[[u16; 4]]) -> ClassFile {
    fn text(text: &str) -> Vec<u8> {
        [&[1], &(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat()
    }
    let constants = [
        text("Old"),
        vec![7, 0, 1],
        text("count"),
        text("I"),
        vec![12, 0, 3, 0, 4],
        vec![9, 0, 2, 0, 5],
        text("run"),
        text(descriptor),
        text("Code"),
        text("java/lang/Object"),
        vec![7, 0, 10],
    ];
    let mut content = vec![0, 4, 0, 4];
    content.extend((code.len() as u32).to_be_bytes());
    content.extend_from_slice(code);
    content.extend((handlers.len() as u16).to_be_bytes());
    content.extend(handlers.iter().flatten().flat_map(|number| number.to_be_bytes()));
    content.extend([0, 0]);
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 3, 0, 45, 0, constants.len() as u8 + 1];
    bytes.extend(constants.concat());
    for number in [0x21_u16, 2, 11, 0, 1, 9, 3, 4, 0, 1, 9, 7, 8, 1, 9] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.extend((content.len() as u32).to_be_bytes());
    bytes.extend(content);
    bytes.extend([0, 0]);
    ClassFile::parse(Arc::from(bytes)).unwrap()
}

/// The gaps of the branches, and of the method.
fn gaps(class: &ClassFile) -> (Vec<GapReason>, Option<GapReason>) {
    let (method, config) = (&class.methods[0], Config::default());
    let found = summarize_branches(class, method, class, &config);
    let whole = summarize_method(class, method, class, &config);
    (found.gaps.iter().map(|gap| gap.reason).collect(), whole.err())
}

const COUNT: [u8; 4] = [op::ICONST_1, op::PUTSTATIC, 0, 6];

#[test]
fn subroutines_are_gaps() {
    let code = [
        &[op::ILOAD_0, op::IFEQ, 0, 6, op::JSR, 0, 4, op::RETURN][..],
        &[op::ASTORE_1],
        &COUNT,
        &[op::RET, 1],
    ]
    .concat();
    let expected = (vec![GapReason::Subroutine], Some(GapReason::Subroutine));
    assert_eq!(gaps(&class("(I)V", &code, &[])), expected);
}

#[test]
fn loops_with_two_entries_are_gaps() {
    // if (x) goto second; first: count = 1; second: count = 1; if (x) goto first;
    let code = [
        &[op::ILOAD_0, op::IFEQ, 0, 7][..],
        &COUNT,
        &COUNT,
        &[op::ILOAD_0, op::IFEQ, 0xff, 0xf7, op::RETURN],
    ]
    .concat();
    let expected = vec![GapReason::Irreducible, GapReason::Irreducible];
    assert_eq!(gaps(&class("(I)V", &code, &[])), (expected, Some(GapReason::Irreducible)));
}

#[test]
fn a_handler_that_is_jumped_to_is_a_gap() {
    // The stack at the handler is the same on both ways.
    let code = [
        &[op::ACONST_NULL, op::ILOAD_0, op::IFEQ, 0, 9, op::POP][..],
        &COUNT,
        &[op::RETURN, op::POP],
        &COUNT,
        &[op::RETURN],
    ]
    .concat();
    let (branches, method) = gaps(&class("(I)V", &code, &[[5, 10, 11, 0]]));
    assert_eq!(
        (branches, method),
        (vec![GapReason::HandlerInFlow], Some(GapReason::HandlerInFlow))
    );
}

#[test]
fn monitors_that_one_side_leaves_are_gaps() {
    let code = [
        &[op::ALOAD_0, op::MONITORENTER, op::ILOAD_0 + 1, op::IFEQ, 0, 5][..],
        &[op::ALOAD_0, op::MONITOREXIT],
        &COUNT,
        &[op::RETURN],
    ]
    .concat();
    let (_, method) = gaps(&class("(Ljava/lang/Object;I)V", &code, &[]));
    assert_eq!(method, Some(GapReason::UnbalancedMonitors));
}

#[test]
fn endless_loops_end() {
    let code = [&COUNT[..], &[op::GOTO, 0xff, 0xfc]].concat();
    assert_eq!(gaps(&class("(I)V", &code, &[])), (Vec::new(), None));
    let code =
        [&[op::ILOAD_0, op::IFEQ, 0, 7][..], &COUNT, &[op::ILOAD_0, op::IFEQ, 0xff, 0xff - 7]];
    let (_, method) = gaps(&class("(I)V", &code.concat(), &[]));
    assert_eq!(method, Some(GapReason::Malformed), "it falls off its end");
}
