//! SARIF 2.1.0, for code-scanning services and editors.
//!
//! Written as JSON values by hand: the part of SARIF that is used fits on two screens, while a
//! typed model of all of it (`serde-sarif`) more than doubles the build time of this crate.
//!
//! How a finding maps: the location is the line where the block breaks, the steps are related
//! locations, and each witness is a code flow. Call chains are nested in it; a cycle has one flow for each
//! thread, numbered in the order of execution where the cycle has one, with the stacks at each place.
//! A finding of another rule about the same defect is a property of the result, and its witnesses are further code flows.
//! Gaps are notifications of the invocation, remarks on the configuration are notifications of the
//! configuration. Suppressed findings are results with a suppression; where there is a baseline,
//! every result has its state, and findings that are no longer found are results with the state `absent`.

use std::io::{self, Write};

use findings::{
    BaselineEntry, Cycle, CycleEdge, Finding, GRADE, Gap, Operation, Results, Rule, Severity, Site,
    Stack, Step, Suppressed, Suppressor, Witness, rules,
};
use serde_json::{Map, Value, json};

use crate::{Sources, TOOL_VERSION, words};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Paths are relative to the root of the sources, wherever the reader has them.
const SOURCE_ROOT: &str = "%SRCROOT%";

/// How many ways in which a defect was met are shown; services refuse files that are too large.
const CODE_FLOWS: usize = 4;

/// How a result relates to the baseline.
const NEW: &str = "new";
const UNCHANGED: &str = "unchanged";
const ABSENT: &str = "absent";

pub(crate) fn render(
    results: &Results,
    sources: &Sources,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let stats: Map<String, Value> =
        results.stats.iter().map(|(name, number)| ((*name).into(), (*number).into())).collect();
    let mut log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "scission",
                "version": TOOL_VERSION,
                "semanticVersion": TOOL_VERSION,
                "rules": rules::ALL.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
                "notifications": notification_descriptors(&results.gaps),
            } },
            "invocations": [{
                "executionSuccessful": !results.interrupted,
                "toolExecutionNotifications":
                    results.gaps.iter().map(notification).collect::<Vec<_>>(),
                "toolConfigurationNotifications":
                    results.remarks.iter().map(|remark| remark_notification(remark)).collect::<Vec<_>>(),
            }],
            "originalUriBaseIds": { (SOURCE_ROOT): { "description": {
                "text": "The root of the repository, or the directory of sources that the files were found in",
            } } },
            "columnKind": "utf16CodeUnits",
            "results": all_results(results),
            "properties": { "stats": stats, "interrupted": results.interrupted },
        }],
    });
    place_below_root(&mut log, sources);
    serde_json::to_writer_pretty(&mut *writer, &log)?;
    writeln!(writer)
}

/// Class files name sources below their package; services that show results want them below the root of the repository,
/// which is where the command is run, as far as it is known where the sources lie.
fn place_below_root(value: &mut Value, sources: &Sources) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| place_below_root(item, sources)),
        Value::Object(members) => {
            if let Some(Value::String(uri)) = members.get_mut("uri")
                && let Some(path) = sources.path_below_root(uri)
            {
                *uri = path;
            }
            members.values_mut().for_each(|member| place_below_root(member, sources));
        }
        _ => {}
    }
}

fn descriptor(rule: &Rule) -> Value {
    let page = rule.page_text();
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": first_paragraph(&page) },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "enabled": rule.on_by_default, "level": "warning" },
    })
}

