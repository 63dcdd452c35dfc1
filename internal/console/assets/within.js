// Search within the open chat: goes from result to result, without loading the page again.
import { ask, debounced, find, toast } from "./base.js";
import { chat, eachChat, here, visit } from "./chat.js";

let bar, box, status, older, newer; // the elements of the open chat
const none = { words: "", ids: [], more: "", fold: "" };
let hits = none;
let at = -1; // index of the shown result; the newest has 0

// remember stores the search in the history, so that Back returns to it.
function remember() {
  const rest = { ...history.state };
  delete rest.within;
  history.replaceState(bar.hidden || !hits.words ? rest : { ...rest, within: { words: hits.words, id: hits.ids[at] } }, "");
}

function draw() {
  const count = hits.more ? hits.ids.length + "+" : hits.ids.length;
  if (!hits.words) status.textContent = "";
  else status.textContent = hits.ids.length ? `${at + 1} of ${count}` : "No results";
  older.disabled = at < 0 || (at === hits.ids.length - 1 && !hits.more);
  newer.disabled = at < 1;
}

async function read(words, cursor = "") {
  const answer = await here(ask(`${bar.dataset.from}?${new URLSearchParams({ q: words, cursor })}`));
  return cursor ? { ...answer, words, ids: [...hits.ids, ...answer.ids] } : { ...answer, words };
}

// show shows a result.
async function show(to) {
  at = to;
  draw();
  remember();
  await visit(hits.ids[to], `&${new URLSearchParams({ q: hits.words, fold: hits.fold })}`);
}

// attempt runs an action and shows its failure.
async function attempt(action) {
  try {
    await action();
  } catch (failure) {
    if (failure.name !== "AbortError") toast(failure.message, true);
  }
}

// look searches for the words in the box, and shows the newest result or the one with an id.
const look = (id) => attempt(async () => {
  const words = box.value.trim();
  if (words === hits.words && !id) return;
  hits = [...words].length < 2 ? none : await read(words);
  if (box.value.trim() !== words) return; // the visitor has typed more
  at = -1;
  draw();
  remember();
  if (hits.ids.length) await show(Math.max(0, hits.ids.indexOf(id)));
});

const step = (by) => attempt(async () => {
  if (at + by >= hits.ids.length && hits.more) hits = await read(hits.words, hits.more);
  if (hits.ids[at + by]) await show(at + by);
});

function open() {
  bar.hidden = false;
  box.focus();
  box.select();
}

function close() {
  bar.hidden = true;
  hits = none;
  box.value = "";
  remember();
  for (const mark of chat.list.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
}

eachChat(() => {
  bar = find("#within");
  box = find("input", bar);
  status = find("[role=status]", bar);
  [older, newer] = [find("[data-older-hit]", bar), find("[data-newer-hit]", bar)];
  [hits, at] = [none, -1];
  box.addEventListener("input", debounced(() => look(), 250));
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    if (box.value.trim() === hits.words) step(1);
    else look();
  });
  bar.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the chat must not handle keys
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && event.shiftKey) step(-1);
    else if (event.key === "ArrowUp") step(1);
    else if (event.key === "ArrowDown") step(-1);
    else return;
    event.preventDefault();
  });
  older.addEventListener("click", () => step(1));
  newer.addEventListener("click", () => step(-1));
  find("[data-close]", bar).addEventListener("click", close);
  const kept = history.state?.within;
  if (kept) {
    bar.hidden = false;
    box.value = kept.words;
    look(kept.id);
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-within]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest("details").open = false;
  open();
});
