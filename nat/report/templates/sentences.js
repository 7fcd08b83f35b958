// The sentence browser: chooses, sorts and searches sentences, and shows translations step by step.
// Works from disk, without a network: data are scripts that call `sentenceBrowser`. What is chosen
// stands in the address after #, so that a view can be kept and sent.
const sentenceBrowser = (() => {
  const byId = (id) => document.getElementById(id);
  const CHOSEN = ["test-set", "a", "b", "measure", "order", "against", "query"];
  const SHARED = ["outputs", "bleu", "chrf", "ratio", "repeated"];
  const ROWS = 12; // passes that are shown below each other

  // What is on the page: a test set, its systems A, B and others, and a sentence of it.
  let data = null;
  let others = [];
  let listed = [];
  let current = null;
  let step = null; // null: the last one
  let address = "";

  /** An element with attributes (`on…` are listeners) and children; null children are left out. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  /** Load a script once, and yield what it registers, at once or later. */
  const loading = new Map();
  const registered = new Map();
  function load(file, key) {
    if (!loading.has(file)) {
      loading.set(
        file,
        new Promise((done) => {
          registered.set(key, done);
          const script = element("script", { src: file });
          script.onerror = () => done(null);
          document.head.append(script);
        }),
      );
    }
    return loading.get(file);
  }
  const register = (key, content) => registered.get(key)?.(content);

  // Words and how they differ

  const WORD =
    /(\s*)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\S)/gu;
  const pieces = (text) => [...text.matchAll(WORD)].map(([, space, word]) => ({ space, word }));
  const words = (text) => pieces(text).map((piece) => piece.word);

  /** Pairs of places [i, j] of a longest common subsequence of two lists of words. */
  function common(first, second) {
    const longest = Array.from({ length: first.length + 1 }, () =>
      new Uint16Array(second.length + 1),
    );
    for (let i = first.length - 1; i >= 0; i--)
      for (let j = second.length - 1; j >= 0; j--)
        longest[i][j] =
          first[i] === second[j]
            ? longest[i + 1][j + 1] + 1
            : Math.max(longest[i + 1][j], longest[i][j + 1]);
    const pairs = [];
    for (let i = 0, j = 0; i < first.length && j < second.length; ) {
      if (first[i] === second[j]) pairs.push([i++, j++]);
      else if (longest[i + 1][j] >= longest[i][j + 1]) i++;
      else j++;
    }
    return pairs;
  }

  /** Place of the reference that shares the largest part of its and our words in their order, of
      those from a place on. */
  function nearest(text, references, from) {
    const ours = words(text);
    const alike = references.slice(from).map((reference) => {
      const its = words(reference);
      return (2 * common(ours, its).length) / Math.max(ours.length + its.length, 1);
    });
    return from + alike.indexOf(Math.max(...alike));
  }

  /** A text whose words are marked where they differ from another text, or match the search. */
  function marked(text, other, query) {
    const ours = pieces(text);
    const its = other === null ? [] : words(other);
    const matches = other === null ? [] : common(ours.map((piece) => piece.word), its);
    const kept = new Set(matches.map(([place]) => place));
    const line = document.createDocumentFragment();
    let due = 0;
    const missing = (until) => {
      for (; due < until; due++)
        line.append(" ", element("span", { class: "missing", title: "missing" }, hidden("missing: "), its[due]));
    };
    ours.forEach(({ space, word }, place) => {
      const pair = matches.find(([own]) => own === place);
      if (pair) {
        missing(pair[1]);
        due = pair[1] + 1;
      }
      const names = [];
      const says = [];
      if (other !== null && !kept.has(place)) {
        names.push("extra");
        says.push("not there");
      }
      if (place > 0 && ours[place - 1].word === word && /[\p{L}\p{N}]/u.test(word)) {
        names.push("repeated");
        says.push("repeats the word before it");
      }
      if (query.some((each) => word.toLowerCase().includes(each))) names.push("found");
      line.append(space);
      line.append(
        names.length
          ? element("span", { class: names.join(" "), title: says.join("; ") || null }, word)
          : word,
      );
    });
    if (other !== null) missing(its.length);
    return line;
  }

  // its direction is given, so that `auto` of a text around it goes by the words of the text
  const hidden = (text) => element("span", { class: "hidden", lang: "en", dir: "ltr" }, text);

  // Numbers

  const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(1)}`;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
  const nameOf = (system) => `${system.system}/${system.decoding}`;
  const find = (name) => data.systems.find((system) => nameOf(system) === name) ?? data.systems[0];
  const first = () => find(byId("a").value);
  const second = () => find(byId("b").value);
  const measure = () => byId("measure").value;
  const gain = (number) => second()[measure()][number] - first()[measure()][number];
  const queried = () => byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);

  const ORDERS = {
    number: (number) => number,
    gain: (number) => -gain(number),
    loss: (number) => gain(number),
    "worst-a": (number) => first()[measure()][number],
    "worst-b": (number) => second()[measure()][number],
    longest: (number) => -words(data.sources[number]).length,
    shortest: (number) => words(data.sources[number]).length,
    "repeated-a": (number) => -first().repeated[number],
    "repeated-b": (number) => -second().repeated[number],
  };

  // The list of sentences

  function list() {
    if (!data) return;
    const query = queried();
    const differing = byId("differing").checked;
    const shown = [first(), second(), ...others.map(find)];
    const key = ORDERS[byId("order").value];
    listed = data.sources
      .map((_, number) => number)
      .filter((number) => !differing || first().outputs[number] !== second().outputs[number])
      .filter((number) => {
        if (!query.length) return true;
        const text = [
          data.sources[number],
          ...data.references[number],
          ...shown.map((system) => system.outputs[number]),
        ]
          .join("\n")
          .toLowerCase();
        return query.every((word) => text.includes(word));
      })
      .map((number) => [key(number), number])
      .sort(([a, i], [b, j]) => a - b || i - j)
      .map(([, number]) => number);
    byId("list").replaceChildren(...listed.map(row));
    summarise();
    draw();
  }

  function row(number) {
    const [a, b] = [first(), second()];
    const difference = gain(number);
    const repeated = [a.repeated[number] && `A repeats ${a.repeated[number]}`, b.repeated[number] && `B repeats ${b.repeated[number]}`]
      .filter(Boolean)
      .join(", ");
    return element(
      "li",
      { role: "option", id: `sentence-${number}`, "data-number": number, "aria-selected": "false" },
      element("p", { class: "text", dir: "auto" }, data.sources[number]),
      element(
        "p",
        { class: "numbers" },
        element("span", { class: "number" }, String(number + 1)),
        element("span", { class: difference < 0 ? "down-text" : difference > 0 ? "up-text" : "" }, signed(difference)),
        element("span", {}, `${a[measure()][number].toFixed(0)} → ${b[measure()][number].toFixed(0)}`),
        repeated ? element("span", {}, repeated) : null,
      ),
    );
  }

  function summarise() {
    const gains = listed.map(gain);
    const [up, down] = [gains.filter((value) => value > 0).length, gains.filter((value) => value < 0).length];
    const all = data.sources.length;
    const which = listed.length === all ? `${all} sentences` : `${listed.length} of ${all} sentences`;
    byId("summary").textContent = listed.length
      ? `${which}: B is better on ${up}, worse on ${down}, equal on ${gains.length - up - down}; ` +
        `mean gain ${signed(mean(gains))}, A ${mean(listed.map((n) => first()[measure()][n])).toFixed(1)}, ` +
        `B ${mean(listed.map((n) => second()[measure()][n])).toFixed(1)}.`
      : "No sentence has all of these words.";
  }

  /** One bar for each listed sentence: the gain of B over A. */
  function draw() {
    const place = byId("gains");
    place.replaceChildren();
    if (!listed.length) return;
    const gains = listed.map(gain);
    const most = Math.max(...gains.map(Math.abs), 1);
    const make = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const drawing = make("svg", {
      viewBox: `0 -52 ${listed.length} 104`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Gain of B over A, a bar for each listed sentence in their order. ${byId("summary").textContent}`,
    });
    drawing.append(make("line", { x1: 0, x2: listed.length, y1: 0, y2: 0 }));
    gains.forEach((value, at) => {
      const height = (50 * Math.abs(value)) / most;
      drawing.append(
        make("rect", {
          x: at + 0.1,
          width: 0.8,
          y: value > 0 ? -height : 0,
          height,
          class: value > 0 ? "up" : "down",
        }),
      );
      const column = make("rect", { x: at, width: 1, y: -52, height: 104, class: "column", "data-number": listed[at] });
      const title = make("title", {});
      title.textContent = `Sentence ${listed[at] + 1}: ${signed(value)}`;
      column.append(title);
      drawing.append(column);
    });
    place.append(drawing);
  }

  // The chosen sentence

  function choose(number, focus = false) {
    if (!data) return;
    current = number;
    for (const option of byId("list").children) {
      const chosen = Number(option.dataset.number) === number;
      option.setAttribute("aria-selected", String(chosen));
      if (chosen) {
        byId("list").setAttribute("aria-activedescendant", option.id);
        const [box, own] = [byId("list").getBoundingClientRect(), option.getBoundingClientRect()];
        if (own.top < box.top || own.bottom > box.bottom)
          byId("list").scrollTop += own.top - box.top - box.height / 3;
      }
    }
    for (const column of byId("gains").querySelectorAll(".column"))
      column.classList.toggle("chosen", Number(column.dataset.number) === number);
    show();
    keep();
    if (focus) byId("list").focus({ preventScroll: true });
  }

  function show() {
    const place = byId("sentence");
    if (current === null) {
      place.replaceChildren();
      return;
    }
    const at = listed.indexOf(current);
    const query = queried();
    const shown = [first(), second(), ...others.map(find)];
    const references = data.references[current];
    const counted = data.uncounted.includes(current) ? 1 : 0; // the first one that BLEU is against
    const near = shown.map((system) => nearest(system.outputs[current], references, counted));
    const move = (by) => ({
      type: "button",
      "aria-label": by < 0 ? "Sentence before" : "Next sentence",
      disabled: !(at + by in listed),
      onclick: () => choose(listed[at + by]),
    });
    const [source, target] = data.languages;
    place.replaceChildren(
      element(
        "header",
        {},
        element("h2", {}, `Sentence ${current + 1} of ${data.sentences.toLocaleString("en")}`),
        element("button", move(-1), "‹"),
        element("button", move(1), "›"),
      ),
      element("p", { class: "name" }, `Source (${words(data.sources[current]).length} words)`),
      element("p", { class: "running", lang: source, dir: "auto" }, marked(data.sources[current], null, query)),
      element("p", { class: "name" }, references.length > 1 ? `References (${references.length})` : "Reference"),
      element(
        "ol",
        { class: "references" },
        ...references.map((reference, number) => {
          const letters = ["A", "B"].filter((_, which) => near[which] === number);
          return element(
            "li",
            { lang: target, dir: "auto" },
            marked(reference, null, query),
            number < counted ? element("span", { class: "tag", lang: "en" }, data.why_uncounted) : null,
            letters.length && references.length > 1
              ? element("span", { class: "tag", lang: "en" }, `nearest to ${letters.join(" and ")}`)
              : null,
          );
        }),
      ),
      ...shown.map((system, which) => translation(system, which, references[near[which]], shown)),
      legend(shown.some((system) => system.steps)),
    );
  }

  function translation(system, which, reference, shown) {
    const text = system.outputs[current];
    const against = byId("against").value;
    const other = against === "nothing" ? null : against === "reference" ? reference : shown[which === 0 ? 1 : 0].outputs[current];
    const repeated = system.repeated[current];
    const lost = system.lost[current];
    const card = element(
      "article",
      { class: "translation", "data-system": nameOf(system) },
      element(
        "h3",
        {},
        which < 2 ? element("span", { class: "letter" }, "AB"[which]) : null,
        element("a", { href: system.page }, system.system),
        element("small", {}, `${system.decoding}, seed ${system.seed}`),
      ),
      element(
        "p",
        { class: "measured" },
        element("span", {}, "BLEU ", element("b", {}, system.bleu[current].toFixed(1))),
        element(
          "span",
          {},
          data.references[current].length > 1 ? "chrF2 against reference 1 " : "chrF2 ",
          element("b", {}, system.chrf[current].toFixed(1)),
        ),
        element("span", {}, "length ratio ", element("b", {}, system.ratio[current].toFixed(2))),
        element("span", {}, `${system.passes[current]} ${system.passes[current] === 1 ? "pass" : "passes"}`),
        repeated ? element("span", { class: "warn" }, `${repeated} repeated`) : null,
      ),
      lost
        ? element("p", {}, `Not translated: ${lost}.`)
        : element("p", { class: "running", lang: data.languages[1], dir: "auto" }, text ? marked(text, other, queried()) : "(empty)"),
    );
    if (system.steps) {
      const place = element("div", {});
      card.append(place);
      load(system.steps, system.steps).then((found) => {
        const traced = found?.[current];
        if (traced) place.replaceChildren(...stepper(system, traced));
      });
    } else {
      const how = system.command ? ["Its steps are made by ", element("code", {}, system.command)] : ["Its steps cannot be told from each other."];
      card.append(element("p", { class: "name" }, ...how));
    }
    return card;
  }

  // Steps

  /** Tokens, probabilities and what happened to them, after each pass. */
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
      const last = tokens.findLastIndex((token) => token !== null);
      const [now, unseen] = [new Set(chosen), new Set(masked)];
      const fresh = chosen.filter((place) => unseen.has(place)).length;
      const corrected = chosen.filter((place) => !unseen.has(place) && before[place] !== tokens[place]).length;
      return { before, tokens, percentages, last, now, masked: unseen, fresh, corrected };
    });
  }

  function stepper(system, traced) {
    const passes = unfold(traced);
    const grown = passes[0].masked.size < traced[0]; // from left to right, at least at first
    const rows = passes.length <= ROWS && !grown;
    const id = `steps-${nameOf(system).replaceAll("/", "-")}`;
    const table = element(
      "table",
      { id },
      element("caption", { class: "hidden" }, `Steps of ${nameOf(system)}`),
      element("tbody", {}, ...passes.map((each, number) => stepRow(system, each, number, grown))),
    );
    const slider = element("input", {
      type: "range",
      min: 1,
      max: passes.length,
      "aria-label": `Step of ${nameOf(system)}`,
      "aria-controls": id,
    });
    const output = element("output", {});
    const button = (text, label, action) => element("button", { type: "button", "aria-label": label, onclick: action }, text);
    const back = button("◀", "Step before", () => go(Number(slider.value) - 1));
    const next = button("▶", "Next step", () => go(Number(slider.value) + 1));
    let timer = null;
    const play = button("Play", "Play the steps", () => {
      if (timer) return stop();
      go(Number(slider.value) >= passes.length ? 1 : Number(slider.value));
      play.textContent = "Stop";
      timer = setInterval(() => {
        if (!table.isConnected || Number(slider.value) >= passes.length) stop();
        else go(Number(slider.value) + 1);
      }, 900);
    });
    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }
    function go(number) {
      const at = Math.min(Math.max(number, 1), passes.length);
      slider.value = at;
      step = at;
      const { tokens, fresh, corrected } = passes[at - 1];
      const written = tokens.filter((token) => token !== null).length;
      const done = grown ? `${written} written` : `${fresh} chosen${corrected ? `, ${corrected} corrected` : ""}`;
      output.textContent = `step ${at} of ${passes.length}, ${done}`;
      slider.setAttribute("aria-valuetext", output.textContent);
      back.disabled = at === 1;
      next.disabled = at === passes.length;
      [...table.tBodies[0].rows].forEach((each, place) =>
        each.classList.toggle("later", rows ? place >= at : place !== at - 1),
      );
      keep();
    }
    slider.addEventListener("input", () => go(Number(slider.value)));
    slider.go = go;
    const chosen = step;
    go(chosen ?? passes.length);
    step = chosen;
    const control = element("div", { class: "control" }, back, slider, next, play, output);
    const differs = traced[1]
      ? element("p", { class: "notes" }, "The steps were decoded again in another batch and end in another translation.")
      : null;
    const scroller = element("div", { class: "steps", tabindex: "0", role: "region", "aria-label": `Steps of ${nameOf(system)}, scrollable` }, table);
    return [...(passes.length > 1 ? [control] : []), scroller, differs].filter(Boolean);
  }

  function stepRow(system, pass, number, grown) {
    const until = grown ? pass.last + 1 : pass.tokens.length;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, `step ${number + 1}`),
      ...pass.tokens.slice(0, until).map((token, place) => tokenCell(system, pass, token, place)),
    );
  }

  function tokenCell(system, pass, token, place) {
    if (token === null) return element("td", { class: "mask", title: "masked" }, "▢", hidden("masked"));
    const before = pass.before[place];
    const now = pass.now.has(place) && pass.masked.has(place);
    const replaced = pass.now.has(place) && before !== null && before !== token;
    const merged = system.frames && (token === "" || (place > 0 && pass.tokens[place - 1] === token));
    const percentage = pass.percentages[place];
    const says = [
      `${percentage}%`,
      now ? "chosen in this step" : replaced ? "corrected in this step" : "kept",
      replaced ? `was ${before || "empty"}` : "",
      merged ? (token === "" ? "blank" : "merged with the same before it") : "",
    ].filter(Boolean);
    return element(
      "td",
      {
        class: [now || replaced ? "now" : "kept", merged ? "merged" : ""].join(" ").trim(),
        style: `--unsure: ${100 - percentage}`,
        title: `${token || "blank"}: ${says.join(", ")}`,
      },
      replaced ? element("s", {}, before || "∅") : null,
      element("span", {}, token === "" ? "∅" : token),
      element("small", {}, `${percentage}%`),
      hidden(says.slice(1).join(", ")),
    );
  }

  function legend(steps) {
    const swatch = (kind, text) => element("span", {}, element("span", { class: kind }, "word"), ` ${text}`);
    const marks = [swatch("extra", "not in what it is compared with"), swatch("missing", "missing"), swatch("repeated", "repeated")];
    if (steps)
      marks.push(
        swatch("swatch now", "chosen in this step"),
        swatch("swatch", "kept"),
        element("span", {}, element("s", {}, "old"), " replaced in this step"),
        element("span", {}, element("span", { class: "swatch mask" }, "▢"), " masked"),
        element("span", {}, "∅ empty token or frame"),
        element("span", {}, "certain ", element("span", { class: "swatch scale" }, "\u00a0"), " uncertain, with the probability in %"),
      );
    return element("p", { class: "legend" }, ...marks);
  }

  // What can be chosen

  function options(select, wanted, standard) {
    const groups = new Map();
    const probesLast = [...data.systems].sort((one, other) => isProbe(one) - isProbe(other));
    for (const system of probesLast) {
      const name = isProbe(system) ? `${system.system}, probes` : system.system;
      if (!groups.has(name)) groups.set(name, element("optgroup", { label: name }));
      const text = `${system.system}, ${system.decoding} (${mean(system.bleu).toFixed(1)})`;
      groups.get(name).append(element("option", { value: nameOf(system) }, text));
    }
    select.replaceChildren(...groups.values());
    select.value = data.systems.some((system) => nameOf(system) === wanted) ? wanted : standard;
  }

  function furtherSystems() {
    byId("others").replaceChildren(
      ...data.systems.map((system) =>
        element(
          "label",
          {},
          element("input", { type: "checkbox", value: nameOf(system), checked: others.includes(nameOf(system)) }),
          ` ${nameOf(system)}`,
        ),
      ),
    );
  }

  const isProbe = (system) => system.kind === "probe";

  /** The best student of one pass, and the best translations by several passes over masks, with
      recorded steps if there are any; without both of them, the two best systems. */
  function standards() {
    const ranked = [...data.systems].sort(
      (one, other) => isProbe(one) - isProbe(other) || mean(other.bleu) - mean(one.bleu),
    );
    const passes = (system) => mean(system.passes);
    const several = ranked.filter((system) => system.kind === "masks" && passes(system) > 1);
    const iterative = several.find((system) => system.steps) ?? several[0];
    const student = ranked.find(
      (system) =>
        ["masks", "student"].includes(system.kind) &&
        passes(system) <= 1 &&
        system.system !== iterative?.system,
    );
    if (iterative && student) return [student, iterative].map(nameOf);
    const best = ranked[0];
    const other = ranked.find((system) => system.system !== best.system);
    return [other ?? ranked[1] ?? best, best].map(nameOf);
  }

  async function open(wanted) {
    const select = byId("test-set");
    const file = select.selectedOptions[0].dataset.file;
    const chosen = select.value;
    const found = await load(file, chosen);
    if (select.value !== chosen) return; // another one was chosen while this one was read
    data = found;
    if (data === null) {
      for (const id of ["list", "gains", "sentence"]) byId(id).replaceChildren(); // of another one
      byId("summary").textContent = `${file} cannot be read; make the report again.`;
      return;
    }
    const [a, b] = standards();
    options(byId("a"), wanted.get("a"), a);
    options(byId("b"), wanted.get("b"), b);
    if (!wanted.has("a") && byId("a").value === byId("b").value) byId("a").value = b; // of a link to B
    others = (wanted.get("others") ?? "").split(",").filter((name) => data.systems.some((system) => nameOf(system) === name));
    byId("more").hidden = data.systems.length < 3;
    furtherSystems();
    step = Number(wanted.get("step")) || null;
    list();
    const number = Number(wanted.get("sentence")) - 1;
    choose(number in data.sources ? number : (listed[0] ?? null));
  }

  // The address keeps what is chosen, once nothing has changed for a moment.

  let waiting = null;
  function keep() {
    clearTimeout(waiting);
    waiting = setTimeout(write, 150);
  }

  function write() {
    const kept = new URLSearchParams();
    for (const id of CHOSEN) if (byId(id).value) kept.set(id, byId(id).value);
    if (byId("differing").checked) kept.set("differing", "1");
    if (others.length) kept.set("others", others.join(","));
    if (current !== null) kept.set("sentence", current + 1);
    if (step !== null) kept.set("step", step);
    address = `#${kept}`;
    location.replace(address);
  }

  function restore() {
    if (location.hash === address) return;
    if (location.hash && !location.hash.includes("=")) return; // a place of the page, no choice
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const id of CHOSEN.filter((each) => each !== "a" && each !== "b")) {
      const field = byId(id);
      const value = wanted.get(id);
      if (value !== null && (field.type === "search" || [...field.options].some((option) => option.value === value)))
        field.value = value;
    }
    byId("differing").checked = wanted.has("differing");
    open(wanted);
  }

  function again() {
    list();
    choose(listed.includes(current) ? current : (listed[0] ?? null));
  }

  function start() {
    byId("choice").addEventListener("submit", (event) => event.preventDefault());
    byId("test-set").addEventListener("change", () => {
      current = null;
      open(new URLSearchParams());
    });
    for (const id of ["a", "b", "measure", "differing"]) byId(id).addEventListener("change", again);
    byId("against").addEventListener("change", () => choose(current));
    byId("order").addEventListener("change", () => {
      list();
      choose(listed[0] ?? null);
    });
    byId("query").addEventListener("input", again);
    byId("swap").addEventListener("click", () => {
      [byId("a").value, byId("b").value] = [byId("b").value, byId("a").value];
      again();
    });
    byId("others").addEventListener("change", () => {
      others = [...byId("others").querySelectorAll("input:checked")].map((input) => input.value);
      choose(current);
    });
    for (const id of ["list", "gains"])
      byId(id).addEventListener("click", (event) => {
        const chosen = event.target.closest("[data-number]");
        if (!chosen) return;
        choose(Number(chosen.dataset.number), true);
        const below = byId("sentence").getBoundingClientRect().top > byId("list").getBoundingClientRect().bottom;
        if (below) byId("sentence").scrollIntoView(); // on a narrow page
      });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !data) return;
      if (event.target.matches("input, select, textarea")) return;
      const at = listed.indexOf(current);
      const inList = event.target === byId("list");
      const moves = { j: 1, k: -1, ...(inList && { ArrowDown: 1, ArrowUp: -1, Home: -at, End: listed.length - 1 - at }) };
      const shifts = event.target.closest(".steps") ? {} : { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key === "/") byId("query").focus();
      else if (event.key in moves && at + moves[event.key] in listed) choose(listed[at + moves[event.key]], inList);
      else if (event.key in shifts) shift(shifts[event.key]);
      else if (!(event.key in moves)) return;
      event.preventDefault();
    });
    window.addEventListener("hashchange", restore);
    restore();
    if (!location.hash.includes("=")) open(new URLSearchParams());
  }

  /** Move every slider of the sentence to the step before or after that of the longest one. */
  function shift(by) {
    const sliders = [...byId("sentence").querySelectorAll('input[type="range"]')];
    if (!sliders.length) return;
    const longest = sliders.reduce((one, other) => (Number(other.max) > Number(one.max) ? other : one));
    const wanted = Math.min(Math.max(Number(longest.value) + by, 1), Number(longest.max));
    for (const slider of sliders) slider.go(wanted);
    step = wanted;
    keep();
  }

  document.addEventListener("DOMContentLoaded", start);
  return {
    addTestSet: (name, content) => {
      // each sentence has its different translations once, with what is measured of them
      for (const system of content.systems)
        SHARED.forEach((key, at) => {
          system[key] = system.places.map((place, number) => content.translations[number][place][at]);
        });
      register(name, content);
    },
    addSteps: register,
  };
})();
