// Opens a chat of the list without loading the page: the list stays, and messages continue to be sent.
import { all, find, loadAny, toast, unreached } from "./base.js";
import { chat, isAbout, put } from "./chat.js";
import { showOpen } from "./chats.js";
import { listeners, start, tell } from "./live.js";
import { positionIn } from "./place.js";
import { isRecording } from "./record.js";

let asked; // the request for the next chat
let shown = addressOf(location); // of the open chat
const version = find(".chat")?.dataset.page; // of the session and the scripts of this page

// addressOf returns an address without its hash.
function addressOf({ pathname, search }) {
  return pathname + search;
}

// read loads a chat, with the message at the position that the visitor goes back to.
async function read(url, returns, signal) {
  const from = new URL(url), query = from.searchParams, position = returns && positionIn(url.pathname);
  query.set("part", "chat");
  if (position && (!query.has("at") || query.has("place"))) query.set("at", position.id);
  const { response, page } = await loadAny(from, { signal });
  if (response.ok) return find(".chat", page);
  if (response.status !== 404 || !position) return undefined;
  query.delete("at"); // the message was deleted
  return find(".chat", (await loadAny(from, { signal })).page);
}

// open shows the chat with an address. changeAddress sets the address of the page; it is undefined if the visitor went back,
// because the browser has then set it.
async function open(address, changeAddress) {
  const url = new URL(address), missed = [];
  const note = (event) => missed.push(event);
  asked?.abort();
  const request = (asked = new AbortController());
  listeners.push(note);
  let section;
  try {
    section = await read(url, !changeAddress, request.signal);
  } catch (failure) {
    if (failure.name !== "AbortError") stay(unreached().message, !changeAddress);
    return;
  } finally {
    listeners.splice(listeners.indexOf(note), 1);
  }
  if (request.signal.aborted) return;
  if (section?.dataset.page !== version || isRecording()) return changeAddress ? location.assign(address) : location.reload();
  changeAddress?.();
  shown = addressOf(url);
  for (const dialog of all("dialog[open]")) dialog.close();
  find("main > div.notice")?.remove(); // about what was done in the chat before
  if (document.activeElement.matches("[data-row]")) document.activeElement.blur(); // the composer gets the focus
  put(section, url.pathname, !changeAddress);
  showOpen();
  start(section);
  find("#opened").textContent = find(".chat-title h1", section).textContent;
  for (const event of missed) if (isAbout(event, chat.jid)) tell(event);
}

// stay says why the open chat stays. If the visitor went back, the page gets its address again.
function stay(why, returns) {
  if (returns) history.pushState(null, "", shown);
  toast(why, true);
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
  if (!chat.section) return;
  if (addressOf(location) === shown) asked?.abort(); // back at the open chat, before the other one has come
  else if (isRecording()) stay("Send or discard the voice note first.", true);
  else open(location.href);
});
