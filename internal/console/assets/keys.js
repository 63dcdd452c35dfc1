// The keyboard: the initial focus, and moving between chats, messages and the composer.
import { all, find, isFree, root } from "./base.js";
import { chat, eachChat } from "./chat.js";
import { answer, edit, leave, textField } from "./composer.js";
import { close as closeSuggestions } from "./mentions.js";
import { markRead } from "./reading.js";

let history, list, composer, area; // elements of the open chat
let current; // id of the message that has or last had the focus
const controls = "a[href], button, summary, input:not([type=hidden]), textarea, select, audio[controls], video[controls], [tabindex='0']";

const visible = (one) => one.checkVisibility() && !one.disabled;
const inside = (box) => all(controls, box).filter(visible);
const typing = (target) => target.matches("input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]");

// Groups with one tab stop

// roving makes the controls of a box one tab stop; arrows move between them.
function roving(box, chosen) {
  const stops = () => inside(box).filter((one) => !one.closest(".menu-box, dialog"));
  const apply = () => {
    const list = stops();
    const stop = list.find((one) => one === document.activeElement) || list.find((one) => one.matches(chosen)) || list[0];
    for (const one of list) {
      const wanted = one === stop ? "0" : "-1";
      if (one.getAttribute("tabindex") !== wanted) one.setAttribute("tabindex", wanted);
    }
  };
  apply();
  new MutationObserver(apply).observe(box, { childList: true, subtree: true, attributeFilter: ["tabindex", "hidden"] });
  box.addEventListener("focusin", apply);
  box.addEventListener("keydown", (event) => {
    const back = getComputedStyle(box).direction === "rtl" ? "ArrowRight" : "ArrowLeft";
    const by = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: 1, [back]: -1 }[event.key];
    const list = stops();
    const at = list.indexOf(event.target);
    if (!by || at < 0 || plain(event)) return;
    event.preventDefault();
    list[(at + by + list.length) % list.length].focus();
  });
}

// plain reports whether a key is pressed without modifiers.
const plain = (event) => event.ctrlKey || event.metaKey || event.altKey;

// Messages

const messages = () => all(".msg:not([hidden])", list);

function focusMessage(message) {
  if (!message) return;
  current = message.id;
  message.tabIndex = -1;
  message.addEventListener("blur", () => message.removeAttribute("tabindex"), { once: true });
  message.focus({ preventScroll: true });
  chat.place.reveal(message);
}

const messageOf = (target) => target.closest(".msg");

function toMessages() {
  focusMessage(document.getElementById(current) || messages().at(-1));
}

function toComposer() {
  const field = find(".say textarea:not([hidden])", composer);
  if (field && visible(field)) field.focus();
  else inside(composer)[0]?.focus();
}

function openMenu(message) {
  find(".msg-menu", message)?.click();
}

function inHistory(event) {
  const message = messageOf(event.target);
  const onMenu = event.target.matches(".msg-menu"); // has the focus after a menu closes
  if (event.target !== history && event.target !== message && !onMenu) return false;
  const shown = messages();
  const at = shown.indexOf(message);
  const to = (i) => () => focusMessage(shown[Math.max(0, Math.min(shown.length - 1, i))]);
  const act = {
    ArrowUp: at < 0 ? toMessages : to(at - 1), ArrowDown: at < 0 ? toMessages : at === shown.length - 1 ? toComposer : to(at + 1),
    Home: to(0), End: to(shown.length - 1), Enter: message && !onMenu && (() => openMenu(message)),
    r: message && (() => answer(message)), R: message && (() => answer(message)),
  }[event.key];
  if (!act) return false;
  act();
  return true;
}

