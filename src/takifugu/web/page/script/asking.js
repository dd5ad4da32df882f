// ---- asking the server -----------------------------------------------------------------------------------------

// The token opens the door once and then leaves the address, so that no screenshot or bookmark shows it.
const token = new URLSearchParams(location.search).get("token");
const held = location.hash.slice(1); // what a link asks for; it never leaves the browser
sessionStorage.setItem("takifugu-token", token);
history.replaceState(null, "", "/");

// A link opened in another tab meets the closed door, which asks the open tabs of this very address for the token.
const neighbours = new BroadcastChannel("takifugu");
neighbours.onmessage = (event) => { if (event.data === "token?") neighbours.postMessage({ token }); };

const pageName = crypto.randomUUID(); // the server drops what a newer question of the same page has overtaken
const $ = (id) => document.getElementById(id);

class Refusal extends Error {
  constructor(text, about = null) {
    super(text);
    this.about = about; // the question of the page that it is about, where that is known
  }
}
class Overtaken extends Error {}

async function ask(path, body, { file = null } = {}) {
  const options = { headers: { "X-Takifugu-Token": token }, cache: "no-store" };
  if (file) {
    Object.assign(options, { method: "POST", body: file });
    options.headers["Content-Type"] = "application/octet-stream";
    options.headers["X-Takifugu-File"] = encodeURIComponent(file.name);
  } else if (body !== undefined) {
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    options.headers["Content-Type"] = "application/json";
  }
  // A connection that was kept may be closed just as it is used: a question is asked again, and costs nothing.
  const again = () => new Promise((wake) => { setTimeout(wake, PAUSE); }).then(() => fetch(path, options));
  const isQuestion = !file && !path.startsWith("/api/download");
  const response = await fetch(path, options).catch((error) => { if (isQuestion) return again(); throw error; }).catch(() => {
    throw new Refusal("The explorer does not answer: is the command in the terminal still running?");
  });
  const kind = response.headers.get("Content-Type") || "";
  if (path.startsWith("/api/download") && response.ok) return response.blob();
  const data = kind.startsWith("application/json") ? await response.json() : {};
  if (data.overtaken) throw new Overtaken();
  // A good question that has no answer is told why; an error is a question this page should never have asked.
  if (!response.ok || data.refusal) throw new Refusal(data.refusal || data.error || "The explorer gave no answer.", data.about);
  return data;
}

const inWords = (error) => (error instanceof Refusal ? sentence(error.message) : "The page could not show the answer.");
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
