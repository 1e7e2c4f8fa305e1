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

// Tests: a table that is searched and sorted, a page at a time.
const body = at("test-rows");
if (body) {
  const PAGE = 100, tests = data.tests;
  const cells = t => [t[0], data.ends[t[1]], t[2], t[3]];
  const text = tests.map(t => (t[0] + " " + data.ends[t[1]]).toLowerCase());
  let found = tests.map((_, i) => i), shown = PAGE, column = -1, down = false;
  const draw = () => {
    const rows = found.slice(0, shown).map(i => {
      const row = make("tr");
      cells(tests[i]).forEach((c, n) => row.append(make("td", n > 1 ? c.toLocaleString("en") : c, n > 1 ? "num" : "mono")));
      return row;
    });
    body.replaceChildren(...rows);
    at("test-count").textContent = `${Math.min(shown, found.length)} of ${found.length} shown` +
      (found.length < tests.length ? `, ${tests.length} in all` : "");
    at("test-more").hidden = shown >= found.length;
  };
  const select = () => {
    const words = at("test-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    found = tests.map((_, i) => i).filter(i => words.every(w => text[i].includes(w)));
    if (column >= 0) {
      const key = i => cells(tests[i])[column];
      found.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a - b) * (down ? -1 : 1));
    }
    shown = PAGE;
    draw();
  };
  at("test-search").addEventListener("input", select);
  at("test-more").addEventListener("click", () => { shown += 10 * PAGE; draw(); });
  document.querySelectorAll("#tests th button").forEach((b, n) => b.addEventListener("click", () => {
    down = column === n && !down;
    column = n;
    select();
  }));
  draw();
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

// The tree of paths: the width of a node is the number of its paths, each row one fork. A node begins with its decisions.
const canvas = at("tree-canvas");
if (canvas) {
  const nodes = data.tree, N = nodes.length;
  const parent = nodes.map(n => n[0]), made = nodes.map(n => n[1]), test = nodes.map(n => n[2]);
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
  let root = 0, boxes = [];
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name);
  const kind = i => test[i] < 0 ? "inner" : data.kinds[data.tests[test[i]][1]];
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
    const colours = {};
    for (const name of ["inner", "exit", "fault", "gap"]) colours[name] = colour(name);
    const per = width / Math.max(1, leaves[root]);
    boxes = [];
    const box = (i, least) => {
      const row = level[i] - level[root];
      if (row >= shown) return;
      const x = (first[i] - first[root]) * per, w = Math.max(leaves[i] * per, least), gap = w > 3 ? 1 : 0;
      pen.fillStyle = colours[kind(i)];
      pen.fillRect(x, row * high, w - gap, Math.max(1, high - (high > 4 ? 1 : 0)));
      if (w >= 1) boxes.push([x, row * high, w, high, i]);
    };
    for (let i = root; i <= last[root]; i++) if (kind(i) !== "fault") box(i, .5);
    // However many paths there are, those with a fault are seen.
    for (let i = root; i <= last[root]; i++) if (kind(i) === "fault") box(i, 3);
    boxes.reverse();
    at("tree-up").hidden = root === 0;
  };
  const under = event => {
    const [x, y] = [event.offsetX, event.offsetY];
    const hit = boxes.find(b => x >= b[0] && x < b[0] + b[2] && y >= b[1] && y < b[1] + b[3]);
    return hit ? hit[4] : -1;
  };
  const say = i => {
    if (i < 0) return "";
    const count = `after ${depth[i].toLocaleString("en")} decision${depth[i] === 1 ? "" : "s"}`;
    if (test[i] >= 0) return `${data.tests[test[i]][0]}: ${data.ends[data.tests[test[i]][1]]}, ${count}`;
    return `${leaves[i].toLocaleString("en")} paths part ${count}`;
  };
  canvas.addEventListener("mousemove", e => { at("hover").textContent = say(under(e)); });
  canvas.addEventListener("click", e => {
    const i = under(e);
    at("hover").textContent = say(i);
    if (i >= 0) { root = i === root && i ? parent[i] : leaves[i] > 1 ? i : root; draw(); }
  });
  at("tree-up").addEventListener("click", () => { root = root ? parent[root] : 0; draw(); });
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
})();
