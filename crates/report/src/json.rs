//! JSON for programs. The shape is a promise: it is written down in `docs/json-format.md` and
//! `docs/results.schema.json`, and a test holds real output against the latter.
//!
//! The types here mirror the findings instead of serialising them directly, so that the plain data
//! may change without changing what others parse.

use std::collections::BTreeMap;
use std::io::{self, Write};

use findings::{
    BaselineEntry, BenignCycle, Comparison, Cycle, CycleEdge, EdgeKind, Evidence, Finding,
    Fingerprint, Gap, GapKind, Operation, Results, Severity, Site, Stack, Step, Suppressed,
    Suppressor,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{TOOL_VERSION, words};

/// Grows when a field changes its meaning or goes away; new fields do not count.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct JsonResults<'a> {
    version: u32,
    tool: JsonTool,
    findings: Vec<JsonFinding<'a>>,
    suppressed: Vec<JsonSuppressed<'a>>,
    baseline: Option<JsonComparison<'a>>,
    below_level: Map<String, Value>,
    remarks: &'a [String],
    threads: &'a [String],
    gaps: Vec<JsonGap>,
    watched: Option<JsonWatched<'a>>,
    stats: Map<String, Value>,
    interrupted: bool,
}

#[derive(Serialize)]
struct JsonWatched<'a> {
    places: &'a BTreeMap<String, u64>,
    order_only: u64,
}

#[derive(Serialize)]
struct JsonTool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    evidence: Evidence,
    severity: Severity,
    message: String,
    advice: String,
    fingerprint: Fingerprint,
    blame: JsonSite<'a>,
    subjects: Map<String, Value>,
    analysis: Option<&'a str>,
    witness: Vec<JsonStep<'a>>,
    cycle: Option<JsonCycle<'a>>,
    other_witnesses: Vec<JsonWitness<'a>>,
    also: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct JsonSuppressed<'a> {
    by: Suppressor,
    reason: &'a str,
    finding: JsonFinding<'a>,
}

#[derive(Serialize)]
struct JsonComparison<'a> {
    known: Vec<JsonFinding<'a>>,
    gone: Vec<JsonRecorded<'a>>,
}

#[derive(Serialize)]
struct JsonRecorded<'a> {
    rule: &'a str,
    blame: &'a str,
    message: &'a str,
    fingerprint: Fingerprint,
}

#[derive(Serialize)]
struct JsonWitness<'a> {
    analysis: &'a str,
    witness: Vec<JsonStep<'a>>,
    count: u64,
}

#[derive(Serialize)]
struct JsonCycle<'a> {
    transactions: Vec<JsonTransaction<'a>>,
    edges: Vec<JsonEdge<'a>>,
    outer_blocks: Vec<JsonSite<'a>>,
    count: u64,
    benign: Option<BenignCycle>,
}

#[derive(Serialize)]
struct JsonTransaction<'a> {
    thread: &'a str,
    block: Option<JsonSite<'a>>,
    is_blamed: bool,
}

#[derive(Serialize)]
struct JsonEdge<'a> {
    kind: EdgeKind,
    subject: Option<&'a str>,
    from: Option<JsonOperation<'a>>,
    to: Option<JsonOperation<'a>>,
    is_race: bool,
}

#[derive(Serialize)]
struct JsonOperation<'a> {
    verb: &'a str,
    site: Option<JsonSite<'a>>,
    stack: Option<JsonStack<'a>>,
}

#[derive(Serialize)]
struct JsonStack<'a> {
    frames: Vec<JsonSite<'a>>,
    is_same_context: bool,
}

#[derive(Serialize)]
struct JsonStep<'a> {
    role: &'a str,
    #[serde(flatten)]
    site: JsonSite<'a>,
    label: String,
    call_chain: Vec<JsonSite<'a>>,
    held_locks: Vec<JsonHeldLock<'a>>,
    thread: Option<&'a str>,
    verb: Option<&'a str>,
    subject: Option<&'a str>,
    stack: Option<JsonStack<'a>>,
}

#[derive(Serialize)]
struct JsonHeldLock<'a> {
    lock: &'a str,
    taken_at: JsonSite<'a>,
}

