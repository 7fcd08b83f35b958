// The sentence browser: chooses, sorts and searches sentences, and shows translations step by step.
// Works from disk, without a network: data are scripts that call `sentenceBrowser.add`. What is
// chosen stands in the address after #, so that a view can be kept and sent.
const sentenceBrowser = (() => {
  const byId = (id) => document.getElementById(id);
  const ROWS = 12; // passes that are shown below each other

  let data = null; // of the test set
  let listed = []; // numbers of its sentences
  let current = null; // the one that is shown
  let step = null; // null: the last one
  let address = "";

  /** An element with attributes (`on…` are listeners) and children; those that are null are left out. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  // Files of data, each loaded once

  const files = new Map();
  function load(file) {
    if (!files.has(file)) {
      const found = {};
      files.set(file, found);
      found.content = new Promise((done) => (found.done = done));
      document.head.append(element("script", { src: file, onerror: () => found.done(null) }));
    }
    return files.get(file).content;
  }
  const add = (file, content) => files.get(file).done(content);

  // Words and how they differ

  const WORD =
    /(\s*)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\S)/gu;
  const pieces = (text) => [...text.matchAll(WORD)].map(([, space, word]) => ({ space, word }));
  const words = (text) => pieces(text).map((piece) => piece.word);

  /** Pairs of places [i, j] of a longest common subsequence of two lists of words. */
  function common(first, second) {
    const longest = Array.from({ length: first.length + 1 }, () => Array(second.length + 1).fill(0));
    for (let i = first.length - 1; i >= 0; i--)
      for (let j = second.length - 1; j >= 0; j--)
        if (first[i] === second[j]) longest[i][j] = longest[i + 1][j + 1] + 1;
        else longest[i][j] = Math.max(longest[i + 1][j], longest[i][j + 1]);
    const pairs = [];
    for (let i = 0, j = 0; i < first.length && j < second.length; ) {
      if (first[i] === second[j]) pairs.push([i++, j++]);
      else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
      else j++;
    }
    return pairs;
  }

  /** The place of the reference, from a place on, that shares most words with a text, in order. */
  function nearest(text, references, from) {
    const ours = words(text);
    const alike = references.slice(from).map((reference) => {
      const its = words(reference);
      return common(ours, its).length / Math.max(ours.length + its.length, 1);
    });
    return from + alike.indexOf(Math.max(...alike));
  }

  // its direction is given, so that `auto` of a text around it goes by the words of the text
  const hidden = (text) => element("span", { class: "hidden", lang: "en", dir: "ltr" }, text);

  /** A text whose words are marked where they differ from another text, or match the search. */
  function marked(text, other = null) {
    const ours = pieces(text);
    const its = other === null ? [] : words(other);
    const pairs = new Map(common(ours.map((piece) => piece.word), its));
    const line = document.createDocumentFragment();
    let due = 0;
    const missing = (until) => {
      for (; due < until; due++)
        line.append(" ", element("span", { class: "missing" }, hidden("missing: "), its[due]));
    };
    ours.forEach(({ space, word }, place) => {
      if (pairs.has(place)) {
        missing(pairs.get(place));
        due++;
      }
      const looks = [
        other !== null && !pairs.has(place) && "extra",
        place > 0 && ours[place - 1].word === word && /[\p{L}\p{N}]/u.test(word) && "repeated",
        queried().some((each) => word.toLowerCase().includes(each)) && "found",
      ].filter(Boolean);
      line.append(space, looks.length ? element("span", { class: looks.join(" ") }, word) : word);
    });
    missing(its.length);
    return line;
  }

  // What is chosen

  const nameOf = (system) => `${system.system}/${system.decoding}`;
  const shown = () =>
    ["a", "b"].map((id) => data.systems.find((system) => nameOf(system) === byId(id).value));
  const queried = () => byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(1)}`;
  const length = (number) => words(data.sources[number]).length;
  const ORDERS = {
    gain: (number, a, b) => a.bleu[number] - b.bleu[number],
    loss: (number, a, b) => b.bleu[number] - a.bleu[number],
    longest: (number) => -length(number),
    shortest: length,
    repeated: (number, a, b) => -a.repeated[number] - b.repeated[number],
    number: (number) => number,
  };

  /** List the sentences that were searched for, in the order that was chosen. */
  function list() {
    if (!data) return;
    const [a, b] = shown();
    const key = ORDERS[byId("order").value];
    const found = (number) => {
      const outputs = [a.outputs[number], b.outputs[number]];
      if (byId("differing").checked && outputs[0] === outputs[1]) return false;
      const texts = [data.sources[number], ...data.references[number], ...outputs];
      const text = texts.join("\n").toLowerCase();
      return queried().every((word) => text.includes(word));
    };
    listed = [...data.sources.keys()].filter(found);
    listed.sort((one, other) => key(one, a, b) - key(other, a, b) || one - other);
    const gains = listed.map((number) => b.bleu[number] - a.bleu[number]);
    byId("list").replaceChildren(...listed.map((number, at) => row(number, gains[at], a, b)));
    const better = gains.filter((gain) => gain > 0).length;
    const worse = gains.filter((gain) => gain < 0).length;
    byId("summary").textContent = listed.length
      ? `${listed.length} of ${data.sources.length} sentences: B is better on ${better}, worse on ` +
        `${worse}; mean gain ${signed(mean(gains))}.`
      : "No sentence has all of these words.";
    choose(listed.includes(current) ? current : (listed[0] ?? null));
  }

  function row(number, gain, a, b) {
    const numbers = [
      element("span", {}, `${number + 1}`),
      element("b", { class: gain > 0 ? "up" : gain < 0 ? "down" : "" }, signed(gain)),
      element("span", {}, `${a.bleu[number].toFixed(0)} → ${b.bleu[number].toFixed(0)}`),
    ];
    const attributes = { role: "option", id: `sentence-${number}`, "data-number": number };
    const text = element("p", { class: "text", dir: "auto" }, data.sources[number]);
    return element("li", attributes, text, element("p", { class: "numbers" }, ...numbers));
  }

  /** Show a sentence. */
  function choose(number) {
    current = number;
    for (const option of byId("list").children) {
      const chosen = Number(option.dataset.number) === number;
      option.setAttribute("aria-selected", chosen);
      if (!chosen) continue;
      byId("list").setAttribute("aria-activedescendant", option.id);
      const [box, own] = [byId("list"), option].map((each) => each.getBoundingClientRect());
      if (own.top < box.top || own.bottom > box.bottom)
        byId("list").scrollTop += own.top - box.top - box.height / 3;
    }
    byId("sentence").replaceChildren(...(number === null ? [] : sentence()));
    keep();
  }

  function sentence() {
    const [source, target] = data.languages;
    const references = data.references[current];
    const counted = data.uncounted.includes(current) ? 1 : 0; // the first one that BLEU is against
    const near = shown().map((system) => nearest(system.outputs[current], references, counted));
    const tagged = (reference, number) => {
      const letters = ["A", "B"].filter((_, which) => near[which] === number).join(" and ");
      const tags = [
        number < counted && data.why_uncounted,
        letters && references.length > 1 && `nearest to ${letters}`,
      ].filter(Boolean);
      const said = tags.map((tag) => element("span", { class: "tag", lang: "en" }, tag));
      return element("li", { lang: target, dir: "auto" }, marked(reference), ...said);
    };
    const move = (text, by) => {
      const to = listed[listed.indexOf(current) + by];
      const label = by < 0 ? "Sentence before" : "Next sentence";
      const attributes = { "aria-label": label, disabled: to === undefined, onclick: () => choose(to) };
      return element("button", { type: "button", ...attributes }, text);
    };
    const title = `Sentence ${current + 1} of ${data.sentences.toLocaleString("en")}`;
    return [
      element("header", {}, element("h2", {}, title), move("‹", -1), move("›", 1)),
      element("p", { class: "name" }, "Source"),
      element("p", { class: "running", lang: source, dir: "auto" }, marked(data.sources[current])),
      element("p", { class: "name" }, "References"),
      element("ol", { class: "references" }, ...references.map(tagged)),
      ...shown().map((system, which) => translation(system, which, references[near[which]])),
    ];
  }

  function translation(system, which, reference) {
    const text = system.outputs[current];
    const others = { nothing: null, reference, other: shown()[1 - which].outputs[current] };
    const numbers = [
      `BLEU ${system.bleu[current].toFixed(1)}`,
      `chrF2 ${system.chrf[current].toFixed(1)}`,
      `length ratio ${system.ratio[current].toFixed(2)}`,
      `passes ${system.passes[current]}`,
      `repeated ${system.repeated[current]}`,
    ];
    const steps = element("div");
    if (system.steps)
      load(system.steps).then((traces) => {
        const traced = traces?.[current];
        if (traced) steps.replaceChildren(...stepper(system, traced));
      });
    else if (system.command) steps.append("Steps: ", element("code", {}, system.command));
    else steps.append("Its steps cannot be told from each other.");
    const running = element("p", { class: "running", lang: data.languages[1], dir: "auto" });
    if (system.lost[current]) running.append(`Not translated: ${system.lost[current]}.`);
    else running.append(text ? marked(text, others[byId("against").value]) : "(empty)");
    const link = element("a", { href: system.page }, system.system);
    const decoding = element("small", {}, `${system.decoding}, seed ${system.seed}`);
    return element(
      "article",
      { "data-system": nameOf(system) },
      element("h3", {}, "AB"[which], link, decoding),
      element("p", { class: "numbers" }, ...numbers.map((each) => element("span", {}, each))),
      running,
      steps,
    );
  }

  // Steps

  /** Tokens, their probabilities in percent, and what happened to them, after each pass. */
  function unfold([positions, , passes]) {
    let tokens = Array(positions).fill(null);
    let percentages = Array(positions).fill(null);
    return passes.map(([chosen, its, found, masked = chosen]) => {
      const before = tokens;
      [tokens, percentages] = [[...tokens], [...percentages]];
      chosen.forEach((place, number) => {
        tokens[place] = its[number];
        percentages[place] = found[number];
      });
      return { before, tokens, percentages, now: new Set(chosen), masked: new Set(masked) };
    });
  }

  /** A slider over the steps of a translation, and its tokens after each of them. */
  function stepper(system, traced) {
    const passes = unfold(traced);
    const grown = passes[0].masked.size < traced[0]; // from left to right, at least at first
    const below = passes.length <= ROWS && !grown; // so that each stays when the next one is shown
    const rows = passes.map((pass, number) => {
      const until = grown ? pass.tokens.findLastIndex((token) => token !== null) + 1 : traced[0];
      const cells = pass.tokens.slice(0, until).map((_, place) => tokenCell(system, pass, place));
      return element("tr", {}, element("th", { scope: "row" }, `step ${number + 1}`), ...cells);
    });
    const label = `Steps of ${nameOf(system)}`;
    const output = element("output");
    const attributes = { type: "range", min: 1, max: passes.length, "aria-label": label };
    const oninput = () => go(Number(slider.value), [slider]);
    const slider = element("input", { ...attributes, oninput });
    slider.show = (number) => {
      slider.value = number;
      const at = Number(slider.value);
      output.textContent = `step ${at} of ${passes.length}, ${passes[at - 1].now.size} chosen`;
      rows.forEach((each, place) => (each.hidden = below ? place >= at : place !== at - 1));
    };
    slider.show(step ?? passes.length);
    const table = element("table", {}, element("tbody", {}, ...rows));
    const differs = "They were decoded again in another batch and end in another translation.";
    return [
      element("div", { class: "control", hidden: passes.length < 2 && "" }, slider, output),
      element("div", { class: "steps", tabindex: 0, role: "region", "aria-label": label }, table),
      traced[1] ? differs : "",
    ];
  }

  function tokenCell(system, pass, place) {
    const [token, before] = [pass.tokens[place], pass.before[place]];
    if (token === null) return element("td", { class: "token mask" }, "▢", hidden("masked"));
    const replaced = pass.now.has(place) && before !== null && before !== token;
    const now = replaced || (pass.now.has(place) && pass.masked.has(place));
    const merged = system.frames && (token === "" || (place > 0 && pass.tokens[place - 1] === token));
    const percentage = pass.percentages[place];
    const look = `token${now ? " now" : ""}${merged ? " merged" : ""}`;
    return element(
      "td",
      { class: look, style: `--unsure: ${100 - percentage}` },
      replaced ? element("s", {}, before || "∅") : null,
      element("span", {}, token || "∅"),
      element("small", {}, `${percentage}%`),
      hidden(replaced ? "replaced" : now ? "chosen" : merged ? "merged" : "kept"),
    );
  }

  function go(number, sliders) {
    step = number;
    for (const slider of sliders) slider.show(step);
    keep();
  }

  /** Move every slider of the sentence to the step before or after that of the longest one. */
  function shift(by) {
    const sliders = [...byId("sentence").querySelectorAll('input[type="range"]')];
    const last = Math.max(...sliders.map((slider) => Number(slider.max)));
    if (sliders.length) go(Math.min(Math.max((step ?? last) + by, 1), last), sliders);
  }

  // The test set and the address

  function options(select, wanted) {
    const named = data.systems.map((system) => {
      const text = `${system.system}, ${system.decoding} (${mean(system.bleu).toFixed(1)})`;
      return element("option", { value: nameOf(system) }, text);
    });
    select.replaceChildren(...named);
    select.value = wanted;
  }

  async function open(wanted) {
    const select = byId("test-set");
    const chosen = select.selectedOptions[0];
    const found = await load(chosen.dataset.file);
    if (select.selectedOptions[0] !== chosen) return; // another one was chosen in the meantime
    data = found;
    if (data === null) {
      for (const id of ["list", "sentence"]) byId(id).replaceChildren(); // of another one
      byId("summary").textContent = `${chosen.dataset.file} cannot be read; make the report again.`;
      return;
    }
    const known = (id) => data.systems.map(nameOf).find((name) => name === wanted.get(id));
    const b = known("b") ?? data.chosen[1];
    options(byId("a"), known("a") ?? data.chosen.find((name) => name !== b) ?? b);
    options(byId("b"), b);
    step = Number(wanted.get("step")) || null;
    current = wanted.has("sentence") ? Number(wanted.get("sentence")) - 1 : null;
    list();
  }

  let waiting = null;
  /** Write what is chosen into the address, once nothing has changed for a moment. */
  function keep() {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const kept = new URLSearchParams(new FormData(byId("choice")));
      if (current !== null) kept.set("sentence", current + 1);
      if (step !== null) kept.set("step", step);
      address = `#${kept}`;
      location.replace(address);
    }, 150);
  }

  function restore() {
    if (location.hash === address) return;
    if (location.hash && !location.hash.includes("=")) return; // a place of the page, no choice
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const id of ["test-set", "order", "against"]) {
      const known = [...byId(id).options].map((option) => option.value);
      if (known.includes(wanted.get(id))) byId(id).value = wanted.get(id);
    }
    byId("query").value = wanted.get("query") ?? "";
    byId("differing").checked = wanted.has("differing");
    open(wanted);
  }

  function start() {
    byId("choice").addEventListener("submit", (event) => event.preventDefault());
    byId("choice").addEventListener("input", (event) => {
      if (["test-set", "order"].includes(event.target.id)) current = null;
      if (event.target.id === "test-set") open(new URLSearchParams());
      else list();
    });
    byId("swap").addEventListener("click", () => {
      [byId("a").value, byId("b").value] = [byId("b").value, byId("a").value];
      list();
    });
    byId("list").addEventListener("click", (event) => {
      const chosen = event.target.closest("[data-number]");
      if (!chosen) return;
      choose(Number(chosen.dataset.number));
      const below = byId("sentence").getBoundingClientRect().top > innerHeight / 2;
      if (below) byId("sentence").scrollIntoView(); // on a narrow page
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !data) return;
      if (event.target.matches("input, select")) return;
      const inList = event.target === byId("list");
      const moves = { j: 1, k: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1 }) };
      const shifts = event.target.closest(".steps") ? {} : { ArrowLeft: -1, ArrowRight: 1 };
      const to = listed[listed.indexOf(current) + moves[event.key]];
      if (event.key === "/") byId("query").focus();
      else if (event.key in shifts) shift(shifts[event.key]);
      else if (to !== undefined) choose(to);
      else return;
      event.preventDefault();
    });
    window.addEventListener("hashchange", restore);
    restore();
    if (!files.size) open(new URLSearchParams());
  }

  document.addEventListener("DOMContentLoaded", start);
  return { add };
})();
