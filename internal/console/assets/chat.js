// The messages of a chat: new ones, older ones as they are reached, menus.
import { all, debounced, find, load } from "./base.js";
import { listeners } from "./live.js";

export const chat = find(".chat");
const list = find("#messages");
const scroller = find("#history");

// take puts fresh messages in the place of those that have changed, and new ones
// where they belong. A player that plays and a menu that is open stay.
function take(fresh, first = true) {
  let before = null;
  // A picture that came before its album moves into it.
  for (const part of all(".album-part", fresh)) find(`.msg[id="${CSS.escape(part.id)}"]`, list)?.remove();
  for (const [i, item] of [...fresh.children].entries()) {
    const known = document.getElementById(item.id);
    if (!known) {
      if (before) before.after(item);
      else if (!list.children.length || first) list.append(item);
      else continue;
      before = item;
      continue;
    }
    const busy = find("details[open]", known) || [...all("audio, video", known)].some((player) => !player.paused);
    if (i > 1 && !busy && known.outerHTML !== item.outerHTML) {
      known.replaceWith(item);
      before = item;
    } else before = known;
  }
}

export async function newest() {
  if (list.dataset.past !== undefined) return;
  try {
    const page = await load(location.pathname);
    const fresh = find("#messages", page);
    find(".history > .empty")?.remove();
    take(fresh);
  } catch {
    // The next event tries again.
  }
}

if (chat) {
  const again = debounced(newest, 120);
  listeners.push((event) => {
    if (event.chatJid === chat.dataset.chat || event.type === "reset") again();
  });
}

// What is older comes when it is nearly reached.
async function more(link) {
  if (link.loading) return;
  link.loading = true;
  const older = link.matches("[data-older]");
  try {
    const page = await load(link.href);
    const fresh = find("#messages", page);
    if (older) list.prepend(...fresh.children);
    else list.append(...fresh.children);
    const next = find(older ? "[data-older]" : "[data-newer]", page);
    if (next) {
      link.href = next.getAttribute("href");
      link.loading = false;
    } else {
      link.parentElement.remove();
      if (!older) delete list.dataset.past;
    }
  } catch {
    link.loading = false;
  }
}

if (scroller) {
  const watch = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) more(one.target);
  }, { root: scroller, rootMargin: "400px" });
  for (const link of all("[data-older], [data-newer]", scroller)) watch.observe(link);
  new MutationObserver(() => {
    for (const link of all("[data-older], [data-newer]", scroller)) {
      watch.unobserve(link);
      watch.observe(link);
    }
  }).observe(list, { childList: true });
  const end = find(".to-end");
  scroller.addEventListener("scroll", () => {
    end.hidden = list.dataset.past === undefined && scroller.scrollTop > -300;
  }, { passive: true });
  end.addEventListener("click", (event) => {
    if (list.dataset.past !== undefined) return;
    event.preventDefault();
    scroller.scrollTo({ top: 0, behavior: "smooth" });
  });
  const at = list.dataset.at && all(".msg", list).find((one) => one.dataset.id === list.dataset.at);
  if (at) {
    at.classList.add("found");
    at.scrollIntoView({ block: "center" });
  }
}

// Menus of messages open upwards where there is no room below.
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.("details.menu")) return;
  find(".picker", menu)?.remove();
  if (!menu.open) return menu.classList.remove("up");
  const box = find(".menu-box", menu).getBoundingClientRect();
  const room = (scroller || document.body).getBoundingClientRect().bottom;
  if (scroller && menu.closest(".bubble") && box.bottom > room && box.top - box.height > scroller.getBoundingClientRect().top) menu.classList.add("up");
}, true);