#[derive(Serialize)]
struct JsonSite<'a> {
    class: &'a str,
    method: &'a str,
    descriptor: &'a str,
    offset: Option<u32>,
    file: Option<String>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct JsonGap {
    kind: GapKind,
    place: String,
    detail: String,
    may_hide: &'static str,
    count: u32,
}

pub(crate) fn render(results: &Results, writer: &mut dyn Write) -> io::Result<()> {
    let results = JsonResults {
        version: VERSION,
        tool: JsonTool { name: "scission", version: TOOL_VERSION },
        findings: results.findings.iter().map(json_finding).collect(),
        suppressed: results.suppressed.iter().map(json_suppressed).collect(),
        baseline: results.baseline.as_ref().map(json_comparison),
        below_level: results
            .below_level
            .iter()
            .map(|(severity, number)| (words::name(severity), (*number).into()))
            .collect(),
        remarks: &results.remarks,
        threads: &results.threads,
        gaps: results.gaps.iter().map(json_gap).collect(),
        watched: results
            .watched
            .as_ref()
            .map(|watched| JsonWatched { places: &watched.places, order_only: watched.order_only }),
        stats: results
            .stats
            .iter()
            .map(|(name, number)| ((*name).into(), (*number).into()))
            .collect(),
        interrupted: results.interrupted,
    };
    let formatter = OutlineFormatter::default();
    let mut serializer = serde_json::Serializer::with_formatter(&mut *writer, formatter);
    results.serialize(&mut serializer)?;
    writeln!(writer)
}

fn json_suppressed(suppressed: &Suppressed) -> JsonSuppressed<'_> {
    JsonSuppressed {
        by: suppressed.by,
        reason: &suppressed.reason,
        finding: json_finding(&suppressed.finding),
    }
}

fn json_comparison(comparison: &Comparison) -> JsonComparison<'_> {
    JsonComparison {
        known: comparison.known.iter().map(json_finding).collect(),
        gone: comparison.gone.iter().map(json_recorded).collect(),
    }
}

fn json_recorded(recorded: &BaselineEntry) -> JsonRecorded<'_> {
    let BaselineEntry { rule, blame, message, fingerprint } = recorded;
    JsonRecorded { rule, blame, message, fingerprint: *fingerprint }
}

/// Whether the stacks of operations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stacks {
    Written,
    /// Of what stands under another witness or finding, the places are enough.
    LeftOut,
}

fn json_finding(finding: &Finding) -> JsonFinding<'_> {
    json_finding_with(finding, Stacks::Written)
}

fn json_finding_with(finding: &Finding, stacks: Stacks) -> JsonFinding<'_> {
    let (witness, others) = match finding.witnesses.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    JsonFinding {
        rule: finding.rule,
        evidence: finding.evidence,
        severity: finding.severity,
        message: words::message(finding),
        advice: words::advice(finding),
        fingerprint: words::fingerprint(finding),
        blame: json_site(&finding.blame),
        subjects: finding
            .subjects
            .iter()
            .map(|(name, subject)| ((*name).into(), subject.as_str().into()))
            .collect(),
        analysis: witness.map(|witness| witness.analysis),
        witness: witness
            .map(|witness| {
                // The stacks of a cycle stand at its edges.
                let stacks = if witness.cycle.is_some() { Stacks::LeftOut } else { stacks };
                json_steps(finding, &witness.steps, stacks)
            })
            .unwrap_or_default(),
        cycle: witness
            .and_then(|witness| witness.cycle.as_ref())
            .map(|cycle| json_cycle(cycle, stacks)),
        other_witnesses: others
            .iter()
            .map(|other| JsonWitness {
                analysis: other.analysis,
                witness: json_steps(finding, &other.steps, Stacks::LeftOut),
                count: other.cycle.as_ref().map_or(1, |cycle| cycle.count),
            })
            .collect(),
        // The first of them says how the race splits a block.
        also: finding
            .also
            .iter()
            .enumerate()
            .map(|(at, also)| match at {
                0 => json_finding_with(also, stacks),
                _ => json_finding_with(also, Stacks::LeftOut),
            })
            .collect(),
    }
}

