// Messages being sent: bubbles after the stored messages, until the stored ones replace them.
import { all, find } from "./base.js";
import { chat, eachChat } from "./chat.js";

const shown = new Map(); // bubbles by the key of their item

// lastOwn returns the id of the newest stored message of the account.
export const lastOwn = () => stored().at(-1)?.dataset.id || "";

const stored = () => all(".msg.out:not(.unsent)", chat.list);

// show adds an item of the outbox after the messages, or updates its state.
export function show(item, { again, drop }) {
  let one = shown.get(item.key);
  if (!one) {
    const bubble = find("#unsent").content.cloneNode(true).firstElementChild;
    bubble.id = "p-" + item.key;
    find("[data-again]", bubble).addEventListener("click", () => again(item));
    find("[data-drop]", bubble).addEventListener("click", () => drop(item));
    shown.set(item.key, (one = { item, bubble }));
    describe(item, bubble);
    find(".history > .empty")?.remove();
  }
  one.item = item;
  paint(one);
  arrange();
}

// hide removes the bubble of an item.
export function hide(key) {
  shown.get(key)?.bubble.remove();
  shown.delete(key);
  arrange();
}

// isShown reports whether this page shows a chat.
export const isShown = (path) => path === chat.path && Boolean(find("#unsent"));

function describe(item, bubble) {
  find("[data-text]", bubble).textContent = item.shown || item.text;
  const at = find("time", bubble);
  at.dateTime = new Date(item.at).toISOString();
  at.textContent = new Date(item.at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: document.body.dataset.zone });
  if (item.reply) {
    find("[data-quote]", bubble).hidden = false;
    find("[data-sender]", bubble).textContent = item.reply.sender;
    find("[data-quoted]", bubble).textContent = item.reply.text;
  }
  if (item.files) {
    find("[data-doc]", bubble).hidden = false;
    find("[data-name]", bubble).textContent = item.name;
    find("[data-size]", bubble).textContent = item.size;
    if (item.picture) find(".file-thumb", bubble).replaceChildren(item.picture);
  }
}

function paint({ item, bubble }) {
  bubble.dataset.state = item.state;
  const bar = find("progress", bubble);
  bar.hidden = !item.files || item.state !== "sending";
  bar.value = item.part || 0;
  bar.setAttribute("aria-label", "Sending " + (item.name || ""));
  const sends = item.files && item.state === "sending" && item.part < 1;
  find(".unsent-acts", bubble).hidden = !item.reason && !sends;
  const reason = find("[data-reason]", bubble);
  if (item.reason && item.reason !== reason.textContent) announce(`${item.state === "failed" ? "Not sent" : "Not sent yet"}: ${item.reason}`);
  reason.textContent = item.reason || "";
  find("[data-details]", bubble).textContent = item.details || "";
  find(".reason", bubble).hidden = !item.details;
  find("[data-again]", bubble).hidden = item.state === "sending";
  find("[data-drop]", bubble).textContent = sends ? "Cancel" : "Delete";
}

// announce lets screen readers read a sentence.
export function announce(text) {
  find("#announcement").textContent = text;
}

// arrange moves the bubbles to the end and replaces sent ones by their stored messages.
function arrange() {
  const { list } = chat;
  for (const one of all(".msg[data-twin]", list)) {
    one.hidden = false;
    delete one.dataset.twin;
  }
  const taken = new Set();
  for (const [key, { item, bubble }] of [...shown]) {
    const twin = item.id ? stored().find((one) => one.dataset.id === item.id) : twinOf(item, taken);
    if (twin && item.state === "sent") {
      shown.delete(key);
      bubble.remove();
    } else if (twin) {
      taken.add(twin);
      twin.hidden = true;
      twin.dataset.twin = item.key;
      const drop = find("[data-drop]", bubble);
      if (item.state === "failed" && drop.textContent !== "Dismiss") drop.textContent = "Dismiss"; // the stored message stays
    }
  }
  const bubbles = [...shown.values()].map((one) => one.bubble);
  if (bubbles.some((bubble, i) => list.children[list.children.length - bubbles.length + i] !== bubble)) list.append(...bubbles);
}

// twinOf finds the stored message of an unanswered send: the first new own message with the same text,
// a file or an album.
function twinOf(item, taken) {
  if (!item.tried) return undefined;
  const own = stored();
  const before = own.findIndex((one) => one.dataset.id === item.after);
  const later = before >= 0 ? own.slice(before + 1) : own.filter((one) => new Date(find("time", one)?.dateTime) > item.at - 60e3);
  return later.find((one) => !taken.has(one) && (item.files ? item.part === 1 && Boolean(find(".album", one)) === Boolean(item.album) && find("img, [data-sound], .picture, .doc", one) : says(one, item.shown || item.text)));
}

// plain returns a text without the characters that formatting and lists may change.
const plain = (text) => text.replace(/[\s*_~`>.•-]|\d+\./gu, "");

// says reports whether a stored message shows a text.
function says(message, text) {
  const shown = all(".text", message).map((one) => {
    const bare = one.cloneNode(true);
    find(".meta", bare)?.remove();
    return bare.textContent;
  }).join("");
  return plain(shown) === plain(text);
}

eachChat(() => {
  shown.clear();
  new MutationObserver(() => shown.size && arrange()).observe(chat.list, { childList: true, subtree: true });
});
