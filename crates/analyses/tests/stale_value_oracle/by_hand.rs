//! Methods whose verdict is known.

use crate::java::{
    Block, End, Fixed, Helper, Kind, Local, Lock, Method, Operand, Operator, Statement, Test,
    Value, Variable,
};

use Local::{A, B, C, D};
use Lock::{Explicit, One, This, Two};
use Variable::{SharedP, X, Y};

/// A method and all its stale values: the lines where they are read, released and used. The header
/// is line 1, and a closing brace has a line of its own.
pub(crate) struct Case {
    pub(crate) title: &'static str,
    pub(crate) method: Method,
    pub(crate) stale: Vec<[u32; 3]>,
}

fn block<const N: usize>(kinds: [Kind; N]) -> Block {
    kinds.into_iter().map(Statement::new).collect()
}

fn sync<const N: usize>(lock: Lock, inside: [Kind; N]) -> Kind {
    Kind::Synchronized(lock, block(inside))
}

fn test(local: Local) -> Test {
    Test { local, bound: 3 }
}

fn repeat<const N: usize>(local: Local, inside: [Kind; N]) -> Kind {
    Kind::While(test(local), block(inside))
}

fn read(local: Local, variable: Variable) -> Kind {
    Kind::Set(local, Value::Read(variable))
}

fn copy(local: Local, from: Local) -> Kind {
    Kind::Set(local, Value::Copy(from))
}

fn increment(local: Local) -> Kind {
    Kind::Set(local, Value::Arithmetic(local, Operator::Plus, Operand::Constant(1)))
}

fn get(local: Local, helper: Helper) -> Kind {
    Kind::Set(local, Value::Call(helper, Vec::new()))
}

fn reset(local: Local) -> Kind {
    Kind::Set(local, Value::Fixed(Fixed::Constant(0)))
}

fn case<const N: usize>(title: &'static str, body: [Kind; N], stale: &[[u32; 3]]) -> Case {
    let method = Method::judged(block(body), End::ReturnsZero);
    Case { title, method, stale: stale.to_vec() }
}

fn synchronized(case: Case) -> Case {
    Case { method: Method { is_synchronized: true, ..case.method }, ..case }
}

fn returning(local: Local, case: Case) -> Case {
    Case { method: Method { end: End::Returns(local), ..case.method }, ..case }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = of_blocks();
    cases.extend(of_loops_and_exceptions());
    cases.extend(of_calls());
    cases
}

