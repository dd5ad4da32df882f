// ---- taking it along: the same without the page, files, and the published table --------------------------------

// A line ends between words, and not after the first hyphen of "--odds"; what is copied is the text as it was.
function inWholeWords(text) {
  return text.split(/( )/).map((part) => {
    if (part === " ") return part;
    const word = document.createElement("span");
    word.className = "word";
    word.textContent = part;
    return word;
  });
}

function showCode({ command, python }) {
  $("command").replaceChildren(...inWholeWords(command || ""));
  $("command-box").hidden = !command;
  $("no-command").hidden = Boolean(command);
  $("python").textContent = python;
}

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy it by hand";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// What is being done for a download is said where its end will be.
async function followed(answer) {
  let goesOn = true;
  const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);
  watch("download", () => goesOn, (words) => { if (words) $("saved").textContent = capital(words); });
  return answer.finally(() => { goesOn = false; });
}

// What was asked for is about the question as it was then: it is no answer to another.
const isAsked = (asked) => JSON.stringify(question()) === asked;
const CHANGED = "The question was changed meanwhile: ask again when its answer is there.";

async function download(kind, name, button) {
  if (!shown.settled) return;
  const asked = JSON.stringify(shown.settled);
  button.disabled = true;
  $("saved").textContent = { certificate: "Proving…", public: "Proving…" }[kind] || `Writing the ${kind}…`;
  try {
    const blob = await followed(shown.ticket && ["report", "certificate", "public", "calibration", "statement"].includes(kind)
      ? ask("/api/download/published", { kind, ticket: shown.ticket })
      : ask(`/api/download/${kind}`, { ...shown.settled, ...details() }));
    if (!isAsked(asked)) throw new Refusal(CHANGED);
    keep(blob, name);
    $("saved").textContent = `Saved as ${name}.`;
  } catch (error) {
    $("saved").textContent = inWords(error);
  } finally {
    button.disabled = false;
  }
}

// First what would go out is said, and a ticket for exactly that is kept; the dialog's button spends it.
async function prepare(button) {
  if (!shown.settled) return;
  const asked = JSON.stringify(shown.settled);
  button.disabled = true;
  $("saved").textContent = "Proving that it keeps the guarantee, before anything is published…";
  try {
    const told = await followed(ask("/api/publication", { ...shown.settled, ...details() }));
    if (!isAsked(asked)) throw new Refusal(CHANGED);
    $("saved").textContent = "";
    const warnings = told.warnings.map((text) => [text, "finding-warning"]);
    list($("publish-words"), [...told.sentences.map((text) => [text]), ...warnings]);
    $("publish-sure").checked = false;
    $("publish-now").disabled = true;
    $("publish-dialog").dataset.ticket = told.ticket;
    $("publish-dialog").dataset.question = asked;
    $("publish-dialog").showModal();
    $("publish-dialog").scrollTop = 0; // what is focused is at the end of what is to be read
  } catch (error) {
    $("saved").textContent = inWords(error);
  } finally {
    button.disabled = false;
  }
}

async function publish(ticket) {
  $("publish-dialog").close();
  $("saved").textContent = "Drawing what is published…";
  try {
    keep(await ask("/api/download/table", { ticket }), "published.csv");
    shown.ticket = ticket;
    shown.published = $("publish-dialog").dataset.question;
    $("again").hidden = false;
    $("get-statement").hidden = JSON.parse(shown.published).query !== "row";
    $("saved").textContent = "Saved as published.csv. These records are published now: the ledger remembers it.";
  } catch (error) {
    $("saved").textContent = inWords(error);
  }
}

function listenToTaking() {
  const files = { report: "report.html", certificate: "certificate.json", public: "certificate-public.json", calibration: "calibration.json", statement: "statement.json", notebook: "notebook.ipynb", plan: "plan.toml" };
  for (const [kind, name] of Object.entries(files)) {
    $(`get-${kind}`).addEventListener("click", (event) => download(kind, `takifugu-${name}`, event.currentTarget));
  }
  for (const name of ["command", "python"]) {
    $(`copy-${name}`).addEventListener("click", (event) => copy($(name).textContent, event.currentTarget));
  }
  $("copy-link").addEventListener("click", (event) => copy(linkOf(shown.settled), event.currentTarget));
  $("publish").addEventListener("click", (event) => prepare(event.currentTarget));
  $("publish-sure").addEventListener("change", () => { $("publish-now").disabled = !$("publish-sure").checked; });
  $("publish-not").addEventListener("click", () => $("publish-dialog").close());
  $("publish-now").addEventListener("click", () => publish($("publish-dialog").dataset.ticket));
  $("again").addEventListener("click", () => { if (shown.ticket) publish(shown.ticket); });
}