/// The paragraph after the heading, which says what the rule finds.
fn first_paragraph(page: &str) -> String {
    let lines = page.lines().skip_while(|line| line.starts_with('#') || line.is_empty());
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// New findings first, then those of the baseline, those no longer found, and suppressed ones.
fn all_results(results: &Results) -> Vec<Value> {
    let mut all: Vec<(Value, &str)> =
        results.findings.iter().map(|finding| (result(finding), NEW)).collect();
    if let Some(baseline) = &results.baseline {
        all.extend(baseline.known.iter().map(|finding| (result(finding), UNCHANGED)));
        all.extend(baseline.gone.iter().map(|recorded| (absent_result(recorded), ABSENT)));
    }
    all.extend(results.suppressed.iter().map(|suppressed| {
        let state = if suppressed.is_known { UNCHANGED } else { NEW };
        (suppressed_result(suppressed), state)
    }));
    let with_states = all.into_iter().map(|(mut result, state)| {
        if results.baseline.is_some() {
            result["baselineState"] = state.into();
        }
        // The standard wants this property on all results or on none.
        if !results.suppressed.is_empty() && result.get("suppressions").is_none() {
            result["suppressions"] = json!([]);
        }
        result
    });
    with_states.collect()
}

fn suppressed_result(suppressed: &Suppressed) -> Value {
    let kind = match suppressed.by {
        Suppressor::Configuration => "external",
        Suppressor::Annotation => "inSource",
    };
    let mut result = result(&suppressed.finding);
    result["suppressions"] = json!([{ "kind": kind, "justification": suppressed.reason }]);
    result
}

/// A finding of the baseline that is not there any more, as far as the baseline remembers it.
fn absent_result(recorded: &BaselineEntry) -> Value {
    json!({
        "ruleId": recorded.rule,
        "level": "note",
        "message": { "text": recorded.message },
        "locations": [{
            "logicalLocations": [{ "fullyQualifiedName": recorded.blame, "kind": "member" }],
        }],
        "partialFingerprints": {
            "scissionFingerprint/v1": recorded.fingerprint.to_string(),
        },
    })
}

fn result(finding: &Finding) -> Value {
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": rules::ALL.iter().position(|rule| rule.name == finding.rule),
        "level": level(finding.severity),
        "message": { "text": format!("{}; {}", words::message(finding), words::advice(finding)) },
        "locations": [location(words::primary_site(finding))],
        "partialFingerprints": {
            "scissionFingerprint/v1": words::fingerprint(finding).to_string(),
        },
        "properties": {
            "evidence": words::name(finding.evidence),
            "severity": words::name(finding.severity),
            // Not `blame`: sarif-tools keeps what version control says under that name.
            "blamedMethod": words::signature(&finding.blame),
        },
    });
    if let Some(witness) = finding.witnesses.first() {
        result["relatedLocations"] = related_locations(finding, witness);
        let of_all = finding.with_also().flat_map(|finding| {
            finding.witnesses.iter().map(move |witness| code_flow(finding, witness))
        });
        result["codeFlows"] = of_all.take(CODE_FLOWS).collect();
        let stacks: Vec<Value> =
            witness.steps.iter().filter_map(|step| step_stack(finding, step)).collect();
        if !stacks.is_empty() {
            result["stacks"] = stacks.into();
        }
        if let Some(cycle) = &witness.cycle {
            result["occurrenceCount"] = cycle.count.into();
        }
    }
    if let Some(grade) = finding.subjects.get(GRADE) {
        result["properties"]["gradeRule"] = grade.as_str().into();
    }
    if !finding.also.is_empty() {
        result["properties"]["also"] = finding.also.iter().map(also).collect();
    }
    result
}

