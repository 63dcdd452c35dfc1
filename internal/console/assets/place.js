// The place in a chat is kept: coming back to it, from its gallery, from the page about it
// or by the browser's button, one reads on where one was.
import { all, find } from "./base.js";
import { chat, list } from "./chat.js";

const scroller = find("#history");
const name = "place " + location.pathname;
let passes = false; // whether this page only leads to the one with the place
const atEnd = () => list.dataset.past === undefined && scroller.scrollTop > -40;

// keep notes the message at the top, and how far below the edge it begins.
function keep() {
  if (passes) return;
  const edge = scroller.getBoundingClientRect().top;
  const first = !atEnd() && all(".msg[data-id]", list).find((one) => one.getBoundingClientRect().bottom > edge + 1);
  if (first) sessionStorage.setItem(name, JSON.stringify({ id: first.dataset.id, below: Math.round(first.getBoundingClientRect().top - edge) }));
  else sessionStorage.removeItem(name);
}

// isReturn reports whether this page was opened from one about the chat, or by going back.
function isReturn() {
  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") return true;
  const from = document.referrer && new URL(document.referrer).pathname;
  return Boolean(from) && (from.startsWith(location.pathname + "/") || from === find(".chat-who", chat)?.pathname);
}

function returnTo({ id, below }) {
  const at = all(".msg[data-id]", list).find((one) => one.dataset.id === id);
  if (!at) {
    passes = true;
    return location.replace(`${location.pathname}?at=${encodeURIComponent(id)}&place`);
  }
  at.classList.remove("found");
  scroller.scrollTop += at.getBoundingClientRect().top - scroller.getBoundingClientRect().top - below;
}

if (scroller) {
  const query = new URLSearchParams(location.search);
  const kept = sessionStorage.getItem(name);
  if (kept && (query.has("place") || (!query.has("at") && !query.has("reply") && isReturn()))) returnTo(JSON.parse(kept));
  addEventListener("pagehide", keep);
}
