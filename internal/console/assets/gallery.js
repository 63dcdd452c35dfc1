// The gallery of a chat: loads older entries before they are reached.
import { all, find, load } from "./base.js";

const gallery = find("#gallery");

async function more(link) {
  if (link.loading) return;
  link.loading = true;
  try {
    const page = await load(link.href);
    for (const month of all("#gallery > section", page)) {
      const known = document.getElementById(month.id);
      if (known) find("ul", known).append(...find("ul", month).children);
      else gallery.append(month);
    }
    if (find("section", gallery)) find(".empty", gallery)?.remove();
    const next = find("[data-more]", page);
    if (!next) return link.parentElement.remove();
    link.href = next.getAttribute("href");
    link.loading = false;
    watch.unobserve(link); // observed again at once if it is still visible
    watch.observe(link);
  } catch {
    link.loading = false;
  }
}

const watch = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) more(one.target);
}, { rootMargin: "600px" });

if (gallery) {
  for (const link of all("[data-more]")) {
    watch.observe(link);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      more(link);
    });
  }
}
