"use strict";
// Text of documents goes into the page as text only: never through innerHTML.

const byId = (id) => document.getElementById(id);

function element(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children);
  return made;
}

// Characters of a hit that show while it is closed: more than a line holds.
const PREVIEW = 200;

// Questions that are listed at first: what comes after them is a click away.
let most = 50;

const read = (id) => JSON.parse(byId(id).textContent);

// Tables that can be sorted

// The headers that stand right over a column, by the column.
function leaves(table) {
  const taken = [];
  const found = [];
  [...table.tHead.rows].forEach((row, r) => {
    let column = 0;
    for (const cell of row.cells) {
      while (taken[r]?.[column]) column += 1;
      for (let dr = 0; dr < cell.rowSpan; dr += 1) {
        for (let dc = 0; dc < cell.colSpan; dc += 1) (taken[r + dr] ??= [])[column + dc] = true;
      }
      if (cell.tagName === "TH" && cell.scope === "col") found.push([cell, column]);
      column += cell.colSpan;
    }
  });
  return found;
}

function value(row, column) {
  const cell = row.cells[column];
  const number = parseFloat(cell.dataset.v ?? cell.textContent.replaceAll(",", ""));
  return Number.isNaN(number) ? cell.textContent.trim() : number;
}

const compared = (one, other) =>
  typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));

function sortBy(table, header, column, headers) {
  // Numbers fall at first, as the highest is asked for; places and names rise.
  const rises = header.getAttribute("aria-sort") === "descending" || (!header.hasAttribute("aria-sort") && column < 2);
  for (const [other] of headers) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", rises ? "ascending" : "descending");
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((a, b) => (rises ? 1 : -1) * compared(value(a, column), value(b, column)));
  body.append(...rows);
}

for (const table of document.querySelectorAll("table.sorted")) {
  const headers = leaves(table);
  for (const [header, column] of headers) {
    const button = element("button", "", ...header.childNodes);
    button.type = "button";
    button.addEventListener("click", () => sortBy(table, header, column, headers));
    header.replaceChildren(button);
  }
}

// Lines of the frontier

function pointedAt(event) {
  const number = event.target.closest?.("[data-n]")?.dataset.n;
  for (const line of document.querySelectorAll("g.line")) line.classList.toggle("on", line.dataset.n === number);
}
for (const place of document.querySelectorAll("#frontier, #configs")) {
  place.addEventListener("pointerover", pointedAt);
  place.addEventListener("pointerleave", pointedAt);
}

// Questions: which are listed, and in which order

const scores = read("scores");
const list = byId("list");
const items = [...list.children];
const controls = Object.fromEntries(["a", "b", "which", "cause", "order", "words"].map((id) => [id, byId(id)]));
let held = null;
// Texts and hits are large, and read when the first question is opened.
const details = () => (held ??= read("details"));

const a = () => Number(controls.a.value);
const b = () => (controls.b.value === "" ? null : Number(controls.b.value));
const question = (item) => Number(item.dataset.i);
const gap = (i) => (b() === null ? 0 : scores.scores[a()][i] - scores.scores[b()][i]);

function isListed(item) {
  const i = question(item);
  const which = controls.which.value;
  const cause = controls.cause.value;
  if (which === "missed" && scores.whole[a()][i] === "1") return false;
  if (which === "differ" && gap(i) === 0) return false;
  if (cause !== "" && !(details().misses[a()][i] ?? []).some((miss) => miss[1] === Number(cause))) return false;
  const words = controls.words.value.trim().toLowerCase();
  return !words || item.querySelector(".asked").textContent.toLowerCase().includes(words);
}

function place(item) {
  const i = question(item);
  return { score: scores.scores[a()][i], gap: gap(i), file: i }[controls.order.value];
}

