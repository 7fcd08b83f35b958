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
      if (inner.tagName === "A") inner.href = how;
      [name.textContent, inner.textContent] = [term, text];
      value.append(inner);
      return [name, value];
    });
    dialog.querySelector("dl").replaceChildren(...said);
    dialog.showModal();
  }
  document.addEventListener("click", ({ target }) => {
    const heading = target.closest("thead th button");
    const number = target.closest("button[data-details]");
    if (heading) sort(heading.closest("th"));
    if (number) show(JSON.parse(number.dataset.details));
    if (target === dialog) dialog.close();
  });
})();
