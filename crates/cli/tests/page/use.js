// The last script of a page under test: uses it as a person would, and writes what is to be seen into the element `seen`, as JSON.
(async () => {
  const seen = {}, wait = () => new Promise(done => setTimeout(done, 100));
  const all = selector => [...document.querySelectorAll(selector)];
  const text = e => e ? e.innerText.replace(/\s+/g, " ").trim() : null;
  const texts = selector => all(selector).map(text);
  const one = selector => document.querySelector(selector);
  const at_row = () => document.activeElement.closest("tr") || {};
  try {
    await wait();
    const root = document.documentElement;
    seen.width = innerWidth;
    seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    seen.background = getComputedStyle(document.body).backgroundColor;
    seen.opened = texts("#test-rows tr.inside");
    const target = one(":target"), top = target && target.getBoundingClientRect().top;
    seen.target = target && [target.id, top >= 0 && top < innerHeight];
    seen.summary = text(one("body > header"));
    seen.nav = all("nav a").map(a => [text(a), !!one(a.hash)]);
    seen.findings = texts("article.finding");
    seen.excerpt = all("article.finding pre > span").map(line => getComputedStyle(line, "::before").content + line.innerText);
    seen.steps = texts("ol.steps li");
    seen.ends = texts("#paths + .card tbody tr");
    seen.files = texts("#coverage ~ .card:has(.bar)");
    seen.tests = texts("#test-rows tr");
    seen.ledger = texts("#ledger ~ .card").slice(0, -1);
    seen.time = text(one("#time + .card"));
    const overflow = () => root.scrollWidth - root.clientWidth;
    seen.overflow = [overflow()];

    // Folds.
    for (const file of all("details[data-file]")) file.firstChild.click();
    await wait();
    seen.lines = all("pre.listing > span").map(line => getComputedStyle(line, "::before").content + line.innerText);
    const fold = one("article.finding details:has(.steps)");
    seen.folded = [fold.open];
    fold.firstChild.click();
    seen.folded.push(fold.open);
    for (const closed of all("details:not([open])")) closed.open = true;
    const row = one("#test-rows button.fold");
    row.click();
    seen.inputs = text(one("#test-rows tr.inside"));
    seen.expanded = [row.getAttribute("aria-expanded")];
    row.click();
    seen.expanded.push(row.getAttribute("aria-expanded"), all("#test-rows tr.inside").length);

    // Search and order.
    const search = one("#test-search"), found = words => {
      search.value = words;
      search.dispatchEvent(new Event("input"));
      return [text(one("#test-count")), ...texts("#test-rows tr td:nth-child(2)")];
    };
    seen.found = { "FAULT zero": found("FAULT zero"), "nothing like it": found("nothing like it"), '"<': found('"<'), "": found("") };
    const by = all("#tests thead button")[3], decisions = () => [by.parentNode.ariaSort, texts("#test-rows td:nth-child(4)").map(Number)];
    by.click();
    seen.ordered = [decisions()];
    by.click();
    seen.ordered.push(decisions());

    // The link of a finding to its test, though the search hides it.
    found("nothing like it");
    const link = one("article.finding dd a");
    link.click();
    await wait();
    seen.linked = [link.hash, at_row().id, text(at_row().nextSibling)];
    found("nothing like it");
    link.click();
    await wait();
    seen.again = at_row().id;

    // The tree: what each box says, in rows from the top.
    const canvas = one("#tree-canvas"), hover = () => text(one("#hover"));
    const mouse = (name, x, y) => {
      const { left, top } = canvas.getBoundingClientRect();
      canvas.dispatchEvent(new MouseEvent(name, { clientX: left + x, clientY: top + y, bubbles: true }));
      return hover();
    };
    const rows = () => {
      const { width, height } = canvas.getBoundingClientRect(), said = [];
      for (let y = 5; y < height; y += 11) for (let x = 2; x < width; x += 7) said.push(mouse("mousemove", x, y));
      return [...new Set(said)].filter(Boolean);
    };
    seen.tree = rows();
    const colours = new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data);
    seen.colours = colours.size;
    const key = name => { canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name })); return hover(); };
    const up = one("#tree-up");
    seen.keys = [key("ArrowDown"), key("ArrowDown"), key("ArrowRight"), key("ArrowUp")];
    // The first fork below the top.
    let steps = 0;
    for (key("ArrowDown"); !hover().includes("paths part") && steps < 9; steps++) key("ArrowRight");
    seen.zoom = [up.hidden, key("Enter"), up.hidden, rows().length];
    up.click();
    seen.zoom.push(up.hidden, rows().length);
    seen.top = mouse("click", 2, 2);
    for (steps = 0; !hover().includes(".ktest") && steps < 9; steps++) key("ArrowDown");
    location.hash = "";
    key("Enter");
    await wait();
    seen.leaf = [location.hash.slice(1), at_row().id];

    // With all that opens open: does it fit, and can it be read? WCAG asks for a contrast of 4.5.
    seen.overflow.push(overflow());
    const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const numbers = colour => colour.match(/[\d.]+/g).map(Number);
    const light = colour => { const [r, g, b] = numbers(colour).map(channel); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = e => {
      for (; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if (numbers(colour)[3] !== 0) return colour;
      }
      return "rgb(255, 255, 255)";
    };
    const own = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    seen.faint = all("body *").filter(e => own(e) && e.checkVisibility() && !e.matches("script")).map(e => {
      const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
      return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.className + " " + text(e)];
    }).filter(([contrast]) => contrast < 4.5);
    // Elements that a program's text might make.
    seen.made = all("img, iframe, link, object, embed, [onerror]").map(e => e.outerHTML);
    seen.scripts = all("script").length;
    seen.resources = performance.getEntriesByType("resource").map(entry => entry.name);
  } catch (error) {
    complaints.push(`the use of the page failed: ${error.stack}`);
  }
  seen.complaints = complaints;
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen).replace(/[<>&\u00a0]/g, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  document.body.append(out);
})();
