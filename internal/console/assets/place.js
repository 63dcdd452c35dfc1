// Restores the scroll position of a chat after visiting its gallery or info page, or going back.
import { all, find } from "./base.js";
import { chat, list, place } from "./chat.js";

const name = "place " + location.pathname;
let passes = false; // whether this page only redirects to the one with the position

// keep stores the message at the top and its offset from the edge.
function keep() {
  if (passes) return;
  const at = place.position();
  if (at) sessionStorage.setItem(name, JSON.stringify({ id: at.row.dataset.id, below: Math.round(at.below) }));
  else sessionStorage.removeItem(name);
}

// isReturn reports whether the visitor came back from a page about the chat.
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
  place.return(at, below);
}

if (place) {
  const query = new URLSearchParams(location.search);
  const kept = sessionStorage.getItem(name);
  if (kept && !history.state?.within && (query.has("place") || (!query.has("at") && !query.has("reply") && isReturn()))) returnTo(JSON.parse(kept));
  addEventListener("pagehide", keep);
}
