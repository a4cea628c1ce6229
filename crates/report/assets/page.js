// The list of findings, what it is filtered by, and what is selected.

const EVIDENCE = ["observed", "predicted", "possible"];
const SEVERITY = ["high", "medium", "low"];
const CHUNK = 100;

const byId = (id) => document.getElementById(id);
const list = byId("list");

// Best evidence first; equal ones stay in the order of the report.
const findings = data.findings
  .map((finding, number) => ({ finding, number }))
  .sort((one, other) =>
    EVIDENCE.indexOf(one.finding.evidence) - EVIDENCE.indexOf(other.finding.evidence)
    || SEVERITY.indexOf(one.finding.severity) - SEVERITY.indexOf(other.finding.severity)
    || one.number - other.number)
  .map(({ finding }) => finding);

let matching = [];
let rendered = 0;
let selected = null;

function options(select, all, values, show) {
  select.append(element("option", { value: "" }, all));
  values.forEach((value, at) => select.append(element("option", { value: String(at) }, show(value))));
}

function counted(values) {
  const counts = new Map();
  for (const value of values) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

const rulesOf = (finding) => [...new Set([finding, ...finding.also].map((one) => one.rule))];
const ruleCounts = counted(findings.flatMap(rulesOf));
const ruleNames = [...ruleCounts.keys()].sort();
const packageCounts = counted(findings.map((finding) => finding.package));
const packages = [...packageCounts.keys()].sort();
const isCurrent = (finding) => finding.status === "found" || finding.status === "new";
const STATUSES = [
  ["current", data.has_baseline ? "New against the baseline" : "All but suppressed", isCurrent],
  ["known", "Known from the baseline", (finding) => finding.status === "known"],
  ["suppressed", "Suppressed", (finding) => finding.status === "suppressed"],
  ["all", "All", () => true],
];

function prepareFilters() {
  options(byId("rule"), "All rules", ruleNames, (name) => `${name} (${ruleCounts.get(name)})`);
  options(byId("package"), "All packages", packages,
    (name) => `${name === "" ? "(no package)" : name} (${packageCounts.get(name)})`);
  for (const [value, text, holds] of STATUSES) {
    const number = findings.filter(holds).length;
    byId("status").append(element("option", { value }, `${text} (${number})`));
  }
  for (const [id, words] of [["evidence", EVIDENCE], ["severity", SEVERITY]]) {
    const counts = counted(findings.map((finding) => finding[id]));
    for (const word of words) {
      byId(id).append(element("label", null,
        element("input", { type: "checkbox", value: word, checked: true }), ` ${word} (${counts.get(word) ?? 0})`));
    }
  }
  byId("filters").addEventListener("input", applyFilters);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("clear").addEventListener("click", () => {
    clearFilters();
    applyFilters();
  });
}

function clearFilters() {
  byId("search").value = "";
  byId("rule").value = "";
  byId("package").value = "";
  byId("status").value = "current";
  for (const box of byId("filters").querySelectorAll("input[type=checkbox]")) {
    box.checked = true;
  }
}

const searchable = new Map();

// Everything about a finding that can be searched, in small letters.
function searchText(finding) {
  let text = searchable.get(finding);
  if (text === undefined) {
    const parts = [finding, ...finding.also].flatMap((one) => [
      one.message, one.rule, one.fingerprint, one.signature, place(one.primary),
      ...one.witnesses.flatMap((witness) => witness.steps.map((step) => place(step.site))),
    ]);
    text = parts.join("\n").toLowerCase();
    searchable.set(finding, text);
  }
  return text;
}

function applyFilters() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const rule = byId("rule").value === "" ? null : ruleNames[Number(byId("rule").value)];
  const wanted = byId("package").value === "" ? null : packages[Number(byId("package").value)];
  const [, , holds] = STATUSES.find(([value]) => value === byId("status").value);
  const checked = (id) =>
    new Set([...byId(id).querySelectorAll("input:checked")].map((box) => box.value));
  const [evidence, severity] = [checked("evidence"), checked("severity")];
  matching = findings.filter((finding) =>
    holds(finding)
    && evidence.has(finding.evidence)
    && severity.has(finding.severity)
    && (rule === null || rulesOf(finding).includes(rule))
    && (wanted === null || finding.package === wanted
      || (wanted !== "" && finding.package.startsWith(`${wanted}.`)))
    && words.every((word) => searchText(finding).includes(word)));
  list.replaceChildren();
  rendered = 0;
  const possible = findings.filter(holds).length;
  byId("count").textContent = matching.length === possible
    ? plural(matching.length, "finding")
    : `${matching.length.toLocaleString("en")} of ${plural(possible, "finding")}`;
  renderMore();
  select(matching.includes(selected) ? selected : matching[0] ?? null, false);
}

function renderMore() {
  const until = Math.min(rendered + CHUNK, matching.length);
  for (; rendered < until; rendered += 1) {
    const finding = matching[rendered];
    const item = element("li", {
      role: "option", id: `item-${rendered}`, "aria-selected": "false", class: `evidence-${finding.evidence}`,
      "aria-setsize": matching.length, "aria-posinset": rendered + 1,
    },
      element("span", { class: "badges" },
        badge("evidence", finding.evidence), badge("severity", finding.severity),
        finding.status === "found" ? "" : badge("status", finding.status)),
      element("span", { class: "message" }, sentence(finding.message)),
      element("span", { class: "place" }, `${finding.rule}, ${shortPlace(finding.primary)}`));
    item.addEventListener("click", () => select(finding, true));
    list.append(item);
  }
}

