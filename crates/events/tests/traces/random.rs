//! Random events and tables, the extreme ones among them.

use std::sync::Arc;

use events::{
    Action, Branch, CONTEXT_BLOCKS, ClassEntry, ClassId, Condition, Context, Epoch, Event,
    FieldEntry, FieldId, Kind, ObjectId, Operand, OperandKind, Seen, SiteEntry, SiteId, StackEntry,
    Tables, ThreadEntry, ThreadId, Variable,
};
use findings::Site;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Mostly small numbers, as those of real runs are, but also any.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0..6_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)]
}

fn wide_number() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..6_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn variable() -> impl Strategy<Value = Variable> {
    (wide_number(), number(), 0..4).prop_map(|(object, other, form)| match form {
        0 => Variable::Field(ObjectId(object), FieldId(other)),
        1 => Variable::Static(FieldId(other)),
        2 => Variable::Element(ObjectId(object), other),
        _ => Variable::Contents(ObjectId(object)),
    })
}

fn branch() -> impl Strategy<Value = Branch> {
    prop_oneof![
        Just(Branch::Taken),
        Just(Branch::NotTaken),
        any::<i32>().prop_map(Branch::Case),
        Just(Branch::Case(i32::MIN)),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    let parts = (select(Kind::ALL), variable(), wide_number(), number(), branch());
    parts.prop_map(|(kind, variable, object, number, branch)| {
        let operand = match kind.operand() {
            OperandKind::None => Operand::None,
            OperandKind::Variable => Operand::Variable(variable),
            OperandKind::Object => Operand::Object(ObjectId(object)),
            OperandKind::Thread => Operand::Thread(ThreadId(number)),
            OperandKind::Class => Operand::Class(ClassId(number)),
            OperandKind::ObjectOfClass => Operand::ObjectOfClass(ObjectId(object), ClassId(number)),
            OperandKind::Branch => Operand::Branch(branch),
            OperandKind::Condition => {
                Operand::Condition(Condition { number, holds: branch == Branch::Taken })
            }
        };
        Action::of_kind(kind, operand).expect("the operand is of the kind that is asked for")
    })
}

fn event() -> impl Strategy<Value = Event> {
    let overlaps = prop_oneof![Just(0), number(), Just(Event::OVERLAPS_ALL)];
    (number(), number(), wide_number(), action(), overlaps).prop_map(
        |(thread, site, epoch, action, overlaps)| Event {
            thread: ThreadId(thread),
            site: SiteId(site),
            epoch: Epoch(epoch),
            action,
            overlaps,
        },
    )
}

/// Any events, in any order.
pub(crate) fn events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    vec(event(), 0..=most)
}

/// Names as they are, names that are the same, and names that no one would give.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(&["", "a", "b", "main", "Account", "p.Account", "run", "t1", "o5", "%3"][..])
            .prop_map(str::to_string),
        1 => any::<String>(),
        1 => "[a-z .#\"\\\\@/\n\t:~\\[\\]|()-]{0,12}",
    ]
}

fn seen() -> impl Strategy<Value = Seen> {
    prop_oneof![Just(Seen::Everything), Just(Seen::NotAllState), Just(Seen::Order)]
}

fn site() -> impl Strategy<Value = SiteEntry> {
    let place = (name(), name(), name(), option::of(number()), option::of(name()));
    (place, option::of(number()), name(), seen(), any::<bool>()).prop_map(
        |((class, method, descriptor, offset, file), line, subject, seen, gives_away)| SiteEntry {
            site: Site { class, method, descriptor, offset, file, line },
            subject,
            seen,
            gives_away,
        },
    )
}

/// How any place was reached; no other table need know of it.
fn stack() -> impl Strategy<Value = StackEntry> {
    let context = [number(), number(), number(), number()];
    let frames = vec(site(), 0..5);
    (number(), number(), context, frames).prop_map(|(site, thread, context, frames)| {
        let context: [u32; CONTEXT_BLOCKS] = context;
        StackEntry {
            site: SiteId(site),
            thread: ThreadId(thread),
            context: Context(context.map(SiteId)),
            frames: frames.into_iter().map(|frame| Arc::new(frame.site)).collect(),
        }
    })
}