fn json_steps<'a>(finding: &'a Finding, steps: &'a [Step], stacks: Stacks) -> Vec<JsonStep<'a>> {
    let json_step = |step: &'a Step| JsonStep {
        role: step.role,
        site: json_site(&step.site),
        label: words::label(finding, step),
        call_chain: step.call_chain.iter().map(json_site).collect(),
        held_locks: step
            .held_locks
            .iter()
            .map(|held| JsonHeldLock { lock: &held.lock, taken_at: json_site(&held.taken_at) })
            .collect(),
        thread: step.thread.as_deref(),
        verb: step.action.as_ref().map(|action| action.verb.as_str()),
        subject: step.action.as_ref().map(|action| action.subject.as_str()),
        stack: step.stack.as_ref().filter(|_| stacks == Stacks::Written).map(json_stack),
    };
    steps.iter().map(json_step).collect()
}

fn json_cycle(cycle: &Cycle, stacks: Stacks) -> JsonCycle<'_> {
    let transactions = cycle.transactions.iter().map(|transaction| JsonTransaction {
        thread: &transaction.thread,
        block: transaction.block.as_ref().map(json_site),
        is_blamed: transaction.is_blamed,
    });
    JsonCycle {
        transactions: transactions.collect(),
        edges: cycle.edges.iter().map(|edge| json_edge(edge, stacks)).collect(),
        outer_blocks: cycle.outer_blocks.iter().map(json_site).collect(),
        count: cycle.count,
        benign: cycle.benign,
    }
}

fn json_edge(edge: &CycleEdge, stacks: Stacks) -> JsonEdge<'_> {
    let has_operations = match edge.kind {
        EdgeKind::Operations => true,
        EdgeKind::Order | EdgeKind::Omitted => false,
    };
    JsonEdge {
        kind: edge.kind,
        subject: has_operations.then_some(&edge.subject),
        from: has_operations.then(|| json_operation(&edge.from, stacks)),
        to: has_operations.then(|| json_operation(&edge.to, stacks)),
        is_race: edge.is_race,
    }
}

fn json_operation(operation: &Operation, stacks: Stacks) -> JsonOperation<'_> {
    JsonOperation {
        verb: &operation.verb,
        site: operation.site.as_ref().map(json_site),
        stack: operation.stack.as_ref().filter(|_| stacks == Stacks::Written).map(json_stack),
    }
}

/// A stack without its outermost frames, in which the platform or a test runner calls the program.
fn json_stack(stack: &Stack) -> JsonStack<'_> {
    let last = stack.frames.iter().rposition(words::is_of_program);
    let frames = last.map_or(&stack.frames[..], |last| &stack.frames[..=last]);
    JsonStack {
        frames: frames.iter().map(json_site).collect(),
        is_same_context: stack.is_same_context,
    }
}

fn json_site(site: &Site) -> JsonSite<'_> {
    JsonSite {
        class: &site.class,
        method: &site.method,
        descriptor: &site.descriptor,
        offset: site.offset,
        file: words::file(site),
        line: site.line,
    }
}

fn json_gap(gap: &Gap) -> JsonGap {
    JsonGap {
        kind: gap.kind,
        place: words::gap_place(gap),
        detail: words::gap_detail(gap),
        may_hide: gap.kind.may_hide(),
        count: gap.count,
    }
}

/// How deep the report is laid out; what is deeper, such as the frames of a stack, stands on one line.
const OUTLINE_DEPTH: usize = 6;

/// Lines and indentation for the upper part of the report, as people and version control want them.
#[derive(Default)]
struct OutlineFormatter {
    depth: usize,
    has_value: bool,
}

