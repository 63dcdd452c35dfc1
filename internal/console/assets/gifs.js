// GIFs play while they are visible, unless the visitor prefers less motion.
import { all } from "./base.js";
import { chat, eachChat } from "./chat.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");

const watch = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting || still.matches) target.pause();
    else target.play().catch(() => {}); // the browser allows none, or the file cannot be loaded: the picture stays
  }
}, { threshold: 0.5 });

function look() {
  for (const gif of all("[data-gif]:not([data-watched])", chat.list)) {
    gif.dataset.watched = "";
    for (const type of ["playing", "pause"]) gif.addEventListener(type, () => gif.classList.toggle("playing", type === "playing"));
    watch.observe(gif);
  }
}

eachChat(() => {
  look();
  new MutationObserver(look).observe(chat.list, { childList: true, subtree: true });
  // A link's preview without a picture needs no place for it.
  chat.list.addEventListener("error", ({ target }) => target.matches(".preview img") && target.remove(), true);
});
