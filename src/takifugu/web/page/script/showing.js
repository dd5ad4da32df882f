// ---- showing what was found ------------------------------------------------------------------------------------

// published: the question that the ticket was spent on; touched: the control of the question that was moved last
const shown = { settled: null, ticket: null, published: null, touched: null };
const QUESTIONS = { secret: "ask-secret", columns: "ask-out", lists: "ask-out", known: "ask-adversary" };
const STICKY = 64; // pixels at the top of a telephone, where the figure stays

function tell(text) {
  $("problem").textContent = text || "";
  $("problem").hidden = !text;
  $("problem-here").textContent = "";
}

// What went wrong stands above the figure. Where that is out of sight it is said beside what was moved as well, and
// what is known to be about one question stands beside that.
function tellInSight(text, about = null) {
  tell(text);
  const beside = QUESTIONS[about] ? $(QUESTIONS[about]) : null;
  const { top, bottom } = $("problem").getBoundingClientRect();
  const seen = top >= (narrow.matches ? STICKY : 0) && bottom <= innerHeight;
  const place = beside || (seen ? null : shown.touched);
  if (!place) {
    if (!seen) $("problem").scrollIntoView({ block: "nearest" });
    return;
  }
  place.append($("problem-here"));
  $("problem-here").textContent = text;
  if (!seen) $("problem-here").scrollIntoView({ block: "nearest" });
}

function unsettle() {
  shown.settled = null;
  busy(false);
  $("theta").textContent = "–";
  $("in-words").textContent = $("guarantee").textContent = "";
  $("answer").classList.add("stale");
  $("answer").inert = true;
  $("outdated").hidden = $("answer").hidden;
  delete document.body.dataset.settled;
}

// From the very moment of a change nothing can be taken or published of what is shown; where a new answer takes its
// time, it is dimmed as well, and said to be out of date.
function outdate(told = false) {
  shown.settled = null;
  $("answer").inert = true;
  if (told) $("outdated").hidden = false;
}

// Another table is being opened, or there is no answer: nothing that was said or shown before may stand under its name.
function clearShown() {
  unsettle();
  tell("");
  for (const id of ["figure-before", "figure-after", "announce"]) $(id).textContent = "";
  $("answer").hidden = $("outdated").hidden = true;
}

function fail(error) {
  clearShown(); // the old command would be taken for that of what is chosen now
  tellInSight(inWords(error), error.about);
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
  $("guarantee").textContent = answer.guarantee;
  $("in-words").textContent = answer.in_words;
  list($("changes"), (answer.changes || []).map((text) => [text]));
  $("changes").hidden = !answer.changes;
  $("use-more").open = !answer.changes;
  $("get-plan").hidden = !answer.has_plan;
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
    $("again").hidden = $("get-statement").hidden = true;
    $("saved").textContent = answer.certifiable ? "" : "There is no certificate: this mechanism gives no full guarantee here.";
  }
  $("answer").classList.remove("stale");
  $("answer").inert = false;
  $("answer").hidden = false;
  $("outdated").hidden = true;
  shown.settled = asked;
  document.body.dataset.settled = JSON.stringify(asked);
  remember();
}
