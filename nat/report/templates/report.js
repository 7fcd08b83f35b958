// Sorting and searching tables, and where a number comes from. Works from disk, without a network.
(() => {
  // Sorting: numbers by data-sort, texts as they are; what has no number comes last.
  const key = (row, at) => row.cells[at].dataset.sort ?? row.cells[at].textContent.trim();
  function compare(first, second) {
    const [a, b] = [Number.parseFloat(first), Number.parseFloat(second)];
    return Number.isNaN(a) ? first.localeCompare(second) : a - b;
  }
  function sort(heading) {
    const table = heading.closest("table");
    const down = heading.ariaSort === "ascending";
    for (const other of table.querySelectorAll("th[aria-sort]")) other.ariaSort = null;
    heading.ariaSort = down ? "descending" : "ascending";
    table.classList.add("sorted");
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, heading.cellIndex), row]);
    const rank = ([text]) => (text === "" ? 2 : Number.isNaN(Number.parseFloat(text)) ? 1 : 0);
    rows.sort(
      (one, other) =>
        rank(one) - rank(other) || compare(one[0], other[0]) * (down ? -1 : 1),
    );
    table.tBodies[0].append(...rows.map(([, row]) => row));
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
  function show(number) {
    const { numbers, shared } = JSON.parse(document.getElementById("numbers").textContent);
    const { title, lines, shared: groups } = numbers[number];
    dialog.querySelector("h2").textContent = title;
    const list = dialog.querySelector("dl");
    list.replaceChildren();
    for (const [term, text, how] of [...lines, ...groups.flatMap((at) => shared[at])]) {
      const name = document.createElement("dt");
      const value = document.createElement("dd");
      const inner = document.createElement(how === "code" ? "code" : how ? "a" : "span");
      if (inner.tagName === "A") inner.href = how;
      name.textContent = term;
      inner.textContent = text;
      value.append(inner);
      list.append(name, value);
    }
    dialog.showModal();
  }
  document.addEventListener("click", (event) => {
    const heading = event.target.closest("thead th button");
    const number = event.target.closest("button[data-number]");
    if (heading) sort(heading.closest("th"));
    if (number) show(Number(number.dataset.number));
    if (event.target === dialog) dialog.close();
  });
})();
