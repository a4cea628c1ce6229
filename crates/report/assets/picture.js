// The interleaving as a picture: a column for each thread, time downward.

const LINE = 17;
const BETWEEN_ROWS = 30;
const HEADING = 62;
const LANE = 18;
const BAR = 9;
const INSET = 12;
const GUTTER = 64;
const CHARACTER = 7.3;
const LOCK_COLOURS = 6;
let pictures = 0;

// The figure for a witness. `onSource` is called with the site of what was clicked.
function drawn(picture, onSource) {
  pictures += 1;
  const layout = laidOut(picture);
  const id = `picture-${pictures}`;
  const svg = shape("svg", {
    viewBox: `0 0 ${layout.width} ${layout.height}`,
    width: layout.width,
    height: layout.height,
    role: "group",
    "aria-label": spoken(picture),
  });
  for (const style of ["observed", "predicted", "waits"]) {
    svg.append(
      shape("marker", {
        id: `${id}-${style}`, class: `head ${style}`, viewBox: "0 0 10 10", refX: 9, refY: 5,
        markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse",
      }, shape("path", { d: "M 0 0 L 10 5 L 0 10 z" })),
    );
  }
  if (picture.kind === "interleaving") {
    svg.append(
      shape("line", {
        class: "time", x1: 14, x2: 14, y1: HEADING, y2: layout.height - 14, "marker-end": `url(#${id}-observed)`,
      }),
      shape("text", { class: "time", x: 6, y: HEADING - 10 }, "time"),
    );
  }
  picture.columns.forEach((name, at) => svg.append(heading(name, at, layout)));
  picture.blocks.forEach((block) => svg.append(outline(block, layout)));
  picture.bars.forEach((bar) => svg.append(lockBar(bar, layout)));
  picture.rows.forEach((row, at) => svg.append(operation(row, at, layout, picture, onSource)));
  // Arrows are drawn last, so that nothing covers them.
  picture.arrows.forEach((arrow) => svg.append(...connection(arrow, layout, picture, id)));
  return element(
    "figure",
    { class: "picture" },
    element("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": "Picture" }, svg),
    element("figcaption", null, legend(picture, layout)),
  );
}

function laidOut(picture) {
  const locks = [...new Set(picture.bars.map((bar) => bar.lock))];
  const lanes = picture.columns.map(() => []);
  // Bars of one column that overlap stand beside each other.
  const laneOf = picture.bars.map((bar) => {
    const taken = lanes[bar.column];
    let lane = taken.findIndex((last) => last < bar.first);
    if (lane === -1) {
      lane = taken.length;
    }
    taken[lane] = bar.last;
    return lane;
  });
  const longest = Math.max(...picture.rows.map((row) => Math.max(
    row.text.length,
    row.site === null ? 0 : shortPlace(row.site).length,
    row.site === null ? 0 : (codeAt(row.site) ?? "").trim().length,
  )));
  const box = Math.min(Math.max((longest + 1) * CHARACTER + 2 * INSET, 200), 330);
  const room = Math.floor((box - 2 * INSET) / CHARACTER);
  const boxHeight = (picture.rows.some((row) => row.text.length > room) ? 4 : 3) * LINE + 10;
  const rowHeight = boxHeight + BETWEEN_ROWS;
  // What leads from one operation of a thread to another goes around them.
  const isLoop = (arrow) => picture.rows[arrow.from].column === picture.rows[arrow.to].column;
  const right = picture.arrows.some(isLoop) ? 100 : 16;
  let x = picture.kind === "interleaving" ? 44 : 16;
  const columns = lanes.map((taken) => {
    const bars = x;
    const left = bars + taken.length * LANE + INSET;
    x = left + box + INSET + GUTTER;
    return { bars, left, centre: left + box / 2 };
  });
  return {
    columns, locks, box, room, boxHeight,
    lane: new Map(picture.bars.map((bar, at) => [bar, laneOf[at]])),
    top: (row) => HEADING + row * rowHeight,
    width: x - GUTTER + right,
    height: HEADING + picture.rows.length * rowHeight,
  };
}