impl OutlineFormatter {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_value && self.depth < OUTLINE_DEPTH {
            self.new_line(writer)?;
        }
        self.has_value = true;
        writer.write_all(bracket)
    }

    fn separate<W: ?Sized + Write>(&mut self, writer: &mut W, is_first: bool) -> io::Result<()> {
        if !is_first {
            writer.write_all(b",")?;
        }
        match (self.depth <= OUTLINE_DEPTH, is_first) {
            (true, _) => self.new_line(writer),
            (false, true) => Ok(()),
            (false, false) => writer.write_all(b" "),
        }
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl serde_json::ser::Formatter for OutlineFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn json(results: &Results) -> Value {
        let mut bytes = Vec::new();
        render(results, &mut bytes).unwrap();
        assert!(bytes.ends_with(b"}\n"));
        serde_json::from_slice(&bytes).unwrap()
    }

    fn schema() -> Value {
        serde_json::from_str(include_str!("../../../docs/results.schema.json")).unwrap()
    }

    /// The part of JSON Schema that `results.schema.json` uses; a keyword it does not know fails,
    /// so the schema cannot promise what is not checked.
    fn mismatches(schema: &Value, root: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
        for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
            let holds = match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" => true,
                "$ref" => {
                    let pointer = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                    mismatches(root.pointer(pointer).expect(pointer), root, value, at, found);
                    true
                }
                "anyOf" => wanted.as_array().unwrap().iter().any(|schema| {
                    let mut found = Vec::new();
                    mismatches(schema, root, value, at, &mut found);
                    found.is_empty()
                }),
                "const" => value == wanted,
                "enum" => wanted.as_array().unwrap().contains(value),
                "type" => match wanted {
                    Value::Array(any) => any.iter().any(|name| has_type(value, name)),
                    name => has_type(value, name),
                },
                "minimum" => value.as_u64().is_none_or(|number| number >= wanted.as_u64().unwrap()),
                "required" => {
                    let mut names = wanted.as_array().unwrap().iter();
                    !value.is_object()
                        || names.all(|name| value.get(name.as_str().unwrap()).is_some())
                }
                "properties" => {
                    for (name, schema) in wanted.as_object().unwrap() {
                        if let Some(member) = value.get(name) {
                            mismatches(schema, root, member, &format!("{at}/{name}"), found);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let known = schema.get("properties");
                    for (name, member) in value.as_object().into_iter().flatten() {
                        if known.is_some_and(|known| known.get(name).is_some()) {
                            continue;
                        }
                        let at = format!("{at}/{name}");
                        match wanted {
                            Value::Bool(false) => found.push(format!("{at}: is not documented")),
                            schema => mismatches(schema, root, member, &at, found),
                        }
                    }
                    true
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        mismatches(wanted, root, item, &format!("{at}/{index}"), found);
                    }
                    true
                }
                other => panic!("the schema uses `{other}`, which this test does not check"),
            };
            if !holds {
                found.push(format!("{at}: {value} is not {keyword} {wanted}"));
            }
        }
    }

    fn has_type(value: &Value, name: &Value) -> bool {
        match name.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_u64(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            other => panic!("the schema uses the type `{other}`, which this test does not check"),
        }
    }

    fn check(value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        mismatches(&schema(), &schema(), value, "", &mut found);
        found
    }

    #[test]
    fn output_has_the_documented_shape() {
        assert_eq!(check(&json(&samples::results())), Vec::<String>::new());
        assert_eq!(check(&json(&samples::triaged())), Vec::<String>::new());
        assert_eq!(check(&json(&cyclic())), Vec::<String>::new());
        assert_eq!(check(&json(&united())), Vec::<String>::new());
        assert_eq!(check(&json(&Results::default())), Vec::<String>::new());
        let mut bare = samples::results();
        bare.findings[0].witnesses.clear();
        bare.findings[0].blame =
            Site { offset: None, file: None, line: None, ..bare.findings[0].blame.clone() };
        assert_eq!(check(&json(&bare)), Vec::<String>::new());
    }

    /// What was observed and was predicted.
    fn united() -> Results {
        let found = vec![samples::predicted_deposit(), samples::account_deposit()];
        Results { findings: findings::merge_and_rank(found), ..Results::default() }
    }

    #[test]
    fn what_another_rule_says_of_the_same_defect_is_whole() {
        let value = json(&united());
        assert_eq!(value["findings"].as_array().unwrap().len(), 1);
        let also = &value["findings"][0]["also"][0];
        assert_eq!(also["rule"], "breakable-block");
        assert_eq!(also["witness"][3]["role"], "second");
    }

    /// A cycle with every kind of edge.
    fn cyclic() -> Results {
        let mut finding = samples::account_deposit();
        let cycle = finding.witnesses[0].cycle.as_mut().unwrap();
        for kind in [EdgeKind::Order, EdgeKind::Omitted] {
            cycle.edges.push(CycleEdge { kind, ..cycle.edges[0].clone() });
        }
        Results { findings: vec![finding], ..Results::default() }
    }

    #[test]
    fn a_cycle_is_told_whole() {
        let value = json(&cyclic());
        let finding = &value["findings"][0];
        let cycle = &finding["cycle"];
        assert_eq!(cycle["count"], 1200);
        assert_eq!(cycle["transactions"][0]["thread"], "worker-1");
        assert_eq!(cycle["transactions"][0]["block"]["method"], "deposit");
        assert_eq!(cycle["transactions"][0]["is_blamed"], true);
        assert!(cycle["transactions"][1]["block"].is_null());
        assert_eq!(cycle["outer_blocks"][0]["class"], "bank.Bank");
        let edge = &cycle["edges"][1];
        assert_eq!(edge["kind"], "operations");
        assert_eq!(edge["subject"], "Account#3.balance");
        assert_eq!(edge["from"]["verb"], "writes");
        assert_eq!(edge["from"]["site"]["line"], 14);
        assert_eq!(edge["from"]["stack"]["frames"].as_array().unwrap().len(), 13);
        assert_eq!(edge["from"]["stack"]["is_same_context"], false);
        assert_eq!(cycle["edges"][2]["kind"], "order");
        assert!(cycle["edges"][2]["from"].is_null() && cycle["edges"][2]["subject"].is_null());
        let step = &finding["witness"][1];
        assert_eq!((&step["thread"], &step["verb"]), (&"worker-1".into(), &"reads".into()));
        assert_eq!(step["subject"], "Account#3.balance");
        // It stands at the edge.
        assert!(step["stack"].is_null());
        assert!(json(&samples::results())["findings"][0]["cycle"].is_null());
    }

    #[test]
    fn the_shape_is_really_checked() {
        let mut value = json(&samples::results());
        value["findings"][0]["witness"][0]["line"] = "seven".into();
        value["findings"][0]["surprise"] = Value::Null;
        value["gaps"][0].as_object_mut().unwrap().remove("kind");
        value["findings"][1]["evidence"] = "sure".into();
        assert_eq!(check(&value).len(), 4);
        let mut value = json(&cyclic());
        value["findings"][0]["cycle"]["edges"][0]["from"]["verb"] = Value::Null;
        assert_eq!(check(&value).len(), 1);
    }

    #[test]
    fn what_is_not_shown_is_still_there() {
        let value = json(&samples::triaged());
        assert_eq!(value["findings"].as_array().unwrap().len(), 0);
        let suppressed = &value["suppressed"][0];
        assert_eq!(suppressed["by"], "configuration");
        assert_eq!(suppressed["reason"], "callers hold the lock");
        assert_eq!(suppressed["finding"]["blame"]["class"], "geometry.Line");
        assert_eq!(value["baseline"]["known"][0]["blame"]["class"], "java.util.Vector");
        assert_eq!(value["baseline"]["gone"][0]["blame"], "p.Old.gone()");
        assert_eq!(value["below_level"]["low"], 12);
        assert_eq!(value["remarks"].as_array().unwrap().len(), 1);
        assert!(json(&samples::results())["baseline"].is_null());
    }

    #[test]
    fn a_finding_says_what_the_text_says() {
        let value = json(&samples::results());
        let finding = &value["findings"][1];
        assert_eq!(value["version"], 2);
        assert_eq!(value["stats"]["classes"], 6412);
        assert_eq!(value["interrupted"], false);
        assert_eq!(finding["rule"], "reacquired-lock");
        assert_eq!(finding["evidence"], "possible");
        assert_eq!(finding["severity"], "medium");
        assert_eq!(finding["message"], words::message(&samples::line_contains()));
        assert_eq!(finding["blame"]["class"], "geometry.Line");
        assert_eq!(finding["blame"]["descriptor"], "(Lgeometry/Location;)Z");
        assert_eq!(finding["witness"][1]["role"], "first");
        assert_eq!(finding["witness"][1]["line"], 7);
        assert_eq!(finding["witness"][1]["call_chain"][0]["method"], "distanceTo");
        assert_eq!(finding["witness"][1]["held_locks"][0]["lock"], "this");
        assert_eq!(value["findings"][0]["other_witnesses"][0]["analysis"], "velodrome");
        assert_eq!(value["gaps"][0]["place"], "app.jar!/p/Broken.class");
        assert_eq!(value["gaps"][0]["kind"], "malformed-class");
    }
}
