// ---- how a file is read: another separator, another mark, a code that means a missing value --------------------

const FORM = ["sheet", "sep", "header", "skip", "decimal", "thousands", "encoding", "na", "sentinels", "tidy", "merge"];

const form = { shown: {} }; // what stands in the fields when the page has filled them

// Whether something was said of the form since: what is shown is then of the file as it was read before.
const saidAnew = () => !$("reading-field").hidden && Object.entries(form.shown).some(([name, value]) => $(`reading-${name}`).value !== value);

function remindOfReading() {
  const anew = saidAnew();
  $("reading-suspects").textContent = anew ? "Nothing of this counts before you read the file again."
    : form.suspects || "";
  if (!anew) refresh(0);
  else if (!$("answer").hidden) outdate(true);
}

// What was said of a file's form; only the fields that a file of its kind has are seen.
function showReading({ reading }) {
  $("reading-field").hidden = !reading;
  $("reading-problem").textContent = "";
  $("reading-suspects").textContent = "";
  $("reading-field").open = false;
  for (const name of FORM) {
    const field = $(`reading-${name}`);
    const has = Boolean(reading) && name in reading;
    field.hidden = !has;
    document.querySelector(`label[for=reading-${name}]`).hidden = !has;
    if (!has) continue;
    if (field.options && ![...field.options].some((one) => one.value === reading[name])) {
      field.append(new Option(reading[name])); // said on the command line, which offers more
    }
    field.value = reading[name];
  }
  noteForm();
}

function noteForm() {
  const there = FORM.filter((name) => !$(`reading-${name}`).hidden);
  Object.assign(form, { shown: Object.fromEntries(there.map((name) => [name, $(`reading-${name}`).value])), suspects: $("reading-suspects").textContent });
}

// A code that is suspected is written where it would be declared, and nothing is done about it unasked.
function showSuspects(suspects) {
  const field = $("reading-sentinels");
  if (!suspects.length || $("reading-field").hidden) return;
  field.value = [field.value, ...suspects].filter(Boolean).join(", ");
  $("reading-field").open = true;
  $("reading-suspects").textContent =
    "The suspected codes above are published like any other value until you read the file again.";
  noteForm();
}

// Of a file that is not read there is nothing to choose, and what was shown is about another.
function setUnread(on) {
  offer.unread = on;
  $("chosen").hidden = on;
  if (on) clearShown();
}

// The reason stands above the fields that can mend it, and nothing else is asked until the file is read.
function showUnread(error) {
  setUnread(true);
  setAsked(false); // of what is not read nothing can be secret
  $("reading-problem").textContent = inWords(error);
  $("reading-field").open = true;
  $("reading-field").scrollIntoView({ block: "nearest" });
  tell("This file is not read yet: say how, under “How the file is read”.");
}

async function readAs(table, form) {
  const told = await ask("/api/reading", { table, ...form });
  offerTables(told.tables, told.name);
}

async function readAgain() {
  const fields = FORM.filter((name) => !$(`reading-${name}`).hidden);
  const before = offer.unread ? offer.wanted : { ...question(), column: $("column").value, more: ticked($("more")) };
  $("read-again").disabled = true;
  try {
    await readAs($("table").value, Object.fromEntries(fields.map((name) => [name, $(`reading-${name}`).value])));
    await chooseTable(before);
    if ($("drop-note").classList.contains("bad")) tellDropped(offer.tables.find((one) => one.name === $("table").value).title);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    $("reading-problem").textContent = inWords(error);
    $("reading-problem").scrollIntoView({ block: "nearest" });
  } finally {
    $("read-again").disabled = false;
  }
}

// A link that says how its file is read has it read so, where it was read in another way.
async function chooseLinked(name, wanted) {
  applySettings(wanted);
  $("table").value = name;
  const now = offer.tables.find((one) => one.name === name).reading || {};
  const asked = Object.fromEntries(Object.keys(now).map((field) => [field, wanted.reading[field] || ""]));
  const other = Object.keys(wanted.reading).length > 0 && Object.entries(asked).some(([field, said]) => said !== now[field]);
  try {
    if (other) await readAs(name, asked);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    offer.wanted = wanted;
    showReading({ reading: asked });
    showUnread(error);
    return;
  }
  await chooseTable(wanted);
}

function listenToReading() {
  $("read-again").addEventListener("click", () => readAgain().catch(fail));
  document.querySelector("#reading-field .reading").addEventListener("input", remindOfReading);
}
