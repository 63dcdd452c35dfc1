// Changes of messages that are asked for in a dialog, and the pinned messages on top of the chat.
import { again, all, ask, find, load, toast } from "./base.js";
import { chat, eachChat, goTo, here, newest } from "./chat.js";
import { listeners, refresh } from "./live.js";

const dialog = find("#change");

// formOf returns the form of a change that the bridge renders.
export async function formOf(query) {
  const page = await here(load(chat.path + query));
  const form = find(".change-form", page);
  if (!form) throw new Error("This message can no longer be changed.");
  return document.adoptNode(form);
}

async function open(link) {
  try {
    const form = await formOf(link.getAttribute("href").replace(/#.*/, ""));
    dialog.replaceChildren(form);
    dialog.showModal();
    (find("input:checked", form) || find(".modal-foot [data-cancel]", form)).focus();
  } catch (failure) {
    if (failure.name !== "AbortError") toast(failure.message, true);
  }
}

async function submit(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  dialog.close();
  try {
    const answer = await again(() => ask(form.action, body));
    if (form.dataset.change !== "delete") toast(answer.text);
    newest();
  } catch (failure) {
    toast(failure.message, true);
  }
}

if (dialog) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('#message-menu a[href^="?delete="], #message-menu a[href^="?pin="], #message-menu a[href^="?labels="]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target !== dialog && !event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the chat must not handle keys
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target, event.submitter);
  });
}

// The pinned messages

listeners.push((event) => {
  const pinned = find(".pinned"), changes = Array.isArray(event.changes) ? event.changes : []; // those of a group are an object
  if (!pinned) return;
  if (event.type === "reset" || event.chatJid === chat.jid && (event.type === "group.updated" || ["pinnedUntil", "content", "deletedAt"].some((name) => changes.includes(name)))) refresh(pinned);
});

eachChat(() => {
  const pinned = find(".pinned");
  // Each click shows the next pinned message.
  pinned?.addEventListener("click", (event) => {
    const link = event.target.closest("[data-pinned]");
    if (!link || !goTo(event, link)) return;
    const lines = all(".pinned-line", pinned);
    const line = link.closest(".pinned-line");
    const next = lines[(lines.indexOf(line) + 1) % lines.length];
    line.hidden = true;
    next.hidden = false;
    find("[data-pinned]", next).focus({ preventScroll: true });
  });
});