// pass skips the controls of messages with Tab, between the history and the composer. The controls of
// the focused message remain reachable.
function pass(event) {
  const message = messageOf(event.target);
  const own = message ? inside(message) : [];
  if (event.shiftKey) {
    if (event.target === inside(composer)[0]) history.focus();
    else if (message && event.target === message) history.focus();
    else if (message && event.target === own[0]) focusMessage(message);
    else return false;
    return true;
  }
  if (!history.contains(event.target) || (message && own.length && event.target !== own.at(-1))) return false;
  toFirst();
  return true;
}

const toFirst = () => inside(composer)[0]?.focus();

// Composer

// upFromComposer edits the last own message, or moves to the messages if it cannot be edited.
function upFromComposer() {
  const last = messages().filter((one) => one.matches(".out")).at(-1);
  if (last?.dataset.can?.includes("edit")) edit("?edit=" + encodeURIComponent(last.dataset.id));
  else toMessages();
}

function escape(event) {
  if (find("dialog[open]") || find("details.menu[open]") || find(":popover-open") || event.isComposing) return false; // they close themselves
  if (closeSuggestions()) return true;
  if (area && (isFree(event.target) || history.contains(event.target))) return toComposer() || true;
  return Boolean(area && composer.contains(event.target) && leave());
}

// Pages

function toSearch() {
  const box = all("input[type=search]").find(visible);
  if (!box) location.href = root + "search";
  else {
    box.focus();
    box.select();
  }
}

function toChat(by) {
  const rows = all(".chat-list .chat-row");
  const at = rows.findIndex((row) => row.matches("[aria-current]"));
  const next = rows[at < 0 ? 0 : at + by];
  next?.click();
}

// isR reports whether a key is R. With the Option key of a Mac, and in other scripts, it types something else.
const isR = ({ key, code }) => (/^[a-z]$/i.test(key) ? key.toLowerCase() === "r" : code === "KeyR");

function act(event) {
  const key = event.key;
  if (key === "Escape") return escape(event);
  if (find("dialog[open]")) return false;
  if (event.altKey && !event.ctrlKey && (key === "ArrowUp" || key === "ArrowDown")) {
    toChat(key === "ArrowUp" ? -1 : 1);
    return true;
  }
  if (event.altKey && !event.ctrlKey && !event.metaKey && isR(event)) return markRead();
  if ((event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === "k") return toSearch() || true;
  if (plain(event)) return false;
  if (key === "?" && !typing(event.target)) return find("#shortcuts")?.showModal() || true;
  if (key === "Tab") return Boolean(area && history) && pass(event);
  if (key === "ArrowUp" && event.target === area && !area.value && !event.shiftKey) return upFromComposer() || true;
  if (history?.contains(event.target)) return inHistory(event);
  return (key === "ArrowUp" || key === "ArrowDown") && inList(event, key === "ArrowUp" ? -1 : 1);
}

// inList moves between chats in the list.
function inList(event, by) {
  const row = event.target.closest(".chat-list .chat-row");
  if (!row) return false;
  const rows = all(".chat-list .chat-row");
  rows[rows.indexOf(row) + by]?.focus();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (!event.defaultPrevented && act(event)) event.preventDefault();
});

const rail = find(".page-chat .rail, .page-chats .rail");
if (rail) roving(rail, "[aria-current]");

eachChat(() => {
  [history, list, composer, area] = [find("#history"), chat.list, find("#composer"), textField()];
  current = undefined;
  roving(find(".chat-head"), ".chat-title a");
  // A refreshed message gets the focus back.
  new MutationObserver((changes) => {
    const gone = changes.some(({ removedNodes }) => [...removedNodes].some((node) => node.id === current));
    if (gone && isFree()) focusMessage(document.getElementById(current));
  }).observe(list, { childList: true, subtree: true });
  // An opened chat focuses the composer, except on phones.
  const asks = new URLSearchParams(location.search).has("reply");
  if (area && (asks || (chat.returns || !list.dataset.at) && !location.hash && isFree() && !matchMedia("(pointer: coarse)").matches)) area.focus({ preventScroll: true });
});