function heading(name, at, layout) {
  const text = shorten(name, Math.floor(layout.box / (CHARACTER * 1.1)));
  return shape("text", {
    class: "heading", x: layout.columns[at].centre, y: 22, "text-anchor": "middle",
  }, shape("title", null, name), text);
}

function outline(block, layout) {
  const { left } = layout.columns[block.column];
  const top = layout.top(block.first) - 24;
  const name = shorten(block.name, Math.floor(layout.box / 6.6));
  return shape("g", { class: block.is_blamed ? "block blamed" : "block" },
    shape("rect", {
      x: left - INSET / 2, y: top, width: layout.box + INSET,
      height: layout.top(block.last) + layout.boxHeight + 7 - top, rx: 8,
    }),
    shape("text", { x: left + 4, y: top + 15 }, name),
  );
}

function lockBar(bar, layout) {
  const { bars } = layout.columns[bar.column];
  const number = layout.locks.indexOf(bar.lock);
  const x = bars + layout.lane.get(bar) * LANE;
  const top = layout.top(bar.first) - 4;
  const bottom = bar.is_open ? layout.height - 4 : layout.top(bar.last) + layout.boxHeight + 4;
  return shape("g", { class: `lock lock-${number % LOCK_COLOURS}` },
    shape("title", null, `holds ${bar.lock}`),
    shape("rect", { x, y: top + 14, width: BAR, height: bottom - top - 14, rx: 4 }),
    shape("text", { x: x + BAR / 2, y: top + 9, "text-anchor": "middle" }, letter(number)),
  );
}

// Locks are told apart by letters as well as by colours.
function letter(number) {
  return number < 26 ? String.fromCharCode(65 + number) : String(number + 1);
}

function operation(row, at, layout, picture, onSource) {
  const { left } = layout.columns[row.column];
  const top = layout.top(at);
  const { room } = layout;
  const lines = wrapped(row.text, room).map((text) => ["what", text]);
  if (row.site !== null) {
    lines.push(["where", shortPlace(row.site)]);
    const code = codeAt(row.site);
    if (code !== null) {
      // A line is recognised by its beginning.
      const text = code.trim();
      lines.push(["code", text.length > room ? `${text.slice(0, room - 1)}…` : text]);
    }
  }
  const held = picture.bars.filter((bar) =>
    bar.column === row.column && bar.first <= at && (bar.is_open || bar.last >= at));
  const kinds = ["operation"];
  if (row.is_intruder) kinds.push("intruder");
  if (row.is_branch) kinds.push("branch");
  if (!row.has_happened) kinds.push("possible");
  const group = shape("g", {
    class: kinds.join(" "), role: "button", tabindex: row.site === null ? null : "0", "data-row": at,
    "aria-label": [
      `${at + 1}. ${picture.columns[row.column]}: ${row.text}`,
      row.site === null ? "" : `, at ${place(row.site)}`,
      held.length === 0 ? "" : `, holding ${[...new Set(held.map((bar) => bar.lock))].join(" and ")}`,
      row.has_happened ? "" : ", which did not happen but could",
    ].join(""),
  },
    shape("rect", { x: left, y: top, width: layout.box, height: layout.boxHeight, rx: 5 }),
    lines.map(([kind, text], line) => shape("text", {
      class: kind, x: left + INSET, y: top + 18 + line * LINE + (lines.length === 1 ? LINE : 0),
    }, shorten(text, room))),
  );
  if (row.site !== null) {
    const show = (event) => showTip(row, event.currentTarget);
    group.addEventListener("mouseenter", show);
    group.addEventListener("focus", show);
    group.addEventListener("mouseleave", hideTip);
    group.addEventListener("blur", hideTip);
    group.addEventListener("click", () => onSource(row.site));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        onSource(row.site);
      }
    });
  } else {
    group.removeAttribute("role");
  }
  return group;
}

// A text as one line or two.
function wrapped(text, room) {
  if (text.length <= room) {
    return [text];
  }
  const space = text.lastIndexOf(" ", room);
  const end = space > room / 3 ? space : room;
  return [text.slice(0, end), text.slice(end).trim()];
}

