// The sentence browser: chooses, sorts and searches sentences, and shows translations step by step.
// Works from disk, without a network: data are scripts that call `sentenceBrowser.add`. What is
// chosen stands in the address after #, so that a view can be kept and sent.
const sentenceBrowser = (() => {
  const byId = (id) => document.getElementById(id);

  let data = null; // of the test set
  let listed = []; // numbers of its sentences
  let current = null; // the one that is shown
  let step = null; // null: the last one

  // A template of HTML: values are escaped, unless they are HTML (or lists of it) themselves.
  class Html extends String {}
  const escaped = (value) => {
    if (Array.isArray(value)) return value.map(escaped).join("");
    if (value instanceof Html) return value;
    return `${value ?? ""}`.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
  };
  const html = ({ raw }, ...values) => new Html(String.raw({ raw }, ...values.map(escaped)));

  // Files of data; one that cannot be read has no content.
  const files = new Map();
  const add = (file, content) => files.set(file, content);
  function load(file, then) {
    const script = document.createElement("script");
    script.src = file;
    script.onload = then;
    script.onerror = () => (add(file, null), then());
    document.head.append(script);
  }

  // Words and how they differ

  const WORD =
    /(\s*)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\S)/gu;
  const words = (text) => [...text.matchAll(WORD)].map(([, , word]) => word);

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
    const alike = references.slice(from).map((each) => {
      const [ours, its] = [words(text), words(each)];
      return common(ours, its).length / Math.max(ours.length + its.length, 1);
    });
    return from + alike.indexOf(Math.max(...alike));
  }

  // its direction is given, so that `auto` of a text around it goes by the words of the text
  const hidden = (text) => html`<span class="hidden" lang="en" dir="ltr">${text}</span>`;

  /** A text whose words are marked where they differ from another text, or match the search. */
  function marked(text, other = null) {
    const [ours, its] = [words(text), other === null ? [] : words(other)];
    const pairs = new Map(common(ours, its));
    let due = 0;
    const missing = (until) =>
      its.slice(due, (due = until)).map((word) => html` <span class="missing">${hidden("missing: ")}${word}</span>`);
    const line = [...text.matchAll(WORD)].map(([, space, word], place) => {
      const before = pairs.has(place) ? missing(pairs.get(place)) : [];
      if (pairs.has(place)) due++;
      const looks = [
        other !== null && !pairs.has(place) && "extra",
        place > 0 && ours[place - 1] === word && /[\p{L}\p{N}]/u.test(word) && "repeated",
        queried().some((each) => word.toLowerCase().includes(each)) && "found",
      ].filter(Boolean);
      return html`${before}${space}${looks.length ? html`<span class="${looks.join(" ")}">${word}</span>` : word}`;
    });
    return [line, missing(its.length)];
  }

  // What is chosen

  const nameOf = (system) => `${system.system}/${system.decoding}`;
  const chosen = () => ["a", "b"].map((id) => data.systems.find((each) => nameOf(each) === byId(id).value));
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
    const [a, b] = chosen();
    const key = ORDERS[byId("order").value];
    const matches = (number) => {
      const outputs = [a.outputs[number], b.outputs[number]];
      const text = [data.sources[number], ...data.references[number], ...outputs].join("\n").toLowerCase();
      return queried().every((word) => text.includes(word));
    };
    listed = [...data.sources.keys()].filter(matches);
    listed.sort((one, other) => key(one, a, b) - key(other, a, b) || one - other);
    const gains = listed.map((number) => b.bleu[number] - a.bleu[number]);
    const rows = listed.map((number, at) => {
      const look = gains[at] > 0 ? "up" : gains[at] < 0 ? "down" : "";
      return html`<li role="option" id="sentence-${number}" data-number="${number}">
        <p class="text" dir="auto">${data.sources[number]}</p>
        <p class="numbers"><span>${number + 1}</span><b class="${look}">${signed(gains[at])}</b>
        <span>${a.bleu[number].toFixed(0)} → ${b.bleu[number].toFixed(0)}</span></p></li>`;
    });
    byId("list").innerHTML = escaped(rows);
    const [better, worse] = [1, -1].map((sign) => gains.filter((gain) => gain * sign > 0).length);
    byId("summary").textContent = listed.length
      ? `${listed.length} of ${data.sources.length} sentences: B is better on ${better}, worse on ` +
        `${worse}; mean gain ${signed(mean(gains))}.`
      : "No sentence has all of these words.";
    choose(listed.includes(current) ? current : (listed[0] ?? null));
  }

  /** Choose a sentence. */
  function choose(number) {
    current = number;
    for (const option of byId("list").children) {
      const own = Number(option.dataset.number) === number;
      option.setAttribute("aria-selected", own);
      if (!own) continue;
      byId("list").setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    }
    show();
  }

  /** Show the chosen sentence at the chosen step; traces are loaded when they are looked at. */
  function show() {
    const pair = current === null ? [] : chosen();
    for (const { steps } of pair) if (steps && !files.has(steps)) load(steps, show);
    const passes = pair.map((system) => unfold(files.get(system.steps)?.[current]));
    const last = Math.max(0, ...passes.map((each) => each.length));
    const at = Math.min(step ?? last, last);
    byId("steps").hidden = last < 2;
    Object.assign(byId("step"), { max: last, value: at });
    byId("steps").querySelector("output").textContent = `step ${at} of ${last}`;
    byId("sentence").innerHTML = current === null ? "" : sentence(pair, passes, at);
    keep();
  }

  function sentence(pair, passes, at) {
    const [source, target] = data.languages;
    const references = data.references[current];
    const counted = data.uncounted.includes(current) ? 1 : 0; // the first one that BLEU is against
    const near = pair.map((system) => nearest(system.outputs[current], references, counted));
    const tagged = references.map((reference, number) => {
      const letters = ["A", "B"].filter((_, which) => near[which] === number).join(" and ");
      const tags = [
        number < counted && "sacreBLEU and chrF2 use it, this BLEU does not",
        letters && references.length > 1 && `nearest to ${letters}`,
      ].filter(Boolean);
      const said = tags.map((tag) => html`<span class="tag" lang="en">${tag}</span>`);
      return html`<li lang="${target}" dir="auto">${marked(reference)}${said}</li>`;
    });
    const others = pair.map((system, which) => ({
      nothing: null,
      reference: references[near[which]],
      other: pair[1 - which].outputs[current],
    }));
    return html`<h2>Sentence ${current + 1} of ${data.sentences.toLocaleString("en")}</h2>
      <p class="name">Source</p>
      <p class="running" lang="${source}" dir="auto">${marked(data.sources[current])}</p>
      <p class="name">References</p>
      <ol>${tagged}</ol>
      ${pair.map((system, which) => {
        const other = others[which][byId("against").value];
        return translation(system, "AB"[which], other, passes[which], at);
      })}`;
  }

  function translation(system, letter, other, passes, at) {
    const [text, lost] = [system.outputs[current], system.lost[current]];
    const numbers = [
      `BLEU ${system.bleu[current].toFixed(1)}`,
      `chrF2 ${system.chrf[current].toFixed(1)}`,
      `length ratio ${system.ratio[current].toFixed(2)}`,
      `passes ${system.passes[current]}`,
      `repeated ${system.repeated[current]}`,
    ].map((each) => html`<span>${each}</span>`);
    const how = system.command ? html`Steps: <code>${system.command}</code>` : "It has no steps to show.";
    return html`<article data-system="${nameOf(system)}">
      <h3>${letter} <a href="${system.page}">${system.system}</a>
      <small>${system.decoding}, seed ${system.seed}</small></h3>
      <p class="numbers">${numbers}</p>
      <p class="running" lang="${data.languages[1]}" dir="auto">
      ${lost ? `Not translated: ${lost}.` : text ? marked(text, other) : "(empty)"}</p>
      ${passes.length ? steps(system, passes, Math.min(at, passes.length)) : system.steps ? "" : how}</article>`;
  }

  // Steps

  /** Tokens, their probabilities in percent, and what happened to them, after each pass. */
  function unfold(traced) {
    const [positions, differs, passes] = traced ?? [0, 0, []];
    let [tokens, percentages] = [Array(positions).fill(null), Array(positions).fill(null)];
    return passes.map(([chosen, texts, shares, masked = chosen]) => {
      const before = tokens;
      [tokens, percentages] = [[...tokens], [...percentages]];
      chosen.forEach((place, number) => {
        [tokens[place], percentages[place]] = [texts[number], shares[number]];
      });
      return { before, tokens, percentages, now: new Set(chosen), masked: new Set(masked), differs };
    });
  }

  /** The tokens after each pass until one of them. */
  function steps(system, passes, at) {
    const rows = passes.map((pass, number) => {
      const cells = pass.tokens.map((_, place) => token(system, pass, place));
      return html`<tr><th scope="row">step ${number + 1}</th>${cells}</tr>`;
    });
    const note = "They were decoded again in another batch and end in another translation.";
    return html`<div class="steps" tabindex="0" role="region" aria-label="Steps of ${nameOf(system)}">
      <table>${rows.slice(0, at)}</table></div>${passes[0].differs ? note : ""}`;
  }

  function token(system, pass, place) {
    const [text, before] = [pass.tokens[place], pass.before[place]];
    if (text === null) return html`<td class="token mask">▢${hidden("masked")}</td>`;
    const replaced = pass.now.has(place) && before !== null && before !== text;
    const now = replaced || (pass.now.has(place) && pass.masked.has(place));
    const merged = system.frames && (text === "" || (place > 0 && pass.tokens[place - 1] === text));
    const percentage = pass.percentages[place];
    const said = replaced ? "replaced" : now ? "chosen" : merged ? "merged" : "kept";
    return html`<td class="token${now ? " now" : ""}${merged ? " merged" : ""}" style="--unsure: ${100 - percentage}">
      ${replaced ? html`<s>${before || "∅"}</s>` : ""}<span>${text || "∅"}</span>
      <small>${percentage}%</small>${hidden(said)}</td>`;
  }

  // The test set and the address

  /** Choose an option, if there is one of this value. */
  function select(field, value) {
    if ([...field.options].some((option) => option.value === value)) field.value = value;
  }

  /** Show the test set that is chosen, with the systems, sentence and step that are wanted. */
  function open(wanted) {
    const { file } = byId("test-set").selectedOptions[0].dataset;
    if (!files.has(file)) return load(file, () => open(wanted));
    data = files.get(file);
    if (!data) return (byId("summary").textContent = `${file} cannot be read; make the report again.`);
    const options = data.systems.map((system) => {
      const text = `${system.system}, ${system.decoding} (${mean(system.bleu).toFixed(1)})`;
      return html`<option value="${nameOf(system)}">${text}</option>`;
    });
    for (const id of ["b", "a"]) {
      byId(id).innerHTML = escaped(options);
      const others = data.chosen.filter((name) => id === "b" || name !== byId("b").value);
      byId(id).value = others.at(-1) ?? data.chosen[0];
      select(byId(id), wanted.get(id));
    }
    step = Number(wanted.get("step")) || null;
    current = wanted.has("sentence") ? Number(wanted.get("sentence")) - 1 : null;
    list();
  }

  /** Write what is chosen into the address. */
  function keep() {
    const kept = new URLSearchParams(new FormData(byId("choice")));
    if (current !== null) kept.set("sentence", current + 1);
    if (step !== null) kept.set("step", step);
    history.replaceState(null, "", `#${kept}`);
  }

  function restore() {
    if (data && !location.hash.includes("=")) return; // a place of the page, no choice
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const id of ["test-set", "order", "against"]) select(byId(id), wanted.get(id));
    byId("query").value = wanted.get("query") ?? "";
    open(wanted);
  }

  function next(by) {
    const to = listed[listed.indexOf(current) + by];
    if (to !== undefined) choose(to);
  }

  function move(by) {
    step = Math.min(Math.max(Number(byId("step").value) + by, 1), Number(byId("step").max));
    show();
  }

  document.addEventListener("DOMContentLoaded", () => {
    byId("choice").addEventListener("submit", (event) => event.preventDefault());
    byId("choice").addEventListener("input", (event) => {
      if (["test-set", "order"].includes(event.target.id)) current = null;
      if (event.target.id === "test-set") open(new URLSearchParams());
      else list();
    });
    byId("step").addEventListener("input", () => move(0));
    document.addEventListener("click", (event) => {
      const { number, by } = event.target.closest("[data-number], [data-by]")?.dataset ?? {};
      if (by) next(Number(by));
      if (number === undefined) return;
      choose(Number(number));
      const below = byId("sentence").getBoundingClientRect().top > innerHeight / 2;
      if (below) byId("control").scrollIntoView(); // on a narrow page
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !data) return;
      if (event.target.matches("input, select")) return;
      const inList = event.target === byId("list");
      const moves = { j: 1, k: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1 }) };
      const shifts = event.target.closest(".steps") ? {} : { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key === "/") byId("query").focus();
      else if (event.key in shifts) move(shifts[event.key]);
      else if (event.key in moves) next(moves[event.key]);
      else return;
      event.preventDefault();
    });
    window.addEventListener("hashchange", restore);
    restore();
  });
  return { add };
})();
