"use strict";
(() => {
  // The token opens the door once and then leaves the address, so that no screenshot or bookmark shows it.
  const token = new URLSearchParams(location.search).get("token");
  sessionStorage.setItem("takifugu-token", token);
  history.replaceState(null, "", "/");

  const $ = (id) => document.getElementById(id);
  const PAUSE = 40; // milliseconds a slider must rest before the server is asked
  const PATIENCE = 1000; // milliseconds that a moving slider waits for the answer to its last place
  const SLOW = 400; // milliseconds after which a wait is worth a word
  const state = { tables: [], mechanisms: {}, limits: {}, settled: null,
    latest: 0, floor: 0, shown: 0, flying: 0, since: 0, timer: 0, send: null, training: false };

  // Sliders are logarithmic: α by its distance from one.
  const scales = {
    epsilon: { low: 0.01, high: 10, from: (v) => v, to: (v) => v },
    alpha: { low: 0.05, high: 63, from: (v) => v - 1, to: (v) => v + 1 },
  };
  const toSlider = (name, value) => {
    const { low, high, from } = scales[name];
    const x = Math.min(Math.max(from(value), low), high);
    return Math.round((1000 * Math.log(x / low)) / Math.log(high / low));
  };
  const fromSlider = (name, place) => {
    const { low, high, to } = scales[name];
    return Number(to(low * (high / low) ** (place / 1000)).toPrecision(3));
  };

  class Refusal extends Error {}

  async function ask(path, body) {
    const options = { headers: { "X-Takifugu-Token": token }, cache: "no-store" };
    if (body !== undefined) {
      options.method = "POST";
      options.headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      throw new Refusal("The explorer does not answer: is the command in the terminal still running?");
    }
    const kind = response.headers.get("Content-Type") || "";
    if (path.startsWith("/api/download") && response.ok) return response.blob();
    const data = kind.startsWith("application/json") ? await response.json() : {};
    // A good question that has no answer is told why; an error is a question this page should never have asked.
    if (!response.ok || data.refusal) throw new Refusal(data.refusal || data.error || "The explorer gave no answer.");
    return data;
  }

  function fill(select, entries, chosen) {
    select.replaceChildren(...entries.map(([value, label]) => {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = label;
      return option;
    }));
    if (entries.some(([value]) => value === chosen)) select.value = chosen;
  }

  const tell = (sentence) => { $("problem").textContent = sentence || ""; $("problem").hidden = !sentence; };

  function busy(on, words = "working…") {
    clearTimeout(state.slow);
    if (on && !$("busy").textContent) state.slow = setTimeout(() => { $("busy").textContent = words; }, SLOW);
    if (!on) $("busy").textContent = "";
    $("result").setAttribute("aria-busy", String(on));
  }

  // ---- choosing: a table brings its columns, a secret column its secrets -------------------------------------

  async function chooseTable() {
    const mine = changed(false);
    busy(true, "reading the table…");
    const table = state.tables.find((one) => one.name === $("table").value);
    const about = await ask("/api/table", { table: table.name });
    if (mine !== state.latest) return;
    state.answers = about.answers;
    fill($("secret"), about.secrets.map((name) => [name, name]), table.secret);
    fillColumns(table.answer);
    await chooseSecret(table.pair);
  }

  async function chooseSecret(pair) {
    const mine = changed(false);
    const chosen = { table: $("table").value, secret: $("secret").value };
    fillColumns($("column").value);
    const { secrets } = await ask("/api/secrets", chosen);
    if (mine !== state.latest) return;
    state.rows = Object.fromEntries(secrets.map((one) => [one.name, one.rows.toLocaleString("en")]));
    const names = secrets.map((one) => [one.name, one.name]);
    const [first, second] = pair || names.map(([name]) => name);
    fill($("first"), names, first);
    fill($("second"), names, second);
    refresh(0);
  }

  function fillColumns(chosen) {
    fill($("column"), state.answers.filter((name) => name !== $("secret").value).map((name) => [name, name]), chosen);
  }

  function keepApart(changed, other) {
    if ($(changed).value !== $(other).value) return;
    const free = [...$(other).options].find((option) => option.value !== $(changed).value);
    if (free) $(other).value = free.value;
  }

  // ---- asking and showing ----------------------------------------------------------------------------------

  const number = (id) => ($(id).value.trim() === "" ? NaN : Number($(id).value));

  function question() {
    return {
      table: $("table").value, secret: $("secret").value, pair: [$("first").value, $("second").value],
      query: $("query").value, column: $("column").value, prior: $("prior").value,
      mechanism: $("mechanism").value, alpha: number("alpha"), epsilon: number("epsilon"),
    };
  }

  function validNumbers() {
    let good = true;
    for (const name of ["alpha", "epsilon"]) {
      const [low, high] = state.limits[name];
      const value = number(name);
      const fine = value >= low && value <= high;
      $(name).setAttribute("aria-invalid", String(!fine));
      if (!fine) tell(`${name === "alpha" ? "α" : "ε"} must be a number from ${low} to ${high}.`);
      good = good && fine;
    }
    return good;
  }

  // Every change has a number. An answer is shown if it is newer than the one shown and no other choice than a
  // slider's place was made since it was asked for; so figures follow a moving slider, and nothing old comes back.
  function changed(moving) {
    state.latest += 1;
    if (!moving) state.floor = state.latest;
    return state.latest;
  }

  function refresh(pause = PAUSE, extra = {}, moving = false) {
    changed(moving);
    $("prior").disabled = $("query").value !== "raw";
    $("train-field").hidden = $("query").value !== "bnn";
    $("pair-note").textContent = `${state.rows[$("first").value]} rows against ${state.rows[$("second").value]}.`;
    $("mechanism-note").textContent = state.mechanisms[$("mechanism").value] || "";
    if (!validNumbers()) {
      state.floor = state.latest;
      clearTimeout(state.timer);
      state.timer = 0;
      unsettle();
      return;
    }
    busy(true, extra.train ? "training the network…" : "working…");
    if (moving && (state.timer || state.training)) return; // what leaves next, or follows the training, takes this along
    clearTimeout(state.timer);
    // One question at a time while a slider moves, unless the last one takes long: the server is not to be flooded.
    const turn = moving && state.flying ? state.since + PATIENCE - performance.now() : 0;
    state.send = () => send(extra);
    state.timer = setTimeout(state.send, Math.max(pause, turn));
  }

  async function send(extra) {
    clearTimeout(state.timer);
    state.timer = 0;
    state.flying += 1;
    state.since = performance.now();
    state.training = Boolean(extra.train);
    const mine = state.latest;
    const asked = question();
    try {
      const answer = await ask("/api/answer", { ...asked, ...extra });
      if (mine >= state.floor && mine > state.shown) {
        state.shown = mine;
        tell("");
        show(answer, asked);
      }
    } catch (error) {
      if (mine === state.latest) fail(error);
    } finally {
      state.flying -= 1;
      if (extra.train) state.training = false;
      if (mine === state.latest) busy(false);
      else if (state.timer) state.send();
      else if (extra.train) refresh(0);
    }
  }

  function unsettle() {
    state.settled = null;
    busy(false);
    $("theta").textContent = "–";
    $("in-words").textContent = "";
    $("answer").classList.add("stale");
    $("answer").inert = true;
    delete document.body.dataset.settled;
  }

  function fail(error) {
    unsettle();
    tell(error instanceof Refusal ? error.message : "The page could not show the answer.");
  }

  function draw(id, source) {
    // Parsed apart from the page, where nothing in it could run or load, and taken over only if it is one picture.
    const { children } = new DOMParser().parseFromString(source, "text/html").body;
    if (children.length !== 1 || !(children[0] instanceof SVGElement)) throw new Refusal("A chart could not be drawn.");
    $(id).replaceChildren(document.importNode(children[0], true));
  }

  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  function show(answer, asked) {
    $("theta").textContent = answer.theta_text;
    $("in-words").textContent = answer.in_words;
    $("announce").textContent = `θ is ${answer.theta_text}`;
    $("guess-words").textContent = answer.guess_words;
    $("odds-words").textContent = answer.odds_words;
    $("use-words").textContent = answer.use_words;
    for (const side of ["before", "after"]) {
      $(`text-${side}`).textContent = percent(answer.guess[side]);
      $(`bar-${side}`).style.width = percent(answer.guess[side]).replace(" ", "");
    }
    $("bar-coin").style.width = "50%";
    draw("chart-before-after", answer.charts.before_after);
    draw("chart-noise", answer.charts.noise);
    draw("chart-density", answer.charts.density);
    $("findings").replaceChildren(...answer.findings.map((finding) => {
      const item = document.createElement("li");
      item.className = `finding-${finding.level}`;
      item.textContent = finding.sentence;
      return item;
    }));
    $("findings-box").hidden = answer.findings.length === 0;
    for (const id of ["get-certificate", "get-public"]) $(id).disabled = !answer.certifiable;
    $("saved").textContent = answer.certifiable ? "" : "There is no certificate: this mechanism gives no full promise here.";
    $("answer").classList.remove("stale");
    $("answer").inert = false;
    state.settled = asked;
    document.body.dataset.settled = JSON.stringify(asked);
  }

  // ---- taking it along -------------------------------------------------------------------------------------

  async function download(kind, name, button) {
    if (!state.settled) return;
    button.disabled = true;
    $("saved").textContent = kind === "report" ? "Writing the report…" : "Proving…";
    try {
      const blob = await ask(`/api/download/${kind}`, state.settled);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      $("saved").textContent = `Saved as ${name}.`;
    } catch (error) {
      $("saved").textContent = error.message;
    } finally {
      button.disabled = false;
    }
  }

  // ---- beginning -------------------------------------------------------------------------------------------

  function listen() {
    const safely = (act) => () => Promise.resolve(act()).catch(fail);
    $("controls").addEventListener("submit", (event) => event.preventDefault());
    $("table").addEventListener("change", safely(chooseTable));
    $("secret").addEventListener("change", safely(() => chooseSecret()));
    $("first").addEventListener("change", () => { keepApart("first", "second"); refresh(0); });
    $("second").addEventListener("change", () => { keepApart("second", "first"); refresh(0); });
    for (const id of ["query", "column", "prior", "mechanism"]) $(id).addEventListener("change", () => refresh(0));
    for (const name of ["alpha", "epsilon"]) {
      const slider = $(`${name}-slider`);
      const speak = () => slider.setAttribute("aria-valuetext", $(name).value);
      slider.addEventListener("input", () => { $(name).value = fromSlider(name, Number(slider.value)); speak(); refresh(PAUSE, {}, true); });
      $(name).addEventListener("input", () => {
        if (!Number.isNaN(number(name))) slider.value = toSlider(name, number(name));
        speak();
        refresh(200);
      });
    }
    $("train").addEventListener("click", () => refresh(0, { train: true }));
    $("get-report").addEventListener("click", (event) => download("report", "takifugu-report.html", event.currentTarget));
    $("get-certificate").addEventListener("click", (event) => download("certificate", "takifugu-certificate.json", event.currentTarget));
    $("get-public").addEventListener("click", (event) => download("public", "takifugu-certificate-public.json", event.currentTarget));
  }

  async function begin() {
    const start = await ask("/api/start");
    Object.assign(state, { tables: start.tables, mechanisms: start.mechanisms, limits: start.limits });
    fill($("table"), start.tables.map((one) => [one.name, one.title]));
    fill($("mechanism"), Object.keys(start.mechanisms).map((name) => [name, name]), "exact");
    if (!start.bnn) $("query-bnn").remove();
    for (const [name, value] of [["alpha", 3], ["epsilon", 0.3]]) {
      const [low, high] = start.limits[name];
      Object.assign($(name), { min: low, max: high, value });
      $(`${name}-slider`).value = toSlider(name, value);
      $(`${name}-slider`).setAttribute("aria-valuetext", String(value));
    }
    listen();
    await chooseTable();
  }
  begin().catch(fail);
})();