function connection(arrow, layout, picture, id) {
  const from = picture.rows[arrow.from];
  const to = picture.rows[arrow.to];
  const [start, end] = [layout.columns[from.column].left, layout.columns[to.column].left];
  const y1 = layout.top(arrow.from) + layout.boxHeight / 2;
  const y2 = layout.top(arrow.to) + layout.boxHeight / 2;
  let path;
  let middle;
  if (from.column === to.column) {
    const x = start + layout.box;
    path = `M ${x} ${y1} C ${x + 46} ${y1}, ${x + 46} ${y2}, ${x} ${y2}`;
    middle = [x + 44, (y1 + y2) / 2];
  } else {
    const isRight = end > start;
    const x1 = isRight ? start + layout.box : start;
    const x2 = isRight ? end : end + layout.box;
    const bend = (x2 - x1) / 2;
    path = `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}`;
    middle = [(x1 + x2) / 2, (y1 + y2) / 2];
  }
  const nodes = [
    shape("path", {
      class: `arrow ${arrow.style}`, d: path, "data-from": arrow.from, "data-to": arrow.to,
      "marker-end": arrow.style === "race" ? null : `url(#${id}-${arrow.style})`,
    }, shape("title", null, arrow.text)),
  ];
  const isSaid = arrow.text === "" || (from.text.includes(arrow.text) && to.text.includes(arrow.text));
  const label = arrow.style === "race" ? "no order" : isSaid ? null : arrow.text;
  if (label !== null) {
    nodes.push(shape("text", {
      class: "arrow-label", x: middle[0], y: middle[1] - 6, "text-anchor": "middle",
    }, shorten(label, 22)));
  }
  return nodes;
}

// What the signs in a picture mean, as far as they occur.
function legend(picture, layout) {
  const words = {
    interleaving: "Time runs downward.",
    unordered: "Only the arrows say what came first; the order of what a thread does is not known.",
    race: "Nothing orders the two accesses.",
    deadlock: "Each thread holds what another one waits for.",
  };
  const parts = [element("span", null, words[picture.kind])];
  if (picture.rows.some((row) => !row.has_happened)) {
    const all = picture.rows.every((row) => !row.has_happened);
    parts.push(element("span", null, all
      ? "Dashed: none of this has been observed; the code allows it."
      : "Solid boxes happened in the run; dashed ones did not, but could."));
  }
  if (picture.arrows.some((arrow) => arrow.style === "predicted") && picture.rows.some((row) => row.has_happened)) {
    parts.push(element("span", null, "Dashed arrows: the order is possible, and was not observed."));
  }
  if (picture.rows.some((row) => row.is_intruder)) {
    parts.push(element("span", { class: "key intruder" }, "Coloured: comes in between."));
  }
  if (picture.blocks.some((block) => block.is_blamed)) {
    parts.push(element("span", { class: "key blamed" }, "Outlined: the block that is split."));
  }
  layout.locks.forEach((lock, number) => parts.push(
    element("span", { class: `key lock-${number % LOCK_COLOURS}` },
      element("b", { "aria-hidden": "true" }, letter(number)), " while ", element("code", null, lock), " is held"),
  ));
  return parts;
}

function spoken(picture) {
  const threads = picture.columns.join(", ");
  return `${plural(picture.rows.length, "operation")} of ${plural(picture.columns.length, "thread")}: ${threads}`;
}

// How a thread got to an operation, beside it.
function showTip(row, target) {
  const tip = document.getElementById("tip");
  const stack = row.stack === null ? null : data.stacks[row.stack];
  const frames = stack === null ? [row.site] : stack.frames;
  const heading = stack !== null && !stack.is_same_context
    ? "Stack recorded at an earlier visit of this place"
    : stack === null ? "Place" : "Stack";
  const rest = stack === null ? 0 : stack.left_out + Math.max(frames.length - 16, 0);
  tip.replaceChildren(
    element("b", null, heading),
    element("ol", null, frames.slice(0, 16).map((site) =>
      element("li", null, `${methodName(site)} (${shortPlace(site)})`))),
    rest > 0 ? element("p", null, `and ${rest} more`) : "",
  );
  tip.hidden = false;
  const around = target.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(around.left, document.documentElement.clientWidth - own.width - 8));
  const isBelow = around.bottom + own.height + 12 < document.documentElement.clientHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${isBelow ? around.bottom + 8 : Math.max(8, around.top - own.height - 8)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}