fn of_blocks() -> Vec<Case> {
    vec![
        case(
            "the increment of Figure 2",
            [sync(One, [read(A, SharedP)]), increment(A), sync(One, [Kind::Write(SharedP, A)])],
            &[[3, 4, 5], [3, 4, 7]],
        ),
        case(
            "one block for all of it",
            [sync(One, [read(A, SharedP), increment(A), Kind::Write(SharedP, A)])],
            &[],
        ),
        case("a copy is no use", [sync(One, [read(A, X)]), copy(B, A)], &[]),
        case(
            "the use of a copy",
            [sync(One, [read(A, X), copy(B, A)]), reset(A), copy(C, B), Kind::Use(C)],
            &[[3, 5, 8]],
        ),
        case("read anew", [sync(One, [read(A, X)]), reset(A), Kind::Use(A)], &[]),
        case("no lock, no block", [read(A, X), sync(One, []), Kind::Use(A)], &[]),
        case(
            "what nobody changes",
            [
                sync(
                    This,
                    [
                        Kind::Set(A, Value::Fixed(Fixed::FinalField)),
                        Kind::Set(B, Value::Fixed(Fixed::StaticFinalField)),
                        Kind::Set(C, Value::Fixed(Fixed::WrittenByConstructor)),
                    ],
                ),
                Kind::Use(A),
                Kind::Use(B),
                Kind::Use(C),
            ],
            &[],
        ),
        case(
            "read under the inner lock, used under the outer one",
            [sync(One, [sync(Two, [read(A, X)]), Kind::Use(A)])],
            &[[4, 5, 6]],
        ),
        case(
            "read under the outer lock, used under the inner one, and when both are over",
            [sync(One, [read(A, X), sync(Two, [Kind::Use(A)]), Kind::Use(A)]), Kind::Use(A)],
            &[[3, 8, 9]],
        ),
        case(
            "a re-entrant block is none",
            [sync(One, [sync(Two, [sync(One, [read(A, X)]), Kind::Use(A)])]), Kind::Use(A)],
            &[[5, 8, 10]],
        ),
        case(
            "an operation on values of two blocks",
            [
                sync(
                    One,
                    [read(A, X), sync(Two, [read(B, Y), Kind::Set(C, sum(A, B))]), Kind::Use(C)],
                ),
                Kind::Use(C),
            ],
            &[[5, 7, 8], [5, 7, 10], [3, 9, 10]],
        ),
        case(
            "an index",
            [
                sync(One, [read(A, X), read(B, Variable::Cell(A))]),
                Kind::Write(Variable::Cell(A), C),
                Kind::Use(B),
            ],
            &[[3, 5, 6], [4, 5, 7]],
        ),
        case(
            "a wait",
            [sync(One, [read(A, X), Kind::Wait(One), Kind::Use(A), read(A, X), Kind::Use(A)])],
            &[[3, 4, 5]],
        ),
        case(
            "a wait on the outer lock",
            [sync(
                One,
                [read(A, X), sync(Two, [read(B, Y), Kind::Wait(One), Kind::Use(B)]), Kind::Use(A)],
            )],
            &[[3, 6, 9]],
        ),
        case(
            "a wait on a lock that was taken twice",
            [sync(One, [read(A, X), sync(One, [Kind::Wait(One)]), Kind::Use(A)])],
            &[[3, 5, 7]],
        ),
        case(
            "an explicit lock, and a wait on its condition",
            [
                Kind::Locked(block([read(A, X), Kind::Wait(Explicit), Kind::Use(A), read(B, X)])),
                Kind::Use(B),
            ],
            &[[4, 5, 6], [7, 9, 11]],
        ),
        case(
            "an explicit lock that is tried for, and one that is held already",
            [
                Kind::TryLocked(block([Kind::Locked(block([read(A, X)])), Kind::Use(A)])),
                Kind::Use(A),
            ],
            &[[6, 12, 15]],
        ),
        returning(
            A,
            case(
                "returned from inside and from outside",
                [sync(One, [read(A, X), Kind::ReturnIf(test(B), A)])],
                &[[3, 4, 4], [3, 5, 6]],
            ),
        ),
        returning(A, synchronized(case("a synchronized method", [read(A, X), increment(A)], &[]))),
        case(
            "returned out of three locks",
            [sync(
                One,
                [
                    read(A, X),
                    Kind::Locked(block([
                        read(B, X),
                        sync(This, [read(C, X), Kind::ReturnIf(test(D), C)]),
                        Kind::ReturnIf(test(D), B),
                    ])),
                    Kind::ReturnIf(test(D), A),
                ],
            )],
            &[[8, 9, 9], [6, 13, 11], [3, 15, 15]],
        ),
        case(
            "the outermost lock of a return is released after an unlock",
            [sync(One, [read(A, X), Kind::Locked(block([Kind::ReturnIf(test(D), A)]))])],
            &[[3, 8, 6]],
        ),
    ]
}

fn sum(left: Local, right: Local) -> Value {
    Value::Arithmetic(left, Operator::Plus, Operand::Local(right))
}

