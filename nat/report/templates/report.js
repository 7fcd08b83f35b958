// Sorting and searching tables, choosing curves, copying commands. Works from disk.

// By the number that a cell begins with, else by its text; empty cells come last.
function sort(heading) {
  const table = heading.closest("table");
  const down = heading.ariaSort === "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.ariaSort = null;
  heading.ariaSort = down ? "descending" : "ascending";
  table.classList.add("sorted");
  const keyed = [...table.tBodies[0].rows].map((row) => {
    const text = row.cells[heading.cellIndex].textContent.trim();
    const number = Number.parseFloat(text.replaceAll(/[,[]/g, "").replace("−", "-"));
    return { row, text, number, rank: text === "" ? 2 : Number.isNaN(number) ? 1 : 0 };
  });
  const compare = (a, b) => (a.rank ? a.text.localeCompare(b.text) : a.number - b.number);
  keyed.sort((a, b) => a.rank - b.rank || compare(a, b) * (down ? -1 : 1));
  table.tBodies[0].append(...keyed.map(({ row }) => row));
}

// Every word must occur in a row.
function filter(search) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...document.querySelectorAll("tbody tr")];
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  search.nextElementSibling.value = words.length ? `${shown} of ${rows.length} rows` : "";
}

function copy(button) {
  const code = button.previousElementSibling;
  const say = (done) => () => (button.textContent = done);
  getSelection().selectAllChildren(code); // for where a browser does not allow to copy
  navigator.clipboard.writeText(code.textContent).then(say("copied"), say("selected"));
}

document.addEventListener("click", ({ target }) => {
  if (target.matches("thead button")) sort(target.closest("th"));
  if (target.matches("code + button")) copy(target);
});
document.addEventListener("input", ({ target }) => {
  if (target.id === "search") filter(target);
  else document.getElementById(target.value).toggleAttribute("hidden", !target.checked);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.id === "search") return;
  event.preventDefault();
  document.getElementById("search").focus();
});
