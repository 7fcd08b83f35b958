// Sorting, searching, details of numbers, charts and the theme. Works from disk, without a network.
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Theme: as the system has it, light, dark.
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
  const button = document.getElementById("theme");
  const named = () => (button.textContent = dark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // not kept, where files may store nothing
    }
    named();
    draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    named();
    draw();
  });
  named();

  // Charts: colours of axes and text are those of the page.
  const specifications = all("script[data-chart]").map((script) => [
    script.dataset.chart,
    JSON.parse(script.textContent),
  ]);
  function draw() {
    if (!window.vegaEmbed) return;
    const text = getComputedStyle(document.body).color;
    const line = getComputedStyle(document.querySelector("header.bar")).borderBottomColor;
    const config = {
      background: "transparent",
      axis: { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line },
      legend: { labelColor: text, titleColor: text },
      title: { color: text },
      header: { labelColor: text, titleColor: text },
      view: { stroke: line },
      font: "system-ui, sans-serif",
    };
    for (const [id, specification] of specifications)
      window.vegaEmbed(`#${id}`, specification, { config, actions: false, renderer: "svg" });
  }
  draw();
  document.addEventListener("unpacked", draw); // the libraries of a packed copy come later

  // Sorting: numbers by data-sort, texts as they are; what has no number comes last.
  const key = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.sort ?? cell.textContent.trim();
  };
  const compare = (first, second, down) => {
    const [a, b] = [Number.parseFloat(first), Number.parseFloat(second)];
    if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
    const order = Number.isNaN(a) ? first.localeCompare(second) : a - b;
    return down ? -order : order;
  };
  function sort(heading) {
    const table = heading.closest("table");
    const at = Number(heading.dataset.at ?? heading.cellIndex);
    const down = heading.getAttribute("aria-sort") === "ascending";
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.classList.add("sorted");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row, at), row]);
    const [full, empty] = [rows.filter(([k]) => k !== ""), rows.filter(([k]) => k === "")];
    full.sort(([a], [b]) => compare(a, b, down));
    body.append(...[...full, ...empty].map(([, row]) => row));
  }
  document.addEventListener("click", (event) => {
    const heading = event.target.closest("table.sortable th button");
    if (heading) sort(heading.closest("th"));
  });

  // Searching: every word must occur in a row, or in a card of a board.
  function filter(input) {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const target = document.getElementById(input.dataset.filters);
    const rows = all("tbody tr, li.card", target);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    const count = document.querySelector(`[data-count="${input.dataset.filters}"]`);
    if (count) count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  }
  const searches = all("input[data-filters]");
  searches.forEach((input) => input.addEventListener("input", () => filter(input)));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    const seen = searches.filter((input) => input.checkVisibility());
    const first = seen.find((input) => input.getBoundingClientRect().bottom > 0) ?? seen[0];
    if (first) {
      event.preventDefault();
      first.focus();
    }
  });

  // Details: where a number comes from. Each is [term, text, address, whether it is code].
  const data = document.getElementById("numbers");
  const { numbers, shared } = data ? JSON.parse(data.textContent) : { numbers: [], shared: [] };
  const dialog = document.getElementById("details");
  document.addEventListener("click", (event) => {
    const chosen = event.target.closest("button[data-number]");
    if (!chosen) return;
    const { title, lines, shared: groups } = numbers[Number(chosen.dataset.number)];
    dialog.querySelector("h2").textContent = title;
    const list = dialog.querySelector("dl");
    list.replaceChildren();
    for (const [term, text, address, code] of [...lines, ...groups.flatMap((at) => shared[at])]) {
      const name = document.createElement("dt");
      name.textContent = term;
      const value = document.createElement("dd");
      const inner = document.createElement(address ? "a" : code ? "code" : "span");
      if (address) inner.href = address;
      inner.textContent = text;
      value.append(inner);
      list.append(name, value);
    }
    dialog.showModal();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
})();
