//! The locks that are reported with an access, against a naive walk of all paths of random methods without loops.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::random::Random;
use crate::recorder::Run;

const LOCKS: usize = 3;

enum Statement {
    Touch(usize),
    Synchronized(usize, Vec<Statement>),
    If(Vec<Statement>, Vec<Statement>),
    Try(usize, Vec<Statement>, Vec<Statement>),
    Lock(usize),
    Unlock(usize),
}

struct Generator<'a> {
    random: &'a mut Random,
    touches: usize,
}

impl Generator<'_> {
    fn block(&mut self, depth: usize, is_structured: bool) -> Vec<Statement> {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.statement(depth, is_structured)).collect()
    }

    fn statement(&mut self, depth: usize, is_structured: bool) -> Statement {
        let lock = self.random.below(LOCKS);
        let choices = if depth == 0 {
            1
        } else if is_structured {
            4
        } else {
            6
        };
        match self.random.below(choices) {
            0 => {
                self.touches += 1;
                Statement::Touch(self.touches - 1)
            }
            1 => Statement::Synchronized(lock, self.block(depth - 1, is_structured)),
            2 => {
                let then = self.block(depth - 1, is_structured);
                Statement::If(then, self.block(depth - 1, is_structured))
            }
            3 => {
                let then = self.block(depth - 1, is_structured);
                Statement::Try(lock, then, self.block(depth - 1, is_structured))
            }
            4 => Statement::Lock(lock),
            _ => Statement::Unlock(lock),
        }
    }
}

fn java(statements: &[Statement], text: &mut String) {
    for statement in statements {
        match statement {
            Statement::Touch(number) => _ = write!(text, "f{number}++;"),
            Statement::Synchronized(lock, inside) => {
                _ = write!(text, "synchronized (m{lock}) {{");
                java(inside, text);
                text.push('}');
            }
            Statement::If(then, otherwise) => {
                text.push_str("if (choice()) {");
                java(then, text);
                text.push_str("} else {");
                java(otherwise, text);
                text.push('}');
            }
            Statement::Try(lock, then, otherwise) => {
                _ = write!(text, "if (l{lock}.tryLock()) {{ try {{");
                java(then, text);
                _ = write!(text, "}} finally {{ l{lock}.unlock(); }} }} else {{");
                java(otherwise, text);
                text.push('}');
            }
            Statement::Lock(lock) => _ = write!(text, "l{lock}.lock();"),
            Statement::Unlock(lock) => _ = write!(text, "l{lock}.unlock();"),
        }
    }
}

/// How often each lock is held on one path: monitors first, then the others.
type Held = [i32; 2 * LOCKS];

/// Walks all paths; notes the locks of every touch on each of them.
fn walk(
    statements: &[Statement],
    paths: Vec<Held>,
    seen: &mut Vec<Vec<BTreeSet<String>>>,
) -> Vec<Held> {
    let mut paths = paths;
    let add = |paths: Vec<Held>, at: usize, by: i32| -> Vec<Held> {
        paths
            .into_iter()
            .map(|mut held| {
                held[at] = (held[at] + by).max(0);
                held
            })
            .collect()
    };
    for statement in statements {
        paths = match statement {
            Statement::Touch(number) => {
                for held in &paths {
                    let names = (0..2 * LOCKS).filter(|at| held[*at] > 0).map(|at| {
                        let kind = if at < LOCKS { "m" } else { "l" };
                        format!("inside({kind}{})", at % LOCKS)
                    });
                    seen[*number].push(names.collect());
                }
                paths
            }
            Statement::Synchronized(lock, inside) => {
                let inside = walk(inside, add(paths, *lock, 1), seen);
                add(inside, *lock, -1)
            }
            Statement::If(then, otherwise) => {
                let mut both = walk(then, paths.clone(), seen);
                both.extend(walk(otherwise, paths, seen));
                both
            }
            Statement::Try(lock, then, otherwise) => {
                let inside = walk(then, add(paths.clone(), LOCKS + lock, 1), seen);
                let mut both = add(inside, LOCKS + lock, -1);
                both.extend(walk(otherwise, paths, seen));
                both
            }
            Statement::Lock(lock) => add(paths, LOCKS + lock, 1),
            Statement::Unlock(lock) => add(paths, LOCKS + lock, -1),
        };
        paths.sort_unstable();
        paths.dedup();
    }
    paths
}

#[test]
fn held_locks_are_those_of_all_paths() {
    let mut random = Random::new(20_041);
    let mut generator = Generator { random: &mut random, touches: 0 };
    let methods: Vec<(bool, Vec<Statement>)> =
        (0..100).map(|number| (number % 2 == 0, generator.block(3, number % 2 == 0))).collect();
    let touches = generator.touches;
    let mut text = String::from("import java.util.concurrent.locks.*; public class Shared {");
    text.push_str("static boolean choice() { return Math.random() > 0.5; }");
    for lock in 0..LOCKS {
        _ = write!(text, "final Object m{lock} = new Object();");
        _ = write!(text, "final ReentrantLock l{lock} = new ReentrantLock();");
    }
    for touch in 0..touches {
        _ = write!(text, "int f{touch};");
    }
    let mut calls = String::new();
    let mut is_structured = vec![false; touches];
    let mut seen: Vec<Vec<BTreeSet<String>>> = vec![Vec::new(); touches];
    for (number, (structured, statements)) in methods.iter().enumerate() {
        _ = write!(text, "void method{number}() {{");
        java(statements, &mut text);
        text.push_str("}\n");
        _ = write!(calls, "case {number}: shared.method{number}(); break;");
        let before: Vec<usize> = seen.iter().map(Vec::len).collect();
        walk(statements, vec![Held::default()], &mut seen);
        for touch in 0..touches {
            is_structured[touch] |= *structured && seen[touch].len() > before[touch];
        }
    }
    text.push('}');
    // One way each: what one method leaves locked is none of the next one's business.
    let main = crate::two_threads("", &format!("switch (args.length) {{ {calls} }}"));
    let run = Run::of(&[("Main", &main), ("Shared", &text)]);
    let (mut exact, mut held_somewhere) = (0, 0);
    for (touch, paths) in seen.iter().enumerate() {
        let mut expected = paths[0].clone();
        for path in paths {
            expected.retain(|name| path.contains(name));
        }
        let field = format!("f{touch}");
        let recorded: Vec<_> = run
            .recorded
            .accesses
            .iter()
            .filter(|seen| seen.slot.rsplit('.').next() == Some(&field))
            .collect();
        assert!(!recorded.is_empty(), "{field} is touched");
        for access in recorded {
            let locks: BTreeSet<String> = access.locks.iter().cloned().collect();
            assert!(locks.is_subset(&expected), "{field}: {locks:?} of {expected:?}");
            assert!(!is_structured[touch] || locks == expected, "{field}: {locks:?} {expected:?}");
            exact += usize::from(locks == expected);
            held_somewhere += usize::from(!locks.is_empty());
        }
    }
    assert!(held_somewhere > 50 && exact > touches, "{held_somewhere} {exact} {touches}");
}
