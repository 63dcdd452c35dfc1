// Marks chats as read: the open one by a click, by a key, and while it is read if that is switched on in the settings; all
// unread ones from the menu of the list.
import { again, all, ask, find, isFree, root, toast } from "./base.js";
import { asks, dialogOf } from "./agree.js";
import { chat, dressers, eachChat, here } from "./chat.js";
import { listeners } from "./live.js";

// The open chat

const wanted = "bridged reads " + root; // "yes" or nothing
let form; // missing if the visitor may not mark the chat
let upto; // the message that arrived last
let tried; // the message up to which the chat was marked, or was to be marked, while it was read
let failed = false; // whether that failed

// mark marks the chat as read up to the last message that the page knows.
async function mark() {
  const { section } = chat, field = upto, last = field.value;
  await ask(form.action, new URLSearchParams(new FormData(form)));
  if (field.value === last) section.removeAttribute("data-unread");
}

// isRead reports whether the visitor is looking at the newest message: the page is in front, nothing covers it, and the end
// of the message is in view.
function isRead() {
  if (document.hidden || !document.hasFocus() || find("dialog[open]") || chat.list.dataset.past !== undefined) return false;
  if (upto.value && !find(`[data-id="${CSS.escape(upto.value)}"]`, chat.list)) return false; // not on the page yet
  const newest = all(".day-part .msg:not([hidden])", chat.list).at(-1);
  const end = newest?.getBoundingClientRect().bottom, box = find("#history").getBoundingClientRect();
  return end > box.top && end < box.bottom + 8;
}

// look marks the chat while it is read, once for each new message.
async function look() {
  if (!form || !("unread" in chat.section.dataset) || tried === upto.value || !localStorage.getItem(wanted) || !isRead()) return;
  tried = upto.value;
  await mark().catch(() => (failed = true));
}

// lookAgain looks again, also at a chat that could not be marked.
function lookAgain() {
  if (failed) tried = undefined;
  failed = false;
  look();
}

// markRead marks the open chat as read, and reports whether the visitor may.
export function markRead() {
  form?.requestSubmit();
  return Boolean(form);
}

eachChat(() => {
  form = find("#mark-read");
  upto = form?.elements.upto;
  [tried, failed] = [undefined, false];
  find("#history").addEventListener("scroll", look, { passive: true });
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const menu = event.submitter?.closest("details.menu");
    if (menu) menu.open = false;
    try {
      await here(mark());
      chat.place.steadily(() => find("#unread", chat.list)?.remove());
      if (isFree() && !matchMedia("(pointer: coarse)").matches) find(".say textarea")?.focus({ preventScroll: true });
      toast("Marked as read");
    } catch (failure) {
      if (failure.name !== "AbortError") toast(failure.message, true);
    }
  });
  requestAnimationFrame(look);
});

listeners.push((event) => {
  if (event.type === "account.status") lookAgain(); // the connection may be back
  if (!form || event.chatJid !== chat.jid) return;
  if (event.type === "chat.updated") chat.section.toggleAttribute("data-unread", event.chat.unreadCount > 0);
  if (event.type !== "message.created") return;
  upto.value = event.message.msgId;
  chat.section.toggleAttribute("data-unread", !event.message.fromMe);
});
dressers.push(() => requestAnimationFrame(look)); // new messages are on the page then
document.addEventListener("close", look, true); // of a dialog
for (const type of ["focus", "pageshow"]) addEventListener(type, lookAgain);
document.addEventListener("visibilitychange", lookAgain);

// The switch

for (const box of all("[data-read-on]")) {
  box.checked = Boolean(localStorage.getItem(wanted));
  box.addEventListener("change", () => (box.checked ? localStorage.setItem(wanted, "yes") : localStorage.removeItem(wanted)));
}

// All chats

const pause = 300; // ms between two chats, so that the network gets no flood of receipts

const count = (number) => (number === 1 ? "1 chat" : `${number} chats`);

// markAll marks chats one after the other until the dialog is closed. It returns how many it marked. An error
// has that number as marked.
async function markAll(chats, dialog, bar) {
  let marked = 0;
  for (const jid of chats) {
    if (!dialog.open) break;
    if (bar.value++) await new Promise((resolve) => setTimeout(resolve, pause));
    try {
      await again(() => ask(`${root}chats/${encodeURIComponent(jid)}/state`, new URLSearchParams({ change: "read" })));
      marked++;
    } catch (failure) {
      if (failure.status !== 404) throw Object.assign(failure, { marked }); // the chat is gone
    }
  }
  return marked;
}

async function readAll() {
  const { chats } = await ask(root + "unread/chats");
  if (!chats.length) return toast("No unread chats");
  if (!(await asks(`Mark ${count(chats.length)} as read? Others can see that you’ve read their messages, unless read receipts are turned off.`, "Mark as read", "primary"))) return;
  const bar = Object.assign(document.createElement("progress"), { max: chats.length, value: 0 });
  bar.setAttribute("aria-labelledby", "question");
  const { dialog, button } = dialogOf("Marking chats as read…", bar);
  button("Stop").addEventListener("click", () => dialog.close());
  dialog.showModal();
  try {
    const marked = await markAll(chats, dialog, bar);
    toast(dialog.open ? `${count(marked)} marked as read` : `${marked} of ${count(chats.length)} marked as read`);
  } catch (failure) {
    toast(`${failure.marked} of ${count(chats.length)} marked as read. ${failure.message}`, true);
  }
  dialog.close();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-read-all]");
  if (!button) return;
  button.closest("details.menu").open = false;
  readAll().catch((failure) => toast(failure.message, true));
});