function refresh(event) {
  if (controls.which.value === "differ" && b() === null) controls.b.value = String(a() === 0 ? 1 : 0);
  items.sort((one, other) => place(one) - place(other) || question(one) - question(other));
  const found = items.filter(isListed);
  const shown = new Set(found.slice(0, most));
  const changed = [controls.a, controls.b, controls.which].includes(event?.target);
  for (const item of items) {
    item.hidden = !shown.has(item);
    if (changed) mark(item);
  }
  list.append(...items);
  const told = (n) => n.toLocaleString("en");
  document.querySelector("output").value = `${told(found.length)} of ${told(items.length)} questions`;
  byId("more").hidden = found.length <= most;
  byId("more").textContent = `Show all ${told(found.length)}`;
}

// Show the score of A at a question and why it missed, and draw anew what is open.
function mark(item) {
  const i = question(item);
  const score = scores.scores[a()][i];
  const causes = new Set((details().misses[a()][i] ?? []).map((miss) => scores.causes[miss[1]]));
  item.querySelector(".tags").replaceChildren(...[...causes].map((cause) => element("span", "tag", cause)));
  const told = item.querySelector(".score");
  told.textContent = String(Math.round(score / 10));
  told.className = `score ${score === 0 ? "none" : score === 1000 ? "all" : "part"}`;
  if (item.open) fill(item);
}

// A question that is open: its evidence and its hits, by one config or two side by side

function fill(item, first = a()) {
  item.querySelector(".answers")?.remove();
  const i = question(item);
  const made = element("div", "answers");
  const about = element("p", "about", `Question ${details().ids[i]}`);
  const answer = details().answers[i];
  if (answer) about.append(`; expected answer: ${answer}`);
  made.append(about, chips(item, first));
  const columns = element("div", b() === null ? "columns" : "columns two");
  for (const config of b() === null ? [first] : [first, b()]) columns.append(column(i, config));
  made.append(columns);
  item.append(made);
}

// The scores of all configs; each opens what it found for this question in the place of A.
function chips(item, first) {
  const row = element("div", "chips");
  scores.names.forEach((name, config) => {
    const score = points(scores.scores[config][question(item)]);
    const chip = element("button", "", element("b", "", String(config + 1)), ` ${score}`);
    chip.type = "button";
    chip.title = name;
    chip.setAttribute("aria-pressed", String(config === first));
    chip.setAttribute("aria-label", `config ${config + 1}, ${name}: ${score}`);
    chip.addEventListener("click", () => {
      fill(item, config);
      item.querySelector(".chips [aria-pressed=true]").focus();
    });
    row.append(chip);
  });
  return row;
}

const points = (thousandths) => (thousandths / 10).toFixed(thousandths % 1000 ? 1 : 0);

function column(i, config) {
  const head = element("h3", "", `${config + 1} `, element("code", "", scores.names[config]));
  const made = element("article", "", head);
  const evidence = details().evidence[i];
  if (!evidence) {
    made.append(element("p", "gone", "Evidence and hits were left out to keep the file small."));
    return made;
  }
  const hits = hitsOf(i, config);
  const spans = hits?.flatMap((hit) => hit.spans) ?? null;
  const misses = details().misses[config][i] ?? [];
  evidence.forEach((slot, number) => {
    const counted = details().shares[config][i].slice(2 * number, 2 * number + 2);
    made.append(slotOf(slot, spans, number, evidence.length, counted));
    for (const miss of misses.filter((one) => one[0] === number)) made.append(reason(miss));
  });
  if (hits) made.append(...ranking(hits, evidence.flat()));
  else made.append(element("p", "gone", "The hits of this config were left out to keep the file small."));
  return made;
}

function reason([, cause, lost, proof]) {
  const name = element("b", "", element("i", `c${cause}`), scores.causes[cause]);
  return element("p", "reason", name, ` (${points(lost)} % of the evidence of this question): ${details().proofs[proof]}.`);
}

function hitsOf(i, config) {
  const flat = details().hits[config][i];
  if (!flat) return null;
  const hits = [];
  for (let n = 0; n < flat.length; n += 3) {
    const [doc, start, tokens, ...rest] = details().places[flat[n]];
    const spans = [];
    for (let m = 0; m < rest.length; m += 3) spans.push({ window: rest[m], start: rest[m + 1], end: rest[m + 2] });
    hits.push({ document: details().documents[doc], start, tokens, spans, rank: flat[n + 1], score: flat[n + 2] });
  }
  return hits;
}

