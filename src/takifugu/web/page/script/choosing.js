// ---- choosing: a table brings its columns, a secret column its secrets -----------------------------------------

const offer = { tables: [], about: null, unread: false, rows: {}, most: {}, wanted: {} };
const EVERY = ""; // no secret is spelled so: the choice of every pair
const MOST_ASKED = 3800; // bytes of a question; the server takes little more
const PARTS = { odds: ["odds"], renyi: ["alpha", "epsilon"], approximate: ["epsilon", "delta"], both: ["alpha", "epsilon", "odds"] };
const guarantees = { row: "odds", noise: "odds" }; // what each way of publishing is asked for
const rules = { odds: "laplace", renyi: "exact", approximate: "exact", both: "laplace" }; // and by which mechanism of noise
const lists = { typed: {}, shown: null }; // what was typed as the list of each column; the columns whose fields are there

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, label]) => {
    const option = document.createElement("option");
    option.value = value;
    option.textContent = label;
    return option;
  }));
  if (entries.some(([value]) => value === chosen)) select.value = chosen;
}

function tick(box, names, chosen, said = (name) => name) {
  box.replaceChildren(...names.map((name) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "checkbox", value: name, checked: chosen.includes(name) });
    const text = document.createElement("span");
    text.textContent = said(name);
    label.append(input, text);
    return label;
  }));
}

const ticked = (box) => [...box.querySelectorAll("input:checked")].map((input) => input.value);
const mode = () => document.querySelector("input[name=mode]:checked").value;

function setMode(value) {
  for (const radio of document.querySelectorAll("input[name=mode]")) radio.checked = radio.value === value;
  $("promise").value = guarantees[value];
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
  tick($("columns"), listed, there.length || !first ? there : [listed.includes(column) ? column : first],
    (name) => (identifiers.includes(name) ? `${name} (looks like an identifier: never publish)` : name));
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
    offer.wanted = wanted; // once it can be read
    showUnread(error);
    return;
  }
  if (!about) return;
  offer.wanted = {};
  offer.about = about;
  setUnread(false);
  $("table-note").textContent = about.findings.map(sentence).join(" ");
  showSuspects(about.suspects);
  Object.assign(lists, { typed: { ...wanted.lists }, shown: null });
  $("other").value = wanted.other || "";
  const secret = about.secrets.includes(wanted.secret) ? wanted.secret : "";
  const first = secret ? [] : [["", "choose…"]];
  fill($("secret"), [...first, ...about.secrets.map((name) => [name, name])], secret);
  setAsked(Boolean(secret));
  if (secret) await chooseSecret(wanted.pair || null, { column: table.answer, ...wanted });
  else { // nobody's secret is guessed: nothing is asked, and nothing shown, before it is chosen
    for (const box of ["columns", "known", "more", "leave-out"]) tick($(box), [], []);
    fill($("column"), []);
    busy(false);
  }
}

function setAsked(on) {
  document.querySelector("main").classList.toggle("unasked", !on);
  if (!on) delete document.body.dataset.asked;
}

// `pair` is two secrets, null for every pair, undefined for what suits the column; `wanted` are columns to begin with.
async function chooseSecret(pair, wanted) {
  const chosen = { table: $("table").value, secret: $("secret").value };
  if (!chosen.secret) return;
  setAsked(true);
  $("secret").querySelector('option[value=""]')?.remove();
  const table = offer.tables.find((one) => one.name === chosen.table);
  if (pair === undefined && chosen.secret === table.secret) pair = table.pair;
  const kept = wanted || { column: $("column").value || table.answer, columns: ticked($("columns")), known: ticked($("known")), more: ticked($("more")) };
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
  tick($("leave-out"), secrets.map((one) => one.name), (wanted && wanted.leave_out) || [],
    (name) => `${name} (${offer.rows[name]} rows)`);
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
  const columns = listed ? ticked($("columns")) : numbers();
  const promise = $("promise").value;
  const typed = Object.entries(lists.typed).filter(([name, text]) => listed && columns.includes(name) && text.trim());
  return {
    table: $("table").value, secret: $("secret").value, pair: every ? null : [$("first").value, $("second").value],
    leave_out: listed && every ? ticked($("leave-out")) : [], query: listed ? "row" : $("query").value, columns,
    lists: Object.fromEntries(typed), other: listed && typed.length ? $("other").value.trim() || null : null,
    known: $("known-field").hidden ? [] : ticked($("known")), prior: $("prior").value, mechanism: $("mechanism").value,
    promise, ...Object.fromEntries(PARTS[promise].map((name) => [name, number(name)])),
    confidence: sure ? Number(sure) : null,
  };
}

