// The theme that was chosen before, set before anything is drawn.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // a browser may refuse storage to files
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