fn of_loops_and_exceptions() -> Vec<Case> {
    let one_way = |then, otherwise| Kind::If(test(D), then, otherwise);
    vec![
        case(
            "the sensor of Figure 4",
            [repeat(
                D,
                [
                    sync(One, [read(A, SharedP), increment(A), Kind::Write(SharedP, A)]),
                    Kind::Use(D),
                ],
            )],
            &[],
        ),
        case(
            "kept from an earlier iteration",
            [repeat(D, [sync(One, [Kind::Use(A), read(A, X)])])],
            &[[5, 6, 4]],
        ),
        case(
            "kept for three iterations",
            [repeat(D, [Kind::Use(A), copy(A, B), copy(B, C), sync(One, [read(C, X)])])],
            &[[7, 8, 3]],
        ),
        case("the test of a loop", [repeat(A, [sync(One, [read(A, X)])])], &[[4, 5, 2]]),
        case(
            "stale one way only, and tested",
            [
                sync(One, [read(A, X), read(B, Y)]),
                one_way(block([reset(A)]), block([reset(B)])),
                Kind::If(test(A), block([]), block([])),
                Kind::ThrowIf(test(B)),
            ],
            &[[3, 5, 11], [4, 5, 14]],
        ),
        case(
            "either of two reads",
            [
                one_way(block([sync(One, [read(A, X)])]), block([sync(Two, [read(A, X)])])),
                Kind::Use(A),
            ],
            &[[4, 5, 11], [8, 9, 11]],
        ),
        case(
            "caught after a lock was given back by the exception",
            [Kind::TryCatch(
                block([sync(One, [read(A, X), Kind::ThrowIf(test(D))]), reset(A)]),
                block([Kind::Use(A)]),
            )],
            &[[4, 6, 9]],
        ),
        case(
            "caught under the lock",
            [sync(
                One,
                [Kind::TryCatch(
                    block([read(A, X), Kind::ThrowIf(test(A)), reset(A)]),
                    block([Kind::Use(A)]),
                )],
            )],
            &[],
        ),
    ]
}

fn of_calls() -> Vec<Case> {
    vec![
        case(
            "a deposit through getter and setter",
            [
                get(A, Helper::SynchronizedGet),
                increment(A),
                Kind::Call(Helper::SynchronizedSet, vec![A]),
            ],
            &[[2, 2, 3], [2, 2, 4]],
        ),
        case(
            "the same under the lock",
            [sync(
                This,
                [
                    get(A, Helper::SynchronizedGet),
                    increment(A),
                    Kind::Call(Helper::SynchronizedSet, vec![A]),
                ],
            )],
            &[],
        ),
        case(
            "under the lock, and after it",
            [sync(This, [get(A, Helper::ChainedGet)]), Kind::Use(A)],
            &[[3, 4, 5]],
        ),
        case(
            "under another lock",
            [sync(One, [get(A, Helper::ChainedGet), Kind::Use(A)])],
            &[[3, 3, 4]],
        ),
        case(
            "a plain getter, without and with a lock",
            [
                get(A, Helper::PlainGet),
                sync(Two, [get(B, Helper::PlainGet)]),
                Kind::Use(A),
                Kind::Use(B),
            ],
            &[[4, 5, 7]],
        ),
        case(
            "getters with all kinds of locks",
            [
                get(A, Helper::LockedGet),
                get(B, Helper::ExplicitGet),
                get(C, Helper::StaticGet),
                Kind::Use(A),
                Kind::Use(B),
                Kind::Use(C),
            ],
            &[[2, 2, 5], [3, 3, 6], [4, 4, 7]],
        ),
        case(
            "the lock of a static method is that of the class",
            [sync(Lock::Class, [get(A, Helper::StaticGet), Kind::Use(A)])],
            &[],
        ),
        case(
            "through a callee and back",
            [
                sync(One, [read(A, X), Kind::Set(B, Value::Call(Helper::Identity, vec![A]))]),
                Kind::Set(C, Value::Call(Helper::Add, vec![D, B])),
                Kind::Use(C),
            ],
            &[[3, 5, 6], [3, 5, 7]],
        ),
        case(
            "a getter that may give back its argument",
            [
                sync(Two, [read(A, X), Kind::Set(B, Value::Call(Helper::MaybeGet, vec![A]))]),
                Kind::Use(B),
            ],
            &[[3, 5, 6], [4, 4, 6]],
        ),
        case(
            "a setter takes a lock while the value is current",
            [sync(Two, [read(A, X), Kind::Call(Helper::LockedSet, vec![A]), Kind::Use(A)])],
            &[],
        ),
        case(
            "a callee waits",
            [sync(This, [read(A, X), Kind::Call(Helper::Pause, vec![]), Kind::Use(A)])],
            &[[3, 4, 5]],
        ),
        case(
            "a callee waits for a lock that the caller does not hold",
            [sync(One, [read(A, X), Kind::Call(Helper::Pause, vec![]), Kind::Use(A)])],
            &[],
        ),
    ]
}
