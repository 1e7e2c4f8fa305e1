"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const make = (name, text, cls) => {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
const number = n => n.toLocaleString("en");

// Tests: a table that is searched and sorted, a page at a time. A row opens to show the test's inputs; `#test000001.ktest` opens that test.
const body = at("test-rows");
if (body) {
  const PAGE = 100, tests = data.tests, opened = new Set();
  const cells = t => [t[0], data.ends[t[1]], t[2], t[3]];
  const is_name = name => /^test\d+\.ktest$/.test(name);
  let texts, found = tests.map((_, i) => i), shown = PAGE, column = -1, down = false;
  const text_of = i => {
    const values = (tests[i][4] || []).map(([name, value, beside]) => `${data.inputs[name][0]} = ${value} ${beside || ""}`);
    return [tests[i][0], data.ends[tests[i][1]], ...values].join(" ").toLowerCase();
  };
  const inputs = t => {
    const cell = make("td");
    cell.colSpan = 4;
    if (!t[4]) cell.append(make("p", "The page does not have the values. They are in the test's file.", "soft"));
    else if (!t[4].length) cell.append(make("p", "No input was read.", "soft"));
    else {
      const rows = make("tbody"), table = make("table", undefined, "inputs");
      for (const [name, value, beside] of t[4]) {
        const row = make("tr"), head = make("th"), content = make("td"), [word, what] = data.inputs[name];
        head.scope = "row";
        head.append(make("code", word), " ", make("span", what, "soft"));
        content.append(make("code", value), " ", make("span", beside, "soft"));
        row.append(head, content);
        rows.append(row);
      }
      table.append(rows);
      cell.append(table);
    }
    if (is_name(t[0])) {
      const line = make("p");
      line.append(make("span", "replay ", "soft"), make("code", `wryneck replay ${data.folder}/${t[0]}`));
      cell.append(line);
    }
    const row = make("tr", undefined, "inside");
    row.append(cell);
    return row;
  };
  const rows_of = i => {
    const t = tests[i], row = make("tr"), open = opened.has(i);
    cells(t).forEach((c, n) => row.append(make("td", n > 1 ? number(c) : n ? c : "", n > 1 ? "num" : "mono")));
    const button = make("button", t[0], "fold");
    button.setAttribute("aria-expanded", open);
    button.dataset.test = i;
    row.firstChild.append(button);
    if (is_name(t[0])) row.id = t[0];
    return open ? [row, inputs(t)] : [row];
  };
  const draw = () => {
    body.replaceChildren(...found.slice(0, shown).flatMap(rows_of));
    at("test-count").textContent = `${number(Math.min(shown, found.length))} of ${number(found.length)} shown` +
      (found.length < tests.length ? `, ${number(tests.length)} in all` : "");
    at("test-more").hidden = shown >= found.length;
  };
  const select = () => {
    const words = at("test-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) texts ||= tests.map((_, i) => text_of(i));
    found = tests.map((_, i) => i).filter(i => words.every(w => texts[i].includes(w)));
    if (column >= 0) {
      const key = i => cells(tests[i])[column];
      found.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b) * (down ? -1 : 1));
    }
    shown = PAGE;
    draw();
  };
  at("test-search").addEventListener("input", select);
  at("test-more").addEventListener("click", () => { shown += 10 * PAGE; draw(); });
  const heads = document.querySelectorAll("#tests thead th");
  heads.forEach((head, n) => head.firstChild.addEventListener("click", () => {
    down = column === n && !down;
    column = n;
    heads.forEach((h, m) => m === n ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort"));
    select();
  }));
  body.addEventListener("click", e => {
    const button = e.target.closest("button.fold");
    if (!button) return;
    const i = +button.dataset.test, row = button.closest("tr");
    const open = !opened.delete(i);
    if (open) { opened.add(i); row.after(inputs(tests[i])); } else row.nextSibling.remove();
    button.setAttribute("aria-expanded", open);
  });
  const follow = () => {
    const name = location.hash.slice(1), i = is_name(name) ? tests.findIndex(t => t[0] === name) : -1;
    if (i < 0) return;
    if (!found.includes(i)) { at("test-search").value = ""; select(); }
    opened.add(i);
    shown = Math.max(shown, found.indexOf(i) + 1);
    draw();
    const row = at(name);
    row.scrollIntoView({ block: "center" });
    row.querySelector("button").focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", follow);
  // A link to where the page is already opens the test again.
  document.addEventListener("click", e => {
    if (!e.target.matches("a") || e.target.getAttribute("href") !== location.hash || !is_name(location.hash.slice(1))) return;
    e.preventDefault();
    follow();
  });
  draw();
  follow();
}

// Sources: drawn when their file is opened.
document.querySelectorAll("details[data-file]").forEach(d => d.addEventListener("toggle", () => {
  const pre = d.querySelector("pre");
  if (!d.open || pre.firstChild) return;
  const [lines, ran, never] = data.files[d.dataset.file];
  const [r, n] = [new Set(ran), new Set(never)];
  pre.append(...lines.map((line, i) => {
    const s = make("span", undefined, r.has(i + 1) ? "ran" : n.has(i + 1) ? "never" : "");
    s.append(make("span", i + 1, "n"), line);
    return s;
  }));
}));

// The tree of paths: the width of a box is the number of its paths, each row one fork. A node begins with its decisions.
const canvas = at("tree-canvas");
if (canvas) {
  const nodes = data.tree, N = nodes.length, none = -1;
  const parent = nodes.map(n => n[0]), made = nodes.map(n => n[1]), test = nodes.map(n => n[2]), place = nodes.map(n => n[3]);
  const level = new Int32Array(N), leaves = new Int32Array(N), first = new Int32Array(N), last = new Int32Array(N), depth = new Float64Array(N);
  for (let i = 0; i < N; i++) {
    level[i] = i ? level[parent[i]] + 1 : 0;
    depth[i] = (i ? depth[parent[i]] : 0) + made[i];
    last[i] = i;
  }
  for (let i = N - 1; i >= 0; i--) {
    if (test[i] >= 0) leaves[i]++;
    if (i) { leaves[parent[i]] += leaves[i]; last[parent[i]] = Math.max(last[parent[i]], last[i]); }
  }
  let seen = 0;
  for (let i = 0; i < N; i++) { first[i] = seen; if (test[i] >= 0) seen++; }
  // The selected node has an outline; `boxes` are those that are large enough to be hit.
  let root = 0, chosen = none, boxes = [];
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name);
  const kind = i => test[i] < 0 ? "inner" : data.kinds[data.tests[test[i]][1]];
  // What a box says, and what it says if it is too narrow for that.
  const labels = i => {
    if (test[i] < 0) return place[i] < 0 ? [] : [data.places[place[i]][0], data.places[place[i]][0].replace(/.*(:\d+)$/, "$1")];
    const [name, end] = data.tests[test[i]], short = name.replace(/^test0*(\d+)\.ktest$/, "test $1");
    return [`${short}: ${data.ends[end]}`, data.ends[end], short];
  };
  const draw = () => {
    const width = canvas.clientWidth, ratio = window.devicePixelRatio || 1;
    let rows = 1;
    for (let i = root; i <= last[root]; i++) rows = Math.max(rows, level[i] - level[root] + 1);
    const high = Math.max(2, Math.min(22, 460 / rows)), shown = Math.min(rows, Math.floor(2000 / high));
    canvas.style.height = shown * high + "px";
    canvas.width = width * ratio;
    canvas.height = shown * high * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "11px " + getComputedStyle(canvas).fontFamily;
    pen.textBaseline = "middle";
    const letter = pen.measureText("0").width;
    const colours = {};
    for (const name of ["inner", "exit", "fault", "gap", "ink", "text"]) colours[name] = colour(name);
    const per = width / Math.max(1, leaves[root]);
    boxes = [];
    const box = (i, least) => {
      const row = level[i] - level[root];
      if (row >= shown) return;
      const x = (first[i] - first[root]) * per, y = row * high, w = Math.max(leaves[i] * per, least), gap = w > 3 ? 1 : 0;
      const inside = [x, y, w - gap, Math.max(1, high - (high > 4 ? 1 : 0))];
      pen.fillStyle = colours[kind(i)];
      pen.fillRect(...inside);
      if (w >= 1) boxes.push([x, y, w, high, i]);
      if (high < 14 || w < 20) return;
      const label = labels(i).find(text => text.length * letter + 8 < w);
      pen.fillStyle = colours.ink;
      if (label) pen.fillText(label, x + 5, y + high / 2);
    };
    for (let i = root; i <= last[root]; i++) if (kind(i) !== "fault") box(i, .5);
    // However many paths there are, those with a fault are seen: they are wider, and begin with a bar.
    for (let i = root; i <= last[root]; i++) {
      if (kind(i) !== "fault") continue;
      box(i, 6);
      pen.fillStyle = colours.text;
      pen.fillRect((first[i] - first[root]) * per, (level[i] - level[root]) * high, 3, Math.max(1, high - 1));
    }
    boxes.reverse();
    const outline = boxes.find(b => b[4] === chosen);
    if (outline) {
      pen.strokeStyle = colours.text;
      pen.lineWidth = 2;
      pen.strokeRect(outline[0] + 1, outline[1] + 1, Math.max(1, outline[2] - 3), Math.max(1, outline[3] - 3));
    }
    at("tree-up").hidden = root === 0;
  };
  const under = event => {
    const [x, y] = [event.offsetX, event.offsetY];
    const hit = boxes.find(b => x >= b[0] && x < b[0] + b[2] && y >= b[1] && y < b[1] + b[3]);
    return hit ? hit[4] : none;
  };
  const say = i => {
    if (i < 0) return at("hover").replaceChildren();
    const count = `after ${number(depth[i])} decision${depth[i] === 1 ? "" : "s"}`;
    if (test[i] >= 0) {
      const [name, end] = data.tests[test[i]], link = make("a", name);
      link.href = "#" + name;
      return at("hover").replaceChildren(link, `: ${data.ends[end]}, ${count}`);
    }
    const [, position, code] = data.places[place[i]] || ["", "", ""];
    at("hover").replaceChildren(`${number(leaves[i])} paths part ${position && "at " + position + " "}${count}`, make("div", code, "soft"));
  };
  const choose = i => { chosen = i; say(i); draw(); };
  // A fork is zoomed to, the top one from; the end of a path leads to its test.
  const enter = i => {
    if (i === root) root = parent[i];
    else if (test[i] < 0) root = i;
    else location.hash = data.tests[test[i]][0];
    choose(i);
  };
  const step = (i, by) => {
    do i += by; while (i > root && i <= last[root] && parent[i] !== parent[chosen]);
    return i > root && i <= last[root] && parent[i] === parent[chosen] ? i : chosen;
  };
  const moves = {
    ArrowUp: i => i === root ? root : parent[i], ArrowDown: i => i < last[i] ? i + 1 : i,
    ArrowLeft: i => i === root ? i : step(i, -1), ArrowRight: i => i === root ? i : step(i, 1),
  };
  canvas.addEventListener("mousemove", e => say(under(e)));
  canvas.addEventListener("mouseleave", () => say(chosen));
  canvas.addEventListener("click", e => { const i = under(e); if (i >= 0) enter(i); });
  canvas.addEventListener("keydown", e => {
    if (e.key === "Enter" && chosen >= 0) enter(chosen);
    else if (moves[e.key]) choose(chosen < 0 ? root : moves[e.key](chosen));
    else return;
    e.preventDefault();
  });
  at("tree-up").addEventListener("click", () => { root = parent[root]; choose(root); });
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
})();
