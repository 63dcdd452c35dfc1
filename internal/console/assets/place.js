// Restores the scroll position of a chat after visiting its gallery or info page, or going back.
import { all, find } from "./base.js";
import { chat, eachChat } from "./chat.js";

// isReturn reports whether the visitor went back to the chat, or came from a page about it.
function isReturn() {
  if (chat.returns !== undefined) return chat.returns;
  if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") return true;
  const from = document.referrer && new URL(document.referrer).pathname;
  return Boolean(from) && (from.startsWith(location.pathname + "/") || from === find(".chat-who", chat.section)?.pathname);
}

const nameOf = (path) => "place " + path;

// positionIn returns the message at the top of a chat that was left, and its offset from the edge; undefined if the newest
// messages were shown.
export function positionIn(path) {
  const kept = sessionStorage.getItem(nameOf(path));
  return kept && !history.state?.within ? JSON.parse(kept) : undefined; // a search within the chat has its own position
}

eachChat(() => {
  const name = nameOf(chat.path), query = new URLSearchParams(location.search), kept = positionIn(chat.path);
  let redirects = false; // whether this page only redirects to the one with the position

  function returnTo({ id, below }) {
    const at = all(".msg[data-id]", chat.list).find((one) => one.dataset.id === id);
    if (!at) {
      redirects = true;
      return location.replace(`${chat.path}?at=${encodeURIComponent(id)}&place`);
    }
    at.classList.remove("found");
    chat.place.return(at, below);
  }

  if (kept && (query.has("place") || (!query.has("at") && !query.has("reply") && isReturn()))) returnTo(kept);

  // keep stores the message at the top and its offset from the edge.
  function keep() {
    if (redirects) return;
    const at = chat.place.position();
    if (at) sessionStorage.setItem(name, JSON.stringify({ id: at.row.dataset.id, below: Math.round(at.below) }));
    else sessionStorage.removeItem(name);
  }
  addEventListener("pagehide", keep);
  return () => {
    removeEventListener("pagehide", keep);
    keep();
  };
});
