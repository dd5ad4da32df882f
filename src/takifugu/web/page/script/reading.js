// ---- reading a file again: another separator, another mark, a code that means a missing value ------------------

const FORM = ["sep", "decimal", "encoding", "na", "sentinels"];

// A code that is suspected is written where it would be declared, and nothing is done about it unasked.
function showReading({ reading, suspects }) {
  $("reading-field").hidden = !reading;
  if (!reading) return;
  for (const name of FORM) $(`reading-${name}`).value = reading[name];
  if (suspects.length) $("reading-sentinels").value = [reading.sentinels, ...suspects].filter(Boolean).join(", ");
  $("reading-field").open = suspects.length > 0;
  $("reading-problem").textContent = "";
}

async function readAgain() {
  const asked = { table: $("table").value };
  for (const name of FORM) asked[name] = $(`reading-${name}`).value;
  $("read-again").disabled = true;
  try {
    const { name, tables } = await ask("/api/reading", asked);
    const before = { ...question(), column: $("column").value };
    offerTables(tables, name);
    await chooseTable({ ...before, table: name });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    $("reading-problem").textContent = inWords(error);
  } finally {
    $("read-again").disabled = false;
  }
}

const listenToReading = () => $("read-again").addEventListener("click", () => readAgain().catch(fail));
