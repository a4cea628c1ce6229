// The data of the page, and elements made from it. Texts of programs become text nodes and nothing else: no function
// here takes markup, and attributes with addresses are given fingerprints only.

const data = JSON.parse(document.getElementById("data").textContent);

// An element of HTML with attributes and children; strings become text.
function element(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// The same for SVG.
function shape(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// A sentence in which names stand between backticks, as nodes.
function sentence(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? element("code", null, part) : part));
}

// Sites are lists of class, method, file, line and bytecode offset.
function methodName(site) {
  const [type, method] = data.sites[site];
  return `${data.classes[type]}.${method}`;
}

// Without the package, where there is little room.
function shortMethodName(site) {
  const [type, method] = data.sites[site];
  return `${data.classes[type].split(".").pop()}.${method}`;
}

function place(site) {
  const [, , file, line, offset] = data.sites[site];
  if (file === null) {
    return offset === null ? methodName(site) : `${methodName(site)}, bytecode offset ${offset}`;
  }
  return line === null ? data.files[file] : `${data.files[file]}:${line}`;
}

function shortPlace(site) {
  return place(site).split("/").pop();
}

function plural(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

function shorten(text, characters) {
  if (text.length <= characters) {
    return text;
  }
  const end = Math.floor((characters - 1) / 2);
  return `${text.slice(0, Math.max(characters - 1 - end, 0))}…${end > 0 ? text.slice(-end) : ""}`;
}