/// Tables with any rows; events need not know of them.
pub(crate) fn tables() -> impl Strategy<Value = Tables> {
    let fields = (name(), name()).prop_map(|(class, name)| FieldEntry { class, name });
    let classes = name().prop_map(|name| ClassEntry { name });
    let threads =
        (name(), any::<bool>()).prop_map(|(name, is_virtual)| ThreadEntry { name, is_virtual });
    let numbered = (vec(site(), 0..8), vec(fields, 0..6), vec(classes, 0..6), vec(threads, 0..6));
    (numbered, vec(stack(), 0..6)).prop_map(|((sites, fields, classes, threads), stacks)| Tables {
        sites,
        fields,
        classes,
        threads: threads.into_iter().collect(),
        stacks,
        ..Tables::default()
    })
}

/// A short run with one event of each kind and form.
pub(crate) fn one_of_each() -> (Vec<Event>, Tables) {
    let object = ObjectId(7);
    let variables = [
        Variable::Field(object, FieldId(0)),
        Variable::Static(FieldId(1)),
        Variable::Element(object, 3),
        Variable::Contents(object),
    ];
    let mut actions = Vec::new();
    for kind in Kind::ALL {
        let operands = match kind.operand() {
            OperandKind::None => vec![Operand::None],
            OperandKind::Variable => variables.map(Operand::Variable).to_vec(),
            OperandKind::Object => vec![Operand::Object(object)],
            OperandKind::Thread => vec![Operand::Thread(ThreadId(1))],
            OperandKind::Class => vec![Operand::Class(ClassId(0))],
            OperandKind::ObjectOfClass => vec![Operand::ObjectOfClass(object, ClassId(0))],
            OperandKind::Branch => {
                [Branch::Taken, Branch::NotTaken, Branch::Case(-1)].map(Operand::Branch).to_vec()
            }
            OperandKind::Condition => {
                let conditions = [true, false].map(|holds| Condition { number: 3, holds });
                conditions.map(Operand::Condition).to_vec()
            }
        };
        actions.extend(operands.into_iter().map(|it| Action::of_kind(*kind, it).unwrap()));
    }
    let event = |(number, action): (usize, Action)| Event {
        thread: ThreadId(number as u32 % 2),
        site: SiteId(number as u32 % 3),
        epoch: Epoch(number as u64 / 4),
        action,
        overlaps: 0,
    };
    let site = |line: Option<u32>| {
        let mut entry = SiteEntry::unknown();
        if line.is_some() {
            entry.site.class = "p.Account".to_string();
            entry.site.method = "deposit".to_string();
            entry.site.descriptor = "(I)V".to_string();
            entry.site.offset = line;
            entry.site.file = Some("p/Account.java".to_string());
            entry.site.line = line;
            entry.subject = "Account.balance".to_string();
        }
        entry
    };
    let field = |name: &str| FieldEntry { class: "p.Account".to_string(), name: name.to_string() };
    let thread = |name: &str| ThreadEntry { name: name.to_string(), is_virtual: false };
    let stack = StackEntry {
        site: SiteId(2),
        thread: ThreadId(1),
        context: Context::of([SiteId(1)].into_iter()),
        frames: [13, 99].map(|line| Arc::new(site(Some(line)).site)).to_vec(),
    };
    let mut tables = Tables {
        sites: vec![site(None), site(Some(12)), site(Some(13))],
        stacks: vec![stack],
        fields: vec![field("balance"), field("count")],
        classes: vec![ClassEntry { name: "p.Account".to_string() }],
        threads: [thread("main"), thread("worker 1")].into_iter().collect(),
        ..Tables::default()
    };
    let events: Vec<Event> = actions.into_iter().enumerate().map(event).collect();
    events.iter().for_each(|event| tables.note(event));
    (events, tables)
}
