// Opens a chat of the list in place of the open one. The page stays, with its list, the audio that plays and what is being
// sent.
import { all, find, loadAny, toast, unreached } from "./base.js";
import { chat, isAbout, put } from "./chat.js";
import { showOpen } from "./chats.js";
import { listeners, start } from "./live.js";
import { positionIn } from "./place.js";
import { isRecording } from "./record.js";

let asked; // the request for the next chat
let shown = addressOf(location); // of the open chat

// addressOf returns an address without its hash.
function addressOf({ pathname, search }) {
  return pathname + search;
}

// read loads a chat, with the message at the position that the visitor goes back to. It loads it again if the chat changes
// meanwhile, because nothing else would bring it up to date.
async function read(address, returns, signal) {
  const from = new URL(address, location), position = returns && positionIn(from.pathname);
  from.searchParams.set("part", "chat");
  if (position && !from.searchParams.has("at")) from.searchParams.set("at", position.id);
  let changes;
  const note = (event) => changes.push(event);
  listeners.push(note);
  try {
    for (let section; ; ) {
      changes = [];
      const { response, page } = await loadAny(from, { signal });
      section = response.ok && find(".chat", page);
      if (!section || !changes.some((event) => isAbout(event, section.dataset.chat))) return section;
    }
  } finally {
    listeners.splice(listeners.indexOf(note), 1);
  }
}

// open shows the chat with an address. before changes the address of the page, if the visitor did not go back to it.
async function open(address, before) {
  asked?.abort();
  const request = (asked = new AbortController());
  let section;
  try {
    section = await read(address, !before, request.signal);
  } catch (failure) {
    if (failure.name === "AbortError") return;
    if (before) toast(unreached().message, true);
    else location.reload();
    return;
  }
  if (request !== asked) return;
  if (!section || isRecording()) return before ? location.assign(address) : location.reload();
  before?.();
  shown = addressOf(location);
  for (const dialog of all("dialog[open]")) dialog.close();
  find("main > div.notice")?.remove(); // about what was done in the chat before
  if (document.activeElement.matches("[data-row]")) document.activeElement.blur(); // the composer gets the focus
  put(section, !before);
  showOpen();
  start(section);
  find("#opened").textContent = find(".chat-title h1", section).textContent;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("#chats .chat-row");
  if (!link || !chat.section || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || isRecording()) return;
  event.preventDefault();
  link.ariaBusy = "true"; // it looks chosen at once
  open(link.href, () => history[addressOf(link) === shown ? "replaceState" : "pushState"](null, "", link.href))
    .finally(() => (link.ariaBusy = null));
});

addEventListener("popstate", () => {
  if (!chat.section || addressOf(location) === shown) return;
  if (!isRecording()) return open(location.href);
  history.pushState(null, "", shown);
  toast("Send or discard the voice note first.", true);
});
