// ---- showing what was found ------------------------------------------------------------------------------------

// published: the question that the ticket was spent on; touched: the control of the question that was moved last
const shown = { settled: null, ticket: null, published: null, touched: null };
const STICKY = 64; // pixels at the top of a telephone, where the figure stays

function tell(text) {
  $("problem").textContent = text || "";
  $("problem").hidden = !text;
  $("problem-here").textContent = "";
}

// What went wrong stands above the sliders. Where that is out of sight it is said beside what was moved as well.
function tellInSight(text) {
  tell(text);
  const { top, bottom } = $("problem").getBoundingClientRect();
  if (top >= (narrow.matches ? STICKY : 0) && bottom <= innerHeight) return;
  if (!shown.touched) {
    $("problem").scrollIntoView({ block: "nearest" });
    return;
  }
  let place = shown.touched;
  while (!place.classList.contains("wide")) place = place.nextElementSibling; // below both of two that share a line
  place.after($("problem-here"));
  $("problem-here").textContent = text;
  $("problem-here").scrollIntoView({ block: "nearest" });
}

function unsettle() {
  shown.settled = null;
  busy(false);
  $("theta").textContent = "–";
  $("in-words").textContent = "";
  $("answer").classList.add("stale");
  $("answer").inert = true;
  delete document.body.dataset.settled;
}

// Another table is being opened, or there is no answer: nothing that was said or shown before may stand under its name.
function clearShown() {
  unsettle();
  tell("");
  for (const id of ["figure-before", "figure-after", "announce"]) $(id).textContent = "";
  $("answer").hidden = true;
}

function fail(error) {
  clearShown(); // the old command would be taken for that of what is chosen now
  tellInSight(inWords(error));
}

function draw(box, source) {
  // Parsed apart from the page, where nothing in it could run or load, and taken over only if it is one picture.
  const { children } = new DOMParser().parseFromString(source, "text/html").body;
  if (children.length !== 1 || !(children[0] instanceof SVGElement)) throw new Refusal("A chart could not be drawn.");
  box.replaceChildren(document.importNode(children[0], true));
}

function figure({ id, caption, svg }) {
  const found = document.createElement("figure");
  const box = document.createElement("div");
  box.id = `chart-${id}`;
  draw(box, svg);
  const words = document.createElement("figcaption");
  words.textContent = caption;
  found.append(words, box);
  return found;
}

function list(box, entries) {
  box.replaceChildren(...entries.map(([text, kind]) => {
    const item = document.createElement("li");
    if (kind) item.className = kind;
    item.textContent = text;
    return item;
  }));
}

function show(answer, asked) {
  const { before, value, after } = answer.figure;
  $("figure-before").textContent = before;
  $("theta").textContent = value;
  $("figure-after").textContent = after;
  $("announce").textContent = `${before.replace("=", "is")} ${value} ${after}`.trim();
  $("in-words").textContent = answer.in_words;
  $("guess-words").textContent = answer.guess_words;
  $("odds-words").textContent = answer.odds_words;
  $("use-words").textContent = answer.use_words;
  for (const side of ["before", "after"]) {
    $(`name-${side}`).textContent = answer[`${side}_words`];
    $(`text-${side}`).textContent = answer.guess_texts[side];
    $(`bar-${side}`).style.width = `${100 * answer.guess[side]}%`;
  }
  $("bar-coin").style.width = "50%";
  $("charts").replaceChildren(...answer.charts.map(figure));
  const findings = answer.findings.filter((one) => !offer.about.findings.includes(one.sentence)); // told at the table
  list($("findings"), findings.map((one) => [sentence(one.sentence), `finding-${one.level}`]));
  $("findings-box").hidden = findings.length === 0;
  showCode(answer);
  for (const id of ["get-certificate", "get-public"]) $(id).disabled = !answer.certifiable;
  $("publish").disabled = !answer.publishable;
  if (JSON.stringify(asked) !== shown.published) { // the same is asked again when the page is turned: it stays published
    shown.ticket = shown.published = null;
    $("again").hidden = true;
    $("saved").textContent = answer.certifiable ? "" : "There is no certificate: this mechanism gives no full guarantee here.";
  }
  $("answer").classList.remove("stale");
  $("answer").inert = false;
  $("answer").hidden = false;
  shown.settled = asked;
  document.body.dataset.settled = JSON.stringify(asked);
  remember();
}
