// Excerpts of source, with colours for the words of the languages of the JVM.

const KEYWORDS = new Set(
  ("abstract as assert boolean break byte case catch char class const continue data def default do double else enum " +
    "extends false final finally float for fun if implements import in instanceof int interface internal is lateinit " +
    "long match native new null object open override package private protected public record return sealed short " +
    "static strictfp super switch synchronized this throw throws trait transient true try typealias val var void " +
    "volatile when while with yield").split(" "),
);

const TOKEN =
  /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)+')|(@\w+)|(\b\d[\w.]*)|([\p{L}_$][\p{L}\p{N}_$]*)/gu;

// A line as nodes. Lines of a block comment are recognised by the asterisk that they begin with.
function highlighted(line) {
  if (/^\s*\*(\s|\/|$)/.test(line)) {
    return [element("span", { class: "comment" }, line)];
  }
  const nodes = [];
  let end = 0;
  for (const match of line.matchAll(TOKEN)) {
    const [text, comment, string, annotation, number, word] = match;
    const kind = comment !== undefined ? "comment"
      : string !== undefined ? "string"
      : annotation !== undefined ? "annotation"
      : number !== undefined ? "number"
      : KEYWORDS.has(word) ? "keyword"
      : null;
    if (kind !== null) {
      nodes.push(line.slice(end, match.index), element("span", { class: kind }, text));
      end = match.index + text.length;
    }
  }
  nodes.push(line.slice(end));
  return nodes;
}

function lineOf(file, number) {
  for (const excerpt of data.sources[file] ?? []) {
    if (number >= excerpt.first && number < excerpt.first + excerpt.lines.length) {
      return excerpt.lines[number - excerpt.first];
    }
  }
  return null;
}

// The line of source at a site; null where it is not known.
function codeAt(site) {
  const [, , file, line] = data.sites[site];
  return file === null || line === null ? null : lineOf(file, line);
}

// One file with the lines around these places. `labelled` is a list of a site and what is said about it, or null.
function excerpt(file, labelled, around) {
  const notes = new Map();
  for (const [site, label] of labelled) {
    const line = data.sites[site][3];
    const known = notes.get(line) ?? [];
    if (label !== null && !known.includes(label)) {
      known.push(label);
    }
    notes.set(line, known);
  }
  const wanted = new Set();
  for (const line of notes.keys()) {
    for (let number = line - around; number <= line + around; number += 1) {
      if (lineOf(file, number) !== null) {
        wanted.add(number);
      }
    }
  }
  for (const number of [...wanted]) {
    // One line takes no more room than the sign for a line that is left out.
    if (wanted.has(number + 2) && lineOf(file, number + 1) !== null) {
      wanted.add(number + 1);
    }
  }
  const code = element("div", { class: "code" });
  let before = null;
  for (const number of [...wanted].sort((one, other) => one - other)) {
    if (before !== null && number > before + 1) {
      code.append(element("div", { class: "gap", "aria-hidden": "true" }, "⋯"));
    }
    before = number;
    const isNamed = notes.has(number);
    code.append(
      element(
        "div",
        { class: isNamed ? "line named" : "line", "data-line": number },
        element("span", { class: "number" }, String(number)),
        element("code", null, highlighted(lineOf(file, number))),
      ),
    );
    for (const label of notes.get(number) ?? []) {
      code.append(element("div", { class: "label" }, sentence(label)));
    }
  }
  return element(
    "figure",
    { class: "source", "data-file": file },
    element("figcaption", null, data.files[file]),
    code,
  );
}

// The excerpts of a finding, by file; the file of the place that the reader is sent to comes first.
function excerpts(finding, steps) {
  const files = new Map();
  for (const step of steps) {
    const [, , file] = data.sites[step.site];
    if (file !== null && codeAt(step.site) !== null) {
      files.set(file, [...(files.get(file) ?? []), [step.site, step.label]]);
    }
  }
  const primary = data.sites[finding.primary][2];
  const inOrder = [...files].sort(([one], [other]) => (other === primary) - (one === primary));
  return inOrder.map(([file, labelled]) => excerpt(file, labelled, 3));
}

// Shows the source of a site: the line among the excerpts, which get one more if it is in none of them.
function showSource(site, container) {
  const [, , file, line] = data.sites[site];
  if (codeAt(site) === null) {
    return false;
  }
  const find = () => container.querySelector(`figure[data-file="${file}"] [data-line="${line}"]`);
  if (find() === null) {
    container.append(excerpt(file, [[site, null]], 3));
  }
  for (const marked of document.querySelectorAll(".line.shown")) {
    marked.classList.remove("shown");
  }
  const found = find();
  found.classList.add("shown");
  found.scrollIntoView({ block: "center" });
  return true;
}