// One piece of evidence in its context: of alternatives the one that counts, which is told with its share that was found.
function slotOf(slot, spans, number, n, [which, share]) {
  const [doc, first, last, window, from, start, end, to, parted, goesOn] = slot[which];
  const found = spans ? `, ${share} % found` : "";
  const others = slot.length > 1 ? `; ${slot.length - 1} other place${slot.length > 2 ? "s" : ""} would do` : "";
  const where = `, characters ${first.toLocaleString("en")} to ${last.toLocaleString("en")}${others}`;
  const name = n > 1 ? `Evidence ${number + 1} of ${n}${found} ` : `Evidence${found} `;
  const caption = element("p", "place", element("b", "", name), element("bdi", "", details().documents[doc]), where);
  const text = element("blockquote", "text");
  text.tabIndex = 0;
  const all = details().texts[window];
  text.append(parted ? "… " : "", all.slice(from, start));
  let at = start;
  for (const part of spans ? shared({ window, start, end }, spans) : []) {
    text.append(marked(all.slice(at, part.start), spans ? "missed" : "gold"), marked(all.slice(part.start, part.end), "found"));
    at = part.end;
  }
  text.append(marked(all.slice(at, end), spans ? "missed" : "gold"), all.slice(end, to), goesOn ? " …" : "");
  return element("div", "evidence", caption, text);
}

function marked(text, name) {
  return text ? element("mark", name, text) : "";
}

// What spans share with one, in order and disjoint.
function shared(one, spans) {
  const parts = spans
    .filter((span) => span.window === one.window && span.start < one.end && one.start < span.end)
    .map((span) => ({ start: Math.max(span.start, one.start), end: Math.min(span.end, one.end) }))
    .sort((x, y) => x.start - y.start);
  const joined = [];
  for (const part of parts) {
    const last = joined[joined.length - 1];
    if (last && part.start <= last.end) last.end = Math.max(last.end, part.end);
    else joined.push({ ...part });
  }
  return joined;
}

function ranking(hits, gold) {
  const spans = gold.map(([, , , window, , start, end]) => ({ window, start, end }));
  const tokens = hits.reduce((sum, hit) => sum + hit.tokens, 0).toLocaleString("en");
  const caption = element("p", "place", element("b", "", `${hits.length} hit${hits.length === 1 ? "" : "s"}`), `, ${tokens} tokens`);
  const rows = element("ol", "hits");
  for (const hit of hits) rows.append(hitOf(hit, spans));
  return [caption, rows];
}

function hitOf(hit, gold) {
  const holds = hit.spans.some((span) => shared(span, gold).length);
  const lies = `, from ${hit.start.toLocaleString("en")}; ${hit.tokens} tokens, score ${hit.score}`;
  const head = element("summary", "", element("b", "", `${hit.rank} `), element("bdi", "", hit.document), lies);
  if (holds) head.append(element("span", "tag", "holds evidence"));
  const text = element("div", "text");
  for (const span of hit.spans) text.append(...highlighted(span, gold));
  head.append(element("span", "preview", text.textContent.trim().slice(0, PREVIEW)));
  const made = element("details", holds ? "hit holds" : "hit", head, text);
  made.open = holds;
  return element("li", "", made);
}

function highlighted(span, gold) {
  const all = details().texts[span.window];
  const pieces = [];
  let at = span.start;
  for (const part of shared(span, gold)) {
    pieces.push(all.slice(at, part.start), marked(all.slice(part.start, part.end), "found"));
    at = part.end;
  }
  return [...pieces, all.slice(at, span.end)];
}

for (const item of items) item.addEventListener("toggle", () => item.open && fill(item));
for (const control of Object.values(controls)) control.addEventListener("input", refresh);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
controls.a.value = String(scores.choice);
if (scores.names.length < 2) controls.b.closest("label").hidden = true;
byId("controls").hidden = false;
byId("more").addEventListener("click", () => {
  const first = items.find((item) => item.hidden && isListed(item));
  most = Infinity;
  refresh();
  first.querySelector("summary").focus();
});
refresh();
