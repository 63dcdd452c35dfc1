// The outbox sends messages in order, and waits while the bridge cannot be reached. Texts survive
// reloading the page. Each item has one key for all tries, so it is sent once.
import { ask, csrf, draftOf, randomKey, refused, root, toast, unreached, visitor } from "./base.js";
import { chat, eachChat, newest } from "./chat.js";
import { listeners } from "./live.js";
import * as pending from "./pending.js";

const prefix = `unsent ${visitor} `;
const items = new Map(); // by key, oldest first
const busy = new Set(); // queues that are sending
const keyLife = 20 * 3600e3; // ms; the bridge stores keys for a day
const longest = 90e3; // ms; timeout of a text
let wait = 1000; // ms until the next try
let timer;

// add adds a text, a file or an album of the open chat.
export function add(item) {
  Object.assign(item, { key: randomKey(), chat: chat.path, at: Date.now(), state: "waiting", after: pending.lastOwn(), part: 0 });
  items.set(item.key, item);
  keep(item);
  if (chat.list.dataset.past !== undefined && !item.files) { // the end is not on this page
    location.href = item.chat;
    return;
  }
  show(item);
  chat.place.home();
  work(queueOf(item));
}

// queueOf returns the queue of an item: texts do not wait for files.
const queueOf = (item) => item.chat + (item.files ? " files" : "");

async function work(queue) {
  if (busy.has(queue)) return;
  busy.add(queue);
  for (;;) {
    const item = [...items.values()].find((one) => queueOf(one) === queue && one.state === "waiting");
    if (!item || !(await deliver(item))) break;
  }
  busy.delete(queue);
}

// deliver sends an item and reports whether the next one may be sent.
async function deliver(item) {
  Object.assign(item, { state: "sending", reason: "", details: "", tried: true });
  show(item);
  try {
    const answer = await (item.files ? upload(item) : post(item));
    Object.assign(item, { state: "sent", id: answer.msgId });
    forget(item);
    if (item.when) { // it is among the scheduled messages
      pending.hide(item.key);
      toast(answer.text);
    } else show(item);
    wait = 1000;
    if (pending.isShown(item.chat)) newest();
    return true;
  } catch (failure) {
    if (!items.has(item.key)) return true; // it was cancelled
    const passes = failure.unreached || [401, 409, 503, 504].includes(failure.status);
    Object.assign(item, { state: passes ? "waiting" : "failed", reason: reasonOf(failure), details: failure.details, part: 0 });
    show(item);
    keep(item);
    if (passes) later();
    else if (!pending.isShown(item.chat)) toast("Not sent: " + item.reason, true);
    return !passes;
  }
}

function reasonOf(failure) {
  if (failure.unreached) return "Can’t reach the bridge. This will be sent once the connection is back.";
  if (failure.status === 409) return ""; // another tab sends it
  return [failure.message, failure.waits].filter(Boolean).join(" ");
}

const post = (item) => ask(item.chat + "/send", new URLSearchParams([
  ["csrf", csrf], ["kind", "text"], ["key", item.key], ["reply", item.reply?.id || ""], ["text", item.text],
  ...(item.mentions || []).map((jid) => ["mention", jid]),
]), AbortSignal.timeout(longest));

// upload sends a file or an album, and shows its progress.
function upload(item) {
  const form = new FormData();
  const fields = { csrf, key: item.key, reply: item.reply?.id || "", caption: item.text, as: item.as || "", ptt: item.ptt ? "yes" : "", once: item.once || "", gif: item.gif || "", at: item.when || "", album: item.album || "" };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const file of item.files) form.append("file", file); // after the fields
  const request = (item.request = new XMLHttpRequest());
  return new Promise((resolve, reject) => {
    request.upload.addEventListener("progress", (event) => {
      item.part = event.loaded / event.total;
      show(item);
    });
    request.upload.addEventListener("load", () => {
      item.part = 1;
      show(item);
    });
    request.addEventListener("loadend", () => {
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // No sentence: an answer of a proxy, or none.
      }
      if (request.status === 200) return resolve(answer);
      reject(request.status ? refused(request.status, answer) : unreached());
    });
    request.open("POST", item.chat + "/file");
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.send(form);
  });
}

// again retries a failed item.
function again(item) {
  if (Date.now() - item.at > keyLife) {
    drop(item);
    item.key = randomKey();
    item.at = Date.now();
    items.set(item.key, item);
  }
  Object.assign(item, { state: "waiting", reason: "", details: "" });
  keep(item);
  show(item);
  work(queueOf(item));
}

// drop removes an item.
function drop(item) {
  forget(item);
  item.request?.abort();
  pending.hide(item.key);
}

function show(item) {
  if (pending.isShown(item.chat) && (items.has(item.key) || item.state === "sent")) pending.show(item, { again, drop });
}

// Storage

function keep(item) {
  if (item.files) return;
  try {
    localStorage.setItem(prefix + item.key, JSON.stringify(item));
  } catch {
    // Without storage the item exists as long as the page.
  }
}

function forget(item) {
  items.delete(item.key);
  localStorage.removeItem(prefix + item.key);
}

function restore() {
  const kept = Object.keys(localStorage).filter((name) => name.startsWith(prefix)).map((name) => JSON.parse(localStorage[name]));
  for (const item of kept.sort((a, b) => a.at - b.at)) {
    if (item.state !== "failed") item.state = "waiting";
    if (Date.now() - item.at > keyLife) Object.assign(item, { state: "failed", reason: "This has waited for too long." });
    items.set(item.key, item);
    show(item);
  }
}

// Retries

function later() {
  clearTimeout(timer);
  timer = setTimeout(flush, wait);
  wait = Math.min(wait * 2, 30e3);
}

function flush() {
  for (const queue of new Set([...items.values()].map(queueOf))) work(queue);
}

function connected() {
  wait = 1000;
  flush();
}

if (visitor) {
  restore();
  flush();
  eachChat(() => items.forEach(show));
  addEventListener("online", connected);
  listeners.push((event) => event.type === "account.status" && connected());
  let offline = document.body.classList.contains("offline");
  new MutationObserver(() => {
    const now = document.body.classList.contains("offline");
    if (offline && !now) connected();
    offline = now;
  }).observe(document.body, { attributeFilter: ["class"] });
  addEventListener("storage", ({ key, newValue }) => { // another tab has sent or deleted it
    const item = key?.startsWith(prefix) && !newValue && items.get(key.slice(prefix.length));
    if (!item || item.state === "sending") return;
    drop(item);
    if (chat.section) newest();
  });
  addEventListener("beforeunload", (event) => {
    if ([...items.values()].some((item) => item.files)) event.preventDefault();
  });
}

// Logging out deletes all stored texts. The dialog that confirms it says so.
const logsOut = (event) => event.target.getAttribute("action") === root + "logout";
document.addEventListener("submit", (event) => {
  if (!logsOut(event) || !items.size || !event.submitter) return;
  event.submitter.dataset.ask = items.size === 1 ? "One message hasn’t been sent yet. Log out and delete it?" : `${items.size} messages haven’t been sent yet. Log out and delete them?`;
}, true);
document.addEventListener("submit", (event) => {
  if (!logsOut(event) || event.defaultPrevented) return;
  items.clear();
  for (const name of Object.keys(localStorage)) if (name.startsWith(prefix) || name.startsWith(draftOf(""))) localStorage.removeItem(name);
});