/// Another finding about the same defect.
fn also(finding: &Finding) -> Value {
    json!({
        "ruleId": finding.rule,
        "evidence": words::name(finding.evidence),
        "severity": words::name(finding.severity),
        "message": words::message(finding),
        "fingerprint": words::fingerprint(finding).to_string(),
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High => "error",
    }
}

fn related_locations(finding: &Finding, witness: &Witness) -> Value {
    let related = witness.steps.iter().enumerate().map(|(index, step)| {
        let mut related = labelled(location(&step.site), words::label(finding, step));
        related["id"] = index.into();
        related
    });
    related.collect()
}

fn code_flow(finding: &Finding, witness: &Witness) -> Value {
    let flows = match &witness.cycle {
        Some(cycle) => thread_flows_of_cycle(cycle),
        None => thread_flows_of_steps(finding, witness),
    };
    json!({
        "message": { "text": format!("found by {}", witness.analysis) },
        "threadFlows": flows,
    })
}

/// One flow for each thread that is known by name, in the order in which they come in; one for all steps that
/// are of nobody.
fn thread_flows_of_steps(finding: &Finding, witness: &Witness) -> Vec<Value> {
    let mut flows = ThreadFlows::default();
    for step in &witness.steps {
        let held: Vec<&str> = step.held_locks.iter().map(|held| held.lock.as_str()).collect();
        let mut place = json!({
            "location": labelled(location(&step.site), words::label(finding, step)),
            "importance": "essential",
            "nestingLevel": 0,
            "properties": { "role": step.role, "heldLocks": held },
        });
        if let Some(stack) = step_stack(finding, step) {
            place["stack"] = stack;
        }
        let thread = step.thread.as_deref();
        flows.add(thread, place);
        for (depth, call) in step.call_chain.iter().enumerate() {
            let place = json!({
                "location": labelled(location(call), format!("in `{}`", call.method_name())),
                "importance": "important",
                "nestingLevel": depth + 1,
            });
            flows.add(thread, place);
        }
    }
    flows.into_values()
}

/// The operations at the ends of the edges. Around a cycle with a block to blame they come in the order of
/// execution: the path leaves each transaction no earlier than it enters it.
fn thread_flows_of_cycle(cycle: &Cycle) -> Vec<Value> {
    let is_in_order = cycle.transactions.iter().any(|transaction| transaction.is_blamed);
    let mut flows = ThreadFlows::default();
    let mut order = 0;
    for (at, edge) in cycle.edges.iter().enumerate() {
        let ends = [(at, &edge.from), (words::target_of_edge(cycle, at), &edge.to)];
        if words::why_without_operations(edge).is_some() {
            continue;
        }
        for (number, operation) in ends {
            let Some(transaction) = cycle.transactions.get(number) else { continue };
            order += 1;
            let mut place = operation_place(edge, operation);
            place["importance"] = "essential".into();
            if is_in_order {
                place["executionOrder"] = order.into();
            }
            if let Some(block) = &transaction.block {
                place["properties"] = json!({ "block": words::signature(block) });
            }
            flows.add(Some(&transaction.thread), place);
        }
    }
    flows.into_values()
}

fn operation_place(edge: &CycleEdge, operation: &Operation) -> Value {
    let label = format!("{} `{}`", operation.verb, edge.subject);
    let place = operation.site.as_ref().map_or_else(|| json!({}), location);
    let mut place = json!({ "location": labelled(place, label.clone()) });
    if let Some(stack) = &operation.stack {
        place["stack"] = stack_value(stack, label);
    }
    place
}

/// Places by thread.
#[derive(Default)]
struct ThreadFlows<'a> {
    flows: Vec<(Option<&'a str>, Vec<Value>)>,
}

impl<'a> ThreadFlows<'a> {
    fn add(&mut self, thread: Option<&'a str>, place: Value) {
        match self.flows.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, places)) => places.push(place),
            None => self.flows.push((thread, vec![place])),
        }
    }

    fn into_values(self) -> Vec<Value> {
        let flow = |(thread, locations): (Option<&str>, Vec<Value>)| {
            let mut flow = json!({ "locations": locations });
            if let Some(thread) = thread {
                flow["id"] = thread.into();
            }
            flow
        };
        self.flows.into_iter().map(flow).collect()
    }
}

fn step_stack(finding: &Finding, step: &Step) -> Option<Value> {
    step.stack.as_ref().map(|stack| stack_value(stack, words::label(finding, step)))
}

fn stack_value(stack: &Stack, message: String) -> Value {
    let frames = stack.frames.iter().map(|frame| json!({ "location": location(frame) }));
    json!({
        "message": { "text": message },
        "frames": frames.collect::<Vec<_>>(),
        "properties": { "isSameContext": stack.is_same_context },
    })
}

