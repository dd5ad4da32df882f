// ---- asking in turn: the latest question wins ------------------------------------------------------------------

const PAUSE = 40; // milliseconds a slider must rest before the server is asked
const PATIENCE = 1000; // milliseconds that a moving slider waits for the answer to its last place
const SLOW = 400; // milliseconds after which a wait is worth a word
const turns = { latest: 0, floor: 0, shown: 0, flying: 0, since: 0, timer: 0, send: null, training: false, slow: 0, words: "", following: false, lookup: null };

// Every change has a number. An answer is shown if it is newer than the one shown and no other choice than a
// slider's place was made since it was asked for; so figures follow a moving slider, and nothing old comes back.
function changed(moving) {
  turns.latest += 1;
  if (!moving) turns.floor = turns.latest;
  outdate();
  return turns.latest;
}

// What a table or a column of secrets brings. Until it is there, half of the form is of one and half of another: nothing
// is asked, and whatever is moved meanwhile goes into the question that follows. Null where a newer choice overtook it.
async function lookUp(path, body) {
  const mine = { path };
  turns.lookup = mine;
  changed(false);
  clearTimeout(turns.timer);
  turns.timer = 0;
  busy(true, "reading the table");
  const told = ask(path, body);
  await told.catch(() => null);
  if (turns.lookup !== mine) return null;
  turns.lookup = null;
  return told;
}

const narrow = matchMedia("(max-width: 48rem)");
const details = () => ({ page: pageName, narrow: narrow.matches });

function busy(on, words = "working") {
  if (on) turns.words = words;
  if (!on || !turns.slow) {
    clearTimeout(turns.slow);
    turns.slow = on ? setTimeout(() => {
      $("busy").textContent = `${words}…`;
      $("outdated").hidden = $("answer").hidden;
      follow();
    }, SLOW) : 0;
  }
  if (!on) {
    $("busy").textContent = "";
    $("outdated").hidden = true;
  }
  $("result").setAttribute("aria-busy", String(on));
}

// While the server is at work, what it is at, and for how long.
async function follow() {
  if (turns.following) return;
  turns.following = true;
  const since = performance.now();
  const goesOn = () => $("result").getAttribute("aria-busy") === "true";
  // A table is read without a word from the server: the page then says itself how long it takes.
  await watch("answer", goesOn, (words) => { $("busy").textContent = words || withSeconds(turns.words, since); });
  turns.following = false;
}

function withSeconds(words, since) {
  const seconds = Math.floor((performance.now() - since) / 1000);
  return seconds >= 2 ? `${words}, ${seconds} s` : `${words}…`;
}

// Of an answer or of a download, told again and again while it goes on; null where the server has nothing to tell.
async function watch(lane, goesOn, show) {
  while (goesOn()) {
    const told = await ask("/api/progress", { page: pageName }).catch(() => null);
    if (!goesOn()) return;
    const here = told && told[lane];
    show(here && (here.seconds ? `${here.words}, ${here.seconds} s` : `${here.words}…`));
    await new Promise((wake) => { setTimeout(wake, 700); });
  }
}

function refresh(pause = PAUSE, extra = {}, moving = false) {
  if (turns.lookup || !$("secret").value) return; // what is asked for then waits for a secret
  changed(moving);
  tidy();
  guarantees[mode()] = $("promise").value;
  document.body.dataset.asked = JSON.stringify(question());
  const good = validNumbers(offer.limits); // both tell what is wrong with them
  if (!validColumns() || !good) {
    turns.floor = turns.latest;
    clearTimeout(turns.timer);
    turns.timer = 0;
    unsettle();
    return;
  }
  busy(true, extra.train ? "training the network" : "working");
  if (moving && (turns.timer || turns.training)) return; // what leaves next, or follows the training, takes this along
  clearTimeout(turns.timer);
  // One question at a time while a slider moves, unless the last one takes long: the server is not to be flooded.
  const turn = moving && turns.flying ? turns.since + PATIENCE - performance.now() : 0;
  turns.send = () => send(extra);
  turns.timer = setTimeout(turns.send, Math.max(pause, turn));
}

async function send(extra) {
  clearTimeout(turns.timer);
  turns.timer = 0;
  turns.flying += 1;
  turns.since = performance.now();
  turns.training = Boolean(extra.train);
  const mine = turns.latest;
  const asked = question();
  try {
    const answer = await ask("/api/answer", { ...asked, ...details(), turn: mine, ...extra });
    if (mine >= turns.floor && mine > turns.shown) {
      turns.shown = mine;
      tell("");
      show(answer, asked);
      if (saidAnew()) outdate(true);
      else if (mine < turns.latest) outdate(turns.following); // of a slider that is moving on
    }
  } catch (error) {
    if (mine === turns.latest && error instanceof Overtaken) refresh(0, extra); // by none that is known here
    else if (mine === turns.latest) fail(error);
  } finally {
    turns.flying -= 1;
    if (extra.train) turns.training = false;
    if (mine === turns.latest) busy(false);
    else if (turns.timer) turns.send();
    else if (extra.train) refresh(0);
  }
}