list.addEventListener("scroll", () => {
  if (list.scrollTop + list.clientHeight * 2 > list.scrollHeight) {
    renderMore();
  }
});

function select(finding, isChosen) {
  for (const item of list.querySelectorAll("[aria-selected=true]")) {
    item.setAttribute("aria-selected", "false");
  }
  const at = matching.indexOf(finding);
  if (finding !== null && at !== -1) {
    while (rendered <= at) {
      renderMore();
    }
    const item = byId(`item-${at}`);
    item.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", item.id);
    if (isChosen) {
      item.scrollIntoView({ block: "nearest" });
    }
  } else {
    list.removeAttribute("aria-activedescendant");
  }
  if (isChosen && finding !== null) {
    history.replaceState(null, "", `#${finding.fingerprint}`);
  }
  if (finding !== selected || byId("finding").childElementCount === 0) {
    selected = finding;
    hideTip();
    byId("finding").replaceChildren(...(finding === null
      ? [element("p", { class: "notice" },
        findings.length === 0 ? "Nothing was found." : "No finding matches these filters.")]
      : details(finding, 2)));
    document.querySelector("main").scrollTop = 0;
  }
}

// Shows the finding that the address names, whatever the filters are.
function followAddress() {
  const fingerprint = location.hash.slice(1);
  if (fingerprint === "" || fingerprint === "finding") {
    return;
  }
  const named = findings.find((finding) =>
    finding.fingerprint === fingerprint || finding.also.some((also) => also.fingerprint === fingerprint));
  if (named === undefined) {
    byId("count").textContent = "The finding that this address names is not in this report.";
    return;
  }
  if (!matching.includes(named)) {
    clearFilters();
    byId("status").value = isCurrent(named) ? "current" : "all";
    applyFilters();
  }
  select(named, false);
  byId(`item-${matching.indexOf(named)}`).scrollIntoView({ block: "nearest" });
  const under = byId("finding").querySelector(`details[data-fingerprint="${CSS.escape(fingerprint)}"]`);
  if (under !== null) {
    under.open = true;
    under.make();
    under.scrollIntoView();
  }
}

function move(by) {
  const at = matching.indexOf(selected);
  const to = Math.min(Math.max(at + by, 0), matching.length - 1);
  if (matching.length > 0) {
    select(matching[to], true);
  }
}

list.addEventListener("keydown", (event) => {
  const moves = {
    ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity,
  };
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (event.key in moves) {
    event.preventDefault();
    move(moves[event.key]);
  } else if (event.key === "Enter") {
    byId("finding").focus();
  }
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "Escape") {
    hideTip();
    if (event.target === byId("search") || event.target === byId("finding")) {
      list.focus();
    }
  }
});

// What is said of the run as a whole.
function aboutRun() {
  const rest = byId("rest");
  const notices = [...data.remarks];
  if (data.interrupted) {
    notices.unshift("The work was interrupted: there may be more to find.");
  }
  if (data.below_level > 0) {
    notices.push(`${plural(data.below_level, "finding")} below the level ${data.below_level === 1 ? "is" : "are"} not shown.`);
  }
  if (notices.length > 0) {
    rest.append(element("h2", null, "Remarks"),
      element("ul", null, notices.map((notice) => element("li", null, sentence(notice)))));
  }
  if (data.gone.length > 0) {
    rest.append(folded(`No longer found (${data.gone.length})`, () => [
      element("ul", null, data.gone.map((gone) => element("li", null, gone.rule, ": ", sentence(gone.message))))]));
  }
  if (data.gaps.length > 0) {
    rest.append(folded(`What could not be analysed (${data.gaps.length})`, () => [
      element("ul", null, data.gaps.slice(0, 1000).map((gap) => element("li", null,
        element("code", null, gap.place), `: ${gap.detail}; may hide ${gap.may_hide}`,
        gap.count > 1 ? ` (${gap.count} times)` : "")))]));
  }
  rest.append(element("p", { class: "place" }, `Written by scission ${data.version}.`));
}

function summary() {
  const counts = counted(findings.filter(isCurrent).map((finding) => finding.evidence));
  const parts = EVIDENCE.filter((word) => counts.has(word)).map((word) => `${counts.get(word)} ${word}`);
  const number = findings.filter(isCurrent).length;
  const new_ = data.has_baseline ? "new finding" : "finding";
  byId("summary").textContent = plural(number, new_) + (parts.length > 0 ? `: ${parts.join(", ")}` : "");
}

// Light, dark, or what the system says; remembered where the browser allows it.
function prepareTheme() {
  const themes = ["system", "light", "dark"];
  let theme = "system";
  try {
    theme = themes.find((name) => name === localStorage.getItem("scission-theme")) ?? theme;
  } catch {
    // Pages from files may not be allowed to keep anything.
  }
  const show = () => {
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = `Theme: ${theme}`;
  };
  byId("theme").addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem("scission-theme", theme);
    } catch {
      // See above.
    }
    show();
  });
  show();
}

// On paper there is nothing to click: all findings that are listed are printed in full.
window.addEventListener("beforeprint", () => {
  byId("print").replaceChildren(...matching.map((finding) =>
    element("article", null, details(finding, 2))));
});
window.addEventListener("afterprint", () => byId("print").replaceChildren());
window.addEventListener("hashchange", followAddress);

prepareTheme();
summary();
prepareFilters();
applyFilters();
followAddress();
aboutRun();
