// GIFs play while they are visible, unless the visitor prefers less motion.
import { all, find } from "./base.js";

const list = find("#messages");
const still = matchMedia("(prefers-reduced-motion: reduce)");

const watch = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting || still.matches) target.pause();
    else target.play().catch(() => {}); // the browser allows none, or the file cannot be loaded: the picture stays
  }
}, { threshold: 0.5 });

function look() {
  for (const gif of all("[data-gif]:not([data-watched])", list)) {
    gif.dataset.watched = "";
    for (const type of ["playing", "pause"]) gif.addEventListener(type, () => gif.classList.toggle("playing", type === "playing"));
    watch.observe(gif);
  }
}

if (list) {
  look();
  new MutationObserver(look).observe(list, { childList: true, subtree: true });
  // A link's preview without a picture needs no place for it.
  list.addEventListener("error", ({ target }) => target.matches(".preview img") && target.remove(), true);
}
