// The menu of a message with reactions: a popup, or a sheet on touch screens.
import { all, ask, csrf, find, isFree, load, randomKey, toast } from "./base.js";
import { chat, eachChat, newest } from "./chat.js";
import { onHold } from "./hold.js";
import { buttonOf, move, show as showPicker } from "./picker.js";

const dialog = find("#message-menu");
const quick = dialog && find(".quick", dialog);
const emojis = dialog && find(".emojis", dialog);
const messageOf = (id) => all(".msg, .album-part", chat.list).find((one) => one.dataset.id === id);
const current = () => messageOf(dialog.dataset.id);
let asked; // the message whose menu is loading

// Opening

// open loads the actions on a message and shows them.
async function open(message) {
  if (asked === message || dialog.open) return;
  asked = message;
  message.classList.add("open");
  try {
    const page = await load(`${chat.path}/messages/${message.id.slice(2)}/menu`);
    if (asked === message && message.isConnected) show(message, find(".menu-items", page));
  } catch {
    message.classList.remove("open");
    toast("The menu couldn’t be loaded. Try again.", true);
  }
  asked = undefined;
}

function show(message, items) {
  dialog.dataset.id = message.dataset.id;
  if (!find("form.say")) find("[data-reply]", items)?.remove(); // nobody can write here
  find(".menu-items", dialog).replaceWith(items);
  quick.hidden = !message.dataset.can?.includes("react");
  showEmojis(false);
  showReactions(message);
  showFacts(message, items.dataset.by);
  dialog.classList.toggle("sheet", matchMedia("(pointer: coarse), (max-width: 720px)").matches);
  dialog.showModal();
  put();
}

// showReactions marks the visitor's reaction and lists all reactions.
function showReactions(message) {
  const mine = find(".mark.own", message)?.dataset;
  const own = mine?.mark || mine?.own;
  all("[data-own]", quick).forEach((one) => one.remove());
  let button = all("[data-emoji]", quick).find((one) => one.dataset.emoji === own);
  if (own && !button) {
    button = buttonOf({ sign: own, name: own });
    button.dataset.own = "";
    find("[data-emojis]", quick).before(button);
  }
  for (const one of all("[data-emoji]", quick)) {
    one.setAttribute("aria-pressed", one === button);
    one.setAttribute("aria-label", one === button ? "Remove your " + own : "React with " + one.dataset.emoji);
  }
  find(".reactors", dialog).replaceChildren(...all(".mark", message).map((mark) => {
    const line = document.createElement("li");
    line.textContent = mark.firstChild.textContent + " " + mark.title;
    return line;
  }));
}

// showFacts lists the details of a message: time, delivery, edits, expiry, and which caller has sent it.
function showFacts(message, by) {
  const facts = all(".meta [title]", message).map((one) => one.title[0].toUpperCase() + one.title.slice(1));
  if (by) facts.push(by);
  find(".facts-of-message", dialog).replaceChildren(...facts.map((fact) => Object.assign(document.createElement("li"), { textContent: fact })));
}

// put positions the dialog at the message's button, inside the window.
function put() {
  const sheet = dialog.classList.contains("sheet");
  const message = current();
  const button = message && find(".msg-menu", message);
  dialog.style.left = dialog.style.top = "";
  if (sheet || !button) return;
  const at = button.getBoundingClientRect();
  const { width, height } = dialog.getBoundingClientRect();
  const left = message.closest(".msg").matches(".out") ? at.right - width : at.left;
  const below = at.bottom + 4;
  const top = below + height <= innerHeight - 8 ? below : at.top - height - 4;
  dialog.style.left = Math.max(8, Math.min(left, innerWidth - width - 8)) + "px";
  dialog.style.top = Math.max(8, Math.min(top, innerHeight - height - 8)) + "px";
}

// Emoji

// showEmojis switches between all emoji and the menu's entries.
async function showEmojis(shown) {
  emojis.hidden = !shown;
  find(".menu-items", dialog).hidden = shown;
  for (const one of all(".reactors, .facts-of-message", dialog)) one.hidden = shown;
  find("[data-emojis]", quick).setAttribute("aria-expanded", shown);
  dialog.classList.toggle("wide", shown);
  if (!shown) return;
  await showPicker(emojis, "");
  put();
  if (!matchMedia("(pointer: coarse)").matches) find("input", emojis).focus(); // an on-screen keyboard would cover them
}

// react sets the visitor's reaction to a message; an empty one removes it.
async function react(id, emoji) {
  try {
    await ask(chat.path + "/send", new URLSearchParams({ csrf, kind: "reaction", react: id, emoji, key: randomKey() }));
    await newest([id]);
  } catch (failure) {
    toast(failure.message, true);
  }
}

// Clicks and keys

function isOutside(event) {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return event.target === dialog && (event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom);
}

if (dialog) {
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("a, button");
    if (isOutside(event)) return dialog.close();
    if (!button) return;
    if (button.closest(".menu-items")) return dialog.close(); // composer, forms and people act on it
    event.preventDefault();
    event.stopPropagation();
    if (button.matches("[data-emojis]")) return showEmojis(emojis.hidden);
    const { id } = dialog.dataset;
    const own = button.getAttribute("aria-pressed") === "true";
    dialog.close();
    if (button.dataset.emoji) react(id, own ? "" : button.dataset.emoji);
  });
  dialog.addEventListener("close", () => {
    const message = all(".open:is(.msg, .album-part)", chat.list).map((one) => (one.classList.remove("open"), one))[0];
    if (isFree() && message) find(".msg-menu", message).focus({ preventScroll: true });
  });
  dialog.addEventListener("keydown", (event) => {
    const spots = all(".quick:not([hidden]) button, .emojis:not([hidden]) input, .emojis:not([hidden]) button, .menu-items:not([hidden]) > :not([hidden])", dialog);
    if (move(event, spots)) event.preventDefault();
  });
  addEventListener("resize", () => dialog.open && put());
}

document.addEventListener("click", (event) => {
  const button = dialog && event.target.closest(".msg-menu");
  const mark = dialog && event.target.closest(".mark");
  if (button) {
    open(button.closest(".album-part, .msg"));
  } else if (mark?.dataset.mark && !matchMedia("(pointer: coarse)").matches) {
    event.preventDefault();
    react(mark.closest(".msg").dataset.id, mark.matches(".own") ? "" : mark.dataset.mark);
  } else if (mark) { // on touch screens the menu says who has reacted
    event.preventDefault();
    open(mark.closest(".album-part, .msg"));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === " " && event.target.matches("a.mark")) {
    event.preventDefault();
    event.target.click();
  }
});

if (dialog) {
  const held = (target) => !target.closest("input") && (target.closest(".album-part") || target.closest(".bubble, .marks")?.closest(".msg:not(.unsent)"));
  eachChat(() => onHold(chat.list, held, open));

  // Swiping down closes the sheet.
  let from;
  dialog.addEventListener("touchstart", (event) => {
    from = dialog.scrollTop || event.target.closest(".emoji-list") ? undefined : event.touches[0].clientY;
  }, { passive: true });
  dialog.addEventListener("touchend", (event) => {
    if (dialog.matches(".sheet") && from !== undefined && event.changedTouches[0].clientY - from > 70) dialog.close();
  });
}
