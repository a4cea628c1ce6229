//! Which branches decide by the same condition, and which by nothing that changes.

use summary_trees::{RepeatedCondition, repeated_conditions};

use crate::java::{Compiled, method_named};

const SOURCE: &str = r#"
class Conditions {
    int n;
    final boolean isFinal;
    static final Object SHARED = new Object();
    final Other other = new Other();
    boolean[] flags;

    Conditions(boolean isFinal) { this.isFinal = isFinal; }

    void opposite(boolean a) { if (a) { n = 1; } if (!a) { n = 2; } }
    void nested(boolean a) { if (a) { n = 1; if (a) { n = 2; } } }
    void compared(int i) { if (i < 3) { n = 1; } if (i >= 3) { n = 2; } }
    void wide(long i) { if (i < 3) { n = 1; } if (i >= 3) { n = 2; } }
    void computed(int i) { if ((i & 4) == 0) { n = 1; } if ((i & 4) != 0) { n = 2; } }
    void typed(Object o) { if (o instanceof String) { n = 1; } if (!(o instanceof String)) { n = 2; } }
    void assigned(boolean a, boolean b) { if (a) { n = 1; } a = b; if (a) { n = 2; } }
    void perhapsAssigned(boolean a, boolean b) { if (a) { n = 1; } if (b) { a = true; n = 3; } if (a) { n = 2; } }
    void caught(boolean a) { if (a) { n = 1; } try { a = n / n > 0; n = 4; } catch (Exception e) { } if (a) { n = 2; } }
    void different(int i) { if (i < 3) { n = 1; } if (i < 4) { n = 2; } }
    void mutable() { if (n > 0) { n = 1; } if (n > 0) { n = 2; } }
    void floating(double d) { if (d < 3) { n = 1; } if (d >= 3) { n = 2; } }
    void loop() { for (int i = 0; i < 9; i++) { boolean a = flags[i]; if (a) { n = 1; } if (!a) { n = 2; } } }
    void invariant(boolean a) { for (int i = 0; i < 9; i++) { if (a) { n = 1; } else { n = 2; } } }

    void finalField() { if (isFinal) { n = 1; } }
    void finalReference() { if (other == SHARED) { n = 1; } }
    void finalOfOther(Other given) { if (given.isFinal) { n = 1; } }
    void fieldOfOther() { if (other.isMutable) { n = 1; } }
    void parameter(boolean a) { if (a) { n = 1; } }
    void partly(int i) { if (isFinal && i > 3) { n = 1; } }
    void length() { if (flags.length > 0) { n = 1; } }
    void chosen() { switch (other.kind) { case 1: n = 1; break; case 2: n = 2; break; default: } }
}

class Other {
    final boolean isFinal = SomeInt.of() > 0;
    final int kind = SomeInt.of();
    boolean isMutable;
}

class SomeInt { static int of() { return 1; } }
"#;

/// The conditions of a method in the order of the code: number, whether renewed, whether negated.
fn conditions(compiled: &Compiled, method: &str) -> Vec<Option<(u32, bool, bool)>> {
    let class = compiled.class("Conditions");
    let branches = compiled.branches("Conditions", method).branches;
    let offsets: Vec<u32> = branches.iter().map(|branch| branch.offset).collect();
    let found = repeated_conditions(class, method_named(class, method), class, &offsets);
    let described = |it: &RepeatedCondition| (it.number, it.is_renewed, it.is_negated);
    offsets.iter().map(|offset| found.get(offset).map(described)).collect()
}

#[test]
fn branches_that_decide_alike_have_one_condition() {
    let compiled = Compiled::new("Conditions.java", SOURCE);
    // `if (a)` jumps where `a` is 0.
    let same = |first: bool, second: bool| vec![Some((1, false, first)), Some((1, false, second))];
    let cases = [
        ("opposite", same(false, true)),
        ("nested", same(false, false)),
        ("compared", same(true, false)),
        ("wide", same(true, false)),
        ("computed", same(true, false)),
        ("typed", same(false, true)),
        ("assigned", vec![None, None]),
        ("perhapsAssigned", vec![None, None, None]),
        ("caught", vec![None, None]),
        ("different", vec![None, None]),
        ("mutable", vec![None, None]),
        ("floating", vec![None, None]),
        ("loop", vec![None, Some((1, true, false)), Some((1, false, true))]),
        ("invariant", vec![None, Some((1, false, false))]),
    ];
    for (method, expected) in cases {
        assert_eq!(conditions(&compiled, method), expected, "{method}");
    }
}

#[test]
fn final_fields_and_constants_are_fixed() {
    let compiled = Compiled::new("Conditions.java", SOURCE);
    let class = compiled.class("Conditions");
    // Of other classes nothing is known; how many fields must be final.
    let fixed = |method: &str| -> Vec<Option<usize>> {
        let found = summary_trees::summarize_branches(
            class,
            method_named(class, method),
            class,
            &summary_trees::Config::default(),
        );
        let count = |fields: &Vec<u32>| fields.len();
        found.branches.iter().map(|branch| branch.fixed_if_final.as_ref().map(count)).collect()
    };
    assert_eq!(fixed("finalField"), [Some(0)]);
    assert_eq!(fixed("finalReference"), [Some(0)]);
    assert_eq!(fixed("finalOfOther"), [Some(1)]);
    assert_eq!(fixed("fieldOfOther"), [Some(1)]);
    assert_eq!(fixed("parameter"), [None]);
    assert_eq!(fixed("partly"), [Some(0), None]);
    assert_eq!(fixed("length"), [None]);
    assert_eq!(fixed("chosen"), [Some(1)]);
}
