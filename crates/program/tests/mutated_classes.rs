//! No bytes make the program model panic: real classes with random damage are linked, lowered and
//! put into every call graph. What is wrong with them must end as a gap or as nothing at all.

use std::sync::Arc;

use classes::{Jdk, LoadConfig};
use program::callgraph::{self, Algorithm, CallGraphConfig};
use program::{BuildConfig, ir};
use rayon::prelude::*;

mod random;

use random::Random;

/// Makes the same damage on every machine.
struct Damage(Random);

impl Damage {
    fn next(&mut self, below: usize) -> usize {
        self.0.below(below.max(1))
    }

    /// Damages the code of a method, where a verifier would be needed to notice, or any byte.
    fn apply(&mut self, bytes: &mut [u8], code: &[std::ops::Range<usize>]) {
        for _ in 0..=self.next(4) {
            let at = match code.get(self.next(code.len() + 1)) {
                Some(range) => range.start + self.next(range.len()),
                None => self.next(bytes.len()),
            };
            if let Some(byte) = bytes.get_mut(at) {
                *byte = match self.next(3) {
                    0 => self.next(256) as u8,
                    1 => byte.wrapping_add(1),
                    _ => *byte ^ (1 << self.next(8)),
                };
            }
        }
    }
}

#[test]
fn damaged_classes_do_not_make_the_model_panic() {
    let rounds: usize =
        std::env::var("SCISSION_RANDOM_PROGRAMS").ok().and_then(|it| it.parse().ok()).unwrap_or(8);
    let jdk = Jdk::find(None).expect("the JDK is found").expect("a JDK is on the path");
    let image = jdk.open().expect("its classes can be read");
    let names: Vec<String> =
        image.class_names(Some("java.base")).map(|(_, name)| name.to_string()).collect();
    let lowered: usize = names
        .par_iter()
        .enumerate()
        .step_by(7)
        .map(|(number, name)| {
            let original = image.read(name).expect("it can be read").expect("it is listed");
            let code = classes::ClassFile::parse(original.clone())
                .map(|class| class.methods.into_iter().filter_map(|method| method.code))
                .map(|codes| codes.map(|code| code.range).collect::<Vec<_>>())
                .unwrap_or_default();
            let mut lowered = 0;
            for round in 0..rounds {
                let mut bytes = original.to_vec();
                let random = Random::new((number * rounds + round) as u64);
                Damage(random).apply(&mut bytes, &code);
                lowered += model(&format!("{name} damaged {round}"), &Arc::from(bytes));
            }
            lowered
        })
        .sum();
    assert!(lowered > 1_000, "most damage leaves bodies to look at, {lowered} were made");
}

/// Builds everything the model has for one class; says how many bodies it got.
fn model(name: &str, bytes: &Arc<[u8]>) -> usize {
    let Ok(loaded) = classes::load_bytes(name, bytes.clone(), &LoadConfig::default(), &()) else {
        return 0;
    };
    let mut program = program::build(loaded, None, &BuildConfig::default());
    program.lower_bodies(&|| false);
    let bodies: Vec<_> = program.methods_with_bodies().collect();
    for body in bodies.iter().filter_map(|method| program.body(*method)) {
        assert_eq!(ir::monitor_regions(body).held_at_start.len(), body.blocks.len());
        assert!(!ir::print_body(&program, body).is_empty());
    }
    for algorithm in [Algorithm::ClassHierarchy, Algorithm::RapidType, Algorithm::VariableType] {
        let config = CallGraphConfig { algorithm, entry_points: Vec::new() };
        let graph = callgraph::build(&program, &config);
        assert!(bodies.iter().all(|method| graph.is_reachable(*method)));
    }
    bodies.len()
}
