// ---- beginning -------------------------------------------------------------------------------------------------

function listen() {
  const safely = (act) => () => Promise.resolve(act()).catch(fail);
  const now = () => refresh(0);
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("controls").addEventListener("change", (event) => { shown.touched = event.target.closest("#chosen .ask"); }, true);
  $("result").addEventListener("input", () => { shown.touched = null; }, true);
  $("table").addEventListener("change", safely(() => chooseTable()));
  $("secret").addEventListener("change", safely(() => (turns.lookup?.path === "/api/table" ? null : chooseSecret()))); // those of the table come with it
  $("first").addEventListener("change", () => { keepApart("first", "second"); now(); });
  $("second").addEventListener("change", () => { keepApart("second", "first"); now(); });
  for (const id of ["query", "column", "prior", "mechanism", "promise", "confidence", "columns", "known", "more", "leave-out"]) {
    $(id).addEventListener("change", now);
  }
  for (const id of ["lists", "other"]) $(id).addEventListener("input", () => refresh(600)); // while it is typed
  for (const radio of document.querySelectorAll("input[name=mode]")) {
    radio.addEventListener("change", () => { $("promise").value = guarantees[mode()]; now(); });
  }
  listenToSliders(() => refresh(PAUSE, {}, true), () => refresh(200));
  $("train").addEventListener("click", () => refresh(0, { train: true }));
  narrow.addEventListener("change", now);
  listenToTaking();
  listenToDropping();
  listenToReading();
}

async function begin() {
  const start = await ask("/api/start");
  Object.assign(offer, { limits: start.limits, most: start.most, mechanisms: start.mechanisms, vectors: start.vectors, keeps: start.keeps });
  offerTables(start.tables);
  fill($("mechanism"), Object.keys(start.mechanisms).map((name) => [name, name]), "exact");
  const levels = start.confidences.map((level) => [String(level), `for the population, ${100 * level} %`]);
  fill($("confidence"), [...levels, ["", "for these rows alone"]], "0.95");
  $("drop-limit").textContent = `CSV, Excel or Parquet, up to ${start.most.upload / 2 ** 20} MB.`;
  if (!start.bnn) $("query-bnn").remove();
  for (const [name, value] of [["alpha", 3], ["epsilon", 0.3], ["odds", 3], ["delta", 1e-5]]) {
    const [low, high] = start.limits[name];
    Object.assign($(name), { min: low, max: high });
    setNumber(name, value);
  }
  listen();
  const wanted = remembered();
  const like = (same) => wanted && start.tables.find((one) => same(one.name, wanted.table));
  const here = like((one, other) => one === other) || like(sameFile);
  if (here) {
    await chooseLinked(here.name, wanted);
    return;
  }
  if (wanted) {
    dropping.waiting = wanted;
    $("drop-note").textContent = `The link is about ${unnumbered(wanted.table).replace("file:", "")}, which is not open here: drop it on the page.`;
  }
  await chooseTable();
}
begin().catch(fail);