// Only what is offered can be chosen; what is chosen stays where it is among that.
function offerOnly(select, values) {
  for (const option of select.options) option.hidden = option.disabled = !values.includes(option.value);
  if (!values.includes(select.value)) select.value = values[0];
}

// Only what makes a difference can be seen.
function tidy() {
  const listed = mode() === "row";
  const query = $("query").value;
  const columns = listed ? ticked($("columns")) : numbers();
  const vector = !listed && columns.length > 1;
  offerOnly($("promise"), listed ? ["odds", "renyi"] : vector ? ["renyi"] : Object.keys(PARTS));
  const promise = $("promise").value;
  const able = Object.keys(offer.keeps).filter((name) => offer.keeps[name].includes(promise));
  if (promise !== rules.shown) $("mechanism").value = rules[promise];
  rules.shown = promise;
  if (!listed && !vector) offerOnly($("mechanism"), able);
  rules[promise] = $("mechanism").value;
  for (const id of ["query", "column", "prior"]) $(`${id}-field`).hidden = listed;
  $("mechanism-note").hidden = listed;
  $("columns-field").hidden = !listed;
  $("more-field").hidden = !several() || $("more").childElementCount < 2;
  $("mechanism-field").hidden = listed || vector;
  $("known-field").hidden = !listed && (query !== "raw" || vector);
  $("prior-counts").disabled = vector; // a row of several numbers is hardly ever somebody else's too
  if (vector && $("prior").value === "counts") $("prior").value = "mixture";
  for (const name of Object.keys(scales)) $(`${name}-field`).hidden = !PARTS[promise].includes(name);
  $("prior").disabled = query !== "raw";
  $("train-field").hidden = listed || query !== "bnn";
  const counted = query === "mean" || (query === "raw" && $("prior").value === "counts");
  $("confidence-field").hidden = !listed && !(counted && (vector || ["exact", "laplace"].includes($("mechanism").value)));
  const every = $("first").value === EVERY;
  $("second-field").hidden = every;
  const out = ticked($("leave-out"));
  const left = Object.keys(offer.rows).length - out.length;
  $("leave-out-field").hidden = !listed || !every || Object.keys(offer.rows).length < 3;
  $("leave-out-count").textContent = out.length ? `: ${out.join(", ")}` : ": none";
  $("pair-note").textContent = every
    ? `Each of ${left} values from each other.`
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
  $("lists-field").hidden = !listed;
  if (listed) fieldLists(columns);
}

// A field for the list of each column that goes out; what was typed stays where the column is ticked again.
function fieldLists(columns) {
  const typed = columns.filter((name) => (lists.typed[name] || "").trim());
  $("lists-count").textContent = typed.length ? `: given for ${typed.join(", ")}` : ": as in the rows";
  if (JSON.stringify(lists.shown) === JSON.stringify(columns)) return;
  lists.shown = columns;
  $("lists").replaceChildren(...columns.map((name, k) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "text", id: `list-${k}`, value: lists.typed[name] || "", placeholder: "as in the rows", autocomplete: "off", maxLength: 1000 });
    Object.assign(label, { textContent: name, htmlFor: input.id });
    input.setAttribute("aria-label", `list of ${name}`);
    input.addEventListener("input", () => { lists.typed[name] = input.value; });
    const field = document.createElement("div");
    field.append(label, input);
    return field;
  }));
}

function validColumns() {
  if (offer.unread || !$("secret").value) return false;
  const { columns, known } = offer.most;
  if (mode() !== "row") {
    const many = !$("known-field").hidden && ticked($("known")).length > known;
    $("known-problem").textContent = many ? `Choose at most ${known} columns.` : "";
    const wide = numbers().length > columns;
    $("more-problem").textContent = wide ? `Choose at most ${columns - 1} more columns.` : "";
    return !many && !wide;
  }
  const [some, more] = [ticked($("columns")).length, ticked($("known")).length];
  const [all, out] = [Object.keys(offer.rows).length, question().leave_out.length];
  $("leave-out-problem").textContent = all - out < 2 ? "Two values at least must be left, for one to be hidden from the other."
    : out > offer.most.left_out ? `Leave at most ${offer.most.left_out} values out here.` : "";
  $("columns-problem").textContent = some === 0 && !$("columns").querySelector("input")
    ? "There is no column to publish beside the secret."
    : some === 0 ? "Choose at least one column to publish."
    : some > columns ? `Choose at most ${columns} columns: every combination of values is a row of its own.` : "";
  $("known-problem").textContent = more > known ? `Choose at most ${known} columns.` : "";
  const long = new TextEncoder().encode(JSON.stringify(question())).length > MOST_ASKED;
  $("lists-problem").textContent = long ? "These lists are too long for the page: give them to the command below, with --domain FILE." : "";
  return some > 0 && some <= columns && more <= known && !long && !$("leave-out-problem").textContent;
}
