// ---- choosing: a table brings its columns, a secret column its secrets -----------------------------------------

const offer = { tables: [], about: null, unread: false, rows: {}, most: {} };
const EVERY = ""; // no secret is spelled so: the choice of every pair

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, label]) => {
    const option = document.createElement("option");
    option.value = value;
    option.textContent = label;
    return option;
  }));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

function tick(box, names, chosen, marked = []) {
  box.replaceChildren(...names.map((name) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "checkbox", value: name, checked: chosen.includes(name) });
    const text = document.createElement("span");
    text.textContent = marked.includes(name) ? `${name} (looks like an identifier: never publish)` : name;
    label.append(input, text);
    return label;
  }));
}

const ticked = (box) => [...box.querySelectorAll("input:checked")].map((input) => input.value);
const mode = () => document.querySelector("input[name=mode]:checked").value;

function setMode(value) {
  for (const radio of document.querySelectorAll("input[name=mode]")) radio.checked = radio.value === value;
}

const labelled = (names) => names.map((name) => [name,
  offer.about.identifiers.includes(name) ? `${name} (looks like an identifier)` : name]);

// What can be chosen depends on the secret: it is itself neither published nor known. Whether any of `columns` is left.
function fillColumns({ column, columns = [], known = [], more = [] } = {}) {
  const { numbers, lists, identifiers } = offer.about;
  const secret = $("secret").value;
  const listed = lists.filter((name) => name !== secret);
  const numeric = numbers.filter((name) => name !== secret);
  fill($("column"), labelled(numeric), column);
  tick($("more"), numeric.filter((name) => !identifiers.includes(name)), more);
  const there = columns.filter((name) => listed.includes(name));
  const first = listed.find((name) => !identifiers.includes(name)); // never an identifier unasked
  tick($("columns"), listed, there.length || !first ? there : [listed.includes(column) ? column : first], identifiers);
  tick($("known"), listed.filter((name) => !identifiers.includes(name)), known);
  const noise = document.querySelector("input[name=mode][value=noise]");
  noise.disabled = numeric.length === 0;
  if (numeric.length === 0) setMode("row");
  return there.length > 0;
}

async function chooseTable(wanted = {}) {
  clearShown();
  shown.touched = null;
  const table = offer.tables.find((one) => one.name === $("table").value);
  showReading(table);
  $("table-note").textContent = "";
  let about;
  try {
    about = await lookUp("/api/table", { table: table.name });
  } catch (error) {
    if (!(error instanceof Refusal) || !table.reading) throw error;
    showUnread(error);
    return;
  }
  if (!about) return;
  offer.about = about;
  setUnread(false);
  $("table-note").textContent = about.findings.map(sentence).join(" ");
  showSuspects(about.suspects);
  fill($("secret"), about.secrets.map((name) => [name, name]), wanted.secret || about.secret);
  await chooseSecret(wanted.secret ? wanted.pair || null : table.pair, { column: table.answer, ...wanted });
}

// `pair` is two secrets, null for every pair, undefined for what suits the column; `wanted` are columns to begin with.
async function chooseSecret(pair, wanted) {
  const chosen = { table: $("table").value, secret: $("secret").value };
  const kept = wanted || { column: $("column").value, columns: ticked($("columns")), known: ticked($("known")), more: ticked($("more")) };
  const asked = fillColumns(kept) || Boolean(wanted && wanted.column);
  const found = await lookUp("/api/secrets", chosen);
  if (!found) return;
  const { secrets, column } = found;
  if (!asked) fillColumns({ ...kept, column: kept.column || column, columns: [column] });
  offer.rows = Object.fromEntries(secrets.map((one) => [one.name, one.rows]));
  const names = secrets.map((one) => [one.name, one.name]);
  const [first, second] = pair || [mode() === "row" ? EVERY : names[0][0], names[1][0]];
  fill($("first"), [[EVERY, "every value"], ...names], pair === null ? EVERY : first);
  fill($("second"), names, second);
  keepApart("first", "second");
  refresh(0);
}

function keepApart(changedOne, other) {
  if ($(changedOne).value !== $(other).value) return;
  const free = [...$(other).options].find((option) => option.value !== EVERY && option.value !== $(changedOne).value);
  if (free) $(other).value = free.value;
}

