// One finding in full.

function badge(kind, word) {
  return element("span", { class: `badge ${kind}-${word}` }, word);
}

// The content of the article about a finding. `level` is that of its heading.
function details(finding, level) {
  const content = [
    element(`h${level}`, null, sentence(finding.message)),
    element("p", { class: "meta" },
      badge("evidence", finding.evidence), " ", badge("severity", finding.severity), " ",
      finding.status === "found" ? "" : badge("status", finding.status), " ",
      element("code", { class: "rule" }, finding.rule), " ",
      element("a", { href: `#${finding.fingerprint}`, class: "fingerprint", title: "A link to this finding" },
        `#${finding.fingerprint}`)),
    element("p", { class: "summary" }, sentence(data.rules[finding.rule] ?? "")),
    element("dl", { class: "facts" },
      element("dt", null, "In"), element("dd", null, element("code", null, finding.signature)),
      element("dt", null, "At"), element("dd", null, element("code", null, place(finding.primary))),
      element("dt", null, "What to do"), element("dd", null, sentence(finding.advice)),
      finding.reason === null ? [] : [
        element("dt", null, "Suppressed because"), element("dd", null, sentence(finding.reason))]),
  ];
  const [first, ...others] = finding.witnesses;
  if (first !== undefined) {
    content.push(...proof(finding, first, level + 1));
  }
  for (const witness of others) {
    content.push(folded(`Also found by ${witness.analysis}`, () => proof(finding, witness, level + 1)));
  }
  for (const also of finding.also) {
    content.push(folded(
      `The same defect as ${also.rule}, ${also.evidence}`, () => details(also, level + 1), also.fingerprint));
  }
  return content;
}

// Something that is made when it is opened.
function folded(title, content, fingerprint) {
  const body = element("div", null);
  const node = element("details", { class: "folded", "data-fingerprint": fingerprint },
    element("summary", null, title), body);
  const open = () => {
    if (body.childElementCount === 0) {
      body.append(...content());
    }
  };
  node.addEventListener("toggle", () => node.open && open());
  node.make = open;
  return node;
}

function proof(finding, witness, level) {
  const source = element("section", { class: "sources" }, element(`h${level}`, null, "Source"));
  source.append(...excerpts(finding, witness.steps));
  const hasSource = source.childElementCount > 1;
  const content = [];
  if (witness.picture !== null) {
    content.push(
      element(`h${level}`, null, titleOf(witness.picture, finding)),
      drawn(witness.picture, (site) => {
        if (!source.isConnected && codeAt(site) !== null) {
          chains.before(source);
        }
        showSource(site, source);
      }),
    );
  }
  for (const note of witness.notes) {
    content.push(element("p", { class: "note" }, sentence(note)));
  }
  content.push(element(`h${level}`, null, "Steps"), steps(witness));
  if (hasSource) {
    content.push(source);
  }
  const chains = callChains(witness, level);
  content.push(chains);
  return content;
}

function titleOf(picture, finding) {
  const happened = finding.evidence === "observed" ? "What happened" : "What can happen";
  return picture.kind === "deadlock" ? `${happened}: who holds, who waits` : happened;
}

function steps(witness) {
  return element("ol", { class: "steps" }, witness.steps.map((step) =>
    element("li", null,
      sentence(step.label), " ",
      element("span", { class: "place" }, `${shortPlace(step.site)} in ${shortMethodName(step.site)}`))));
}

// The call chains of the steps, side by side, outermost call first, each with the locks that are held at its end.
function callChains(witness, level) {
  const columns = [];
  for (const step of witness.steps) {
    const stack = step.stack === null ? null : data.stacks[step.stack];
    const callers = stack === null ? [] : stack.frames.slice(1).reverse();
    const frames = [...callers, step.site, ...step.chain];
    if (frames.length < 2 && step.held.length === 0) {
      continue;
    }
    columns.push(element("div", { class: "chain" },
      element(`h${level + 1}`, null, step.thread === null ? step.role : `${step.role}: ${step.thread}`),
      stack !== null && !stack.is_same_context
        ? element("p", { class: "place" }, "recorded at an earlier visit of this place") : "",
      element("ol", null, frames.map((site) => {
        const taken = step.held.filter(([, at]) => data.sites[at][0] === data.sites[site][0]
          && data.sites[at][1] === data.sites[site][1]);
        return element("li", { class: site === step.site ? "step" : null },
          element("code", null, shortMethodName(site)), " ",
          element("span", { class: "place" }, shortPlace(site)),
          taken.map(([lock]) => element("span", { class: "held" }, `acquires ${lock}`)));
      })),
      element("p", { class: "holding" }, step.held.length === 0 ? "No lock is held here."
        : ["Holding ", step.held.map(([lock, at], number) => [
          number === 0 ? "" : ", ", element("code", null, lock), ` (acquired at ${shortPlace(at)})`])].flat(2))));
  }
  const title = element(`h${level}`, null, "Call chains and locks held");
  return element("section", { class: "chains", hidden: columns.length === 0 },
    columns.length === 0 ? [] : [title, element("div", { class: "side-by-side" }, columns)]);
}
