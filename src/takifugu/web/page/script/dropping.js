// ---- dropping a file: it goes to the explorer on this machine, and nowhere else --------------------------------

const dropping = { waiting: null }; // what a link asked for, of a table that is not here yet

function sayOfDrop(text, bad = false) {
  $("drop-note").textContent = text;
  $("drop-note").classList.toggle("bad", bad);
}

function tellDropped(title) {
  const what = offer.unread ? "could not be read as it is" : "is open";
  sayOfDrop(`${title} ${what}. It stays on this machine, and is removed when the explorer ends.`, offer.unread);
}

async function openFile(file) {
  const mb = (bytes) => `${Math.max(0.1, bytes / 2 ** 20).toFixed(1)} MB`;
  if (file.size > offer.most.upload) {
    sayOfDrop(`${file.name} has ${mb(file.size)}, and the page takes ${mb(offer.most.upload)}: name it on the command line, takifugu explore FILE.`, true);
    return;
  }
  const [what, since] = [`Reading ${file.name} (${mb(file.size)})`, performance.now()];
  sayOfDrop(`${what}…`);
  const clock = setInterval(() => sayOfDrop(withSeconds(what, since)), 1000);
  try {
    const { name, tables } = await ask("/api/upload", undefined, { file }).finally(() => clearInterval(clock));
    offerTables(tables, name);
    const wanted = dropping.waiting && sameFile(dropping.waiting.table, name) ? dropping.waiting : null;
    dropping.waiting = null;
    if (wanted) await chooseLinked(name, wanted);
    else {
      Object.assign(guarantees, { row: "odds", noise: "odds" });
      setMode("row");
      $("confidence").value = "0.95";
      await chooseTable();
    }
    tellDropped(file.name);
  } catch (error) {
    if (error instanceof Refusal) sayOfDrop(inWords(error), true);
    else throw error;
  }
}

function offerTables(tables, chosen) {
  offer.tables = tables;
  fill($("table"), tables.map((one) => [one.name, one.title]), chosen);
}

function listenToDropping() {
  const over = (on) => (event) => { event.preventDefault(); document.body.classList.toggle("over", on); };
  document.addEventListener("dragover", over(true));
  document.addEventListener("dragleave", over(false));
  document.addEventListener("drop", (event) => {
    over(false)(event);
    const [file] = event.dataTransfer.files;
    if (file) openFile(file).catch(fail);
  });
  $("open").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => {
    const [file] = $("file").files;
    if (file) openFile(file).catch(fail);
    $("file").value = "";
  });
}
