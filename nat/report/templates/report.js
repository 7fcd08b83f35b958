// Sorting and searching tables, and where a number comes from. Works from disk, without a network.
(() => {
  // Sorting: by the number that a cell begins with, else by its text; empty cells come last.
  function sort(heading) {
    const table = heading.closest("table");
    const down = heading.ariaSort === "ascending";
    for (const other of table.querySelectorAll("th[aria-sort]")) other.ariaSort = null;
    heading.ariaSort = down ? "descending" : "ascending";
    table.classList.add("sorted");
    const keyed = [...table.tBodies[0].rows].map((row) => {
      const cell = row.cells[heading.cellIndex];
      const text = cell.textContent.trim();
      const number = Number.parseFloat(text.replaceAll(/[,[]/g, "").replace("−", "-"));
      return { row, text, number, rank: text === "" ? 2 : Number.isNaN(number) ? 1 : 0 };
    });
    const compare = (a, b) => (a.rank ? a.text.localeCompare(b.text) : a.number - b.number);
    keyed.sort((a, b) => a.rank - b.rank || compare(a, b) * (down ? -1 : 1));
    table.tBodies[0].append(...keyed.map(({ row }) => row));
  }

  // Searching: every word must occur in a row.
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...document.querySelectorAll("tbody tr")];
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    search.nextElementSibling.value = words.length ? `${shown} of ${rows.length} rows` : "";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === search) return;
    event.preventDefault();
    search.focus();
  });

  // Details: where a number comes from. Each is [term, text, "code" or the address it leads to].
  const dialog = document.getElementById("details");
  function show({ title, lines }) {
    dialog.querySelector("h2").textContent = title;
    const said = lines.flatMap(([term, text, how]) => {
      const [name, value] = ["dt", "dd"].map((tag) => document.createElement(tag));
      const inner = document.createElement(how === "code" ? "code" : how ? "a" : "span");
      if (inner.tagName === "A") inner.href = document.documentElement.dataset.root + how;
      [name.textContent, inner.textContent] = [term, text];
      value.append(inner);
      return [name, value];
    });
    dialog.querySelector("dl").replaceChildren(...said);
    dialog.showModal();
  }

  // Commands: copied by a button beside them.
  for (const code of document.querySelectorAll("code.command")) {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.textContent = "copy";
    button.addEventListener("click", () => {
      const say = (done) => () => (button.textContent = done);
      getSelection().selectAllChildren(code); // for where a browser does not allow to copy
      navigator.clipboard.writeText(code.textContent).then(say("copied"), say("selected"));
    });
    code.after(" ", button);
  }

  // Learning curves: those that a reader chooses, of one corpus or one measure, in one chart.
  const SVG = "http://www.w3.org/2000/svg";
  const [LEFT, RIGHT, TOP, BOTTOM, COLOURS] = [50, 860, 15, 290, 8];
  function shape(name, attributes, text = "") {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  }
  function ticks(last) {
    const size = 10 ** Math.floor(Math.log10(last));
    const step = [0.2, 0.5, 1, 2].find((each) => last / (each * size) <= 5) * size;
    return Array.from({ length: Math.ceil(last / step) + 1 }, (_, place) => place * step);
  }
  function draw(chart, curves, chosen) {
    const points = chosen.flatMap((name) => curves[name]);
    const [updates, levels] = [0, 1].map((axis) => ticks(Math.max(1, ...points.map((at) => at[axis]))));
    const x = (update) => LEFT + (update / updates.at(-1)) * (RIGHT - LEFT);
    const y = (bleu) => BOTTOM - (bleu / levels.at(-1)) * (BOTTOM - TOP);
    const drawn = levels.flatMap((bleu) => [
      shape("line", { x1: LEFT, x2: RIGHT, y1: y(bleu), y2: y(bleu) }),
      shape("text", { x: LEFT - 8, y: y(bleu) + 4, class: "number" }, bleu.toLocaleString("en")),
    ]);
    for (const update of updates)
      drawn.push(shape("text", { x: x(update), y: BOTTOM + 20 }, update.toLocaleString("en")));
    for (const name of chosen) {
      const look = `curve-${Object.keys(curves).indexOf(name) % COLOURS}`;
      const places = curves[name].map(([update, bleu]) => `${x(update)},${y(bleu)}`);
      const curve = shape("polyline", { points: places.join(" "), class: look });
      curve.append(shape("title", {}, name));
      drawn.push(curve);
    }
    chart.replaceChildren(...drawn);
  }
  for (const figure of document.querySelectorAll("[data-curves]")) {
    const groups = JSON.parse(figure.dataset.curves);
    const group = document.createElement("select");
    const names = Object.assign(document.createElement("div"), { className: "legend" });
    const chart = shape("svg", { viewBox: "0 0 900 320", role: "img", "aria-label": "Learning curves" });
    group.ariaLabel = "Shown";
    group.append(...Object.keys(groups).map((name) => new Option(name)));
    const redraw = () => {
      const chosen = [...names.querySelectorAll(":checked")].map((box) => box.value);
      draw(chart, groups[group.value], chosen);
    };
    const rename = () => {
      const labels = Object.keys(groups[group.value]).map((name, place) => {
        const label = Object.assign(document.createElement("label"), {
          className: `curve-${place % COLOURS}`,
        });
        const box = Object.assign(document.createElement("input"), {
          type: "checkbox",
          value: name,
          checked: place < COLOURS,
        });
        label.append(box, ` ${name}`);
        return label;
      });
      names.replaceChildren(...labels);
      redraw();
    };
    group.addEventListener("change", rename);
    names.addEventListener("change", redraw);
    figure.append(group, names, chart);
    rename();
  }

  document.addEventListener("click", ({ target }) => {
    const heading = target.closest("thead th button");
    const number = target.closest("button[data-details]");
    if (heading) sort(heading.closest("th"));
    if (number) show(JSON.parse(number.dataset.details));
    if (target === dialog) dialog.close();
  });
})();
