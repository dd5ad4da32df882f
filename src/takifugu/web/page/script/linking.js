// ---- a link that restores what is chosen: names and settings, in the part of an address that is never sent -----

const SINGLE = ["table", "secret", "query", "prior", "mechanism", "promise", "odds", "alpha", "epsilon", "delta", "confidence", "other"];
const SEVERAL = { pair: "hide", leave_out: "leave", columns: "column", known: "known" };

function toFragment(asked) {
  const found = new URLSearchParams();
  for (const name of SINGLE) if (asked[name] !== null && asked[name] !== undefined) found.set(name, asked[name]);
  for (const [name, short] of Object.entries(SEVERAL)) for (const one of asked[name] || []) found.append(short, one);
  for (const [name, typed] of Object.entries(asked.lists)) found.set(`list-${name}`, typed);
  const { reading } = offer.tables.find((one) => one.name === asked.table) || {};
  for (const [name, said] of Object.entries(reading || {})) if (said) found.set(`read-${name}`, said);
  return found.toString();
}

const linkOf = (asked) => (asked ? `${location.origin}/#${toFragment(asked)}` : "");

function fromFragment(text) {
  const given = new URLSearchParams(text);
  if (!given.get("table") || !given.get("secret")) return null;
  const found = Object.fromEntries(SINGLE.map((name) => [name, given.get(name)]));
  for (const [name, short] of Object.entries(SEVERAL)) found[name] = given.getAll(short);
  if (found.pair.length !== 2) found.pair = null;
  found.column = found.columns[0];
  found.more = found.query === "row" ? [] : found.columns.slice(1);
  found.lists = Object.fromEntries([...given].filter(([name]) => name.startsWith("list-")).map(([name, typed]) => [name.slice(5), typed]));
  const said = FORM.map((name) => [name, given.get(`read-${name}`)]).filter(([, text]) => text);
  found.reading = Object.fromEntries(said);
  return found;
}

// A file that was read again has a number after its name, which another explorer gives to none or to another.
const unnumbered = (name) => name.replace(/ \(\d+\)$/, "");
const sameFile = (one, other) => unnumbered(one) === unnumbered(other);

// The settings that do not depend on the table; an unknown one leaves things as they are.
function applySettings(wanted) {
  const has = (select, value) => [...$(select).options].some((option) => option.value === value);
  if (has("promise", wanted.promise)) guarantees[wanted.query === "row" ? "row" : "noise"] = wanted.promise;
  setMode(wanted.query === "row" ? "row" : "noise");
  if (has("mechanism", wanted.mechanism)) rules[$("promise").value] = wanted.mechanism;
  for (const id of ["query", "prior", "mechanism"]) if (has(id, wanted[id])) $(id).value = wanted[id];
  $("confidence").value = has("confidence", wanted.confidence) ? wanted.confidence : "";
  for (const name of Object.keys(scales)) if (Number(wanted[name]) > 0) setNumber(name, wanted[name]);
}

// A page that is loaded again shows what it showed; another tab begins anew.
const remember = () => sessionStorage.setItem("takifugu-chosen", toFragment(shown.settled));
const remembered = () => fromFragment(held || sessionStorage.getItem("takifugu-chosen") || "");