fn location(site: &Site) -> Value {
    let mut location = json!({
        "logicalLocations": [{
            "name": site.method,
            "fullyQualifiedName": words::signature(site),
            "decoratedName": format!("{}{}", site.method_name(), site.descriptor),
            "kind": "member",
        }],
    });
    if let Some(file) = words::file(site) {
        let mut physical = json!({
            "artifactLocation": { "uri": relative_uri(&file), "uriBaseId": SOURCE_ROOT },
        });
        if let Some(line) = site.line.filter(|line| *line > 0) {
            physical["region"] = json!({ "startLine": line });
        }
        location["physicalLocation"] = physical;
    }
    location
}

fn labelled(mut location: Value, label: String) -> Value {
    location["message"] = json!({ "text": label });
    location
}

/// A relative path as a relative URI reference: everything but unreserved characters is escaped.
fn relative_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'$' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// A descriptor for each kind of gap that was met, in the order of the kinds.
fn notification_descriptors(gaps: &[Gap]) -> Vec<Value> {
    let mut kinds: Vec<_> = gaps.iter().map(|gap| gap.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
        .into_iter()
        .map(|kind| {
            json!({
                "id": words::name(kind),
                "shortDescription": { "text": format!("may hide {}", kind.may_hide()) },
            })
        })
        .collect()
}

fn remark_notification(remark: &str) -> Value {
    json!({ "level": "warning", "message": { "text": remark } })
}

fn notification(gap: &Gap) -> Value {
    json!({
        "descriptor": { "id": words::name(gap.kind) },
        "level": "note",
        "message": {
            "text": format!(
                "{}: {}; may hide {}",
                words::gap_place(gap),
                words::gap_detail(gap),
                gap.kind.may_hide()
            ),
        },
        "properties": { "count": gap.count },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn sarif(results: &Results) -> Value {
        let mut bytes = Vec::new();
        render(results, &Sources::default(), &mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_finding_is_a_result_with_its_steps() {
        let log = sarif(&samples::results());
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert!(run["originalUriBaseIds"][SOURCE_ROOT].is_object());
        let result = &run["results"][1];
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["level"], "warning");
        assert_eq!(run["results"][0]["level"], "error");
        let physical = &result["locations"][0]["physicalLocation"];
        assert_eq!(physical["artifactLocation"]["uri"], "geometry/Line.java");
        assert_eq!(physical["region"]["startLine"], 8);
        assert_eq!(
            result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
            "geometry.Line.contains(geometry.Location)"
        );
        assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 3);
        let flow = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
        let nesting: Vec<_> = flow.iter().map(|place| &place["nestingLevel"]).collect();
        assert_eq!(nesting, [0, 0, 1, 0, 1]);
        assert_eq!(
            result["partialFingerprints"]["scissionFingerprint/v1"],
            samples::line_contains().fingerprint.unwrap().to_string()
        );
    }

    #[test]
    fn a_cycle_has_a_flow_for_each_thread_in_the_order_of_execution() {
        let mut results =
            Results { findings: vec![samples::account_deposit()], ..Results::default() };
        let log = sarif(&results);
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["occurrenceCount"], 1200);
        assert_eq!(result["stacks"].as_array().unwrap().len(), 3);
        let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
        let told: Vec<_> = flows
            .iter()
            .flat_map(|flow| flow["locations"].as_array().unwrap().iter().map(move |at| (flow, at)))
            .map(|(flow, at)| {
                let order = at["executionOrder"].as_u64().unwrap();
                let text = at["location"]["message"]["text"].as_str().unwrap();
                (flow["id"].as_str().unwrap(), order, text)
            })
            .collect();
        assert_eq!(
            told,
            [
                ("worker-1", 1, "reads `Account#3.balance`"),
                ("worker-1", 4, "writes `Account#3.balance`"),
                ("main", 2, "writes `Account#3.balance`"),
                ("main", 3, "writes `Account#3.balance`"),
            ]
        );
        let stack = &flows[0]["locations"][0]["stack"];
        assert_eq!(stack["frames"].as_array().unwrap().len(), 4);
        let caller = &stack["frames"][1]["location"]["physicalLocation"];
        assert_eq!(caller["artifactLocation"]["uri"], "bank/Bank.java");

        let cycle = results.findings[0].witnesses[0].cycle.as_mut().unwrap();
        cycle.transactions[0].is_blamed = false;
        let log = sarif(&results);
        let flow = &log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0];
        assert!(flow["locations"][0].get("executionOrder").is_none());
    }

    #[test]
    fn what_another_rule_says_of_the_same_defect_is_a_property_and_a_flow() {
        let found = vec![samples::predicted_deposit(), samples::account_deposit()];
        let log =
            sarif(&Results { findings: findings::merge_and_rank(found), ..Results::default() });
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 1);
        assert_eq!(results[0]["ruleId"], "not-serializable");
        let also = &results[0]["properties"]["also"][0];
        assert_eq!(also["ruleId"], "breakable-block");
        assert_eq!(also["evidence"], "predicted");
        let flows = results[0]["codeFlows"].as_array().unwrap();
        let by: Vec<_> = flows.iter().map(|flow| &flow["message"]["text"]).collect();
        assert_eq!(by, ["found by velodrome", "found by hybrid"]);
    }

    #[test]
    fn rules_bring_their_pages() {
        let log = sarif(&Results::default());
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), rules::ALL.len());
        let markdown = rules[0]["help"]["markdown"].as_str().unwrap();
        assert!(markdown.starts_with("# reacquired-lock\n\nWhile one lock"));
        assert!(markdown.contains("\n    synchronized boolean contains"));
        let full = rules[0]["fullDescription"]["text"].as_str().unwrap();
        assert!(full.starts_with("While one lock") && full.ends_with("released again."));
        assert_eq!(rules[1]["defaultConfiguration"]["enabled"], false);
    }

    #[test]
    fn gaps_are_notifications() {
        let log = sarif(&samples::results());
        let run = &log["runs"][0];
        let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
        assert_eq!(notes.len(), 13);
        assert_eq!(
            notes[0]["message"]["text"],
            "app.jar!/p/Broken.class: constant #17 at byte 96 has unknown tag 99; may hide every finding in this class"
        );
        assert_eq!(run["tool"]["driver"]["notifications"].as_array().unwrap().len(), 2);
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    }

    #[test]
    fn a_baseline_and_suppressions_are_states_of_results() {
        let mut results = samples::triaged();
        results.findings.push(samples::vector_add_all());
        let log = sarif(&results);
        let run = &log["runs"][0];
        let all = run["results"].as_array().unwrap();
        let states: Vec<_> = all.iter().map(|result| &result["baselineState"]).collect();
        assert_eq!(states, ["new", "unchanged", "absent", "new"]);
        let suppressions: Vec<usize> =
            all.iter().map(|result| result["suppressions"].as_array().unwrap().len()).collect();
        assert_eq!(suppressions, [0, 0, 0, 1]);
        assert_eq!(
            all[3]["suppressions"][0],
            json!({ "kind": "external", "justification": "callers hold the lock" })
        );
        let remarks = &run["invocations"][0]["toolConfigurationNotifications"];
        assert!(remarks[0]["message"]["text"].as_str().unwrap().contains("matches nothing"));
        let plain = sarif(&samples::results());
        let plain = &plain["runs"][0]["results"][0];
        assert!(plain.get("baselineState").is_none() && plain.get("suppressions").is_none());
    }

    #[test]
    fn nothing_absolute_is_written() {
        let mut results = samples::results();
        results.findings[0].witnesses[0].steps[2].site.file =
            Some("/home/ada/My Vector.java".into());
        let log = sarif(&results);
        let primary = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(primary["artifactLocation"]["uri"], "My%20Vector.java");
        assert!(!log.to_string().contains("/home/ada"));
    }

    #[test]
    fn a_site_without_file_or_line_is_still_a_location() {
        let mut site = samples::line_contains().blame;
        site.line = None;
        assert!(location(&site)["physicalLocation"].get("region").is_none());
        site.file = None;
        assert!(location(&site).get("physicalLocation").is_none());
    }
}
