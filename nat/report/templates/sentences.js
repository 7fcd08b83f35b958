// The sentence browser: chooses, sorts and searches sentences, and shows translations step by step.
// Works from disk, without a network: data are scripts that call `sentenceBrowser.add`. What is
// chosen is the state of the form, and stands in the address after #, so a view can be kept and sent.
const sentenceBrowser = (() => {
  const byId = (id) => document.getElementById(id);
  const fields = document.forms.choice.elements;
  const files = new Map(); // of data
  let data; // of the test set
  let step = Infinity; // the last one

  // A template of HTML: values are escaped, unless they are HTML (or lists of it) themselves.
  class Html extends String {}
  const escaped = (value) => {
    if (Array.isArray(value)) return value.map(escaped).join("");
    if (value instanceof Html) return value;
    return `${value}`.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
  };
  const html = ({ raw }, ...values) => new Html(String.raw({ raw }, ...values.map(escaped)));

  /** Load a file of data once, then go on. */
  function load(file, then) {
    if (files.has(file)) return then();
    const onerror = () => (fields.summary.value = `${file} cannot be read; make the report again.`);
    const script = document.createElement("script");
    document.head.append(Object.assign(script, { src: file, onload: then, onerror }));
  }

  // Words and how they differ

  const WORD =
    /(\s*)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\S)/gu;
  const words = (text) => [...text.matchAll(WORD)].map(([, , word]) => word);

  /** Places of a longest common subsequence of two lists of words: first => second. */
  function common(first, second) {
    const longest = Array.from({ length: first.length + 1 }, () => Array(second.length + 1).fill(0));
    for (let i = first.length - 1; i >= 0; i--)
      for (let j = second.length - 1; j >= 0; j--)
        if (first[i] === second[j]) longest[i][j] = longest[i + 1][j + 1] + 1;
        else longest[i][j] = Math.max(longest[i + 1][j], longest[i][j + 1]);
    const pairs = new Map();
    for (let i = 0, j = 0; i < first.length && j < second.length; ) {
      if (first[i] === second[j]) pairs.set(i++, j++);
      else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
      else j++;
    }
    return pairs;
  }

  /** The place of the reference, from a place on, that shares most words with a text, in order. */
  function nearest(text, references, from) {
    const alike = references.slice(from).map((each) => {
      const [ours, its] = [words(text), words(each)];
      return common(ours, its).size / Math.max(ours.length + its.length, 1);
    });
    return from + alike.indexOf(Math.max(...alike));
  }

  /** A text whose words are marked where they differ from another text, or match the search. */
  function marked(text, other = null) {
    const [ours, its] = [words(text), words(other ?? "")];
    const pairs = common(ours, its);
    let due = 0;
    const missing = (until) =>
      its
        .slice(due, (due = until))
        .map((word) => html` <span class="missing" title="missing">${word}</span>`);
    const line = [...text.matchAll(WORD)].map(([, space, word], place) => {
      const before = pairs.has(place) ? missing(pairs.get(place)) : [];
      if (pairs.has(place)) due++;
      const looks = [
        other !== null && !pairs.has(place) && "extra",
        place > 0 && ours[place - 1] === word && /[\p{L}\p{N}]/u.test(word) && "repeated",
        searched().some((each) => word.toLowerCase().includes(each)) && "found",
      ].filter(Boolean);
      return html`${before}${space}<span class="${looks.join(" ")}">${word}</span>`;
    });
    return [line, missing(its.length)];
  }

  // The list

  const named = (wanted) => data.systems.find(({ name }) => name === wanted);
  const pair = () => [named(fields.a.value), named(fields.b.value)];
  const searched = () => fields.query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
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

  /** List the sentences that were searched for, in the order that was chosen, and show one. */
  function list(wanted) {
    const [a, b] = pair();
    const key = ORDERS[fields.order.value];
    const matches = (number) => {
      const outputs = [a.outputs[number], b.outputs[number]];
      const text = [data.sources[number], ...data.references[number], ...outputs].join("\n");
      return searched().every((word) => text.toLowerCase().includes(word));
    };
    const listed = [...data.sources.keys()].filter(matches);
    listed.sort((one, other) => key(one, a, b) - key(other, a, b) || one - other);
    const gains = listed.map((number) => b.bleu[number] - a.bleu[number]);
    const options = listed.map((number, at) => {
      const [before, after] = [a, b].map(({ bleu }) => bleu[number].toFixed(0));
      return html`<option value="${number + 1}" dir="auto">
        ${signed(gains[at])} (${before} → ${after}) ${data.sources[number]}</option>`;
    });
    fields.sentence.innerHTML = escaped(options);
    select(fields.sentence, wanted);
    const [better, worse] = [1, -1].map((sign) => gains.filter((gain) => gain * sign > 0).length);
    fields.summary.value = listed.length
      ? `${listed.length} of ${data.sources.length} sentences: B is better on ${better}, worse on ` +
        `${worse}; mean gain ${signed(mean(gains))}.`
      : "No sentence has all of these words.";
    show();
  }

  // The sentence

  /** Show the chosen sentence at the chosen step; traces are loaded when they are looked at. */
  function show() {
    const systems = fields.sentence.value ? pair() : [];
    for (const { steps } of systems) if (steps && !files.has(steps)) load(steps, show);
    const number = fields.sentence.value - 1;
    const passes = systems.map((system) => unfold(system, files.get(system.steps)?.[number]));
    const last = Math.max(0, ...passes.map((each) => each.length));
    const at = Math.min(step, last);
    byId("steps").hidden = last < 2;
    Object.assign(byId("step"), { max: last, value: at });
    fields.at.value = `step ${at} of ${last}`;
    byId("sentence").innerHTML = systems.length ? sentence(number, systems, passes, at) : "";
    const kept = new URLSearchParams(new FormData(document.forms.choice));
    if (step < last) kept.set("step", step);
    history.replaceState(null, "", `#${kept}`);
  }

  function sentence(number, systems, passes, at) {
    const [source, target] = data.languages;
    const references = data.references[number];
    const counted = data.uncounted.includes(number) ? 1 : 0; // the first one that BLEU is against
    const near = systems.map(({ outputs }) => nearest(outputs[number], references, counted));
    const tagged = references.map((reference, place) => {
      const letters = ["A", "B"].filter((_, side) => near[side] === place).join(" and ");
      const tags = [
        place < counted && "sacreBLEU and chrF2 use it, this BLEU does not",
        letters && references.length > 1 && `nearest to ${letters}`,
      ].filter(Boolean);
      const said = tags.map((tag) => html`<span class="tag" lang="en">${tag}</span>`);
      return html`<li lang="${target}" dir="auto">${marked(reference)}${said}</li>`;
    });
    const translations = systems.map((system, side) => {
      const [text, lost] = [system.outputs[number], system.lost[number]];
      const other = { reference: references[near[side]], other: systems[1 - side].outputs[number] };
      const shown = text ? marked(text, other[fields.against.value]) : "(empty)";
      const command = html`Steps: <code>${system.command}</code>`;
      const how = system.command ? command : "It has no steps to show.";
      const rows = html`<table class="steps">${passes[side].slice(0, at)}</table>`;
      return html`<article data-system="${system.name}">
        <h3>${"AB"[side]} <a href="${system.page}">${system.system}</a>
        <small>${system.decoding}, seed ${system.seed}</small></h3>
        <p class="numbers"><span>BLEU ${system.bleu[number].toFixed(1)}</span>
        <span>chrF2 ${system.chrf[number].toFixed(1)}</span>
        <span>length ratio ${system.ratio[number].toFixed(2)}</span>
        <span>passes ${system.passes[number]}</span> <span>repeated ${system.repeated[number]}</span></p>
        <p class="running" lang="${target}" dir="auto">
        ${lost ? `Not translated: ${lost}.` : shown}</p>
        <div class="scroll" tabindex="0">${system.steps ? rows : how}</div>
        ${passes[side].note ?? ""}</article>`;
    });
    return html`<h2>Sentence ${number + 1} of ${data.sentences.toLocaleString("en")}</h2>
      <p class="name">Source</p>
      <p class="running" lang="${source}" dir="auto">${marked(data.sources[number])}</p>
      <p class="name">References</p>
      <ol>${tagged}</ol>
      ${translations}`;
  }

  /** A row of tokens for each pass of a translation, from its trace; none without one. */
  function unfold(system, traced = { passes: [], positions: 0 }) {
    const [tokens, shares] = [Array(traced.positions).fill(null), []];
    const rows = traced.passes.map((pass, number) => {
      const before = [...tokens];
      pass.chosen.forEach((place, which) => {
        [tokens[place], shares[place]] = [pass.tokens[which], pass.probabilities[which]];
      });
      const cells = tokens.map((text, place) => {
        if (text === null) return html`<td class="token masked" title="masked">▢</td>`;
        const now = pass.chosen.includes(place);
        const replaced = now && before[place] !== null && before[place] !== text;
        const merged = system.frames && (text === "" || (place > 0 && tokens[place - 1] === text));
        const chosen = now && pass.masked.includes(place);
        const said = replaced ? "replaced" : chosen ? "chosen" : merged ? "merged" : "kept";
        const share = Math.round(100 * shares[place]);
        return html`<td class="token ${said}" title="${said}" style="--unsure: ${100 - share}">
          ${replaced ? html`<s>${before[place] || "∅"}</s>` : ""}<span>${text || "∅"}</span>
          <small>${share}%</small></td>`;
      });
      return html`<tr><th>step ${number + 1}</th>${cells}</tr>`;
    });
    const note = "They were decoded again in another batch and end in another translation.";
    return Object.assign(rows, traced.differs && { note });
  }

  // The form and the address

  /** Choose an option, or the first one if there is none of this value. */
  function select(field, value) {
    field.value = value;
    if (field.selectedIndex < 0) field.selectedIndex = 0;
  }

  /** Show the test set, systems, sentence and step that are wanted. */
  function open(wanted) {
    select(fields["test-set"], wanted.get("test-set"));
    const { file } = fields["test-set"].selectedOptions[0].dataset;
    load(file, () => {
      data = files.get(file);
      const options = data.systems.map(({ name, bleu }) => {
        const label = `${name.replace("/", ", ")} (${mean(bleu).toFixed(1)})`;
        return html`<option value="${name}">${label}</option>`;
      });
      fields.a.innerHTML = fields.b.innerHTML = escaped(options);
      select(fields.b, wanted.get("b") ?? data.chosen[1]);
      select(fields.a, wanted.get("a") ?? data.chosen.findLast((name) => name !== fields.b.value));
      for (const name of ["order", "against"]) select(fields[name], wanted.get(name));
      fields.query.value = wanted.get("query") ?? "";
      step = Number(wanted.get("step") ?? Infinity);
      list(wanted.get("sentence"));
    });
  }

  function restore() {
    if (data && !location.hash.includes("=")) return; // a place of the page, no choice
    open(new URLSearchParams(location.hash.slice(1)));
  }

  function next(by) {
    const { sentence } = fields;
    sentence.selectedIndex = Math.min(Math.max(sentence.selectedIndex + by, 0), sentence.length - 1);
    show();
  }

  function move(by) {
    const { value, max } = byId("step");
    const to = Math.max(Number(value) + by, 1);
    step = to < Number(max) ? to : Infinity;
    show();
  }

  const KEYS = {
    j: () => next(1),
    k: () => next(-1),
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    "/": () => fields.query.focus(),
  };
  document.addEventListener("input", ({ target }) => {
    if (target.id === "step") move(0);
    else if (target.name === "sentence") show();
    else if (target.name === "test-set") open(new URLSearchParams({ "test-set": target.value }));
    else list(target.name === "order" ? null : fields.sentence.value);
  });
  document.addEventListener("click", ({ target }) => {
    if (target.type === "button") next(Number(target.value));
  });
  document.addEventListener("keydown", (event) => {
    const elsewhere = event.target.matches("input, select:not([size]), .scroll");
    if (elsewhere || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
    KEYS[event.key]();
    event.preventDefault();
  });
  window.addEventListener("hashchange", restore);
  restore();
  return { add: (file, content) => files.set(file, content) };
})();