// Columns of numbers that are published together, under one noise: of a person or of a group.
const several = () => mode() !== "row" && ["raw", "mean"].includes($("query").value);
const numbers = () => [$("column").value, ...(several() ? ticked($("more")).filter((name) => name !== $("column").value) : [])];

function question() {
  const listed = mode() === "row";
  const every = $("first").value === EVERY;
  const sure = !$("confidence-field").hidden && $("confidence").value;
  return {
    table: $("table").value, secret: $("secret").value, pair: every ? null : [$("first").value, $("second").value],
    query: listed ? "row" : $("query").value, columns: listed ? ticked($("columns")) : numbers(),
    known: $("known-field").hidden ? [] : ticked($("known")), prior: $("prior").value, mechanism: $("mechanism").value,
    promise: listed ? $("promise").value : "renyi", odds: number("odds"), alpha: number("alpha"), epsilon: number("epsilon"),
    confidence: sure ? Number(sure) : null,
  };
}

// Only what makes a difference can be seen.
function tidy() {
  const listed = mode() === "row";
  const query = $("query").value;
  const byOdds = listed && $("promise").value === "odds";
  const columns = listed ? ticked($("columns")) : numbers();
  const vector = !listed && columns.length > 1;
  for (const id of ["query", "column", "prior", "mechanism"]) $(`${id}-field`).hidden = listed;
  $("mechanism-note").hidden = listed;
  for (const id of ["columns", "promise"]) $(`${id}-field`).hidden = !listed;
  $("more-field").hidden = !several() || $("more").childElementCount < 2;
  $("mechanism-field").hidden = listed || vector;
  $("known-field").hidden = !listed && (query !== "raw" || vector);
  $("prior-counts").disabled = vector; // a row of several numbers is hardly ever somebody else's too
  if (vector && $("prior").value === "counts") $("prior").value = "mixture";
  $("odds-field").hidden = !byOdds;
  for (const id of ["alpha-field", "epsilon-field"]) $(id).hidden = byOdds;
  $("prior").disabled = query !== "raw";
  $("train-field").hidden = listed || query !== "bnn";
  const counted = query === "mean" || (query === "raw" && $("prior").value === "counts");
  $("confidence-field").hidden = !listed && !(counted && (vector || $("mechanism").value === "exact"));
  const every = $("first").value === EVERY;
  $("second-field").hidden = every;
  $("pair-note").textContent = every
    ? `Each of ${Object.keys(offer.rows).length} values from each other.`
    : `${offer.rows[$("first").value]} rows against ${offer.rows[$("second").value]}.`;
  $("mechanism-note").textContent = vector ? offer.vectors : offer.mechanisms[$("mechanism").value] || "";
  for (const input of $("more").querySelectorAll("input")) {
    const chosen = input.value === $("column").value;
    if (chosen) input.checked = false;
    input.closest("label").hidden = chosen;
  }
  $("more-count").textContent = vector ? `: ${columns.slice(1).join(", ")}` : ": no other column";
  for (const input of $("known").querySelectorAll("input")) {
    input.disabled = columns.includes(input.value);
    if (input.disabled) input.checked = false;
  }
  $("known-count").textContent = ticked($("known")).length ? `: ${ticked($("known")).join(", ")}` : ": nothing";
}

function validColumns() {
  if (offer.unread) return false;
  const { columns, known } = offer.most;
  if (mode() !== "row") {
    const many = !$("known-field").hidden && ticked($("known")).length > known;
    $("known-problem").textContent = many ? `Choose at most ${known} columns.` : "";
    const wide = numbers().length > columns;
    $("more-problem").textContent = wide ? `Choose at most ${columns - 1} more columns.` : "";
    return !many && !wide;
  }
  const [some, more] = [ticked($("columns")).length, ticked($("known")).length];
  $("columns-problem").textContent = some === 0 && !$("columns").querySelector("input")
    ? "There is no column to publish beside the secret."
    : some === 0 ? "Choose at least one column to publish."
    : some > columns ? `Choose at most ${columns} columns: every combination of values is a row of its own.` : "";
  $("known-problem").textContent = more > known ? `Choose at most ${known} columns.` : "";
  return some > 0 && some <= columns && more <= known;
}
